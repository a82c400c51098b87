"""Where the labels of points go so that they cover neither each other nor a point."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

REACH = 11
"""Pixels between the middle of a point and its label."""


@dataclass(frozen=True)
class Label:
    """The box of a text: left edge, middle line, width and height in pixels from the upper left corner."""

    x: float
    y: float
    width: float
    height: float

    def covers(self, other: Label) -> bool:
        """Whether two boxes share ground."""
        return (
            self.x < other.x + other.width
            and other.x < self.x + self.width
            and abs(self.y - other.y) < (self.height + other.height) / 2
        )


def beside(
    points: Sequence[tuple[float, float]],
    texts: Sequence[str],
    *,
    width: float,
    height: float,
    size: float,
    line: Sequence[tuple[float, float]] = (),
    longer: float = 0.0,
) -> list[Label]:
    """One label per point: to the right, left, above or below it, whichever is free and inside; else further off.

    Where they can, labels also stay clear of a ``line`` through places, and keep room to become ``longer`` by a share.

    >>> [(label.x, label.y) for label in beside([(50, 50), (50, 50)], ["a", "b"], width=99, height=99, size=10)]
    [(61, 50.0), (33.5, 50.0)]
    """
    taken = [Label(x - 7, y, 14, 14) for x, y in points]
    crossed = [Label(x - 2, y, 4, 4) for start, end in pairwise(line) for x, y in _between(start, end)]
    placed: list[Label] = []
    for point, text in zip(points, texts, strict=True):
        wide, high = 0.55 * size * len(text), 1.2 * size
        for box in (wide * (1 + longer), wide):
            spots = _spots(point, box, high)
            inside = [
                spot
                for spot in spots
                if 0 <= spot.x <= width - spot.width and high / 2 <= spot.y <= height - high / 2
            ]
            free = [spot for spot in inside if not any(spot.covers(other) for other in (*taken, *placed))]
            if free:
                break
        clear = [spot for spot in free if not any(spot.covers(part) for part in crossed)]
        # Rather outside than over another name.
        apart = [spot for spot in spots if not any(spot.covers(other) for other in placed)]
        placed.append((clear or free or apart or spots)[0])
    return placed


def _spots(point: tuple[float, float], wide: float, high: float) -> list[Label]:
    """Where a label of a size can stand beside a point, the nearest first."""
    x, y = point
    return [
        Label(left, y + down, wide, high)
        for far in range(8)
        for left, down in (
            (x + REACH, far * high),
            (x - REACH - wide, far * high),
            (x - wide / 2, -REACH - high / 2 - far * high),
            (x - wide / 2, REACH + high / 2 + far * high),
        )
    ]


def _between(start: tuple[float, float], end: tuple[float, float]) -> list[tuple[float, float]]:
    """Places every four pixels on the way from one to another."""
    (x1, y1), (x2, y2) = start, end
    steps = 1 + int(max(abs(x2 - x1), abs(y2 - y1)) / 4)
    return [(x1 + (x2 - x1) * i / steps, y1 + (y2 - y1) * i / steps) for i in range(steps + 1)]
