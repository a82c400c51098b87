"""The tables of the evidence report: criteria, attacks, methods, losses, queries, own figures, learning, provenance.

The public edition is built from what may be shown: names of columns, numbers over many people, and texts that
discreet wrote and that hold no number of its own.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from discreet.attacks.catalogue import ATTACKS, WHY_NOT
from discreet.attacks.result import AttackResult
from discreet.measure import Measure
from discreet.policy import Policy
from discreet.release.attack import Attacks
from discreet.release.audit import versions
from discreet.release.compare import Comparison
from discreet.release.legal import CRITERIA, DEFENCES, TITLES, State, Summary
from discreet.reports.audit.pictures import drawn_share
from discreet.reports.charts.points import whisker
from discreet.reports.evidence.pictures import (
    advantage_text,
    baseline_told,
    figures_for,
    figures_of,
    hidden,
    interval_text,
)
from discreet.reports.words import Figures, Tone, number, percent, title_of
from discreet.risk.special_uniques import SMALL_GROUP
from discreet.utility.efficacy import METRICS, Efficacy, Metric, Score
from discreet.utility.kpi import SOURCE as KPI_SOURCE
from discreet.utility.kpi import KpiResult
from discreet.utility.workload import AGGREGATES

STATE_TONES: dict[State, Tone | None] = {
    "gives way": "bad",
    "weakened": "warn",
    "withstood": "good",
    "not tested": None,
}

FAMILIES: dict[str, str] = {
    "U1": "Records and classes",
    "U2": "Precision of values",
    "U3": "Information",
    "U4": "Distortion",
    "U5": "Distances between records",
    "U6": "Distributions and relations",
    "U7": "Answers to queries",
    "U8": "Learning",
    "U9": "Use against risk",
}
"""The families of measures of loss, as the catalogue has them."""

METHODS = {
    "k-anonymity": ("k-anonymity",),
    "l-diversity": ("l-diversity", "multi-attribute-l-diversity", "l-plus-diversity"),
    "t-closeness": ("t-closeness",),
}
"""The models that make a policy require a method of the method table."""

QUANTILES = (0.1, 0.25, 0.5, 0.75, 0.9)
MOST_EXPOSED = 10
MOST_GROUPS = 50
NOT_RUN = "it could not be run on these tables"
NOT_ASKED = "it was not asked for"


# ── the three criteria ────────────────────────────────────────────────────────────────────────────────


@dataclass(frozen=True)
class CriterionRow:
    title: str
    question: str
    state: State
    tone: Tone | None
    finding: str
    tested: str
    measures: tuple[tuple[str, str], ...]


def criteria(attacks: Attacks, *, public: bool) -> list[CriterionRow]:
    """The three legal criteria: state, finding, what was run, and what the audit of the release says to it."""
    figures = Figures(max(attacks.audit.rows, 1), public=public)
    return [
        CriterionRow(
            title=one.title,
            question=one.question,
            state=one.state,
            tone=STATE_TONES[one.state],
            finding=finding(one, public=public),
            tested=", ".join(one.tested) or "none",
            measures=tuple(
                (
                    title_of(found.name) + (f": {found.attribute}" if found.attribute else ""),
                    f"{figures.measured(found)} {figures.unit(found)}".strip(),
                )
                for found in one.measures
            ),
        )
        for one in attacks.criteria
    ]


def finding(summary: Summary, *, public: bool) -> str:
    """What was found, in words; of a few people the public edition gives only a bound."""
    worst = summary.worst
    if worst is None or not hidden(worst, public=public):
        return summary.finding
    told = "more than chance" if worst.better_than_baseline else "not distinguishable from chance"
    return (
        f"The attack that got furthest ({worst.attack}{f' on {worst.target}' if worst.target else ''}) was right about "
        f"{figures_for(worst, public=public).share(worst.rate)} of {worst.tries:,.0f} {worst.unit}; "
        + (
            f"without the release {percent(worst.baseline)} are expected. "
            if baseline_told(worst, public=public)
            else "how many are expected without the release is withheld. "
        )
        + f"This is {told}."
    )


# ── attacks ───────────────────────────────────────────────────────────────────────────────────────────


@dataclass(frozen=True)
class AttackRow:
    title: str
    target: str
    question: str
    right: str
    tried: str
    rate: str
    interval: str
    picture: str
    baseline: str
    beyond: str
    tone: Tone
    fallen: str
    meaning: str
    notes: tuple[str, ...]
    source: str


@dataclass(frozen=True)
class AttackGroup:
    title: str
    rows: tuple[AttackRow, ...]


def attack_groups(attacks: Attacks, *, public: bool) -> list[AttackGroup]:
    """Every attack with its interval, under the criterion that it speaks to."""
    return [
        AttackGroup(TITLES[criterion], tuple(rows))
        for criterion in CRITERIA
        if (rows := [_attack(one, public=public) for one in attacks.results if one.criterion == criterion])
    ]


def _attack(result: AttackResult, *, public: bool) -> AttackRow:
    figures = figures_for(result, public=public)
    veiled = hidden(result, public=public)
    right = figures.few(result.successes)
    told = baseline_told(result, public=public)
    return AttackRow(
        title=title_of(result.attack),
        target=result.target or "",
        question=_question(result.attack),
        right=f"fewer than {SMALL_GROUP}" if right else "nearly all" if veiled else _count(result.successes),
        tried=f"{_count(result.tries)} {result.unit}",
        rate=figures.share(result.rate),
        interval=interval_text(result, public=public),
        picture=whisker(drawn_share(result.rate, figures), marks=[result.baseline] if told else [])
        if veiled
        else whisker(result.rate, low=result.low, high=result.high, marks=[result.baseline]),
        baseline=percent(result.baseline) if told else "withheld",
        beyond=advantage_text(result, public=public),
        tone="bad" if result.better_than_baseline else "good",
        fallen=figures.count(len(result.fallen), "class", "classes") if result.fallen else "none",
        meaning="" if public else result.meaning,
        notes=()
        if public
        else (*(f"{_words(name)}: {number(value)}" for name, value in result.figures), *result.notes),
        source=result.source,
    )


def _question(attack: str) -> str:
    """What an attack asks; an attack by several learners has their name after its own."""
    kind = next((kind for name, kind in ATTACKS.items() if attack.startswith(name)), None)
    return kind.says if kind is not None else ""


@dataclass(frozen=True)
class ExposedRow:
    values: tuple[tuple[str, str], ...]
    score: str
    people: str
    says: str


@dataclass(frozen=True)
class ExposedGroup:
    title: str
    rows: tuple[ExposedRow, ...]
    more: int


def exposed(attacks: Attacks) -> list[ExposedGroup]:
    """The people with whom each attack got furthest: for the internal edition only."""
    found = []
    for result in attacks.results:
        worst = sorted(result.exposed, key=lambda one: -one.score)
        if worst:
            found.append(
                ExposedGroup(
                    title_of(result.attack) + (f": {result.target}" if result.target else ""),
                    tuple(
                        ExposedRow(tuple(one.values.items()), percent(one.score), f"{one.people:,}", one.says)
                        for one in worst[:MOST_EXPOSED]
                    ),
                    max(0, len(worst) - MOST_EXPOSED),
                )
            )
    return found


def untested(attacks: Attacks, *, public: bool) -> list[tuple[str, str, str]]:
    """Attacks that were not run, asked for or not: name, criterion, why; in public only reasons that hold no count."""
    rows = []
    for one in attacks.untested:
        known = next((why for why in WHY_NOT.values() if one.why.endswith(why)), None)
        why = one.why if known is not None or not public else NOT_RUN
        rows.append((title_of(one.attack), TITLES[one.criterion], why))
    told = (*(one.attack for one in attacks.results), *(one.attack for one in attacks.untested))
    return rows + [
        (title_of(kind.id), TITLES[kind.criterion], NOT_ASKED)
        for kind in ATTACKS.values()
        if not any(name.startswith(kind.id) for name in told)
    ]


@dataclass(frozen=True)
class DefenceRow:
    method: str
    required: tuple[str, ...]
    verdicts: tuple[tuple[bool, str], ...]


def defences(policy: Policy) -> list[DefenceRow]:
    """The method table: which methods can defend against which criterion, and which of them the policy requires."""
    return [
        DefenceRow(
            one.method,
            tuple(
                model.describe() for model in policy.requirements if model.id in METHODS.get(one.method, ())
            ),
            (one.singling_out, one.linkability, one.inference),
        )
        for one in DEFENCES
    ]


# ── losses ────────────────────────────────────────────────────────────────────────────────────────────


@dataclass(frozen=True)
class LossRow:
    name: str
    unit: str
    direction: str
    release: str
    trivial: str
    meaning: str
    source: str
    notes: tuple[str, ...]
    parts: tuple[tuple[str, str], ...]


@dataclass(frozen=True)
class LossGroup:
    title: str
    rows: tuple[LossRow, ...]


def losses(comparison: Comparison, *, public: bool) -> list[LossGroup]:
    """All measures of loss by family: overall, of the release that shows nothing, and per attribute."""
    figures = figures_of(comparison.rows, public=public)
    found = comparison.losses
    first: dict[str, Measure] = {}
    for one in (*found.overall, *found.attributes):
        first.setdefault(one.name, one)
    groups: dict[str, list[LossRow]] = {family: [] for family in FAMILIES}
    for name, one in first.items():
        groups[one.catalogue.partition(",")[0]].append(
            LossRow(
                name=name,
                unit=one.unit,
                direction=f"{one.better} is better",
                release=_loss(found.measure(name), figures),
                trivial=_loss(found.baseline(name), figures),
                meaning=one.meaning,
                source=one.source,
                notes=one.notes,
                parts=tuple(
                    (str(part.attribute), _loss(part, figures))
                    for part in found.attributes
                    if part.name == name
                ),
            )
        )
    return [LossGroup(FAMILIES[family], tuple(rows)) for family, rows in groups.items() if rows]


def _loss(measure: Measure | None, figures: Figures) -> str:
    """A value; in public a share as it may be told, and anything else with two digits, which betray nobody."""
    if measure is None:
        return "per attribute"
    value = measure.value
    if math.isnan(value):
        return "not defined"
    if not figures.public or math.isinf(value) or value == 0:
        return number(value)
    if 0 < value <= 1 and measure.unit.startswith("share"):
        return figures.share(value)
    if figures.few(round(value * figures.total, 6)):
        return f"less than {SMALL_GROUP / figures.total:.2g}"
    return number(float(f"{value:.2g}"))


@dataclass(frozen=True)
class QueryRow:
    kind: str
    queries: str
    errors: tuple[str, ...]


def queries(comparison: Comparison) -> list[QueryRow]:
    """The relative errors of random queries: quantiles for counts, sums and means."""
    rows = []
    for aggregate in AGGREGATES:
        errors = comparison.losses.workload.errors[aggregate]
        if len(errors):
            rows.append(
                QueryRow(
                    {
                        "count": "How many people …?",
                        "sum": "What is the sum …?",
                        "average": "What is the mean …?",
                    }[aggregate],
                    f"{len(errors):,}",
                    tuple(percent_of_error(float(np.quantile(errors, q))) for q in QUANTILES),
                )
            )
    return rows


def percent_of_error(error: float) -> str:
    """A relative error as a percentage, which may be above 100.

    >>> percent_of_error(0.025), percent_of_error(1.5), percent_of_error(0.0)
    ('2.5%', '150.0%', '0%')
    """
    return percent(error) if error < 1.0 else f"{error:,.1%}"


@dataclass(frozen=True)
class KpiRow:
    name: str
    description: str
    answer: str
    median: str
    largest: str
    tolerance: str
    tone: Tone | None
    holds: str
    reason: str
    by: str
    groups: tuple[tuple[str, str, str, str], ...]
    more: int
    source: str


def kpis(comparison: Comparison, *, public: bool) -> list[KpiRow]:
    """The user's own figures; what the release cannot tell any more is said in words."""
    return [_kpi(one, public=public) for one in comparison.kpis]


