"""Original (or public table) and release cut down to what an intruder knows, and who fits whom."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

import numpy as np

from discreet.classes.equivalence import EquivalenceClasses, Unit
from discreet.classes.pair import Pair
from discreet.errors import InvalidParameter
from discreet.table.domain import Domain
from discreet.table.meaning import KINDS, Meaning
from discreet.types import BoolArray, FloatArray, IntArray

if TYPE_CHECKING:
    from discreet.attacks.linkage.fitting_kernels import Spans, Tree


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
        both = np.unique(owner * width + persons)
        ptr = np.searchsorted(both, np.arange(len(records) + 1) * width)
        return cls(codes, np.diff(ptr), records, group, ptr, both % width)

    def __len__(self) -> int:
        return len(self.sizes)

    @property
    def total(self) -> int:
        """People behind the combinations: distinct ones at event level."""
        return len(np.unique(self.who)) if len(self.who) else int(self.sizes.sum())


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
                )
                for domain in domains
            )
            match = _matches(pair, before, targets, aims, names)
        released = Combinations.of(pair.released, names)
        inside = np.append(before.sizes, 0)[match]
        present = np.minimum(aims.sizes, inside).astype(np.float64)
        hidden = np.ones(len(released), dtype=bool)
        for meaning, codes in zip(meanings, released.codes, strict=True):
            starred = meaning.kinds == KINDS.index("suppressed")
            hidden &= (starred & (meaning.sizes == meaning.original.size))[codes]
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
        found = np.ones(len(released), dtype=bool)
        for j, meaning in enumerate(self.meanings):
            found &= meaning.covers(self.released.codes[j][released], self.targets.codes[j][target])
        return found

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
    found = inside if known is None else tuple(name for name in inside if name in known)
    if not found:
        raise InvalidParameter(
            "the intruder knows no quasi-identifier of the release",
            remedy="name at least one attribute that both tables have",
        )
    return found


@dataclass(frozen=True)
class Fit:
    """People that fit each query: all of them, those among combinations that show something, and one entry of
    the latter (-1: none). ``hidden`` is the number behind combinations that fit everybody."""

    everyone: IntArray
    shown: IntArray
    only: IntArray
    hidden: int

    @property
    def pool(self) -> IntArray:
        """Among how many an intruder guesses: those that show something, the others only if none of them fits."""
        return np.where(self.shown > 0, self.shown, self.everyone)


def released_fitting(view: View, at: IntArray | None = None) -> Fit:
    """The released people that fit each target (or those at ``at``): compatible on all known attributes.

    The distinct released combinations form a tree, the least selective attribute on top; a target walks only into
    the children that may stand for its value, and sorted targets share the walk as far as they begin alike.

    >>> original = EquivalenceClasses.from_columns({"age": [31, 34, 47]})
    >>> released = EquivalenceClasses.from_columns({"age": ["[30, 39]", "[30, 39]", "[40, 49]"]})
    >>> released_fitting(View.of(Pair.of(original, released))).everyone
    array([2, 2, 1])
    """
    chosen = np.arange(len(view.targets)) if at is None else at
    ranks = [m.rank[codes[chosen]] for m, codes in zip(view.meanings, view.targets.codes, strict=True)]
    return _fitting(view.meanings, ranks, view.released, view.hidden, released=True)


def original_fitting(
    meanings: Sequence[Meaning], queries: Sequence[IntArray], original: Combinations
) -> IntArray:
    """The original people that each released combination (its codes by attribute) may stand for."""
    ranks = tuple(m.rank[codes] for m, codes in zip(meanings, original.codes, strict=True))
    nobody = np.zeros(len(original), dtype=bool)
    return _fitting(meanings, queries, replace(original, codes=ranks), nobody, released=False).everyone


def _fitting(
    meanings: Sequence[Meaning],
    queries: Sequence[IntArray],
    entries: Combinations,
    hidden: BoolArray,
    *,
    released: bool,
) -> Fit:
    from discreet.attacks.linkage.fitting_kernels import People, fitting

    size = len(queries[0])
    events = len(entries.who) > 0
    persons_hidden = np.zeros(int(entries.who.max()) + 1 if events else 0, dtype=bool)
    if events:
        persons_hidden[entries.who[np.repeat(hidden, np.diff(entries.ptr))]] = True
    behind = int(persons_hidden.sum()) if events else int(entries.sizes[hidden].sum())
    counts, besides = np.zeros(size, dtype=np.int64), np.zeros(size, dtype=np.int64)
    only = np.full(size, -1, dtype=np.int64)
    shown = np.flatnonzero(~hidden)
    if len(shown) and size:
        levels = _levels(meanings, queries, [codes[shown] for codes in entries.codes], released=released)
        spans, offsets = spans_of(meanings, levels)
        values = [queries[j] + (0 if released else offsets[i]) for i, j in enumerate(levels)]
        order = np.lexsort(tuple(reversed(values)))
        asked = np.ascontiguousarray(np.stack([value[order] for value in values], axis=1))
        columns = [entries.codes[j][shown] + (offsets[i] if released else 0) for i, j in enumerate(levels)]
        people = People(entries.sizes, entries.ptr, entries.who, persons_hidden)
        found = [np.empty(size, dtype=np.int64) for _ in range(3)]
        fitting(tree_of(columns, shown), spans, asked, released, people, *found)
        counts[order], besides[order], only[order] = found
    return Fit(behind + besides, counts, only, behind)


def tree_of(columns: Sequence[IntArray], entries: IntArray) -> Tree:
    """Distinct combinations, given by their codes per level, as a tree whose leaves are ``entries``."""
    from discreet.attacks.linkage.fitting_kernels import Tree

    order = np.lexsort(tuple(reversed(columns)))
    fresh = np.zeros(len(order), dtype=bool)
    fresh[:1] = True
    starts = []
    for column in columns:
        fresh[1:] |= np.diff(column[order]) != 0
        starts.append(np.flatnonzero(fresh))
    level = np.cumsum([0, *map(len, starts)]).astype(np.int64)
    code = np.concatenate([column[order][at] for column, at in zip(columns, starts, strict=True)])
    first = np.concatenate(
        [level[i + 1] + np.searchsorted(starts[i + 1], starts[i]) for i in range(len(starts) - 1)]
        or [np.empty(0, dtype=np.int64)]
    )
    # Children lie in a row: those of a node end where those of the next begin.
    last = np.append(first[1:], level[-1]) if len(first) else first
    return Tree(level, code, first.astype(np.int64), last.astype(np.int64), entries[order])


def spans_of(meanings: Sequence[Meaning], levels: Sequence[int]) -> tuple[Spans, IntArray]:
    """What the released codes stand for, numbered through in the order of ``levels``; the first code of each."""
    from discreet.attacks.linkage.fitting_kernels import Spans

    chosen = [meanings[j] for j in levels]
    offsets = np.cumsum([0, *(len(m.indptr) - 1 for m in chosen)]).astype(np.int64)
    shifts = np.cumsum([0, *(len(m.starts) for m in chosen)])
    ptr = np.concatenate(
        [m.indptr[:-1] + shift for m, shift in zip(chosen, shifts, strict=False)] + [shifts[-1:]]
    )
    spans = Spans(
        ptr.astype(np.int64),
        np.concatenate([m.starts for m in chosen]).astype(np.int64),
        np.concatenate([m.stops for m in chosen]).astype(np.int64),
    )
    return spans, offsets


def _levels(
    meanings: Sequence[Meaning],
    queries: Sequence[IntArray],
    entries: Sequence[IntArray],
    *,
    released: bool,
) -> list[int]:
    """The attributes in the order of the tree.

    In a tree of the release those with the largest share of fitting entries come first: they have few nodes, whose
    walks many queries share, which outweighs cutting early (measured: 1.5 to 5 times). In a tree of the original
    children are looked up rather than tried, and cutting early is better.
    """
    shares = []
    for meaning, asked, held in zip(meanings, queries, entries, strict=True):
        ranks, codes = (asked, held) if released else (held, asked)
        covering = meaning.sum_covering(np.bincount(codes, minlength=meaning.released.size))
        by_rank = np.bincount(ranks, minlength=meaning.original.size)
        shares.append(float(covering @ by_rank) / (len(ranks) * len(codes)))
    return [int(j) for j in np.argsort(np.array(shares) * (-1 if released else 1), kind="stable")]


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
    found = place[number[len(before) :]]
    return np.where(known, found, len(before))
