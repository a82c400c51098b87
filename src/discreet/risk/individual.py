"""Individual risk: the chance that a record of a sample is matched to its person in the population.

A class has f records in the sample and F people in the population, F unknown. Who picks one of the F people
at random is right with probability 1 / F, so the risk of each of its records is E[1/F | f].
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from discreet.errors import InvalidParameter
from discreet.measure import Estimate, RecordRisk
from discreet.risk.population import checked_fraction, checked_sizes
from discreet.types import FloatArray

_SOURCE = (
    "Benedetti, Franconi (1998), Statistical and technological solutions for controlled data dissemination"
)
_ASSUMPTIONS = (
    "given f, the size F of the class in the population is negative binomial with success probability f / F, "
    "where the sampling weights of the class add up to F; the intruder's register covers the whole population "
    "and both sources are free of errors"
)

# From here on the series below needs fewer than 60 terms whatever p is: 1 / C(30 + 60, 30) < 1e-23.
_LARGE_CLASS = 30
_TERMS = 60


@dataclass(frozen=True)
class IndividualRisk:
    """The risk of every record, and what it adds up to over the table."""

    records: RecordRisk
    expected: Estimate
    rate: Estimate


def individual_risk(sizes: ArrayLike, population_sizes: ArrayLike) -> FloatArray:
    """Benedetti-Franconi risk of the records of each class, exact.

    r = E[1/F | f] = (p^f / f) 2F1(f, f; f+1; 1-p) = (p / f) 2F1(1, 1; f+1; 1-p), p = f/F, where
    ``sizes`` holds f and ``population_sizes`` the sum of the sampling weights (or f / sampling fraction).
    Equivalently r is the integral of p u^(f-1) / (p + (1-p) u) over [0, 1], whence
    r_1 = p/(1-p) ln(1/p) and r_{f+1} = p/(1-p) (1/f - r_f).

    Benedetti, Franconi (1998), Statistical and technological solutions for controlled data dissemination;
    Capobianchi, Polettini, Lucarelli (2001), Strategy for the implementation of individual risk methodology
    in mu-Argus.

    >>> individual_risk(np.array([1, 2, 2]), np.array([215, 360, 152])).round(8).tolist()
    [0.02509644, 0.00542452, 0.01256343]

    A class whose people are all in the sample has risk 1/f:

    >>> individual_risk(np.array([1, 4]), np.array([1, 4])).tolist()
    [1.0, 0.25]
    """
    f, total = _checked(sizes, population_sizes)
    p = f / total
    risk = np.empty_like(p)
    by_recurrence = (f < _LARGE_CLASS) & (p < 0.5)
    risk[by_recurrence] = _recurrence(f[by_recurrence], p[by_recurrence])
    risk[~by_recurrence] = _series(f[~by_recurrence], p[~by_recurrence], total[~by_recurrence])
    return risk


def global_risk(
    sizes: ArrayLike,
    *,
    population_sizes: ArrayLike | None = None,
    sampling_fraction: float | None = None,
) -> IndividualRisk:
    """Individual risk of all records with the expected number and share of re-identifications.

    expected = sum over classes of f r; rate = expected / n. Give either the sums of sampling weights per
    class or one sampling fraction. Franconi, Polettini (2004), Individual risk estimation in mu-Argus:
    a review, PSD 2004.

    >>> found = global_risk(np.array([1, 3]), sampling_fraction=1.0)
    >>> found.expected.value, found.rate.value, found.records.max
    (2.0, 0.5, 1.0)
    """
    if population_sizes is not None and sampling_fraction is None:
        totals = np.asarray(population_sizes, dtype=np.float64)
    elif sampling_fraction is not None and population_sizes is None:
        totals = np.asarray(sizes, dtype=np.float64) / checked_fraction(sampling_fraction)
    else:
        raise InvalidParameter(
            "the individual risk needs to know how the sample relates to the population",
            remedy="give either population_sizes (sums of weights per class) or sampling_fraction, not both",
        )
    risk = individual_risk(sizes, totals)
    records = np.asarray(sizes, dtype=np.int64)
    expected = float(risk @ records)
    return IndividualRisk(
        records=RecordRisk(
            name="individual risk",
            values=risk,
            weights=records,
            meaning="Chance that someone who looks a record up in a register of the population finds its person.",
            source=_SOURCE,
        ),
        expected=Estimate(
            name="expected re-identifications",
            value=expected,
            unit="records",
            better="lower",
            meaning="Number of records that an attempt on every one of them is expected to match to their person.",
            source="Franconi, Polettini (2004), Individual risk estimation in mu-Argus: a review, PSD 2004",
            per_class=risk * records,
            method="individual risk (Benedetti-Franconi, exact)",
            assumptions=_ASSUMPTIONS,
        ),
        rate=Estimate(
            name="global risk rate",
            value=expected / float(records.sum()),
            unit="share of records",
            better="lower",
            meaning="Share of the records that an attempt on every one is expected to match to their person.",
            source="Franconi, Polettini (2004), Individual risk estimation in mu-Argus: a review, PSD 2004",
            method="individual risk (Benedetti-Franconi, exact)",
            assumptions=_ASSUMPTIONS,
        ),
    )


def _checked(sizes: ArrayLike, population_sizes: ArrayLike) -> tuple[FloatArray, FloatArray]:
    f = checked_sizes(sizes)
    total = np.asarray(population_sizes, dtype=np.float64)
    if total.shape != f.shape or not np.isfinite(total).all():
        raise InvalidParameter(
            "each equivalence class needs one finite population size",
            remedy="add up the sampling weights of the records of each class",
        )
    # a rounding error in a sum of weights that are all 1 is no mistake of the caller
    if (total < f * (1 - 1e-9)).any():
        raise InvalidParameter(
            "a population size is smaller than the number of records of its class",
            remedy="sampling weights must be at least 1: give people represented, not inclusion probabilities",
        )
    return f.astype(np.float64), np.maximum(total, f)


def _recurrence(f: FloatArray, p: FloatArray) -> FloatArray:
    """Upwards from r_1: an error is multiplied by p / (1-p) < 1 at each step, so it cannot grow."""
    odds = p / (1 - p)
    risk = -odds * np.log(p)
    for size in range(1, int(f.max(initial=1))):
        step = f > size
        risk[step] = odds[step] * (1 / size - risk[step])
    return risk


def _series(f: FloatArray, p: FloatArray, total: FloatArray) -> FloatArray:
    """(p / f) sum_k k! q^k / ((f+1)(f+2)...(f+k)): positive terms only, hence no cancellation."""
    q = (total - f) / total
    term = np.ones_like(p)
    series = np.ones_like(p)
    for k in range(1, _TERMS + 1):
        term *= k * q / (f + k)
        series += term
        if not (term > series * 1e-17).any():
            break
    return np.asarray(p / f * series)
