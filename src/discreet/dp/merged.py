"""Columns in which rare values are one, or one with those beside them: tables of several columns then have cells that stand out from the noise."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import ClassVar

import numpy as np

from discreet.dp.tree import MeasuredTable, on_simplex, shares, shuffled
from discreet.types import FloatArray, IntArray

RARE = 3.0
"""Values whose noisy count is below so many standard deviations are one value in tables of several columns."""


FIXED = 1024
"""Scores of what to measure are whole numbers of this part of a row."""


class MergedColumns:
    """The codes of columns after merging, their noisy tables, and how rare values come back."""

    columns_share: ClassVar[float] = 0.2
    """What of the amount goes to single columns; the rest goes to tables of several and their choice."""

    def __init__(
        self, columns: Sequence[IntArray], measured: Sequence[MeasuredTable], total: float, max_rows: int
    ) -> None:
        self.full, self.total, self.max_rows = measured, total, max_rows
        self.merged = [merging(table) for table in measured]
        self.columns = [merged[column] for merged, column in zip(self.merged, columns, strict=True)]
        self.sizes = [int(merged.max()) + 1 for merged in self.merged]
        self.small = [
            MeasuredTable(
                np.bincount(merged, weights=table.counts, minlength=size).astype(np.float64), table.variance
            )
            for merged, table, size in zip(self.merged, measured, self.sizes, strict=True)
        ]
        self.counted: dict[tuple[int, ...], IntArray] = {}

    @property
    def rows(self) -> int:
        """How many rows are drawn, by what was counted with noise."""
        return max(1, round(self.total))

    def count(self, columns: tuple[int, ...]) -> IntArray:
        """The true table of some columns: never shown without noise."""
        if columns not in self.counted:
            self.counted[columns] = table_of(self.columns, columns, self.sizes)
        return self.counted[columns]

    def told_apart(self, drawn: Sequence[IntArray]) -> list[IntArray]:
        """Rare values again what they may have been."""
        made = []
        for column, merged, table in zip(drawn, self.merged, self.full, strict=True):
            weights = on_simplex(smoothed(table, merged), self.total)
            codes = np.empty(len(column), dtype=np.int64)
            for value in range(int(merged.max()) + 1):
                rows, meant = np.flatnonzero(column == value), np.flatnonzero(merged == value)
                codes[rows] = shuffled(np.repeat(meant, shares(weights[meant], len(rows))))
            made.append(codes)
        return made


def table_of(codes: Sequence[IntArray], columns: tuple[int, ...], sizes: Sequence[int]) -> IntArray:
    """How many rows have each combination of some columns.

    >>> table_of([np.array([0, 1, 1]), np.array([2, 0, 0])], (0, 1), [2, 3]).tolist()
    [[0, 0, 1], [2, 0, 0]]
    """
    shape = [sizes[i] for i in columns]
    flat = np.ravel_multi_index([codes[i] for i in columns], shape)
    return np.bincount(flat, minlength=math.prod(shape)).reshape(shape)


def smoothed(table: MeasuredTable, merged: IntArray) -> FloatArray:
    """Counts in which rare bins of numbers that are one are nearer to their mean, the more of their differences is noise.

    Of n counts with a variance S² of which V is noise, the share max(0, 1 − V/S²) of each difference is kept (James and Stein 1961).

    >>> table = MeasuredTable(np.array([90.0, 4.0, 2.0, 3.0, 4.0, 80.0, 1.0, 0.0]), 4.0, ordered=True)
    >>> smoothed(table, merging(table)).tolist()
    [90.0, 3.25, 3.25, 3.25, 3.25, 80.0, 1.0, 0.0]
    """
    counts = table.counts.copy()
    bins = len(counts) - 1 if table.ordered else 0
    for value in range(int(merged.max()) + 1):
        meant = np.flatnonzero(merged[:bins] == value)
        if len(meant) > 1:
            mean, spread = counts[meant].mean(), counts[meant].var(ddof=1)
            kept = max(0.0, 1 - table.variance / spread) if spread else 0.0
            counts[meant] = mean + kept * (counts[meant] - mean)
    return counts


def merging(table: MeasuredTable) -> IntArray:
    """For each value which it is among those that are told apart; rare ones are all the last.

    Bins of numbers that are rare are first put together with the rare ones beside them, until together they stand out from their noise, which grows
    with the root of their number: edges that are found in what was counted with noise, so they cost nothing.

    >>> table = np.array([90.0, 4.0, 2.0, 3.0, 4.0, 80.0, 1.0, 0.0])
    >>> merging(MeasuredTable(table, 1.0)).tolist(), merging(MeasuredTable(table, 1.0, ordered=True)).tolist()
    ([0, 1, 5, 2, 3, 4, 5, 5], [0, 1, 5, 2, 3, 4, 5, 5])
    >>> merging(MeasuredTable(table, 4.0)).tolist(), merging(MeasuredTable(table, 4.0, ordered=True)).tolist()
    ([0, 2, 2, 2, 2, 1, 2, 2], [0, 1, 1, 1, 1, 2, 3, 3])
    """
    least = RARE * math.sqrt(table.variance)
    places = np.full(len(table.counts), -1, dtype=np.int64)
    bins = len(table.counts) - 1 if table.ordered else 0
    made, run = 0, 0
    for cell, count in enumerate(table.counts):
        if count >= least:
            places[cell], made, run = made, made + 1, 0
        elif cell < bins:
            run += 1
            beside = slice(cell - run + 1, cell + 1)
            if table.counts[beside].sum() >= least * math.sqrt(run):
                places[beside], made, run = made, made + 1, 0
    places[places < 0] = made
    return places
