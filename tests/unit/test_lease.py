"""Tables that are no longer used: dropped in the engine, without ever waiting for it."""

from __future__ import annotations

import threading

import pyarrow as pa

from discreet.engine.duckdb import DuckDBEngine
from discreet.engine.read import read


def relations(engine: DuckDBEngine) -> set[str]:
    found = engine._fetch("SELECT table_name AS name FROM duckdb_tables()")
    return set(found["name"].to_pylist())


def test_an_unused_table_is_dropped_before_the_next_one_is_made() -> None:
    engine = DuckDBEngine()
    first = read(pa.table({"a": [1, 2]}), engine=engine)
    name = first.relation
    assert name in relations(engine)
    del first
    second = read(pa.table({"a": [3]}), engine=engine)
    assert name not in relations(engine)
    assert second.relation in relations(engine)
    engine.close()


def test_letting_go_of_a_table_never_waits_for_the_engine() -> None:
    # Python may collect a table in a thread of DuckDB's own, which the running query waits for.
    engine = DuckDBEngine()
    held = [read(pa.table({"a": [1, 2]}), engine=engine)]
    with engine._lock:
        other = threading.Thread(target=held.clear)
        other.start()
        other.join(timeout=300)
        assert not other.is_alive()
    engine.close()


def test_a_changed_handle_keeps_the_rows() -> None:
    engine = DuckDBEngine()
    table = read(pa.table({"a": [1, 2]}), engine=engine).retype({"a": "ordinal"})
    read(pa.table({"b": [1]}), engine=engine)
    assert engine.to_arrow(table)["a"].to_pylist() == [1, 2]
    engine.close()
