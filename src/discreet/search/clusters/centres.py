"""What stands for a group of values: its mean, median, middle or most frequent value, in the column's type."""

from __future__ import annotations

from typing import Literal

import numpy as np
import pyarrow as pa

from discreet.search.clusters.space import levels_above, ranks_of
from discreet.table.domain import Domain
from discreet.table.hierarchies.hierarchy import Ladder
from discreet.transform.recoding import ReleasedAttribute
from discreet.transform.stand_in import MICROSECONDS_PER_DAY
from discreet.types import AnyIntArray, FloatArray, Int32Array, IntArray

Centre = Literal["mean", "median", "middle", "mode", "semantic"]
"""``median`` is the mean of the two middle numbers, ``middle`` the lower of two middle values, ``semantic`` the mean of numbers and
of categories the value that is nearest to all others along the hierarchy."""
PAIRS = 2_000_000
"""So many distances are held at a time."""


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

    Categories have neither mean nor median: their most frequent value stands for them, or the one in their middle along the
    hierarchy (``semantic``). A null takes the
    value of its group; a group of nulls stays null.
    """
    groups, null = len(shares), domain.null_code
    leaves = ladder.leaves if ladder is not None else domain.size
    # Where all values of every group are the same, they stay what they are.
    alike = len(np.unique(owner * domain.size + codes)) == len(np.unique(owner))
    if centre == "semantic" and not domain.is_numeric:
        chosen = nearest(codes, records, owner, groups, levels_above(domain, ladder), null=null)
    elif centre == "mode" or (centre != "middle" and not domain.is_numeric):
        chosen = mode(codes, records, owner, groups, null=null)
    elif centre == "middle":
        ranks = ranks_of(domain)
        # Of a group without values it is the last, -1.
        in_order = np.append(np.argsort(ranks), -1)
        chosen = in_order[middle(ranks[codes], records, owner, groups, null=null)]
    else:
        numbers = domain.numbers[codes]
        centres = (medians if centre == "median" else means)(numbers, records, owner, groups)
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


def nearest(
    codes: AnyIntArray,
    records: IntArray,
    owner: IntArray,
    groups: int,
    tree: tuple[Int32Array, FloatArray],
    *,
    null: int | None = None,
) -> IntArray:
    """The value of each group that is nearest to all its records along a hierarchy: of several the most frequent, then the first.

    Distances are the levels up to the closest common ancestor, so that the value is one of the group's of the least marginality
    (Domingo-Ferrer, Sánchez and Rufian-Torrell, "Anonymization of nominal data based on semantic marginality", Information
    Sciences 2013). Without a hierarchy it is the most frequent one. Nulls count only where they are alone.

    Two sorts of flu, three records each, and four broken legs: the middle is a flu.

    >>> levels = np.array([[0, 1, 2], [0, 0, 1], [0, 0, 0]], dtype=np.int32)
    >>> apart = np.repeat([[0.0], [0.5], [1.0]], 3, axis=1)
    >>> nearest(np.array([0, 1, 2]), np.array([3, 3, 4]), np.array([0, 0, 0]), 1, (levels, apart))
    array([0])
    """
    width = int(codes.max()) + 1
    keys, where = np.unique(owner * width + codes, return_inverse=True)
    count = np.bincount(where, weights=records)
    group, code = keys // width, keys % width
    if null is not None:
        count[code == null] = 0
    sizes = np.bincount(group, minlength=groups)
    starts = np.cumsum(sizes) - sizes
    cost = np.empty(len(keys))
    upto = np.cumsum(sizes[group])
    first = 0
    while first < len(keys):
        last = max(
            first + 1, int(np.searchsorted(upto, (upto[first - 1] if first else 0) + PAIRS, side="right"))
        )
        mine = np.repeat(np.arange(first, last), sizes[group[first:last]])
        begin = np.repeat(
            np.cumsum(sizes[group[first:last]]) - sizes[group[first:last]], sizes[group[first:last]]
        )
        other = starts[group[mine]] + np.arange(len(mine)) - begin
        distance = _along(tree, code[mine], code[other])
        cost[first:last] = np.bincount(mine - first, weights=count[other] * distance, minlength=last - first)
        first = last
    # A null stands for its group only where there is nothing else.
    cost[count == 0] = np.inf
    order = np.lexsort((keys, -count, np.round(cost, 9), group))
    return np.asarray(code[order[np.searchsorted(group[order], np.arange(groups))]], dtype=np.int64)


def _along(tree: tuple[Int32Array, FloatArray], some: IntArray, others: IntArray) -> FloatArray:
    """How far values are apart along a hierarchy: as its lowest level says on which they are one."""
    levels, apart = tree
    distance = apart[-1][some]
    for above, far in zip(levels[-2::-1], apart[-2::-1], strict=True):
        distance = np.where(above[some] == above[others], far[some], distance)
    return np.asarray(distance)


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
