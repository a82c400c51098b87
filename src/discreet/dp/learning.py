"""``discreet.learn``: a classifier that is learned with a guarantee: naive Bayes from noisy counts, logistic regression from noisy gradients.

Both give every value of every column a weight for every label; the chances of a row's labels follow from the sum of its weights.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from os import PathLike
from typing import Literal

import numpy as np
import pyarrow as pa
from narwhals.typing import IntoFrame

from discreet.dp.accounting import rho_of
from discreet.dp.amounts import Amount, exact, said, whole_number
from discreet.dp.coding import Coding, counted_codes, given_codings
from discreet.dp.keys import PublicKeys
from discreet.dp.ledger import Ledger, Payment
from discreet.dp.measuring import Bounds
from discreet.dp.noise import OpenDP, check_scale, gaussian, laplace
from discreet.dp.statement import Guarantee, Unit, describe_unit, unit_of, upward
from discreet.dp.terms import people_of, resolve_ledger, resolve_unit
from discreet.engine.read import read
from discreet.errors import InvalidParameter
from discreet.sentences import Sentence
from discreet.table import Table
from discreet.types import FloatArray, IntArray

Learner = Literal["naive-bayes", "logistic-regression"]
LEARNERS: tuple[Learner, ...] = ("naive-bayes", "logistic-regression")
ROUNDS = 40
"""So many gradients are drawn; they share what is left after the labels were counted."""
COUNTING = 0.05
"""What of the amount of logistic regression goes to the counts of labels."""
RATE = 4.0
"""How far a step goes, over the number of columns and the constant."""
MOMENTUM = 0.9
"""What of a step the next one keeps."""
PENALTY = 1e-3
"""How much weights are drawn to 0."""
PARTS = 1024
"""How wrong a chance is, is a whole number of this part: gradients are sums of whole numbers."""
MOST_NOISE = 1e9
"""So much noise, in records, may a count or a gradient have."""


@dataclass(frozen=True)
class PrivateClassifier:
    """Weights of all values for all labels, what they guarantee, and what is left of the budget."""

    label: str
    labels: Coding
    columns: Mapping[str, Coding]
    learner: Learner
    prior: FloatArray
    weights: Mapping[str, FloatArray]
    guarantee: Guarantee
    left_epsilon: Fraction
    left_delta: Fraction
    payment: Payment

    def chances(self, rows: pa.Table) -> FloatArray:
        """The chance of each label for each row: softmax of the sum of its values' weights."""
        sums = np.tile(self.prior, (rows.num_rows, 1))
        for name, coding in self.columns.items():
            sums += self.weights[name][coding.encode(rows[name])]
        return softmax(sums)

    def predict(self, rows: pa.Table) -> pa.Array:
        """The likeliest label of each row."""
        return self.labels.decode(self.chances(rows).argmax(axis=1))

    def test(
        self, source: str | PathLike[str] | IntoFrame | pa.Table | pa.RecordBatchReader | Table
    ) -> ClassifierTest:
        """Test it on records of others, which have to hold the label, too; what comes out is not protected."""
        table = read(source)
        rows = table.engine.to_arrow(table, [*self.columns, self.label])
        truth = self.labels.encode(rows[self.label])
        guess = self.chances(rows).argmax(axis=1)
        commonest = int(self.prior.argmax())
        right, usual = (
            float(np.mean(truth == answer)) if len(truth) else math.nan for answer in (guess, commonest)
        )
        return ClassifierTest(rows.num_rows, right, usual)

    def to_dict(self) -> dict[str, object]:
        return {
            "schema": "discreet-classifier-1",
            "learner": self.learner,
            "label": self.label,
            "labels": self.labels.labels().to_pylist()[:-1],
            "prior": self.prior.tolist(),
            "columns": {
                name: {"values": coding.labels().to_pylist(), "weights": self.weights[name].tolist()}
                for name, coding in self.columns.items()
            },
            "guarantee": self.guarantee.to_dict(),
            "left_epsilon": said(self.left_epsilon),
            "left_delta": said(self.left_delta),
        }


@dataclass(frozen=True)
class ClassifierTest:
    """On how many records a classifier was tested, which share it predicts rightly, and which a constant does."""

    records: int
    accuracy: float
    constant: float


