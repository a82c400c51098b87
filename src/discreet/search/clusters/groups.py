"""What clusterings share: dividing many classes into blocks, and merging groups until requirements hold."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor

import numpy as np

from discreet.classes import EquivalenceClasses, Unit
from discreet.classes.merged import MergedClasses
from discreet.privacy import KAnonymity, PrivacyModel
from discreet.search.clusters.kernels import Clusters, empty_clusters, fill, pair_up
from discreet.search.clusters.objective_kernels import pair_up_by
from discreet.search.clusters.prices import GroupPrices
from discreet.search.clusters.space import TREE, CellSpans, ClassPersons, Points
from discreet.search.requirements import on_groups
from discreet.sentences import Sentence
from discreet.types import BoolArray, FloatArray, Int32Array, IntArray, Progress

WINDOW = 4096
"""Among so many groups around it, in an order that keeps similar ones together, a group seeks its nearest."""


# ── blocks ────────────────────────────────────────────────────────────────────────────────────────────


def blocks(columns: FloatArray, size: int) -> list[IntArray]:
    """Divide points into blocks of at most ``size``, like a k-d tree (Friedman, Bentley and Finkel 1977).

    The column of largest variance is cut near its median, between two values if there is a cut in the
    middle half. A block of n points has at least ``size`` / 4 of them.

    >>> [block.tolist() for block in blocks(np.array([[1.0], [9.0], [2.0], [8.0]]), 2)]
    [[0, 2], [1, 3]]
    """
    done: list[IntArray] = []
    stack = [np.arange(len(columns))]
    while stack:
        block = stack.pop()
        if len(block) <= max(size, 1):
            done.append(np.sort(block))
            continue
        inside = columns[block]
        column = inside[:, int(np.argmax(inside.var(axis=0)))]
        order = np.argsort(column, kind="stable")
        cut = _cut(column[order])
        stack += [block[order[cut:]], block[order[:cut]]]
    return done


def _cut(ascending: FloatArray) -> int:
    """Where values change nearest to the middle, if in the middle half; else the middle."""
    n = len(ascending)
    changes = np.flatnonzero(np.diff(ascending)) + 1
    inner = changes[(changes >= n / 4) & (changes <= 3 * n / 4)]
    return int(inner[np.argmin(np.abs(inner - n / 2))]) if len(inner) else n // 2


def columns_of_points(points: Points) -> FloatArray:
    """Coordinates for dividing: numbers as they are scaled, categories in the order of their tree."""
    parts = [np.where(np.isnan(column), 0.0, column) for column in points.numbers.T]
    for q, weight in enumerate(points.weights):
        row = int(points.row[q])
        stop = int(points.row[q + 1]) if q + 1 < len(points.row) else len(points.steps)
        parts.append(_tree_order(points.steps[row:stop], points.codes[:, q]) * np.sqrt(weight))
    return np.stack(parts, axis=1)


def columns_of_spans(spans: CellSpans) -> FloatArray:
    """Coordinates for dividing: shares of the domain for intervals, codes in their order for the others."""
    parts = []
    trees = np.flatnonzero(spans.kind == TREE)
    for j, kind in enumerate(spans.kind):
        if kind == TREE:
            row = int(spans.row[j])
            stop = int(spans.row[trees[trees > j][0]]) if (trees > j).any() else len(spans.steps)
            parts.append(_tree_order(spans.steps[row:stop], spans.codes[:, j]) * spans.full[j])
        else:
            parts.append(spans.codes[:, j] * spans.unit[j])
    return np.stack(parts, axis=1)


def _tree_order(steps: Int32Array, codes: Int32Array) -> FloatArray:
    """Place of each category, in [0, 1], in an order in which those with common ancestors are neighbours."""
    order = np.lexsort(tuple(steps))
    place = np.empty(len(order))
    place[order] = np.arange(len(order)) / max(len(order) - 1, 1)
    return np.asarray(place[codes])


def in_blocks(
    parts: Sequence[IntArray],
    cluster: Callable[[IntArray], IntArray],
    *,
    threads: int,
    say: Progress,
    what: str,
) -> IntArray:
    """Cluster each block for itself, on several threads; groups are numbered by block and first class."""
    owner = np.full(sum(map(len, parts)), -1, dtype=np.int64)
    groups = 0
    with ThreadPoolExecutor(max(1, threads)) as pool:
        for done, (members, numbered) in enumerate(
            zip(parts, pool.map(cluster, parts), strict=True), start=1
        ):
            numbers, first, dense = np.unique(numbered, return_index=True, return_inverse=True)
            owner[members] = np.argsort(np.argsort(first))[dense] + groups
            groups += len(numbers)
            say(
                Sentence(
                    "{what}: {share:.0%} of {count:,} classes",
                    what=Sentence(what),
                    share=done / len(parts),
                    count=len(owner),
                )
            )
    return owner


# ── requirements ──────────────────────────────────────────────────────────────────────────────────────


def merge_failing(
    classes: EquivalenceClasses,
    owner: IntArray,
    spans: CellSpans,
    models: Sequence[PrivacyModel],
    *,
    k: int,
    unit: Unit | None,
    say: Progress,
    prices: GroupPrices | None = None,
) -> tuple[IntArray, BoolArray]:
    """Merge groups until every requirement that merging cannot break holds; the others decide what is kept.

    In each round every failing group, the smallest first, is merged with the group with which it loses
    least (by ``prices``, if given, the table costs least); nobody is merged twice in a round. Returns the group of each class and which groups are kept.
    """
    required = [KAnonymity(k, unit=unit), *on_groups(models)]
    groups = int(owner.max()) + 1
    while True:
        merged = MergedClasses.of(classes, owner, groups)
        holds = np.ones(groups, dtype=bool)
        for model in required:
            if model.monotone:
                holds &= model.holds(merged)
        failing = np.flatnonzero(~holds)
        if not len(failing) or groups == 1:
            break
        say(
            Sentence(
                "merging {failing:,} of {groups:,} groups that fail a requirement",
                failing=len(failing),
                groups=groups,
            )
        )
        order = failing[np.argsort(merged.records[failing], kind="stable")]
        owner, groups = _merge(classes, owner, groups, spans, order, prices)
    for model in required:
        if not model.monotone:
            holds &= model.holds(merged)
    return owner, holds


def _merge(
    classes: EquivalenceClasses,
    owner: IntArray,
    groups: int,
    spans: CellSpans,
    order: IntArray,
    prices: GroupPrices | None,
) -> tuple[IntArray, int]:
    """One round: failing groups, in ``order``, and their partners become one."""
    state = clusters_of(classes, owner, groups, spans)
    line, reach = np.arange(groups), groups
    if groups > WINDOW:
        line = np.concatenate(blocks(columns_of_spans(spans)[state.head[:groups]], 64))
        reach = WINDOW // 2
    partner = np.full(groups, -1, dtype=np.int64)
    if prices is None:
        pair_up(spans, state, order, line, reach, partner)
    else:
        records = classes.records.astype(np.int64)
        pair_up_by(spans, prices, records, state, order, line, reach, partner)
    target = np.where(partner < 0, np.arange(groups), np.minimum(partner, np.arange(groups)))
    numbers, dense = np.unique(target[owner], return_inverse=True)
    return dense.astype(np.int64), len(numbers)


def clusters_of(classes: EquivalenceClasses, owner: IntArray, groups: int, spans: CellSpans) -> Clusters:
    """The span and loss of given groups."""
    none = np.zeros(0, dtype=np.int64)
    records = classes.records.astype(np.int64)
    people = ClassPersons(records, none, none)
    state = empty_clusters(len(owner), groups, spans, people)
    fill(spans, people, records, owner, state)
    return state
