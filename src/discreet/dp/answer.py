"""Answers with noise: figures with intervals, and what they cost."""

from __future__ import annotations

from dataclasses import dataclass, field
from fractions import Fraction

import pyarrow as pa

from discreet.dp.amounts import said
from discreet.dp.ledger import Payment
from discreet.dp.statement import Guarantee
from discreet.plain import plain

Key = str | int | float | bool | None


@dataclass(frozen=True)
class NoisyFigure:
    """A figure with noise, and the interval that holds the true one with the stated confidence.

    The true one is that of the rows and values that count: after clamping and after what each person may contribute.
    """

    value: float | int
    low: float | int | None
    high: float | int | None


@dataclass(frozen=True)
class AnswerRow:
    """A group and its figures."""

    keys: tuple[Key, ...]
    figures: tuple[NoisyFigure, ...]


def _column(values: list[object]) -> pa.Array:
    """Values as a column; whole numbers that no column of numbers holds together become texts."""
    try:
        return pa.array(values)
    except (pa.ArrowInvalid, OverflowError):
        return pa.array([None if value is None else str(value) for value in values], pa.string())


@dataclass(frozen=True)
class Answer:
    """What was answered, how sure it is, what it guarantees and what is left of the budget."""

    question: str
    keys: tuple[str, ...]
    figures: tuple[str, ...]
    rows: tuple[AnswerRow, ...]
    confidence: float
    guarantee: Guarantee
    left_epsilon: Fraction
    left_delta: Fraction
    notes: tuple[str, ...] = field(default=())
    payment: Payment | None = None

    @property
    def value(self) -> float | int:
        """The one figure of an answer that has one row and one figure."""
        (row,) = self.rows
        (figure,) = row.figures
        return figure.value

    def to_arrow(self) -> pa.Table:
        """A row per group: its keys, and each figure with the bounds of its interval."""
        columns: dict[str, list[object]] = {name: [] for name in self.keys}
        for name in self.figures:
            columns |= {name: [], f"{name} low": [], f"{name} high": []}
        for row in self.rows:
            for name, key in zip(self.keys, row.keys, strict=True):
                columns[name].append(key)
            for name, figure in zip(self.figures, row.figures, strict=True):
                columns[name].append(figure.value)
                columns[f"{name} low"].append(figure.low)
                columns[f"{name} high"].append(figure.high)
        return pa.table({name: _column(values) for name, values in columns.items()})

    def to_dict(self) -> dict[str, object]:
        document: dict[str, object] = plain(self)
        return {
            "schema": "discreet-answer-1",
            **document,
            "guarantee": self.guarantee.to_dict(),
            "left_epsilon": said(self.left_epsilon),
            "left_delta": said(self.left_delta),
        }
