"""Recommend: the smallest changes that would turn the verdict, each found by search and checked."""

from __future__ import annotations

from contextlib import suppress
from dataclasses import dataclass, replace
from fractions import Fraction

from discreet.errors import GoalUnreachable
from discreet.policy.file import GivenPolicy
from discreet.policy.plan import Plan
from discreet.progress import Asked, telling
from discreet.release import rendered
from discreet.release.perturb import perturbed
from discreet.release.prepare import (
    as_shown,
    check_plan,
    count_classes,
    open_both,
    open_plan,
    prepare,
    with_roles,
    without_dropped,
)
from discreet.release.prices import Prices, prices
from discreet.release.profile import load_profile
from discreet.release.requirements import goals, mean_limit, mean_risk, with_size, within_mean
from discreet.search.lattice.anytime import search_anytime
from discreet.search.lattice.search import LARGEST_LATTICE, LatticeResult, search
from discreet.search.problem import Evaluation, Grouper, Problem, make_problem
from discreet.sentences import Sentence
from discreet.transform.recoding import Recoding
from discreet.transform.stand_in import shown_for_suppressed
from discreet.types import Progress

FEW = 0.05
"""Suppressing up to this share of the records counts as suppressing a few."""


@dataclass(frozen=True)
class Recommendation:
    """One way to meet the requirements, and what it costs."""

    change: str
    loss: float
    suppressed: int
    suppressed_share: float
    levels: dict[str, int]

    def to_dict(self) -> dict[str, object]:
        return {
            "change": self.change,
            "loss": self.loss,
            "suppressed": self.suppressed,
            "suppressed_share": self.suppressed_share,
            "levels": dict(self.levels),
        }


@dataclass(frozen=True)
class Advice:
    """Ways that meet every requirement, cheapest first, and what each column and each requirement costs."""

    recommendations: tuple[Recommendation, ...]
    prices: Prices
    first_steps: tuple[str, ...] = ()

    def __str__(self) -> str:
        return rendered.advice_text(self)

    def __repr__(self) -> str:
        return f"Advice({len(self.recommendations)} ways that meet every requirement)"

    def _repr_html_(self) -> str:
        return rendered.advice_notebook(self)

    def to_dict(self) -> dict[str, object]:
        return {
            "schema": "discreet-advice-1",
            "first_steps": list(self.first_steps),
            "recommendations": [recommendation.to_dict() for recommendation in self.recommendations],
            "prices": self.prices.to_dict(),
        }


def recommend(
    source: object, policy: GivenPolicy | None = None, *, plan: Plan | None = None, progress: Asked = None
) -> Advice:
    """The smallest changes under which every requirement of the policy and its profile holds.

    Looked at are: suppressing a few records and nothing else; raising one attribute alone; and the best
    generalisation of all, with a few records suppressed and with none. Every one is priced by its leaf-share
    loss and has been checked against the requirements. What each column and each requirement costs is told beside it.
    Without a policy the roles are suggested, and the first step says so.
    """
    say = telling(progress)
    opened, given = open_both(source, policy)
    policy, notes = with_roles(opened, given, say)
    plan = open_plan(plan, policy).by("auto")
    check_plan(plan, policy)
    table = perturbed(policy.fit(opened), policy, seed=None, say=say).table
    say("counting equivalence classes")
    left = without_dropped(policy, plan)
    counted = count_classes(table, left)
    ready = prepare(counted, policy, plan)
    profile = load_profile(policy.profile)
    models = goals(as_shown(policy, plan), profile, ready.classes)
    limit = mean_limit(profile)
    problem = make_problem(ready.classes, ready.ladders, models, suppression_limit=FEW, weights=plan.weights)
    ways = [*_simple(problem, plan, limit), *_best(problem, plan, limit, say)]
    unique = {(tuple(sorted(way.levels.items())), way.suppressed): way for way in reversed(ways)}
    first = [*notes]
    linking = [policy.person] if policy.person and plan.person == "drop" else []
    if removed := [*policy.direct_identifiers, *policy.guards, *linking]:
        first.append(Sentence("remove {removed}", removed=", ".join(removed)))
    return Advice(
        recommendations=tuple(sorted(unique.values(), key=lambda way: (way.loss, way.suppressed))),
        prices=prices(counted, policy, plan=plan, progress=say),
        first_steps=tuple(first),
    )


def _mean_risk(problem: Problem, evaluation: Evaluation, plan: Plan) -> Fraction:
    """The mean prosecutor risk that a node of the lattice leaves."""
    owner, kept = problem.partition(evaluation)
    recoding = Recoding.of_node(
        problem.classes, problem.ladders, evaluation.node, kept[owner], method="optimal"
    )
    if plan.suppressed == "star":
        recoding = replace(recoding, hidden=shown_for_suppressed(recoding, plan.suppressed_numbers))
    return mean_risk(recoding)


def _simple(problem: Problem, plan: Plan, limit: Fraction | None) -> list[Recommendation]:
    """Suppression alone, and one attribute raised as little as suffices."""
    grouper = Grouper(problem)
    bottom = tuple(0 for _ in problem.ladders)
    ways = []

    def suffices(result: Evaluation) -> bool:
        if not problem.fits(result):
            return False
        return limit is None or _mean_risk(problem, result, plan) <= limit

    nothing = problem.evaluate(bottom, grouper)
    if suffices(nothing):
        ways.append(_recommendation(problem, nothing, "suppress a few records, change nothing else"))
    for j, ladder in enumerate(problem.ladders):
        for level in range(1, ladder.height + 1):
            node = tuple(level if i == j else 0 for i in range(len(bottom)))
            here = problem.evaluate(node, grouper)
            if suffices(here):
                ways.append(_recommendation(problem, here, Sentence("raise only {name}", name=ladder.name)))
                break
    return ways


def _best(problem: Problem, plan: Plan, limit: Fraction | None, say: Progress) -> list[Recommendation]:
    """The best generalisation with a few records suppressed, and with none."""
    ways = []
    for share, words in (
        (FEW, "generalise and suppress a few records"),
        (0.0, "generalise and suppress nothing"),
    ):
        say(Sentence("the best way to {words}", words=Sentence(words)))

        def attempt(k: int, share: float = share) -> Evaluation:
            models = with_size(problem.models, k)
            best = _search(replace(problem, models=models, suppression_limit=share), say).best
            if best is None:
                raise GoalUnreachable("no generalisation is within the limits", nearest="", remedy="")
            return best

        with suppress(GoalUnreachable):
            best = within_mean(limit, attempt, lambda result: _mean_risk(problem, result, plan))
            ways.append(_recommendation(problem, best, words))
    return ways


def _search(problem: Problem, say: Progress) -> LatticeResult:
    if problem.nodes <= LARGEST_LATTICE:
        return search(problem, progress=say)
    return search_anytime(problem, seconds=10.0, progress=say)


def _recommendation(problem: Problem, result: Evaluation, words: str) -> Recommendation:
    levels = {ladder.name: level for ladder, level in zip(problem.ladders, result.node, strict=True) if level}
    return Recommendation(
        change=words,
        loss=result.cost,
        suppressed=result.suppressed,
        suppressed_share=result.suppressed / problem.classes.total,
        levels=levels,
    )
