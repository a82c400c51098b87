"""Numeric suppression: a number that stands for the suppressed cells of a column in place of ``*``."""

from __future__ import annotations

import datetime as dt
from decimal import Decimal
from typing import Literal

import numpy as np
import pyarrow as pa

from discreet.table.domain import Domain
from discreet.table.hierarchies.hierarchy import ROOT
from discreet.table.values import Exact, Interval, number_text, parse
from discreet.transform.recoding import Recoding, ReleasedAttribute
from discreet.types import AnyIntArray, BoolArray, FloatArray

Statistic = Literal["mean", "median", "mode", "minimum", "maximum"]

MICROSECONDS_PER_DAY = 86_400_000_000


def statistic_of(numbers: FloatArray, records: AnyIntArray, statistic: Statistic) -> float:
    """A statistic of numbers that several records have; NaN if there are none.

    The median of an even number of records is the mean of the two in the middle; of several modes the smallest
    counts.

    >>> numbers, records = np.array([1.0, 2.0, 9.0]), np.array([3, 1, 2])
    >>> [statistic_of(numbers, records, name) for name in ("mean", "median", "mode", "minimum", "maximum")]
    [3.8333333333333335, 1.5, 1.0, 1.0, 9.0]
    """
    there = ~np.isnan(numbers) & (records > 0)
    if not there.any():
        return float("nan")
    order = np.argsort(numbers[there], kind="stable")
    values, counts = numbers[there][order], records[there][order]
    if statistic == "mean":
        return float(np.average(values, weights=counts))
    if statistic == "median":
        upto = np.cumsum(counts)
        middle = np.searchsorted(upto, [(upto[-1] - 1) // 2, upto[-1] // 2], side="right")
        return float(values[middle].mean())
    if statistic == "mode":
        return float(values[np.argmax(counts)])
    return float(values[0] if statistic == "minimum" else values[-1])


def shown_for_suppressed(recoding: Recoding, numbers: Statistic | Literal["star"]) -> dict[str, pa.Array]:
    """Per column its new values and, last, what a suppressed record shows: ``*`` or a statistic of the others."""
    shown = {}
    for column, domain in zip(recoding.columns, recoding.classes.attributes, strict=True):
        values = None
        if numbers != "star":
            values = with_stand_in(column, domain, recoding.kept, recoding.classes.records, numbers)
        shown[column.name] = (
            pa.concat_arrays([column.texts(), pa.array([ROOT])]) if values is None else values
        )
    return shown


def with_stand_in(
    column: ReleasedAttribute,
    domain: Domain,
    kept: BoolArray,
    records: AnyIntArray,
    statistic: Statistic,
) -> pa.Array | None:
    """The values of a column and, last, the one that stands for its suppressed cells; ``None`` if none can.

    The statistic is that of the values which the release shows, over its records: an interval counts by its
    middle, for the minimum and maximum by its ends, what is no number not at all. So it tells nothing that the
    release does not tell anyway, and nothing of the suppressed records. Values keep their type where it holds
    the statistic; whole numbers become decimal ones if need be.

    >>> ages = Domain("age", pa.array([30, 41, 97]))
    >>> column = ReleasedAttribute("age", ages.values, np.array([0, 1, 2]), np.full(3, 1 / 3), 3)
    >>> with_stand_in(column, ages, np.array([True, True, False]), np.array([3, 3, 1]), "mean").to_pylist()
    [30.0, 41.0, 97.0, 35.5]
    """
    if not domain.is_numeric or pa.types.is_boolean(domain.values.type):
        return None
    shown = np.bincount(column.codes[kept], weights=records[kept], minlength=len(column.values))
    low, high = _bounds(column.values)
    ends = {"minimum": low, "maximum": high}.get(statistic, (low + high) / 2)
    number = statistic_of(ends, shown.astype(np.int64), statistic)
    if np.isnan(number):
        return None
    if statistic in ("mode", "minimum", "maximum") and not column.domain.is_text:
        # It is one of the values, which need not be exact as a float.
        itself = np.flatnonzero((ends == number) & (shown > 0))[[-1 if statistic == "maximum" else 0]]
        return pa.concat_arrays([column.values, column.values.take(pa.array(itself))])
    return _appended(column.values, number)


def _bounds(values: pa.Array) -> tuple[FloatArray, FloatArray]:
    """The lowest and the highest number that each value may stand for; NaN for what is no number."""
    column = Domain("values", values)
    if not column.is_text:
        return column.numbers, column.numbers
    low = np.full(len(values), np.nan)
    high = np.full(len(values), np.nan)
    for i, text in enumerate(values.to_pylist()):
        told = None if text is None else parse(text)
        if isinstance(told, Interval) and np.isfinite([told.low, told.high]).all():
            low[i], high[i] = told.low, told.high
        elif isinstance(told, Exact):
            low[i] = high[i] = Domain("value", pa.array([told.text])).numbers[0]
    return low, high


def _appended(values: pa.Array, number: float) -> pa.Array:
    """The values and the number, in the type that holds all of them."""
    kind = values.type
    if pa.types.is_string(kind) or pa.types.is_large_string(kind):
        return pa.concat_arrays([values, pa.array([number_text(number)], kind)])
    if pa.types.is_integer(kind):
        # Not every whole number beyond 2^53 is a decimal one: the column stays as it is, and the statistic yields.
        numbers = Domain("values", values).numbers
        if number != round(number) and bool((np.abs(numbers[~np.isnan(numbers)]) < 2**53).all()):
            return pa.concat_arrays([values.cast(pa.float64()), pa.array([number])])
        return pa.concat_arrays([values, pa.array([round(number)], kind)])
    if pa.types.is_decimal(kind):
        exact = round(Decimal(number), kind.scale)
        return pa.concat_arrays([values, pa.array([exact], kind)])
    if pa.types.is_temporal(kind):
        moment = dt.datetime(1970, 1, 1) + dt.timedelta(microseconds=round(number * MICROSECONDS_PER_DAY))
        stamp = pa.array([moment], pa.timestamp("us"))
        if pa.types.is_timestamp(kind) and kind.tz is not None:
            stamp = stamp.cast(pa.int64()).cast(pa.timestamp("us", kind.tz))
        return pa.concat_arrays([values, stamp.cast(kind, safe=False)])
    return pa.concat_arrays([values, pa.array([number], kind)])
