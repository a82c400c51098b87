"""Tables of PostgreSQL: counted in the database, and taken over by DuckDB where their rows are changed."""

from __future__ import annotations

import atexit
from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import cached_property
from pathlib import Path
from typing import Any

import pyarrow as pa

from discreet.classes import EquivalenceClasses
from discreet.engine.dialect import POSTGRES
from discreet.engine.duckdb import DuckDBEngine
from discreet.engine.sql import SqlEngine
from discreet.errors import InvalidParameter, MissingDependency, UnreadableInput
from discreet.files.addresses import DatabaseAddress
from discreet.sentences import Sentence
from discreet.table import Column, DataType, Source, Table
from discreet.table.column import Storage
from discreet.table.reading import ReadOptions
from discreet.types import BoolArray, IntArray

KEPT = (
    "text", "character varying", "smallint", "integer", "bigint", "real", "double precision", "boolean", "date",
    "timestamp without time zone", "timestamp with time zone",
)  # fmt: skip
"""Types that stay what they are; decimals become doubles, all others texts."""
TYPES: dict[str, tuple[DataType, Storage]] = {
    "string": ("nominal", "text"),
    "bool": ("nominal", "boolean"),
    **dict.fromkeys(("int16", "int32", "int64"), ("integer", "integer")),
    **dict.fromkeys(("float", "double"), ("continuous", "float")),
    "date32[day]": ("date", "date"),
}


