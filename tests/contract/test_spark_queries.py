"""What stands behind the list of what a query may say, with Spark: see `tests/unit/test_locked.py` for DuckDB."""

from __future__ import annotations

import logging
import threading

import pyarrow as pa
import pytest

import discreet
from discreet.engine import query as limits
from discreet.engine.spark import SparkEngine
from discreet.engine.spark_query import answer
from discreet.engine.spark_session import Silence, spark_errors, unlogged
from discreet.errors import InvalidParameter
from helpers.spark_views import global_views

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
    assert global_views(session) == set()


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


@WITH_SPARK
def test_whoever_asked_too_much_is_told_at_the_limit(
    engine: SparkEngine, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Also where the work goes on: here nothing ends it, and it is still going on when the answer is there."""
    monkeypatch.setattr(limits, "QUERY_SECONDS", 0.2)
    session, context = engine._session, engine._session.sparkContext
    table = discreet.read(pa.table({"n": [1, 2, 3]}), engine=engine)
    rows = session.table(table.relation)
    asleep = "if(reflect('java.lang.Thread', 'sleep', 600000L) = 'null', id, 0) AS n"
    session.range(3).selectExpr(asleep).createOrReplaceTempView(table.relation)
    cancel = context.cancelJobsWithTag
    tags = []
    waiting = threading.Event()
    with monkeypatch.context() as patched:
        patched.setattr(type(context), "cancelJobsWithTag", lambda self, tag: tags.append(tag))
        with pytest.raises(InvalidParameter, match="takes longer than"):
            table.engine.query(table, "SELECT max(n) AS n FROM data")
        assert tags
        # The query is there before its first job is.
        while not list(context.statusTracker().getActiveJobsIds()):
            waiting.wait(0.05)
    cancel(tags[0])
    while list(context.statusTracker().getActiveJobsIds()):
        waiting.wait(0.05)
    assert not context.getJobTags()
    monkeypatch.undo()
    rows.createOrReplaceTempView(table.relation)
    assert table.engine.query(table, "SELECT max(n) AS n FROM data").to_pylist() == [{"n": 3}]


def test_a_logger_speaks_again_when_the_last_has_left() -> None:
    logger, silence = logging.getLogger("discreet test of silence"), Silence()
    with silence.of(logger):
        late = silence.of(logger)
        late.__enter__()
        assert logger.disabled
    assert logger.disabled
    late.__exit__(None, None, None)
    assert not logger.disabled
