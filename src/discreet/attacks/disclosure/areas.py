"""Areas of interest: what all people have in common among whom the target must be, where each has a set of values."""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from discreet.attacks.disclosure.view import EXPOSED
from discreet.attacks.intervals import interval_of_classes
from discreet.attacks.result import AttackResult, Exposed
from discreet.classes import EquivalenceClasses
from discreet.classes.packing import distinct_rows, expanded
from discreet.classes.pair import Pair
from discreet.privacy.base import refuse_empty
from discreet.sentences import Sentence
from discreet.types import FloatArray, IntArray

_CHUNK = 1 << 20
"""Pairs of classes that are compared at once."""


def areas_of_interest(pair: Pair, sensitive: str, *, separator: str | None = None) -> AttackResult:
    """The intruder intersects the sets of values of all people of the release who may be the target.

    A person's set are the values of ``sensitive`` over all of the person's records (at person level: of the one
    record); with a ``separator`` each value is itself a list, such as ``"home|work"``. For each person D of the
    original with a set A(D):

    candidates C(D) = people of the release with, for each record of D that fits any shown class, a record
    in a class that fits it; guess G(D) = intersection of the released sets of C(D), empty without candidates;
    recall(D) = |A(D) n G(D)| / |A(D)|. D is compromised if the recall is above 0.

    Suppressed records fit nobody, unless the release shows nothing else: then they fit everybody. Tries: people
    whose set is not empty; successes: compromised people; baseline: how often the same guesses, each made about anybody
    of the original, name a value of that person. Released values that are not the original's (means, modes, noise) fit whom they say they fit, so
    guesses may be wrong: ``mean-precision`` is the mean share of right values over the guesses that are not empty. At event level the
    release must tell whose record is whose; if it has no persons, each record stands for itself. Privacy
    demonstrator of a study of anonymised car data (2023).

    >>> original = EquivalenceClasses.from_columns({"seats": [2, 2, 4, 4, 5]}, person=[1, 1, 2, 2, 3],
    ...     sensitive={"place": ["home 1", "shop", "home 2", "shop", "home 3"]})
    >>> released = EquivalenceClasses.from_columns({"seats": ["[2, 4]"] * 4 + ["5"]}, person=[1, 1, 2, 2, 3],
    ...     sensitive={"place": ["home 1", "shop", "home 2", "shop", "home 3"]})
    >>> result = areas_of_interest(Pair.of(original, released), "place")
    >>> result.tries, result.successes, dict(result.figures)["mean-recall"]
    (3, 3.0, 0.6666666666666666)
    """
    refuse_empty(pair.original)
    refuse_empty(pair.released)
    began = time.perf_counter()
    elements: dict[str, int] = {}
    targets = _People.of(pair.original, sensitive, separator, elements)
    held = _People.of(pair.released, sensitive, separator, elements)
    tried = targets.sizes > 0
    option, guesses, fitting = _searched(pair, targets, held, len(elements))
    own = np.maximum(targets.sizes, 1)
    recall = targets.hits(guesses, option, len(elements)) / own
    size = np.array([len(guess) for guess in guesses], dtype=np.int64)[option]
    candidates = fitting[option]
    common = targets.shared(np.flatnonzero(tried), len(elements))
    known = targets.hits([common], np.zeros_like(option), len(elements)) / own
    weight = targets.people * tried
    compromised = recall > 0
    return AttackResult(
        "areas-of-interest",
        "inference",
        tries=int(weight.sum()),
        successes=float(weight[compromised].sum()),
        baseline=_mean(_blind(targets, guesses, weight)[option], weight),
        meaning="Whoever finds the people that a person may be knows what all of them have in common.",
        scenario="prosecutor: knows all quasi-identifiers of everybody in the original",
        known=pair.names,
        target=sensitive,
        unit=pair.unit,
        source="privacy demonstrator, study of anonymised car data, 2023",
        exposed=_exposed(pair, targets, sensitive, recall, candidates),
        fallen=_fallen(pair, held, len(elements)),
        figures=(
            ("compromised", float(weight[compromised].sum())),
            ("max-recall", float(recall.max(initial=0.0))),
            ("mean-recall", _mean(recall, weight)),
            ("mean-precision", _mean(recall * own / np.maximum(size, 1), weight * (size > 0))),
            ("baseline-mean-recall", _mean(known, weight)),
            ("without-candidates", float(weight[tried & (candidates == 0)].sum())),
        ),
        seconds=time.perf_counter() - began,
        notes=("the release does not tell whose records are whose: each stands for itself",)
        if pair.original.event_level and not pair.released.event_level
        else (),
        # People with the same candidates are told the same.
        interval=interval_of_classes(
            np.bincount(option, weights=weight * compromised), np.bincount(option, weights=weight)
        ),
        certain=pair.truthful and sensitive in pair.kept,
    )


