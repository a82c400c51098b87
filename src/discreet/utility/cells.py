"""What a generalised or suppressed cell costs: losses that add up over records and attributes."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, Protocol

import numpy as np
from numpy.typing import NDArray

from discreet.table.hierarchy import Ladder

FloatArray = NDArray[np.float64]


class CellCost(Protocol):
    """A loss per cell: never less at a coarser level, and never more than suppression costs.

    ``totals`` are the records per value of the attribute; both methods return one cost per domain code.
    """

    name: ClassVar[str]

    def generalised(self, ladder: Ladder, level: int, totals: FloatArray) -> FloatArray:
        """Cost of a cell of each value when the attribute stands at ``level``."""
        ...

    def suppressed(self, ladder: Ladder, totals: FloatArray) -> FloatArray:
        """Cost of a suppressed cell of each value."""
        ...


@dataclass(frozen=True)
class LeafShare:
    """Loss: the share of the domain a cell may stand for, scaled so that a single value costs 0 and ``*`` 1.

    L = (share - 1/D) / (1 - 1/D), share = leaves under the node / D, D = leaves of the hierarchy
    (Iyengar 2002).
    """

    name: ClassVar[str] = "loss"

    def generalised(self, ladder: Ladder, level: int, totals: FloatArray) -> FloatArray:
        if ladder.leaves == 1:
            return np.zeros(ladder.domain.size)
        least = 1.0 / ladder.leaves
        return (ladder.steps[level].shares - least) / (1.0 - least)

    def suppressed(self, ladder: Ladder, totals: FloatArray) -> FloatArray:
        return np.ones(ladder.domain.size)


@dataclass(frozen=True)
class CertaintyPenalty:
    """NCP: the share of the domain under the node, 0 for a single value (Xu et al. 2006)."""

    name: ClassVar[str] = "ncp"

    def generalised(self, ladder: Ladder, level: int, totals: FloatArray) -> FloatArray:
        shares = ladder.steps[level].shares
        return np.where(shares * ladder.leaves > 1.5, shares, 0.0)

    def suppressed(self, ladder: Ladder, totals: FloatArray) -> FloatArray:
        return np.ones(ladder.domain.size)


@dataclass(frozen=True)
class Height:
    """Precision loss: level / height (Sweeney 2002, Prec = 1 - this)."""

    name: ClassVar[str] = "precision"

    def generalised(self, ladder: Ladder, level: int, totals: FloatArray) -> FloatArray:
        return np.full(ladder.domain.size, level / ladder.height if ladder.height else 0.0)

    def suppressed(self, ladder: Ladder, totals: FloatArray) -> FloatArray:
        return np.ones(ladder.domain.size)


@dataclass(frozen=True)
class NonUniformEntropy:
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


LEAF_SHARE = LeafShare()
CELL_COSTS: dict[str, CellCost] = {
    cost.name: cost for cost in (LEAF_SHARE, CertaintyPenalty(), Height(), NonUniformEntropy())
}
"""The objectives whose optimum the lattice search finds with bounds, by their name in a policy."""
