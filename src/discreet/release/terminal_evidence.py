"""What was lost, what attacks came to, and the frontier between both, for the terminal."""

from __future__ import annotations

from rich.console import Group, RenderableType

from discreet.release.frontier import Frontier
from discreet.release.terminal import footnotes, grid, row, title
from discreet.release.words import number, percent


def show_frontier(frontier: Frontier) -> RenderableType:
    """Every setting by rising loss; marks say which are not beaten, chosen, and the knee."""
    table = grid("", "setting", "loss", "suppressed", "mean risk", "largest risk", "value guessed", "classes")
    failed = []
    for one in sorted(frontier.points, key=lambda point: (point.loss is None, point.loss)):
        if one.loss is None or one.mean_risk is None or one.max_risk is None:
            failed.append(f"{one.label}: {one.failed}")
            continue
        marks = ("★" if one.best else "") + ("◆" if one.knee else "") + ("■" if one.chosen else "")
        row(
            table,
            marks,
            one.label,
            number(one.loss),
            percent(one.suppressed_share or 0.0),
            percent(one.mean_risk),
            percent(one.max_risk),
            "–" if one.inference is None else percent(one.inference),
            f"{one.classes:,}",
        )
    told = [
        "★ no other setting is better in both loss and mean risk; ◆ the knee: beyond it more loss buys little; "
        "■ the policy's own setting",
        "value guessed: share of people whose sensitive value is the most frequent of their class",
    ]
    return Group(
        title("Risk against loss"), table, *footnotes([*told, *(f"Failed: {line}." for line in failed)])
    )
