"""An original table and its release, counted side by side: what losses and attacks read."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any, TypeVar

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from discreet.classes.alignment import locate
from discreet.classes.equivalence import EquivalenceClasses
from discreet.classes.fitting import sums_fitting
from discreet.classes.histogram import Unit
from discreet.errors import UnknownColumn
from discreet.table.domain import Domain
from discreet.table.hierarchies.hierarchy import Hierarchy
from discreet.table.meaning import KINDS, Meaning
from discreet.table.values import SUPPRESSED, OneOf
from discreet.types import AnyIntArray, BoolArray, FloatArray, IntArray

Number = TypeVar("Number", np.int64, np.float64)

MOST_COMPARED = 2_000_000
"""Pairs of a released and an original class that are compared to find out whether values were made up."""
_CHUNK = 500_000

Told = Mapping[str, Mapping[str, OneOf]]
"""Per attribute what its short labels stand for."""


@dataclass(frozen=True)
class Links:
    """What became of the records: ``records[i]`` of class ``original[i]`` stand in class ``released[i]``.

    A released class of -1 says that these records are not in the release.
    """

    original: IntArray
    released: IntArray
    records: IntArray


@dataclass(frozen=True)
class RowOrder:
    """The classes of the rows of an original and of its release as they stand, and who became whom.

    ``places[i]`` is the original row of released row ``i``.

    >>> RowOrder(np.array([0, 0, 1]), np.array([1, 0]), np.array([2, 0])).links().released
    array([-1,  0,  1])
    """

    original: IntArray
    released: IntArray
    places: IntArray

    def links(self) -> Links:
        """What became of the records of each class."""
        became = np.full(len(self.original), -1, dtype=np.int64)
        became[self.places] = self.released
        width = int(self.released.max(initial=0)) + 2
        keys, records = np.unique(self.original * width + became + 1, return_counts=True)
        return Links(keys // width, keys % width - 1, records.astype(np.int64))


@dataclass(frozen=True)
class ExpectedCells:
    """What is expected of the classes of a release whose values are told by bucket or by a matrix of probabilities.

    ``counts[i]`` records of class ``owner[i]`` are expected to have the values ``columns[name][i]``, of sensitive attributes and of
    quasi-identifiers that were drawn by a matrix. An estimate may be negative.
    """

    classes: EquivalenceClasses
    owner: IntArray
    columns: Mapping[str, AnyIntArray]
    counts: FloatArray

    @property
    def total(self) -> int:
        """Records in the table."""
        return self.classes.total

    def column_of_cells(self, name: str) -> tuple[Domain, AnyIntArray]:
        """Domain and code per cell of any attribute."""
        if name in self.classes.names:
            at = self.classes.index(name)
            own = self.columns[name] if name in self.columns else self.classes.codes[at][self.owner]
            return self.classes.attributes[at], own
        return self.classes.sensitive_domain(name), self.columns[name]


@dataclass(frozen=True)
class Pair:
    """The classes of an original and of its release over the same quasi-identifiers.

    ``meanings[j]`` says what the released values of attribute ``j`` may stand for, ``sensitive`` the same for
    sensitive attributes that both tables have. ``links`` say which records became which; ``None`` where that
    is not known. ``hierarchies`` are those of the quasi-identifiers that have one; those in ``assumed`` were given by
    nobody, and it says where they came from: they help to read labels, but are no scale to measure any release by.
    ``order`` are the rows as they stand, if it is known which became which. ``kept`` are the sensitive attributes of which every linked record is known to have its own value still.

    >>> original = EquivalenceClasses.from_columns({"age": [31, 34, 47]}, sensitive={"flu": ["y", "n", "n"]})
    >>> released = EquivalenceClasses.from_columns({"age": ["[30, 39]"] * 2}, sensitive={"flu": ["y", "n"]})
    >>> pair = Pair.of(original, released)
    >>> pair.names, pair.meanings[0].shares, pair.covers(np.array([0]), np.array([2]))
    (('age',), array([0.66666667]), array([False]))
    """

    original: EquivalenceClasses
    released: EquivalenceClasses
    meanings: tuple[Meaning, ...] = field(repr=False)
    sensitive: Mapping[str, Meaning] = field(default_factory=dict, repr=False)
    links: Links | None = field(default=None, repr=False)
    hierarchies: Mapping[str, Hierarchy] = field(default_factory=dict, repr=False)
    kept: frozenset[str] = frozenset()
    assumed: Mapping[str, str] = field(default_factory=dict, repr=False)
    order: RowOrder | None = field(default=None, repr=False)
    told: Told = field(default_factory=dict, repr=False)
    """Per quasi-identifier what its short labels stand for, as a codebook says."""
    expected: ExpectedCells | None = field(default=None, repr=False)
    """What is expected of the classes, where a bucket or a matrix of probabilities tells the values."""
    remembered: dict[str, Any] = field(default_factory=dict, init=False, repr=False, compare=False)
    """What is the same for all sensitive attributes, and was worked out for the first of them, by name."""

    @classmethod
    def of(
        cls,
        original: EquivalenceClasses,
        released: EquivalenceClasses,
        *,
        hierarchies: Mapping[str, Hierarchy] | None = None,
        links: Links | None = None,
        kept: Iterable[str] = (),
        assumed: Mapping[str, str] | None = None,
        order: RowOrder | None = None,
        told: Told | None = None,
    ) -> Pair:
        """Both tables side by side; a quasi-identifier that the release lacks is suppressed everywhere."""
        given = dict(hierarchies or {})
        told = dict(told or {})
        extra = [name for name in released.names if name not in original.names]
        if extra:
            raise UnknownColumn(extra[0], original.names)
        aligned = _filled(released, original.names)
        known = {domain.name for domain in original.sensitive}
        both = [domain.name for domain in released.sensitive if domain.name in known]
        return cls(
            original,
            aligned,
            tuple(
                Meaning.of(
                    before,
                    after,
                    given.get(before.name),
                    told.get(before.name),
                    assumed=before.name in (assumed or {}),
                )
                for before, after in zip(original.attributes, aligned.attributes, strict=True)
            ),
            {
                name: Meaning.of(
                    original.sensitive_domain(name), released.sensitive_domain(name), given.get(name)
                )
                for name in both
            },
            links,
            given,
            frozenset(kept),
            dict(assumed or {}),
            order,
            told,
        )

    @property
    def names(self) -> tuple[str, ...]:
        """The quasi-identifiers."""
        return self.original.names

    @property
    def unit(self) -> Unit:
        """Whether people are counted as persons (event level) or as records."""
        return "persons" if self.original.event_level else "records"

    def meaning(self, name: str) -> Meaning:
        """What the released values of a quasi-identifier or sensitive attribute may stand for."""
        if name in self.sensitive:
            return self.sensitive[name]
        return self.meanings[self.original.index(name)]

    @cached_property
    def truthful(self) -> bool:
        """Whether released quasi-identifiers only say less than the original, never something else.

        Known for certain only with links. Without them it is given away by a value that the original lacks, or by
        a class with more records than the original has of people who fit it; of very many classes some are tried.
        """
        if not all(meaning.truthful for meaning in self.meanings):
            return False
        if self.links is None:
            return self._room_for_all()
        shown = self.links.released >= 0
        return bool(self.covers(self.links.released[shown], self.links.original[shown]).all())

    def _room_for_all(self) -> bool:
        """Whether each released class may stand for at least as many original records as it has."""
        classes = np.flatnonzero(~self.suppressed)
        tried = max(MOST_COMPARED // max(len(self.original), 1), 1)
        if len(classes) > tried:
            classes = classes[np.linspace(0, len(classes) - 1, tried).astype(np.int64)]
        return all(
            (fitting >= self.released.records[some]).all()
            for some, fitting in self._fitting(classes, self.original.records)
        )

    def _fitting(
        self, classes: IntArray, sizes: NDArray[Number]
    ) -> Iterator[tuple[IntArray, NDArray[Number]]]:
        """Some released classes at a time, with the sum of ``sizes`` of the original classes that each may stand for."""
        before = np.arange(len(self.original))
        step = max(_CHUNK // max(len(before), 1), 1)
        for start in range(0, len(classes), step):
            some = classes[start : start + step]
            yield some, self.covers(some[:, None], before[None]) @ sizes

    @cached_property
    def fitting(self) -> IntArray:
        """How many people of the original each released class may stand for: records, or persons at event level.

        >>> people = EquivalenceClasses.from_columns({"age": [31, 34, 47]})
        >>> Pair.of(people, EquivalenceClasses.from_columns({"age": ["47", "[30, 39]", "{31, 47}"]})).fitting
        array([1, 2, 2])
        """
        return self.fitting_amounts(self.original.persons.astype(np.float64)).astype(np.int64)

    def fitting_amounts(self, amounts: FloatArray) -> FloatArray:
        """How much each released class may stand for, of what each class of the original amounts to."""
        sums = sums_fitting(self.original, self.released, self.meanings, amounts)
        if sums is not None:
            return sums
        fitting = np.zeros(len(self.released))
        exact = np.ones(len(self.released), dtype=bool)
        same = []
        for meaning, codes in zip(self.meanings, self.released.codes, strict=True):
            single = meaning.kinds == KINDS.index("exact")
            exact &= single[codes]
            own = np.zeros(len(single), dtype=np.int64)
            own[single] = meaning.code_at[meaning.starts[meaning.indptr[:-1][single]]]
            same.append(own[codes])
        # Single values are looked up; comparing every class with every other is for intervals and sets.
        at = locate(self.original, [codes[exact] for codes in same]) if exact.any() else np.empty(0, np.int64)
        fitting[exact] = np.where(at >= 0, amounts[at], 0)
        for some, sum_of in self._fitting(np.flatnonzero(~exact), amounts):
            fitting[some] = sum_of
        return fitting

    @cached_property
    def suppressed(self) -> BoolArray:
        """Which released classes show no quasi-identifier at all."""
        hidden = np.ones(len(self.released), dtype=bool)
        for meaning, codes in zip(self.meanings, self.released.codes, strict=True):
            hidden &= meaning.suppressed[codes]
        return hidden

    @cached_property
    def shown(self) -> int:
        """Records of the release that show anything of their quasi-identifiers."""
        return int(self.released.records[~self.suppressed].sum())

    def covers(
        self,
        released: AnyIntArray,
        original: AnyIntArray,
        names: Sequence[str] | None = None,
    ) -> BoolArray:
        """Whether released classes may stand for the original classes beside them, on some attributes."""
        fitting = np.ones(np.broadcast(released, original).shape, dtype=bool)
        for name in self.names if names is None else names:
            at = self.original.index(name)
            fitting &= self.meanings[at].covers(
                self.released.codes[at][released], self.original.codes[at][original]
            )
        return fitting

    @property
    def _sensitive(self) -> tuple[str, ...]:
        return tuple(domain.name for domain in self.original.sensitive)

    def trivial(self) -> Pair:
        """The same original against a release that shows no quasi-identifier: the least useful, safest one."""
        return self._trivial

    @cached_property
    def _trivial(self) -> Pair:
        nothing = [np.zeros(len(self.original), dtype=np.uint8)] * len(self.names)
        starred = self.original.recoded([_stars(name) for name in self.names], nothing)
        classes = np.arange(len(self.original), dtype=np.int64)
        return self._beside(starred, Links(classes, np.zeros_like(classes), self.original.records))

    def unchanged(self) -> Pair:
        """The original against itself: the most useful, most exposed release."""
        return self._unchanged

    @cached_property
    def _unchanged(self) -> Pair:
        classes = np.arange(len(self.original), dtype=np.int64)
        return self._beside(self.original, Links(classes, classes, self.original.records))

    def _beside(self, released: EquivalenceClasses, links: Links) -> Pair:
        """The same original against another release that keeps all sensitive values."""
        return Pair.of(
            self.original,
            released,
            hierarchies=self.hierarchies,
            links=links,
            kept=self._sensitive,
            assumed=self.assumed,
        )


def _filled(released: EquivalenceClasses, names: Sequence[str]) -> EquivalenceClasses:
    """The released classes with the attributes in the given order; those that lack are suppressed."""
    domains, codes = [], []
    for name in names:
        if name in released.names:
            at = released.index(name)
            domains.append(released.attributes[at])
            codes.append(released.codes[at])
        else:
            domains.append(_stars(name))
            codes.append(np.zeros(len(released), dtype=np.uint8))
    return replace(released, attributes=tuple(domains), codes=tuple(codes))


def _stars(name: str) -> Domain:
    return Domain(name, pa.array([SUPPRESSED], pa.string()))
