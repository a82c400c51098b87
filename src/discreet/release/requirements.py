"""What a release must meet: every requirement of policy and profile, asked of what a recoding shows."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from discreet.classes import EquivalenceClasses
from discreet.classes.merged import MergedClasses
from discreet.errors import GoalUnreachable, InvalidPolicy
from discreet.policy import Policy
from discreet.policy.plan import Plan
from discreet.privacy import AlphaKAnonymity, KAnonymity, PrivacyModel
from discreet.release.profile import Profile
from discreet.release.verdict import required_models
from discreet.transform.recoding import Recoding


def goals(policy: Policy, profile: Profile, classes: EquivalenceClasses) -> tuple[PrivacyModel, ...]:
    """Every requirement of policy and profile as a privacy model; limits on the prosecutor risk become k."""
    models = [model for model, _, _ in required_models(policy, profile, classes)]
    models += [
        KAnonymity(math.ceil(1.0 / limit.at_most - 1e-9))
        for limit in profile.limits
        if limit.risk == "prosecutor"
    ]
    if not models:
        raise InvalidPolicy(
            ["neither the policy nor its profile requires anything of the classes"],
            remedy='add a requirement, e.g. [[require]] model = "k-anonymity" k = 11',
        )
    return tuple(dict.fromkeys(models))


def extended_goals(
    profile: Profile, classes: EquivalenceClasses
) -> tuple[tuple[PrivacyModel, ...], list[str]]:
    """What keeps the extended risks from being high, as privacy models, and what is out of reach.

    Uniqueness 1 - log f / log n stays at most m if every class has f >= n^(1 - m) records; correlation
    P(s | class) if no value has a larger share of a class (Wong et al. 2006). What holds for the whole
    quasi-identifier then holds for each attribute: its values' shares are means over classes.
    """
    if profile.extended is None:
        return (), []
    highest = profile.extended.medium
    smallest = math.ceil(classes.total ** (1.0 - highest) - 1e-9)
    wished: list[PrivacyModel] = [KAnonymity(max(smallest, 1), unit="records")]
    out_of_reach = []
    for domain in classes.sensitive:
        if classes.histogram(domain.name).distribution.max() > highest:
            out_of_reach.append(
                f"one value of {domain.name} has more than {highest:.0%} of all records, so its correlation risk "
                "stays high whatever is done to the quasi-identifiers"
            )
        else:
            wished.append(AlphaKAnonymity(highest, 1, domain.name))
    return tuple(wished), out_of_reach


def self_consistent(recoding: Recoding, models: Sequence[PrivacyModel]) -> Recoding:
    """The recoding with groups suppressed until the release also holds when it is judged by itself.

    The search compares distributions with that of all input records. Who holds only the release compares
    with the release; a group that fails there is suppressed too, until none does.
    """
    kept = recoding.kept.copy()
    while kept.any():
        shown = recoding.shown(kept)
        holds = np.ones(len(shown.classes), dtype=bool)
        for model in models:
            holds &= model.holds(shown.classes)
        if holds.all():
            break
        kept[np.flatnonzero(kept)[~holds[shown.owner]]] = False
    return replace(recoding, kept=kept)


def meeting(recoding: Recoding, models: Sequence[PrivacyModel]) -> Recoding:
    """The recoding without the groups that fail a model, measured from the distribution of all input records."""
    groups = recoding.groups() + 1
    merged, owner = np.unique(np.where(recoding.kept, groups, 0), return_inverse=True)
    classes = MergedClasses.of(recoding.classes, owner, len(merged))
    holds = np.ones(len(merged), dtype=bool)
    for model in models:
        holds &= model.holds(classes)
    return replace(recoding, kept=recoding.kept & holds[owner])


def within_limit(recoding: Recoding, plan: Plan, models: Sequence[PrivacyModel]) -> None:
    share = recoding.suppressed_records / recoding.classes.total
    if recoding.kept.any() and share <= plan.suppression_limit + 1e-12:
        return
    asked = "; ".join(model.describe() for model in models)
    raise GoalUnreachable(
        f"no change within the limits meets all requirements ({asked})",
        nearest=f"suppressing {share:.1%} of the records where {plan.suppression_limit:.1%} are allowed",
        remedy="allow more suppression, coarser hierarchies, or ask for less",
    )
