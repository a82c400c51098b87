"""The best generalisation by brute force from rows, with none of the code under test but the privacy models."""

from __future__ import annotations

import dataclasses
import math
from collections import Counter, defaultdict
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import combinations, product

import numpy as np
from hypothesis import strategies as st

from discreet.classes import EquivalenceClasses
from discreet.classes.population import Population
from discreet.privacy import PrivacyModel
from discreet.search.problem import Problem, make_problem
from discreet.table.hierarchies.hierarchy import Hierarchy, Ladder
from discreet.utility.objectives.registry import build_objective

ROOT = "*"
Row = dict[str, object]
Tree = list[list[str]]
"""Rows of a hierarchy: a leaf and its ancestors."""


@dataclass(frozen=True)
class Example:
    """A small table with hierarchies for its quasi-identifiers."""

    rows: list[Row]
    trees: dict[str, Tree]
    events: bool
    weights: dict[str, float]
    suppression_limit: float
    suppression_weight: float
    population: list[Row]
    """People of whom the table may be a part."""

    @property
    def names(self) -> list[str]:
        return list(self.trees)

    def classes(self) -> EquivalenceClasses:
        people = EquivalenceClasses.from_columns(
            {name: [row[name] for row in self.population] for name in self.names}
        )
        trees = {name: Hierarchy.of(name, tree) for name, tree in self.trees.items()}
        return dataclasses.replace(
            counted(self.rows, self.names, self.events), outside=Population(people, trees)
        )

    def ladders(self, classes: EquivalenceClasses) -> list[Ladder]:
        return [
            Hierarchy.of(name, self.trees[name]).ladder(domain)
            for name, domain in zip(self.names, classes.attributes, strict=True)
        ]

    def problem(self, models: list[PrivacyModel], objective: str) -> Problem:
        classes = self.classes()
        return make_problem(
            classes,
            self.ladders(classes),
            models,
            suppression_limit=self.suppression_limit,
            objective=build_objective(objective, {"label": "dx"} if objective == "classification" else None),
            weights=self.weights,
            suppression_weight=self.suppression_weight,
        )

    def nodes(self) -> list[tuple[int, ...]]:
        return list(product(*(range(len(tree[0])) for tree in self.trees.values())))


def counted(rows: Sequence[Row], names: list[str], events: bool) -> EquivalenceClasses:
    return EquivalenceClasses.from_columns(
        {name: [row[name] for row in rows] for name in names},
        sensitive={name: [row[name] for row in rows] for name in ("dx", "pay")},
        person=[row["person"] for row in rows] if events else None,
        guards={"wish": [row["wish"] for row in rows]},
    )


@dataclass(frozen=True)
class PlainPopulation:
    """The population of an example, looked through person by person."""

    example: Example

    def people(self, classes: EquivalenceClasses) -> np.ndarray:
        paths = {
            name: {**{path[0]: [*path, ROOT] for path in tree}, "None": ["null", ROOT]}
            for name, tree in self.example.trees.items()
        }
        return np.array(
            [
                sum(
                    all(label in paths[name][str(row[name])] for name, label in classes.labels(place).items())
                    for row in self.example.population
                )
                for place in range(len(classes))
            ],
            dtype=np.float64,
        )


# ── random tables and hierarchies ────────────────────────────────────────────────────────────────────


@st.composite
def trees(draw: st.DrawFn) -> Tree:
    leaves = draw(st.integers(1, 4))
    height = draw(st.integers(1, 3))
    columns = [[str(leaf) for leaf in range(leaves)]]
    above = list(range(leaves))
    for level in range(1, height):
        groups = sorted(set(above))
        parent = {group: draw(st.sampled_from(groups[: place + 1])) for place, group in enumerate(groups)}
        above = [parent[group] for group in above]
        columns.append([f"n{level}x{group}" for group in above])
    columns.append([ROOT] * leaves)
    return [list(path) for path in zip(*columns, strict=True)]


@st.composite
def examples(draw: st.DrawFn) -> Example:
    hierarchies = {name: draw(trees()) for name in ("a", "b", "c")[: draw(st.integers(1, 3))]}
    values = {name: [int(path[0]) for path in tree] for name, tree in hierarchies.items()}
    row = st.fixed_dictionaries(
        {
            **{name: st.sampled_from([*own, None]) for name, own in values.items()},
            "person": st.integers(0, 4),
            "dx": st.sampled_from(["acne", "flu", "gastritis", None]),
            "pay": st.sampled_from([0, 1, 2, 5, 10, None]),
            "wish": st.sampled_from(["flu", "lung", "any", None, None, None]),
        }
    )
    # A column of nothing but nulls has no numbers to speak of.
    first: Row = {
        **{name: own[0] for name, own in values.items()},
        "person": 0,
        "dx": "flu",
        "pay": 1,
        "wish": None,
    }
    rows = [first, *draw(st.lists(row, min_size=1, max_size=13))]
    people = draw(st.lists(row, min_size=1, max_size=25))
    return Example(
        rows,
        hierarchies,
        events=draw(st.booleans()),
        weights={name: draw(st.sampled_from([1.0, 1.0, 2.5])) for name in hierarchies},
        suppression_limit=draw(st.sampled_from([0.0, 0.4, 1.0, 1.0])),
        suppression_weight=draw(st.sampled_from([1.0, 0.0, 0.4, 3.0])),
        population=[first, *people],
    )


