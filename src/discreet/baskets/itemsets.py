"""How many baskets hold each set of so many items."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass, field
from itertools import combinations

import numpy as np

from discreet.baskets.baskets import Baskets
from discreet.errors import InvalidParameter
from discreet.sentences import Sentence
from discreet.types import AnyIntArray, IntArray

CHUNK = 4_000_000
"""So many sets are looked at in one go."""
DENSE = 30_000_000
"""Up to so many possible sets each has a counter of its own."""
MOST = 2_000_000
"""The most sets of items of a single basket that are looked at."""


@dataclass(frozen=True)
class SubsetChunk:
    """All sets of some items of baskets of one length: ``keys[i, j]`` is that of basket ``rows[i]`` at ``places[j]``."""

    rows: IntArray = field(repr=False)
    places: IntArray = field(repr=False)
    keys: IntArray = field(repr=False)


@dataclass(frozen=True)
class Itemsets:
    """The sets of ``size`` items that stand in a basket, as ``keys`` that ascend, and how many baskets hold each."""

    size: int
    items: int
    keys: IntArray = field(repr=False)
    supports: IntArray = field(repr=False)

    @classmethod
    def of(cls, baskets: Baskets, size: int) -> Itemsets:
        """Count them.

        >>> pairs = Itemsets.of(Baskets.of([["a", "b", "c"], ["a", "b"]]), 2)
        >>> pairs.members().tolist(), pairs.supports
        ([[0, 1], [0, 2], [1, 2]], array([2, 1, 1]))
        """
        if len(baskets.items) ** size <= DENSE:
            counters = np.zeros(len(baskets.items) ** size, dtype=np.int64)
            for chunk in subsets(baskets, size):
                counters += np.bincount(chunk.keys.ravel(), minlength=len(counters))
            keys = np.flatnonzero(counters)
            return cls(size, len(baskets.items), keys, counters[keys])
        keys, supports = np.zeros(0, dtype=np.int64), np.zeros(0, dtype=np.int64)
        for chunk in subsets(baskets, size):
            more, counts = np.unique(chunk.keys, return_counts=True)
            keys, of_key = np.unique(np.concatenate([keys, more]), return_inverse=True)
            supports = np.bincount(
                of_key, np.concatenate([supports, counts]).astype(np.float64), minlength=len(keys)
            ).astype(np.int64)
        return cls(size, len(baskets.items), keys, supports)

    def members(self) -> IntArray:
        """The items of each set, a row per set."""
        return unpacked(self.keys, self.size, self.items)

    def support_of(self, keys: IntArray) -> IntArray:
        """How many baskets hold each of some sets, 0 where none does."""
        if not len(self.keys):
            return np.zeros(keys.shape, dtype=np.int64)
        at = np.searchsorted(self.keys, keys).clip(max=len(self.keys) - 1)
        return np.where(self.keys[at] == keys, self.supports[at], 0)


def subsets(baskets: Baskets, size: int) -> Iterator[SubsetChunk]:
    """All sets of ``size`` items of each basket that holds as many."""
    refuse_large(baskets, size)
    for length in np.unique(baskets.sizes[baskets.sizes >= size]):
        places = np.array(list(combinations(range(int(length)), size)), dtype=np.int64)
        rows, codes = baskets.alike(int(length))
        step = max(CHUNK // len(places), 1)
        for start in range(0, len(rows), step):
            some = slice(start, start + step)
            yield SubsetChunk(rows[some], places, packed(codes[some], places, len(baskets.items)))


def packed(codes: AnyIntArray, places: IntArray, items: int) -> IntArray:
    """Sets as one number each: those that stand at the ``places`` of each row.

    >>> packed(np.array([[0, 1, 2]]), np.array([[0, 1], [1, 2]]), 3)
    array([[1, 5]])
    """
    keys = np.zeros((len(codes), len(places)), dtype=np.int64)
    for column in places.T:
        keys = keys * items + codes[:, column]
    return keys


def unpacked(keys: IntArray, size: int, items: int) -> IntArray:
    """The items of packed sets, a row per set.

    >>> unpacked(np.array([5]), 2, 3)
    array([[1, 2]])
    """
    return keys[:, None] // items ** np.arange(size - 1, -1, -1, dtype=np.int64) % items


def refuse_large(baskets: Baskets, size: int) -> None:
    """Raise where sets of ``size`` items are too many to be looked at."""
    longest = int(baskets.sizes.max(initial=0))
    if len(baskets.items) ** size >= 2**62 or math.comb(longest, size) > MOST:
        raise InvalidParameter(
            Sentence(
                "sets of {size} items are too many to be counted: {items:,} items, up to {longest:,} in a basket",
                size=size,
                items=len(baskets.items),
                longest=longest,
            ),
            remedy="ask about an intruder who knows fewer items (m)",
        )