def learn(
    source: str | PathLike[str] | IntoFrame | pa.Table | pa.RecordBatchReader | Table,
    label: str,
    *,
    epsilon: Amount,
    delta: Amount | None = None,
    columns: Sequence[str] | None = None,
    learner: Learner = "naive-bayes",
    person: str | None = None,
    unit: Unit | None = None,
    max_rows: int = 1,
    bounds: Bounds | None = None,
    keys: PublicKeys | None = None,
    bins: int = 20,
    ledger: Ledger | str | PathLike[str] | None = None,
) -> PrivateClassifier:
    """Learn to predict a column from others with differential privacy, paid for from the table's ledger.

    Values of columns and of the ``label`` are given by ``keys``, those of numbers by ``bounds`` and at most ``bins`` bins. Of each ``person`` at most
    ``max_rows`` rows count. ``"naive-bayes"`` counts labels, and each column by label, with Laplace noise, or Gaussian with a ``delta``;
    ``"logistic-regression"`` needs a ``delta``.
    """
    OpenDP()
    table = read(source)
    whose = resolve_unit(table, person, unit)
    target = table.column(label).name
    names = [table.column(name).name for name in columns or table.names]
    names = [name for name in names if name != whose and (columns or name != target)]
    if not names or len(set(names)) < len(names) or target in names or target == whose:
        raise InvalidParameter(
            "a classifier needs at least one column, each once, besides the label and the person id",
            remedy="name other columns",
        )
    if learner not in LEARNERS:
        raise InvalidParameter(
            Sentence("the method is {method!r}", method=learner),
            remedy=Sentence("choose one of: {choices}", choices=LEARNERS),
        )
    most_rows = whole_number(max_rows, "max_rows", 1000)
    rows = most_rows if whose else 1
    amounts = exact(epsilon, "epsilon"), exact(delta or 0, "delta", zero=True, below_one=True)
    if learner == "logistic-regression" and not amounts[1]:
        raise InvalidParameter("gradients need a delta", remedy="give one such as 1e-6, or take naive Bayes")
    coded = given_codings(
        table, [*names, target], bounds or {}, keys or {}, whole_number(bins, "bins", 10_000)
    )
    sizes = [coding.size for name, coding in coded.items() if name != target]
    work = MODELS[learner](sizes, coded[target].size - 1, rows, *amounts)
    place = resolve_ledger(source, ledger)
    purpose = f"a classifier of {target}"
    with place.reserve(
        *amounts, purpose=purpose, table=people_of(table, whose), unit=unit_of(whose)
    ) as reservation:
        # Whether rows can be read may depend on them, so from here on the amount is spent.
        reservation.drawing()
        *codes, labels = counted_codes(table, coded, whose, rows)
        # What has none of the labels teaches nothing.
        known = labels < work.labels
        prior, weights = work.learned([column[known] for column in codes], labels[known])
    balance = place.balance()
    return PrivateClassifier(
        target,
        coded[target],
        {name: coded[name] for name in names},
        learner,
        prior,
        dict(zip(names, weights, strict=True)),
        _guarantee(coded, whose, rows, *amounts, work.mechanism),
        balance.left_epsilon,
        balance.left_delta,
        reservation.payment,
    )


Weights = tuple[FloatArray, list[FloatArray]]


class NaiveCounts:
    """Counts of labels, and of each column by label."""

    def __init__(
        self, sizes: Sequence[int], labels: int, max_rows: int, epsilon: Fraction, delta: Fraction
    ) -> None:
        self.sizes, self.labels = sizes, labels
        self.max_rows, self.epsilon = max_rows, epsilon / (len(self.sizes) + 1)
        self.rho = rho_of(epsilon, delta) / (len(self.sizes) + 1) if delta else 0.0
        scale = max_rows / math.sqrt(2 * self.rho) if delta else max_rows / self.epsilon
        check_scale(scale, most=MOST_NOISE)
        self.scale = float(scale)
        self.mechanism = (
            Sentence("every table with discrete Gaussian noise")
            if delta
            else Sentence("every table with discrete Laplace noise")
        )

    def learned(self, codes: Sequence[IntArray], labels: IntArray) -> Weights:
        """log P(label), and log P(value | label) of each column.

        *Sensitivity.* A row is in one cell of each of the T = columns + 1 tables, so somebody with m rows changes each by at most m,
        as a sum of changes and as a Euclidean length. Each gets ε/T, or ρ/T. What follows is post-processing.
        """
        records = self.noisy(np.bincount(labels, minlength=self.labels))
        weights = []
        for code, size in zip(codes, self.sizes, strict=True):
            table = np.bincount(code * self.labels + labels, minlength=size * self.labels)
            counts = self.noisy(table).reshape(size, self.labels)
            # One record more of each label, spread as values are: a value that nobody has says nothing.
            usual = (counts.sum(axis=1, keepdims=True) + 1) / (counts.sum() + size)
            weights.append(np.log((counts + usual) / (counts.sum(axis=0) + 1)))
        return np.log((records + 1) / (records.sum() + self.labels)), weights

    def noisy(self, counts: IntArray) -> FloatArray:
        """Counts with noise; what is negative becomes 0."""
        if self.rho:
            noisy = gaussian(counts.tolist(), sensitivity=float(self.max_rows), rho=self.rho)
        else:
            noisy = laplace(counts.tolist(), sensitivity=self.max_rows, epsilon=self.epsilon)
        return np.maximum(np.array(noisy.values, dtype=np.float64), 0)


