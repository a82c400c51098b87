"""What a release must meet: every entry of a policy and limit of a profile as a privacy model, and who meets it.

Limits are exact rational numbers, and so are the prosecutor risks that they bound: one over the size of a class,
or classes over records. So a limit of 1/11 allows a class of 11 and 0.09090909 does not, wherever it is asked.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from fractions import Fraction
from typing import Literal, TypeVar

import numpy as np

from discreet.classes import EquivalenceClasses
from discreet.errors import GoalUnreachable, InvalidPolicy, RequirementNotMet
from discreet.policy import Policy
from discreet.policy.file import make_model
from discreet.policy.plan import Plan
from discreet.privacy import (
    AlphaKAnonymity,
    BetaLikeness,
    DeltaPresence,
    DistributionModel,
    HAffiliation,
    KAnonymity,
    KMap,
    LinkedKAnonymity,
    PrivacyModel,
    TCloseness,
)
from discreet.release.guards import guarded
from discreet.release.intruders import asked_of
from discreet.release.profile import Profile, load_profile
from discreet.search.suppression import consistent
from discreet.sentences import Sentence
from discreet.table import Table
from discreet.transform.recoding import Recoding
from discreet.transform.stand_in import shown_for_suppressed

Result = TypeVar("Result")


def least_size(limit: Fraction) -> int:
    """The smallest class whose prosecutor risk 1 / f is at most a limit: f >= 1 / limit.

    >>> least_size(Fraction(1, 11)), least_size(Fraction("0.0909091")), least_size(Fraction("0.09090909"))
    (11, 11, 12)
    """
    return math.ceil(1 / limit)


def prosecutor_risk(classes: EquivalenceClasses, statistic: Literal["max", "mean"]) -> Fraction:
    """The largest prosecutor risk 1 / f, or its mean over records, which at person level is classes / records.

    >>> classes = EquivalenceClasses.from_columns({"zip": [1, 1, 1, 1, 2]})
    >>> prosecutor_risk(classes, "max"), prosecutor_risk(classes, "mean")
    (Fraction(1, 1), Fraction(2, 5))
    """
    sizes, owner = np.unique(classes.persons, return_inverse=True)
    if statistic == "max":
        return Fraction(1, int(sizes[0]))
    records = np.zeros(len(sizes), dtype=np.int64)
    np.add.at(records, owner, classes.all_records)
    total = sum(
        (Fraction(*ratio) for ratio in zip(records.tolist(), sizes.tolist(), strict=True)), Fraction()
    )
    return total / classes.total


def models_of(entry: Mapping[str, object], sensitive: Mapping[str, bool]) -> list[PrivacyModel]:
    """The models that an entry stands for: with ``sensitive = "*"`` one for each sensitive attribute.

    ``sensitive`` says of each attribute whether its values are ordered numbers: among those t-closeness measures
    the ordered distance where the entry leaves it open.
    """
    if entry.get("sensitive") != "*":
        return [make_model(entry)]
    models = []
    for name, ordered in sensitive.items():
        named = {**entry, "sensitive": name}
        if entry["model"] == "t-closeness" and "distance" not in entry and ordered:
            named["distance"] = "ordered"
        models.append(make_model(named))
    return models


def as_entry(model: PrivacyModel) -> dict[str, object]:
    """A model as a policy file or a recipe names it: its id and the parameters that it has."""
    given = {name: value for name, value in model.parameters().items() if value is not None}
    return {"model": model.id, **given}


def required_models(
    policy: Policy, profile: Profile, classes: EquivalenceClasses
) -> list[tuple[PrivacyModel, Literal["policy", "profile"], str]]:
    """The models that profile and policy name, each with who asks for it and by which source.

    What a profile asks of a person's rows together is asked only where the policy has person ids: without them nobody
    can tell which rows belong together. What the policy itself asks is then asked of records.
    """
    sensitive = {domain.name: domain.is_numeric for domain in classes.sensitive}
    models: list[tuple[PrivacyModel, Literal["policy", "profile"], str]] = []
    for requirement in profile.requirements:
        models += [
            (model, "profile", requirement.source) for model in models_of(requirement.entry, sensitive)
        ]
    for asked in policy.requirements:
        entry = {"model": asked.id, **asked.parameters()}
        models += [(model, "policy", asked.source) for model in models_of(entry, sensitive)]
    models = [(each, by, source) for model, by, source in models for each in asked_of(policy, model)]
    models = [(guarded(model, policy, classes), by, source) for model, by, source in models]
    fraction = policy.sampling_fraction
    models = [
        (
            replace(model, sampling_fraction=fraction)
            if (
                (isinstance(model, KMap) and model.estimator)
                or (isinstance(model, DeltaPresence) and model.confidence)
            )
            and model.sampling_fraction is None
            else model,
            by,
            source,
        )
        for model, by, source in models
    ]
    if policy.person is None:
        models = [
            (
                KAnonymity(model.k, unit="records") if isinstance(model, LinkedKAnonymity) else model,
                by,
                source,
            )
            for model, by, source in models
            if by == "policy" or not isinstance(model, LinkedKAnonymity)
        ]
    return models


def limit_models(profile: Profile) -> list[tuple[KAnonymity, str]]:
    """A profile's limits on the largest prosecutor risk as models of class size, each with its source."""
    return [
        (KAnonymity(least_size(limit.at_most)), limit.source)
        for limit in profile.limits
        if limit.risk == "prosecutor" and limit.statistic == "max"
    ]


