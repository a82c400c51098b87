"""What groups of classes cost by an objective that is a sum over cells, records or classes, as numbers for kernels."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from discreet.search.clusters.space import INTERVAL, CellSpans, padded, places_of
from discreet.search.problem import Problem
from discreet.table.hierarchies.hierarchy import Ladder
from discreet.types import FloatArray, FloatMatrix, Int32Array, Int32Matrix, IntArray
from discreet.utility.objectives.aggregates import CellObjective
from discreet.utility.objectives.ambiguity import Ambiguity
from discreet.utility.objectives.class_sizes import Discernibility
from discreet.utility.objectives.classification import Classification
from discreet.utility.objectives.objective import Objective

SUM, GEOMETRIC, MAX, SQUARES, COMBINATIONS, MINORITY = range(6)
"""How a table is priced: by its cells (three ways to sum up), class sizes, combinations of values, rarer labels."""
SHARE, PENALTY, NODE, WIDTH, BITS, CONDITIONAL = range(6)
"""How a cell is priced."""
AGGREGATES = {"arithmetic": SUM, "geometric": GEOMETRIC, "max": MAX}
CELLS = {
    "loss": SHARE,
    "ncp": PENALTY,
    "precision": NODE,
    "interval": WIDTH,
    "entropy": BITS,
    "conditional-entropy": CONDITIONAL,
}


class GroupPrices(NamedTuple):
    """An objective for kernels.

    ``cell[j]`` says how a cell of attribute ``j`` is priced, ``share[j]`` how much that counts. From
    ``start[j]`` on stand the numbers of its values, by their place (intervals) or code (sets): records (and
    up to each place), records × log2 of them, and the value as a share of the range. ``steps[row[j] + level]`` are the
    nodes above a value, ``nodes`` their price. ``label`` and ``labelled`` are the labels of class ``c`` and their
    records, from ``indptr[c]`` on.
    """

    rule: int
    falling: bool
    """Whether a cell that stands for more may cost less."""
    cell: IntArray
    share: FloatArray
    total: int
    leaves: IntArray
    start: IntArray
    records: FloatArray
    bits: FloatArray
    records_up_to: FloatArray
    bits_up_to: FloatArray
    number: FloatArray
    row: IntArray
    height: IntArray
    steps: Int32Matrix
    nodes: FloatMatrix
    labels: int
    indptr: IntArray
    label: IntArray
    labelled: IntArray

    def of(self, members: IntArray) -> GroupPrices:
        """Those of some classes only."""
        if not self.labels:
            return self
        lengths = np.diff(self.indptr)[members]
        indptr = np.concatenate(([0], np.cumsum(lengths)))
        place = np.repeat(self.indptr[members] - indptr[:-1], lengths) + np.arange(indptr[-1])
        return self._replace(indptr=indptr, label=self.label[place], labelled=self.labelled[place])


def can_be_priced(objective: Objective) -> bool:
    """Whether what a table costs is known from what each of its classes spans and holds."""
    return isinstance(objective, CellObjective | Discernibility | Ambiguity | Classification)


def prices_of(problem: Problem, spans: CellSpans) -> GroupPrices:
    """The objective of a problem, which `can_be_priced`, for groups of its classes."""
    objective, classes = problem.objective, problem.classes
    rule, cells = _rule(objective), [SHARE] * len(problem.ladders)
    if isinstance(objective, CellObjective):
        cells = [_cell(objective.cost.name, ladder) for ladder in problem.ladders]
    columns = [
        _numbers(ladder, spans.kind[j] == INTERVAL, totals)
        for j, (ladder, totals) in enumerate(
            zip(problem.ladders, problem.pricing.setting.value_records, strict=True)
        )
    ]
    start = np.cumsum([0, *(len(column[0]) for column in columns)])
    records, number = (np.concatenate(parts) for parts in zip(*columns, strict=True))
    with np.errstate(divide="ignore", invalid="ignore"):
        bits = np.where(records > 0, records * np.log2(records), 0.0)
    paths = [
        _paths(ladder, spans.kind[j] == INTERVAL, penalty=cells[j] == NODE and "ncp" in objective.name)
        for j, ladder in enumerate(problem.ladders)
    ]
    indptr, label, labelled, labels = _labels(problem)
    return GroupPrices(
        rule,
        CONDITIONAL in cells,
        np.array(cells, dtype=np.int64),
        problem.pricing.setting.shares
        / (np.log2(max(classes.total, 2)) if objective.name == "entropy" else 1.0),
        classes.total,
        np.array([ladder.leaves for ladder in problem.ladders], dtype=np.int64),
        start.astype(np.int64),
        records,
        bits,
        np.concatenate(([0.0], np.cumsum(records))),
        np.concatenate(([0.0], np.cumsum(bits))),
        number,
        np.cumsum([0, *(len(steps) for steps, _ in paths[:-1])]).astype(np.int64),
        np.array([ladder.height for ladder in problem.ladders], dtype=np.int64),
        padded([steps for steps, _ in paths]).astype(np.int32),
        padded([nodes for _, nodes in paths]),
        labels,
        indptr,
        label,
        labelled,
    )


def _rule(objective: Objective) -> int:
    if isinstance(objective, CellObjective):
        return AGGREGATES[objective.aggregate]
    if isinstance(objective, Discernibility):
        return SQUARES
    return COMBINATIONS if isinstance(objective, Ambiguity) else MINORITY


def _cell(name: str, ladder: Ladder) -> int:
    """A hierarchy that somebody gave is what a certainty penalty is counted on."""
    return NODE if name == "ncp" and ladder.assumed is None else CELLS[name]


def _numbers(ladder: Ladder, interval: bool, totals: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Records and number of each place of an interval or code of a set; numbers are shares of the range."""
    numbers = ladder.domain.numbers
    known = ~np.isnan(numbers)
    low, width = (
        (float(numbers[known].min()), float(np.ptp(numbers[known])) or 1.0) if known.any() else (0.0, 1.0)
    )
    scaled = np.where(known, (numbers - low) / width, 0.0)
    if not interval:
        return totals, scaled
    places = places_of(ladder.domain, ladder)
    size = int(places.max()) + 1
    at = places >= 0
    number = np.zeros(size)
    number[places[at]] = scaled[at]
    return np.bincount(places[at], weights=totals[at], minlength=size).astype(np.float64), number


