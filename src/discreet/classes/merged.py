"""Classes merged into fewer, coarser ones, as a search needs them by the thousand: sizes and histograms only."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property, partial

import numpy as np

from discreet.arrays import distinct
from discreet.classes.equivalence import EquivalenceClasses
from discreet.classes.histogram import Histogram, PersonCounts
from discreet.classes.packing import smallest_type
from discreet.types import AnyIntArray, CodeArray, FloatArray, IntArray

TABLE_CELLS = 1 << 19
"""Counts of up to so many groups × values are kept as a table, from which those of coarser groups are made."""


@dataclass(frozen=True)
class MergedClasses(EquivalenceClasses):
    """What becomes of classes when class ``c`` joins group ``owner[c]``; without quasi-identifier values.

    Everything is worked out when asked for: a search that only asks for sizes pays for sizes only.

    >>> classes = EquivalenceClasses.from_columns(
    ...     {"age": [31, 34, 47]}, sensitive={"flu": ["yes", "yes", "no"]})
    >>> merged = MergedClasses.of(classes, np.array([0, 0, 1]), 2)
    >>> len(merged), merged.records, merged.histogram("flu").records
    (2, array([2, 1]), array([2, 1]))
    """

    parent: EquivalenceClasses = field(kw_only=True, repr=False)
    owner: AnyIntArray = field(kw_only=True, repr=False)
    groups_: int = field(kw_only=True)

    @classmethod
    def of(cls, parent: EquivalenceClasses, owner: AnyIntArray, groups: int) -> MergedClasses:
        return cls(
            attributes=(),
            codes=(),
            indptr=parent.indptr,
            counts=parent.counts,
            sensitive=parent.sensitive,
            sensitive_codes=parent.sensitive_codes,
            person_codes=parent.person_codes,
            outside=parent.outside,
            guards=parent.guards,
            parent=parent,
            owner=owner,
            groups_=groups,
        )

    def __len__(self) -> int:
        return self.groups_

    @cached_property
    def class_population(self) -> FloatArray | None:
        """At least so many people: those whose values some class of the group has, whatever its label will be."""
        inner = self.parent.class_population
        if inner is None:
            return None
        return np.bincount(self.owner, weights=inner, minlength=self.groups_).astype(np.float64)

    @cached_property
    def total(self) -> int:
        return self.parent.total

    @cached_property
    def total_persons(self) -> int:
        return self.parent.total_persons

    @cached_property
    def records(self) -> IntArray:
        return np.bincount(self.owner, weights=self.parent.records, minlength=self.groups_).astype(np.int64)

    @cached_property
    def class_of_cell(self) -> IntArray:
        return self.owner[self.parent.class_of_cell].astype(np.int64)

    @cached_property
    def persons(self) -> IntArray:
        if self.person_codes is None:
            return self.records
        from discreet.classes.kernels import merged_persons

        # Straight from the classes that were counted: those between need not know their persons one by one.
        owner, counted = self.owner, self.parent
        while isinstance(counted, MergedClasses):
            owner, counted = owner[counted.owner], counted.parent
        inner = counted.person_counts
        return merged_persons(owner, inner.indptr, inner.persons, self.groups_)

    @cached_property
    def person_counts(self) -> PersonCounts:
        inner = self.parent.person_counts
        spread = np.repeat(self.owner, np.diff(inner.indptr)).astype(np.int64)
        bound = int(inner.persons.max()) + 1
        keys, where = np.unique(spread * bound + inner.persons, return_inverse=True)
        records = np.bincount(where, weights=inner.records).astype(np.int64)
        indptr = np.searchsorted(keys // bound, np.arange(self.groups_ + 1))
        return PersonCounts(indptr, keys % bound, records)

    @cached_property
    def _tables(self) -> dict[str, IntArray | None]:
        return {}

    def table(self, name: str) -> IntArray | None:
        if name not in self._tables:
            cells = self.groups_ * self.sensitive_domain(name).size
            self._tables[name] = self._make_table(name) if cells <= TABLE_CELLS else None
        return self._tables[name]

    def _make_table(self, name: str) -> IntArray | None:
        """Records per group and value, or nothing where most of the table would be empty."""
        from discreet.classes.kernels import table_of_entries, table_of_rows

        rows = self.parent.table(name)
        if rows is not None:
            return table_of_rows(self.owner, rows, self.groups_)
        inner = self.parent.histogram(name)
        width = inner.domain.size
        if self.groups_ * width > 4 * len(inner.values) + (1 << 16):
            return None
        return table_of_entries(self.owner, inner.indptr, inner.values, inner.records, self.groups_, width)

    def totals(self, name: str) -> IntArray:
        # Merging changes no total: spares counting them again, and a part of a table keeps those of the whole.
        return self.parent.totals(name)

    def _count_values(self, name: str) -> Histogram:
        from discreet.classes.kernels import entries_of_table

        domain = self.sensitive_domain(name)
        width = domain.size
        table = self.table(name)
        if table is None:
            # Too large to keep, but not to count with.
            table = self._make_table(name)
        if table is not None:
            indptr, codes, records = entries_of_table(table)
        else:
            inner = self.parent.histogram(name)
            keys = self.owner[inner.class_of_entry].astype(np.int64) * width + inner.values
            entries, where = np.unique(keys, return_inverse=True)
            records = np.bincount(where, weights=inner.records).astype(np.int64)
            indptr, codes = np.searchsorted(entries, np.arange(self.groups_ + 1) * width), entries % width
        values = codes.astype(smallest_type(width))
        people = None if self.person_codes is None else partial(self._persons_of, name, indptr, values)
        histogram = Histogram(domain, indptr, values, records, people)
        histogram.__dict__["totals"] = self.totals(name)
        return histogram

    def _persons_of(self, name: str, indptr: IntArray, values: CodeArray) -> IntArray:
        """Distinct persons behind each entry of a histogram."""
        assert self.person_codes is not None
        width, bound = self.sensitive_domain(name).size, int(self.person_codes.max()) + 1
        triples = distinct(
            (self.class_of_cell * width + self.sensitive_codes[name]) * bound + self.person_codes
        )
        entries = np.repeat(np.arange(self.groups_), np.diff(indptr)) * width + values
        return np.bincount(np.searchsorted(entries, triples // bound), minlength=len(entries)).astype(
            np.int64
        )
