"""The provably best full-domain generalisation with record suppression: every node is priced or ruled out."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import numpy as np
from numpy.typing import NDArray

from discreet.errors import InvalidParameter
from discreet.search.lattice.evaluator import Evaluator, LatticeResult, Stopped, limits
from discreet.search.problem import Problem
from discreet.sentences import Sentence
from discreet.types import FloatArray, Progress

__all__ = ["LARGEST_LATTICE", "LatticeResult", "search", "walk"]

LARGEST_LATTICE = 5_000_000
"""Up to so many nodes the lattice is searched to the end; beyond, see ``anytime``."""


def search(
    problem: Problem,
    *,
    seconds: float | None = None,
    evaluations: int | None = None,
    threads: int = 2,
    progress: Progress | None = None,
    cancelled: Callable[[], bool] | None = None,
) -> LatticeResult:
    """The node of least cost whose suppression stays within the limit.

    Going down from the top layer by layer, a node is ruled out

    * by cost: what it costs at least exceeds the best cost so far. Before grouping, an objective knows a
      bound from the levels alone (``Pricing.below``). For requirements that a class meets as soon as one of
      its parts does (k-anonymity, distinct l-diversity …), what a coarse node must suppress every finer
      node must suppress too, so the largest such price seen above comes on top. And where an objective
      only grows upwards, evaluated finer nodes bound the coarser ones;
    * by tag: a coarser node already suppresses more than is allowed, for such requirements.

    Nothing else is ruled out: with other requirements or objectives more nodes are evaluated, and the
    result is as exact. Each objective proves its bounds where it is defined. A greedy descent gives the
    first "best so far". The order of evaluation does not change the result: ties are broken by suppressed
    records, then by levels. After ``seconds`` or ``evaluations``, or if ``cancelled`` says so, the best so far is
    returned with the bound that is proven until then. (Ancestors: Samarati 2001; Incognito, LeFevre et al. 2005; OLA, El Emam et al. 2009;
    Flash, Kohlmayer et al. 2012.)
    """
    if problem.nodes > LARGEST_LATTICE:
        raise InvalidParameter(
            f"the lattice has {problem.nodes:,} nodes, more than the {LARGEST_LATTICE:,} that are searched to the end",
            remedy="use search_anytime, which gives the best in the time there is and how good it is at least",
        )
    say = progress or (lambda _: None)
    stop = limits(seconds, evaluations, cancelled)
    with Evaluator(problem, threads=threads, stop=stop) as evaluator:
        sweep = _Sweep(problem, evaluator)
        try:
            say("looking for a first solution")
            first = evaluator.descend(problem.heights)
            if problem.objective.monotone and not problem.objective.additive:
                evaluator.improve(first)
                sweep.probe()
            for done in sweep.layers():
                say(
                    Sentence(
                        "searching {nodes:,} generalisations: {done:.0%} settled",
                        nodes=problem.nodes,
                        done=done / problem.nodes,
                    )
                )
        except Stopped:
            return evaluator.result(sweep.bound())
        return evaluator.result(evaluator.best_cost)


def walk(problem: Problem) -> LatticeResult:
    """Price every node of the lattice without ruling any out, on one thread: the yardstick of the benchmark.

    Each node is rolled up from a direct finer neighbour, depth first.
    """
    shape = tuple(height + 1 for height in problem.heights)
    with Evaluator(problem, threads=1) as evaluator:
        evaluator.evaluate(tuple(map(int, node)) for node in np.ndindex(shape))
        return evaluator.result(evaluator.best_cost)


class _Sweep:
    """The lattice as arrays: what is known about the cost of every node, layer by layer from the top."""

    def __init__(self, problem: Problem, evaluator: Evaluator) -> None:
        self._problem = problem
        self._evaluator = evaluator
        self._shape = tuple(height + 1 for height in problem.heights)
        self._below = _below(problem)
        self._floor = np.zeros(self._shape)
        self._least = np.zeros(self._shape)
        self._dead = np.zeros(self._shape, dtype=bool)
        layer = np.zeros(self._shape, dtype=np.int32)
        for axis in np.indices(self._shape, sparse=True):
            layer += axis
        order = np.argsort(-layer, axis=None, kind="stable")
        edges = np.flatnonzero(np.diff(layer.ravel()[order])) + 1
        self._layers = np.split(order, edges)
        self._done = 0
        self._from_below: FloatArray | None = None

    def probe(self) -> None:
        """Evaluate neighbours of the best node along each attribute: they bound all nodes that are coarser.

        Without suppression their cost is known then, and it only grows upwards.
        """
        best = self._evaluator.best
        if best is not None:
            self._evaluator.evaluate(
                (*best.node[:j], level, *best.node[j + 1 :])
                for j, size in enumerate(self._shape)
                for level in range(size)
            )
        discount = min(self._problem.suppression_weight, 1.0)
        known = np.zeros(self._shape)
        for node, evaluation in self._evaluator.known.items():
            above = tuple(slice(level, None) for level in node)
            known[above] = np.maximum(known[above], discount * evaluation.generalisation)
        self._from_below = known

    def _inherit(self, nodes: NDArray[np.intp]) -> None:
        """Hand down what the direct coarser neighbours say about some nodes."""
        floor, least, dead = self._floor.ravel(), self._least.ravel(), self._dead.ravel()
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
        floor, least = self._floor.ravel()[nodes], self._least.ravel()[nodes]
        bound = np.maximum(self._below.ravel()[nodes] + floor, least)
        if self._from_below is not None:
            bound = np.maximum(bound, self._from_below.ravel()[nodes])
        return np.where(self._dead.ravel()[nodes], np.inf, bound)

    def layers(self) -> Iterator[int]:
        """Price or rule out the nodes of one layer after another; yields for how many that is done."""
        settled = 0
        for members in self._layers:
            self._inherit(members)
            most = self._evaluator.best_cost + self._problem.tolerance
            at = np.unravel_index(members[self._bounds(members) <= most], self._shape)
            for priced in self._evaluator.evaluate(zip(*(axis.tolist() for axis in at), strict=True)):
                self._floor[priced.node] = max(self._floor[priced.node], priced.floor)
                self._least[priced.node] = max(self._least[priced.node], priced.least)
                self._dead[priced.node] |= priced.floor_suppressed > self._problem.allowed
            self._done += 1
            settled += len(members)
            yield settled

    def bound(self) -> float:
        """What every node costs at least that was neither evaluated nor ruled out."""
        lowest = np.inf
        for members in self._layers[self._done :]:
            self._inherit(members)
            lowest = min(lowest, float(self._bounds(members).min()))
        return lowest


def _below(problem: Problem) -> FloatArray:
    """The bound before grouping for every node of the lattice."""
    pricing = problem.pricing
    m = len(pricing.levels)
    total = np.zeros((1,) * m)
    for j, numbers in enumerate(pricing.levels):
        total = pricing.combine(total, numbers.reshape([-1 if i == j else 1 for i in range(m)]))
    return np.ascontiguousarray(pricing.below(total))
