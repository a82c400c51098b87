"""Which search to run: every method behind one call, and ``auto``, which says why it chose."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace

from discreet.errors import GoalUnreachable
from discreet.privacy import KAnonymity, PrivacyModel
from discreet.search.kept import part_by_part
from discreet.search.lattice.search import LARGEST_LATTICE, LatticeResult, search
from discreet.search.problem import Problem
from discreet.transform.loss import leaf_share_loss
from discreet.transform.recoding import Recoding
from discreet.types import Progress


@dataclass(frozen=True)
class SearchResult:
    """What a search found, by which method, why by this one, and how good it is known to be."""

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
    return METHODS[method](problem, seconds, why, progress or (lambda _: None))


def choose(problem: Problem) -> tuple[str, str]:
    """The method for a problem, and why: the provable optimum where the lattice can be searched to its end."""
    if problem.nodes <= LARGEST_LATTICE:
        return (
            "optimal",
            f"{problem.nodes:,} generalisations can be searched to the end, so the best is provable",
        )
    return "anytime", f"{problem.nodes:.1e} generalisations are too many to search to the end"


def _optimal(problem: Problem, seconds: float, why: str, say: Progress) -> SearchResult:
    return _of_node(problem, search(problem, progress=say), "optimal", why)


def _anytime(problem: Problem, seconds: float, why: str, say: Progress) -> SearchResult:
    from discreet.search.lattice.anytime import search_anytime

    return _of_node(problem, search_anytime(problem, seconds=seconds, progress=say), "anytime", why)


def _subtree(problem: Problem, seconds: float, why: str, say: Progress) -> SearchResult:
    from discreet.search.lattice.subtree import subtree

    return _measured(problem, subtree(problem, progress=say), "subtree", why)


def _local(problem: Problem, seconds: float, why: str, say: Progress) -> SearchResult:
    from discreet.search.local.search import local_recoding

    def run(part: Problem) -> Recoding:
        # Of several parts none knows how much of the limit the others use.
        alone = part if part is problem else replace(part, suppression_limit=0.0)
        return local_recoding(alone, progress=say)

    return _measured(problem, part_by_part(problem, run), "local", why)


def _mondrian(problem: Problem, seconds: float, why: str, say: Progress) -> SearchResult:
    from discreet.search.mondrian.search import mondrian

    found = part_by_part(
        problem,
        lambda part: mondrian(
            part.classes, part.models, ladders=part.ladders, weights=part.weights, progress=say
        ),
    )
    return _measured(problem, found, "mondrian", why)


def _clustering(problem: Problem, seconds: float, why: str, say: Progress) -> SearchResult:
    from discreet.search.clusters.k_member import k_member

    return _in_groups(problem, k_member, "clustering", why, say)


def _microaggregation(problem: Problem, seconds: float, why: str, say: Progress) -> SearchResult:
    from discreet.search.clusters.microaggregation import microaggregate

    return _in_groups(problem, microaggregate, "microaggregation", why, say)


def _in_groups(
    problem: Problem, group: Callable[..., Recoding], method: str, why: str, say: Progress
) -> SearchResult:
    """By a search that is told how many records a group must have."""
    found = part_by_part(
        problem,
        lambda part: group(
            part.classes,
            _group_size(part.models),
            ladders=part.ladders,
            models=part.models,
            weights=part.weights,
            progress=say,
        ),
    )
    return _measured(problem, found, method, why)


METHODS: dict[str, Callable[[Problem, float, str, Progress], SearchResult]] = {
    "optimal": _optimal,
    "anytime": _anytime,
    "subtree": _subtree,
    "local": _local,
    "mondrian": _mondrian,
    "clustering": _clustering,
    "microaggregation": _microaggregation,
}


def _group_size(models: Sequence[PrivacyModel]) -> int:
    """The k that grouping starts from: the largest that is asked for, or 2."""
    return max((model.k for model in models if isinstance(model, KAnonymity)), default=2)


def _of_node(problem: Problem, found: LatticeResult, method: str, why: str) -> SearchResult:
    """A recoding from the best node of a lattice."""
    if found.best is None:
        nearest = found.nearest
        share = nearest.suppressed / problem.classes.total
        levels = ", ".join(
            f"{ladder.name} {level}" for ladder, level in zip(problem.ladders, nearest.node, strict=True)
        )
        raise GoalUnreachable(
            "no generalisation meets the requirements within the suppression limit "
            f"of {problem.suppression_limit:.1%}",
            nearest=f"{share:.1%} suppressed at levels {levels}",
            remedy="allow more suppression, add coarser levels to the hierarchies, or ask for less",
        )
    owner, kept = problem.partition(found.best.node)
    recoding = Recoding.of_node(problem.classes, problem.ladders, found.best.node, kept[owner], method=method)
    return SearchResult(recoding, method, why, found.best.cost, found.bound, found.optimal)


def _measured(problem: Problem, recoding: Recoding, method: str, why: str) -> SearchResult:
    """A local recoding with its leaf-share loss, by which all methods can be compared."""
    return SearchResult(recoding, method, why, leaf_share_loss(recoding), None, False)