# ── what a node releases ─────────────────────────────────────────────────────────────────────────────


def generalised(example: Example, node: tuple[int, ...]) -> list[tuple[str, ...]]:
    """The new quasi-identifiers of every row; a null is a leaf of its own below the root."""
    paths = {name: {path[0]: path for path in tree} for name, tree in example.trees.items()}
    found = []
    for row in example.rows:
        cells = []
        for name, level in zip(example.names, node, strict=True):
            top = len(example.trees[name][0]) - 1
            if row[name] is None:
                cells.append(ROOT if level == top else "null")
            else:
                cells.append(paths[name][str(row[name])][level])
        found.append(tuple(cells))
    return found


Keys = list[tuple[str, ...]]


def holding(
    example: Example, keys: Keys, kept: Sequence[bool], models: Sequence[PrivacyModel]
) -> dict[tuple[str, ...], bool]:
    """Which classes of a release of the kept rows alone meet some requirements."""
    rows = [
        {**row, **dict(zip(example.names, key, strict=True))}
        for row, key, keep in zip(example.rows, keys, kept, strict=True)
        if keep
    ]
    classes = counted(rows, example.names, example.events)
    classes = dataclasses.replace(classes, outside=PlainPopulation(example))
    masks = [model.holds(classes) for model in models]
    return {
        tuple(classes.labels(place).values()): all(bool(mask[place]) for mask in masks)
        for place in range(len(classes))
    }


def released(example: Example, keys: Keys, models: Sequence[PrivacyModel]) -> Iterator[list[bool]]:
    """Which rows may be released: sets of classes that meet all requirements, and to which none can be added.

    Where requirements are asked of each class by itself, or until nothing changes of those that agree on some
    attributes, there is one such set; where classes are compared with the release itself, every set is tried.
    """
    relative = [model for model in models if getattr(model, "reference", "") == "release"]
    wide = [model for model in models if model.needs_attributes]
    alone = [model for model in models if model not in relative and model not in wide]
    holds = holding(example, keys, [True] * len(keys), alone)
    kept = [holds[key] for key in keys]
    if not relative:
        while wide and any(kept):
            holds = holding(example, keys, kept, wide)
            if all(holds.values()):
                break
            kept = [keep and holds[key] for keep, key in zip(kept, keys, strict=True)]
        yield kept
        return
    able = sorted({key for key in keys if holds[key]})
    complete: list[set[tuple[str, ...]]] = []
    for size in range(len(able), 0, -1):
        for shown in map(set, combinations(able, size)):
            kept = [key in shown for key in keys]
            if any(shown < larger for larger in complete):
                continue
            if all(holding(example, keys, kept, [*relative, *wide]).values()):
                complete.append(shown)
                yield kept


# ── what it costs ────────────────────────────────────────────────────────────────────────────────────


@dataclass(frozen=True)
class Release:
    """A table, its new quasi-identifiers and what is kept of it, with the numbers that losses are made of."""

    example: Example
    node: tuple[int, ...]
    keys: list[tuple[str, ...]]
    kept: list[bool]
    k: int

    @property
    def total(self) -> int:
        return len(self.keys)

    @property
    def suppressed(self) -> int:
        return self.kept.count(False)

    def groups(self) -> list[list[int]]:
        """The released classes."""
        found = defaultdict(list)
        for place, (key, keep) in enumerate(zip(self.keys, self.kept, strict=True)):
            if keep:
                found[key].append(place)
        return list(found.values())

    def domain_leaves(self, name: str) -> int:
        return len(self.example.trees[name])

    def leaves(self, place: int, j: int) -> int:
        """Leaves under the cell of a row."""
        name, level = self.example.names[j], self.node[j]
        if self.keys[place][j] == "null":
            return 1
        return sum(path[level] == self.keys[place][j] for path in self.example.trees[name])

    def column(self, j: int) -> list[object]:
        return [row[self.example.names[j]] for row in self.example.rows]

    def under(self, place: int, j: int) -> list[object]:
        """The table's values under the cell of a row."""
        return [
            value
            for value, key in zip(self.column(j), self.keys, strict=True)
            if key[j] == self.keys[place][j]
        ]


def cell_loss(at: Release, place: int, j: int) -> float:
    total = at.domain_leaves(at.example.names[j])
    return (at.leaves(place, j) / total - 1 / total) / (1 - 1 / total) if total > 1 else 0.0


def cell_ncp(at: Release, place: int, j: int) -> float:
    leaves = at.leaves(place, j)
    return leaves / at.domain_leaves(at.example.names[j]) if leaves > 1 else 0.0


def cell_precision(at: Release, place: int, j: int) -> float:
    height = len(at.example.trees[at.example.names[j]][0]) - 1
    if at.column(j)[place] is None and at.node[j] < height:
        return 0.0  # a null stays what it is below the root
    return at.node[j] / height


