"""A compiled loop that prices suppressed classes cell by cell."""

from __future__ import annotations

import numpy as np
from numba import njit

from discreet.types import BoolArray, FloatArray, Int32Array, IntArray


@njit(cache=True, nogil=True)
def price_of_suppression(
    base: Int32Array,
    costs: FloatArray,
    caps: FloatArray,
    starts: IntArray,
    suppressed: FloatArray,
    suppressed_starts: IntArray,
    owner: Int32Array,
    kept: BoolArray,
    certain: BoolArray,
    records: IntArray,
) -> tuple[FloatArray, FloatArray]:
    """Per attribute, what suppressing the groups that are not ``kept`` adds, and how much of it is certain.

    ``costs[starts[j] + v]`` is the cost of a record with value ``v`` of attribute ``j`` at the node's level,
    ``caps`` the most that it costs at this or any finer level, ``suppressed`` its cost when suppressed;
    ``base[j, c]`` is the value of class ``c``.
    """
    m = base.shape[0]
    added = np.zeros(m)
    floor = np.zeros(m)
    for c in range(owner.size):
        g = owner[c]
        if not kept[g]:
            for j in range(m):
                price = suppressed[suppressed_starts[j] + base[j, c]]
                added[j] += records[c] * (price - costs[starts[j] + base[j, c]])
                if not certain[g]:
                    floor[j] += records[c] * (price - caps[starts[j] + base[j, c]])
    return added, floor
