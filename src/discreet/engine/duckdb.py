"""The engine inside the process: DuckDB, in memory, spilling to a private directory."""

from __future__ import annotations

import atexit
import os
import re
import shutil
import tempfile
import threading
from dataclasses import replace
from pathlib import Path

import duckdb
import pyarrow as pa

from discreet.engine.dialect import DUCKDB
from discreet.engine.files import describe_file, open_batches, text_scan
from discreet.engine.protocol import ReadOptions
from discreet.engine.sniff import TextFormat, verify_shape
from discreet.engine.sql import SqlEngine
from discreet.errors import UnreadableInput
from discreet.table import Column, Source, Table

LARGE_FILE_SHARE = 0.2
"""A text file larger than this share of memory is unpacked into a database file instead of memory."""


class DuckDBEngine(SqlEngine):
    """Rows in DuckDB: grouping and joining out of core, on all cores, without leaving the machine."""

    name = "duckdb"
    dialect = DUCKDB

    def __init__(self, *, memory_limit: str | None = None, threads: int | None = None) -> None:
        super().__init__()
        self._lock = threading.RLock()
        self._scratch = Path(tempfile.mkdtemp(prefix="discreet-"))
        self._closed = False
        # Nothing may be fetched at run time, and no query may reach beyond what a verb was given.
        self._connection = duckdb.connect(
            config={
                "temp_directory": str(self._scratch / "spill"),
                "autoinstall_known_extensions": "false",
                "autoload_known_extensions": "false",
                **({"memory_limit": memory_limit} if memory_limit else {}),
                **({"threads": str(threads)} if threads else {}),
            }
        )
        self._on_disk = False
        atexit.register(self.close)

    def close(self) -> None:
        """Forget all tables and remove what was put on disk."""
        with self._lock:
            if not self._closed:
                self._closed = True
                self._connection.close()
                shutil.rmtree(self._scratch, ignore_errors=True)
                atexit.unregister(self.close)

    # ── reading ───────────────────────────────────────────────────────────────────────────────────

    def read_file(self, path: Path, options: ReadOptions) -> Table:
        """A table over a file, with what was found out about the file in its source."""
        source, text_format = describe_file(path, options)
        limit = f" LIMIT {options.rows}" if options.rows is not None else ""
        if source.format == "parquet":
            scan = f"SELECT * FROM read_parquet({self.dialect.literal(str(path))}){limit}"
            if options.rows is None and not options.missing:
                return self._table(self._view(scan, source), source)
            return self._finish(self._guarded(scan, source), source, options)
        if source.format == "json-lines":
            scan = (
                f"SELECT * FROM read_json({self.dialect.literal(str(path))}, "
                f"format = 'newline_delimited', maximum_sample_files = 1, sample_size = -1){limit}"
            )
            return self._finish(self._guarded(scan, source), source, options)
        if text_format is not None:
            options = replace(options, decimal=text_format.decimal)
            scan_call = text_scan(path, text_format, self.dialect)
            if scan_call is not None:
                self._make_room(path)
                relation = self._guarded(
                    f"SELECT * FROM {scan_call}{limit}", source, path, text_format, options.rows
                )
                return self._typed(relation, source, options)
            relation = self._keep_batches(open_batches(path, source.format, options, text_format))
            return self._typed(relation, source, options)
        return self.read_batches(open_batches(path, source.format, options), source, options)

    def read_batches(self, batches: pa.RecordBatchReader, source: Source, options: ReadOptions) -> Table:
        """A table from Arrow batches."""
        return self._finish(self._keep_batches(batches, options.rows), source, options)

    def _finish(self, relation: str, source: Source, options: ReadOptions) -> Table:
        """Apply missing marks to a relation that has its types already."""
        if options.missing:
            select = [
                f"{self._cleaned(quoted, options) if type_name == 'VARCHAR' else quoted} AS {quoted}"
                for quoted, type_name in (
                    (self.dialect.quote(name), type_name) for name, type_name in self._schema(relation)
                )
            ]
            kept = self._keep(f"SELECT {', '.join(select)} FROM {relation}")
            self._drop(relation)
            relation = kept
        return self._table(relation, source)

    def _keep_batches(self, batches: pa.RecordBatchReader, rows: int | None = None) -> str:
        limit = f" LIMIT {rows}" if rows is not None else ""
        with self._lock:
            self._connection.register("incoming", batches)
            try:
                return self._keep(f"SELECT * FROM incoming{limit}")
            finally:
                self._connection.unregister("incoming")

    def _guarded(
        self,
        scan: str,
        source: Source,
        path: Path | None = None,
        text_format: TextFormat | None = None,
        rows: int | None = None,
    ) -> str:
        """Materialise a scan; a failure names the place but never quotes the file's content."""
        try:
            return self._keep(scan)
        except duckdb.Error as error:
            if path is not None and text_format is not None:
                verify_shape(path, text_format, rows=rows)
            at = re.search(r"[Ll]ine:?\s*(\d+)", str(error))
            where = f" (line {at.group(1)})" if at else ""
            raise UnreadableInput(
                f"{source.name} could not be read as {source.format}{where}",
                remedy="check that the file is complete and of this format, or name delimiter, quote and encoding",
            ) from None

    def _view(self, scan: str, source: Source) -> str:
        relation = self._name()
        try:
            self._run(f"CREATE TEMP VIEW {relation} AS {scan}")
        except duckdb.Error:
            raise UnreadableInput(
                f"{source.name} could not be read as {source.format}",
                remedy="check that the file is complete and of this format",
            ) from None
        return relation

    def _make_room(self, path: Path) -> None:
        """Unpack large text into a database file in the private directory instead of into memory."""
        memory = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
        if path.stat().st_size > LARGE_FILE_SHARE * memory and not self._on_disk:
            self._run(f"ATTACH {self.dialect.literal(str(self._scratch / 'rows.duckdb'))} AS on_disk")
            self._on_disk = True

    # ── relations ─────────────────────────────────────────────────────────────────────────────────

    def _name(self) -> str:
        return f"discreet_{next(self._numbers)}"

    def _run(self, statement: str) -> None:
        with self._lock:
            self._connection.execute(statement).fetchall()

    def _fetch(self, query: str) -> pa.Table:
        with self._lock:
            return self._connection.sql(query).to_arrow_table()

    def _keep(self, query: str) -> str:
        relation = f"on_disk.main.{self._name()}" if self._on_disk else self._name()
        self._run(f"CREATE TABLE {relation} AS {query}")
        return relation

    def _put(self, table: pa.Table) -> str:
        with self._lock:
            self._connection.register("incoming", table)
            try:
                relation = self._name()
                self._run(f"CREATE TEMP TABLE {relation} AS SELECT * FROM incoming")
            finally:
                self._connection.unregister("incoming")
        return relation

    def _drop(self, relation: str) -> None:
        with self._lock:
            if not self._closed:
                kind = self._fetch(
                    "SELECT count(*) AS n FROM duckdb_views() WHERE view_name = "
                    + self.dialect.literal(relation.rsplit(".", 1)[-1])
                )["n"][0].as_py()
                self._run(f"DROP {'VIEW' if kind else 'TABLE'} IF EXISTS {relation}")

    def _schema(self, relation: str) -> list[tuple[str, str]]:
        described = self._fetch(f"DESCRIBE SELECT * FROM {relation}")
        return list(
            zip(described["column_name"].to_pylist(), described["column_type"].to_pylist(), strict=True)
        )

    def _column(self, name: str, type_name: str) -> Column:
        base = type_name.split("(")[0].split(" ")[0]
        if type_name.endswith("[]") or base in ("LIST", "ARRAY"):
            return Column(name, "set", "list")
        if base == "VARCHAR":
            return Column(name, "nominal", "text")
        if base == "ENUM":
            return Column(name, "nominal", "other")
        if base == "BOOLEAN":
            return Column(name, "nominal", "boolean")
        if base in INTEGER_TYPES:
            return Column(name, "integer", "integer")
        if base in ("FLOAT", "DOUBLE"):
            return Column(name, "continuous", "float")
        if base == "DECIMAL":
            return Column(name, "continuous", "integer")
        if base == "DATE":
            return Column(name, "date", "date")
        if base.startswith("TIMESTAMP"):
            return Column(name, "date", "timestamp")
        return Column(name, "nominal", "other")

    # ── verbs of its own ──────────────────────────────────────────────────────────────────────────

    def sample(self, table: Table, rows: int) -> Table:
        """A reproducible sample of rows, spread over the table (all rows if there are no more)."""
        if rows >= table.rows:
            return table
        kept = self._keep(
            f"SELECT * FROM {table.relation} USING SAMPLE reservoir({int(rows)} ROWS) REPEATABLE (1)"
        )
        return self._table(kept, table.source)


INTEGER_TYPES = frozenset(
    [
        "TINYINT",
        "SMALLINT",
        "INTEGER",
        "BIGINT",
        "HUGEINT",
        "UTINYINT",
        "USMALLINT",
        "UINTEGER",
        "UBIGINT",
        "UHUGEINT",
    ]
)
