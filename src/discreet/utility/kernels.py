"""Compiled loops that price suppressed classes cell by cell, and answer queries class by class."""

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


@njit(cache=True, nogil=True)
def weigh(
    codes: Int32Array,
    inside: FloatArray,
    starts: IntArray,
    counts: FloatArray,
    sums: FloatArray,
    known: FloatArray,
) -> tuple[float, float, float]:
    """Three sums over classes, each class weighing as much as its values lie inside what a query asks for.

    ``inside[starts[j] + v]`` is the share of value ``v`` of attribute ``j`` that is asked for, ``codes[c, j]`` the
    value of class ``c``.
    """
    count = 0.0
    total = 0.0
    people = 0.0
    for c in range(counts.size):
        share = 1.0
        for j in range(starts.size):
            share *= inside[starts[j] + codes[c, j]]
            if share == 0.0:
                break
        if share != 0.0:
            count += share * counts[c]
            total += share * sums[c]
            people += share * known[c]
    return count, total, people
