"""A search problem: classes, how each attribute may be generalised, what is required and what change costs."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from discreet.classes import EquivalenceClasses
from discreet.classes.merged import MergedClasses
from discreet.privacy import PrivacyModel
from discreet.search.kernels import group, price_of_suppression
from discreet.table.hierarchy import Ladder
from discreet.utility.cells import LEAF_SHARE, CellCost

Node = tuple[int, ...]
"""One level per attribute."""


@dataclass(frozen=True)
class Evaluation:
    """What a node gives: its cost, and what has to be suppressed for the requirements to hold.

    ``floor`` is the part of the price of suppression that every finer node pays as well; it comes from the
    requirements that a class meets once any part of it does.
    """

    node: Node
    generalisation: float
    suppression: float
    suppressed: int
    groups: int
    floor: float
    floor_suppressed: int

    @property
    def cost(self) -> float:
        return self.generalisation + self.suppression

    def rank(self) -> tuple[float, int, Node]:
        """Order of preference: cost, then suppressed records, then the finest levels first."""
        return (round(self.cost, 12), self.suppressed, self.node)


@dataclass(frozen=True)
class Problem:
    """Everything a search needs to price a node of the generalisation lattice, as arrays."""

    classes: EquivalenceClasses
    ladders: tuple[Ladder, ...]
    models: tuple[PrivacyModel, ...]
    suppression_limit: float = 1.0
    cost: CellCost = LEAF_SHARE
    weights: Mapping[str, float] | None = None

    @property
    def heights(self) -> tuple[int, ...]:
        return tuple(ladder.height for ladder in self.ladders)

    @property
    def nodes(self) -> int:
        """How many nodes the lattice has."""
        return int(np.prod([height + 1 for height in self.heights], dtype=object))

    @cached_property
    def allowed(self) -> int:
        """How many records may be suppressed at most."""
        return int(np.floor(self.suppression_limit * self.classes.total + 1e-9))

    @cached_property
    def offsets(self) -> NDArray[np.int64]:
        """Where each attribute's levels start among the rows of ``codes`` and ``costs``."""
        return np.cumsum([0, *(height + 1 for height in self.heights[:-1])]).astype(np.int64)

    def rows(self, node: Node) -> NDArray[np.int64]:
        """The rows of ``codes`` and ``costs`` that a node picks."""
        return self.offsets + np.array(node, dtype=np.int64)

    @cached_property
    def codes(self) -> NDArray[np.int32]:
        """Code of every class under every attribute at every level."""
        return np.stack(
            [
                step.codes[column]
                for ladder, column in zip(self.ladders, self.classes.codes, strict=True)
                for step in ladder.steps
            ]
        ).astype(np.int32)

    @cached_property
    def _shares(self) -> NDArray[np.float64]:
        """Weight of each attribute; they sum to one."""
        given = [(self.weights or {}).get(ladder.name, 1.0) for ladder in self.ladders]
        return np.array(given) / sum(given)

    def _totals(self, ladder: Ladder, column: NDArray[np.unsignedinteger]) -> NDArray[np.float64]:
        """Records per value of an attribute."""
        found = np.bincount(column, weights=self.classes.records, minlength=ladder.domain.size)
        return found.astype(np.float64)

    @cached_property
    def costs(self) -> NDArray[np.float64]:
        """Cost of one record of every class under every attribute at every level, as part of the total."""
        found = []
        for weight, ladder, column in zip(self._shares, self.ladders, self.classes.codes, strict=True):
            totals = self._totals(ladder, column)
            for level in range(ladder.height + 1):
                per_code = self.cost.generalised(ladder, level, totals)
                found.append(per_code[column] * weight / self.classes.total)
        return np.stack(found)

    @cached_property
    def suppressed_cost(self) -> NDArray[np.float64]:
        """Cost of one suppressed record of every class."""
        found = np.zeros(len(self.classes))
        for weight, ladder, column in zip(self._shares, self.ladders, self.classes.codes, strict=True):
            totals = self._totals(ladder, column)
            found += self.cost.suppressed(ladder, totals)[column] * weight / self.classes.total
        return found

    @cached_property
    def level_costs(self) -> list[NDArray[np.float64]]:
        """Per attribute, what generalising all records to each level costs: they add up to a node's cost."""
        total = self.costs @ self.classes.records
        return [total[o : o + h + 1] for o, h in zip(self.offsets, self.heights, strict=True)]

    def generalisation(self, node: Node) -> float:
        """The cost of a node if nothing had to be suppressed: never less than that of a finer node."""
        return float(sum(costs[level] for costs, level in zip(self.level_costs, node, strict=True)))

    @cached_property
    def _absorbing(self) -> tuple[PrivacyModel, ...]:
        return tuple(model for model in self.models if model.absorbing)

    @cached_property
    def _others(self) -> tuple[PrivacyModel, ...]:
        return tuple(model for model in self.models if not model.absorbing)

    def evaluate(self, node: Node, scratch: Scratch) -> Evaluation:
        """Group the classes under a node and price what the requirements make of it."""
        rows = self.rows(node)
        groups = scratch.group(self, rows)
        owner = scratch.owner
        kept = np.ones(groups, dtype=bool)
        floor, floor_suppressed = 0.0, 0
        merged = None
        if self.models:
            merged = MergedClasses.of(self.classes, owner, groups)
        for models, absorbing in ((self._absorbing, True), (self._others, False)):
            for model in models:
                assert merged is not None
                kept &= model.holds(merged)
            if absorbing:
                floor, floor_suppressed = price_of_suppression(
                    self.costs, rows, self.suppressed_cost, owner, kept, self.classes.records
                )
                if floor_suppressed > self.allowed or not self._others:
                    # Already too much, or nothing further to ask: this is the node's price.
                    break
        suppression, suppressed = (
            (floor, floor_suppressed)
            if not self._others or floor_suppressed > self.allowed
            else price_of_suppression(
                self.costs, rows, self.suppressed_cost, owner, kept, self.classes.records
            )
        )
        return Evaluation(
            node=node,
            generalisation=self.generalisation(node),
            suppression=float(suppression),
            suppressed=int(suppressed),
            groups=int(kept.sum()),
            floor=float(floor),
            floor_suppressed=int(floor_suppressed),
        )

    def partition(self, node: Node) -> tuple[NDArray[np.int32], NDArray[np.bool_]]:
        """Group of each class under a node, and which groups meet the requirements."""
        scratch = Scratch(self)
        groups = scratch.group(self, self.rows(node))
        merged = MergedClasses.of(self.classes, scratch.owner, groups)
        kept = np.ones(groups, dtype=bool)
        for model in self.models:
            kept &= model.holds(merged)
        return scratch.owner.copy(), kept


