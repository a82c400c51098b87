"""What became of means, variances, covariances and principal axes: what an analyst of numbers computes first.

Numbers stand in the middle of their interval. Records whose value is suppressed or missing are left out, from a
covariance those that lack either of the two, as statistics programs do. Everything is told in standard deviations of the
original, so that columns in euros and in years count alike.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import partial

import numpy as np

from discreet.classes import EquivalenceClasses
from discreet.classes.pair import Pair
from discreet.measure import Measure
from discreet.types import BoolArray, FloatArray
from discreet.utility.definition import NO_NUMBERS_NOTE, Definition
from discreet.utility.distributions import attributes_of

_SOURCE = "Domingo-Ferrer and Torra 2001"
_moment = partial(Definition, family="Analyses", bounds="[0, ∞)")
MEAN = _moment(
    "mean-change",
    "standard deviations",
    "By how many of its standard deviations the mean of a column of numbers moved.",
    "|mean - mean'| / s",
    source=_SOURCE,
)
VARIANCE = _moment(
    "variance-change",
    "share of the variance",
    "By which share of itself the variance of a column of numbers changed.",
    "|s² - s'²| / s²",
    source=_SOURCE,
)
COVARIANCE = _moment(
    "covariance-change",
    "share of the product of their deviations",
    "How much the covariances between columns of numbers changed, on average, in units of their standard deviations.",
    "mean over pairs of |cov - cov'| / (s_i s_j)",
    source=_SOURCE,
)
EIGENVALUE = _moment(
    "eigenvalue-change",
    "share of the variance",
    "How much the spread of numbers along their principal axes changed, as a share of all spread.",
    "Σ |λ_i - λ'_i| / Σ λ_i, eigenvalues of the covariances in units of s",
    source="Templ, Kowarik and Meindl 2015",
)

_NO_PAIR = "not defined here: there are no two attributes with numbers that vary"
_NOTHING_LEFT = "not defined here: the release shows no numbers of an attribute"


@dataclass(frozen=True)
class Moments:
    """Means and covariances of the columns of numbers that vary, before and after, in standard deviations of the original.

    Means are told from the original's mean, so ``after_means`` are how far they moved.
    """

    names: tuple[str, ...]
    after_means: FloatArray = field(repr=False)
    before: FloatArray = field(repr=False)
    after: FloatArray = field(repr=False)


def moments(pair: Pair) -> Moments:
    """Means and covariances of all columns of numbers, quasi-identifiers and sensitive ones, before and after.

    >>> from discreet.utility.examples import four_ages
    >>> ages = moments(four_ages("[30, 40]", "[30, 40]", "47", "52"))
    >>> ages.names, ages.after_means.round(4), ages.after.round(4)
    (('age',), array([0.1238]), array([[0.7279]]))
    """
    names = [name for name in attributes_of(pair) if pair.meaning(name).numeric]
    columns = {name: _numbers(pair, pair.original, name, released=False) for name in names}
    counts = pair.original.counts.astype(np.float64)
    scale = {name: _spread(numbers, counts) for name, numbers in columns.items()}
    names = [name for name in names if scale[name][1] > 0]
    before = np.array([(columns[name] - scale[name][0]) / scale[name][1] for name in names])
    after = np.array(
        [
            (_numbers(pair, pair.released, name, released=True) - scale[name][0]) / scale[name][1]
            for name in names
        ]
    )
    weights = pair.released.counts.astype(np.float64)
    return Moments(
        tuple(names),
        np.array([_spread(column, weights)[0] for column in after]),
        _covariances(before, counts),
        _covariances(after, weights),
    )


def moment_changes(pair: Pair) -> tuple[Measure, ...]:
    """How far means, variances, covariances and eigenvalues moved; the first two also per attribute.

    Domingo-Ferrer, Torra, "Disclosure control methods and information loss for microdata", 2001, in units of standard
    deviations instead of shares of means, which may be 0; eigenvalues: Templ, Kowarik, Meindl, "Statistical disclosure
    control for micro-data using the R package sdcMicro", 2015.

    >>> from discreet.utility.examples import four_ages
    >>> [(each.name, each.attribute, round(each.value, 4)) for each in moment_changes(four_ages(31, 34, 47, 47))][:2]
    [('mean-change', None, 0.1238), ('mean-change', 'age', 0.1238)]
    """
    known = moments(pair)
    measures: list[Measure] = []
    for definition, values in (
        (MEAN, np.abs(known.after_means)),
        (VARIANCE, np.abs(np.diagonal(known.after) - np.diagonal(known.before))),
    ):
        value: float | str = NO_NUMBERS_NOTE
        if known.names:
            value = _NOTHING_LEFT if np.isnan(values).any() else float(values.mean())
        measures.append(definition.of(value))
        measures += [
            definition.of(_NOTHING_LEFT if np.isnan(part) else float(part), attribute=name)
            for name, part in zip(known.names, values, strict=True)
        ]
    upper = np.triu_indices(len(known.names), 1)
    moved = np.abs(known.after - known.before)
    if not len(upper[0]):
        return (*measures, COVARIANCE.undefined(_NO_PAIR), EIGENVALUE.undefined(_NO_PAIR))
    if np.isnan(moved).any():
        return (*measures, COVARIANCE.undefined(_NOTHING_LEFT), EIGENVALUE.undefined(_NOTHING_LEFT))
    axes = [np.linalg.eigvalsh(covariances) for covariances in (known.before, known.after)]
    return (
        *measures,
        COVARIANCE(float(moved[upper].mean())),
        EIGENVALUE(float(np.abs(axes[1] - axes[0]).sum() / np.trace(known.before))),
    )


def _numbers(pair: Pair, classes: EquivalenceClasses, name: str, *, released: bool) -> FloatArray:
    """The number in each cell of a table; NaN where it shows none."""
    meaning = pair.meaning(name)
    _, codes = classes.column_of_cells(name)
    if not released:
        return np.asarray(meaning.original.numbers[codes])
    return np.asarray(np.where(meaning.suppressed, np.nan, meaning.centre)[codes])


def _spread(numbers: FloatArray, counts: FloatArray) -> tuple[float, float]:
    """Mean and standard deviation (with n - 1) of the numbers that are there; NaN and 0 if there are too few."""
    known = ~np.isnan(numbers)
    total = float(counts[known].sum())
    if not total:
        return float("nan"), 0.0
    mean = float(np.dot(counts[known], numbers[known]) / total)
    if total < 2 or bool((numbers[known] == numbers[known][0]).all()):
        return mean, 0.0
    return mean, float(np.sqrt(np.dot(counts[known], (numbers[known] - mean) ** 2) / (total - 1)))


def _covariances(columns: FloatArray, counts: FloatArray) -> FloatArray:
    """The covariances (with n - 1) of columns, each over the cells where both are numbers; NaN where there are no two."""
    size = len(columns)
    table = np.full((size, size), np.nan)
    known: list[BoolArray] = [~np.isnan(column) for column in columns]
    # Of columns that lack nothing, the mean is the same in every pair.
    whole = [bool(part.all()) for part in known]
    records = float(counts.sum())
    centred = {
        i: columns[i] - np.dot(counts, columns[i]) / max(records, 1.0) for i in range(size) if whole[i]
    }
    for i in range(size):
        for j in range(i, size):
            if whole[i] and whole[j]:
                weights, total, left, right = counts, records, centred[i], centred[j]
            else:
                both = known[i] & known[j]
                weights = counts[both]
                total = float(weights.sum())
                left, right = columns[i][both], columns[j][both]
                left = left - np.dot(weights, left) / max(total, 1.0)
                right = right - np.dot(weights, right) / max(total, 1.0)
            if total >= 2:
                table[i, j] = table[j, i] = float(np.dot(weights, left * right) / (total - 1))
    return table
