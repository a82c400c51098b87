"""Every method of search behind one call, and what it ends with."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from functools import partial

import numpy as np

from discreet.classes.part import PartOfTable
from discreet.errors import GoalUnreachable
from discreet.privacy import KAnonymity
from discreet.search import clock
from discreet.search.clusters.k_member import k_member
from discreet.search.clusters.microaggregation import microaggregate
from discreet.search.clusters.prices import can_be_priced, prices_of
from discreet.search.cost import cost_of
from discreet.search.kept import joined, part_by_part
from discreet.search.lattice.anytime import search_anytime
from discreet.search.lattice.search import LARGEST_LATTICE, LatticeResult, search
from discreet.search.lattice.sibling import sibling
from discreet.search.lattice.subtree import subtree
from discreet.search.local.finer import finely
from discreet.search.local.search import local_recoding, local_recodings, top_down
from discreet.search.local.tidy import tidied
from discreet.search.local.trees import THRIFT, grown
from discreet.search.mondrian.search import mondrian
from discreet.search.problem import Problem
from discreet.search.suppression import consistent
from discreet.sentences import Sentence
from discreet.table.hierarchies.hierarchy import LEARNED
from discreet.transform.recoding import Recoding
from discreet.types import IntArray, Progress, Shape
from discreet.utility.objectives.aggregates import CellObjective
from discreet.utility.objectives.cells import ConditionalEntropy, NonUniformEntropy
from discreet.utility.objectives.objective import Objective
from discreet.utility.objectives.registry import LOSS

SHAPES: Mapping[str, Shape] = {
    "optimal": "uniform",
    "anytime": "uniform",
    "subtree": "nested",
    "sibling": "nested",
    "local": "nested",
    "mondrian": "free",
    "clustering": "free",
    "microaggregation": "free",
}
"""Of each method: whether a column has one level, labels that are disjoint or contain each other, or any.

