"""Compiled loops that divide classes into groups: the price of a cell, and of every cut of a group."""

from __future__ import annotations

from typing import NamedTuple, cast

import numpy as np

from discreet.compiled import kernel, part
from discreet.types import BoolArray, FloatArray, FloatMatrix, Int32Array, Int32Matrix, IntArray, IntMatrix

SET, INTERVAL, TREE = 0, 1, 2
"""How the cell of a group is priced: by its distinct values, its span of numbers, its closest common ancestor."""
TIE = 1e-9
"""Losses that differ by less are equal, and the first one found is taken: rounding decides nothing."""
NO_CLASS = cast(int, np.int64(-1))
"""No class. A bare -1 is a type of its own, for which a kernel and all that it calls would be compiled once more."""
ZERO = cast(int, np.int64(0))
"""What a count begins with, for the same reason."""


class Space(NamedTuple):
    """Classes as points, what a cell costs, and the requirements that counting decides.

    ``place[c, j]`` is where class ``c`` stands in the order of attribute ``j``; ``start[j]`` is where the
    attribute begins in the flat tables over places. ``tick`` is the leaf number of a place (``INTERVAL``);
    from ``blank[j]`` on, places hold no number. ``tree[at[j] + level * size[j] + place]`` is the node above a
    place and ``share`` the part of the domain under it, times the attribute's weight. ``unit`` is the price
    of one value. A group needs ``least_records`` records, and at least ``least[t]`` distinct items of tally
    ``t``; class ``c`` has the items ``item_ptr[c]:item_ptr[c + 1]``.
    """

    place: Int32Matrix
    kind: IntArray
    size: IntArray
    start: IntArray
    tick: IntArray
    blank: IntArray
    unit: FloatArray
    weight: FloatArray
    at: IntArray
    tree: Int32Array
    share: FloatArray
    records: IntArray
    least_records: int
    item_ptr: IntArray
    item: IntArray
    tally: IntArray
    least: IntArray


@part
def price_between(space: Space, j: int, low: int, high: int, level: int) -> tuple[float, int]:
    """Price of a cell from place ``low`` to ``high``; for a tree also its level, which is at least ``level``."""
    if space.kind[j] == INTERVAL:
        if high >= space.blank[j] and low < space.blank[j]:
            return space.weight[j], 0  # a number and a missing one share no interval
        s = space.start[j]
        return space.unit[j] * (space.tick[s + high] - space.tick[s + low] + 1), 0
    base = space.at[j] + level * space.size[j]
    while space.tree[base + low] != space.tree[base + high]:
        base += space.size[j]
        level += 1
    return space.share[base + low], level


@part
def _sweep(
    space: Space,
    line: Int32Array,
    count: int,
    backwards: bool,
    stamp: IntArray,
    item_stamp: IntArray,
    version: int,
    losses: FloatArray,
    sizes: IntArray,
) -> int:
    """Loss and records of the first 1, 2, … classes of ``line``; returns how many it takes to meet the tallies.

    Returns ``count + 1`` if even all of them do not suffice.
    """
    m = space.place.shape[1]
    low = np.empty(m, dtype=np.int64)
    high = np.empty(m, dtype=np.int64)
    level = np.zeros(m, dtype=np.int64)
    price = np.zeros(m)
    distinct = np.zeros(space.least.size, dtype=np.int64)
    total = 0.0
    records = 0
    enough = count + 1
    for i in range(count):
        c = line[count - 1 - i] if backwards else line[i]
        records += space.records[c]
        for j in range(m):
            p = space.place[c, j]
            if space.kind[j] == SET:
                if stamp[space.start[j] + p] != version:
                    stamp[space.start[j] + p] = version
                    total += space.unit[j]
                continue
            if i == 0:
                low[j] = p
                high[j] = p
            elif low[j] <= p <= high[j]:
                continue
            else:
                low[j] = min(low[j], p)
                high[j] = max(high[j], p)
            new, level[j] = price_between(space, j, low[j], high[j], level[j])
            total += new - price[j]
            price[j] = new
        losses[i] = total * records
        sizes[i] = records
        if enough > count:
            for e in range(space.item_ptr[c], space.item_ptr[c + 1]):
                if item_stamp[space.item[e]] != version:
                    item_stamp[space.item[e]] = version
                    distinct[space.tally[e]] += 1
            met = records >= space.least_records
            for t in range(distinct.size):
                met = met and distinct[t] >= space.least[t]
            if met:
                enough = i + 1
    return enough