def _kpi(found: KpiResult, *, public: bool) -> KpiRow:
    answer = "not answerable any more"
    if found.answerable:
        answer = "answerable" if len(found.groups) == 1 else "answerable for every group"
    elif found.errors:
        answer = f"answerable for {percent(found.answerable_share)} of the groups, the others not any more"
    tones: dict[bool | None, tuple[Tone | None, str]] = {
        True: ("good", "within tolerance"),
        False: ("bad", "outside tolerance"),
        None: (None, "no tolerance named"),
    }
    tone, holds = tones[found.holds]
    return KpiRow(
        name=found.name,
        description="" if public else found.description,
        answer=answer,
        median="–" if found.median_error is None else percent_of_error(found.median_error),
        largest="–" if found.max_error is None else percent_of_error(found.max_error),
        tolerance="–" if found.tolerance is None else percent_of_error(found.tolerance),
        tone=tone,
        holds=holds,
        reason="" if public else found.reason,
        by=", ".join(found.by),
        groups=()
        if public
        else tuple(
            (
                ", ".join("∅" if part is None else part for part in group.key) or "all",
                number(group.original),
                "not answerable any more" if group.released is None else number(group.released),
                "–"
                if group.error is None
                else number(group.error)
                if group.absolute
                else percent_of_error(group.error),
            )
            for group in found.groups[:MOST_GROUPS]
        ),
        more=max(0, len(found.groups) - MOST_GROUPS),
        source=KPI_SOURCE,
    )


