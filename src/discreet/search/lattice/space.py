"""Groups of classes under the nodes of a lattice, each made from those of a finer node."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from discreet.classes import EquivalenceClasses
from discreet.classes.merged import MergedClasses
from discreet.search.lattice.kernels import follow, regroup
from discreet.table.domain import Domain
from discreet.types import Int32Array, IntArray
from discreet.utility.objectives.objective import Grouping

if TYPE_CHECKING:
    from discreet.search.problem import Node, Problem

KEPT_BYTES = 32 << 20
"""So much may be spent on grouped nodes that are kept as starting points, per thread."""
KEPT_NODES = 32
"""And no more than so many: each is compared with every new start."""


@dataclass(frozen=True)
class NodeGroups:
    """The groups under one node. Histograms are worked out when asked for, from those of the finer node."""

    node: Node
    owner: Int32Array = field(repr=False)
    first: Int32Array = field(repr=False)
    sizes: IntArray = field(repr=False)
    _problem: Problem = field(repr=False)
    _merge: Callable[[], EquivalenceClasses] = field(repr=False)

    def __len__(self) -> int:
        return len(self.first)

    @cached_property
    def merged(self) -> EquivalenceClasses:
        """The groups as classes, without quasi-identifier values."""
        merged, population = self._merge(), self._problem.population
        if population is not None:
            merged.__dict__["class_population"] = population.people(self.node, self.first)
        return merged

    @cached_property
    def written(self) -> tuple[EquivalenceClasses, NDArray[np.intp]]:
        """The groups as classes with their quasi-identifier values, and which group each class is."""
        problem = self._problem
        rows = problem.rows(self.node)
        domains = [
            Domain(ladder.name, pa.array(ladder.steps[level].labels, pa.string()))
            for ladder, level in zip(problem.ladders, self.node, strict=True)
        ]
        classes = problem.classes.recoded(domains, [problem.codes[row] for row in rows])
        # Classes are ordered by their codes, first attribute first.
        return classes, np.lexsort(tuple(problem.codes[row][self.first] for row in reversed(rows)))

    @property
    def nbytes(self) -> int:
        return self.owner.nbytes + self.first.nbytes + self.sizes.nbytes

    def grouping(self) -> Grouping:
        """What objectives read."""
        return Grouping(
            np.array(self.node, dtype=np.int64),
            self.owner,
            self.first,
            self.sizes,
            lambda name: self.merged.histogram(name),
        )


class Grouper:
    """Groups classes under nodes, with buffers and a few grouped nodes to start from; one per thread."""

    def __init__(self, problem: Problem) -> None:
        self._problem = problem
        size = len(problem.classes)
        self._slots = np.empty(slots_for(size), dtype=np.int32)
        self._keys = np.empty(size, dtype=np.int64)
        self._first = np.empty(size, dtype=np.int32)
        self._sizes = np.empty(size, dtype=np.int64)
        self._kept: dict[Node, NodeGroups] = {}
        every = np.arange(size, dtype=np.int32)
        bottom = (0,) * len(problem.heights)
        self._bottom = NodeGroups(
            bottom, every, every, problem.classes.records, problem, lambda: problem.classes
        )

    def at(self, node: Node, start: NodeGroups | None = None) -> NodeGroups:
        """The groups under a node, from ``start`` (which is finer) or the smallest finer one at hand."""
        finer = start or self._nearest(node)
        if finer.node == node:
            return finer
        problem = self._problem
        link = np.empty(len(finer), dtype=np.int32)
        groups = int(
            regroup(
                problem.codes,
                problem.rows(node),
                problem.strides(node),
                finer.first,
                finer.sizes,
                self._keys,
                self._slots[: slots_for(len(finer))],
                self._first,
                self._sizes,
                link,
            )
        )
        if finer is self._bottom:
            owner = link
        else:
            owner = np.empty_like(self._bottom.owner)
            follow(link, finer.owner, owner)
        sizes = self._sizes[:groups].copy()

        def merge() -> EquivalenceClasses:
            merged = MergedClasses.of(finer.merged, link, groups)
            # Known already: spares counting them again.
            merged.__dict__["records"] = sizes
            return merged

        return NodeGroups(node, owner, self._first[:groups].copy(), sizes, problem, merge)

    def each(self, nodes: Sequence[Node]) -> Iterator[NodeGroups]:
        """The groups under many nodes, every one from as coarse a start as the others allow.

        Depth first: the nodes are split by the level of one attribute after another, and each part starts
        from the node that is finer than all of its own. Only one grouped node per split is held at a time.
        """
        if not nodes:
            return
        start = self._keep(self.at(_meet(nodes)))
        yield from self._each(list(nodes), start)

    def _each(self, nodes: list[Node], start: NodeGroups) -> Iterator[NodeGroups]:
        stack = [(nodes, start)]
        while stack:
            part, finer = stack.pop()
            here = self.at(_meet(part), finer)
            rest = [node for node in part if node != here.node]
            if len(rest) < len(part):
                yield here
            if rest:
                # Splitting where most nodes go up at once lets the most nodes start from a coarse one.
                up = (np.array(rest) > here.node).sum(axis=0)
                j = int(np.argmax(up))
                above = [node for node in rest if node[j] > here.node[j]]
                level = [node for node in rest if node[j] == here.node[j]]
                stack += [(some, here) for some in (level, above) if some]

    def _nearest(self, node: Node) -> NodeGroups:
        fitting = [g for g in self._kept.values() if all(a <= b for a, b in zip(g.node, node, strict=True))]
        return min(fitting, key=len, default=self._bottom)

    def _keep(self, grouped: NodeGroups) -> NodeGroups:
        """Remember a node as a starting point, if it is much coarser; the oldest are forgotten first."""
        if grouped.node in self._kept or len(grouped) > 0.7 * len(self._bottom):
            return grouped
        # On its own: what it was made from must not live on with it.
        classes, owner, groups = self._problem.classes, grouped.owner, len(grouped)
        alone = replace(grouped, _merge=lambda: MergedClasses.of(classes, owner, groups))
        self._kept[alone.node] = alone
        while len(self._kept) > 1 and (
            len(self._kept) > KEPT_NODES or sum(g.nbytes for g in self._kept.values()) > KEPT_BYTES
        ):
            del self._kept[next(iter(self._kept))]
        return alone


def slots_for(size: int) -> int:
    """How many slots a table for ``size`` groups has: a power of two at least twice as many."""
    return 1 << max(4, (2 * size - 1).bit_length())


def _meet(nodes: Sequence[Node]) -> Node:
    """The coarsest node that is finer than all of them."""
    return tuple(map(min, zip(*nodes, strict=True)))
