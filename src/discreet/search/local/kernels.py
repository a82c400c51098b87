"""Compiled loops of local recoding: groups near each other are made anew, and classes given up that cost too much.

A group is priced at the closest common ancestors of its values. Neighbourhoods of a few groups are small, so
their classes are kept in lists inside a ``Pool``; classes are numbered inside it, clusters by their first one.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numba import njit

from discreet.search.mondrian.kernels import TIE, Space
from discreet.types import BoolArray, FloatArray, IntArray

CAPPED, CLOSE, UNCERTAIN = 0, 1, 2
"""What a rule asks of a histogram: no share above a limit, near the table's, an entropy of at least so much."""
POOL = 48
"""So many classes are grouped anew at a time."""
NEAR = 8
"""So many of the nearest groups are asked to take part."""
CLIMBS = 3
"""How often every class of a pool is offered to the other clusters."""
WORTH = 1.15
"""Clusters that cost more than so many times the old groups are not improved further."""


class Screen(NamedTuple):
    """Requirements on histograms of sensitive values, as the loops check them: rule ``r`` has kind and limit.

    Class ``c`` has the entries ``ptr[r, c]:ptr[r, c + 1]``: ``tally`` records of values that are numbered over all rules;
    ``first[r]:first[r + 1]`` are the values of rule ``r`` and ``whole`` their shares in the table. What the
    loops accept is asked of the models again: the screen only spares proposals without a chance.
    """

    kind: IntArray
    limit: FloatArray
    first: IntArray
    whole: FloatArray
    ptr: IntArray
    value: IntArray
    tally: IntArray


class Pool(NamedTuple):
    """Some classes on their way into clusters."""

    classes: IntArray
    label: IntArray
    head: IntArray
    after: IntArray
    low: IntArray
    high: IntArray
    price: FloatArray
    size: IntArray
    met: BoolArray
    union: FloatArray
    luck: FloatArray
    stamp: IntArray
    tally: IntArray
    histogram: IntArray
    clock: IntArray


class Groups(NamedTuple):
    """All groups: classes in ``listed[start[g]:start[g + 1]]``, what they span, what a record costs, records."""

    listed: IntArray
    start: IntArray
    low: IntArray
    high: IntArray
    price: FloatArray
    size: IntArray


def make_pool(space: Space, screen: Screen) -> Pool:
    """Room for ``POOL`` classes."""
    shape = (POOL, space.place.shape[1])
    return Pool(
        classes=np.zeros(POOL, dtype=np.int64),
        label=np.zeros(POOL, dtype=np.int64),
        head=np.zeros(POOL, dtype=np.int64),
        after=np.zeros(POOL, dtype=np.int64),
        low=np.zeros(shape, dtype=np.int64),
        high=np.zeros(shape, dtype=np.int64),
        price=np.zeros(POOL),
        size=np.zeros(POOL, dtype=np.int64),
        met=np.zeros(POOL, dtype=np.bool_),
        union=np.zeros((POOL, POOL)),
        luck=np.zeros((POOL, POOL)),
        stamp=np.zeros(int(space.item.max()) + 1 if len(space.item) else 0, dtype=np.int64),
        tally=np.zeros(len(space.least), dtype=np.int64),
        histogram=np.zeros(len(screen.whole), dtype=np.int64),
        clock=np.zeros(1, dtype=np.int64),
    )


# ── prices and requirements ───────────────────────────────────────────────────────────────────────────


@njit(cache=True, nogil=True)
def _cell(space: Space, j: int, low: int, high: int) -> float:
    """Price of the closest common ancestor of two places."""
    base = space.at[j]
    if low != high:
        while space.tree[base + low] != space.tree[base + high]:
            base += space.size[j]
    return float(space.share[base + low])


@njit(cache=True, nogil=True)
def _union(
    space: Space,
    turn: IntArray,
    low: IntArray,
    high: IntArray,
    a: int,
    b: int,
    bound: float,
) -> float:
    """What a record loses in two groups as one; infinite if it exceeds ``bound``."""
    total = 0.0
    for j in turn:
        total += _cell(space, j, min(low[a, j], low[b, j]), max(high[a, j], high[b, j]))
        if total > bound:
            return np.inf
    return total


