"""All families of methods on one frontier, as a picture of a release's report."""

from __future__ import annotations

from discreet.release.family_contest import FamilyComparison, FamilyPoint
from discreet.reports.families import numbered_chart
from discreet.reports.figures import Picture
from discreet.reports.words import percent
from discreet.sentences import Sentence


def family_picture(comparison: FamilyComparison) -> Picture:
    """People found against the error of counts: of each family what keeps to the exposure, and what no other beats."""
    kept = comparison.matched
    exposure = comparison.exposure
    takeaway: str = Sentence("No family keeps to an exposure of {exposure:.0%}.", exposure=exposure)
    if kept:
        takeaway = Sentence(
            "Of the families that keep to an exposure of {exposure:.0%}, {family} answers random counts best: half of them are off by at most {error}.",
            exposure=exposure,
            family=Sentence(kept[0].family),
            error=percent(kept[0].count_error or 0.0),
        )
    return Picture(
        id="families",
        title="All families of methods on one frontier",
        takeaway=takeaway,
        alternative=Sentence("{each: }", each=tuple(map(_told, kept))) if kept else takeaway,
        explanation=Sentence(
            "Further down, fewer people are found by the better of two intruders, of whom one knows the method; further left, counts are more "
            "exact. Filled and joined: no other is better in both. Numbers are those of the table. One draw of {rows:,} rows: take differences as an order of magnitude.",
            rows=comparison.rows,
        ),
        svg=numbered_chart(comparison),
        columns=("Family", "Strength", "People found", "Error of counts"),
        rows=tuple(
            (
                Sentence("{number}. {family}", number=number, family=Sentence(point.family)),
                Sentence(point.strength),
                percent(point.found_share or 0.0),
                percent(point.count_error or 0.0),
            )
            for number, point in enumerate(kept, 1)
        ),
        source="Domingo-Ferrer and Torra 2001 (risk against loss of many methods)",
        note=Sentence("{notes:; }", notes=tuple(map(Sentence, comparison.notes))) if comparison.notes else "",
    )


def _told(point: FamilyPoint) -> Sentence:
    return Sentence(
        "{family}, {strength}: {share} found, error of counts {error}.",
        family=Sentence(point.family),
        strength=Sentence(point.strength),
        share=percent(point.found_share or 0.0),
        error=percent(point.count_error or 0.0),
    )
