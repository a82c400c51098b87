"""Tables of SQLite databases, which lie in one file: their rows as Arrow batches."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pyarrow as pa

from discreet.errors import UnreadableInput
from discreet.files.addresses import DatabaseAddress
from discreet.files.reading import check_regular
from discreet.sentences import Sentence

BATCH_ROWS = 50_000
KINDS = {
    frozenset(["integer"]): (pa.int64(), "{name}"),
    frozenset(["real"]): (pa.float64(), "{name}"),
    frozenset(["integer", "real"]): (pa.float64(), "CAST({name} AS REAL)"),
}
"""What values of these kinds, which any column may hold, are read as; all others are texts."""


def sqlite_batches(address: DatabaseAddress) -> pa.RecordBatchReader:
    """The rows of a table or view; a column of whole numbers, or of numbers, is one, all others are texts."""
    file = address.file
    assert file is not None, "an SQLite database is a file"
    check_regular(file)
    (table,) = address.table
    with closing(open_sqlite(file)) as database:
        try:
            names = [row[1] for row in database.execute(f"PRAGMA table_info({quoted(table)})")]
            columns = [_column(database, table, name) for name in names]
        except sqlite3.Error:
            raise _unreadable(address) from None
    if not names:
        raise UnreadableInput(
            Sentence("the database has no table {name}", name=table), remedy="check its name after the #"
        )
    schema = pa.schema([(name, kind) for name, (kind, _) in zip(names, columns, strict=True)])
    listed = ", ".join(value for _, value in columns)

    def batches() -> Iterator[pa.RecordBatch]:
        with closing(open_sqlite(file)) as database:
            try:
                rows = database.execute(f"SELECT {listed} FROM {quoted(table)}")
                while chunk := rows.fetchmany(BATCH_ROWS):
                    yield pa.RecordBatch.from_arrays(
                        [
                            pa.array(values, column.type)
                            for values, column in zip(zip(*chunk, strict=True), schema, strict=True)
                        ],
                        schema=schema,
                    )
            except (sqlite3.Error, pa.ArrowException):
                raise _unreadable(address) from None

    return pa.RecordBatchReader.from_batches(schema, batches())


def open_sqlite(file: Path) -> sqlite3.Connection:
    """A database that is only read; ``UnreadableInput`` if it cannot be opened."""
    try:
        # An engine may take the batches in a thread of its own, one after the other.
        return sqlite3.connect(f"{file.absolute().as_uri()}?mode=ro", uri=True, check_same_thread=False)
    except sqlite3.Error:
        raise UnreadableInput(
            Sentence("{name} could not be opened as an SQLite database", name=file.name),
            remedy="check its permissions, and that it is one",
        ) from None


def quoted(name: str) -> str:
    """A name as SQLite takes it."""
    return '"' + name.replace('"', '""') + '"'


def _column(database: sqlite3.Connection, table: str, name: str) -> tuple[pa.DataType, str]:
    """The type of a column by the values in it, and how it is read."""
    kinds = database.execute(
        f"SELECT DISTINCT typeof({quoted(name)}) FROM {quoted(table)} WHERE {quoted(name)} IS NOT NULL"
    )
    kind, value = KINDS.get(frozenset(row[0] for row in kinds), (pa.string(), "CAST({name} AS TEXT)"))
    return kind, value.format(name=quoted(name))


def _unreadable(address: DatabaseAddress) -> UnreadableInput:
    return UnreadableInput(
        Sentence("{name} could not be read from the database", name=address.name),
        remedy="check that the file is an SQLite database and complete",
    )