@njit(cache=True, nogil=True)
def _price(space: Space, pool: Pool, a: int, without: int, plus: int) -> float:
    """What a record of cluster ``a`` loses if ``without`` left and ``plus`` came (-1: none)."""
    total = 0.0
    for j in range(space.place.shape[1]):
        low, high = np.int64(1 << 60), np.int64(-1)
        if plus >= 0:
            low = high = np.int64(space.place[pool.classes[plus], j])
        e = pool.head[a]
        while e >= 0:
            if e != without:
                p = np.int64(space.place[pool.classes[e], j])
                low = min(low, p)
                high = max(high, p)
            e = pool.after[e]
        if high < 0:
            return 0.0
        total += _cell(space, j, int(low), int(high))
    return total


@njit(cache=True, nogil=True)
def _rule_holds(screen: Screen, r: int, histogram: IntArray, records: int) -> bool:
    """Whether a histogram meets a rule."""
    first, end = screen.first[r], screen.first[r + 1]
    kind, limit = screen.kind[r], screen.limit[r]
    found = 0.0
    for v in range(first, end):
        count = histogram[v]
        if count == 0:
            continue
        if kind == CAPPED:
            found = max(found, count / records)
        elif kind == CLOSE:
            found += max(0.0, count / records - screen.whole[v])
        else:
            found -= count / records * np.log(count / records)
    if kind == UNCERTAIN:
        return bool(found >= limit - TIE)
    return bool(found <= limit + TIE)


@njit(cache=True, nogil=True)
def _meets(space: Space, screen: Screen, pool: Pool, a: int, without: int, plus: int, records: int) -> bool:
    """Whether cluster ``a`` would meet the requirements if ``without`` left and ``plus`` came; empty ones do not."""
    if records == 0 or records < space.least_records:
        return False
    if space.least.size == 0 and screen.kind.size == 0:
        return True
    pool.clock[0] += 1
    pool.tally[:] = 0
    pool.histogram[:] = 0
    e = pool.head[a] if pool.head[a] >= 0 else plus
    last = pool.head[a] < 0
    while e >= 0:
        if e != without:
            c = pool.classes[e]
            for i in range(space.item_ptr[c], space.item_ptr[c + 1]):
                if pool.stamp[space.item[i]] != pool.clock[0]:
                    pool.stamp[space.item[i]] = pool.clock[0]
                    pool.tally[space.tally[i]] += 1
            for r in range(screen.kind.size):
                for i in range(screen.ptr[r, c], screen.ptr[r, c + 1]):
                    pool.histogram[screen.value[i]] += screen.tally[i]
        if last:
            break
        e = pool.after[e]
        if e < 0:
            e = plus
            last = True
    for t in range(space.least.size):
        if pool.tally[t] < space.least[t]:
            return False
    met = True
    for r in range(screen.kind.size):
        met = met and _rule_holds(screen, r, pool.histogram, records)
    return met


# ── a pool ────────────────────────────────────────────────────────────────────────────────────────────


@njit(cache=True, nogil=True)
def _total(pool: Pool, n: int) -> float:
    """The loss of all clusters; infinite if one fails."""
    total = 0.0
    for a in range(n):
        if pool.head[a] >= 0:
            if not pool.met[a]:
                return np.inf
            total += pool.price[a] * pool.size[a]
    return total


