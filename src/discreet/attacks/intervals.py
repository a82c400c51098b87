"""Intervals of success rates: where people are drawn one by one, and where the people of a class stand or fall together.

What is random is who the people of the table are: a sample of people like them, recoded in the same way. The value that an
interval shall cover is the success rate among all of those.
"""

from __future__ import annotations

import numpy as np
from scipy.special import stdtrit

from discreet.measure import proportion_interval
from discreet.types import FloatArray, IntArray

Z = 1.959963984540054
_NOTHING = 1e-12


def interval_of_people(chance: FloatArray, people: FloatArray | IntArray) -> tuple[float, float]:
    """The 95 % interval of a mean chance: ``people[i]`` persons have ``chance[i]`` of being guessed rightly.

    Each person is drawn by himself. Chances between 0 and 1 vary less than hits and misses do, so their mean is known
    better than a share of as many tries: with the variance v of the mean it is worth r (1 - r) / v tries, of which
    Wilson's interval is taken, with Student's quantile in place of the normal one. If all have the same chance
    between 0 and 1 nothing varies, and the interval is that chance.

    >>> [round(end, 3) for end in interval_of_people(np.array([0.2, 0.1]), np.array([50, 50]))]
    [0.14, 0.16]
    >>> [round(end, 3) for end in interval_of_people(np.array([1.0, 0.0]), np.array([15, 85]))]
    [0.092, 0.234]
    """
    weight = np.asarray(people, dtype=np.float64)
    total = float(weight.sum())
    return _interval(chance, np.ones(len(chance)), weight, total)


def interval_of_classes(
    successes: FloatArray | IntArray, tries: FloatArray | IntArray
) -> tuple[float, float]:
    """The 95 % interval of a success rate where ``successes[c]`` of the ``tries[c]`` people of class c were told rightly.

    Classes are drawn as a whole, with all of their people: the rate r is a ratio of two sums over m classes, with the
    variance v = m / (m - 1) · Σ (successes - r tries)² / (Σ tries)². It is worth r (1 - r) / v tries, of which Wilson's
    interval is taken, with Student's quantile for as many classes as there would be if all were of one size,
    (Σ tries)² / Σ tries². If no class fell, or all did, each counts as one try. Cochran, "Sampling techniques", 1977,
    section 6; Korn, Graubard, "Confidence intervals for proportions with small expected number of positive counts",
    Survey Methodology 24, 1998.

    >>> [round(end, 2) for end in interval_of_classes(np.array([5.0, 0.0, 5.0, 0.0] * 5), np.full(20, 5))]
    [0.28, 0.72]
    >>> [round(end, 2) for end in interval_of_classes(np.zeros(20), np.full(20, 5))]
    [0.0, 0.16]
    """
    size = np.asarray(tries, dtype=np.float64)
    there = size > 0
    size, right = size[there], np.asarray(successes, dtype=np.float64)[there]
    alike = float(size.sum() ** 2 / (size**2).sum()) if len(size) else 0.0
    return _interval(right, size, np.ones(len(size)), alike)


def _interval(
    successes: FloatArray, tries: FloatArray, copies: FloatArray, units: float
) -> tuple[float, float]:
    """Wilson's interval of a ratio, for as many tries as its variance is worth; ``units`` were drawn, seen as equal."""
    total = float((copies * tries).sum())
    if total <= 0:
        return 0.0, 1.0
    rate = float((copies * successes).sum()) / total
    drawn = float(copies.sum())
    if drawn <= 1 or units <= 1 or min(rate, 1 - rate) < _NOTHING:
        return proportion_interval(min(rate, 1.0) * units, units)
    spread = float((copies * (successes - rate * tries) ** 2).sum())
    variance = drawn / (drawn - 1) * spread / total**2
    if variance < _NOTHING**2:
        return rate, rate
    student = float(stdtrit(max(units - 1, 1.0), 0.975))
    worth = rate * (1 - rate) / variance * (Z / student) ** 2
    return proportion_interval(rate * worth, worth)
