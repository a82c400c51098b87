"""The best generalisation in the time there is, with a proof of how good it is at least, for any lattice."""

from __future__ import annotations

import heapq
import itertools
import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass

from discreet.search import clock
from discreet.search.lattice.bounds import PART_NODES, growing_bounds
from discreet.search.lattice.evaluator import Evaluator, LatticeResult, Stopped, limits
from discreet.search.lattice.exclusions import Exclusions
from discreet.search.lattice.neighbourhoods import Neighbourhoods
from discreet.search.lattice.search import LARGEST_LATTICE
from discreet.search.problem import Evaluation, Node, Problem
from discreet.sentences import Sentence
from discreet.types import Progress

BATCH = 8
"""Boxes that are split at a time: enough for several threads, and the same however many there are."""
DIVE_EVERY = 16
"""After so many batches, a greedy descent from the most promising box."""
WALK = 9
"""In a lattice without end, so many nodes are evaluated in neighbourhoods for each that splitting boxes takes,"""
WALK_STEPS = 50
"""in so many neighbourhoods at most after each batch."""
BOUND_PART = 1 / 2
"""The share of the time in which a lattice without end is bounded by its parts, or by nodes that suppress too much."""

TRIED = 1 / 3
"""The share of that in which each of the two is tried at most, before the better one goes on."""


def search_anytime(
    problem: Problem,
    *,
    seconds: float | None = 60.0,
    evaluations: int | None = None,
    threads: int = 2,
    progress: Progress | None = None,
    cancelled: Callable[[], bool] | None = None,
) -> LatticeResult:
    """The best node found within ``seconds`` or ``evaluations``, and a bound for all others.

    First solutions come from a greedy descent from the top and from exchanging levels between attributes.
    Then the lattice is split, best first, into boxes of all nodes between a lowest and a highest one. No
    node of a box costs less than

    * the objective's bound from levels alone, taken at the cheapest level of each attribute in the box,
      plus the price of what the box's highest node must suppress for requirements that a class meets as
      soon as a part of it does: every node below it must suppress that too;
    * for an objective that only grows upwards, the cost of the box's lowest node without suppression.

    A box is dropped if that exceeds the best so far, or if its highest node already suppresses too much for
    such requirements. The smallest bound of the boxes left bounds the whole lattice; once none is left the
    best is optimal. A lattice too large to be searched to the end is bounded by the optima of its parts, too,
    larger and larger ones (``growing_bounds``), and by nodes that suppress too much (``Exclusions``), for at most half the
    time; and most nodes are evaluated in large neighbourhoods of good ones, from ever new starts (``Neighbourhoods``). With ``seconds=None`` it runs until nothing is left, or for ``evaluations``: the result
    depends on nothing but the problem (they may be exceeded by a batch, and do not count those for the
    parts). Ending early keeps the best so far.
    (Branch and bound: Land and Doig 1960; on generalisation lattices: Bayardo and Agrawal 2005.)
    """
    end = math.inf if seconds is None else clock.now() + seconds
    stop = limits(seconds, evaluations, cancelled)
    say = progress or (lambda _: None)
    known = 0.0
    with Evaluator(problem, threads=threads, stop=stop) as evaluator:
        boxes = _Boxes(problem, evaluator)
        try:
            say("looking for a first solution")
            first = evaluator.descend(problem.highest)
            if problem.nodes > LARGEST_LATTICE:
                say("looking for a bound")
                soon = clock.now() + (end - clock.now()) * BOUND_PART
                for known in _endless_bounds(problem, soon, threads=threads, stop=lambda: stop(0)):
                    say(
                        Sentence(
                            "best cost so far {best_cost:.6g}; no generalisation costs less than {known:.6g}",
                            best_cost=evaluator.best_cost,
                            known=known,
                        )
                    )
            evaluator.improve(first)
            for box_bound in boxes.split(first):
                best, bound = evaluator.best_cost, max(known, box_bound)
                if math.isfinite(best):
                    say(
                        Sentence(
                            "best cost so far {best:.6g}; no generalisation costs less than {bound:.6g}",
                            best=best,
                            bound=min(bound, best),
                        )
                    )
                else:
                    say(
                        Sentence(
                            "{known:,} generalisations evaluated, none within the limit so far",
                            known=len(evaluator.known),
                        )
                    )
        except Stopped:
            return evaluator.result(max(known, boxes.bound))
        return evaluator.result(evaluator.best_cost)


