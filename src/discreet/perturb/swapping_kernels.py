"""Compiled loops for swapping: each rank finds a partner near it."""

from __future__ import annotations

import numpy as np

from discreet.compiled import kernel
from discreet.types import FloatMatrix, IntArray

TRIES = 16


@kernel
def partners_by_rank(size: int, reach: int, draws: FloatMatrix) -> IntArray:
    """For each rank the rank whose value it gets: one at most ``reach`` away, each in one pair only.

    From the lowest rank on, each that is free takes a free one above it at random; the last ones may find none.
    ``draws`` has ``TRIES`` + 1 random numbers per rank.
    """
    partner = np.arange(size)
    taken = np.zeros(size, dtype=np.bool_)
    for rank in range(size):
        if taken[rank]:
            continue
        room = min(reach, size - 1 - rank)
        chosen = -1
        for attempt in range(TRIES if room > 0 else 0):
            other = rank + 1 + int(draws[rank, attempt] * room)
            if not taken[other]:
                chosen = other
                break
        if chosen < 0 and room > 0:
            free = 0
            for other in range(rank + 1, rank + room + 1):
                free += not taken[other]
            nth = int(draws[rank, TRIES] * free)
            for other in range(rank + 1, rank + room + 1):
                if not taken[other]:
                    if nth == 0:
                        chosen = other
                        break
                    nth -= 1
        if chosen >= 0:
            partner[rank], partner[chosen] = chosen, rank
            taken[rank] = taken[chosen] = True
    return partner
