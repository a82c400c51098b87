"""Singling out by predicates: guesses that isolate one artificial record, and one person of the original with it."""

from __future__ import annotations

import random
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Literal

import numpy as np

from discreet.attacks.linkage.view import known_names
from discreet.attacks.result import AttackResult
from discreet.attacks.synthetic.control import beyond_others, drawn_people
from discreet.classes.equivalence import EquivalenceClasses
from discreet.classes.pair import Pair
from discreet.errors import InvalidParameter
from discreet.sentences import Sentence
from discreet.table.domain import Domain
from discreet.table.meaning import KINDS
from discreet.types import BoolArray, FloatArray, IntArray

MOST_GUESSES = 1_000
"""So many different guesses are tried."""
DRAWS = 5
"""For each of them so many are drawn at most: many hold for no single artificial record."""
SOURCE = (
    "Cohen, Nissim, Towards formalizing the GDPR's notion of singling out, PNAS 2020; Giomi et al., A unified framework for "
    "quantifying privacy risk in synthetic data, PoPETs 2023"
)
_SINGLE = (KINDS.index("exact"), KINDS.index("foreign"))

Sign = Literal["=", "<=", ">="]


@dataclass(frozen=True)
class Condition:
    """What a guess says of one attribute: that its value is this one, or at most or at least this number."""

    attribute: int
    sign: Sign
    value: str | float


@dataclass(frozen=True)
class AttributeValues:
    """The values of an attribute by code: as numbers where the original has any, as printed, and whether they are single ones."""

    numeric: bool
    numbers: FloatArray
    labels: tuple[str, ...]
    single: BoolArray

    @classmethod
    def of(cls, domain: Domain, *, numeric: bool, single: BoolArray | None = None) -> AttributeValues:
        whole = np.ones(domain.size, dtype=bool) if single is None else single
        return cls(numeric, domain.numbers, tuple(domain.labels()), whole)

    @cached_property
    def places(self) -> dict[str, list[int]]:
        """The codes that print so."""
        codes: dict[str, list[int]] = {}
        for code, label in enumerate(self.labels):
            codes.setdefault(label, []).append(code)
        return codes

    def meet(self, condition: Condition) -> BoolArray:
        """Which values meet a condition.

        >>> import pyarrow as pa
        >>> ages = AttributeValues.of(Domain("age", pa.array([31, 47]), has_null=True), numeric=True)
        >>> [ages.meet(Condition(0, sign, 40.0)).tolist() for sign in ("<=", ">=")], ages.meet(Condition(0, "=", "∅")).tolist()
        ([[True, False, False], [False, True, False]], [False, False, True])
        """
        if isinstance(condition.value, str):
            met = np.zeros(len(self.labels), dtype=bool)
            met[self.places.get(condition.value, [])] = True
            return met
        with np.errstate(invalid="ignore"):
            if condition.sign == "=":
                return np.asarray(
                    np.abs(self.numbers - condition.value) <= 1e-9 * max(abs(condition.value), 1.0)
                )
            return np.asarray(
                self.numbers <= condition.value if condition.sign == "<=" else self.numbers >= condition.value
            )


@dataclass(frozen=True)
class _PeopleOfGuesses:
    """A table as guesses are held against it: values by class, and how many people each class has."""

    values: tuple[AttributeValues, ...]
    codes: tuple[IntArray, ...]
    sizes: IntArray

    @classmethod
    def of(
        cls, classes: EquivalenceClasses, names: Sequence[str], like: Pair, sizes: IntArray
    ) -> _PeopleOfGuesses:
        """People by some attributes; a single value of a release is one that is no interval, set, mask or star."""
        there = np.flatnonzero(sizes)
        values = []
        for name in names:
            meaning = like.meaning(name)
            single = np.isin(meaning.kinds, _SINGLE) if classes is like.released else None
            domain = classes.attributes[classes.index(name)]
            values.append(AttributeValues.of(domain, numeric=meaning.numeric, single=single))
        codes = tuple(classes.codes[classes.index(name)][there].astype(np.int64) for name in names)
        return cls(tuple(values), codes, sizes[there])

    def isolates(self, guess: Sequence[Condition]) -> bool:
        """Whether exactly one person meets all conditions."""
        fits = np.ones(len(self.sizes), dtype=bool)
        for condition in guess:
            j = condition.attribute
            fits &= self.values[j].meet(condition)[self.codes[j]]
        return int(self.sizes[fits].sum()) == 1


