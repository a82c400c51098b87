"""The engines that must answer alike, each started once."""

from __future__ import annotations

import os
from collections.abc import Iterator

import pytest

from discreet.engine.duckdb import DuckDBEngine
from discreet.engine.protocol import Engine
from discreet.engine.spark import SparkEngine
from discreet.errors import MissingDependency


@pytest.fixture(scope="session", params=["duckdb", pytest.param("spark", marks=pytest.mark.spark)])
def engine(request: pytest.FixtureRequest) -> Iterator[Engine]:
    made: Engine
    try:
        if request.param == "duckdb":
            made = DuckDBEngine()
        else:
            with pytest.MonkeyPatch.context() as patch:
                # Many small queries: a quick compiler serves them better than a thorough one.
                patch.setenv("JDK_JAVA_OPTIONS", "-XX:TieredStopAtLevel=1")
                made = SparkEngine()
    except MissingDependency as error:
        if os.environ.get("CI"):
            pytest.fail(str(error))
        pytest.skip(str(error))
    yield made
    made.close()
