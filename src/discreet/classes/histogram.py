"""What is in each class: how often each sensitive value occurs, and who."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from functools import cached_property
from typing import Literal, TypeVar

import numpy as np
from numpy.typing import NDArray

from discreet.table.domain import Domain
from discreet.types import BoolArray, CodeArray, FloatArray, IntArray

Unit = Literal["records", "persons"]
Scalar = TypeVar("Scalar", bound=np.generic)


@dataclass(frozen=True)
class Histogram:
    """How often each value of a sensitive attribute occurs in each class, in compressed sparse rows.

    Class ``c`` has the entries ``indptr[c]:indptr[c + 1]``; each has a value code, its records and the
    distinct persons behind them. Values are ascending inside a class.
    """

    domain: Domain
    indptr: IntArray
    values: CodeArray
    records: IntArray
    people: Callable[[], IntArray] | None = field(default=None, repr=False, compare=False)
    """Counts the persons, where one may have several records; few requirements ask for them."""

    @cached_property
    def persons(self) -> IntArray:
        """Distinct persons per entry."""
        return self.records if self.people is None else self.people()

    def sizes(self, unit: Unit = "records") -> IntArray:
        """Counts per entry in ``unit``."""
        return self.records if unit == "records" else self.persons

    @cached_property
    def class_of_entry(self) -> IntArray:
        return np.repeat(np.arange(len(self.indptr) - 1), np.diff(self.indptr))

    @cached_property
    def distinct(self) -> IntArray:
        """Distinct sensitive values per class."""
        return np.diff(self.indptr)

    @cached_property
    def class_records(self) -> IntArray:
        """Records per class."""
        return self.per_class(np.add, self.records)

    @cached_property
    def shares(self) -> FloatArray:
        """Share of the entry's value among the records of its class."""
        return np.asarray(self.records / np.repeat(self.class_records, self.distinct), dtype=np.float64)

    @cached_property
    def totals(self) -> IntArray:
        """Records per value in the whole table."""
        return np.bincount(self.values, weights=self.records, minlength=self.domain.size).astype(np.int64)

    @cached_property
    def distribution(self) -> FloatArray:
        """Share of each value in the whole table."""
        return np.asarray(self.totals / self.totals.sum(), dtype=np.float64)

    def subset(self, chosen: BoolArray, *, alone: bool = True) -> Histogram:
        """The counts of some classes: as if the others were not in the table, or as a part of it."""
        entries = np.repeat(chosen, self.distinct)
        indptr = np.concatenate(([0], np.cumsum(self.distinct[chosen])))
        people = None if self.people is None else lambda: self.persons[entries]
        inside = Histogram(self.domain, indptr, self.values[entries], self.records[entries], people)
        if not alone:
            inside.__dict__["totals"] = self.totals
        return inside

    def gains(self, left_out: float = 0.0) -> FloatArray:
        """Per entry by how much its class makes the value more probable than the whole table: q - p, at least 0.

        q is the share in the class, p that in the whole table, or as large as it can become where a share of the
        records is ``left_out``.
        """
        base = self.distribution[self.values]
        if left_out:
            base = np.minimum(base / max(1.0 - left_out, 1e-300), 1.0)
        return np.asarray(np.maximum(self.shares - base, 0.0))

    def per_class(self, ufunc: np.ufunc, entries: NDArray[Scalar]) -> NDArray[Scalar]:
        """Reduce one value per entry to one value per class, e.g. ``per_class(np.maximum, shares)``."""
        reduced: NDArray[Scalar] = ufunc.reduceat(entries, self.indptr[:-1])
        return reduced


@dataclass(frozen=True)
class PersonCounts:
    """Who is in each class, and with how many records, in compressed sparse rows."""

    indptr: IntArray
    persons: IntArray
    records: IntArray
