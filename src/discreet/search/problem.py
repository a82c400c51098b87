"""A search problem: classes, how each attribute may be generalised, what is required and what change costs."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from discreet.classes import EquivalenceClasses
from discreet.errors import InvalidParameter, UnknownColumn
from discreet.privacy import KAnonymity, PrivacyModel
from discreet.privacy.base import WithClassSize, counted_in
from discreet.search.lattice.space import Grouper, NodeGroups
from discreet.table.domain import Domain
from discreet.table.hierarchies.hierarchy import Ladder
from discreet.types import BoolArray, FloatArray, Int32Array, IntArray
from discreet.utility.objectives.objective import Objective, Pricing, Setting
from discreet.utility.objectives.registry import LOSS

__all__ = ["Evaluation", "Grouper", "Node", "Problem", "attribute_weights", "make_problem"]

Node = tuple[int, ...]
"""One level per attribute."""


@dataclass(frozen=True)
class Evaluation:
    """What a node gives: its cost, and what has to be suppressed for the requirements to hold.

    Records are what is suppressed and paid for, also where requirements count persons. Every finer node
    costs at least its own ``Problem.below`` + ``floor``, costs at least ``least`` and suppresses at least
    ``floor_suppressed`` records; that comes from the requirements that a class meets once a part of it does.
    """

    node: Node
    generalisation: float
    suppression: float
    suppressed: int
    groups: int
    floor: float
    floor_suppressed: int
    least: float
    scale: float = field(repr=False)

    @property
    def cost(self) -> float:
        return self.generalisation + self.suppression

    def rank(self) -> tuple[float, int, Node]:
        """Order of preference: cost (up to rounding), then suppressed records, then the finest levels first."""
        return (round(self.cost / self.scale, 12), self.suppressed, self.node)


@dataclass(frozen=True)
class Problem:
    """Everything a search needs to price a node of the generalisation lattice, as arrays.

    ``suppression_limit`` is the share of records that may be suppressed; ``suppression_weight`` how much
    suppression weighs against generalisation: cost = cost of what is released + weight × cost of what is
    suppressed.
    """

    classes: EquivalenceClasses
    ladders: tuple[Ladder, ...]
    models: tuple[PrivacyModel, ...]
    suppression_limit: float = 1.0
    objective: Objective = LOSS
    weights: Mapping[str, float] | None = None
    suppression_weight: float = 1.0

    @cached_property
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
    def _offsets(self) -> IntArray:
        """Where each attribute's levels start among the rows of ``codes``."""
        return np.cumsum([0, *(height + 1 for height in self.heights[:-1])]).astype(np.int64)

    def rows(self, node: Node) -> IntArray:
        """The rows of ``codes`` that a node picks."""
        return self._offsets + np.array(node, dtype=np.int64)

    @cached_property
    def codes(self) -> Int32Array:
        """Code of every class under every attribute at every level."""
        return np.stack(
            [
                step.codes[column]
                for ladder, column in zip(self.ladders, self.classes.codes, strict=True)
                for step in ladder.steps
            ]
        ).astype(np.int32)

    # ── what it costs ─────────────────────────────────────────────────────────────────────────────

    @cached_property
    def pricing(self) -> Pricing:
        """The objective, bound to this table."""
        given = np.array([(self.weights or {}).get(ladder.name, 1.0) for ladder in self.ladders])
        sizes = [model.k for model in self.models if isinstance(model, KAnonymity | WithClassSize)]
        return self.objective.bind(
            Setting(
                self.classes,
                self.ladders,
                shares=given / given.sum(),
                suppression=self.suppression_weight,
                k=max(sizes, default=1),
                # Persons are at most as many as records, so k of either are at least k records.
                least=max(sizes, default=1),
            )
        )

    def below(self, node: Node) -> float:
        """A bound on the cost of a node that takes no grouping."""
        return float(self.least_between(node, node))

    def least_between(self, low: Node, high: Node) -> float:
        """A bound on the cost of every node between two."""
        pricing = self.pricing
        ends = [levels[a : b + 1].min() for levels, a, b in zip(pricing.levels, low, high, strict=True)]
        return float(pricing.below(pricing.combine.reduce(np.array(ends))))

    @property
    def tolerance(self) -> float:
        """How far apart two costs may be and still count as equal."""
        return 1e-11 * self.pricing.worst

    # ── what is required ──────────────────────────────────────────────────────────────────────────

    @cached_property
    def _absorbing(self) -> tuple[PrivacyModel, ...]:
        return tuple(model for model in self.models if model.absorbing and not model.needs_attributes)

    @cached_property
    def _others(self) -> tuple[PrivacyModel, ...]:
        return tuple(model for model in self.models if model not in self._absorbing)

    @cached_property
    def _sizes_only(self) -> tuple[int, ...] | None:
        """The k of every absorbing requirement, if all of them only ask for so many records."""
        plain = [
            model.k
            for model in self._absorbing
            if isinstance(model, KAnonymity) and counted_in(model.unit, self.classes) == "records"
        ]
        return tuple(plain) if len(plain) == len(self._absorbing) else None

    def _certain(self, grouped: NodeGroups) -> BoolArray:
        """Which groups meet the absorbing requirements."""
        if self._sizes_only is not None:
            return np.asarray(grouped.sizes >= max(self._sizes_only, default=0))
        holds = [model.holds(grouped.merged) for model in self._absorbing]
        return np.asarray(np.logical_and.reduce(holds))

    def kept(self, grouped: NodeGroups, certain: BoolArray | None = None) -> BoolArray:
        """Which groups are released: those that meet all requirements.

        A requirement on groups of classes (those that agree on ``given``) is about what is released, so it
        is asked again of the remaining classes until all of them meet it.
        """
        kept = (self._certain(grouped) if certain is None else certain).copy()
        wide = [model for model in self._others if model.needs_attributes]
        for model in self._others:
            if not model.needs_attributes:
                kept &= model.holds(grouped.merged)
        if not wide or not kept.any():
            return kept
        coarse, order = self._with_attributes(grouped)
        left = kept[order]
        while left.any():
            remaining = coarse.subset(np.flatnonzero(left))
            holds = np.logical_and.reduce([model.holds(remaining) for model in wide])
            left[np.flatnonzero(left)[~holds]] = False
            if holds.all():
                break
        kept[order] = left
        return kept

    def _with_attributes(self, grouped: NodeGroups) -> tuple[EquivalenceClasses, NDArray[np.intp]]:
        """The groups as classes with their quasi-identifier values, and the group of each class."""
        rows = self.rows(grouped.node)
        domains = [
            Domain(ladder.name, pa.array(ladder.steps[level].labels, pa.string()))
            for ladder, level in zip(self.ladders, grouped.node, strict=True)
        ]
        coarse = self.classes.recoded(domains, [self.codes[row] for row in rows])
        # Classes are ordered by their codes, first attribute first.
        return coarse, np.lexsort(tuple(self.codes[row][grouped.first] for row in reversed(rows)))

    # ── one node ──────────────────────────────────────────────────────────────────────────────────

    def evaluate(self, node: Node, grouper: Grouper) -> Evaluation:
        """Group the classes under a node and price what the requirements make of it."""
        return self.price(grouper.at(node))

    def price(self, grouped: NodeGroups) -> Evaluation:
        """Price what the requirements make of the groups under a node."""
        certain = self._certain(grouped)
        floor_suppressed = int(grouped.sizes[~certain].sum())
        # Where the limit is passed already, the other requirements cannot change that.
        ask = bool(self._others) and floor_suppressed <= self.allowed
        kept = self.kept(grouped, certain) if ask else certain
        price = self.pricing.price(grouped.grouping(), kept, certain)
        return Evaluation(
            node=grouped.node,
            generalisation=price.generalisation,
            suppression=price.suppression,
            suppressed=int(grouped.sizes[~kept].sum()) if ask else floor_suppressed,
            groups=int(kept.sum()),
            floor=price.floor,
            floor_suppressed=floor_suppressed,
            least=price.least,
            scale=self.pricing.worst,
        )

    def partition(self, node: Node) -> tuple[Int32Array, BoolArray]:
        """Group of each class under a node, and which groups meet the requirements."""
        grouped = Grouper(self).at(node)
        return grouped.owner, self.kept(grouped)

    def prepare(self) -> None:
        """Make what is made on first use, before threads share it."""
        _ = (self.codes, self.pricing, self.allowed, self.classes.records, self.classes.class_of_cell)
        self.evaluate(self.heights, Grouper(self))


