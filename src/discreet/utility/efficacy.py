"""What a release is still good for: train on it, test on records of the original that were held out."""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from discreet.classes.equivalence import EquivalenceClasses
from discreet.classes.packing import expanded
from discreet.classes.pair import Pair
from discreet.errors import InvalidParameter, UnsuitableColumn
from discreet.measure import proportion_interval
from discreet.plain import finite
from discreet.sentences import Sentence
from discreet.types import AnyIntArray, BoolArray, FloatArray, IntArray
from discreet.utility.encoding import Encoder, Features, Labels, codes_in
from discreet.utility.learners import USUAL, Classifier, check_classifiers, learn

Metric = Literal["accuracy", "macro-f1", "auc"]
METRICS: tuple[Metric, ...] = ("accuracy", "macro-f1", "auc")

MAX_ROWS = 50_000
"""Distinct rows to learn from, and records to test on; more are sampled."""
MOST_CHANCES = 500_000
"""Rows times labels: the work of learning and judging grows with both."""
FEWEST_ROWS = 2_500
"""So many rows are learned from in any case, however many labels and attributes share the work."""
ROWS_IN_ALL = 100_000
"""Rows of all attributes that are learned one after the other."""
REPLICATES = 100
SOURCE = (
    "Iyengar, Transforming data to satisfy privacy constraints, KDD 2002; train on the release, test on the "
    "original: Esteban, Hyland, Rätsch, Real-valued (medical) time series generation with recurrent conditional "
    "GANs, 2017"
)


@dataclass(frozen=True)
class Score:
    """A score with its 95 % interval."""

    value: float
    low: float
    high: float

    def to_dict(self) -> dict[str, object]:
        return {"value": finite(self.value), "low": finite(self.low), "high": finite(self.high)}


Scores = dict[Metric, Score]


@dataclass(frozen=True)
class Efficacy:
    """How well one classifier predicts held-out records, by what it learned from.

    ``release``: learned from the release; ``original``: from the original's training records (U_max);
    ``majority``: always the most frequent label (U_base); ``trivial``: from a release that shows no
    quasi-identifier. ``tested`` are records.
    """

    classifier: Classifier
    label: str
    labels: int
    tested: int
    release: Scores
    original: Scores
    majority: Scores
    trivial: Scores
    seconds: float = field(default=0.0, compare=False)
    notes: tuple[str, ...] = ()
    source: str = SOURCE

    def relative(self, metric: Metric = "accuracy") -> float:
        """What the release kept of what can be learned: (release - base) / (max - base).

        1 is as good as the original, 0 as good as no data, below 0 misleading; NaN if even the original teaches
        nothing that chance could not: its interval reaches down to the base, and a share of so little would be noise.
        """
        base = self.majority[metric].value
        if not self.original[metric].low > base + 1e-9:
            return float("nan")
        return (self.release[metric].value - base) / (self.original[metric].value - base)

    @property
    def meaning(self) -> str:
        """One sentence for a layperson."""
        return Sentence(
            "Of {tested:,} held-out records, {value:.1%} are predicted rightly by one who learned from "
            "the release, {value2:.1%} by one who learned from the original, {value3:.1%} by always "
            "saying the most frequent value.",
            tested=self.tested,
            value=self.release["accuracy"].value,
            value2=self.original["accuracy"].value,
            value3=self.majority["accuracy"].value,
        )

    def to_dict(self) -> dict[str, object]:
        return {
            "classifier": self.classifier,
            "label": self.label,
            "labels": self.labels,
            "tested": self.tested,
            **{
                name: {metric: score.to_dict() for metric, score in getattr(self, name).items()}
                for name in ("release", "original", "majority", "trivial")
            },
            "relative": {metric: finite(self.relative(metric)) for metric in METRICS},
            "meaning": self.meaning,
            "source": self.source,
            "seconds": self.seconds,
            "notes": list(self.notes),
        }


