"""Compiled loops that refine and merge groups by what an objective says they cost."""

from __future__ import annotations

import numpy as np

from discreet.compiled import kernel, part
from discreet.search.clusters.kernels import Clusters, begin, join, leave, persons_with, stretch
from discreet.search.clusters.prices import (
    COMBINATIONS,
    CONDITIONAL,
    GEOMETRIC,
    MAX,
    MINORITY,
    NODE,
    PENALTY,
    SHARE,
    SQUARES,
    SUM,
    WIDTH,
    GroupPrices,
)
from discreet.search.clusters.space import INTERVAL, CellSpans, ClassPersons
from discreet.search.mondrian.kernels import NO_CLASS
from discreet.types import BoolArray, FloatArray, IntArray

LEAST = 1e-12
"""Cost that is only rounding."""
SHORTLIST = 4
"""For so many of the cheapest groups, exchanges of two classes are tried."""


# ── what a group costs ────────────────────────────────────────────────────────────────────────────────


@part
def _cell(
    spans: CellSpans, prices: GroupPrices, state: Clusters, g: int, j: int, plus: int
) -> tuple[float, float]:
    """What a cell of group ``g``, with class ``plus``, costs in attribute ``j``, and how many values it may stand for."""
    if spans.kind[j] == INTERVAL:
        low = state.low[g, j]
        high = state.high[g, j]
        if plus >= 0:
            low = min(low, spans.codes[plus, j])
            high = max(high, spans.codes[plus, j])
        return _interval(prices, j, low, high)
    return _set(spans, prices, state, g, j, plus)


@part
def _interval(prices: GroupPrices, j: int, low: int, high: int) -> tuple[float, float]:
    """Cost and values of an interval between two places; one with a null costs as much as all values."""
    if high < 0:
        return 0.0, 1.0
    start = prices.start[j]
    count = float(high - low + 1)
    if low < 0:
        count, low, high = float(prices.leaves[j]), 0, prices.start[j + 1] - start - 1
    records = prices.records_up_to[start + high + 1] - prices.records_up_to[start + low]
    bits = prices.bits_up_to[start + high + 1] - prices.bits_up_to[start + low]
    level = 0
    if prices.cell[j] == NODE:
        level = _meeting(prices, j, 0, low, high)
    width = prices.number[start + high] - prices.number[start + low]
    return _price(prices, j, count, records, bits, width, level, low), count


@part
def _set(
    spans: CellSpans, prices: GroupPrices, state: Clusters, g: int, j: int, plus: int
) -> tuple[float, float]:
    """Cost and values of a set."""
    start = prices.start[j]
    how = prices.cell[j]
    count = float(state.low[g, j])
    more = NO_CLASS
    if plus >= 0:
        code = spans.codes[plus, j]
        if not (state.bits[g, spans.word[j] + (code >> 6)] >> np.uint64(code & 63)) & np.uint64(1):
            more = code
            count += 1.0
    if how in (SHARE, PENALTY):
        return _price(prices, j, count, 0.0, 0.0, 0.0, 0, 0), count
    records = bits = 0.0
    lowest, highest = np.inf, -np.inf
    first, level = NO_CLASS, 0
    for w in range(spans.word[j], spans.word[j + 1]):
        word = state.bits[g, w]
        code = (w - spans.word[j]) * 64
        if more >= 0 and more >> 6 == w - spans.word[j]:
            word |= np.uint64(1) << np.uint64(more & 63)
        while word:
            if word & np.uint64(1):
                records += prices.records[start + code]
                bits += prices.bits[start + code]
                lowest = min(lowest, prices.number[start + code])
                highest = max(highest, prices.number[start + code])
                if first < 0:
                    first = code
                elif how == NODE:
                    level = _meeting(prices, j, level, first, code)
            word >>= np.uint64(1)
            code += 1
    return _price(prices, j, count, records, bits, highest - lowest, level, first), count


