"""A tree of marginals: from noisy tables of single columns and of pairs to one distribution, and rows drawn from it.

If the measured pairs form a tree, the distribution of greatest entropy that has these marginals is
P(x) = ∏ P(x_i, x_j) over the pairs / ∏ P(x_i)^{deg(i)-1} over the columns: exact, without iterations over the whole
domain. McKenna, Miklau and Sheldon, *Winning the NIST Contest*, 2021 (MST); the tree needs none of their mirror descent.

Everything here works on what was drawn before, so it costs nothing (post-processing).
"""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from discreet.types import FloatArray, IntArray

ROUNDS = 60
"""So often margins and non-negativity are made to hold in turn."""
Pair = tuple[int, int]


@dataclass(frozen=True)
class MeasuredTable:
    """A table of counts with noise of a variance; ``ordered`` if its cells are bins of numbers, the last what is missing."""

    counts: FloatArray
    variance: float
    ordered: bool = False


@dataclass(frozen=True)
class MarginalTree:
    """Marginals of columns and of the pairs of a tree that agree with each other, as counts of ``total`` rows."""

    columns: tuple[FloatArray, ...]
    pairs: Mapping[Pair, FloatArray]
    total: float


def fit(columns: Sequence[MeasuredTable], pairs: Mapping[Pair, MeasuredTable]) -> MarginalTree:
    """Marginals that agree, from noisy ones that do not.

    >>> a, b = MeasuredTable(np.array([3.0, 1.0]), 1.0), MeasuredTable(np.array([2.0, 2.0]), 1.0)
    >>> tree = fit([a, b], {(0, 1): MeasuredTable(np.array([[2.0, 1.0], [0.0, 1.0]]), 1.0)})
    >>> tree.total, tree.columns[0].round(6).tolist(), tree.pairs[0, 1].round(6).tolist()
    (4.0, [3.0, 1.0], [[2.0, 1.0], [0.0, 1.0]])
    """
    total = max(1.0, _total([*columns, *pairs.values()]))
    margins = [_margin(i, columns, pairs, total) for i in range(len(columns))]
    agreed = {
        (i, j): _with_margins(measured.counts, margins[i], margins[j]) for (i, j), measured in pairs.items()
    }
    return MarginalTree(tuple(margins), agreed, total)


def _total(tables: Sequence[MeasuredTable]) -> float:
    """The number of rows: every table has it as its sum, the more cells the noisier."""
    weights = np.array([1 / (table.counts.size * table.variance) for table in tables])
    return float(np.average([table.counts.sum() for table in tables], weights=weights))


def _margin(
    i: int, columns: Sequence[MeasuredTable], pairs: Mapping[Pair, MeasuredTable], total: float
) -> FloatArray:
    """A column's marginal from its own table and from those of its pairs, each by its precision."""
    values, weights = [columns[i].counts], [1 / columns[i].variance]
    for pair, measured in pairs.items():
        if i in pair:
            other = 1 - pair.index(i)
            values.append(measured.counts.sum(axis=other))
            weights.append(1 / (measured.variance * measured.counts.shape[other]))
    return on_simplex(np.average(np.stack(values), axis=0, weights=weights), total)


def on_simplex(values: FloatArray, total: float) -> FloatArray:
    """The nearest values that are not negative and have a sum.

    >>> on_simplex(np.array([3.0, 1.0, -2.0]), 3.0).tolist()
    [2.5, 0.5, 0.0]
    """
    ordered = np.sort(values)[::-1]
    excess = (np.cumsum(ordered) - total) / np.arange(1, len(values) + 1)
    last = int(np.nonzero(ordered > excess)[0][-1])
    return np.asarray(np.maximum(values - excess[last], 0), dtype=np.float64)


