"""Objectives on the sizes of classes: discernibility and average class size."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from discreet.errors import InvalidParameter
from discreet.sentences import Sentence
from discreet.types import BoolArray, FloatArray, IntArray
from discreet.utility.objectives.objective import (
    Grouping,
    Price,
    Pricing,
    Setting,
    no_levels,
)


def discernibility(sizes: IntArray, suppressed: int, total: int) -> int:
    """Every released record costs the size of its class, every suppressed one the size of the table.

    DM = sum over classes of |E|² + suppressed × |T|.
    Bayardo and Agrawal, "Data privacy through optimal k-anonymization", ICDE 2005.

    >>> discernibility(np.array([5, 3]), suppressed=2, total=10)
    54
    """
    return int((sizes * sizes).sum()) + suppressed * total


def average_class_size(sizes: IntArray) -> float:
    """The mean size of the released classes, in whatever ``sizes`` count.

    LeFevre, DeWitt and Ramakrishnan, "Mondrian multidimensional k-anonymity", ICDE 2006.

    >>> average_class_size(np.array([4, 2]))
    3.0
    """
    return float(sizes.mean())


class ClassSums(ABC):
    """Pricing of objectives that are sums over classes: g(E) if released, w × s(E) if suppressed.

    Required of them: merging classes never lowers g, g(E ∪ F) >= g(E) + g(F); s adds up; and g <= s.
    Then the sum G of g over all classes only grows upwards, and for a node n and a coarser one a, whose
    absorbing requirements suppress the classes A, with w >= 1:

    cost(n) >= G(n) - sum of g over the parts of A at n + w s(A) >= G(n) + sum over A of (w s - g).

    With w < 1, cost(n) >= w × the cost with weight 1. So the floor is min(w, 1) × sum over A of
    (max(w, 1) s - g), on top of any bound on min(w, 1) × G(n).
    """

    combine = np.add

    def __init__(self, setting: Setting, lowest: float, worst: float) -> None:
        self.setting = setting
        self._lowest = lowest
        self.worst = max(worst, 1.0)
        self.levels = no_levels(setting)

    def below(self, combined: FloatArray) -> FloatArray:
        return np.asarray(combined + self.setting.discount * self._lowest)

    def along(self, cuts: Sequence[IntArray]) -> Pricing:
        return self

    @abstractmethod
    def released(self, grouping: Grouping) -> FloatArray:
        """g of every class."""

    @abstractmethod
    def suppressed(self, grouping: Grouping) -> FloatArray:
        """s of every class."""

    def price(self, grouping: Grouping, kept: BoolArray, certain: BoolArray) -> Price:
        weight = self.setting.suppression
        g, s = self.released(grouping), self.suppressed(grouping)
        floor = (max(weight, 1.0) * s[~certain] - g[~certain]).sum()
        return Price(
            generalisation=float(g.sum()),
            suppression=float((weight * s[~kept] - g[~kept]).sum()),
            floor=float(self.setting.discount * floor),
        )


@dataclass(frozen=True)
class Discernibility:
    """Every record costs the size of its class, every suppressed one w × the size of the table.

    Bayardo and Agrawal, "Data privacy through optimal k-anonymization", ICDE 2005. Monotone, as
    (a + b)² >= a² + b²; not additive.
    """

    name = "discernibility"
    monotone = True
    additive = False

    def bind(self, setting: Setting) -> Pricing:
        return _Discernibility(setting)


class _Discernibility(ClassSums):
    def __init__(self, setting: Setting) -> None:
        squares = (setting.classes.records.astype(np.float64) ** 2).sum()
        super().__init__(setting, float(squares), setting.total**2 * max(setting.suppression, 1.0))

    def released(self, grouping: Grouping) -> FloatArray:
        return grouping.sizes.astype(np.float64) ** 2

    def suppressed(self, grouping: Grouping) -> FloatArray:
        return np.asarray(grouping.sizes * float(self.setting.total))


@dataclass(frozen=True)
class AverageClassSize:
    """Normalised average class size: C_AVG = records / (classes × k); 1 is the best that k allows.

    All suppressed records together count as one class, and each as w records:
    (released + w × suppressed) / (classes × k). ``k`` is the one that is required, unless given.
    LeFevre, DeWitt and Ramakrishnan, "Mondrian multidimensional k-anonymity", ICDE 2006. Monotone, as
    merging lowers the number of classes; not additive.
    """

    k: int | None = None

    name = "average-class-size"
    monotone = True
    additive = False

    def __post_init__(self) -> None:
        if self.k is not None and self.k < 1:
            raise InvalidParameter(
                Sentence("k must be at least 1, not {k}", k=repr(self.k)), remedy="for example k = 5"
            )

    def bind(self, setting: Setting) -> Pricing:
        return _AverageClassSize(setting, self.k or setting.k)


class _AverageClassSize:
    """Bounds: a finer node suppresses at least the R records that are certain, so it has at most
    (|T| - R) / least size classes besides that of the suppressed; and never more than the table itself."""

    combine = np.add

    def __init__(self, setting: Setting, k: int) -> None:
        self.setting = setting
        self._k = k
        self.levels = no_levels(setting)
        self.worst = setting.total * max(setting.suppression, 1.0) / k

    def below(self, combined: FloatArray) -> FloatArray:
        fewest = self.setting.discount * self.setting.total / (self._k * len(self.setting.classes))
        return np.asarray(combined + fewest)

    def along(self, cuts: Sequence[IntArray]) -> Pricing:
        return self

    def price(self, grouping: Grouping, kept: BoolArray, certain: BoolArray) -> Price:
        total, weight = self.setting.total, self.setting.suppression
        suppressed = int(grouping.sizes[~kept].sum())
        classes = int(kept.sum()) + (suppressed > 0)
        without = total / (self._k * len(kept))
        cost = (total + (weight - 1.0) * suppressed) / (self._k * classes)
        sure = int(grouping.sizes[~certain].sum())
        most = (total - sure) // self.setting.least + 1
        lightest = self.setting.discount * total + max(weight - 1.0, 0.0) * sure
        return Price(without, cost - without, 0.0, lightest / (self._k * most))
