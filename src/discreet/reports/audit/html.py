"""The report: one self-contained page about an audit, for whoever has to decide and to answer for it."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING

from discreet.plain import write_text
from discreet.release.verdict import Verdict
from discreet.reports.audit import tables as evidence
from discreet.reports.audit.pictures import pictures, zones
from discreet.reports.words import (
    CATEGORY_TONES,
    DECISION_TONES,
    LIMITS,
    MEASURES,
    SYMBOLS,
    Edition,
    Figures,
    acknowledged,
    compliance,
    day,
    grade,
    title_of,
)
from discreet.risk.special_uniques import SMALL_GROUP

if TYPE_CHECKING:
    from jinja2 import Environment

    from discreet.release.audit import Audit

KEY_MEASURES = ("k-anonymity", "sample-uniques", "share-above", "average-risk")
MOST_OBSTACLES = 5
"""Obstacles a notebook shows; the report shows all."""

LEFT_OUT = (
    "values of any column, and with them the classes of highest risk",
    f"counts of people or records below {SMALL_GROUP}, and shares that would betray such a count; ranges of class "
    "sizes that hold only a few people are merged",
    "numbers in the unit of a sensitive column",
    "how the file was read and its fingerprint, the policy's text and the reasons given for roles",
)


def report(audit: Audit, path: str | PathLike[str], *, edition: Edition = "internal") -> Path:
    """Write an audit as one HTML file that needs nothing else: no script, no network, under 1 MB.

    The ``internal`` edition shows the values of the riskiest classes; the ``public`` one shows no value of
    any column and no count of a few people, and says so.
    """
    return write_text(Path(path), render(audit, edition=edition))


def render(audit: Audit, *, edition: Edition = "internal") -> str:
    """The report as HTML text."""
    from markupsafe import Markup

    figures = Figures(audit.rows, public=edition == "public")
    drawn = pictures(audit, figures)
    return page(
        "report.html.jinja",
        {
            "public": figures.public,
            "left_out": LEFT_OUT,
            "small": SMALL_GROUP,
            "name": audit.source.name,
            "created": f"{day(audit.created)}, {audit.created:%H:%M %Z}".strip(),
            "facts": facts(audit),
            **judgement(audit.verdict, figures),
            "key_figures": key_figures(audit, figures),
            "pictures": drawn,
            # Drawn by us from numbers and escaped names: the only markup that is not escaped again.
            "svg": {picture.id: Markup(picture.svg) for picture in drawn},
            "detailed": audit.exposure is not None,
            "criteria": evidence.criteria(audit.verdict.criteria, figures),
            "measures": evidence.measures(audit, figures),
            "risks": evidence.risks(audit, figures),
            "zones": zones(audit),
            "estimates": evidence.estimates(audit, figures),
            "riskiest": [] if figures.public else evidence.riskiest(audit),
            "special_uniques": evidence.special_uniques(audit, figures),
            "roles": evidence.roles(audit, figures),
            "missing": evidence.missing(audit, figures),
            "format": audit.source.format,
            "reading": [] if figures.public else evidence.reading(audit),
            "reading_notes": () if figures.public else audit.source.notes,
            "notes": () if figures.public else audit.notes,
            "sensitive": audit.policy.sensitive,
            "event_level": audit.event_level,
            "limits": LIMITS,
            "made_with": evidence.made_with(audit, figures),
            "policy": "" if figures.public else evidence.policy_text(audit),
        },
    )


def notebook(audit: Audit) -> str:
    """A fragment for notebooks: verdict, what stands in the way, key numbers; readable on light and dark."""
    figures = Figures(audit.rows)
    judged = judgement(audit.verdict, figures)
    obstacles = evidence.criteria(audit.verdict.obstacles, figures)
    return page(
        "notebook.html.jinja",
        {
            **judged,
            "name": audit.source.name,
            "facts": facts(audit),
            "obstacles": obstacles[:MOST_OBSTACLES],
            "more": max(0, len(obstacles) - MOST_OBSTACLES),
            "key_figures": key_figures(audit, figures),
            "notes": audit.notes,
        },
    )


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
        "obstacles": evidence.criteria(verdict.obstacles, figures),
        "acknowledged": acknowledged(verdict),
        "profile": verdict.profile,
        "profile_date": day(verdict.profile.date),
    }


def facts(audit: Audit) -> list[tuple[str, str]]:
    """How large the table is and what was looked at."""
    facts = [("Rows", f"{audit.rows:,}")]
    if audit.event_level:
        facts.append(("Persons", f"{audit.persons:,}"))
    facts += [
        ("Columns", f"{audit.columns:,}"),
        ("Quasi-identifiers", f"{len(audit.policy.quasi_identifiers):,}"),
        ("Classes", f"{len(audit.classes):,}"),
    ]
    return facts


def key_figures(audit: Audit, figures: Figures) -> list[dict[str, str]]:
    """The few numbers that everybody asks for, with their meaning."""
    found = []
    for name in KEY_MEASURES:
        measure = next(one for one in audit.measures if one.name == name)
        found.append(
            {
                "title": title_of(name),
                "value": figures.measured(measure),
                "unit": figures.unit(measure),
                "meaning": MEASURES[name].says,
                "source": measure.source,
            }
        )
    return found


@cache
def _environment() -> Environment:
    from jinja2 import Environment, PackageLoader, StrictUndefined

    found = Environment(
        loader=PackageLoader("discreet.reports"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    found.filters["say"] = _say
    return found


def _say(text: str, *, capital: bool = False, plain: bool = False) -> str:
    """Words as they are: reports speak English. The page, which shares templates with them, translates here."""
    return text[:1].upper() + text[1:] if capital else text


def page(template: str, content: Mapping[str, object]) -> str:
    return _environment().get_template(template).render(content) + "\n"
