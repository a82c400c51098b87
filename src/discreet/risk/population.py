"""Population uniqueness: how many records of a sample are alone in the population it was drawn from.

One quantity throughout, so that the estimators can be compared:

    value = expected number of records in the sample that are unique in the population / records in the sample

Under simple random sampling every record of the population is as likely to be drawn as any other, so the
expectation of this share is also ``population uniques / population size``, the share the literature
estimates; :func:`population_uniques` turns it into a number of people.

Notation: n records in u classes, s_i classes of i records, sampling fraction p, population size N = n / p.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import cache
from types import ModuleType

import numpy as np
from numpy.typing import ArrayLike

from discreet.errors import InvalidParameter
from discreet.measure import Estimate, Measure
from discreet.sentences import Sentence
from discreet.types import AnyIntArray, FloatArray, IntArray

DANKAR_THRESHOLD = 0.1

_MEANING = "Share of the records that nobody else in the whole population shares the quasi-identifier with."
_SAMPLING = "the records are a simple random sample of the population and the sampling fraction is right"


class _NoEstimate(Exception):
    """The estimating equations have no usable solution; the text says why and holds no data."""


@dataclass(frozen=True)
class _Frequencies:
    """Frequencies of frequencies: ``classes[i]`` classes have ``size[i]`` records."""

    size: FloatArray
    classes: FloatArray

    @property
    def records(self) -> float:
        return float(self.size @ self.classes)

    @property
    def total(self) -> float:
        return float(self.classes.sum())

    def of_size(self, size: int) -> float:
        return float(self.classes[self.size == size].sum())


def sample_uniques(sizes: ArrayLike) -> Measure:
    """Share of the records that are alone in their equivalence class of the sample: s_1 / n.

    It is the greatest possible population uniqueness and equals it when the sample is the population.

    >>> sample_uniques(np.array([1, 1, 2, 4])).value
    0.25
    """
    frequencies = _frequencies(sizes)
    return Measure(
        name="sample uniqueness",
        value=frequencies.of_size(1) / frequencies.records,
        unit="share of records",
        better="lower",
        meaning="Share of the records that no other record of the table shares the quasi-identifier with.",
        source="Skinner, Elliot (2002), A measure of disclosure risk for microdata, JRSS B 64(4)",
    )


def population_uniques(estimate: Estimate, *, records: int, sampling_fraction: float) -> float:
    """Expected number of people who are unique in the population: value * n / p.

    >>> found = zayatz(np.array([1, 1, 2]), sampling_fraction=0.5)
    >>> round(population_uniques(found, records=4, sampling_fraction=0.5), 4)
    2.5455
    """
    return estimate.value * records / checked_fraction(sampling_fraction)


def zayatz(sizes: ArrayLike, *, sampling_fraction: float) -> Estimate:
    """Equivalence-class estimator: Bayes' rule with the sample's distribution of class sizes as prior.

    P(F = 1 | f = 1) = s_1 h(1) / sum_i s_i h(i), with h(i) the hypergeometric probability that a population
    class of i records leaves exactly one in the sample; value = s_1 P(F = 1 | f = 1) / n.

    Zayatz (1991), Estimation of the percent of unique population elements on a microdata file using the
    sample, US Bureau of the Census, SRD/RR-91/08.

    Two uniques and a pair out of a population of eight: h(1) = 1/2 and h(2) = 2 C(6,3) / C(8,4) = 4/7, so
    P(F = 1 | f = 1) = 2/2 / (2/2 + 4/7) = 7/11, and 2 * 7/11 of 4 records are expected to be unique.

    >>> round(zayatz(np.array([1, 1, 2]), sampling_fraction=0.5).value, 6)
    0.318182
    """
    return _estimate("Zayatz", _zayatz, sizes, sampling_fraction)


def pitman(sizes: ArrayLike, *, sampling_fraction: float) -> Estimate:
    """Pitman's sampling formula, fitted by maximum likelihood, extrapolated to the population.

    log L(t, a) = sum_{i=1}^{u-1} log(t + i a) - sum_{i=1}^{n-1} log(t + i)
                  + sum_j s_j sum_{i=1}^{j-1} log(i - a),  0 <= a < 1, t > -a;
    value = E[S_1] / N = G(t + 1) G(t + a + N - 1) / (G(t + a) G(t + N)), G the gamma function: the chance
    that none of the other N - 1 people joins a given one. Hoshino prints its limit G(t+1)/G(t+a) N^(a-1).

    Hoshino (2001), Applying Pitman's sampling formula to microdata disclosure risk assessment,
    Journal of Official Statistics 17(4).

    With a sample as large as the population nothing is left to estimate:

    >>> pitman(np.array([1, 1, 2]), sampling_fraction=1.0).value
    0.5
    """
    return _estimate("Pitman", _pitman, sizes, sampling_fraction)


def snb(sizes: ArrayLike, *, sampling_fraction: float) -> Estimate:
    """Slide negative binomial: population class sizes are one plus a negative binomial (a, b).

    With d = (1 - p)(1 - b) the expected numbers of sample classes with one and with two records are
    E[c1] = K p b^a (1 - (1-a) d) / (1-d)^(a+1) and
    E[c2] = K a b^a p^2 (1-b) (2 - (1-a) d) / (2 (1-d)^(a+2)).
    K, the number of population classes, is Haas and Stokes' modification of Shlosser's estimator; a and b
    solve E[c1] = s_1, E[c2] = s_2; value = K b^a / N.

    Chen, Keller-McNulty (1998), Estimation of identification disclosure risk in microdata, Journal of
    Official Statistics 14(1); Haas, Stokes (1998), Estimating the number of classes in a finite population,
    JASA 93(444).

    Without a class of two records there is nothing to solve, and that is said:

    >>> found = snb(np.array([1, 1, 3]), sampling_fraction=0.5)
    >>> found.value, found.notes
    (nan, ('no estimate: no class has two records, so the second equation has no solution',))
    """
    return _estimate("SNB", _snb, sizes, sampling_fraction)


def dankar(sizes: ArrayLike, *, sampling_fraction: float) -> Estimate:
    """The estimator that simulation on clinical data found nearest: chosen by sampling fraction and result.

    p <= 0.1: Pitman. Otherwise the smaller of Zayatz and SNB. An estimator without a solution is passed
    over, at last for Zayatz, which always has one; ``method`` and ``notes`` say what was used.

    Dankar, El Emam, Neisa, Roffey (2012), Estimating the re-identification risk of clinical data sets,
    BMC Medical Informatics and Decision Making 12:66.

    >>> dankar(np.array([1, 1, 2]), sampling_fraction=0.5).method
    'Dankar rule: Zayatz'
    """
    fraction = checked_fraction(sampling_fraction)
    bayes = zayatz(sizes, sampling_fraction=fraction)
    first = (pitman if fraction <= DANKAR_THRESHOLD else snb)(sizes, sampling_fraction=fraction)
    if np.isnan(first.value):
        reason = f"{first.method} was passed over: {first.notes[-1]}"
        chosen = replace(bayes, notes=(*bayes.notes, reason))
    elif fraction <= DANKAR_THRESHOLD or first.value < bayes.value:
        chosen = first
    else:
        chosen = bayes
    return replace(
        chosen,
        source="Dankar, El Emam, Neisa, Roffey (2012), BMC Medical Informatics and Decision Making 12:66",
        method=f"Dankar rule: {chosen.method}",
    )


# ------------------------------------------------------------------------------------------ what they share

_SOURCES = {
    "Zayatz": "Zayatz (1991), US Bureau of the Census, SRD/RR-91/08",
    "Pitman": "Hoshino (2001), Journal of Official Statistics 17(4)",
    "SNB": "Chen, Keller-McNulty (1998), Journal of Official Statistics 14(1)",
}
_ASSUMPTIONS = {
    "Zayatz": "class sizes are distributed in the population as they are in the sample, which is far from true "
    "when the sampling fraction is small: the estimate is then several times too high",
    "Pitman": "the classes arose by Pitman's sampling formula, which suits many small classes",
    "SNB": "class sizes in the population are one plus a negative binomial, and Shlosser's estimator of the "
    "number of classes is right; too high when the sampling fraction is small",
}


def _estimate(
    method: str,
    share: Callable[[_Frequencies, float], float],
    sizes: ArrayLike,
    sampling_fraction: float,
) -> Estimate:
    """Treat alike what no model is needed for, call the model for the rest, and keep within what is possible."""
    frequencies = _frequencies(sizes)
    fraction = checked_fraction(sampling_fraction)
    highest = frequencies.of_size(1) / frequencies.records
    exact: float | None = None
    notes: tuple[str, ...] = ()
    if fraction == 1.0:
        value = exact = highest
        notes = ("the sample is the population: the value is exact",)
    elif highest == 0.0:
        value = 0.0
        notes = ("no record is unique in the sample, so none can be unique in the population",)
    else:
        try:
            value = share(frequencies, fraction)
        except _NoEstimate as problem:
            value = float("nan")
            notes = (f"no estimate: {problem}",)
        if value > highest:
            notes = ("the model gave more than the sample uniques, which is impossible; cut to their share",)
            value = highest
    return Estimate(
        name="population uniqueness",
        value=value,
        unit="share of records",
        better="lower",
        meaning=_MEANING,
        source=_SOURCES[method],
        notes=notes,
        method=method,
        assumptions=f"{_SAMPLING}; {_ASSUMPTIONS[method]}",
        low=exact,
        high=exact,
    )


def checked_sizes(sizes: ArrayLike) -> IntArray:
    """The sizes of classes as an array; raises unless each is a whole number of at least 1."""
    array = np.asarray(sizes)
    if array.ndim != 1 or array.size == 0 or not np.issubdtype(array.dtype, np.integer) or array.min() < 1:
        raise InvalidParameter(
            "the sizes of equivalence classes must be a non-empty list of whole numbers of at least 1",
            remedy="count the records of each class that occurs and leave empty classes out",
        )
    return array


def check_codes(codes: Sequence[AnyIntArray], levels: Sequence[int], sizes: ArrayLike) -> None:
    """Raise unless there are sizes of classes, and for each attribute one code of a level per class."""
    shape = checked_sizes(sizes).shape
    if not codes or len(codes) != len(levels):
        raise InvalidParameter(
            "there has to be one list of codes and one number of levels per attribute",
            remedy="give as many codes as levels, at least one of each",
        )
    for at, (code, level) in enumerate(zip(codes, levels, strict=True)):
        if code.shape != shape or code.min() < 0 or code.max() >= level:
            raise InvalidParameter(
                Sentence(
                    "the codes of attribute number {at} do not fit the classes or their number of levels",
                    at=at,
                ),
                remedy="give one code from 0 to levels - 1 per class",
            )


def _frequencies(sizes: ArrayLike) -> _Frequencies:
    size, classes = np.unique(checked_sizes(sizes), return_counts=True)
    return _Frequencies(size.astype(np.float64), classes.astype(np.float64))


def checked_fraction(sampling_fraction: float) -> float:
    """The share of the population that is in the table; raises unless it is one."""
    if not 0.0 < sampling_fraction <= 1.0:
        raise InvalidParameter(
            "the sampling fraction must be greater than 0 and at most 1",
            remedy="give records in the table / people in the population",
        )
    return float(sampling_fraction)


# --------------------------------------------------------------------------------------------------- Zayatz


def _zayatz(frequencies: _Frequencies, fraction: float) -> float:
    records = frequencies.records
    log_h = _log_one_drawn(frequencies.size, records, records / fraction)
    weights = frequencies.classes * np.exp(log_h)
    unique = float(weights[frequencies.size == 1].sum())
    return frequencies.of_size(1) * unique / float(weights.sum()) / records


def _log_one_drawn(size: FloatArray, records: float, population: float) -> FloatArray:
    """log of i C(N-i, n-1) / C(N, n) = log(i n / N) + sum_{k=0}^{i-2} log((N-n-k) / (N-1-k)).

    Summed as ratios close to one rather than as differences of log-gammas, which lose half their digits
    at a population of 10^9. Terms below e^-745 are zero in floating point, so the sum may stop there.
    """
    enough = min(float(size.max()) - 1, np.ceil(750 * population / records), population - records)
    step = np.arange(int(max(enough, 0)), dtype=np.float64)
    with np.errstate(divide="ignore"):
        cumulative = np.concatenate(([0.0], np.cumsum(np.log1p(-(records - 1) / (population - 1 - step)))))
    drawn = size - 1
    inside = drawn < cumulative.size
    log_h = np.full(size.shape, -np.inf)
    log_h[inside] = cumulative[drawn[inside].astype(np.int64)]
    return np.asarray(log_h + np.log(size * records / population))


# --------------------------------------------------------------------------------------------------- Pitman


def _pitman(frequencies: _Frequencies, fraction: float) -> float:
    a, t = _fit_pitman(frequencies)
    population = frequencies.records / fraction
    # G(x + 1 - a) / G(x) for x = t + a and x = t + a + N - 1
    log_share = _log_gamma_ratio(t + a, 1 - a) - _log_gamma_ratio(t + a + population - 1, 1 - a)
    return float(np.exp(log_share))


def _fit_pitman(frequencies: _Frequencies) -> tuple[float, float]:
    """Maximum likelihood (a, t): bracketed root in a of the score along the best t for each a."""
    n, u = frequencies.records, frequencies.total
    if u == n:
        raise _NoEstimate("every record is unique in the sample, so the likelihood has no maximum")
    if u == 1:
        raise _NoEstimate("there is one class only, so the likelihood has no maximum")

    def best_t(a: float) -> float:
        # in log(t + a): t + a may lie anywhere between nearly 0 and n^2
        def score(z: float) -> float:
            t = float(np.exp(z)) - a
            return _sum_reciprocals(t, a, u) - _psi_difference(t + 1, n - 1)

        low, high = -30.0, 2 * float(np.log(n)) + 10
        if score(low) <= 0 or score(high) >= 0:
            raise _NoEstimate("the likelihood has no maximum in the parameter theta")
        return float(np.exp(_root(score, low, high, xtol=1e-12, rtol=1e-14))) - a

    def score(a: float) -> float:
        tables = _sum_weighted_reciprocals(best_t(a), a, u)
        inside = _special().psi(frequencies.size - a) - _special().psi(1 - a)
        return float(tables - frequencies.classes @ inside)

    low, high = 1e-9, 1 - 1e-9
    if score(low) <= 0:
        return 0.0, best_t(0.0)
    if score(high) >= 0:
        raise _NoEstimate("the likelihood rises up to the edge of the parameter alpha")
    a = _root(score, low, high, xtol=1e-13, rtol=1e-13)
    return a, best_t(a)


def _root(
    function: Callable[[float], float], low: float, high: float, *, xtol: float, rtol: float = 1e-15
) -> float:
    """Where a function crosses zero, by Brent's method."""
    # A third of what an audit imports would be for this, which only samples of a population need.
    from scipy.optimize import brentq

    return float(brentq(function, low, high, xtol=xtol, rtol=rtol))


