"""What amounts of privacy loss mean: conversions, tails of noise, and what an intruder can become sure of."""

from __future__ import annotations

import math
from fractions import Fraction
from statistics import NormalDist

from discreet.dp.amounts import floor_float
from discreet.errors import InvalidParameter

SMALLEST_RHO = 1e-100
"""With less, noise is wider than any number."""
TOLERANCE = 1e-12
"""How near the bisection comes; it stops on the safe side."""


def delta_of(rho: float, epsilon: float) -> float:
    """The δ with which ρ-zero-concentrated privacy is (ε, δ)-private.

    .. math:: \\delta = \\inf_{\\alpha > 1} \\frac{e^{(\\alpha-1)(\\alpha\\rho-\\varepsilon)}}{\\alpha-1}
              \\left(1-\\frac1\\alpha\\right)^{\\alpha}

    Canonne, Kamath and Steinke, *The Discrete Gaussian for Differential Privacy*, 2020, proposition 12. Any α gives a
    valid δ, so an inexact minimum errs on the safe side.

    >>> delta_of(1 / 32, 1.143) < 1.01e-6
    True
    """

    def exponent(alpha: float) -> float:
        return (alpha - 1) * (alpha * rho - epsilon) + alpha * math.log1p(-1 / alpha) - math.log(alpha - 1)

    # The exponent falls and then rises: thirds of the interval that holds the minimum.
    low, high = 1 + 1e-9, max(2.0, (epsilon + 1) / (2 * rho) + 2)
    for _ in range(200):
        third = (high - low) / 3
        if exponent(low + third) < exponent(high - third):
            high -= third
        else:
            low += third
    return min(1.0, math.exp(min(0.0, exponent((low + high) / 2))))


def rho_of(epsilon: Fraction, delta: Fraction) -> float:
    """The largest ρ whose zero-concentrated privacy is (ε, δ)-private.

    >>> round(rho_of(Fraction(1), Fraction(1, 10**9)), 5)
    0.01497
    """
    bound, target = floor_float(epsilon), floor_float(delta) * (1 - 1e-9)
    low, high = 0.0, bound
    while high - low > TOLERANCE * high:
        if high < SMALLEST_RHO:
            raise InvalidParameter(
                "so little privacy loss would leave nothing but noise",
                remedy="give more of it, or narrower bounds",
            )
        middle = (low + high) / 2
        if delta_of(middle, bound) <= target:
            low = middle
        else:
            high = middle
    return low


def laplace_margin(scale: float, error: float) -> int:
    """The smallest t such that discrete Laplace noise is beyond ±t with probability at most ``error``.

    P(|X| > t) = 2 e^{-(t+1)/b} / (1 + e^{-1/b}).

    >>> laplace_margin(1.0, 0.05)
    3
    """
    tail = math.log(2 / (error * (1 + math.exp(-1 / scale))))
    return max(0, math.ceil(scale * tail - 1))


def gaussian_margin(scale: float, error: float) -> int:
    """A t such that discrete Gaussian noise is beyond ±t with probability at most ``error``; at most one too wide.

    >>> gaussian_margin(10.0, 0.05)
    21
    """
    return math.ceil(scale * -NormalDist().inv_cdf(error / 2)) + 1


def posterior(prior: float, epsilon: float) -> float:
    """How sure an intruder can be at most after a release, who was ``prior`` sure before it.

    From P(D|y)/P(D'|y) ≤ e^ε · P(D)/P(D'): posterior odds are at most e^ε times the prior odds. Kasiviswanathan and Smith,
    *On the Semantics of Differential Privacy*, 2014.

    >>> round(posterior(0.01, 1.0), 4)
    0.0267
    """
    odds = math.exp(min(epsilon, 700.0)) * prior / (1 - prior)
    return odds / (1 + odds)


def most_right(epsilon: float, delta: float) -> float:
    """How often somebody can be right at most who tells members from others, both equally many: (e^ε + δ) / (e^ε + 1).

    For whatever is taken as a sign of membership, P(sign | in) ≤ e^ε · P(sign | out) + δ and P(no sign | out) ≤ e^ε · P(no sign | in) + δ. Their sum bounds
    P(sign | in) − P(sign | out) by (e^ε − 1 + 2δ) / (e^ε + 1), of which half beyond ½ is right. Kairouz, Oh and Viswanath, *The Composition Theorem for
    Differential Privacy*, 2015.

    >>> most_right(0.0, 0.0), round(most_right(1.0, 0.0), 3), most_right(10**6, 0.1)
    (0.5, 0.731, 1.0)
    """
    odds = math.exp(min(epsilon, 700.0))
    return min(1.0, (odds + delta) / (odds + 1))
