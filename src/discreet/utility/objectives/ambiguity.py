"""The ambiguity metric: how many different records a released one may have been."""

from __future__ import annotations

from collections.abc import Sequence
from copy import copy
from dataclasses import dataclass

import numpy as np

from discreet.types import FloatArray, IntArray
from discreet.utility.objectives.class_sizes import ClassSums
from discreet.utility.objectives.objective import Grouping, Pricing, Setting


@dataclass(frozen=True)
class Ambiguity:
    """The mean over records of the number of leaf combinations that each may stand for.

    AM = 1/|T| × sum over records of the product over attributes of the leaves under the cell; a suppressed
    record may be any combination and costs w × the product of all domain sizes.
    Nergiz and Clifton, "Thoughts on k-anonymization", DKE 2007. Monotone, as every factor is; not additive.
    """

    name = "ambiguity"
    monotone = True
    additive = False

    def bind(self, setting: Setting) -> Pricing:
        return _Ambiguity(setting)


class _Ambiguity(ClassSums):
    """Before grouping, Jensen's inequality: mean of products >= exp(mean of the sum of their logarithms)."""

    def __init__(self, setting: Setting) -> None:
        everything = float(np.prod([float(ladder.leaves) for ladder in setting.ladders]))
        super().__init__(setting, 1.0, everything * max(setting.suppression, 1.0))
        self._everything = everything / setting.total
        self._leaves = setting.table(
            lambda j, level: np.rint(setting.ladders[j].steps[level].shares * setting.ladders[j].leaves)
        )
        self.levels = tuple(
            np.log(part) @ n / setting.total
            for part, n in zip(self._leaves.parts, setting.value_records, strict=True)
        )

    def below(self, combined: FloatArray) -> FloatArray:
        return np.asarray(self.setting.discount * np.exp(combined))

    def along(self, cuts: Sequence[IntArray]) -> Pricing:
        other = copy(self)
        other._leaves = self._leaves.along(cuts)
        return other

    def released(self, grouping: Grouping) -> FloatArray:
        product = grouping.sizes / self.setting.total
        starts = self._leaves.starts(grouping.levels)
        for column, start in zip(self.setting.base, starts, strict=True):
            product = product * self._leaves.flat[start + column[grouping.first]]
        return np.asarray(product)

    def suppressed(self, grouping: Grouping) -> FloatArray:
        return np.asarray(grouping.sizes * self._everything)
