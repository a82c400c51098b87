"""Compiled loops over all groups of a local recoding: forming them, making neighbours anew, giving up classes."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from discreet.compiled import kernel
from discreet.search.local.kernels import (
    Pool,
    Screen,
    agglomerate,
    climb,
    meets,
    price_with,
    span,
    union_price,
)
from discreet.search.mondrian.exchange_kernels import enough_in
from discreet.search.mondrian.kernels import NO_CLASS, TIE, ZERO, Space
from discreet.types import BoolArray, FloatArray, Int32Array, Int32Matrix, IntArray, IntMatrix

NEAR = 8
"""So many of the nearest groups are asked to take part."""
WORTH = 1.15
"""Clusters that cost more than so many times the old groups are not improved further."""


class GroupTable(NamedTuple):
    """All groups: classes in ``listed[start[g]:start[g + 1]]``, what they span, what a record costs, records."""

    listed: IntArray
    start: IntArray
    low: IntMatrix
    high: IntMatrix
    price: FloatArray
    size: IntArray


@kernel
def meet(
    space: Space,
    codes: Int32Matrix,
    rows: IntArray,
    rest: IntArray,
    slots: Int32Array,
    cell: IntArray,
    good: BoolArray,
    item_stamp: IntArray,
    version: int,
) -> tuple[int, int]:
    """Put the classes ``rest`` that agree on the codes in ``rows`` into cells; says which have enough in them.

    ``codes[r, c]`` is the node above class ``c`` under one attribute at one level. Fills ``cell`` for each of
    ``rest`` and ``good`` for each cell; returns how many cells there are and the next free version.
    ``slots`` is an open-addressing table whose length is a power of two, above twice the length of ``rest``.
    """
    mask = slots.size - 1
    slots[:] = -1
    n = rest.size
    first = np.empty(n, dtype=np.int64)
    records = np.empty(n, dtype=np.int64)
    count = np.zeros(n + 1, dtype=np.int64)
    cells = 0
    for i in range(n):
        c = rest[i]
        key = np.uint64(14695981039346656037)
        for r in rows:
            key = (key ^ np.uint64(codes[r, c])) * np.uint64(1099511628211)
        key ^= key >> np.uint64(29)
        slot = np.int64(key & np.uint64(mask))
        while True:
            held = slots[slot]
            same = held >= 0
            if same:
                for r in rows:
                    if codes[r, first[held]] != codes[r, c]:
                        same = False
                        break
            elif held < 0:
                held = cells
                slots[slot] = held
                first[held] = c
                records[held] = 0
                cells += 1
                same = True
            if same:
                cell[i] = held
                records[held] += space.records[c]
                count[held + 1] += 1
                break
            slot = (slot + 1) & mask
    for g in range(cells):
        good[g] = records[g] >= space.least_records
    if space.least.size:
        listed = np.empty(n, dtype=np.int32)
        start = np.cumsum(count)
        at = start.copy()
        for i in range(n):
            listed[at[cell[i]]] = rest[i]
            at[cell[i]] += 1
        for g in range(cells):
            if good[g]:
                members = listed[start[g] : start[g + 1]]
                good[g] = enough_in(space, members, members.size, records[g], item_stamp, version)
                version += 1
    return cells, version


@kernel
def regroup(
    space: Space,
    screen: Screen,
    turn: IntArray,
    groups: GroupTable,
    block: IntArray,
    least: float,
    luck: float,
    seed: int,
    pool: Pool,
    fresh: IntArray,
    hood: IntArray,
) -> float:
    """Group some groups of a block anew together with their nearest, where that lowers the loss; returns by how much.

    ``block`` are groups, dearest first; those whose records lose no more than ``least`` only take part.
    Nobody takes part in two changes. For a class that changed, ``fresh`` is the first class of its new group
    and ``hood`` the group whose neighbourhood it was in.
    """
    room = pool.classes.size
    used = np.zeros(block.size, dtype=np.bool_)
    cost = np.empty(NEAR)
    near = np.empty(NEAR, dtype=np.int64)
    won = 0.0
    state = seed
    for i in range(block.size):
        g = block[i]
        count = groups.start[g + 1] - groups.start[g]
        if used[i] or count > room // 2 or groups.price[g] <= least + TIE:
            continue
        listed = 0
        limit = np.inf
        for k in range(block.size):
            h = block[k]
            if k == i or used[k] or groups.start[h + 1] - groups.start[h] > room // 4:
                continue
            both = groups.size[g] + groups.size[h]
            apart = groups.price[g] * groups.size[g] + groups.price[h] * groups.size[h]
            bound = (limit + apart) / both
            added = union_price(space, turn, groups.low, groups.high, g, h, bound) * both - apart
            if added < limit - TIE:
                at = min(listed, NEAR - 1)
                while at > 0 and cost[at - 1] > added:
                    cost[at] = cost[at - 1]
                    near[at] = near[at - 1]
                    at -= 1
                cost[at] = added
                near[at] = k
                listed = min(listed + 1, NEAR)
                if listed == NEAR:
                    limit = cost[NEAR - 1]
        n = ZERO
        before = groups.price[g] * groups.size[g]
        for e in range(groups.start[g], groups.start[g + 1]):
            pool.classes[n] = groups.listed[e]
            n += 1
        taken = 0
        while taken < listed:
            h = block[near[taken]]
            if n + groups.start[h + 1] - groups.start[h] > room:
                break
            for e in range(groups.start[h], groups.start[h + 1]):
                pool.classes[n] = groups.listed[e]
                n += 1
            before += groups.price[h] * groups.size[h]
            taken += 1
        total, state = agglomerate(space, screen, turn, pool, n, luck, state)
        if total < before * WORTH:
            total = climb(space, screen, pool, n)
        if total < before - TIE:
            won += before - total
            used[i] = True
            for e in range(taken):
                used[near[e]] = True
            for e in range(n):
                fresh[pool.classes[e]] = pool.classes[pool.head[pool.label[e]]]
                hood[pool.classes[e]] = g
    return won


@kernel
def dearest(
    space: Space,
    screen: Screen,
    groups: GroupTable,
    star: FloatArray,
    pool: Pool,
    given_up: IntArray,
    gain: FloatArray,
) -> None:
    """For each group the class whose suppression saves most, and how much: -1 for none, -2 for the whole group.

    ``star[c]`` is what a suppressed record of class ``c`` costs. What remains meets the requirements.
    """
    for g in range(groups.start.size - 1):
        given_up[g] = -1
        gain[g] = TIE
        first, n = groups.start[g], groups.start[g + 1] - groups.start[g]
        if n == 0:
            continue
        before = groups.price[g] * groups.size[g]
        price = before
        for e in range(n):
            c = groups.listed[first + e]
            price -= star[c] * space.records[c]
        if price > gain[g]:
            given_up[g] = -2
            gain[g] = price
        if n == 1 or n > pool.classes.size:
            continue
        first_cluster = ZERO
        pool.head[first_cluster] = 0
        for e in range(n):
            pool.classes[e] = groups.listed[first + e]
            pool.after[e] = e + 1 if e + 1 < n else -1
        span(space, pool, first_cluster)
        for e in range(n):
            c = pool.classes[e]
            left = groups.size[g] - space.records[c]
            saved = before - star[c] * space.records[c]
            saved -= price_with(space, pool, first_cluster, e, NO_CLASS) * left
            if saved > gain[g] and meets(space, screen, pool, first_cluster, e, NO_CLASS, left):
                gain[g] = saved
                given_up[g] = c
