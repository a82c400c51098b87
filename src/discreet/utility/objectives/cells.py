"""What a generalised or suppressed cell costs: losses that add up over records and attributes."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, Protocol

import numpy as np

from discreet.errors import UnsuitableColumn
from discreet.sentences import Sentence
from discreet.table.hierarchies.hierarchy import Ladder, leaf_loss
from discreet.table.values import Interval, parse
from discreet.types import AnyIntArray, FloatArray


class CellCost(Protocol):
    """A loss per cell, which adds up over cells.

    ``totals`` are the records per value of the attribute; both methods return one cost per domain code.
    """

    name: ClassVar[str]

    def generalised(self, ladder: Ladder, level: int, totals: FloatArray) -> FloatArray:
        """Cost of a cell of each value when the attribute stands at ``level``."""
        ...

    def suppressed(self, ladder: Ladder, totals: FloatArray) -> FloatArray:
        """Cost of a suppressed cell of each value: 1 unless a loss says otherwise."""
        return np.ones(ladder.domain.size)


@dataclass(frozen=True)
class LeafShare(CellCost):
    """Loss: the share of the domain a cell may stand for, scaled so that a single value costs 0 and ``*`` 1.

    L = (share - 1/D) / (1 - 1/D), share = leaves under the node / D, D = leaves of the hierarchy
    (Iyengar 2002).
    """

    name: ClassVar[str] = "loss"

    def generalised(self, ladder: Ladder, level: int, totals: FloatArray) -> FloatArray:
        return leaf_loss(ladder.steps[level].shares, ladder.leaves)


@dataclass(frozen=True)
class CertaintyPenalty(CellCost):
    """NCP: the share of the domain under the node, 0 for a single value (Xu et al. 2006)."""

    name: ClassVar[str] = "ncp"

    def generalised(self, ladder: Ladder, level: int, totals: FloatArray) -> FloatArray:
        shares = ladder.steps[level].shares
        return np.where(shares * ladder.leaves > 1.5, shares, 0.0)


@dataclass(frozen=True)
class Height(CellCost):
    """Precision loss: level / height (Sweeney 2002, Prec = 1 - this); a null below the root has lost nothing."""

    name: ClassVar[str] = "precision"

    def generalised(self, ladder: Ladder, level: int, totals: FloatArray) -> FloatArray:
        losses = np.full(ladder.domain.size, level / ladder.height if ladder.height else 0.0)
        if ladder.domain.has_null and level < ladder.height:
            losses[ladder.domain.null_code] = 0.0
        return losses


@dataclass(frozen=True)
class NonUniformEntropy(CellCost):
    """Bits lost per cell: -log2(n(value) / n(node)); for a suppressed cell -log2(n(value) / n).

    Gionis and Tassa 2009; over all records of a node it sums to its conditional entropy. Scaled by log2 of
    the attribute's records so that attributes are comparable and a cell costs at most 1.
    """

    name: ClassVar[str] = "entropy"

    def generalised(self, ladder: Ladder, level: int, totals: FloatArray) -> FloatArray:
        step = ladder.steps[level]
        node = np.bincount(step.codes, weights=totals).astype(np.float64)[step.codes]
        return self._bits(totals, node)

    def suppressed(self, ladder: Ladder, totals: FloatArray) -> FloatArray:
        return self._bits(totals, np.full(len(totals), totals.sum()))

    @staticmethod
    def _bits(totals: FloatArray, node: FloatArray) -> FloatArray:
        largest = np.log2(max(totals.sum(), 2.0))
        with np.errstate(divide="ignore", invalid="ignore"):
            bits = np.where(totals > 0, np.log2(node / totals), 0.0)
        return np.asarray(bits / largest)


@dataclass(frozen=True)
class ConditionalEntropy(CellCost):
    """Bits that a cell leaves open: H(X | node), the entropy of the table's values under the cell's node.

    Summed over all records of a table without suppression it equals ``NonUniformEntropy`` in bits; it
    differs where only some records of a node are suppressed, each of which costs H(X). A rare node may be
    more uncertain than the whole attribute, so a coarser cell may cost less.
    Review of anonymization procedures for tabular data, 2023; Gionis and Tassa 2009.

    >>> from discreet.table.domain import Domain
    >>> from discreet.table.hierarchies.hierarchy import Hierarchy
    >>> import pyarrow as pa
    >>> school = Hierarchy.of("school", [["BA", "degree", "*"], ["MA", "degree", "*"], ["HS", "HS", "*"]])
    >>> ladder = school.ladder(Domain("school", pa.array(["BA", "MA", "HS"])))
    >>> ConditionalEntropy().generalised(ladder, 1, np.array([2.0, 2.0, 1.0]))
    array([1., 1., 0.])
    """

    name: ClassVar[str] = "conditional-entropy"

    def generalised(self, ladder: Ladder, level: int, totals: FloatArray) -> FloatArray:
        return self._bits(ladder.steps[level].codes, totals)

    def suppressed(self, ladder: Ladder, totals: FloatArray) -> FloatArray:
        return self._bits(np.zeros(len(totals), dtype=np.int64), totals)

    @staticmethod
    def _bits(node: AnyIntArray, totals: FloatArray) -> FloatArray:
        size = np.bincount(node, weights=totals)
        with np.errstate(divide="ignore", invalid="ignore"):
            surprise = np.where(totals > 0, totals * np.log2(size[node] / totals), 0.0)
            bits = np.where(size > 0, np.bincount(node, weights=surprise) / size, 0.0)
        return np.asarray(bits[node], dtype=np.float64)


@dataclass(frozen=True)
class IntervalWidth(CellCost):
    """Interval loss: (upper - lower) / (max - min), max and min over the table's own numbers.

    Bounds are those of the cell's label where that is an interval, else of the table's numbers under the
    node; a width beyond the table's own counts as 1, as does a suppressed cell. A value without a number
    costs 0 until it is generalised, then 1. Review of anonymization procedures for tabular data, 2023.

    >>> from discreet.table.domain import Domain
    >>> from discreet.table.hierarchies.hierarchy import Hierarchy
    >>> import pyarrow as pa
    >>> age = Hierarchy.of("age", [["28", "[20, 29]", "*"], ["38", "[30, 39]", "*"], ["53", "[50, 59]", "*"]])
    >>> IntervalWidth().generalised(age.ladder(Domain("age", pa.array([28, 38, 53]))), 1, np.ones(3))
    array([0.36, 0.36, 0.36])
    """

    name: ClassVar[str] = "interval"

    def generalised(self, ladder: Ladder, level: int, totals: FloatArray) -> FloatArray:
        numbers = ladder.domain.numbers
        known = ~np.isnan(numbers)
        if not known.any() or not ladder.domain.is_numeric:
            raise UnsuitableColumn(
                Sentence("{name!r} has no numbers, so its intervals have no width", name=ladder.name),
                remedy="minimise another loss, or leave this column out of the quasi-identifiers",
            )
        step = ladder.steps[level]
        size = len(step.labels)
        low, high = np.full(size, np.inf), np.full(size, -np.inf)
        np.minimum.at(low, step.codes[known], numbers[known])
        np.maximum.at(high, step.codes[known], numbers[known])
        for place, label in enumerate(step.labels if level else ()):
            value = parse(label)
            if isinstance(value, Interval):
                low[place], high[place] = value.low, value.high
        span = numbers[known].max() - numbers[known].min()
        width = np.minimum((high - low) / span, 1.0) if span else np.where(high > low, 1.0, 0.0)
        members = np.bincount(step.codes, minlength=size)
        # What has no number stands for itself alone or for anything.
        without = np.bincount(step.codes, weights=~known, minlength=size) > 0
        width = np.where(without, np.where(members > 1, 1.0, 0.0), width)
        return np.asarray(width[step.codes], dtype=np.float64)


LEAF_SHARE = LeafShare()
CELL_COSTS: dict[str, CellCost] = {
    cost.name: cost
    for cost in (
        LEAF_SHARE,
        CertaintyPenalty(),
        Height(),
        NonUniformEntropy(),
        ConditionalEntropy(),
        IntervalWidth(),
    )
}
"""The losses per cell by their name in a policy."""
