"""Values that change places between records: rank swapping, random swapping, permutation inside groups."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
import pyarrow as pa

from discreet.perturb.base import (
    Perturbation,
    groups,
    names_of,
    need_number,
    ordered,
    released_numbers,
    whole,
)
from discreet.perturb.chances import ColumnValues, allowed, ranks, same
from discreet.perturb.randomness import Randomness
from discreet.types import FloatArray, IntArray


@dataclass(frozen=True)
class RankSwap(Perturbation):
    """Each value is exchanged with one whose rank is at most ``percent`` of the records away.

    The n values of a column are ranked (nulls stay in place, equal values in a random order). From the lowest on, each rank
    that is still free takes a free partner at random among the next ⌊n · percent / 100⌋ (at least one), and both exchange
    their values. ``percent`` is a percentage: 5 is five of a hundred, not five times all.
    Moore, "Controlled data-swapping techniques for masking public use microdata sets", US Census Bureau 1996;
    Nin, Herranz, Torra, "Rethinking rank swapping to decrease disclosure risk", 2008.

    >>> rows = pa.table({"age": [20, 30, 40, 50]})
    >>> new = RankSwap(("age",), percent=25).changed(rows, Randomness(1))
    >>> new["age"].to_pylist()
    [30, 20, 50, 40]
    """

    id: ClassVar[str] = "rank-swap"
    title: ClassVar[str] = "rank swapping"
    says: ClassVar[str] = "Each value is exchanged with one that is close to it in rank."
    keeps: ClassVar[str] = (
        "every value is one of the column's, and its rank is at most so many percent of the records away"
    )
    source: ClassVar[str] = "Moore, Controlled data-swapping techniques for masking microdata, 1996"

    percent: float = 5.0

    def check(self) -> None:
        need_number(self.id, "percent", self.percent, most=100)

    def reach(self, size: int) -> int:
        """How far away in rank a partner may be, of so many values."""
        return max(1, int(size * self.percent / 100.0 + 1e-9))

    def changed(self, rows: pa.Table, randomness: Randomness) -> dict[str, pa.Array]:
        from discreet.perturb.swapping_kernels import TRIES, partners_by_rank

        new = {}
        for name in self.columns:
            values = ordered(rows, name, self.id)
            known = np.flatnonzero(~np.isnan(values))
            order = known[np.lexsort((randomness.words(len(known)), values[known]))]
            draws = randomness.uniform(len(known) * (TRIES + 1)).reshape(len(known), TRIES + 1)
            partner = partners_by_rank(len(known), self.reach(len(known)), draws)
            places = np.arange(rows.num_rows)
            places[order] = order[partner]
            new[name] = whole(rows[name]).take(pa.array(places))
        return new

    def log_chances(self, true: ColumnValues, seen: ColumnValues) -> FloatArray:
        # Ranks among the released values are those among the true ones: they are the same values.
        first, last = ranks(true.low, seen)
        lowest, highest = ranks(seen.low, seen)[0], ranks(seen.high, seen)[1]
        gap = np.maximum(lowest[None] - last[:, None], first[:, None] - highest[None])
        silent = np.isnan(true.low)[:, None] | np.isnan(seen.low)[None]
        return allowed(np.where(silent, same(true, seen), gap <= self.reach(int(seen.records.sum()))))

    def complaint(self, before: pa.Table, after: pa.Table, places: IntArray) -> str:
        for name in after.column_names:
            given = ordered(before, name, self.id)
            shown = released_numbers(after, name, before)
            if shown is None or (np.isnan(shown) != np.isnan(given[places])).any():
                return f"{name} shows other values than those that were exchanged"
            ranked = np.sort(given[~np.isnan(given)])
            own, new = (side[~np.isnan(side)] for side in (given[places], shown))
            first, last = (np.searchsorted(ranked, new, side=side) for side in ("left", "right"))
            if (first == last).any():
                return f"{name} shows values that the column did not have"
            low, high = (np.searchsorted(ranked, own, side=side) for side in ("left", "right"))
            # Equal values have all ranks from the first to the last of them.
            apart = np.maximum(first - (high - 1), low - (last - 1))
            if apart.max(initial=0) > self.reach(len(ranked)):
                return f"{name} shows values that are further away in rank than {self.percent:g} %"
        return ""


@dataclass(frozen=True)
class RandomSwap(Perturbation):
    """A share of the records is drawn, and pairs of them exchange their values of all ``columns`` at once.

    ``within``: only records that agree in these columns are paired, so that tables over them and the swapped columns stay.
    Dalenius, Reiss, "Data-swapping: a technique for disclosure control", 1982.

    >>> rows = pa.table({"town": ["A", "A", "B", "B"], "job": [1, 2, 3, 4]})
    >>> RandomSwap(("job",), percent=100, within=("town",)).changed(rows, Randomness(1))["job"].to_pylist()
    [2, 1, 4, 3]
    """

    id: ClassVar[str] = "random-swap"
    title: ClassVar[str] = "random swapping"
    says: ClassVar[str] = "Pairs of records, drawn at random, exchange some of their values."
    keeps: ClassVar[str] = "every column has the same values equally often, also within the groups"
    source: ClassVar[str] = "Dalenius and Reiss, Data-swapping: a technique for disclosure control, 1982"

    percent: float = 10.0
    within: tuple[str, ...] = ()

    def check(self) -> None:
        need_number(self.id, "percent", self.percent, most=100)
        object.__setattr__(self, "within", names_of(self.id, "within", self.within))

    @property
    def needed(self) -> tuple[str, ...]:
        return (*self.columns, *(name for name in self.within if name not in self.columns))

    def changed(self, rows: pa.Table, randomness: Randomness) -> dict[str, pa.Array]:
        group = groups(rows, self.within)
        drawn = np.flatnonzero(randomness.uniform(rows.num_rows) <= self.percent / 100.0)
        order = drawn[np.lexsort((randomness.words(len(drawn)), group[drawn]))]
        starts = np.flatnonzero(np.diff(group[order], prepend=-1))
        place = np.arange(len(order)) - np.repeat(starts, np.diff(starts, append=len(order)))
        first = np.flatnonzero((place[:-1] % 2 == 0) & (group[order][:-1] == group[order][1:]))
        places = np.arange(rows.num_rows)
        places[order[first]], places[order[first + 1]] = order[first + 1], order[first]
        return {name: whole(rows[name]).take(pa.array(places)) for name in self.columns}

    def log_chances(self, true: ColumnValues, seen: ColumnValues) -> FloatArray:
        share = self.percent / 100.0
        often = seen.records / max(int(seen.records.sum()), 1)
        return np.asarray(np.log(np.maximum((1.0 - share) * same(true, seen) + share * often[None], 1e-300)))

    def complaint(self, before: pa.Table, after: pa.Table, places: IntArray) -> str:
        return lost_values(before, after, places, self.within)


@dataclass(frozen=True)
class Permutation(Perturbation):
    """The values of ``columns`` are put in a random order, each column by itself or all ``together``.

    ``within``: only among records that agree in these columns. Sums and counts over whole groups stay as they are.
    Zhang, Koudas, Srivastava, Yu, "Aggregate query answering on anonymized tables", ICDE 2007.

    >>> rows = pa.table({"town": ["A", "A", "B", "B"], "pay": [1, 2, 3, 4]})
    >>> sorted(Permutation(("pay",), within=("town",)).changed(rows, Randomness(3))["pay"].to_pylist()[:2])
    [1, 2]
    """

    id: ClassVar[str] = "permutation"
    title: ClassVar[str] = "permutation"
    says: ClassVar[str] = "The values of a column are dealt out anew, among all records or within groups."
    keeps: ClassVar[str] = "every column has the same values equally often, also within the groups"
    source: ClassVar[str] = "Zhang et al., Aggregate query answering on anonymized tables, 2007"

    within: tuple[str, ...] = ()
    together: bool = False

    def check(self) -> None:
        object.__setattr__(self, "within", names_of(self.id, "within", self.within))

    @property
    def needed(self) -> tuple[str, ...]:
        return (*self.columns, *(name for name in self.within if name not in self.columns))

    def changed(self, rows: pa.Table, randomness: Randomness) -> dict[str, pa.Array]:
        group = groups(rows, self.within)
        settled = np.argsort(group, kind="stable")
        dealt: IntArray | None = None
        new = {}
        for name in self.columns:
            if dealt is None or not self.together:
                dealt = np.empty(rows.num_rows, dtype=np.int64)
                dealt[settled] = np.lexsort((randomness.words(rows.num_rows), group))
            new[name] = whole(rows[name]).take(pa.array(dealt))
        return new

    def complaint(self, before: pa.Table, after: pa.Table, places: IntArray) -> str:
        return lost_values(before, after, places, self.within)


def lost_values(before: pa.Table, after: pa.Table, places: IntArray, within: Sequence[str]) -> str:
    """Whether a group of the file has a value more often than the same group had before."""
    return lost_in_groups(before, after, places, groups(before, within))


def lost_in_groups(before: pa.Table, after: pa.Table, places: IntArray, group: IntArray) -> str:
    """The same for groups that are told row by row."""
    for name in after.column_names:
        given, shown = whole(before[name]), whole(after[name])
        try:
            shown = shown if shown.type == given.type else shown.cast(given.type)
        except pa.ArrowException:
            return f"{name} shows other values than those that were exchanged"
        codes = groups(pa.table({name: pa.concat_arrays([given, shown])}), [name])
        width = int(codes.max(initial=0)) + 1
        keys, counts = np.unique(group * width + codes[: len(given)], return_counts=True)
        new, often = np.unique(group[places] * width + codes[len(given) :], return_counts=True)
        at = np.searchsorted(keys, new)
        inside = at < len(keys)
        nearest = np.where(inside, at, 0)
        if not (inside & (keys[nearest] == new) & (often <= counts[nearest])).all():
            return f"{name} shows values that its group did not have, or not so often"
    return ""
