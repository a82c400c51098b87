"""The engine inside the process: DuckDB, in memory, spilling to a private directory."""

from __future__ import annotations

import atexit
import errno
import json
import re
import threading
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import replace
from pathlib import Path
from typing import Any
from uuid import uuid4

import duckdb
import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from discreet.engine.arrow import has_no_text, in_common_types
from discreet.engine.dialect import DUCKDB
from discreet.engine.files import FOLDERS, describe_file, head_of_lines, open_batches, scan_path, text_scan
from discreet.engine.limits import machine_memory, memory
from discreet.engine.limits import threads as allowed_threads
from discreet.engine.locked import answer, locked
from discreet.engine.query import check_duckdb, named_columns, refuse
from discreet.engine.recognise import DATES
from discreet.engine.relations import unanswerable
from discreet.engine.several import describe_members, member_batches
from discreet.engine.sniff.format import TextFormat
from discreet.engine.sql import SqlEngine
from discreet.errors import DiscreetError, UnknownColumn, UnreadableInput
from discreet.files.members import NULL_PARTITION, Members, members
from discreet.files.scratch import Scratch
from discreet.sentences import Sentence
from discreet.table import Column, DataType, Source, Table
from discreet.table.column import Storage
from discreet.table.reading import ReadOptions

BATCH_ROWS = 1 << 20
"""So many rows of an answer come at a time."""
PART_BYTES = 256 << 20
"""The files of a folder of parts are about so large each."""
LARGE_FILE_SHARE = 0.2
"""A text file larger than this share of memory is unpacked into a database file instead of memory."""


