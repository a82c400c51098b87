"""What the page shows of an audit or a release: the words, numbers and pictures of the report as plain data."""

from __future__ import annotations

import dataclasses
import math
import re
from collections.abc import Mapping, Sequence

from discreet.plain import plain
from discreet.release.audit import Audit
from discreet.release.outcome import with_best
from discreet.release.release import Release
from discreet.reports.audit import tables as audit_tables
from discreet.reports.audit.html import KEY_MEASURES, facts, key_figures
from discreet.reports.audit.pictures import pictures
from discreet.reports.charts.points import chart_of_releases
from discreet.reports.figures import Figures, Picture
from discreet.reports.release import html as reports
from discreet.reports.release import tables as release_tables
from discreet.reports.release.mappings import mappings
from discreet.reports.release.pictures import release_pictures
from discreet.reports.release.several import risks_of_releases
from discreet.reports.verdict import DECISION_TONES, criterion_rows, judgement
from discreet.reports.words import percent
from discreet.sentences import Sentence
from discreet.transform.loss import attribute_changes
from discreet.transform.recoding import Recoding

_WIDTHS = re.compile(r' style="min-width:\d+px;max-width:(\d+)px"')


def audit(result: Audit) -> dict[str, object]:
    """The verdict and what explains it."""
    figures = Figures(result.rows)
    return data(
        {
            **judgement(result.verdict, figures),
            "facts": facts(result),
            "key_figures": [
                {**figure, **_read_as(result, name)}
                for name, figure in zip(KEY_MEASURES, key_figures(result, figures), strict=True)
            ],
            "pictures": [drawn(picture, "audit") for picture in pictures(result, figures)],
            "riskiest": audit_tables.riskiest(result),
            "criteria": criterion_rows(result.verdict.criteria, figures),
            "notes": result.notes,
        }
    )


def _read_as(audit: Audit, name: str) -> dict[str, str]:
    """Which direction of a measure is safer, and what policy and profile ask of it."""
    asked = dict.fromkeys(
        Sentence(criterion.description) for criterion in audit.verdict.criteria if criterion.id == name
    )
    threshold = Sentence("{asked:; }", asked=tuple(asked)) if asked else ""
    return {"direction": audit.measure(name).better, "threshold": threshold}


def release_drawings(result: Release) -> list[Picture]:
    """The pictures of a release, for page and report alike."""
    return release_pictures(result, *reports.edition_figures(result, public=False))


def release(result: Release, drawings: Sequence[Picture]) -> dict[str, object]:
    """Before and after, and what it cost."""
    before, after = reports.edition_figures(result, public=False)
    return data(
        {
            **judgement(result.verdict, after),
            "words_before": result.before.verdict.words,
            "facts": reports.facts(result, before),
            "key_figures": [
                {**figure, **(_read_as(result.after, name) if name else {"direction": "lower"})}
                for name, figure in zip(
                    (*reports.KEY_MEASURES, "", "", ""),
                    reports.key_figures(result, before, after),
                    strict=True,
                )
            ],
            "pictures": [drawn(picture, "release") for picture in drawings],
            "side_by_side": [f"release-{name}" for name in reports.SIDE_BY_SIDE],
            "requirements": release_tables.requirements(result, before, after),
            "attributes": release_tables.attributes(result, before),
            "cautions": release_tables.cautions(result),
            "notes": release_tables.notes(result),
        }
    )


def became(result: Release) -> list[dict[str, object]]:
    """What the values of each changed attribute became: new value, records, old values."""
    return [data(mapping) for mapping in mappings(result)]


def ready(chosen: Release, releases: Sequence[Release]) -> dict[str, object]:
    """The releases that can be chosen, the least loss first: what each costs, leaves open and keeps of each column."""
    titles = ["", *(alternative.title for alternative in chosen.alternatives)]
    # As everywhere on the page, what is left out counts.
    outcomes = with_best(
        [
            dataclasses.replace(release.outcome, loss=None if math.isnan(release.loss) else release.loss)
            for release in releases
        ]
    )
    return data(
        {
            "why": chosen.chosen.why,
            "svg": without_style(chart_of_releases(outcomes, ["chosen", *titles[1:]]))
            if len(releases) > 1
            else "",
            "releases": [
                {
                    "title": title,
                    "method": outcome.method,
                    "tone": DECISION_TONES[release.verdict.decision],
                    "loss": "not defined" if outcome.loss is None else percent(outcome.loss),
                    "suppressed": f"{release.suppressed:,}",
                    "suppressed_share": percent(outcome.suppressed_share or 0.0),
                    "workload_error": "" if error is None else percent(error),
                    "max_risk": percent(outcome.max_risk or 0.0),
                    "inference": "" if outcome.inference is None else percent(outcome.inference),
                    "values": values_kept(release.recoding),
                }
                for title, release, outcome, error in zip(
                    titles, releases, outcomes, chosen.workload_errors, strict=False
                )
            ],
            "guessed": _guessed(chosen),
            "values_before": {
                name: f"{int(change['distinct_before']):,}" for name, change in chosen.changes().items()
            },
            "heatmaps": drawn(_heatmaps(chosen, releases, titles), "ready") if len(releases) > 1 else None,
            "prices": prices(chosen),
        }
    )


def values_kept(recoding: Recoding) -> dict[str, str]:
    """How many values each column still has. More than there were say nothing: which share of the records shows the value
    itself (with %) does, or nothing where new values lie over one another.
    """
    counts, records = {}, recoding.classes.records
    for (name, change), column in zip(attribute_changes(recoding).items(), recoding.columns, strict=True):
        if change["distinct_after"] <= change["distinct_before"]:
            counts[name] = f"{int(change['distinct_after']):,}"
        else:
            exact = recoding.kept & (column.shares * column.leaves < 1.5)
            counts[name] = percent(float(records[exact].sum() / records.sum())) if exact.any() else ""
    return counts


def _guessed(release: Release) -> str:
    """How often whoever knows no release guesses the sensitive value of a record; the worst column counts."""
    classes = release.recoding.classes
    shares = [
        totals.max() / totals.sum()
        for totals in (classes.histogram(domain.name).totals for domain in classes.sensitive)
        if len(totals)
    ]
    return percent(float(max(shares))) if shares else ""


def _heatmaps(chosen: Release, releases: Sequence[Release], titles: Sequence[str]) -> Picture:
    """The risks of the original and of every release side by side."""
    names = ("suggested", *titles[1:])
    tables = {name: release.after for name, release in zip(names, releases, strict=False)}
    return risks_of_releases({"Original": chosen.before, **tables})


def prices(release: Release) -> dict[str, object]:
    """What each column and each requirement costs, the dearest first, and what it takes to do without one."""
    told, own = release.prices, release.policy.requirements
    return {
        "classes": len(release.recoding.classes),
        "loss": _known(told.loss),
        "profile": release.policy.profile,
        "profiles": [{"name": price.profile, "loss": percent(price.loss)} for price in told.profiles],
        "columns": [
            {"name": price.column, "with": percent(price.loss_with), "without": _known(price.loss_without)}
            for price in told.columns
        ],
        "requirements": [
            {
                "words": Sentence(price.requirement),
                "with": percent(price.loss_with),
                "without": _known(price.loss_without),
                "covers": [model.describe() for model in price.models],
                "entries": [
                    {"model": model.id, **plain(model.parameters(), nulls=False)} for model in price.models
                ],
                "own": all(model in own for model in price.models),
            }
            for price in told.requirements
        ],
    }


def _known(loss: float | None) -> str:
    return "" if loss is None else percent(loss)


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
