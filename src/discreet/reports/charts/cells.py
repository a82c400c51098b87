"""Tables of coloured cells."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from discreet.reports.charts.svg import (
    FONT,
    LONGEST_NAME,
    NAME_LIMIT,
    WIDTH,
    as_given,
    colour,
    data_of,
    drawn_once,
    inline,
    names_axis,
    shortened,
)


@dataclass(frozen=True)
class Cell:
    """A number in a heatmap; ``part`` is the colour it gets, its ink is ``<part>-ink``."""

    row: str
    column: str
    text: str
    part: str


@drawn_once
def heatmap(cells: Sequence[Cell], *, rows: Sequence[str], columns: Sequence[str], widest: int = 96) -> str:
    """A table of coloured cells with their numbers in them."""
    import altair as alt

    named = shortened(list(dict.fromkeys([*rows, *columns])), LONGEST_NAME)
    rows, columns = [named[row] for row in rows], [named[column] for column in columns]
    data = data_of(
        [
            {
                "row": named[cell.row],
                "column": named[cell.column],
                "text": cell.text,
                "fill": colour(cell.part),
                "ink": colour(f"{cell.part}-ink"),
            }
            for cell in cells
        ]
    )
    width = min(widest, max(46, (WIDTH - 120) // max(1, len(columns))))
    slanted = any(len(column) * FONT * 0.55 > width for column in columns)
    x = alt.X(
        "column:N",
        sort=list(columns),
        title=None,
        scale=alt.Scale(domain=list(columns), paddingInner=0.04, paddingOuter=0),
        axis=alt.Axis(
            orient="top",
            labelAngle=-40 if slanted else 0,
            labelLimit=NAME_LIMIT,
            ticks=False,
            domain=False,
            labelPadding=6,
        ),
    )
    y = alt.Y(
        "row:N",
        sort=list(rows),
        title=None,
        scale=alt.Scale(domain=list(rows), paddingInner=0.08, paddingOuter=0),
        axis=names_axis(),
    )
    base = alt.Chart(data)
    chart = alt.layer(
        base.mark_rect(cornerRadius=3).encode(x=x, y=y, color=as_given("fill")),
        base.mark_text(fontSize=FONT - 1).encode(x=x, y=y, text=alt.Text("text:N"), color=as_given("ink")),
    )
    return inline(
        chart.properties(width=width * len(columns), height=28 * len(rows)), slack=16 if slanted else 0
    )


def step(value: float, edges: Sequence[float] = (0.2, 0.4, 0.6, 0.8)) -> str:
    """One of five steps of colour: the next darker one from each edge on.

    >>> step(0.0), step(0.4), step(1.0)
    ('step-1', 'step-3', 'step-5')
    """
    return f"step-{1 + sum(value >= edge for edge in edges)}"