@part
def _line(space: Space, order: Int32Matrix, j: int, line: Int32Array, rank: IntArray) -> int:
    """The classes of a group in the order in which attribute ``j`` is cut; returns how many values it has.

    Numbers keep their order. Other values follow each other from the most frequent on; in a hierarchy this
    holds for the children of the group's closest common ancestor, with the values under a child together.
    ``rank[i]`` numbers the values along the line.
    """
    n = order.size
    low, high = space.place[order[0], j], space.place[order[n - 1], j]
    for i in range(n):
        line[i] = order[i]
    if space.kind[j] != INTERVAL and low != high:
        below = np.int64(-1)
        if space.kind[j] == TREE:
            _, level = price_between(space, j, low, high, 0)
            below = space.at[j] + (level - 1) * space.size[j]
        begin = np.empty(n + 1, dtype=np.int64)
        records = np.zeros(n, dtype=np.int64)
        blocks = 0
        last = np.int64(-1)
        for i in range(n):
            p = np.int64(space.place[order[i], j])
            block = np.int64(space.tree[below + p]) if below >= 0 else p
            if block != last:
                last = block
                begin[blocks] = i
                blocks += 1
            records[blocks - 1] -= space.records[order[i]]
        begin[blocks] = n
        at = 0
        for block in np.argsort(records[:blocks], kind="mergesort"):
            for i in range(begin[block], begin[block + 1]):
                line[at] = order[i]
                at += 1
    values = 0
    for i in range(n):
        if i and space.place[line[i], j] != space.place[line[i - 1], j]:
            values += 1
        rank[i] = values
    return values + 1


@kernel
def propose(
    space: Space,
    order: Int32Matrix,
    lows: IntArray,
    highs: IntArray,
    strict: bool,
    balance: float,
    stamp: IntArray,
    item_stamp: IntArray,
    version: int,
    losses: FloatMatrix,
    cuts: IntMatrix,
) -> int:
    """For each group the cheapest and the most even cut of each attribute; returns the next free version.

    A group is ``order[j, low:high]``, sorted by attribute ``j``. ``losses[g, 2 * j]`` and ``cuts[g, 2 * j]``
    are the summed loss of both parts after the cheapest cut and how many classes come before it, infinite
    where no cut meets the requirements; ``2 * j + 1`` stands for the cut nearest to the weighted median.
    """
    m = space.place.shape[1]
    widest = (highs - lows).max()
    line = np.empty(widest, dtype=np.int32)
    rank = np.empty(widest, dtype=np.int64)
    left = np.empty(widest)
    right = np.empty(widest)
    left_size = np.empty(widest, dtype=np.int64)
    right_size = np.empty(widest, dtype=np.int64)
    losses[:] = np.inf
    for g in range(lows.size):
        n = highs[g] - lows[g]
        aside = np.int64(balance * n) if n > 256 else 0
        for j in range(m):
            if _line(space, order[j, lows[g] : highs[g]], j, line, rank) == 1:
                continue
            first = _sweep(space, line, n, False, stamp, item_stamp, version, left, left_size)
            last = n - _sweep(space, line, n, True, stamp, item_stamp, version + 1, right, right_size)
            version += 2
            nearest = np.int64(-1)
            for narrow in range(2):
                if narrow and losses[g, 2 * j] < np.inf:
                    break
                margin = 0 if narrow else aside
                for cut in range(max(first, margin, 1), min(last, n - margin, n - 1) + 1):
                    if strict and rank[cut] == rank[cut - 1]:
                        continue
                    loss = left[cut - 1] + right[n - cut - 1]
                    uneven = abs(left_size[cut - 1] - right_size[n - cut - 1])
                    if loss < losses[g, 2 * j] - TIE:
                        losses[g, 2 * j] = loss
                        cuts[g, 2 * j] = cut
                    if nearest < 0 or uneven < nearest:
                        nearest = uneven
                        losses[g, 2 * j + 1] = loss
                        cuts[g, 2 * j + 1] = cut
    return version


@kernel
def mark(
    space: Space,
    order: Int32Matrix,
    lows: IntArray,
    highs: IntArray,
    attributes: IntArray,
    cuts: IntArray,
    after: BoolArray,
) -> None:
    """Say of every class of the groups whether it comes after its group's cut."""
    widest = (highs - lows).max()
    line = np.empty(widest, dtype=np.int32)
    rank = np.empty(widest, dtype=np.int64)
    for g in range(lows.size):
        n = highs[g] - lows[g]
        _line(space, order[attributes[g], lows[g] : highs[g]], attributes[g], line, rank)
        for i in range(n):
            after[line[i]] = i >= cuts[g]


@kernel
def divide(order: Int32Matrix, lows: IntArray, highs: IntArray, after: BoolArray) -> None:
    """Cut groups in two: their classes stay sorted by every attribute inside both parts."""
    spare = np.empty((highs - lows).max(), dtype=np.int32)
    for g in range(lows.size):
        for j in range(order.shape[0]):
            here, there = lows[g], 0
            for i in range(lows[g], highs[g]):
                c = order[j, i]
                if after[c]:
                    spare[there] = c
                    there += 1
                else:
                    order[j, here] = c
                    here += 1
            for i in range(there):
                order[j, here + i] = spare[i]
