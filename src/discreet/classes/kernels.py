"""Compiled loops over array elements: the values of classes that become one are counted together."""

from __future__ import annotations

import numpy as np
from numba import njit

from discreet.types import AnyIntArray, CodeArray, IntArray


@njit(cache=True, nogil=True)
def merged_counts(
    owner: AnyIntArray, indptr: IntArray, values: CodeArray, records: IntArray, groups: int, width: int
) -> tuple[IntArray, CodeArray, IntArray]:
    """The entries of a histogram whose class ``c`` joins group ``owner[c]``: where groups begin, values, records.

    ``width`` is the number of values that there are; a table of groups by values is filled on the way.
    """
    table = np.zeros(groups * width, dtype=np.int64)
    for c in range(owner.size):
        start = np.int64(owner[c]) * width
        for entry in range(indptr[c], indptr[c + 1]):
            table[start + values[entry]] += records[entry]
    starts = np.empty(groups + 1, dtype=np.int64)
    entries = 0
    for group in range(groups):
        starts[group] = entries
        for place in range(group * width, (group + 1) * width):
            if table[place]:
                entries += 1
    starts[groups] = entries
    merged_values = np.empty(entries, dtype=values.dtype)
    merged_records = np.empty(entries, dtype=np.int64)
    entry = 0
    for group in range(groups):
        for value in range(width):
            count = table[group * width + value]
            if count:
                merged_values[entry] = value
                merged_records[entry] = count
                entry += 1
    return starts, merged_values, merged_records


@njit(cache=True, nogil=True)
def merged_persons(owner: AnyIntArray, indptr: IntArray, persons: IntArray, groups: int) -> IntArray:
    """Distinct persons per group, where class ``c`` has the persons ``indptr[c]:indptr[c + 1]`` and joins ``owner[c]``.

    Group by group, each person is stamped with the group it was last seen in.
    """
    starts = np.zeros(groups + 1, dtype=np.int64)
    for c in range(owner.size):
        starts[owner[c] + 1] += 1
    for group in range(groups):
        starts[group + 1] += starts[group]
    ordered = np.empty(owner.size, dtype=np.int64)
    places = starts[:-1].copy()
    for c in range(owner.size):
        ordered[places[owner[c]]] = c
        places[owner[c]] += 1
    seen = np.full(persons.max() + 1 if persons.size else 0, -1, dtype=np.int64)
    counts = np.zeros(groups, dtype=np.int64)
    for group in range(groups):
        for place in range(starts[group], starts[group + 1]):
            c = ordered[place]
            for entry in range(indptr[c], indptr[c + 1]):
                if seen[persons[entry]] != group:
                    seen[persons[entry]] = group
                    counts[group] += 1
    return counts
