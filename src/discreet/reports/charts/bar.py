"""Bars: shares of records by class size, single values, and values before and after."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from discreet.reports.charts.svg import (
    FONT,
    WIDTH,
    as_given,
    colour,
    data_of,
    drawn_once,
    fixed,
    inline,
    percent_axis,
)

if TYPE_CHECKING:
    from discreet.release.before_after import Bin


@dataclass(frozen=True)
class SizeBin:
    """A range of class sizes and the share of records in it; ``first`` is its smallest size."""

    label: str
    first: int
    share: float
    text: str


@dataclass(frozen=True)
class Bar:
    """A bar with its label; ``behind`` is a longer, paler bar, if there is one."""

    name: str
    value: float
    text: str
    behind: float | None = None


@drawn_once
def size_bins(
    bins: Sequence[SizeBin], *, required: int | None, unit: str, longest: float | None = None
) -> str:
    """Share of records by class size; a gap with a line divides what is too small from what is large enough.

    ``longest`` is the share at which the scale ends, for drawings that stand side by side.
    """
    import altair as alt

    edge = len(bins) if required is None else sum(size.first < required for size in bins)
    gap = 0.0 if required is None else 0.9
    places = [i + (gap if i >= edge else 0.0) for i in range(len(bins))]
    data = data_of(
        [
            {
                "top": place - 0.36,
                "bottom": place + 0.36,
                "middle": place,
                "share": size.share,
                "label": size.label,
                "text": size.text or "0%",
                "fill": colour("high" if i < edge and required is not None else "accent"),
            }
            for i, (place, size) in enumerate(zip(places, bins, strict=True))
        ]
    )
    rows = len(bins) + gap
    y = alt.Scale(domain=[rows - 0.5, -0.5], nice=False, zero=False)
    longest = max(0.01, longest or 0.0, *(size.share for size in bins))
    x = alt.X(
        "share:Q",
        title="share of records",
        scale=alt.Scale(domain=[0, longest * 1.22], nice=False),
        axis=percent_axis(longest),
    )
    base = alt.Chart(data)
    layers = [
        base.mark_rect().encode(
            x=x,
            x2=fixed(alt.X2Datum, 0),
            y=alt.Y("top:Q", scale=y, axis=None),
            y2=alt.Y2("bottom:Q"),
            color=as_given("fill"),
        ),
        base.mark_text(align="left", dx=6, fontSize=FONT - 1, color=colour("ink")).encode(
            x=alt.X("share:Q"), y=alt.Y("middle:Q"), text=alt.Text("text:N")
        ),
        base.mark_text(align="right", dx=-8, fontSize=FONT - 1, color=colour("ink")).encode(
            x=fixed(alt.XValue, 0), y=alt.Y("middle:Q"), text=alt.Text("label:N")
        ),
    ]
    if required is not None:
        line = data_of([{"at": edge - 0.5 + gap * 0.65, "text": f"required: {required} or more {unit}"}])
        layers += [
            alt.Chart(line)
            .mark_rule(color=colour("ink"), strokeDash=[5, 4], strokeWidth=1.5)
            .encode(y=alt.Y("at:Q"), x=fixed(alt.XValue, -60), x2=fixed(alt.X2Value, WIDTH - 90)),
            alt.Chart(line)
            .mark_text(align="right", baseline="bottom", dy=-3, fontSize=FONT - 1, color=colour("ink"))
            .encode(x=fixed(alt.XValue, WIDTH - 90), y=alt.Y("at:Q"), text=alt.Text("text:N")),
        ]
    return inline(alt.layer(*layers).properties(width=WIDTH - 90, height=27 * rows))


@drawn_once
def bars(items: Sequence[Bar], *, title: str, whole: float = 1.0) -> str:
    """Horizontal bars, each under its own label so that long names have the whole width."""
    import altair as alt

    order = [f"{i}" for i in range(len(items))]
    data = data_of(
        [
            {
                "at": at,
                "name": item.name,
                "value": item.value,
                "text": item.text,
                "behind": item.behind or 0.0,
            }
            for at, item in zip(order, items, strict=True)
        ]
    )
    x = alt.X(
        "value:Q",
        title=title,
        scale=alt.Scale(domain=[0, whole], nice=False),
        axis=percent_axis(whole),
    )
    y = alt.Y("at:N", sort=order, title=None, axis=None, scale=alt.Scale(paddingInner=0, paddingOuter=0))
    base = alt.Chart(data)
    layers = [
        base.mark_bar(height=12, yOffset=9, color=colour("accent-soft")).encode(x=alt.X("behind:Q"), y=y),
        base.mark_bar(height=12, yOffset=9, color=colour("accent")).encode(x=x, y=y),
        base.mark_text(align="left", dy=-7, fontSize=FONT, color=colour("ink"), limit=WIDTH - 115).encode(
            x=fixed(alt.XValue, 0), y=y, text=alt.Text("name:N")
        ),
        base.mark_text(align="right", dy=-7, fontSize=FONT, color=colour("muted"), limit=150).encode(
            x=fixed(alt.XValue, WIDTH - 20), y=y, text=alt.Text("text:N")
        ),
    ]
    return inline(alt.layer(*layers).properties(width=WIDTH - 20, height=42 * len(items)))


@drawn_once
def before_after(bins: Sequence[Bin], *, texts: Sequence[str]) -> str:
    """Two bars per value, each pair under its own label: pale what was, dark what the release implies."""
    import altair as alt

    order = [f"{i}" for i in range(len(bins))]
    longest = max(0.01, *(max(value.before, value.after) for value in bins))
    data = data_of(
        [
            {"at": at, "name": value.label, "before": value.before, "after": value.after, "text": text}
            for at, value, text in zip(order, bins, texts, strict=True)
        ]
    )
    scale = alt.Scale(domain=[0, longest], nice=False)
    y = alt.Y("at:N", sort=order, title=None, axis=None, scale=alt.Scale(paddingInner=0, paddingOuter=0))
    base = alt.Chart(data)
    axis = alt.Axis(format=".2~%", tickCount=4)
    layers = [
        base.mark_bar(height=8, yOffset=3, color=colour("step-3")).encode(
            x=alt.X("before:Q", title="share of records", scale=scale, axis=axis), y=y
        ),
        base.mark_bar(height=8, yOffset=11, color=colour("step-5")).encode(x=alt.X("after:Q"), y=y),
        base.mark_text(
            align="left", dy=-10, fontSize=FONT - 1, color=colour("ink"), limit=WIDTH - 150
        ).encode(x=fixed(alt.XValue, 0), y=y, text=alt.Text("name:N")),
        base.mark_text(align="right", dy=-10, fontSize=FONT - 1, color=colour("muted"), limit=140).encode(
            x=fixed(alt.XValue, WIDTH - 20), y=y, text=alt.Text("text:N")
        ),
    ]
    chart = alt.layer(*layers).properties(width=WIDTH - 20, height=40 * len(bins))
    return inline(chart)