@part
def _meeting(prices: GroupPrices, j: int, level: int, a: int, b: int) -> int:
    """The lowest level, from ``level`` on, at which two values have the same node."""
    row = prices.row[j]
    while level < prices.height[j] and prices.steps[row + level, a] != prices.steps[row + level, b]:
        level += 1
    return level


@part
def _price(
    prices: GroupPrices,
    j: int,
    count: float,
    records: float,
    bits: float,
    width: float,
    level: int,
    leaf: int,
) -> float:
    """What a cell costs that stands for ``count`` values, which so many records have, under the node above a leaf."""
    how = prices.cell[j]
    leaves = float(prices.leaves[j])
    if how == SHARE:
        return (count - 1.0) / max(leaves - 1.0, 1.0)
    if how == PENALTY:
        return count / leaves if count > 1.0 else 0.0
    if how == NODE:
        return float(prices.nodes[prices.row[j] + level, leaf])
    if how == WIDTH:
        return width
    if records <= 0.0:
        return 0.0
    # What the value itself says is the same however it is grouped, and is left out.
    return float(np.log2(records) - (bits / records if how == CONDITIONAL else 0.0))


@part
def _span(spans: CellSpans, state: Clusters, g: int, other: int, without: int, plus: int, into: int) -> bool:
    """What the members of two groups (-1: none) but one class, and a further one, span; whether there are any."""
    started = False
    for group in (g, other):
        x = state.head[group] if group >= 0 else -1
        while x >= 0:
            if x != without:
                if started:
                    stretch(spans, state, into, x)
                else:
                    begin(spans, state, into, x)
                    started = True
            x = state.after[x]
    if plus >= 0:
        if started:
            stretch(spans, state, into, plus)
        else:
            begin(spans, state, into, plus)
            started = True
    return started


@part
def _minority(prices: GroupPrices, state: Clusters, g: int, other: int, without: int, plus: int) -> float:
    """Records of other labels than the most frequent."""
    counts = np.zeros(prices.labels, dtype=np.int64)
    for group in (g, other):
        x = state.head[group] if group >= 0 else -1
        while x >= 0:
            if x != without:
                for i in range(prices.indptr[x], prices.indptr[x + 1]):
                    counts[prices.label[i]] += prices.labelled[i]
            x = state.after[x]
    if plus >= 0:
        for i in range(prices.indptr[plus], prices.indptr[plus + 1]):
            counts[prices.label[i]] += prices.labelled[i]
    return float(counts.sum() - counts.max())


@part
def _group(
    spans: CellSpans,
    prices: GroupPrices,
    records: IntArray,
    state: Clusters,
    g: int,
    other: int,
    without: int,
    plus: int,
    out: FloatArray,
) -> None:
    """What two groups as one, without one class and with a further one, cost: by attribute, or as a whole in the first."""
    scratch = state.loss.size - 1
    out[:] = 0.0
    many = 0
    for group in (g, other):
        if group >= 0:
            many += state.records[group]
    if without >= 0:
        many -= records[without]
    if plus >= 0:
        many += records[plus]
    if many == 0:
        return
    if prices.rule == SQUARES:
        out[0] = float(many) * many
        return
    if prices.rule == MINORITY:
        out[0] = _minority(prices, state, g, other, without, plus)
        return
    _span(spans, state, g, other, without, plus, scratch)
    product = 1.0
    for j in range(out.size):
        cost, count = _cell(spans, prices, state, scratch, j, NO_CLASS)
        product *= count
        out[j] = cost * many / prices.total
    if prices.rule == COMBINATIONS:
        out[:] = 0.0
        out[0] = product * many / prices.total


