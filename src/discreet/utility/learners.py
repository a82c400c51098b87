"""Classifiers that learn from weighted rows: naive Bayes of our own, the others of scikit-learn's."""

from __future__ import annotations

import warnings
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from functools import cache
from itertools import pairwise
from typing import TYPE_CHECKING, Literal, Protocol, get_args

import numpy as np
from scipy.sparse import csr_array, hstack

from discreet.errors import MissingDependency, unknown
from discreet.sentences import Sentence
from discreet.types import AnyIntArray, BoolArray, FloatArray, IntArray
from discreet.utility.encoding import Features

if TYPE_CHECKING:
    from threadpoolctl import ThreadpoolController

Classifier = Literal[
    "logistic-regression",
    "gradient-boosting",
    "naive-bayes",
    "decision-tree",
    "random-forest",
    "k-nearest",
    "support-vectors",
    "adaboost",
]
CLASSIFIERS: tuple[Classifier, ...] = get_args(Classifier)
USUAL: tuple[Classifier, ...] = CLASSIFIERS[:3]
"""Those that are asked if nobody chooses: the others say much the same and take longer."""
LINEAR: tuple[Classifier, ...] = ("logistic-regression", "support-vectors", "k-nearest")
"""Those that take shares and numbers side by side."""
NEIGHBOURS = 15

THREADS = 1
"""Trees of a few thousand rows gain little from a second one and wait long for it on a busy machine."""
LEAF = 20
"""Records in a leaf, at least."""
MOST_COPIES = 50_000
TREES = 30
"""Trees in all: with many labels each boosting step grows one for every label."""
FEWEST_STEPS = 4
LEARNING_RATE = 0.3
"""How much of its mistake a boosting step mends: few large steps get as far here as three times as many of 0.1."""
LEAVES = 15
BINS = 63
"""Values of a number that trees tell apart."""


class Learned(Protocol):
    """Something that was learned: the chances of every label for rows of features."""

    def chances(self, features: Features) -> FloatArray: ...


def check_classifiers(names: Sequence[str]) -> tuple[Classifier, ...]:
    """The names as classifiers, or an error that says which there are."""
    for name in names:
        if name not in CLASSIFIERS:
            raise unknown("classifier", name, CLASSIFIERS)
    return tuple(name for name in CLASSIFIERS if name in names)


def learn(
    name: Classifier,
    features: Features,
    labels: AnyIntArray,
    weights: FloatArray,
    *,
    count: int,
    seed: int = 1,
) -> Learned:
    """Learn the label of rows that stand for ``weights`` records each; labels are below ``count``.

    Naive Bayes: P(label) Π P(value | label), on the shares. Logistic regression: on shares
    and numbers, with an L2 penalty of 1. Gradient boosting: trees on histograms, numbers and shares of categories. A tree, a forest
    and boosted stumps on the same; linear support vectors and the nearest 15 records on shares and numbers.
    """
    seen = np.unique(labels[weights > 0])
    if len(seen) < 2:
        return _Constant(np.eye(count)[seen[0]] if len(seen) else np.full(count, 1 / count))
    if name == "naive-bayes":
        chosen = csr_array((weights, (np.arange(len(labels)), labels)), shape=(len(labels), count))
        return NaiveBayes.of(features, chosen)
    return _fit(name, features, labels, weights, count, seed)


@dataclass(frozen=True)
class NaiveBayes:
    """Naive Bayes over shares: log P(s) + Σ_groups share log P(group | s).

    P(group | s) = (records of s in the group + P(group)) / (records of s + 1), so that where values and groups have
    nothing to do with each other nothing is learned. A generalised value counts with its shares, in learning as
    in judging.

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

    prior: FloatArray
    logs: FloatArray = field(repr=False)

    @classmethod
    def of(cls, features: Features, weights: FloatArray | csr_array) -> NaiveBayes:
        """From the records that each row has of each label, which may be fractions."""
        counts = (features.shares.T @ csr_array(weights)).toarray()
        records = np.asarray(weights.sum(axis=0), dtype=np.float64).ravel()
        total = float(records.sum())
        if total <= 0:
            return cls(np.zeros(len(records)), np.zeros_like(counts))
        usual = counts.sum(axis=1, keepdims=True) / total
        # A group that nobody is in says nothing about anybody.
        smoothed = np.where(usual > 0, counts + usual, records + 1.0)
        with np.errstate(divide="ignore"):
            return cls(np.log(records / total), np.log(smoothed / (records + 1.0)))

    def chances(self, features: Features) -> FloatArray:
        return softmax(self.prior + np.asarray(features.shares @ self.logs))


def softmax(logs: FloatArray) -> FloatArray:
    """Chances from their logarithms, row by row.

    >>> softmax(np.log([[1.0, 3.0]]))
    array([[0.25, 0.75]])
    """
    shares = np.exp(logs - logs.max(axis=1, keepdims=True))
    return np.asarray(shares / shares.sum(axis=1, keepdims=True))


@dataclass(frozen=True)
class _Constant:
    """Always the same chances: only one label was seen."""

    row: FloatArray

    def chances(self, features: Features) -> FloatArray:
        return np.tile(self.row, (len(features), 1))


class _Model(Protocol):
    @property
    def classes_(self) -> IntArray: ...

    def predict_proba(self, rows: object) -> FloatArray: ...


@dataclass(frozen=True)
class _Fitted:
    """A model of scikit-learn's, asked for all labels, also those it never saw."""

    model: _Model = field(repr=False)
    layout: _Layout
    count: int

    def chances(self, features: Features) -> FloatArray:
        chances = np.zeros((len(features), self.count))
        with limited_threads():
            chances[:, self.model.classes_] = self.model.predict_proba(self.layout.rows(features))
        return chances


