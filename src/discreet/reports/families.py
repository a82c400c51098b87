"""All families of methods side by side: in the terminal, and as a picture."""

from __future__ import annotations

from rich.console import Group, RenderableType

from discreet.release.family_contest import FamilyComparison
from discreet.reports.charts.points import PlottedOutcome, risk_against_loss
from discreet.reports.terminal import footnotes, grid, plain, row, title
from discreet.reports.words import number, percent


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


def chart_of_families(comparison: FamilyComparison) -> str:
    """People found against the error of counts; what no other beats is joined by a line, what keeps to the exposure is a square."""
    points: list[PlottedOutcome] = [
        {
            "name": point.label if point.best or point.matched else "",
            "loss": point.measured[0],
            "risk": point.measured[1],
            "best": point.best,
            "shape": "square" if point.matched else "circle",
        }
        for point in comparison.points
        if point.measured is not None
    ]
    drawn = risk_against_loss(
        points,
        nothing="nothing could be released",
        heading=(
            "All families on one frontier",
            "Filled and joined: no other is better in both. Squares keep to the exposure.",
        ),
        axes=("median error of counts", "people found"),
    )
    return drawn.standalone(title="People found against the error of counts, by family")
