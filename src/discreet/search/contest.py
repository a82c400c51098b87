"""Which search to run: the one method that is named, or a contest of those that suit the table."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from discreet.errors import GoalUnreachable
from discreet.search import clock
from discreet.search.cost import cost_of
from discreet.search.methods import (
    GROUPINGS,
    NODES,
    SearchResult,
    nested,
    of_groups,
    of_node,
    run,
    uniform_method,
)
from discreet.search.problem import Problem
from discreet.types import Progress, Shape

FREE_PART = 0.4
"""The share of the time in which free groups are formed."""
UNIFORM_PART = 0.4
"""The share of the time, and of the work, in which one level per attribute is looked for: always the same."""
CLUSTERING_PART = 0.2
"""Clustering takes part if it is done in this share of the time."""
CLUSTERED_PER_SECOND = 1e7
"""Classes times classes times attributes that clustering passes in a second: counted, so that every machine does the same."""

REASONS = {
    "uniform": "one grouping per column was asked for",
    "nested": "of the methods that were tried it costs least among those whose labels nest (of two that share a value one "
    "contains the other), which keeps counting simple",
    "free": "of the methods that were tried it costs least",
}
"""Why the winner of a contest won, by the shape that was asked for."""
MOST_DETAIL, SIMPLEST, WHOLE = "most detail", "simplest labels", "nobody left out"
FEW_SUPPRESSED = "few left out"
"""What loses less than a result that erases no category."""
TITLES = (MOST_DETAIL, SIMPLEST, WHOLE, FEW_SUPPRESSED)
"""What another result of a contest is better in than the chosen one."""
ALLOWED: dict[Shape, tuple[Shape, ...]] = {
    "uniform": ("uniform",),
    "nested": ("uniform", "nested"),
    "free": ("uniform", "nested", "free"),
}
"""The shapes that a wish for one admits: a single grouping per column is nested, and nested labels are free ones."""


def find(
    problem: Problem,
    *,
    method: str = "auto",
    shape: Shape = "nested",
    seconds: float = 30.0,
    progress: Progress | None = None,
) -> SearchResult:
    """The least change by a method, or by the best of several in a shape; ``seconds`` limits the search."""
    say = progress or (lambda _: None)
    if method != "auto":
        return run(problem, method, seconds=seconds, why="as the policy says", progress=say)
    return contest(problem, shape=shape, seconds=seconds, progress=say)


def contest(problem: Problem, *, shape: Shape, seconds: float, progress: Progress) -> SearchResult:
    """The least change in a shape; what other methods found that is better in some way are its ``others``.

    Free groups are formed first: the trees of the nested ones are grown from them. One level per attribute is sought
    in the last part of the time; such labels nest, so a nested result never costs more. Where no method meets the
    requirements, what the uniform search knows about the limits is raised.
    """
    end = clock.now() + (1.0 - UNIFORM_PART) * seconds
    free = GROUPINGS["mondrian"](problem, FREE_PART * seconds, progress)
    groups = [("mondrian", free), *(("local", each) for each in nested(problem, free, end, progress))]
    if _clusters_in(problem, CLUSTERING_PART * seconds):
        groups.append(("clustering", GROUPINGS["clustering"](problem, seconds, progress)))
    grouped = (of_groups(problem, recoding, name, "") for name, recoding in groups)
    results = [result for result in grouped if result is not None]
    uniform, unreachable = uniform_method(problem), None
    try:
        result = NODES[uniform](problem, UNIFORM_PART * seconds, progress)
        results.append(of_node(problem, result, uniform, ""))
    except GoalUnreachable as error:
        unreachable = error
    ranked = sorted(results, key=lambda result: _rank(result, problem))
    chosen = next((result for result in ranked if result.shape in ALLOWED[shape]), None)
    if chosen is None:
        raise unreachable or GoalUnreachable(
            "no change of the shape that was asked for meets the requirements within the limits",
            nearest="labels of another shape",
            remedy='ask for shape = "nested" or "free"',
        )
    return replace(chosen, why=REASONS[shape], others=tuple(_others(chosen, ranked)))


def _clusters_in(problem: Problem, seconds: float) -> bool:
    """Whether clustering is done in so many seconds."""
    passed = len(problem.classes) ** 2 * len(problem.ladders)
    return passed <= seconds * CLUSTERED_PER_SECOND


def _rank(result: SearchResult, problem: Problem) -> tuple[float, int, int]:
    """Order of preference: cost, measured alike for all, then suppressed records, then the simpler shape."""
    # What was grouped has been measured so already; a node of a lattice was priced.
    cost = result.cost if result.method in GROUPINGS else cost_of(result.recoding, problem).value
    return (round(cost, 9), result.recoding.suppressed_records, list(ALLOWED).index(result.shape))


def _others(chosen: SearchResult, ranked: Sequence[SearchResult]) -> list[SearchResult]:
    """What is better than the chosen one in some way: the least cost, simpler labels, nobody left out."""
    simpler = (result for result in ranked if result.shape == "uniform" != chosen.shape)
    suppressed = chosen.recoding.suppressed_records
    complete = [result for result in ranked if suppressed and not result.recoding.suppressed_records]
    # One of the shape that was asked for stands for itself; a freer one is the most detailed at best.
    whole = iter(sorted(complete, key=lambda result: result.shape not in ALLOWED[chosen.shape]))
    titles = {
        MOST_DETAIL: ranked[0] if ranked[0] is not chosen else None,
        SIMPLEST: next(simpler, None),
        WHOLE: next(whole, None),
    }
    others: dict[int, SearchResult] = {}
    for title, result in titles.items():
        if result is not None:
            others.setdefault(id(result), replace(result, why=title))
    return list(others.values())