A release of one shape is one of all that follow, too.
"""

GENERATIONS = 6
"""At most so often trees are grown from the groups that the best ones gave."""
TREE_PART = 0.6
"""The share of the time of a nested recoding in which trees are compared."""
THRIFTS = (1.0, 1.5, 2.0, 3.0)
"""How much the number of values under a node counts when trees are grown."""
EMPHASES = (1.0, 1.25)
"""How much attributes count in which a group loses much when trees are compared."""
WORTHWHILE = 1e-4
"""Trees that lose less by a smaller share are no better."""
NODES_OF_A_TREE = 300
"""So many nodes of their lattice are visited to begin with: they have many levels, and most say the same."""
WORK_PER_SECOND = 33_000_000
"""What a search of the lattice may spend for each second of its limit: classes and cells of histograms that it passes."""
MODEL_WORK = 20_000
"""What asking one requirement of a node costs beside them."""
LEAST_EVALUATIONS = 200
BITS = (NonUniformEntropy, ConditionalEntropy)
"""Losses per cell of which a column that shows nothing has more or less, as its values are spread."""


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
    others: tuple[SearchResult, ...] = field(default=(), repr=False, compare=False)
    """What else was found that meets the requirements and is better in some way, which ``why`` says."""

    @property
    def shape(self) -> Shape:
        """How the labels of a column relate to each other."""
        return SHAPES[self.method]

    @property
    def gap(self) -> float | None:
        """How much better an unknown solution could at most be, as a share of the cost."""
        if self.bound is None or not self.cost:
            return None
        return max(0.0, (self.cost - self.bound) / self.cost)


def run(problem: Problem, method: str, *, seconds: float, why: str, progress: Progress) -> SearchResult:
    """The least change by one method; the best uniform one where its groups do not meet the requirements."""
    result = METHODS[method](problem, seconds, progress)
    if not isinstance(result, Recoding):
        return of_node(problem, result, method, why)
    if (grouped := of_groups(problem, result, method, why)) is not None:
        return grouped
    uniform = uniform_method(problem)
    why = Sentence(
        "the groups of {method} do not meet the requirements within the limit, so values are "
        "generalised uniformly",
        method=Sentence(method),
    )
    return of_node(problem, NODES[uniform](problem, seconds, progress), uniform, why)


def of_groups(problem: Problem, recoding: Recoding, method: str, why: str) -> SearchResult | None:
    """The result of a method that forms groups, if what it shows meets the requirements within the limit."""
    # The method compared its groups with all records; which of them hold in the release is decided here.
    recoding = consistent(recoding, problem.models, problem.allowed)
    if not recoding.kept.any() or recoding.suppressed_records > problem.allowed:
        return None
    cost = cost_of(recoding, problem)
    minimised = minimised_by(method, problem.objective)
    return SearchResult(recoding, method, why, cost.value, None, False, minimised, cost.note)


def uniform_method(problem: Problem) -> str:
    """The method for one level per attribute: the provable optimum where the lattice can be searched to its end."""
    return "optimal" if problem.nodes <= LARGEST_LATTICE else "anytime"


def evaluations_for(problem: Problem, seconds: float) -> int:
    """How many nodes a search evaluates at most: work that grows with its limit and not with the speed of the machine."""
    classes = problem.classes
    cells = sum(len(classes.histogram(domain.name).values) for domain in classes.sensitive)
    each = len(classes) + cells + MODEL_WORK * len(problem.models)
    return max(LEAST_EVALUATIONS, int(WORK_PER_SECOND * seconds / each))


def minimised_by(method: str, objective: Objective) -> str:
    """What a method steers by: the objective where it can, else the leaf-share loss or its own distance.

    >>> from discreet.utility.objectives.ambiguity import Ambiguity
    >>> [minimised_by(method, Ambiguity()) for method in ("subtree", "local", "clustering", "microaggregation")]
    ['ambiguity', 'loss', 'ambiguity', 'squared distance']
    """
    if method in ("optimal", "anytime", "subtree", "sibling"):
        return objective.name
    if method == "local" and isinstance(objective, CellObjective):
        return objective.cost.name  # of several ways to sum up it knows the plain sum
    if method == "clustering" and can_be_priced(objective):
        return objective.name
    return "squared distance" if method == "microaggregation" else LOSS.name


def nested(problem: Problem, free: Recoding, end: float, say: Progress) -> list[Recoding]:
    """Local recoding, part by part, by the best trees of several: all labels of a column are of one tree.

    Trees are grown from the groups of the ``free`` recoding, and compared by what a division of the table along them
    loses; further ones from the groups of the best so far, as long as that helps. The search by the best trees begins
    with its groups or with those of its nodes, whichever ends better. Where no hierarchy was learned, what was given is
    halved. After ``end`` nothing further is tried. Where the best one suppresses records, the best of the same searches
    follows that suppresses nobody.
    """
    complete: list[Recoding] = []

    def recoded(trees: Problem, start: IntArray | None) -> Recoding:
        def search_part(part: Problem) -> Recoding:
            # Of several parts none knows how much of the limit the others use.
            if part is not trees:
                alone = replace(part, suppression_limit=0.0)
                return local_recoding(alone, nodes=NODES_OF_A_TREE, end=end, progress=say)
            least, *others = local_recodings(part, start=start, nodes=NODES_OF_A_TREE, end=end, progress=say)
            complete.extend(tidied(other, problem, trees.ladders) for other in others)
            return least

        fine = consistent(part_by_part(trees, search_part), problem.models, problem.allowed)
        tidy = consistent(tidied(fine, problem, trees.ladders), problem.models, problem.allowed)
        return tidy if tidy.suppressed_records <= fine.suppressed_records else fine

    def ranked(recodings: list[Recoding]) -> list[Recoding]:
        first, *_ = sorted(recodings, key=lambda recoding: _rank(recoding, problem))
        whole = sorted(complete, key=lambda recoding: _rank(recoding, problem))
        return [first, *whole[:1]] if first.suppressed_records else [first]

    if not free.kept.any() or not any(ladder.assumed == LEARNED for ladder in problem.ladders):
        return ranked([recoded(finely(problem), None)])
    now = clock.now()
    trees, start = _best_trees(problem, free, now + TREE_PART * (end - now), say)
    best = recoded(trees, start)
    if start is None or clock.now() >= end:
        return ranked([best])
    return ranked([best, recoded(trees, None)])


def _best_trees(
    problem: Problem, free: Recoding, end: float, say: Progress
) -> tuple[Problem, IntArray | None]:
    """The trees along which a division of the table loses least, and its groups where it is whole."""
    groups = np.where(free.kept, _groups(free), -1)
    halved = finely(problem)
    first = grown(problem, groups, halved=halved)
    if first is problem or not all(ladder.height for ladder in problem.ladders):
        return first, None
    best = (math.inf, first, groups)
    for number in range(GENERATIONS):
        say(Sentence("growing trees from groups: generation {number}", number=number + 1))
        before = best
        for thrift in THRIFTS:
            trees = (
                first if not number and thrift == THRIFT else grown(problem, groups, thrift, halved=halved)
            )
            for emphasis in EMPHASES:
                first_one = math.isinf(best[0])
                if not first_one and clock.now() >= end:
                    break
                # Without the groups of one tree at least there is nothing to go on from, however little time is left.
                loss, owner = top_down(trees, emphasis=emphasis, end=math.inf if first_one else end)
                if loss < best[0] * (1.0 - WORTHWHILE):
                    best = loss, trees, owner
        if best is before or clock.now() >= end:
            break
        groups = best[2]
    return best[1], best[2]


def _groups(recoding: Recoding) -> IntArray:
    """The group of each class, numbered from 0."""
    _, groups = np.unique(recoding.groups(), return_inverse=True)
    return groups.astype(np.int64)


def _local(problem: Problem, seconds: float, say: Progress) -> Recoding:
    """Local recoding that is never worse than the generalisation by subtrees that it could take."""
    end = clock.now() + seconds
    fine = finely(problem)
    less_free = subtree(problem, seconds=seconds / 2, progress=say)
    own = nested(problem, _mondrian(problem, seconds, say), end, say)[0]
    given = consistent(replace(less_free, method="local recoding"), problem.models, problem.allowed)
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


def _objective_weights(problem: Problem) -> dict[str, float]:
    """Weights by what the objective charges for a column that shows nothing: the mean over its records."""
    given, objective = problem.weights or {}, problem.objective
    assert isinstance(objective, CellObjective)
    weights = {}
    for ladder, codes in zip(problem.ladders, problem.classes.codes, strict=True):
        counted = np.bincount(codes, weights=problem.classes.records, minlength=ladder.domain.size)
        totals = counted.astype(np.float64)
        charged = float(objective.cost.suppressed(ladder, totals) @ totals / totals.sum())
        weights[ladder.name] = given.get(ladder.name, 1.0) * max(charged, 1e-9)
    return weights


def _mondrian(problem: Problem, seconds: float, say: Progress) -> Recoding:
    """Multidimensional recoding, part by part: the best of some weightings of cuts, which are chosen greedily."""
    weightings: list[Weighting] = [_loss_weights, lambda part: part.weights]
    if isinstance(problem.objective, CellObjective) and isinstance(problem.objective.cost, BITS):
        weightings.append(_objective_weights)

    def search_parts(weights: Weighting) -> Recoding:
        end = clock.now() + seconds / len(weightings)
        return part_by_part(
            problem,
            lambda part: mondrian(
                part.classes,
                part.models,
                ladders=part.ladders,
                mode=part.choices.mode,
                weights=weights(part),
                end=end,
                progress=say,
            ),
        )

    recodings = (consistent(search_parts(weights), problem.models, problem.allowed) for weights in weightings)
    return min(recodings, key=lambda recoding: _rank(recoding, problem))


def _size(problem: Problem) -> int:
    """How many persons a group of a clustering must have: the largest k that is asked for, or 2."""
    return max((model.k for model in problem.models if isinstance(model, KAnonymity)), default=2)


def _clustering(problem: Problem, _seconds: float, say: Progress) -> Recoding:
    """Clustering, part by part: by the leaf-share loss and, where another objective can be priced, by that too."""

    def search_parts(*, followed: bool) -> Recoding:
        return part_by_part(
            problem,
            lambda part: k_member(
                part.classes,
                _size(problem),
                ladders=part.ladders,
                models=part.models,
                weights=_loss_weights(part),
                priced=partial(prices_of, part) if followed else None,
                progress=say,
            ),
        )

    plain = search_parts(followed=False)
    if problem.objective == LOSS or not can_be_priced(problem.objective):
        return plain
    # Labels may say more or less than what groups span, and groups that look alike are one: what is shown decides.
    recodings = (plain, search_parts(followed=True))
    return min(
        (consistent(recoding, problem.models, problem.allowed) for recoding in recodings),
        key=lambda recoding: _rank(recoding, problem),
    )


def _microaggregation(problem: Problem, _seconds: float, say: Progress) -> Recoding:
    """Microaggregation, part by part."""
    return part_by_part(
        problem,
        lambda part: microaggregate(
            part.classes,
            _size(problem),
            ladders=part.ladders,
            models=part.models,
            replace=part.choices.value,
            variable_size=part.choices.variable_size,
            weights=part.weights,
            progress=say,
        ),
    )


Search = Callable[[Problem, float, Progress], LatticeResult | Recoding]
"""A problem, the seconds there are and whom to tell about progress: a node of the lattice, or a recoding."""

NODES: Mapping[str, Callable[[Problem, float, Progress], LatticeResult]] = {
    "optimal": lambda problem, seconds, say: search(
        problem, seconds=seconds, evaluations=evaluations_for(problem, seconds), progress=say
    ),
    "anytime": lambda problem, seconds, say: search_anytime(
        problem, seconds=seconds, evaluations=evaluations_for(problem, seconds), progress=say
    ),
}
"""The methods that choose one level for every attribute."""

GROUPINGS: Mapping[str, Callable[[Problem, float, Progress], Recoding]] = {
    "subtree": lambda problem, seconds, say: subtree(problem, seconds=seconds, progress=say),
    "sibling": lambda problem, seconds, say: sibling(problem, seconds=seconds, progress=say),
    "local": _local,
    "mondrian": _mondrian,
    "clustering": _clustering,
    "microaggregation": _microaggregation,
}
"""The methods that form groups or cut hierarchies."""

METHODS: Mapping[str, Search] = {**NODES, **GROUPINGS}

FUNCTIONS: Mapping[str, Callable[..., LatticeResult | Recoding]] = {
    "optimal": search,
    "anytime": search_anytime,
    "subtree": subtree,
    "sibling": sibling,
    "local": local_recoding,
    "mondrian": mondrian,
    "clustering": k_member,
    "microaggregation": microaggregate,
}
"""What searches by each method: it says what it does, and whom it cites."""


def of_node(problem: Problem, result: LatticeResult, method: str, why: str) -> SearchResult:
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
    levels = tuple(
        f"{ladder.name} {level}" for ladder, level in zip(problem.ladders, nearest.node, strict=True)
    )
    limit = problem.suppression_limit
    told: str = Sentence(
        "{suppressed:.1%} suppressed at levels {levels}",
        suppressed=nearest.suppressed / problem.classes.total,
        levels=levels,
    )
    if not nearest.groups:
        told = "only a release without records, which is none"
    return GoalUnreachable(
        Sentence(
            "no generalisation meets the requirements within the suppression limit of {limit:.1%}",
            limit=limit,
        )
        if math.isinf(result.bound)
        else Sentence(
            "no generalisation was found that meets the requirements within the suppression limit of {limit:.1%}",
            limit=limit,
        ),
        nearest=told,
        remedy="allow more suppression, more levels in most_levels, or ask for less"
        if problem.highest != problem.heights
        else "allow more suppression, add coarser levels to the hierarchies, or ask for less",
    )
