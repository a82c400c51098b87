"""Compiled loops for k-member clustering: the greedy start and its refinement."""

from __future__ import annotations

import numpy as np

from discreet.compiled import kernel, part
from discreet.search.clusters.kernels import (
    Clusters,
    begin,
    join,
    leave,
    loss_with,
    persons_with,
    price_of_joining,
    respan,
)
from discreet.search.clusters.space import CellSpans, ClassPersons
from discreet.search.mondrian.kernels import NO_CLASS, ZERO
from discreet.types import BoolArray, IntArray

EPSILON = 1e-12
SHORTLIST = 8
"""For so many of the cheapest clusters, exchanges of two classes are tried."""
EFFORT = 2000
"""No further cluster is tried after so many steps: an exchange takes members squared of them."""


# ── greedy k-member clustering ────────────────────────────────────────────────────────────────────────


@kernel
def k_member(spans: CellSpans, people: ClassPersons, records: IntArray, k: int, state: Clusters) -> int:
    """Fill ``state`` greedily; returns how many clusters there are.

    Classes with at least ``k`` persons stand alone. Each further cluster starts with the class furthest from
    the last start and takes the class that adds least loss per record until it has ``k`` persons; what
    remains joins the clusters where it costs least.
    """
    n = records.size
    groups = ZERO
    open_ = np.empty(n, dtype=np.int64)
    left = 0
    remaining = 0
    for x in range(n):
        if people.sizes[x] >= k:
            join(spans, people, records, state, groups, x)
            groups += 1
        else:
            open_[left] = x
            left += 1
            remaining += people.sizes[x]
    scratch = state.loss.size - 1
    start = open_[0] if left else 0
    while left:
        if groups and remaining < k:
            break
        begin(spans, state, scratch, start)
        far = -1.0
        at = 0
        for i in range(left):
            loss = loss_with(spans, state, scratch, open_[i], np.inf)
            if loss > far:
                far = loss
                at = i
        start = open_[at]
        g = groups
        groups += 1
        while True:
            x = open_[at]
            remaining -= people.sizes[x]
            left -= 1
            open_[at] = open_[left]
            join(spans, people, records, state, g, x)
            if state.size[g] >= k or left == 0:
                break
            best = np.inf
            cost = state.loss[g] * state.records[g]
            for i in range(left):
                r = records[open_[i]]
                both = state.records[g] + r
                loss = loss_with(spans, state, g, open_[i], (best * r + cost) / both)
                price = (loss * both - cost) / r
                if price < best:
                    best = price
                    at = i
    for i in range(left):
        x = open_[i]
        best = np.inf
        to = ZERO
        for g in range(groups):
            price = price_of_joining(spans, records, state, g, x, best)
            if price < best:
                best = price
                to = g
        join(spans, people, records, state, to, x)
    return groups


# ── refinement ────────────────────────────────────────────────────────────────────────────────────────


@kernel
def refine(
    spans: CellSpans,
    people: ClassPersons,
    records: IntArray,
    k: int,
    groups: int,
    state: Clusters,
    changed: BoolArray,
) -> float:
    """One pass over the classes of ``changed`` clusters; returns by how much it lowered the total cost.

    A class moves to the cluster where it is cheapest if its own can spare it; else it is exchanged with a
    class of one of the cheapest clusters, or its whole cluster is dissolved into others. ``changed`` is
    replaced by the clusters that this pass changed.
    """
    gained = 0.0
    asked = changed.copy()
    changed[:] = False
    hopeless = np.zeros(groups, dtype=np.bool_)
    scratch = state.loss.size - 1
    prices = np.empty(SHORTLIST)
    places = np.empty(SHORTLIST, dtype=np.int64)
    for x in range(records.size):
        a = state.owner[x]
        if state.loss[a] == 0.0 or not (asked[a] or changed[a]):
            continue
        cost = state.loss[a] * state.records[a]
        respan(spans, state, a, scratch, x)
        relief = cost - state.loss[scratch] * (state.records[a] - records[x])
        if relief <= EPSILON:
            continue
        listed = 0
        limit = np.inf
        for g in range(groups):
            if g == a or state.head[g] < 0:
                continue
            price = price_of_joining(spans, records, state, g, x, limit)
            if price < limit:
                i = min(listed, SHORTLIST - 1)
                while i > 0 and prices[i - 1] > price:
                    prices[i] = prices[i - 1]
                    places[i] = places[i - 1]
                    i -= 1
                prices[i] = price
                places[i] = g
                listed = min(listed + 1, SHORTLIST)
                if listed == SHORTLIST:
                    limit = prices[SHORTLIST - 1]
        if listed == 0:
            continue
        spare = persons_with(people, state, a, x, NO_CLASS)
        if (spare >= k or spare == 0) and relief > prices[0] + EPSILON:
            leave(spans, people, records, state, x)
            join(spans, people, records, state, places[0], x)
            gained += relief - prices[0]
            changed[a] = True
            changed[places[0]] = True
        elif spare < k:
            won = _exchange(spans, people, records, k, state, x, places[:listed])
            if won > 0.0:
                gained += won
                changed[a] = True
                changed[state.owner[x]] = True
            elif not hopeless[a]:
                # Asked once per pass and not once per member: others seldom change so much that it pays.
                hopeless[a] = True
                gained += _dissolve(spans, people, records, groups, state, a, changed)
    return gained


