"""The engine for those who outgrow the machine: Spark, here in local mode or in a session of the caller's."""

from __future__ import annotations

import atexit
import errno
import json
import re
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any
from uuid import uuid4

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from discreet.engine.arrow import in_common_types
from discreet.engine.dialect import SPARK
from discreet.engine.files import describe_file, first_lines, head_of_lines, open_batches, scan_path
from discreet.engine.query import check_spark, refuse
from discreet.engine.recognise import DATES
from discreet.engine.relations import check_names, no_rows, unanswerable
from discreet.engine.several import describe_members, member_batches
from discreet.engine.sniff.format import TextFormat
from discreet.engine.spark_query import answer, passed_on
from discreet.engine.spark_session import session_type, spark_errors, start, stop, unlogged, unresolved_column
from discreet.engine.sql import SqlEngine
from discreet.errors import UnknownColumn, UnreadableInput
from discreet.files.members import Members, members
from discreet.files.scratch import Scratch
from discreet.sentences import Sentence
from discreet.table import Column, DataType, Source, Table
from discreet.table.column import Storage
from discreet.table.frames import EngineFrame
from discreet.table.reading import ReadOptions

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

BROADCAST_ROWS = 2_000_000
"""Dictionaries up to this size are sent to every worker instead of being shuffled with the rows."""

PIECE_ROWS = 8_000_000
"""Numbers of more rows than this come to the driver in pieces: its Java holds one of them, and a session that is given limits what it holds."""

CHECKED_ROWS = 500_000
"""Rows of a frame that is handed out come to the driver in pieces of this size, to be checked there."""

ORDER_LINES = 1_000
"""Keys of a JSON lines file keep the order in which these first lines name them."""

SETTINGS = {
    "spark.sql.session.timeZone": "UTC",
    "spark.sql.timestampType": "TIMESTAMP_NTZ",
    "spark.sql.ansi.enabled": "true",
    "spark.sql.caseSensitive": "false",
    "spark.sql.variable.substitute": "false",
    "spark.sql.sources.partitionColumnTypeInference.enabled": "false",
    "spark.sql.execution.arrow.pyspark.enabled": "true",
}
"""What the shared SQL relies on, whatever the session was set to."""

TYPES: dict[str, tuple[DataType, Storage]] = {
    "string": ("nominal", "text"),
    "boolean": ("nominal", "boolean"),
    **dict.fromkeys(("tinyint", "smallint", "int", "bigint"), ("integer", "integer")),
    **dict.fromkeys(("float", "double"), ("continuous", "float")),
    "decimal": ("continuous", "integer"),
    "date": ("date", "date"),
    **dict.fromkeys(("timestamp", "timestamp_ntz"), ("date", "timestamp")),
    "array": ("set", "list"),
}


