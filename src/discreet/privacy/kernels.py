"""Compiled loops that compare the values of some classes with those of a whole."""

from __future__ import annotations

import numpy as np

from discreet.compiled import kernel
from discreet.types import BoolArray, FloatArray, IntArray, IntMatrix


@kernel
def equal_distances(table: IntMatrix, sizes: IntArray, chosen: BoolArray, totals: IntArray) -> FloatArray:
    """For each chosen row the sum of max(0, p - q): p the shares of its counts, q those of the totals.

    Without totals those of the chosen rows are taken; ``sizes`` are the sums of the rows.
    """
    groups, width = table.shape
    counts = np.zeros(width, dtype=np.int64)
    if totals.size:
        counts[:] = totals
    else:
        for group in range(groups):
            if chosen[group]:
                for value in range(width):
                    counts[value] += table[group, value]
    whole = counts / counts.sum()
    distances = np.empty(np.count_nonzero(chosen))
    place = 0
    for group in range(groups):
        if chosen[group]:
            records = sizes[group]
            distance = 0.0
            for value in range(width):
                distance += max(table[group, value] / records - whole[value], 0.0)
            distances[place] = distance
            place += 1
    return distances


@kernel
def equally_close(
    table: IntMatrix, sizes: IntArray, chosen: BoolArray, most: float, tolerance: float
) -> BoolArray:
    """Of the chosen rows those left when the ones further than ``most`` from all that are left go, until none is.

    Distances as in ``equal_distances``, without totals.
    """
    groups, width = table.shape
    left = chosen.copy()
    counts = np.zeros(width, dtype=np.int64)
    for group in range(groups):
        if left[group]:
            for value in range(width):
                counts[value] += table[group, value]
    failing = True
    while failing:
        failing = False
        records = counts.sum()
        if not records:
            break
        whole = counts / records
        for group in range(groups):
            if left[group]:
                distance = 0.0
                for value in range(width):
                    distance += max(table[group, value] / sizes[group] - whole[value], 0.0)
                if distance - most > tolerance:
                    left[group] = False
                    failing = True
                    for value in range(width):
                        counts[value] -= table[group, value]
    return left
