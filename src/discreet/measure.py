"""What a number is: value, unit, which way is good, what it means, and where it is defined."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from statistics import NormalDist
from typing import Literal

import numpy as np

from discreet.plain import finite
from discreet.types import FloatArray, IntArray

Direction = Literal["higher", "lower"]


@dataclass(frozen=True)
class Wording:
    """How a measure is called and what it says in general, whatever the table."""

    title: str
    says: str


@dataclass(frozen=True)
class Measure:
    """One number about a table, with everything a reader needs to judge it.

    ``better`` says which direction protects people; ``meaning`` is one sentence for a layperson;
    ``source`` cites the definition; ``attribute`` is the sensitive attribute it speaks of, if any;
    ``per_class`` holds one value per equivalence class where the measure is built from such values.
    """

    name: str
    value: float
    unit: str
    better: Direction
    meaning: str
    source: str
    attribute: str | None = None
    per_class: FloatArray | None = field(default=None, repr=False, compare=False)
    notes: tuple[str, ...] = ()

    def to_dict(self) -> dict[str, object]:
        """A JSON-ready mapping without the per-class array."""
        document: dict[str, object] = {
            "name": self.name,
            "value": finite(self.value),
            "unit": self.unit,
            "better": self.better,
            "meaning": self.meaning,
            "source": self.source,
        }
        if self.attribute is not None:
            document["attribute"] = self.attribute
        if self.notes:
            document["notes"] = list(self.notes)
        return document


@dataclass(frozen=True)
class Estimate(Measure):
    """A number that rests on assumptions: with its method, what it assumes, and an interval if there is one."""

    method: str = ""
    assumptions: str = ""
    low: float | None = None
    high: float | None = None

    def to_dict(self) -> dict[str, object]:
        return {
            **super().to_dict(),
            "method": self.method,
            "assumptions": self.assumptions,
            "low": None if self.low is None else finite(self.low),
            "high": None if self.high is None else finite(self.high),
        }


@dataclass(frozen=True)
class RecordRisk:
    """A risk that every record has: its minimum, mean, maximum and distribution over records.

    Records that share everything the risk depends on share an entry: ``values[i]`` is the risk of
    ``weights[i]`` records. ``attribute`` names the quasi-identifier it was computed for alone
    (``None``: the whole quasi-identifier); ``sensitive`` the sensitive attribute, if one is involved.

    >>> risk = RecordRisk("uniqueness", np.array([0.2, 1.0]), np.array([6, 1]), meaning="…", source="…")
    >>> risk.max, round(risk.mean, 4), risk.share_above(0.66)
    (1.0, 0.3143, 0.14285714285714285)
    """

    name: str
    values: FloatArray = field(repr=False, compare=False)
    weights: IntArray = field(repr=False, compare=False)
    meaning: str
    source: str
    attribute: str | None = None
    sensitive: str | None = None
    better: Direction = "lower"
    decides: bool = True

    @property
    def min(self) -> float:
        return float(self.values.min())

    @property
    def max(self) -> float:
        return float(self.values.max())

    @property
    def mean(self) -> float:
        return float(np.dot(self.values, self.weights) / self.weights.sum())

    def share_above(self, threshold: float) -> float:
        """Share of records whose risk is greater than ``threshold``."""
        return float(self.weights[self.values > threshold + 1e-12].sum() / self.weights.sum())

    def quantile(self, q: float) -> float:
        """The smallest risk that at least a share ``q`` of the records does not exceed."""
        order = np.argsort(self.values, kind="stable")
        cumulative = np.cumsum(self.weights[order])
        at = int(np.searchsorted(cumulative, q * cumulative[-1] - 1e-9))
        return float(self.values[order][min(at, len(order) - 1)])

    def distribution(self, bins: int = 10) -> IntArray:
        """Records per bin of equal width over [0, 1]; the last bin is closed."""
        at = np.minimum((self.values * bins).astype(np.int64), bins - 1).clip(0)
        return np.bincount(at, weights=self.weights, minlength=bins).astype(np.int64)

    def to_dict(self) -> dict[str, object]:
        document: dict[str, object] = {
            "name": self.name,
            "min": self.min,
            "mean": self.mean,
            "median": self.quantile(0.5),
            "max": self.max,
            "distribution": self.distribution().tolist(),
            "better": self.better,
            "decides": self.decides,
            "meaning": self.meaning,
            "source": self.source,
        }
        if self.attribute is not None:
            document["attribute"] = self.attribute
        if self.sensitive is not None:
            document["sensitive"] = self.sensitive
        return document


def proportion_interval(successes: float, tries: float, confidence: float = 0.95) -> tuple[float, float]:
    """The Wilson score interval of a success rate; (0, 1) if nothing was tried.

    (p + z²/2n ± z sqrt(p(1 - p)/n + z²/4n²)) / (1 + z²/n), which stays inside [0, 1] and is not empty at 0 or
    n successes. ``successes`` may be an expected number. Wilson, "Probable inference", JASA 22, 1927.

    >>> [round(end, 4) for end in proportion_interval(0, 10)], [round(end, 4) for end in proportion_interval(5, 10)]
    ([0.0, 0.2775], [0.2366, 0.7634])
    """
    if tries <= 0:
        return 0.0, 1.0
    z = NormalDist().inv_cdf((1 + confidence) / 2)
    rate = successes / tries
    middle = rate + z * z / (2 * tries)
    half = z * math.sqrt(max(rate * (1 - rate), 0.0) / tries + z * z / (4 * tries * tries))
    scale = 1 + z * z / tries
    return max((middle - half) / scale, 0.0), min((middle + half) / scale, 1.0)
