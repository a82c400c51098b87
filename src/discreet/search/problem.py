"""A search problem: classes, how each attribute may be generalised, what is required and what change costs."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Literal

import numpy as np

from discreet.classes import EquivalenceClasses
from discreet.classes.population import Population
from discreet.errors import InvalidParameter, UnknownColumn
from discreet.privacy import KAnonymity, PrivacyModel
from discreet.privacy.base import WithClassSize
from discreet.search.lattice.population import LevelsOfPopulation
from discreet.search.lattice.space import Grouper, NodeGroups
from discreet.search.suppression import FEW_GROUPS, SuppressionRule, Work
from discreet.sentences import Sentence
from discreet.table.hierarchies.hierarchy import Ladder
from discreet.types import BoolArray, FloatArray, Int32Array, IntArray
from discreet.utility.objectives.objective import Objective, Pricing, Setting
from discreet.utility.objectives.registry import LOSS

__all__ = ["Choices", "Evaluation", "Grouper", "Node", "Problem", "attribute_weights", "make_problem"]

Node = tuple[int, ...]
"""One level per attribute."""


@dataclass(frozen=True)
class Evaluation:
    """What a node gives: its cost, and what has to be suppressed for the requirements to hold.

    Records are what is suppressed and paid for, also where requirements count persons. Every finer node
    costs at least its own ``Problem.below`` + ``floor``, costs at least ``least`` and suppresses at least
    ``floor_suppressed`` records; that comes from the requirements that a class meets once a part of it does.

    Where requirements compare with the release itself, which set of groups to suppress is a search of its own:
    ``bound`` is what the node costs at least whichever is chosen (infinite if none will do), ``settled`` whether
    no other choice can be better, ``tentative`` that it may only seem so cheap because groups are missing that
    could be shown too, ``choices`` how many groups there are to choose from, and ``kept`` the groups that a closer look chose, if there was one (else
    ``Problem.partition`` works them out again).
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
    bound: float = -math.inf
    settled: bool = True
    tentative: bool = False
    choices: int = 0
    kept: BoolArray | None = field(default=None, repr=False, compare=False)

    @property
    def cost(self) -> float:
        return self.generalisation + self.suppression

    def rank(self) -> tuple[float, int, Node]:
        """Order of preference: cost (up to rounding), then suppressed records, then the finest levels first."""
        return (round(self.cost / self.scale, 12), self.suppressed, self.node)


