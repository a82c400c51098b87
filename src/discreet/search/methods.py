"""Which search to run: every method behind one call, and ``auto``, which says why it chose."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace

import numpy as np

from discreet.classes.part import PartOfTable
from discreet.errors import GoalUnreachable
from discreet.privacy import KAnonymity
from discreet.search.clusters.k_member import k_member
from discreet.search.clusters.microaggregation import microaggregate
from discreet.search.cost import cost_of
from discreet.search.kept import joined, part_by_part
from discreet.search.lattice.anytime import search_anytime
from discreet.search.lattice.search import LARGEST_LATTICE, LatticeResult, search
from discreet.search.lattice.subtree import subtree
from discreet.search.local.finer import finely
from discreet.search.local.search import local_recoding
from discreet.search.mondrian.search import mondrian
from discreet.search.problem import Problem
from discreet.search.suppression import consistent
from discreet.transform.recoding import Recoding
from discreet.types import Progress
from discreet.utility.objectives.aggregates import CellObjective
from discreet.utility.objectives.objective import Objective
from discreet.utility.objectives.registry import LOSS


@dataclass(frozen=True)
class SearchResult:
    """The recoding that a search of any method ended with, why by this method, and how good it is known to be.

    ``LatticeResult`` is what a search of the lattice knows before: a node, the proof, and the effort. Methods
    that prove nothing have neither, and their ``bound`` is ``None``. ``cost`` always is that of the problem's
    objective, as a comparison measures it, or NaN, and ``undefined`` says why. ``minimised`` is what the method
    steered by, which is another loss where it cannot follow the objective.
    """

    recoding: Recoding = field(repr=False)
    method: str
    why: str
    cost: float
    bound: float | None
    optimal: bool
    minimised: str = ""
    undefined: str = ""

    @property
    def gap(self) -> float | None:
        """How much better an unknown solution could at most be, as a share of the cost."""
        if self.bound is None or not self.cost:
            return None
        return max(0.0, (self.cost - self.bound) / self.cost)


def find(
    problem: Problem, *, method: str = "auto", seconds: float = 60.0, progress: Progress | None = None
) -> SearchResult:
    """The least change by a method; ``seconds`` limits searches that can stop early."""
    why = "as the policy says"
    if method == "auto":
        method, why = choose(problem)
    say = progress or (lambda _: None)
    result = METHODS[method](problem, seconds, say)
    if not isinstance(result, Recoding):
        return _of_node(problem, result, method, why)
    # The method compared its groups with all records; which of them hold in the release is decided here.
    recoding = consistent(result, problem.models, problem.allowed)
    if recoding.kept.any() and recoding.suppressed_records <= problem.allowed:
        cost = cost_of(recoding, problem)
        minimised = minimised_by(method, problem.objective)
        return SearchResult(recoding, method, why, cost.value, None, False, minimised, cost.note)
    uniform, _ = choose(problem)
    why = f"the groups of {method} do not meet the requirements within the limit, so values are generalised uniformly"
    return _of_node(problem, NODES[uniform](problem, seconds, say), uniform, why)


def choose(problem: Problem) -> tuple[str, str]:
    """The method for a problem, and why: the provable optimum where the lattice can be searched to its end."""
    if problem.nodes <= LARGEST_LATTICE:
        return (
            "optimal",
            f"{problem.nodes:,} generalisations can be searched to the end, so the best is provable",
        )
    return "anytime", f"{problem.nodes:.1e} generalisations are too many to search to the end"


def minimised_by(method: str, objective: Objective) -> str:
    """What a method steers by: the objective where it can, else the leaf-share loss or its own distance.

    >>> from discreet.utility.objectives.ambiguity import Ambiguity
    >>> [minimised_by(method, Ambiguity()) for method in ("subtree", "local", "microaggregation")]
    ['ambiguity', 'loss', 'squared distance']
    """
    if method in ("optimal", "anytime", "subtree"):
        return objective.name
    if method == "local" and isinstance(objective, CellObjective):
        return objective.cost.name  # of several ways to sum up it knows the plain sum
    return "squared distance" if method == "microaggregation" else LOSS.name


def _local(problem: Problem, seconds: float, say: Progress) -> Recoding:
    """Local recoding, part by part, and never worse than the generalisation by subtrees that it could take."""

    def search_part(part: Problem) -> Recoding:
        # Of several parts none knows how much of the limit the others use.
        alone = part if part is fine else replace(part, suppression_limit=0.0)
        return local_recoding(alone, progress=say)

    # One tree for all parts, so that the labels of a column nest.
    fine = finely(problem)
    less_free = subtree(problem, seconds=seconds / 2, progress=say)
    own, given = (
        consistent(recoding, problem.models, problem.allowed)
        for recoding in (part_by_part(fine, search_part), replace(less_free, method="local recoding"))
    )
    if _rank(own, problem) <= _rank(given, problem):
        return own
    if not given.kept.any() or not all(ladder.height for ladder in problem.ladders):
        return given
    refined = consistent(_refined(fine, given, say), problem.models, problem.allowed)
    return min(given, refined, key=lambda recoding: _rank(recoding, problem))


def _refined(problem: Problem, start: Recoding, say: Progress) -> Recoding:
    """Local recoding of what a recoding keeps, from its groups on; what it suppresses stays so."""
    at = np.flatnonzero(start.kept)
    _, groups = np.unique(start.groups()[at], return_inverse=True)
    part = replace(problem, classes=PartOfTable.of(problem.classes, at), suppression_limit=0.0)
    return joined(problem, [(at, local_recoding(part, start=groups.astype(np.int64), progress=say))])


def _rank(recoding: Recoding, problem: Problem) -> tuple[bool, float, int]:
    """Order of preference: something within the limit, then by cost, then by what is suppressed."""
    suppressed = recoding.suppressed_records
    none = suppressed > problem.allowed or not recoding.kept.any()
    return none, cost_of(recoding, problem).value, suppressed


Weighting = Callable[[Problem], Mapping[str, float] | None]
"""How much the attributes of a problem matter to a method."""


def _loss_weights(problem: Problem) -> dict[str, float]:
    """Weights with which shares of domains add up to the leaf-share loss: (share - 1/D) / (1 - 1/D) is a multiple."""
    given = problem.weights or {}
    return {
        ladder.name: given.get(ladder.name, 1.0) * ladder.leaves / max(ladder.leaves - 1, 1)
        for ladder in problem.ladders
    }


def _mondrian(problem: Problem, _seconds: float, say: Progress) -> Recoding:
    """Multidimensional recoding, part by part: the better one of two weightings of cuts, which are chosen greedily."""

    def search_parts(weights: Weighting) -> Recoding:
        return part_by_part(
            problem,
            lambda part: mondrian(
                part.classes, part.models, ladders=part.ladders, weights=weights(part), progress=say
            ),
        )

    recodings = (
        consistent(search_parts(weights), problem.models, problem.allowed)
        for weights in (_loss_weights, lambda part: part.weights)
    )
    return min(recodings, key=lambda recoding: _rank(recoding, problem))


def _size(problem: Problem) -> int:
    """How many persons a group of a clustering must have: the largest k that is asked for, or 2."""
    return max((model.k for model in problem.models if isinstance(model, KAnonymity)), default=2)


def _by_size(cluster: Callable[..., Recoding], weights: Weighting) -> Search:
    """A clustering, part by part, that is told how large its groups must be and how attributes weigh."""

    def search_parts(problem: Problem, _seconds: float, say: Progress) -> Recoding:
        return part_by_part(
            problem,
            lambda part: cluster(
                part.classes,
                _size(problem),
                ladders=part.ladders,
                models=part.models,
                weights=weights(part),
                progress=say,
            ),
        )

    return search_parts


Search = Callable[[Problem, float, Progress], LatticeResult | Recoding]
"""A problem, the seconds there are and whom to tell about progress: a node of the lattice, or a recoding."""

NODES: Mapping[str, Callable[[Problem, float, Progress], LatticeResult]] = {
    "optimal": lambda problem, _, say: search(problem, progress=say),
    "anytime": lambda problem, seconds, say: search_anytime(problem, seconds=seconds, progress=say),
}
"""The methods that choose one level for every attribute."""

METHODS: Mapping[str, Search] = {
    **NODES,
    "subtree": lambda problem, seconds, say: subtree(problem, seconds=seconds, progress=say),
    "local": _local,
    "mondrian": _mondrian,
    "clustering": _by_size(k_member, _loss_weights),
    "microaggregation": _by_size(microaggregate, lambda part: part.weights),
}


def _of_node(problem: Problem, result: LatticeResult, method: str, why: str) -> SearchResult:
    """The recoding of the best node of a lattice."""
    if result.best is None:
        raise _unreachable(problem, result)
    owner, kept = problem.partition(result.best)
    recoding = Recoding.of_node(
        problem.classes, problem.ladders, result.best.node, kept[owner], method=method
    )
    return SearchResult(
        recoding,
        method,
        why,
        result.best.cost,
        result.bound,
        result.optimal,
        minimised_by(method, problem.objective),
    )


def _unreachable(problem: Problem, result: LatticeResult) -> GoalUnreachable:
    """What is raised where no node was found: how near the nearest comes, and whether nothing can come nearer."""
    nearest = result.nearest
    levels = ", ".join(
        f"{ladder.name} {level}" for ladder, level in zip(problem.ladders, nearest.node, strict=True)
    )
    known = "meets the requirements" if math.isinf(result.bound) else "was found that meets the requirements"
    told = f"{nearest.suppressed / problem.classes.total:.1%} suppressed at levels {levels}"
    if not nearest.groups:
        told = "only a release without records, which is none"
    return GoalUnreachable(
        f"no generalisation {known} within the suppression limit of {problem.suppression_limit:.1%}",
        nearest=told,
        remedy="allow more suppression, add coarser levels to the hierarchies, or ask for less",
    )
