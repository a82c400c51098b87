"""Trees for local recoding that follow the data: values which good groups hold together come together early."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pyarrow as pa

from discreet.search.local.finer import finely, is_missing, partition_step, steered_by_levels
from discreet.search.problem import Problem
from discreet.table.hierarchies.hierarchy import LEARNED, Ladder, Step
from discreet.types import BoolArray, FloatArray, IntArray

MOST_NODES = 256
"""A tree is grown from so many nodes at most; of more values from groups of them, as the halving has them."""
LEAST_PERIODS = 12
"""Trees of dates are grown from months, quarters or years, the finest of these of which there are so many at least."""
THRIFT = 2.0
"""How much a node that covers many values has to be worth, unless another thrift is tried."""
MOST_MEMBERSHIPS = 4_000_000
"""So many pairs of a group and a node are looked at; of more groups, every second, third …"""


def grown(
    problem: Problem, group: IntArray, thrift: float = THRIFT, *, halved: Problem | None = None
) -> Problem:
    """A problem with trees grown from groups of its classes (-1 for none), where hierarchies were learned.

    Two nodes are joined, again and again, for which the records of groups that span both are most in relation to the
    number of values that the new node covers, to the power of ``thrift``: a group is written as the smallest node above
    its values, so what groups hold together should have a small one; the more thrift, the evener the tree. Ordered values are joined with their neighbours only; nulls, and
    missing marks among numbers, keep to themselves up to the root. Names of which columns that follow say something wider
    come together by that first: towns of a county, then counties of a state. Hierarchies with a meaning, or that somebody gave, keep their nodes.
    ``halved`` is the problem with finer trees, for who has it.
    """
    if steered_by_levels(problem):
        return problem
    at = np.flatnonzero(group >= 0)
    group = group[at]
    records = np.bincount(group, weights=problem.classes.records[at]).astype(np.float64)
    ladders = []
    halved = halved or finely(problem)
    for ladder, fine, codes in zip(problem.ladders, halved.ladders, problem.classes.codes, strict=True):
        if ladder.assumed == LEARNED and ladder.height and ladder.domain.size > 2:
            below = _start(fine, ladder)
            members = np.zeros((len(records), len(below[-1].labels)), dtype=bool)
            members[group, below[-1].codes[codes[at]]] = True
            fine = replace(
                fine, steps=(*below, *_grown(fine, below[-1], members, records, thrift), fine.steps[-1])
            )
        ladders.append(fine)
    return replace(problem, ladders=tuple(ladders))


def _start(fine: Ladder, ladder: Ladder) -> tuple[Step, ...]:
    """The lowest levels of a finer ladder, up to the first that has few enough nodes.

    Of dates, up to the first level of the calendar with few enough and not too few: whatever is wider ends where a period
    does, as ``<= 2023-06-30``, and nobody reads the days of other people off the ends.
    """
    counts = {at: len(step.labels) for at, step in enumerate(fine.steps) if len(step.labels) <= MOST_NODES}
    first = min(counts)
    if pa.types.is_temporal(ladder.domain.values.type):
        periods = {id(step) for step in ladder.steps[1:-1]}
        calendar = (
            at for at, count in counts.items() if count >= LEAST_PERIODS and id(fine.steps[at]) in periods
        )
        first = next(calendar, first)
    return fine.steps[: first + 1]


def _grown(ladder: Ladder, start: Step, members: BoolArray, records: FloatArray, thrift: float) -> list[Step]:
    """Further levels above some nodes, of which each group of a recoding has some."""
    every = max(1, -(-members.size // MOST_MEMBERSHIPS))
    joins = _joins(ladder, start, members[::every], records[::every], thrift)
    return [
        partition_step(ladder, partition[start.codes]) for partition in _partitions(len(start.labels), joins)
    ]


def _joins(
    ladder: Ladder, start: Step, members: BoolArray, records: FloatArray, thrift: float
) -> list[tuple[int, int]]:
    """The nodes that are joined, in this order: the first of a pair stands for both afterwards."""
    domain = ladder.domain
    _, first = np.unique(start.codes, return_index=True)
    places = domain.places
    ordered = places is not None
    # Among names a mark such as ? is a name; among numbers it has no place.
    missing = is_missing(domain, first) if ordered else first == (domain.null_code if domain.has_null else -1)
    nodes = np.flatnonzero(~missing)
    if places is not None:
        nodes = nodes[np.argsort(places[first[nodes]], kind="stable")]
    span = members[:, nodes].astype(np.float64)
    size = np.bincount(start.codes).astype(np.float64)[nodes]
    shared = (span * records[:, None]).T @ span
    wider = [] if ordered else _wider(ladder, start, nodes)
    alive = np.arange(len(nodes))
    joins = []
    while len(alive) > 1:
        if ordered:
            left, right = alive[:-1], alive[1:]
        else:
            left, right = (alive[side] for side in np.triu_indices(len(alive), 1))
        covered = size[left] + size[right]
        apart = np.zeros(len(left), dtype=np.int64)
        for names in wider:
            apart += (names[left] != names[right]) | (names[left] < 0)
        # Where nothing is shared the smallest nodes come together first.
        pick = int(np.lexsort((covered, -np.round(shared[left, right] / covered**thrift, 9), apart))[0])
        a, b = int(left[pick]), int(right[pick])
        for names in wider:
            names[a] = names[a] if names[a] == names[b] else -1
        joins.append((int(nodes[a]), int(nodes[b])))
        span[:, a] = np.maximum(span[:, a], span[:, b])
        size[a] += size[b]
        shared[a] = shared[:, a] = (span[:, a] * records) @ span
        alive = alive[alive != b]
    return joins


def _wider(ladder: Ladder, start: Step, nodes: IntArray) -> list[IntArray]:
    """What each column that follows says of the values of some nodes, as numbers; -1 where it says several things of them."""
    told = []
    for each in ladder.wider:
        places = {name: at for at, name in enumerate(dict.fromkeys(each.names)) if name is not None}
        numbers = np.array([-1 if name is None else places[name] for name in each.names], dtype=np.int64)
        low = np.full(len(start.labels), len(places), dtype=np.int64)
        high = np.full(len(start.labels), -1, dtype=np.int64)
        np.minimum.at(low, start.codes, numbers)
        np.maximum.at(high, start.codes, numbers)
        told.append(np.where(low == high, low, -1)[nodes])
    return told


def _partitions(nodes: int, joins: list[tuple[int, int]]) -> list[IntArray]:
    """The levels of a binary tree between its leaves and its root, fine to coarse."""
    height = np.zeros(nodes, dtype=np.int64)
    heights = []
    for a, b in joins:
        height[a] = 1 + max(height[a], height[b])
        heights.append(int(height[a]))
    owner = np.arange(nodes)
    partitions: list[IntArray] = []
    for level in range(1, max(heights, default=0)):
        for (a, b), reached in zip(joins, heights, strict=True):
            if reached == level:
                owner[owner == owner[b]] = owner[a]
        _, partition = np.unique(owner, return_inverse=True)
        partitions.append(partition.astype(np.int64))
    return partitions
