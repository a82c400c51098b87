"""Tables of databases as targets: rows are put there in one transaction, and stay only if they pass a check there."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from discreet.engine.dialect import POSTGRES
from discreet.engine.sqlite import BATCH_ROWS, quoted
from discreet.errors import InvalidParameter, MissingDependency, UnreadableInput
from discreet.files.addresses import DatabaseAddress
from discreet.files.writing import UNFINISHED, destination
from discreet.sentences import Sentence


@dataclass(frozen=True)
class StoredRows:
    """Rows as they stand in the database, before the transaction ends: given out as often as somebody asks."""

    names: tuple[str, ...]
    rows: int
    batches: Callable[[Sequence[str]], Iterator[pa.RecordBatch]] = field(repr=False)


def refuse_taken(address: DatabaseAddress) -> None:
    """Raise if the database cannot be reached or has the table already: no table is ever replaced."""
    if address.kind == "sql":
        raise InvalidParameter(
            "releases are written into databases of SQLite and PostgreSQL only",
            remedy="write .parquet, and load that",
        )
    with closing(_target(address)) as target:
        if target.has_table():
            raise InvalidParameter(
                Sentence("the database has a table {name} already", name=address.name),
                remedy="name another one, or drop it first",
            )


def put_table(
    address: DatabaseAddress, rows: pa.RecordBatchReader, check: Callable[[StoredRows], None]
) -> None:
    """Make a table of some rows; if ``check`` raises for what the database then holds, nothing was done."""
    refuse_taken(address)
    _refuse_kinds(address, rows.schema)
    with closing(_target(address)) as target:
        target.put(rows)
        check(target.stored(rows.schema))
        target.commit()


def _refuse_kinds(address: DatabaseAddress, schema: pa.Schema) -> None:
    """Raise for a column whose values the database has no type for, or would not give back as they were."""
    lite = address.kind == "sqlite"
    for column in schema:
        if pa.types.is_nested(column.type):
            told = Sentence(
                "column {column!r} holds lists, which a table of a database cannot", column=column.name
            )
        elif lite and (_is_binary(column.type) or pa.types.is_time(column.type)):
            told = Sentence(
                "column {column!r} holds bytes or times of day, which a table of SQLite cannot",
                column=column.name,
            )
        else:
            continue
        raise InvalidParameter(told, remedy="write .parquet instead")


def _is_binary(kind: pa.DataType) -> bool:
    return any(
        (pa.types.is_binary(kind), pa.types.is_large_binary(kind), pa.types.is_fixed_size_binary(kind))
    )


class _PostgresTarget:
    """One transaction with PostgreSQL; closing it without ``commit`` undoes everything."""

    def __init__(self, address: DatabaseAddress) -> None:
        try:
            from adbc_driver_postgresql import dbapi
        except ImportError:
            raise MissingDependency(
                "writing to PostgreSQL needs adbc-driver-postgresql",
                remedy='pip install "discreet[postgres]"',
            ) from None
        self._errors: type[Exception] = dbapi.Error
        self._table = address.table
        self._quoted = ".".join(POSTGRES.quote(part) for part in address.table)
        try:
            self._connection: Any = dbapi.connect(address.database)
        except self._errors:
            raise UnreadableInput(
                "the database could not be reached",
                remedy="check host, name of the database, user and password in the address",
            ) from None
        self._asked("SET timezone = 'UTC'")

    def close(self) -> None:
        self._connection.close()

    def commit(self) -> None:
        try:
            self._connection.commit()
        except self._errors as error:
            raise _refused(error) from None

    def has_table(self) -> bool:
        known = self._asked(f"SELECT to_regclass({POSTGRES.literal(self._quoted)}) IS NOT NULL AS known")
        return bool(known[0].column("known")[0].as_py())

    def put(self, rows: pa.RecordBatchReader) -> None:
        *schema, table = self._table
        plain = _cast(
            rows, pa.schema([column.with_type(_postgres_type(column.type)) for column in rows.schema])
        )
        with self._connection.cursor() as cursor:
            try:
                cursor.adbc_ingest(table, plain, mode="create", db_schema_name=schema[0] if schema else None)
            except self._errors as error:
                raise _refused(error) from None

    def stored(self, schema: pa.Schema) -> StoredRows:
        def batches(names: Sequence[str]) -> Iterator[pa.RecordBatch]:
            with self._connection.cursor() as cursor:
                try:
                    cursor.execute(f"SELECT {', '.join(map(POSTGRES.quote, names))} FROM {self._quoted}")
                    yield from cursor.fetch_record_batch()
                except self._errors as error:
                    raise _refused(error) from None

        [counted] = self._asked(f"SELECT count(*) AS n FROM {self._quoted}")
        return StoredRows(tuple(schema.names), counted.column("n")[0].as_py(), batches)

    def _asked(self, query: str) -> list[pa.RecordBatch]:
        with self._connection.cursor() as cursor:
            try:
                cursor.execute(query)
                return list(cursor.fetch_record_batch()) if cursor.description else []
            except self._errors as error:
                raise _refused(error) from None


class _SqliteTarget:
    """One transaction with SQLite; closing it without ``commit`` undoes everything, a new file included."""

    def __init__(self, address: DatabaseAddress) -> None:
        assert address.file is not None, "an SQLite database is a file"
        (self._table,) = address.table
        self._quoted = quoted(self._table)
        try:
            self._file = destination(address.file)
            new = not self._file.exists()
            self._connection = sqlite3.connect(self._file, isolation_level=None)
            self._connection.execute("BEGIN IMMEDIATE")
            # Somebody else may have filled it since.
            (tables,) = self._connection.execute("SELECT count(*) FROM sqlite_master").fetchone()
        except (OSError, ValueError, sqlite3.Error):
            raise UnreadableInput(
                Sentence("{name} could not be opened as an SQLite database", name=address.file.name),
                remedy="check the folder, its permissions, and whether somebody else is writing to it",
            ) from None
        self._made = {self._file, Path(f"{self._file}-journal")} if new and not tables else set()
        UNFINISHED.update(self._made)

    def close(self) -> None:
        """Undo what is not committed. A new file goes while its lock is held: whoever waits for that writes into no lost file."""
        if self._connection.in_transaction:
            if self._made:
                self._file.unlink(missing_ok=True)
            self._connection.execute("ROLLBACK")
        self._connection.close()
        UNFINISHED.difference_update(self._made)

    def commit(self) -> None:
        try:
            self._connection.execute("COMMIT")
        except sqlite3.Error as error:
            # Above all somebody who still reads.
            raise _refused(error) from None
        UNFINISHED.difference_update(self._made)

    def has_table(self) -> bool:
        known = self._connection.execute(
            "SELECT count(*) FROM sqlite_master WHERE lower(name) = lower(?)", (self._table,)
        )
        return bool(known.fetchone()[0])

    def put(self, rows: pa.RecordBatchReader) -> None:
        kinds = [_sqlite_type(column.type) for column in rows.schema]
        listed = ", ".join(
            f"{quoted(name)} {kind}" for name, (kind, _) in zip(rows.schema.names, kinds, strict=True)
        )
        marks = ", ".join("?" * len(kinds))
        plain = _cast(rows, pa.schema(list(zip(rows.schema.names, (kind for _, kind in kinds), strict=True))))
        try:
            self._connection.execute(f"CREATE TABLE {self._quoted} ({listed})")
            for batch in plain:
                self._connection.executemany(
                    f"INSERT INTO {self._quoted} VALUES ({marks})",
                    zip(*(column.to_pylist() for column in batch.columns), strict=True),
                )
        except (sqlite3.Error, OverflowError) as error:
            raise _refused(error) from None

    def stored(self, schema: pa.Schema) -> StoredRows:
        def batches(names: Sequence[str]) -> Iterator[pa.RecordBatch]:
            kinds = [schema.field(name).type for name in names]
            rows = self._connection.execute(
                f"SELECT {', '.join(map(quoted, names))} FROM {self._quoted} ORDER BY rowid"
            )
            while chunk := rows.fetchmany(BATCH_ROWS):
                columns = [
                    pc.cast(pa.array(values, _sqlite_type(kind)[1]), kind)
                    for values, kind in zip(zip(*chunk, strict=True), kinds, strict=True)
                ]
                yield pa.RecordBatch.from_arrays(columns, names=list(names))

        (counted,) = self._connection.execute(f"SELECT count(*) FROM {self._quoted}").fetchone()
        return StoredRows(tuple(schema.names), counted, batches)


def _target(address: DatabaseAddress) -> _PostgresTarget | _SqliteTarget:
    return _SqliteTarget(address) if address.kind == "sqlite" else _PostgresTarget(address)


def _cast(rows: pa.RecordBatchReader, schema: pa.Schema) -> pa.RecordBatchReader:
    """The rows with the types that a database has."""
    return pa.RecordBatchReader.from_batches(schema, (batch.cast(schema) for batch in rows))


def _postgres_type(kind: pa.DataType) -> pa.DataType:
    """The type in which values are sent to PostgreSQL, which has no numbers without a sign and no labels by number."""
    if pa.types.is_unsigned_integer(kind) or pa.types.is_int8(kind):
        return pa.int64()
    if pa.types.is_decimal(kind):
        return pa.float64()
    return kind.value_type if pa.types.is_dictionary(kind) else kind


def _sqlite_type(kind: pa.DataType) -> tuple[str, pa.DataType]:
    """What a column is called in SQLite, and as what its values are handed over."""
    if pa.types.is_integer(kind) or pa.types.is_boolean(kind):
        return "INTEGER", pa.int64()
    if pa.types.is_floating(kind) or pa.types.is_decimal(kind):
        return "REAL", pa.float64()
    return "TEXT", pa.string()


def _refused(error: Exception) -> UnreadableInput:
    # Its words may quote a cell.
    return UnreadableInput(
        Sentence("the database refused to take the release ({name})", name=type(error).__name__),
        remedy="check that the user may make tables there, the space left, and the log of the database",
    )