class SparkEngine(SqlEngine):
    """Rows in Spark. A session that is passed in, or is active already, is used and left running.

    Text whose records span lines or are not UTF-8, Arrow files, spreadsheets and frames of other libraries come in
    through the memory of this process; Parquet, JSON lines, plain text and frames of Spark stay there.
    """

    name = "spark"
    dialect = SPARK
    # Each query reads the file anew.
    columns_at_once = 200
    recomputes = True

    def __init__(self, *, session: SparkSession | None = None) -> None:
        super().__init__()
        self._folder = Scratch("rows")
        self._scratch = self._folder.path
        self._frames: dict[str, DataFrame] = {}
        self._closed = False
        try:
            given = session or session_type().getActiveSession()
            self._stops = given is None
            self._parent = given or start()
        except BaseException:
            self._closed = True
            self._remove()
            raise
        # After the folder of Java, which therefore goes last.
        atexit.register(self.close)
        # Views and settings of its own: the caller's session keeps its names and its time zone.
        self._session = self._parent.newSession()
        for key, value in SETTINGS.items():
            self._session.conf.set(key, value)

    def close(self) -> None:
        """Forget all tables and remove what was put on disk; stop Spark if it was started here."""
        if not self._closed:
            try:
                for relation in list(self._frames):
                    self._drop(relation)
                if self._stops:
                    stop(self._parent)
            finally:
                self._closed = True
                self._remove()

    def _remove(self) -> None:
        self._folder.remove()
        atexit.unregister(self.close)

    # ── reading ───────────────────────────────────────────────────────────────────────────────────

    def read_file(self, path: Path, options: ReadOptions) -> Table:
        """A table over a file, with what was found out about the file in its source."""
        several = members(path)
        if several is not None:
            return self._read_several(several, options)
        source, written = describe_file(path, options)
        if isinstance(written, TextFormat):
            frame = None if options.rows else self._text(path, written)
            if frame is None:
                frame = self._frame(open_batches(path, source.format, options, written), source)
            return self._typed(self._view(frame), source, replace(options, decimal=written.decimal))
        if source.format == "json-lines":
            return self._typed(self._view(self._json(path, source, options.rows)), source, options, DATES)
        if source.format == "parquet" and not options.rows:
            with suppress(*spark_errors()):  # e.g. nanoseconds, which Spark's reader refuses
                frame = self._session.read.parquet(self._address(path))
                return self._finish(self._view(self._read_cells(frame)), source, options)
        return self.read_batches(open_batches(path, source.format, options, written), source, options)

    def _read_several(self, several: Members, options: ReadOptions) -> Table:
        """A table over several files: Parquet is read by Spark itself, text comes in through memory."""
        source, written = describe_members(several, options)
        if written is not None:
            frame = self._frame(member_batches(several, source, options, written), source)
        else:
            folder = self._scratch / uuid4().hex
            several.linked(folder, ".parquet")
            frame = self._read_cells(self._session.read.parquet(f"file://{folder}"))
        if options.rows:
            frame = frame.limit(options.rows)
        if written is None:
            return self._finish(self._view(frame), source, options)
        return self._typed(self._view(frame), source, replace(options, decimal=written.decimal))

    def read_batches(self, batches: pa.RecordBatchReader, source: Source, options: ReadOptions) -> Table:
        """A table from Arrow batches."""
        frame = self._frame(in_common_types(batches, options.rows), source)
        return self._finish(self._view(frame.persist()), source, options)

    def read_frame(self, frame: DataFrame, source: Source, options: ReadOptions) -> Table:
        """A table over a frame of the same Spark: its rows stay where they are, and are worked out once."""
        check_names(frame.columns, source.name)
        if frame.isStreaming:
            raise UnreadableInput(
                "the frame is a stream, which has no end",
                remedy="write it to a table, and pass a frame of that",
            )
        taken = self._read_cells(passed_on(frame, self._session))
        if options.rows:
            taken = taken.limit(options.rows)
        if options.rows or not (frame.storageLevel.useMemory or frame.storageLevel.useDisk):
            # Each of many queries would work it out anew, and find other rows where it draws them by chance.
            taken.persist()
        return self._finish(self._view(taken), source, options)

    def _frame(self, batches: pa.RecordBatchReader, source: Source) -> DataFrame:
        table = batches.read_all()
        if not table.num_rows:
            raise no_rows(source)
        return self._session.createDataFrame(table)

    def _address(self, path: Path, suffix: str = "") -> str:
        """How Spark finds a local file, and not one somewhere else."""
        return f"file://{scan_path(path, self._scratch, suffix)}"

    def _text(self, path: Path, text_format: TextFormat) -> DataFrame | None:
        """A text file read by Spark, every column as text; ``None`` where its reader might differ.

        Spark repairs broken records, drops lines of blanks and replaces undecodable bytes without a word.
        So every line is first held against the strict grammar of a record that begins and ends on it.
        """
        if (
            text_format.encoding not in ("utf-8", "utf-8-sig", "ascii")
            or text_format.escape not in ("", '"')
            or text_format.quote not in ('"', "")
            or text_format.skip_initial_space
            or text_format.skip_rows
            or text_format.skip_last
        ):
            return None
        address = self._address(path, ".gz" if text_format.compression else "")
        mark = re.escape(text_format.delimiter)
        field = f"[^{mark}]*+"
        if text_format.quote:
            field = f'(?:"[^"]*+(?:""[^"]*+)*+"|[^"{mark}][^{mark}]*+|)'
        record = self.dialect.literal(rf"\A{field}(?:{mark}{field}){{{len(text_format.names) - 1}}}\z")
        blank = self.dialect.literal(r"\A[\x00-\x20]+\z")
        odd = self._session.read.text(address).where(
            f"value <> '' AND (NOT is_valid_utf8(value) OR NOT value RLIKE {record} OR value RLIKE {blank}"
            " OR contains(value, char(0)))"
        )
        if not odd.isEmpty():
            return None
        quoted = [self.dialect.quote(name) for name in text_format.names]
        return self._session.read.csv(
            address,
            schema=", ".join(f"{name} STRING" for name in quoted),
            sep=text_format.delimiter,
            quote=text_format.quote,
            escape=text_format.quote,
            header=text_format.header,
            mode="FAILFAST",
            encoding="UTF-8",
        ).selectExpr(*(f"coalesce({name}, '') AS {name}" for name in quoted))

    def _json(self, path: Path, source: Source, rows: int | None) -> DataFrame:
        """A JSON lines file with its keys in the order in which they first occur."""
        if rows:
            path = head_of_lines(path, rows, self._scratch)
        address = self._address(path, ".gz" if path.suffix == ".gz" else "")
        broken = "discreet broken record"
        frame = self._session.read.json(address, columnNameOfCorruptRecord=broken)
        if broken in frame.columns:
            raise UnreadableInput(
                Sentence(
                    "{name} could not be read as {file_format}: a line is not a JSON object",
                    name=source.name,
                    file_format=source.format,
                ),
                remedy="check that the file is complete and has one object per line",
            )
        seen: dict[str, None] = {}
        for line in first_lines(path, ORDER_LINES):
            seen.update(dict.fromkeys(json.loads(line)))
        names = [name for name in seen if name in frame.columns]
        names += [name for name in frame.columns if name not in seen]
        return self._read_cells(frame.select(*map(self.dialect.quote, names)))

    def _read_cells(self, frame: DataFrame) -> DataFrame:
        # A column without a type has nulls only; as texts they can be written and joined.
        cells = (
            f"CAST({self.dialect.quote(name)} AS STRING) AS {self.dialect.quote(name)}"
            if kind == "void"
            else self.dialect.cell(self._column(name, kind), kind)
            for name, kind in frame.dtypes
        )
        return frame.selectExpr(*cells)

    # ── relations ─────────────────────────────────────────────────────────────────────────────────

    def _view(self, frame: DataFrame) -> str:
        relation = self._name()
        frame.createOrReplaceTempView(relation)
        self._frames[relation] = frame
        return relation

    def _rows_of(self, table: Table) -> DataFrame:
        """The rows of a table, without what only the engine sees."""
        return self._session.table(table.relation).select(*map(self.dialect.quote, table.names))

    def _fetch(self, query: str) -> pa.Table:
        return self._session.sql(query).toArrow()

    def _fetch_numbers(self, query: str, most: int) -> dict[str, NDArray[Any]]:
        """The columns of a result, all numbers: of many rows some of Spark's parts at a time."""
        if most <= PIECE_ROWS:
            return super()._fetch_numbers(query, most)
        frame = self._session.sql(query).persist()
        try:
            sizes = part_sizes(frame)
            columns = {
                name: np.empty(sum(sizes.values()), of.to_pandas_dtype())
                for name, of in zip(frame.columns, frame.limit(0).toArrow().schema.types, strict=True)
            }
            at = 0
            for piece in in_pieces(frame, sizes, PIECE_ROWS):
                for name, column in columns.items():
                    column[at : at + piece.num_rows] = piece[name].to_numpy()
                at += piece.num_rows
        finally:
            frame.unpersist()
        return {name: column[:at] for name, column in columns.items()}

    def native(self, table: Table) -> EngineFrame | None:
        """The rows as a frame of the session that their frame came from, as they are now and for as long as it is used."""
        kind = table.frame_kind
        if kind.library != "pyspark":
            return None
        with unlogged():
            # Rows that are lost with a worker are an error from now on: made anew they might not be those that were checked.
            kept = self._rows_of(table).localCheckpoint()
        sizes = part_sizes(kept)

        def batches(names: Sequence[str]) -> Iterator[pa.RecordBatch]:
            for piece in in_pieces(kept.select(*map(self.dialect.quote, names)), sizes, CHECKED_ROWS):
                yield from piece.to_batches()

        return EngineFrame(passed_on(kept, kind.pattern.sparkSession), sum(sizes.values()), batches)

    def store_parts(self, table: Table, folder: Path) -> None:
        """Put a table's rows into Parquet files, written by the workers: none passes through this process."""
        try:
            with unlogged():
                self._rows_of(table).write.mode("append").parquet(self._address(folder))
        except spark_errors() as error:
            raise OSError(errno.EIO, type(error).__name__) from None
        for path in folder.iterdir():
            # Marks of Spark's own, beside the rows.
            if not path.name.endswith(".parquet") or path.name.startswith((".", "_")):
                path.unlink()

    def _checked(self, query: str) -> str:
        try:
            plan = self._session._jsparkSession.sessionState().sqlParser().parsePlan(query)
        except spark_errors():
            refuse("is not valid SQL, or not one SELECT")
        check_spark(json.loads(plan.toJSON()))
        return query.rstrip("; \t\r\n")

    def _answer(self, query: str, table: Table) -> pa.Table:
        try:
            with unlogged():
                return answer(self._session, self._rows_of(table), query, SETTINGS)
        except spark_errors() as error:
            name = unresolved_column(error)
            # Said of names in the query; everything else could quote a cell.
            raise (UnknownColumn(name, table.names) if name else unanswerable(table)) from None

    def _keep(self, query: str) -> str:
        frame = self._session.sql(query).persist()
        frame.count()
        return self._view(frame)

    def _put(self, table: pa.Table) -> str:
        from pyspark.sql.functions import broadcast

        frame = self._session.createDataFrame(table)
        return self._view(broadcast(frame) if table.num_rows <= BROADCAST_ROWS else frame)

    def _drop(self, relation: str) -> None:
        if not self._closed and relation in self._frames:
            self._session.catalog.dropTempView(relation)
            self._frames.pop(relation).unpersist()

    def _schema(self, relation: str) -> list[tuple[str, str]]:
        return list(self._session.table(relation).dtypes)

    def _row_number(self, relation: str) -> str:
        # Spark numbers the rows of each part by itself, with the number of the part in the upper bits.
        part, row = "shiftright(monotonically_increasing_id(), 33)", "monotonically_increasing_id()"
        parts = self._fetch(
            f"SELECT part, count(*) AS n FROM (SELECT {part} AS part FROM {relation}) AS parts GROUP BY part ORDER BY part"
        ).to_pylist()
        before, starts = 0, []
        for counted in parts:
            starts.append(
                f"CAST({counted['part']} AS BIGINT), CAST({before - (counted['part'] << 33)} AS BIGINT)"
            )
            before += counted["n"]
        return f"{row} + element_at(map({', '.join(starts)}), {part})"

    def _column(self, name: str, type_name: str) -> Column:
        return Column(name, *TYPES.get(re.split("[(<]", type_name)[0], ("nominal", "other")))


