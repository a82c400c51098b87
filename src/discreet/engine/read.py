"""``discreet.read``: any table at hand becomes rows in an engine."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from dataclasses import replace
from functools import cache
from os import PathLike
from pathlib import Path
from typing import Any

import duckdb
import narwhals as nw
import pyarrow as pa
import pyarrow.interchange
from narwhals.typing import IntoFrame

from discreet.engine.duckdb import DuckDBEngine
from discreet.engine.limits import check_columns
from discreet.engine.postgres import PostgresEngine
from discreet.engine.protocol import Engine
from discreet.engine.relations import check_names
from discreet.engine.spark import SparkEngine
from discreet.engine.sqlalchemy import sql_batches
from discreet.engine.sqlite import sqlite_batches
from discreet.errors import EmptyTable, InvalidParameter, MissingDependency, UnreadableInput
from discreet.files.addresses import database_address
from discreet.files.members import absolute
from discreet.sentences import Sentence
from discreet.table import Source, Table
from discreet.table.frames import FrameKind
from discreet.table.pandas_types import for_arrow
from discreet.table.reading import Decimal, ReadOptions

NOT_FOR_ARROW = (pa.ArrowInvalid, pa.ArrowTypeError, pa.ArrowNotImplementedError, TypeError, OverflowError)


@cache
def default_engine() -> Engine:
    """The DuckDB engine that this process shares."""
    return DuckDBEngine()


@cache
def spark_engine(session: Any) -> SparkEngine:
    """The engine for frames of a session of Spark, of which it makes one of its own."""
    return SparkEngine(session=session)


def read(
    source: str | PathLike[str] | IntoFrame | pa.Table | pa.RecordBatchReader | Table,
    *,
    rows: int | None = None,
    delimiter: str | None = None,
    quote: str | None = None,
    encoding: str | None = None,
    header: bool | None = None,
    header_row: int | None = None,
    skip_rows: int | None = None,
    skip_last: int | None = None,
    names: Sequence[str] | None = None,
    decimal: Decimal | None = None,
    missing: Sequence[str] = (),
    sheet: str | None = None,
    expected: Sequence[str] = (),
    engine: Engine | None = None,
) -> Table:
    """Read a table from a file (CSV, TSV, Parquet, Arrow, JSON lines, Excel; text also gzipped) or a frame.

    Whatever is not given is found out, and the table's ``source`` says what was found and why.
    ``rows`` reads only the first rows. Texts that usually mean "missing" (``?``, the empty text) stay
    ordinary values unless listed in ``missing``; nulls form a class of their own. ``expected`` are column names
    that the table should have, such as those of a policy: a line that holds them is taken for the header. A frame
    of Spark stays there, and is worked with where it lies, unless another ``engine`` is named.

    >>> table = read(pa.table({"age": [31, 47], "sex": ["f", "m"]}))
    >>> table
    Table('frame', 2 rows × 2 columns)
    """
    if rows is not None and rows < 1:
        raise InvalidParameter(Sentence("rows is {rows}", rows=rows), remedy="ask for at least one row")
    options = ReadOptions(
        rows=rows,
        delimiter=delimiter,
        quote=quote,
        encoding=encoding,
        header=header,
        header_row=header_row,
        skip_rows=skip_rows,
        skip_last=skip_last,
        names=None if names is None else tuple(names),
        decimal=decimal,
        missing=tuple(missing),
        sheet=sheet,
        expected=tuple(expected),
    )
    if isinstance(source, Table):
        return source
    made = _opened(source, options, engine)
    return made if rows is None else replace(made, source=replace(made.source, first_rows=rows))


def _opened(source: object, options: ReadOptions, engine: Engine | None) -> Table:
    """A database, a file or a frame as a table; of a frame of narwhals the one that it stands for."""
    source = nw.to_native(source, pass_through=True)
    address = database_address(source) if isinstance(source, str) else None
    if address is not None and address.kind == "postgresql":
        if engine is not None:
            raise InvalidParameter(
                "an engine is asked for, but the table lies in PostgreSQL, which counts it itself",
                remedy="leave the engine out",
            )
        return PostgresEngine(address).read_table(address, options)
    if _of_spark(source) and (engine is None or isinstance(engine, SparkEngine)):
        there: Any = source
        return (engine or spark_engine(there.sparkSession)).read_frame(
            there, _frame_source(there, "pyspark", options), options
        )
    target = engine or default_engine()
    if address is not None:
        batches = sqlite_batches(address) if address.kind == "sqlite" else sql_batches(address)
        told = Source(
            address.name, address.kind, place=None if address.file is None else address.file.absolute()
        )
        return target.read_batches(batches, told, options)
    if isinstance(source, (str, PathLike)):
        made = target.read_file(Path(source), options)
        return replace(made, source=replace(made.source, place=absolute(Path(source))))
    reader, library = _batches(source)
    check_columns(reader.schema.names, "the frame")
    check_names(reader.schema.names, "the frame")
    if not reader.schema.names:
        raise EmptyTable("the frame has no columns", remedy="check that this is the frame you meant")
    return target.read_batches(reader, _frame_source(source, library, options), options)


def _frame_source(frame: object, library: str, options: ReadOptions) -> Source:
    """What is known of a frame of some library."""
    settings: dict[str, object] = {"missing marks read as null": list(options.missing)}
    return Source("frame", library, settings, frame=FrameKind.of(frame, library))


def _of_spark(source: object) -> bool:
    """Whether rows lie in a Spark whose session can be used here; one behind Spark Connect gives its rows as Arrow data."""
    return type(source).__module__.startswith("pyspark.sql.classic")


def _batches(source: object) -> tuple[pa.RecordBatchReader, str]:
    """Arrow batches of a frame of any library, and the library's name."""
    if isinstance(source, pa.RecordBatchReader):
        return source, "arrow"
    if isinstance(source, pa.Table):
        return source.to_reader(), "arrow"
    if type(source).__module__.split(".")[0] in ("duckdb", "_duckdb"):
        return _duckdb_batches(source), "duckdb"
    if isinstance(source, type):  # such as DataFrame itself, which has what its frames have
        raise _no_table(source)
    check_names(_names(source), "the frame")
    try:
        frame = nw.from_native(source)  # type: ignore[call-overload]
    except TypeError:
        return _exchanged(source), "arrow"
    kind = str(frame.implementation.value)
    eager = frame.collect() if isinstance(frame, nw.LazyFrame) else frame
    if kind == "polars" and any(each == nw.Object for each in eager.schema.values()):
        # Arrow would get the places of the objects in memory.
        raise _unfit(eager.to_native(), kind)
    try:
        if kind == "pandas":
            eager = nw.from_native(for_arrow(eager.to_native()))
        # An index is no column: Arrow would carry it along as one.
        return nw.maybe_reset_index(eager).to_arrow().to_reader(), kind
    except ModuleNotFoundError as error:
        raise MissingDependency(
            Sentence("reading {kind} needs {package}", kind=kind, package="pyarrow"),
            remedy="pip install pyarrow",
        ) from error
    except NOT_FOR_ARROW:
        raise _unfit(eager.to_native(), kind) from None


