"""What analysts of baskets lose: how often items are together, and which sets are the most frequent."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from discreet.baskets.baskets import Baskets
from discreet.baskets.itemsets import Itemsets, packed, unpacked
from discreet.types import IntArray

COMMON = 50
"""The pairs of so many of the most frequent items are compared."""
TOP = 100
"""So many of the most frequent sets are looked for."""
LONGEST = 3
"""Sets of up to so many items are looked for."""


@dataclass(frozen=True)
class BasketLoss:
    """``certainty``: the certainty penalty of occurrences, 1 for what is left out (none where items stay as they are).

    ``pair_error``: |s - s'| / ((s + s') / 2) of the baskets with a pair of common items, on average, in the original and in
    baskets drawn from what is released. ``lost_itemsets``: the share of the most frequent sets that are so no longer.
    ``items_gone``: items of which nothing is told.
    """

    certainty: float | None
    pair_error: float
    lost_itemsets: float
    items_gone: int
    empty: int = 0
    """Baskets of which nothing is left."""


def pair_error(original: Baskets, drawn: Baskets) -> float:
    """Relative error of the support of pairs of common items, on average: 0 is none, 2 is that none is left.

    Terrovitis et al., Privacy preservation by disassociation, VLDB 2012, section 7.

    >>> pair_error(Baskets.of([["a", "b"], ["a", "b"]]), Baskets.of([["a", "b"], ["a"]]))
    0.6666666666666666
    """
    support = original.support()
    common = np.sort(np.argsort(-support, kind="stable")[:COMMON])
    pairs = np.array([(a, b) for at, a in enumerate(common) for b in common[at + 1 :]], dtype=np.int64)
    if not len(pairs):
        return 0.0
    before = _supports(original, pairs, original.items)
    after = _supports(drawn, pairs, original.items)
    either = before + after > 0
    errors = np.abs(before - after)[either] / ((before + after)[either] / 2)
    return float(errors.mean()) if len(errors) else 0.0


def lost_itemsets(original: Baskets, drawn: Baskets) -> float:
    """The share of the most frequent sets of the original that are not among those of the drawn baskets.

    >>> lost_itemsets(Baskets.of([["a", "b"], ["a", "b"]]), Baskets.of([["a"], ["a"]]))
    0.6666666666666667
    """
    wanted, kept = _most_frequent(original), _most_frequent(drawn)
    return 1 - len(wanted & kept) / len(wanted) if wanted else 0.0


def _supports(baskets: Baskets, pairs: IntArray, items: tuple[str, ...]) -> IntArray:
    """How many baskets hold each pair of items, which are numbers in ``items``."""
    place = {item: at for at, item in enumerate(baskets.items)}
    codes = np.array([place.get(item, -1) for item in items], dtype=np.int64)[pairs]
    known = (codes >= 0).all(axis=1)
    ordered = np.sort(codes, axis=1)
    keys = packed(ordered, np.array([[0, 1]]), len(baskets.items))[:, 0]
    return np.where(known, Itemsets.of(baskets, 2).support_of(keys), 0)


def _most_frequent(baskets: Baskets) -> set[frozenset[str]]:
    """The ``TOP`` most frequent sets; parts of a frequent set are as frequent, so rarer items are not looked at."""
    frequent = np.argsort(-baskets.support(), kind="stable")[:TOP]
    some = baskets.without(~np.isin(baskets.codes, frequent))
    listed: list[tuple[int, tuple[str, ...]]] = []
    for size in range(1, LONGEST + 1):
        counted = Itemsets.of(some, size)
        best = np.lexsort([counted.keys, -counted.supports])[:TOP]
        members = unpacked(counted.keys[best], size, counted.items)
        listed += [
            (int(support), tuple(baskets.items[code] for code in row))
            for support, row in zip(counted.supports[best], members, strict=True)
        ]
    listed.sort(key=lambda entry: (-entry[0], entry[1]))
    return {frozenset(items) for _, items in listed[:TOP]}
