"""Labels of a nested recoding that hardly say more than a wider one beside them are given up for it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
import pyarrow as pa

from discreet.search.problem import Problem, attribute_weights
from discreet.table.hierarchies.hierarchy import Ladder
from discreet.transform.recoding import Recoding, ReleasedAttribute
from discreet.types import FloatArray, IntArray
from discreet.utility.objectives.registry import LOSS

MOST_ADDED = 0.01
"""All labels that are given up add so much to the loss together at most, as a share of it."""
MOST_LABELS = 2_000
"""Of a column that shows more labels none is given up."""


def tidied(recoding: Recoding, problem: Problem, ladders: Sequence[Ladder]) -> Recoding:
    """The recoding with fewer labels: the cheapest first, each becomes the narrowest shown one that contains it.

    Of the ages ``<= 83``, ``<= 84`` and ``<= 87`` a reader learns no more than of the last. Labels are nodes of the
    ``ladders``, so those that are left nest as before, and classes only grow. For another objective than the loss nothing is
    done.
    """
    if problem.objective.name != LOSS.name or not recoding.kept.any():
        return recoding
    weights = attribute_weights(recoding.classes, problem.weights)
    records = np.where(recoding.kept, recoding.classes.records, 0).astype(np.float64)
    shown = [
        _ShownLabels(column, ladder, records, float(weight))
        for column, ladder, weight in zip(recoding.columns, ladders, weights, strict=True)
    ]
    left = MOST_ADDED * sum(labels.lost for labels in shown)
    while True:
        cheapest = min(shown, key=lambda labels: labels.least)
        if cheapest.least > left:
            break
        left -= cheapest.least
        cheapest.give_up()
    return replace(recoding, columns=tuple(labels.column() for labels in shown))


class _ShownLabels:
    """The labels of a column, which of them is the narrowest that contains another, and what giving up each costs."""

    def __init__(self, column: ReleasedAttribute, ladder: Ladder, records: FloatArray, weight: float) -> None:
        self._before = column
        self._weight = weight
        count = len(column.values)
        self._share = np.ones(count)
        self._share[column.codes] = column.shares
        self._records = np.bincount(column.codes, weights=records, minlength=count)
        self._into = np.arange(count)
        self._parent = _narrowest(column, ladder, self._share, self._records > 0)
        self.lost = weight * float((column.shares - 1 / column.leaves) @ records)

    @property
    def _costs(self) -> FloatArray:
        known = self._parent >= 0
        wider = self._share[self._parent] - self._share
        return np.where(known, self._weight * self._records * wider, np.inf)

    @property
    def least(self) -> float:
        """What the cheapest label adds to the loss; infinite where none can be given up."""
        return float(self._costs.min(initial=np.inf))

    def give_up(self) -> None:
        """Write the cheapest label as the narrowest one that contains it."""
        gone = int(self._costs.argmin())
        above = int(self._parent[gone])
        self._records[above] += self._records[gone]
        self._parent[self._parent == gone] = above
        self._parent[gone] = -1
        self._into[self._into == gone] = above

    def column(self) -> ReleasedAttribute:
        """The column with the labels that are left."""
        if np.array_equal(self._into, np.arange(len(self._into))):
            return self._before
        codes = self._into[self._before.codes]
        shares = np.where(codes == self._before.codes, self._before.shares, self._share[codes])
        used, codes = np.unique(codes, return_inverse=True)
        values = self._before.values.take(pa.array(used))
        return replace(self._before, values=values, codes=codes.astype(np.int32), shares=shares)


def _narrowest(column: ReleasedAttribute, ladder: Ladder, share: FloatArray, used: np.ndarray) -> IntArray:
    """For each label the narrowest other one whose node of the ladder contains its own; -1 where there is none."""
    labels = column.values.to_pylist()
    parent = np.full(len(labels), -1, dtype=np.int64)
    if not pa.types.is_string(column.values.type) or len(labels) > MOST_LABELS:
        return parent
    places: dict[str, tuple[int, int]] = {}
    for level, step in enumerate(ladder.steps):
        for node, label in enumerate(step.labels):
            places.setdefault(label, (level, node))
    at = np.array([i for i, label in enumerate(labels) if used[i] and label in places], dtype=np.int64)
    if not len(at):
        return parent
    level, node = np.array([places[labels[i]] for i in at.tolist()], dtype=np.int64).T
    leaf = np.array([int(np.argmax(ladder.steps[i].codes == j)) for i, j in zip(level, node, strict=True)])
    above = np.stack([ladder.steps[i].codes[leaf] for i in level.tolist()], axis=1)
    holds = (above == node) & (share[at] > share[at][:, None])
    width = np.where(holds, share[at], np.inf)
    inside = holds.any(axis=1)
    parent[at[inside]] = at[width[inside].argmin(axis=1)]
    return parent
