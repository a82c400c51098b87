"""Anonymise: find the least change that meets the requirements, make it, and hand over the evidence."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import replace
from functools import partial
from types import MappingProxyType

import numpy as np

from discreet.classes import EquivalenceClasses
from discreet.errors import GoalUnreachable, InvalidParameter, InvalidPolicy
from discreet.policy import Policy
from discreet.policy.examination import naming_people, texts_of
from discreet.policy.file import GivenPolicy
from discreet.policy.hierarchies import FittedHierarchy, hierarchies
from discreet.policy.plan import Plan
from discreet.policy.suggest import recognise_columns
from discreet.privacy import KAnonymity, LinkedKAnonymity, PrivacyModel
from discreet.progress import Asked, telling
from discreet.release.build import Solution, make_release
from discreet.release.coarsen import CoarserClasses, coarsened, needs_coarsening
from discreet.release.constraints import check_constraints
from discreet.release.outcome import Outcome, outcome_of
from discreet.release.perturb import PerturbedTable, perturbed
from discreet.release.population import beside_population
from discreet.release.prepare import (
    as_shown,
    check_plan,
    count_classes,
    open_both,
    open_plan,
    prepare,
    refuse_unnamed_persons,
    with_roles,
    without_dropped,
)
from discreet.release.prices import PriceSearch
from discreet.release.profile import load_profile
from discreet.release.release import Alternative, Release
from discreet.release.removed import why_dropped
from discreet.release.representation import erased_categories
from discreet.release.requirements import (
    against_original,
    as_released,
    extended_goals,
    goals,
    mean_limit,
    mean_risk,
    with_size,
    within_limit,
    within_mean,
)
from discreet.release.rules import known_columns
from discreet.release.wider import Wider, wider_names, with_wider
from discreet.search.contest import ALLOWED, FEW_SUPPRESSED, WHOLE, find
from discreet.search.cost import Cost, cost_of
from discreet.search.methods import SearchResult
from discreet.search.problem import Choices, Problem, make_problem
from discreet.sentences import Sentence
from discreet.table import Table
from discreet.table.hierarchies.hierarchy import Ladder
from discreet.transform.labels import discreetly_named
from discreet.transform.recoding import Recoding
from discreet.transform.suppress import ValueSuppression
from discreet.types import Progress
from discreet.utility.objectives.registry import build_objective

AGAIN = 0.5
"""The share of the time for a second search, where the first would erase categories."""
REPRESENTED = "of the methods that were tried it costs least without erasing a category"
KNOWN_SEED = (
    "rows were drawn by the default seed, which everybody knows: whoever holds a list of the people in the order of the "
    "original can tell who is in the release; choose a seed of your own and keep it to yourself"
)
UNKNOWN = "the policy does not know it"
MISSING_LEAVES = "not defined here: the hierarchies lack values that the plan suppresses"


def anonymize(
    source: object,
    policy: GivenPolicy | None = None,
    *,
    plan: Plan | None = None,
    key: str | None = None,
    perturb_seed: int | None = None,
    progress: Asked = None,
) -> Release:
    """The release that meets the policy's requirements and those of its profile at the least loss.

    Without a policy the roles are suggested and the hierarchies learned, and the notes say so. ``key`` makes
    pseudonyms of person ids repeatable; without one a random key is used and thrown away. ``perturb_seed`` makes the
    policy's steps of perturbation repeatable, which otherwise follow from a secret that is forgotten. A goal that cannot
    be reached raises ``GoalUnreachable`` with the nearest that was found.
    """
    say = telling(progress)
    table, given = open_both(source, policy)
    table = replace(table, places=None)
    policy, notes = with_roles(table, given, say)
    plan = open_plan(plan, policy)
    check_plan(plan, policy)
    if key is not None and policy.person is not None and plan.person == "drop":
        raise InvalidParameter(
            "a key was given, but person ids are left out of the release",
            remedy='say person = "pseudonymise" (--person-ids pseudonymise), or give no key',
        )
    # Only to tell an unknown profile before anything is counted.
    load_profile(policy.profile)
    table = policy.fit(table)
    check_constraints(table, policy.constraints)
    changed = _drawn(perturbed(table, policy, seed=perturb_seed, say=say), plan, say)
    table, notes = changed.table, [*notes, *changed.notes]
    refuse_unnamed_persons(table, policy)
    refuse_names_in_labels(table, without_dropped(policy, plan))
    unknown = unknown_left_out(table, policy)
    if unknown:
        notes.append(
            Sentence("left out because the policy does not know them: {unknown}", unknown=", ".join(unknown))
        )
    say("counting equivalence classes")
    counted = count_classes(table, policy)
    left = (
        counted.project(without_dropped(policy, plan).quasi_identifiers) if plan.drop_attributes else counted
    )
    left = beside_population(left, policy)
    coarser = _coarser(left, policy, plan, say)
    wider = {} if coarser is not None else wider_names(table, policy, plan, counted)
    solution = solve(left, policy, plan, say, wider=wider) if coarser is None else _solved(coarser, plan, say)
    solution = replace(solution, notes=(*notes, *solution.notes))
    reasons = {**why_dropped(table, policy, plan), **dict.fromkeys(unknown, UNKNOWN)}
    # The same for all releases of the table.
    before = changed.audit_original(policy, counted, say)
    price_search = PriceSearch(counted, policy, plan)

    def made(chosen: SearchResult) -> Release:
        return make_release(
            policy,
            plan,
            replace(solution, chosen=chosen),
            before=before,
            price_search=price_search,
            left_out=reasons,
            key=key,
            progress=say,
            coarser=coarser,
            perturbed=changed,
        )

    others = tuple(
        Alternative(
            other.why,
            outcome_of(other.recoding, Outcome(other.method)),
            other.recoding,
            partial(made, other),
        )
        for other in solution.chosen.others
    )
    return replace(made(solution.chosen), alternatives=others)


def _drawn(changed: PerturbedTable, plan: Plan, say: Progress) -> PerturbedTable:
    """The rows that the plan draws, and what to tell about that."""
    if plan.sample == 1:
        return changed
    say("drawing a sample")
    told: list[str] = [Sentence("{sample:.1%} of the rows were drawn before the search", sample=plan.sample)]
    told += [KNOWN_SEED] if plan.seed == Plan().seed else []
    drawn = changed.drawn(plan.sample, seed=plan.seed)
    return replace(drawn, notes=(*changed.notes, *told))


def _coarser(counted: EquivalenceClasses, policy: Policy, plan: Plan, say: Progress) -> CoarserClasses | None:
    """The classes at the levels at which the search begins, where its combinations are too many to begin with the values."""
    if not needs_coarsening(counted, plan):
        return None
    say("choosing the levels at which the search begins")
    return coarsened(without_dropped(policy, plan), counted, plan.weights)


def _solved(coarser: CoarserClasses, plan: Plan, say: Progress) -> Solution:
    """The least change from the levels of coarser classes on."""
    solution = solve(coarser.counted, coarser.policy, coarser.plan(plan), say, fitted=coarser.fitted)
    return replace(solution, notes=(coarser.note, *solution.notes))


def refuse_names_in_labels(table: Table, policy: Policy) -> None:
    """Refuse quasi-identifiers whose values name people: labels would be made of them.

    Those for which the policy has a hierarchy are generalised to what somebody wrote.
    """
    given = [column.name for column in policy.columns if column.hierarchy is not None]
    labelled = texts_of(table, set(policy.quasi_identifiers) - set(given))
    naming = naming_people(labelled, policy, partial(recognise_columns, labelled))
    problems = [
        Sentence(
            "the values of {name!r}, a quasi-identifier, look like: {title}", name=name, title=Sentence(title)
        )
        for name, title in naming.items()
    ]
    if problems:
        raise InvalidPolicy(
            problems,
            remedy="give it the role direct-identifier, or a hierarchy that says what may be shown of it",
        )


def unknown_left_out(table: Table, policy: Policy) -> tuple[str, ...]:
    """The columns that the policy does not know and a release must lack; ``InvalidPolicy`` where it says to fail."""
    rule = known_columns(table, policy, lambda: recognise_columns(table))
    if rule is None or rule.holds:
        return ()
    if policy.unknown == "fail":
        raise InvalidPolicy(
            [Sentence("the policy does not know {columns}", columns=", ".join(rule.columns))],
            remedy=rule.remedy,
        )
    return rule.columns


def solve(
    counted: EquivalenceClasses,
    policy: Policy,
    plan: Plan,
    say: Progress,
    *,
    fitted: Sequence[FittedHierarchy] | None = None,
    wider: Wider = MappingProxyType({}),
) -> Solution:
    """The least change that a plan allows for counted classes; no row is touched.

    The classes are those of the policy without the attributes that the plan drops, which may tell ``wider`` names of values;
    hierarchies may be ``fitted``.
    """
    profile = load_profile(policy.profile)
    ready = with_wider(prepare(counted, policy, plan, fitted), wider)
    notes = list(ready.notes)
    learned = [fitted.ladder.name for fitted in ready.fitted if fitted.learned]
    if learned:
        notes.append(
            Sentence("hierarchies of {learned} were learned from the data", learned=", ".join(learned))
        )
    required = goals(as_shown(policy, plan), profile, ready.classes)
    wished, out_of_reach = extended_goals(profile, ready.classes, required, policy)
    notes += [*_few_people(ready.classes, required), *out_of_reach]

    def least(wanted: tuple[PrivacyModel, ...]) -> tuple[SearchResult, tuple[PrivacyModel, ...]]:
        def attempt(k: int) -> tuple[SearchResult, tuple[PrivacyModel, ...]]:
            asked = with_size(wanted, k)
            result = least_change(ready.classes, ready.ladders, asked, plan, say)
            shown = _with_others(
                result,
                lambda other: _uncovered(other, ready.covered, without_dropped(policy, plan), plan, asked),
            )
            return shown, asked

        return within_mean(mean_limit(profile), attempt, lambda result: mean_risk(result[0].recoding))

    try:
        chosen, models = least(tuple(dict.fromkeys((*required, *wished))))
    except GoalUnreachable as error:
        if not wished:
            raise _with_advice(error, required) from None
        notes.append(
            "the extended risks cannot be brought below high within the limits: only the requirements were met"
        )
        try:
            chosen, models = least(required)
        except GoalUnreachable as error:
            raise _with_advice(error, required) from None
    if chosen.minimised not in ("", plan.objective):
        notes.append(
            Sentence(
                "the method {method} cannot follow the objective {objective}: it minimised {minimised}",
                method=Sentence(chosen.method),
                objective=plan.objective,
                minimised=Sentence(chosen.minimised),
            )
        )
    return Solution(chosen, ready.fitted, models, required, tuple(notes))


def _few_people(classes: EquivalenceClasses, required: Sequence[PrivacyModel]) -> list[str]:
    """What to tell where all people are one class at best; fewer than one class needs are refused."""
    sizes = [model for model in required if isinstance(model, KAnonymity)]
    least = max((model.k for model in sizes if model.unit != "records" or not classes.event_level), default=1)
    people = classes.total_persons
    if people >= 2 * least:
        return []
    if people < 2:
        raise GoalUnreachable(
            "the table has one person, whom nothing can hide",
            nearest="nothing that could be released",
            remedy="gather more people",
        )
    if people < least:
        raise GoalUnreachable(
            Sentence(
                "the table has {people} people, and every class needs at least {least}",
                people=people,
                least=least,
            ),
            nearest="all of them as one class, which is too small",
            remedy=Sentence(
                "gather more people, or ask for classes of at least {people} or fewer: another profile, or another "
                "requirement",
                people=people,
            ),
        )
    return [
        Sentence(
            "the table has {people} people, too few for two classes of at least {least}: all look alike in every "
            "quasi-identifier",
            people=people,
            least=least,
        )
    ]


def _with_advice(error: GoalUnreachable, required: Sequence[PrivacyModel]) -> GoalUnreachable:
    """The same refusal; where rows shall stay linked, with the advice not to link them."""
    if not any(isinstance(model, LinkedKAnonymity) for model in required):
        return error
    return GoalUnreachable(
        error.message.removesuffix(f"; nearest: {error.nearest}"),
        nearest=error.nearest,
        remedy=Sentence(
            'leave person ids out (person = "drop"), so that rows are not linked, or {remedy}',
            remedy=error.remedy,
        ),
    )


def least_change(
    classes: EquivalenceClasses,
    ladders: Sequence[Ladder],
    models: Sequence[PrivacyModel],
    plan: Plan,
    say: Progress,
) -> SearchResult:
    """The least change that meets the models, also for one who holds only the release.

    Suppressed records that are shown with ``*`` are part of the file: classes are compared with all records then,
    and all of them together are a class that must hold. Where it does not, they are left out, and the least
    change is searched for what is left.
    """

    def attempt(asked: Sequence[PrivacyModel]) -> SearchResult:
        problem = _problem(classes, ladders, asked, plan)
        say("searching for the least change")
        chosen = find(problem, method=plan.method, shape=plan.shape, seconds=plan.seconds, progress=say)
        if plan.keep_representation and plan.method == "auto" and erased_categories(chosen.recoding):
            say("searching for a change that erases no category")
            chosen = _representing(chosen, problem, plan, say)
        return _with_others(chosen, lambda result: _released(result, problem, models, plan))

    whole = against_original(models)
    if plan.suppressed == "star" and whole != tuple(models):
        with suppress(GoalUnreachable):
            shown = attempt(whole)
            if shown.recoding.starred:
                return shown
    return attempt(models)


def _representing(chosen: SearchResult, problem: Problem, plan: Plan, say: Progress) -> SearchResult:
    """The least change that suppresses nobody, where there is one; what was found with suppression stands beside it."""
    complete = [other for other in chosen.others if other.why == WHOLE and other.shape in ALLOWED[plan.shape]]
    try:
        whole = (
            complete[0]
            if complete
            else find(
                replace(problem, suppression_limit=0.0),
                shape=plan.shape,
                seconds=AGAIN * plan.seconds,
                progress=say,
            )
        )
    except GoalUnreachable:
        return chosen
    fewer = replace(chosen, why=FEW_SUPPRESSED, others=())
    others = [other for other in chosen.others if other.why != WHOLE]
    return replace(whole, why=REPRESENTED, others=(fewer, *others))


def _with_others(chosen: SearchResult, changed: Callable[[SearchResult], SearchResult]) -> SearchResult:
    """What becomes of a result and of those beside it; of these, what cannot be released is forgotten."""
    others = []
    for other in chosen.others:
        with suppress(GoalUnreachable):
            others.append(changed(other))
    return replace(changed(chosen), others=tuple(others))


def _released(
    chosen: SearchResult, problem: Problem, models: Sequence[PrivacyModel], plan: Plan
) -> SearchResult:
    """What was found, with what else must be suppressed for the release to hold by itself."""
    released = as_released(chosen.recoding, models, plan)
    within_limit(released, plan, models)
    recoding = discreetly_named(released, problem.ladders, length=plan.label_length)
    same_cost = np.array_equal(recoding.shares, released.shares)
    if released.suppressed_records == chosen.recoding.suppressed_records and same_cost:
        return replace(chosen, recoding=recoding)
    # More had to go, or is open, than the search thought: what it knew about the cost holds no longer.
    return _priced(chosen, recoding, cost_of(recoding, problem))


def _problem(
    classes: EquivalenceClasses, ladders: Sequence[Ladder], models: Sequence[PrivacyModel], plan: Plan
) -> Problem:
    """What a plan asks a search for."""
    return make_problem(
        classes,
        ladders,
        models,
        suppression_limit=plan.suppression_limit,
        objective=build_objective(plan.objective, {"label": plan.label} if plan.label else None),
        suppression_weight=plan.suppression_weight,
        weights=plan.weights,
        choices=Choices(plan.mondrian_mode, plan.group_size == "variable", plan.group_value),
        least_levels=plan.least_levels,
        most_levels=plan.most_levels,
    )


def _priced(chosen: SearchResult, recoding: Recoding, cost: Cost) -> SearchResult:
    """Another recoding than the search chose, of which nothing is proven."""
    return replace(chosen, recoding=recoding, cost=cost.value, undefined=cost.note, bound=None, optimal=False)


def _uncovered(
    chosen: SearchResult,
    covered: ValueSuppression,
    policy: Policy,
    plan: Plan,
    models: Sequence[PrivacyModel],
) -> SearchResult:
    """What was found for the covered classes, for those of the table: suppressed values are ``*``."""
    if not covered.attributes:
        return chosen
    shown = covered.uncovered(chosen.recoding)
    # Groups that differed only in what is * now are one, and must hold as one.
    recoding = discreetly_named(as_released(shown, models, plan), length=plan.label_length)
    within_limit(recoding, plan, models)
    if shown.scope == "global" and recoding.suppressed_records == shown.suppressed_records:
        return replace(chosen, recoding=recoding)
    try:
        ladders = [fitted.ladder for fitted in hierarchies(policy, covered.original)]
    except InvalidPolicy:
        return _priced(chosen, recoding, Cost(math.nan, MISSING_LEAVES))
    return _priced(chosen, recoding, cost_of(recoding, _problem(covered.original, ladders, models, plan)))