@part
def _combined(prices: GroupPrices, totals: FloatArray) -> float:
    """What the table costs, from what the groups do."""
    if prices.rule >= SQUARES:
        return float(totals[0])
    cost = 0.0
    for j in range(totals.size):
        if prices.rule == MAX:
            cost = max(cost, prices.share[j] * totals.size * totals[j])
        elif prices.rule == GEOMETRIC:
            cost += prices.share[j] * np.log1p(totals[j])
        else:
            cost += prices.share[j] * totals[j]
    return float(cost)


# ── better groups ─────────────────────────────────────────────────────────────────────────────────────


@part
def _with(
    spans: CellSpans,
    prices: GroupPrices,
    records: IntArray,
    state: Clusters,
    g: int,
    x: int,
    costs: FloatArray,
    rest: FloatArray,
    bound: float,
    out: FloatArray,
) -> float:
    """What the table costs if class ``x`` joins group ``g``; infinite if that is certain to exceed ``bound``.

    ``costs`` are those of the group, ``rest`` those of all groups where ``x`` is in none.
    """
    if prices.rule != SUM or prices.falling:
        _group_with(spans, prices, records, state, g, x, out)
        for j in range(out.size):
            out[j] += rest[j] - costs[j]
        return _combined(prices, out)
    value = 0.0
    for j in range(rest.size):
        value += prices.share[j] * rest[j]
    many = (state.records[g] + records[x]) / prices.total
    for j in spans.turn:
        cost, _ = _cell(spans, prices, state, g, j, x)
        value += prices.share[j] * (cost * many - costs[j])
        if value > bound:
            return np.inf
    return float(value)


@part
def _group_with(
    spans: CellSpans,
    prices: GroupPrices,
    records: IntArray,
    state: Clusters,
    g: int,
    x: int,
    out: FloatArray,
) -> None:
    """What group ``g`` costs with class ``x``."""
    if prices.rule in (SQUARES, MINORITY):
        _group(spans, prices, records, state, g, NO_CLASS, NO_CLASS, x, out)
        return
    many = (state.records[g] + records[x]) / prices.total
    product = 1.0
    for j in range(out.size):
        cost, count = _cell(spans, prices, state, g, j, x)
        product *= count
        out[j] = cost * many
    if prices.rule == COMBINATIONS:
        out[:] = 0.0
        out[0] = product * many


@kernel
def refine_by(
    spans: CellSpans,
    prices: GroupPrices,
    people: ClassPersons,
    records: IntArray,
    k: int,
    groups: int,
    state: Clusters,
    changed: BoolArray,
) -> tuple[float, float]:
    """One pass over the classes of ``changed`` groups: what the table cost before and after.

    A class moves to the group where that lowers the cost most, if its own has ``k`` persons without it or ends with it;
    else it is exchanged with a class of one of the groups where it is cheapest, if that lowers the cost. ``changed`` is
    replaced by the groups that this pass changed.
    """
    m = spans.kind.size
    asked = changed.copy()
    changed[:] = False
    costs = np.zeros((groups, m))
    totals = np.zeros(m)
    for g in range(groups):
        _group(spans, prices, records, state, g, NO_CLASS, NO_CLASS, NO_CLASS, costs[g])
        totals += costs[g]
    began = _combined(prices, totals)
    now = began
    left, here = np.zeros(m), np.zeros(m)
    near = np.empty(SHORTLIST)
    places = np.empty(SHORTLIST, dtype=np.int64)
    for x in range(records.size):
        a = state.owner[x]
        if not (asked[a] or changed[a]):
            continue
        alone = state.head[a] == x and state.after[x] < 0
        _group(spans, prices, records, state, a, NO_CLASS, x, NO_CLASS, left)
        rest = totals - costs[a] + left
        listed = 0
        for g in range(groups):
            if g == a or state.head[g] < 0:
                continue
            bound = near[SHORTLIST - 1] if listed == SHORTLIST else np.inf
            value = _with(spans, prices, records, state, g, x, costs[g], rest, bound, here)
            if value >= bound:
                continue
            at = min(listed, SHORTLIST - 1)
            while at > 0 and near[at - 1] > value:
                near[at], places[at] = near[at - 1], places[at - 1]
                at -= 1
            near[at], places[at] = value, g
            listed = min(listed + 1, SHORTLIST)
        if not listed:
            continue
        least = now - LEAST * max(now, 1.0)
        b = NO_CLASS
        if alone or persons_with(people, state, a, x, NO_CLASS) >= k:
            if near[0] < least:
                b = places[0]
                leave(spans, people, records, state, x)
                join(spans, people, records, state, b, x)
        else:
            b = _exchange(spans, prices, people, records, k, state, x, places[:listed], costs, totals, least)
        if b >= 0:
            now = _renew(spans, prices, records, state, a, b, costs, totals)
            changed[a] = True
            changed[b] = True
    return began, now