class DuckDBEngine(SqlEngine):
    """Rows in DuckDB: grouping and joining out of core, on all cores, without leaving the machine."""

    name = "duckdb"
    dialect = DUCKDB
    few_rows = 20_000
    streams_numbers = True

    def __init__(self, *, memory_limit: str | None = None, threads: int | None = None) -> None:
        super().__init__()
        allowed = memory()
        if memory_limit is None and allowed is not None:
            memory_limit = f"{allowed >> 20}MiB"
        workers = threads or allowed_threads()
        self._lock = threading.RLock()
        self._views: set[str] = set()
        self._row_counts: dict[str, int] = {}
        self._folder = Scratch("rows")
        self._scratch = self._folder.path
        self._closed = False
        self._on_disk = False
        try:
            # Nothing may be fetched at run time, and no query may reach beyond what a verb was given.
            self._connection = duckdb.connect(
                config={
                    "temp_directory": str(self._scratch / "spill"),
                    "autoinstall_known_extensions": "false",
                    "autoload_known_extensions": "false",
                    **({"memory_limit": memory_limit} if memory_limit else {}),
                    **({"threads": str(workers)} if workers else {}),
                }
            )
            # Moments print and come back the same wherever the audit runs.
            self._run("SET TimeZone = 'UTC'")
            # Where Python has no script DuckDB takes it for a terminal and draws a bar on the standard output.
            # In a notebook without ipywidgets it has no bar, and refuses even to be told so.
            with suppress(duckdb.InvalidInputException):
                self._run("SET enable_progress_bar = false")
            atexit.register(self.close)
        except BaseException:
            # Also when interrupted: nobody else knows of the directory yet.
            self._folder.remove()
            raise

    def close(self) -> None:
        """Forget all tables and remove what was put on disk."""
        with self._lock:
            if not self._closed:
                self._closed = True
                self._connection.close()
                self._folder.remove()
                atexit.unregister(self.close)

    # ── reading ───────────────────────────────────────────────────────────────────────────────────

    def read_file(self, path: Path, options: ReadOptions) -> Table:
        """A table over a file, with what was found out about the file in its source."""
        several = members(path)
        if several is not None:
            return self._read_several(several, options)
        source, written = describe_file(path, options)
        limit = f" LIMIT {options.rows}" if options.rows is not None else ""
        if source.format == "parquet":
            scan = f"{self._parquet_scan(path, source)}{limit}"
            if options.rows is None and not options.missing:
                return self._finish(self._view(scan, source), source, options)
            return self._finish(self._guarded(scan, source), source, options)
        if source.format == "json-lines":
            if options.rows is not None:
                path = head_of_lines(path, options.rows, self._scratch)
            relation = self._guarded(self._json_scan(path, source), source)
            return self._typed(relation, source, options, DATES)
        if isinstance(written, TextFormat):
            options = replace(options, decimal=written.decimal)
            self._make_room(path)
            relation = self._fast_text(text_scan(self._address(path), written, self.dialect), limit)
            if not relation:
                relation = self._keep_batches(open_batches(path, source.format, options, written))
            return self._typed(relation, source, options)
        return self.read_batches(open_batches(path, source.format, options, written), source, options)

    def _read_several(self, several: Members, options: ReadOptions) -> Table:
        """A table over several files; folders called after columns are columns."""
        source, written = describe_members(several, options)
        limit = f" LIMIT {options.rows}" if options.rows is not None else ""
        folder = self._scratch / uuid4().hex
        links = several.linked(folder, ".gz" if written and written.compression else "")
        listed = f"[{', '.join(self.dialect.literal(str(link)) for link in links)}]"
        if written is None:
            told = ", ".join(f"{key} = {value}" for key, value in FOLDERS.items()) if several.keys else ""
            call = f"read_parquet({listed}{', ' if told else ''}{told})"
            cells = self._cells([column for column in self._described(call) if column[0] not in several.keys])
            scan = f"SELECT {cells}{self._folder_columns(several)} FROM {call}{limit}"
            return self._finish(self._view(scan, source), source, options)
        options = replace(options, decimal=written.decimal)
        self._make_room(*several.files)
        relation = self._fast_text(
            text_scan(listed, written, self.dialect, divided=bool(several.keys)),
            limit,
            self._listed(written.names) + self._folder_columns(several),
        )
        if not relation:
            relation = self._keep_batches(member_batches(several, source, options, written))
        return self._typed(relation, source, options)

    def _folder_columns(self, several: Members) -> str:
        """What folders say, after the other columns; older versions of DuckDB know no null there and have an order of their own."""
        null = self.dialect.literal(NULL_PARTITION)
        return "".join(
            f", nullif({quoted}, {null}) AS {quoted}" for quoted in map(self.dialect.quote, several.keys)
        )

    def read_batches(self, batches: pa.RecordBatchReader, source: Source, options: ReadOptions) -> Table:
        """A table from Arrow batches."""
        return self._finish(self._keep_batches(in_common_types(batches, options.rows)), source, options)

    def _address(self, path: Path, suffix: str = "") -> str:
        """How DuckDB finds a file, as a text constant."""
        return self.dialect.literal(str(scan_path(path, self._scratch, suffix)))

    def _parquet_scan(self, path: Path, source: Source) -> str:
        """The scan of a Parquet file."""
        call = f"read_parquet({self._address(path)})"
        try:
            return f"SELECT {self._cells(self._described(call))} FROM {call}"
        except (duckdb.Error, UnreadableInput):
            raise _unreadable(source) from None

    def _json_scan(self, path: Path, source: Source) -> str:
        """The scan of a JSON lines file with texts as texts: which of them are dates is not DuckDB's to say."""
        suffix = ".gz" if path.suffix == ".gz" else ""
        call = f"read_json({self._address(path, suffix)}, format = 'newline_delimited'"
        try:
            schema = self._described(f"{call}, sample_size = -1)")
        except (duckdb.Error, UnreadableInput):
            raise _unreadable(source) from None
        columns = ", ".join(
            f"{self.dialect.literal(name)}: {self.dialect.literal('VARCHAR' if kind in TEXT_IN_JSON else kind)}"
            for name, kind in schema
        )
        return f"SELECT {self._cells(schema)} FROM {call}, columns = {{{columns}}})"

    def _keep_batches(self, batches: pa.RecordBatchReader) -> str:
        failed: list[DiscreetError] = []

        def watched() -> Iterator[pa.RecordBatch]:
            try:
                yield from batches
            except DiscreetError as error:
                failed.append(error)
                raise

        with self._lock:
            try:
                self._connection.register(
                    "incoming", pa.RecordBatchReader.from_batches(batches.schema, watched())
                )
                return self._keep(f"SELECT {self._taken_over(batches.schema)} FROM incoming")
            except (duckdb.Error, pa.ArrowException):
                # DuckDB wraps what went wrong with the batches; what they said themselves is the answer.
                raise (
                    failed[0]
                    if failed
                    else UnreadableInput(
                        "the rows could not be taken over by DuckDB",
                        remedy="convert columns of unusual types, e.g. to text",
                    )
                ) from None
            finally:
                self._connection.unregister("incoming")

    def _taken_over(self, schema: pa.Schema) -> str:
        """All columns of batches, of which bytes and spans of the calendar become text, as those of files do.

        The others are not named: a column of a frame may have no name until DuckDB gives it one.
        """
        texts = ", ".join(
            f"CAST({quoted} AS {self.dialect.text}) AS {quoted}"
            for field, quoted in zip(schema, map(self.dialect.quote, schema.names), strict=True)
            if has_no_text(field.type)
        )
        return f"* REPLACE ({texts})" if texts else "*"

    def _fast_text(self, scan: str | None, limit: str, columns: str = "*") -> str:
        """DuckDB's own reading of a text file, or nothing: the slower way then reads it or names the line."""
        if scan is not None:
            with suppress(duckdb.Error):
                return self._keep(f"SELECT {columns} FROM {scan}{limit}")
        return ""

    def _guarded(self, scan: str, source: Source) -> str:
        """Materialise a scan; a failure names the place but never quotes the file's content."""
        try:
            return self._keep(scan)
        except duckdb.Error as error:
            at = re.search(r"[Ll]ine:?\s*(\d+)", str(error))
            raise _unreadable(source, int(at.group(1)) if at else None) from None

    def _view(self, scan: str, source: Source) -> str:
        try:
            return self._computed(scan)
        except duckdb.Error:
            raise _unreadable(source) from None

    def _make_room(self, *paths: Path) -> None:
        """Unpack large text into a database file in the private directory instead of into memory."""
        if (
            sum(path.stat().st_size for path in paths) > LARGE_FILE_SHARE * (memory() or machine_memory())
            and not self._on_disk
        ):
            self._run(f"ATTACH {self.dialect.literal(str(self._scratch / 'rows.duckdb'))} AS on_disk")
            self._on_disk = True

    def store(self, table: Table, path: Path) -> None:
        """Put a table's rows into a Parquet file, piece by piece and in their order."""
        self._copy(table, path, "USE_TMP_FILE false")

    def store_parts(self, table: Table, folder: Path) -> None:
        """Put a table's rows into Parquet files of some size each."""
        self._copy(table, folder, f"FILE_SIZE_BYTES {PART_BYTES}")

    def _copy(self, table: Table, path: Path, how: str) -> None:
        target = self.dialect.literal(str(path))
        try:
            self._run(
                f"COPY (SELECT {self._listed(table.names)} FROM {self._stored(table.relation)}) TO {target} "
                f"(FORMAT parquet, {how})"
            )
        except duckdb.IOException as error:
            raise OSError(errno.EIO, type(error).__name__) from None

    # ── relations ─────────────────────────────────────────────────────────────────────────────────

    def _run(self, statement: str) -> None:
        with self._lock:
            self._connection.execute(statement).fetchall()

    def _fetch(self, query: str) -> pa.Table:
        with self._lock, _unread():
            return self._connection.sql(query).to_arrow_table()

    def _fetch_numbers(self, query: str, most: int) -> dict[str, NDArray[Any]]:
        """Columns of numbers, batch by batch into arrays of their own: the answer is never in memory twice."""
        at = 0
        with self._lock, _unread():
            rows = self._connection.sql(query).to_arrow_reader(BATCH_ROWS)
            # Of room that is not used the system gives none.
            columns = {field.name: np.empty(most, field.type.to_pandas_dtype()) for field in rows.schema}
            for batch in rows:
                for name, column in zip(batch.schema.names, batch.columns, strict=True):
                    if at + len(column) > len(columns[name]):
                        # A source that grew while it was read, which whoever counts will notice.
                        columns[name] = np.append(columns[name][:at], column.to_numpy(zero_copy_only=False))
                    columns[name][at : at + len(column)] = column.to_numpy(zero_copy_only=False)
                at += batch.num_rows
        return {name: column[:at] for name, column in columns.items()}

    def _checked(self, query: str) -> str:
        with self._lock:
            try:
                kinds = [statement.type for statement in self._connection.extract_statements(query)]
                if kinds != [duckdb.StatementType.SELECT]:
                    refuse("is not one SELECT")
                # Written anew from its tree: without comments, and nothing runs that the tree does not hold.
                text = self._parsed("json_deserialize_sql", self._parsed("json_serialize_sql", query))
                tree = json.loads(self._parsed("json_serialize_sql", text))
            except duckdb.Error:
                refuse("is not valid SQL, or not one SELECT")
        check_duckdb(tree["statements"])
        return text

    def _parsed(self, function: str, text: str) -> str:
        return str(self._connection.execute(f"SELECT {function}(?)", [text]).fetchall()[0][0])

    def _answer(self, query: str, table: Table) -> pa.Table:
        columns = ", ".join(self.dialect.quote(name) for name in self._asked_about(query, table))
        with self._lock:
            relation = self._connection.sql(f"SELECT {columns} FROM {table.relation}")
            # Not by a method of its own, whose name differs between versions.
            rows = pa.RecordBatchReader.from_stream(relation)
            try:
                with locked(rows, self._scratch / "query") as connection:
                    return answer(connection, query)
            except (duckdb.ProgrammingError, duckdb.DataError, duckdb.NotSupportedError) as error:
                name = re.search(r'(?:Referenced column|a column named) "(.*?)"', str(error))
                # Said of names in the query; everything else could quote a cell.
                raise (UnknownColumn(name[1], table.names) if name else unanswerable(table)) from None

    def _asked_about(self, query: str, table: Table) -> list[str]:
        """The columns that a checked query needs: those that it names, or all if it may mean more than it names."""
        tree = json.loads(self._parsed("json_serialize_sql", query))
        named = named_columns(tree)
        known = {name.lower(): name for name in table.names}
        if named is None or not named or not named <= set(known):
            return list(table.names)
        return [name for lower, name in known.items() if lower in named]

    def _keep(self, query: str) -> str:
        relation = f"on_disk.main.{self._name()}" if self._on_disk else self._name()
        with self._lock:
            # What is created says how many rows it has.
            self._row_counts[relation] = int(
                self._connection.execute(f"CREATE TABLE {relation} AS {query}").fetchall()[0][0]
            )
        return relation

    def _row_count(self, relation: str) -> int:
        known = self._row_counts.get(relation)
        return super()._row_count(relation) if known is None else known

    def _computed(self, query: str) -> str:
        relation = self._name()
        self._run(f"CREATE TEMP VIEW {relation} AS {query}")
        self._views.add(relation)
        return relation

    def _put(self, table: pa.Table) -> str:
        with self._lock:
            relation = self._name()
            self._connection.from_arrow(table).create(relation)
        return relation

    def _numbered(self, relation: str, labels: Mapping[str, pa.Array]) -> str:
        listed = []
        kinds = {}
        try:
            for name, _ in self._schema(relation):
                if name in labels:
                    kinds[name] = self._name()
                    named = self._put(pa.table({"label": labels[name].drop_null()}))
                    self._run(f"CREATE TYPE {kinds[name]} AS ENUM (SELECT label FROM {named})")
                    self._drop(named)
                    listed.append(f"CAST({name} AS {kinds[name]}) AS {name}")
                else:
                    listed.append(name)
            numbered = self._name()
            self._run(f"CREATE TEMP TABLE {numbered} AS SELECT {', '.join(listed)} FROM {relation}")
        finally:
            # Columns keep what they need of a type.
            for kind in kinds.values():
                self._run(f"DROP TYPE IF EXISTS {kind}")
        return numbered

    def _drop(self, relation: str) -> None:
        with self._lock:
            self._coded.pop(relation, None)
            if not self._closed:
                self._run(f"DROP {'VIEW' if relation in self._views else 'TABLE'} IF EXISTS {relation}")
                self._views.discard(relation)
                self._row_counts.pop(relation, None)

    def _schema(self, relation: str) -> list[tuple[str, str]]:
        # Bound, and not run: a statement that describes takes several times as long.
        with self._lock:
            bound = self._connection.sql(f"SELECT * FROM {relation}")
            return list(zip(bound.columns, map(str, bound.types), strict=True))

    def _described(self, scan: str) -> list[tuple[str, str]]:
        """Names and types of the columns of a file, which may be damaged: binding fails at names that are no text."""
        columns = self._fetch(f"DESCRIBE SELECT * FROM {scan}")
        return list(zip(columns["column_name"].to_pylist(), columns["column_type"].to_pylist(), strict=True))

    def _row_number(self, relation: str) -> str:
        return "row_number() OVER () - 1"

    def _column(self, name: str, type_name: str) -> Column:
        kind = "LIST" if type_name.endswith("[]") else re.split("[( _]", type_name)[0]
        return Column(name, *TYPES.get(kind, ("nominal", "other")))


