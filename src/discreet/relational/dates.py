"""Dates of people's rows: shifted by the same days for all rows of a person, and the intervals that stay."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from discreet.errors import UnsuitableColumn
from discreet.perturb.randomness import Randomness
from discreet.relational.alike import bags, joint
from discreet.sentences import Sentence
from discreet.types import IntArray

SECONDS_OF_DAY = 86_400


def moments_of(column: pa.ChunkedArray, name: str) -> pa.Array:
    """The dates or moments of a column; texts as ISO 8601 has them."""
    values = column.combine_chunks()
    if pa.types.is_date(values.type) or pa.types.is_timestamp(values.type):
        return values
    try:
        texts = values.cast(pa.string())
        longest = pc.max(pc.utf8_length(texts)).as_py() or 0
        return texts.cast(pa.date32() if longest <= len("2026-01-31") else pa.timestamp("s"))
    except pa.ArrowInvalid:
        raise UnsuitableColumn(
            Sentence("{name!r} shall be shifted, and not all of its values are dates", name=name),
            remedy="write dates as 2026-01-31, or leave empty what is not known",
        ) from None


def days_per_person(people: int, most: int, randomness: Randomness) -> IntArray:
    """By how many days to shift each person's dates: any number from -most to most, but none is as likely as any other."""
    return randomness.below(2 * most + 1, people) - most


def shifted(column: pa.ChunkedArray, name: str, days: IntArray) -> pa.Array:
    """A column of dates, each moved by a number of days; written as the column was."""
    values = moments_of(column, name)
    if pa.types.is_date(values.type):
        whole = values.cast(pa.date32()).cast(pa.int32()).to_numpy(zero_copy_only=False)
        missing = values.is_null().to_numpy(zero_copy_only=False)
        moved = np.where(missing, 0, whole).astype(np.int64) + days
        made = pa.array(moved.astype(np.int32), mask=missing).cast(pa.date32())
    else:
        unit = values.type.unit
        step = {"s": 1, "ms": 10**3, "us": 10**6, "ns": 10**9}[unit] * SECONDS_OF_DAY
        missing = values.is_null().to_numpy(zero_copy_only=False)
        whole = np.where(missing, 0, values.cast(pa.int64()).fill_null(0).to_numpy(zero_copy_only=False))
        made = pa.array(whole + days * step, mask=missing).cast(values.type)
    kind = column.type
    if pa.types.is_string(kind) or pa.types.is_large_string(kind):
        return made.cast(pa.string())
    return made.cast(kind)


def days_since(columns: Sequence[tuple[IntArray, pa.ChunkedArray, str]], people: int) -> list[IntArray]:
    """For each column of dates with the person of each row, the days since the first date that the person has in any of them.

    Missing dates are -1.
    """
    told = []
    for _, column, name in columns:
        values = moments_of(column, name)
        days = values.cast(pa.timestamp("s")).cast(pa.int64())
        missing = days.is_null().to_numpy(zero_copy_only=False)
        whole = days.fill_null(0).to_numpy(zero_copy_only=False) // SECONDS_OF_DAY
        told.append((whole, missing))
    first = np.full(people, np.iinfo(np.int64).max)
    for (persons, _, _), (whole, missing) in zip(columns, told, strict=True):
        np.minimum.at(first, persons[~missing], whole[~missing])
    return [
        np.where(missing, -1, whole - first[persons])
        for (persons, _, _), (whole, missing) in zip(columns, told, strict=True)
    ]


def alone_with_intervals(root: IntArray, columns: Sequence[tuple[IntArray, pa.ChunkedArray, str]]) -> int:
    """How many people are alone with the days between their dates, among those whom the people's table shows alike."""
    told = [root]
    for (persons, _, _), days in zip(columns, days_since(columns, len(root)), strict=True):
        told.append(bags(persons, days, len(root)))
    sizes = np.bincount(joint(told))
    return int((sizes == 1).sum())