def _unfit(frame: Any, kind: str) -> UnreadableInput:
    """What somebody is told whose frame has a column that Arrow cannot hold as one type."""
    unfit = []
    for name in frame.columns:
        try:
            if kind == "polars" and str(frame.schema[name]) == "Object":
                raise TypeError
            _ = frame.select(name).to_arrow() if kind == "polars" else pa.array(frame[name])
        except NOT_FOR_ARROW:
            unfit.append(str(name))
    return UnreadableInput(
        Sentence(
            "a column of the {kind} frame mixes types or has one that Arrow lacks ({source})",
            kind=kind,
            source=Sentence("{names}", names=tuple(unfit))
            if unfit
            else Sentence("it could not be told which"),
        ),
        remedy="convert the column to one usual type, e.g. to text",
    )


def _exchanged(source: object) -> pa.RecordBatchReader:
    """Batches of a frame that can only give an Arrow stream or speaks the interchange protocol."""
    try:
        if hasattr(source, "__arrow_c_stream__"):
            return pa.RecordBatchReader.from_stream(source)
        if hasattr(source, "__dataframe__"):
            return pyarrow.interchange.from_dataframe(source).to_reader()
    except (*NOT_FOR_ARROW, ValueError, RuntimeError):
        raise UnreadableInput(
            Sentence(
                "the object of type {kind} cannot give its rows as Arrow data", kind=type(source).__name__
            ),
            remedy="convert it to a pandas, polars or pyarrow table first",
        ) from None
    raise _no_table(source)


def _no_table(source: object) -> UnreadableInput:
    return UnreadableInput(
        Sentence("an object of type {name} is not a table", name=type(source).__name__),
        remedy="pass a path, or a pandas, polars, pyarrow or DuckDB table",
    )


def _names(source: object) -> list[str]:
    """Column names of a frame, also of one that has not been computed yet."""
    if hasattr(source, "collect_schema"):
        return list(source.collect_schema().names())
    return [str(name) for name in getattr(source, "columns", [])]


def _duckdb_batches(source: object) -> pa.RecordBatchReader:
    for method in ("to_arrow_reader", "fetch_record_batch", "fetch_arrow_reader"):
        if hasattr(source, method):
            try:
                with warnings.catch_warnings():
                    # A result that was already computed is copied once more: the rows are the same.
                    warnings.filterwarnings("ignore", message="Arrow output on a DB-API result")
                    batches: pa.RecordBatchReader = getattr(source, method)()
            except duckdb.InvalidInputException:
                break
            return batches
    raise UnreadableInput(
        Sentence("an object of type {name} without rows to fetch is not a table", name=type(source).__name__),
        remedy="pass a DuckDB relation, e.g. connection.sql('SELECT …')",
    )
