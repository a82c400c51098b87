"""Compiled loops for microaggregation: MDAV on weighted points, and the optimum for one number."""

from __future__ import annotations

import numpy as np

from discreet.compiled import kernel, part
from discreet.search.clusters.space import ClassPersons, Points
from discreet.types import FloatArray, Int32Array, IntArray


@part
def _squared(points: Points, x: int, numbers: FloatArray, codes: Int32Array) -> float:
    """Squared distance of class ``x`` from a place: its numbers and its categories."""
    total = 0.0
    for p in range(numbers.size):
        gap = points.numbers[x, p] - numbers[p]
        if gap == gap:
            total += gap * gap
        elif (points.numbers[x, p] == points.numbers[x, p]) != (numbers[p] == numbers[p]):
            total += points.null[p]
    for q in range(codes.size):
        code = points.codes[x, q]
        if code != codes[q]:
            row = points.row[q]
            while points.steps[row, code] != points.steps[row, codes[q]]:
                row += 1
            apart = points.apart[row, code]
            total += points.weights[q] * apart * apart
    return total


@part
def _add(
    points: Points,
    records: IntArray,
    x: int,
    sign: int,
    sums: FloatArray,
    known: IntArray,
    tally: IntArray,
) -> None:
    """Let class ``x`` enter (``sign`` 1) or leave (-1) what a centroid is made of."""
    for p in range(sums.size):
        value = points.numbers[x, p]
        if value == value:
            sums[p] += sign * records[x] * value
            known[p] += sign * records[x]
    for q in range(points.codes.shape[1]):
        tally[q, points.codes[x, q]] += sign * records[x]


@part
def _centre(
    sums: FloatArray,
    known: IntArray,
    tally: IntArray,
    numbers: FloatArray,
    codes: Int32Array,
) -> None:
    """Means of the known numbers (NaN if there are none), the most frequent category."""
    for p in range(sums.size):
        numbers[p] = sums[p] / known[p] if known[p] > 0 else np.nan
    for q in range(codes.size):
        codes[q] = np.argmax(tally[q])


@part
def _new_persons(people: ClassPersons, x: int, stamp: IntArray, group: int) -> int:
    """How many persons class ``x`` brings into a group; marks them as being there."""
    if people.indptr.size == 0:
        return int(people.sizes[x])
    new = 0
    for p in range(people.indptr[x], people.indptr[x + 1]):
        who = people.persons[p]
        if stamp[who] != group:
            stamp[who] = group
            new += 1
    return new


@part
def _gather(
    points: Points,
    people: ClassPersons,
    k: int,
    gamma: float,
    seed: int,
    group: int,
    open_: IntArray,
    left: int,
    owner: IntArray,
    distance: FloatArray,
    stamp: IntArray,
) -> tuple[int, int]:
    """A group of ``seed`` and those nearest to it, until it has ``k`` persons; who is furthest from it.

    ``open_[:left]`` are the classes without a group, in ascending order; those taken are removed. With
    ``gamma`` > 0 the group takes in further ones, up to 2k - 1 persons, that are nearer to it than
    ``gamma`` times their distance to all other classes without a group (V-MDAV).
    """
    owner[seed] = group
    size = _new_persons(people, seed, stamp, group)
    members = np.empty(left, dtype=np.int64)
    members[0] = seed
    taken = 1
    far = -1.0
    furthest = -1
    numbers = points.numbers[seed]
    codes = points.codes[seed]
    for i in range(left):
        x = open_[i]
        distance[x] = _squared(points, x, numbers, codes)
    # A short sorted list holds the nearest; it is long enough unless persons are in several classes.
    room = min(max(k, 2), left)
    while size < k and taken < left:
        near = np.empty(room, dtype=np.int64)
        listed = 0
        limit = np.inf
        for i in range(left):
            x = open_[i]
            if owner[x] < 0 and distance[x] < limit:
                at = min(listed, room - 1)
                while at > 0 and distance[near[at - 1]] > distance[x]:
                    near[at] = near[at - 1]
                    at -= 1
                near[at] = x
                listed = min(listed + 1, room)
                if listed == room:
                    limit = distance[near[room - 1]]
        for i in range(listed):
            if size >= k:
                break
            size += _new_persons(people, near[i], stamp, group)
            owner[near[i]] = group
            members[taken] = near[i]
            taken += 1
    left = _still_open(open_, left, owner)
    while gamma > 0.0 and size < 2 * k - 1 and left > 1:
        x = _intimate(points, gamma, members[:taken], open_[:left], distance)
        if x < 0 or size + people.sizes[x] > 2 * k - 1:
            break
        size += _new_persons(people, x, stamp, group)
        owner[x] = group
        members[taken] = x
        taken += 1
        left = _still_open(open_, left, owner)
    for i in range(left):
        if distance[open_[i]] > far:
            far = distance[open_[i]]
            furthest = open_[i]
    return left, furthest


@part
def _still_open(open_: IntArray, left: int, owner: IntArray) -> int:
    """Keep only the classes without a group, in their order."""
    kept = 0
    for i in range(left):
        x = open_[i]
        if owner[x] < 0:
            open_[kept] = x
            kept += 1
    return kept


@part
def _intimate(
    points: Points,
    gamma: float,
    members: IntArray,
    open_: IntArray,
    distance: FloatArray,
) -> int:
    """The open class nearest to a group, if it is nearer than ``gamma`` times to any other open one; else -1.

    ``distance`` is the squared one from the group's seed. Whoever is further from the seed than the members
    are, and than the best so far besides, need not be compared with each member.
    """
    radius = 0.0
    for member in members[1:]:
        radius = max(radius, np.sqrt(distance[member]))
    best = np.inf
    nearest = -1
    for x in open_:
        apart = np.sqrt(distance[x]) - radius
        if apart > 0.0 and apart * apart >= best:
            continue
        for member in members:
            gap = _squared(points, x, points.numbers[member], points.codes[member])
            if gap < best:
                best = gap
                nearest = x
    for x in open_:
        if x != nearest:
            gap = _squared(points, x, points.numbers[nearest], points.codes[nearest])
            if best >= gamma * gamma * gap:
                return -1
    return nearest


