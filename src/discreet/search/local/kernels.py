"""Compiled loops that put a few classes into clusters which meet the requirements and lose little.

A group is priced at the closest common ancestors of its values. Neighbourhoods of a few groups are small, so
their classes are kept in lists inside a ``Pool``; classes are numbered inside it, clusters by their first one.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from discreet.compiled import part
from discreet.search.mondrian.kernels import NO_CLASS, TIE, Space
from discreet.types import BoolArray, FloatArray, FloatMatrix, IntArray, IntMatrix

CAPPED, CLOSE, UNCERTAIN = 0, 1, 2
"""What a rule asks of a histogram: no share above a limit, near the table's, an entropy of at least so much."""
NOWHERE = np.int64(1 << 60)
"""A place behind all others."""
CLIMBS = 3
"""How often every class of a pool is offered to the other clusters."""


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
    ptr: IntMatrix
    value: IntArray
    tally: IntArray


class Pool(NamedTuple):
    """Some classes on their way into clusters.

    ``low[a, j]`` and ``high[a, j]`` are the outermost places of cluster ``a`` in attribute ``j``, ``second_low`` and
    ``second_high`` those of its classes but one: what it spans without any one of them. ``partner`` and ``growth`` are
    the cluster with which one that fails is joined at the least price, and the price.
    """

    classes: IntArray
    label: IntArray
    head: IntArray
    after: IntArray
    low: IntMatrix
    high: IntMatrix
    second_low: IntMatrix
    second_high: IntMatrix
    partner: IntArray
    growth: FloatArray
    price: FloatArray
    size: IntArray
    met: BoolArray
    union: FloatMatrix
    luck: FloatMatrix
    stamp: IntArray
    tally: IntArray
    histogram: IntArray
    clock: IntArray


def make_pool(space: Space, screen: Screen, room: int) -> Pool:
    """Room for so many classes."""
    shape = (room, space.place.shape[1])
    return Pool(
        classes=np.zeros(room, dtype=np.int64),
        label=np.zeros(room, dtype=np.int64),
        head=np.zeros(room, dtype=np.int64),
        after=np.zeros(room, dtype=np.int64),
        low=np.zeros(shape, dtype=np.int64),
        high=np.zeros(shape, dtype=np.int64),
        second_low=np.zeros(shape, dtype=np.int64),
        second_high=np.zeros(shape, dtype=np.int64),
        partner=np.zeros(room, dtype=np.int64),
        growth=np.zeros(room),
        price=np.zeros(room),
        size=np.zeros(room, dtype=np.int64),
        met=np.zeros(room, dtype=np.bool_),
        union=np.zeros((room, room)),
        luck=np.zeros((room, room)),
        stamp=np.zeros(int(space.item.max()) + 1 if len(space.item) else 0, dtype=np.int64),
        tally=np.zeros(len(space.least), dtype=np.int64),
        histogram=np.zeros(len(screen.whole), dtype=np.int64),
        clock=np.zeros(1, dtype=np.int64),
    )


# ── prices and requirements ───────────────────────────────────────────────────────────────────────────


@part
def _cell(space: Space, j: int, low: int, high: int) -> float:
    """Price of the closest common ancestor of two places."""
    base = space.at[j]
    if low != high:
        while space.tree[base + low] != space.tree[base + high]:
            base += space.size[j]
    return float(space.share[base + low])


