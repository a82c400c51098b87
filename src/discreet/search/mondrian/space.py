"""Classes as points in the space of their quasi-identifiers, and the requirements that counting decides."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from discreet.classes import EquivalenceClasses
from discreet.privacy import KAnonymity, LDiversity, PrivacyModel
from discreet.privacy.base import counted_in
from discreet.search.mondrian.kernels import INTERVAL, SET, TREE, Space
from discreet.search.problem import attribute_weights
from discreet.table.hierarchies.hierarchy import Ladder
from discreet.transform.recoding import Style, by_number
from discreet.types import FloatArray, Int32Array, IntArray


def _counted(
    classes: EquivalenceClasses, models: Sequence[PrivacyModel]
) -> tuple[int, list[tuple[IntArray, IntArray, int]], tuple[PrivacyModel, ...]]:
    """Records a group needs, items of which it needs several distinct ones, and all other requirements."""
    records, tallies, others = 1, [], []
    for model in models:
        if isinstance(model, KAnonymity):
            if counted_in(model.unit, classes) == "records" or not classes.event_level:
                records = max(records, model.k)
            else:
                inner = classes.person_counts
                tallies.append((inner.indptr, inner.persons, model.k))
        elif isinstance(model, LDiversity) and model.kind == "distinct":
            histogram = classes.histogram(model.sensitive)
            tallies.append((histogram.indptr, histogram.values.astype(np.int64), int(model.l)))
        else:
            others.append(model)
    return records, tallies, tuple(others)


def _items(
    classes: EquivalenceClasses, tallies: Sequence[tuple[IntArray, IntArray, int]]
) -> tuple[IntArray, IntArray, IntArray]:
    """The items of all tallies class by class, numbered apart, and the tally of each."""
    owner, item, tally = [], [], []
    used = 0
    for number, (indptr, values, _) in enumerate(tallies):
        owner.append(np.repeat(np.arange(len(classes)), np.diff(indptr)))
        item.append(values + used)
        tally.append(np.full(len(values), number))
        used += int(values.max()) + 1
    if not tallies:
        return np.zeros(len(classes) + 1, dtype=np.int64), np.zeros(0, np.int64), np.zeros(0, np.int64)
    whose = np.concatenate(owner)
    order = np.argsort(whose, kind="stable")
    indptr = np.searchsorted(whose[order], np.arange(len(classes) + 1))
    return indptr.astype(np.int64), np.concatenate(item)[order], np.concatenate(tally)[order]


def space_of(
    classes: EquivalenceClasses,
    models: Sequence[PrivacyModel],
    ladders: Sequence[Ladder | None],
    *,
    style: Style,
    weights: Mapping[str, float] | None,
) -> tuple[Space, tuple[PrivacyModel, ...]]:
    """The classes as points, with the requirements that counting decides, and the requirements that are left."""
    n, m = len(classes), len(classes.names)
    place = np.empty((n, m), dtype=np.int32)
    kind, leaves, blank, at = (np.zeros(m, dtype=np.int64) for _ in range(4))
    size = np.array([domain.size for domain in classes.attributes], dtype=np.int64)
    weight = attribute_weights(classes, weights)
    ticks: list[IntArray] = []
    trees: list[Int32Array] = []
    shares: list[FloatArray] = []
    used = 0
    for j, (domain, codes, ladder) in enumerate(zip(classes.attributes, classes.codes, ladders, strict=True)):
        leaves[j] = ladder.leaves if ladder is not None else domain.size
        rank = np.arange(domain.size)
        tick = rank
        if style == "hierarchy" and ladder is not None:
            kind[j], at[j] = TREE, used
            order = np.lexsort([step.codes for step in ladder.steps])
            rank = np.empty(domain.size, dtype=np.int64)
            rank[order] = np.arange(domain.size)
            for step in ladder.steps:
                trees.append(step.codes[order].astype(np.int32))
                shares.append(step.shares[order] * weight[j])
                used += domain.size
        elif domain.places is not None:
            kind[j] = INTERVAL
            rank, tick, blank[j] = by_number(domain, ladder)
        else:
            kind[j] = SET
        ticks.append(tick)
        place[:, j] = rank[codes]
    records, tallies, others = _counted(classes, models)
    item_ptr, item, tally = _items(classes, tallies)
    return Space(
        place=place,
        kind=kind,
        size=size,
        start=np.append(0, np.cumsum(size)[:-1]).astype(np.int64),
        tick=np.concatenate(ticks).astype(np.int64),
        blank=blank,
        unit=weight / leaves,
        weight=weight,
        at=at,
        tree=np.concatenate(trees) if trees else np.zeros(0, dtype=np.int32),
        share=np.concatenate(shares) if shares else np.zeros(0),
        records=classes.records.astype(np.int64),
        least_records=records,
        item_ptr=item_ptr,
        item=item,
        tally=tally,
        least=np.array([least for _, _, least in tallies], dtype=np.int64),
    ), others
