"""Who of a population shares the labels of groups under the nodes of a lattice."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa

from discreet.classes.alignment import places_of
from discreet.classes.population import Population
from discreet.table.domain import Domain
from discreet.table.hierarchies.hierarchy import Ladder
from discreet.types import FloatArray, Int32Array, IntArray

if TYPE_CHECKING:
    from discreet.search.problem import Node, Problem


class LevelsOfPopulation:
    """The values of a population at every level of the ladders of a problem."""

    def __init__(self, problem: Problem, population: Population) -> None:
        self._problem = problem
        known = population.among(problem.classes.names)
        self._amounts = known.amounts
        # One row per attribute and level, as in the codes of the problem; -1 where no label stands for a value.
        self._rows: list[IntArray] = []
        for ladder, codes in zip(problem.ladders, known.counted.codes, strict=True):
            for level in range(ladder.height + 1):
                self._rows.append(known.labelled(ladder.name, _labels(ladder, level))[codes])

    def people(self, node: Node, first: Int32Array) -> FloatArray:
        """The people whom the label of each group may stand for; ``first`` is a class of each."""
        problem = self._problem
        rows = problem.rows(node)
        asked = [problem.codes[row][first] for row in rows]
        known = [self._rows[row] for row in rows]
        inside = np.logical_and.reduce([codes >= 0 for codes in known])
        sizes = [len(ladder.steps[at].labels) for ladder, at in zip(problem.ladders, node, strict=True)]
        group = places_of(sizes, asked, [codes[inside] for codes in known])
        told = group >= 0
        return np.bincount(group[told], weights=self._amounts[inside][told], minlength=len(first)).astype(
            np.float64
        )


def _labels(ladder: Ladder, level: int) -> Domain:
    """What a release shows at a level, in the order of its codes; nulls, where they are not labelled, come last."""
    if level == 0:
        return ladder.domain
    values = ladder.values(level)
    has_null = None in values
    return Domain(
        ladder.name, pa.array([value for value in values if value is not None], pa.string()), has_null
    )
