"""A compiled loop that compares the values of some classes with those of a whole."""

from __future__ import annotations

import numpy as np
from numba import njit

from discreet.types import BoolArray, FloatArray, IntArray


@njit(cache=True, nogil=True)
def equal_distances(table: IntArray, sizes: IntArray, chosen: BoolArray, totals: IntArray) -> FloatArray:
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
