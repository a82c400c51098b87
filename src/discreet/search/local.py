"""Local recoding on top of the generalisation lattice: each group of records stands at a node of its own."""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Sequence

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from discreet.classes import EquivalenceClasses
from discreet.privacy import PrivacyModel
from discreet.privacy.base import refuse_empty
from discreet.search.mondrian import Partition, released
from discreet.search.partition_kernels import Space, meet
from discreet.search.partition_space import held, on_groups, space_of
from discreet.search.problem import Problem
from discreet.table.domain import Domain
from discreet.table.hierarchy import Ladder
from discreet.transform.recoding import Recoding

Owner = NDArray[np.int64]
Progress = Callable[[str], None]

NOBODY = -1
"""The group of classes that have none yet."""
MOST_NODES = 10_000
"""So many nodes of the lattice are visited; of larger lattices, levels in between are left out."""
MOST_NODES_ASKED = 500
"""The same where requirements have to be asked of the whole table at every node."""


def local_recoding(problem: Problem, *, progress: Progress | None = None) -> Recoding:
    """Local recoding: records that one generalisation would suppress get another one, until none is left.

    The nodes of the lattice are visited from the least loss on. At each, the classes without a group that
    agree on the node's values form one, if it meets every requirement by itself; so every class is released
    at about the cheapest node that can hold it. What is left at the top joins the released groups whose loss
    grows least, as many as it takes. Groups are then divided where both parts meet the requirements,
    classes change to groups of their neighbours while that lowers the loss, and every cell is written as
    the closest common ancestor of its group's own values.

    Requirements that compare a group with the table always see the whole table. Nothing is suppressed
    unless not even the whole table as one group meets the requirements: then everything is.

    Follows the idea of ARX (Prasser, Kohlmayer and Kuhn): recode what was suppressed again; loss: Iyengar,
    "Transforming data to satisfy privacy constraints", KDD 2002.

    >>> from discreet.privacy import KAnonymity
    >>> from discreet.search.problem import make_problem
    >>> from discreet.table.hierarchy import Hierarchy
    >>> zips = [["1010", "101*", "*"], ["1011", "101*", "*"], ["2020", "202*", "*"], ["2021", "202*", "*"]]
    >>> classes = EquivalenceClasses.from_columns({"zip": ["1010", "1010", "1011", "1011", "2020", "2021"]})
    >>> ladder = Hierarchy.of("zip", zips).ladder(classes.attributes[0])
    >>> local_recoding(make_problem(classes, [ladder], [KAnonymity(2)])).columns[0].per_class().to_pylist()
    ['1010', '1011', '202*', '202*']
    """
    classes, ladders = problem.classes, problem.ladders
    refuse_empty(classes)
    say = progress or (lambda _: None)
    models = on_groups(problem.models)
    owner = np.zeros(len(classes), dtype=np.int64)
    kept = held(models, classes, owner, 1)
    if kept.all() and len(classes) > 1:
        space, others = space_of(classes, models, ladders, style="hierarchy", weights=problem.weights)
        partition = Partition(classes, space, others, say)
        visited = _absorbed(classes, space, models, _visited(classes, space, others, ladders, say))
        # Where little is left over the visit is the better start; where much is, the table as a whole.
        starts = [partition.divided(start, strict=False) for start in (visited, owner)]
        owner = partition.exchanged(min(starts, key=lambda start: _loss(space, start)))
        kept = np.ones(int(owner.max()) + 1, dtype=bool)
    return released(classes, models, owner, kept, ladders=ladders, style="hierarchy", method="local recoding")


def _visited(
    classes: EquivalenceClasses,
    space: Space,
    others: Sequence[PrivacyModel],
    ladders: Sequence[Ladder],
    say: Progress,
) -> Owner:
    """The group of each class after all nodes were visited; ``NOBODY`` where no node could hold it."""
    codes = np.stack(
        [
            step.codes[column]
            for ladder, column in zip(ladders, classes.codes, strict=True)
            for step in ladder.steps
        ]
    ).astype(np.int32)
    nodes = _nodes(classes, space, ladders, MOST_NODES_ASKED if others else MOST_NODES)
    owner = np.full(len(classes), NOBODY, dtype=np.int64)
    groups = 0
    rest = np.arange(len(classes))
    table = _Rest(classes, rest)
    slots = np.empty(1 << max(4, (2 * len(rest)).bit_length()), dtype=np.int32)
    cell = np.empty(len(rest), dtype=np.int64)
    good = np.empty(len(rest), dtype=bool)
    item_stamp = np.zeros(int(space.item.max()) + 1 if len(space.item) else 0, dtype=np.int64)
    version = 1
    for number, rows in enumerate(nodes):
        if number % 256 == 0:
            say(
                f"visiting {len(nodes):,} generalisations: {1 - len(rest) / len(classes):.0%} have their group"
            )
        cells, version = meet(space, codes, rows, rest, slots, cell, good, item_stamp, version)
        here, fine = cell[: len(rest)], good[:cells]
        if others and fine.any():
            fine &= table.held(others, here, cells)
        found = fine[here]
        if not found.any():
            continue
        used, compact = np.unique(here[found], return_inverse=True)
        owner[rest[found]] = groups + compact
        groups += len(used)
        rest = rest[~found]
        if not len(rest):
            break
        if others:
            table = _Rest(classes, rest)
        slots = slots[: 1 << max(4, (2 * len(rest)).bit_length())]
    return owner


