"""Values on a scale from 0 to 1: the risks of a table, and a dot with its interval in the cell of a table."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from discreet.reports.charts.svg import (
    FONT,
    LONGEST_NAME,
    SMALL,
    TICK,
    WIDTH,
    Drawing,
    PlotScale,
    shortened,
    width_of,
)
from discreet.sentences import Sentence


@dataclass(frozen=True)
class RiskMark:
    """Mean and maximum of one risk."""

    name: str
    mean: float
    max: float


def risk_scale(marks: Sequence[RiskMark], *, low: float, medium: float) -> str:
    """Mean (ring) and maximum (diamond) of each risk on a scale from 0 to 1 with its three zones."""
    row = 48
    named = shortened([mark.name for mark in marks], LONGEST_NAME)
    left = 12 + 1.08 * max(width_of(name, SMALL) for name in named.values())
    drawing = Drawing(WIDTH - left, row * len(marks))
    scale = PlotScale(1.0, drawing.width)
    for zone, begin, end in (("low", 0.0, low), ("medium", low, medium), ("high", medium, 1.0)):
        drawing.rect(scale(begin), 0, scale(end - begin), drawing.height, f"{zone}-zone")
        drawing.text(scale((begin + end) / 2), -9, zone, "muted", anchor="middle")
    drawing.line((0, drawing.height), (drawing.width, drawing.height), "muted")
    for tick in (0.0, low, medium, 1.0):
        drawing.line((scale(tick), drawing.height), (scale(tick), drawing.height + TICK), "muted")
        place = (scale(tick), drawing.height + TICK + FONT)
        drawing.text(*place, f"{tick:.2f}".rstrip("0").rstrip("."), "ink", anchor="middle", size=SMALL)
    for i, mark in enumerate(marks):
        middle = row * (i + 0.62)
        drawing.text(-12, middle, named[mark.name], "ink", anchor="end", baseline="middle", size=SMALL)
        drawing.line((scale(mark.mean), middle), (scale(mark.max), middle), "ink", width=2)
        drawing.mark(scale(mark.mean), middle, "circle", size=5, fill="paper", stroke="ink")
        drawing.mark(scale(mark.max), middle, "diamond", size=6, fill="ink", stroke="ink")
        words = Sentence("mean {mean:.2f}, max {max:.2f}", mean=mark.mean, max=mark.max)
        wide = 1.1 * width_of(words, SMALL)
        # The words stay inside the scale.
        begin = min(max(scale((mark.mean + mark.max) / 2) - wide / 2, 4), drawing.width - wide - 4)
        drawing.text(begin, middle - 12, words, "ink", size=SMALL)
    return drawing.inside()


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
