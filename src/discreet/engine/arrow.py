"""Arrow batches in the few types that every engine keeps alike."""

from __future__ import annotations

from collections.abc import Iterator

import pyarrow as pa
import pyarrow.compute as pc

MOST_DIGITS = 38
"""With more digits no engine holds a number exactly."""
WIDER: dict[pa.DataType, pa.DataType] = {
    pa.null(): pa.string(),
    pa.string_view(): pa.large_string(),
    pa.binary_view(): pa.large_binary(),
    pa.uint8(): pa.int16(),
    pa.uint16(): pa.int32(),
    pa.uint32(): pa.int64(),
    pa.uint64(): pa.decimal128(20, 0),
    pa.float16(): pa.float32(),
    pa.date64(): pa.date32(),
}

TICKS = {"s": 1.0, "ms": 1e3, "us": 1e6, "ns": 1e9}
"""How many units of a duration are a second."""


def common_type(kind: pa.DataType) -> pa.DataType:
    """The type a column is kept in: values instead of dictionaries, signed integers, microseconds, durations in seconds.

    >>> common_type(pa.dictionary(pa.int8(), pa.string())), common_type(pa.uint8())
    (DataType(string), DataType(int16))
    """
    if pa.types.is_dictionary(kind):
        return common_type(kind.value_type)
    if pa.types.is_timestamp(kind):
        return pa.timestamp("us", kind.tz)
    if pa.types.is_duration(kind):
        return pa.float64()
    if pa.types.is_decimal256(kind) and kind.precision <= MOST_DIGITS:
        return pa.decimal128(kind.precision, kind.scale)
    return WIDER.get(kind, kind)


def has_no_text(kind: pa.DataType) -> bool:
    """Whether Arrow does not print values of a type: bytes, and spans of months, days and hours.

    >>> has_no_text(pa.binary(16)), has_no_text(pa.list_(pa.int8()))
    (True, False)
    """
    return (
        pa.types.is_fixed_size_binary(kind)
        or pa.types.is_interval(kind)
        or kind in (pa.binary(), pa.large_binary())
    )


def in_common_types(batches: pa.RecordBatchReader, rows: int | None = None) -> pa.RecordBatchReader:
    """The same rows, or the first of them, in common types.

    >>> in_common_types(pa.table({"n": pa.array([7, 8, 9], pa.uint8())}).to_reader(), rows=2).read_all()["n"].to_pylist()
    [7, 8]
    """
    schema = pa.schema([pa.field(field.name, common_type(field.type)) for field in batches.schema])
    return pa.RecordBatchReader.from_batches(schema, _converted(batches, schema, rows))


def _cast(column: pa.Array, kind: pa.DataType) -> pa.Array:
    # Nanoseconds are cut to microseconds, which is all that a table about people can mean.
    if not pa.types.is_duration(column.type):
        return column.cast(kind, safe=False)
    ticks = column.cast(pa.int64()).cast(kind, safe=False)
    return pc.divide(ticks, TICKS[column.type.unit])


def _without_nan(column: pa.Array) -> pa.Array:
    """NaN, which some frames have for what is missing, is a null."""
    if not pa.types.is_floating(column.type):
        return column
    return pc.if_else(pc.is_nan(column), pa.scalar(None, column.type), column)


def _converted(
    batches: pa.RecordBatchReader, schema: pa.Schema, rows: int | None
) -> Iterator[pa.RecordBatch]:
    left = rows
    for batch in batches:
        taken = batch if left is None else batch.slice(0, left)
        columns = [_without_nan(_cast(c, f.type)) for c, f in zip(taken.columns, schema, strict=True)]
        yield pa.RecordBatch.from_arrays(columns, schema=schema)
        if left is not None:
            left -= len(taken)
            if left <= 0:
                return