class _Rest:
    """The classes without a group yet, in a table where all others are one class: the whole stays known."""

    def __init__(self, classes: EquivalenceClasses, rest: NDArray[np.int64]) -> None:
        self._all = len(rest) == len(classes)
        number = np.full(len(classes), len(rest), dtype=np.int64)
        number[rest] = np.arange(len(rest))
        domain = Domain("class", pa.array(np.arange(len(rest) + 1)))
        self._classes = classes if self._all else classes.recoded([domain], [number])

    def held(self, models: Sequence[PrivacyModel], cell: NDArray[np.int64], cells: int) -> NDArray[np.bool_]:
        """Which cells meet the requirements."""
        if self._all:
            return held(models, self._classes, cell, cells)
        return held(models, self._classes, np.append(cell, cells), cells + 1)[:cells]


def _nodes(
    classes: EquivalenceClasses, space: Space, ladders: Sequence[Ladder], most: int
) -> NDArray[np.int64]:
    """Nodes of the lattice from the least loss on, as rows of level codes; of large lattices only some."""
    prices = [
        np.stack([step.shares for step in ladder.steps])
        @ np.bincount(column, weights=classes.records, minlength=ladder.domain.size)
        * weight
        for ladder, column, weight in zip(ladders, classes.codes, space.weight, strict=True)
    ]
    levels = [list(range(ladder.height + 1)) for ladder in ladders]
    while _size(levels) > most and max(map(len, levels)) > 2:
        # The attribute with most levels loses every second one in between; the ends always stay.
        longest = max(levels, key=len)
        longest[1:-1] = longest[2:-1:2]
    nodes = _chain(prices) if _size(levels) > most else np.array(list(itertools.product(*levels)))
    total = sum(price[nodes[:, j]] for j, price in enumerate(prices))
    order = np.argsort(np.round(total, 6), kind="stable")
    offsets = np.cumsum([0, *(ladder.height + 1 for ladder in ladders[:-1])])
    return np.asarray(nodes[order] + offsets, dtype=np.int64)


def _size(levels: Sequence[Sequence[int]]) -> int:
    """How many nodes there are; may be beyond any machine number."""
    return math.prod(map(len, levels))


def _chain(prices: Sequence[NDArray[np.float64]]) -> NDArray[np.int64]:
    """One way from the bottom of the lattice to its top, always by the step that adds least loss."""
    node = [0] * len(prices)
    nodes = [tuple(node)]
    while True:
        steps = [
            (price[at + 1] - price[at], j)
            for j, (price, at) in enumerate(zip(prices, node, strict=True))
            if at + 1 < len(price)
        ]
        if not steps:
            return np.array(nodes)
        node[min(steps)[1]] += 1
        nodes.append(tuple(node))


def _absorbed(
    classes: EquivalenceClasses, space: Space, models: Sequence[PrivacyModel], owner: Owner
) -> Owner:
    """Let the groups whose loss grows least take in what has none: 1, 2, 4 … of them, until together they hold."""
    lost = owner == NOBODY
    if not lost.any():
        return owner
    groups = int(owner.max()) + 1
    owner = np.where(lost, groups, owner)
    order = np.argsort(_growth(space, owner, groups), kind="stable")
    for taken in itertools.takewhile(lambda i: i < 2 * groups, (1 << i for i in itertools.count())):
        together = np.zeros(groups + 1, dtype=bool)
        together[order[:taken]] = True
        together[groups] = True
        joined = np.where(together[owner], groups, owner)
        _, joined = np.unique(joined, return_inverse=True)
        number = int(joined.max()) + 1
        if held(models, classes, joined, number).all():
            break
    return joined.astype(np.int64)


def _growth(space: Space, owner: Owner, groups: int) -> NDArray[np.float64]:
    """By how much the loss of each group grows if it is joined with the last one."""
    low, high, sizes = _spans(space, owner)
    joined = _ancestor_price(space, np.minimum(low, low[groups]), np.maximum(high, high[groups]))
    growth = joined * (sizes + sizes[groups]) - _ancestor_price(space, low, high) * sizes
    return np.asarray(growth[:groups])


def _loss(space: Space, owner: Owner) -> float:
    """The loss of all groups together."""
    low, high, sizes = _spans(space, owner)
    return float(_ancestor_price(space, low, high) @ sizes)


def _spans(space: Space, owner: Owner) -> tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.float64]]:
    """Lowest and highest place of each group in each attribute, and its records."""
    shape = (int(owner.max()) + 1, space.place.shape[1])
    low, high = np.full(shape, np.iinfo(np.int64).max), np.full(shape, -1, dtype=np.int64)
    np.minimum.at(low, owner, space.place)
    np.maximum.at(high, owner, space.place)
    return low, high, np.bincount(owner, weights=space.records).astype(np.float64)


def _ancestor_price(space: Space, low: NDArray[np.integer], high: NDArray[np.integer]) -> NDArray[np.float64]:
    """What one record loses whose cells are the closest common ancestors of the places ``low`` to ``high``."""
    total = np.zeros(len(low))
    for j, size in enumerate(space.size):
        base = np.full(len(low), space.at[j])
        while True:
            apart = space.tree[base + low[:, j]] != space.tree[base + high[:, j]]
            if not apart.any():
                break
            base[apart] += size
        total += space.share[base + low[:, j]]
    return total