def _psi_difference(x: float, m: float) -> float:
    """psi(x + m) - psi(x) = sum_{i=0}^{m-1} 1/(x + i), without cancellation for large x.

    >>> round(_psi_difference(1.0, 3), 12), _psi_difference(1e12, 2) * 1e12
    (1.833333333333, 1.99999999999...)
    """
    if x < 1e3:
        return float(_special().psi(x + m) - _special().psi(x))
    y = x + m
    return float(np.log1p(m / x) + m / (2 * x * y) + (1 / x**2 - 1 / y**2) / 12)


def _sum_reciprocals(t: float, a: float, u: float) -> float:
    """sum_{i=1}^{u-1} 1 / (t + i a)."""
    return (u - 1) / t if a == 0 else _psi_difference(t / a + 1, u - 1) / a


def _sum_weighted_reciprocals(t: float, a: float, u: float) -> float:
    """sum_{i=1}^{u-1} i / (t + i a).

    The closed form ((u-1) - t sum 1/(t + i a)) / a cancels when a u is small beside t: expand there.

    >>> direct = sum(i / (100 + i * 1e-4) for i in range(1, 1000))
    >>> abs(_sum_weighted_reciprocals(100.0, 1e-4, 1000) / direct - 1) < 1e-12
    True
    """
    m = u - 1
    if t > 0 and a * u < 1e-3 * t:
        first = m * (m + 1) / 2
        second = first * (2 * m + 1) / 3
        third = first**2
        fourth = second * (3 * m**2 + 3 * m - 1) / 5
        ratio = a / t
        return (first - ratio * (second - ratio * (third - ratio * fourth))) / t
    return (m - t * _sum_reciprocals(t, a, u)) / a