@contextmanager
def _unread() -> Iterator[None]:
    """A Parquet file is read only when it is asked, and damage inside it shows only then."""
    try:
        yield
    except (duckdb.Error, pa.ArrowException, OSError) as error:
        ours = (duckdb.ProgrammingError, duckdb.InternalError, duckdb.OutOfMemoryException)
        if isinstance(error, ours) and not isinstance(error, duckdb.InvalidInputException):
            raise
        # Through a stream of Arrow's all errors come as one kind.
        if "Out of Memory" in str(error):
            raise duckdb.OutOfMemoryException(str(error)) from None
        raise UnreadableInput(
            Sentence("the rows could not be read to their end ({name})", name=type(error).__name__),
            remedy="check that the file is complete and was not changed, or copy it again",
        ) from None


def _unreadable(source: Source, line: int | None = None) -> UnreadableInput:
    told = {"name": source.name, "file_format": source.format}
    return UnreadableInput(
        Sentence("{name} could not be read as {file_format}", **told)
        if line is None
        else Sentence("{name} could not be read as {file_format} (line {line})", line=line, **told),
        remedy="check that the file is complete and of this format, or name delimiter, quote and encoding",
    )


TEXT_IN_JSON = frozenset(["JSON", "UUID", "DATE", "TIME", "TIMESTAMP", "TIMESTAMP WITH TIME ZONE"])
INTEGERS = [
    sign + name for sign in ("", "U") for name in ("TINYINT", "SMALLINT", "INTEGER", "BIGINT", "HUGEINT")
]
TYPES: dict[str, tuple[DataType, Storage]] = {
    "VARCHAR": ("nominal", "text"),
    "BOOLEAN": ("nominal", "boolean"),
    **dict.fromkeys(INTEGERS, ("integer", "integer")),
    **dict.fromkeys(("FLOAT", "DOUBLE"), ("continuous", "float")),
    "DECIMAL": ("continuous", "integer"),
    "DATE": ("date", "date"),
    **dict.fromkeys(("TIMESTAMP", "TIMESTAMPTZ"), ("date", "timestamp")),
    **dict.fromkeys(("LIST", "ARRAY"), ("set", "list")),
}