@njit(cache=True, nogil=True)
def _agglomerate(
    space: Space, screen: Screen, turn: IntArray, pool: Pool, n: int, luck: float, state: int
) -> tuple[float, int]:
    """Join the classes of a pool until every cluster meets the requirements; returns their loss.

    Of all pairs with a failing cluster the one is joined whose cell grows least; for a partner that needs
    nobody, all that its records lose counts as well, per record of the failing one. Prices are multiplied
    by random numbers in 1 ± ``luck`` / 2, so that another try finds other clusters.
    """
    m = space.place.shape[1]
    for a in range(n):
        c = pool.classes[a]
        pool.label[a] = a
        pool.head[a] = a
        pool.after[a] = -1
        pool.size[a] = space.records[c]
        for j in range(m):
            pool.low[a, j] = space.place[c, j]
            pool.high[a, j] = space.place[c, j]
        pool.price[a] = _union(space, turn, pool.low, pool.high, a, a, np.inf)
        pool.met[a] = _meets(space, screen, pool, a, -1, -1, pool.size[a])
    for a in range(n):
        for b in range(a):
            # A linear congruential generator: the same numbers on every machine.
            state = (state * 1103515245 + 12345) & 0x7FFFFFFF
            pool.luck[a, b] = pool.luck[b, a] = 1.0 + luck * (state / 2147483648.0 - 0.5)
            if not (pool.met[a] and pool.met[b]):
                pool.union[a, b] = _union(space, turn, pool.low, pool.high, a, b, np.inf)
                pool.union[b, a] = pool.union[a, b]
    while True:
        best = np.inf
        x = y = -1
        for a in range(n):
            if pool.head[a] < 0 or pool.met[a]:
                continue
            for b in range(n):
                if b == a or pool.head[b] < 0:
                    continue
                cost = pool.union[a, b] - pool.price[a]
                if pool.met[b]:
                    cost += (pool.union[a, b] - pool.price[b]) * pool.size[b] / pool.size[a]
                cost *= pool.luck[a, b]
                if cost < best - TIE:
                    best = cost
                    x, y = a, b
        if x < 0:
            break
        pool.price[x] = pool.union[x, y]
        pool.size[x] += pool.size[y]
        for j in range(m):
            pool.low[x, j] = min(pool.low[x, j], pool.low[y, j])
            pool.high[x, j] = max(pool.high[x, j], pool.high[y, j])
        e = pool.head[y]
        while True:
            pool.label[e] = x
            if pool.after[e] < 0:
                break
            e = pool.after[e]
        pool.after[e] = pool.head[x]
        pool.head[x] = pool.head[y]
        pool.head[y] = -1
        pool.met[x] = _meets(space, screen, pool, x, -1, -1, pool.size[x])
        for b in range(n):
            if pool.head[b] >= 0 and b != x and not (pool.met[b] and pool.met[x]):
                pool.union[x, b] = _union(space, turn, pool.low, pool.high, x, b, np.inf)
                pool.union[b, x] = pool.union[x, b]
    return _total(pool, n), state


@njit(cache=True, nogil=True)
def _unlink(pool: Pool, a: int, x: int) -> None:
    e = pool.head[a]
    if e == x:
        pool.head[a] = pool.after[x]
        return
    while pool.after[e] != x:
        e = pool.after[e]
    pool.after[e] = pool.after[x]


@njit(cache=True, nogil=True)
def _link(pool: Pool, a: int, x: int) -> None:
    pool.after[x] = pool.head[a]
    pool.head[a] = x
    pool.label[x] = a


@njit(cache=True, nogil=True)
def _climb(space: Space, screen: Screen, pool: Pool, n: int) -> float:
    """Move classes between the clusters of a pool, or exchange two, while that lowers the loss; returns it."""
    for _ in range(CLIMBS):
        changed = False
        for x in range(n):
            a = pool.label[x]
            mine = space.records[pool.classes[x]]
            left = pool.size[a] - mine
            without = _price(space, pool, a, x, -1)
            cost_a = pool.price[a] * pool.size[a]
            relief = cost_a - without * left
            free = left == 0 or _meets(space, screen, pool, a, x, -1, left)
            narrower = without < pool.price[a] - TIE
            if relief <= TIE or not (free or narrower):
                continue
            best = -TIE
            to = swap = -1
            price_a = price_b = 0.0
            for b in range(n):
                if pool.head[b] < 0 or b == a:
                    continue
                cost_b = pool.price[b] * pool.size[b]
                if free:
                    joined = _price(space, pool, b, -1, x)
                    gain = joined * (pool.size[b] + mine) - cost_b - relief
                    if gain < best and _meets(space, screen, pool, b, -1, x, pool.size[b] + mine):
                        best = gain
                        to, swap = b, -1
                        price_a, price_b = without, joined
                z = pool.head[b] if narrower else -1
                while z >= 0:
                    other = space.records[pool.classes[z]]
                    here, there = left + other, pool.size[b] - other + mine
                    if without * here - cost_a - cost_b < best:
                        joined = _price(space, pool, b, z, x)
                        gain = joined * there - cost_a - cost_b
                        if gain + without * here < best:
                            mixed = _price(space, pool, a, x, z)
                            gain += mixed * here
                            if (
                                gain < best
                                and _meets(space, screen, pool, a, x, z, here)
                                and _meets(space, screen, pool, b, z, x, there)
                            ):
                                best = gain
                                to, swap = b, z
                                price_a, price_b = mixed, joined
                    z = pool.after[z]
            if to < 0:
                continue
            changed = True
            _unlink(pool, a, x)
            pool.size[a] -= mine
            if swap >= 0:
                other = space.records[pool.classes[swap]]
                _unlink(pool, to, swap)
                _link(pool, a, swap)
                pool.size[a] += other
                pool.size[to] -= other
            _link(pool, to, x)
            pool.size[to] += mine
            pool.price[a] = price_a
            pool.price[to] = price_b
        if not changed:
            break
    return _total(pool, n)