def efficacy(
    pair: Pair,
    label: str,
    *,
    classifiers: Sequence[Classifier] = USUAL,
    test_share: float = 0.3,
    holdout: EquivalenceClasses | None = None,
    most: int = MAX_ROWS,
    seed: int = 1,
) -> tuple[Efficacy, ...]:
    """Predict a sensitive attribute from the quasi-identifiers: learned from the release, tested on the original.

    relative efficacy = (U_release - U_base) / (U_max - U_base), with U the accuracy, the macro-averaged F1 or the
    area under the ROC curve (one label against the rest, weighted by frequency). A share of the original's
    records (of its people, at event level) is held out. If it is known which records became which
    (``pair.links``), the released counterparts of held-out records are taken out of the release before learning;
    else a note says that they may be in it. ``holdout`` gives other people to test on; then all of both tables
    is learned from. Accuracy has Wilson's interval, the others mean ± 1.96 standard deviations over 100
    resamplings of the held-out records. Numbers with more than 20 values are predicted by quartile. Of more than
    ``most`` distinct rows (fewer, if there are more than ten labels) as many records are drawn from both tables, so
    that both teach equally many; notes say so.
    Iyengar 2002; Esteban, Hyland, Rätsch 2017.

    >>> original = EquivalenceClasses.from_columns(
    ...     {"smokes": ["yes", "yes", "no", "no"]}, sensitive={"ill": ["y", "n", "y", "n"]}, counts=[40, 10, 10, 40])
    >>> (learned,) = efficacy(Pair.of(original, original), "ill", classifiers=["naive-bayes"])
    >>> learned.tested, learned.release == learned.original, learned.trivial == learned.majority, learned.relative()
    (30, True, True, 1.0)
    """
    chosen = check_classifiers(classifiers)
    if not 0.0 < test_share < 1.0:
        raise InvalidParameter("the test share is not between 0 and 1", remedy="give a share such as 0.3")
    rng = np.random.default_rng(seed)
    labels = Labels.of(pair, label)
    notes: list[str] = (
        [Sentence("{label} has many numeric values: its quarter is predicted", label=label)]
        if labels.binned
        else []
    )
    if holdout is None and pair.links is None:
        notes.append("it is not known which records became which, so records tested on may be in the release")
    most = min(most, max(MOST_CHANCES // labels.count, FEWEST_ROWS))
    split = _HoldOut.of(pair, holdout, labels, test_share, rng)
    test = split.test.sample(most, rng, exactly=True)
    lessons, sampled = _lessons(pair, labels, split, test, most, rng)
    if sampled:
        notes.append(Sentence("learned from a sample of {max_rows:,} records", max_rows=most))
    if test.weights.sum() < split.test.weights.sum():
        notes.append(Sentence("tested on a sample of {tested:,} records", tested=most))
    majority = np.zeros((len(test.classes), labels.count))
    majority[:, int(np.argmax(np.bincount(split.rest.labels, split.rest.weights)))] = 1.0
    judge = _Judge.of(test, labels.count, rng)
    base = judge.scores(majority)
    # Whoever sees no quasi-identifier learns how frequent labels are and nothing else, by whatever classifier.
    nothing = judge.scores(np.tile(_shares_without_attributes(pair, label, split), (len(test.classes), 1)))
    results = []
    for name in chosen:
        started = time.perf_counter()
        scores = [judge.scores(lesson.chances(name, labels.count, seed)) for lesson in lessons]
        results.append(
            Efficacy(
                name,
                label,
                labels.count,
                round(test.weights.sum()),
                scores[0],
                scores[1],
                base,
                nothing,
                time.perf_counter() - started,
                tuple(notes),
            )
        )
    return tuple(results)


# ── rows to learn from and to test on ────────────────────────────────────────────────────────────────


@dataclass(frozen=True)
class _Rows:
    """Records by class and label."""

    classes: IntArray
    labels: IntArray
    weights: FloatArray

    def sample(self, most: int, rng: np.random.Generator, *, exactly: bool = False) -> _Rows:
        """The rows that have records; of more than ``most`` (records, if ``exactly``) as many records at random."""
        at = np.flatnonzero(self.weights > 1e-9)
        few = _Rows(self.classes[at], self.labels[at], self.weights[at])
        if (few.weights.sum() if exactly else len(at)) <= most:
            return few
        drawn = rng.multinomial(most, few.weights / few.weights.sum())
        keep = drawn > 0
        return _Rows(few.classes[keep], few.labels[keep], drawn[keep].astype(np.float64))


@dataclass(frozen=True)
class _HoldOut:
    """The original's records by class and label: those held out of both tables, those to test on, and the rest.

    ``codes`` are the quasi-identifiers of the classes that are tested on, in the codes of the original.
    """

    rows: _Rows
    held: FloatArray
    test: _Rows
    rest: _Rows
    codes: Sequence[AnyIntArray]

    @classmethod
    def of(
        cls,
        pair: Pair,
        holdout: EquivalenceClasses | None,
        labels: Labels,
        share: float,
        rng: np.random.Generator,
    ) -> _HoldOut:
        rows = _rows_of(pair.original, labels.name, labels.original)
        codes: Sequence[AnyIntArray] = pair.original.codes
        if holdout is None:
            held = _held_out(pair.original, labels.name, labels.original, share, rng)
            test = _Rows(rows.classes, rows.labels, held)
            rest = _Rows(rows.classes, rows.labels, rows.weights - held)
        else:
            test, codes = _foreign_rows(pair, holdout, labels)
            rest, held = rows, np.zeros_like(rows.weights)
        if (
            len(np.unique(test.labels[test.weights > 0])) < 2
            or len(np.unique(rest.labels[rest.weights > 0])) < 2
        ):
            raise UnsuitableColumn(
                Sentence(
                    "column {name!r} has one value only among the records to learn from or to test on",
                    name=labels.name,
                ),
                remedy="name an attribute with at least two values, or hold out another share",
            )
        return cls(rows, held, test, rest, codes)


@dataclass(frozen=True)
class _Lesson:
    """What is learned from one release: features and labels of its records, and those of the records tested on."""

    seen: Features
    rows: _Rows
    asked: Features

    @classmethod
    def of(cls, pair: Pair, rows: _Rows, codes: Sequence[AnyIntArray]) -> _Lesson:
        encoder = Encoder.of(pair)
        return cls(encoder.released(rows.classes), rows, encoder.original(codes))

    def chances(self, name: Classifier, count: int, seed: int) -> FloatArray:
        """The chances of every label for the records tested on."""
        learned = learn(name, self.seen, self.rows.labels, self.rows.weights, count=count, seed=seed)
        return learned.chances(self.asked)


def _lessons(
    pair: Pair, labels: Labels, split: _HoldOut, test: _Rows, most: int, rng: np.random.Generator
) -> tuple[tuple[_Lesson, _Lesson], bool]:
    """What the release and what the original teach, and whether by a sample: then of equally many records."""
    tables = _released_rows(pair, labels, split.rows, split.held), split.rest
    sampled = any(np.count_nonzero(rows.weights > 1e-9) > most for rows in tables)
    released, original = (rows.sample(most, rng, exactly=sampled) for rows in tables)
    codes = [column[test.classes] for column in split.codes]
    return (_Lesson.of(pair, released, codes), _Lesson.of(pair.unchanged(), original, codes)), sampled


def _shares_without_attributes(pair: Pair, label: str, split: _HoldOut) -> FloatArray:
    """How frequent the labels are in a release that shows no quasi-identifier."""
    trivial = pair.trivial()
    labels = Labels.of(trivial, label)
    rows = _released_rows(trivial, labels, split.rows, split.held)
    records = np.bincount(rows.labels, rows.weights, labels.count)
    return np.asarray(records / records.sum())


def rows_each(attributes: int) -> int:
    """How many rows are learned from for each of so many attributes.

    >>> rows_each(1), rows_each(10), rows_each(1000)
    (50000, 10000, 2500)
    """
    return min(MAX_ROWS, max(ROWS_IN_ALL // max(attributes, 1), FEWEST_ROWS))


def _rows_of(
    classes: EquivalenceClasses, name: str, label_of: IntArray, counts: NDArray[np.number] | None = None
) -> _Rows:
    """The records (or ``counts`` of every cell) by class and label."""
    labels = label_of[classes.sensitive_codes[name]]
    return _summed(classes.class_of_cell, labels, classes.counts if counts is None else counts)


def _summed(classes: AnyIntArray, labels: IntArray, weights: NDArray[np.number]) -> _Rows:
    """One row for each class and label."""
    width = int(labels.max(initial=0)) + 1
    keys, inverse = np.unique(classes.astype(np.int64) * width + labels, return_inverse=True)
    return _Rows(keys // width, keys % width, np.bincount(inverse, weights, len(keys)).astype(np.float64))


def _held_out(
    classes: EquivalenceClasses, name: str, label_of: IntArray, share: float, rng: np.random.Generator
) -> FloatArray:
    """How many records of each class and label are held out: whole people at event level, else records."""
    if classes.person_codes is None:
        counts = np.rint(_rows_of(classes, name, label_of).weights).astype(np.int64)
        wanted = round(share * counts.sum())
        return rng.multivariate_hypergeometric(counts, wanted, method="marginals").astype(np.float64)
    people, person = np.unique(classes.person_codes, return_inverse=True)
    out = np.zeros(len(people), dtype=bool)
    out[rng.choice(len(people), size=round(share * len(people)), replace=False)] = True
    return _rows_of(classes, name, label_of, classes.counts * out[person]).weights


def _released_rows(pair: Pair, labels: Labels, rows: _Rows, held: FloatArray) -> _Rows:
    """The release's records by class and label, without the counterparts of those held out.

    Held-out records of an original class are taken from its released classes in proportion, with their label.
    """
    histogram = pair.released.histogram(labels.name)
    code, label = np.nonzero(labels.released)
    first = np.searchsorted(code, np.arange(len(labels.released) + 1))
    entry, place = expanded(first, histogram.values)
    classes, told = histogram.class_of_entry[entry], label[place]
    weights = histogram.records[entry] * labels.released[code[place], told]
    if pair.links is None or not held.any():
        return _summed(classes, told, weights)
    links = pair.links
    order = np.argsort(links.original, kind="stable")
    first = np.searchsorted(links.original[order], np.arange(len(pair.original) + 1))
    out = np.flatnonzero(held > 0)
    row, place = expanded(first, rows.classes[out])
    row, place = out[row], order[place]
    share = links.records[place] / np.bincount(links.original, links.records)[rows.classes[row]]
    inside = links.released[place] >= 0
    gone = _summed(links.released[place][inside], rows.labels[row][inside], (held[row] * share)[inside])
    left = _summed(
        np.concatenate([classes, gone.classes]),
        np.concatenate([told, gone.labels]),
        np.concatenate([weights, -gone.weights]),
    )
    # Where labels are generalised a class may not have enough of a label: the others make up for it.
    due = np.bincount(left.classes, left.weights, len(pair.released)).clip(0.0)
    clipped = left.weights.clip(0.0)
    have = np.bincount(left.classes, clipped, len(pair.released))
    rate = np.divide(due, have, out=np.zeros_like(have), where=have > 0)
    return _Rows(left.classes, left.labels, clipped * rate[left.classes])


def _foreign_rows(pair: Pair, holdout: EquivalenceClasses, labels: Labels) -> tuple[_Rows, list[IntArray]]:
    """Records of another table by class and label, and its classes in the codes of the original."""
    codes = []
    for domain in pair.original.attributes:
        at = holdout.index(domain.name)
        codes.append(codes_in(domain, holdout.attributes[at])[holdout.codes[at]])
    name = labels.name
    known = codes_in(pair.original.sensitive_domain(name), holdout.sensitive_domain(name))
    # Labels that the original does not have cannot be predicted rightly: a number of their own, never guessed.
    label_of = np.where(known < 0, labels.count, labels.original[known])
    return _rows_of(holdout, name, label_of), codes


# ── judging ──────────────────────────────────────────────────────────────────────────────────────────


@dataclass(frozen=True)
class _Judge:
    """The held-out records, and how often each is in each of the resamplings (the first is the truth)."""

    labels: IntArray
    count: int
    weights: FloatArray

    @classmethod
    def of(cls, test: _Rows, count: int, rng: np.random.Generator) -> _Judge:
        records = test.weights.sum()
        drawn = rng.multinomial(round(records), test.weights / records, size=REPLICATES)
        # Records are picked and added up by label for all resamplings at once: those of a record lie side by side.
        return cls(test.labels, count, np.asfortranarray(np.vstack([test.weights, drawn])))

    def scores(self, chances: FloatArray) -> Scores:
        """Accuracy, macro F1 and AUC of the chances that a classifier gives to each label."""
        guess = chances.argmax(axis=1)
        records = float(self.weights[0].sum())
        right = float(self.weights[0][guess == self.labels].sum())
        return {
            "accuracy": Score(right / records, *proportion_interval(right, records)),
            "macro-f1": _resampled(self._f1(guess)),
            "auc": _resampled(self._auc(chances)),
        }

    def _f1(self, guess: IntArray) -> FloatArray:
        scores = []
        for label in np.unique(self.labels):
            true, said = self.labels == label, guess == label
            each = self.weights.T
            both = each[true & said].sum(axis=0)
            either = each[true].sum(axis=0) + each[said].sum(axis=0)
            scores.append(np.divide(2 * both, either, out=np.zeros_like(both), where=either > 0))
        return np.asarray(np.mean(scores, axis=0))

    def _auc(self, chances: FloatArray) -> FloatArray:
        present = [int(label) for label in np.unique(self.labels) if label < self.count]
        if len(present) == 2 and self.count == 2:
            present = present[1:]  # both labels have the same curve
        total = np.zeros(len(self.weights))
        weight = np.zeros(len(self.weights))
        for label in present:
            area, positive = weighted_auc(chances[:, label], self.labels == label, self.weights)
            total += area * positive
            weight += positive
        return np.divide(total, weight, out=np.full_like(total, 0.5), where=weight > 0)


def weighted_auc(
    score: FloatArray, positive: BoolArray, weights: FloatArray
) -> tuple[FloatArray, FloatArray]:
    """Area under the ROC curve for each row of weights, and the weight of the positives.

    P(score of a positive > score of a negative) + P(equal) / 2; 1/2 where one kind is missing. Hanley and McNeil,
    Radiology 143, 1982.

    >>> weighted_auc(np.array([0.1, 0.4, 0.4, 0.9]), np.array([False, False, True, True]), np.ones((1, 4)))[0]
    array([0.875])
    """
    order = np.argsort(score, kind="stable")
    ranked = score[order]
    # Scores that differ by rounding only are equal.
    starts = np.flatnonzero(np.append(True, np.diff(ranked) > 1e-12))
    if len(starts) <= 1:
        return np.full(len(weights), 0.5), weights[:, positive].sum(axis=1)
    weighed, positive = weights.T[order], positive[order]
    mine = weighed[positive]
    weighed[positive] = 0.0
    downs = np.vstack([np.zeros(len(weights)), np.cumsum(weighed, axis=0)])
    group = np.searchsorted(starts, np.flatnonzero(positive), side="right") - 1
    below = (downs[starts[group]] + downs[np.append(starts[1:], len(score))[group]]) / 2
    gains, up, down = (mine * below).sum(axis=0), mine.sum(axis=0), downs[-1]
    return np.divide(gains, up * down, out=np.full_like(gains, 0.5), where=up * down > 0), up


def _resampled(values: FloatArray) -> Score:
    """The first value, and 1.96 standard deviations of the others around it."""
    value, half = float(values[0]), 1.96 * float(values[1:].std(ddof=1))
    return Score(value, max(value - half, 0.0), min(value + half, 1.0))
