"""Values on a scale from 0 to 1: the risks of a table, and a dot with its interval in the cell of a table."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

from discreet.reports.charts.svg import (
    FONT,
    LONGEST_NAME,
    WIDTH,
    as_given,
    colour,
    data_of,
    drawn_once,
    fixed,
    inline,
    names_axis,
    shortened,
)
from discreet.sentences import Sentence

if TYPE_CHECKING:
    import altair as alt


@dataclass(frozen=True)
class RiskMark:
    """Mean and maximum of one risk."""

    name: str
    mean: float
    max: float


@drawn_once
def risk_scale(marks: Sequence[RiskMark], *, low: float, medium: float) -> str:
    """Mean (ring) and maximum (diamond) of each risk on a scale from 0 to 1 with its three zones."""
    import altair as alt

    height = 48 * len(marks)
    bounds = [("low", 0.0, low), ("medium", low, medium), ("high", medium, 1.0)]
    named = shortened([mark.name for mark in marks], LONGEST_NAME)
    zones = data_of([{"from": a, "to": b, "fill": colour(f"{zone}-zone")} for zone, a, b in bounds])
    heads = data_of([{"at": (a + b) / 2, "zone": zone} for zone, a, b in bounds])
    data = data_of(
        [
            {
                "name": named[mark.name],
                "mean": mark.mean,
                "max": mark.max,
                "text": Sentence("mean {mean:.2f}, max {max:.2f}", mean=mark.mean, max=mark.max),
                "side": "right" if mark.max > 0.5 else "left",
            }
            for mark in marks
        ]
    )
    scale = alt.Scale(domain=[0, 1], nice=False)
    x = alt.X("mean:Q", title=None, scale=scale)
    y = alt.Y("name:N", sort=None, title=None, axis=names_axis())
    ticks = alt.Axis(
        values=[0, low, medium, 1], format=".2~f", grid=False, title=None, tickColor=colour("muted")
    )
    layers = [
        alt.Chart(zones)
        .mark_rect()
        .encode(x=alt.X("from:Q", axis=ticks, scale=scale), x2=alt.X2("to:Q"), color=as_given("fill")),
        alt.Chart(heads)
        .mark_text(dy=-9, baseline="bottom", fontSize=FONT, color=colour("muted"))
        .encode(x=alt.X("at:Q"), y=fixed(alt.YValue, 0), text=alt.Text("zone:N")),
        alt.Chart(data_of([{"at": low}, {"at": medium}]))
        .mark_rule(color=colour("muted"), strokeDash=[3, 3])
        .encode(x=alt.X("at:Q")),
        alt.Chart(data).mark_rule(color=colour("ink"), strokeWidth=2).encode(x=x, x2=alt.X2("max:Q"), y=y),
        alt.Chart(data)
        .mark_point(
            shape="circle", filled=True, fill=colour("paper"), stroke=colour("ink"), size=90, opacity=1
        )
        .encode(x=alt.X("mean:Q"), y=y),
        alt.Chart(data)
        .mark_point(
            shape="diamond", filled=True, fill=colour("ink"), stroke=colour("ink"), size=120, opacity=1
        )
        .encode(x=alt.X("max:Q"), y=y),
        # The label stays inside the scale: it ends at a high maximum and begins at a low mean.
        _label(data, align="right", where="datum.side == 'right'").encode(x=alt.X("max:Q"), y=y),
        _label(data, align="left", where="datum.side == 'left'").encode(x=alt.X("mean:Q"), y=y),
    ]
    return inline(alt.layer(*layers).properties(width=WIDTH - 110, height=height))


def _label(data: alt.InlineData, *, align: Literal["left", "right"], where: str) -> alt.Chart:
    """Text just above a mark."""
    import altair as alt

    chart: alt.Chart = alt.Chart(data).mark_text(align=align, dy=-14, fontSize=FONT - 2, color=colour("ink"))
    return chart.transform_filter(where).encode(text=alt.Text("text:N"))


def whisker(
    value: float, *, low: float | None = None, high: float | None = None, marks: Sequence[float] = ()
) -> str:
    """A dot on a scale from 0 to 1, with its interval as a line and upright marks to compare it with.

    >>> whisker(0.5, marks=[0.25]).count("<circle"), whisker(0.5, marks=[0.25]).count("<line")
    (1, 2)
    """
    left, wide = 8, 184

    def at(share: float) -> str:
        return f"{left + wide * min(max(share, 0.0), 1.0):.1f}"

    middle = 12
    parts = [_line(left, middle, left + wide, middle, "grid", 2)]
    if low is not None and high is not None:
        parts.append(_line(at(low), middle, at(high), middle, "step-3", 9))
    parts += [_line(at(mark), 3, at(mark), 21, "ink", 2) for mark in marks]
    parts.append(f'<circle cx="{at(value)}" cy="{middle}" r="4" fill="var(--chart-step-5)"/>')
    return (
        '<svg class="whisker" viewBox="0 0 200 24" aria-hidden="true" focusable="false">'
        + "".join(parts)
        + "</svg>"
    )


def _line(x1: float | str, y1: float, x2: float | str, y2: float, part: str, width: int) -> str:
    return (
        f'<line x1="{x1}" y1="{y1}" x2="{x2}" y2="{y2}" stroke="var(--chart-{part})" '
        f'stroke-width="{width}" stroke-linecap="round"/>'
    )