@part
def union_price(
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


@part
def span(space: Space, pool: Pool, a: int) -> None:
    """Look up what cluster ``a`` spans, with and without any one of its classes."""
    for j in range(space.place.shape[1]):
        low = second_low = NOWHERE
        high = second_high = np.int64(-1)
        e = pool.head[a]
        while e >= 0:
            p = np.int64(space.place[pool.classes[e], j])
            if p < low:
                low, second_low = p, low
            else:
                second_low = min(second_low, p)
            if p > high:
                high, second_high = p, high
            else:
                second_high = max(second_high, p)
            e = pool.after[e]
        pool.low[a, j], pool.high[a, j] = low, high
        pool.second_low[a, j], pool.second_high[a, j] = second_low, second_high


@part
def price_with(space: Space, pool: Pool, a: int, without: int, plus: int) -> float:
    """What a record of cluster ``a`` loses if ``without`` left and ``plus`` came (-1: none)."""
    total = 0.0
    for j in range(space.place.shape[1]):
        low, high = pool.low[a, j], pool.high[a, j]
        if without >= 0:
            p = np.int64(space.place[pool.classes[without], j])
            if p == low:
                low = pool.second_low[a, j]
            if p == high:
                high = pool.second_high[a, j]
        if plus >= 0:
            p = np.int64(space.place[pool.classes[plus], j])
            low = min(low, p)
            high = max(high, p)
        if high < 0:
            return 0.0
        total += _cell(space, j, low, high)
    return total


@part
def _rule_holds(screen: Screen, r: int, histogram: IntArray, records: int) -> bool:
    """Whether a histogram meets a rule."""
    first, end = screen.first[r], screen.first[r + 1]
    kind, limit = screen.kind[r], screen.limit[r]
    measured = 0.0
    for v in range(first, end):
        count = histogram[v]
        if count == 0:
            continue
        if kind == CAPPED:
            measured = max(measured, count / records)
        elif kind == CLOSE:
            measured += max(0.0, count / records - screen.whole[v])
        else:
            measured -= count / records * np.log(count / records)
    if kind == UNCERTAIN:
        return bool(measured >= limit - TIE)
    return bool(measured <= limit + TIE)


@part
def meets(space: Space, screen: Screen, pool: Pool, a: int, without: int, plus: int, records: int) -> bool:
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


@part
def _total(pool: Pool, n: int) -> float:
    """The loss of all clusters; infinite if one fails."""
    total = 0.0
    for a in range(n):
        if pool.head[a] >= 0:
            if not pool.met[a]:
                return np.inf
            total += pool.price[a] * pool.size[a]
    return total


@part
def _growth(pool: Pool, a: int, b: int) -> float:
    """What it costs to join a cluster that fails with another."""
    cost = pool.union[a, b] - pool.price[a]
    if pool.met[b]:
        cost += (pool.union[a, b] - pool.price[b]) * pool.size[b] / pool.size[a]
    growth: float = cost * pool.luck[a, b]
    return growth


@part
def _seek_partner(pool: Pool, n: int, a: int) -> None:
    """Find the cluster with which a failing one is joined at the least price."""
    pool.partner[a] = NO_CLASS
    pool.growth[a] = np.inf
    for b in range(n):
        if b != a and pool.head[b] >= 0:
            growth = _growth(pool, a, b)
            if growth < pool.growth[a] - TIE:
                pool.growth[a] = growth
                pool.partner[a] = b


@part
def agglomerate(
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
        pool.price[a] = union_price(space, turn, pool.low, pool.high, a, a, np.inf)
        pool.met[a] = meets(space, screen, pool, a, NO_CLASS, NO_CLASS, pool.size[a])
    for a in range(n):
        for b in range(a):
            # A linear congruential generator: the same numbers on every machine.
            state = (state * 1103515245 + 12345) & 0x7FFFFFFF
            pool.luck[a, b] = pool.luck[b, a] = 1.0 + luck * (state / 2147483648.0 - 0.5)
            if not (pool.met[a] and pool.met[b]):
                pool.union[a, b] = union_price(space, turn, pool.low, pool.high, a, b, np.inf)
                pool.union[b, a] = pool.union[a, b]
    for a in range(n):
        if not pool.met[a]:
            _seek_partner(pool, n, a)
    while True:
        best = np.inf
        x = NO_CLASS
        for a in range(n):
            if pool.head[a] >= 0 and not pool.met[a] and pool.growth[a] < best - TIE:
                best = pool.growth[a]
                x = a
        if x < 0:
            break
        y = pool.partner[x]
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
        pool.met[x] = meets(space, screen, pool, x, NO_CLASS, NO_CLASS, pool.size[x])
        for b in range(n):
            if pool.head[b] >= 0 and b != x and not (pool.met[b] and pool.met[x]):
                pool.union[x, b] = union_price(space, turn, pool.low, pool.high, x, b, np.inf)
                pool.union[b, x] = pool.union[x, b]
        for a in range(n):
            if pool.head[a] < 0 or pool.met[a]:
                continue
            if a == x or pool.partner[a] == x or pool.partner[a] == y:
                _seek_partner(pool, n, a)
                continue
            growth = _growth(pool, a, x)
            if growth < pool.growth[a] - TIE:
                pool.growth[a] = growth
                pool.partner[a] = x
    return _total(pool, n), state


@part
def _unlink(pool: Pool, a: int, x: int) -> None:
    """Take class ``x`` out of the list of cluster ``a``."""
    e = pool.head[a]
    if e == x:
        pool.head[a] = pool.after[x]
        return
    while pool.after[e] != x:
        e = pool.after[e]
    pool.after[e] = pool.after[x]


@part
def _link(pool: Pool, a: int, x: int) -> None:
    """Put class ``x`` at the head of the list of cluster ``a``."""
    pool.after[x] = pool.head[a]
    pool.head[a] = x
    pool.label[x] = a


@part
def climb(space: Space, screen: Screen, pool: Pool, n: int) -> float:
    """Move classes between the clusters of a pool, or exchange two, while that lowers the loss; returns it."""
    for a in range(n):
        if pool.head[a] >= 0:
            span(space, pool, a)
    for _ in range(CLIMBS):
        changed = False
        for x in range(n):
            a = pool.label[x]
            mine = space.records[pool.classes[x]]
            left = pool.size[a] - mine
            without = price_with(space, pool, a, x, NO_CLASS)
            cost_a = pool.price[a] * pool.size[a]
            relief = cost_a - without * left
            free = left == 0 or meets(space, screen, pool, a, x, NO_CLASS, left)
            narrower = without < pool.price[a] - TIE
            if relief <= TIE or not (free or narrower):
                continue
            best = -TIE
            to = swap = NO_CLASS
            price_a = price_b = 0.0
            for b in range(n):
                if pool.head[b] < 0 or b == a:
                    continue
                cost_b = pool.price[b] * pool.size[b]
                if free:
                    joined = price_with(space, pool, b, NO_CLASS, x)
                    gain = joined * (pool.size[b] + mine) - cost_b - relief
                    if gain < best and meets(space, screen, pool, b, NO_CLASS, x, pool.size[b] + mine):
                        best = gain
                        to, swap = b, -1
                        price_a, price_b = without, joined
                z = pool.head[b] if narrower else -1
                while z >= 0:
                    other = space.records[pool.classes[z]]
                    here, there = left + other, pool.size[b] - other + mine
                    if without * here - cost_a - cost_b < best:
                        joined = price_with(space, pool, b, z, x)
                        gain = joined * there - cost_a - cost_b
                        if gain + without * here < best:
                            mixed = price_with(space, pool, a, x, z)
                            gain += mixed * here
                            if (
                                gain < best
                                and meets(space, screen, pool, a, x, z, here)
                                and meets(space, screen, pool, b, z, x, there)
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
            span(space, pool, a)
            span(space, pool, to)
        if not changed:
            break
    return _total(pool, n)
