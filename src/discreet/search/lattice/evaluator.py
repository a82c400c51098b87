"""What searches of a lattice share: nodes evaluated once each, the best of them, and steps to better neighbours."""

from __future__ import annotations

import itertools
import math
import threading
from collections.abc import Callable, Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import partial
from types import TracebackType

from discreet.errors import InvalidParameter
from discreet.search import clock
from discreet.search.lattice.space import Grouper
from discreet.search.problem import Evaluation, Node, Problem
from discreet.search.suppression import Work

BATCH = 512
"""At most so many nodes are evaluated between two looks at whether to stop."""
BATCH_CLASSES = 2 << 20
"""And at most so many classes are grouped between them: fewer nodes of a large table."""
THREADED_CLASSES = 1 << 15
"""Fewer classes are grouped by one thread: two would wait for each other more than they work."""


@dataclass(frozen=True)
class LatticeResult:
    """What a search of a lattice knows in the end: the best node, how good it is known to be, and what it took.

    Not yet a transformation: ``SearchResult`` is, of whatever method, with the recoding that a node stands for.
    ``best`` is ``None`` if no node within the limit was found; ``nearest`` is the evaluated node that
    suppresses least. No node of the lattice costs less than ``bound``, whichever of its groups are suppressed.
    """

    best: Evaluation | None
    nodes: int
    evaluated: int
    bound: float
    nearest: Evaluation

    @property
    def optimal(self) -> bool:
        """Whether no other node can be better."""
        return self.best is not None and self.bound >= self.best.cost - 1e-11 * self.best.scale

    @property
    def gap(self) -> float:
        """How much of the best cost could be saved at most: (best - bound) / best; 0 is optimal.

        >>> best = Evaluation((0,), 0.5, 0.0, 0, 1, 0.0, 0, 0.0, scale=1.0)
        >>> LatticeResult(best, nodes=9, evaluated=1, bound=0.4, nearest=best).gap.__round__(6)
        0.2
        """
        if self.best is None:
            return 1.0
        if self.optimal or not self.best.cost:
            return 0.0
        return min(1.0, (self.best.cost - self.bound) / self.best.cost)


def limits(
    seconds: float | None, evaluations: int | None, cancelled: Callable[[], bool] | None
) -> Callable[[int], bool]:
    """Whether a search ends that began now and has evaluated so many nodes."""
    if evaluations is not None and evaluations < 1:
        raise InvalidParameter("evaluations must be at least 1", remedy="for example evaluations = 1000")
    end = math.inf if seconds is None else clock.now() + seconds

    def stop(evaluated: int) -> bool:
        return (
            (evaluations is not None and evaluated >= evaluations)
            or clock.now() >= end
            or (cancelled is not None and cancelled())
        )

    return stop


class Stopped(Exception):
    """A search was asked to end; raised inside searches only, which then return what they have."""


