"""Counted classes as features for learning: what a released value says, and how a record of the original reads.

Every combination of quasi-identifiers is one row that stands for its records, so no rows of the table are needed.

**Released values.** A number is its centre (``Meaning.centre``) and its width. A category is an expected one-hot: the
original values that a released value may stand for share its mass in proportion to the records that the release
itself lets expect there. The analyst has nothing but the release: what it shows is spread evenly over what it may
stand for (``Meaning.spread``), and that gives the shares. A suppressed value is thus spread over everything as the
rest of the release is. A null is a value of its own. Numbers also get such shares, over bins.

**Original values** are read as the release would print them: the mean of the released values that cover them, each
weighted by its expected records there, so that under global recoding training and test records look alike. A
suppressed value counts only where nothing else covers. A number that nothing covers is itself; any other value is
the mean of the release.

**Many values.** Original values that the release never tells apart share a column. If columns are still too many, the
most frequent values keep theirs and the rest are put together in their order, about equally many records in each.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import coo_array, csr_array, eye_array, hstack, vstack

from discreet.classes.pair import Pair
from discreet.errors import UnknownColumn, UnsuitableColumn
from discreet.sentences import Sentence
from discreet.table.domain import Domain
from discreet.table.meaning import KINDS, Meaning
from discreet.types import AnyIntArray, BoolArray, FloatArray, IntArray

MAX_COLUMNS = 250
"""Columns for categories in all; attributes with many values share what the others leave."""
MIN_COLUMNS = 4
NUMBER_BINS = 16
MAX_LABELS = 100
BINNED_LABELS = 20
"""Numeric labels with more values than this are cut at their quartiles."""

_NOTHING = 1e-9


@dataclass(frozen=True)
class Features:
    """Rows to learn from: ``numbers`` (standardised), and ``shares`` over the groups of every attribute.

    Attribute ``j`` has the columns ``spans[j]:spans[j + 1]`` of ``shares``, which add up to 1 in every row;
    ``binned`` marks the columns that are bins of numbers.
    """

    numbers: FloatArray
    shares: csr_array
    spans: IntArray
    binned: BoolArray

    def __len__(self) -> int:
        return len(self.numbers)

    def take(self, at: AnyIntArray) -> Features:
        """Some of the rows."""
        return Features(self.numbers[at], self.shares[at], self.spans, self.binned)


@dataclass(frozen=True)
class EncodedAttribute:
    """The features of each value of one attribute, as released and as a record of the original is read.

    The last row of ``original`` tables is for values that neither table has.
    """

    name: str
    numeric: bool
    released_numbers: FloatArray = field(repr=False)
    released_shares: csr_array = field(repr=False)
    original_numbers: FloatArray = field(repr=False)
    original_shares: csr_array = field(repr=False)


@dataclass(frozen=True)
class Encoder:
    """The features of a pair's quasi-identifiers.

    >>> from discreet.classes import EquivalenceClasses
    >>> original = EquivalenceClasses.from_columns({"job": ["baker", "clerk", "smith"]})
    >>> released = EquivalenceClasses.from_columns({"job": ["{baker, clerk}"] * 2 + ["smith"]})
    >>> encoder = Encoder.of(Pair.of(original, released))
    >>> encoder.released(np.array([0, 1])).shares.toarray()
    array([[0., 1.],
           [1., 0.]])
    >>> encoder.original(original.codes).shares.toarray()
    array([[1., 0.],
           [1., 0.],
           [0., 1.]])
    """

    pair: Pair = field(repr=False)
    attributes: tuple[EncodedAttribute, ...]

    @classmethod
    def of(cls, pair: Pair) -> Encoder:
        """The features of a pair, which are the same whatever is to be learned from them."""
        if "encoder" not in pair.remembered:
            pair.remembered["encoder"] = cls._made(pair)
        encoder: Encoder = pair.remembered["encoder"]
        return encoder

    @classmethod
    def _made(cls, pair: Pair) -> Encoder:
        released = pair.released
        views = [
            _View.of(meaning, _totals(codes, released.records, meaning.released.size))
            for meaning, codes in zip(pair.meanings, released.codes, strict=True)
        ]
        limit = _limit([view.blocks for view in views if not view.meaning.numeric], MAX_COLUMNS)
        return cls(pair, tuple(view.encoded(limit) for view in views))

    def released(self, at: AnyIntArray) -> Features:
        """Features of some released classes."""
        codes = [column[at] for column in self.pair.released.codes]
        columns = list(zip(self.attributes, codes, strict=True))
        return self._features(
            [attribute.released_numbers[code] for attribute, code in columns],
            [attribute.released_shares[code] for attribute, code in columns],
            len(at),
        )

    def original(self, codes: Sequence[AnyIntArray]) -> Features:
        """Features of combinations of original codes, read as the release would print them; -1 is no known value."""
        # The last row, which is that of -1, is for values that neither table has; sparse tables count from 0 only.
        columns = [
            (attribute, np.where(code < 0, attribute.original_shares.shape[0] - 1, code.astype(np.int64)))
            for attribute, code in zip(self.attributes, codes, strict=True)
        ]
        return self._features(
            [attribute.original_numbers[at] for attribute, at in columns],
            [attribute.original_shares[at] for attribute, at in columns],
            len(codes[0]) if codes else 0,
        )

    def _features(self, numbers: list[FloatArray], shares: list[csr_array], rows: int) -> Features:
        widths = [table.shape[1] for table in shares]
        return Features(
            np.concatenate(numbers, axis=1) if numbers else np.empty((rows, 0)),
            csr_array(hstack(shares, format="csr")) if shares else csr_array((rows, 0)),
            np.cumsum([0, *widths]),
            np.repeat([attribute.numeric for attribute in self.attributes], widths).astype(bool),
        )


def codes_in(domain: Domain, other: Domain) -> IntArray:
    """For each code of ``other`` the code of the same value in ``domain``, or of the nearest number; else -1.

    >>> import pyarrow as pa
    >>> codes_in(Domain("x", pa.array([1, 2, 3])), Domain("x", pa.array([2, 7])))
    array([1, 2])
    >>> codes_in(Domain("x", pa.array(["a", "b"])), Domain("x", pa.array(["b", "c"])))
    array([ 1, -1])
    """
    meaning = Meaning.of(domain, other)
    exact = meaning.kinds == KINDS.index("exact")
    codes = np.full(other.size, -1, dtype=np.int64)
    codes[exact] = meaning.code_at[meaning.starts[meaning.indptr[:-1][exact]]]
    if meaning.numeric:
        near = ~exact & ~np.isnan(other.numbers)
        numbers = domain.numbers[meaning.code_at]
        codes[near] = meaning.code_at[_nearest(numbers[~np.isnan(numbers)], other.numbers[near])]
    return codes


# ── labels ───────────────────────────────────────────────────────────────────────────────────────────


@dataclass(frozen=True)
class Labels:
    """What is to be predicted: the label of each original value, and the chances of each released one.

    ``released[r]`` are zero where a released value says nothing (suppressed, or not a value of the original).
    ``binned`` says that numbers were cut at their quartiles.

    >>> from discreet.classes import EquivalenceClasses
    >>> original = EquivalenceClasses.from_columns({"sex": ["f", "f", "m"]}, sensitive={"ill": ["a", "b", "c"]})
    >>> released = EquivalenceClasses.from_columns({"sex": ["*"] * 3}, sensitive={"ill": ["{a, b}", "*", "c"]})
    >>> Labels.of(Pair.of(original, released), "ill").released
    array([[0. , 0. , 0. ],
           [0. , 0. , 1. ],
           [0.5, 0.5, 0. ]])
    """

    name: str
    count: int
    original: IntArray = field(repr=False)
    released: FloatArray = field(repr=False)
    binned: bool = False

    @classmethod
    def of(cls, pair: Pair, name: str, *, most: int = MAX_LABELS) -> Labels:
        """The labels of a sensitive attribute; numbers with more than 20 values are cut at their quartiles."""
        if name not in pair.sensitive:
            raise UnknownColumn(name, pair.sensitive)
        meaning = pair.sensitive[name]
        histogram = pair.original.histogram(name)
        domain = meaning.original
        binned = domain.is_numeric and domain.size > BINNED_LABELS
        edges = _quartiles(domain.numbers, histogram.totals) if binned else np.empty(0)
        if binned:
            unknown = np.isnan(domain.numbers)
            original = np.where(unknown, len(edges) + 1, np.searchsorted(edges, domain.numbers, side="left"))
        else:
            original = np.arange(domain.size)
        _, original = np.unique(original, return_inverse=True)
        count = int(original.max()) + 1
        if count > most:
            raise UnsuitableColumn(
                Sentence(
                    "column {name!r} has {count} values, too many to be predicted", name=name, count=count
                ),
                remedy=Sentence(
                    "name an attribute with at most {most} values, or group its values first", most=most
                ),
            )
        released = np.zeros((meaning.released.size, count))
        for code in range(meaning.released.size):
            members = meaning.members(code)
            if len(members) and not meaning.suppressed[code]:
                released[code] = np.bincount(original[members], minlength=count) / len(members)
            elif binned and not np.isnan(meaning.centre[code]) and not meaning.suppressed[code]:
                # A number that was averaged or noised still lies in a quarter.
                released[code, np.searchsorted(edges, meaning.centre[code], side="left")] = 1.0
        return cls(name, count, original.astype(np.int64), released, binned)


def _quartiles(numbers: FloatArray, counts: IntArray) -> FloatArray:
    """Upper ends of the first three quarters of the records."""
    known = np.flatnonzero(~np.isnan(numbers))
    order = known[np.argsort(numbers[known], kind="stable")]
    below = np.cumsum(counts[order])
    at = np.searchsorted(below, np.array([0.25, 0.5, 0.75]) * below[-1])
    ends: FloatArray = np.unique(numbers[order[at]])
    return np.asarray(ends[ends < numbers[order[-1]]])


# ── one attribute ────────────────────────────────────────────────────────────────────────────────────


@dataclass(frozen=True)
class _View:
    """One attribute as the release shows it: what is expected where, and what it never tells apart."""

    meaning: Meaning
    records: FloatArray
    shown: BoolArray
    mass: FloatArray
    """Expected records per rank."""
    inside: FloatArray
    """Expected records among what each released code may stand for."""
    block: IntArray
    """Ranks with the same number are never told apart."""

    @classmethod
    def of(cls, meaning: Meaning, records: FloatArray) -> _View:
        shown = (records > 0) & ~meaning.suppressed
        mass = meaning.spread(np.ones(meaning.original.size), np.where(shown, records, 0.0))[meaning.code_at]
        numbers = meaning.original.numbers[meaning.code_at]
        replaced = np.flatnonzero(shown & (meaning.sizes == 0) & ~np.isnan(meaning.centre))
        if meaning.numeric and len(replaced):
            near = _nearest(numbers[~np.isnan(numbers)], meaning.centre[replaced])
            mass = mass + _totals(near, records[replaced], len(mass))
        # Values that are shown nowhere still need a share inside a value that stands for nothing else.
        mass = mass + max(mass.sum(), 1.0) * 1e-6 / max(len(mass), 1)
        inside = meaning.sum_inside(mass)
        # A random number per released value; ranks under the same released values get the same sum.
        keys = np.random.default_rng(0).integers(1, 2**63, size=len(records), dtype=np.uint64)
        keys[~shown] = 0
        marks = meaning.sum_covering(keys)
        if meaning.numeric:
            marks[np.isnan(numbers)] += np.uint64(1)
            if len(replaced):
                # Means and noise tell all numbers apart, though they cover none.
                marks = np.arange(len(marks), dtype=np.uint64)
        _, first, block = np.unique(marks, return_index=True, return_inverse=True)
        in_order = np.empty(len(first), dtype=np.int64)
        in_order[np.argsort(first)] = np.arange(len(first))
        return cls(meaning, records, shown, mass, inside, in_order[block])

    @property
    def blocks(self) -> int:
        return int(self.block.max()) + 1 if len(self.block) else 0

    def encoded(self, limit: int) -> EncodedAttribute:
        groups = self._groups(NUMBER_BINS if self.meaning.numeric else limit)
        released = self._released_shares(groups)
        numbers = self._released_numbers()
        return EncodedAttribute(
            self.meaning.name,
            self.meaning.numeric,
            numbers[0],
            released,
            self._original_numbers(*numbers),
            self._original_shares(released),
        )

    def _groups(self, limit: int) -> IntArray:
        """The column of each rank."""
        if self.blocks <= limit:
            return self.block
        mass = np.bincount(self.block, self.mass)
        own = np.empty(0, dtype=np.int64)
        if not self.meaning.numeric:
            own = np.argsort(-mass, kind="stable")[: limit // 2]
        rest = np.setdiff1d(np.arange(len(mass)), own)
        column = np.empty(len(mass), dtype=np.int64)
        column[own] = np.arange(len(own))
        middle = np.cumsum(mass[rest]) - mass[rest] / 2
        column[rest] = len(own) + (middle / mass[rest].sum() * (limit - len(own))).astype(np.int64)
        return np.unique(column, return_inverse=True)[1][self.block]

    def _released_shares(self, groups: IntArray) -> csr_array:
        """Share of each released value's expected records in each column."""
        meaning = self.meaning
        width = int(groups.max()) + 1
        columns = []
        for group in range(width):
            inside = meaning.sum_inside(np.where(groups == group, self.mass, 0.0))
            columns.append(np.divide(inside, self.inside, out=np.zeros_like(inside), where=self.inside > 0))
        # What stands for no original value: a number lies in the column of the nearest value, all else anywhere.
        everywhere = csr_array((np.bincount(groups, self.mass, width) / self.mass.sum())[None])
        rows = np.arange(len(self.records))
        foreign = self.inside <= 0
        rows[foreign] = len(rows) + width
        if meaning.numeric:
            numbers = meaning.original.numbers[meaning.code_at]
            near = np.flatnonzero(foreign & ~np.isnan(meaning.centre))
            real = numbers[~np.isnan(numbers)]
            rows[near] = len(rows) + groups[_nearest(real, meaning.centre[near])]
        return csr_array(vstack([_table(columns), eye_array(width), everywhere], format="csr"))[rows]

    def _covering(self) -> tuple[BoolArray, FloatArray]:
        """Which released values count when an original value is read, and their expected records per unit of mass."""
        rate = np.divide(
            self.records, self.inside, out=np.zeros_like(self.inside), where=(self.inside > 0) & self.shown
        )
        return self.meaning.sum_covering(rate) > _NOTHING * max(float(rate.max(initial=0.0)), _NOTHING), rate

    def _original_shares(self, released: csr_array) -> csr_array:
        covered, rate = self._covering()
        total = self.meaning.sum_covering(rate)
        mean = (self.records @ released) / self.records.sum()
        by_column = released.tocsc()
        columns = []
        for column in range(released.shape[1]):
            sums = self.meaning.sum_covering(rate * by_column[:, [column]].toarray().ravel())
            shares = np.divide(sums, total, out=np.full(len(total), mean[column]), where=covered)
            columns.append(np.append(shares[self.meaning.rank], mean[column]))
        if self.meaning.numeric:
            return self._own_bins(_table(columns), covered, released)
        return _table(columns)

    def _own_bins(self, table: csr_array, covered: BoolArray, released: csr_array) -> csr_array:
        """Numbers that nothing covers lie in the bin of the nearest released number."""
        centre = np.where(self.shown, self.meaning.centre, np.nan)
        order = np.argsort(centre)[: int((~np.isnan(centre)).sum())]
        numbers = self.meaning.original.numbers
        lost = np.flatnonzero(~covered[self.meaning.rank] & ~np.isnan(numbers))
        if not len(lost) or not len(order):
            return table
        rows = np.arange(table.shape[0])
        rows[lost] = len(rows) + order[_nearest(centre[order], numbers[lost])]
        return csr_array(vstack([table, released], format="csr"))[rows]

    def _released_numbers(self) -> tuple[FloatArray, FloatArray, FloatArray]:
        """Centre, width and whether it is missing, standardised; the mean and scale that did it."""
        meaning = self.meaning
        if not meaning.numeric:
            return np.empty((len(self.records), 0)), np.empty(0), np.empty(0)
        centre = meaning.centre.copy()
        width = meaning.high - meaning.low
        missing = (np.isnan(centre) & self.shown).astype(float)
        known = self.shown & ~np.isnan(centre)
        weights = np.where(known, self.records, 0.0)
        mean = float(np.average(centre[known], weights=weights[known])) if known.any() else 0.0
        centre[~known] = mean
        width[~known] = float(np.average(width[known], weights=weights[known])) if known.any() else 0.0
        table = np.column_stack([centre, width, missing])
        offset = np.average(table, axis=0, weights=self.records)
        scale = np.sqrt(np.average((table - offset) ** 2, axis=0, weights=self.records))
        scale[scale < _NOTHING] = np.inf  # says nothing: becomes 0
        return (table - offset) / scale, offset, scale

    def _original_numbers(self, released: FloatArray, offset: FloatArray, scale: FloatArray) -> FloatArray:
        covered, rate = self._covering()
        if not self.meaning.numeric:
            return np.empty((len(covered) + 1, 0))
        total = self.meaning.sum_covering(rate)
        numbers = self.meaning.original.numbers
        own = np.column_stack([numbers, np.zeros(len(numbers)), np.zeros(len(numbers))])
        own[np.isnan(numbers)] = offset[0], offset[1], 1.0
        table = (own - offset) / scale
        inside = covered[self.meaning.rank]
        for column in range(released.shape[1]):
            sums = self.meaning.sum_covering(rate * released[:, column])[self.meaning.rank]
            table[inside, column] = sums[inside] / total[self.meaning.rank][inside]
        return np.vstack([table, np.zeros((1, released.shape[1]))])


