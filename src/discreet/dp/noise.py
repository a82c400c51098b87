"""Noise from OpenDP: discrete, from the system's randomness, with exact arithmetic. Nothing here takes a seed.

Every function takes a sensitivity and an amount, asks OpenDP what its mechanism costs, and refuses to draw if that is more
than the amount: the scale is checked by whoever draws, not by our formula.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from statistics import NormalDist
from typing import Any, Literal

from discreet.dp.accounting import gaussian_margin, laplace_margin
from discreet.dp.amounts import ceiling_float, floor_float
from discreet.errors import InvalidParameter, MissingDependency

Mechanism = Literal["laplace", "gaussian", "bounded-laplace"]
NAMES: dict[Mechanism, str] = {
    "laplace": "Laplace",
    "gaussian": "Gaussian",
    "bounded-laplace": "bounded Laplace",
}
LARGEST_SCALE = 2.0**50
WIDEST = 20
"""So many times the range may bounded noise be wide: all that falls outside is drawn again."""


@dataclass(frozen=True)
class Noisy:
    """Whole numbers with noise of a scale."""

    values: list[int]
    mechanism: Mechanism
    scale: float

    def margin(self, error: float) -> int:
        """The noise of a value is beyond ± this with probability at most ``error``.

        Bounded Laplace noise, given that it stays inside, is beyond less often than Laplace noise of its scale: with q = e^{-1/b}, R steps to
        one end and none to the other at worst, (q^{t+1} − q^{R+1}) / (1 − q^{R+1}) ≤ q^{t+1} ≤ 2q^{t+1} / (1 + q).
        """
        return (gaussian_margin if self.mechanism == "gaussian" else laplace_margin)(self.scale, error)


def laplace(values: Sequence[int], *, sensitivity: int, epsilon: Fraction) -> Noisy:
    """Discrete Laplace noise: P(X = x) ∝ e^{-|x|/b} with b = Δ₁/ε; ε-private if ``values`` change by Δ₁ in all.

    Ghosh, Roughgarden and Sundararajan, *Universally Utility-Maximizing Privacy Mechanisms*, 2009 (the geometric mechanism).
    """
    dp = OpenDP()
    check_scale(sensitivity / epsilon)
    scale = ceiling_float(sensitivity / epsilon)
    space = dp.whole_numbers, dp.metrics.l1_distance(T="i64")
    measurement = dp.measurements.make_laplace(*space, scale)
    while Fraction(measurement.map(sensitivity)) > epsilon:
        scale = math.nextafter(scale, math.inf)
        measurement = dp.measurements.make_laplace(*space, scale)
    return Noisy(list(measurement(list(values))), "laplace", scale)


def bounded_laplace(
    values: Sequence[int], *, low: int, high: int, sensitivity: int, epsilon: Fraction
) -> Noisy:
    """Discrete Laplace noise of a scale b, given that the sum stays between two ends, which are known without the data.

    P(z | x) = q^{|z−x|} / C_x with q = e^{-1/b} and C_x the sum over all z inside. *Sensitivity.* One step of x changes the numerator by a factor of at most
    e^{1/b}. C_{x+1} − C_x = q^{x−low+1} − q^{high−x} falls with x, so C and with it ln C are concave: no step changes ln C by more than the
    first, g = ln(C_{low+1} / C_low). If ``values`` change by Δ₁ steps in all, probabilities change by a factor of at most e^{Δ₁(1/b + g)}, and b is chosen
    so that this is at most e^ε. Far from the ends that is up to twice the noise of `laplace`, whose values may be clamped for nothing: it is for those who want no
    heap at the ends. After Holohan, Antonatos, Braghin and Mac Aonghusa, *The Bounded Laplace Mechanism in Differential Privacy*, 2020.
    """
    scale = bounded_scale(high - low, sensitivity, epsilon)
    dp = OpenDP()
    space = dp.whole_numbers, dp.metrics.l1_distance(T="i64")
    measurement = dp.measurements.make_laplace(*space, scale)
    # What is beyond the range is clamped, which brings no two tables farther apart.
    inside = [min(max(value, low), high) for value in values]
    drawn = list(inside)
    waiting = list(range(len(inside)))
    while waiting:
        made = measurement([inside[place] for place in waiting])
        kept = {place: value for place, value in zip(waiting, made, strict=True) if low <= value <= high}
        for place, value in kept.items():
            drawn[place] = value
        waiting = [place for place in waiting if place not in kept]
    return Noisy(drawn, "bounded-laplace", scale)


def bounded_scale(room: int, sensitivity: int, epsilon: Fraction) -> float:
    """The scale b with Δ(1/b + g(b)) ≤ ε for a range of so many steps, a little above the smallest; any b for which this holds is right.

    >>> round(bounded_scale(10**6, 1, Fraction(1)), 2), round(bounded_scale(1, 1, Fraction(1)), 6)
    (1.29, 1.0)
    """
    check_scale(2 * sensitivity / epsilon)

    def cost(scale: float) -> float:
        q = math.exp(-1 / scale)
        first = -math.expm1(-(room + 1) / scale) / -math.expm1(-1 / scale)
        return sensitivity * (1 / scale + math.log1p((q - math.exp(-room / scale)) / first))

    target = floor_float(epsilon) * (1 - 1e-9)
    low, high = 0.0, sensitivity / target
    while cost(high) > target:
        low, high = high, 2 * high
    for _ in range(80):
        middle = (low + high) / 2
        low, high = (low, middle) if cost(middle) <= target else (middle, high)
    if high > WIDEST * room or room > LARGEST_SCALE:
        raise InvalidParameter(
            "bounded noise does not fit the range of what is counted",
            remedy="say how many rows a group has at most, give more privacy loss, or take laplace",
        )
    return high


def gaussian(values: Sequence[int], *, sensitivity: float, rho: float) -> Noisy:
    """Discrete Gaussian noise: P(X = x) ∝ e^{-x²/2σ²} with σ = Δ₂/√(2ρ); ρ-zCDP if ``values`` change by Δ₂ (Euclidean).

    Canonne, Kamath and Steinke, *The Discrete Gaussian for Differential Privacy*, 2020.
    """
    dp = OpenDP()
    scale = sensitivity / math.sqrt(2 * rho)
    check_scale(scale)
    space = dp.whole_numbers, dp.metrics.l2_distance(T="f64")
    measurement = dp.measurements.make_gaussian(*space, scale)
    while measurement.map(sensitivity) > rho:
        scale = math.nextafter(scale, math.inf)
        measurement = dp.measurements.make_gaussian(*space, scale)
    return Noisy(list(measurement(list(values))), "gaussian", scale)


def noisy_max(scores: Sequence[int], *, sensitivity: int, epsilon: Fraction, monotone: bool = False) -> int:
    """The place of a score that is among the largest: report-noisy-max with exponential noise of scale 2Δ/ε.

    ε-private if every score changes by at most Δ. If a further row lowers no score (``monotone``), Δ/ε is enough. McKenna and
    Sheldon, *Permute-and-Flip*, 2020.
    """
    dp = OpenDP()
    wanted = (1 if monotone else 2) * sensitivity / epsilon
    check_scale(wanted)
    scale = ceiling_float(wanted)
    distance = dp.metrics.linf_distance(T="i64", monotonic=monotone)
    space = dp.whole_numbers, distance, dp.measures.max_divergence()
    measurement = dp.measurements.make_noisy_max(*space, scale)
    while Fraction(measurement.map(sensitivity)) > epsilon:
        scale = math.nextafter(scale, math.inf)
        measurement = dp.measurements.make_noisy_max(*space, scale)
    return int(measurement(list(scores)))


def noisy_max_rho(scores: Sequence[int], *, sensitivity: int, rho: float) -> int:
    """The place of a score that is among the largest: the exponential mechanism by Gumbel noise of scale Δ/√(2ρ).

    ρ-zCDP if every score changes by at most Δ. Cesar and Rogers, *Bounding, Concentrating, and Truncating*, 2021.
    """
    dp = OpenDP()
    scale = sensitivity / math.sqrt(2 * rho)
    check_scale(scale)
    space = dp.whole_numbers, dp.metrics.linf_distance(T="i64"), dp.measures.zero_concentrated_divergence()
    measurement = dp.measurements.make_noisy_max(*space, scale)
    while measurement.map(sensitivity) > rho:
        scale = math.nextafter(scale, math.inf)
        measurement = dp.measurements.make_noisy_max(*space, scale)
    return int(measurement(list(scores)))


def threshold(scale: float, delta: Fraction, keys: int) -> int:
    """From which noisy number of persons on a key may be shown that one person alone may have brought in.

    A person who is alone with up to ``keys`` keys has a count of 1 in each. All of them stay below t, but for a
    probability of δ: keys · P(1 + X ≥ t) ≤ keys · e^{-(t-1)/b} ≤ δ. Korolova et al., *Releasing Search Queries and Clicks
    Privately*, 2009.

    >>> threshold(1.0, Fraction(1, 10**6), 1)
    15
    """
    return 1 + math.ceil(
        scale * (math.log(keys) - math.log(delta.numerator) + math.log(delta.denominator)) + 1e-9
    )


def gaussian_threshold(scale: float, delta: float, keys: int, rows: int) -> int:
    """The same with discrete Gaussian noise, for a person with up to ``rows`` rows for each of ``keys`` keys.

    keys · P(rows + X ≥ t) ≤ keys · P(N ≥ t − rows − 1) ≤ δ, as discrete Gaussian tails lie below those of the
    continuous one a step before.

    >>> gaussian_threshold(10.0, 1e-6, 1, 1)
    50
    """
    return rows + 1 + math.ceil(scale * -NormalDist().inv_cdf(delta / keys))


def check_scale(scale: Fraction | float, most: float = LARGEST_SCALE) -> None:
    """Refuse noise so wide that whole numbers of 64 bits, or what else has to hold it, would not."""
    if not scale <= most:
        raise InvalidParameter(
            "so little privacy loss would leave nothing but noise",
            remedy="give more of it, or narrower bounds",
        )


class OpenDP:
    """The parts of OpenDP that are used, imported one by one: its prelude would load scikit-learn, too."""

    def __init__(self) -> None:
        try:
            from opendp import domains, measurements, measures, metrics
            from opendp.mod import enable_features
        except ImportError:
            raise MissingDependency(
                "answers with noise need the package opendp", remedy="pip install 'discreet[dp]'"
            ) from None
        # So OpenDP calls all mechanisms that its community has reviewed.
        enable_features("contrib")
        self.measurements, self.metrics, self.measures = measurements, metrics, measures
        self.whole_numbers: Any = domains.vector_domain(domains.atom_domain(T="i64"))
