"""Tables of coloured cells."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from discreet.reports.charts.svg import FONT, LONGEST_NAME, SMALL, WIDTH, Drawing, shortened, width_of


@dataclass(frozen=True)
class Cell:
    """A number in a heatmap; ``part`` is the colour it gets, its ink is ``<part>-ink``."""

    row: str
    column: str
    text: str
    part: str


def heatmap(cells: Sequence[Cell], *, rows: Sequence[str], columns: Sequence[str], widest: int = 96) -> str:
    """A table of coloured cells with their numbers in them."""
    named = shortened(list(dict.fromkeys([*rows, *columns])), LONGEST_NAME)
    left = 12 + 1.08 * max((width_of(named[row], SMALL) for row in rows), default=0.0)
    width, height = min(widest, max(46, int(WIDTH - left) // max(1, len(columns)))), 28
    drawing = Drawing(width * len(columns), height * len(rows))
    slanted = any(width_of(named[column], FONT) > width for column in columns)
    for i, column in enumerate(columns):
        middle = width * (i + 0.5)
        drawing.text(
            middle,
            -8,
            named[column],
            "ink",
            anchor="start" if slanted else "middle",
            size=SMALL,
            turned=-40 if slanted else 0,
        )
    for i, row in enumerate(rows):
        drawing.text(-12, height * (i + 0.5), named[row], "ink", anchor="end", baseline="middle", size=SMALL)
    for cell in cells:
        left, top = width * columns.index(cell.column), height * rows.index(cell.row)
        drawing.rect(left + 1.5, top + 1, width - 3, height - 2, cell.part, corner=3)
        drawing.text(
            left + width / 2,
            top + height / 2,
            cell.text,
            f"{cell.part}-ink",
            anchor="middle",
            baseline="middle",
            size=SMALL,
        )
    return drawing.inside()


def step(value: float, edges: Sequence[float] = (0.2, 0.4, 0.6, 0.8)) -> str:
    """One of five steps of colour: the next darker one from each edge on.

    >>> step(0.0), step(0.4), step(1.0)
    ('step-1', 'step-3', 'step-5')
    """
    return f"step-{1 + sum(value >= edge for edge in edges)}"
