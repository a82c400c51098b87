"""Compiled loops over array elements: grouping classes under a node of the lattice."""

from __future__ import annotations

import numpy as np

from discreet.compiled import kernel, part
from discreet.types import Int32Array, Int32Matrix, IntArray


@part
def fill_keys(
    codes: Int32Matrix, rows: IntArray, strides: IntArray, finer_first: Int32Array, keys: IntArray
) -> None:
    """A key of each group from its codes in ``rows``: packed by ``strides``, or a hash where these are none.

    One row after another: the codes of a row lie side by side, and no step waits for the one before.
    """
    groups = finer_first.size
    keys[:groups] = 0
    for at in range(rows.size):
        row = codes[rows[at]]
        if strides.size:
            if strides[at]:
                for old in range(groups):
                    keys[old] += row[finer_first[old]] * strides[at]
        else:
            for old in range(groups):
                keys[old] = (keys[old] ^ row[finer_first[old]]) * np.int64(1099511628211)


@kernel
def regroup(
    codes: Int32Matrix,
    rows: IntArray,
    strides: IntArray,
    finer_first: Int32Array,
    finer_sizes: IntArray,
    keys: IntArray,
    slots: Int32Array,
    first: Int32Array,
    sizes: IntArray,
    link: Int32Array,
) -> int:
    """Merge groups that agree on the codes in ``rows``; returns how many are left.

    ``codes[r, c]`` is the code of class ``c`` under one attribute at one level; ``rows`` picks a level for
    each attribute. Groups are given by one class each (``finer_first``) and their sizes; fills the same for
    the new groups and in ``link`` the new group of each old one. ``slots`` is an open-addressing table
    whose length is a power of two. With ``strides`` the codes are packed into one number, by which groups are
    compared; without them, where their product would overflow, ``keys`` are hashes, and of groups with the same hash the
    codes of their first classes are compared. Groups are numbered by their first class, whichever way led to them.
    """
    mask = slots.size - 1
    slots[:] = -1
    groups = 0
    fill_keys(codes, rows, strides, finer_first, keys)
    held_keys = np.empty(finer_first.size, dtype=np.int64)
    for old in range(finer_first.size):
        c = finer_first[old]
        key = keys[old]
        mixed = np.uint64(key) * np.uint64(11400714819323198485)
        slot = np.int64((mixed ^ (mixed >> np.uint64(32))) & np.uint64(mask))
        while True:
            held = slots[slot]
            if held < 0:
                slots[slot] = groups
                first[groups] = c
                held_keys[groups] = key
                link[old] = groups
                sizes[groups] = finer_sizes[old]
                groups += 1
                break
            same = held_keys[held] == key
            if same and not strides.size:
                other = first[held]
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


@kernel
def follow(link: Int32Array, finer_owner: Int32Array, owner: Int32Array) -> None:
    """The group of each class, from its group before and where that went."""
    for c in range(finer_owner.size):
        owner[c] = link[finer_owner[c]]