# ── all groups ────────────────────────────────────────────────────────────────────────────────────────


@njit(cache=True, nogil=True)
def regroup(
    space: Space,
    screen: Screen,
    turn: IntArray,
    groups: Groups,
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
    used = np.zeros(block.size, dtype=np.bool_)
    cost = np.empty(NEAR)
    near = np.empty(NEAR, dtype=np.int64)
    won = 0.0
    state = seed
    for i in range(block.size):
        g = block[i]
        count = groups.start[g + 1] - groups.start[g]
        if used[i] or count > POOL // 2 or groups.price[g] <= least + TIE:
            continue
        found = 0
        limit = np.inf
        for k in range(block.size):
            h = block[k]
            if k == i or used[k] or groups.start[h + 1] - groups.start[h] > POOL // 4:
                continue
            both = groups.size[g] + groups.size[h]
            apart = groups.price[g] * groups.size[g] + groups.price[h] * groups.size[h]
            bound = (limit + apart) / both
            added = _union(space, turn, groups.low, groups.high, g, h, bound) * both - apart
            if added < limit - TIE:
                at = min(found, NEAR - 1)
                while at > 0 and cost[at - 1] > added:
                    cost[at] = cost[at - 1]
                    near[at] = near[at - 1]
                    at -= 1
                cost[at] = added
                near[at] = k
                found = min(found + 1, NEAR)
                if found == NEAR:
                    limit = cost[NEAR - 1]
        n = 0
        before = groups.price[g] * groups.size[g]
        for e in range(groups.start[g], groups.start[g + 1]):
            pool.classes[n] = groups.listed[e]
            n += 1
        taken = 0
        while taken < found:
            h = block[near[taken]]
            if n + groups.start[h + 1] - groups.start[h] > POOL:
                break
            for e in range(groups.start[h], groups.start[h + 1]):
                pool.classes[n] = groups.listed[e]
                n += 1
            before += groups.price[h] * groups.size[h]
            taken += 1
        total, state = _agglomerate(space, screen, turn, pool, n, luck, state)
        if total < before * WORTH:
            total = _climb(space, screen, pool, n)
        if total < before - TIE:
            won += before - total
            used[i] = True
            for e in range(taken):
                used[near[e]] = True
            for e in range(n):
                fresh[pool.classes[e]] = pool.classes[pool.head[pool.label[e]]]
                hood[pool.classes[e]] = g
    return won


@njit(cache=True, nogil=True)
def dearest(
    space: Space,
    screen: Screen,
    groups: Groups,
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
        if n == 1 or n > POOL:
            continue
        pool.head[0] = 0
        for e in range(n):
            pool.classes[e] = groups.listed[first + e]
            pool.after[e] = e + 1 if e + 1 < n else -1
        for e in range(n):
            c = pool.classes[e]
            left = groups.size[g] - space.records[c]
            saved = before - star[c] * space.records[c]
            saved -= _price(space, pool, 0, e, -1) * left
            if saved > gain[g] and _meets(space, screen, pool, 0, e, -1, left):
                gain[g] = saved
                given_up[g] = c
