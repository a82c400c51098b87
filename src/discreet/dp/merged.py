"""Columns in which rare values are one: tables of several columns then have cells that stand out from the noise."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import ClassVar

import numpy as np

from discreet.dp.tree import MeasuredTable, on_simplex, shares, shuffled
from discreet.types import IntArray

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
        self.merged = [_merging(table) for table in measured]
        self.columns = [merged[column] for merged, column in zip(self.merged, columns, strict=True)]
        self.sizes = [int(merged.max()) + 1 for merged in self.merged]
        self.small = [
            MeasuredTable(
                np.bincount(merged, weights=table.counts, minlength=size).astype(np.float64), table.variance
            )
            for merged, table, size in zip(self.merged, measured, self.sizes, strict=True)
        ]
        self.counted: dict[tuple[int, ...], IntArray] = {}

    def count(self, columns: tuple[int, ...]) -> IntArray:
        """The true table of some columns: never shown without noise."""
        if columns not in self.counted:
            self.counted[columns] = table_of(self.columns, columns, self.sizes)
        return self.counted[columns]

    def told_apart(self, drawn: Sequence[IntArray]) -> list[IntArray]:
        """Rare values again what they may have been."""
        made = []
        for column, merged, table in zip(drawn, self.merged, self.full, strict=True):
            weights = on_simplex(table.counts, self.total)
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


def _merging(table: MeasuredTable) -> IntArray:
    """For each value which it is among those that are told apart; rare ones are all the last."""
    often = table.counts >= RARE * math.sqrt(table.variance)
    merged = np.cumsum(often) - 1
    return np.where(often, merged, int(often.sum())).astype(np.int64)