@part
def _exchange(
    spans: CellSpans,
    prices: GroupPrices,
    people: ClassPersons,
    records: IntArray,
    k: int,
    state: Clusters,
    x: int,
    places: IntArray,
    costs: FloatArray,
    totals: FloatArray,
    least: float,
) -> int:
    """Exchange ``x`` with the class of one of some groups so that the table costs less than ``least``; which group it was."""
    a = state.owner[x]
    left, here = np.zeros(totals.size), np.zeros(totals.size)
    best, other = least, NO_CLASS
    for g in places:
        y = state.head[g]
        while y >= 0:
            _group(spans, prices, records, state, a, NO_CLASS, x, y, left)
            _group(spans, prices, records, state, g, NO_CLASS, y, x, here)
            value = _combined(prices, totals - costs[a] - costs[g] + left + here)
            if (
                value < best
                and persons_with(people, state, g, y, x) >= k
                and persons_with(people, state, a, x, y) >= k
            ):
                best, other = value, y
            y = state.after[y]
    if other < 0:
        return NO_CLASS
    b = state.owner[other]
    leave(spans, people, records, state, x)
    leave(spans, people, records, state, other)
    join(spans, people, records, state, b, x)
    join(spans, people, records, state, a, other)
    return int(b)


@part
def _renew(
    spans: CellSpans,
    prices: GroupPrices,
    records: IntArray,
    state: Clusters,
    a: int,
    b: int,
    costs: FloatArray,
    totals: FloatArray,
) -> float:
    """Price two groups that have changed; returns what the table costs now."""
    for g in (a, b):
        totals -= costs[g]
        _group(spans, prices, records, state, g, NO_CLASS, NO_CLASS, NO_CLASS, costs[g])
        totals += costs[g]
    return _combined(prices, totals)


@kernel
def pair_up_by(
    spans: CellSpans,
    prices: GroupPrices,
    records: IntArray,
    state: Clusters,
    order: IntArray,
    line: IntArray,
    reach: int,
    partner: IntArray,
) -> None:
    """Give each group in ``order`` the partner with which the table costs least; nobody has two.

    ``line`` and ``reach`` are as in `pair_up`.
    """
    m = spans.kind.size
    costs = np.zeros((line.size, m))
    totals, both = np.zeros(m), np.zeros(m)
    place = np.empty(line.size, dtype=np.int64)
    for i in range(line.size):
        place[line[i]] = i
        _group(spans, prices, records, state, line[i], NO_CLASS, NO_CLASS, NO_CLASS, costs[line[i]])
        totals += costs[line[i]]
    for a in order:
        if partner[a] >= 0:
            continue
        best, to = np.inf, NO_CLASS
        for i in range(max(place[a] - reach, 0), min(place[a] + reach + 1, line.size)):
            b = line[i]
            if b == a or partner[b] >= 0:
                continue
            _group(spans, prices, records, state, a, b, NO_CLASS, NO_CLASS, both)
            value = _combined(prices, totals - costs[a] - costs[b] + both)
            if value < best:
                best, to = value, b
        if to >= 0:
            partner[a] = to
            partner[to] = a
