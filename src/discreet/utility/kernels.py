"""Compiled loops that price suppressed classes cell by cell."""

from __future__ import annotations

import numpy as np
from numba import njit
from numpy.typing import NDArray


@njit(cache=True, nogil=True)
def price_of_suppression(
    base: NDArray[np.int32],
    costs: NDArray[np.float64],
    caps: NDArray[np.float64],
    starts: NDArray[np.int64],
    suppressed: NDArray[np.float64],
    suppressed_starts: NDArray[np.int64],
    owner: NDArray[np.int32],
    kept: NDArray[np.bool_],
    certain: NDArray[np.bool_],
    records: NDArray[np.int64],
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
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