@dataclass(frozen=True)
class _Layout:
    """How features become the columns of a model.

    ``linear``: shares and numbers side by side. Trees get numbers, one column for each category whose rows show
    one value (``whole``: trees split sets of values much faster than columns of shares), shares for the others.
    """

    linear: bool
    whole: BoolArray
    varied: IntArray | None = None
    """The columns that a tree could split, if not all of them are handed to it."""

    @classmethod
    def of(cls, name: Classifier, features: Features) -> _Layout:
        shares, spans = features.shares, features.spans
        whole = [
            not features.binned[start]
            and shares[:, start:stop].max(axis=1).toarray().min(initial=1.0) > 0.999
            for start, stop in pairwise(spans)
        ]
        return cls(name in LINEAR, np.array(whole, dtype=bool))

    def rows(self, features: Features) -> FloatArray | csr_array:
        shares = features.shares
        if self.linear:
            return csr_array(hstack([shares, csr_array(features.numbers)], format="csr"))
        # A column that says nothing, for a release that shows nothing.
        parts = [np.zeros((len(features), 1)), features.numbers]
        for whole, start, stop in zip(self.whole, features.spans[:-1], features.spans[1:], strict=True):
            if not features.binned[start]:
                table = shares[:, start:stop].toarray()
                parts.append(table.argmax(axis=1)[:, None] if whole else table)
        table = np.concatenate(parts, axis=1)
        return table if self.varied is None else table[:, self.varied]

    def without_constants(self, features: Features) -> _Layout:
        """The same trees from less work: a column that is the same in all rows splits none of them."""
        rows = self.rows(features)
        varied = np.flatnonzero((rows != rows[0]).any(axis=0))
        # A model needs a column, also where there is nothing to learn.
        return replace(self, varied=varied if len(varied) else np.array([0]))

    def bins(self, features: Features) -> int:
        """How many values of a column trees tell apart: all categories of one, however many."""
        widths = np.diff(features.spans)[self.whole]
        return max(BINS, int(widths.max(initial=0)))

    def categories(self, features: Features) -> list[int]:
        """The columns that hold numbers of values."""
        at, columns = 1 + features.numbers.shape[1], []
        for whole, start, stop in zip(self.whole, features.spans[:-1], features.spans[1:], strict=True):
            if whole:
                columns.append(at)
                at += 1
            elif not features.binned[start]:
                at += stop - start
        if self.varied is None:
            return columns
        return np.flatnonzero(np.isin(self.varied, columns)).tolist()