class PostgresEngine(SqlEngine):
    """Rows in PostgreSQL. Looking at columns and counting classes happen there, and nothing but counts is moved.

    What changes rows or hands them out (``recode``, ``thin``, ``shuffle``, ``store``, ``query`` …) takes them over
    into DuckDB once. Temporary views and dictionaries are all that is written to the database; they go with the connection.
    """

    name = "postgresql"
    dialect = POSTGRES

    def __init__(self, address: DatabaseAddress) -> None:
        super().__init__()
        try:
            from adbc_driver_postgresql import dbapi
        except ImportError:
            raise MissingDependency(
                "reading PostgreSQL needs adbc-driver-postgresql", remedy='pip install "discreet[postgres]"'
            ) from None
        self._errors: type[Exception] = dbapi.Error
        self._views: set[str] = set()
        self._taken: dict[tuple[str, tuple[str, ...]], Table] = {}
        try:
            self._connection: Any = dbapi.connect(address.database, autocommit=True)
        except self._errors:
            raise UnreadableInput(
                "the database could not be reached",
                remedy="check host, name of the database, user and password in the address",
            ) from None
        self._run("SET timezone = 'UTC'")
        atexit.register(self.close)

    def close(self) -> None:
        """Leave the database, with which all that was put there goes; and forget what was taken over."""
        self._connection.close()
        if "_duckdb" in self.__dict__:
            self._duckdb.close()
        atexit.unregister(self.close)

    def read_file(self, path: Path, options: ReadOptions) -> Table:
        """A file is read by DuckDB."""
        return self._duckdb.read_file(path, options)

    def read_batches(self, batches: pa.RecordBatchReader, source: Source, options: ReadOptions) -> Table:
        """Batches are read by DuckDB."""
        return self._duckdb.read_batches(batches, source, options)

    def read_table(self, address: DatabaseAddress, options: ReadOptions) -> Table:
        """A table or view of the database."""
        if options.missing:
            raise InvalidParameter(
                "texts that mean a missing value are asked for, but the table lies in a database",
                remedy="make a view in which they are null",
            )
        quoted = ".".join(self.dialect.quote(part) for part in address.table)
        columns = self._fetch(
            "SELECT CAST(attname AS text) AS name, format_type(atttypid, NULL) AS kind FROM pg_attribute "
            f"WHERE attrelid = to_regclass({self.dialect.literal(quoted)}) AND attnum > 0 AND NOT attisdropped "
            "ORDER BY attnum"
        ).to_pylist()
        if not columns:
            raise UnreadableInput(
                Sentence("the database has no table {name}", name=address.name),
                remedy="check its name after the #",
            )
        listed = ", ".join(self._as_kept(column["name"], column["kind"]) for column in columns)
        scan = f"SELECT {listed} FROM {quoted}"
        relation = (
            self._computed(scan) if options.rows is None else self._keep(f"{scan} LIMIT {int(options.rows)}")
        )
        return self._finish(relation, Source(address.name, self.name), options)

    def _as_kept(self, name: str, kind: str) -> str:
        quoted = self.dialect.quote(name)
        if kind in ("real", "double precision"):
            return self.dialect.cell(Column(name, "continuous", "float"), kind)
        if kind in KEPT:
            return quoted
        return f"CAST({quoted} AS {'double precision' if kind == 'numeric' else 'text'}) AS {quoted}"

    # ── what is done with rows that were taken over ───────────────────────────────────────────────

    @cached_property
    def _duckdb(self) -> DuckDBEngine:
        return DuckDBEngine()

    def _local(self, table: Table) -> Table:
        """The same rows in DuckDB, moved once."""
        key = (table.relation, table.names)
        if key not in self._taken:
            with self._connection.cursor() as cursor:
                try:
                    cursor.execute(f"SELECT {self._listed(table.names)} FROM {table.relation}")
                    rows = cursor.fetch_record_batch()
                    self._taken[key] = self._duckdb.read_batches(rows, table.source, ReadOptions())
                except self._errors as error:
                    raise _broken_off(error) from None
        return replace(self._taken[key], columns=table.columns)

    def recode(
        self,
        table: Table,
        classes: EquivalenceClasses,
        *,
        values: Mapping[str, pa.Array],
        kept: BoolArray,
        columns: Sequence[str],
        keys: Mapping[str, str] | None = None,
        codes: Mapping[str, tuple[pa.Array, IntArray]] | None = None,
        in_order: bool = True,
    ) -> Table:
        """The table after a recoding, in DuckDB."""
        return self._duckdb.recode(
            self._local(table),
            classes,
            values=values,
            kept=kept,
            columns=columns,
            keys=keys,
            codes=codes,
            in_order=in_order,
        )

    def thin(self, table: Table, share: float, *, seed: int) -> Table:
        """About a share of the rows, in DuckDB."""
        return self._duckdb.thin(self._local(table), share, seed=seed)

    def shuffle(self, table: Table, *, seed: int) -> Table:
        """The rows in a random order, in DuckDB."""
        return self._duckdb.shuffle(self._local(table), seed=seed)

    def store(self, table: Table, path: Path) -> None:
        """Put a table's rows into a Parquet file."""
        self._duckdb.store(self._local(table), path)

    def store_parts(self, table: Table, folder: Path) -> None:
        """Put a table's rows into Parquet files of some size each."""
        self._duckdb.store_parts(self._local(table), folder)

    def bounded_groups(self, table: Table, **asked: Any) -> pa.Table:
        """Counts and sums of groups in which no person has more than a stated part, by DuckDB."""
        return self._duckdb.bounded_groups(self._local(table), **asked)

    # ── relations ─────────────────────────────────────────────────────────────────────────────────

    def _run(self, statement: str) -> None:
        with self._connection.cursor() as cursor:
            try:
                cursor.execute(statement)
            except self._errors as error:
                raise _broken_off(error) from None

    def _fetch(self, query: str) -> pa.Table:
        with self._connection.cursor() as cursor:
            try:
                cursor.execute(query)
                return cursor.fetch_arrow_table()
            except self._errors as error:
                raise _broken_off(error) from None

    def _keep(self, query: str) -> str:
        relation = self._name()
        self._run(f"CREATE TEMP TABLE {relation} AS {query}")
        return relation

    def _computed(self, query: str) -> str:
        relation = self._name()
        self._run(f"CREATE TEMP VIEW {relation} AS {query}")
        self._views.add(relation)
        return relation

    def _put(self, table: pa.Table) -> str:
        relation = self._name()
        with self._connection.cursor() as cursor:
            try:
                cursor.adbc_ingest(relation, table, mode="create", temporary=True)
            except self._errors as error:
                raise _broken_off(error) from None
        # Without it the planner takes a dictionary for as large as any table.
        self._run(f"ANALYZE {relation}")
        return relation

    def _drop(self, relation: str) -> None:
        self._run(f"DROP {'VIEW' if relation in self._views else 'TABLE'} IF EXISTS {relation}")
        self._views.discard(relation)

    def _schema(self, relation: str) -> list[tuple[str, str]]:
        described = self._fetch(f"SELECT * FROM {relation} LIMIT 0").schema
        return [(column.name, str(column.type)) for column in described]

    def _column(self, name: str, type_name: str) -> Column:
        if type_name.startswith("timestamp"):
            return Column(name, "date", "timestamp")
        return Column(name, *TYPES.get(type_name, ("nominal", "other")))

    def _row_number(self, relation: str) -> str:
        return "row_number() OVER () - 1"

    def _checked(self, query: str) -> str:
        return self._duckdb._checked(query)

    def _answer(self, query: str, table: Table) -> pa.Table:
        """A query of the user's own is never sent to the database."""
        return self._duckdb._answer(query, self._local(table))


def _broken_off(error: Exception) -> UnreadableInput:
    # Its words may quote a cell.
    return UnreadableInput(
        Sentence("the database refused or broke off a query ({name})", name=type(error).__name__),
        remedy="check that the user may read the table and make temporary tables, and the log of the database",
    )
