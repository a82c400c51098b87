"""Apply a recipe: treat other rows as those from which it was made, and verify them all the same."""

from __future__ import annotations

import math
from dataclasses import replace
from os import PathLike
from pathlib import Path

from discreet.errors import GoalUnreachable, InvalidPolicy, UnknownColumn
from discreet.perturb.registry import make_step
from discreet.policy import Policy
from discreet.policy.file import GivenPolicy, make_model
from discreet.policy.policy import DEFAULT_PROFILE
from discreet.privacy import PersonalisedPrivacy
from discreet.progress import Asked, telling
from discreet.release.build import Solution, make_release
from discreet.release.perturb import perturbed
from discreet.release.population import beside_population
from discreet.release.prepare import (
    as_shown,
    count_classes,
    open_both,
    refuse_unnamed_persons,
    without_dropped,
)
from discreet.release.prices import PriceSearch
from discreet.release.profile import load_profile
from discreet.release.release import Release
from discreet.release.removed import PLANNED
from discreet.release.requirements import (
    as_released,
    extended_goals,
    goals,
    mean_limit,
    mean_risk,
    mean_unreachable,
    within_limit,
)
from discreet.search.methods import SearchResult
from discreet.sentences import Sentence
from discreet.transform.recipe import Recipe


def apply(
    recipe: Recipe | str | PathLike[str],
    source: object,
    policy: GivenPolicy | None = None,
    *,
    key: str | None = None,
    perturb_seed: int | None = None,
    progress: Asked = None,
) -> Release:
    """A release of other rows by a recipe or its file; what it must meet is verified on these rows, too.

    Requirements are those of the recipe, of the policy and of its profile; without a policy, roles and profile
    are the recipe's, and a note says so. Groups that fail one of them on these rows are suppressed, within the
    recipe's limit. Columns that the recipe does not know are left out. Its steps of perturbation come first, with random
    numbers of their own (or those of ``perturb_seed``).
    """
    recipe = recipe if isinstance(recipe, Recipe) else Recipe.load(recipe)
    say = telling(progress)
    table, given = open_both(source, policy)
    table = replace(table, places=None)
    policy = given or policy_of(recipe)
    notes = [] if given else [judged_by(policy)]
    lacking = [name for name in recipe.columns if name not in table.names]
    if lacking:
        raise UnknownColumn(lacking[0], table.names)
    if policy.person is None and recipe.person is not None:
        policy = policy.replace(person=recipe.person)
    asked = [make_model(entry) for entry in recipe.requirements]
    policy = policy.require(*(model for model in asked if model not in policy.requirements))
    policy = replace(policy, perturb=tuple(make_step(entry) for entry in recipe.perturb))
    table = policy.fit(table)
    changed = perturbed(table, policy, seed=perturb_seed, say=say)
    table, notes = changed.table, [*notes, *changed.notes]
    dropped = policy.plan.drop_attributes
    _refuse_other_columns(recipe, without_dropped(policy, policy.plan))
    refuse_unnamed_persons(table, policy)
    counted = count_classes(table, policy)
    classes = beside_population(counted.project(recipe.quasi_identifiers), policy)
    profile = load_profile(policy.profile)
    plan = replace(
        policy.plan,
        suppression_limit=recipe.suppression_limit,
        person="pseudonymise" if policy.person in recipe.keyed else "drop",
    )
    models = goals(as_shown(policy, plan), profile, classes)
    say("applying the recipe")
    recoded = recipe.recode(classes)
    wished, _ = extended_goals(profile, classes, models, policy)
    recoding = as_released(recoded, (*models, *wished), plan)
    try:
        within_limit(recoding, plan, models)
    except GoalUnreachable:
        # What the extended risks ask for is given up if it takes more than the limit allows.
        recoding = as_released(recoded, models, plan)
        within_limit(recoding, plan, models)
    if (limit := mean_limit(profile)) is not None and (mean := mean_risk(recoding)) > limit:
        raise mean_unreachable(limit, mean)
    chosen = SearchResult(recoding, recipe.method, "as the recipe says", math.nan, None, False)
    new = [name for name in table.names if name not in recipe.columns]
    told = (policy.person, *policy.direct_identifiers, *policy.guards, *dropped)
    unknown = [name for name in new if name not in told]
    if unknown:
        notes.append(
            Sentence("left out because the recipe does not know them: {unknown}", unknown=", ".join(unknown))
        )
    solution = Solution(chosen, (), models, models, tuple(notes))
    reasons = {name: PLANNED if name in dropped else "the recipe does not know it" for name in new}
    return make_release(
        policy,
        plan,
        solution,
        before=changed.audit_original(policy, counted, say),
        price_search=PriceSearch(counted, policy, plan),
        left_out=reasons,
        key=key,
        progress=say,
        perturbed=changed,
    )


def _refuse_other_columns(recipe: Recipe, policy: Policy) -> None:
    """Refuse a policy with other quasi-identifiers than the recipe is for."""
    if set(recipe.quasi_identifiers) != set(policy.quasi_identifiers):
        raise InvalidPolicy(
            [
                Sentence(
                    "the recipe is for {quasi_identifiers}, the policy has {policy} as quasi-identifiers",
                    quasi_identifiers=tuple(recipe.quasi_identifiers),
                    policy=tuple(policy.quasi_identifiers),
                )
            ],
            remedy="use the policy under which the recipe was made, or make a new recipe",
        )


def policy_of(recipe: Recipe) -> Policy:
    """What a recipe alone says: who is who, and by which profile the release was judged."""
    models = [make_model(entry) for entry in recipe.requirements]
    return Policy.of(
        quasi_identifiers=recipe.quasi_identifiers,
        sensitive=recipe.sensitive
        or list(dict.fromkeys(model.sensitive for model in models if model.sensitive is not None)),
        person=recipe.person,
        guards=list(
            dict.fromkeys(
                model.guard for model in models if isinstance(model, PersonalisedPrivacy) and model.guard
            )
        ),
        profile=recipe.profile or DEFAULT_PROFILE,
    )


def judged_by(policy: Policy) -> str:
    """What to tell whoever named neither a policy nor a profile."""
    return Sentence(
        "no policy was given: roles, requirements and the profile {stem} are the recipe's",
        stem=Path(policy.profile).stem,
    )
