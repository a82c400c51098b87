"""Queries of the user's own run in a database that holds one table, reaches nothing else, and stops in time."""

from __future__ import annotations

from pathlib import Path

import duckdb
import pyarrow as pa
import pytest

from discreet.engine import query as module
from discreet.engine.duckdb import DuckDBEngine
from discreet.engine.locked import answer, locked
from discreet.engine.read import read
from discreet.errors import InvalidParameter, UnknownColumn

ROWS = pa.table({"km": [1, 2, 3], "engine": ["EV", "EV", "Gas"], "secret": ["x", "y", "z"]})
ESCAPES = [
    "SELECT * FROM read_csv('{file}')",
    "SELECT * FROM '{file}'",
    "COPY data TO '{file}.out'",
    "ATTACH '{file}.db'",
    "INSTALL httpfs",
    "LOAD httpfs",
    "SET enable_external_access = true",
    "SET memory_limit = '100GB'",
    "SELECT * FROM read_text('/etc/passwd')",
    "SELECT * FROM glob('/*')",
    "EXPORT DATABASE '{file}.folder'",
]


@pytest.mark.parametrize("query", ESCAPES)
def test_nothing_else_is_within_reach(query: str, tmp_path: Path) -> None:
    """Without the first wall, which would refuse all of these before."""
    file = tmp_path / "other.csv"
    file.write_text("a\n1\n")
    with locked(ROWS.to_reader(), tmp_path / "spill") as connection, pytest.raises(duckdb.Error):
        connection.execute(query.format(file=file)).fetchall()
    assert [path.name for path in tmp_path.iterdir() if path.name != "spill"] == ["other.csv"]


def test_a_query_runs_there_and_not_where_all_tables_are(monkeypatch: pytest.MonkeyPatch) -> None:
    engine = DuckDBEngine()
    table = read(ROWS, engine=engine)
    seen: list[object] = []

    def watched(connection: duckdb.DuckDBPyConnection, query: str) -> pa.Table:
        seen.append(connection.execute("SELECT table_name FROM duckdb_tables()").fetchall())
        seen.append([name for name, *_ in connection.execute("DESCRIBE data").fetchall()])
        return answer(connection, query)

    monkeypatch.setattr("discreet.engine.duckdb.answer", watched)
    assert engine.query(table, "SELECT sum(km) AS n FROM data").to_pylist() == [{"n": 6}]
    assert seen == [[("data",)], ["km"]], "and only what it asks about is there"


@pytest.mark.parametrize(
    ("query", "wanted"),
    [
        ("SELECT count(*) FROM data", [(3,)]),
        ("SELECT count(DISTINCT d) FROM data AS d", [(3,)]),
        ("SELECT count(*) FROM (SELECT DISTINCT * FROM data) AS d", [(3,)]),
        ("SELECT count(*) FROM data AS a NATURAL JOIN data AS b", [(3,)]),
        ("SELECT count(*) FROM data AS a JOIN data AS b USING (engine)", [(5,)]),
        ("SELECT ENGINE, max(data.KM) FROM data GROUP BY engine ORDER BY engine", [("EV", 2), ("Gas", 3)]),
        ("SELECT sum(n) FROM (SELECT km * 2 AS n FROM data) AS d", [(12,)]),
    ],
)
def test_what_a_query_means_stays(query: str, wanted: list[tuple[object, ...]]) -> None:
    table = read(ROWS)
    answered = table.engine.query(table, query)
    assert [tuple(row.values()) for row in answered.to_pylist()] == wanted


def test_an_unknown_column_is_named_still() -> None:
    table = read(ROWS)
    with pytest.raises(UnknownColumn, match="kmm"):
        table.engine.query(table, "SELECT sum(kmm) FROM data")


def test_a_query_that_takes_too_long_is_stopped(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "QUERY_SECONDS", 0.3)
    table = read(pa.table({"n": list(range(3000))}))
    endless = (
        "SELECT count(*) FROM data AS a, data AS b, data AS c, data AS d WHERE a.n + b.n + c.n + d.n = 5"
    )
    with pytest.raises(InvalidParameter, match="takes longer than"):
        table.engine.query(table, endless)
    assert table.engine.query(table, "SELECT max(n) FROM data").num_rows == 1
