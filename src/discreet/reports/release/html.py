"""The report of a release: one self-contained page on what was changed, what it cost and what shows that it holds."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from os import PathLike
from pathlib import Path

from discreet.files.writing import refuse_clashes, write_text
from discreet.policy import dumps
from discreet.release.family_contest import FamilyComparison
from discreet.release.prices import METHOD
from discreet.release.release import Release
from discreet.reports.figures import Figures, Picture, figures_of, zones
from discreet.reports.html import page
from discreet.reports.release import tables
from discreet.reports.release.family_picture import family_picture
from discreet.reports.release.mappings import mappings
from discreet.reports.release.pictures import release_pictures
from discreet.reports.verdict import compliance, first_obstacles, judgement
from discreet.reports.words import (
    LEFT_OUT_OF_TABLES,
    LIMITS,
    Edition,
    became,
    moment,
    says_of,
    title_of,
    with_unit,
)
from discreet.sentences import Sentence

SIDE_BY_SIDE = ("class-sizes", "risks")
"""Pictures that have the whole width, for before and after."""

KEY_MEASURES = ("k-anonymity", "sample-uniques", "average-risk")

LEFT_OUT = (
    "values of any column, and with them what became of which value",
    *LEFT_OUT_OF_TABLES,
    "the fingerprint of the source, the policy's text, notes, and names of hierarchy files",
)


def release_report(
    release: Release,
    path: str | PathLike[str],
    *,
    edition: Edition = "internal",
    file_hash: str | None = None,
    in_database: bool = False,
    drawn: Sequence[Picture] | None = None,
    families: FamilyComparison | None = None,
    language: str = "en",
) -> Path:
    """Write the report of a release as one HTML file that needs nothing else: no script, no network, under 1 MB.

    The ``internal`` edition shows what became of which value; the ``public`` one shows no value of any column
    and no count of a few people, and says so. ``file_hash`` is the SHA-256 of the file that was written and
    verified; a release ``in_database`` was verified there and has none; ``drawn`` are the edition's pictures, if they were drawn before; ``families`` is
    what `compare_families` found on the original, which the internal edition draws; ``language`` is ``en`` or ``de``.
    """
    refuse_clashes([Path(path)], release.before.source.files)
    return write_text(
        Path(path),
        render_release(
            release,
            edition=edition,
            file_hash=file_hash,
            in_database=in_database,
            drawn=drawn,
            families=families,
            language=language,
        ),
    )


def render_release(
    release: Release,
    *,
    edition: Edition = "internal",
    file_hash: str | None = None,
    in_database: bool = False,
    drawn: Sequence[Picture] | None = None,
    families: FamilyComparison | None = None,
    language: str = "en",
) -> str:
    """The report of a release as HTML text."""
    public = edition == "public"
    before, after = edition_figures(release, public=public)
    drawn = release_pictures(release, before, after) if drawn is None else drawn
    if families is not None and not public:
        drawn = [*drawn, family_picture(families)]
    required = tables.requirements(release, before, after)
    return page(
        "release.html.jinja",
        {
            "public": public,
            "left_out": LEFT_OUT,
            "name": release.before.source.name,
            "names": release.before.policy.names,
            "created": moment(release.after.created),
            "facts": facts(release, before),
            **judgement(release.verdict, after),
            "words_before": release.before.verdict.words,
            "all_hold": all(row["holds"] for row in required),
            "verified": file_hash is not None,
            "in_database": in_database,
            "key_figures": key_figures(release, before, after),
            "pictures": drawn,
            "side_by_side": SIDE_BY_SIDE,
            "requirements": required,
            "criteria": tables.criteria(release, before, after),
            "attributes": tables.attributes(release, before),
            "mappings": [] if public else mappings(release),
            "erased": [] if public else tables.erased(release),
            "columns": tables.columns(release, before),
            "prices": tables.prices(release, before),
            "price_method": METHOD,
            "measures": tables.measures(release, before, after),
            "risks": tables.risks(release, before, after),
            "zones": zones(release.after),
            "alternatives": [] if public else tables.alternatives(release),
            "how": tables.how(release, before),
            "cautions": tables.cautions(release),
            "notes": [] if public else tables.notes(release),
            "limits": LIMITS,
            "made_with": tables.provenance(release, before, file_hash, in_database=in_database),
            "policy": "" if public else dumps(replace(release.before.policy, plan=release.plan)),
        },
        drawn,
        language=language,
    )


def notebook_release(release: Release) -> str:
    """A fragment for notebooks: verdict, key numbers before and after, what still stands in the way."""
    before, after = edition_figures(release, public=False)
    required = tables.requirements(release, before, after)
    holds = (
        "Every requirement holds."
        if all(row["holds"] for row in required)
        else "A requirement does not hold."
    )
    return page(
        "notebook.html.jinja",
        {
            **judgement(release.verdict, after),
            "compliance": Sentence("{holds} {rest}", holds=holds, rest=compliance(release.verdict)),
            "name": release.before.source.name,
            "facts": [(Sentence("of {rows:,} records", rows=release.before.rows), f"{release.after.rows:,}")],
            **first_obstacles(release.verdict, after),
            "key_figures": [
                {
                    "title": figure["title"],
                    "value": became(figure["was"], figure["value"]) if figure["was"] else figure["value"],
                    "unit": "",
                }
                for figure in key_figures(release, before, after)
            ],
            "notes": tables.notes(release),
        },
    )


def edition_figures(release: Release, *, public: bool) -> tuple[Figures, Figures]:
    """Numbers before and after for one edition."""
    return figures_of(release.before.rows, release.after.rows, few=release.suppressed, public=public)


def facts(release: Release, figures: Figures) -> list[tuple[str, str]]:
    """How large the table was and is; a difference of a few people is not told in public."""
    old, new = release.before, release.after
    told = not figures.few(release.suppressed)
    if new.event_level:
        told = told and not figures.few(old.persons - new.persons)

    def pair(was: int, now: int) -> str:
        return became(f"{was:,}", f"{now:,}") if told else f"{now:,}"

    return [
        ("Records", pair(old.rows, new.rows)),
        *([("Persons", pair(old.persons, new.persons))] if new.event_level else []),
        ("Columns", became(f"{old.columns:,}", f"{new.columns:,}")),
        ("Quasi-identifiers", f"{len(new.policy.quasi_identifiers):,}"),
        # The average risk before is classes over records: it would give the records away.
        ("Classes", pair(len(old.classes), len(new.classes))),
    ]


def key_figures(release: Release, before: Figures, after: Figures) -> list[dict[str, str]]:
    """The numbers that everybody asks for: three before and after, then what they cost."""
    shown = []
    for name in KEY_MEASURES:
        old, new = release.before.measure(name), release.after.measure(name)
        unit = after.unit(new)
        was = before.measured(old)
        shown.append(
            {
                "title": title_of(name),
                "was": was
                if before.unit(old).rstrip("s") == unit.rstrip("s")
                else with_unit(was, before.unit(old)),
                "value": with_unit(after.measured(new), unit),
                "meaning": says_of(name),
                "source": new.source,
            }
        )
    grade, says = tables.quality(release)
    costs = [
        (
            "Suppressed records",
            before.share(release.suppressed / release.before.rows),
            _suppressed_says(release),
            "counted",
        ),
        (
            "Loss",
            tables.share_of(release.loss, before),
            "How much of the quasi-identifiers' detail is gone, suppressed records and columns that were left out "
            "included: 0% nothing, 100% all.",
            "mean leaf-share loss: Iyengar 2002",
        ),
        (
            "How near to the best",
            grade,
            says,
            Sentence("search by the method {method}", method=release.chosen.method),
        ),
    ]
    return [
        *shown,
        *(
            {"title": title, "was": "", "value": value, "meaning": meaning, "source": source}
            for title, value, meaning, source in costs
        ),
    ]


def _suppressed_says(release: Release) -> Sentence:
    """What the share of suppressed records means in this release."""
    limit = release.plan.suppression_limit
    if not release.recoding.starred:
        return Sentence(
            "The share of records that the release leaves out; at most {limit:.0%} were allowed.", limit=limit
        )
    if not release.stand_ins:
        return Sentence(
            "The share of records that are shown with * only; at most {limit:.0%} were allowed.", limit=limit
        )
    return Sentence(
        "The share of records that show only the {statistic} of released numbers, and * elsewhere; at most "
        "{limit:.0%} were allowed.",
        statistic=Sentence(str(release.plan.suppressed_numbers)),
        limit=limit,
    )
