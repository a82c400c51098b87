"""The objectives by the name they have in a policy file."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import fields, replace
from types import MappingProxyType

from discreet.errors import refuse_surplus, unknown
from discreet.utility.objectives.aggregates import CellObjective
from discreet.utility.objectives.ambiguity import Ambiguity
from discreet.utility.objectives.cells import CELL_COSTS
from discreet.utility.objectives.class_sizes import AverageClassSize, Discernibility
from discreet.utility.objectives.classification import Classification
from discreet.utility.objectives.divergence import Divergence
from discreet.utility.objectives.objective import Objective

LOSS = CellObjective()
"""The objective unless told otherwise: the mean share of its domain that a cell may stand for."""

_ALL: tuple[Objective, ...] = (
    *(CellObjective(cost) for cost in CELL_COSTS.values()),
    CellObjective(aggregate="geometric"),
    CellObjective(aggregate="max"),
    Discernibility(),
    AverageClassSize(),
    Ambiguity(),
    Classification(),
    Divergence(),
)

OBJECTIVES: Mapping[str, Objective] = MappingProxyType({objective.name: objective for objective in _ALL})
"""Every objective with its defaults by its name in a policy."""


def build_objective(name: str, parameters: Mapping[str, object] | None = None) -> Objective:
    """The objective that a policy file asks for, or an error that says which name or parameter is wrong.

    >>> build_objective("classification", {"label": "income"})
    Classification(label='income')
    >>> build_objective("los")
    Traceback (most recent call last):
    discreet.errors.InvalidParameter: there is no objective 'los'; did you mean 'loss'? ...
    """
    if name not in OBJECTIVES:
        raise unknown("objective", name, OBJECTIVES)
    objective = OBJECTIVES[name]
    given = dict(parameters or {})
    # The parts of a cell objective are fixed by its name.
    known = [] if isinstance(objective, CellObjective) else [part.name for part in fields(objective)]  # type: ignore[arg-type]
    refuse_surplus(name, given, known)
    return replace(objective, **given)  # type: ignore[type-var]  # all are dataclasses
