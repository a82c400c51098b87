"""Compiled loops over array elements: the values of classes that become one are counted together."""

from __future__ import annotations

import numpy as np

from discreet.compiled import kernel
from discreet.types import AnyIntArray, CodeArray, IntArray, IntMatrix


@kernel
def table_of_entries(
    owner: AnyIntArray, indptr: IntArray, values: CodeArray, records: IntArray, groups: int, width: int
) -> IntArray:
    """Records per group and value, where class ``c`` of a histogram joins group ``owner[c]``; of ``width`` values."""
    table = np.zeros((groups, width), dtype=np.int64)
    for c in range(owner.size):
        group = owner[c]
        for entry in range(indptr[c], indptr[c + 1]):
            table[group, values[entry]] += records[entry]
    return table


@kernel
def table_of_rows(owner: AnyIntArray, rows: IntMatrix, groups: int) -> IntArray:
    """Records per group and value, where class ``c`` with the counts ``rows[c]`` joins group ``owner[c]``."""
    width = rows.shape[1]
    table = np.zeros((groups, width), dtype=np.int64)
    for c in range(owner.size):
        group = owner[c]
        for value in range(width):
            table[group, value] += rows[c, value]
    return table


@kernel
def entries_of_table(table: IntMatrix) -> tuple[IntArray, IntArray, IntArray]:
    """The counts of a table that are not 0: where each group begins, values, records."""
    groups, width = table.shape
    starts = np.empty(groups + 1, dtype=np.int64)
    entries = 0
    for group in range(groups):
        starts[group] = entries
        for value in range(width):
            if table[group, value]:
                entries += 1
    starts[groups] = entries
    values = np.empty(entries, dtype=np.int64)
    records = np.empty(entries, dtype=np.int64)
    entry = 0
    for group in range(groups):
        for value in range(width):
            if table[group, value]:
                values[entry] = value
                records[entry] = table[group, value]
                entry += 1
    return starts, values, records


@kernel
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
