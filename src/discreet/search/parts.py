"""A bound for a lattice without end, from the optima of small parts of it."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace

from discreet.search.lattice import search
from discreet.search.problem import Problem
from discreet.utility.aggregates import CellObjective

PART_NODES = 20_000
"""A part has as many attributes as fit into a lattice of so many nodes."""


def bound_by_parts(
    problem: Problem, *, threads: int = 2, cancelled: Callable[[], bool] | None = None
) -> float:
    """What every node costs at least: the sum of the optimal costs of disjoint parts of the attributes.

    Take some attributes only, and of the requirements those that a class meets as soon as a part of it
    does. What a node of this smaller lattice must suppress, every node of the whole lattice with the same
    levels of these attributes must suppress too: its classes are finer. Where suppressing a cell is never
    cheaper than generalising it, the cells of these attributes therefore cost at least the optimum of the
    part, and the cells of disjoint parts add up. (The idea of additive pattern databases: Korf and Felner,
    "Disjoint pattern database heuristics", Artificial Intelligence 2002.) For objectives that are no sums of
    cells nothing is known: 0.

    >>> from discreet.classes import EquivalenceClasses
    >>> from discreet.privacy import KAnonymity
    >>> from discreet.search.problem import make_problem
    >>> from discreet.table.hierarchy import Hierarchy
    >>> classes = EquivalenceClasses.from_columns({"a": ["f", "f", "m"], "b": ["f", "f", "f"]})
    >>> ladders = [Hierarchy.of(d.name, [["f", "*"], ["m", "*"]]).ladder(d) for d in classes.attributes]
    >>> round(bound_by_parts(make_problem(classes, ladders, [KAnonymity(2)])), 3)
    0.333
    """
    objective = problem.objective
    if (
        not isinstance(objective, CellObjective)
        or objective.aggregate != "arithmetic"
        or not objective.monotone
        or problem.suppression_weight < 1.0
    ):
        return 0.0
    given = [(problem.weights or {}).get(ladder.name, 1.0) for ladder in problem.ladders]
    total = 0.0
    for members in _parts(problem):
        weight = sum(given[j] for j in members)
        if weight:
            names = [problem.ladders[j].name for j in members]
            part = replace(
                problem,
                classes=problem.classes.project(names),
                ladders=tuple(problem.ladders[j] for j in members),
                models=tuple(
                    model for model in problem.models if model.absorbing and not model.needs_attributes
                ),
            )
            total += search(part, threads=threads, cancelled=cancelled).bound * weight / sum(given)
    return total


def _parts(problem: Problem) -> Iterator[list[int]]:
    """The attributes in their order, in parts whose lattices are small."""
    part: list[int] = []
    nodes = 1
    for j, height in enumerate(problem.heights):
        if part and nodes * (height + 1) > PART_NODES:
            yield part
            part, nodes = [], 1
        part.append(j)
        nodes *= height + 1
    yield part