@kernel
def mdav(
    points: Points,
    people: ClassPersons,
    records: IntArray,
    k: int,
    gamma: float,
    owner: IntArray,
    stamp: IntArray,
) -> int:
    """Fill ``owner`` with the groups of MDAV; returns how many there are.

    Classes with at least ``k`` persons stand alone. While 3k persons are without a group: r is the class
    furthest from their centroid, s the one furthest from r; r and then s form groups with those nearest to
    them. From 2k on one more group forms around r; what remains is a group if it has k persons, else each
    class joins the group with the nearest centroid.
    """
    n, columns = points.numbers.shape
    categories = points.codes.shape[1]
    sums = np.zeros(columns)
    known = np.zeros(columns, dtype=np.int64)
    tally = np.zeros((categories, max(points.steps.shape[1], 1)), dtype=np.int64)
    numbers = np.zeros(columns)
    codes = np.zeros(categories, dtype=np.int32)
    distance = np.zeros(n)
    open_ = np.empty(n, dtype=np.int64)
    before = np.empty(n, dtype=np.int64)
    stamp[:] = -1
    owner[:] = -1
    groups = 0
    left = 0
    remaining = 0
    for x in range(n):
        if people.sizes[x] >= k:
            owner[x] = groups
            groups += 1
        else:
            open_[left] = x
            left += 1
            remaining += people.sizes[x]
            _add(points, records, x, 1, sums, known, tally)
    while left and remaining >= 2 * k:
        _centre(sums, known, tally, numbers, codes)
        far = -1.0
        seed = open_[0]
        for i in range(left):
            gap = _squared(points, open_[i], numbers, codes)
            if gap > far:
                far = gap
                seed = open_[i]
        twice = remaining >= 3 * k
        for _ in range(2 if twice else 1):
            was = left
            before[:was] = open_[:was]
            left, seed = _gather(points, people, k, gamma, seed, groups, open_, left, owner, distance, stamp)
            for i in range(was):
                if owner[before[i]] == groups:
                    remaining -= people.sizes[before[i]]
                    _add(points, records, before[i], -1, sums, known, tally)
            groups += 1
            if left == 0:
                break
    if left == 0:
        return groups
    persons = 0
    for i in range(left):
        persons += _new_persons(people, open_[i], stamp, groups)
    if persons >= k or groups == 0:
        for i in range(left):
            owner[open_[i]] = groups
        return groups + 1
    _join_nearest(points, records, open_[:left], groups, owner)
    return groups


@part
def _join_nearest(
    points: Points,
    records: IntArray,
    rest: IntArray,
    groups: int,
    owner: IntArray,
) -> None:
    """Each class of ``rest`` joins the group whose centroid is nearest."""
    n, columns = points.numbers.shape
    categories = points.codes.shape[1]
    width = max(points.steps.shape[1], 1)
    order = np.argsort(owner, kind="mergesort")
    best = np.full(rest.size, np.inf)
    to = np.zeros(rest.size, dtype=np.int64)
    numbers = np.zeros(columns)
    codes = np.zeros(categories, dtype=np.int32)
    at = rest.size
    for g in range(groups):
        sums = np.zeros(columns)
        known = np.zeros(columns, dtype=np.int64)
        tally = np.zeros((categories, width), dtype=np.int64)
        while at < n and owner[order[at]] == g:
            _add(points, records, order[at], 1, sums, known, tally)
            at += 1
        _centre(sums, known, tally, numbers, codes)
        for i in range(rest.size):
            gap = _squared(points, rest[i], numbers, codes)
            if gap < best[i]:
                best[i] = gap
                to[i] = g
    for i in range(rest.size):
        owner[rest[i]] = to[i]


@kernel
def optimal_cuts(
    values: FloatArray,
    records: IntArray,
    sizes: IntArray,
    k: int,
    starts: IntArray,
) -> float:
    """The least sum of squares over all ways to cut sorted ``values`` into groups of ``k`` persons or more.

    ``starts[j]`` becomes the start of the group that ends at ``j`` in the best way to cut the first j + 1
    values (-1: none). A group that could be cut in two of sufficient size is never needed, so each end has
    few starts: O(n k) after sorting (Hansen and Mukherjee 2003).
    """
    n = values.size
    weight = np.zeros(n + 1)
    first = np.zeros(n + 1)
    second = np.zeros(n + 1)
    for i in range(n):
        weight[i + 1] = weight[i] + records[i]
        first[i + 1] = first[i] + records[i] * values[i]
        second[i + 1] = second[i] + records[i] * values[i] * values[i]
    best = np.full(n + 1, np.inf)
    best[0] = 0.0
    for j in range(n):
        starts[j] = -1
        whole = 0
        before = 0
        tail = -1
        for i in range(j, -1, -1):
            whole += sizes[i]
            if tail >= 0:
                before += sizes[i]
                if before >= k:
                    # What lies before the smallest tail is a group of its own: cutting there is no worse.
                    break
            if whole < k:
                continue
            if tail < 0:
                tail = i
            total = weight[j + 1] - weight[i]
            gap = first[j + 1] - first[i]
            within = max(second[j + 1] - second[i] - gap * gap / total, 0.0)
            if best[i] + within < best[j + 1]:
                best[j + 1] = best[i] + within
                starts[j] = i
    return float(best[n])
