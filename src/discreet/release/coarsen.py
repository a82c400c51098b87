"""A search for tables of millions of combinations begins at coarser levels, to which the counted classes are rolled up."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from discreet.classes import EquivalenceClasses
from discreet.classes.packed import are_many, packed
from discreet.policy import Policy
from discreet.policy.hierarchies import FittedHierarchy, hierarchies
from discreet.policy.plan import Plan
from discreet.sentences import Sentence
from discreet.table import Domain
from discreet.table.hierarchies.hierarchy import Ladder, Step, leaf_loss
from discreet.transform.recipe import Recipe, written
from discreet.transform.recoding import with_null
from discreet.types import IntArray

MOST_COMBINATIONS = 300_000
"""Up to so many combinations a search begins with the values."""
COMBINATIONS = 40_000
"""Levels are raised until so many combinations are left among the classes that are looked at."""
LOOKED_AT = 200_000
"""So many classes are looked at to choose the levels."""
METHODS = ("auto", "optimal", "anytime", "subtree")
"""The methods that give each value one label, whatever else a record has: they can begin at any level."""


@dataclass(frozen=True)
class CoarserClasses:
    """Classes with the labels of some levels in place of values, and hierarchies that begin there."""

    policy: Policy
    counted: EquivalenceClasses
    fitted: tuple[FittedHierarchy, ...]
    levels: Mapping[str, int]
    labels: Mapping[str, Mapping[str, str]]
    """Per attribute the label of each value, both as a recipe writes them."""
    codes: Mapping[str, tuple[pa.Array, IntArray]]
    """Per attribute its values and the code of each one's label."""
    loss: float
    combinations: int

    @property
    def note(self) -> str:
        """What a reader must know of it."""
        raised = ", ".join(f"{name} {level}" for name, level in self.levels.items() if level)
        return Sentence(
            "of {combinations:,} combinations {coarser:,} were left to search: it began at the levels {levels} of the "
            "hierarchies, which alone lose {loss:.1%} of the detail; part of that a search from the values might keep",
            combinations=self.combinations,
            coarser=len(self.counted),
            levels=raised,
            loss=self.loss,
        )

    def plan(self, plan: Plan) -> Plan:
        """The plan with a method that can begin at these levels."""
        if plan.method != "auto":
            return plan
        return replace(plan, method="anytime" if plan.shape == "uniform" else "subtree")

    def from_values(self, levels: Mapping[str, int] | None) -> dict[str, int] | None:
        """Levels counted from the values, not from where the search began."""
        return None if levels is None else {name: level + self.levels[name] for name, level in levels.items()}

    def recipe(self, recipe: Recipe) -> Recipe:
        """A recipe that begins with the values, not with the labels of this table."""
        values = dict(recipe.values)
        for name in values.keys() & self.labels.keys():
            new, labels = recipe.values[name], self.labels[name]
            begun = set(labels.values())
            values[name] = {
                **{value: label for value, label in new.items() if value not in begun},
                **{value: new[label] for value, label in labels.items()},
            }
        return replace(recipe, values=values, levels=self.from_values(recipe.levels))


def needs_coarsening(classes: EquivalenceClasses, plan: Plan) -> bool:
    """Whether a plan's search must begin at coarser levels, and can."""
    named = (
        plan.keep,
        plan.least_levels,
        plan.most_levels,
        plan.suppress_values,
        plan.suppress_rare,
        plan.suppress_attributes,
    )
    many = are_many(classes) and len(classes) > MOST_COMBINATIONS
    return many and plan.method in METHODS and not any(named)


def coarsened(policy: Policy, counted: EquivalenceClasses, weights: Mapping[str, float]) -> CoarserClasses:
    """The classes at the levels that leave few enough combinations and lose little.

    Levels are raised one after another: always that which lowers the logarithm of the number of combinations most for
    what it loses.
    """
    fitted = hierarchies(policy, counted)
    levels, loss = starting_levels(counted, [hierarchy.ladder for hierarchy in fitted], weights)
    raised = {
        hierarchy.ladder.name: (hierarchy.ladder, level)
        for hierarchy, level in zip(fitted, levels, strict=True)
        if level
    }
    shown = {name: _labels(ladder, level) for name, (ladder, level) in raised.items()}
    domains = {name: _domain(name, labels) for name, labels in shown.items()}
    codes = {name: _codes(labels, domains[name]) for name, labels in shown.items()}
    rolled_up = counted.roll_up({name: (codes[name], domains[name]) for name in raised})
    unnamed = replace(
        policy,
        columns=tuple(
            replace(column, type=None, hierarchy=None) if column.name in raised else column
            for column in policy.columns
        ),
    )
    cut = tuple(
        _cut(hierarchy, level, domain) if level else hierarchy
        for hierarchy, level, domain in zip(fitted, levels, rolled_up.attributes, strict=True)
    )
    return CoarserClasses(
        unnamed,
        rolled_up,
        cut,
        dict(zip(counted.names, levels, strict=True)),
        {
            name: dict(zip(_written(with_null(raised[name][0].domain)), _written(new), strict=True))
            for name, new in shown.items()
        },
        {
            name: (ladder.domain.values, codes[name][: len(ladder.domain.values)])
            for name, (ladder, _) in raised.items()
        },
        loss,
        len(counted),
    )


