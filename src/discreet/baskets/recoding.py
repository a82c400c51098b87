"""Items that are generalised along a hierarchy until every set of a few of them is frequent enough."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property

import numpy as np
import pyarrow as pa

from discreet.arrays import distinct
from discreet.baskets.baskets import Baskets
from discreet.baskets.goal import BasketGoal
from discreet.baskets.itemsets import Itemsets
from discreet.table.domain import Domain
from discreet.table.hierarchies.hierarchy import Hierarchy, leaf_loss
from discreet.table.hierarchies.learn import learn
from discreet.types import BoolArray, FloatArray, Int32Array, IntArray, Progress


@dataclass(frozen=True)
class ItemCut:
    """The level of the hierarchy to which each item is generalised; nodes are disjoint."""

    hierarchy: Hierarchy
    levels: Int32Array = field(repr=False)

    @classmethod
    def uniform(cls, hierarchy: Hierarchy, level: int) -> ItemCut:
        """All items at one level."""
        return cls(hierarchy, np.full(hierarchy.leaves, level, dtype=np.int32))

    def parted(self, item: int) -> ItemCut:
        """With the node of an item replaced by the smaller ones below it."""
        level = int(self.levels[item])
        under = self._members(item, level)
        while level > 0 and np.array_equal(self._members(item, level), under):
            level -= 1
        return ItemCut(self.hierarchy, np.where(under, np.int32(level), self.levels).astype(np.int32))

    def _members(self, item: int, level: int) -> BoolArray:
        return np.asarray(self.hierarchy.nodes[level] == self.hierarchy.nodes[level][item])

    def nodes(self) -> tuple[Int32Array, tuple[str, ...]]:
        """The node of each item, and the labels of the nodes in their order."""
        labels = [
            self.hierarchy.labels[level][self.hierarchy.nodes[level][item]]
            for item, level in enumerate(self.levels)
        ]
        names = tuple(sorted(set(labels)))
        place = {name: at for at, name in enumerate(names)}
        return np.array([place[label] for label in labels], dtype=np.int32), names

    def losses(self) -> FloatArray:
        """What an occurrence of each item loses: (items under its node - 1) / (items - 1)."""
        shares = np.array(
            [np.count_nonzero(self._members(item, level)) for item, level in enumerate(self.levels)],
            dtype=np.float64,
        )
        return leaf_loss(shares / self.hierarchy.leaves, self.hierarchy.leaves)


@dataclass(frozen=True)
class RecodedBaskets:
    """Baskets with generalised items, some of them left out: ``gone`` of the occurrences in ``recoded``."""

    original: Baskets = field(repr=False)
    cut: ItemCut = field(repr=False)
    recoded: Baskets = field(repr=False)
    gone: BoolArray = field(repr=False)

    @property
    def released(self) -> Baskets:
        """What is left, basket by basket in the order of the original."""
        return self.recoded.without(self.gone)

    @cached_property
    def loss(self) -> float:
        """The certainty penalty of all occurrences of items in the original: 1 for what is left out.

        Xu et al., KDD 2006, over items as in Terrovitis, Mamoulis and Kalnis, VLDB 2008.
        """
        nodes, _ = self.cut.nodes()
        keys = self.recoded.owners * len(self.recoded.items) + self.recoded.codes
        asked = self.original.owners * len(self.recoded.items) + nodes[self.original.codes]
        left_out = self.gone[np.searchsorted(keys, asked)]
        lost = np.where(left_out, 1.0, self.cut.losses()[self.original.codes])
        return float(lost.mean()) if len(lost) else 0.0


def item_hierarchy(baskets: Baskets, given: Hierarchy | None) -> Hierarchy:
    """The hierarchy of the items in their order: the given one, or one learned from how frequent they are."""
    domain = Domain("item", pa.array(baskets.items, pa.string()))
    if given is None:
        return learn(domain, baskets.support(), type="nominal")
    given.ladder(domain)
    places = [given.leaf(item) for item in baskets.items]
    return Hierarchy.of("item", [given.rows()[place] for place in places if place is not None])


# ── generalising ──────────────────────────────────────────────────────────────────────────────────────


def generalised(baskets: Baskets, goal: BasketGoal, hierarchy: Hierarchy, tell: Progress) -> ItemCut:
    """The cut through a hierarchy below which every set of at most m nodes stands in k baskets.

    It starts at the lowest level at which that holds for all items, and parts nodes into those below them, the one that loses
    most first, as long as it still holds. On the groceries of Hahsler et al. this loses a little less than lifting nodes from
    below (the apriori-based algorithm of Terrovitis, Mamoulis and Kalnis, VLDB 2008), and takes fewer counts.
    """
    level = next(
        level
        for level in range(hierarchy.height + 1)
        if _holds(baskets, ItemCut.uniform(hierarchy, level), goal)
    )
    cut = ItemCut.uniform(hierarchy, level)
    occurrences = baskets.support().astype(np.float64)
    whole: set[str] = set()
    while True:
        nodes, labels = cut.nodes()
        lost = np.bincount(nodes, occurrences * cut.losses())
        for node in np.argsort(-lost, kind="stable"):
            if lost[node] <= 0 or labels[node] in whole:
                continue
            tell(f"generalising items ({len(labels)} groups)")
            under = np.flatnonzero(nodes == node)
            parted = cut.parted(int(under[0]))
            if _holds(baskets, parted, goal, under):
                cut = parted
                break
            whole.add(labels[node])
        else:
            return cut


def _holds(baskets: Baskets, cut: ItemCut, goal: BasketGoal, under: IntArray | None = None) -> bool:
    """Whether all sets are frequent enough; with some items only those sets that their nodes are in."""
    nodes, labels = cut.nodes()
    concerned = np.ones(len(labels), dtype=bool)
    if under is not None:
        concerned[:] = False
        concerned[nodes[under]] = True
        # Only baskets with one of them hold such a set.
        baskets = baskets.take(distinct(baskets.owners[np.isin(baskets.codes, under)]))
    recoded = baskets.recoded(nodes, labels)
    for size in recoded.lengths(goal.m):
        counted = Itemsets.of(recoded, size)
        rare = counted.members()[counted.supports < goal.k]
        if concerned[rare].any():
            return False
    return True
