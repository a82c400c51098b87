"""Occurrences of items that are left out until every set of a few items is frequent enough."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from discreet.baskets.baskets import Baskets
from discreet.baskets.goal import BasketGoal
from discreet.baskets.itemsets import Itemsets, subsets
from discreet.baskets.uncertainty import surplus
from discreet.types import BoolArray, FloatArray, IntArray


def suppressed(baskets: Baskets, goal: BasketGoal, *, frequent_first: bool) -> BoolArray:
    """Which occurrences of items to leave out, until every set that is left is frequent enough and none tells too much.

    In each basket with unwanted sets the item goes that stands in most of them (``frequent_first``: of several the most
    frequent, so that more kinds of items stay; else the one that stands in most for how frequent it is, which takes fewer
    occurrences), until none is left. What is left out makes other sets rarer, so all are counted again until none is unwanted.

    >>> baskets = Baskets.of([["milk", "bread"], ["milk", "bread"], ["milk", "gin"]])
    >>> gone = suppressed(baskets, BasketGoal(k=2, m=2), frequent_first=True)
    >>> list(baskets.without(gone).lists())
    [['bread', 'milk'], ['bread', 'milk'], ['milk']]
    """
    gone = np.zeros(len(baskets.codes), dtype=bool)
    while True:
        left = baskets.without(gone)
        leaving = np.zeros(len(left.codes), dtype=bool)
        value = left.support().astype(np.float64)[left.codes]
        for sets in _unwanted(left, goal):
            _leave(left.owners, sets, leaving, value, frequent_first=frequent_first)
        if not leaving.any():
            return gone
        gone[np.flatnonzero(~gone)[leaving]] = True


def _unwanted(baskets: Baskets, goal: BasketGoal) -> Iterator[IntArray]:
    """The places of occurrences that form sets that must not stay, a row per set and basket.

    Larger sets hold the smaller ones: they are looked at when these are gone.
    """
    for size in baskets.lengths(goal.m):
        counted = Itemsets.of(baskets, size)
        rare = counted.keys[counted.supports < goal.k]
        for chunk in subsets(baskets, size) if len(rare) else ():
            row, which = np.nonzero(np.isin(chunk.keys, rare))
            yield baskets.starts[chunk.rows[row]][:, None] + chunk.places[which]
        if len(rare):
            return
    yield from surplus(baskets, goal)


def _leave(
    owners: IntArray, sets: IntArray, leaving: BoolArray, support: FloatArray, *, frequent_first: bool
) -> None:
    """Mark occurrences until none of the sets is whole."""
    while len(sets := sets[~leaving[sets].any(axis=1)]):
        places, at = np.unique(sets, return_inverse=True)
        hits = np.bincount(at.ravel())
        worth = hits + support[places] / (2 * support.max()) if frequent_first else hits / support[places]
        order = np.lexsort([worth, owners[places]])
        last = np.append(np.diff(owners[places][order]) != 0, True)
        leaving[places[order[last]]] = True
