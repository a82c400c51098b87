"""Compiled loops over clusters and what their common cells lose: joining, leaving, nearest clusters.

The loss of a cluster is the sum over attributes of the share of the domain its cells stand for, beyond a
single value; its cost is that times its records. Classes are points ``x``, clusters ``g``.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from discreet.compiled import kernel, part
from discreet.search.clusters.space import INTERVAL, SET, CellSpans, ClassPersons
from discreet.search.mondrian.kernels import NO_CLASS
from discreet.types import FloatArray, FloatMatrix, Int32Matrix, IntArray, WordMatrix


class Clusters(NamedTuple):
    """Clusters as they grow: what their cells span, their loss, records and persons, and their members.

    ``low`` and ``high`` bound an interval; for a set ``low`` counts its values; for a node of a tree they
    are its level and one of its leaves. Members are a linked list from ``head`` on.
    """

    low: Int32Matrix
    high: Int32Matrix
    bits: WordMatrix
    loss: FloatArray
    records: IntArray
    size: IntArray
    head: IntArray
    after: IntArray
    before: IntArray
    owner: IntArray
    stamp: IntArray
    clock: IntArray


def empty_clusters(points: int, groups: int, spans: CellSpans, people: ClassPersons) -> Clusters:
    """Room for ``groups`` empty clusters; the last one is scratch."""
    m = len(spans.kind)
    persons = 0 if people.additive else int(people.persons.max()) + 1
    return Clusters(
        low=np.zeros((groups + 1, m), dtype=np.int32),
        high=np.zeros((groups + 1, m), dtype=np.int32),
        bits=np.zeros((groups + 1, int(spans.word[-1])), dtype=np.uint64),
        loss=np.zeros(groups + 1),
        records=np.zeros(groups + 1, dtype=np.int64),
        size=np.zeros(groups + 1, dtype=np.int64),
        head=np.full(groups + 1, -1, dtype=np.int64),
        after=np.full(points, -1, dtype=np.int64),
        before=np.full(points, -1, dtype=np.int64),
        owner=np.full(points, -1, dtype=np.int64),
        stamp=np.zeros(persons, dtype=np.int64),
        clock=np.zeros(1, dtype=np.int64),
    )


# ── the span of a cluster ─────────────────────────────────────────────────────────────────────────────


@part
def begin(spans: CellSpans, state: Clusters, g: int, x: int) -> None:
    """The span of cluster ``g`` is that of class ``x`` alone."""
    for j in range(spans.kind.size):
        code = spans.codes[x, j]
        if spans.kind[j] == INTERVAL:
            state.low[g, j] = code
            state.high[g, j] = code
        elif spans.kind[j] == SET:
            for w in range(spans.word[j], spans.word[j + 1]):
                state.bits[g, w] = 0
            state.bits[g, spans.word[j] + (code >> 6)] = np.uint64(1) << np.uint64(code & 63)
            state.low[g, j] = 1
        else:
            state.low[g, j] = 0
            state.high[g, j] = code
    state.loss[g] = 0.0


@part
def _width(spans: CellSpans, j: int, low: int, high: int) -> float:
    """Cost of an interval beyond a single value; a null among numbers costs the whole domain."""
    if low < 0 <= high:
        return float(spans.full[j] - spans.unit[j])
    return float((high - low) * spans.unit[j])


@part
def _meet(spans: CellSpans, j: int, level: int, a: int, b: int) -> int:
    """The lowest level, from ``level`` on, at which two categories have the same node."""
    row = spans.row[j] + level
    while spans.steps[row, a] != spans.steps[row, b]:
        row += 1
    return int(row - spans.row[j])


@part
def loss_with(spans: CellSpans, state: Clusters, g: int, x: int, bound: float) -> float:
    """The loss of cluster ``g`` with class ``x``; infinite if it exceeds ``bound``."""
    total = float(state.loss[g])
    for j in spans.turn:
        code = spans.codes[x, j]
        low = state.low[g, j]
        kind = spans.kind[j]
        if kind == INTERVAL:
            high = state.high[g, j]
            if code < low or code > high:
                total += _width(spans, j, min(low, code), max(high, code)) - _width(spans, j, low, high)
        elif kind == SET:
            word = state.bits[g, spans.word[j] + (code >> 6)]
            if not (word >> np.uint64(code & 63)) & np.uint64(1):
                total += spans.unit[j]
        else:
            leaf = state.high[g, j]
            if leaf != code:
                level = _meet(spans, j, low, leaf, code)
                row = spans.row[j]
                total += spans.shares[row + level, code] - spans.shares[row + low, leaf]
        if total > bound:
            return np.inf
    return total


@part
def _widen(spans: CellSpans, state: Clusters, g: int, x: int) -> None:
    """Let cluster ``g`` take in class ``x``: its span, and what that loses."""
    state.loss[g] = loss_with(spans, state, g, x, np.inf)
    stretch(spans, state, g, x)


@part
def stretch(spans: CellSpans, state: Clusters, g: int, x: int) -> None:
    """Let the span of cluster ``g`` take in class ``x``."""
    for j in range(spans.kind.size):
        code = spans.codes[x, j]
        if spans.kind[j] == INTERVAL:
            state.low[g, j] = min(state.low[g, j], code)
            state.high[g, j] = max(state.high[g, j], code)
        elif spans.kind[j] == SET:
            w = spans.word[j] + (code >> 6)
            bit = np.uint64(1) << np.uint64(code & 63)
            if not state.bits[g, w] & bit:
                state.bits[g, w] |= bit
                state.low[g, j] += 1
        else:
            state.low[g, j] = _meet(spans, j, state.low[g, j], state.high[g, j], code)


@part
def _loss_of_union(spans: CellSpans, state: Clusters, a: int, b: int, bound: float) -> float:
    """The loss of two clusters as one; infinite if it exceeds ``bound``."""
    total = 0.0
    for j in spans.turn:
        kind = spans.kind[j]
        if kind == INTERVAL:
            low = min(state.low[a, j], state.low[b, j])
            total += _width(spans, j, low, max(state.high[a, j], state.high[b, j]))
        elif kind == SET:
            values = 0
            for w in range(spans.word[j], spans.word[j + 1]):
                word = state.bits[a, w] | state.bits[b, w]
                while word:
                    word &= word - np.uint64(1)
                    values += 1
            total += (values - 1) * spans.unit[j]
        else:
            leaf = state.high[a, j]
            start = max(state.low[a, j], state.low[b, j])
            level = _meet(spans, j, start, leaf, state.high[b, j])
            total += spans.shares[spans.row[j] + level, leaf] - spans.unit[j]
        if total > bound:
            return np.inf
    return total


# ── members ───────────────────────────────────────────────────────────────────────────────────────────


@part
def persons_with(people: ClassPersons, state: Clusters, g: int, without: int, plus: int) -> int:
    """Persons of cluster ``g`` if class ``without`` left and class ``plus`` came (-1: none)."""
    if people.indptr.size == 0:
        size = int(state.size[g])
        if without >= 0:
            size -= int(people.sizes[without])
        if plus >= 0:
            size += int(people.sizes[plus])
        return size
    state.clock[0] += 1
    now = state.clock[0]
    size = 0
    x = state.head[g] if state.head[g] >= 0 else plus
    last = state.head[g] < 0
    while x >= 0:
        if x != without:
            for p in range(people.indptr[x], people.indptr[x + 1]):
                who = people.persons[p]
                if state.stamp[who] != now:
                    state.stamp[who] = now
                    size += 1
        if last:
            break
        x = state.after[x]
        if x < 0:
            x = plus
            last = True
    return size


@part
def join(spans: CellSpans, people: ClassPersons, records: IntArray, state: Clusters, g: int, x: int) -> None:
    """Class ``x`` becomes a member of cluster ``g``."""
    if state.head[g] < 0:
        begin(spans, state, g, x)
        state.records[g] = 0
        state.size[g] = 0
    else:
        _widen(spans, state, g, x)
    state.size[g] = persons_with(people, state, g, NO_CLASS, x)
    state.records[g] += records[x]
    first = state.head[g]
    state.after[x] = first
    state.before[x] = -1
    if first >= 0:
        state.before[first] = x
    state.head[g] = x
    state.owner[x] = g


@part
def respan(spans: CellSpans, state: Clusters, g: int, into: int, without: int) -> None:
    """The span of the members of ``g`` but ``without``, written to cluster ``into``."""
    started = False
    x = state.head[g]
    while x >= 0:
        if x != without:
            if started:
                _widen(spans, state, into, x)
            else:
                begin(spans, state, into, x)
                started = True
        x = state.after[x]
    if not started:
        state.loss[into] = 0.0


@part
def leave(spans: CellSpans, people: ClassPersons, records: IntArray, state: Clusters, x: int) -> None:
    """Class ``x`` leaves its cluster."""
    g = state.owner[x]
    state.size[g] = persons_with(people, state, g, x, NO_CLASS)
    state.records[g] -= records[x]
    if state.before[x] >= 0:
        state.after[state.before[x]] = state.after[x]
    else:
        state.head[g] = state.after[x]
    if state.after[x] >= 0:
        state.before[state.after[x]] = state.before[x]
    state.owner[x] = -1
    respan(spans, state, g, g, NO_CLASS)


@part
def price_of_joining(
    spans: CellSpans, records: IntArray, state: Clusters, g: int, x: int, bound: float
) -> float:
    """What it costs that class ``x`` joins cluster ``g``; infinite if it is more than ``bound``."""
    cost = float(state.loss[g] * state.records[g])
    both = int(state.records[g] + records[x])
    return loss_with(spans, state, g, x, (bound + cost) / both) * both - cost


# ── clusters as they are ──────────────────────────────────────────────────────────────────────────────


@kernel
def fill(spans: CellSpans, people: ClassPersons, records: IntArray, owner: IntArray, state: Clusters) -> None:
    """Fill ``state`` with given clusters."""
    for x in range(owner.size):
        join(spans, people, records, state, owner[x], x)


@kernel
def pair_up(
    spans: CellSpans,
    state: Clusters,
    order: IntArray,
    line: IntArray,
    reach: int,
    partner: IntArray,
) -> None:
    """Give each cluster in ``order`` the partner with which it loses least; nobody has two.

    ``line`` are all clusters in an order that keeps similar ones together; the partner is sought up to
    ``reach`` places away.
    """
    place = np.empty(line.size, dtype=np.int64)
    for i in range(line.size):
        place[line[i]] = i
    for a in order:
        if partner[a] >= 0:
            continue
        cost_a = state.loss[a] * state.records[a]
        best = np.inf
        nearest = -1
        for i in range(max(place[a] - reach, 0), min(place[a] + reach + 1, line.size)):
            b = line[i]
            if b == a or partner[b] >= 0:
                continue
            apart = cost_a + state.loss[b] * state.records[b]
            both = state.records[a] + state.records[b]
            price = _loss_of_union(spans, state, a, b, (best + apart) / both) * both - apart
            if price < best:
                best = price
                nearest = b
        if nearest >= 0:
            partner[a] = nearest
            partner[nearest] = a


@kernel
def shares(spans: CellSpans, state: Clusters, groups: int, share: FloatMatrix) -> None:
    """The share of the domain that each attribute (row) of each cluster (column) stands for."""
    for g in range(groups):
        for j in range(spans.kind.size):
            if spans.kind[j] == INTERVAL:
                share[j, g] = _width(spans, j, state.low[g, j], state.high[g, j]) + spans.unit[j]
            elif spans.kind[j] == SET:
                share[j, g] = state.low[g, j] * spans.unit[j]
            else:
                share[j, g] = spans.shares[spans.row[j] + state.low[g, j], state.high[g, j]]