def _blind(targets: _People, guesses: Sequence[IntArray], weight: IntArray) -> FloatArray:
    """For each guess the share of all people who have a value of it."""
    owner = np.repeat(np.arange(len(targets.people)), targets.sizes)
    order = np.argsort(targets.value, kind="stable")
    cuts = np.searchsorted(targets.value[order], np.arange(int(targets.value.max(initial=-1)) + 2))
    shares: dict[bytes, float] = {}
    for guess in guesses:
        if guess.tobytes() not in shares:
            inside = guess[guess < len(cuts) - 1].tolist()
            having = [owner[order[cuts[value] : cuts[value + 1]]] for value in inside]
            people = np.unique(np.concatenate(having)) if having else np.empty(0, dtype=np.int64)
            shares[guess.tobytes()] = float(weight[people].sum() / max(weight.sum(), 1))
    return np.array([shares[guess.tobytes()] for guess in guesses])


def _exposed(
    pair: Pair, targets: _People, sensitive: str, recall: FloatArray, candidates: IntArray
) -> tuple[Exposed, ...]:
    """The people of whom most is known."""
    return tuple(
        Exposed(
            pair.original.labels(int(targets.classes(person)[0])),
            float(recall[person]),
            int(targets.people[person]),
            Sentence(
                "{recall:.0%} of the values of {sensitive!r} are known; {people} people fit",
                recall=recall[person],
                sensitive=sensitive,
                people=candidates[person],
            ),
        )
        for person in np.argsort(-recall, kind="stable")[:EXPOSED].tolist()
        if recall[person] > 0
    )


@dataclass(frozen=True)
class _People:
    """The people of a table: where they are and which values they have.

    Person ``p`` stands for ``people[p]`` people who cannot be told apart, is in the classes
    ``place[place_at[p]:place_at[p + 1]]`` and has the values ``value[value_at[p]:value_at[p + 1]]``; class ``c``
    holds the persons ``who[who_at[c]:who_at[c + 1]]``.
    """

    people: IntArray
    place_at: IntArray
    place: IntArray
    value_at: IntArray
    value: IntArray
    who_at: IntArray
    who: IntArray

    @classmethod
    def of(
        cls, classes: EquivalenceClasses, sensitive: str, separator: str | None, elements: dict[str, int]
    ) -> _People:
        """``elements`` numbers the values of sets; it grows by those that are new."""
        domain = classes.sensitive_domain(sensitive)
        parts: list[list[int]] = []
        for code in range(domain.size):
            text = domain.label(code)
            texts = [text] if separator is None else [part.strip() for part in text.split(separator)]
            # A null is the absence of a value: nobody is interested in it.
            named = [] if code == domain.null_code else [part for part in texts if part]
            parts.append([elements.setdefault(part, len(elements)) for part in named])
        codes = classes.sensitive_codes[sensitive]
        if classes.person_codes is not None:
            _, person = np.unique(classes.person_codes, return_inverse=True)
            people = np.ones(int(person.max()) + 1, dtype=np.int64)
        else:
            # Records with equal values in a class are people alike.
            _, person = np.unique(classes.class_of_cell * domain.size + codes, return_inverse=True)
            people = np.bincount(person, weights=classes.counts).astype(np.int64)
        flat = np.array([element for part in parts for element in part], dtype=np.int64)
        cell, at = expanded(np.cumsum([0, *map(len, parts)]), codes)
        value_at, value = distinct_rows(person[cell], flat[at], len(people))
        place_at, place = distinct_rows(person, classes.class_of_cell, len(people))
        who_at, who = distinct_rows(classes.class_of_cell, person, len(classes))
        return cls(people, place_at, place, value_at, value, who_at, who)

    @cached_property
    def sizes(self) -> IntArray:
        """How many values each person has."""
        return np.diff(self.value_at)

    @cached_property
    def extremes(self) -> tuple[IntArray, IntArray]:
        """The lowest and the highest value in each class, where nobody has more than one; they differ where somebody has none."""
        some = self.sizes > 0
        lowest, highest = np.full(len(self.people), -1), np.full(len(self.people), np.iinfo(np.int64).max)
        lowest[some] = highest[some] = self.value
        starts = self.who_at[:-1]
        return np.minimum.reduceat(lowest[self.who], starts), np.maximum.reduceat(highest[self.who], starts)

    def classes(self, person: int) -> IntArray:
        return self.place[self.place_at[person] : self.place_at[person + 1]]

    def inside(self, places: IntArray) -> IntArray:
        """The persons who are in any of some classes."""
        if len(places) == 1:
            return self.who[self.who_at[places[0]] : self.who_at[places[0] + 1]]
        parts = [self.who[self.who_at[c] : self.who_at[c + 1]] for c in places.tolist()]
        persons = np.concatenate(parts) if parts else np.empty(0, dtype=np.int64)
        # Whoever is in one class only comes once.
        return persons if len(self.who) == len(self.people) else np.unique(persons)

    def shared(self, persons: IntArray, elements: int) -> IntArray:
        """The values that all of some persons have."""
        if not len(persons):
            return np.empty(0, dtype=np.int64)
        # As `expanded` does, without the owners: this is asked for every guess.
        length = self.sizes[persons]
        at = np.repeat(self.value_at[persons] - np.cumsum(length) + length, length)
        values = self.value[at + np.arange(len(at))]
        return np.flatnonzero(np.bincount(values, minlength=elements) == len(persons))

    def hits(self, guesses: Sequence[IntArray], which: IntArray, elements: int) -> IntArray:
        """How many values of each person are in the guess made about that person."""
        told = [guess + number * elements for number, guess in enumerate(guesses)]
        owner = np.repeat(np.arange(len(self.people)), self.sizes)
        right = np.isin(which[owner] * elements + self.value, np.concatenate(told) if told else [])
        return np.bincount(owner[right], minlength=len(self.people))