def _endless_bounds(
    problem: Problem, soon: float, *, threads: int, stop: Callable[[], bool]
) -> Iterator[float]:
    """Rising bounds for a lattice without end until ``soon``: both ways are tried, and the better one goes on."""
    limited, begun = math.isfinite(soon), clock.now()
    end = begun + (soon - begun) * TRIED
    exclusions = Exclusions(problem)
    ways = (
        exclusions.bounds(lambda: end - clock.now() if limited else math.inf),
        growing_bounds(
            problem,
            most=LARGEST_LATTICE if limited else PART_NODES,
            threads=threads,
            cancelled=lambda: clock.now() >= soon or stop(),
        ),
    )
    best, reached = 0.0, [0.0, 0.0]
    for number, way in enumerate(ways):
        for bound in way:
            reached[number] = bound
            best = max(best, bound)
            yield best
            if stop() or clock.now() >= end or (exclusions.whole_solutions and not number):
                break
        # The parts are tried for as long as one whole solution took, or as there was for it.
        end = 2 * clock.now() - begun
    end = soon
    for way in ways if reached[0] > reached[1] else ways[::-1]:
        for bound in way:
            best = max(best, bound)
            yield best
            if stop():
                return


@dataclass(frozen=True, order=True)
class _Box:
    """All nodes from ``low`` to ``high``; ``bound`` is what each of them costs at least."""

    bound: float
    high: Node
    low: Node


class _Boxes:
    """The part of the lattice that is neither evaluated nor ruled out."""

    def __init__(self, problem: Problem, evaluator: Evaluator) -> None:
        self._problem = problem
        self._evaluator = evaluator
        self._from_below = problem.objective.monotone and not problem.objective.additive
        self._discount = min(problem.suppression_weight, 1.0)
        whole = problem.least_between(problem.lowest, problem.highest)
        self._heap = [_Box(whole, problem.highest, problem.lowest)]
        self._taken: list[_Box] = []
        self._endless = problem.nodes > LARGEST_LATTICE

    @property
    def bound(self) -> float:
        """What every node in the boxes costs at least."""
        heads = [*self._heap[:1], *self._taken]
        return min((box.bound for box in heads), default=math.inf)

    def split(self, first: Evaluation) -> Iterator[float]:
        """Split the most promising boxes until none is left; yields the bound after every batch."""
        batch = 0
        walk = Neighbourhoods(self._problem, self._evaluator).walk(first)
        while self._heap:
            limit = self._evaluator.best_cost + self._problem.tolerance
            while self._heap and len(self._taken) < BATCH:
                box = heapq.heappop(self._heap)
                if box.bound > limit:
                    # The heap is ordered: all others are at least as dear.
                    self._heap.clear()
                else:
                    self._taken.append(box)
            before, known = self._evaluator.best, len(self._evaluator.known)
            parts = [part for box in self._taken for part in self._halves(box)]
            self._queue(parts)
            self._taken.clear()
            batch += 1
            if self._endless:
                self._walk(walk, (1 + WALK) * len(self._evaluator.known) - WALK * known)
            elif self._evaluator.best is not None and self._evaluator.best is not before:
                self._evaluator.improve(self._evaluator.best)
            elif batch % DIVE_EVERY == 0 and self._heap:
                self._evaluator.improve(self._evaluator.descend(self._heap[0].high))
            yield self.bound

    def _walk(self, walk: Iterator[None], evaluated: int) -> None:
        """Look for better nodes until so many are evaluated in all."""
        for _ in itertools.islice(walk, WALK_STEPS):
            if len(self._evaluator.known) >= evaluated:
                return

    def _queue(self, boxes: list[_Box]) -> None:
        """Evaluate the ends of boxes, and keep those that may hold something better."""
        ends = [box.high for box in boxes]
        if self._from_below:
            ends += [box.low for box in boxes]
        known = dict(zip(ends, self._evaluator.evaluate(ends), strict=True))
        for box in boxes:
            high = known[box.high]
            bound = max(box.bound, self._problem.least_between(box.low, box.high) + high.floor, high.least)
            if self._from_below:
                bound = max(bound, self._discount * known[box.low].generalisation)
            alive = high.floor_suppressed <= self._problem.allowed
            if alive and bound <= self._evaluator.best_cost + self._problem.tolerance and box.low != box.high:
                heapq.heappush(self._heap, _Box(bound, box.high, box.low))

    def _halves(self, box: _Box) -> list[_Box]:
        """A box in two, by the attribute whose upper half is dearest; one that is a single node as it is."""
        if box.low == box.high:
            return [box]
        levels = self._problem.pricing.levels
        best, gain = -1, (-1.0, -1)
        for j, (low, high) in enumerate(zip(box.low, box.high, strict=True)):
            if low < high:
                middle = (low + high) // 2
                numbers = levels[j]
                rise = float(numbers[middle + 1 : high + 1].min() - numbers[low : high + 1].min())
                if (rise, high - low) > gain:
                    best, gain = j, (rise, high - low)
        middle = (box.low[best] + box.high[best]) // 2
        return [
            _Box(box.bound, _with(box.high, best, middle), box.low),
            _Box(box.bound, box.high, _with(box.low, best, middle + 1)),
        ]


def _with(node: Node, attribute: int, level: int) -> Node:
    return (*node[:attribute], level, *node[attribute + 1 :])
