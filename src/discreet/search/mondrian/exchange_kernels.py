"""Compiled loops that move classes between groups, or swap two, while that lowers the loss."""

from __future__ import annotations

import numpy as np

from discreet.compiled import kernel, part
from discreet.search.mondrian.kernels import SET, TIE, ZERO, Space, price_between
from discreet.types import FloatArray, Int32Array, Int32Matrix, IntArray

CAPACITY = 48
"""Groups of more classes take no part in refinement: their members are compared one by one."""


@kernel
def gather(
    space: Space,
    owner: IntArray,
    members: Int32Matrix,
    count: IntArray,
    sizes: IntArray,
    share: FloatArray,
) -> None:
    """List the classes of every group, its records and what one of them loses; large groups are not listed."""
    count[:] = 0
    sizes[:] = 0
    for c in range(owner.size):
        g = owner[c]
        if count[g] < CAPACITY:
            members[g, count[g]] = c
        count[g] += 1
        sizes[g] += space.records[c]
    for g in range(count.size):
        if count[g] <= CAPACITY:
            share[g] = _share(space, members[g], count[g])


@part
def _share(space: Space, group: Int32Array, count: int) -> float:
    """What one record of a small group loses."""
    total = 0.0
    for j in range(space.place.shape[1]):
        first = space.place[group[0], j]
        if space.kind[j] != SET:
            low = high = first
            for i in range(1, count):
                p = space.place[group[i], j]
                low = min(low, p)
                high = max(high, p)
            price, _ = price_between(space, j, low, high, 0)
            total += price
        elif space.size[j] <= 64:
            seen = np.uint64(0)
            for i in range(count):
                seen |= np.uint64(1) << np.uint64(space.place[group[i], j])
            while seen:
                seen &= seen - np.uint64(1)
                total += space.unit[j]
        else:
            for i in range(count):
                new = True
                for before in range(i):
                    if space.place[group[before], j] == space.place[group[i], j]:
                        new = False
                        break
                if new:
                    total += space.unit[j]
    return total


@part
def enough_in(
    space: Space,
    group: Int32Array,
    count: int,
    records: int,
    item_stamp: IntArray,
    version: int,
) -> bool:
    """Whether a small group meets the requirements that counting decides."""
    if count == 0 or records < space.least_records:
        return False
    if space.least.size == 0:
        return True
    distinct = np.zeros(space.least.size, dtype=np.int64)
    for i in range(count):
        for e in range(space.item_ptr[group[i]], space.item_ptr[group[i] + 1]):
            if item_stamp[space.item[e]] != version:
                item_stamp[space.item[e]] = version
                distinct[space.tally[e]] += 1
    return bool((distinct >= space.least).all())


@part
def _largest_drop(space: Space, group: Int32Array, count: int, share: float, spare: Int32Array) -> float:
    """By how much the loss of one record falls at most when a class leaves a small group."""
    if count == 1:
        return np.inf  # nothing bounds what an empty group may become
    least = share
    for gone in range(count):
        for i in range(count - 1):
            spare[i] = group[i + (i >= gone)]
        least = min(least, _share(space, spare, count - 1))
    return share - least


@kernel
def exchange(
    space: Space,
    line: Int32Array,
    reach: int,
    owner: IntArray,
    members: Int32Matrix,
    count: IntArray,
    sizes: IntArray,
    share: FloatArray,
    drop: FloatArray,
    item_stamp: IntArray,
    version: int,
    once: bool,
    partner: IntArray,
) -> int:
    """Move classes to, or swap them with, groups of their neighbours while that lowers the loss.

    ``line`` is an order of all classes in which near ones are likely to be similar. With ``once``
    a group takes part in one exchange only; ``partner`` then names the other group. ``drop`` is by how much
    the loss of a record falls at most when a class leaves the group, negative where it is not known: losing
    a class gains no more after another one joined (spans are submodular), which rules out most swaps. Returns the next free version
    of ``item_stamp``.
    """
    n = owner.size
    spare = np.empty(CAPACITY, dtype=np.int32)
    without = np.empty(CAPACITY + 1, dtype=np.int32)
    joined = np.empty(CAPACITY + 1, dtype=np.int32)
    for i in range(n):
        c = line[i]
        g = owner[c]
        if count[g] > CAPACITY or (once and partner[g] >= 0):
            continue
        fresh = True
        rest = ZERO
        rest_share = 0.0
        free = False
        for step in range(-reach, reach + 1):
            if step == 0 or not 0 <= i + step < n:
                continue
            h = owner[line[i + step]]
            if h == g or count[h] >= CAPACITY or (once and partner[h] >= 0):
                continue
            if fresh:
                fresh = False
                rest = ZERO
                for e in range(count[g]):
                    if members[g, e] != c:
                        without[rest] = members[g, e]
                        rest += 1
                free = enough_in(space, without, rest, sizes[g] - space.records[c], item_stamp, version)
                version += 1
                rest_share = _share(space, without, rest) if rest else 0.0
            weight = space.records[c]
            now = share[g] * sizes[g] + share[h] * sizes[h]
            for e in range(count[h]):
                joined[e] = members[h, e]
            joined[count[h]] = c
            joined_share = _share(space, joined, count[h] + 1)
            if free:
                then = rest_share * (sizes[g] - weight) + joined_share * (sizes[h] + weight)
                if then < now - TIE:
                    for e in range(rest):
                        members[g, e] = without[e]
                    members[h, count[h]] = c
                    count[g] -= 1
                    count[h] += 1
                    sizes[g] -= weight
                    sizes[h] += weight
                    share[g] = rest_share
                    share[h] = joined_share
                    owner[c] = h
                    partner[g] = h
                    partner[h] = g
                    drop[g] = -1.0
                    drop[h] = -1.0
                    break
            if rest_share >= share[g] - 1e-12:
                continue  # without c the group is no smaller: a swap is found from the other side
            if drop[h] < 0:
                drop[h] = _largest_drop(space, members[h], count[h], share[h], spare)
            floor = joined_share - drop[h]
            best = now
            chosen = -1
            for e in range(count[h]):
                d = members[h, e]
                other = space.records[d]
                if sizes[g] - weight + other < space.least_records:
                    continue
                if sizes[h] - other + weight < space.least_records:
                    continue
                at_least = floor * (sizes[h] - other + weight)
                if rest_share * (sizes[g] - weight + other) + at_least >= best - TIE:
                    continue
                without[rest] = d
                here = _share(space, without, rest + 1) * (sizes[g] - weight + other)
                if here + at_least >= best - TIE:
                    continue
                joined[e] = c
                there = _share(space, joined, count[h]) * (sizes[h] - other + weight)
                if here + there < best - TIE:
                    good = True
                    if space.least.size:
                        good = enough_in(
                            space, without, rest + 1, sizes[g], item_stamp, version
                        ) and enough_in(space, joined, count[h], sizes[h], item_stamp, version + 1)
                        version += 2
                    if good:
                        best = here + there
                        chosen = e
                joined[e] = d
            if chosen >= 0:
                d = members[h, chosen]
                other = space.records[d]
                for e in range(rest):
                    members[g, e] = without[e]
                members[g, rest] = d
                members[h, chosen] = c
                sizes[g] += other - weight
                sizes[h] += weight - other
                share[g] = _share(space, members[g], count[g])
                share[h] = _share(space, members[h], count[h])
                owner[c] = h
                owner[d] = g
                partner[g] = h
                partner[h] = g
                drop[g] = -1.0
                drop[h] = -1.0
                break
    return version