def part_sizes(frame: DataFrame) -> dict[int, int]:
    """How many rows each of Spark's parts of a frame has."""
    part = frame.selectExpr("spark_partition_id() AS part").groupBy("part").count().toArrow()
    return dict(zip(part["part"].to_pylist(), part["count"].to_pylist(), strict=True))


def in_pieces(frame: DataFrame, sizes: Mapping[int, int], most: int) -> Iterator[pa.Table]:
    """The rows of a kept frame, some of its parts at a time."""
    for first, last in pieces(sizes, most):
        yield frame.where(f"spark_partition_id() BETWEEN {first} AND {last}").toArrow()


def pieces(sizes: Mapping[int, int], most: int) -> list[tuple[int, int]]:
    """First and last number of neighbouring parts that together hold ``most`` rows or fewer, or are one that holds more.

    >>> pieces({0: 3, 1: 1, 2: 2, 4: 9, 5: 1}, 4)
    [(0, 1), (2, 2), (4, 4), (5, 5)]
    """
    grouped: list[tuple[int, int]] = []
    rows = 0
    for part in sorted(sizes):
        rows += sizes[part]
        if grouped and rows <= most:
            grouped[-1] = (grouped[-1][0], part)
        else:
            grouped.append((part, part))
            rows = sizes[part]
    return grouped
