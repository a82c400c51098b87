"""The rows of each person taken together, as everybody sees them who can tell which rows belong to one person."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from discreet.arrays import distinct
from discreet.classes.equivalence import EquivalenceClasses
from discreet.types import IntArray


@dataclass(frozen=True)
class LinkedRows:
    """For each of the ``persons`` (codes, ascending) the groups of classes that their rows are in, and how many.

    Person ``p`` has ``records[i]`` rows in ``group[i]`` for every i in ``ptr[p]:ptr[p + 1]``, groups ascending.
    """

    persons: IntArray
    ptr: IntArray = field(repr=False)
    group: IntArray = field(repr=False)
    records: IntArray = field(repr=False)

    @classmethod
    def of(cls, classes: EquivalenceClasses, group: IntArray | None = None) -> LinkedRows:
        """The rows of everybody in a table at event level; classes of one ``group`` are not told apart, those of -1
        left out.

        >>> classes = EquivalenceClasses.from_columns({"car": ["suv", "van", "suv"]}, person=[5, 5, 6])
        >>> LinkedRows.of(classes).group
        array([0, 1, 0])
        """
        inside = classes.person_counts
        owner = np.repeat(np.arange(len(classes)), np.diff(inside.indptr))
        held = owner if group is None else group[owner]
        shown = held >= 0
        width = int(held.max(initial=0)) + 1
        keys, at = np.unique(inside.persons[shown] * width + held[shown], return_inverse=True)
        records = np.bincount(at, weights=inside.records[shown], minlength=len(keys)).astype(np.int64)
        persons = distinct(inside.persons)
        ptr = np.searchsorted(keys, np.append(persons, persons[-1] + 1) * width)
        return cls(persons, ptr, keys % width, records)

    @property
    def totals(self) -> IntArray:
        """Rows of each person."""
        upto = np.append(0, np.cumsum(self.records))
        return np.asarray(upto[self.ptr[1:]] - upto[self.ptr[:-1]])

    def alike(self) -> tuple[IntArray, IntArray]:
        """For each person the number of a set of rows, the same for those who have the same, and how many have each.

        >>> classes = EquivalenceClasses.from_columns({"car": ["suv", "van", "suv", "van", "suv"]}, person=[5, 5, 6, 6, 7])
        >>> LinkedRows.of(classes).alike()
        (array([1, 1, 0]), array([1, 2]))
        """
        widths = np.diff(self.ptr)
        rows = self.group * (int(self.records.max(initial=0)) + 1) + self.records
        number = np.zeros(len(self.persons), dtype=np.int64)
        held: list[IntArray] = []
        # Persons in equally many groups are compared with each other: their rows fill a matrix.
        for width in np.unique(widths):
            some = np.flatnonzero(widths == width)
            matrix = rows[self.ptr[some][:, None] + np.arange(width)]
            if width == 0:
                where, count = np.zeros(len(some), dtype=np.int64), np.array([len(some)])
            else:
                _, where, count = np.unique(matrix, axis=0, return_inverse=True, return_counts=True)
            number[some] = where.ravel() + sum(map(len, held))
            held.append(count.astype(np.int64))
        return number, np.concatenate(held)

    def subset(self, chosen: IntArray) -> LinkedRows:
        """The same for some of the persons, by their places."""
        widths = np.diff(self.ptr)[chosen]
        ptr = np.append(0, np.cumsum(widths))
        at = np.repeat(self.ptr[chosen] - ptr[:-1], widths) + np.arange(ptr[-1])
        return LinkedRows(self.persons[chosen], ptr, self.group[at], self.records[at])
