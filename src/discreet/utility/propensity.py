"""Propensity score: how well a model tells released records from original ones."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import partial

import numpy as np
from scipy.special import expit

from discreet.classes import EquivalenceClasses
from discreet.classes.pair import Pair
from discreet.measure import Measure
from discreet.sentences import Sentence
from discreet.types import FloatArray, IntArray
from discreet.utility.bins import BinnedAttribute, binned, shares_of_cells
from discreet.utility.definition import EMPTY_NOTE, Definition
from discreet.utility.distributions import attributes_of

MOST_TERMS = 400
"""Columns of the model with the products of two attributes."""
MOST_WORK = 2_000_000_000
"""Rows times columns squared: products have as few bins as that asks for."""
MOST_ENTRIES = 40_000_000
"""Rows times columns; of more rows as many records are drawn as go."""
_ALONE = 350_000
"""Rows times columns squared that are multiplied without threads: on busy cores these wait for each other far longer than they work."""
_MOST_AT_ONCE = 4096
_FEWEST_AT_ONCE = 32
_ROUNDS = 30
_RIDGE = 1e-6
"""Holds the coefficients where the model tells all records apart, which would grow without end."""

_SOURCE = "Woo et al. 2009; Snoke et al. 2018"
_propensity = partial(Definition, source=_SOURCE, family="Analyses")
PMSE = _propensity(
    "propensity-error",
    "squared probability",
    "How well a model tells released records from original ones; 0 if it cannot, 0.25 if it always can and both are equally many.",
    "1/N · Σ (p_i - c)², c the share of released records among all N (pMSE)",
    "[0, c (1 - c)]",
)
RATIO = _propensity(
    "propensity-ratio",
    "times the expected",
    "The same against what records drawn anew from the original's own distribution would give by chance; about 1 is as good.",
    "pMSE / ((k - 1) (1 - c)² c / N), k terms of the model",
    "[0, ∞)",
)


@dataclass(frozen=True)
class PropensityScore:
    """pMSE, and what is expected of it if the release were drawn from the original's own distribution."""

    error: float
    expected: float
    terms: int
    note: str = field(default="", compare=False)

    @property
    def ratio(self) -> float:
        """The error against the expected one; NaN if the model has no terms."""
        return self.error / self.expected if self.expected > 0 else float("nan")


def propensity(pair: Pair, *, seed: int = 1) -> PropensityScore:
    """Fit a logistic regression that tells released records from original ones, and score what it says.

    pMSE = 1/N · Σ (p_i - c)², with c = n' / N. If released records were drawn from the original's own
    distribution, it would be (k - 1) (1 - c)² c / N on average, k the terms with the intercept. Terms are bins of each attribute, and products of
    two attributes in bins as coarse as keeps them to 400 columns. Of very many records some are drawn, and then held against what
    two samples of one population give, (k - 1) (1 - c) c / N. Woo, Reiter, Oganian, Karr, "Global measures of data utility for
    microdata masked for disclosure limitation", 2009; Snoke, Raab, Nowok, Dibben, Slavković, "General and specific
    utility measures for synthetic data", 2018.

    >>> from discreet.utility.examples import four_ages
    >>> score = propensity(four_ages("31", "34", "47", "47"))
    >>> round(score.error, 4), score.terms
    (0.0417, 4)
    """
    attributes = [binned(pair, name) for name in attributes_of(pair)]
    attributes = [attribute for attribute in attributes if attribute.size > 1]
    rows = len(pair.original.counts) + len(pair.released.counts)
    alone = 1 + sum(attribute.size for attribute in attributes)
    bins = _bins_of_products([attribute.size for attribute in attributes], rows)
    merging = [
        _merged(attribute, bins, numeric=pair.meaning(attribute.name).numeric) for attribute in attributes
    ]
    generator = np.random.default_rng(seed)
    most = MOST_ENTRIES // (2 * alone)
    crowded = [classes.total for classes in (pair.original, pair.released) if len(classes.counts) > most]
    fraction = min([most / records for records in crowded], default=1.0)
    tables = []
    counts = []
    for classes, released in ((pair.original, False), (pair.released, True)):
        at, count = _drawn(classes, fraction, generator)
        shares = [
            shares_of_cells(attribute, classes.column_of_cells(attribute.name)[1][at], released=released)
            for attribute in attributes
        ]
        coarse = [share @ merged for share, merged in zip(shares, merging, strict=True)] if bins else []
        tables.append(_design(shares, coarse, len(at)))
        counts.append(count)
    design, weights = np.vstack(tables), np.concatenate(counts)
    is_released = np.repeat([0.0, 1.0], [len(table) for table in tables])
    total = float(weights.sum())
    share = float(weights[is_released > 0].sum()) / total
    exact = design.shape[1] * float(np.finfo(np.float64).eps)
    design = _without_idle_directions(design)
    chances = _fitted(design, is_released, weights)
    error = float(np.dot(weights, (chances - share) ** 2) / total)
    terms = int(np.linalg.matrix_rank(_squares(design, weights), hermitian=True, rtol=exact))
    told = "bins of each attribute and products of two" if bins else "bins of each attribute"
    chance = (terms - 1) * (1 - share) * share / total
    return PropensityScore(
        error,
        # Records that are drawn from both tables differ as two samples do.
        chance if crowded else chance * (1 - share),
        terms,
        Sentence("a logistic regression of {terms} terms: {told}", terms=terms, told=Sentence(told)),
    )


