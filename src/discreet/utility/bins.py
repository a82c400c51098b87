"""Attributes in a few bins, before and after: what is measured over several attributes at once needs few cells.

Numbers are cut at quantiles of the original; of categories the most frequent ones have a bin each, the others one together.
A released value is spread evenly over the original values that it may stand for. A number that the original lacks lies in
the bin of the nearest value, any other value that it lacks in a bin of its own.
"""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from discreet.classes.pair import Pair
from discreet.table.meaning import Meaning
from discreet.types import AnyIntArray, FloatArray, IntArray
from discreet.utility.definition import FOREIGN

MOST_BINS = 10
"""Bins of values; missing ones and those that the original lacks have a bin more each."""


@dataclass(frozen=True)
class BinnedAttribute:
    """The bin of each original code, and for each released code its share in every bin."""

    name: str
    original: IntArray = field(repr=False)
    released: FloatArray = field(repr=False)

    @property
    def size(self) -> int:
        return int(self.released.shape[1])


def binned(pair: Pair, name: str) -> BinnedAttribute:
    """An attribute in at most ``MOST_BINS`` bins of values.

    >>> from discreet.utility.examples import four_ages
    >>> ages = binned(four_ages("[30, 39]", "[30, 39]", "48", "52"), "age")
    >>> ages.original, ages.released.tolist()
    (array([0, 1, 2, 3]), [[0.0, 0.0, 1.0, 0.0], [0.0, 0.0, 0.0, 1.0], [0.5, 0.5, 0.0, 0.0]])
    """
    meaning = pair.meaning(name)
    _, codes = pair.original.column_of_cells(name)
    counts = np.bincount(codes, weights=pair.original.counts, minlength=meaning.original.size).astype(
        np.float64
    )
    bins, borders = _of_numbers(meaning, counts) if meaning.numeric else (_of_categories(counts), np.empty(0))
    size = int(bins.max(initial=0)) + 1
    by_rank = bins[meaning.code_at]
    sizes = np.maximum(meaning.sizes, 1)
    shares = np.column_stack([meaning.sum_inside(by_rank == at) / sizes for at in range(size)])
    # A value that the original lacks, or that stands for none that occurs.
    lost = (meaning.kinds == FOREIGN) | (meaning.sizes == 0)
    shares[lost] = 0.0
    near = lost & ~np.isnan(meaning.centre) if meaning.numeric else np.zeros(len(lost), dtype=bool)
    shares[near, np.searchsorted(borders, meaning.centre[near], side="left")] = 1.0
    other = lost & ~near
    if other.any():
        shares = np.column_stack([shares, other.astype(np.float64)])
    return BinnedAttribute(name, bins, shares)


def _of_numbers(meaning: Meaning, counts: FloatArray) -> tuple[IntArray, FloatArray]:
    """The bin of each code, and the borders between bins, in the middle between numbers; missing ones come last."""
    numbers = meaning.original.numbers
    known = np.flatnonzero(~np.isnan(numbers))
    order = known[np.argsort(numbers[known], kind="stable")]
    last = np.arange(len(order) - 1)
    if len(order) > MOST_BINS:
        below = np.cumsum(counts[order])
        last = np.unique(np.searchsorted(below, below[-1] * np.arange(1, MOST_BINS) / MOST_BINS))
        last = last[last < len(order) - 1]
    rising = numbers[order]
    borders = (rising[last] + rising[last + 1]) / 2 if len(order) else np.empty(0)
    bins = np.searchsorted(borders, numbers, side="left").astype(np.int64)
    bins[np.isnan(numbers)] = len(borders) + 1 if len(known) else 0
    return bins, np.asarray(borders)


def _of_categories(counts: FloatArray) -> IntArray:
    """The bin of each code: one each for the most frequent, the last for all others.

    >>> _of_categories(np.array([1.0] * 10 + [5.0]))
    array([1, 2, 3, 4, 5, 6, 7, 8, 9, 9, 0])
    """
    order = np.argsort(-counts, kind="stable")
    bins = np.empty(len(counts), dtype=np.int64)
    bins[order] = np.minimum(np.arange(len(counts)), MOST_BINS - 1)
    return bins


def shares_of_cells(attribute: BinnedAttribute, codes: AnyIntArray, *, released: bool) -> FloatArray:
    """The share of each cell in every bin of an attribute."""
    if released:
        return np.asarray(attribute.released[codes])
    return np.asarray(np.eye(attribute.size)[attribute.original[codes]])