def _paths(ladder: Ladder, interval: bool, *, penalty: bool) -> tuple[Int32Array, FloatArray]:
    """The node above each place or code on every level, and what a cell costs that stands there."""
    codes = np.arange(ladder.domain.size)
    if interval:
        places = places_of(ladder.domain, ladder)
        codes = np.zeros(int(places.max()) + 1, dtype=np.int64)
        codes[places[places >= 0]] = np.flatnonzero(places >= 0)
    steps = np.stack([step.codes[codes] for step in ladder.steps]).astype(np.int32)
    shares = np.stack([step.shares[codes] for step in ladder.steps])
    if penalty:
        return steps, np.where(shares * ladder.leaves > 1.5, shares, 0.0)
    level = np.arange(len(steps), dtype=np.float64)[:, None] / max(ladder.height, 1)
    return steps, np.broadcast_to(level, shares.shape)


def _labels(problem: Problem) -> tuple[IntArray, IntArray, IntArray, int]:
    """The labels of each class and their records, for the objective that looks at them."""
    none = np.zeros(0, dtype=np.int64)
    if not isinstance(problem.objective, Classification):
        return none, none, none, 0
    name = problem.objective.label_among(problem.classes.sensitive)
    histogram = problem.classes.histogram(name)
    return (
        histogram.indptr.astype(np.int64),
        histogram.values.astype(np.int64),
        histogram.records.astype(np.int64),
        histogram.domain.size,
    )
