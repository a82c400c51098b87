"""The report of a release: one self-contained page on what was changed, what it cost and what shows that it holds."""

from __future__ import annotations

from collections.abc import Sequence
from os import PathLike
from pathlib import Path

from discreet.plain import write_text
from discreet.release.release import Release
from discreet.reports.audit import tables as evidence
from discreet.reports.audit.html import MOST_OBSTACLES, judgement, page
from discreet.reports.audit.pictures import Picture, zones
from discreet.reports.release import tables as release_evidence
from discreet.reports.release.pictures import release_pictures
from discreet.reports.words import LIMITS, MEASURES, Edition, Figures, compliance, day, title_of
from discreet.risk.special_uniques import SMALL_GROUP
from discreet.transform.loss import leaf_share_loss

SIDE_BY_SIDE = ("class-sizes", "risks")
"""Pictures that have the whole width, for before and after."""

KEY_MEASURES = ("k-anonymity", "sample-uniques", "average-risk")

LEFT_OUT = (
    "values of any column, and with them what became of which value",
    f"counts of people or records below {SMALL_GROUP}, and shares that would betray such a count; ranges of class "
    "sizes that hold only a few people are merged",
    "numbers in the unit of a sensitive column",
    "the fingerprint of the source, the policy's text, notes, and names of hierarchy files",
)


def release_report(
    release: Release,
    path: str | PathLike[str],
    *,
    edition: Edition = "internal",
    file_hash: str | None = None,
    drawn: Sequence[Picture] | None = None,
) -> Path:
    """Write the report of a release as one HTML file that needs nothing else: no script, no network, under 1 MB.

    The ``internal`` edition shows what became of which value; the ``public`` one shows no value of any column
    and no count of a few people, and says so. ``file_hash`` is the SHA-256 of the file that was written and
    verified; ``drawn`` are the edition's pictures, if they were drawn before.
    """
    return write_text(Path(path), render_release(release, edition=edition, file_hash=file_hash, drawn=drawn))


def render_release(
    release: Release,
    *,
    edition: Edition = "internal",
    file_hash: str | None = None,
    drawn: Sequence[Picture] | None = None,
) -> str:
    """The report of a release as HTML text."""
    from markupsafe import Markup

    public = edition == "public"
    before, after = figures_of(release, public=public)
    drawn = release_pictures(release, before, after) if drawn is None else drawn
    required = release_evidence.requirements(release, before, after)
    created = release.after.created
    return page(
        "release.html.jinja",
        {
            "public": public,
            "left_out": LEFT_OUT,
            "name": release.before.source.name,
            "created": f"{day(created)}, {created:%H:%M %Z}".strip(),
            "facts": facts(release, before),
            **judgement(release.verdict, after),
            "words_before": release.before.verdict.words,
            "all_hold": all(row.holds for row in required),
            "verified": file_hash is not None,
            "key_figures": key_figures(release, before, after),
            "pictures": drawn,
            "side_by_side": SIDE_BY_SIDE,
            # Drawn by us from numbers and escaped names: the only markup that is not escaped again.
            "svg": {picture.id: Markup(picture.svg) for picture in drawn},
            "requirements": required,
            "criteria": release_evidence.criteria(release, before, after),
            "attributes": release_evidence.attributes(release, before),
            "mappings": [] if public else release_evidence.mappings(release),
            "columns": release_evidence.columns(release),
            "measures": release_evidence.measures(release, before, after),
            "risks": release_evidence.risks(release, before, after),
            "zones": zones(release.after),
            "how": release_evidence.how(release, before),
            "cautions": release_evidence.cautions(release),
            "notes": [] if public else release_evidence.notes(release),
            "limits": LIMITS,
            "made_with": release_evidence.provenance(release, before, file_hash),
            "policy": "" if public else release_evidence.policy_text(release),
        },
    )