@dataclass(frozen=True)
class Choices:
    """How a method forms groups, where it can do so in several ways; the others do as they always do.

    ``mode`` is Mondrian's; ``variable_size`` and ``value`` (what stands for a group) are microaggregation's.
    """

    mode: Literal["relaxed", "strict"] = "relaxed"
    variable_size: bool = True
    value: Literal["mean", "median", "mode", "semantic"] = "mean"


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
    choices: Choices = Choices()
    least_levels: Mapping[str, int] | None = None
    most_levels: Mapping[str, int] | None = None

    @cached_property
    def heights(self) -> tuple[int, ...]:
        return tuple(ladder.height for ladder in self.ladders)

    @cached_property
    def lowest(self) -> Node:
        """The finest node that methods which choose one level for every attribute may choose."""
        least = self.least_levels or {}
        return tuple(least.get(ladder.name, 0) for ladder in self.ladders)

    @cached_property
    def highest(self) -> Node:
        """The coarsest node that they may choose."""
        most = self.most_levels or {}
        return tuple(min(ladder.height, most.get(ladder.name, ladder.height)) for ladder in self.ladders)

    @property
    def bounded(self) -> bool:
        """Whether they may not choose every node."""
        return any(self.lowest) or self.highest != self.heights

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
    def _sizes(self) -> tuple[tuple[int, ...], ...]:
        """Of each attribute, the number of codes at each level."""
        return tuple(
            tuple(int(step.codes.max(initial=0)) + 1 for step in ladder.steps) for ladder in self.ladders
        )

    def strides(self, node: Node) -> IntArray:
        """What each attribute's code at a node counts in a packed key, 0 where all have one; none if it would overflow."""
        strides, product = [], 1
        for sizes, level in zip(self._sizes, node, strict=True):
            strides.append(product if sizes[level] > 1 else 0)
            product *= sizes[level]
        return np.array(strides if product < 1 << 62 else [], dtype=np.int64)

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

    @cached_property
    def population(self) -> LevelsOfPopulation | None:
        """The people outside at every level, where requirements ask for them."""
        outside = self.classes.outside
        if not isinstance(outside, Population) or not any(model.needs_population for model in self.models):
            return None
        return LevelsOfPopulation(self, outside)

    @cached_property
    def rule(self) -> SuppressionRule:
        """What decides which groups are suppressed."""
        return SuppressionRule(self.models, self.classes.event_level)

    # ── one node ──────────────────────────────────────────────────────────────────────────────────

    def evaluate(self, node: Node, grouper: Grouper) -> Evaluation:
        """Group the classes under a node and price what the requirements make of it."""
        return self.price(grouper.at(node))

    def price(self, grouped: NodeGroups) -> Evaluation:
        """Price what the requirements make of the groups under a node."""
        rule = self.rule
        certain = rule.certain(grouped)
        # Where the limit is passed already, the other requirements cannot change that.
        if not rule.others or int(grouped.sizes[~certain].sum()) > self.allowed:
            return self._priced(grouped, certain, certain)
        possible = rule.possible(grouped, certain, self.allowed)
        kept = rule.remaining(grouped, possible)
        if not rule.relative or (kept == possible).all():
            return self._priced(grouped, kept, certain)
        least = self._least(grouped, possible, certain)
        choices = int(np.count_nonzero(possible))
        return replace(
            self._priced(grouped, kept, certain),
            bound=least,
            settled=math.isinf(least),
            tentative=not self._keeping_pays and choices <= FEW_GROUPS,
            choices=choices,
        )

    def _priced(self, grouped: NodeGroups, kept: BoolArray, certain: BoolArray) -> Evaluation:
        price = self.pricing.price(grouped.grouping(), kept, certain)
        suppressed, groups = int(grouped.sizes[~kept].sum()), int(kept.sum())
        fits = groups > 0 and suppressed <= self.allowed
        return Evaluation(
            node=grouped.node,
            generalisation=price.generalisation,
            suppression=price.suppression,
            suppressed=suppressed,
            groups=groups,
            floor=price.floor,
            floor_suppressed=int(grouped.sizes[~certain].sum()),
            least=price.least,
            scale=self.pricing.worst,
            bound=price.generalisation + price.suppression if fits else math.inf,
        )

    @property
    def _keeping_pays(self) -> bool:
        """Whether a release never gets cheaper by leaving out a group that it could show."""
        return self.objective.additive and self.objective.monotone and self.suppression_weight >= 1

    def _least(self, grouped: NodeGroups, possible: BoolArray, certain: BoolArray) -> float:
        """What a node costs at least, whichever of the possible groups are suppressed."""
        if grouped.sizes[~possible].sum() > self.allowed:
            return math.inf
        evaluation = self._priced(grouped, possible, certain)
        if self._keeping_pays:
            return evaluation.cost
        return max(self.below(grouped.node) + evaluation.floor, evaluation.least)

    def refined(self, evaluation: Evaluation, work: Work) -> Evaluation:
        """The node with the best set of suppressed groups that could be had for so much ``work``."""
        if work.done(evaluation.choices):
            return replace(evaluation, tentative=False)
        grouped = Grouper(self).at(evaluation.node)
        certain = self.rule.certain(grouped)
        possible = self.rule.possible(grouped, certain, self.allowed)
        sets, every = self.rule.sets(grouped, possible, self.allowed, work)
        choices = [replace(self._priced(grouped, kept, certain), kept=kept) for kept in sets]
        if every and not choices:
            return replace(evaluation, bound=math.inf, settled=True)
        if every:
            return min(choices, key=Evaluation.rank)
        best = min([evaluation, *choices], key=lambda choice: (not self.fits(choice), choice.rank()))
        return replace(best, bound=evaluation.bound, settled=False, tentative=False)

    def fits(self, evaluation: Evaluation) -> bool:
        """Whether a node shows something and suppresses no more than is allowed."""
        return evaluation.groups > 0 and evaluation.suppressed <= self.allowed

    def partition(self, evaluation: Evaluation) -> tuple[Int32Array, BoolArray]:
        """Group of each class under an evaluated node, and which groups are released."""
        grouped = Grouper(self).at(evaluation.node)
        kept = evaluation.kept
        if kept is None:
            possible = self.rule.possible(grouped, self.rule.certain(grouped), self.allowed)
            kept = self.rule.remaining(grouped, possible)
        return grouped.owner, kept

    def prepare(self) -> None:
        """Make what is made on first use, before threads share it."""
        _ = (self.codes, self.pricing, self.allowed, self.classes.records, self.classes.class_of_cell)
        _ = self.population
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
    choices: Choices | None = None,
    least_levels: Mapping[str, int] | None = None,
    most_levels: Mapping[str, int] | None = None,
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
        choices or Choices(),
        least_levels,
        most_levels,
    )


def attribute_weights(classes: EquivalenceClasses, weights: Mapping[str, float] | None) -> FloatArray:
    """One weight per attribute, 1 where none is given."""
    for name, weight in (weights or {}).items():
        if name not in classes.names:
            raise UnknownColumn(name, classes.names)
        if not 0 <= weight < np.inf:
            raise InvalidParameter(
                Sentence("the weight of {name!r} must be a number of at least 0", name=name),
                remedy="give 0 or more",
            )
    return np.array([float((weights or {}).get(name, 1.0)) for name in classes.names])
