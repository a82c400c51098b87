"""Columns that grow from release to release: the shares of people of whom few values are left possible."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from discreet.reports.charts.svg import FONT, SMALL, WIDTH, Drawing, PlotScale, scale_end, shares, upright

WIDEST = 46.0
"""So wide is a column at most: two of them should not look like walls."""
MOST_NAMED = 12
"""Of so many columns each bears its name; of more every second, third, …"""


@dataclass(frozen=True)
class TimelineColumn:
    """One release: its name, the share of people of whom one value is left, and of whom two are."""

    name: str
    one: float
    two: float
    text: str


def timeline(columns: Sequence[TimelineColumn], *, axes: tuple[str, str], legend: tuple[str, str]) -> Drawing:
    """A column for each release in their order: below those of whom one value is left, above those with two."""
    drawing = Drawing(WIDTH - 70, 210)
    # Above a column there is room for its number.
    top = min(1.0, 1.1 * scale_end([column.one + column.two for column in columns]))
    scale = PlotScale(top * 1.08, drawing.height)
    upright(drawing, scale, shares(top), axes[1])
    drawing.line((0, drawing.height), (drawing.width, drawing.height), "muted")
    step = drawing.width / max(1, len(columns))
    width = min(WIDEST, 0.7 * step)
    every = -(-len(columns) // MOST_NAMED)
    for at, column in enumerate(columns):
        middle = step * (at + 0.5)
        foot = drawing.height
        for share, part in ((column.one, "high"), (column.two, "medium")):
            drawing.rect(middle - width / 2, foot - scale(share), width, scale(share), part)
            foot -= scale(share)
        last = at == len(columns) - 1
        if last or (at % every == 0 and len(columns) - 1 - at >= every):
            drawing.text(middle, drawing.height + 5 + FONT, column.name, "ink", anchor="middle", size=SMALL)
            if len(columns) <= MOST_NAMED // 2 or last:
                drawing.text(middle, foot - 6, column.text, "ink", anchor="middle", size=SMALL)
    drawing.text(
        drawing.width / 2, drawing.height + 5 + 2.5 * FONT, axes[0], "muted", anchor="middle", size=SMALL
    )
    for line, (words, part) in enumerate(zip(legend, ("high", "medium"), strict=True)):
        above = -14.0 - (len(legend) - 1 - line) * (FONT + 5)
        drawing.rect(0, above - 11, 12, 12, part)
        drawing.text(18, above, words, "ink", size=SMALL)
    return drawing
