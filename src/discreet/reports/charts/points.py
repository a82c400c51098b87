"""Points of what is lost against what risk or exposure is left."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal, TypedDict

from discreet.reports.charts.svg import (
    FONT,
    SMALL,
    WIDTH,
    Anchor,
    Drawing,
    PlotScale,
    across,
    scale_end,
    shares,
    upright,
    width_of,
)
from discreet.reports.labels import beside
from discreet.sentences import Sentence

if TYPE_CHECKING:
    from discreet.release.frontier import Frontier
from discreet.release.outcome import Outcome

LONGER = 0.3
"""By so much words of another language may be longer."""
MARGIN = 10.0
"""So far right of the plot a name may reach: the drawing is wider than that."""
_HALF_WIDTHS = {"circle": 6.0, "square": 6.5, "diamond": 7.5}


class PlottedOutcome(TypedDict):
    """What something costs and what risk it leaves; ``best`` if nothing beats it. Without a name it stays a mark."""

    name: str
    loss: float
    risk: float
    best: bool
    shape: Literal["circle", "square", "diamond"]


def risk_against_loss(
    points: Sequence[PlottedOutcome],
    *,
    nothing: str,
    heading: Sequence[str] = (),
    axes: tuple[str, str] = ("loss", "mean prosecutor risk"),
) -> Drawing:
    """Risk against loss: what nothing else beats is filled and joined by a line. ``nothing`` is said without points.

    A drawing with lines of ``heading`` is wide enough for them; inside a page there are none. ``axes`` are
    the names of what is lost and of the risk.
    """
    drawing = Drawing(560, 340) if heading else Drawing(WIDTH - 70, 240)
    right, top = (scale_end([point[side] for point in points]) for side in ("loss", "risk"))
    x, y = PlotScale(right, drawing.width), PlotScale(top, drawing.height)
    _heading(drawing, heading)
    across(drawing, x, shares(right), axes[0])
    upright(drawing, y, shares(top), axes[1])
    places = [(x(point["loss"]), drawing.height - y(point["risk"])) for point in points]
    front = sorted(
        (place for point, place in zip(points, places, strict=True) if point["best"]),
        key=lambda place: (place[0], place[1]),
    )
    drawing.path(front, "accent")
    for point, place in zip(points, places, strict=True):
        fill, size = "accent" if point["best"] else "paper", _HALF_WIDTHS[point["shape"]]
        drawing.mark(*place, point["shape"], size=size, fill=fill, stroke="accent")
    names = [point["name"] for point in points]
    labels = beside(
        places,
        names,
        width=drawing.width + MARGIN,
        height=drawing.height,
        size=FONT,
        line=front,
        longer=LONGER,
    )
    for label, name, (at, _) in zip(labels, names, places, strict=True):
        # Words of another language are longer: they must grow away from the point.
        side: Anchor = "end" if label.x + label.width <= at else "start" if label.x >= at else "middle"
        begin = label.x + {"start": 0.0, "middle": 0.5, "end": 1.0}[side] * label.width
        if name:
            drawing.text(begin, label.y, name, "ink", anchor=side, baseline="middle")
    if not points:
        drawing.text(drawing.width / 2, drawing.height / 2, nothing, "ink", anchor="middle")
    return drawing


def _heading(drawing: Drawing, lines: Sequence[str]) -> None:
    """Lines above the plot; the first is the title."""
    for above, words in enumerate(reversed(lines)):
        title = above == len(lines) - 1
        size, part = (FONT + 2, "ink") if title else (SMALL, "muted")
        drawing.text(0, -14 - above * (FONT + 4), words, part, size=size, bold=title)


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
        nothing="no setting meets the requirements",
        heading=()
        if inside
        else (
            "Risk against loss",
            "Filled and joined: no other setting is better in both.",
            "Square: the policy's own. Diamond: the knee, beyond which more loss buys little.",
        ),
    )
    return drawn.inside() if inside else drawn.standalone(title="Risk against loss by setting")


def chart_of_methods(outcomes: Sequence[Outcome]) -> str:
    """Risk against loss of every method; those that no other beats are joined by a line."""
    drawn = risk_against_loss(
        _plotted(outcomes, [outcome.method for outcome in outcomes]),
        nothing="no method meets the requirements",
        heading=("Risk against loss", "Filled and joined: no other method is better in both."),
    )
    return drawn.standalone(title="Risk against loss by method")


def chart_of_releases(outcomes: Sequence[Outcome], names: Sequence[str]) -> str:
    """Risk against loss of releases that can be chosen, as a drawing inside a page."""
    drawn = risk_against_loss(
        _plotted(outcomes, names),
        nothing="no release has a loss that is defined",
    )
    return drawn.inside()


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
    marks = [Sentence(word) for word, is_so in (("chosen", point.chosen), ("knee", point.knee)) if is_so]
    return Sentence("{parts}", parts=(point.label, *marks))


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
    drawing = Drawing(WIDTH - 70, 270)
    right = max(1.0, 1.05 * loss, trivial or 0.0)
    top = scale_end(
        [reach.high if reach.high is not None else reach.value for reach in reached] + [tolerated]
    )
    x, y = PlotScale(right, drawing.width), PlotScale(top, drawing.height)
    across(drawing, x, shares(right), loss_title)
    upright(drawing, y, shares(top), "beyond chance")
    ends: list[tuple[float, str, Anchor]] = [(0.0, "original", "start")]
    if trivial is not None:
        ends.append((trivial, "shows nothing", "end"))
    for end, name, anchor in ends:
        drawing.line((x(end), 0), (x(end), drawing.height), "muted", dash="3 3")
        drawing.text(x(end), -8, name, "muted", anchor=anchor, size=SMALL)
    bound = drawing.height - y(tolerated)
    drawing.line((0, bound), (drawing.width, bound), "high", dash="6 4")
    # Whiskers side by side: above one loss they would hide each other.
    apart = 14
    first = x(loss) - apart * (len(reached) - 1) / 2
    first = min(max(first, 8), drawing.width - 8 - apart * (len(reached) - 1))
    worst = max((reach.value for reach in reached), default=0.0)
    # Where the loss itself lies.
    drawing.line((x(loss), drawing.height - 4), (x(loss), drawing.height + 8), "accent", width=3)
    places = [(first + apart * i, drawing.height - y(reach.value)) for i, reach in enumerate(reached)]
    for reach, (across_at, up) in zip(reached, places, strict=True):
        low, high = (reach.value if edge is None else edge for edge in (reach.low, reach.high))
        drawing.line(
            (across_at, drawing.height - y(low)), (across_at, drawing.height - y(high)), "ink", width=2
        )
        fill = "accent" if reach.value == worst else "paper"
        drawing.mark(across_at, up, "circle", size=6, fill=fill, stroke="accent")
    _names_beside(drawing, places, [reach.name for reach in reached])
    return drawing.inside()


def _names_beside(drawing: Drawing, places: Sequence[tuple[float, float]], names: Sequence[str]) -> None:
    """Names right of all whiskers, or left of them where there is no room, in the order of their points, each with a
    thin line to its own."""
    if not places:
        return
    wide = max(width_of(name, FONT) for name in names)
    outer = max(x for x, _ in places) + 16
    at_right = outer + wide <= drawing.width
    edge = outer if at_right else min(x for x, _ in places) - 16
    line = 1.3 * FONT
    lowest = 0.0
    heights: dict[int, float] = {}
    for i in sorted(range(len(places)), key=lambda i: places[i][1]):
        heights[i] = lowest = max(places[i][1], lowest + line)
    # Pushed out below, they move up together.
    overflow = max(0.0, max(heights.values()) - (drawing.height - line / 2))
    for i, name in enumerate(names):
        x, y = places[i]
        drawing.line((x, y), (edge - (2 if at_right else -2), heights[i] - overflow), "muted", width=0.8)
        drawing.text(
            edge, heights[i] - overflow, name, "ink", anchor="start" if at_right else "end", baseline="middle"
        )