def _totals(places: AnyIntArray, weights: NDArray[np.number], length: int) -> FloatArray:
    return np.bincount(places, weights=weights, minlength=length).astype(np.float64)


def _nearest(ordered: FloatArray, numbers: FloatArray) -> IntArray:
    """Where the nearest of some ascending numbers stands.

    >>> _nearest(np.array([1.0, 5.0, 9.0]), np.array([0.0, 4.0, 20.0]))
    array([0, 1, 2])
    """
    at = np.searchsorted(ordered, numbers).clip(1, max(len(ordered) - 1, 1)) if len(ordered) > 1 else None
    if at is None:
        return np.zeros(np.shape(numbers), dtype=np.int64)
    return np.asarray(np.where(numbers - ordered[at - 1] <= ordered[at] - numbers, at - 1, at))


def _table(columns: list[FloatArray]) -> csr_array:
    """Columns as a sparse table; shares that are only rounding are left out."""
    rows, places, values = [], [], []
    for place, column in enumerate(columns):
        at = np.flatnonzero(column > _NOTHING)
        rows.append(at)
        places.append(np.full(len(at), place))
        values.append(column[at])
    shape = len(columns[0]), len(columns)
    places_of_values = np.concatenate(rows), np.concatenate(places)
    return csr_array(coo_array((np.concatenate(values), places_of_values), shape=shape))


def _limit(blocks: list[int], columns: int) -> int:
    """The most columns that one attribute may have so that all have at most ``columns``.

    >>> _limit([2, 7, 1000], 20)
    11
    """
    low, high = MIN_COLUMNS, max([MIN_COLUMNS, *blocks])
    while low < high:
        middle = (low + high + 1) // 2
        if sum(min(count, middle) for count in blocks) <= columns:
            low = middle
        else:
            high = middle - 1
    return low
