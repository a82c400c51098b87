"""Compiled loops: whose linked rows fit the rows of a person."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from discreet.compiled import kernel
from discreet.types import IntArray


class RowSets(NamedTuple):
    """Sets of rows: set ``s`` has ``records[i]`` rows of ``group[i]`` for i in ``ptr[s]:ptr[s + 1]``, ``totals[s]`` in all."""

    ptr: IntArray
    group: IntArray
    records: IntArray
    totals: IntArray


@kernel
def lone_fits(
    targets: RowSets, released: RowSets, people: IntArray, cover_ptr: IntArray, cover: IntArray, groups: int
) -> IntArray:
    """For each target the set of released rows that alone fits, if one person has it; else -1.

    A set fits if the target has at least as many rows that each group of it may stand for. Sets of as many rows as the
    target has come first: fewer are thought of only if none of those fits.
    """
    lone = np.full(len(targets.ptr) - 1, -1, dtype=np.int64)
    held = np.zeros(groups, dtype=np.int64)
    for t in range(len(lone)):
        for i in range(targets.ptr[t], targets.ptr[t + 1]):
            for j in range(cover_ptr[targets.group[i]], cover_ptr[targets.group[i] + 1]):
                held[cover[j]] += targets.records[i]
        whole, fewer = 0, 0
        last_whole, last_fewer = -1, -1
        for s in range(len(released.ptr) - 1):
            if released.totals[s] > targets.totals[t] or released.totals[s] == 0:
                continue
            fits = True
            for i in range(released.ptr[s], released.ptr[s + 1]):
                if held[released.group[i]] < released.records[i]:
                    fits = False
                    break
            if not fits:
                continue
            if released.totals[s] == targets.totals[t]:
                whole += people[s]
                last_whole = s
                if whole > 1:
                    break
            else:
                fewer += people[s]
                last_fewer = s
        if whole == 1:
            lone[t] = last_whole
        elif whole == 0 and fewer == 1:
            lone[t] = last_fewer
        for i in range(targets.ptr[t], targets.ptr[t + 1]):
            for j in range(cover_ptr[targets.group[i]], cover_ptr[targets.group[i] + 1]):
                held[cover[j]] = 0
    return lone


@kernel
def same_rows(first: RowSets, at: IntArray, second: RowSets) -> IntArray:
    """For each set of the second the number 1 if set ``at`` of the first has the same rows, else 0; 0 where ``at`` is -1."""
    same = np.zeros(len(at), dtype=np.int64)
    for t in range(len(at)):
        if at[t] < 0:
            continue
        start, width = first.ptr[at[t]], first.ptr[at[t] + 1] - first.ptr[at[t]]
        if second.ptr[t + 1] - second.ptr[t] != width:
            continue
        equal = 1
        for i in range(width):
            if (
                first.group[start + i] != second.group[second.ptr[t] + i]
                or first.records[start + i] != second.records[second.ptr[t] + i]
            ):
                equal = 0
                break
        same[t] = equal
    return same