class NoisyGradients:
    """Gradients with noise, one after the other."""

    def __init__(
        self, sizes: Sequence[int], labels: int, max_rows: int, epsilon: Fraction, delta: Fraction
    ) -> None:
        self.sizes, self.labels = sizes, labels
        self.max_rows = max_rows
        rho = rho_of(epsilon, delta)
        self.rho_count, self.rho_round = rho * COUNTING, rho * (1 - COUNTING) / ROUNDS
        self.scale = self.sensitivity / math.sqrt(2 * self.rho_round)
        check_scale(self.scale, most=MOST_NOISE * PARTS)
        self.mechanism = Sentence(
            "{rounds} gradients of logistic regression with discrete Gaussian noise", rounds=ROUNDS
        )

    @property
    def sensitivity(self) -> float:
        """By how much somebody changes a gradient, as a Euclidean length: m · √(columns + 1) · (√2 · parts + √labels / 2).

        A row adds r = p − e_y to the cell of its value in each column and to that of the constant, where p are chances and e_y is its label:
        ‖r‖² = (1 − p_y)² + Σ_{others} p² ≤ 2(1 − p_y)² ≤ 2. In whole parts, rounding moves each of the r by at most a half.
        p follows from the row and from weights that were drawn before, so no other row changes it.
        """
        length = math.sqrt(2) * PARTS + math.sqrt(self.labels) / 2
        return upward(self.max_rows * math.sqrt(len(self.sizes) + 1) * length)

    def learned(self, codes: Sequence[IntArray], labels: IntArray) -> Weights:
        """Gradient descent with momentum on the mean logarithmic loss, each gradient of which costs its part of ρ; together ρ-zero-concentrated.

        The weights are the mean over the second half of the rounds, in which noise cancels.
        """
        counts = gaussian(
            np.bincount(labels, minlength=self.labels).tolist(),
            sensitivity=float(self.max_rows),
            rho=self.rho_count,
        ).values
        records = float(max(1, sum(counts)))
        weights = [np.zeros((size, self.labels)) for size in (1, *self.sizes)]
        weights[0][0] = np.log(np.maximum(np.array(counts, dtype=np.float64), 1) / records)
        speed, mean = ([np.zeros_like(table) for table in weights] for _ in range(2))
        places = [np.zeros(len(labels), dtype=np.int64), *codes]
        for step in range(ROUNDS):
            gradient = self.gradient(weights, places, labels)
            for table, part, moving, kept in zip(weights, gradient, speed, mean, strict=True):
                moving *= MOMENTUM
                moving -= RATE / len(weights) * (part / records + PENALTY * table)
                table += moving
                if step >= ROUNDS // 2:
                    kept += table / (ROUNDS - ROUNDS // 2)
        return mean[0][0], mean[1:]

    def gradient(
        self, weights: Sequence[FloatArray], places: Sequence[IntArray], labels: IntArray
    ) -> list[FloatArray]:
        """The sum over rows of what they add, in records, with noise."""
        sums = np.sum([table[place] for table, place in zip(weights, places, strict=True)], axis=0)
        wrong = softmax(sums.reshape(-1, self.labels))
        wrong[np.arange(len(labels)), labels] -= 1
        parts = np.rint(PARTS * wrong).astype(np.int64)
        tables = [
            np.stack([np.bincount(place, parts[:, i], len(table)) for i in range(self.labels)], axis=1)
            for table, place in zip(weights, places, strict=True)
        ]
        flat = np.concatenate([table.ravel() for table in tables]).astype(np.int64)
        noisy = gaussian(flat.tolist(), sensitivity=self.sensitivity, rho=self.rho_round)
        ends = np.cumsum([table.size for table in tables])[:-1]
        drawn = np.split(np.array(noisy.values, dtype=np.float64) / PARTS, ends)
        return [part.reshape(table.shape) for part, table in zip(drawn, tables, strict=True)]


MODELS: dict[Learner, type[NaiveCounts] | type[NoisyGradients]] = {
    "naive-bayes": NaiveCounts,
    "logistic-regression": NoisyGradients,
}


def softmax(sums: FloatArray) -> FloatArray:
    """Chances from sums of weights, row by row.

    >>> softmax(np.log([[1.0, 3.0]])).tolist()
    [[0.25, 0.75]]
    """
    grown = np.exp(sums - sums.max(axis=1, keepdims=True))
    return np.asarray(grown / grown.sum(axis=1, keepdims=True))


def _guarantee(
    coded: Mapping[str, Coding],
    person: str | None,
    max_rows: int,
    epsilon: Fraction,
    delta: Fraction,
    mechanism: Sentence,
) -> Guarantee:
    unit = unit_of(person)
    description, neighbouring = describe_unit(unit, person, 1, max_rows)
    return Guarantee(
        unit=unit,
        unit_description=description,
        neighbouring=neighbouring,
        epsilon=epsilon,
        delta=delta,
        mechanisms=(mechanism,),
        release_type=Sentence("a classifier"),
        public=(
            Sentence("names and types of the columns"),
            *(Sentence("the domain of {name}, given", name=name) for name in coded),
        ),
        unprotected=(Sentence("how long it took"),),
        composition=Sentence("amounts of all answers from one ledger add up"),
        post_processing=(Sentence("weights were computed from what was drawn"),),
        tuning=Sentence("none: domains were given"),
    )
