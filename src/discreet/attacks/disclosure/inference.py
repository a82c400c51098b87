"""Attribute inference by a learned model: what a release gives away about people beyond what it says of everybody.

The intruder knows quasi-identifiers of everyone in the table and holds the release. Each person stands in a released
class whose sensitive values are known but not whose is whose. A model of P(value | quasi-identifiers) is learned from
the release, with every member having the class's values in equal shares; it says who in a class is likelier to have
which value; with that it is learned again, until nothing changes. That is Kifer's DeFinetti attack, by expectation
maximisation instead of sampling.
"""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import Literal, get_args

import numpy as np
from scipy.sparse import coo_array, csr_array

from discreet.attacks.disclosure.places import Places, place, project
from discreet.attacks.intervals import interval_of_classes
from discreet.attacks.result import AttackResult, Exposed
from discreet.classes.equivalence import EquivalenceClasses
from discreet.classes.pair import Links, Pair
from discreet.errors import InvalidParameter, UnknownColumn, unknown
from discreet.sentences import Sentence
from discreet.types import AnyIntArray, FloatArray, IntArray
from discreet.utility.encoding import Encoder, Features, Labels
from discreet.utility.learners import NaiveBayes, learn

Model = Literal["naive-bayes", "gradient-boosting"]
MODELS: tuple[Model, ...] = get_args(Model)

ROUNDS = {"naive-bayes": 6, "gradient-boosting": 2}
"""Times that a model is learned at most."""
FOLDS = {"naive-bayes": 5, "gradient-boosting": 3}
BALANCING = 5
STABLE = 1e-3
"""The mean change of a chance below which nothing changes any more."""
MOST_NUMBERS = 5_000_000
"""Chances kept at once; more people are sampled."""
MAX_ROWS = 30_000
"""Rows that gradient boosting learns from; more are sampled."""
COMBINATIONS_IN_ALL = 100_000
"""Combinations of quasi-identifiers attacked for all sensitive attributes together; of more, each has a sample."""
FEWEST_COMBINATIONS = 2_500
MAX_VALUES = 100
TIE = 1e-6
SHOWN = 10
SOURCE = "Kifer, Attacks on privacy and deFinetti's theorem, SIGMOD 2009"


def attribute_inference(
    pair: Pair,
    sensitive: str,
    *,
    known: Sequence[str] | None = None,
    models: Sequence[Model] = MODELS,
    most: int | None = None,
    seed: int = 1,
) -> tuple[AttackResult, ...]:
    """Guess everyone's sensitive value by what was learned from the release alone; one result per model.

    In released class c, P(s | person, c) ∝ n_c(s) a_c(s) P(s | q) / P(s): the class's own counts, times how much
    likelier the value is among people with the person's quasi-identifiers q, with a_c(s) such that the chances of
    all members add up to n_c(s). The learned P(s | q) and these chances take turns. The guess is the likeliest value.

    Two baselines, of which the higher counts: ``base-rate``, everybody has the most frequent value, and
    ``without-target``, the same attack on a release from which the person's own record was taken (cross-fitting:
    records are put into folds, and people are judged by what was learned from the other folds). ``gain`` is what
    is left: what the release says about the person rather than about people like that. Numbers with more than
    20 values are guessed by quartile. Where values were not generalised but replaced (means, noise, synthesis),
    nobody's class can be read off: the model learned from the released values is asked, and the people it is held
    against are judged by the records of other people in the original. At most ``most`` combinations of
    quasi-identifiers are attacked, a sample if there are more; the interval is that of the sample.

    Kifer, "Attacks on privacy and deFinetti's theorem", SIGMOD 2009.

    >>> people = {"street": ["A", "A", "B", "B"], "smokes": ["yes", "yes", "yes", "no"]}
    >>> ill = {"ill": ["cancer", "cancer", "cancer", "healthy"]}
    >>> original = EquivalenceClasses.from_columns(people, sensitive=ill)
    >>> released = EquivalenceClasses.from_columns({**people, "smokes": ["yes", "yes", "*", "*"]}, sensitive=ill)
    >>> (result,) = attribute_inference(Pair.of(original, released), "ill", models=["naive-bayes"])
    >>> result.rate, result.baseline
    (1.0, 0.75)
    """
    return tuple(_each_model(pair, sensitive, known, models, most, seed))