def _mean(values: FloatArray, weights: IntArray) -> float:
    return float((values * weights).sum() / weights.sum()) if weights.any() else 0.0


Fits = tuple[IntArray, ...]
"""For each class of a person that fits any, the released classes that fit it."""


def _searched(
    pair: Pair, targets: _People, held: _People, elements: int
) -> tuple[IntArray, list[IntArray], IntArray]:
    """For each person the number of the candidates; of these what all have in common, and how many they are.

    Persons are the same whatever is to be known of them; without persons, records with equal values stand for one, and
    each is in one class, so that classes are searched instead.
    """
    remembered = pair.remembered if pair.original.event_level else {}
    if "options" not in remembered:
        remembered["options"] = _options(pair, targets)
    option, fits = remembered["options"]
    if "candidates" not in remembered:
        candidates = [
            _in_all([held.inside(places) for places in fitting] if pair.released.event_level else fitting)
            for fitting in fits
        ]
        ends = np.cumsum([0, *map(len, candidates)])
        remembered["candidates"] = (
            candidates,
            ends,
            np.concatenate(candidates) if candidates else np.empty(0, dtype=np.int64),
        )
    candidates, ends, joined = remembered["candidates"]
    if pair.released.event_level:
        return (
            option,
            [held.shared(persons, elements) for persons in candidates],
            _sums(held.people[joined], ends),
        )
    people = _sums(_sums(held.people[held.who], held.who_at)[joined], ends)
    if held.sizes.max(initial=0) > 1:
        return option, [held.shared(held.inside(places), elements) for places in candidates], people
    lowest, highest = held.extremes
    some = ends[1:] > ends[:-1]
    agreed = np.full(len(candidates), -1, dtype=np.int64)
    low = np.minimum.reduceat(lowest[joined], ends[:-1][some])
    agreed[some] = np.where(low == np.maximum.reduceat(highest[joined], ends[:-1][some]), low, -1)
    nothing = np.empty(0, dtype=np.int64)
    return option, [agreed[i : i + 1] if agreed[i] >= 0 else nothing for i in range(len(candidates))], people


def _sums(values: IntArray, ends: IntArray) -> IntArray:
    """The sum of each of the parts that follow one another, of which some may be empty."""
    return np.diff(np.append(0, np.cumsum(values))[ends])


def _in_all(parts: Sequence[IntArray]) -> IntArray:
    """What stands in every one of some rows of distinct numbers; nothing without any."""
    common = parts[0] if parts else np.empty(0, dtype=np.int64)
    for part in parts[1:]:
        common = np.intersect1d(common, part, assume_unique=True)
    return common


