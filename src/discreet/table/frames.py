"""Frames of other libraries: which kind a table came as, and rows as that kind again."""

from __future__ import annotations

import importlib
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import pyarrow as pa
import pyarrow.compute as pc

from discreet.errors import MissingDependency
from discreet.sentences import Sentence
from discreet.table.pandas_types import as_categories_before, as_periods, with_former_names

if TYPE_CHECKING:
    import pandas as pd
    import polars as pl


@dataclass(frozen=True)
class FrameKind:
    """The library that a frame came from, and a frame of it without rows, which has the types of the columns.

    ``index`` is what a pandas frame calls its rows by: results for each of its records are called so, too. ``texts``
    are its columns of text: dates that were written there come back as texts, in ISO's notation. ``durations`` are
    counted as numbers of seconds, and come back.
    """

    library: str
    pattern: Any = field(default=None, repr=False, compare=False)
    index: Any = field(default=None, repr=False, compare=False)
    texts: frozenset[str] = field(default=frozenset(), repr=False, compare=False)
    durations: frozenset[str] = field(default=frozenset(), repr=False, compare=False)

    @classmethod
    def of(cls, source: Any, library: str) -> FrameKind:
        """The kind of a frame that ``discreet.read`` was given."""
        if library == "pandas":
            texts = frozenset(
                str(name) for i, name in enumerate(source.columns) if _holds_text(source.iloc[:, i])
            )
            spans = frozenset(str(name) for name, kind in source.dtypes.items() if kind.kind == "m")
            return cls(library, source.iloc[:0], source.index, texts, spans)
        if library == "polars":
            schema = source.lazy().clear().collect().to_arrow().schema
            return cls(library, source.clear(), texts=_text_columns(schema), durations=_durations(schema))
        if library in ("pyspark", "ibis"):
            return cls(library, source)
        if not isinstance(source, pa.Table):
            return cls(library)
        try:
            empty = source.schema.empty_table()
        except pa.ArrowNotImplementedError:
            # Of values of several types: they come back as what the engine makes of them.
            return cls(library)
        return cls(library, empty, texts=_text_columns(source.schema), durations=_durations(source.schema))

    def make(self, rows: pa.Table) -> Any:
        """Rows as a frame of this kind, with the types that its columns had wherever their values still allow."""
        return MAKERS.get(self.library, _arrow)(self.with_texts(rows), self.pattern)

    def with_texts(self, rows: pa.Table) -> pa.Table:
        """The rows with dates as texts where texts had been, and seconds as durations where these had been."""
        for i, column in enumerate(rows.schema):
            if column.name in self.durations and _is_number(column.type):
                rows = rows.set_column(i, column.name, _as_durations(rows[i]))
            if column.name in self.texts and pa.types.is_temporal(column.type):
                rows = rows.set_column(i, column.name, _as_texts(rows[i]))
        return rows


@dataclass(frozen=True)
class EngineFrame:
    """Rows as a frame of their engine's own kind, and given out batch by batch to whoever checks them."""

    frame: Any
    rows: int
    batches: Callable[[Sequence[str]], Iterator[pa.RecordBatch]] = field(repr=False)


class AsFrames(ABC):
    """Rows that whoever holds them can have as a frame of their library."""

    @property
    @abstractmethod
    def frame_kind(self) -> FrameKind:
        """What the rows came as."""

    @abstractmethod
    def to_arrow(self) -> pa.Table:
        """The rows as an Arrow table."""

    def to_pandas(self) -> pd.DataFrame:
        """The rows as a pandas frame, numbered from 0."""
        kind = self.frame_kind
        frame: pd.DataFrame = _pandas(
            kind.with_texts(self.to_arrow()), kind.pattern if kind.library == "pandas" else None
        )
        return frame

    def to_polars(self) -> pl.DataFrame:
        """The rows as a polars frame."""
        kind = self.frame_kind
        frame: pl.DataFrame = _polars(
            kind.with_texts(self.to_arrow()), kind.pattern if kind.library == "polars" else None
        )
        return frame

    def to_native(self) -> Any:
        """The rows as the kind of frame that came in; of a file, as an Arrow table."""
        return self.frame_kind.make(self.to_arrow())

    def __arrow_c_stream__(self, requested_schema: object | None = None) -> object:
        """The rows for any library that reads Arrow streams."""
        return self.to_arrow().__arrow_c_stream__(requested_schema)


