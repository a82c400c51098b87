"""Objectives made of losses per cell: how the losses of the attributes come together."""

from __future__ import annotations

from collections.abc import Sequence
from copy import copy
from dataclasses import dataclass
from functools import cached_property
from typing import Literal

import numpy as np

from discreet.errors import InvalidParameter
from discreet.sentences import Sentence
from discreet.types import AnyIntArray, BoolArray, FloatArray, Int32Array, IntArray
from discreet.utility.objectives.cells import LEAF_SHARE, CellCost
from discreet.utility.objectives.objective import (
    Grouping,
    LevelTable,
    Price,
    Pricing,
    Setting,
)

Aggregate = Literal["arithmetic", "geometric", "max"]


@dataclass(frozen=True)
class CellObjective:
    """The mean loss per cell of each attribute, L_j, aggregated over the attributes with weights w_j.

    A suppressed cell costs w × its loss when suppressed. ``"arithmetic"``: sum of w_j L_j.
    ``"geometric"``: product of (1 + L_j)^w_j, minus 1 (a plain geometric mean would be 0 as soon as one
    attribute is untouched). ``"max"``: the largest L_j (times its weight, if weights differ).

    >>> CellObjective().name, CellObjective(aggregate="max").name
    ('loss', 'loss-max')
    """

    cost: CellCost = LEAF_SHARE
    aggregate: Aggregate = "arithmetic"

    def __post_init__(self) -> None:
        if self.aggregate not in ("arithmetic", "geometric", "max"):
            raise InvalidParameter(
                Sentence(
                    "aggregate must be arithmetic, geometric or max, not {aggregate}",
                    aggregate=repr(self.aggregate),
                ),
                remedy='for example aggregate = "geometric"',
            )

    @property
    def name(self) -> str:
        return self.cost.name if self.aggregate == "arithmetic" else f"{self.cost.name}-{self.aggregate}"

    @property
    def monotone(self) -> bool:
        # A rare node may be more uncertain than the whole attribute, and labels may overlap.
        return self.cost.name not in ("conditional-entropy", "interval")

    @property
    def additive(self) -> bool:
        return True

    def bind(self, setting: Setting) -> Pricing:
        kinds = {"arithmetic": CellSums, "geometric": _Geometric, "max": _Max}
        return kinds[self.aggregate](setting, self.cost)