@cache
def _special() -> ModuleType:
    """The special functions, which take as long to load as a fifth of the program: only once something is estimated."""
    from scipy import special

    return special  # type: ignore[no-any-return]


def _log_gamma_ratio(x: float, c: float) -> float:
    """log of G(x + c) / G(x) by the beta function, which is accurate for large x."""
    return float(_special().gammaln(c) - _special().betaln(x, c))


# ------------------------------------------------------------------------------------ slide negative binomial


def _snb(frequencies: _Frequencies, fraction: float) -> float:
    c1, c2 = frequencies.of_size(1), frequencies.of_size(2)
    if c2 == 0:
        raise _NoEstimate("no class has two records, so the second equation has no solution")
    classes = _shlosser(frequencies, fraction)
    log_share = _solve_snb(c1, c2, classes, fraction)
    return classes * float(np.exp(log_share)) / (frequencies.records / fraction)


def _shlosser(frequencies: _Frequencies, fraction: float) -> float:
    """Haas and Stokes' modified Shlosser estimator of the number of classes in the population.

    u + s_1 * A / B * (C / D)^2 with A = sum i p^2 (1-p^2)^(i-1) s_i, B = sum ((1-p^2)^i - (1-p)^i) s_i,
    C = sum (1-p)^i s_i and D = sum i p (1-p)^(i-1) s_i.
    """
    size, count = frequencies.size, frequencies.classes
    once, twice = np.log1p(-fraction), np.log1p(-(fraction**2))
    a = float((size * fraction**2 * np.exp((size - 1) * twice)) @ count)
    b = float((-np.exp(size * twice) * np.expm1(size * (once - twice))) @ count)
    c = float(np.exp(size * once) @ count)
    d = float((size * fraction * np.exp((size - 1) * once)) @ count)
    return frequencies.total + frequencies.of_size(1) * a / b * (c / d) ** 2