def _each_model(
    pair: Pair,
    sensitive: str,
    known: Sequence[str] | None,
    models: Sequence[Model],
    most: int | None,
    seed: int,
) -> Iterator[AttackResult]:
    """The results of one model after the other, about the same people: what one of them lacks does not stop the others."""
    for wanted in models:
        if wanted not in MODELS:
            raise unknown("model", wanted, MODELS)
    for name in known or ():
        if name not in (*pair.names, *pair.sensitive):
            raise UnknownColumn(name, pair.names)
    names = tuple(name for name in pair.names if known is None or name in known)
    if not names:
        raise InvalidParameter(
            "the intruder knows no quasi-identifier", remedy="name at least one that is known"
        )
    notes: list[str] = []
    unused = [name for name in known or () if name not in names]
    if unused:
        notes.append(
            Sentence(
                "knowledge of {unused} is not used: only quasi-identifiers are", unused=", ".join(unused)
            )
        )
    small, owner = project(pair, names)
    labels = Labels.of(small, sensitive, most=MAX_VALUES)
    if labels.binned:
        notes.append(
            Sentence("{sensitive} has many numeric values: its quarter is guessed", sensitive=sensitive)
        )
    scene = _Scene.of(small, sensitive, labels, most, seed)
    if len(scene.places.tried) < len(small.original):
        notes.append(
            Sentence(
                "{tried:,} of {original:,} combinations were attacked",
                tried=len(scene.places.tried),
                original=len(small.original),
            )
        )
    if not small.truthful:
        notes.append("released values were replaced, not generalised: nobody was placed in a class")
    elif small.links is None:
        notes.append("people were placed in the released classes that cover them")
    for model in MODELS:
        if model in models:
            yield _attack(small, scene, model, owner, sensitive, tuple(notes), seed)


