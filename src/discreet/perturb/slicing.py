"""Slicing: columns that go together stay together, and are dealt out anew within buckets of similar records."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import ClassVar

import numpy as np
import pyarrow as pa

from discreet.errors import InvalidParameter, UnsuitableColumn
from discreet.perturb.base import Perturbation, groups, names_of, need_number, ordered, whole, without_marks
from discreet.perturb.randomness import Randomness
from discreet.perturb.swapping import lost_in_groups
from discreet.perturb.synthesis import ranked
from discreet.sentences import Sentence
from discreet.types import FloatArray, IntArray

BINS = 10
"""Numbers are looked at in so many equally frequent parts to see which columns go together."""


@dataclass(frozen=True)
class Slicing(Perturbation):
    """Records form buckets, and in each of them the values of every slice of ``columns`` are dealt out anew.

    Columns that go together form a slice and move together: ``slices`` of them, by the mean-square contingency
    φ² = Σ (f(i,j) - f(i) f(j))² / (f(i) f(j)) / (min(m, n) - 1) of two columns with m and n values and medoids (distance 1 - φ²).
    Buckets are halved at the median of one column after another, ``beside`` or in ``columns`` but for the ``sensitive`` one, as long as in
    every bucket, among its records with the same values in the rest of the sensitive slice, no sensitive value
    has more than 1 / ``l`` (nulls and marks of missing values are one), and every bucket has at least ``size`` records. Columns ``beside`` stay where they are.
    Whoever knows all but the sensitive value of a person, and the buckets, gives no value a chance above 1 / l: over all buckets that
    may be the person's it is a mean of what each says. Of people with several rows this is not so, and a release refuses them. Li, Li, Zhang and Molloy, "Slicing: a new approach for privacy preserving data
    publishing", IEEE TKDE 24, 2012.

    >>> rows = pa.table({"age": [20, 21, 60, 61], "job": ["a", "b", "c", "d"], "ill": ["flu", "cold", "flu", "cold"]})
    >>> Slicing(("ill",), sensitive="ill", beside=("age",), slices=1).buckets(rows).tolist()
    [0, 0, 1, 1]
    """

    id: ClassVar[str] = "slicing"
    title: ClassVar[str] = "slicing"
    says: ClassVar[str] = (
        "Columns that go together are dealt out anew, together, within buckets of similar records."
    )
    keeps: ClassVar[str] = (
        "in each bucket every slice has the same combinations equally often, and no sensitive value more than one in l"
    )
    source: ClassVar[str] = "Li et al., Slicing: a new approach for privacy preserving data publishing, 2012"
    one_row_each: ClassVar[bool] = True
    seen_as_a_whole: ClassVar[bool] = True

    sensitive: str
    l: int = 2  # noqa: E741  (the field's own letter)
    slices: int = 2
    size: int = 1
    beside: tuple[str, ...] = ()

    def check(self) -> None:
        object.__setattr__(self, "beside", names_of(self.id, "beside", self.beside))
        if self.sensitive not in self.columns:
            raise InvalidParameter(
                Sentence("sensitive of {step} is none of its columns", step=self.id),
                remedy="name one of the columns that it moves",
            )
        if set(self.beside) & set(self.columns):
            raise InvalidParameter(
                Sentence("{step} has a column that both moves and stays", step=self.id),
                remedy="name it in columns or in beside",
            )
        if not self.beside and len(self.columns) < 2:
            raise InvalidParameter(
                Sentence("{step} has nothing to form buckets by", step=self.id),
                remedy="name columns that stay (beside)",
            )
        for name in ("l", "slices", "size"):
            given = getattr(self, name)
            need_number(self.id, name, given, above=1, allow=True)
            if not isinstance(given, int):
                raise InvalidParameter(
                    Sentence("{name} of {step} must be a whole number", name=name, step=self.id),
                    remedy="correct it",
                )
        if self.slices > len(self.columns):
            raise InvalidParameter(
                Sentence("{step} has more slices than columns", step=self.id),
                remedy="ask for fewer slices, or name more columns",
            )

    @property
    def needed(self) -> tuple[str, ...]:
        return (*self.columns, *self.beside)

    def sliced(self, rows: pa.Table) -> list[tuple[str, ...]]:
        """The slices, by which columns go together."""
        return associated(rows, self.columns, self.slices, self.id)

    def buckets(self, rows: pa.Table) -> IntArray:
        """The bucket of each record."""
        beside = next(names for names in self.sliced(rows) if self.sensitive in names)
        same = groups(rows, [name for name in beside if name != self.sensitive])
        # Missing values say the same of a person, however they are written.
        values = groups(
            pa.table({self.sensitive: without_marks(whole(rows[self.sensitive]))}), [self.sensitive]
        )
        width = int(values.max(initial=0)) + 1
        least, alone = max(self.size, self.l), not same.any()

        def diverse(part: IntArray) -> bool:
            if len(part) < least:
                return False
            if alone:
                return int(np.bincount(values[part]).max()) * self.l <= len(part)
            _, at, size = np.unique(same[part], return_inverse=True, return_counts=True)
            keys, often = np.unique(at * width + values[part], return_counts=True)
            return bool((often * self.l <= size[keys // width]).all())

        if rows.num_rows and not diverse(np.arange(rows.num_rows)):
            raise UnsuitableColumn(
                Sentence(
                    "even in the whole table a value of {sensitive!r} has more than one in {l} of the records that agree in the rest of its slice, or the records are too few, so {step} cannot form buckets",
                    sensitive=self.sensitive,
                    l=self.l,
                    step=self.id,
                ),
                remedy="ask for a smaller l, or for more slices, so that fewer columns move with it",
            )
        cut = [ranked(rows, name, self.id) for name in self.needed if name != self.sensitive]
        return halved(cut, diverse, rows.num_rows, least)

    def changed(self, rows: pa.Table, randomness: Randomness) -> dict[str, pa.Array]:
        bucket = self.buckets(rows)
        standing = np.argsort(bucket, kind="stable")
        new: dict[str, pa.Array] = {}
        for names in self.sliced(rows):
            dealt = np.empty(rows.num_rows, dtype=np.int64)
            dealt[standing] = np.lexsort((randomness.words(rows.num_rows), bucket))
            new |= {name: whole(rows[name]).take(pa.array(dealt)) for name in names}
        return {name: new[name] for name in self.columns}

    def guarantee(self, rows: pa.Table) -> str:
        return Sentence(
            "in its bucket no value of {sensitive} has a chance above 1 in {l}; that a person is in the table is not protected",
            sensitive=self.sensitive,
            l=self.l,
        )

    def complaint(self, before: pa.Table, after: pa.Table, places: IntArray) -> str:
        bucket = self.buckets(before)
        for names in self.sliced(before):
            shown = [name for name in names if name in after.column_names]
            told = lost_in_groups(before, after.select(shown), places, bucket)
            if told:
                return told
            if len(shown) < 2:
                continue
            try:
                alike = after.select(shown).cast(before.select(shown).schema)
            except (pa.ArrowException, ValueError):
                return f"{shown[0]} shows other values than those that were dealt out"
            codes = groups(pa.concat_tables([before.select(shown), alike]), shown)
            size = before.num_rows
            told = lost_in_groups(
                pa.table({"codes": codes[:size]}), pa.table({"codes": codes[size:]}), places, bucket
            )
            if told:
                return f"{', '.join(shown)} show combinations that their bucket did not have"
        return ""


def associated(rows: pa.Table, columns: Sequence[str], count: int, step: str) -> list[tuple[str, ...]]:
    """Columns in so many clusters that go together, by medoids of the distance 1 - φ²."""
    codes = {name: binned(rows, name, step) for name in columns}
    apart = np.zeros((len(columns), len(columns)))
    for i, j in combinations(range(len(columns)), 2):
        apart[i, j] = apart[j, i] = 1.0 - contingency(codes[columns[i]], codes[columns[j]])
    owner = medoids(apart, count)
    return [
        tuple(name for name, at in zip(columns, owner, strict=True) if at == each)
        for each in sorted(set(owner))
    ]


def binned(rows: pa.Table, name: str, step: str) -> IntArray:
    """A number for each value of a column; numbers in ten parts with about as many records each."""
    try:
        values = ordered(rows, name, step)
    except UnsuitableColumn:
        return groups(rows, [name])
    known = values[~np.isnan(values)]
    cuts = np.unique(np.quantile(known, np.arange(1, BINS) / BINS)) if len(known) else np.empty(0)
    return np.where(np.isnan(values), len(cuts) + 1, np.searchsorted(cuts, values, side="right")).astype(
        np.int64
    )


def contingency(first: IntArray, second: IntArray) -> float:
    """The mean-square contingency φ² of two columns: 0 if they are independent, 1 if each follows from the other.

    >>> contingency(np.array([0, 0, 1, 1]), np.array([1, 1, 0, 0])), contingency(np.array([0, 0, 1, 1]), np.array([0, 1, 0, 1]))
    (1.0, 0.0)
    """
    columns = [np.unique(side, return_inverse=True)[1] for side in (first, second)]
    sizes = [int(side.max(initial=-1)) + 1 for side in columns]
    if min(sizes) < 2:
        return 0.0
    keys, often = np.unique(columns[0] * sizes[1] + columns[1], return_counts=True)
    total = len(first)
    rows, across = (np.bincount(side) / total for side in columns)
    share = often / total
    # Σ (f - ab)² / ab = Σ f² / ab - 1, and only pairs that occur have f > 0.
    squares = float((share**2 / (rows[keys // sizes[1]] * across[keys % sizes[1]])).sum()) - 1.0
    return max(squares, 0.0) / (min(sizes) - 1)


def medoids(apart: FloatArray, count: int) -> list[int]:
    """The medoid of each of some things, of ``count`` medoids near which they lie: exchanged as long as that brings them nearer.

    >>> medoids(np.array([[0, 0.1, 0.9], [0.1, 0, 0.8], [0.9, 0.8, 0]]), 2)
    [1, 1, 2]
    """
    chosen: list[int] = []
    size = len(apart)

    def cost(centres: Sequence[int]) -> float:
        return float(apart[:, list(centres)].min(axis=1).sum())

    for _ in range(count):
        chosen.append(min((i for i in range(size) if i not in chosen), key=lambda i: cost([*chosen, i])))
    while True:
        exchanges = [
            [*(c for c in chosen if c != out), new]
            for out in chosen
            for new in range(size)
            if new not in chosen
        ]
        best = min(exchanges, key=cost, default=chosen)
        if cost(best) >= cost(chosen) - 1e-12:
            break
        chosen = best
    centres = sorted(chosen)
    # A medoid is its own, also beside another that is no distance away.
    return [i if i in centres else centres[int(np.argmin(apart[i, centres]))] for i in range(size)]


def halved(columns: Sequence[IntArray], fits: Callable[[IntArray], bool], count: int, least: int) -> IntArray:
    """The part of each record: parts are halved at the median of a column, the widest first, while both halves fit.

    None that has fewer than ``least`` records does.
    """
    bucket = np.zeros(count, dtype=np.int64)
    width = [max(int(column.max(initial=0)), 1) for column in columns]
    waiting, made = [np.arange(count)], 0
    while waiting:
        part = waiting.pop()
        if len(part) < 2 * least:
            bucket[part] = made
            made += 1
            continue
        spans = [
            np.ptp(column[part]) / wide if len(part) else 0
            for column, wide in zip(columns, width, strict=True)
        ]
        for at in np.argsort(-np.array(spans), kind="stable"):
            if spans[at] <= 0:
                continue
            values = columns[at][part]
            median = np.partition(values, (len(values) - 1) // 2)[(len(values) - 1) // 2]
            low = values <= median if median < values.max() else values < median
            if fits(part[low]) and fits(part[~low]):
                waiting += [part[~low], part[low]]
                break
        else:
            bucket[part] = made
            made += 1
    return bucket
