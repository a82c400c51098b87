"""Disclosure risk of sample uniques by a log-linear model of the table the quasi-identifiers span.

Where the estimators of ``population`` see class sizes only, this one borrows strength from neighbouring
cells: a sample unique among values that are common one by one probably has doubles in the population.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations
from math import prod
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from discreet.errors import InvalidParameter
from discreet.measure import Estimate
from discreet.risk.population import check_codes, checked_fraction
from discreet.sentences import Sentence
from discreet.types import AnyIntArray, FloatArray, IntArray

Model = Literal["independence", "two-way"]

CELL_LIMIT = 5_000_000
SWEEP_LIMIT = 200
# Margins are whole numbers of records: a fit within a hundredth of a record of each is the fit.
MARGIN_TOLERANCE = 0.01

_SOURCE = (
    "Skinner, Shlomo (2008), Assessing identification risk in survey microdata using log-linear models, "
    "JASA 103(483)"
)


@dataclass(frozen=True)
class LoglinearRisk:
    """tau_1 and tau_2 with the model they rest on; ``per_class`` of each holds the risk of every sample unique."""

    unique: Estimate
    matches: Estimate
    model: Model
    cells: int


def loglinear_risk(
    codes: Sequence[AnyIntArray],
    *,
    levels: Sequence[int],
    sizes: IntArray,
    sampling_fraction: float,
    model: Model = "two-way",
) -> LoglinearRisk:
    """Expected sample uniques that are population unique (tau_1), and expected correct matches (tau_2).

    Population counts are Poisson(lambda), the sample keeps each person with probability p, so sample counts
    are Poisson(mu), mu = p lambda, and log mu is linear in the effects of ``model``. With the fitted mu
    and v = lambda (1 - p) = mu (1 - p) / p, summed over sample uniques:
    tau_1 = sum exp(-v), tau_2 = sum (1 - exp(-v)) / v.

    ``codes[j][c]`` is the value (0 to levels[j] - 1) of attribute j in class c, which has ``sizes[c]``
    records; each class occurs once. "independence" has a closed form and no limit; "two-way" (all pairs of
    attributes) is fitted by iterative proportional fitting over at most ``CELL_LIMIT`` cells.

    Skinner, Shlomo (2008), Assessing identification risk in survey microdata using log-linear models,
    JASA 103(483).

    Two attributes, ten records, one unique at (1, 1): its mu is 10 * 4/10 * 3/10 = 1.2, so v = 1.2 at p = 1/2.

    >>> found = loglinear_risk([np.array([0, 0, 1, 1]), np.array([0, 1, 0, 1])], levels=[2, 2],
    ...     sizes=np.array([4, 2, 3, 1]), sampling_fraction=0.5, model="independence")
    >>> round(found.unique.value, 6), round(found.matches.value, 6)  # exp(-1.2), (1 - exp(-1.2)) / 1.2
    (0.301194, 0.582338)
    """
    _check(codes, levels, sizes, sampling_fraction, model)
    notes: tuple[str, ...] = ()
    cells = prod(int(level) for level in levels)
    unique = np.flatnonzero(sizes == 1)
    if unique.size == 0:
        mu = np.empty(0)
        notes = ("no record is unique in the sample, so both numbers are zero",)
    elif model == "independence" or len(codes) == 1:
        mu = _independence(codes, levels, sizes)[unique]
    else:
        mu, worst = _two_way(codes, levels, sizes, unique)
        if worst > MARGIN_TOLERANCE:
            mu = np.full(unique.size, np.nan)
            notes = (
                f"no estimate: after {SWEEP_LIMIT} sweeps the fit still misses a margin by {worst:.2g} records",
            )
        elif len(codes) == 2:
            notes = ("two attributes and all pairs: the model is saturated and smooths nothing",)
    v = mu * (1 - sampling_fraction) / sampling_fraction
    alone, match = np.zeros(sizes.shape), np.zeros(sizes.shape)
    alone[unique] = np.exp(-v)
    # (1 - e^-v) / v tends to 1 as v tends to 0, as in a sample that is the population
    match[unique] = np.divide(-np.expm1(-v), v, out=np.ones_like(v), where=v != 0)
    return LoglinearRisk(
        unique=_tau(
            "sample uniques that are population unique",
            "Number of records unique in the table that are expected to be unique in the whole population too.",
            alone,
            model,
            notes,
        ),
        matches=_tau(
            "correct matches among sample uniques",
            "Number of records unique in the table that matching against the population is expected to get right.",
            match,
            model,
            notes,
        ),
        model=model,
        cells=cells,
    )


def _tau(name: str, meaning: str, per_class: FloatArray, model: Model, notes: tuple[str, ...]) -> Estimate:
    return Estimate(
        name=name,
        value=float(per_class.sum()),
        unit="records",
        better="lower",
        meaning=meaning,
        source=_SOURCE,
        per_class=per_class,
        notes=notes,
        method=f"Poisson log-linear model, {'independence' if model == 'independence' else 'all two-way effects'}",
        assumptions="population counts are independent Poisson, log-linear in the effects of the model; every "
        "person is drawn independently with the same probability; too simple a model tends to give "
        "too high a risk, too rich a one too low a risk",
    )


def _check(
    codes: Sequence[AnyIntArray], levels: Sequence[int], sizes: IntArray, sampling_fraction: float, model: str
) -> None:
    checked_fraction(sampling_fraction)
    if model not in ("independence", "two-way"):
        raise InvalidParameter(
            "there is no such log-linear model", remedy="choose 'independence' or 'two-way'"
        )
    check_codes(codes, levels, sizes)
    cells = prod(int(level) for level in levels)
    if model == "two-way" and len(codes) > 1 and cells > CELL_LIMIT:
        raise InvalidParameter(
            Sentence(
                "the quasi-identifiers span {cells:,} cells, and the two-way model is fitted to {most:,} at most",
                cells=cells,
                most=CELL_LIMIT,
            ),
            remedy="use fewer or coarser quasi-identifiers, or model='independence'",
        )


def _independence(codes: Sequence[AnyIntArray], levels: Sequence[int], sizes: IntArray) -> FloatArray:
    """mu = n * product over attributes of (records with this value / n)."""
    records = float(sizes.sum())
    mu = np.full(sizes.shape, records)
    for code, level in zip(codes, levels, strict=True):
        mu *= np.bincount(code, weights=sizes, minlength=level)[code] / records
    return mu


def _two_way(
    codes: Sequence[AnyIntArray], levels: Sequence[int], sizes: IntArray, wanted: NDArray[np.intp]
) -> tuple[FloatArray, float]:
    """Fitted mu of the wanted classes, and by how many records the fit still misses its worst margin."""
    shape = tuple(int(level) for level in levels)
    margins = {}
    for i, j in combinations(range(len(shape)), 2):
        joint = np.asarray(codes[i], dtype=np.int64) * shape[j] + codes[j]
        counted = np.bincount(joint, weights=sizes, minlength=shape[i] * shape[j])
        margins[i, j] = counted.reshape(shape[i], shape[j])
    fitted = np.ones(shape)
    worst = np.inf
    for _ in range(SWEEP_LIMIT):
        worst = 0.0
        for (i, j), observed in margins.items():
            others = tuple(axis for axis in range(len(shape)) if axis not in (i, j))
            current = fitted.sum(axis=others)
            worst = max(worst, float(np.abs(current - observed).max()))
            # a margin without records stays at zero: its cells are structural zeros of the fit
            scale = np.divide(observed, current, out=np.zeros_like(observed), where=current > 0)
            fitted *= np.expand_dims(scale, others)
        if worst <= MARGIN_TOLERANCE:
            break
    return fitted[tuple(np.asarray(code)[wanted] for code in codes)], worst
