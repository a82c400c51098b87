"""Counting combinations of codes: in a table of all combinations where it is small, by sorting where not.

Risks ask the same three questions of a few columns of codes: which rows agree, how many records agree with
each row, and how often does each combination occur. A row may be a class, a cell, or anything that has codes
and a number of records.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import prod

import numpy as np

from discreet.arrays import distinct
from discreet.classes import EquivalenceClasses
from discreet.classes.packed import are_many, packed
from discreet.classes.packing import Packing, run_starts, sort_words
from discreet.types import AnyIntArray, IntArray


@dataclass(frozen=True)
class Crosstab:
    """The combinations of two attributes that occur, with their records and the records of each value."""

    a: AnyIntArray
    b: AnyIntArray
    records: IntArray
    a_totals: IntArray
    b_totals: IntArray


@dataclass(frozen=True)
class CodeGroups:
    """Records and distinct persons of every combination that occurs, in no stated order."""

    records: IntArray
    persons: IntArray


@dataclass(frozen=True)
class Rows:
    """What a grouping runs over: classes at person level, persons in classes at event level."""

    owner: IntArray | None
    records: IntArray
    persons: IntArray | None
    person_size: int

    @classmethod
    def of(cls, classes: EquivalenceClasses) -> Rows:
        if classes.person_codes is None:
            return cls(None, classes.records, None, 0)
        counts = classes.person_counts
        owner = np.repeat(np.arange(len(classes)), np.diff(counts.indptr))
        return cls(owner, counts.records, counts.persons, person_bound(classes))

    def spread(self, codes: AnyIntArray) -> AnyIntArray:
        """One code per class as one code per row."""
        return codes if self.owner is None else codes[self.owner]


def person_bound(classes: EquivalenceClasses) -> int:
    """A number above every person code."""
    assert classes.person_codes is not None, "persons have codes at event level only"
    return int(classes.person_codes.max()) + 1


def is_dense(sizes: Sequence[int], rows: int) -> bool:
    """Whether a table of all combinations costs no more than the rows themselves."""
    return prod(sizes) <= max(4 * rows, 1 << 16)


def number(
    columns: Sequence[AnyIntArray], sizes: Sequence[int], *, dense: bool = False
) -> tuple[IntArray, int]:
    """For each row the number of its combination, and a bound above all numbers; ``dense`` numbers all possible ones.

    >>> number([np.array([1, 0, 1]), np.array([0, 0, 0])], [2, 2])
    (array([2, 0, 2]), 4)
    """
    rows = len(columns[0])
    if dense or is_dense(sizes, rows):
        numbers = columns[0].astype(np.int64)
        bound = sizes[0]
        for column, size in zip(columns[1:], sizes[1:], strict=True):
            numbers *= size
            numbers += column
            bound *= size
        return numbers, bound
    words = Packing.of(sizes).pack(columns)
    if len(words) == 1 and bool((words[0][1:] >= words[0][:-1]).all()):
        starts = run_starts(words)
        return np.repeat(np.arange(len(starts)), np.diff(np.append(starts, rows))), len(starts)
    order = np.argsort(words[0]) if len(words) == 1 else np.lexsort(tuple(reversed(words)))
    starts = run_starts([word[order] for word in words])
    numbers = np.empty(rows, dtype=np.int64)
    numbers[order] = np.repeat(np.arange(len(starts)), np.diff(np.append(starts, rows)))
    return numbers, len(starts)


def tally(numbers: AnyIntArray, counts: IntArray, bound: int) -> IntArray:
    """Records per number."""
    return np.bincount(numbers, weights=counts, minlength=bound).astype(np.int64)


def agreeing(columns: Sequence[AnyIntArray], sizes: Sequence[int], counts: IntArray) -> IntArray:
    """For each row, how many records agree with it in all columns.

    >>> agreeing([np.array([1, 0, 1])], [2], np.array([4, 1, 2]))
    array([6, 1, 6])
    """
    numbers, bound = number(columns, sizes)
    return tally(numbers, counts, bound)[numbers]


def crosstab(
    a: AnyIntArray,
    b: AnyIntArray,
    sizes: tuple[int, int],
    counts: IntArray,
) -> Crosstab:
    """How often each pair of values occurs; pairs that do not occur take no space.

    >>> crosstab(np.array([0, 1, 1, 0]), np.array([2, 0, 0, 2]), (2, 3), np.array([1, 1, 1, 4])).records
    array([5, 2])
    """
    if is_dense(sizes, len(counts)):
        numbers, bound = number([a, b], sizes)
        table = tally(numbers, counts, bound)
        occurring = np.flatnonzero(table)
        records = table[occurring]
        first, second = np.divmod(occurring, sizes[1])
        found_a: AnyIntArray = first
        found_b: AnyIntArray = second
    else:
        packing = Packing.of(sizes)
        words, ordered = sort_words(packing.pack([a, b]), counts)
        starts = run_starts(words)
        records = np.add.reduceat(ordered, starts)
        heads = [word[starts] for word in words]
        found_a, found_b = packing.unpack(heads, 0), packing.unpack(heads, 1)
    return Crosstab(
        found_a, found_b, records, tally(found_a, records, sizes[0]), tally(found_b, records, sizes[1])
    )


def crosstab_of(classes: EquivalenceClasses, a: str, b: str) -> Crosstab:
    """How often each pair of values of two attributes occurs, be they quasi-identifiers or sensitive.

    >>> classes = EquivalenceClasses.from_columns({"a": [0, 0, 1]}, sensitive={"b": [5, 5, 7]})
    >>> crosstab_of(classes, "a", "b").records
    array([2, 1])
    """
    if are_many(classes):
        table = packed(classes).pair_table(a, b)
        if table is not None:
            occurring = np.flatnonzero(table)
            first, second = np.divmod(occurring, table.shape[1])
            return Crosstab(first, second, table.ravel()[occurring], table.sum(axis=1), table.sum(axis=0))
    if a in classes.names and b in classes.names:
        # Both are the same for all cells of a class: classes are fewer.
        i, j = classes.index(a), classes.index(b)
        sizes = (classes.attributes[i].size, classes.attributes[j].size)
        return crosstab(classes.codes[i], classes.codes[j], sizes, classes.records)
    first_domain, codes_a = classes.column_of_cells(a)
    second_domain, codes_b = classes.column_of_cells(b)
    return crosstab(codes_a, codes_b, (first_domain.size, second_domain.size), classes.counts)


def value_records(classes: EquivalenceClasses, attribute: str) -> IntArray:
    """Records per value of one attribute, values that do not occur left out."""
    j = classes.index(attribute)
    if are_many(classes):
        totals = packed(classes).table([attribute])[0].astype(np.int64)
    else:
        totals = tally(classes.codes[j], classes.records, classes.attributes[j].size)
    return totals[totals > 0]


def group_sizes(
    columns: Sequence[AnyIntArray],
    sizes: Sequence[int],
    counts: IntArray,
    *,
    persons: IntArray | None = None,
    person_size: int = 0,
    count_up_to: int | None = None,
) -> CodeGroups:
    """Sizes of the groups of rows that agree in ``columns``; without ``persons`` each record is a person.

    Telling persons apart is the slow part. Groups of more than ``count_up_to`` records are spared it and take
    their records for persons: for callers to whom such a group is large anyway.

    >>> group_sizes([np.array([0, 1, 0])], [2], np.array([1, 1, 1]), persons=np.array([7, 7, 7]), person_size=8)
    CodeGroups(records=array([2, 1]), persons=array([1, 1]))
    """
    if not columns:
        total = np.array([counts.sum()])
        return CodeGroups(total, total if persons is None else np.array([len(distinct(persons))]))
    if persons is None:
        if is_dense(sizes, len(counts)):
            numbers, bound = number(columns, sizes)
            table = tally(numbers, counts, bound)
            table = table[table > 0]
            return CodeGroups(table, table)
        words, ordered = sort_words(Packing.of(sizes).pack(columns), counts)
        people = np.add.reduceat(ordered, run_starts(words))
        return CodeGroups(people, people)
    numbers, bound = number(columns, sizes)
    records = tally(numbers, counts, bound)
    people = records.copy()
    if count_up_to is not None:
        near = np.flatnonzero(records[numbers] <= count_up_to)
        numbers, persons, counts = numbers[near], persons[near], counts[near]
    if len(numbers):
        pairs = crosstab(numbers, persons, (bound, person_size), counts)
        counted = np.bincount(pairs.a, minlength=bound)
        people[counted > 0] = counted[counted > 0]
    return CodeGroups(records[records > 0], people[records > 0])
