"""The verdict of an audit: its criteria as rows, and what it comes to in words and tones."""

from __future__ import annotations

from collections.abc import Iterable

from discreet.release.verdict import Criterion, Decision, Verdict
from discreet.reports.figures import Figures, Row
from discreet.reports.words import CATEGORY_TONES, SYMBOLS, Tone, day, number
from discreet.risk.scorr import category
from discreet.sentences import Sentence

DECISION_TONES: dict[Decision, Tone] = {
    "release": "good",
    "release-with-acknowledged-risk": "warn",
    "do-not-release": "bad",
}


MOST_OBSTACLES = 5
"""Obstacles a notebook shows; the report shows all."""


def criterion_rows(criteria: Iterable[Criterion], figures: Figures) -> list[Row]:
    """What was asked, what was found, whether it holds, and by whose word."""
    return [
        {
            "asked": criterion.description,
            "found": figures.finding(criterion),
            "holds": criterion.holds,
            "remedy": figures.remedy(criterion),
            "origin": asked_by(criterion),
            "source": criterion.source,
            "required": bound(criterion),
        }
        for criterion in criteria
    ]


def asked_by(criterion: Criterion) -> str:
    """Who asks for a criterion."""
    return "your policy" if criterion.origin == "policy" else "the profile"


def judgement(verdict: Verdict, figures: Figures) -> dict[str, object]:
    """The verdict as words, tones and obstacles."""
    tone = DECISION_TONES[verdict.decision]
    return {
        "words": verdict.words,
        "tone": tone,
        "symbols": SYMBOLS,
        "compliant": verdict.compliant,
        "compliance": compliance(verdict),
        "category": verdict.category,
        "category_tone": CATEGORY_TONES[verdict.category] if verdict.category else None,
        "grade": grade(verdict),
        "obstacles": criterion_rows(verdict.obstacles, figures),
        "acknowledged": acknowledged(verdict),
        "profile": verdict.profile,
        "profile_date": day(verdict.profile.date),
    }


def first_obstacles(verdict: Verdict, figures: Figures) -> dict[str, object]:
    """The most important obstacles, and how many more there are."""
    rows = criterion_rows(verdict.obstacles, figures)
    return {"obstacles": rows[:MOST_OBSTACLES], "more": max(0, len(rows) - MOST_OBSTACLES)}


def bound(criterion: Criterion) -> str:
    """What a failed criterion would have needed, with its direction: the side the value is not on."""
    if criterion.threshold is None or criterion.value is None:
        return ""
    bound = number(criterion.threshold)
    if criterion.value == criterion.threshold:
        return Sentence("better than {bound}", bound=bound)
    if criterion.value < criterion.threshold:
        return Sentence("at least {bound}", bound=bound)
    return Sentence("at most {bound}", bound=bound)


def compliance(verdict: Verdict) -> str:
    """Conventional compliance as a sentence.

    The extended risks grade a table; every other criterion says whether it complies.
    """
    conventional = conventional_criteria(verdict)
    failed = sum(not criterion.holds for criterion in conventional)
    if not conventional:
        return "This profile asks for nothing beyond the extended risks."
    if not failed:
        few = {1: "The one conventional criterion holds.", 2: "Both conventional criteria hold."}
        return few.get(
            len(conventional),
            Sentence("All {conventional} conventional criteria hold.", conventional=len(conventional)),
        )
    if failed == len(conventional) > 1:
        return Sentence("None of the {failed} conventional criteria holds.", failed=failed)
    if len(conventional) == 1:
        return Sentence("1 of 1 conventional criterion does not hold.")
    if failed == 1:
        return Sentence("1 of {criteria} conventional criteria does not hold.", criteria=len(conventional))
    return Sentence(
        "{failed} of {criteria} conventional criteria do not hold.", failed=failed, criteria=len(conventional)
    )


def conventional_criteria(verdict: Verdict) -> list[Criterion]:
    """The criteria that decide compliance: all but the extended risks."""
    graded = verdict.profile.extended.risks if verdict.profile.extended else ()
    return [criterion for criterion in verdict.criteria if criterion.id not in graded]


def acknowledged(verdict: Verdict) -> list[str]:
    """The risks that remain to be acknowledged where a table may be released on that condition."""
    extended = verdict.profile.extended
    if verdict.decision != "release-with-acknowledged-risk" or extended is None:
        return []
    conventional = {id(criterion) for criterion in conventional_criteria(verdict)}
    return [
        Sentence("{risk} risk {found}", risk=Sentence(criterion.id), found=Sentence(criterion.found))
        for criterion in verdict.criteria
        if id(criterion) not in conventional
        and criterion.value is not None
        and category(criterion.value, low=extended.low, medium=extended.medium) == "medium"
    ]


def grade(verdict: Verdict) -> str:
    """The extended category as a sentence."""
    extended = verdict.profile.extended
    if verdict.category is None or extended is None:
        return "This profile does not grade the extended risks."
    bounds = {
        "low": Sentence("at most {low:g}", low=extended.low),
        "medium": Sentence("above {low:g} and at most {medium:g}", low=extended.low, medium=extended.medium),
        "high": Sentence("above {medium:g}", medium=extended.medium),
    }
    return Sentence(
        "The largest of the extended risks of any record is {category} ({bounds}).",
        category=Sentence(verdict.category),
        bounds=bounds[verdict.category],
    )