class Scratch:
    """Buffers for grouping, one per thread."""

    def __init__(self, problem: Problem) -> None:
        size = len(problem.classes)
        self.slots = np.empty(1 << max(4, (2 * size - 1).bit_length()), dtype=np.int32)
        self.first = np.empty(size, dtype=np.int32)
        self.owner = np.empty(size, dtype=np.int32)
        self.sizes = np.empty(size, dtype=np.int64)

    def group(self, problem: Problem, rows: NDArray[np.int64]) -> int:
        """Fill ``owner`` and ``sizes`` for the chosen levels; returns the number of groups."""
        return int(
            group(
                problem.codes, rows, problem.classes.records, self.slots, self.first, self.owner, self.sizes
            )
        )


def make_problem(
    classes: EquivalenceClasses,
    ladders: Sequence[Ladder],
    models: Sequence[PrivacyModel],
    *,
    suppression_limit: float = 1.0,
    cost: CellCost | None = None,
    weights: Mapping[str, float] | None = None,
) -> Problem:
    """A problem with the ladders in the order of the classes' attributes."""
    by_name = {ladder.name: ladder for ladder in ladders}
    return Problem(
        classes,
        tuple(by_name[name] for name in classes.names),
        tuple(models),
        suppression_limit,
        cost or LEAF_SHARE,
        weights,
    )
