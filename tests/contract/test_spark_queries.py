"""What stands behind the list of what a query may say, with Spark: see `tests/unit/test_locked.py` for DuckDB."""

from __future__ import annotations

import pyarrow as pa
import pytest

import discreet
from discreet.engine.spark import SparkEngine
from discreet.engine.spark_query import answer
from discreet.engine.spark_session import spark_errors, unlogged

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