def mean_limit(profile: Profile) -> Fraction | None:
    """The profile's strictest limit on the mean prosecutor risk."""
    limits = [
        limit.at_most for limit in profile.limits if limit.risk == "prosecutor" and limit.statistic == "mean"
    ]
    return min(limits, default=None)


def required_size(policy: Policy, profile: Profile) -> int | None:
    """The smallest class that policy and profile allow, if they speak of class sizes."""
    models: list[PrivacyModel] = [*policy.requirements, *(model for model, _ in limit_models(profile))]
    models += [model for requirement in profile.requirements for model in models_of(requirement.entry, {})]
    return max((model.k for model in models if isinstance(model, KAnonymity)), default=None)


def goals(policy: Policy, profile: Profile, classes: EquivalenceClasses) -> tuple[PrivacyModel, ...]:
    """Every requirement on classes as a privacy model; a limit on the mean risk is none (see ``within_mean``).

    The policy is that of what is released. If persons are counted who have no id there, shares of persons must hold as
    shares of records, too, which is all that its recipient can count.
    """
    if policy.guarantees or profile.guarantees:
        raise InvalidPolicy(
            ["differential privacy is required, which no change of values gives"],
            remedy="make the release with `discreet tabulate`, `discreet synthesize` or `discreet safepub`, or leave the requirement out",
        )
    models = [model for model, _, _ in required_models(policy, profile, classes)]
    models += [each for model, _ in limit_models(profile) for each in asked_of(policy, model)]
    if policy.person is None and classes.event_level:
        models += [replace(model, unit="records") for model in models if isinstance(model, HAffiliation)]
    if not models and mean_limit(profile) is None:
        raise InvalidPolicy(
            ["neither the policy nor its profile requires anything of the classes"],
            remedy='add a requirement, e.g. [[require]] model = "k-anonymity" k = 11',
        )
    return tuple(dict.fromkeys(models)) or (KAnonymity(1),)


def within_mean(
    limit: Fraction | None, attempt: Callable[[int], Result], mean: Callable[[Result], Fraction]
) -> Result:
    """The result of a search whose mean prosecutor risk is within a limit.

    A mean is no property of single classes, which is all that searches ask for. So ``attempt`` is asked for the
    best result in which every class has at least k records, first with k = 1, which asks for nothing, and then
    for the least k whose result is within the limit, by bisection: k = 1 / limit certainly is, and mostly far less
    suffices. That this is the least loss of all is not proven.
    """
    result = attempt(1)
    if limit is None or mean(result) <= limit:
        return result
    within: Result | None = None
    low, high = 1, least_size(limit) + 1
    while high - low > 1:
        k = (low + high) // 2
        try:
            result = attempt(k)
        except GoalUnreachable:
            high = k
            continue
        if mean(result) <= limit:
            within, high = result, k
        else:
            low = k
    if within is None:
        raise mean_unreachable(limit, mean(result))
    return within


def mean_unreachable(limit: Fraction, nearest: Fraction) -> GoalUnreachable:
    """What is raised where the mean prosecutor risk stays above its limit."""
    return GoalUnreachable(
        Sentence(
            "no change within the limits has a mean prosecutor risk of at most {limit:.4g}",
            limit=float(limit),
        ),
        nearest=Sentence("a mean prosecutor risk of {nearest:.4g}", nearest=float(nearest)),
        remedy="allow more suppression, coarser hierarchies, or ask for less",
    )


def with_size(models: tuple[PrivacyModel, ...], k: int) -> tuple[PrivacyModel, ...]:
    """The models and, where k asks for more than nothing, classes of at least k."""
    return models if k == 1 else tuple(dict.fromkeys((*models, KAnonymity(k))))


def mean_risk(recoding: Recoding) -> Fraction:
    """The mean prosecutor risk of a release; suppressed records that are shown as ``*`` are one class of it."""
    return prosecutor_risk(recoding.released(), "mean")


