"""The divergence between the distribution of a table and what its release says about it."""

from __future__ import annotations

from collections.abc import Sequence
from copy import copy
from dataclasses import dataclass

import numpy as np

from discreet.types import BoolArray, FloatArray, IntArray
from discreet.utility.objectives.objective import Grouping, Price, Pricing, Setting


@dataclass(frozen=True)
class Divergence:
    """Kullback-Leibler divergence, in bits, of the table from its release read as uniform inside each class.

    KL = sum over combinations x of p(x) log2(p(x) / q(x)), p(x) = n(x) / |T|, q(x) = |E| / |T| / V(E) with E
    the class of x and V(E) the number of leaf combinations it covers. All suppressed records together are
    one class that covers everything; its part of the sum is multiplied by w. A null is a leaf of its own.
    Kifer and Gehrke, "Injecting utility into anonymized datasets", SIGMOD 2006. Monotone by the log-sum
    inequality; not additive.
    """

    name = "kl-divergence"
    monotone = True
    additive = False

    def bind(self, setting: Setting) -> Pricing:
        return _Divergence(setting)


class _Divergence:
    """In bits × |T|, a class costs A(E) + |E| log V(E) - |E| log |E|, where A sums n(x) log n(x).

    Every class costs at least 0 (Gibbs), so min(w, 1) × the cost with weight 1 is a bound. For that one,
    let n be finer than a node a, whose absorbing requirements suppress the records R:

    * suppression never saves (log-sum inequality: the suppressed classes are disjoint parts of
      everything), and no class of n is larger than the class of a around it, so
      cost(n) >= A + sum of |E| log V(E) over n - sum of |E| log |E| over a;
    * the records R pay log V(everything), which is more than at n by at least the difference at a, and the
      sizes take away |T| log |T| at most.

    The sum of |E| log V(E) adds up over attributes and is known before grouping.
    """

    combine = np.add

    def __init__(self, setting: Setting) -> None:
        self.setting = setting
        self._leaves = setting.table(lambda j, level: np.log2(self._counts(j, level)))
        everything = [float(ladder.leaves + ladder.domain.has_null) for ladder in setting.ladders]
        self._everything = float(np.log2(everything).sum())
        self.levels = tuple(
            part @ n / setting.total
            for part, n in zip(self._leaves.parts, setting.value_records, strict=True)
        )
        self._inside = setting.classes.records * np.log2(setting.classes.records)
        self._most = float(np.log2(setting.total))
        self.worst = max(self._everything * max(setting.suppression, 1.0), 1.0)

    def _counts(self, attribute: int, level: int) -> FloatArray:
        """Leaves under the node of every value; the root also covers the null, if there is one."""
        ladder = self.setting.ladders[attribute]
        counts = np.rint(ladder.steps[level].shares * ladder.leaves)
        return counts + (ladder.domain.has_null and level == ladder.height)

    def below(self, combined: FloatArray) -> FloatArray:
        constant = self._inside.sum() / self.setting.total - self._most
        return np.asarray(self.setting.discount * (combined + constant))

    def along(self, cuts: Sequence[IntArray]) -> Pricing:
        other = copy(self)
        other._leaves = self._leaves.along(cuts)
        return other

    def price(self, grouping: Grouping, kept: BoolArray, certain: BoolArray) -> Price:
        total, sizes = self.setting.total, grouping.sizes
        volume = np.zeros(len(sizes))
        for column, start in zip(self.setting.base, self._leaves.starts(grouping.levels), strict=True):
            volume += self._leaves.flat[start + column[grouping.first]]
        inside = np.bincount(grouping.owner, weights=self._inside, minlength=len(sizes))
        spread = sizes * np.log2(sizes)
        cost = inside + sizes * volume - spread
        gone = int(sizes[~kept].sum())
        suppressed = 0.0
        if gone:
            suppressed = float(inside[~kept].sum() + gone * (self._everything - np.log2(gone)))
        by_size = self._most - float(spread.sum()) / total
        by_cells = float((sizes[~certain] * (self._everything - volume[~certain])).sum()) / total
        return Price(
            generalisation=float(cost.sum()) / total,
            suppression=(self.setting.suppression * suppressed - float(cost[~kept].sum())) / total,
            floor=self.setting.discount * max(by_size, by_cells),
        )