def inference_by_each_model(pair: Pair, sensitive: str, *, seed: int = 1) -> Iterator[AttackResult]:
    """The attack as one of many: all sensitive attributes are attacked so, and share the work."""
    most = max(COMBINATIONS_IN_ALL // max(len(pair.sensitive), 1), FEWEST_COMBINATIONS)
    return _each_model(pair, sensitive, None, MODELS, most, seed)


def _attack(
    pair: Pair,
    scene: _Scene,
    model: Model,
    owner: IntArray,
    sensitive: str,
    notes: tuple[str, ...],
    seed: int,
) -> AttackResult:
    """The attack with one model on everybody, with and without their own records in the release."""
    started = time.perf_counter()
    if pair.truthful:
        saw = scene.within(model, seed)
        never, judged = scene.without(model, seed)
    else:
        saw = scene.read(pair, model, seed)
        never, judged = scene.others(model, seed)
    tries = float(scene.people.sum())
    right = (scene.people * _guesses(saw)).sum(axis=1)
    hits = float(right.sum())
    base, without = scene.base_rate(), float(judged.sum() / tries)
    baseline = max(base, without)
    rate = hits / tries
    return AttackResult(
        f"attribute-inference-{model}",
        "inference",
        tries,
        hits,
        baseline,
        Sentence(
            "Someone who knows {names} of everyone and learns from the release guesses {sensitive} "
            "rightly for {rate:.1%} of people; {without:.1%} if their own records were not in it; "
            "{base:.1%} by always guessing the most frequent value.",
            names=", ".join(pair.names),
            sensitive=sensitive,
            rate=rate,
            without=without,
            base=base,
        ),
        "knows the quasi-identifiers of everyone in the table and learns from the release",
        pair.names,
        sensitive,
        pair.unit,
        SOURCE if model == "naive-bayes" else f"{SOURCE}, with gradient boosting as the model",
        _exposed(pair, scene, saw, never),
        _fallen(scene, saw, judged.sum(axis=1), owner),
        (
            ("base-rate", base),
            ("without-target", without),
            ("gain", rate - baseline),
            ("values", float(scene.people.shape[1])),
        ),
        time.perf_counter() - started,
        notes,
        _interval(scene, right),
    )


def _interval(scene: _Scene, right: FloatArray) -> tuple[float, float]:
    """The people of a released class are told together; of those who stand in none, people alike are."""
    chance, nowhere = scene.places.chance, scene.places.released < 0

    def told(each: FloatArray) -> FloatArray:
        placed = chance * (scene.row.T @ each)
        return np.concatenate([(scene.column @ placed)[:-1], scene.row @ (placed * nowhere)])

    return interval_of_classes(told(right), told(scene.people.sum(axis=1)))


# ── who stands where ─────────────────────────────────────────────────────────────────────────────────


@dataclass(frozen=True)
class _Scene:
    """People by quasi-identifiers and true value, where they may stand, and what the release says of each class.

    Rows are the original classes that are attacked: ``people[q, s]`` of them have value ``s``. Place ``i`` is in row
    ``row[i]``, class ``column[i]``; ``seen[c, s]`` are the values of released class ``c``, ``counts`` the same
    made to fit the people placed there. The last class is for those who stand nowhere.
    """

    people: FloatArray = field(repr=False)
    events: tuple[IntArray, IntArray, FloatArray, IntArray] | None = field(repr=False)
    """At event level row, value, weight and person of every cell."""
    features: Features = field(repr=False)
    places: Places = field(repr=False)
    row: csr_array = field(repr=False)
    column: csr_array = field(repr=False)
    seen: FloatArray = field(repr=False)
    counts: FloatArray = field(repr=False)

    @classmethod
    def of(cls, pair: Pair, name: str, labels: Labels, most: int | None, seed: int) -> _Scene:
        most = min(most or MOST_NUMBERS, max(MOST_NUMBERS // labels.count, 1))
        if not pair.truthful:
            every = np.arange(len(pair.original))
            pair = replace(pair, links=Links(every, np.full_like(every, -1), pair.original.records))
        places = place(pair, most=most, seed=seed)
        number = np.full(len(pair.original), -1, dtype=np.int64)
        number[places.tried] = np.arange(len(places.tried))
        weights, person = _people(pair.original)
        rows = number[pair.original.class_of_cell]
        told = labels.original[pair.original.sensitive_codes[name]]
        at = np.flatnonzero(rows >= 0)
        people = _sums(rows[at], told[at], weights[at], (len(places.tried), labels.count)).toarray()
        classes, values = len(pair.released) + 1, pair.released.sensitive_codes[name].astype(np.int64)
        size = (classes, len(labels.released))
        seen = _sums(pair.released.class_of_cell, values, _people(pair.released)[0], size) @ labels.released
        ends = np.arange(len(places.original))
        row = _sums(number[places.original], ends, np.ones(len(ends)), (len(people), len(ends)))
        where = np.where(places.released < 0, classes - 1, places.released)
        column = _sums(where, ends, np.ones(len(ends)), (classes, len(ends)))
        inside = column @ (places.chance * (row.T @ people.sum(axis=1)))
        total = seen.sum(axis=1)
        counts = seen * np.divide(inside, total, out=np.zeros_like(total), where=total > 0)[:, None]
        return cls(
            people,
            None if person is None else (rows[at], told[at], weights[at], person[at]),
            Encoder.of(pair.unchanged()).released(places.tried),
            places,
            row,
            column,
            seen,
            counts,
        )

    def base_rate(self) -> float:
        """How many people have the value that is most frequent in the release."""
        guess = _guesses(self.seen.sum(axis=0)[None])
        return float((self.people * guess).sum() / self.people.sum())

    # ── the attack ────────────────────────────────────────────────────────────────────────────────

    def within(self, model: Model, seed: int) -> FloatArray:
        """Chances of every value for each row, by one who holds the whole release."""
        _, chances = self._learned(model, self.counts, self.people.sum(axis=1), seed)
        return self._mixed(chances)

    def without(self, model: Model, seed: int) -> tuple[FloatArray, FloatArray]:
        """The same by one who holds a release without the people judged: mean chances, and right guesses."""
        shared = self.places.chance[:, None] * (self.column.T @ self.counts)
        total = self.row.T @ (self.row @ shared)
        shared = np.where(total > 0, shared / np.maximum(total, 1e-300), self.places.chance[:, None])
        mean, right = np.zeros_like(self.people), np.zeros_like(self.people)
        for gone in self._folds(FOLDS[model], seed):
            left = (self.people - gone).sum(axis=1)
            counts = (self.counts - self.column @ (shared * (self.row.T @ gone))).clip(0.0)
            counts[counts < 1e-9] = 0.0
            prior = _prior(counts)
            known, _ = self._learned(model, counts, left, seed)
            lift = self.row.T @ _lift(known, prior)
            there = self.places.chance * (self.row.T @ left)
            usual = (self.column @ (there[:, None] * lift) + 1.0) / ((self.column @ there) + 1.0)[:, None]
            # The target is not among the class's people: any value is possible, as one further record says.
            chances = _normalised((self.column.T @ ((counts + prior) / usual)) * lift)
            guessed = self._mixed(chances)
            mean += gone.sum(axis=1)[:, None] * guessed
            right += gone * _guesses(guessed)
        return mean / np.maximum(self.people.sum(axis=1), 1e-300)[:, None], right

    def _learned(
        self, model: Model, counts: FloatArray, people: FloatArray, seed: int
    ) -> tuple[FloatArray, FloatArray]:
        """P(value | quasi-identifiers) for each row, and the chances of every value at each place."""
        prior = _prior(counts)
        inside = self.column.T @ counts
        anywhere = inside.sum(axis=1) <= 0
        there = np.where(anywhere, 0.0, self.places.chance * (self.row.T @ people))
        chances = np.where(anywhere[:, None], prior, _normalised(inside))
        known = np.tile(prior, (len(people), 1))
        for _ in range(ROUNDS[model]):
            known = _asked(model, self.features, self.row @ (there[:, None] * chances), self.features, seed)
            lift = self.row.T @ _lift(known, prior)
            scale = np.ones_like(counts)
            for _ in range(BALANCING):
                updated = _normalised((self.column.T @ (counts * scale)) * lift)
                have = self.column @ (there[:, None] * updated)
                scale *= np.divide(counts, have, out=np.ones_like(have), where=have > 1e-12)
            updated = _normalised((self.column.T @ (counts * scale)) * lift)
            updated[anywhere] = (self.row.T @ known)[anywhere]
            change = float(
                (there * np.abs(updated - chances).sum(axis=1)).sum() / max(2 * there.sum(), 1e-300)
            )
            chances = updated
            if change < STABLE:
                break
        return known, chances

    def _mixed(self, chances: FloatArray) -> FloatArray:
        """Per row: people with the same quasi-identifiers cannot be told apart."""
        return np.asarray(self.row @ (self.places.chance[:, None] * chances))

    def _folds(self, count: int, seed: int) -> Iterator[FloatArray]:
        """The people, put into folds at random."""
        rng = np.random.default_rng(seed)
        if self.events is None:
            drawn = rng.multinomial(np.rint(self.people).astype(np.int64), np.full(count, 1 / count))
            yield from (drawn[..., fold].astype(np.float64) for fold in range(count))
            return
        rows, told, weights, person = self.events
        fold_of = rng.integers(count, size=int(person.max()) + 1)[person]
        for fold in range(count):
            at = np.flatnonzero(fold_of == fold)
            yield _sums(rows[at], told[at], weights[at], self.people.shape).toarray()

    # ── where values were replaced ────────────────────────────────────────────────────────────────

    def read(self, pair: Pair, model: Model, seed: int) -> FloatArray:
        """Chances by a model of the released values, asked for each row as the release would print it."""
        encoder = Encoder.of(pair)
        asked = encoder.original([column[self.places.tried] for column in pair.original.codes])
        return _asked(model, encoder.released(np.arange(len(pair.released))), self.seen[:-1], asked, seed)

    def others(self, model: Model, seed: int) -> tuple[FloatArray, FloatArray]:
        """Mean chances and right guesses by a model of other people in the original."""
        mean, right = np.zeros_like(self.people), np.zeros_like(self.people)
        for gone in self._folds(FOLDS[model], seed):
            guessed = _asked(model, self.features, (self.people - gone).clip(0.0), self.features, seed)
            mean += gone.sum(axis=1)[:, None] * guessed
            right += gone * _guesses(guessed)
        return mean / np.maximum(self.people.sum(axis=1), 1e-300)[:, None], right


def _asked(model: Model, features: Features, weights: FloatArray, asked: Features, seed: int) -> FloatArray:
    """Learn from rows that have ``weights`` of each value, and ask for the chances of other rows."""
    if model == "naive-bayes":
        return NaiveBayes.of(features, weights).chances(asked)
    rows, told = np.nonzero(weights > 1e-9)
    if len(rows) > MAX_ROWS:
        # Whole people: some of their values without the others would teach what nobody released.
        share = MAX_ROWS / len(rows)
        chosen = np.random.default_rng(seed).random(len(weights)) < share
        rows, told = rows[chosen[rows]], told[chosen[rows]]
    learned = learn(model, features.take(rows), told, weights[rows, told], count=weights.shape[1], seed=seed)
    parts = [
        learned.chances(asked.take(np.arange(start, min(start + MAX_ROWS, len(asked)))))
        for start in range(0, len(asked), MAX_ROWS)
    ]
    return np.concatenate(parts)


def _people(classes: EquivalenceClasses) -> tuple[FloatArray, IntArray | None]:
    """What each cell counts, and its person: at event level a person counts once, spread over all records."""
    if classes.person_codes is None:
        return classes.counts.astype(np.float64), None
    _, person = np.unique(classes.person_codes, return_inverse=True)
    return classes.counts / np.bincount(person, classes.counts)[person], person.astype(np.int64)


def _sums(rows: AnyIntArray, columns: AnyIntArray, weights: FloatArray, shape: tuple[int, int]) -> csr_array:
    return csr_array(coo_array((weights, (rows, columns)), shape=shape))


def _prior(counts: FloatArray) -> FloatArray:
    return np.asarray(counts.sum(axis=0) / max(counts.sum(), 1e-300))


def _lift(known: FloatArray, prior: FloatArray) -> FloatArray:
    """How much likelier a value is for someone than for anyone."""
    return np.divide(known, prior, out=np.ones_like(known), where=prior > 0)


def _normalised(table: FloatArray) -> FloatArray:
    """Rows that add up to 1; equal chances where nothing is possible.

    >>> _normalised(np.array([[1.0, 3.0], [0.0, 0.0]]))
    array([[0.25, 0.75],
           [0.5 , 0.5 ]])
    """
    total = table.sum(axis=1, keepdims=True)
    return np.asarray(np.where(total > 0, table / np.where(total > 0, total, 1.0), 1 / table.shape[1]))


def _guesses(chances: FloatArray) -> FloatArray:
    """The likeliest value of each row; equally likely ones share the guess.

    >>> _guesses(np.array([[0.2, 0.8], [0.5, 0.5]]))
    array([[0. , 1. ],
           [0.5, 0.5]])
    """
    best = chances >= chances.max(axis=1, keepdims=True) * (1 - TIE)
    return np.asarray(best / best.sum(axis=1, keepdims=True))


# ── who is most exposed ──────────────────────────────────────────────────────────────────────────────


def _exposed(pair: Pair, scene: _Scene, saw: FloatArray, never: FloatArray) -> tuple[Exposed, ...]:
    """People guessed rightly with the greatest confidence of whom the release without them says little."""
    guess = saw.argmax(axis=1)
    rows = np.arange(len(saw))
    sure, before, right = saw[rows, guess], never[rows, guess], scene.people[rows, guess]
    at = np.flatnonzero((right > 1e-9) & (before < 0.5) & (sure > before + 0.05))
    at = at[np.lexsort((before[at], -np.round(sure[at], 9)))][:SHOWN]
    return tuple(
        Exposed(
            pair.original.labels(int(scene.places.tried[row])),
            float(sure[row]),
            max(round(right[row]), 1),
            Sentence(
                "guessed rightly with confidence {sure:.0%}; {before:.0%} without their own records",
                sure=sure[row],
                before=before[row],
            ),
        )
        for row in at
    )


def _fallen(scene: _Scene, saw: FloatArray, without: FloatArray, owner: IntArray) -> tuple[int, ...]:
    """Released classes of which everybody is guessed rightly, and at most half without their own records."""
    chance = scene.places.chance
    hits = (scene.people * _guesses(saw)).sum(axis=1)
    people, right, control = (
        (scene.column @ (chance * (scene.row.T @ each)))[:-1]
        for each in (scene.people.sum(axis=1), hits, without)
    )
    fallen = (people > 1e-9) & (right >= people - 1e-9) & (control <= people / 2)
    return tuple(np.flatnonzero(fallen[owner]).tolist())