def cell_entropy(at: Release, place: int, j: int) -> float:
    under = at.under(place, j)
    return math.log2(len(under) / under.count(at.column(j)[place])) / math.log2(max(at.total, 2))


def suppressed_entropy(at: Release, place: int, j: int) -> float:
    return math.log2(at.total / at.column(j).count(at.column(j)[place])) / math.log2(max(at.total, 2))


def bits(values: list[object]) -> float:
    return sum(n / len(values) * math.log2(len(values) / n) for n in Counter(values).values())


def cell_interval(at: Release, place: int, j: int) -> float:
    under = at.under(place, j)
    numbers = [value for value in at.column(j) if value is not None]
    if None in under:
        return 1.0 if len(set(under)) > 1 else 0.0
    span = max(numbers) - min(numbers)  # type: ignore[type-var,operator]
    width = max(under) - min(under)  # type: ignore[type-var,operator]
    return width / span if span else 0.0


Cell = Callable[[Release, int, int], float]


def one(at: Release, place: int, j: int) -> float:
    return 1.0


CELLS: dict[str, tuple[Cell, Cell]] = {
    "loss": (cell_loss, one),
    "ncp": (cell_ncp, one),
    "precision": (cell_precision, one),
    "entropy": (cell_entropy, suppressed_entropy),
    "conditional-entropy": (
        lambda at, place, j: bits(at.under(place, j)),
        lambda at, place, j: bits(at.column(j)),
    ),
    "interval": (cell_interval, one),
}


def attribute_losses(at: Release, name: str) -> list[float]:
    cell, gone = CELLS[name]
    weight = at.example.suppression_weight
    return [
        sum(cell(at, p, j) if keep else weight * gone(at, p, j) for p, keep in enumerate(at.kept)) / at.total
        for j in range(len(at.node))
    ]


def cost(at: Release, objective: str) -> float:
    """What a release costs by the textbook."""
    weight, total = at.example.suppression_weight, at.total
    groups, gone = at.groups(), at.suppressed
    m = len(at.node)
    if objective in CELLS or objective.startswith("loss-"):
        losses = attribute_losses(at, objective.split("-g")[0].split("-m")[0])
        given = [at.example.weights[name] for name in at.example.names]
        shares = [one_ / sum(given) for one_ in given]
        if objective == "loss-geometric":
            return math.prod((1 + x) ** s for x, s in zip(losses, shares, strict=True)) - 1
        if objective == "loss-max":
            return max(x * s * m for x, s in zip(losses, shares, strict=True))
        return sum(x * s for x, s in zip(losses, shares, strict=True))
    if objective == "discernibility":
        return sum(len(group) ** 2 for group in groups) + weight * gone * total
    if objective == "average-class-size":
        return (total - gone + weight * gone) / ((len(groups) + (gone > 0)) * at.k)
    if objective == "ambiguity":
        everything = math.prod(at.domain_leaves(name) for name in at.example.names)
        return (
            sum(
                math.prod(at.leaves(place, j) for j in range(m)) if keep else weight * everything
                for place, keep in enumerate(at.kept)
            )
            / total
        )
    if objective == "classification":
        wrong = sum(
            len(group) - max(Counter(at.example.rows[place]["dx"] for place in group).values())
            for group in groups
        )
        return (wrong + weight * gone) / total
    assert objective == "kl-divergence"
    return divergence(at, groups)


def divergence(at: Release, groups: list[list[int]]) -> float:
    m, total = len(at.node), at.total
    combination = [tuple(row[name] for name in at.example.names) for row in at.example.rows]
    has_null = [any(value is None for value in at.column(j)) for j in range(m)]
    everything = math.prod(
        at.domain_leaves(name) + null for name, null in zip(at.example.names, has_null, strict=True)
    )

    def part(places: list[int], volume: float) -> float:
        q = len(places) / total / volume
        return sum(
            n / total * math.log2(n / total / q) for n in Counter(combination[p] for p in places).values()
        )

    def volume(place: int) -> float:
        return math.prod(at.leaves(place, j) + (has_null[j] and at.keys[place][j] == ROOT) for j in range(m))

    found = sum(part(group, volume(group[0])) for group in groups)
    gone = [place for place, keep in enumerate(at.kept) if not keep]
    return found + (at.example.suppression_weight * part(gone, everything) if gone else 0.0)


def best_of_all(
    example: Example, models: Sequence[PrivacyModel], objective: str, k: int
) -> dict[tuple[int, ...], tuple[float, int, int]]:
    """Cost, suppressed records and released classes of every node that shows something within the limit."""
    allowed = math.floor(example.suppression_limit * len(example.rows) + 1e-9)
    best: dict[tuple[int, ...], tuple[float, int, int]] = {}
    for node in example.nodes():
        keys = generalised(example, node)
        sets = [Release(example, node, keys, kept, k) for kept in released(example, keys, models)]
        fitting = [at for at in sets if at.suppressed <= allowed and any(at.kept)]
        priced = [(round(cost(at, objective), 10), at.suppressed, len(at.groups())) for at in fitting]
        if priced:
            best[node] = min(priced)
    return best
