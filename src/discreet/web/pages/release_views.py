"""What the page shows of an audit or a release: the report's own words, numbers and pictures as plain data."""

from __future__ import annotations

import dataclasses
import re
from collections.abc import Mapping, Sequence

from discreet.plain import plain
from discreet.release.audit import Audit
from discreet.release.release import Release
from discreet.reports.audit import tables as evidence
from discreet.reports.audit.html import KEY_MEASURES, facts, judgement, key_figures
from discreet.reports.audit.pictures import Picture, pictures
from discreet.reports.release import html as reports
from discreet.reports.release import tables as release_evidence
from discreet.reports.release.pictures import release_pictures
from discreet.reports.words import Figures

_WIDTHS = re.compile(r' style="min-width:\d+px;max-width:(\d+)px"')


def audit(found: Audit) -> dict[str, object]:
    """The verdict and what explains it."""
    figures = Figures(found.rows)
    return data(
        {
            **judgement(found.verdict, figures),
            "facts": facts(found),
            "key_figures": [
                {**one, **_read_as(found, name)}
                for name, one in zip(KEY_MEASURES, key_figures(found, figures), strict=True)
            ],
            "pictures": [drawn(one, "audit") for one in pictures(found, figures)],
            "riskiest": evidence.riskiest(found),
            "criteria": evidence.criteria(found.verdict.criteria, figures),
            "notes": found.notes,
        }
    )


def _read_as(found: Audit, name: str) -> dict[str, str]:
    """Which direction of a measure is safer, and what policy and profile ask of it."""
    asked = [one.description for one in found.verdict.criteria if one.id == name]
    return {"direction": found.measure(name).better, "threshold": "; ".join(dict.fromkeys(asked))}


def release_drawings(found: Release) -> list[Picture]:
    """The pictures of a release, for page and report alike."""
    return release_pictures(found, *reports.figures_of(found, public=False))


def release(found: Release, drawings: Sequence[Picture]) -> dict[str, object]:
    """Before and after, and what it cost."""
    before, after = reports.figures_of(found, public=False)
    return data(
        {
            **judgement(found.verdict, after),
            "words_before": found.before.verdict.words,
            "facts": reports.facts(found, before),
            "key_figures": [
                {**one, **(_read_as(found.after, name) if name else {"direction": "lower"})}
                for name, one in zip(
                    (*reports.KEY_MEASURES, "", "", ""),
                    reports.key_figures(found, before, after),
                    strict=True,
                )
            ],
            "pictures": [drawn(one, "release") for one in drawings],
            "side_by_side": [f"release-{one}" for one in reports.SIDE_BY_SIDE],
            "requirements": release_evidence.requirements(found, before, after),
            "attributes": release_evidence.attributes(found, before),
            "cautions": release_evidence.cautions(found),
            "notes": release_evidence.notes(found),
        }
    )


def drawn(picture: Picture, part: str) -> Picture:
    """A picture fit for the page, which shows those of an audit beside those of a release."""
    return dataclasses.replace(picture, id=f"{part}-{picture.id}", svg=without_style(picture.svg))


def without_style(svg: str) -> str:
    """A drawing with its width as an attribute: the page's content policy allows no style inside of tags.

    >>> without_style('<svg viewBox="0 0 9 4" style="min-width:7px;max-width:11px" aria-hidden="true">')
    '<svg viewBox="0 0 9 4" width="11" aria-hidden="true">'
    """
    return _WIDTHS.sub(r' width="\1"', svg)


def data(content: Mapping[str, object]) -> dict[str, object]:
    """A view as JSON-ready data."""
    return {key: plain(value) for key, value in content.items()}
