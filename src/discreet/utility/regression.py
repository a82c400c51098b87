"""Regressions on counted records: coefficients with their intervals, and how far those of two tables overlap."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Literal

import numpy as np
from scipy.special import expit, ndtri, stdtrit

from discreet.plain import finite
from discreet.types import FloatArray

Model = Literal["linear", "logistic"]
SOURCE = (
    "Karr, Kohnen, Oganian, Reiter, Sanil, A framework for evaluating the utility of data altered to protect "
    "confidentiality, The American Statistician 60(3), 2006"
)
CONFIDENCE = 0.95
_ROUNDS = 50
_SURE = 30.0
"""Log odds beyond which a logistic regression tells the outcome of a record for certain."""


@dataclass(frozen=True)
class FittedTerm:
    """A coefficient with its standard error and 95 % interval."""

    value: float
    error: float
    low: float
    high: float

    def to_dict(self) -> dict[str, object]:
        return {name: finite(value) for name, value in vars(self).items()}


@dataclass(frozen=True)
class Coefficient:
    """A term of a regression on the original and on the release, ``None`` where its data cannot tell it.

    >>> both = Coefficient("age", FittedTerm(2.0, 0.5, 1.0, 3.0), FittedTerm(2.5, 0.5, 1.5, 3.5))
    >>> both.overlap, both.difference
    (0.75, 1.0)
    """

    term: str
    original: FittedTerm
    released: FittedTerm | None

    @property
    def overlap(self) -> float:
        """How far the intervals overlap: ½ (o / |original| + o / |released|), o their common length; 0 if they are apart."""
        if self.released is None:
            return 0.0
        first, second = self.original, self.released
        common = min(first.high, second.high) - max(first.low, second.low)
        widths = first.high - first.low, second.high - second.low
        if min(widths) <= 0:
            return float(first.value == second.value)
        return max(0.0, (common / widths[0] + common / widths[1]) / 2)

    @property
    def difference(self) -> float | None:
        """By how many of its standard errors the coefficient moved."""
        if self.released is None or self.original.error <= 0:
            return None
        return abs(self.released.value - self.original.value) / self.original.error

    def to_dict(self) -> dict[str, object]:
        return {
            "term": self.term,
            "original": self.original.to_dict(),
            "released": None if self.released is None else self.released.to_dict(),
            "overlap": self.overlap,
            "difference": self.difference,
        }


@dataclass(frozen=True)
class AnalysisResult:
    """A regression on both tables; ``reason`` says why the release cannot be analysed so any more."""

    name: str
    formula: str
    model: Model
    coefficients: tuple[Coefficient, ...] = field(repr=False)
    records: tuple[int, int]
    reason: str = ""

    @property
    def overlap(self) -> float:
        """The mean overlap over all coefficients: 1 if a reader of the release would say the same, 0 if nothing of it."""
        return float(np.mean([each.overlap for each in self.coefficients]))

    @property
    def least(self) -> Coefficient:
        """The coefficient whose intervals overlap least."""
        return min(self.coefficients, key=lambda each: each.overlap)

    def to_dict(self) -> dict[str, object]:
        return {
            "name": self.name,
            "formula": self.formula,
            "model": self.model,
            "overlap": self.overlap,
            "records": {"original": self.records[0], "release": self.records[1]},
            "coefficients": [each.to_dict() for each in self.coefficients],
            "reason": self.reason,
            "source": SOURCE,
        }


def estimates(
    design: FloatArray, outcome: FloatArray, counts: FloatArray, model: Model
) -> list[FittedTerm | None]:
    """The coefficients of a regression, each row standing for ``counts`` records; ``None`` for those that cannot be told.

    A column that follows from those before it is left out, as statistics programs do. Linear: least squares,
    s² = RSS / (n - p), intervals by Student's t. Logistic: maximum likelihood, intervals by the normal distribution; nothing
    can be told if it tells outcomes for certain.

    >>> x = np.array([[1.0, 0.0], [1.0, 1.0], [1.0, 2.0]])
    >>> [round(each.value, 6) for each in estimates(x, np.array([1.0, 2.0, 4.0]), np.ones(3), "linear")]
    [0.833333, 1.5]
    """
    total = float(counts.sum())
    kept = _independent(design * np.sqrt(counts)[:, None])
    told: list[FittedTerm | None] = [None] * design.shape[1]
    free = total - len(kept)
    if not kept or free < 1:
        return told
    fitted = (_linear if model == "linear" else _logistic)(design[:, kept], outcome, counts, free)
    if fitted is None:
        return told
    beta, errors = fitted
    quantile = float(
        stdtrit(free, (1 + CONFIDENCE) / 2) if model == "linear" else ndtri((1 + CONFIDENCE) / 2)
    )
    for place, value, error in zip(kept, beta, errors, strict=True):
        told[place] = FittedTerm(
            float(value), float(error), float(value - quantile * error), float(value + quantile * error)
        )
    return told


def _independent(columns: FloatArray) -> list[int]:
    """The columns that do not follow from those before them."""
    basis: list[FloatArray] = []
    kept = []
    for at, column in enumerate(columns.T):
        length = float(np.linalg.norm(column))
        rest = column
        for _ in range(2):  # once more, for what rounding left
            for axis in basis:
                rest = rest - axis * float(axis @ rest)
        left = float(np.linalg.norm(rest))
        if left > 1e-7 * length and left > 0:
            basis.append(rest / left)
            kept.append(at)
    return kept


def _linear(
    design: FloatArray, outcome: FloatArray, counts: FloatArray, free: float
) -> tuple[FloatArray, FloatArray] | None:
    weights = np.sqrt(counts)
    orthogonal, triangle = np.linalg.qr(design * weights[:, None])
    inverse = np.linalg.inv(triangle)
    beta = inverse @ (orthogonal.T @ (outcome * weights))
    variance = float(np.dot(counts, (outcome - design @ beta) ** 2)) / free
    return beta, np.sqrt(variance * (inverse**2).sum(axis=1))


def _logistic(
    design: FloatArray, outcome: FloatArray, counts: FloatArray, free: float
) -> tuple[FloatArray, FloatArray] | None:
    scale = np.maximum(np.abs(design).max(axis=0), 1e-300)
    design = design / scale
    beta = np.zeros(design.shape[1])
    for _ in range(_ROUNDS):
        linear = design @ beta
        if float(np.abs(linear).max()) > _SURE:
            return None
        chances = expit(linear)
        curvature = (design * (counts * chances * (1 - chances))[:, None]).T @ design
        step = np.linalg.solve(curvature, design.T @ (counts * (outcome - chances)))
        beta = beta + step
        if float(np.abs(step).max()) < 1e-10 * max(float(np.abs(beta).max()), 1.0):
            return beta / scale, np.sqrt(np.diagonal(np.linalg.inv(curvature))) / scale
    return None
