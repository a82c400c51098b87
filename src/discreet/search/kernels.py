"""Compiled loops over array elements: grouping classes under a node of the lattice and pricing it."""

from __future__ import annotations

import numpy as np
from numba import njit
from numpy.typing import NDArray


@njit(cache=True, nogil=True)
def group(
    codes: NDArray[np.int32],
    rows: NDArray[np.int64],
    counts: NDArray[np.int64],
    slots: NDArray[np.int32],
    first: NDArray[np.int32],
    owner: NDArray[np.int32],
    sizes: NDArray[np.int64],
) -> int:
    """Group classes by the codes in ``rows``; returns how many groups there are.

    ``codes[r, c]`` is the code of class ``c`` under one attribute at one level; ``rows`` picks a level for
    each attribute. Fills ``owner`` (group of each class) and ``sizes`` (records of each group). ``slots`` is
    an open-addressing table whose length is a power of two; a group is compared by its first class, so no
    product of domain sizes can overflow.
    """
    mask = slots.size - 1
    slots[:] = -1
    groups = 0
    for c in range(codes.shape[1]):
        key = np.uint64(14695981039346656037)
        for r in rows:
            key = (key ^ np.uint64(codes[r, c])) * np.uint64(1099511628211)
        key ^= key >> np.uint64(29)
        slot = np.int64(key & np.uint64(mask))
        while True:
            held = slots[slot]
            if held < 0:
                slots[slot] = groups
                first[groups] = c
                owner[c] = groups
                sizes[groups] = counts[c]
                groups += 1
                break
            other = first[held]
            same = True
            for r in rows:
                if codes[r, other] != codes[r, c]:
                    same = False
                    break
            if same:
                owner[c] = held
                sizes[held] += counts[c]
                break
            slot = (slot + 1) & mask
    return groups


@njit(cache=True, nogil=True)
def price_of_suppression(
    costs: NDArray[np.float64],
    rows: NDArray[np.int64],
    suppressed_cost: NDArray[np.float64],
    owner: NDArray[np.int32],
    kept: NDArray[np.bool_],
    counts: NDArray[np.int64],
) -> tuple[float, int]:
    """What suppressing the groups that are not ``kept`` adds to the cost, and how many records that is.

    ``costs[r, c]`` is the cost of one record of class ``c`` under one attribute at one level;
    ``suppressed_cost[c]`` its cost when the record is suppressed.
    """
    added = 0.0
    records = 0
    for c in range(owner.size):
        if not kept[owner[c]]:
            generalised = 0.0
            for r in rows:
                generalised += costs[r, c]
            added += counts[c] * (suppressed_cost[c] - generalised)
            records += counts[c]
    return added, records
