"""Junction trees of marginals: from noisy tables of several columns to one distribution, and rows drawn from it.

The graph of measured tables is made chordal by eliminating columns one after the other; its cliques form a tree in which the
distribution of greatest entropy with given marginals is the product of cliques over that of separators (Lauritzen and Spiegelhalter
1988). It is found by proportional fitting along the tree (Jiroušek and Přeučil, *On the Effective Implementation of the Iterative
Proportional Fitting Procedure*, 1995): one sweep costs as much as there are cells in the cliques, whatever the size of the whole domain.

Everything here works on what was drawn before, so it costs nothing (post-processing).
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from discreet.dp.tree import MeasuredTable, on_simplex, ratio, uniforms
from discreet.types import FloatArray, IntArray

Columns = tuple[int, ...]
"""Columns of a table, in ascending order."""
AGREEING = 3
"""So often tables are made to agree and not to be negative in turn."""
SWEEPS = 8
"""So often every table is fitted along the tree."""
TRACE = 1e-9
"""So much of all rows has a cell at least, so that it can be filled."""


def cliques_of(tables: Sequence[Columns], sizes: Sequence[int]) -> list[Columns]:
    """The cliques of a chordal graph that holds every table, by eliminating the column with the smallest clique first.

    >>> cliques_of([(0, 1), (1, 2), (2, 3), (0, 3)], [2, 2, 2, 2])
    [(0, 1, 3), (1, 2, 3)]
    """
    neighbours = {column: {column} for column in range(len(sizes))}
    for table in tables:
        for column in table:
            neighbours[column].update(table)
    cliques: list[set[int]] = []
    while neighbours:
        column = min(neighbours, key=lambda each: (math.prod(sizes[i] for i in neighbours[each]), each))
        clique = neighbours.pop(column)
        for other in clique - {column}:
            neighbours[other] = (neighbours[other] | clique) - {column}
        if not any(clique <= larger for larger in cliques):
            cliques.append(clique)
    return [tuple(sorted(clique)) for clique in cliques]


def cells_of(cliques: Sequence[Columns], sizes: Sequence[int]) -> int:
    """How many cells the cliques have in all: what a sweep costs."""
    return sum(math.prod(sizes[i] for i in clique) for clique in cliques)


@dataclass(frozen=True)
class JunctionTree:
    """Cliques with their marginals, as counts of ``total`` rows; each but the first of its part hangs on an earlier one."""

    cliques: tuple[Columns, ...]
    parents: tuple[int, ...]
    """The clique that each hangs on; -1 for the first of each part."""
    beliefs: list[FloatArray]
    total: float

    def separator(self, clique: int) -> Columns:
        """The columns that a clique shares with the one that it hangs on."""
        if self.parents[clique] < 0:
            return ()
        return tuple(sorted(set(self.cliques[clique]) & set(self.cliques[self.parents[clique]])))

    def marginal(self, columns: Columns) -> FloatArray | None:
        """The marginal of columns that are together in a clique; else nothing."""
        for clique, belief in zip(self.cliques, self.beliefs, strict=True):
            if set(columns) <= set(clique):
                return sum_to(belief, clique, columns)
        return None


def fit_tree(
    tables: Mapping[Columns, MeasuredTable], sizes: Sequence[int], sweeps: int = SWEEPS
) -> JunctionTree:
    """The distribution of greatest entropy near the measured tables.

    >>> first = MeasuredTable(np.array([[2.0, 1.0], [0.0, 1.0]]), 1.0)
    >>> second = MeasuredTable(np.array([[1.0, 1.0], [0.0, 2.0]]), 1.0)
    >>> tree = fit_tree({(0, 1): first, (1, 2): second}, [2, 2, 2])
    >>> tree.cliques, tree.total, tree.marginal((0, 1)).round(3).tolist()
    (((0, 1), (1, 2)), 4.0, [[2.0, 1.0], [0.0, 1.0]])
    """
    targets, total = agreeing(tables)
    cliques = cliques_of(list(targets), sizes)
    parents = _spanning(cliques)
    beliefs = [
        np.full([sizes[i] for i in clique], total / math.prod(sizes[i] for i in clique)) for clique in cliques
    ]
    tree = JunctionTree(tuple(cliques), tuple(parents), beliefs, total)
    fitted: dict[int, list[tuple[Columns, FloatArray]]] = {}
    # Every table is fitted in the smallest clique that holds it; those within another table follow from that one.
    for columns, target in targets.items():
        if any(set(columns) < set(other) for other in targets):
            continue
        holders = [at for at, clique in enumerate(cliques) if set(columns) <= set(clique)]
        place = min(holders, key=lambda at: beliefs[at].size)
        fitted.setdefault(place, []).append((columns, target))
    for _ in range(sweeps if len(targets) > 1 else 1):
        for at, previous in _walk(parents):
            if previous is not None:
                _pass_on(tree, previous, at)
            for columns, target in fitted.get(at, ()):
                _scale(tree, at, columns, target)
    for at, parent in enumerate(parents):
        if parent >= 0:
            _pass_on(tree, parent, at)
    return tree


def agreeing(tables: Mapping[Columns, MeasuredTable]) -> tuple[dict[Columns, FloatArray], float]:
    """Tables that agree wherever they share columns and are not negative, each weighing as its precision, and the number of rows.

    Qardaji, Yang and Li, *PriView*, 2014: what several tables say of the columns that they share is averaged, from no column to
    many, and each is shifted evenly to the average.
    """
    shared: set[Columns] = {()}
    names = list(tables)
    for i, first in enumerate(names):
        for second in names[:i]:
            shared.add(tuple(sorted(set(first) & set(second))))
    counts = {columns: table.counts.astype(np.float64) for columns, table in tables.items()}
    order = sorted(shared, key=lambda columns: (len(columns), columns))
    total = 1.0
    for _ in range(AGREEING):
        for common in order:
            _agree(counts, tables, common)
        total = max(1.0, float(next(iter(counts.values())).sum()))
        for columns, values in counts.items():
            counts[columns] = on_simplex(values.ravel(), total).reshape(values.shape)
    for common in order:
        _agree(counts, tables, common)
    for columns, values in counts.items():
        kept = np.maximum(values, TRACE * total)
        counts[columns] = kept * (total / kept.sum())
    return counts, total


def _agree(
    counts: dict[Columns, FloatArray], tables: Mapping[Columns, MeasuredTable], common: Columns
) -> None:
    """Let all tables say the same of the columns that some share."""
    concerned = [columns for columns in counts if set(common) <= set(columns)]
    if len(concerned) < 2:
        return
    margins = [sum_to(counts[columns], columns, common) for columns in concerned]
    spread = [counts[columns].size / margins[0].size for columns in concerned]
    weights = [1 / (tables[columns].variance * wide) for columns, wide in zip(concerned, spread, strict=True)]
    mean = np.average(np.stack(margins), axis=0, weights=weights)
    for columns, margin, wide in zip(concerned, margins, spread, strict=True):
        counts[columns] = counts[columns] + _spread_over((mean - margin) / wide, common, columns)


def sum_to(values: FloatArray, columns: Columns, kept: Columns) -> FloatArray:
    """The marginal of a table on some of its columns."""
    gone = tuple(axis for axis, column in enumerate(columns) if column not in kept)
    return np.asarray(values.sum(axis=gone)) if gone else values


def _spread_over(values: FloatArray, columns: Columns, wider: Columns) -> FloatArray:
    """A table with further axes, over which it is the same."""
    shape = iter(values.shape)
    return values.reshape([next(shape) if column in columns else 1 for column in wider])


def _spanning(cliques: Sequence[Columns]) -> list[int]:
    """The tree of cliques with the most shared columns: for each the earlier one that it hangs on, in reordered cliques."""
    assert isinstance(cliques, list)
    left, ordered, parents = list(range(1, len(cliques))), [0], [-1]
    while left:
        shared, child, parent = max(
            (len(set(cliques[child]) & set(cliques[parent])), -child, -place)
            for child in left
            for place, parent in enumerate(ordered)
        )
        left.remove(-child)
        ordered.append(-child)
        parents.append(-parent if shared else -1)
    cliques[:] = [cliques[at] for at in ordered]
    return parents


def _walk(parents: Sequence[int]) -> Iterator[tuple[int, int | None]]:
    """Every clique from the first down and back again, each with the one from which it is come to."""
    children: dict[int, list[int]] = {}
    for at, parent in enumerate(parents):
        children.setdefault(parent, []).append(at)

    def tour(at: int) -> Iterator[tuple[int, int | None]]:
        for child in children.get(at, ()):
            yield child, at
            yield from tour(child)
            yield at, child

    for root in children[-1]:
        yield root, None
        yield from tour(root)


def _pass_on(tree: JunctionTree, source: int, target: int) -> None:
    """Let a clique say of shared columns what its neighbour says."""
    child = target if tree.parents[target] == source else source
    shared = tree.separator(child)
    said = sum_to(tree.beliefs[source], tree.cliques[source], shared)
    _scale(tree, target, shared, said)


def _scale(tree: JunctionTree, at: int, columns: Columns, target: FloatArray) -> None:
    """Scale a clique so that it has a marginal."""
    belief, clique = tree.beliefs[at], tree.cliques[at]
    present = sum_to(belief, clique, columns)
    tree.beliefs[at] = belief * _spread_over(ratio(target, present), columns, clique)


# ── rows ──────────────────────────────────────────────────────────────────────────────────────────


def draw_rows(tree: JunctionTree, rows: int) -> list[IntArray]:
    """Rows whose cliques are as the tree says, each cell rounded up or down by chance: a code per row and column."""
    columns = max(column for clique in tree.cliques for column in clique) + 1
    codes: list[IntArray] = [np.zeros(rows, dtype=np.int64) for _ in range(columns)]
    for at, clique in enumerate(tree.cliques):
        shared = tree.separator(at)
        new = tuple(column for column in clique if column not in shared)
        axes = [clique.index(column) for column in (*shared, *new)]
        table = tree.beliefs[at].transpose(axes)
        known = np.zeros(rows, dtype=np.int64)
        for column in shared:
            known = known * table.shape[shared.index(column)] + codes[column]
        cells = math.prod(table.shape[: len(shared)])
        drawn = drawn_given(known, table.reshape(cells, -1))
        for column, part in zip(new, np.unravel_index(drawn, table.shape[len(shared) :]), strict=True):
            codes[column] = part.astype(np.int64)
    return codes


def drawn_given(known: IntArray, table: FloatArray) -> IntArray:
    """For each row a column of the table, given its row there: systematic sampling within each, in an order that nobody knows.

    Of n rows with one known value, a cell that has a share p gets n·p of them, rounded up or down.
    """
    order = np.lexsort((uniforms(len(known)), known))
    ordered = known[order]
    sizes = np.bincount(known, minlength=len(table))
    starts = np.concatenate([[0], np.cumsum(sizes)[:-1]])
    nth = np.arange(len(known)) - starts[ordered]
    used = np.flatnonzero(sizes)
    weights = table[used]
    weights = np.where(weights.sum(axis=1, keepdims=True) > 0, weights, 1.0)
    ends = np.cumsum(weights / weights.sum(axis=1, keepdims=True), axis=1)
    ends[:, -1] = 1.0
    place = np.searchsorted(used, ordered)
    points = place + np.minimum((nth + uniforms(len(used))[place]) / sizes[ordered], 1 - 1e-12)
    flat = (ends + np.arange(len(used))[:, None]).ravel()
    drawn = np.empty(len(known), dtype=np.int64)
    reached = np.searchsorted(flat, points, side="right")
    drawn[order] = np.minimum(reached - place * table.shape[1], table.shape[1] - 1)
    return drawn
