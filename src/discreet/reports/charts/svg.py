"""What every drawing shares: stand-ins for colours, short names, axes, and the way from a chart to SVG.

Charts are drawn with stand-in colours, one per part a colour plays; afterwards each stand-in becomes a CSS
variable of the page, so that light and dark both work. Nothing is fetched while drawing.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Sequence
from functools import lru_cache, wraps
from html import escape
from typing import TYPE_CHECKING, Any, ParamSpec, TypeVar

if TYPE_CHECKING:
    import altair as alt

Channel = TypeVar("Channel")
Given = ParamSpec("Given")
PARTS = (
    *("ink", "muted", "grid", "paper", "accent", "accent-soft"),
    *(f"{grade}{use}" for use in ("", "-ink", "-zone") for grade in ("low", "medium", "high")),
    *(f"step-{step}{use}" for use in ("", "-ink") for step in range(1, 6)),
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
NAME_LIMIT = 150
LONGEST_NAME = 18
_TAG = re.compile(r"<[^>]*>")
_UNWANTED = re.compile(r' (?:font-family|role|class|aria-[a-z]+)="[^"]*"')
_STAND_IN = re.compile(r"#fe01([0-9a-f]{2})")


def colour(part: str) -> str:
    """The stand-in for a part.

    >>> colour("ink"), colour("muted")
    ('#fe0100', '#fe0101')
    """
    return f"#fe01{PARTS.index(part):02x}"


def data_of(rows: Sequence[Any]) -> alt.InlineData:
    """Rows as the data of a chart."""
    import altair as alt

    return alt.InlineData(values=list(rows))


def as_given(field: str) -> alt.Color:
    """A colour that is in the data already."""
    import altair as alt

    return alt.Color(f"{field}:N", scale=None, legend=None)


def names_axis() -> alt.Axis:
    """An axis of names without line and ticks."""
    import altair as alt

    return alt.Axis(labelLimit=NAME_LIMIT, ticks=False, domain=False, labelPadding=12, grid=False)


def percent_axis(longest: float) -> alt.Axis:
    """Round percentages up to the longest bar, never beyond the whole."""
    import altair as alt

    step = next((width for width in (0.01, 0.02, 0.05, 0.1, 0.2) if longest <= 5 * width + 1e-9), 0.25)
    ticks = [round(i * step, 2) for i in range(6) if i * step <= min(1.0, longest) + 1e-9]
    return alt.Axis(values=ticks, format=".0%")


def scale_end(values: Sequence[float]) -> float:
    """Where a scale from 0 ends so that its largest value has room; never beyond the whole."""
    largest = max(values, default=0.0)
    return min(1.0, 1.15 * largest) if 0.0 < largest <= 1.0 else max(1.0, 1.15 * largest)


def shortened(names: Sequence[str], limit: int) -> dict[str, str]:
    """Names that fit into a drawing: the middle of long ones left out, and still told apart.

    >>> shortened(["sex", "attribute_number_1", "attribute_number_2"], 11)
    {'sex': 'sex', 'attribute_number_1': 'attr…mber_1', 'attribute_number_2': 'attr…mber_2'}
    >>> shortened(["abcdefghij", "abcdXXghij"], 7)
    {'abcdefghij': 'abc…hij', 'abcdXXghij': 'abc…hij (2)'}
    """
    names_shown: dict[str, str] = {}
    for name in names:
        head = (limit - 1) // 2 - (limit > 9)
        short = name if len(name) <= limit else f"{name[:head]}…{name[len(name) - (limit - 1 - head) :]}"
        taken, again = set(names_shown.values()), 2
        unique = short
        while unique in taken:
            unique, again = f"{short} ({again})", again + 1
        names_shown[name] = unique
    return names_shown


def fixed(channel: type[Channel], value: float) -> Channel:
    """A place that no data decide, as an object of its channel.

    Where Altair is given a text or a plain value for a channel, it goes through all of its classes to find that one:
    channels are objects in all charts, which takes a third of the time of drawing less.
    """
    return channel(value)  # type: ignore[call-arg]


def drawn_once(draw: Callable[Given, str]) -> Callable[Given, str]:
    """A chart whose drawings are kept: page, both editions and releases of one table show many that are the same."""

    @wraps(draw)
    def drawn(*given: Given.args, **settings: Given.kwargs) -> str:
        named = tuple((name, _hashable(value)) for name, value in settings.items())
        return _drawing(draw, tuple(map(_hashable, given)), named)

    return drawn


@lru_cache(maxsize=64)
def _drawing(
    draw: Callable[..., str], given: tuple[object, ...], settings: tuple[tuple[str, object], ...]
) -> str:
    return draw(*given, **dict(settings))


def _hashable(value: object) -> object:
    return tuple(value) if isinstance(value, list) else value


def inline(chart: alt.LayerChart | alt.FacetChart, *, slack: int = 0) -> str:
    """The chart as SVG that shrinks with the page and takes its colours and font from it.

    ``slack`` is room above and to the right for slanted names.
    """
    return adopt(converted(chart, slack=slack))


def converted(chart: alt.LayerChart | alt.FacetChart, *, slack: int) -> str:
    """The chart as it was drawn, with stand-ins for its colours."""
    import vl_convert

    spec = chart.to_dict(validate=False)
    # Altair would copy and check the whole drawing to add them.
    spec["config"] |= {
        "background": "transparent",
        "font": "sans-serif",
        "aria": False,
        # Browsers know wider fonts than the one that is measured here.
        "padding": {"left": 22, "top": 4 + slack, "right": 12 + slack, "bottom": 4},
        "view": {**spec["config"]["view"], "stroke": None},
        "axis": {
            "labelColor": colour("ink"),
            "titleColor": colour("muted"),
            "domainColor": colour("muted"),
            "tickColor": colour("grid"),
            "gridColor": colour("grid"),
            "labelFontSize": FONT - 1,
            "titleFontSize": FONT - 1,
            "titleFontWeight": "normal",
        },
    }
    return str(vl_convert.vegalite_to_svg(json.dumps(spec), allowed_base_urls=[]))


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
    return _STAND_IN.sub(lambda stand_in: f"var(--chart-{PARTS[int(stand_in[1], 16)]})", kept)
