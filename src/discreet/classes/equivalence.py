"""Equivalence classes: the counted form of a table, which every model, risk and loss reads.

Rows are many, distinct combinations of quasi-identifiers are few. The engine counts once; everything
after that works on the arrays here and never sees a row.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property

import numpy as np
from numpy.typing import ArrayLike

from discreet.arrays import distinct
from discreet.classes.encoding import encoded, encoded_columns
from discreet.classes.histogram import Histogram, PersonCounts, Unit
from discreet.classes.outside import Outside
from discreet.classes.packing import (
    Packing,
    class_bounds,
    merged_words,
    run_starts,
    smallest_type,
    sort_words,
)
from discreet.errors import UnknownColumn
from discreet.table.domain import Domain
from discreet.types import AnyIntArray, BoolArray, CodeArray, FloatArray, IntArray

PIECE = 1 << 20
"""So many classes are given new codes at once."""


@dataclass(frozen=True)
class EquivalenceClasses:
    """The classes of records that share all quasi-identifiers, with who and what is in them.

    ``codes[j][c]`` is the value of attribute ``j`` in class ``c``. The records of a class are split into
    *cells*: records that also share the sensitive values (and, at event level, the person).
    Class ``c`` has the cells ``indptr[c]:indptr[c + 1]``; ``counts`` are records per cell,
    ``sensitive_codes[name]`` the sensitive value per cell, ``person_codes`` the person per cell.
    Without ``person_codes`` every record is a person of its own (person level).

    >>> classes = EquivalenceClasses.from_columns(
    ...     {"sex": ["f", "f", "m"]}, sensitive={"flu": ["yes", "no", "no"]})
    >>> len(classes), classes.records, classes.histogram("flu").distinct
    (2, array([2, 1]), array([2, 1]))
    """

    attributes: tuple[Domain, ...]
    codes: tuple[CodeArray, ...] = field(repr=False)
    indptr: IntArray = field(repr=False)
    counts: IntArray = field(repr=False)
    sensitive: tuple[Domain, ...] = ()
    sensitive_codes: Mapping[str, CodeArray] = field(default_factory=dict, repr=False)
    person_codes: IntArray | None = field(default=None, repr=False)
    weights: FloatArray | None = field(default=None, repr=False)
    outside: Outside | None = field(default=None, repr=False, compare=False)
    """The population of which the table is a part, where it is known."""
    guards: tuple[Domain, ...] = ()
    """Which nodes people guard: counted by cell as sensitive attributes are, but no attribute that anybody shall learn or not."""

    # ── making ────────────────────────────────────────────────────────────────────────────────────

    @classmethod
    def from_packed(
        cls,
        packing: Packing,
        words: Sequence[IntArray],
        counts: IntArray,
        *,
        attributes: Sequence[Domain],
        sensitive: Sequence[Domain] = (),
        guards: Sequence[Domain] = (),
        persons: bool = False,
        weights: FloatArray | None = None,
        spent: bool = False,
    ) -> EquivalenceClasses:
        """From grouped cells, as an engine delivers them; ``words`` and ``counts`` that are ``spent`` may be overwritten.

        ``packing`` lays out the quasi-identifiers, then the person (if ``persons``), then the sensitive
        attributes, then the ``guards``. ``weights`` are sums of sampling weights per cell.
        """
        if weights is not None:
            order = np.lexsort(tuple(reversed(words)))
            words, counts, weights = [w[order] for w in words], counts[order], weights[order]
        else:
            words, counts = sort_words(words, counts, spent=spent)
        m = len(attributes)
        indptr = class_bounds(packing, words, m)
        starts = indptr[:-1]
        person_codes = packing.unpack(words, m).astype(np.int64) if persons else None
        return cls(
            attributes=tuple(attributes),
            codes=tuple(packing.unpack(words, j, starts) for j in range(m)),
            indptr=indptr,
            counts=counts,
            sensitive=tuple(sensitive),
            sensitive_codes={
                domain.name: packing.unpack(words, m + persons + j)
                for j, domain in enumerate((*sensitive, *guards))
            },
            person_codes=person_codes,
            weights=weights,
            guards=tuple(guards),
        )

    @classmethod
    def from_columns(
        cls,
        quasi_identifiers: Mapping[str, Sequence[object]],
        *,
        sensitive: Mapping[str, Sequence[object]] | None = None,
        guards: Mapping[str, Sequence[object]] | None = None,
        person: Sequence[object] | None = None,
        weight: ArrayLike | None = None,
        counts: Sequence[int] | None = None,
    ) -> EquivalenceClasses:
        """From small columns in memory: for examples, tests and what is already at hand.

        ``counts`` says for how many records each entry stands (one, if not given).
        """
        attributes, codes = encoded_columns(quasi_identifiers)
        sensitive_domains, sensitive_codes = encoded_columns(sensitive or {})
        columns = [*codes]
        sizes = [domain.size for domain in attributes]
        if person is not None:
            domain, person_code = encoded("person", person)
            columns.append(person_code)
            sizes.append(domain.size)
        guard_domains, guard_codes = encoded_columns(guards or {})
        columns += [*sensitive_codes, *guard_codes]
        sizes += [domain.size for domain in (*sensitive_domains, *guard_domains)]
        packing = Packing.of(sizes)
        words = packing.pack(columns)
        length = len(columns[0])
        order = np.lexsort(tuple(reversed(words)))
        words = [word[order] for word in words]
        starts = run_starts(words)
        weights = None
        if weight is not None:
            weights = np.add.reduceat(np.asarray(weight, dtype=np.float64)[order], starts)
        return cls.from_packed(
            packing,
            [word[starts] for word in words],
            np.diff(np.append(starts, length))
            if counts is None
            else np.add.reduceat(np.asarray(counts, dtype=np.int64)[order], starts),
            attributes=attributes,
            sensitive=sensitive_domains,
            guards=guard_domains,
            persons=person is not None,
            weights=weights,
        )

    # ── sizes ─────────────────────────────────────────────────────────────────────────────────────

    def __len__(self) -> int:
        return len(self.indptr) - 1

    @cached_property
    def names(self) -> tuple[str, ...]:
        """The quasi-identifiers."""
        return tuple(domain.name for domain in self.attributes)

    @property
    def event_level(self) -> bool:
        """Whether a person may have several records."""
        return self.person_codes is not None

    @cached_property
    def total(self) -> int:
        """Records in the table."""
        return int(self.counts.sum())

    @cached_property
    def total_persons(self) -> int:
        """Distinct persons in the table."""
        if self.person_codes is None:
            return self.total
        return len(distinct(self.person_codes))

    @cached_property
    def records(self) -> IntArray:
        """Records per class."""
        if len(self.counts) == len(self):
            return self.counts
        return np.add.reduceat(self.counts, self.indptr[:-1])

    @cached_property
    def persons(self) -> IntArray:
        """Distinct persons per class."""
        if self.person_codes is None:
            return self.records
        return np.diff(self.person_counts.indptr)

    def sizes(self, unit: Unit = "records") -> IntArray:
        """Class sizes in ``unit``."""
        return self.records if unit == "records" else self.persons

    @property
    def all_records(self) -> IntArray:
        """Records of each class and of those that it stands for, which are none but for ``ClassKinds``."""
        return self.records

    def all_entries(self, histogram: Histogram) -> IntArray:
        """Records of each entry of a histogram, in all classes that its class stands for."""
        return histogram.records

    def how_many(self, chosen: BoolArray) -> int:
        """How many classes the chosen ones stand for."""
        return int(chosen.sum())

    @cached_property
    def class_weights(self) -> FloatArray | None:
        """The class's estimated size in the population: the weights of its people added up, each person once.

        >>> EquivalenceClasses.from_columns({"sex": ["f", "f", "m"]}, person=[1, 1, 2], weight=[5, 5, 9]).class_weights
        array([5., 9.])
        """
        return None if self.weights is None else self._people_weighed(self.class_of_cell, len(self))

    @cached_property
    def class_population(self) -> FloatArray | None:
        """People of the population whom the values of each class may stand for."""
        return None if self.outside is None else self.outside.people(self)

    @cached_property
    def total_weight(self) -> float | None:
        """The estimated size of the population: the weights of all people added up, each person once."""
        if self.weights is None:
            return None
        return float(self._people_weighed(np.zeros(len(self.counts), dtype=np.int64), 1)[0])

    def _people_weighed(self, group: IntArray, groups: int) -> FloatArray:
        """Weights per group of cells; a person counts once in each, with the mean if the weights of the rows differ."""
        assert self.weights is not None, "only where there are weights"
        if self.person_codes is None:
            return np.bincount(group, weights=self.weights, minlength=groups).astype(np.float64)
        width = int(self.person_codes.max()) + 1
        people, cell = np.unique(group * width + self.person_codes, return_inverse=True)
        weight = np.bincount(cell, weights=self.weights) / np.bincount(cell, weights=self.counts)
        return np.bincount(people // width, weights=weight, minlength=groups).astype(np.float64)

    @cached_property
    def class_of_cell(self) -> IntArray:
        return np.repeat(np.arange(len(self)), np.diff(self.indptr))

    # ── what is inside the classes ────────────────────────────────────────────────────────────────

    def index(self, name: str) -> int:
        """Position of a quasi-identifier."""
        if name not in self.names:
            raise UnknownColumn(name, self.names)
        return self.names.index(name)

    @property
    def counted_inside(self) -> tuple[Domain, ...]:
        """What is counted inside of classes, besides persons."""
        return (*self.sensitive, *self.guards)

    def sensitive_domain(self, name: str) -> Domain:
        """The domain of a sensitive attribute."""
        for domain in self.counted_inside:
            if domain.name == name:
                return domain
        raise UnknownColumn(name, [domain.name for domain in self.sensitive])

    def histogram(self, name: str) -> Histogram:
        """Counts of each value of sensitive attribute ``name`` in each class."""
        cached = self._histograms.get(name)
        if cached is None:
            cached = self._histograms[name] = self._count_values(name)
        return cached

    def table(self, name: str) -> IntArray | None:
        """Records per class and value of sensitive attribute ``name`` as a table, where it is small and at hand."""
        return None

    def totals(self, name: str) -> IntArray:
        """Records per value of sensitive attribute ``name`` in what classes are compared with."""
        return self.histogram(name).totals

    @cached_property
    def _histograms(self) -> dict[str, Histogram]:
        return {}

    def _count_values(self, name: str) -> Histogram:
        domain = self.sensitive_domain(name)
        values = self.sensitive_codes[name]
        if self.person_codes is None and len(self.counted_inside) == 1:
            return Histogram(domain, self.indptr, values, self.counts)
        sizes = [len(self), domain.size]
        columns: list[AnyIntArray] = [self.class_of_cell, values]
        if self.person_codes is not None:
            sizes.append(int(self.person_codes.max()) + 1)
            columns.append(self.person_codes)
        packing = Packing.of(sizes)
        words, counts = sort_words(packing.pack(columns), self.counts)
        starts = class_bounds(packing, words, 2)[:-1]
        records = np.add.reduceat(counts, starts)
        people = None
        if self.person_codes is not None:
            ends = np.append(starts, len(counts))

            def people() -> IntArray:
                return np.diff(np.searchsorted(run_starts(words), ends))

        first = [word[starts] for word in words]
        owner = packing.unpack(first, 0).astype(np.int64)
        indptr = np.searchsorted(owner, np.arange(len(self) + 1))
        return Histogram(domain, indptr, packing.unpack(first, 1), records, people)

    @cached_property
    def person_counts(self) -> PersonCounts:
        """Records of each person in each class (event level only)."""
        assert self.person_codes is not None, "person counts exist at event level only"
        packing = Packing.of([len(self), int(self.person_codes.max()) + 1])
        words, counts = sort_words(packing.pack([self.class_of_cell, self.person_codes]), self.counts)
        starts = run_starts(words)
        first = [word[starts] for word in words]
        owner = packing.unpack(first, 0)
        return PersonCounts(
            indptr=np.searchsorted(owner, np.arange(len(self) + 1)),
            persons=packing.unpack(first, 1).astype(np.int64),
            records=np.add.reduceat(counts, starts),
        )

    # ── coarser classes ───────────────────────────────────────────────────────────────────────────

    def groups(self, names: Iterable[str]) -> tuple[IntArray, int]:
        """For each class the number of its combination of fewer attributes, and how many numbers may occur.

        Numbers are below the returned bound but need not all occur: cheap to make and to ``bincount``.

        >>> classes = EquivalenceClasses.from_columns({"a": [1, 1, 2], "b": [1, 2, 2]})
        >>> classes.groups(["a"])
        (array([0, 0, 1]), 2)
        """
        at = [self.index(name) for name in names]
        product = 1
        for j in at:
            product *= self.attributes[j].size
        if product <= max(4 * len(self), 1 << 16):
            number = np.zeros(len(self), dtype=np.int64)
            for j in at:
                number *= self.attributes[j].size
                number += self.codes[j]
            return number, product
        packing = Packing.of([self.attributes[j].size for j in at])
        words = packing.pack([self.codes[j] for j in at])
        if len(words) == 1:
            unique, inverse = np.unique(words[0], return_inverse=True)
            return inverse.astype(np.int64), len(unique)
        order = np.lexsort(tuple(reversed(words)))
        starts = run_starts([word[order] for word in words])
        inverse = np.empty(len(self), dtype=np.int64)
        inverse[order] = np.repeat(np.arange(len(starts)), np.diff(np.append(starts, len(self))))
        return inverse, len(starts)

    def group_records(self, names: Iterable[str]) -> IntArray:
        """For each class, how many records of the table share its values of ``names``."""
        number, bound = self.groups(names)
        totals = np.bincount(number, weights=self.records, minlength=bound).astype(np.int64)
        return totals[number]

    def project(self, names: Sequence[str]) -> EquivalenceClasses:
        """The classes over fewer quasi-identifiers."""
        at = [self.index(name) for name in names]
        return self.recoded([self.attributes[j] for j in at], [self.codes[j] for j in at])

    def roll_up(self, recoding: Mapping[str, tuple[ArrayLike, Domain]]) -> EquivalenceClasses:
        """The classes after generalising: per attribute, the new code of each old code and the new domain.

        >>> classes = EquivalenceClasses.from_columns({"age": [31, 34, 47]})
        >>> import pyarrow as pa
        >>> decades = Domain("age", pa.array(["[30, 39]", "[40, 49]"]))
        >>> classes.roll_up({"age": ([0, 0, 1], decades)}).records
        array([2, 1])
        """
        for name in recoding:
            self.index(name)
        domains: list[Domain] = []
        codes: list[AnyIntArray] = []
        for domain, column in zip(self.attributes, self.codes, strict=True):
            if domain.name in recoding:
                mapping, coarser = recoding[domain.name]
                domains.append(coarser)
                codes.append(np.asarray(mapping, dtype=smallest_type(coarser.size))[column])
            else:
                domains.append(domain)
                codes.append(column)
        return self.recoded(domains, codes)

    def subset(self, at: IntArray) -> EquivalenceClasses:
        """Some of the classes, as if the table held no other records.

        >>> classes = EquivalenceClasses.from_columns({"sex": ["f", "f", "m"]})
        >>> classes.subset(np.array([0])).records
        array([2])
        """
        chosen = np.zeros(len(self), dtype=bool)
        chosen[at] = True
        cells = chosen[self.class_of_cell]
        return EquivalenceClasses(
            attributes=self.attributes,
            codes=tuple(column[chosen] for column in self.codes),
            indptr=np.append(0, np.cumsum(np.diff(self.indptr)[chosen])),
            counts=self.counts[cells],
            sensitive=self.sensitive,
            sensitive_codes={name: codes[cells] for name, codes in self.sensitive_codes.items()},
            person_codes=None if self.person_codes is None else self.person_codes[cells],
            weights=None if self.weights is None else self.weights[cells],
            outside=self.outside,
            guards=self.guards,
        )

    def recoded(self, domains: Sequence[Domain], class_codes: Sequence[AnyIntArray]) -> EquivalenceClasses:
        """The classes after each class was given new codes: those that agree are merged, with their cells."""
        return replace(self._recoded(domains, class_codes), outside=self.outside)

    def _recoded(self, domains: Sequence[Domain], class_codes: Sequence[AnyIntArray]) -> EquivalenceClasses:
        if self.person_codes is None and self.weights is None and len(self.counts) > PIECE:
            packing = Packing.of([domain.size for domain in (*domains, *self.counted_inside)])
            if packing.words == 1:
                words, counts = self._merged_pieces(packing, class_codes)
                return EquivalenceClasses.from_packed(
                    packing,
                    words,
                    counts,
                    attributes=domains,
                    sensitive=self.sensitive,
                    guards=self.guards,
                )
        spread = self.class_of_cell
        columns: list[AnyIntArray] = [codes[spread] for codes in class_codes]
        sizes = [domain.size for domain in domains]
        if self.person_codes is not None:
            columns.append(self.person_codes)
            sizes.append(int(self.person_codes.max()) + 1)
        columns += [self.sensitive_codes[domain.name] for domain in self.counted_inside]
        sizes += [domain.size for domain in self.counted_inside]
        packing = Packing.of(sizes)
        words = packing.pack(columns) if columns else [np.zeros(len(self.counts), dtype=np.int64)]
        weights = self.weights
        if weights is None:
            words, counts = sort_words(words, self.counts)
        else:
            order = np.lexsort(tuple(reversed(words)))
            words, counts, weights = [w[order] for w in words], self.counts[order], weights[order]
        starts = run_starts(words)
        return EquivalenceClasses.from_packed(
            packing,
            [word[starts] for word in words],
            np.add.reduceat(counts, starts),
            attributes=domains,
            sensitive=self.sensitive,
            guards=self.guards,
            persons=self.person_codes is not None,
            weights=None if weights is None else np.add.reduceat(weights, starts),
        )

    def _merged_pieces(
        self, packing: Packing, class_codes: Sequence[AnyIntArray]
    ) -> tuple[list[IntArray], IntArray]:
        """The distinct words of all cells with new codes of their classes, and their records.

        Piece by piece: where many cells become one, what is left of each piece is small.
        """
        inside = [self.sensitive_codes[domain.name] for domain in self.counted_inside]
        parts = []
        for start in range(0, len(self), PIECE):
            bounds = self.indptr[start : start + PIECE + 1]
            own = [np.repeat(codes[start : start + PIECE], np.diff(bounds)) for codes in class_codes]
            cells = slice(bounds[0], bounds[-1])
            words = packing.pack([*own, *(codes[cells] for codes in inside)])
            parts.append(merged_words(words[0], self.counts[cells]))
        word, counts = (np.concatenate(each) for each in zip(*parts, strict=True))
        word, counts = merged_words(word, counts)
        return [word], counts

    # ── two attributes at a time ──────────────────────────────────────────────────────────────────

    def column_of_cells(self, name: str) -> tuple[Domain, AnyIntArray]:
        """Domain and code per cell of any attribute counted here, quasi-identifier or sensitive."""
        if name in self.names:
            j = self.index(name)
            return self.attributes[j], self.codes[j][self.class_of_cell]
        if name in self.sensitive_codes:
            return self.sensitive_domain(name), self.sensitive_codes[name]
        raise UnknownColumn(name, [*self.names, *self.sensitive_codes])

    def labels(self, position: int) -> dict[str, str]:
        """The quasi-identifier values of one class, as printed."""
        return {
            domain.name: domain.label(int(codes[position]))
            for domain, codes in zip(self.attributes, self.codes, strict=True)
        }