@dataclass(frozen=True)
class LearningRow:
    metric: str
    picture: str
    release: str
    interval: str
    original: str
    majority: str
    trivial: str
    kept: str


@dataclass(frozen=True)
class LearningGroup:
    title: str
    meaning: str
    notes: tuple[str, ...]
    source: str
    rows: tuple[LearningRow, ...]


SCORES = {"accuracy": "accuracy", "macro-f1": "F1, mean over values", "auc": "area under the ROC curve"}


def learning(comparison: Comparison, *, public: bool) -> list[LearningGroup]:
    """What can be learnt from the release, between the original (U_max) and the most frequent value (U_base)."""
    return [
        LearningGroup(
            title=f"{one.label}, by {one.classifier.replace('-', ' ').replace('bayes', 'Bayes')}",
            meaning="" if public else one.meaning,
            notes=() if public else one.notes,
            source=one.source,
            rows=tuple(_learnt(one, metric, public=public) for metric in METRICS),
        )
        for one in comparison.efficacy
    ]


def _learnt(found: Efficacy, metric: Metric, *, public: bool) -> LearningRow:
    """One score; in public without intervals, from which a few people could be reckoned."""
    figures = Figures(max(found.tested, 1), public=public)
    release, original = found.release[metric], found.original[metric]
    majority, trivial = found.majority[metric], found.trivial[metric]
    kept = found.relative(metric)
    picture = ""
    if not math.isnan(release.value):
        others = [one.value for one in (majority, original) if not math.isnan(one.value)]
        picture = whisker(
            drawn_share(release.value, figures),
            low=None if public else release.low,
            high=None if public else release.high,
            marks=[drawn_share(value, figures) for value in others],
        )
    return LearningRow(
        metric=SCORES[metric],
        picture=picture,
        release=_score(release, figures),
        interval="" if public or not picture else f"{percent(release.low)} to {percent(release.high)}",
        original=_score(original, figures),
        majority=_score(majority, figures),
        trivial=_score(trivial, figures),
        kept="nothing to keep" if math.isnan(kept) else f"{kept:.0%}".replace("-", "−"),
    )