def extended_goals(
    profile: Profile,
    classes: EquivalenceClasses,
    required: Sequence[PrivacyModel] = (),
    policy: Policy | None = None,
) -> tuple[tuple[PrivacyModel, ...], list[str]]:
    """What keeps the extended risks from being high, as privacy models, and what is out of reach.

    Uniqueness 1 - log f / log n stays at most m if every class has f >= n^(1 - m) records; correlation
    P(s | class) if no value has a larger share of a class (Wong et al. 2006). What holds for the whole
    quasi-identifier then holds for each attribute: its values' shares are means over classes. The gain is a kind of
    β-likeness; where t-closeness with equal distances is ``required``, no value gains more than t, which is the sum of
    all gains, and nothing more need be asked. Of the intruders of the ``policy`` each is asked by itself, if it says so.
    """
    if profile.extended is None:
        return (), []
    highest, deciding = profile.extended.medium, profile.extended.risks
    wished: list[PrivacyModel] = []
    if "uniqueness" in deciding:
        smallest = math.ceil(classes.total ** (1.0 - highest) - 1e-9)
        wished.append(KAnonymity(max(smallest, 1), unit="records"))
    if "gain" in deciding:
        bounded = {
            model.sensitive
            for model in required
            if isinstance(model, TCloseness) and model.distance == "equal" and model.t <= highest
        }
        wished += [
            BetaLikeness(highest, domain.name, kind="absolute")
            for domain in classes.sensitive
            if domain.name not in bounded
        ]
    out_of_reach: list[str] = []
    for domain in classes.sensitive if "correlation" in deciding else ():
        if classes.histogram(domain.name).distribution.max() > highest:
            out_of_reach.append(
                Sentence(
                    "one value of {name} has more than {highest:.0%} of all records, so its correlation risk "
                    "stays high whatever is done to the quasi-identifiers",
                    name=domain.name,
                    highest=highest,
                )
            )
        else:
            wished.append(AlphaKAnonymity(highest, 1, domain.name))
    if policy is not None:
        wished = [each for model in wished for each in asked_of(policy, model)]
    return tuple(wished), out_of_reach


def refuse_out_of_reach(table: Table, policy: Policy) -> None:
    """Raise where the profile asks for what no change of the quasi-identifiers can reach, with what can be done instead."""
    names = [name for name in policy.sensitive if name in table.names and name not in policy.perturbed]
    profile = load_profile(policy.profile)
    if not names or profile.extended is None or "correlation" not in profile.extended.risks:
        return
    known = [name for name in policy.quasi_identifiers if name in table.names][:1]
    _, out_of_reach = extended_goals(
        profile, table.engine.count(table, quasi_identifiers=known, sensitive=names)
    )
    if out_of_reach:
        raise RequirementNotMet(
            Sentence(
                "the verdict would be: do not release, whatever is done ({reasons:; })",
                reasons=tuple(out_of_reach),
            ),
            remedy="leave the column out (--identifiers), judge it by itself and not as a sensitive one, choose another "
            'profile (open-data asks what a class tells beyond the whole table), or say why with --acknowledge "reason"',
        )


def against_original(models: Sequence[PrivacyModel]) -> tuple[PrivacyModel, ...]:
    """The models as they are asked of a file that shows every record: its distribution is the original's."""
    return tuple(
        replace(model, reference="original") if isinstance(model, DistributionModel) else model  # type: ignore[type-var]
        for model in models
    )


def as_released(recoding: Recoding, models: Sequence[PrivacyModel], plan: Plan) -> Recoding:
    """The recoding with what else must be suppressed, and whether suppressed records can be shown with ``*``.

    What is shown must hold for one who has nothing but the file. If the plan shows suppressed records with ``*``,
    they are a class of it like any other; where that one fails, they are left out. A recoding that holds stays
    as it is, so that a recipe repeats the choice from which it was made.
    """
    allowed = math.floor(plan.suppression_limit * recoding.classes.total + 1e-9)
    alone = replace(consistent(recoding, models, allowed), hidden=None)
    if plan.suppressed == "drop":
        return alone
    if (shown := _with_suppressed(recoding, models, plan)) is not None:
        return shown
    if alone.suppressed_records == recoding.suppressed_records:
        return alone
    for other in (consistent(recoding, against_original(models), allowed), alone):
        shown = _with_suppressed(other, models, plan)
        if shown is not None and other.suppressed_records <= allowed:
            return shown
    return alone


def _with_suppressed(recoding: Recoding, models: Sequence[PrivacyModel], plan: Plan) -> Recoding | None:
    """The recoding of a release that has the suppressed records, if that meets every requirement in every class.

    They show the statistic that the plan names, or ``*`` where these would not do.
    """
    for numbers in dict.fromkeys((plan.suppressed_numbers, "star")):
        shown = replace(recoding, hidden=shown_for_suppressed(recoding, numbers))
        classes = shown.regrouped()
        if recoding.kept.any() and all(model.satisfied(classes) for model in models):
            return shown
    return None


def within_limit(recoding: Recoding, plan: Plan, models: Sequence[PrivacyModel]) -> None:
    share = recoding.suppressed_records / recoding.classes.total
    if recoding.kept.any() and share <= plan.suppression_limit + 1e-12:
        return
    asked = tuple(Sentence(model.describe()) for model in models)
    raise GoalUnreachable(
        Sentence("no change within the limits meets all requirements ({asked:; })", asked=asked),
        nearest=Sentence(
            "suppressing {share:.1%} of the records where {suppression_limit:.1%} are allowed",
            share=share,
            suppression_limit=plan.suppression_limit,
        ),
        remedy="allow more suppression, coarser hierarchies, or ask for less",
    )