def _options(pair: Pair, targets: _People) -> tuple[IntArray, list[Fits]]:
    """For each person the number of what the intruder finds, and what that is: people alike have one guess."""
    numbers: dict[bytes, int] = {}
    kinds: list[IntArray] = []
    kind = np.empty(len(pair.original), dtype=np.int64)
    for c, fitting in enumerate(_fits(pair)):
        kind[c] = numbers.setdefault(fitting.tobytes(), len(numbers))
        if kind[c] == len(kinds):
            kinds.append(fitting)
    listed: dict[tuple[int, ...], int] = {}
    of_place = kind[targets.place]
    single = np.diff(targets.place_at) == 1
    # One class is the rule, and needs no look at each person.
    for number in np.unique(of_place[targets.place_at[:-1][single]]).tolist():
        listed[(number,)] = len(listed)
    place = np.zeros(len(kinds), dtype=np.int64)
    place[[number for (number,) in listed]] = list(listed.values())
    option = np.zeros(len(targets.people), dtype=np.int64)
    option[single] = place[of_place[targets.place_at[:-1][single]]]
    for person in np.flatnonzero(~single).tolist():
        mine = of_place[targets.place_at[person] : targets.place_at[person + 1]]
        option[person] = listed.setdefault(tuple(np.unique(mine).tolist()), len(listed))
    return option, [tuple(kinds[number] for number in several if len(kinds[number])) for several in listed]


def _fallen(pair: Pair, held: _People, elements: int) -> tuple[int, ...]:
    """The shown classes whose people have a value in common."""
    if held.sizes.max(initial=0) <= 1:
        lowest, highest = held.extremes
        return tuple(np.flatnonzero(~pair.suppressed & (lowest == highest)).tolist())
    return tuple(
        c
        for c in np.flatnonzero(~pair.suppressed).tolist()
        if len(held.shared(held.who[held.who_at[c] : held.who_at[c + 1]], elements))
    )


def _fits(pair: Pair) -> list[IntArray]:
    """For each original class the released classes that may stand for it."""
    shown = np.flatnonzero(~pair.suppressed)
    if not len(shown):
        return [np.arange(len(pair.released), dtype=np.int64)] * len(pair.original)
    owners, places = [], []
    for owner, place in _near(pair, shown):
        fitting = pair.covers(place, owner)
        owners.append(owner[fitting])
        places.append(place[fitting])
    indptr, fits = distinct_rows(np.concatenate(owners), np.concatenate(places), len(pair.original))
    return np.split(fits, indptr[1:-1])


def _near(pair: Pair, shown: IntArray) -> Iterator[tuple[IntArray, IntArray]]:
    """Pairs of classes that fit on the attribute that tells most, in bounded portions: the only ones to compare."""
    best: tuple[int, int, IntArray, IntArray] | None = None
    for j, meaning in enumerate(pair.meanings):
        codes = pair.released.codes[j][shown]
        order = np.argsort(codes, kind="stable")
        first = np.searchsorted(codes[order], np.arange(meaning.released.size + 1))
        reach = meaning.sum_covering(np.diff(first))[meaning.rank]
        pairs = int(reach[pair.original.codes[j]].sum())
        if best is None or pairs < best[0]:
            best = pairs, j, order, first
    assert best is not None, "a pair has at least one quasi-identifier"
    _, j, order, first = best
    meaning, codes = pair.meanings[j], pair.original.codes[j]
    lists: list[list[int]] = [[] for _ in range(meaning.original.size)]
    for code in np.unique(pair.released.codes[j][shown]).tolist():
        for member in meaning.members(code).tolist():
            lists[member].append(code)
    owners: list[IntArray] = []
    places: list[IntArray] = []
    size = 0
    by_value = np.argsort(codes, kind="stable")
    cuts = np.searchsorted(codes[by_value], np.arange(meaning.original.size + 1))
    for value, covering in enumerate(lists):
        here = by_value[cuts[value] : cuts[value + 1]]
        if not len(here) or not covering:
            continue
        there = np.concatenate([shown[order[first[code] : first[code + 1]]] for code in covering])
        step = max(_CHUNK // len(there), 1)
        for start in range(0, len(here), step):
            part = here[start : start + step]
            owners.append(np.repeat(part, len(there)))
            places.append(np.tile(there, len(part)))
            size += len(owners[-1])
            if size >= _CHUNK:
                yield np.concatenate(owners), np.concatenate(places)
                owners, places, size = [], [], 0
    yield (
        np.concatenate([*owners, np.empty(0, dtype=np.int64)]),
        np.concatenate([*places, np.empty(0, dtype=np.int64)]),
    )
