"""Possible worlds behind a class: all ways to hand its sensitive values to the parts it would fall into.

A class has N people, the values of which are known as a whole, and parts of known sizes. Without further
knowledge every assignment of values to people is equally likely. Counting is exact: one polynomial per part, whose
terms are the histograms the part may have, and their product at the histogram of the whole class.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from scipy.special import gammaln

from discreet.classes import EquivalenceClasses
from discreet.privacy.base import PrivacyModel
from discreet.table.domain import Domain
from discreet.types import BoolArray, FloatArray, IntArray


@dataclass(frozen=True)
class Part:
    """Some people of a class; ``joined`` are those (per value) they would have stood with in a finer release."""

    people: int
    joined: IntArray


@dataclass(frozen=True)
class Class:
    """A released class and the parts it would fall into: ``values`` are the codes that occur, with ``counts``."""

    values: IntArray
    counts: IntArray
    parts: tuple[Part, ...]

    @property
    def states(self) -> int:
        """How much there is to count: histograms that some parts together may have, times those of the largest part.

        The most frequent value is left out: its count follows from the others.
        """
        others = np.sort(self.counts)[:-1].astype(np.float64)
        largest = max(part.people for part in self.parts)
        own = np.minimum(others, largest)
        return int(min(np.prod(others + 1) * np.prod(own + 1) * len(self.parts), 2.0**62))


@dataclass(frozen=True)
class Counted:
    """What the worlds of a class come to: ``ok`` is the probability that every part meets the requirement,
    ``share[a, s]`` the probability that this is so and a person of part ``a`` has the value ``s``."""

    ok: float
    share: FloatArray


def histograms(counts: IntArray, people: int) -> IntArray:
    """All histograms of so many people with at most ``counts`` of each value.

    >>> histograms(np.array([2, 1]), 2).tolist()
    [[2, 0], [1, 1]]
    """
    if len(counts) == 1:
        return np.array([[people]], dtype=np.int64)
    first = int(np.argmax(counts))
    others = np.delete(counts, first)
    grid = np.indices((np.minimum(others, people) + 1).tolist()).reshape(len(others), -1).T
    rest = people - grid.sum(axis=1)
    fits = (rest >= 0) & (rest <= counts[first])
    return np.asarray(np.insert(grid[fits], first, rest[fits], axis=1), dtype=np.int64)


def meets(
    models: Sequence[PrivacyModel],
    domain: Domain,
    totals: IntArray,
    rows: IntArray,
) -> BoolArray:
    """Which hypothetical classes (rows of counts per value code) meet all requirements, in a table like this one.

    Models that compare with the whole table find its distribution: a last class fills the rows up to a multiple of
    ``totals``.
    """
    used = rows.sum(axis=0)
    times = int(np.max(-(-used[totals > 0] // totals[totals > 0]), initial=0)) + 1
    table = np.vstack([rows, times * totals - used])
    owner, values = np.nonzero(table)
    classes = EquivalenceClasses(
        attributes=(),
        codes=(),
        indptr=np.searchsorted(owner, np.arange(len(table) + 1)).astype(np.int64),
        counts=table[owner, values],
        sensitive=(domain,),
        sensitive_codes={domain.name: values.astype(np.uint32)},
    )
    fine = np.ones(len(table), dtype=bool)
    for model in models:
        fine &= model.holds(classes)
    return fine[:-1]


def count(world: Class, allowed: Sequence[BoolArray]) -> Counted:
    """Count the worlds of a class; ``allowed[a]`` says which of ``histograms(counts, people of a)`` are met.

    Two of three people have the value; parts of two and one; at most one of the two may have it:

    >>> world = Class(np.array([0, 1]), np.array([1, 2]), (Part(2, np.zeros(2)), Part(1, np.zeros(2))))
    >>> counted = count(world, [np.array([False, True]), np.array([True, True])])  # [0, 2] and [1, 1]; [0, 1] and [1, 0]
    >>> round(counted.ok, 4), counted.share.round(4).tolist()
    (0.6667, [[0.3333, 0.3333], [0.0, 0.6667]])
    """
    first = int(np.argmax(world.counts))
    target = np.delete(world.counts, first)
    chance = world.counts / world.counts.sum()
    shape = tuple(target + 1)
    terms = []
    for part, mask in zip(world.parts, allowed, strict=True):
        rows = histograms(world.counts, part.people)[mask]
        # Multinomial weights with the class's own shares: the factor cancels, and nothing under- or overflows.
        weight = np.exp(
            _log_factorial(np.asarray(part.people)) - _log_factorial(rows).sum(axis=1) + rows @ np.log(chance)
        )
        terms.append((rows, np.delete(rows, first, axis=1), weight))
    one_state = np.zeros(shape)
    one_state[(0,) * len(shape)] = 1.0
    before = [one_state]
    for _, moves, weight in terms[:-1]:
        before.append(_times(before[-1], moves, weight))
    after = [one_state]
    for _, moves, weight in reversed(terms[1:]):
        after.append(_times(after[-1], moves, weight))
    after.reverse()
    everything = np.exp(
        _log_factorial(np.asarray(world.counts.sum()))
        - _log_factorial(world.counts).sum()
        + world.counts @ np.log(chance)
    )
    share = np.zeros((len(world.parts), len(world.counts)))
    ok = 0.0
    for a, (part, (rows, moves, weight)) in enumerate(zip(world.parts, terms, strict=True)):
        others = _pairs(before[a], after[a], target - moves)
        mass = weight * others / everything
        ok = float(mass.sum())
        share[a] = mass @ rows / part.people
    return Counted(ok, share)


def _times(state: FloatArray, moves: IntArray, weight: FloatArray) -> FloatArray:
    """A polynomial times the terms of one part, cut off at the histogram of the class."""
    product = np.zeros_like(state)
    for move, factor in zip(moves.tolist(), weight.tolist(), strict=True):
        there = tuple(slice(step, None) for step in move)
        here = tuple(slice(0, size - step) for size, step in zip(state.shape, move, strict=True))
        product[there] += factor * state[here]
    return product


def _pairs(before: FloatArray, after: FloatArray, ends: IntArray) -> FloatArray:
    """The product of two polynomials at some exponents."""
    product = np.zeros(len(ends))
    for i, end in enumerate(ends.tolist()):
        if min(end, default=0) < 0:
            continue
        inside = tuple(slice(0, stop + 1) for stop in end)
        mirrored = np.flip(after[inside])
        product[i] = float((before[inside] * mirrored).sum())
    return product


def _log_factorial(numbers: IntArray) -> FloatArray:
    return np.asarray(gammaln(numbers + 1.0), dtype=np.float64)
