"""The provably best full-domain generalisation with record suppression: every node is priced or ruled out."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from discreet.errors import InvalidParameter
from discreet.search.lattice.evaluator import Evaluator, LatticeResult, Stopped, limits
from discreet.search.lattice.sweep import Sweep
from discreet.search.problem import Problem
from discreet.sentences import Sentence
from discreet.types import Progress

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
            Sentence(
                "the lattice has {nodes:,} nodes, more than the {most:,} that are searched to the end",
                nodes=problem.nodes,
                most=LARGEST_LATTICE,
            ),
            remedy="use search_anytime, which gives the best in the time there is and how good it is at least",
        )
    say = progress or (lambda _: None)
    stop = limits(seconds, evaluations, cancelled)
    with Evaluator(problem, threads=threads, stop=stop) as evaluator:
        sweep = Sweep(problem, evaluator, problem.lowest, problem.highest)
        try:
            say("looking for a first solution")
            first = evaluator.descend(problem.highest)
            if problem.objective.monotone and not problem.objective.additive and not problem.bounded:
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
