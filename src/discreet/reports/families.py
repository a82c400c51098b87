"""All families of methods side by side: in the terminal, and as a picture."""

from __future__ import annotations

from collections.abc import Sequence

from rich.console import Group, RenderableType

from discreet.release.family_contest import FamilyComparison, FamilyPoint
from discreet.reports.charts.points import PlottedOutcome, risk_against_loss
from discreet.reports.terminal import footnotes, grid, plain, row, title
from discreet.reports.words import number, percent

MOST_SHOWN = 0.5
"""An error of counts, or a share of people found, beyond which a point is left out of the picture inside a page: all others would
lie on one spot."""
NOTHING, AXES = "nothing could be released", ("median error of counts", "people found")


def show_families(comparison: FamilyComparison) -> RenderableType:
    """Every family at its strengths; marks say which no other beats, and which keep to the exposure."""
    table = grid("", "family", "strength", "people found", "error of counts", "k-marginal error", "seconds")
    failed = []
    for point in comparison.points:
        if point.found_share is None:
            failed.append(f"Failed: {point.label}: {point.failed}.")
            continue
        row(
            table,
            ("★" if point.best else "") + ("■" if point.matched else ""),
            point.family,
            point.strength,
            percent(point.found_share),
            "–" if point.count_error is None else percent(point.count_error),
            "–" if point.marginal_error is None else number(float(f"{point.marginal_error:.3g}")),
            f"{point.seconds:.1f}",
        )
    told = [
        "★ no other is better in both people found and the error of counts; ■ the weakest of its family by which at most "
        f"{comparison.exposure:.0%} of the people are found",
        "people found: linked rightly by the better of two intruders, of whom one knows the method",
        *(f"Note: {note}." for note in comparison.notes),
        *failed,
    ]
    return Group(title(f"All families on {comparison.rows:,} rows"), table, *footnotes(told))


def families_as_text(comparison: FamilyComparison, *, width: int = 110) -> str:
    """The families as plain text, for ``print``."""
    return plain(show_families(comparison), width)


def numbered_chart(comparison: FamilyComparison) -> str:
    """The same inside a page, where there is little room: what keeps to the exposure bears its number among these, and beside it
    stands only what no other beats."""
    numbers = {point.label: str(place) for place, point in enumerate(comparison.matched, 1)}
    drawn = [
        point
        for point in comparison.points
        if (point.matched or point.best) and point.measured is not None and max(point.measured) <= MOST_SHOWN
    ]
    names = [numbers.get(point.label, "") for point in drawn]
    return risk_against_loss(_plotted(drawn, names), nothing=NOTHING, axes=AXES).inside()


def chart_of_families(comparison: FamilyComparison) -> str:
    """People found against the error of counts; what no other beats is joined by a line, what keeps to the exposure is a square."""
    measured = [point for point in comparison.points if point.measured is not None]
    names = [point.label if point.best or point.matched else "" for point in measured]
    drawn = risk_against_loss(
        _plotted(measured, names),
        nothing=NOTHING,
        heading=(
            "All families on one frontier",
            "Filled and joined: no other is better in both. Squares keep to the exposure.",
        ),
        axes=AXES,
    )
    return drawn.standalone(title="People found against the error of counts, by family")


def _plotted(points: Sequence[FamilyPoint], names: Sequence[str]) -> list[PlottedOutcome]:
    """Points that were measured, each with its name and shape."""
    return [
        {
            "name": name,
            "loss": point.measured[0],
            "risk": point.measured[1],
            "best": point.best,
            "shape": "square" if point.matched else "circle",
        }
        for point, name in zip(points, names, strict=True)
        if point.measured is not None
    ]
