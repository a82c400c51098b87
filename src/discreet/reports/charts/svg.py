"""Drawing: plain numbers become inline SVG whose colours the page chooses, so that light and dark both work.

Charts are drawn with stand-in colours, one per part a colour plays; afterwards each stand-in becomes a CSS
variable of the page. Nothing is fetched while drawing.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from html import escape
from typing import TYPE_CHECKING, Any, Literal, TypedDict

from discreet.reports.labels import beside

if TYPE_CHECKING:
    import altair as alt

Align = Literal["left", "center", "right"]

PARTS = (
    "ink",
    "muted",
    "grid",
    "paper",
    "accent",
    "accent-soft",
    "low",
    "medium",
    "high",
    "low-ink",
    "medium-ink",
    "high-ink",
    "low-zone",
    "medium-zone",
    "high-zone",
    "step-1",
    "step-2",
    "step-3",
    "step-4",
    "step-5",
    "step-1-ink",
    "step-2-ink",
    "step-3-ink",
    "step-4-ink",
    "step-5-ink",
)
"""The parts colours play; the page defines ``--chart-<part>`` for each."""

LIGHT = {
    "ink": "#1b2430",
    "muted": "#55606e",
    "grid": "#e3e7ed",
    "paper": "#ffffff",
    "accent": "#2a6fae",
}
"""What the light page chooses for the parts of pictures that are files of their own."""

WIDTH = 400
"""Small enough to be read on a telephone, where the picture shrinks to the screen."""

FONT = 14
_NAME_LIMIT = 150
_LONGEST_NAME = 18
_TAG = re.compile(r"<[^>]*>")
_UNWANTED = re.compile(r' (?:font-family|role|class|aria-[a-z]+)="[^"]*"')
_STAND_IN = re.compile(r"#fe01([0-9a-f]{2})")


def colour(part: str) -> str:
    """The stand-in for a part.

    >>> colour("ink"), colour("muted")
    ('#fe0100', '#fe0101')
    """
    return f"#fe01{PARTS.index(part):02x}"


@dataclass(frozen=True)
class RiskMark:
    """Mean and maximum of one risk."""

    name: str
    mean: float
    max: float


@dataclass(frozen=True)
class SizeBin:
    """A range of class sizes and the share of records in it; ``first`` is its smallest size."""

    label: str
    first: int
    share: float
    text: str


@dataclass(frozen=True)
class Cell:
    """A number in a heatmap; ``part`` is the colour it gets, its ink is ``<part>-ink``."""

    row: str
    column: str
    text: str
    part: str


@dataclass(frozen=True)
class Bar:
    """A bar with its label; ``behind`` is a longer, paler bar, if there is one."""

    name: str
    value: float
    text: str
    behind: float | None = None


class PlottedOutcome(TypedDict):
    """What something costs and what risk it leaves; ``best`` if nothing beats it. Without a name it stays a mark."""

    name: str
    loss: float
    risk: float
    best: bool
    shape: Literal["circle", "square", "diamond"]


def risk_scale(marks: Sequence[RiskMark], *, low: float, medium: float) -> str:
    """Mean (ring) and maximum (diamond) of each risk on a scale from 0 to 1 with its three zones."""
    import altair as alt

    height = 48 * len(marks)
    bounds = [("low", 0.0, low), ("medium", low, medium), ("high", medium, 1.0)]
    named = shortened([mark.name for mark in marks], _LONGEST_NAME)
    zones = data_of([{"from": a, "to": b, "fill": colour(f"{zone}-zone")} for zone, a, b in bounds])
    heads = data_of([{"at": (a + b) / 2, "zone": zone} for zone, a, b in bounds])
    data = data_of(
        [
            {
                "name": named[mark.name],
                "mean": mark.mean,
                "max": mark.max,
                "text": f"mean {mark.mean:.2f}, max {mark.max:.2f}",
                "side": "right" if mark.max > 0.5 else "left",
            }
            for mark in marks
        ]
    )
    scale = alt.Scale(domain=[0, 1], nice=False)
    x = alt.X("mean:Q", title=None, scale=scale)
    y = alt.Y("name:N", sort=None, title=None, axis=_names_axis())
    ticks = alt.Axis(
        values=[0, low, medium, 1], format=".2~f", grid=False, title=None, tickColor=colour("muted")
    )
    layers = [
        alt.Chart(zones)
        .mark_rect()
        .encode(x=alt.X("from:Q", axis=ticks, scale=scale), x2="to:Q", color=_as_given("fill")),
        alt.Chart(heads)
        .mark_text(dy=-9, baseline="bottom", fontSize=FONT, color=colour("muted"))
        .encode(x="at:Q", y=alt.value(0), text="zone:N"),
        alt.Chart(data_of([{"at": low}, {"at": medium}]))
        .mark_rule(color=colour("muted"), strokeDash=[3, 3])
        .encode(x="at:Q"),
        alt.Chart(data).mark_rule(color=colour("ink"), strokeWidth=2).encode(x=x, x2="max:Q", y=y),
        alt.Chart(data)
        .mark_point(
            shape="circle", filled=True, fill=colour("paper"), stroke=colour("ink"), size=90, opacity=1
        )
        .encode(x="mean:Q", y=y),
        alt.Chart(data)
        .mark_point(
            shape="diamond", filled=True, fill=colour("ink"), stroke=colour("ink"), size=120, opacity=1
        )
        .encode(x="max:Q", y=y),
        # The label stays inside the scale: it ends at a high maximum and begins at a low mean.
        _label(data, align="right", where="datum.side == 'right'").encode(x="max:Q", y=y),
        _label(data, align="left", where="datum.side == 'left'").encode(x="mean:Q", y=y),
    ]
    return _svg(alt.layer(*layers).properties(width=WIDTH - 110, height=height))


def size_bins(
    bins: Sequence[SizeBin], *, required: int | None, unit: str, longest: float | None = None
) -> str:
    """Share of records by class size; a gap with a line divides what is too small from what is large enough.

    ``longest`` is the share at which the scale ends, for drawings that stand side by side.
    """
    import altair as alt

    edge = len(bins) if required is None else sum(one.first < required for one in bins)
    gap = 0.0 if required is None else 0.9
    places = [i + (gap if i >= edge else 0.0) for i in range(len(bins))]
    data = data_of(
        [
            {
                "top": place - 0.36,
                "bottom": place + 0.36,
                "middle": place,
                "share": one.share,
                "label": one.label,
                "text": one.text or "0%",
                "fill": colour("high" if i < edge and required is not None else "accent"),
            }
            for i, (place, one) in enumerate(zip(places, bins, strict=True))
        ]
    )
    rows = len(bins) + gap
    y = alt.Scale(domain=[rows - 0.5, -0.5], nice=False, zero=False)
    longest = max(0.01, longest or 0.0, *(one.share for one in bins))
    x = alt.X(
        "share:Q",
        title="share of records",
        scale=alt.Scale(domain=[0, longest * 1.22], nice=False),
        axis=_percent_axis(longest),
    )
    base = alt.Chart(data)
    layers = [
        base.mark_rect().encode(
            x=x,
            x2=alt.datum(0),
            y=alt.Y("top:Q", scale=y, axis=None),
            y2="bottom:Q",
            color=_as_given("fill"),
        ),
        base.mark_text(align="left", dx=6, fontSize=FONT - 1, color=colour("ink")).encode(
            x="share:Q", y="middle:Q", text="text:N"
        ),
        base.mark_text(align="right", dx=-8, fontSize=FONT - 1, color=colour("ink")).encode(
            x=alt.value(0), y="middle:Q", text="label:N"
        ),
    ]
    if required is not None:
        line = data_of([{"at": edge - 0.5 + gap * 0.65, "text": f"required: {required} or more {unit}"}])
        layers += [
            alt.Chart(line)
            .mark_rule(color=colour("ink"), strokeDash=[5, 4], strokeWidth=1.5)
            .encode(y="at:Q", x=alt.value(-60), x2=alt.value(WIDTH - 90)),
            alt.Chart(line)
            .mark_text(align="right", baseline="bottom", dy=-3, fontSize=FONT - 1, color=colour("ink"))
            .encode(x=alt.value(WIDTH - 90), y="at:Q", text="text:N"),
        ]
    return _svg(alt.layer(*layers).properties(width=WIDTH - 90, height=27 * rows))


def heatmap(cells: Sequence[Cell], *, rows: Sequence[str], columns: Sequence[str], widest: int = 96) -> str:
    """A table of coloured cells with their numbers in them."""
    import altair as alt

    named = shortened(list(dict.fromkeys([*rows, *columns])), _LONGEST_NAME)
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
            labelLimit=_NAME_LIMIT,
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
        axis=_names_axis(),
    )
    base = alt.Chart(data)
    chart = alt.layer(
        base.mark_rect(cornerRadius=3).encode(x=x, y=y, color=_as_given("fill")),
        base.mark_text(fontSize=FONT - 1).encode(x=x, y=y, text="text:N", color=_as_given("ink")),
    )
    return _svg(
        chart.properties(width=width * len(columns), height=28 * len(rows)), slack=16 if slanted else 0
    )


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
        axis=_percent_axis(whole),
    )
    y = alt.Y("at:N", sort=order, title=None, axis=None, scale=alt.Scale(paddingInner=0, paddingOuter=0))
    base = alt.Chart(data)
    layers = [
        base.mark_bar(height=12, yOffset=9, color=colour("accent-soft")).encode(x=alt.X("behind:Q"), y=y),
        base.mark_bar(height=12, yOffset=9, color=colour("accent")).encode(x=x, y=y),
        base.mark_text(align="left", dy=-7, fontSize=FONT, color=colour("ink"), limit=WIDTH - 115).encode(
            x=alt.value(0), y=y, text="name:N"
        ),
        base.mark_text(align="right", dy=-7, fontSize=FONT, color=colour("muted"), limit=150).encode(
            x=alt.value(WIDTH - 20), y=y, text="text:N"
        ),
    ]
    return _svg(alt.layer(*layers).properties(width=WIDTH - 20, height=42 * len(items)))


def risk_against_loss(points: Sequence[PlottedOutcome], *, subtitle: Sequence[str], nothing: str) -> str:
    """Risk against loss: what nothing else beats is filled and joined by a line. ``nothing`` is said without points."""
    import altair as alt

    width, height = 520, 320
    right, top = (beyond([point[side] for point in points]) for side in ("loss", "risk"))
    places = [(width * one["loss"] / right, height * (1 - one["risk"] / top)) for one in points]
    labels = beside(places, [one["name"] for one in points], width=width, height=height, size=FONT)
    data = [
        {
            **one,
            "fill": colour("accent" if one["best"] else "paper"),
            "size": 110 if one["shape"] == "circle" else 190,
            "x": label.x,
            "y": label.y,
        }
        for one, label in zip(points, labels, strict=True)
    ]
    front = sorted((one for one in points if one["best"]), key=lambda one: (one["loss"], -one["risk"]))
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
    told = [one for one in data if one["name"]] or [
        {"name": "" if data else nothing, "x": 160, "y": height / 2}
    ]
    words = (
        alt.Chart(data_of(told))
        .mark_text(align="left", baseline="middle", fontSize=FONT, color=colour("ink"))
        .encode(x=text_x, y=text_y, text="name:N")
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


def beyond(values: Sequence[float]) -> float:
    """Where a scale from 0 ends so that its largest value has room; never beyond the whole."""
    largest = max(values, default=0.0)
    return min(1.0, 1.15 * largest) if 0.0 < largest <= 1.0 else max(1.0, 1.15 * largest)


def data_of(rows: Sequence[Any]) -> alt.InlineData:
    import altair as alt

    return alt.InlineData(values=list(rows))


def _as_given(field: str) -> alt.Color:
    """A colour that is in the data already."""
    import altair as alt

    return alt.Color(f"{field}:N", scale=None, legend=None)


def _label(data: alt.InlineData, *, align: Align, where: str) -> alt.Chart:
    """Text just above a mark."""
    import altair as alt

    chart: alt.Chart = alt.Chart(data).mark_text(align=align, dy=-14, fontSize=FONT - 2, color=colour("ink"))
    return chart.transform_filter(where).encode(text="text:N")


def _names_axis() -> alt.Axis:
    import altair as alt

    return alt.Axis(labelLimit=_NAME_LIMIT, ticks=False, domain=False, labelPadding=12, grid=False)


def _percent_axis(longest: float) -> alt.Axis:
    """Round percentages up to the longest bar, never beyond the whole."""
    import altair as alt

    step = next((one for one in (0.01, 0.02, 0.05, 0.1, 0.2) if longest <= 5 * one + 1e-9), 0.25)
    ticks = [round(i * step, 2) for i in range(6) if i * step <= min(1.0, longest) + 1e-9]
    return alt.Axis(values=ticks, format=".0%")


def shortened(names: Sequence[str], limit: int) -> dict[str, str]:
    """Names that fit into a drawing: the middle of long ones left out, and still told apart.

    >>> shortened(["sex", "attribute_number_1", "attribute_number_2"], 11)
    {'sex': 'sex', 'attribute_number_1': 'attr…mber_1', 'attribute_number_2': 'attr…mber_2'}
    >>> shortened(["abcdefghij", "abcdXXghij"], 7)
    {'abcdefghij': 'abc…hij', 'abcdXXghij': 'abc…hij (2)'}
    """
    found: dict[str, str] = {}
    for name in names:
        head = (limit - 1) // 2 - (limit > 9)
        short = name if len(name) <= limit else f"{name[:head]}…{name[len(name) - (limit - 1 - head) :]}"
        taken, again = set(found.values()), 2
        unique = short
        while unique in taken:
            unique, again = f"{short} ({again})", again + 1
        found[name] = unique
    return found


def _svg(chart: alt.LayerChart | alt.FacetChart, *, slack: int = 0) -> str:
    """The chart as SVG that shrinks with the page and takes its colours and font from it.

    ``slack`` is room above and to the right for slanted names.
    """
    return adopt(converted(chart, slack=slack))


def converted(chart: alt.LayerChart | alt.FacetChart, *, slack: int) -> str:
    """The chart as it was drawn, with stand-ins for its colours."""
    import vl_convert

    spec = chart.configure(
        background="transparent",
        font="sans-serif",
        aria=False,
        # Browsers know wider fonts than the one that is measured here.
        padding={"left": 22, "top": 4 + slack, "right": 12 + slack, "bottom": 4},
        view={"stroke": None},
        axis={
            "labelColor": colour("ink"),
            "titleColor": colour("muted"),
            "domainColor": colour("muted"),
            "tickColor": colour("grid"),
            "gridColor": colour("grid"),
            "labelFontSize": FONT - 1,
            "titleFontSize": FONT - 1,
            "titleFontWeight": "normal",
        },
    ).to_dict(validate=False)
    return str(vl_convert.vegalite_to_svg(spec, allowed_base_urls=[]))


def standalone(svg: str, *, title: str) -> str:
    """Make a drawn SVG a file of its own: colours of the light page on white, and a title for who cannot see it.

    >>> standalone('<svg xmlns="…"><text fill="#fe0100">x</text></svg>', title="Risk & loss")
    '<svg xmlns="…"><title>Risk &amp; loss</title><rect width="100%" height="100%" fill="#ffffff"/><text
      fill="#1b2430">x</text></svg>\\n'
    """
    head, _, rest = svg.partition(">")
    body = _TAG.sub(lambda tag: _STAND_IN.sub(lambda part: LIGHT[PARTS[int(part[1], 16)]], tag[0]), rest)
    ground = f'<rect width="100%" height="100%" fill="{LIGHT["paper"]}"/>'
    return f"{head}><title>{escape(title)}</title>{ground}{body}\n"


def adopt(svg: str) -> str:
    """Fit a drawn SVG into the page: no fixed size, no font of its own, colours as variables, no links.

    >>> adopt('<svg width="9" height="4" viewBox="0 0 9 4" xmlns="http://www.w3.org/2000/svg"><text '
    ...       'font-family="sans-serif" fill="#fe0100">x</text></svg>')
    '<svg viewBox="0 0 9 4" style="min-width:7px;max-width:11px" aria-hidden="true" focusable="false"><text
      fill="var(--chart-ink)">x</text></svg>'
    """
    head, _, rest = svg.partition(">")
    box = re.search(r'viewBox="0 0 ([\d.]+) ([\d.]+)"', head)
    assert box is not None
    width = float(box[1])
    opening = (
        f'<svg viewBox="0 0 {box[1]} {box[2]}" style="min-width:{0.75 * width:.0f}px;max-width:{1.2 * width:.0f}px" '
        'aria-hidden="true" focusable="false">'
    )
    body = _TAG.sub(_plain_tag, rest)
    return opening + body


def _plain_tag(tag: re.Match[str]) -> str:
    """A tag without font and without words for screen readers, which have the page's own text instead."""
    kept = _UNWANTED.sub("", tag[0])
    return _STAND_IN.sub(lambda found: f"var(--chart-{PARTS[int(found[1], 16)]})", kept)
