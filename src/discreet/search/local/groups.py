"""What the groups of a local recoding span and cost."""

from __future__ import annotations

import numpy as np

from discreet.search.local.group_kernels import GroupTable
from discreet.search.mondrian.kernels import Space
from discreet.types import AnyIntArray, FloatArray, IntArray


def group_table(space: Space, owner: IntArray, count: int | None = None) -> GroupTable:
    """The first ``count`` groups as the compiled loops read them."""
    low, high, sizes = spans_of(space, owner)
    count = len(sizes) if count is None else count
    listed = np.argsort(owner, kind="stable")
    start = np.searchsorted(owner[listed], np.arange(count + 1))
    there = sizes > 0
    price = np.zeros(len(sizes))
    price[there] = ancestor_price(space, low[there], high[there])
    return GroupTable(listed, start, low[:count], high[:count], price[:count], sizes[:count].astype(np.int64))


def loss_of(space: Space, owner: IntArray) -> float:
    """The loss of all groups together."""
    groups = group_table(space, owner)
    return float(groups.price @ groups.size)


def spans_of(space: Space, owner: IntArray) -> tuple[IntArray, IntArray, FloatArray]:
    """Lowest and highest place of each group in each attribute, and its records."""
    shape = (int(owner.max()) + 1, space.place.shape[1])
    low, high = np.full(shape, np.iinfo(np.int64).max), np.full(shape, -1, dtype=np.int64)
    np.minimum.at(low, owner, space.place)
    np.maximum.at(high, owner, space.place)
    return low, high, np.bincount(owner, weights=space.records).astype(np.float64)


def ancestor_price(space: Space, low: AnyIntArray, high: AnyIntArray) -> FloatArray:
    """What one record loses whose cells are the closest common ancestors of the places ``low`` to ``high``."""
    total = np.zeros(len(low))
    for j, size in enumerate(space.size):
        base = np.full(len(low), space.at[j])
        while True:
            apart = space.tree[base + low[:, j]] != space.tree[base + high[:, j]]
            if not apart.any():
                break
            base[apart] += size
        total += space.share[base + low[:, j]]
    return total