class Evaluator:
    """Evaluates nodes once each, on several threads, and keeps the best within the limit.

    What is evaluated, and so what is found, does not depend on the number of threads. ``stop`` is asked before every
    batch. Whoever leaves it early, by an interrupt say, waits for one node per thread at most.
    """

    def __init__(
        self, problem: Problem, *, threads: int = 2, stop: Callable[[int], bool] | None = None
    ) -> None:
        self.problem = problem
        self.known: dict[Node, Evaluation] = {}
        self.best: Evaluation | None = None
        self._stop = stop
        self._threads = max(1, threads) if len(problem.classes) >= THREADED_CLASSES else 1
        self._local = threading.local()
        self._pool: ThreadPoolExecutor | None = None
        self._left = threading.Event()
        self._batch = max(2 * self._threads, min(BATCH, BATCH_CLASSES // max(1, len(problem.classes))))
        problem.prepare()

    def __enter__(self) -> Evaluator:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._left.set()
        if self._pool is not None:
            self._pool.shutdown(cancel_futures=True)

    @property
    def best_cost(self) -> float:
        return self.best.cost if self.best is not None else float("inf")

    @property
    def nearest(self) -> Evaluation:
        """The node that suppresses least: the best there is when nothing stays within the limit."""
        return min(self.known.values(), key=lambda node: (node.suppressed, node.rank()))

    def result(self, bound: float) -> LatticeResult:
        """The result so far; with ``bound`` for all nodes that were not evaluated."""
        for node in self._unsettled():
            bound = min(bound, node.bound)
        bound = min(bound, self.best_cost)
        return LatticeResult(self.best, self.problem.nodes, len(self.known), bound, self.nearest)

    def _unsettled(self) -> list[Evaluation]:
        """Nodes that another choice of suppressed groups may make better than the best, after a closer look."""
        work = Work()
        open_nodes = [node for node in self.known.values() if not node.settled]
        for node in sorted(open_nodes, key=Evaluation.rank):
            if self._stop is not None and self._stop(len(self.known)):
                break
            if node.bound <= self.best_cost + self.problem.tolerance:
                self._keep(self.problem.refined(node, work))
        return [node for node in self.known.values() if not node.settled]

    def _keep(self, evaluation: Evaluation) -> None:
        """Remember a node, and that it is the best so far if it is."""
        self.known[evaluation.node] = evaluation
        takes_part = self.problem.fits(evaluation) and not evaluation.tentative
        if takes_part and (self.best is None or evaluation.rank() < self.best.rank()):
            self.best = evaluation

    def stop_if_over(self) -> None:
        """End the search if it was asked to: for whoever may find everything known already."""
        if self._stop is not None and self._stop(len(self.known)):
            raise Stopped

    def evaluate(self, nodes: Iterable[Node]) -> list[Evaluation]:
        """Price nodes that are not known yet, and keep the best within the limit."""
        wanted = list(nodes)
        new = sorted({node for node in wanted if node not in self.known})
        for at in range(0, len(new), self._batch):
            # The first evaluation always happens: there is something to return.
            if self.known:
                self.stop_if_over()
            self._add(new[at : at + self._batch])
        return [self.known[node] for node in wanted]

    def _add(self, new: list[Node]) -> None:
        """Price nodes, shared out among the threads, and remember them."""
        parts = [new]
        if self._threads > 1 and len(new) >= 2 * self._threads:
            share = -(-len(new) // self._threads)
            parts = [new[at : at + share] for at in range(0, len(new), share)]
        if len(parts) > 1:
            self._pool = self._pool or ThreadPoolExecutor(self._threads)
            priced = list(itertools.chain.from_iterable(self._pool.map(self._price, parts)))
        else:
            priced = self._price(new)
        for evaluation in priced:
            self._keep(evaluation)

    def _price(self, nodes: list[Node]) -> list[Evaluation]:
        grouper = getattr(self._local, "grouper", None)
        if grouper is None:
            grouper = self._local.grouper = Grouper(self.problem)
        priced = []
        for grouped in grouper.each(nodes):
            priced.append(self.problem.price(grouped))
            if self._left.is_set():
                break
        return priced

    def descend(self, start: Node, preferences: Sequence[float] | None = None) -> Evaluation:
        """From a node, always to the best finer neighbour, until all cost more; returns where that ends.

        With ``preferences``, one per attribute, what is gained in an attribute counts so many times.
        """
        [here] = self.evaluate([start])
        while True:
            fitting = list(filter(self.problem.fits, self.evaluate(self._finer(here.node))))
            if not fitting:
                return here
            best = min(fitting, key=Evaluation.rank)
            # Equal cost is no reason to stop: the largest of several losses often stays while others fall.
            if best.rank()[0] > here.rank()[0] and self.problem.fits(here):
                return here
            if preferences is not None and best.cost < here.cost:
                best = min(fitting, key=partial(_preferred, here, preferences))
            here = best

    def improve(self, start: Evaluation) -> Evaluation:
        """From a node to its best neighbour, or by one level more here and one less there, while that helps."""
        here = start
        heights = self.problem.highest
        while True:
            better = self._best_of([*self._finer(here.node), *coarser(here.node, heights)], here)
            if better is None:
                swaps = [
                    other
                    for node in coarser(here.node, heights)
                    for other in self._finer(node)
                    if other != here.node and self.problem.below(other) <= here.cost
                ]
                better = self._best_of(swaps, here)
            if better is None:
                return here
            here = better

    def _finer(self, node: Node) -> list[Node]:
        """The direct finer neighbours that may be chosen."""
        low = self.problem.lowest
        return [other for other in finer(node) if all(a >= b for a, b in zip(other, low, strict=True))]

    def _best_of(self, nodes: list[Node], here: Evaluation) -> Evaluation | None:
        """The best of some nodes within the limit, if it is better than ``here``."""
        fitting = list(filter(self.problem.fits, self.evaluate(nodes)))
        best = min(fitting, key=Evaluation.rank, default=None)
        if best is None or (self.problem.fits(here) and best.rank() >= here.rank()):
            return None
        return best


def _preferred(here: Evaluation, preferences: Sequence[float], there: Evaluation) -> tuple[float, Node]:
    """Order by what is gained from one node to a direct neighbour, times the preference for the attribute that differs."""
    [weight] = [w for w, a, b in zip(preferences, here.node, there.node, strict=True) if a != b]
    return (there.cost - here.cost) * weight, there.node


def finer(node: Node) -> list[Node]:
    """The direct finer neighbours.

    >>> finer((1, 0, 2))
    [(0, 0, 2), (1, 0, 1)]
    """
    return [(*node[:j], level - 1, *node[j + 1 :]) for j, level in enumerate(node) if level > 0]


def coarser(node: Node, heights: Node) -> list[Node]:
    """The direct coarser neighbours.

    >>> coarser((1, 0), (1, 1))
    [(1, 1)]
    """
    return [(*node[:j], level + 1, *node[j + 1 :]) for j, level in enumerate(node) if level < heights[j]]