def _with_margins(counts: FloatArray, rows: FloatArray, columns: FloatArray) -> FloatArray:
    """A table near the measured one that is not negative and has exactly these margins.

    Dykstra's projections onto the tables with these margins and onto those without negative cells, then proportional
    fitting for what is left of the difference.
    """
    n, m = counts.shape
    table, correction = counts.astype(np.float64), np.zeros_like(counts, dtype=np.float64)
    for _ in range(ROUNDS):
        short_rows, short_columns = rows - table.sum(axis=1), columns - table.sum(axis=0)
        shifted = table + short_rows[:, None] / m + short_columns[None, :] / n - short_rows.sum() / (n * m)
        table = np.maximum(shifted + correction, 0)
        correction += shifted - table
    # A trace of independence everywhere, so that every row and column can be filled.
    table += np.outer(rows, columns) / max(rows.sum(), 1.0) * 1e-6
    for _ in range(ROUNDS):
        table *= ratio(rows, table.sum(axis=1))[:, None]
        table *= ratio(columns, table.sum(axis=0))[None, :]
    return table


def ratio(wanted: FloatArray, present: FloatArray) -> FloatArray:
    """What tables have to be multiplied with to become others; 0 where there is nothing to multiply."""
    return np.divide(wanted, present, out=np.zeros_like(wanted), where=present > 0)


# ── rows ──────────────────────────────────────────────────────────────────────────────────────────


def draw(tree: MarginalTree, rows: int) -> list[IntArray]:
    """Rows whose pairs are as the tree says, each cell rounded up or down by chance: a code per row and column."""
    codes: list[IntArray | None] = [None] * len(tree.columns)
    for i in range(len(tree.columns)):
        if codes[i] is None:
            codes[i] = shuffled(np.repeat(np.arange(len(tree.columns[i])), shares(tree.columns[i], rows)))
            _descend(i, tree, codes)
    return [column for column in codes if column is not None]


def _descend(start: int, tree: MarginalTree, codes: list[IntArray | None]) -> None:
    """Draw every column that a tree reaches from one that is drawn."""
    waiting = [start]
    while waiting:
        i = waiting.pop()
        parent = codes[i]
        assert parent is not None
        for pair, table in tree.pairs.items():
            if i not in pair or codes[pair[1 - pair.index(i)]] is not None:
                continue
            j = pair[1 - pair.index(i)]
            codes[j] = _drawn_given(parent, table if pair.index(i) == 0 else table.T)
            waiting.append(j)


def _drawn_given(parent: IntArray, table: FloatArray) -> IntArray:
    """A column given another one: within each value of that one, as the row of the table says."""
    order = np.argsort(parent, kind="stable")
    sizes = np.bincount(parent, minlength=len(table))
    drawn = [
        shuffled(np.repeat(np.arange(table.shape[1]), shares(row, int(size))))
        for row, size in zip(table, sizes, strict=True)
        if size
    ]
    child = np.empty(len(parent), dtype=np.int64)
    child[order] = np.concatenate(drawn) if drawn else []
    return child


def shares(weights: FloatArray, rows: int) -> IntArray:
    """Whole numbers with a sum, near their shares; who gets the rest is drawn in proportion to what is missing.

    >>> shares(np.array([2.0, 1.0, 1.0]), 4).tolist(), int(shares(np.array([1.0, 1.0]), 3).sum())
    ([2, 1, 1], 3)
    """
    total = weights.sum()
    wanted = weights / total * rows if total > 0 else np.full(len(weights), rows / len(weights))
    whole = np.floor(wanted + 1e-9).astype(np.int64)
    left = rows - int(whole.sum())
    if left > 0:
        # Systematic sampling: each gets at most one more, with the probability that it is short of.
        ends = np.cumsum(np.maximum(wanted - whole, 0))
        points = (uniforms(1)[0] + np.arange(left)) * (ends[-1] / left) if ends[-1] > 0 else np.zeros(left)
        np.add.at(whole, np.minimum(np.searchsorted(ends, points, side="right"), len(whole) - 1), 1)
    return whole


def shuffled(values: IntArray) -> IntArray:
    """The same values in an order that nobody knows."""
    return values[np.argsort(uniforms(len(values)), kind="stable")]


def uniforms(count: int) -> FloatArray:
    """Numbers between 0 and 1 from the system's randomness: 53 bits each."""
    bits = np.frombuffer(os.urandom(8 * count), dtype=np.uint64)
    return (bits >> np.uint64(11)).astype(np.float64) * 2.0**-53
