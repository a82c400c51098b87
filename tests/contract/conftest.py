"""The engines that must answer alike, each started once."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from discreet.engine.duckdb import DuckDBEngine
from discreet.engine.protocol import Engine
from discreet.engine.spark import SparkEngine
from discreet.errors import MissingDependency
from helpers.absent import missing
from helpers.java import QUICK_JAVA


@pytest.fixture(scope="session", params=["duckdb", pytest.param("spark", marks=pytest.mark.spark)])
def engine(request: pytest.FixtureRequest) -> Iterator[Engine]:
    made: Engine
    try:
        if request.param == "duckdb":
            made = DuckDBEngine()
        else:
            with pytest.MonkeyPatch.context() as patch:
                patch.setenv("JDK_JAVA_OPTIONS", QUICK_JAVA)
                made = SparkEngine()
    except MissingDependency as error:
        missing(str(error))
    yield made
    made.close()
