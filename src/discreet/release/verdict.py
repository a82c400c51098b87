"""The verdict: conventional compliance, extended category, and what stands in the way."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Literal

from discreet.classes import EquivalenceClasses
from discreet.measure import RecordRisk
from discreet.plain import finite
from discreet.policy import Policy
from discreet.privacy import PersonalisedPrivacy, PrivacyModel, assess
from discreet.release import rendered
from discreet.release.intruders import IntruderView
from discreet.release.profile import Limit, Profile
from discreet.release.requirements import least_size, prosecutor_risk, required_models
from discreet.release.rules import RuleResult
from discreet.risk.scorr import Category, category
from discreet.sentences import Sentence

Decision = Literal["release", "release-with-acknowledged-risk", "do-not-release"]

GRADES: tuple[Category, ...] = ("high", "medium", "low")
WORDS: dict[Decision, str] = {
    "release": "This table may be released.",
    "release-with-acknowledged-risk": "This table may be released if the remaining risk is acknowledged.",
    "do-not-release": "Do not release this table.",
}


@dataclass(frozen=True)
class Criterion:
    """One thing that was asked, what was found, and whether it holds."""

    id: str
    description: str
    found: str
    holds: bool
    origin: Literal["policy", "profile"]
    source: str
    value: float | None = None
    threshold: float | None = None
    attribute: str | None = None
    failing_records: int | None = None
    failing_share: float | None = None
    remedy: str = ""
    rank: int = 9

    def to_dict(self) -> dict[str, object]:
        value = None if self.value is None else finite(self.value)
        return {key: known for key, known in (vars(self) | {"value": value}).items() if key != "rank"}


@dataclass(frozen=True)
class Verdict:
    """May this be released? In words, with every criterion and the obstacles, most important first."""

    decision: Decision
    compliant: bool
    category: Category | None
    criteria: tuple[Criterion, ...]
    profile: Profile
    notes: tuple[str, ...] = ()
    """What a reader must know about how it was come to."""

    def __str__(self) -> str:
        return rendered.verdict_text(self)

    def __repr__(self) -> str:
        return f"Verdict({self.decision!r}, {len(self.obstacles)} of {len(self.criteria)} requirements fail)"

    def _repr_html_(self) -> str:
        return rendered.verdict_notebook(self)

    @property
    def words(self) -> str:
        """The decision as a sentence."""
        return WORDS[self.decision]

    @property
    def obstacles(self) -> tuple[Criterion, ...]:
        """What stands in the way, most important first."""
        failed = [criterion for criterion in self.criteria if not criterion.holds]
        return tuple(sorted(failed, key=lambda c: (c.rank, -(c.failing_share or 0.0))))

    @property
    def passes(self) -> bool:
        """Whether every requirement of the policy and its profile holds (what ``discreet check`` answers)."""
        return all(criterion.holds for criterion in self.criteria)

    def to_dict(self) -> dict[str, object]:
        return {
            "decision": self.decision,
            "words": self.words,
            "compliant": self.compliant,
            "category": self.category,
            "passes": self.passes,
            "profile": self.profile.to_dict(),
            "obstacles": [criterion.to_dict() for criterion in self.obstacles],
            "criteria": [criterion.to_dict() for criterion in self.criteria],
            "notes": list(self.notes),
        }


def decide(
    classes: EquivalenceClasses,
    *,
    policy: Policy,
    profile: Profile,
    risks: Sequence[RecordRisk],
    rules: Sequence[RuleResult] = (),
    unknown: RuleResult | None = None,
    guarantees: Sequence[tuple[RuleResult, Literal["policy", "profile"]]] = (),
    original: EquivalenceClasses | None = None,
    guarded: EquivalenceClasses | None = None,
    separately: Sequence[IntruderView] = (),
) -> Verdict:
    """Judge a table by its policy and profile; of a release the classes of the ``original`` may be at hand, and its own
    beside what people guard, which it does not tell (``guarded``). Limits and risks are those of each of the intruders who are judged
    ``separately``, if there are any.

    Conventional: every rule, required model and limit must hold, else the table does not comply.
    Extended (profiles that have it): the maximum over records of uniqueness, uniformity and correlation
    risk is low, medium or high; the worst decides. Not compliant or high: do not release; medium: release
    with the risk acknowledged; low: release. (Folz et al. 2025, section IV-B.) The Markov-model risk is
    reported and never decides.
    """
    criteria = [_rule(result, "profile") for result in rules]
    if unknown is not None:
        criteria.append(_rule(unknown, "policy"))
    criteria += [_rule(result, origin) for result, origin in guarantees]
    for model, origin, source in required_models(policy, profile, classes):
        asked = guarded if guarded is not None and model.needs_guards else classes
        criteria.append(
            _untold(model, origin, source)
            if isinstance(model, PersonalisedPrivacy) and not model.told(asked)
            else _requirement(model, asked, origin, source, original)
        )
    # Somebody who knows everything, or each intruder by themselves.
    looks: list[tuple[IntruderView | None, Sequence[RecordRisk], EquivalenceClasses]]
    looks = [(view, view.deciding_risks(), view.classes) for view in separately]
    looks = looks or [(None, risks, classes)]
    for view, known, seen in looks:
        limits = [_limit(limit, known, seen) for limit in profile.limits]
        criteria += [_for(view, limit) for limit in limits if limit is not None]
    compliant = all(criterion.holds for criterion in criteria)
    worst: Category | None = None
    if profile.extended is not None:
        extended = [
            (view, _extended(name, known, profile))
            for view, known, _ in looks
            for name in profile.extended.risks
        ]
        graded = [(_for(view, risk[0]), risk[1]) for view, risk in extended if risk is not None]
        criteria += [criterion for criterion, _ in graded]
        grades = {grade for _, grade in graded}
        worst = next((grade for grade in GRADES if grade in grades), None)
    decision: Decision = "release"
    if not compliant or worst == "high":
        decision = "do-not-release"
    elif worst == "medium":
        decision = "release-with-acknowledged-risk"
    return Verdict(decision, compliant, worst, tuple(criteria), profile)


def _requirement(
    model: PrivacyModel,
    classes: EquivalenceClasses,
    origin: Literal["policy", "profile"],
    source: str,
    original: EquivalenceClasses | None,
) -> Criterion:
    [row] = assess([model], classes, original=original)
    value = row.measure.value
    share = row.failing_records / classes.total
    remedy = Sentence(
        "generalise quasi-identifiers: {share:.1%} of the records are in classes that fail", share=share
    )
    if model.id == "k-anonymity" and classes.total_persons < row.threshold:
        remedy = Sentence(
            "the table has only {total_persons:,} persons: ask for less, or do not release it",
            total_persons=classes.total_persons,
        )
    elif share <= 0.1:
        remedy = Sentence(
            "suppress {failing_records:,} records ({share:.1%}), or generalise quasi-identifiers",
            failing_records=row.failing_records,
            share=share,
        )
    return Criterion(
        id=model.name,
        description=row.description,
        found=_with_unit(value, row.measure.unit),
        holds=row.holds,
        origin=origin,
        source=source,
        value=value,
        threshold=row.threshold,
        attribute=model.sensitive,
        failing_records=row.failing_records,
        failing_share=share,
        remedy="" if row.holds else remedy,
        rank=1 if model.id == "k-anonymity" else 2,
    )


def _for(view: IntruderView | None, criterion: Criterion) -> Criterion:
    """What was asked of one intruder, with their name."""
    if view is None:
        return criterion
    told = Sentence(
        "for {intruder}: {requirement}", intruder=view.name, requirement=Sentence(criterion.description)
    )
    return replace(criterion, description=told)


def _untold(model: PersonalisedPrivacy, origin: Literal["policy", "profile"], source: str) -> Criterion:
    """A requirement about what people guard, of a table that does not tell it: nobody can say that it holds."""
    return Criterion(
        id=model.name,
        description=model.describe(),
        found="the table does not tell what people guard",
        holds=False,
        origin=origin,
        source=source,
        threshold=model.threshold,
        attribute=model.sensitive,
        remedy="give the original, which tells it: --original FILE",
        rank=2,
    )


def _with_unit(value: float, unit: str) -> Sentence:
    """A value with the unit of which it is a count."""
    amount = Sentence("infinite") if math.isinf(value) else Sentence("{value:.4g}", value=value)
    if unit not in ("records", "persons"):
        return amount
    return Sentence(f"{{amount}} {unit if value != 1 else unit[:-1]}", amount=amount)


def _rule(result: RuleResult, origin: Literal["policy", "profile"]) -> Criterion:
    return Criterion(
        id=result.id,
        description=result.description,
        found=result.found,
        holds=result.holds,
        origin=origin,
        source=result.source,
        remedy=result.remedy,
        rank=0,
    )


def _limit(limit: Limit, risks: Sequence[RecordRisk], classes: EquivalenceClasses) -> Criterion | None:
    """A bound on a risk as a criterion; ``None`` where nothing is sensitive and the risk speaks of that.

    Prosecutor risks are ratios of counts and compared as such; the others are logarithms and float.
    """
    if limit.risk == "prosecutor":
        exact = prosecutor_risk(classes, limit.statistic)
        value, holds = float(exact), exact <= limit.at_most
        records = int(classes.all_records[classes.persons < least_size(limit.at_most)].sum())
        above = records / classes.total
    else:
        fitting = [risk for risk in risks if risk.name == limit.risk and risk.attribute is None]
        if not fitting:
            return None
        worst = max(fitting, key=lambda risk: float(getattr(risk, limit.statistic)))
        value = float(getattr(worst, limit.statistic))
        above = worst.share_above(float(limit.at_most))
        holds = value <= limit.at_most + 1e-9
        records = round(above * int(worst.weights.sum()))
    return Criterion(
        id=f"{limit.risk}-{limit.statistic}",
        description=limit.describe(),
        found=Sentence("{value:.4g}", value=value),
        holds=holds,
        origin="profile",
        source=limit.source,
        value=value,
        threshold=float(limit.at_most),
        failing_share=above,
        failing_records=records,
        remedy=""
        if holds
        else Sentence("{above:.1%} of the records are above it: generalise or suppress them", above=above),
        rank=1,
    )


def _extended(name: str, risks: Sequence[RecordRisk], profile: Profile) -> tuple[Criterion, Category] | None:
    """One of the extended risks as a criterion: the worst over the whole quasi-identifier and each attribute."""
    assert profile.extended is not None
    low, medium = profile.extended.low, profile.extended.medium
    fitting = [risk for risk in risks if risk.name == name and risk.decides]
    if not fitting:
        return None
    worst = max(fitting, key=lambda risk: (risk.max, risk.attribute is None))
    grade = category(worst.max, low=low, medium=medium)
    above = worst.share_above(medium)
    whom = Sentence("the whole quasi-identifier") if worst.attribute is None else worst.attribute
    about = (
        Sentence("{whom} for {sensitive}", whom=whom, sensitive=worst.sensitive) if worst.sensitive else whom
    )
    remedy: str = Sentence(
        "{above:.1%} of the records are above it: coarsen {columns}",
        above=above,
        columns=worst.attribute or Sentence("the quasi-identifiers"),
    )
    criterion = Criterion(
        id=name,
        description=Sentence(
            "the {name} risk of the worst-placed record is not high (at most {medium:g})",
            name=Sentence(name),
            medium=medium,
        ),
        found=Sentence("{risk:.4g} ({grade}; {about})", risk=worst.max, grade=Sentence(grade), about=about),
        holds=grade != "high",
        origin="profile",
        source=profile.extended.source,
        value=worst.max,
        threshold=medium,
        attribute=worst.sensitive,
        failing_share=above,
        failing_records=round(above * int(worst.weights.sum())),
        remedy=remedy if grade == "high" else "",
        rank=3,
    )
    return criterion, grade
