"""A second DuckDB for queries of the user's own: it holds one table, reaches nothing else, and stops in time.

The list of what a query may say is the first wall; this is what stands behind it.
"""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import duckdb
import pyarrow as pa

from discreet.engine.limits import machine_memory, memory
from discreet.engine.query import TABLE
from discreet.errors import InvalidParameter
from discreet.sentences import Sentence

QUERY_SECONDS = 300.0
"""So long may a query take."""
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
    """The answer to a query, unless it takes too long."""
    late = threading.Event()

    def stop() -> None:
        late.set()
        connection.interrupt()

    timer = threading.Timer(QUERY_SECONDS, stop)
    timer.daemon = True
    timer.start()
    try:
        return connection.sql(query).to_arrow_table()
    except duckdb.InterruptException:
        if not late.is_set():
            # Somebody pressed Ctrl-C.
            raise
        raise InvalidParameter(
            Sentence("the query takes longer than {query_seconds:.0f} seconds", query_seconds=QUERY_SECONDS),
            remedy="ask for less at once",
        ) from None
    except duckdb.OutOfMemoryException:
        raise InvalidParameter("the query takes too much memory", remedy="ask for less at once") from None
    finally:
        timer.cancel()
