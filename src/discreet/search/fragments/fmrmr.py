"""Fragments of columns by FMRMR: much about a class, little twice; and none that shows what must not be seen together."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import product

import numpy as np

from discreet.errors import GoalUnreachable
from discreet.sentences import Sentence
from discreet.types import FloatArray, IntArray

MOST_TRIED = 20_000
"""Fragmentations that are all looked at; of more, one is bettered by moving and exchanging columns."""
MOST_STEPS = 100_000
"""Columns that are placed at most until all of them are, with what must be kept apart."""
DENSE = 10_000_000

Fragments = tuple[tuple[int, ...], ...]


def information(columns: Sequence[IntArray]) -> FloatArray:
    """The mutual information in bits of every two columns, of a column with itself its entropy.

    I(X, Y) = Σ p(x, y) log2 (p(x, y) / (p(x) p(y))); Shannon 1948.

    >>> information([np.array([0, 0, 1, 1]), np.array([0, 0, 1, 1]), np.array([0, 1, 0, 1])])[0]
    array([1., 1., 0.])
    """
    size = len(columns)
    table = np.zeros((size, size))
    shares = [np.bincount(column) / max(len(column), 1) for column in columns]
    for i in range(size):
        for j in range(i, size):
            width = len(shares[j])
            packed = columns[i] * width + columns[j]
            if len(shares[i]) * width <= DENSE:
                counts = np.bincount(packed)
                keys = np.flatnonzero(counts)
                counts = counts[keys]
            else:
                keys, counts = np.unique(packed, return_counts=True)
            joint = counts / counts.sum()
            expected = shares[i][keys // width] * shares[j][keys % width]
            table[i, j] = table[j, i] = max(0.0, float(np.sum(joint * np.log2(joint / expected))))
    return table


def relevance(table: FloatArray, fragment: Sequence[int], target: int) -> float:
    """V_F: the mean information of a fragment's columns about the class.

    >>> relevance(np.array([[1.0, 0.5], [0.5, 1.0]]), [0], 1)
    0.5
    """
    return float(np.mean(table[list(fragment), target])) if fragment else 0.0


def redundancy(table: FloatArray, fragment: Sequence[int]) -> float:
    """W_F: the mean information of every two of a fragment's columns about each other, each with itself included.

    >>> redundancy(np.array([[1.0, 0.5], [0.5, 1.0]]), [0, 1])
    0.75
    """
    return float(np.mean(table[np.ix_(list(fragment), list(fragment))])) if fragment else 0.0


def fmrmr(
    table: FloatArray, fragments: Sequence[Sequence[int]], *, target: int | None, common: Sequence[int] = ()
) -> float:
    """The score of a fragmentation: Σ (V_F - W_F) for a class, and without one - Σ W of the fragments with the common columns.

    V_F = 1/|F| Σ I(C, F_j) and W_F = 1/|F|² Σ I(F_k, F_j). Review of anonymization procedures for tabular data, 2023, equations 27 to 32,
    after Zakerzadeh, Aggarwal and Barker, "Towards breaking the curse of dimensionality for high-dimensional privacy", 2014.

    >>> table = np.array([[1.0, 1.0, 0.0, 0.5], [1.0, 1.0, 0.0, 0.5], [0.0, 0.0, 1.0, 0.0], [0.5, 0.5, 0.0, 1.0]])
    >>> fmrmr(table, [[0, 1], [2]], target=3), fmrmr(table, [[0, 2], [1]], target=3)
    (-1.5, -0.75)
    >>> fmrmr(table, [[0, 1], [2]], target=None), fmrmr(table, [[0], [2]], target=None, common=[1])
    (-2.0, -1.5)
    """
    if target is None:
        return -sum(redundancy(table, [*fragment, *common]) for fragment in fragments)
    return sum(relevance(table, fragment, target) - redundancy(table, fragment) for fragment in fragments)


@dataclass(frozen=True)
class FragmentSearch:
    """What is looked for: ``count`` fragments of ``columns`` with the highest score, none of which shows a set of ``apart`` whole.

    ``visible`` columns stand in every fragment: the class, or the common ones.
    """

    table: FloatArray
    columns: tuple[int, ...]
    count: int
    target: int | None = None
    common: tuple[int, ...] = ()
    apart: tuple[frozenset[int], ...] = ()

    @property
    def visible(self) -> frozenset[int]:
        return frozenset(self.common) | (frozenset() if self.target is None else {self.target})

    def score(self, fragments: Sequence[Sequence[int]]) -> float:
        return fmrmr(self.table, fragments, target=self.target, common=self.common)

    def allowed(self, fragment: Sequence[int]) -> bool:
        """Whether a fragment keeps apart what must not be seen together."""
        seen = self.visible.union(fragment)
        return not any(together <= seen for together in self.apart)

    def best(self) -> Fragments:
        """The best fragmentation: of all, if they are few; else one that no move or exchange of columns betters."""
        if self.count ** len(self.columns) <= MOST_TRIED:
            tried = [each for each in self._all() if all(map(self.allowed, each))]
            if not tried:
                raise self._unreachable()
            return max(tried, key=self.score)
        return self._bettered(self._placed())

    def _all(self) -> Iterator[Fragments]:
        for places in product(range(self.count), repeat=len(self.columns)):
            # Fragments have no order: each is met first in the order of the columns.
            if list(dict.fromkeys(places)) == list(range(self.count)):
                yield _gathered(self.columns, places, self.count)

    def _placed(self) -> list[list[int]]:
        """Columns one after the other, those first that must be kept apart most, each where it is best and allowed."""
        order = sorted(self.columns, key=lambda c: (-sum(c in each for each in self.apart), c))
        fragments: list[list[int]] = [[] for _ in range(self.count)]
        tries: list[list[int]] = []
        steps = 0
        while len(tries) < len(order) or not all(fragments):
            steps += 1
            if steps > MOST_STEPS:
                raise self._unreachable()
            if len(tries) < len(order):
                column = order[len(tries)]
                tries.append(self._choices(fragments, column))
            # Take back what leads nowhere.
            while not tries[-1]:
                tries.pop()
                if not tries:
                    raise self._unreachable()
                gone = order[len(tries) - 1]
                next(each for each in fragments if gone in each).remove(gone)
            fragments[tries[-1].pop(0)].append(order[len(tries) - 1])
        return fragments

    def _choices(self, fragments: list[list[int]], column: int) -> list[int]:
        """Where a column may go, the best place first; an empty fragment has to be filled, and one of them will do."""
        left = len(self.columns) - sum(map(len, fragments))
        empty = [at for at, fragment in enumerate(fragments) if not fragment]
        places = (
            empty[:1] if len(empty) >= left else [at for at, each in enumerate(fragments) if each] + empty[:1]
        )
        allowed = [at for at in places if self.allowed([*fragments[at], column])]

        def loss(at: int) -> float:
            return -self.score(
                [[*each, column] if at == i else each for i, each in enumerate(fragments) if each or at == i]
            )

        return sorted(allowed, key=loss)

    def _bettered(self, fragments: list[list[int]]) -> Fragments:
        """Move a column or exchange two as long as that betters the score."""
        value = self.score(fragments)
        while True:
            options = [each for each in self._neighbours(fragments) if all(map(self.allowed, each))]
            best = max(options, key=self.score, default=fragments)
            if self.score(best) <= value + 1e-12:
                return tuple(tuple(sorted(each)) for each in fragments)
            fragments, value = best, self.score(best)

    @staticmethod
    def _neighbours(fragments: list[list[int]]) -> Iterator[list[list[int]]]:
        for i, source in enumerate(fragments):
            for column in source:
                for j, other in enumerate(fragments):
                    if i == j:
                        continue
                    rest = [c for c in source if c != column]
                    if rest:
                        yield [
                            rest if at == i else [*other, column] if at == j else each
                            for at, each in enumerate(fragments)
                        ]
                    for partner in other if i < j else ():
                        swapped = [c for c in other if c != partner]
                        yield [
                            [*rest, partner] if at == i else [*swapped, column] if at == j else each
                            for at, each in enumerate(fragments)
                        ]

    def _unreachable(self) -> GoalUnreachable:
        return GoalUnreachable(
            Sentence(
                "{count} fragments cannot keep apart all that must not be seen together", count=self.count
            ),
            nearest="one fragment for each column, if no set has only columns that every fragment shows",
            remedy="ask for more fragments, or leave columns out",
        )


def _gathered(columns: Sequence[int], places: Sequence[int], count: int) -> Fragments:
    return tuple(
        tuple(c for c, place in zip(columns, places, strict=True) if place == at) for at in range(count)
    )
