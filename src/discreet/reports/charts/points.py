"""Pictures of what was lost against what is exposed."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from discreet.reports.charts.svg import (
    FONT,
    WIDTH,
    PlottedOutcome,
    adopt,
    beyond,
    colour,
    converted,
    data_of,
    risk_against_loss,
    standalone,
)
from discreet.reports.labels import beside

if TYPE_CHECKING:
    from discreet.release.before_after import Bin
    from discreet.release.frontier import Frontier, Outcome


def chart_of_settings(frontier: Frontier, *, inside: bool = False) -> str:
    """Risk against loss of every setting; chosen point and knee have a name and a shape.

    A picture of its own, or one that stands ``inside`` a page and has its colours.
    """
    ends = {point.label for point in (*frontier.best[:1], *frontier.best[-1:])}
    # A name at every point would hide them.
    named = [point.chosen or point.knee or (point.best and point.label in ends) for point in frontier.points]
    drawn = risk_against_loss(
        _plotted(
            frontier.points,
            [_named(point) if shown else "" for point, shown in zip(frontier.points, named, strict=True)],
        ),
        subtitle=[
            "Filled and joined: no other setting is better in both.",
            "Square: the policy's own. Diamond: the knee, beyond which more loss buys little.",
        ],
        nothing="no setting meets the requirements",
    )
    return adopt(drawn) if inside else standalone(drawn, title="Risk against loss by setting")


def chart_of_methods(outcomes: Sequence[Outcome]) -> str:
    """Risk against loss of every method; those that no other beats are joined by a line."""
    drawn = risk_against_loss(
        _plotted(outcomes, [outcome.method for outcome in outcomes]),
        subtitle=["Filled and joined: no other method is better in both."],
        nothing="no method meets the requirements",
    )
    return standalone(drawn, title="Risk against loss by method")


def _plotted(outcomes: Sequence[Outcome], names: Sequence[str]) -> list[PlottedOutcome]:
    """The outcomes that can be drawn, each with its name and shape."""
    return [
        {
            "name": name,
            "loss": outcome.loss,
            "risk": outcome.mean_risk,
            "best": outcome.best,
            "shape": "square" if outcome.chosen else "diamond" if outcome.knee else "circle",
        }
        for outcome, name in zip(outcomes, names, strict=True)
        if outcome.loss is not None and outcome.mean_risk is not None
    ]


def _named(point: Outcome) -> str:
    return point.label + (", chosen" if point.chosen else "") + (", knee" if point.knee else "")


# ── what was lost against what is exposed ─────────────────────────────────────────────────────────────


@dataclass(frozen=True)
class Reach:
    """How far the best attack on one criterion got beyond chance, with its interval; bounds may be withheld."""

    name: str
    value: float
    low: float | None
    high: float | None


def loss_against_exposure(
    reached: Sequence[Reach], *, loss: float, loss_title: str, trivial: float | None, tolerated: float
) -> str:
    """Points of one release above its loss, with whiskers; lines where the original and the trivial release lie.

    Of those two only the loss is known, so they have no point.
    """
    import altair as alt

    width, height = WIDTH - 70, 270
    right = max(1.0, 1.05 * loss, trivial or 0.0)
    top = beyond([one.high if one.high is not None else one.value for one in reached] + [tolerated])
    worst = max((one.value for one in reached), default=0.0)
    places = [(width * loss / right, height * (1 - one.value / top)) for one in reached]
    labels = beside(places, [one.name for one in reached], width=width, height=height, size=FONT)
    data = [
        {
            "loss": loss,
            "exposure": one.value,
            "low": one.value if one.low is None else one.low,
            "high": one.value if one.high is None else one.high,
            "name": one.name,
            "fill": colour("accent" if one.value == worst else "paper"),
            "x": label.x,
            "y": label.y,
        }
        for one, label in zip(reached, labels, strict=True)
    ]
    axis = alt.Axis(format=".2~%", tickCount=5)
    x = alt.X("loss:Q", title=loss_title, axis=axis, scale=alt.Scale(domain=[0, right], nice=False))
    y_scale = alt.Scale(domain=[0, top], nice=False)
    y = alt.Y("exposure:Q", title="beyond chance", axis=axis, scale=y_scale)
    ends = [{"loss": 0.0, "name": "original", "align": "left"}]
    if trivial is not None:
        ends.append({"loss": trivial, "name": "shows nothing", "align": "right"})
    bound = data_of([{"exposure": tolerated, "name": f"{tolerated:.0%}"}])
    layers = [
        alt.Chart(data_of(ends)).mark_rule(color=colour("muted"), strokeDash=[3, 3]).encode(x=x),
        *(
            alt.Chart(data_of([end]))
            .mark_text(
                align="left" if end["align"] == "left" else "right",
                dy=-8,
                baseline="bottom",
                fontSize=FONT - 1,
                color=colour("muted"),
            )
            .encode(x=x, y=alt.value(0), text="name:N")
            for end in ends
        ),
        alt.Chart(bound).mark_rule(color=colour("high"), strokeDash=[6, 4]).encode(y=y),
        alt.Chart(data_of(data))
        .mark_rule(color=colour("ink"), strokeWidth=2)
        .encode(x=x, y=alt.Y("low:Q", scale=y_scale), y2="high:Q"),
        alt.Chart(data_of(data))
        .mark_point(filled=True, stroke=colour("accent"), strokeWidth=2, size=120, opacity=1)
        .encode(x=x, y=y, fill=alt.Fill("fill:N", scale=None, legend=None)),
    ]
    names = (
        alt.Chart(data_of(data))
        .mark_text(align="left", baseline="middle", fontSize=FONT, color=colour("ink"))
        .encode(
            # Labels have their place in pixels already.
            x=alt.X("x:Q", scale=alt.Scale(domain=[0, width], nice=False), axis=None),
            y=alt.Y("y:Q", scale=alt.Scale(domain=[height, 0], nice=False), axis=None),
            text="name:N",
        )
    )
    chart = alt.layer(alt.layer(*layers), names).resolve_scale(x="independent", y="independent")
    return adopt(converted(chart.properties(width=width, height=height), slack=14))


# ── before and after ──────────────────────────────────────────────────────────────────────────────────


def before_after(bins: Sequence[Bin], *, texts: Sequence[str]) -> str:
    """Two bars per value, each pair under its own label: pale what was, dark what the release implies."""
    import altair as alt

    order = [f"{i}" for i in range(len(bins))]
    longest = max(0.01, *(max(one.before, one.after) for one in bins))
    data = data_of(
        [
            {"at": at, "name": one.label, "before": one.before, "after": one.after, "text": text}
            for at, one, text in zip(order, bins, texts, strict=True)
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
        ).encode(x=alt.value(0), y=y, text="name:N"),
        base.mark_text(align="right", dy=-10, fontSize=FONT - 1, color=colour("muted"), limit=140).encode(
            x=alt.value(WIDTH - 20), y=y, text="text:N"
        ),
    ]
    chart = alt.layer(*layers).properties(width=WIDTH - 20, height=40 * len(bins))
    return adopt(converted(chart, slack=0))


# ── in the cell of a table ────────────────────────────────────────────────────────────────────────────


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
