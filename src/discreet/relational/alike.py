"""Who is alike in all rows, over several tables: multirelational k-anonymity, and intruders who know some rows of a person."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np

from discreet.arrays import distinct
from discreet.baskets.baskets import Baskets
from discreet.baskets.itemsets import Itemsets, subsets
from discreet.types import IntArray


@dataclass(frozen=True)
class PersonRows:
    """What an intruder may know of the rows of one table: ``numbers[i]`` is that of the values of row i, ``parents[i]`` the row
    above it, ``persons[i]`` its person."""

    numbers: IntArray = field(repr=False)
    parents: IntArray = field(repr=False)
    persons: IntArray = field(repr=False)


@dataclass(frozen=True)
class KnownRows:
    """The rows of people in several tables as an intruder sees them: ``root`` of the people, ``tables`` of what belongs to them.

    ``above`` names the table that each table refers to, "" for that of the people; tables stand after those that they refer to.
    """

    root: IntArray = field(repr=False)
    tables: Mapping[str, PersonRows] = field(repr=False)
    above: Mapping[str, str] = field(repr=False)

    def alike(self) -> IntArray:
        """A number for each person: the same for those who are alike in all rows, each with the rows that belong to it.

        Two people are alike if their rows have the same values and the rows that refer to them are alike, as often. That is
        multirelational k-anonymity if every number has k people. Nergiz, Clifton and Nergiz, "Multirelational k-anonymity", ICDE 2007.

        >>> visits = PersonRows(np.array([0, 1, 1, 0]), np.array([0, 0, 1, 1]), np.array([0, 0, 1, 1]))
        >>> KnownRows(np.array([7, 7, 7]), {"visits": visits}, {"visits": ""}).alike()
        array([1, 1, 0])
        """
        numbers = {"": self.root, **{name: rows.numbers for name, rows in self.tables.items()}}
        for name in reversed(list(self.tables)):
            above = self.above[name]
            held = bags(self.tables[name].parents, numbers[name], len(numbers[above]))
            numbers[above] = joint([numbers[above], held])
        return joint([numbers[""]])

    def baskets(self) -> tuple[Baskets, IntArray, IntArray]:
        """What an intruder may know of each person: rows by the values of the rows above them, those of the same values numbered.

        Also of each occurrence in the baskets the table's number and the row. Items of people who differ in the people's table are
        different items, so that a set of them stands only with people who are alike there.
        """
        owner, item, table, row = [], [], [], []
        offset = 0
        told = {"": self.root}
        for at, (name, rows) in enumerate(self.tables.items()):
            above = self.above[name]
            upper = told[above][rows.parents]
            numbers = joint([upper, rows.numbers])
            told[name] = numbers
            again = occurrence(rows.persons, numbers)
            numbers = joint([numbers, again])
            owner.append(rows.persons)
            item.append(numbers + offset)
            offset += int(numbers.max(initial=-1)) + 1
            table.append(np.full(len(numbers), at))
            row.append(np.arange(len(numbers)))
        if not owner:
            none = np.zeros(0, dtype=np.int64)
            return (
                Baskets((), np.zeros(len(self.root) + 1, dtype=np.int64), none.astype(np.int32)),
                none,
                none,
            )
        owners, items = np.concatenate(owner), np.concatenate(item)
        order = np.lexsort((items, owners))
        starts = np.concatenate([[0], np.cumsum(np.bincount(owners, minlength=len(self.root)))]).astype(
            np.int64
        )
        # The names of items are never looked at.
        baskets = Baskets(("",) * offset, starts, items[order].astype(np.int32))
        return baskets, np.concatenate(table)[order], np.concatenate(row)[order]

    @property
    def most(self) -> int:
        """The most rows that belong to one person."""
        return int(self.baskets()[0].sizes.max(initial=0))

    def fewest(self, known: int) -> tuple[int, int]:
        """The fewest people among whom somebody is of whom ``known`` rows are known, and how many people may be alone so.

        Who has fewer rows is looked for by all of them, which somebody who has more may have, too.
        """
        classes = np.bincount(joint([self.root]))
        sizes = classes[joint([self.root])]
        fewest, alone = int(sizes.min()), sizes == 1
        baskets, _, _ = self.baskets()
        for size in range(1, known + 1):
            if not (baskets.sizes >= size).any():
                break
            counted = Itemsets.of(baskets, size)
            fewest = min(fewest, int(counted.supports.min(initial=fewest)))
            for chunk in subsets(baskets, size):
                single = counted.support_of(chunk.keys) == 1
                alone[chunk.rows[single.any(axis=1)]] = True
        return fewest, int(alone.sum())


def joint(columns: Sequence[IntArray]) -> IntArray:
    """A number for each distinct row of some columns.

    >>> joint([np.array([5, 5, 7]), np.array([1, 2, 1])])
    array([0, 1, 2])
    """
    number = np.zeros(len(columns[0]), dtype=np.int64)
    for column in columns:
        dense = np.unique(column, return_inverse=True)[1]
        number = number * (int(dense.max(initial=0)) + 1) + dense
        number = np.unique(number, return_inverse=True)[1]
    return number


def bags(owners: IntArray, members: IntArray, count: int) -> IntArray:
    """A number for each owner: the same for those who have the same members, as often.

    >>> bags(np.array([0, 1, 1, 0, 3]), np.array([4, 6, 4, 6, 4]), 4)
    array([2, 2, 0, 1])
    """
    order = np.lexsort((members, owners))
    sizes = np.bincount(owners, minlength=count)
    starts = np.cumsum(sizes) - sizes
    sorted_members = members[order]
    numbers = np.zeros(count, dtype=np.int64)
    following = 0
    for size in distinct(sizes.astype(np.int64)):
        alike = np.flatnonzero(sizes == size)
        if not size:
            following += 1
            continue
        held = sorted_members[starts[alike][:, None] + np.arange(size)]
        kinds = np.unique(held, axis=0, return_inverse=True)[1].ravel()
        numbers[alike] = kinds + following
        following += int(kinds.max()) + 1
    return numbers


def occurrence(owners: IntArray, numbers: IntArray) -> IntArray:
    """Which of an owner's equal numbers each is, from 0.

    >>> occurrence(np.array([0, 0, 1, 0]), np.array([5, 5, 5, 6]))
    array([0, 1, 0, 0])
    """
    if not len(owners):
        return np.zeros(0, dtype=np.int64)
    order = np.lexsort((np.arange(len(owners)), numbers, owners))
    new = np.ones(len(order), dtype=bool)
    new[1:] = (np.diff(owners[order]) != 0) | (np.diff(numbers[order]) != 0)
    place = np.arange(len(order))
    first = np.maximum.accumulate(np.where(new, place, 0))
    again = np.empty(len(order), dtype=np.int64)
    again[order] = place - first
    return again