def _solve_snb(c1: float, c2: float, classes: float, fraction: float) -> float:
    """log(b^a), the share of population classes that have one record.

    A sampled slide negative binomial is a Bernoulli(p) plus a negative binomial (a, x) with odds
    x/(1-x) = b / (p (1-b)). With y = 1 - x and m = a y:
    c1/K = x^a (p + (1-p) m) and c2/c1 = m (p + (1-p)(m + y)/2) / (p + (1-p) m).
    The second is a quadratic in m with one positive root for each y, which leaves one equation in y.
    """
    ratio, rest = c2 / c1, 1 - fraction

    def positive_root(y: FloatArray) -> FloatArray:
        half = fraction + rest * y / 2 - ratio * rest
        root = np.sqrt(half**2 + 2 * rest * ratio * fraction)
        # the form without cancellation, whichever sign `half` has
        return np.asarray(np.where(half > 0, 2 * ratio * fraction / (half + root), (root - half) / rest))

    def excess(z: FloatArray) -> FloatArray:
        y = 1 / (1 + np.exp(-z))
        m = positive_root(y)
        return np.asarray(-m / y * np.logaddexp(0, z) + np.log(fraction + rest * m) - np.log(c1 / classes))

    grid = np.linspace(-30.0, 30.0, 1201)
    sign = np.sign(excess(grid))
    crossings = np.flatnonzero(sign[1:] != sign[:-1])
    if crossings.size == 0:
        raise _NoEstimate("no slide negative binomial has this many classes of one and of two records")
    if crossings.size > 1:
        raise _NoEstimate("several slide negative binomials fit the classes of one and of two records")
    at = int(crossings[0])
    z = _root(lambda z: float(excess(np.array([z]))[0]), grid[at], grid[at + 1], xtol=1e-12)
    y = 1 / (1 + np.exp(-np.array([z])))
    a = float((positive_root(y) / y)[0])
    # odds of b are p x / y = p e^-z
    return float(-a * np.logaddexp(0, z - np.log(fraction)))