def propensity_measures(pair: Pair, *, seed: int = 1) -> tuple[Measure, Measure]:
    """The propensity score's error and its ratio to what chance would give; see `propensity`."""
    if not pair.released.total:
        return PMSE.undefined(EMPTY_NOTE), RATIO.undefined(EMPTY_NOTE)
    score = propensity(pair, seed=seed)
    notes = (score.note,)
    if np.isnan(score.ratio):
        return PMSE(score.error), RATIO.undefined("not defined here: no attribute has two values")
    return PMSE(score.error, notes=notes), RATIO(score.ratio, notes=notes)


def _drawn(
    classes: EquivalenceClasses, fraction: float, generator: np.random.Generator
) -> tuple[IntArray, FloatArray]:
    """The cells of a table and their records, or those of a fraction of its records that is drawn."""
    if fraction >= 1:
        return np.arange(len(classes.counts)), classes.counts.astype(np.float64)
    records = np.sort(generator.choice(classes.total, round(fraction * classes.total), replace=False))
    owner = np.searchsorted(np.cumsum(classes.counts), records, side="right")
    at, count = np.unique(owner, return_counts=True)
    return at.astype(np.int64), count.astype(np.float64)


def _bins_of_products(sizes: Sequence[int], rows: int) -> int:
    """Into how many bins attributes are put for products of two; 0 if even two bins are too many.

    >>> _bins_of_products([3, 2], 100), _bins_of_products([10] * 8, 50_000), _bins_of_products([10] * 30, 50_000)
    (3, 2, 0)
    """
    most = min(MOST_TERMS, int((MOST_WORK / max(rows, 1)) ** 0.5))
    for bins in range(max(sizes, default=0), 1, -1):
        coarse = [min(size, bins) for size in sizes]
        if 1 + sum(sizes) + (sum(coarse) ** 2 - sum(size**2 for size in coarse)) // 2 <= most:
            return bins
    return 0


def _merged(attribute: BinnedAttribute, bins: int, *, numeric: bool) -> FloatArray:
    """Which of fewer bins each bin goes to: neighbours together of numbers, of categories the rarer ones."""
    size = attribute.size
    if not bins:
        return np.zeros((size, 0))
    own = np.arange(size)
    to = own * min(bins, size) // size if numeric else np.minimum(own, bins - 1)
    return np.asarray(np.eye(min(bins, size))[to])


def _design(shares: Sequence[FloatArray], coarse: Sequence[FloatArray], rows: int) -> FloatArray:
    """A column of ones, the shares in all bins, and the products of those of two attributes in coarser ones.

    No bin is left out as the one that others are compared with: the ridge would depend on which.
    """
    columns = [np.ones((rows, 1)), *shares]
    columns += [
        (coarse[i][:, :, None] * coarse[j][:, None, :]).reshape(rows, -1)
        for i in range(len(coarse))
        for j in range(i + 1, len(coarse))
    ]
    return np.hstack(columns)


def _without_idle_directions(design: FloatArray) -> FloatArray:
    """The same columns in as many directions as there are rows, if these are fewer.

    Where no row goes the ridge holds the coefficients at 0, so the probabilities are the same: with D' = Q R they are those of R'.
    """
    if len(design) >= design.shape[1]:
        return design
    return np.ascontiguousarray(np.asarray(np.linalg.qr(design.T, mode="r")).T)


def _squares(design: FloatArray, weights: FloatArray) -> FloatArray:
    """The weighted sum of the squares x xᵀ of all rows, by blocks that stay in the cache.

    >>> _squares(np.array([[1.0, 2.0], [1.0, 3.0]]), np.array([1.0, 4.0])).round(9)
    array([[ 5., 14.],
           [14., 40.]])
    """
    rows, columns = design.shape
    step = min(_ALONE // columns**2, _MOST_AT_ONCE)
    if step < _FEWEST_AT_ONCE:
        step = _MOST_AT_ONCE
    roots = np.sqrt(weights)[:, None]
    total = np.zeros((columns, columns))
    for start in range(0, rows, step):
        block = design[start : start + step] * roots[start : start + step]
        total += block.T @ block
    return total


def _fitted(design: FloatArray, outcome: FloatArray, weights: FloatArray) -> FloatArray:
    """The probabilities of a logistic regression, by Newton's method with halved steps and a small ridge."""
    ridge = _RIDGE * np.eye(design.shape[1])

    def objective(beta: FloatArray) -> float:
        linear = design @ beta
        return float(
            np.dot(weights, np.logaddexp(0.0, linear) - outcome * linear) + _RIDGE * np.dot(beta, beta) / 2
        )

    beta = np.zeros(design.shape[1])
    value = objective(beta)
    for _ in range(_ROUNDS):
        chances = expit(design @ beta)
        gradient = design.T @ (weights * (outcome - chances)) - _RIDGE * beta
        curvature = _squares(design, weights * chances * (1 - chances)) + ridge
        step = np.linalg.solve(curvature, gradient)
        size = 1.0
        while (after := objective(beta + size * step)) > value and size > 1e-6:
            size /= 2
        if after >= value:
            break
        gained, beta, value = value - after, beta + size * step, after
        if gained < 1e-12 * max(abs(value), 1.0):
            break
    return np.asarray(expit(design @ beta))
