"""Compiled loops over classes: which of them hold the same."""

from __future__ import annotations

import numpy as np

from discreet.compiled import kernel
from discreet.types import BoolArray, CodeArray, IntArray


@kernel
def content_keys(
    indptr: IntArray, counts: IntArray, contents: CodeArray, bits: int, count_bits: int
) -> tuple[IntArray, BoolArray]:
    """One integer for what each class holds, and whether it fits; ``contents`` are the sensitive codes of each cell.

    A cell takes ``bits``, the lowest ``count_bits`` of them for its records. No cell is 0, as it has a record, so
    that classes of different numbers of cells differ.
    """
    classes = indptr.size - 1
    keys = np.zeros(classes, dtype=np.int64)
    fits = np.ones(classes, dtype=np.bool_)
    for c in range(classes):
        key = np.int64(0)
        if (indptr[c + 1] - indptr[c]) * bits > 62:
            fits[c] = False
            continue
        for cell in range(indptr[c], indptr[c + 1]):
            if counts[cell] >> count_bits:
                fits[c] = False
                break
            key = (key << bits) | (np.int64(contents[cell]) << count_bits) | counts[cell]
        keys[c] = key
    return keys, fits


@kernel
def occurrences(keys: IntArray, fits: BoolArray, bound: int) -> tuple[IntArray, IntArray]:
    """For each key below ``bound`` the first class that has it (-1: none), and how many have it."""
    first = np.full(bound, -1, dtype=np.int64)
    times = np.zeros(bound, dtype=np.int64)
    for c in range(keys.size):
        if fits[c] and keys[c] < bound:
            if first[keys[c]] < 0:
                first[keys[c]] = c
            times[keys[c]] += 1
    return first, times