def singling_out_by_predicates(
    pair: Pair,
    *,
    control: EquivalenceClasses,
    known: Sequence[str] | None = None,
    seed: int = 1,
) -> Iterator[AttackResult]:
    """Guess predicates that hold for one person only, from artificial records alone; once by one attribute, once by several.

    *By one attribute*: a value that exactly one artificial record has, and beyond their least and largest number. *By several*: of
    an artificial record drawn at random, the values of a random set of at least two attributes, numbers as "at least" above the
    median of the release and "at most" below, kept where exactly one artificial record meets all. A guess is right if exactly one
    person of the original meets it. Whoever guesses of rare things is right now and then about anybody: the baseline is how often
    the same guesses isolate somebody among as many people of ``control``, who are not in the original and drawn like it; of the
    larger of both tables as many are drawn as the smaller has. The interval bounds the difference (`beyond_others`).

    >>> people = EquivalenceClasses.from_columns({"age": [31, 34, 47, 99]})
    >>> others = EquivalenceClasses.from_columns({"age": [30, 35, 47, 50]})
    >>> artificial = EquivalenceClasses.from_columns({"age": [31, 31, 47, 99]})
    >>> result = next(singling_out_by_predicates(Pair.of(people, artificial), control=others))
    >>> result.tries, result.successes, result.baseline  # 47, 99, at most 31, at least 99
    (4.0, 4.0, 0.5)
    """
    names = known_names(pair, known, control)
    if pair.original.event_level:
        raise InvalidParameter(
            "guesses of single people were not tried: people have several records",
            remedy="make one record of each person first",
        )
    fewer = min(pair.original.total, control.total)
    released, everybody = (
        _PeopleOfGuesses.of(table, names, pair, table.records.astype(np.int64))
        for table in (pair.released, pair.original)
    )
    sides = [
        _PeopleOfGuesses.of(people, names, pair, drawn_people(people, fewer, seed))
        for people in (pair.original, control)
    ]
    rng = random.Random(seed)
    for attack, guesses in (
        ("predicates-of-one-attribute", _of_one(released, rng)),
        ("predicates-of-several-attributes", _of_several(released, rng)),
    ):
        began = time.perf_counter()
        tries = float(len(guesses))
        own, others, in_all = (
            sum(people.isolates(guess) for guess in guesses) / max(tries, 1.0)
            for people in (*sides, everybody)
        )
        yield AttackResult(
            attack=attack,
            criterion="singling-out",
            tries=tries,
            successes=own * tries,
            baseline=others,
            meaning=Sentence(
                "Of guesses that hold for one released record {own:.1%} hold for exactly one of {people:,} people whose records "
                "were used, {others:.1%} for exactly one of as many others.",
                own=own,
                people=fewer,
                others=others,
            ),
            scenario="someone who holds the release and wants to single anybody out",
            known=names,
            unit="records",
            source=SOURCE,
            figures=(("isolated-in-the-whole-original", in_all), ("people", float(fewer))),
            seconds=time.perf_counter() - began,
            notes=() if guesses else ("no guess holds for exactly one released record",),
            interval=beyond_others(own, tries, others, tries) if guesses else None,
        )


def _of_one(released: _PeopleOfGuesses, rng: random.Random) -> list[tuple[Condition, ...]]:
    """Values that one artificial record has, and the ends of numbers."""
    guesses: list[Condition] = []
    for j, (values, codes) in enumerate(zip(released.values, released.codes, strict=True)):
        often = np.bincount(codes, weights=released.sizes, minlength=len(values.labels))
        guesses += [_says(j, "=", values, int(code)) for code in np.flatnonzero((often == 1) & values.single)]
        shown = values.numbers[(often > 0) & values.single]
        shown = shown[~np.isnan(shown)]
        if values.numeric and len(shown):
            guesses += [Condition(j, "<=", float(shown.min())), Condition(j, ">=", float(shown.max()))]
    if len(guesses) > MOST_GUESSES:
        guesses = rng.sample(guesses, MOST_GUESSES)
    return [(condition,) for condition in guesses]


def _of_several(released: _PeopleOfGuesses, rng: random.Random) -> list[tuple[Condition, ...]]:
    """Conditions on several attributes of a record drawn at random that only this one meets."""
    width = len(released.values)
    if width < 2 or not len(released.sizes):
        return []
    middle = [
        _median(values, codes, released.sizes)
        for values, codes in zip(released.values, released.codes, strict=True)
    ]
    seen: set[tuple[Condition, ...]] = set()
    guesses: list[tuple[Condition, ...]] = []
    for place in rng.choices(range(len(released.sizes)), released.sizes.tolist(), k=MOST_GUESSES * DRAWS):
        guess = []
        for j in sorted(rng.sample(range(width), rng.randint(2, width))):
            values, code = released.values[j], int(released.codes[j][place])
            if not values.single[code]:
                continue
            number = values.numbers[code]
            sign: Sign = (
                "=" if not values.numeric or np.isnan(number) else ">=" if number > middle[j] else "<="
            )
            guess.append(_says(j, sign, values, code))
        said = tuple(guess)
        if len(said) < 2 or said in seen:
            continue
        seen.add(said)
        if released.isolates(said):
            guesses.append(said)
            if len(guesses) == MOST_GUESSES:
                break
    return guesses


def _says(j: int, sign: Sign, values: AttributeValues, code: int) -> Condition:
    number = values.numbers[code]
    if values.numeric and not np.isnan(number):
        return Condition(j, sign, float(number))
    return Condition(j, "=", values.labels[code])


def _median(values: AttributeValues, codes: IntArray, sizes: IntArray) -> float:
    numbers = values.numbers[codes]
    known = ~np.isnan(numbers)
    if not values.numeric or not known.any():
        return np.nan
    order = np.argsort(numbers[known], kind="stable")
    running = np.cumsum(sizes[known][order])
    return float(numbers[known][order][np.searchsorted(running, running[-1] / 2)])