def make_problem(
    classes: EquivalenceClasses,
    ladders: Sequence[Ladder],
    models: Sequence[PrivacyModel],
    *,
    suppression_limit: float = 1.0,
    objective: Objective | None = None,
    weights: Mapping[str, float] | None = None,
    suppression_weight: float = 1.0,
) -> Problem:
    """A problem with the ladders in the order of the classes' attributes.

    >>> from discreet.table.hierarchies.hierarchy import Hierarchy
    >>> classes = EquivalenceClasses.from_columns({"sex": ["f", "f", "m"]})
    >>> ladder = Hierarchy.of("sex", [["f", "*"], ["m", "*"]]).ladder(classes.attributes[0])
    >>> problem = make_problem(classes, [ladder], [KAnonymity(2)])
    >>> grouper = Grouper(problem)
    >>> [round(problem.evaluate(node, grouper).cost, 3) for node in ((0,), (1,))]
    [0.333, 1.0]
    """
    by_name = {ladder.name: ladder for ladder in ladders}
    for name in weights or {}:
        if name not in by_name:
            raise UnknownColumn(name, by_name)
    if any(not weight >= 0 for weight in (weights or {}).values()) or not suppression_weight >= 0:
        raise InvalidParameter("a weight is negative", remedy="weights are numbers of at least 0")
    if weights and not any(weights.get(name, 1.0) for name in by_name):
        raise InvalidParameter("all weights are 0", remedy="give at least one attribute a weight")
    if not 0 <= suppression_limit <= 1:
        raise InvalidParameter(
            "suppression_limit must be between 0 and 1", remedy="it is the share of records, for example 0.05"
        )
    return Problem(
        classes,
        tuple(by_name[name] for name in classes.names),
        tuple(models),
        suppression_limit,
        objective or LOSS,
        weights,
        suppression_weight,
    )


def attribute_weights(classes: EquivalenceClasses, weights: Mapping[str, float] | None) -> FloatArray:
    """One weight per attribute, 1 where none is given."""
    for name, weight in (weights or {}).items():
        if name not in classes.names:
            raise UnknownColumn(name, classes.names)
        if not 0 <= weight < np.inf:
            raise InvalidParameter(
                f"the weight of {name!r} must be a number of at least 0", remedy="give 0 or more"
            )
    return np.array([float((weights or {}).get(name, 1.0)) for name in classes.names])
