"""Pictures of what was lost against what is exposed."""

from __future__ import annotations

from typing import TYPE_CHECKING

from discreet.release.charts import FONT, beyond, colour, converted, data_of, standalone
from discreet.release.labels import beside

if TYPE_CHECKING:
    from discreet.release.frontier import Frontier, Point


def frontier_chart(frontier: Frontier) -> str:
    """Risk against loss of every setting as a picture of its own; chosen point and knee have a name and a shape."""
    import altair as alt

    width, height = 520, 320
    known = [one for one in frontier.points if one.loss is not None and one.mean_risk is not None]
    right, top = (beyond([getattr(point, side) for point in known]) for side in ("loss", "mean_risk"))
    places = [
        (width * (one.loss or 0.0) / right, height * (1 - (one.mean_risk or 0.0) / top)) for one in known
    ]
    ends = {one.label for one in (*frontier.best[:1], *frontier.best[-1:])}
    names = [
        _named(one) if one.chosen or one.knee or (one.best and one.label in ends) else "" for one in known
    ]
    labels = beside(places, names, width=width, height=height, size=FONT)
    data = [
        {
            "loss": one.loss,
            "risk": one.mean_risk,
            "name": name,
            "fill": colour("accent" if one.best else "paper"),
            "shape": "square" if one.chosen else "diamond" if one.knee else "circle",
            "size": 190 if one.chosen or one.knee else 90,
            "x": label.x,
            "y": label.y,
        }
        for one, name, label in zip(known, names, labels, strict=True)
    ]
    front = [{"loss": one.loss, "risk": one.mean_risk} for one in frontier.best]
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
    told = data or [{"name": "no setting meets the requirements", "x": 160, "y": height / 2}]
    words = (
        alt.Chart(data_of([one for one in told if one["name"]]))
        .mark_text(align="left", baseline="middle", fontSize=FONT, color=colour("ink"))
        .encode(x=text_x, y=text_y, text="name:N")
    )
    title = alt.Title(
        "Risk against loss",
        subtitle=[
            "Filled and joined: no other setting is better in both.",
            "Square: the policy's own. Diamond: the knee, beyond which more loss buys little.",
        ],
        anchor="start",
        color=colour("ink"),
        subtitleColor=colour("muted"),
        fontSize=FONT + 2,
        subtitleFontSize=FONT - 1,
    )
    chart = alt.layer(marks, words).resolve_scale(x="independent", y="independent")
    return standalone(
        converted(chart.properties(width=width, height=height, title=title), slack=8),
        title="Risk against loss by setting",
    )


def _named(point: Point) -> str:
    return point.label + (", chosen" if point.chosen else "") + (", knee" if point.knee else "")
