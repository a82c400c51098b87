"""Loose associations: groups of records that fragments share, in which nothing that must not be seen together is tied."""

from __future__ import annotations

from collections.abc import Sequence
from operator import eq

import numpy as np

from discreet.errors import GoalUnreachable
from discreet.perturb.randomness import Randomness
from discreet.sentences import Sentence
from discreet.types import IntArray

ATTEMPTS = 10
"""So many random orders are tried until every record has its group."""
OPEN = 200
"""Groups that are filled at a time."""


def loosely_grouped(sides: Sequence[IntArray], k: int, randomness: Randomness) -> IntArray:
    """The group of each record: at least ``k`` in each, and no two of a group alike in any of ``sides``.

    A side has the values of one fragment in the columns of one confidential set. So each of at least k different values of one
    fragment may belong to each of at least k of another, and no tie has a chance above 1/k: the flat grouping of De Capitani di
    Vimercati, Foresti, Jajodia, Paraboschi and Samarati, "Fragments and loose associations: respecting privacy in data
    publishing", VLDB 2010. Records come in a random order, the most frequent values first, and go to the first open group
    in which they are like nobody; those of groups that stay too small go to full ones, from which somebody else may have to move.

    >>> groups = loosely_grouped([np.array([0, 0, 1, 1]), np.array([0, 1, 0, 1])], 2, Randomness(1))
    >>> np.bincount(groups).tolist(), bool(groups[0] != groups[1]), bool(groups[0] != groups[2])
    ([2, 2], True, True)
    """
    count = len(sides[0])
    often = [np.bincount(side) for side in sides]
    crowded = max(int(each.max(initial=0)) for each in often)
    if crowded * k > count:
        raise GoalUnreachable(
            Sentence(
                "one value has more than one in {k} of the records, so no groups have it once each", k=k
            ),
            nearest=Sentence("groups of {k}", k=count // max(crowded, 1)),
            remedy="ask for a smaller k",
        )
    weight = np.max([each[side] for each, side in zip(often, sides, strict=True)], axis=0)
    rows = list(zip(*(side.tolist() for side in sides), strict=True))
    for _ in range(ATTEMPTS):
        drawn = randomness.permutation(count)
        grouping = _Grouping(rows, k)
        for record in drawn[np.argsort(-weight[drawn], kind="stable")].tolist():
            grouping.place(record)
        lost = grouping.dissolve()
        if not lost:
            break
    else:
        raise GoalUnreachable(
            Sentence("{lost:,} records are like somebody in every group", lost=lost),
            nearest=Sentence("groups of {k} for all others", k=k),
            remedy="ask for a smaller k, or make the values of the confidential columns coarser first",
        )
    numbers = np.empty(count, dtype=np.int64)
    for number, members in enumerate(grouping.full):
        numbers[members] = number
    return randomness.permutation(len(grouping.full))[numbers]


class _Grouping:
    """Groups while they are filled: members, and the values that they have on each side."""

    def __init__(self, rows: list[tuple[int, ...]], k: int) -> None:
        self.rows, self.k = rows, k
        self.open: list[list[int]] = []
        self.seen: list[list[set[int]]] = []
        self.full: list[list[int]] = []
        self.full_seen: list[list[set[int]]] = []

    def place(self, record: int) -> None:
        """Put a record into the first open group in which it is like nobody, or into a new one."""
        row = self.rows[record]
        for at, seen in enumerate(self.seen):
            if _unlike(row, seen):
                self._add(at, record)
                return
        if len(self.open) >= OPEN and self._into_full(record):
            return
        self.open.append([record])
        self.seen.append([{value} for value in row])
        self._close(len(self.open) - 1)

    def _add(self, at: int, record: int) -> None:
        self.open[at].append(record)
        for values, value in zip(self.seen[at], self.rows[record], strict=True):
            values.add(value)
        self._close(at)

    def _close(self, at: int) -> None:
        if len(self.open[at]) >= self.k:
            self.full.append(self.open.pop(at))
            self.full_seen.append(self.seen.pop(at))

    def _into_full(self, record: int) -> bool:
        row = self.rows[record]
        for at in range(len(self.full) - 1, -1, -1):
            if _unlike(row, self.full_seen[at]):
                self.full[at].append(record)
                for values, value in zip(self.full_seen[at], row, strict=True):
                    values.add(value)
                return True
        return False

    def dissolve(self) -> int:
        """Put the records of groups that stayed too small into full ones; how many found no place."""
        left = [record for members in self.open for record in members]
        self.open, self.seen = [], []
        return sum(not (self._into_full(record) or self._exchanged(record)) for record in left)

    def _exchanged(self, record: int) -> bool:
        """Put a record in the place of the only one of a group that is like it, if that one fits elsewhere."""
        row = self.rows[record]
        for at, members in enumerate(self.full):
            alike = [other for other in members if any(map(eq, self.rows[other], row))]
            if len(alike) == 1 and self._into_full(alike[0]):
                members[members.index(alike[0])] = record
                for side, values in enumerate(self.full_seen[at]):
                    values.clear()
                    values.update(self.rows[member][side] for member in members)
                return True
        return False


def _unlike(row: tuple[int, ...], seen: list[set[int]]) -> bool:
    return all(value not in values for value, values in zip(row, seen, strict=True))
