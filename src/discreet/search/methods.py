"""Which search to run: every method behind one call, and ``auto``, which says why it chose."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace

from discreet.errors import GoalUnreachable
from discreet.privacy import KAnonymity
from discreet.search.clusters.k_member import k_member
from discreet.search.clusters.microaggregation import microaggregate
from discreet.search.kept import part_by_part
from discreet.search.lattice.anytime import search_anytime
from discreet.search.lattice.search import LARGEST_LATTICE, LatticeResult, search
from discreet.search.lattice.subtree import subtree
from discreet.search.local.search import local_recoding
from discreet.search.mondrian.search import mondrian
from discreet.search.problem import Problem
from discreet.search.suppression import consistent
from discreet.transform.loss import leaf_share_loss
from discreet.transform.recoding import Recoding
from discreet.types import Progress


@dataclass(frozen=True)
class SearchResult:
    """The recoding that a search of any method ended with, why by this method, and how good it is known to be.

    ``LatticeResult`` is what a search of the lattice knows before: a node, the proof, and the effort. Methods
    that prove nothing have neither; their ``bound`` is ``None``, and their ``cost`` the leaf-share loss, by which
    all methods can be compared.
    """

    recoding: Recoding = field(repr=False)
    method: str
    why: str
    cost: float
    bound: float | None
    optimal: bool

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
        return SearchResult(recoding, method, why, leaf_share_loss(recoding), None, False)
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


def _local(problem: Problem, _seconds: float, say: Progress) -> Recoding:
    """Local recoding, part by part."""

    def search_part(part: Problem) -> Recoding:
        # Of several parts none knows how much of the limit the others use.
        alone = part if part is problem else replace(part, suppression_limit=0.0)
        return local_recoding(alone, progress=say)

    return part_by_part(problem, search_part)


def _mondrian(problem: Problem, _seconds: float, say: Progress) -> Recoding:
    """Multidimensional recoding, part by part."""
    return part_by_part(
        problem,
        lambda part: mondrian(
            part.classes, part.models, ladders=part.ladders, weights=part.weights, progress=say
        ),
    )


def _by_size(cluster: Callable[..., Recoding]) -> Search:
    """A clustering that is told how many persons a group must have: the largest k that is asked for, or 2."""

    def search_parts(problem: Problem, _seconds: float, say: Progress) -> Recoding:
        k = max((model.k for model in problem.models if isinstance(model, KAnonymity)), default=2)
        return part_by_part(
            problem,
            lambda part: cluster(
                part.classes,
                k,
                ladders=part.ladders,
                models=part.models,
                weights=part.weights,
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
    "subtree": lambda problem, _, say: subtree(problem, progress=say),
    "local": _local,
    "mondrian": _mondrian,
    "clustering": _by_size(k_member),
    "microaggregation": _by_size(microaggregate),
}


def _of_node(problem: Problem, result: LatticeResult, method: str, why: str) -> SearchResult:
    """The recoding of the best node of a lattice."""
    if result.best is None:
        raise _unreachable(problem, result)
    owner, kept = problem.partition(result.best)
    recoding = Recoding.of_node(
        problem.classes, problem.ladders, result.best.node, kept[owner], method=method
    )
    return SearchResult(recoding, method, why, result.best.cost, result.bound, result.optimal)


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
