"""Trees (CART): which records are alike in what is known of them, so that one may lend its value to another."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from discreet.perturb.randomness import Randomness
from discreet.types import FloatArray, IntArray

MOST_GROWN = 50_000
"""So many records, drawn at random, grow a tree and lend their values; a larger table gives no better one."""
LEAST_GAIN = 1e-8
"""A cut that lowers the impurity of the whole table by less than this share is none."""


@dataclass(frozen=True)
class TreeTarget:
    """What a tree predicts, record by record: numbers (a column each), whose squares around their mean are the impurity.

    A category is a column of zeros and ones for each of its values, which makes of it the index of Gini.
    """

    columns: FloatArray

    @property
    def impurity(self) -> float:
        """The sum of squares around the mean of all records."""
        return float(((self.columns - self.columns.mean(axis=0)) ** 2).sum())


def lenders(
    known: list[IntArray],
    asked: list[IntArray],
    target: TreeTarget,
    *,
    leaf: int,
    randomness: Randomness,
) -> IntArray:
    """For each asked record a record whose value it takes: one of the leaf of a tree into which it falls, at random.

    ``known`` are codes of the records that grow the tree, attribute by attribute, ``asked`` those of the others; both are in the
    order by which they are cut. A cut maximises Σ n(side) · |mean(side)|², which lowers the sum of squares most, and leaves at
    least ``leaf`` records on both sides. Breiman, Friedman, Olshen, Stone, "Classification and regression trees", 1984.

    >>> known, target = [np.array([0, 0, 1, 1])], TreeTarget(np.array([[5.0], [6.0], [50.0], [60.0]]))
    >>> sorted(set(lenders(known, [np.zeros(40, np.int64)], target, leaf=2, randomness=Randomness(1)).tolist()))
    [0, 1]
    """
    records, wanted = len(target.columns), len(asked[0]) if asked else 0
    draws = randomness.uniform(wanted)
    lent = np.zeros(wanted, dtype=np.int64)
    least = LEAST_GAIN * target.impurity
    waiting = [(np.arange(records), np.arange(wanted))]
    while waiting:
        inside, falling = waiting.pop()
        cut = _best_cut(known, inside, target, leaf, least) if len(falling) else None
        if cut is None:
            lent[falling] = inside[(draws[falling] * len(inside)).astype(np.int64)]
            continue
        at, code = cut
        left, fallen = known[at][inside] <= code, asked[at][falling] <= code
        waiting += [(inside[left], falling[fallen]), (inside[~left], falling[~fallen])]
    return lent


def _best_cut(
    known: list[IntArray], inside: IntArray, target: TreeTarget, leaf: int, least: float
) -> tuple[int, int] | None:
    """The attribute and the last code on the left of the cut that gains most, if any gains enough."""
    if len(inside) < 2 * leaf:
        return None
    values = target.columns[inside]
    whole = values.sum(axis=0)
    before = float(whole @ whole) / len(inside)
    best, chosen = least, None
    for at, codes in enumerate(known):
        own = codes[inside]
        low = int(own.min())
        width = int(own.max()) - low + 1
        if width < 2:
            continue
        count = np.cumsum(np.bincount(own - low, minlength=width))[:-1]
        sums = np.cumsum(_summed(own - low, values, width), axis=0)[:-1]
        fits = (count >= leaf) & (len(inside) - count >= leaf)
        if not fits.any():
            continue
        rest = whole - sums
        gain = (sums**2).sum(axis=1) / np.maximum(count, 1) + (rest**2).sum(axis=1) / np.maximum(
            len(inside) - count, 1
        )
        gain = np.where(fits, gain - before, -np.inf)
        place = int(np.argmax(gain))
        if gain[place] > best:
            best, chosen = float(gain[place]), (at, low + place)
    return chosen


def _summed(codes: IntArray, values: FloatArray, width: int) -> FloatArray:
    """The sum of each column by code."""
    columns = values.shape[1]
    keys = codes[:, None] * columns + np.arange(columns)
    sums = np.bincount(keys.ravel(), weights=values.ravel(), minlength=width * columns)
    return np.asarray(sums, dtype=np.float64).reshape(width, columns)
