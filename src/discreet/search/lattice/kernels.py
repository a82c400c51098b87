"""Compiled loops over array elements: grouping classes under a node of the lattice."""

from __future__ import annotations

import numpy as np
from numba import njit

from discreet.types import Int32Array, IntArray


@njit(cache=True, nogil=True)
def regroup(
    codes: Int32Array,
    rows: IntArray,
    finer_first: Int32Array,
    finer_sizes: IntArray,
    slots: Int32Array,
    first: Int32Array,
    sizes: IntArray,
    link: Int32Array,
) -> int:
    """Merge groups that agree on the codes in ``rows``; returns how many are left.

    ``codes[r, c]`` is the code of class ``c`` under one attribute at one level; ``rows`` picks a level for
    each attribute. Groups are given by one class each (``finer_first``) and their sizes; fills the same for
    the new groups and in ``link`` the new group of each old one. ``slots`` is an open-addressing table
    whose length is a power of two; groups are compared by their first classes, so no product of domain
    sizes can overflow. Groups are numbered by their first class, whichever way led to them.
    """
    mask = slots.size - 1
    slots[:] = -1
    groups = 0
    for old in range(finer_first.size):
        c = finer_first[old]
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
                link[old] = groups
                sizes[groups] = finer_sizes[old]
                groups += 1
                break
            other = first[held]
            same = True
            for r in rows:
                if codes[r, other] != codes[r, c]:
                    same = False
                    break
            if same:
                link[old] = held
                sizes[held] += finer_sizes[old]
                break
            slot = (slot + 1) & mask
    return groups


@njit(cache=True, nogil=True)
def follow(link: Int32Array, finer_owner: Int32Array, owner: Int32Array) -> None:
    """The group of each class, from its group before and where that went."""
    for c in range(finer_owner.size):
        owner[c] = link[finer_owner[c]]
