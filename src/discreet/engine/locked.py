"""A second DuckDB for queries of the user's own: it holds one table, reaches nothing else, and stops in time.

The list of what a query may say is the first wall; this is what stands behind it.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import duckdb
import pyarrow as pa

from discreet.engine.limits import machine_memory, memory
from discreet.engine.query import TABLE, in_time
from discreet.errors import InvalidParameter

MEMORY_SHARE = 0.25
"""Share of the machine's memory that a query may take."""


@contextmanager
def locked(rows: pa.RecordBatchReader, spill: Path) -> Iterator[duckdb.DuckDBPyConnection]:
    """A connection that knows the rows as the table of a query, and whose settings can no longer be changed."""
    allowed = int(MEMORY_SHARE * (memory() or machine_memory())) >> 20
    connection = duckdb.connect(
        config={
            "temp_directory": str(spill),
            "memory_limit": f"{allowed}MiB",
            "autoinstall_known_extensions": "false",
            "autoload_known_extensions": "false",
        }
    )
    try:
        connection.register("incoming", rows)
        connection.execute(f"CREATE TABLE {TABLE} AS SELECT * FROM incoming").fetchall()
        connection.unregister("incoming")
        for setting in ("TimeZone = 'UTC'", "enable_external_access = false", "lock_configuration = true"):
            connection.execute(f"SET {setting}").fetchall()
        yield connection
    finally:
        connection.close()


def answer(connection: duckdb.DuckDBPyConnection, query: str) -> pa.Table:
    """The answer to a query, unless it takes too long or too much memory."""
    try:
        with in_time(connection.interrupt):
            return connection.sql(query).to_arrow_table()
    except duckdb.OutOfMemoryException:
        raise InvalidParameter("the query takes too much memory", remedy="ask for less at once") from None
