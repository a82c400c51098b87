"""Bars: shares of records by class size, single values, and values before and after."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from discreet.reports.charts.svg import (
    FONT,
    SMALL,
    WIDTH,
    Drawing,
    PlotScale,
    across,
    room_for,
    shares,
    shortened,
    width_of,
)
from discreet.sentences import Sentence

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


def size_bins(
    bins: Sequence[SizeBin], *, required: int | None, unit: str, longest: float | None = None
) -> str:
    """Share of records by class size; a gap with a line divides what is too small from what is large enough.

    ``longest`` is the share at which the scale ends, for drawings that stand side by side.
    """
    row = 27
    edge = len(bins) if required is None else sum(size.first < required for size in bins)
    gap = 0.0 if required is None else 0.9
    longest = max(0.01, longest or 0.0, *(size.share for size in bins))
    left = 12 + 1.08 * max(width_of(size.label, SMALL) for size in bins)
    drawing = Drawing(WIDTH - left, row * (len(bins) + gap))
    # Beyond the longest bar there is room for its label.
    scale = PlotScale(longest * 1.22, drawing.width)
    across(drawing, scale, shares(min(1.0, longest)), "share of records")
    for i, size in enumerate(bins):
        middle = row * (i + 0.5 + (gap if i >= edge else 0.0))
        part = "high" if i < edge and required is not None else "accent"
        drawing.rect(0, middle - 0.36 * row, scale(size.share), 0.72 * row, part)
        drawing.text(scale(size.share) + 6, middle, size.text or "0%", "ink", baseline="middle", size=SMALL)
        drawing.text(-8, middle, size.label, "ink", anchor="end", baseline="middle", size=SMALL)
    if required is not None:
        line = row * (edge + gap * 0.65)
        drawing.line((-left, line), (drawing.width, line), "ink", width=1.5, dash="5 4")
        words = Sentence("required: {required} or more {unit}", required=required, unit=Sentence(unit))
        drawing.text(drawing.width, line - 3, words, "ink", anchor="end", baseline="bottom", size=SMALL)
    return drawing.inside()


def bars(items: Sequence[Bar], *, title: str, whole: float = 1.0) -> str:
    """Horizontal bars, each under its own label so that long names have the whole width."""
    row = 42
    drawing = Drawing(WIDTH, row * len(items))
    scale = PlotScale(whole, drawing.width)
    across(drawing, scale, shares(whole), title)
    names = _names([item.name for item in items], [item.text for item in items], drawing.width)
    for i, item in enumerate(items):
        middle = row * (i + 0.5)
        _heading(drawing, middle - 7, names[item.name], item.text)
        for value, part in ((item.behind or 0.0, "accent-soft"), (item.value, "accent")):
            drawing.rect(0, middle + 3, scale(min(value, whole)), 12, part)
    return drawing.inside()


def before_after(bins: Sequence[Bin], *, texts: Sequence[str]) -> str:
    """Two bars per value, each pair under its own label: pale what was, dark what the release implies."""
    row = 40
    longest = max(0.01, *(max(value.before, value.after) for value in bins))
    drawing = Drawing(WIDTH, row * len(bins))
    scale = PlotScale(longest, drawing.width)
    across(drawing, scale, shares(longest, count=4), "share of records")
    names = _names([value.label for value in bins], texts, drawing.width)
    for i, (value, text) in enumerate(zip(bins, texts, strict=True)):
        middle = row * (i + 0.5)
        _heading(drawing, middle - 8, names[value.label], text)
        drawing.rect(0, middle - 2, scale(value.before), 8, "step-3")
        drawing.rect(0, middle + 6, scale(value.after), 8, "step-5")
    return drawing.inside()


def _names(names: Sequence[str], texts: Sequence[str], width: float) -> dict[str, str]:
    """Names as they fit beside the longest text at the other end of their line."""
    return shortened(names, room_for(width - 16 - max((width_of(text, FONT) for text in texts), default=0.0)))


def _heading(drawing: Drawing, y: float, name: str, text: str) -> None:
    """A name at the left and a text at the right of a line."""
    drawing.text(0, y, name, "ink")
    drawing.text(drawing.width, y, text, "muted", anchor="end")
