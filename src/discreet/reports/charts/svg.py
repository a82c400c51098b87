"""A drawing as SVG: marks in pixels, scales with their ticks, names that fit.

Marks name the part that their colour plays, not a colour: inside a page each part is a CSS variable, so that light and
dark both work; a picture that is a file of its own has the colours of the light page.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Sequence
from html import escape
from typing import Literal

from discreet.sentences import Sentence, dumps

SAID = "data-said"
"""The attribute in which words keep their template and parameters until they are shown in a language."""
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
    "medium": "#f3c969",
    "high": "#a8261f",
}
"""What the light page chooses for the parts of pictures that are files of their own."""
WIDTH = 368
"""Of a plot with its margins: on a telephone it need not shrink by much."""
FONT = 15
SMALL = 14
"""On a screen 400 pixels wide still 12 pixels high."""
LONGEST_NAME = 18
MARGIN = 8
TICK = 5
_NARROW, _WIDE = frozenset("iIjl.,:;|'!()[]{} tfr-"), frozenset("mwMW@%…→—")
_DOWN = {"alphabetic": 0.0, "middle": 0.32, "bottom": -0.22}
Anchor = Literal["start", "middle", "end"]


class Drawing:
    """Marks on a plot of some pixels; ``x`` and ``y`` count from its upper left corner, and margins grow as texts need."""

    def __init__(self, width: float, height: float) -> None:
        self.width, self.height = width, height
        self._marks: list[Callable[[Callable[[str], str]], str]] = []
        self._left, self._top, self._right, self._bottom = 0.0, 0.0, width, height

    def rect(self, x: float, y: float, width: float, height: float, part: str, *, corner: int = 0) -> None:
        """A filled rectangle."""
        rounded = f' rx="{corner}"' if corner else ""
        box = f'x="{_px(x)}" y="{_px(y)}" width="{_px(width)}" height="{_px(height)}"{rounded}'
        self._marks.append(lambda paint: f'<rect {box} fill="{paint(part)}"/>')

    def line(
        self,
        start: tuple[float, float],
        end: tuple[float, float],
        part: str,
        *,
        width: float = 1,
        dash: str = "",
    ) -> None:
        """A line, or a dashed one: lengths of ink and gap."""
        ends = f'x1="{_px(start[0])}" y1="{_px(start[1])}" x2="{_px(end[0])}" y2="{_px(end[1])}"'
        dashed = f' stroke-dasharray="{dash}"' if dash else ""
        self._marks.append(
            lambda paint: f'<line {ends} stroke="{paint(part)}" stroke-width="{_px(width)}"{dashed}/>'
        )
        self._cover(
            min(start[0], end[0]), min(start[1], end[1]), max(start[0], end[0]), max(start[1], end[1])
        )

    def path(self, points: Sequence[tuple[float, float]], part: str) -> None:
        """A line through points."""
        places = " ".join(f"{_px(x)},{_px(y)}" for x, y in points)
        self._marks.append(
            lambda paint: f'<polyline points="{places}" fill="none" stroke="{paint(part)}" stroke-width="2"/>'
        )

    def mark(self, x: float, y: float, shape: str, *, size: float, fill: str, stroke: str) -> None:
        """A circle, square or diamond around a point; ``size`` is half its width."""
        if shape == "circle":
            outline = f'<circle cx="{_px(x)}" cy="{_px(y)}" r="{_px(size)}"'
        else:
            corners = (
                [(x - size, y - size), (x + size, y - size), (x + size, y + size), (x - size, y + size)]
                if shape == "square"
                else [(x, y - size), (x + size, y), (x, y + size), (x - size, y)]
            )
            outline = f'<polygon points="{" ".join(f"{_px(a)},{_px(b)}" for a, b in corners)}"'
        self._marks.append(
            lambda paint: f'{outline} fill="{paint(fill)}" stroke="{paint(stroke)}" stroke-width="2"/>'
        )
        self._cover(x - size, y - size, x + size, y + size)

    def text(
        self,
        x: float,
        y: float,
        words: str,
        part: str,
        *,
        anchor: Anchor = "start",
        baseline: Literal["alphabetic", "middle", "bottom"] = "alphabetic",
        size: int = FONT,
        turned: int = 0,
        bold: bool = False,
    ) -> None:
        """Words at a place; ``turned`` by degrees around it."""
        y += size * _DOWN[baseline] if not turned else 0.0
        look = f' font-size="{size}px"' + (' font-weight="bold"' if bold else "")
        look += "" if anchor == "start" else f' text-anchor="{anchor}"'
        look += f' transform="rotate({turned} {_px(x)} {_px(y)})"' if turned else ""
        place = f'<text{said_by(words)} x="{_px(x)}" y="{_px(y)}"{look}'
        self._marks.append(lambda paint: f'{place} fill="{paint(part)}">{escape(words, quote=False)}</text>')
        # Browsers know wider fonts than the one that is supposed here.
        wide = 1.08 * width_of(words, size)
        begin = {"start": 0.0, "middle": -wide / 2, "end": -wide}[anchor]
        turn = math.radians(turned)
        ends = [(along * math.cos(turn), along * math.sin(turn)) for along in (begin, begin + wide)]
        self._cover(
            x + min(a for a, _ in ends) - size * abs(math.sin(turn)),
            y + min(b for _, b in ends) - 0.8 * size,
            x + max(a for a, _ in ends),
            y + max(b for _, b in ends) + 0.25 * size,
        )

    def inside(self) -> str:
        """The drawing inside a page: it shrinks with the page and takes its colours and font from it.

        >>> drawing = Drawing(40, 20)
        >>> drawing.rect(0, 0, 40, 20, "accent")
        >>> drawing.inside()
        '<svg viewBox="0 0 56 36" style="min-width:49px;max-width:67px" aria-hidden="true" focusable="false"><g
          transform="translate(8,8)"><rect x="0" y="0" width="40" height="20" fill="var(--chart-accent)"/></g></svg>'
        """
        width, height = self._size()
        widths = f"min-width:{0.88 * width:.0f}px;max-width:{1.2 * width:.0f}px"
        return (
            f'<svg viewBox="0 0 {width} {height}" style="{widths}" aria-hidden="true" focusable="false">'
            f"{self._body(_variable)}</svg>"
        )

    def standalone(self, *, title: str) -> str:
        """The drawing as a file of its own: on white, with a title for who cannot see it."""
        width, height = self._size()
        spoken = re.sub(rf' {SAID}="[^"]*"', "", self._body(LIGHT.__getitem__))
        return (
            f'<svg xmlns="http://www.w3.org/2000/svg" width="{width}" height="{height}" '
            f'viewBox="0 0 {width} {height}" font-family="sans-serif"><title>{escape(title)}</title>'
            f'<rect width="100%" height="100%" fill="{LIGHT["paper"]}"/>{spoken}</svg>\n'
        )

    def _cover(self, left: float, top: float, right: float, bottom: float) -> None:
        self._left, self._top = min(self._left, left), min(self._top, top)
        self._right, self._bottom = max(self._right, right), max(self._bottom, bottom)

    def _size(self) -> tuple[int, int]:
        return (
            math.ceil(self._right - self._left) + 2 * MARGIN,
            math.ceil(self._bottom - self._top) + 2 * MARGIN,
        )

    def _body(self, paint: Callable[[str], str]) -> str:
        marks = "".join(mark(paint) for mark in self._marks)
        return f'<g transform="translate({_px(MARGIN - self._left)},{_px(MARGIN - self._top)})">{marks}</g>'


class PlotScale:
    """Values from 0 to an end, along some pixels."""

    def __init__(self, end: float, length: float) -> None:
        self.end, self.length = end, length

    def __call__(self, value: float) -> float:
        return self.length * value / self.end


def across(drawing: Drawing, scale: PlotScale, ticks: Sequence[float], title: str) -> None:
    """The axis of shares below a plot, with upright lines behind everything drawn later."""
    for tick in ticks:
        at = scale(tick)
        drawing.line((at, 0), (at, drawing.height + TICK), "grid")
        last = at > drawing.width - 14
        anchor: Anchor = "end" if last else "start" if at < 14 else "middle"
        # Beyond the plot a little: with wider letters, or signs in another language, it would meet the one before.
        place = at + (8 if last else 0)
        drawing.text(place, drawing.height + TICK + FONT, percentage(tick), "ink", anchor=anchor, size=SMALL)
    drawing.line((0, drawing.height), (drawing.width, drawing.height), "muted")
    drawing.text(
        drawing.width / 2,
        drawing.height + TICK + 2.5 * FONT,
        title,
        "muted",
        anchor="middle",
        size=SMALL,
    )


def upright(drawing: Drawing, scale: PlotScale, ticks: Sequence[float], title: str) -> None:
    """The axis of shares left of a plot, with lines behind everything drawn later."""
    labels = [percentage(tick) for tick in ticks]
    for tick, label in zip(ticks, labels, strict=True):
        at = drawing.height - scale(tick)
        drawing.line((-TICK, at), (drawing.width, at), "grid")
        drawing.text(-TICK - 3, at, label, "ink", anchor="end", baseline="middle", size=SMALL)
    drawing.line((0, 0), (0, drawing.height), "muted")
    beside = TICK + 18 + max((width_of(label, SMALL) for label in labels), default=0.0)
    drawing.text(-beside, drawing.height / 2, title, "muted", anchor="middle", size=SMALL, turned=-90)


def shares(end: float, *, count: int = 5) -> list[float]:
    """Round values from 0 to at most an end, about as many as are asked for.

    >>> shares(1.0), shares(0.23), shares(0.9, count=4)
    ([0.0, 0.2, 0.4, 0.6, 0.8, 1.0], [0.0, 0.05, 0.1, 0.15, 0.2], [0.0, 0.2, 0.4, 0.6, 0.8])
    """
    power = 10.0 ** math.floor(math.log10(end / count))
    step = next(times * power for times in (1, 2, 5, 10) if end / (times * power) <= count + 0.5)
    return [round(i * step, 12) for i in range(int(end / step + 1e-9) + 1)]


def percentage(share: float) -> str:
    """A share as a percentage with as many digits as it has, at most two.

    >>> percentage(0.2), percentage(0.025), percentage(1)
    ('20%', '2.5%', '100%')
    """
    return f"{100 * share:.2f}".rstrip("0").rstrip(".") + "%"


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
        taken, again = set(names_shown.values()), 2
        unique = short = _short(name, limit)
        while unique in taken:
            unique, again = Sentence("{name} ({again})", name=short, again=again), again + 1
        names_shown[name] = unique
    return names_shown


def _short(name: str, limit: int) -> str:
    """A name without its middle, where it is long; of a sentence the names in it lose theirs.

    >>> _short("attribute_number_1", 11), _short(Sentence("Corr. {name}", name="attribute_number_1"), 15)
    ('attr…mber_1', 'Corr. attr…er_1')
    """
    if len(name) <= limit:
        return name
    if isinstance(name, Sentence) and name.parameters:
        texts = {
            key: text
            for key, text in name.parameters.items()
            if isinstance(text, str) and not isinstance(text, Sentence)
        }
        room = max(4, (limit - len(name) + sum(map(len, texts.values()))) // max(1, len(texts)))
        return Sentence(
            name.template, **{**name.parameters, **{key: _short(text, room) for key, text in texts.items()}}
        )
    head = (limit - 1) // 2 - (limit > 9)
    return f"{name[:head]}…{name[len(name) - (limit - 1 - head) :]}"


def room_for(names_width: float, size: int = FONT) -> int:
    """How many letters of usual width fit into some pixels."""
    return max(8, int(names_width / (0.58 * size)))


def width_of(words: str, size: float) -> float:
    """About how many pixels words take in the usual font of a page."""
    widths = (
        0.34 if letter in _NARROW else 0.9 if letter in _WIDE else 0.68 if letter.isupper() else 0.58
        for letter in words
    )
    return size * sum(widths)


def said_by(words: str) -> str:
    """The attribute by which words with places can be said in another language.

    >>> said_by("low"), said_by(Sentence("{n:,} rows", n=3))
    ('', ' data-said="{&quot;template&quot;: &quot;{n:,} rows&quot;, &quot;parameters&quot;: {&quot;n&quot;: 3}}"')
    """
    return f' {SAID}="{escape(dumps(words))}"' if isinstance(words, Sentence) and words.parameters else ""


def _variable(part: str) -> str:
    return f"var(--chart-{part})"


def _px(number: float) -> str:
    """A number of pixels, to a tenth.

    >>> _px(3.0), _px(2.25), _px(-0.01)
    ('3', '2.2', '0')
    """
    return f"{round(number, 1) + 0.0:g}"