def starting_levels(
    classes: EquivalenceClasses,
    ladders: Sequence[Ladder],
    weights: Mapping[str, float],
    *,
    combinations: int = COMBINATIONS,
) -> tuple[list[int], float]:
    """The level of each attribute that leaves about so many combinations, and the leaf-share loss of all of them.

    Combinations are counted among a part of the classes, spread evenly: what is seen there is what holds most records.
    """
    at = np.linspace(0, len(classes) - 1, min(len(classes), LOOKED_AT)).astype(np.int64)
    codes = [column[at].astype(np.int64) for column in classes.codes]
    factors = np.random.default_rng(1).integers(1, 1 << 62, len(codes)) * 2 + 1
    losses = [_losses(classes, ladder, weights.get(ladder.name, 1.0)) for ladder in ladders]
    highest = [_highest(ladder) for ladder in ladders]
    levels = [0] * len(ladders)

    def key(j: int, level: int) -> IntArray:
        step = ladders[j].steps[level].codes.astype(np.int64)
        with np.errstate(over="ignore"):
            return np.asarray((step + 1)[codes[j]] * factors[j])

    parts = [key(j, 0) for j in range(len(ladders))]
    whole = np.sum(parts, axis=0)
    left = _distinct(whole)
    while left > combinations:
        best: tuple[float, int, int, IntArray] | None = None
        for j, level in enumerate(levels):
            if level == highest[j]:
                continue
            part = key(j, level + 1)
            fewer = _distinct(whole - parts[j] + part)
            gain = math.log(left / fewer) / max(losses[j][level + 1] - losses[j][level], 1e-9)
            if best is None or gain > best[0]:
                best = gain, j, fewer, part
        if best is None:
            break
        _, j, left, part = best
        whole = whole - parts[j] + part
        parts[j] = part
        levels[j] += 1
    total = sum(weights.get(ladder.name, 1.0) for ladder in ladders)
    return levels, float(sum(losses[j][level] for j, level in enumerate(levels)) / max(total, 1e-9))


def _distinct(keys: IntArray) -> int:
    ordered = np.sort(keys)
    return int(np.count_nonzero(ordered[1:] != ordered[:-1])) + 1


def _losses(classes: EquivalenceClasses, ladder: Ladder, weight: float) -> list[float]:
    """What each level of an attribute loses on average, weighted."""
    records = packed(classes).table([ladder.name])[0]
    return [
        weight * float(np.average(leaf_loss(step.shares, ladder.leaves), weights=records))
        for step in ladder.steps
    ]


def _highest(ladder: Ladder) -> int:
    """The highest level to begin at: labels must say which node they are, and a null is one below the root only."""
    highest = ladder.height - 1
    while highest > 0 and len(set(ladder.steps[highest].labels)) < len(ladder.steps[highest].labels):
        highest -= 1
    return max(highest, 0)


def _labels(ladder: Ladder, level: int) -> pa.Array:
    """The label of each value at a level; a null stays one."""
    return pa.array(ladder.values(level), pa.string()).take(pa.array(ladder.steps[level].codes))


def _domain(name: str, labels: pa.Array) -> Domain:
    """The labels of a level as the values of a column."""
    distinct = labels.drop_null().unique()
    return Domain(name, distinct.take(pc.sort_indices(distinct)), has_null=labels.null_count > 0)


def _codes(labels: pa.Array, domain: Domain) -> IntArray:
    """The code of each value's label."""
    codes = pc.index_in(labels, value_set=domain.values).fill_null(len(domain.values))
    return np.asarray(codes.to_numpy(zero_copy_only=False), dtype=np.int64)


def _cut(hierarchy: FittedHierarchy, level: int, domain: Domain) -> FittedHierarchy:
    """The same hierarchy from a level on, for a column that has the labels of that level for values."""
    ladder = hierarchy.ladder
    first = {label: code for code, label in reversed(list(enumerate(_labels(ladder, level).to_pylist())))}
    at = np.array([first[label] for label in with_null(domain).to_pylist()])
    steps = []
    for step in ladder.steps[level:]:
        used, compact = np.unique(step.codes[at], return_inverse=True)
        steps.append(
            Step(compact.astype(np.int32), tuple(step.labels[node] for node in used), step.shares[at])
        )
    cut = Ladder(domain, ladder.leaves, tuple(steps), None, None, ladder.assumed)
    return replace(hierarchy, ladder=cut)


def _written(values: pa.Array) -> list[str]:
    """Values as a recipe writes them."""
    return [written(value) for value in values.to_pylist()]
