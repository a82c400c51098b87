"""Local differential privacy: everybody randomises their own value before it is collected, and nobody has to be trusted.

Two ways to report one of several values: randomised response (Warner 1965, of several values: Kairouz, Bonawitz and Ramage 2016), and
unary encodings, a noisy bit per value (Erlingsson, Pihur and Korolova 2014; optimised: Wang, Blocki, Li and Jha, *Locally
Differentially Private Protocols for Frequency Estimation*, 2017). Reports are drawn from the system's randomness; no seed is taken.
"""

from __future__ import annotations

import math
import secrets
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from statistics import NormalDist

from discreet.dp.amounts import Amount, exact, floor_float
from discreet.errors import InvalidParameter
from discreet.sentences import Sentence

BITS = 64
"""Probabilities are whole numbers of 2^-64, so that they are drawn exactly."""


@dataclass(frozen=True)
class FrequencyEstimate:
    """How many have a value, by their reports: without bias, but it may be negative.

    The interval holds the true number as often as the confidence says, where reports are many.
    """

    value: str
    count: float
    deviation: float
    low: float
    high: float


class _Reports:
    """What both ways share: with p a value is reported by whoever has it, with q by whoever has another."""

    p: Fraction
    q: Fraction

    def __init__(self, values: Sequence[str], epsilon: Amount) -> None:
        self.values, self.epsilon = tuple(values), exact(epsilon, "epsilon")
        if len(self.values) < 2 or len(set(self.values)) < len(self.values) or self.epsilon > 20:
            raise InvalidParameter(
                "local reports need at least two values, each once, and an epsilon of at most 20",
                remedy="name the values, e.g. ['yes', 'no']",
            )

    def place(self, value: str) -> int:
        if value not in self.values:
            raise InvalidParameter(
                "what is reported is none of the values", remedy="add a value such as 'other' for all else"
            )
        return self.values.index(value)

    def deviation(self, count: float, reports: int) -> float:
        """The standard deviation of an estimate if so many of all have the value.

        Var = (n·q(1−q) + count·(p(1−p) − q(1−q))) / (p − q)²: each report is a coin of p or of q.
        """
        p, q = float(self.p), float(self.q)
        variance = reports * q * (1 - q) + count * (p * (1 - p) - q * (1 - q))
        return math.sqrt(max(0.0, variance)) / (p - q)

    def estimates(self, hits: Sequence[int], reports: int, confidence: float) -> list[FrequencyEstimate]:
        """(hits − n·q) / (p − q) for each value: its mean is how many have it."""
        if not 0.5 <= confidence < 1:
            raise InvalidParameter(
                Sentence("confidence is {confidence}", confidence=confidence),
                remedy="give a number such as 0.95",
            )
        p, q = float(self.p), float(self.q)
        width = NormalDist().inv_cdf((1 + confidence) / 2)
        made = []
        for value, number in zip(self.values, hits, strict=True):
            count = (number - reports * q) / (p - q)
            deviation = self.deviation(min(max(count, 0.0), float(reports)), reports)
            low, high = (min(max(count + sign * width * deviation, 0.0), float(reports)) for sign in (-1, 1))
            made.append(FrequencyEstimate(value, count, deviation, low, high))
        return made


class RandomizedResponse(_Reports):
    """Report the own value with p = e^ε / (e^ε + k − 1), else any of the k − 1 others.

    ε-private for each value that somebody may have: whatever is reported, two values make it likely in a ratio of at most
    p / q = e^ε, with q = (1 − p) / (k − 1). p is rounded down, so the ratio is never larger.

    >>> coin = RandomizedResponse(["yes", "no"], 1)
    >>> coin.report("yes") in ("yes", "no"), round(float(coin.p), 4)
    (True, 0.7311)
    >>> [round(estimate.count) for estimate in coin.estimate(["yes"] * 600 + ["no"] * 400)]
    [716, 284]
    """

    def __init__(self, values: Sequence[str], epsilon: Amount) -> None:
        super().__init__(values, epsilon)
        others = len(self.values) - 1
        self.p = _rounded_down(1 / (1 + others * math.exp(-floor_float(self.epsilon))))
        self.q = (1 - self.p) / others

    def report(self, value: str) -> str:
        """What somebody with a value reports."""
        own = self.place(value)
        if _coin(self.p):
            return self.values[own]
        other = secrets.randbelow(len(self.values) - 1)
        return self.values[other + (other >= own)]

    def estimate(self, reports: Iterable[str], *, confidence: float = 0.95) -> list[FrequencyEstimate]:
        """How many have each value."""
        places = [self.place(report) for report in reports]
        hits = [0] * len(self.values)
        for place in places:
            hits[place] += 1
        return self.estimates(hits, len(places), confidence)


class UnaryEncoding(_Reports):
    """Report a bit per value: that of the own value is set with p, each other with q, all by themselves.

    Two values differ in two bits, so reports are likely in a ratio of at most p(1 − q) / ((1 − p)q), which is e^ε. Optimised: p = ½ and
    q = 1 / (e^ε + 1), which has the least variance for rare values; symmetric: p = 1 − q = e^{ε/2} / (e^{ε/2} + 1) (RAPPOR). q is rounded up,
    and p = 1 − q with it, so the ratio is never larger.

    >>> bits = UnaryEncoding(["flu", "cold", "gout"], 2)
    >>> len(bits.report("flu")), float(bits.p)
    (3, 0.5)
    """

    def __init__(self, values: Sequence[str], epsilon: Amount, *, symmetric: bool = False) -> None:
        super().__init__(values, epsilon)
        amount = floor_float(self.epsilon) / (2 if symmetric else 1)
        unlikely = 1 - _rounded_down(1 / (1 + math.exp(-amount)))
        self.p, self.q = (1 - unlikely if symmetric else Fraction(1, 2)), unlikely

    def report(self, value: str) -> tuple[bool, ...]:
        """What somebody with a value reports."""
        own = self.place(value)
        return tuple(_coin(self.p if place == own else self.q) for place in range(len(self.values)))

    def estimate(
        self, reports: Iterable[Sequence[bool]], *, confidence: float = 0.95
    ) -> list[FrequencyEstimate]:
        """How many have each value."""
        hits, count = [0] * len(self.values), 0
        for report in reports:
            if len(report) != len(self.values):
                raise InvalidParameter(
                    "a report has another number of bits than there are values",
                    remedy="collect whole reports",
                )
            count += 1
            for place, bit in enumerate(report):
                hits[place] += bool(bit)
        return self.estimates(hits, count, confidence)


def _rounded_down(probability: float) -> Fraction:
    """A probability as a whole number of 2^-64 that is surely not above it."""
    return Fraction(math.floor(probability * (1 - 1e-14) * 2**BITS), 2**BITS)


def _coin(probability: Fraction) -> bool:
    """True with exactly this probability, a whole number of 2^-64."""
    return bool(secrets.randbits(BITS) < probability * 2**BITS)
