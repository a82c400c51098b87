"""Original (or public table) and release cut down to what an intruder knows."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace

import numpy as np

from discreet.arrays import distinct
from discreet.classes.equivalence import EquivalenceClasses
from discreet.classes.histogram import Unit
from discreet.classes.pair import Pair
from discreet.errors import InvalidParameter
from discreet.table.domain import Domain
from discreet.table.meaning import KINDS, Meaning
from discreet.types import BoolArray, FloatArray, IntArray


@dataclass(frozen=True)
class Combinations:
    """The distinct combinations of some attributes in a table, and the people who have them.

    ``codes[j][c]`` is the value of attribute ``j``; ``sizes`` counts records, or persons at event level;
    ``group[k]`` is the combination of class ``k`` of the table. ``who[ptr[c]:ptr[c + 1]]`` are the persons of
    combination ``c`` at event level; both are empty otherwise.
    """

    codes: tuple[IntArray, ...]
    sizes: IntArray
    records: IntArray
    group: IntArray
    ptr: IntArray = field(default_factory=lambda: np.zeros(1, dtype=np.int64))
    who: IntArray = field(default_factory=lambda: np.empty(0, dtype=np.int64))

    @classmethod
    def of(cls, classes: EquivalenceClasses, names: Sequence[str]) -> Combinations:
        """The combinations of quasi-identifiers ``names``, in ascending order of their codes.

        >>> classes = EquivalenceClasses.from_columns({"a": [1, 1, 2], "b": [1, 2, 2]})
        >>> Combinations.of(classes, ["a"]).sizes
        array([2, 1])
        """
        number, _ = classes.groups(names)
        _, first, group = np.unique(number, return_index=True, return_inverse=True)
        codes = tuple(classes.codes[classes.index(name)][first].astype(np.int64) for name in names)
        records = np.bincount(group, weights=classes.records, minlength=len(first)).astype(np.int64)
        if not classes.event_level:
            return cls(codes, records, records, group)
        inside = classes.person_counts
        return cls._of_persons(
            codes, records, group, np.repeat(group, np.diff(inside.indptr)), inside.persons
        )

    @classmethod
    def of_cells(cls, classes: EquivalenceClasses, names: Sequence[str]) -> Combinations:
        """The combinations of any attributes counted, sensitive ones too; ``group`` is that of each cell.

        >>> classes = EquivalenceClasses.from_columns({"a": [1, 1]}, sensitive={"s": ["x", "y"]})
        >>> Combinations.of_cells(classes, ["a", "s"]).sizes
        array([1, 1])
        """
        columns = [classes.column_of_cells(name) for name in names]
        number = np.zeros(len(classes.counts), dtype=np.int64)
        for domain, column in columns:
            _, number = np.unique(number * domain.size + column, return_inverse=True)
        _, first, group = np.unique(number, return_index=True, return_inverse=True)
        codes = tuple(column[first].astype(np.int64) for _, column in columns)
        records = np.bincount(group, weights=classes.counts, minlength=len(first)).astype(np.int64)
        if classes.person_codes is None:
            return cls(codes, records, records, group)
        return cls._of_persons(codes, records, group, group, classes.person_codes)

    @classmethod
    def _of_persons(
        cls,
        codes: tuple[IntArray, ...],
        records: IntArray,
        group: IntArray,
        owner: IntArray,
        persons: IntArray,
    ) -> Combinations:
        """With the distinct persons of each combination: one may have several classes or cells of it."""
        width = int(persons.max()) + 1
        both = distinct(owner * width + persons)
        ptr = np.searchsorted(both, np.arange(len(records) + 1) * width)
        return cls(codes, np.diff(ptr), records, group, ptr, both % width)

    def __len__(self) -> int:
        return len(self.sizes)

    @property
    def total(self) -> int:
        """People behind the combinations: distinct ones at event level."""
        return len(distinct(self.who)) if len(self.who) else int(self.sizes.sum())


@dataclass(frozen=True)
class TrueLinks:
    """Where the people of the targets are: ``people[i]`` of target ``target[i]`` in released combination
    ``released[i]``, as far as they are in the release."""

    target: IntArray
    released: IntArray
    people: FloatArray


@dataclass(frozen=True)
class View:
    """What an intruder sees who knows the attributes ``names`` of the people in ``targets``.

    ``meanings`` read released values against the targets' own. ``present[t]`` are the people of target ``t``
    who are in the original, recognised by equal values: min(F, f) for F people in the public table and f in the
    original. ``truth`` says where they are in the release; ``None`` if that is unknown. ``hidden`` are the
    released combinations that fit everybody, because they show none of ``names``.
    """

    names: tuple[str, ...]
    unit: Unit
    meanings: tuple[Meaning, ...]
    targets: Combinations
    released: Combinations
    tried: IntArray
    present: FloatArray
    truth: TrueLinks | None
    hidden: BoolArray
    scales: tuple[tuple[float, float], ...]
    """Least number and range of each attribute in the original; NaN where it has no numbers."""

    @classmethod
    def of(
        cls, pair: Pair, known: Sequence[str] | None = None, targets: EquivalenceClasses | None = None
    ) -> View:
        """The pair as seen with knowledge of ``known``: all quasi-identifiers, or all that ``targets`` has."""
        names = known_names(pair, known, targets)
        before = Combinations.of(pair.original, names)
        if targets is None:
            aims, meanings = before, tuple(pair.meaning(name) for name in names)
            match = np.arange(len(before))
        else:
            aims = Combinations.of(targets, names)
            domains = [targets.attributes[targets.index(name)] for name in names]
            meanings = tuple(
                Meaning.of(
                    domain,
                    pair.released.attributes[pair.released.index(domain.name)],
                    pair.hierarchies.get(domain.name),
                    pair.told.get(domain.name),
                )
                for domain in domains
            )
            match = _matches(pair, before, targets, aims, names)
        released = Combinations.of(pair.released, names)
        inside = np.append(before.sizes, 0)[match]
        present = np.minimum(aims.sizes, inside).astype(np.float64)
        hidden = np.ones(len(released), dtype=bool)
        for meaning, codes in zip(meanings, released.codes, strict=True):
            hidden &= meaning.suppressed[codes]
        return cls(
            names,
            pair.unit,
            meanings,
            aims,
            released,
            aims.sizes,
            present,
            _truth(pair, before, released, match, present),
            hidden,
            tuple(_scale(pair.original.attributes[pair.original.index(name)]) for name in names),
        )

    def sampled(self, at_most: int, seed: int) -> View:
        """The same with at most so many people to attack, drawn without replacement."""
        total = int(self.tried.sum())
        if total <= at_most:
            return self
        rng = np.random.default_rng(seed)
        drawn = rng.multivariate_hypergeometric(self.tried, at_most, method="marginals")
        share = drawn / np.maximum(self.tried, 1)
        truth = self.truth and replace(self.truth, people=self.truth.people * share[self.truth.target])
        return replace(self, tried=drawn, present=self.present * share, truth=truth)

    def covers(self, released: IntArray, target: IntArray) -> BoolArray:
        """Whether released combinations may stand for the targets beside them."""
        fits = np.ones(len(released), dtype=bool)
        for j, meaning in enumerate(self.meanings):
            fits &= meaning.covers(self.released.codes[j][released], self.targets.codes[j][target])
        return fits

    def labels(self, target: int) -> dict[str, str]:
        """The values of a target, as printed."""
        return {
            meaning.name: meaning.original.label(int(codes[target]))
            for meaning, codes in zip(self.meanings, self.targets.codes, strict=True)
        }


def known_names(
    pair: Pair, known: Sequence[str] | None, targets: EquivalenceClasses | None = None
) -> tuple[str, ...]:
    """The quasi-identifiers an intruder is taken to know, in the order of the original.

    Sensitive attributes among ``known`` are left out: links between records say nothing about them.

    >>> original = EquivalenceClasses.from_columns({"age": [31, 34], "sex": ["f", "m"]})
    >>> known_names(Pair.of(original, original), ["sex"])
    ('sex',)
    """
    inside = pair.names if targets is None else tuple(name for name in pair.names if name in targets.names)
    sensitive = [domain.name for domain in pair.original.sensitive]
    for name in known or ():
        if name not in sensitive:
            pair.original.index(name)
            if targets is not None:
                targets.index(name)
    names = inside if known is None else tuple(name for name in inside if name in known)
    if not names:
        raise InvalidParameter(
            "the intruder knows no quasi-identifier of the release",
            remedy="name at least one attribute that both tables have",
        )
    return names


def _scale(domain: Domain) -> tuple[float, float]:
    numbers = domain.numbers[~np.isnan(domain.numbers)]
    if not domain.is_numeric or not len(numbers):
        return np.nan, np.nan
    return float(numbers.min()), float(np.ptp(numbers)) or 1.0


def _truth(
    pair: Pair,
    before: Combinations,
    released: Combinations,
    match: IntArray,
    present: FloatArray,
) -> TrueLinks | None:
    """The links between targets and released combinations, in people."""
    if pair.links is None:
        return None
    inside = pair.links.released >= 0
    source = before.group[pair.links.original[inside]]
    goal = released.group[pair.links.released[inside]]
    target_of = np.full(len(before), -1, dtype=np.int64)
    known = match < len(before)
    target_of[match[known]] = np.flatnonzero(known)
    key, back = np.unique(source * len(released) + goal, return_inverse=True)
    records = np.bincount(back, weights=pair.links.records[inside], minlength=len(key))
    source, goal = key // max(len(released), 1), key % max(len(released), 1)
    target = target_of[source]
    aimed = target >= 0
    source, goal, target, records = source[aimed], goal[aimed], target[aimed], records[aimed]
    return TrueLinks(target, goal, records * present[target] / before.records[source])


def _matches(
    pair: Pair,
    before: Combinations,
    targets: EquivalenceClasses,
    aims: Combinations,
    names: Sequence[str],
) -> IntArray:
    """For each target the original combination with the same values; ``len(before)`` if there is none."""
    number = np.zeros(len(before) + len(aims), dtype=np.int64)
    known = np.ones(len(aims), dtype=bool)
    for j, name in enumerate(names):
        domain = pair.original.attributes[pair.original.index(name)]
        same = Meaning.of(domain, targets.attributes[targets.index(name)])
        exact = same.kinds == KINDS.index("exact")
        code = np.full(len(exact), domain.size, dtype=np.int64)
        code[exact] = same.code_at[same.starts[same.indptr[:-1][exact]]]
        known &= exact[aims.codes[j]]
        column = np.concatenate([before.codes[j], code[aims.codes[j]]])
        _, number = np.unique(number * (domain.size + 1) + column, return_inverse=True)
    place = np.full(int(number.max()) + 1, len(before), dtype=np.int64)
    place[number[: len(before)]] = np.arange(len(before))
    matches = place[number[len(before) :]]
    return np.where(known, matches, len(before))