def as_categories(rows: pa.Table, orders: Mapping[str, Sequence[str]]) -> pa.Table:
    """The same rows with ordered categories in some columns of text; each order has all texts of its column.

    >>> rows = as_categories(pa.table({"age": [">= 40", "[30, 39]"]}), {"age": ["[30, 39]", ">= 40"]})
    >>> rows["age"].type.ordered, rows["age"].chunk(0).indices.to_pylist()
    (True, [1, 0])
    """
    for name, labels in orders.items():
        column = rows[name].combine_chunks().cast(pa.string())
        codes = pc.index_in(column, value_set=pa.array(labels, pa.string()))
        categories = pa.DictionaryArray.from_arrays(codes, pa.array(labels, pa.string()), ordered=True)
        rows = rows.set_column(rows.column_names.index(name), name, categories)
    return rows


def _library(name: str) -> Any:
    """A library of frames, or what to do if it is not installed."""
    try:
        return importlib.import_module(name)
    except ImportError as error:
        raise MissingDependency(
            Sentence("{library} is not installed", library=name),
            remedy=Sentence("pip install {library}", library=name),
        ) from error


def _is_number(kind: pa.DataType) -> bool:
    return bool(pa.types.is_floating(kind) or pa.types.is_integer(kind) or pa.types.is_decimal(kind))


def _is_text(kind: pa.DataType) -> bool:
    return bool(pa.types.is_string(kind) or pa.types.is_large_string(kind))


def _as_texts(moments: pa.ChunkedArray) -> pa.ChunkedArray:
    """Dates and times as texts; whole seconds without digits behind them."""
    if pa.types.is_timestamp(moments.type):
        with suppress(pa.ArrowInvalid):
            moments = moments.cast(pa.timestamp("s", moments.type.tz))
    return moments.cast(pa.string())


def _as_durations(seconds: pa.ChunkedArray) -> pa.ChunkedArray:
    """Numbers of seconds as durations.

    >>> _as_durations(pa.chunked_array([[1.5, None]])).to_pylist()
    [datetime.timedelta(seconds=1, microseconds=500000), None]
    """
    microseconds = pc.round(pc.multiply(seconds.cast(pa.float64()), 1e6))
    return microseconds.cast(pa.int64()).cast(pa.duration("us"))


def _text_columns(schema: pa.Schema) -> frozenset[str]:
    """The columns of texts, those in categories among them."""
    kinds = {f.name: f.type.value_type if _is_category(f.type) else f.type for f in schema}
    return frozenset(name for name, kind in kinds.items() if _is_text(kind) or kind == pa.string_view())


def _durations(schema: pa.Schema) -> frozenset[str]:
    return frozenset(column.name for column in schema if pa.types.is_duration(column.type))


def _holds_text(column: Any) -> bool:
    """Whether the first value of a pandas column is a text."""
    filled = column.notna().to_numpy()
    return bool(filled.any()) and isinstance(column.iloc[int(filled.argmax())], str)


def _is_category(kind: pa.DataType) -> bool:
    return bool(pa.types.is_dictionary(kind))


def _arrow(rows: pa.Table, pattern: pa.Table | None) -> pa.Table:
    """An Arrow table; columns whose type was another come in it again where all values fit."""
    for i, column in enumerate(rows.schema):
        if pattern is None or column.name not in pattern.column_names or _is_category(column.type):
            continue
        kind = pattern.schema.field(column.name).type
        texts = kind.value_type if _is_category(kind) else kind
        if _is_text(column.type) != _is_text(texts):
            continue
        values = rows[i].cast(texts) if _is_category(kind) else rows[i]
        try:
            rows = rows.set_column(
                i, column.name, (values.dictionary_encode() if _is_category(kind) else values).cast(kind)
            )
        except pa.ArrowException:
            continue
    return rows


