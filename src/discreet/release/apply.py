"""Apply a recipe: treat other rows as those from which it was made, and verify them all the same."""

from __future__ import annotations

import math
from dataclasses import replace

from discreet.engine.read import read
from discreet.errors import InvalidPolicy, UnknownColumn
from discreet.policy import Policy
from discreet.policy.file import make_model
from discreet.release.audit import Progress
from discreet.release.goals import goals, meeting, self_consistent, within_limit
from discreet.release.make import count_classes, make_release
from discreet.release.profile import load_profile
from discreet.release.release import Release
from discreet.search.methods import Chosen
from discreet.table import Table
from discreet.transform.recipe import Recipe


def apply(
    recipe: Recipe,
    source: object,
    policy: Policy,
    *,
    key: str | None = None,
    progress: Progress | None = None,
) -> Release:
    """A release of other rows by a recipe; what it must meet is verified on these rows, too.

    Requirements are those of the recipe, of the policy and of its profile. Groups that fail one of them on
    these rows are suppressed, within the recipe's limit. Columns that the recipe does not know are left out.
    """
    say = progress or (lambda _: None)
    table = source if isinstance(source, Table) else read(source)
    lacking = [name for name in recipe.columns if name not in table.names]
    if lacking:
        raise UnknownColumn(lacking[0], table.names)
    if policy.person is None and recipe.person is not None:
        policy = policy.replace(person=recipe.person)
    asked = [make_model(entry) for entry in recipe.requirements]
    policy = policy.require(*(model for model in asked if model not in policy.requirements))
    table = policy.fit(table)
    if set(recipe.quasi_identifiers) != set(policy.quasi_identifiers):
        raise InvalidPolicy(
            [
                f"the recipe is for {', '.join(recipe.quasi_identifiers)}, "
                f"the policy has {', '.join(policy.quasi_identifiers)} as quasi-identifiers"
            ],
            remedy="use the policy under which the recipe was made, or make a new recipe",
        )
    classes = count_classes(table, policy, recipe.quasi_identifiers)
    models = goals(policy, load_profile(policy.profile), classes)
    say("applying the recipe")
    recoding = self_consistent(meeting(recipe.recode(classes), models), models)
    plan = replace(policy.plan, suppression_limit=recipe.suppression_limit)
    within_limit(recoding, plan, models)
    chosen = Chosen(recoding, recipe.method, "as the recipe says", math.nan, None, False)
    new = [name for name in table.names if name not in recipe.columns]
    unknown = [name for name in new if name != policy.person and name not in policy.direct_identifiers]
    notes = [f"left out because the recipe does not know them: {', '.join(unknown)}"] if unknown else []
    return make_release(table, policy, plan, recoding, chosen, (), models, notes, key, say, without=new)
