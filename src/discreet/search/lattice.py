"""The provably best full-domain generalisation with record suppression: every node is priced or ruled out."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from discreet.search.problem import Evaluation, Node, Problem, Scratch

LARGEST_LATTICE = 5_000_000
"""Up to so many nodes the lattice is searched to the end; beyond, see ``anytime``."""
TOLERANCE = 1e-12


@dataclass(frozen=True)
class Found:
    """The best node, how good it is known to be, and what it took."""

    best: Evaluation | None
    nodes: int
    evaluated: int
    bound: float
    nearest: Evaluation

    @property
    def optimal(self) -> bool:
        """Whether no other node can be better."""
        return self.best is not None and self.bound >= self.best.cost - TOLERANCE


def search(problem: Problem, *, threads: int = 2, progress: Callable[[str], None] | None = None) -> Found:
    """The node of least cost whose suppression stays within the limit.

    Every node has a cost for generalising that only grows upwards (towards coarser nodes), and a price for
    suppression. For requirements that a class meets as soon as one of its parts does (k-anonymity,
    distinct l-diversity …), what a coarse node must suppress every finer node must suppress too. So, going
    down from the top layer by layer, a node is ruled out

    * by cost: its own cost of generalising plus the largest price of suppression seen above it exceeds the
      best cost so far;
    * by tag: a coarser node already suppresses more than is allowed.

    A greedy descent gives the first "best so far". The order of evaluation does not change the result:
    ties are broken by suppressed records, then by levels. (Ancestors: Samarati 2001; Incognito, LeFevre et
    al. 2005; OLA, El Emam et al. 2009; Flash, Kohlmayer et al. 2012.)
    """
    run = _Run(problem, threads)
    say = progress or (lambda _: None)
    say("looking for a first solution")
    run.descend()
    shape = tuple(height + 1 for height in problem.heights)
    cost = _lattice_costs(problem)
    floor = np.zeros(shape)
    dead = np.zeros(shape, dtype=bool)
    layer = sum(np.indices(shape, sparse=True), start=np.zeros((1,) * len(shape), dtype=np.int64))
    layer = np.broadcast_to(layer, shape)
    order = np.argsort(-layer, axis=None, kind="stable")
    bounds = np.flatnonzero(np.diff(layer.ravel()[order])) + 1
    done = 0
    for members in np.split(order, bounds):
        at = np.unravel_index(members, shape)
        above_floor, above_dead = _from_above(at, shape, floor, dead)
        floor[at], dead[at] = above_floor, above_dead
        open_ = ~above_dead & (cost[at] + above_floor <= run.best_cost + TOLERANCE)
        nodes = [tuple(int(axis[i]) for axis in at) for i in np.flatnonzero(open_)]
        for found in run.evaluate_all(nodes):
            floor[found.node] = max(floor[found.node], found.floor)
            if found.floor_suppressed > problem.allowed:
                dead[found.node] = True
        done += len(members)
        say(f"searching {problem.nodes:,} generalisations: {done / problem.nodes:.0%} settled")
    best = run.best
    return Found(
        best=best,
        nodes=problem.nodes,
        evaluated=len(run.known),
        bound=best.cost if best is not None else float("inf"),
        nearest=run.nearest,
    )


def walk(problem: Problem) -> Found:
    """Price every node of the lattice without ruling any out: the yardstick of the benchmark."""
    run = _Run(problem, threads=1)
    shape = tuple(height + 1 for height in problem.heights)
    for _ in run.evaluate_all(tuple(map(int, node)) for node in np.ndindex(shape)):
        continue
    best = run.best
    return Found(best, problem.nodes, len(run.known), best.cost if best else float("inf"), run.nearest)


def _lattice_costs(problem: Problem) -> NDArray[np.float64]:
    """The cost of generalising for every node: a sum of one number per attribute and level."""
    m = len(problem.heights)
    total = np.zeros((1,) * m)
    for j, costs in enumerate(problem.level_costs):
        total = total + costs.reshape([-1 if i == j else 1 for i in range(m)])
    return np.asarray(total)


def _from_above(
    at: tuple[NDArray[np.intp], ...],
    shape: tuple[int, ...],
    floor: NDArray[np.float64],
    dead: NDArray[np.bool_],
) -> tuple[NDArray[np.float64], NDArray[np.bool_]]:
    """What the direct coarser neighbours of some nodes say about them."""
    price = np.zeros(len(at[0]))
    gone = np.zeros(len(at[0]), dtype=bool)
    for j, height in enumerate(shape):
        inside = at[j] + 1 < height
        above = tuple(axis[inside] + (i == j) for i, axis in enumerate(at))
        price[inside] = np.maximum(price[inside], floor[above])
        gone[inside] |= dead[above]
    return price, gone


class _Run:
    """What one search knows so far; nodes of a layer are priced on several threads."""

    def __init__(self, problem: Problem, threads: int) -> None:
        self.problem = problem
        self.known: dict[Node, Evaluation] = {}
        self.best: Evaluation | None = None
        self._threads = max(1, threads)
        self._local = threading.local()
        # Arrays that are made on first use are made before threads share them.
        _ = (
            problem.codes,
            problem.costs,
            problem.suppressed_cost,
            problem.level_costs,
            problem.classes.records,
        )

    @property
    def best_cost(self) -> float:
        return self.best.cost if self.best is not None else float("inf")

    @property
    def nearest(self) -> Evaluation:
        """The node that suppresses least: the best there is when nothing stays within the limit."""
        return min(self.known.values(), key=lambda one: (one.suppressed, one.rank()))

    def _price(self, node: Node) -> Evaluation:
        scratch = getattr(self._local, "scratch", None)
        if scratch is None:
            scratch = self._local.scratch = Scratch(self.problem)
        return self.problem.evaluate(node, scratch)

    def evaluate_all(self, nodes: Iterable[Node]) -> list[Evaluation]:
        """Price nodes that are not known yet, and keep the best within the limit."""
        wanted = list(nodes)
        new = [node for node in wanted if node not in self.known]
        if len(new) > 1 and self._threads > 1:
            with ThreadPoolExecutor(self._threads) as pool:
                found = list(pool.map(self._price, new))
        else:
            found = [self._price(node) for node in new]
        for one in found:
            self.known[one.node] = one
            if one.suppressed <= self.problem.allowed and (
                self.best is None or one.rank() < self.best.rank()
            ):
                self.best = one
        return [self.known[node] for node in wanted]

    def descend(self) -> None:
        """From the top, always to the best finer neighbour, until none is better."""
        node: Node = self.problem.heights
        [here] = self.evaluate_all([node])
        while True:
            finer = [
                tuple(level - (i == j) for i, level in enumerate(node)) for j, at in enumerate(node) if at > 0
            ]
            fitting = [one for one in self.evaluate_all(finer) if one.suppressed <= self.problem.allowed]
            if not fitting:
                return
            best = min(fitting, key=Evaluation.rank)
            if best.rank() >= here.rank() and here.suppressed <= self.problem.allowed:
                return
            node, here = best.node, best