class CellSums:
    """The weighted sum, and what all aggregates share.

    Why the bounds hold. A cell of value v costs at a node n either c(n, v), or s(v) if its record is
    suppressed (s includes the weight of suppression), so never less than min(c(n, v), s(v)): summed over
    the records of an attribute that is its number in ``levels``. Records that an absorbing requirement
    suppresses at a coarser node a are suppressed at n too and pay s(v), which is more than the minimum
    already counted by at least s(v) - cap(a, v), where cap is the largest min(c, s) of v at any level up to
    a's. The sum of these over such records is the floor D_j of attribute j.
    """

    def __init__(self, setting: Setting, cost: CellCost) -> None:
        self.setting = setting
        scale = self._scale(setting)
        totals = setting.value_records
        self._costs = setting.table(
            lambda j, level: cost.generalised(setting.ladders[j], level, totals[j]) * scale[j]
        )
        self._suppressed = LevelTable(
            tuple(
                (cost.suppressed(ladder, totals[j]) * (setting.suppression * scale[j]))[None, :]
                for j, ladder in enumerate(setting.ladders)
            )
        )
        least = [np.minimum(c, s) for c, s in zip(self._costs.parts, self._suppressed.parts, strict=True)]
        self._caps = LevelTable(tuple(np.maximum.accumulate(part, axis=0) for part in least))
        self._means = self._sums(self._costs)
        self._least = tuple(part @ n for part, n in zip(least, totals, strict=True))
        self._ends = self._suppressed.starts(np.zeros(len(totals), dtype=np.int64))
        self._even = self._evenness()

    def _scale(self, setting: Setting) -> FloatArray:
        return setting.shares / setting.total

    def _sums(self, table: LevelTable) -> tuple[FloatArray, ...]:
        """Per attribute and level the cost of all records."""
        return tuple(part @ n for part, n in zip(table.parts, self.setting.value_records, strict=True))

    def _evenness(self) -> tuple[BoolArray, ...]:
        """Per attribute and level, whether all values under a node cost the same, so that groups can be priced whole."""
        tables = zip(self._costs.parts, self._caps.parts, self._suppressed.parts, strict=True)
        return tuple(
            np.array(
                [
                    all(_alike(step.codes, numbers) for numbers in (costs[level], caps[level], ends[0]))
                    for level, step in enumerate(ladder.steps)
                ]
            )
            for ladder, (costs, caps, ends) in zip(self.setting.ladders, tables, strict=True)
        )

    def along(self, cuts: Sequence[IntArray]) -> Pricing:
        other = copy(self)
        other._even = tuple(np.array([even[0], even.all()]) for even in self._even)
        other._costs, other._caps = self._costs.along(cuts), self._caps.along(cuts)
        other._means = other._sums(other._costs)
        return other

    @cached_property
    def _every(self) -> Int32Array:
        return np.arange(len(self.setting.classes), dtype=np.int32)

    @property
    def combine(self) -> np.ufunc:
        return np.add

    @property
    def levels(self) -> tuple[FloatArray, ...]:
        return self._least

    def below(self, combined: FloatArray) -> FloatArray:
        return combined

    @cached_property
    def worst(self) -> float:
        totals = self.setting.value_records
        ends = [float((part @ n).max()) for part, n in zip(self._suppressed.parts, totals, strict=True)]
        tops = [float(mean.max()) for mean in self._means]
        return self._aggregate(np.maximum(ends, tops)) or 1.0

    def combined(self, losses: FloatArray) -> float:
        """The cost, from the mean loss per cell of each attribute."""
        return self._aggregate(losses * self._scale(self.setting) * self.setting.total)

    def _aggregate(self, losses: FloatArray) -> float:
        return float(losses.sum())

    def _floor(self, certain: FloatArray) -> tuple[float, float]:
        """From the floors of the attributes: what adds to ``below``, and what every finer node costs at least."""
        return float(certain.sum()), 0.0

    def price(self, grouping: Grouping, kept: BoolArray, certain: BoolArray) -> Price:
        from discreet.utility.objectives.kernels import (
            price_of_suppression,  # loads a compiler: only when searching
        )

        means = np.array([mean[level] for mean, level in zip(self._means, grouping.levels, strict=True)])
        without = self._aggregate(means)
        whole = all(even[level] for even, level in zip(self._even, grouping.levels, strict=True))
        groups = np.arange(len(grouping.first), dtype=np.int32)
        added, sure = price_of_suppression(
            self.setting.base,
            self._costs.flat,
            self._caps.flat,
            self._costs.starts(grouping.levels),
            self._suppressed.flat,
            self._ends,
            grouping.first if whole else self._every,
            groups if whole else grouping.owner,
            grouping.sizes if whole else self.setting.classes.records,
            kept,
            certain,
        )
        return Price(without, self._aggregate(means + added) - without, *self._floor(sure))


def _alike(nodes: AnyIntArray, numbers: FloatArray) -> bool:
    """Whether values of the same node have the same number.

    >>> _alike(np.array([0, 0, 1]), np.array([0.5, 0.5, 1.0])), _alike(np.array([0, 0, 1]), np.array([0.5, 0.4, 1.0]))
    (True, False)
    """
    member = np.zeros(int(nodes.max(initial=0)) + 1, dtype=np.int64)
    member[nodes] = np.arange(len(nodes))
    return bool((numbers[member[nodes]] == numbers).all())


class _Geometric(CellSums):
    """With the same L_j >= levels + D_j: geometric means are superadditive, GM(x + D) >= GM(x) + GM(D)."""

    def _scale(self, setting: Setting) -> FloatArray:
        return np.full(len(setting.shares), 1.0 / setting.total)

    @property
    def levels(self) -> tuple[FloatArray, ...]:
        return tuple(w * np.log1p(x) for w, x in zip(self.setting.shares, self._least, strict=True))

    def below(self, combined: FloatArray) -> FloatArray:
        return np.expm1(combined)

    def _aggregate(self, losses: FloatArray) -> float:
        return float(np.expm1(self.setting.shares @ np.log1p(losses)))

    def _floor(self, certain: FloatArray) -> tuple[float, float]:
        # Rounding may leave a floor of nothing a hair below nothing.
        return float(np.prod(np.maximum(certain, 0.0) ** self.setting.shares)), 0.0


class _Max(CellSums):
    """With the same L_j >= levels + D_j: max(x + D) >= max(x) + min(D), and max(x + D) >= max(D)."""

    def _scale(self, setting: Setting) -> FloatArray:
        return setting.shares * len(setting.shares) / setting.total

    @property
    def combine(self) -> np.ufunc:
        return np.maximum

    def _aggregate(self, losses: FloatArray) -> float:
        return float(losses.max())

    def _floor(self, certain: FloatArray) -> tuple[float, float]:
        return float(certain.min()), float(certain.max())
