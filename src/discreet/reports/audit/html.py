"""The report: one self-contained page about an audit, for whoever has to decide and to answer for it."""

from __future__ import annotations

from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING

from discreet.files.writing import refuse_clashes, write_text
from discreet.policy import dumps
from discreet.reports.audit import tables
from discreet.reports.audit.pictures import pictures
from discreet.reports.figures import Figures, zones
from discreet.reports.html import page
from discreet.reports.verdict import criterion_rows, first_obstacles, judgement
from discreet.reports.words import LEFT_OUT_OF_TABLES, LIMITS, Edition, moment, says_of, title_of

if TYPE_CHECKING:
    from discreet.release.audit import Audit

KEY_MEASURES = ("k-anonymity", "sample-uniques", "share-above", "average-risk")

LEFT_OUT = (
    "values of any column, and with them the classes of highest risk",
    *LEFT_OUT_OF_TABLES,
    "how the file was read and its fingerprint, the policy's text and the reasons given for roles",
)


def report(
    audit: Audit, path: str | PathLike[str], *, edition: Edition = "internal", language: str = "en"
) -> Path:
    """Write an audit as one HTML file that needs nothing else: no script, no network, under 1 MB.

    The ``internal`` edition shows the values of the riskiest classes; the ``public`` one shows no value of
    any column and no count of a few people, and says so. ``language``: ``en`` or ``de``.
    """
    refuse_clashes([Path(path)], audit.source.files)
    return write_text(Path(path), render(audit, edition=edition, language=language))


def render(audit: Audit, *, edition: Edition = "internal", language: str = "en") -> str:
    """The report as HTML text."""
    figures = Figures(audit.rows, public=edition == "public")
    drawn = pictures(audit, figures)
    return page(
        "audit.html.jinja",
        {
            "public": figures.public,
            "left_out": LEFT_OUT,
            "name": audit.source.name,
            "names": audit.policy.names,
            "created": moment(audit.created),
            "facts": facts(audit),
            **judgement(audit.verdict, figures),
            "key_figures": key_figures(audit, figures),
            "pictures": drawn,
            "detailed": audit.exposure is not None,
            "criteria": criterion_rows(audit.verdict.criteria, figures),
            "measures": tables.measures(audit, figures),
            "risks": tables.risks(audit, figures),
            "zones": zones(audit),
            "separately": audit.policy.judged == "separately",
            "intruder_heads": tables.INTRUDER_HEADS,
            "intruders": tables.intruders(audit, figures),
            "estimates": tables.estimates(audit, figures),
            "riskiest": [] if figures.public else tables.riskiest(audit),
            "special_uniques": tables.special_uniques(audit, figures),
            "roles": tables.roles(audit, figures),
            "missing": tables.missing(audit, figures),
            "format": audit.source.format,
            "reading": [] if figures.public else tables.reading(audit),
            "reading_notes": () if figures.public else audit.source.notes,
            "notes": () if figures.public else audit.notes,
            "sensitive": audit.policy.sensitive,
            "event_level": audit.event_level,
            "limits": LIMITS,
            "made_with": tables.provenance(audit, figures),
            "policy": "" if figures.public else dumps(audit.policy),
        },
        drawn,
        language=language,
    )


def notebook(audit: Audit) -> str:
    """A fragment for notebooks: verdict, what stands in the way, key numbers; readable on light and dark."""
    figures = Figures(audit.rows)
    judged = judgement(audit.verdict, figures)
    return page(
        "notebook.html.jinja",
        {
            **judged,
            "name": audit.source.name,
            "facts": facts(audit),
            **first_obstacles(audit.verdict, figures),
            "key_figures": key_figures(audit, figures),
            "notes": audit.notes,
        },
    )


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
    shown = []
    for name in KEY_MEASURES:
        measure = next(measure for measure in audit.measures if measure.name == name)
        shown.append(
            {
                "title": title_of(name),
                "value": figures.measured(measure),
                "unit": figures.unit(measure),
                "meaning": says_of(name),
                "source": measure.source,
            }
        )
    return shown