def _pandas(rows: pa.Table, pattern: pd.DataFrame | None) -> Any:
    """A pandas frame; whole numbers with gaps are nullable, not floats."""
    pd = _library("pandas")
    types = {} if pattern is None else {str(name): kind for name, kind in pattern.dtypes.items()}
    columns = {name: _pandas_series(pd, rows[name], types.get(name)) for name in rows.column_names}
    return with_former_names(pd.DataFrame(columns), pattern)


def _pandas_series(pd: Any, column: pa.ChunkedArray, kind: Any) -> Any:
    """A column in the type that it had if its values still allow it."""
    if _is_category(column.type):
        return column.to_pandas()
    text = _is_text(column.type)
    if isinstance(kind, pd.CategoricalDtype):
        return as_categories_before(pd, column, kind)
    if isinstance(kind, pd.PeriodDtype) and pa.types.is_temporal(column.type):
        return as_periods(pd, column, kind)
    if kind is not None and text == bool(
        pd.api.types.is_string_dtype(kind) or pd.api.types.is_object_dtype(kind)
    ):
        # Values that the former type cannot hold keep the type that they have.
        with suppress(TypeError, ValueError, NotImplementedError, pa.ArrowException):
            if hasattr(kind, "__from_arrow__"):
                return column.to_pandas(types_mapper=lambda _: kind)
            return column.to_pandas().astype(kind)
    if pa.types.is_integer(column.type) and column.null_count:
        return column.to_pandas(types_mapper=lambda _: pd.Int64Dtype())
    return column.to_pandas()


def _polars(rows: pa.Table, pattern: pl.DataFrame | None) -> Any:
    """A polars frame; ordered categories become an Enum, whose values have that order."""
    pl = _library("polars")
    types = {} if pattern is None else dict(pattern.collect_schema())
    columns = []
    for name in rows.column_names:
        column = rows[name].combine_chunks()
        if _is_category(column.type):
            texts = pl.Series(name, column.cast(pa.string()))
            labels = column.dictionary.to_pylist()
            columns.append(texts.cast(pl.Enum(labels) if column.type.ordered else pl.Categorical))
            continue
        series = pl.Series(name, column)
        kind = types.get(name)
        if isinstance(kind, pl.Enum):
            present = set(series.drop_nulls().to_list())
            kept = [category for category in kind.categories if category in present]
            kind = pl.Enum(kept) if len(kept) == len(present) else pl.Categorical
        textual = kind in (pl.String, pl.Categorical) or isinstance(kind, pl.Enum)
        if kind is not None and textual == _is_text(column.type):
            series = series.cast(kind, strict=False) if _fits(series, kind) else series
        columns.append(series)
    return pl.DataFrame(columns)


def _native_polars(rows: pa.Table, pattern: Any) -> Any:
    """A polars frame, lazy if what came in was."""
    frame = _polars(rows, pattern)
    return frame.lazy() if type(pattern).__name__ == "LazyFrame" else frame


def _fits(series: Any, kind: Any) -> bool:
    """Whether no value is lost in another type."""
    cast = series.cast(kind, strict=False)
    return bool(cast.null_count() == series.null_count())


def _duckdb(rows: pa.Table, pattern: object) -> Any:
    """A relation of DuckDB's default connection."""
    return _library("duckdb").from_arrow(rows)


def _spark(rows: pa.Table, pattern: Any) -> Any:
    """A frame of the session that the table came from."""
    return pattern.sparkSession.createDataFrame(_plain(rows))


def _ibis(rows: pa.Table, pattern: object) -> Any:
    """A table of ibis in memory."""
    return _library("ibis").memtable(_plain(rows))


def _plain(rows: pa.Table) -> pa.Table:
    """The rows with texts in place of categories."""
    fields = [
        pa.field(f.name, f.type.value_type if _is_category(f.type) else f.type, f.nullable)
        for f in rows.schema
    ]
    return rows.cast(pa.schema(fields))


MAKERS: Mapping[str, Callable[[pa.Table, Any], Any]] = {
    "pandas": _pandas,
    "polars": _native_polars,
    "duckdb": _duckdb,
    "pyspark": _spark,
    "ibis": _ibis,
}
"""How rows become a frame of a library; of any other, an Arrow table."""