@part
def _exchange(
    spans: CellSpans,
    people: ClassPersons,
    records: IntArray,
    k: int,
    state: Clusters,
    x: int,
    places: IntArray,
) -> float:
    """Exchange ``x`` with the class of one of some clusters that lowers the cost most; returns by how much."""
    a = state.owner[x]
    scratch = state.loss.size - 1
    cost_a = state.loss[a] * state.records[a]
    best = EPSILON
    other = NO_CLASS
    effort = 0
    for g in places:
        if effort > EFFORT:
            break
        before = cost_a + state.loss[g] * state.records[g]
        y = state.head[g]
        while y >= 0:
            # As many steps as there are members, hardly more than persons.
            effort += min(state.size[g], k)
            respan(spans, state, g, scratch, y)
            here = state.records[g] - records[y] + records[x]
            there = state.records[a] - records[x] + records[y]
            after = 0.0
            if state.records[g] > records[y]:
                after = loss_with(spans, state, scratch, x, (before - best) / here) * here
            if before - after > best:
                respan(spans, state, a, scratch, x)
                if state.records[a] > records[x]:
                    after += loss_with(spans, state, scratch, y, np.inf) * there
                if (
                    before - after > best
                    and persons_with(people, state, g, y, x) >= k
                    and persons_with(people, state, a, x, y) >= k
                ):
                    best = before - after
                    other = y
            y = state.after[y]
    if other < 0:
        return 0.0
    b = state.owner[other]
    leave(spans, people, records, state, x)
    leave(spans, people, records, state, other)
    join(spans, people, records, state, b, x)
    join(spans, people, records, state, a, other)
    return best


@part
def _dissolve(
    spans: CellSpans,
    people: ClassPersons,
    records: IntArray,
    groups: int,
    state: Clusters,
    a: int,
    changed: BoolArray,
) -> float:
    """Dissolve a cluster into others if that lowers the cost; returns by how much."""
    budget = float(state.loss[a] * state.records[a])
    spent = 0.0
    members = 0
    x = state.head[a]
    while x >= 0:
        best = budget - spent
        for g in range(groups):
            if g != a and state.head[g] >= 0:
                best = min(best, price_of_joining(spans, records, state, g, x, best))
        spent += best
        members += 1
        if spent >= budget - EPSILON:
            return 0.0
        x = state.after[x]
    # The members may have chosen the same cluster, which then costs more than each thought: add up again.
    listed = np.empty(members, dtype=np.int64)
    x = state.head[a]
    for i in range(members):
        listed[i] = x
        x = state.after[x]
    chosen = np.empty(members, dtype=np.int64)
    spent = 0.0
    for i in range(members):
        x = listed[i]
        leave(spans, people, records, state, x)
        best = np.inf
        for g in range(groups):
            if g != a and state.head[g] >= 0:
                price = price_of_joining(spans, records, state, g, x, best)
                if price < best:
                    best = price
                    chosen[i] = g
        spent += best
        join(spans, people, records, state, chosen[i], x)
    if spent < budget - EPSILON:
        for i in range(members):
            changed[chosen[i]] = True
        return budget - spent
    for i in range(members):
        leave(spans, people, records, state, listed[i])
    for i in range(members):
        join(spans, people, records, state, a, listed[i])
    return 0.0
