"""What stands behind the list of what a query may say, with Spark: see `tests/unit/test_locked.py` for DuckDB."""

from __future__ import annotations

import pyarrow as pa
import pytest

import discreet
from discreet.engine import query as limits
from discreet.engine.spark import SparkEngine
from discreet.engine.spark_query import answer
from discreet.engine.spark_session import spark_errors, unlogged
from discreet.errors import InvalidParameter

WITH_SPARK = pytest.mark.parametrize(
    "engine", [pytest.param("spark", marks=pytest.mark.spark)], indirect=True, scope="session"
)


@WITH_SPARK
def test_a_query_reaches_its_table_and_nothing_else(engine: SparkEngine) -> None:
    table = discreet.read(pa.table({"km": [1, 2, 3]}), engine=engine)
    other = discreet.read(pa.table({"name": ["somebody"]}), engine=engine)
    session = engine._session
    rows = session.table(table.relation)
    assert answer(session, rows, "SELECT sum(km) AS km FROM data").to_pylist() == [{"km": 6}]
    for query in (f"SELECT * FROM {other.relation}", "SELECT * FROM text.`/etc/passwd`"):
        with pytest.raises(spark_errors()), unlogged():
            answer(session, rows, query)
    assert session.conf.get("spark.sql.runSQLOnFiles") == "true"
    assert [view.name for view in session.catalog.listTables("global_temp") if view.namespace] == []


@WITH_SPARK
def test_a_query_that_takes_too_long_is_stopped(engine: SparkEngine, monkeypatch: pytest.MonkeyPatch) -> None:
    """Some seconds of work where a fraction is allowed; Spark may finish the part that it is at before the next query."""
    monkeypatch.setattr(limits, "QUERY_SECONDS", 0.2)
    table = discreet.read(pa.table({"n": list(range(350))}), engine=engine)
    long = "SELECT count(*) AS n FROM data AS a, data AS b, data AS c WHERE a.n * b.n + c.n = 5"
    with pytest.raises(InvalidParameter, match="takes longer than"):
        table.engine.query(table, long)
    monkeypatch.undo()
    assert table.engine.query(table, "SELECT max(n) AS n FROM data").to_pylist() == [{"n": 349}]
    context = engine._session.sparkContext
    assert not list(context.statusTracker().getActiveJobsIds())
    assert not context.getJobTags()