def notebook_release(release: Release) -> str:
    """A fragment for notebooks: verdict, key numbers before and after, what still stands in the way."""
    before, after = figures_of(release, public=False)
    obstacles = evidence.criteria(release.verdict.obstacles, after)
    required = release_evidence.requirements(release, before, after)
    holds = (
        "Every requirement holds." if all(row.holds for row in required) else "A requirement does not hold."
    )
    return page(
        "notebook.html.jinja",
        {
            **judgement(release.verdict, after),
            "compliance": f"{holds} {compliance(release.verdict)}",
            "name": release.before.source.name,
            "facts": [(f"of {release.before.rows:,} records", f"{release.after.rows:,}")],
            "obstacles": obstacles[:MOST_OBSTACLES],
            "more": max(0, len(obstacles) - MOST_OBSTACLES),
            "key_figures": [
                {
                    "title": one["title"],
                    "value": f"{one['was']} → {one['value']}" if one["was"] else one["value"],
                    "unit": "",
                }
                for one in key_figures(release, before, after)
            ],
            "notes": release_evidence.notes(release),
        },
    )


def figures_of(release: Release, *, public: bool) -> tuple[Figures, Figures]:
    """Numbers before and after.

    Bounds such as 11 of all records would betray how many there were; where only a few were suppressed, the
    public edition reckons with those that are left.
    """
    after = Figures(release.after.rows, public=public)
    return after if after.few(release.suppressed) else Figures(release.before.rows, public=public), after


def facts(release: Release, figures: Figures) -> list[tuple[str, str]]:
    """How large the table was and is; a difference of a few people is not told in public."""
    old, new = release.before, release.after
    told = not figures.few(release.suppressed)
    if new.event_level:
        told = told and not figures.few(old.persons - new.persons)

    def pair(one: int, two: int) -> str:
        return f"{one:,} → {two:,}" if told else f"{two:,}"

    return [
        ("Records", pair(old.rows, new.rows)),
        *([("Persons", pair(old.persons, new.persons))] if new.event_level else []),
        ("Columns", f"{old.columns:,} → {new.columns:,}"),
        ("Quasi-identifiers", f"{len(new.policy.quasi_identifiers):,}"),
        # The average risk before is classes over records: it would give the records away.
        ("Classes", pair(len(old.classes), len(new.classes))),
    ]


def key_figures(release: Release, before: Figures, after: Figures) -> list[dict[str, str]]:
    """The numbers that everybody asks for: three before and after, then what they cost."""
    found = []
    for name in KEY_MEASURES:
        old, new = release.before.measure(name), release.after.measure(name)
        unit = after.unit(new)
        was = before.measured(old)
        found.append(
            {
                "title": title_of(name),
                "was": was
                if before.unit(old).rstrip("s") == unit.rstrip("s")
                else f"{was} {before.unit(old)}",
                "value": f"{after.measured(new)} {unit}".strip(),
                "meaning": MEASURES[name].says,
                "source": new.source,
            }
        )
    grade, says = release_evidence.quality(release)
    plan = release.plan
    costs = [
        (
            "Suppressed records",
            before.share(release.suppressed / release.before.rows),
            "The share of records that "
            + (_shown(release) if plan.suppressed == "star" else "the release leaves out")
            + f"; at most {plan.suppression_limit:.0%} were allowed.",
            "counted",
        ),
        (
            "Loss",
            release_evidence.share_of(leaf_share_loss(release.recoding), before),
            "How much of the quasi-identifiers' detail is gone, suppressed records included: 0% nothing, 100% all.",
            "mean leaf-share loss: Iyengar 2002",
        ),
        ("How near to the best", grade, says, f"search by the method {release.chosen.method}"),
    ]
    return [
        *found,
        *(
            {"title": title, "was": "", "value": value, "meaning": meaning, "source": source}
            for title, value, meaning, source in costs
        ),
    ]


def _shown(release: Release) -> str:
    if release.stand_ins:
        return f"show only the {release.plan.suppressed_numbers} of released numbers, and * elsewhere"
    return "are shown with * only"
