"""A bound for a lattice without end, from the optima of small parts of it."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace

import numpy as np

from discreet.search.lattice.search import LARGEST_LATTICE, search
from discreet.search.problem import Problem
from discreet.types import FloatArray
from discreet.utility.objectives.aggregates import CellObjective

PART_NODES = 20_000
"""A part has as many attributes as fit into a lattice of so many nodes."""
FIRST_NODES = 1000
"""The parts with which growing ones begin."""


def bound_by_parts(
    problem: Problem,
    *,
    nodes: int = PART_NODES,
    threads: int = 2,
    cancelled: Callable[[], bool] | None = None,
) -> float:
    """What every node costs at least: the optimal costs of disjoint parts of the attributes, put together.

    Let N be a node within the limit, and P some of the attributes. Proof that the cells of P cost at N at
    least the optimum of P by itself, searched with the requirements that a class meets as soon as a part
    of it does, and with the same limit:

    1. The node N_P of the smaller lattice with N's levels has coarser classes than N: fewer attributes
       tell records apart. A class of N_P that fails such a requirement is made of classes of N that all
       fail it (else it would hold). So what N_P must suppress, N suppresses too, and N_P stays within the limit.
    2. A record that N_P releases costs no more in the cells of P than at N: there it is either at the same
       level or suppressed, and suppressing a cell is never cheaper than generalising it (the objective is
       monotone, and suppression weighs at least 1). So each L_j of P, the mean loss per cell of attribute j,
       is at N at least what it is at N_P.
    3. The objective rises with every L_j. So the objective over P alone is at N at least that at N_P, which is at
       least the optimum B_P of P.

    With W_P the weights of P as a share of all, disjoint parts give: sum of W_P B_P for the weighted
    sum; the product of (1 + B_P)^W_P, minus 1, for the geometric mean; the largest B_P (times the weights'
    scale) for the maximum. If suppression weighs w < 1, each L_j is at least w times what it is at weight 1:
    then w B bounds the sum and the maximum, and (1 + B)^w - 1 the geometric mean, since
    (1 + x)^w <= 1 + w x. (The idea of additive pattern databases: Korf and Felner, "Disjoint pattern
    database heuristics", Artificial Intelligence 2002.) A search that is cancelled counts with the bound that
    it has proven. For objectives that are no losses per cell nothing is known: 0.

    >>> from discreet.classes import EquivalenceClasses
    >>> from discreet.privacy import KAnonymity
    >>> from discreet.search.problem import make_problem
    >>> from discreet.table.hierarchies.hierarchy import Hierarchy
    >>> classes = EquivalenceClasses.from_columns({"a": ["f", "f", "m"], "b": ["f", "f", "f"]})
    >>> ladders = [Hierarchy.of(d.name, [["f", "*"], ["m", "*"]]).ladder(d) for d in classes.attributes]
    >>> round(bound_by_parts(make_problem(classes, ladders, [KAnonymity(2)])), 3)
    0.333
    """
    *_, bound = growing_bounds(problem, least=nodes, most=nodes, threads=threads, cancelled=cancelled)
    return bound


def growing_bounds(
    problem: Problem,
    *,
    least: int = FIRST_NODES,
    most: int = LARGEST_LATTICE,
    threads: int = 2,
    cancelled: Callable[[], bool] | None = None,
) -> Iterator[float]:
    """Bounds as in ``bound_by_parts`` from ever larger parts, one after each part is solved; none is below the last.

    Parts are stretches of the attributes in one order. Every bound is the best that stretches solved so far,
    of whatever size, give together without overlap. Ends with parts of ``most`` nodes, or if cancelled.
    """
    objective = problem.objective
    if not isinstance(objective, CellObjective) or not objective.monotone or not problem.suppression_weight:
        yield 0.0
        return
    order = [int(j) for j in np.argsort(-_separation(problem), kind="stable")]
    given = np.array([(problem.weights or {}).get(ladder.name, 1.0) for ladder in problem.ladders])
    solved: dict[tuple[int, int], float] = {}
    nodes = least
    while True:
        for start, stop in _stretches(problem, order, nodes):
            members = sorted(order[start:stop])
            weight = float(given[members].sum() / given.sum())
            if not weight or (start, stop) in solved:
                continue
            optimum = search(_part(problem, members), threads=threads, cancelled=cancelled).bound
            if objective.aggregate == "geometric":
                solved[start, stop] = weight * math.log1p(optimum)
            elif objective.aggregate == "max":
                solved[start, stop] = weight * optimum * len(given) / len(members)
            else:
                solved[start, stop] = weight * optimum
            yield _together(problem, solved, objective.aggregate)
            if cancelled is not None and cancelled():
                return
        if nodes >= most or nodes >= problem.nodes:
            return
        nodes = min(4 * nodes, most)


def _together(problem: Problem, solved: Mapping[tuple[int, int], float], aggregate: str) -> float:
    """The best bound that stretches which do not overlap give together."""
    best = [0.0] * (len(problem.ladders) + 1)
    for (start, stop), value in sorted(solved.items(), key=lambda stretch: stretch[0][1]):
        # Stretches come in the order of their ends: what ends before is known.
        best[stop] = max(best[stop], value if aggregate == "max" else max(best[: start + 1]) + value)
    bound = min(problem.suppression_weight, 1.0) * max(best)
    return math.expm1(bound) if aggregate == "geometric" else bound


def _part(problem: Problem, members: Sequence[int]) -> Problem:
    """The problem of some attributes only, with what is surely required of their classes."""
    return replace(
        problem,
        classes=problem.classes.project([problem.ladders[j].name for j in members]),
        ladders=tuple(problem.ladders[j] for j in members),
        models=tuple(model for model in problem.models if model.absorbing and not model.needs_attributes),
        suppression_weight=max(problem.suppression_weight, 1.0),
    )


def _stretches(problem: Problem, order: Sequence[int], most: int) -> Iterator[tuple[int, int]]:
    """Stretches of an order of the attributes whose lattices are small; those that tell most apart come together.

    The optimum of a part grows faster than its attributes: many that separate well force more loss on each
    other than on attributes of few values.
    """
    start, nodes = 0, 1
    for at, j in enumerate(order):
        height = problem.heights[j]
        if at > start and nodes * (height + 1) > most:
            yield start, at
            start, nodes = at, 1
        nodes *= height + 1
    yield start, len(order)


def _separation(problem: Problem) -> FloatArray:
    """How well each attribute tells records apart: the entropy of its values, rounded so that rounding decides nothing."""
    entropies = []
    for column in problem.classes.codes:
        records = np.bincount(column, weights=problem.classes.records)
        share = records[records > 0] / problem.classes.total
        entropies.append(round(float(-(share @ np.log(share))), 9))
    return np.array(entropies)
