"""What stands for a group of values: its mean, median, middle or most frequent value, in the column's type."""

from __future__ import annotations

from typing import Literal

import numpy as np
import pyarrow as pa

from discreet.search.clusters.space import ranks_of
from discreet.table.domain import Domain
from discreet.table.hierarchies.hierarchy import Ladder
from discreet.transform.recoding import ReleasedAttribute
from discreet.transform.stand_in import MICROSECONDS_PER_DAY
from discreet.types import AnyIntArray, FloatArray, IntArray

Centre = Literal["mean", "median", "middle", "mode"]
"""``median`` is the mean of the two middle numbers, ``middle`` the lower of two middle values."""


def replaced(
    domain: Domain,
    codes: AnyIntArray,
    records: IntArray,
    owner: IntArray,
    shares: FloatArray,
    ladder: Ladder | None,
    centre: Centre,
) -> ReleasedAttribute:
    """A column in which each group has one value; ``shares`` per group are what its values span.

    Categories have neither mean nor median: their most frequent value stands for them. A null takes the
    value of its group; a group of nulls stays null.
    """
    groups, null = len(shares), domain.null_code
    leaves = ladder.leaves if ladder is not None else domain.size
    # Where all values of every group are the same, they stay what they are.
    alike = len(np.unique(owner * domain.size + codes)) == len(np.unique(owner))
    if centre == "mode" or (centre != "middle" and not domain.is_numeric):
        chosen = mode(codes, records, owner, groups, null=null)
    elif centre == "middle":
        ranks = ranks_of(domain)
        # Of a group without values it is the last, -1.
        in_order = np.append(np.argsort(ranks), -1)
        chosen = in_order[middle(ranks[codes], records, owner, groups, null=null)]
    else:
        numbers = domain.numbers[codes]
        centres = (means if centre == "mean" else medians)(numbers, records, owner, groups)
        distinct, places = np.unique(centres, return_inverse=True)
        return ReleasedAttribute(
            domain.name, typed(distinct, domain), places.astype(np.int32)[owner], shares[owner], leaves, alike
        )
    used, places = np.unique(chosen, return_inverse=True)
    # Taking a null index gives a null.
    values = domain.values.take(pa.array(used, mask=used == (-1 if null is None else null)))
    return ReleasedAttribute(
        domain.name, values, places.astype(np.int32)[owner], shares[owner], leaves, alike
    )


def means(numbers: FloatArray, records: IntArray, owner: IntArray, groups: int) -> FloatArray:
    """The mean of the known numbers of each group, weighted by records; NaN if there are none.

    >>> means(np.array([1.0, 4.0, np.nan]), np.array([2, 1, 1]), np.array([0, 0, 1]), 2)
    array([ 2., nan])
    """
    known = ~np.isnan(numbers)
    weight = np.where(known, records, 0)
    count = np.bincount(owner, weights=weight, minlength=groups)
    total = np.bincount(owner, weights=weight * np.where(known, numbers, 0.0), minlength=groups)
    mean = np.full(groups, np.nan)
    np.divide(total, count, out=mean, where=count > 0)
    return mean


def medians(numbers: FloatArray, records: IntArray, owner: IntArray, groups: int) -> FloatArray:
    """The median of the known numbers of each group; between two middle ones their mean.

    >>> medians(np.array([1.0, 4.0, 9.0]), np.array([1, 1, 2]), np.array([0, 0, 0]), 1)
    array([6.5])
    """
    known = np.flatnonzero(~np.isnan(numbers))
    lower, upper = _middles(numbers[known], records[known], owner[known], groups)
    middles = np.full(groups, np.nan)
    there = lower >= 0
    middles[there] = (numbers[known][lower[there]] + numbers[known][upper[there]]) / 2
    return middles


def middle(
    codes: AnyIntArray,
    records: IntArray,
    owner: IntArray,
    groups: int,
    *,
    null: int | None = None,
) -> IntArray:
    """The lower middle value of each group in the order of the codes; nulls count only where they are alone.

    >>> middle(np.array([0, 1, 2, 3]), np.array([1, 1, 1, 1]), np.array([0, 0, 0, 0]), 1)
    array([1])
    """
    known = np.flatnonzero(codes != (-1 if null is None else null))
    lower, _ = _middles(codes[known].astype(np.float64), records[known], owner[known], groups)
    middles = np.full(groups, -1 if null is None else null, dtype=np.int64)
    there = lower >= 0
    middles[there] = codes[known][lower[there]]
    return middles


def _middles(
    values: FloatArray, records: IntArray, owner: IntArray, groups: int
) -> tuple[IntArray, IntArray]:
    """Where the lower and the upper middle record of each group stand; -1 for an empty group."""
    order = np.lexsort((values, owner))
    upto = np.cumsum(records[order])
    count = np.bincount(owner, weights=records, minlength=groups).astype(np.int64)
    before = np.cumsum(count) - count
    there = count > 0
    places = []
    for rank in ((count - 1) // 2, count // 2):
        place = np.full(groups, -1, dtype=np.int64)
        place[there] = order[np.searchsorted(upto, before[there] + rank[there], side="right")]
        places.append(place)
    return places[0], places[1]


def mode(
    codes: AnyIntArray,
    records: IntArray,
    owner: IntArray,
    groups: int,
    *,
    null: int | None = None,
) -> IntArray:
    """The most frequent value of each group, the first of several; nulls count only where they are alone.

    >>> mode(np.array([2, 1, 1, 0]), np.array([1, 1, 1, 2]), np.array([0, 0, 0, 1]), 2)
    array([1, 0])
    """
    width = int(codes.max()) + 1
    keys, where = np.unique(owner * width + codes, return_inverse=True)
    count = np.bincount(where, weights=records)
    if null is not None:
        count[keys % width == null] = 0
    group = keys // width
    order = np.lexsort((keys, -count, group))
    first = order[np.searchsorted(group[order], np.arange(groups))]
    return np.asarray(keys[first] % width, dtype=np.int64)


def typed(numbers: FloatArray, domain: Domain) -> pa.Array:
    """Numbers in the column's type where they fit: whole ones of integers, dates and times; NaN is null.

    >>> typed(np.array([12.0, 53.0]), Domain("x", pa.array([10, 14]))).type
    DataType(int64)
    >>> typed(np.array([12.5]), Domain("x", pa.array([10, 14]))).type
    DataType(double)
    """
    kind = domain.values.type
    unknown = np.isnan(numbers)
    filled = np.where(unknown, 0.0, numbers)
    if pa.types.is_temporal(kind):
        stamps = pa.array(np.rint(filled * MICROSECONDS_PER_DAY).astype(np.int64), mask=unknown)
        return stamps.cast(pa.timestamp("us")).cast(kind, safe=False)
    if pa.types.is_integer(kind) and (filled == np.rint(filled)).all() and (np.abs(filled) < 2**53).all():
        return pa.array(filled.astype(np.int64), mask=unknown)
    return pa.array(filled, mask=unknown)
