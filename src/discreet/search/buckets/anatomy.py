"""Xiao and Tao's algorithm for l-diverse buckets, and buckets that are each like the whole table."""

from __future__ import annotations

import heapq

import numpy as np

from discreet.errors import GoalUnreachable
from discreet.perturb.randomness import Randomness
from discreet.sentences import Sentence
from discreet.types import IntArray


def anatomized(values: IntArray, l: int, randomness: Randomness) -> IntArray:  # noqa: E741  (the field's own letter)
    """The bucket of each record: every bucket has at least ``l`` records, and no value of ``values`` twice.

    As long as ``l`` values have records left, one record of each of the ``l`` values with most of them goes into a new bucket;
    each of the fewer than ``l`` records that remain goes into a bucket that lacks its value. That is possible if no value has
    more than n / l of the n records. Xiao and Tao, "Anatomy: simple and effective privacy preservation", VLDB 2006, figure 3.

    >>> buckets = anatomized(np.array([0, 0, 1, 1, 2]), 2, Randomness(1))
    >>> sorted(np.bincount(buckets).tolist())
    [2, 3]
    """
    records = len(values)
    counts = np.bincount(values, minlength=1)
    if not records or int(counts.max()) * l > records:
        raise GoalUnreachable(
            Sentence(
                "one value has more than one in {l} of the records, so no buckets hold it once each", l=l
            ),
            nearest=Sentence("buckets with l = {l}", l=records // max(int(counts.max()), 1)),
            remedy="ask for a smaller l",
        )
    drawn = randomness.permutation(records)
    order = drawn[np.argsort(values[drawn], kind="stable")]
    starts = np.concatenate([[0], np.cumsum(counts)])
    # Values with most records left first; of equally many, by chance.
    ties = randomness.words(len(counts)).tolist()
    left = [(-int(count), ties[value], value) for value, count in enumerate(counts.tolist()) if count]
    heapq.heapify(left)
    buckets = np.empty(records, dtype=np.int64)
    made = 0
    while len(left) >= l:
        taken = [heapq.heappop(left) for _ in range(l)]
        for rest, tie, value in taken:
            buckets[order[starts[value] - rest - 1]] = made
            if rest < -1:
                heapq.heappush(left, (rest + 1, tie, value))
        made += 1
    # One record each: the values with most records were always taken.
    residue = [int(order[starts[value]]) for _, _, value in left]
    _place_residue(buckets, values, residue, made, randomness)
    return randomness.permutation(made)[buckets]


def _place_residue(
    buckets: IntArray, values: IntArray, residue: list[int], made: int, randomness: Randomness
) -> None:
    """Put the records that are left, each of another value, into buckets without it, drawn at random."""
    for record, chance in zip(residue, randomness.uniform(len(residue)).tolist(), strict=True):
        others = np.flatnonzero(values == values[record])
        having = np.unique(buckets[others[others != record]])
        lacking = np.setdiff1d(np.arange(made), having, assume_unique=True)
        buckets[record] = lacking[int(chance * len(lacking))]


def dealt(values: IntArray, count: int, randomness: Randomness) -> IntArray:
    """The bucket of each record: every value is dealt out as evenly as can be to ``count`` buckets.

    Each bucket has a value n(v) / ``count`` times, rounded down or up, and so its distribution is about that of the table.

    >>> np.bincount(dealt(np.array([0, 0, 0, 0, 1, 1]), 2, Randomness(1))).tolist()
    [3, 3]
    """
    drawn = randomness.permutation(len(values))
    order = drawn[np.argsort(values[drawn], kind="stable")]
    buckets = np.empty(len(values), dtype=np.int64)
    buckets[order] = np.arange(len(values)) % count
    return randomness.permutation(count)[buckets]
