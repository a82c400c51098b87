"""The engines that must answer alike, each started once."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from discreet.engine.duckdb import DuckDBEngine
from discreet.engine.protocol import Engine


@pytest.fixture(scope="session", params=["duckdb", pytest.param("spark", marks=pytest.mark.spark)])
def engine(request: pytest.FixtureRequest) -> Iterator[Engine]:
    if request.param == "spark":
        yield request.getfixturevalue("spark")
        return
    made = DuckDBEngine()
    yield made
    made.close()
