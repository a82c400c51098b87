"""SABRE: classes that are t-close by how they are made, of records that are alike in what is known of them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np

from discreet.classes import Histogram
from discreet.privacy import TCloseness
from discreet.privacy.base import TOLERANCE
from discreet.privacy.closeness import ranks, tree_levels
from discreet.types import FloatArray, IntArray

TARGETS = (1.0, 0.75, 0.5, 0.25, 0.0)
"""Shares of t that similar values may use up; what is left serves the rounding of classes."""

LEAST = 2
"""A class has at least so many records: t-closeness along an order would let single ones stand alone."""


@dataclass(frozen=True)
class GroundDistance:
    """How far the values of a table are apart: along their order, or by the tree above them.

    Value i has the share ``shares[i]`` of all records; ``levels`` are the nodes above values below the root, none if all are
    equally far apart, ``None`` if they stand in their order.
    """

    shares: FloatArray = field(repr=False)
    levels: tuple[IntArray, ...] | None = None

    @classmethod
    def of(cls, model: TCloseness, histogram: Histogram) -> tuple[GroundDistance, IntArray]:
        """The distance that a requirement speaks of, and the number of each value code among those that occur."""
        present = histogram.totals > 0
        number = ranks(histogram)[1] if model.distance == "ordered" else np.cumsum(present) - 1
        shares = np.zeros(int(np.count_nonzero(present)))
        shares[number[present]] = histogram.totals[present] / histogram.totals.sum()
        if model.distance == "ordered":
            return cls(shares), number
        above = []
        if model.hierarchy is not None:
            above = [nodes[present] for nodes in tree_levels(histogram.domain, model.hierarchy)]
        return cls(shares, (np.arange(len(shares)), *above)), number

    def moved(self, difference: FloatArray) -> float:
        """Earth mover's distance of two distributions that differ by so much.

        >>> GroundDistance(np.full(3, 1 / 3)).moved(np.array([0.5, 0.0, -0.5]))
        0.5
        """
        if self.levels is None:
            return float(np.abs(np.cumsum(difference)).sum()) / max(len(difference) - 1, 1)
        return float(
            np.mean([np.abs(np.bincount(nodes, weights=difference)).sum() / 2 for nodes in self.levels])
        )

    def farthest(self, inside: IntArray) -> float:
        """What it costs at most if all records with one of some values have the same one of them.

        max over v of sum over u of q(u) d(u, v): whatever is drawn of these values, nothing costs more, since the distance
        is convex.

        >>> GroundDistance(np.array([0.5, 0.3, 0.2]), (np.arange(3),)).farthest(np.array([1, 2]))
        0.3
        """
        shares = self.shares[inside]
        if self.levels is None:
            low, high = (inside - inside.min()) @ shares, (inside.max() - inside) @ shares
            return float(max(low, high)) / max(len(self.shares) - 1, 1)
        alike = np.zeros(len(inside))
        for nodes in self.levels:
            alike += np.bincount(nodes[inside], weights=shares)[nodes[inside]]
        return max(0.0, float(shares.sum() - alike.min() / len(self.levels)))

    def parted(self, inside: IntArray) -> tuple[IntArray, IntArray]:
        """Some values in two parts that together cost least: cut in their order, or the largest node apart from the rest."""
        parts = self._cut(inside) if self.levels is None else self._apart(inside)
        return min(parts, key=lambda both: sum(map(self.farthest, both)))

    def _cut(self, inside: IntArray) -> list[tuple[IntArray, IntArray]]:
        inside = np.sort(inside)
        weight = np.concatenate([[0.0], np.cumsum(self.shares[inside])])
        first = np.concatenate([[0.0], np.cumsum(self.shares[inside] * inside)])
        at = np.arange(1, len(inside))
        left = np.maximum(
            first[at] - weight[at] * inside[0],
            weight[at] * inside[at - 1] - first[at],
        )
        right = np.maximum(
            first[-1] - first[at] - (weight[-1] - weight[at]) * inside[at],
            (weight[-1] - weight[at]) * inside[-1] - (first[-1] - first[at]),
        )
        cut = int(np.argmin(left + right)) + 1
        return [(inside[:cut], inside[cut:])]

    def _apart(self, inside: IntArray) -> list[tuple[IntArray, IntArray]]:
        assert self.levels is not None
        parts = []
        for nodes in self.levels:
            own = nodes[inside]
            heaviest = own == np.argmax(np.bincount(own, weights=self.shares[inside]))
            if not heaviest.all():
                parts.append((inside[heaviest], inside[~heaviest]))
        return parts


@dataclass(frozen=True)
class SimilarValues:
    """Values in buckets: records with values of one bucket stand for each other.

    A class that takes n(i) of its n records from bucket i, which has the share p(i) of the table and costs u(i) at most, is at a
    distance of at most moved(p' - p) + sum of n(i) / n / p(i) u(i): to a class with the table's distribution within every
    bucket, and from there to the table. Cao, Karras, Kalnis and Tan, "SABRE: a sensitive attribute bucketization and
    redistribution framework for t-closeness", VLDB Journal 20, 2011, sections 4 and 5.
    """

    distance: GroundDistance
    buckets: tuple[IntArray, ...]
    costs: FloatArray

    @property
    def of_value(self) -> IntArray:
        """The bucket of each value."""
        owner = np.empty(len(self.distance.shares), dtype=np.int64)
        for number, inside in enumerate(self.buckets):
            owner[inside] = number
        return owner

    def bound(self, sizes: IntArray) -> float:
        """How far from the table a class with so many records of each bucket is at most."""
        owner, shares = self.of_value, self.distance.shares
        factor = sizes / sizes.sum() / np.bincount(owner, weights=shares)
        return self.distance.moved((factor[owner] - 1.0) * shares) + float(factor @ self.costs)


def similar_values(distance: GroundDistance, limit: float) -> SimilarValues:
    """As few buckets of values as cost at most ``limit`` together: the cut that gains most comes first.

    >>> rare = GroundDistance(np.array([0.6, 0.2, 0.1, 0.1]), (np.arange(4),))
    >>> [bucket.tolist() for bucket in similar_values(rare, 0.1).buckets]
    [[0], [1], [2, 3]]
    """
    buckets = [np.arange(len(distance.shares))]
    costs = [distance.farthest(buckets[0])]
    halves = [distance.parted(buckets[0]) if len(buckets[0]) > 1 else None]
    while sum(costs) > limit + TOLERANCE:
        gains = [
            cost - sum(map(distance.farthest, both)) if both else -1.0
            for cost, both in zip(costs, halves, strict=True)
        ]
        at = int(np.argmax(gains))
        both = halves[at]
        if both is None:
            break
        for place, inside in ((at, both[0]), (len(buckets), both[1])):
            buckets[place : place + 1] = [inside]
            costs[place : place + 1] = [distance.farthest(inside)]
            halves[place : place + 1] = [distance.parted(inside) if len(inside) > 1 else None]
    return SimilarValues(distance, tuple(buckets), np.array(costs))


def class_sizes(values: SimilarValues, records: IntArray, t: float) -> list[IntArray]:
    """How many records of each bucket each class takes: all are halved as long as both halves, of two or more, are within ``t``.

    >>> half = GroundDistance(np.array([0.5, 0.5]), (np.arange(2),))
    >>> [sizes.tolist() for sizes in class_sizes(similar_values(half, 0.0), np.array([4, 4]), 0.1)]
    [[1, 1], [1, 1], [1, 1], [1, 1]]
    """
    known: dict[bytes, bool] = {}

    def close(sizes: IntArray) -> bool:
        key = sizes.tobytes()
        if key not in known:
            known[key] = int(sizes.sum()) >= LEAST and values.bound(sizes) <= t + TOLERANCE
        return known[key]

    done: list[IntArray] = []
    stack = [records]
    while stack:
        sizes = stack.pop()
        odd = sizes % 2
        # Of the buckets with an odd record left and right get it in turn.
        left = sizes // 2 + odd * (np.cumsum(odd) % 2)
        right = sizes - left
        if close(left) and close(right):
            stack += [right, left]
        else:
            done.append(sizes)
    return done


def redistributed(values: IntArray, histogram: Histogram, model: TCloseness, line: IntArray) -> IntArray:
    """The class of each record: every class is within t of the table, and its records are near each other.

    ``line`` are all records in an order in which those that are alike are near each other. Values are put into buckets of
    similar ones, the sizes of classes follow from the buckets' alone, and each class takes the next records of every bucket along
    the line. Of several numbers of buckets that which gives most classes is taken.
    """
    distance, number = GroundDistance.of(model, histogram)
    attempts: list[tuple[list[IntArray], IntArray]] = []
    tried: set[int] = set()
    for share in TARGETS:
        similar = similar_values(distance, share * model.t)
        if len(similar.buckets) in tried:
            continue
        tried.add(len(similar.buckets))
        owner = similar.of_value[number[values]]
        sizes = class_sizes(similar, np.bincount(owner, minlength=len(similar.buckets)), model.t)
        attempts.append((sizes, owner))
    sizes, owner = max(attempts, key=lambda attempt: len(attempt[0]))
    return _filled(sizes, owner, line)


def _filled(sizes: Sequence[IntArray], owner: IntArray, line: IntArray) -> IntArray:
    """The class of each record if every class takes the next records of each bucket along the line."""
    taken = np.stack(sizes).T
    numbers = np.broadcast_to(np.arange(taken.shape[1]), taken.shape)
    classes = np.empty(len(owner), dtype=np.int64)
    classes[line[np.argsort(owner[line], kind="stable")]] = np.repeat(numbers.ravel(), taken.ravel())
    return classes
