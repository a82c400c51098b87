"""Three classifiers that learn from weighted rows: naive Bayes of our own, two of scikit-learn's."""

from __future__ import annotations

import warnings
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Literal, Protocol, get_args

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array, hstack

from discreet.errors import InvalidParameter, MissingDependency
from discreet.utility.encoding import Features, Floats

Classifier = Literal["logistic-regression", "gradient-boosting", "naive-bayes"]
CLASSIFIERS: tuple[Classifier, ...] = get_args(Classifier)

THREADS = 1
TREES = 120
"""Trees in all: with many labels each boosting step grows one for every label."""


class Learned(Protocol):
    """Something that was learned: the chances of every label for rows of features."""

    def chances(self, features: Features) -> Floats: ...


def check_classifiers(names: Sequence[str]) -> tuple[Classifier, ...]:
    """The names as classifiers, or an error that says which there are."""
    for name in names:
        if name not in CLASSIFIERS:
            raise InvalidParameter(
                f"there is no classifier {name!r}", remedy=f"choose from {', '.join(CLASSIFIERS)}"
            )
    return tuple(name for name in CLASSIFIERS if name in names)


def learn(
    name: Classifier,
    features: Features,
    labels: NDArray[np.integer],
    weights: Floats,
    *,
    count: int,
    seed: int = 1,
) -> Learned:
    """Learn the label of rows that stand for ``weights`` records each; labels are below ``count``.

    Naive Bayes: P(label) Π P(value | label) with Laplace's rule, on the shares. Logistic regression: on shares
    and numbers, with an L2 penalty of 1. Gradient boosting: trees on histograms, numbers and shares of categories.
    """
    seen = np.unique(labels[weights > 0])
    if len(seen) < 2:
        return _Constant(np.eye(count)[seen[0]] if len(seen) else np.full(count, 1 / count))
    if name == "naive-bayes":
        chosen = csr_array((weights, (np.arange(len(labels)), labels)), shape=(len(labels), count))
        return NaiveBayes.of(features, chosen)
    return _Fitted(name, _fit(name, features, labels, weights, len(seen), seed), count)


@dataclass(frozen=True)
class NaiveBayes:
    """Naive Bayes over shares: log P(s) + Σ_groups share log P(group | s).

    P(group | s) = (records of s in the group + 1 / groups) / (records of s + 1). A generalised value counts with
    its shares, in learning as in judging.

    >>> from discreet.classes import EquivalenceClasses
    >>> from discreet.classes.pair import Pair
    >>> from discreet.utility.encoding import Encoder
    >>> people = EquivalenceClasses.from_columns({"smokes": ["no", "yes"]}, counts=[4, 4])
    >>> features = Encoder.of(Pair.of(people, people)).released(np.array([0, 1]))
    >>> learned = NaiveBayes.of(features, np.array([[3.0, 1.0], [1.0, 3.0]]))
    >>> learned.chances(features)
    array([[0.7, 0.3],
           [0.3, 0.7]])
    """

    prior: Floats
    logs: Floats = field(repr=False)

    @classmethod
    def of(cls, features: Features, weights: Floats | csr_array) -> NaiveBayes:
        """From the records that each row has of each label, which may be fractions."""
        counts = (features.shares.T @ csr_array(weights)).toarray()
        records = np.asarray(weights.sum(axis=0), dtype=np.float64).ravel()
        widths = np.diff(features.spans)
        smoothed = counts + np.repeat(1 / np.maximum(widths, 1), widths)[:, None]
        with np.errstate(divide="ignore"):
            prior = np.log(records / records.sum())
        return cls(prior, np.log(smoothed / (records + 1.0)))

    def likelihoods(self, features: Features) -> Floats:
        """log P(row | s), up to a constant per row."""
        return np.asarray(features.shares @ self.logs)

    def chances(self, features: Features) -> Floats:
        return softmax(self.prior + self.likelihoods(features))


def softmax(logs: Floats) -> Floats:
    """Chances from their logarithms, row by row.

    >>> softmax(np.log([[1.0, 3.0]]))
    array([[0.25, 0.75]])
    """
    found = np.exp(logs - logs.max(axis=1, keepdims=True))
    return np.asarray(found / found.sum(axis=1, keepdims=True))


@dataclass(frozen=True)
class _Constant:
    """Always the same chances: only one label was seen."""

    row: Floats

    def chances(self, features: Features) -> Floats:
        return np.tile(self.row, (len(features), 1))


class _Model(Protocol):
    classes_: NDArray[np.int64]

    def predict_proba(self, rows: object) -> Floats: ...


@dataclass(frozen=True)
class _Fitted:
    """A model of scikit-learn's, asked for all labels, also those it never saw."""

    name: Classifier
    model: _Model = field(repr=False)
    count: int

    def chances(self, features: Features) -> Floats:
        found = np.zeros((len(features), self.count))
        with limited_threads():
            found[:, self.model.classes_] = self.model.predict_proba(_rows(self.name, features))
        return found


def _rows(name: Classifier, features: Features) -> Floats | csr_array:
    if name == "logistic-regression":
        return csr_array(hstack([features.shares, csr_array(features.numbers)], format="csr"))
    categories = features.shares[:, np.flatnonzero(~features.binned)].toarray()
    return np.concatenate([features.numbers, categories], axis=1)


def _fit(
    name: Classifier,
    features: Features,
    labels: NDArray[np.integer],
    weights: Floats,
    seen: int,
    seed: int,
) -> _Model:
    try:
        from sklearn.ensemble import HistGradientBoostingClassifier
        from sklearn.exceptions import ConvergenceWarning
        from sklearn.linear_model import LogisticRegression
    except ImportError as error:
        raise MissingDependency(
            f"{name} needs scikit-learn", remedy="install the extra: pip install 'discreet[ml]'"
        ) from error
    at = np.flatnonzero(weights > 0)
    rows = _rows(name, features)[at]
    if not rows.shape[1]:
        rows = np.zeros((len(at), 1))
    model: _Model
    with limited_threads(), warnings.catch_warnings():
        # Stopping after 200 steps is a choice, not a fault: later steps move the third digit of a chance.
        warnings.simplefilter("ignore", ConvergenceWarning)
        if name == "logistic-regression":
            model = LogisticRegression(max_iter=200).fit(rows, labels[at], sample_weight=weights[at])
        else:
            model = HistGradientBoostingClassifier(
                max_iter=max(TREES // (1 if seen == 2 else seen), 10),
                learning_rate=0.1,
                early_stopping=False,
                random_state=seed,
            ).fit(rows, labels[at], sample_weight=weights[at])
    return model


@contextmanager
def limited_threads() -> Iterator[None]:
    """Leave the rest of the machine to others."""
    from threadpoolctl import threadpool_limits

    with threadpool_limits(limits=THREADS):
        yield