def _score(score: Score, figures: Figures) -> str:
    return "not defined" if math.isnan(score.value) else figures.share(score.value)


# ── provenance ────────────────────────────────────────────────────────────────────────────────────────


def provenance(
    comparison: Comparison | None, attacks: Attacks | None, *, public: bool
) -> list[tuple[str, str]]:
    """Which files, with which chance, by which intruder, and made with what."""
    rows: list[tuple[str, str]] = []
    no_hash = "not a file: the rows came from memory"
    if comparison is not None:
        if not public:
            rows.append(("SHA-256 of the original", comparison.original.sha256 or no_hash))
        rows.append(("SHA-256 of the release", comparison.release.sha256 or no_hash))
        rows.append(("Seed of the comparison", f"{comparison.seed}"))
        rows.append(("Random queries", f"{comparison.losses.workload.asked:,} had a true answer"))
    elif attacks is not None:
        rows.append(("SHA-256 of the release", attacks.source.sha256 or no_hash))
    if attacks is not None:
        preset = attacks.scenario.preset
        rows += [
            ("Intruder", f"{preset.name}: {preset.title}, who {preset.says}"),
            ("Known to the intruder", ", ".join(attacks.scenario.known)),
            ("Source of the scenario", preset.source),
            ("Seed of the attacks", f"{attacks.seed}"),
        ]
    matched = dict.fromkeys(one.matched for one in (comparison, attacks) if one is not None)
    rows.append(("How records were matched", "; ".join(matched)))
    return [*rows, *versions().items()]


def _count(value: float) -> str:
    return f"{value:,.0f}" if abs(value - round(value)) < 1e-6 else f"{value:,.1f}"


def _words(name: str) -> str:
    return name.replace("-", " ")
