"""The least loss of a uniform generalisation with record suppression, by trying everything on plain rows."""

from __future__ import annotations

import random
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import combinations, product

from plain_models import beta, delta, distinct_l, k_anonymity, t_equal
from plain_tables import PlainTable, Row

Tree = list[list[str]]
"""Paths from a leaf to the root, all of one length."""


@dataclass(frozen=True)
class Nearness:
    """How near classes must be to the release, or to the original: a model, its bound, and which of both."""

    model: str
    most: float
    reference: str


@dataclass(frozen=True)
class Task:
    """A small table with a tree for every quasi-identifier, and what is required of its release."""

    table: PlainTable
    trees: dict[str, Tree]
    k: int
    distinct: int
    limit: float
    near: Nearness | None = None


@dataclass(frozen=True)
class Best:
    """The least loss there is, with the fewest suppressed records among equals."""

    loss: float
    suppressed: int


def random_task(seed: int, *, near: bool = False) -> Task:
    """A task of k and l or, if classes must be ``near``, of k and one of the models that compare distributions."""
    draw = random.Random(seed)
    rows: list[Row] = [
        {
            "city": draw.choice(["a", "b", "c", "d"]),
            "job": draw.choice(["x", "y", "z"]),
            "disease": draw.choice(["cold", "cold", "flu", "gout"]),
        }
        for _ in range(draw.randint(5, 14))
    ]
    trees = {
        "city": [["a", "a or b", "*"], ["b", "a or b", "*"], ["c", "c or d", "*"], ["d", "c or d", "*"]],
        "job": [["x", "*"], ["y", "*"], ["z", "*"]],
    }
    return Task(
        PlainTable(rows, ("city", "job"), ("disease",)),
        trees,
        k=draw.choice([2, 2, 3]),
        distinct=1 if near else draw.choice([1, 2, 2]),
        limit=draw.choice([0.0, 0.15, 0.3, 0.5]),
        near=random_nearness(draw) if near else None,
    )


def random_nearness(draw: random.Random) -> Nearness:
    model, bounds = draw.choice(
        [("t", [0.1, 0.2, 0.3]), ("t", [0.15, 0.25]), ("beta", [0.3, 0.8]), ("delta", [0.5, 1.0])]
    )
    return Nearness(model, draw.choice(bounds), draw.choice(["release", "release", "original"]))


def generalised(task: Task, node: tuple[int, ...]) -> list[Row]:
    paths = {name: {path[0]: path for path in tree} for name, tree in task.trees.items()}
    levels = dict(zip(task.trees, node, strict=True))
    return [
        {**row, **{name: paths[name][str(row[name])][level] for name, level in levels.items()}}
        for row in task.table.rows
    ]


def loss_of(task: Task, row: Row) -> float:
    """The mean over quasi-identifiers of (leaves under the value - 1) / (leaves - 1)."""
    total = 0.0
    for name, tree in task.trees.items():
        under = sum(row[name] in path for path in tree)
        total += (under - 1) / (len(tree) - 1)
    return total / len(task.trees)


def meets(task: Task, rows: list[Row]) -> bool:
    """Whether a release holds: k-anonymity, distinct l-diversity, and the distance to what it is compared with."""
    released = PlainTable(rows, task.table.quasi_identifiers, task.table.sensitive)
    if k_anonymity(released) < task.k or distinct_l(released, "disease") < task.distinct:
        return False
    if task.near is None:
        return True
    measure = {"t": t_equal, "beta": beta, "delta": delta}[task.near.model]
    whole = released if task.near.reference == "release" else task.table
    reached = measure(released, "disease", reference=whole)
    # delta must not be reached, the others not be passed.
    return reached < task.near.most - 1e-9 if measure is delta else reached <= task.near.most + 1e-9


def releases(task: Task) -> Iterator[tuple[float, int]]:
    """Loss and suppressed records of every release that keeps to the limit and holds."""
    everybody = len(task.table.rows)
    for node in product(*(range(len(tree[0])) for tree in task.trees.values())):
        groups: dict[tuple[object, ...], list[Row]] = {}
        for row in generalised(task, node):
            groups.setdefault(tuple(row[name] for name in task.trees), []).append(row)
        members = list(groups.values())
        for count in range(len(members)):
            for gone in combinations(range(len(members)), count):
                suppressed = sum(len(members[at]) for at in gone)
                if suppressed > task.limit * everybody + 1e-9:
                    continue
                rows = [row for at, group in enumerate(members) if at not in gone for row in group]
                if meets(task, rows):
                    yield (sum(loss_of(task, row) for row in rows) + suppressed) / everybody, suppressed


def best(task: Task) -> Best | None:
    """The best release there is, or ``None`` where nothing meets the requirements."""
    known = min(((round(loss, 9), suppressed) for loss, suppressed in releases(task)), default=None)
    return None if known is None else Best(*known)