def _fit(
    name: Classifier,
    features: Features,
    labels: AnyIntArray,
    weights: FloatArray,
    count: int,
    seed: int,
) -> _Fitted:
    """Fit one of scikit-learn's models."""
    try:
        from sklearn.ensemble import HistGradientBoostingClassifier
        from sklearn.exceptions import ConvergenceWarning
        from sklearn.linear_model import LogisticRegression
    except ImportError as error:
        raise MissingDependency(
            Sentence("{name} needs scikit-learn", name=name),
            remedy="install the extra: pip install 'discreet[ml]'",
        ) from error
    at = np.flatnonzero(weights > 0)
    layout = _Layout.of(name, features)
    if name == "gradient-boosting":
        layout = layout.without_constants(features.take(at))
    rows, labels, weights = layout.rows(features.take(at)), labels[at], weights[at]
    seen = len(np.unique(labels))
    model: _Model
    with limited_threads(), warnings.catch_warnings():
        # Stopping after 200 steps is a choice, not a fault: later steps move the third digit of a chance.
        warnings.simplefilter("ignore", ConvergenceWarning)
        # Rows are distinct combinations with weights: few of them may well have many labels.
        warnings.filterwarnings("ignore", "The number of unique classes", UserWarning)
        if name == "logistic-regression":
            model = LogisticRegression(max_iter=200).fit(rows, labels, sample_weight=weights)
        elif name != "gradient-boosting":
            model = _chosen(name, rows, labels, weights, seed)
        else:
            copies = _copies(weights)
            rows, labels, weights = (
                np.repeat(part, copies, axis=0) for part in (rows, labels, weights / copies)
            )
            model = HistGradientBoostingClassifier(
                min_samples_leaf=LEAF,
                max_iter=TREES if seen == 2 else max(TREES // seen, FEWEST_STEPS),
                learning_rate=LEARNING_RATE,
                max_leaf_nodes=LEAVES,
                max_bins=layout.bins(features),
                categorical_features=layout.categories(features),
                early_stopping=False,
                random_state=seed,
            ).fit(rows, labels, sample_weight=weights)
    return _Fitted(model, layout, count)


def _chosen(
    name: Classifier, rows: FloatArray | csr_array, labels: AnyIntArray, weights: FloatArray, seed: int
) -> _Model:
    """One of the models that are asked only where somebody chooses them."""
    from sklearn.ensemble import AdaBoostClassifier, RandomForestClassifier
    from sklearn.svm import LinearSVC
    from sklearn.tree import DecisionTreeClassifier

    if name == "k-nearest":
        return _Neighbours.of(csr_array(rows), labels, weights)
    if name == "support-vectors":
        return _Margins(LinearSVC(random_state=seed).fit(_narrow(rows), labels, sample_weight=weights))
    share = min(0.5, LEAF / float(weights.sum()))
    made = {
        "decision-tree": DecisionTreeClassifier(min_weight_fraction_leaf=share, random_state=seed),
        "random-forest": RandomForestClassifier(TREES, min_weight_fraction_leaf=share, random_state=seed),
        "adaboost": AdaBoostClassifier(n_estimators=TREES, random_state=seed),
    }
    return made[name].fit(rows, labels, sample_weight=weights)  # type: ignore[no-any-return]


@dataclass(frozen=True)
class _Neighbours:
    """The nearest distinct rows until they hold 15 records, each with all of its own: equal rows are equally near."""

    model: _Near = field(repr=False)
    classes_: IntArray
    records: FloatArray = field(repr=False)
    """Those of each distinct row, by label."""

    @classmethod
    def of(cls, rows: csr_array, labels: AnyIntArray, weights: FloatArray) -> _Neighbours:
        from sklearn.neighbors import NearestNeighbors

        rows.sum_duplicates()
        places: dict[bytes, int] = {}
        numbers = [
            places.setdefault(
                rows.indices[start:stop].tobytes() + rows.data[start:stop].tobytes(), len(places)
            )
            for start, stop in pairwise(rows.indptr)
        ]
        first = np.unique(numbers, return_index=True)[1]
        classes, codes = np.unique(labels, return_inverse=True)
        records = np.zeros((len(first), len(classes)))
        np.add.at(records, (np.asarray(numbers), codes), weights)
        model = NearestNeighbors(n_neighbors=min(NEIGHBOURS, len(first))).fit(rows[first])
        return cls(model, classes.astype(np.int64), records)

    def predict_proba(self, rows: object) -> FloatArray:
        nearest = self.model.kneighbors(rows, return_distance=False)
        held = np.zeros((len(nearest), len(self.classes_)))
        for places in nearest.T:
            held += np.where(held.sum(axis=1, keepdims=True) < NEIGHBOURS, self.records[places], 0.0)
        return np.asarray(held / held.sum(axis=1, keepdims=True))


class _Near(Protocol):
    def kneighbors(self, rows: object, *, return_distance: bool) -> IntArray: ...


def _narrow(rows: object) -> object:
    """Sparse rows with places of 32 bits: support vectors take no others."""
    if not isinstance(rows, csr_array):
        return rows
    places = rows.indices.astype(np.int32), rows.indptr.astype(np.int32)
    return csr_array((rows.data, *places), shape=rows.shape)


class _Linear(Protocol):
    classes_: IntArray

    def decision_function(self, rows: object) -> FloatArray: ...


@dataclass(frozen=True)
class _Margins:
    """How far rows lie from a border, as chances: their order is what counts."""

    model: _Linear = field(repr=False)

    @property
    def classes_(self) -> IntArray:
        return self.model.classes_

    def predict_proba(self, rows: object) -> FloatArray:
        margins = self.model.decision_function(_narrow(rows))
        return softmax(margins if margins.ndim == 2 else np.stack([-margins, margins], axis=1))


def _copies(weights: FloatArray) -> IntArray:
    """How often a row is repeated: trees want so many rows in a leaf, but mean records.

    >>> _copies(np.array([0.5, 3.0, 100.0]))
    array([ 1,  3, 20])
    """
    most = LEAF
    while most > 1 and np.minimum(np.ceil(weights), most).sum() > MOST_COPIES:
        most //= 2
    return np.clip(np.ceil(weights), 1, most).astype(np.int64)


@contextmanager
def limited_threads() -> Iterator[None]:
    """Limit the threads of numerical libraries."""
    with _threaded_libraries().limit(limits=THREADS):
        yield


@cache
def _threaded_libraries() -> ThreadpoolController:
    """The libraries that have threads, once scikit-learn is loaded: to look for them takes longer than to fit a small model."""
    import sklearn.ensemble  # noqa: F401
    from threadpoolctl import ThreadpoolController

    return ThreadpoolController()
