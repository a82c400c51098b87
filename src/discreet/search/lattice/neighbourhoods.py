"""Better and better nodes of a lattice too large to be searched to the end: large neighbourhoods, restarts, crossing."""

from __future__ import annotations

import random
from collections.abc import Generator, Iterator, Sequence

from discreet.search.lattice.evaluator import Evaluator
from discreet.search.lattice.sweep import Sweep
from discreet.search.problem import Evaluation, Node, Problem

NEIGHBOURHOOD = 2000
"""A neighbourhood has as many free attributes as fit into a lattice of so many nodes."""
PATIENCE = 5
"""After so many neighbourhoods without a better node, the search begins elsewhere."""
ELITE = 8
"""So many ends of different starts are kept to be crossed."""
KICKED = 0.3
"""At most this share of the attributes is put to their top before a new descent from a good node."""
FROM_TOP = 3
"""Every so many starts are from the top."""
PREFERENCE = 3.0
"""A new start from the top prefers attributes up to so many times as much, or as little, as their gain says."""


class Neighbourhoods:
    """Walks from one local optimum to the next; chance decides where, always the same chance.

    A neighbourhood of a node are all nodes that differ from it in a few attributes at most, drawn by chance, by
    any number of levels. It is swept like a lattice of its own, so that most of its nodes are ruled out and its
    best one is certain (large neighbourhood search: Shaw 1998). Where several neighbourhoods in a row have
    nothing better, the node is crossed with the ends of other starts: attributes in which both agree stay, and of
    the others all levels between the two are swept (path relinking: Glover, Laguna and Martí 2000). New starts
    are in turn greedy descents from the top with preferences by chance (GRASP: Feo and Resende 1995), and from a good
    node with some attributes put to their top (iterated local search: Lourenço, Martin and Stützle 2003).
    """

    def __init__(self, problem: Problem, evaluator: Evaluator) -> None:
        self._problem = problem
        self._evaluator = evaluator
        self._random = random.Random(1)
        self._ends: list[Evaluation] = []

    def walk(self, start: Evaluation) -> Iterator[None]:
        """Goes on without end; yields after every neighbourhood."""
        starts = 0
        while True:
            end = yield from self._optimum(start)
            for other in list(self._ends):
                better = self._crossed(end, other)
                yield
                if better.rank() < min(end.rank(), other.rank()):
                    end = yield from self._optimum(better)
            self._keep(end)
            starts += 1
            start = self._from_top() if starts % FROM_TOP == 0 or not self._ends else self._from_end()

    def _optimum(self, here: Evaluation) -> Generator[None, None, Evaluation]:
        """The end of a walk to the best of one neighbourhood after another."""
        here = self._evaluator.improve(here)
        vain = 0
        while vain < PATIENCE:
            low, high = list(here.node), list(here.node)
            for j in self._free():
                low[j], high[j] = self._problem.lowest[j], self._problem.highest[j]
            there = self._swept(here, tuple(low), tuple(high))
            vain = 0 if there is not here else vain + 1
            here = there
            yield
        return here

    def _swept(self, start: Evaluation, low: Node, high: Node) -> Evaluation:
        """The best node between two that is better than ``start``, or that."""
        self._evaluator.stop_if_over()
        if low == high:
            return start
        return Sweep(self._problem, self._evaluator, low, high).best(start)

    def _free(self, among: Sequence[int] | None = None) -> list[int]:
        """Attributes by chance, as many as make a neighbourhood."""
        heights = self._problem.heights
        order = [j for j in (range(len(heights)) if among is None else among) if heights[j]]
        self._random.shuffle(order)
        free, nodes = [], 1
        for j in order:
            if nodes * (heights[j] + 1) <= NEIGHBOURHOOD:
                free.append(j)
                nodes *= heights[j] + 1
        return free

    def _crossed(self, end: Evaluation, other: Evaluation) -> Evaluation:
        """The best node between two ends: in attributes in which they differ, of those chance leaves some as in the better."""
        better, worse = sorted((end, other), key=Evaluation.rank)
        differ = [j for j, (a, b) in enumerate(zip(better.node, worse.node, strict=True)) if a != b]
        low, high = list(better.node), list(better.node)
        for j in self._free(differ):
            low[j], high[j] = sorted((better.node[j], worse.node[j]))
        return self._swept(better, tuple(low), tuple(high))

    def _keep(self, end: Evaluation) -> None:
        """Keep an end among the best, each node once."""
        ends = {kept.node: kept for kept in (*self._ends, end) if self._problem.fits(kept)}
        self._ends = sorted(ends.values(), key=Evaluation.rank)[:ELITE]

    def _from_top(self) -> Evaluation:
        """Where a descent from the top with preferences by chance ends."""
        heights = self._problem.highest
        preferences = [PREFERENCE ** self._random.uniform(-1.0, 1.0) for _ in heights]
        return self._evaluator.descend(heights, preferences)

    def _from_end(self) -> Evaluation:
        """Where a descent ends from a good node of which some attributes are put to their top."""
        heights = self._problem.highest
        node = self._random.choice(self._ends).node
        below = [j for j, (level, height) in enumerate(zip(node, heights, strict=True)) if level < height]
        most = max(2, round(KICKED * len(heights)))
        kicked = self._random.sample(below, min(len(below), self._random.randint(2, most)))
        return self._evaluator.descend(
            tuple(heights[j] if j in kicked else level for j, level in enumerate(node))
        )
