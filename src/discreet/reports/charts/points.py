"""Points of what is lost against what risk or exposure is left."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal, TypedDict

from discreet.reports.charts.svg import (
    FONT,
    WIDTH,
    adopt,
    colour,
    converted,
    data_of,
    drawn_once,
    fixed,
    scale_end,
    standalone,
)
from discreet.reports.labels import beside

if TYPE_CHECKING:
    from discreet.release.frontier import Frontier
from discreet.release.outcome import Outcome


class PlottedOutcome(TypedDict):
    """What something costs and what risk it leaves; ``best`` if nothing beats it. Without a name it stays a mark."""

    name: str
    loss: float
    risk: float
    best: bool
    shape: Literal["circle", "square", "diamond"]


def risk_against_loss(points: Sequence[PlottedOutcome], *, subtitle: Sequence[str], nothing: str) -> str:
    """Risk against loss: what nothing else beats is filled and joined by a line. ``nothing`` is said without points."""
    import altair as alt

    width, height = 520, 320
    right, top = (scale_end([point[side] for point in points]) for side in ("loss", "risk"))
    places = [(width * point["loss"] / right, height * (1 - point["risk"] / top)) for point in points]
    labels = beside(places, [point["name"] for point in points], width=width, height=height, size=FONT)
    data = [
        {
            **point,
            "fill": colour("accent" if point["best"] else "paper"),
            "size": 110 if point["shape"] == "circle" else 190,
            "x": label.x,
            "y": label.y,
        }
        for point, label in zip(points, labels, strict=True)
    ]
    front = sorted(
        (point for point in points if point["best"]), key=lambda point: (point["loss"], -point["risk"])
    )
    axis = alt.Axis(format=".2~%", tickCount=5)
    x = alt.X("loss:Q", title="loss", axis=axis, scale=alt.Scale(domain=[0, right], nice=False))
    y = alt.Y("risk:Q", title="mean prosecutor risk", axis=axis, scale=alt.Scale(domain=[0, top], nice=False))
    # Labels have their place in pixels already.
    text_x = alt.X("x:Q", scale=alt.Scale(domain=[0, width], nice=False), axis=None)
    text_y = alt.Y("y:Q", scale=alt.Scale(domain=[height, 0], nice=False), axis=None)
    marks = alt.layer(
        alt.Chart(data_of(front)).mark_line(color=colour("accent"), strokeWidth=2).encode(x=x, y=y),
        alt.Chart(data_of(data))
        .mark_point(filled=True, stroke=colour("accent"), strokeWidth=2, opacity=1)
        .encode(
            x=x,
            y=y,
            fill=alt.Fill("fill:N", scale=None, legend=None),
            shape=alt.Shape("shape:N", scale=None, legend=None),
            size=alt.Size("size:Q", scale=None, legend=None),
        ),
    )
    told = [point for point in data if point["name"]] or [
        {"name": "" if data else nothing, "x": 160, "y": height / 2}
    ]
    words = (
        alt.Chart(data_of(told))
        .mark_text(align="left", baseline="middle", fontSize=FONT, color=colour("ink"))
        .encode(x=text_x, y=text_y, text=alt.Text("name:N"))
    )
    title = alt.Title(
        "Risk against loss",
        subtitle=list(subtitle),
        anchor="start",
        color=colour("ink"),
        subtitleColor=colour("muted"),
        fontSize=FONT + 2,
        subtitleFontSize=FONT - 1,
    )
    chart = alt.layer(marks, words).resolve_scale(x="independent", y="independent")
    return converted(chart.properties(width=width, height=height, title=title), slack=8)


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


def chart_of_releases(outcomes: Sequence[Outcome], names: Sequence[str]) -> str:
    """Risk against loss of releases that can be chosen, as a drawing inside a page."""
    drawn = risk_against_loss(
        _plotted(outcomes, names),
        subtitle=["Filled and joined: no other release is better in both."],
        nothing="no release has a loss that is defined",
    )
    return adopt(drawn)


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


@dataclass(frozen=True)
class Reach:
    """How far the best attack on one criterion got beyond chance, with its interval; bounds may be withheld."""

    name: str
    value: float
    low: float | None
    high: float | None


@drawn_once
def loss_against_exposure(
    reached: Sequence[Reach], *, loss: float, loss_title: str, trivial: float | None, tolerated: float
) -> str:
    """Points of one release above its loss, with whiskers; lines where the original and the trivial release lie.

    Of those two only the loss is known, so they have no point.
    """
    import altair as alt

    width, height = WIDTH - 70, 270
    right = max(1.0, 1.05 * loss, trivial or 0.0)
    top = scale_end(
        [reach.high if reach.high is not None else reach.value for reach in reached] + [tolerated]
    )
    worst = max((reach.value for reach in reached), default=0.0)
    places = [(width * loss / right, height * (1 - reach.value / top)) for reach in reached]
    labels = beside(places, [reach.name for reach in reached], width=width, height=height, size=FONT)
    data = [
        {
            "loss": loss,
            "exposure": reach.value,
            "low": reach.value if reach.low is None else reach.low,
            "high": reach.value if reach.high is None else reach.high,
            "name": reach.name,
            "fill": colour("accent" if reach.value == worst else "paper"),
            "x": label.x,
            "y": label.y,
        }
        for reach, label in zip(reached, labels, strict=True)
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
            .encode(x=x, y=fixed(alt.YValue, 0), text=alt.Text("name:N"))
            for end in ends
        ),
        alt.Chart(bound).mark_rule(color=colour("high"), strokeDash=[6, 4]).encode(y=y),
        alt.Chart(data_of(data))
        .mark_rule(color=colour("ink"), strokeWidth=2)
        .encode(x=x, y=alt.Y("low:Q", scale=y_scale), y2=alt.Y2("high:Q")),
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
            text=alt.Text("name:N"),
        )
    )
    chart = alt.layer(alt.layer(*layers), names).resolve_scale(x="independent", y="independent")
    return adopt(converted(chart.properties(width=width, height=height), slack=14))
