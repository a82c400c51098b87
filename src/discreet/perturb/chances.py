"""What values may have become, for an intruder who knows the method: log chances of each true value for each released one."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from discreet.types import BoolArray, FloatArray, IntArray

NEVER = -np.inf


@dataclass(frozen=True)
class ColumnValues:
    """Values of a column, true or released: as printed, as numbers (an interval by both ends), and how many have them.

    Numbers are NaN where a value is none. ``records`` are those of the release, which everybody can count.
    """

    labels: tuple[str, ...]
    low: FloatArray
    high: FloatArray
    records: IntArray

    def spread(self) -> tuple[float, float]:
        """Mean and standard deviation of the records' numbers."""
        middle = (self.low + self.high) / 2
        known = ~np.isnan(middle)
        if not self.records[known].sum():
            return np.nan, np.nan
        mean = float(np.average(middle[known], weights=self.records[known]))
        return mean, float(np.sqrt(np.average((middle[known] - mean) ** 2, weights=self.records[known])))


def apart(true: ColumnValues, seen: ColumnValues) -> FloatArray:
    """How far each true number is below (negative) or above each released one; 0 inside of an interval."""
    above = np.maximum(true.low[:, None] - seen.high[None], 0.0)
    below = np.maximum(seen.low[None] - true.low[:, None], 0.0)
    return np.asarray(above - below)


def allowed(possible: BoolArray) -> FloatArray:
    """All that is possible is equally likely."""
    return np.where(possible, 0.0, NEVER)


def same(true: ColumnValues, seen: ColumnValues) -> BoolArray:
    """Whether a released value is the true one, or an interval around it."""
    printed = {label: i for i, label in enumerate(seen.labels)}
    equal = np.zeros((len(true.labels), len(seen.labels)), dtype=bool)
    for i, label in enumerate(true.labels):
        if label in printed:
            equal[i, printed[label]] = True
    numeric = ~np.isnan(true.low)[:, None] & ~np.isnan(seen.low)[None]
    return np.asarray(np.where(numeric, apart(true, seen) == 0, equal))


def ranks(values: FloatArray, seen: ColumnValues) -> tuple[IntArray, IntArray]:
    """The first and the last rank that a number has, or would have, among the released ones."""
    middle = (seen.low + seen.high) / 2
    order = np.argsort(middle, kind="stable")
    running = np.concatenate([[0], np.cumsum(seen.records[order])])
    first = running[np.searchsorted(middle[order], values, side="left")]
    last = running[np.searchsorted(middle[order], values, side="right")] - 1
    return first, np.maximum(last, first)
