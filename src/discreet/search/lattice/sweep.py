"""A stretch of the lattice, layer by layer from its top: every node is priced or ruled out."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from discreet.search.lattice.evaluator import Evaluator
from discreet.search.problem import Evaluation, Node, Problem
from discreet.types import FloatArray


class Sweep:
    """All nodes from ``low`` to ``high`` as arrays: what is known about the cost of each.

    Only attributes that differ between the two have an axis.
    """

    def __init__(self, problem: Problem, evaluator: Evaluator, low: Node, high: Node) -> None:
        self._problem = problem
        self._evaluator = evaluator
        self._low = low
        self._free = [j for j, (a, b) in enumerate(zip(low, high, strict=True)) if a < b]
        self._shape = tuple(high[j] - low[j] + 1 for j in self._free)
        self._below = self._least_costs()
        self._floor = np.zeros(self._below.size)
        self._least = np.zeros(self._below.size)
        self._dead = np.zeros(self._below.size, dtype=bool)
        layer = np.zeros(self._shape, dtype=np.int32)
        for axis in np.indices(self._shape, sparse=True):
            layer += axis
        order = np.argsort(-layer, axis=None, kind="stable")
        edges = np.flatnonzero(np.diff(layer.ravel()[order])) + 1
        self._layers = np.split(order, edges)
        self._done = 0
        self._from_below: FloatArray | None = None

    def _least_costs(self) -> FloatArray:
        """The bound before grouping for every node."""
        pricing = self._problem.pricing
        fixed = [pricing.levels[j][level] for j, level in enumerate(self._low) if j not in self._free]
        total = np.full((1,) * len(self._shape), pricing.combine.reduce(np.array([0.0, *fixed])))
        for axis, (j, size) in enumerate(zip(self._free, self._shape, strict=True)):
            numbers = pricing.levels[j][self._low[j] : self._low[j] + size]
            total = pricing.combine(
                total, numbers.reshape([-1 if i == axis else 1 for i in range(total.ndim)])
            )
        return np.ascontiguousarray(pricing.below(total)).ravel()

    def _nodes(self, numbers: NDArray[np.intp]) -> Iterator[Node]:
        """The nodes with some numbers."""
        nodes = np.tile(np.array(self._low, dtype=np.int64), (len(numbers), 1))
        for j, size in zip(reversed(self._free), reversed(self._shape), strict=True):
            numbers, levels = np.divmod(numbers, size)
            nodes[:, j] += levels
        return map(tuple, nodes.tolist())

    def probe(self) -> None:
        """Evaluate neighbours of the best node along each attribute: they bound all nodes that are coarser.

        Without suppression their cost is known then, and it only grows upwards. Of the whole lattice only.
        """
        best = self._evaluator.best
        if best is not None:
            self._evaluator.evaluate(
                (*best.node[:j], level, *best.node[j + 1 :])
                for j, size in zip(self._free, self._shape, strict=True)
                for level in range(size)
            )
        discount = min(self._problem.suppression_weight, 1.0)
        known = np.zeros(self._shape)
        for node, evaluation in self._evaluator.known.items():
            above = tuple(slice(node[j], None) for j in self._free)
            known[above] = np.maximum(known[above], discount * evaluation.generalisation)
        self._from_below = known.ravel()

    def _inherit(self, nodes: NDArray[np.intp]) -> None:
        """Hand down what the direct coarser neighbours say about some nodes."""
        floor, least, dead = self._floor, self._least, self._dead
        step = 1
        # By their numbers: an array with an axis per attribute takes many times as long to reach into.
        for size in reversed(self._shape):
            here = nodes[nodes // step % size + 1 < size]
            above = here + step
            floor[here] = np.maximum(floor[here], floor[above])
            least[here] = np.maximum(least[here], least[above])
            dead[here] |= dead[above]
            step *= size

    def _bounds(self, nodes: NDArray[np.intp]) -> FloatArray:
        """What some nodes cost at least; infinite where they suppress too much."""
        bound = np.maximum(self._below[nodes] + self._floor[nodes], self._least[nodes])
        if self._from_below is not None:
            bound = np.maximum(bound, self._from_below[nodes])
        return np.where(self._dead[nodes], np.inf, bound)

    def layers(self) -> Iterator[int]:
        """Price or rule out the nodes of one layer after another; yields for how many that is done."""
        settled = 0
        for members in self._layers:
            self._price(members, self._evaluator.best_cost + self._problem.tolerance)
            self._done += 1
            settled += len(members)
            yield settled

    def best(self, start: Evaluation) -> Evaluation:
        """The best of the nodes within the limit, if one is cheaper than ``start``, else that."""
        problem = self._problem
        best = start
        for members in self._layers:
            most = best.cost - problem.tolerance if problem.fits(best) else np.inf
            for priced in self._price(members, most):
                better = not problem.fits(best) or priced.rank() < best.rank()
                if problem.fits(priced) and not priced.tentative and better:
                    best = priced
        return best

    def _price(self, members: NDArray[np.intp], most: float) -> list[Evaluation]:
        """Evaluate those nodes of a layer that may cost so much at most."""
        self._inherit(members)
        wanted = members[self._bounds(members) <= most]
        priced = self._evaluator.evaluate(self._nodes(wanted))
        for number, evaluation in zip(wanted.tolist(), priced, strict=True):
            self._floor[number] = max(self._floor[number], evaluation.floor)
            self._least[number] = max(self._least[number], evaluation.least)
            self._dead[number] |= evaluation.floor_suppressed > self._problem.allowed
        return priced

    def bound(self) -> float:
        """What every node costs at least that was neither evaluated nor ruled out."""
        lowest = np.inf
        for members in self._layers[self._done :]:
            self._inherit(members)
            lowest = min(lowest, float(self._bounds(members).min()))
        return lowest
