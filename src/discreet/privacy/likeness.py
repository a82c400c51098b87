"""Relative bounds on what a class adds to the table's distribution: beta-likeness and delta-disclosure."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import ClassVar, Literal

import numpy as np

from discreet.classes import EquivalenceClasses, Histogram
from discreet.measure import Wording
from discreet.privacy.base import (
    REFERENCES,
    TOLERANCE,
    DistributionModel,
    Reference,
    need_choice,
    need_column,
    need_number,
    record_note,
)
from discreet.sentences import Sentence
from discreet.types import BoolArray, FloatArray


def relative_gain(histogram: Histogram) -> FloatArray:
    """The largest relative gain of a value in each class: max over i of (q_i - p_i) / p_i.

    p is the table's distribution, q the class's. Some value is never rarer in a class than in the table,
    so it is at least 0. Cao and Karras, "Publishing microdata with a robust privacy guarantee", 2012.

    >>> classes = EquivalenceClasses.from_columns(
    ...     {"sex": ["f", "f", "m", "m"]}, sensitive={"dx": ["flu", "flu", "flu", "acne"]})
    >>> relative_gain(classes.histogram("dx")).round(4)
    array([0.3333, 1.    ])
    """
    return np.maximum(histogram.per_class(np.maximum, _ratio(histogram)) - 1.0, 0.0)


def enhanced_gain(histogram: Histogram) -> FloatArray:
    """The smallest beta each class satisfies under the bound min(beta, -ln p_i); infinite if none does.

    A gain above -ln p_i breaks the requirement for every beta.
    Cao and Karras, "Publishing microdata with a robust privacy guarantee", 2012.

    >>> classes = EquivalenceClasses.from_columns(
    ...     {"sex": ["f", "f", "m", "m"]}, sensitive={"dx": ["flu", "flu", "flu", "acne"]})
    >>> enhanced_gain(classes.histogram("dx")).round(4)  # flu: 0.333 > -ln 0.75 = 0.288
    array([inf,  1.])
    """
    with np.errstate(divide="ignore"):  # a value that no longer occurs has no entries to be looked up
        cap = -np.log(histogram.distribution)
    excess = _ratio(histogram) - 1.0 - cap[histogram.values]
    impossible = histogram.per_class(np.maximum, excess) > TOLERANCE
    return np.where(impossible, np.inf, relative_gain(histogram))


def absolute_gain(histogram: Histogram, share: float = 0.0) -> FloatArray:
    """By how much a value is more likely in each class than in the table: max over i of q_i - p_i.

    The advantage of who knows the class over who guesses by the table. With a ``share`` of the records left out,
    p is as large as it can become. Yeom et al., "Privacy risk in machine learning", CSF 2018 (attribute advantage).

    >>> classes = EquivalenceClasses.from_columns(
    ...     {"sex": ["f", "f", "m", "m"]}, sensitive={"dx": ["flu", "flu", "flu", "acne"]})
    >>> absolute_gain(classes.histogram("dx"))  # flu among f: 1 - 3/4; acne among m: 1/2 - 1/4
    array([0.25, 0.25])
    """
    return histogram.per_class(np.maximum, histogram.gains(share))


def log_ratio(histogram: Histogram, base: float = math.e) -> FloatArray:
    """The largest |log q_i / p_i| over all values of the table, per class; infinite where one is missing.

    Brickell and Shmatikov, "The cost of privacy", KDD 2008. They leave the base open: here it is e, and
    ``base`` changes it.

    >>> classes = EquivalenceClasses.from_columns(
    ...     {"sex": ["f", "f", "m", "m"]}, sensitive={"dx": ["flu", "flu", "flu", "acne"]})
    >>> log_ratio(classes.histogram("dx")).round(4)  # no acne among f; acne among m: ln 2
    array([ inf, 0.6931])
    """
    ratio = _ratio(histogram)
    high = np.log(histogram.per_class(np.maximum, ratio))
    low = -np.log(histogram.per_class(np.minimum, ratio))
    ratios = np.maximum(np.maximum(high, low), 0.0) / math.log(base)
    ratios[histogram.distinct < np.count_nonzero(histogram.totals)] = np.inf
    return ratios


def _ratio(histogram: Histogram) -> FloatArray:
    """Share in the class over share in the table, per entry."""
    return np.asarray(histogram.shares / histogram.distribution[histogram.values])


NAMES = {"basic": "beta-likeness", "enhanced": "enhanced-beta-likeness", "absolute": "absolute-gain"}


@dataclass(frozen=True)
class BetaLikeness(DistributionModel):
    """No sensitive value becomes more likely in a class by more than ``beta`` times its share in the table.

    ``kind="basic"``: (q_i - p_i) / p_i <= beta for all i with q_i > p_i.
    ``kind="enhanced"``: (q_i - p_i) / p_i <= min(beta, -ln p_i), which also bounds frequent values. A
    table may satisfy the enhanced form for no beta at all: the measured value is then infinite.
    ``kind="absolute"``: q_i - p_i <= beta: the advantage of who knows the class over who guesses by the table
    (Yeom et al. 2018); beta is at most 1.

    Monotone: each bound is an upper limit on a share, and a share in a mixture is at most the largest of
    the parts'.

    Cao and Karras, "Publishing microdata with a robust privacy guarantee", PVLDB 2012.

    >>> classes = EquivalenceClasses.from_columns(
    ...     {"sex": ["f", "f", "m", "m"]}, sensitive={"dx": ["flu", "flu", "flu", "acne"]})
    >>> BetaLikeness(1, "dx").measure(classes).value, BetaLikeness(1, "dx", kind="enhanced").measure(classes).value
    (1.0, inf)
    """

    id: ClassVar[str] = "beta-likeness"
    title: ClassVar[str] = "β-likeness"
    says: ClassVar[str] = "How much more likely a sensitive value becomes for someone who knows the class."
    kinds: ClassVar[Mapping[str, Wording]] = {
        "enhanced-beta-likeness": Wording(
            "Enhanced β-likeness",
            "As β-likeness, with a lower bound for values that are frequent in the whole table.",
        ),
        "absolute-gain": Wording(
            "Gain in probability",
            "By how much the class makes a sensitive value more probable than the whole table does.",
        ),
    }
    source: ClassVar[str] = "Cao and Karras, Publishing microdata with a robust privacy guarantee, 2012"

    beta: float
    sensitive: str
    kind: Literal["basic", "enhanced", "absolute"] = "basic"
    reference: Reference = "release"

    def __post_init__(self) -> None:
        need_number("beta", self.beta, above=True, high=1.0 if self.kind == "absolute" else math.inf)
        need_column("sensitive", self.sensitive)
        need_choice("kind", self.kind, ("basic", "enhanced", "absolute"))
        need_choice("reference", self.reference, REFERENCES)

    @property
    def name(self) -> str:
        return NAMES[self.kind]

    @property
    def threshold(self) -> float:
        return float(self.beta)

    def describe(self) -> str:
        if self.kind == "absolute":
            return Sentence(
                "in no class is a value of {sensitive!r} more probable than {whole} by over {beta:.4g}",
                sensitive=self.sensitive,
                whole=self._whole(),
                beta=self.beta,
            )
        if self.kind == "enhanced":
            return Sentence(
                "no value of {sensitive!r} gains more than {beta:.4g} times its share {whole} nor by more than -ln of "
                "its share",
                sensitive=self.sensitive,
                beta=self.beta,
                whole=self._whole(),
            )
        return Sentence(
            "no value of {sensitive!r} gains more than {beta:.4g} times its share {whole}",
            sensitive=self.sensitive,
            beta=self.beta,
            whole=self._whole(),
        )

    def measured_in(self, classes: EquivalenceClasses) -> str:
        return "gain in probability" if self.kind == "absolute" else "relative gain"

    def distances(self, histogram: Histogram) -> FloatArray:
        if self.kind == "absolute":
            return absolute_gain(histogram)
        return relative_gain(histogram) if self.kind == "basic" else enhanced_gain(histogram)

    def within_reach(self, classes: EquivalenceClasses, chosen: BoolArray, share: float) -> BoolArray:
        histogram = classes.histogram(self.sensitive).subset(chosen, alone=False)
        if self.kind == "absolute":
            return self.meets(absolute_gain(histogram, share))
        # q <= (1 + beta) p' with p' at most p / (1 - s); -ln p' only falls as p' rises, so it bounds nothing here.
        return self.meets((relative_gain(histogram) + 1.0) * (1.0 - share) - 1.0)

    def meaning(self, value: float, classes: EquivalenceClasses) -> str:
        if math.isinf(value):
            return (
                "In at least one class a frequent value gains more than its share in the table ever allows."
            )
        if self.kind == "absolute":
            return Sentence(
                "Knowing the class makes some sensitive value more probable by up to {value:.4g}.",
                value=value,
            )
        return Sentence(
            "Knowing the class makes some sensitive value up to {value:.0%} more likely than in the table.",
            value=value,
        )

    def notes(self, classes: EquivalenceClasses, per_class: FloatArray) -> tuple[str, ...]:
        stuck = classes.how_many(np.isinf(per_class))
        impossible = (
            Sentence(
                "{stuck} classes satisfy it for no beta: a gain exceeds -ln of the value's share", stuck=stuck
            ),
        )
        return (*(impossible if stuck else ()), *record_note(classes))


@dataclass(frozen=True)
class DeltaDisclosure(DistributionModel):
    """Every sensitive value is about as likely in each class as in the table, in both directions.

    ``|log(p(E, s) / p(T, s))| < delta`` for every class E and every value s of the table. A class that misses
    a value of the table has an infinite ratio: that somebody does *not* have it is disclosed. ``base`` is
    that of the logarithm, e unless told otherwise (the paper leaves it open).

    Monotone: the requirement keeps each share inside an interval, and a mixture stays inside it.

    Brickell and Shmatikov, "The cost of privacy: destruction of data-mining utility in anonymized data
    publishing", KDD 2008.

    >>> classes = EquivalenceClasses.from_columns(
    ...     {"sex": ["f", "f", "m", "m"]}, sensitive={"dx": ["flu", "acne", "flu", "acne"]})
    >>> DeltaDisclosure(0.1, "dx").measure(classes).value
    0.0
    """

    id: ClassVar[str] = "delta-disclosure"
    title: ClassVar[str] = "δ-disclosure"
    says: ClassVar[str] = (
        "By what factor a sensitive value is more or less likely in a class than in the table."
    )
    source: ClassVar[str] = "Brickell and Shmatikov, The cost of privacy, 2008"
    strict: ClassVar[bool] = True

    delta: float
    sensitive: str
    base: float = math.e
    reference: Reference = "release"

    def __post_init__(self) -> None:
        need_number("delta", self.delta, above=True)
        need_column("sensitive", self.sensitive)
        need_number("base", self.base, low=1.0, above=True)
        need_choice("reference", self.reference, REFERENCES)

    @property
    def threshold(self) -> float:
        return float(self.delta)

    def describe(self) -> str:
        return Sentence(
            "in every class the share of each value of {sensitive!r} differs from that {whole} by a factor below "
            "{factor:.4g}",
            sensitive=self.sensitive,
            whole=self._whole(),
            factor=self.base**self.delta,
        )

    def measured_in(self, classes: EquivalenceClasses) -> str:
        return (
            "|ln ratio|" if self.base == math.e else Sentence("|log ratio| to base {base:g}", base=self.base)
        )

    def distances(self, histogram: Histogram) -> FloatArray:
        return log_ratio(histogram, self.base)

    def within_reach(self, classes: EquivalenceClasses, chosen: BoolArray, share: float) -> BoolArray:
        histogram = classes.histogram(self.sensitive).subset(chosen, alone=False)
        p = histogram.distribution[histogram.values]
        floor = np.maximum(p - share, 0.0) / max(1.0 - share, 1e-300)
        with np.errstate(divide="ignore"):
            most = np.log(histogram.per_class(np.maximum, _ratio(histogram)) * (1.0 - share)) / math.log(
                self.base
            )
            least = np.log(floor / histogram.shares) / math.log(self.base)
        return self.meets(np.maximum(most, histogram.per_class(np.maximum, least)))

    def meaning(self, value: float, classes: EquivalenceClasses) -> str:
        if math.isinf(value):
            return "At least one class misses a value of the table: nobody in it has that value."
        return Sentence(
            "Knowing the class changes the odds of a value by a factor of up to {base:.3g}.",
            base=self.base**value,
        )

    def notes(self, classes: EquivalenceClasses, per_class: FloatArray) -> tuple[str, ...]:
        missing = classes.how_many(np.isinf(per_class))
        gaps = (
            (Sentence("{missing} classes miss at least one value of the table", missing=missing),)
            if missing
            else ()
        )
        return (*gaps, *record_note(classes))
