"""What a search minimises: the contract between objectives, which know losses, and problems, which know classes."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import NamedTuple, Protocol

import numpy as np

from discreet.classes import EquivalenceClasses, Histogram
from discreet.table.hierarchies.hierarchy import Ladder
from discreet.types import BoolArray, FloatArray, Int32Array, IntArray


@dataclass(frozen=True)
class Setting:
    """What an objective is bound to: the table, its hierarchies and the wishes of whoever releases it.

    ``shares`` are the weights of the attributes and sum to one. ``suppression`` is the weight w of
    suppression against generalisation: total cost = cost of what is released + w × cost of what is
    suppressed; at 1 a suppressed record costs as much as one generalised to ``*``, below 1 suppression is
    cheaper, above 1 dearer. ``k`` is the smallest class asked for, and ``least`` the fewest records that a
    class which meets the requirements can have.
    """

    classes: EquivalenceClasses = field(repr=False)
    ladders: tuple[Ladder, ...] = field(repr=False)
    shares: FloatArray
    suppression: float = 1.0
    k: int = 1
    least: int = 1

    @property
    def total(self) -> int:
        return self.classes.total

    @property
    def discount(self) -> float:
        """min(w, 1): so much of a bound without weights is left when suppression may be cheap."""
        return min(self.suppression, 1.0)

    @cached_property
    def value_records(self) -> tuple[FloatArray, ...]:
        """Per attribute, the records of each value."""
        return tuple(
            np.bincount(column, weights=self.classes.records, minlength=ladder.domain.size).astype(np.float64)
            for ladder, column in zip(self.ladders, self.classes.codes, strict=True)
        )

    @cached_property
    def base(self) -> Int32Array:
        """Value of every class under every attribute, as one array."""
        return np.stack([column.astype(np.int32) for column in self.classes.codes])

    def table(self, per_code: Callable[[int, int], FloatArray]) -> LevelTable:
        """A number for every value of every attribute at every level, from ``per_code(attribute, level)``."""
        return LevelTable(
            tuple(
                np.stack([per_code(j, level) for level in range(ladder.height + 1)])
                for j, ladder in enumerate(self.ladders)
            )
        )


@dataclass(frozen=True)
class LevelTable:
    """A number for every value of every attribute at every level, laid out in one array for kernels."""

    parts: tuple[FloatArray, ...]

    @cached_property
    def flat(self) -> FloatArray:
        return np.concatenate([part.ravel() for part in self.parts])

    @cached_property
    def _first(self) -> IntArray:
        return np.cumsum([0, *(part.size for part in self.parts[:-1])]).astype(np.int64)

    @cached_property
    def _widths(self) -> IntArray:
        return np.array([part.shape[1] for part in self.parts], dtype=np.int64)

    def starts(self, levels: IntArray) -> IntArray:
        """Where each attribute's numbers at its level begin in ``flat``."""
        return self._first + levels * self._widths

    def along(self, cuts: Sequence[IntArray]) -> LevelTable:
        """The numbers on two levels: of the values themselves, and of the nodes at which cuts put them.

        >>> LevelTable((np.array([[0.0, 0.0], [1.0, 2.0]]),)).along([np.array([0, 1])]).parts[0]
        array([[0., 0.],
               [0., 2.]])
        """
        return LevelTable(
            tuple(
                np.stack([part[0], part[cut, np.arange(len(cut))]])
                for part, cut in zip(self.parts, cuts, strict=True)
            )
        )


@dataclass(frozen=True)
class Grouping:
    """The classes of a table grouped under one node of the lattice.

    ``owner[c]`` is the group of class ``c``, ``first[g]`` one class of group ``g``, ``sizes[g]`` its
    records. ``levels`` is the node.
    """

    levels: IntArray
    owner: Int32Array = field(repr=False)
    first: Int32Array = field(repr=False)
    sizes: IntArray = field(repr=False)
    histogram: Callable[[str], Histogram] = field(repr=False)


class Price(NamedTuple):
    """What a node costs, and what that says about every finer node.

    The cost of a node is ``generalisation`` (were nothing suppressed) + ``suppression``. Every finer node
    costs at least its own ``Pricing.below`` + ``floor``, and at least ``least``.
    """

    generalisation: float
    suppression: float
    floor: float
    least: float = 0.0


class Pricing(Protocol):
    """An objective bound to a table."""

    @property
    def setting(self) -> Setting:
        """What it is bound to."""
        ...

    @property
    def worst(self) -> float:
        """About the largest cost that can occur: the scale on which costs are compared."""
        ...

    @property
    def levels(self) -> tuple[FloatArray, ...]:
        """Per attribute, one number for each level; ``below`` makes a bound of one number per attribute."""
        ...

    @property
    def combine(self) -> np.ufunc:
        """How the numbers of the attributes come together: added, or the largest of them."""
        ...

    def below(self, combined: FloatArray) -> FloatArray:
        """A cost that no node with these combined numbers falls short of, known without grouping; rising."""
        ...

    def price(self, grouping: Grouping, kept: BoolArray, certain: BoolArray) -> Price:
        """The cost of a node of which the groups ``kept`` are released.

        ``certain`` are the groups that meet every requirement of the absorbing kind: the other groups are
        suppressed at every finer node too, which is what ``floor`` and ``least`` are made of.
        """
        ...

    def along(self, cuts: Sequence[IntArray]) -> Pricing:
        """The same objective on hierarchies of two levels: the values, and the nodes at which cuts put them.

        ``cuts[j][v]`` is the level at which value ``v`` of attribute ``j`` stands. Only ``price`` speaks of
        cuts; bounds are those of the lattice.
        """
        ...


class Objective(Protocol):
    """A loss to be minimised: takes parameters when made, a table when bound.

    ``monotone``: without suppression the cost never falls when generalising further, and suppression never
    saves (cost >= min(w, 1) × the cost without suppression), so that a node bounds all coarser ones.
    ``additive``: the cost without suppression is known without grouping, from one number per attribute and
    level.
    """

    @property
    def name(self) -> str: ...

    @property
    def monotone(self) -> bool: ...

    @property
    def additive(self) -> bool: ...

    def bind(self, setting: Setting) -> Pricing:
        """The objective for one table."""
        ...


def no_levels(setting: Setting) -> tuple[FloatArray, ...]:
    """``Pricing.levels`` of an objective that says nothing about a node before it is grouped."""
    return tuple(np.zeros(ladder.height + 1) for ladder in setting.ladders)
