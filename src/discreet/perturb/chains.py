"""Artificial values by a chain of conditional models: one regression after another, each given the columns before it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
import pyarrow as pa

from discreet.errors import UnsuitableColumn
from discreet.perturb.base import groups, ordered
from discreet.perturb.randomness import Randomness
from discreet.perturb.synthesis import MOST_CLASSES, Synthesis
from discreet.types import BoolArray, FloatArray, IntArray

BLOCK = 50_000
"""So many records are looked at at a time."""
MOST_FITTED = 20_000
"""A logistic regression is fitted to so many records at most, drawn at random."""
NEIGHBOURS = 10
"""Among so many records with the nearest predictions one is drawn to lend its number."""
RIDGE = 1e-6
"""How much slopes are held back, for each record: columns that follow from others have no slopes of their own."""


@dataclass(frozen=True)
class SyntheticChain(Synthesis):
    """One column after another is drawn by a regression on the ``given`` ones and those before it.

    Numbers: a linear regression predicts them, and a record takes the value of one of the ten true records (or more, of which predictions are
    equal) whose predicted number is nearest to its own. Categories, and whether a number is missing: a multinomial logistic regression (beyond the 31
    most frequent values the others are one, among which chance decides). What the models do not know are curves that turn, and that one column changes
    how another two go along: trees see both. Predictive mean matching: Little, "Missing-data adjustments in large surveys", 1988; Raghunathan et al., "A multivariate technique for multiply imputing missing values using a sequence of
    regression models", Survey Methodology 27, 2001; Nowok, Raab and Dibben, "synthpop", J. Statistical Software 74, 2016 (its parametric models).

    >>> rows = pa.table({"sex": ["f", "m"] * 50, "pay": [1, 2] * 50})
    >>> new = SyntheticChain(("pay",), given=("sex",)).changed(rows, Randomness(1))
    >>> new["pay"].to_pylist() == [1, 2] * 50
    True
    """

    id: ClassVar[str] = "synthetic-chain"
    title: ClassVar[str] = "artificial values by a chain of regressions"
    says: ClassVar[str] = (
        "Each value is drawn anew by a regression on the columns before it, linear or logistic."
    )
    keeps: ClassVar[str] = "every value is one that the column has"
    source: ClassVar[str] = (
        "Raghunathan et al., Multiply imputing missing values using a sequence of regression models, 2001"
    )

    def lent(self, rows: pa.Table, randomness: Randomness) -> dict[str, IntArray]:
        everybody = np.arange(rows.num_rows)
        lent = dict.fromkeys(self.given, everybody)
        predictors = {name: _predictor(rows, name, self.id) for name in self.given}
        for name in self.columns:
            own = _predictor(rows, name, self.id)
            known = dict.fromkeys(lent, everybody)
            design = (predictors, known, lent)
            lent[name] = (
                _drawn_number(own, design, randomness)
                if own.classes is None
                else _drawn_category(own.classes, design, randomness)
            )
            predictors[name] = own
        return {name: lent[name] for name in self.columns}


@dataclass(frozen=True)
class _Predictor:
    """A column as regressions read it: numbers on a scale of their own and which are missing, or the class of each category."""

    numbers: FloatArray
    missing: BoolArray
    classes: IntArray | None = None

    def block(self, at: IntArray) -> FloatArray:
        """Its columns of a design matrix for some records."""
        if self.classes is None:
            return np.stack([self.numbers[at], self.missing[at].astype(np.float64)], axis=1)
        # The last class is told by the others being none.
        return np.eye(int(self.classes.max(initial=0)) + 1)[self.classes[at]][:, :-1]


_Design = tuple[Mapping[str, _Predictor], Mapping[str, IntArray], Mapping[str, IntArray]]
"""Predictors, and for each of them the record whose value true and artificial records have."""


def _predictor(rows: pa.Table, name: str, step: str) -> _Predictor:
    try:
        values = ordered(rows, name, step)
    except UnsuitableColumn:
        codes = groups(rows, [name])
        count = np.bincount(codes)
        place = np.empty(len(count), dtype=np.int64)
        place[np.argsort(-count, kind="stable")] = np.minimum(np.arange(len(count)), MOST_CLASSES - 1)
        return _Predictor(np.empty(0), np.empty(0, dtype=bool), place[codes])
    missing = np.isnan(values)
    scaled = np.zeros(len(values))
    if not missing.all():
        known = values[~missing]
        scaled[~missing] = (known - known.mean()) / (float(known.std()) or 1.0)
    return _Predictor(scaled, missing)


def _rows_of(
    predictors: Mapping[str, _Predictor], lent: Mapping[str, IntArray], part: IntArray
) -> FloatArray:
    """The design matrix of some records: a one, and what each predictor tells of the record whose value they have."""
    told = [predictors[name].block(at[part]) for name, at in lent.items()]
    return np.concatenate([np.ones((len(part), 1)), *told], axis=1)


def _parts(records: IntArray) -> Sequence[IntArray]:
    return np.array_split(records, max(1, -(-len(records) // BLOCK)))


def _drawn_number(own: _Predictor, design: _Design, randomness: Randomness) -> IntArray:
    """Records that lend a number: of those with the nearest predictions one each."""
    predictors, known, asked = design
    size = len(own.numbers)
    if own.missing.any():
        lent = _drawn_category(own.missing.astype(np.int64), design, randomness)
    else:
        lent = np.zeros(size, dtype=np.int64)
    there = np.flatnonzero(~own.missing)
    filled = np.flatnonzero(~own.missing[lent])
    if not len(there):
        return lent
    squares: FloatArray = np.zeros(())
    across: FloatArray = np.zeros(())
    for part in _parts(there):
        block = _rows_of(predictors, known, part)
        squares, across = squares + block.T @ block, across + block.T @ own.numbers[part]
    slopes = np.linalg.solve(squares + RIDGE * size * np.eye(len(squares)), across)
    true, drawn = (
        np.concatenate([_rows_of(predictors, at, part) @ slopes for part in _parts(chosen)] or [np.empty(0)])
        for at, chosen in ((known, there), (asked, filled))
    )
    # Predictions that differ by rounding are equal: which of their records come first must decide nothing.
    true, drawn = np.round(true, 9), np.round(drawn, 9)
    order = np.lexsort((randomness.words(len(there)), true))
    first, last = (np.searchsorted(true[order], drawn, side=side) for side in ("left", "right"))
    few = np.maximum(NEIGHBOURS - (last - first), 0)
    low = np.clip(first - few // 2, 0, max(len(there) - NEIGHBOURS, 0))
    low = np.minimum(low, first)
    high = np.minimum(np.maximum(last + few - few // 2, low + NEIGHBOURS), len(there))
    place = low + (randomness.uniform(len(filled)) * (high - low)).astype(np.int64)
    lent[filled] = there[order[place]]
    return lent


def _drawn_category(classes: IntArray, design: _Design, randomness: Randomness) -> IntArray:
    """Records that lend a category, by a multinomial logistic regression."""
    predictors, known, asked = design
    size = len(classes)
    fitted = np.arange(size)
    if size > MOST_FITTED:
        fitted = np.sort(randomness.permutation(size)[:MOST_FITTED])
    weights = _logistic(_rows_of(predictors, known, fitted), classes[fitted], int(classes.max()) + 1)
    chance = randomness.uniform(size)
    drawn = np.empty(size, dtype=np.int64)
    for part in _parts(np.arange(size)):
        running = np.cumsum(_softmax(_rows_of(predictors, asked, part) @ weights), axis=1)
        drawn[part] = (running[:, :-1] < chance[part, None]).sum(axis=1)
    order = np.argsort(classes, kind="stable")
    count = np.bincount(classes)
    starts = np.cumsum(count) - count
    within = (randomness.uniform(size) * count[drawn]).astype(np.int64)
    return np.asarray(order[starts[drawn] + within])


def _logistic(rows: FloatArray, classes: IntArray, count: int) -> FloatArray:
    """Weights W, one column for each class, so that softmax(x W) is most likely; held back by a small ridge."""
    from scipy.optimize import minimize  # takes long to load: only for categories

    size, width = rows.shape
    there = np.eye(count)[classes]

    def cost(flat: FloatArray) -> tuple[float, FloatArray]:
        weights = flat.reshape(width, count)
        chances = _softmax(rows @ weights)
        likely = np.log(np.maximum(chances[np.arange(size), classes], 1e-300)).mean()
        slope = rows.T @ (chances - there) / size + 2 * RIDGE * weights
        return float(RIDGE * (weights**2).sum() - likely), np.asarray(slope.ravel())

    fit = minimize(cost, np.zeros(width * count), jac=True, method="L-BFGS-B", options={"maxiter": 200})
    return np.asarray(fit.x.reshape(width, count), dtype=np.float64)


def _softmax(scores: FloatArray) -> FloatArray:
    raised = np.exp(scores - scores.max(axis=1, keepdims=True))
    return np.asarray(raised / raised.sum(axis=1, keepdims=True))
