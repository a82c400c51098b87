"""What local recoding steers by: prices of hierarchy nodes from the objective, and rules on histograms."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from discreet.classes import EquivalenceClasses
from discreet.privacy import AlphaKAnonymity, LDiversity, PrivacyModel, TCloseness
from discreet.search.local.kernels import CAPPED, CLOSE, UNCERTAIN, Screen
from discreet.search.problem import Problem, attribute_weights
from discreet.types import FloatArray
from discreet.utility.objectives.aggregates import CellObjective
from discreet.utility.objectives.cells import LEAF_SHARE


def node_costs(problem: Problem) -> tuple[tuple[FloatArray, ...], FloatArray]:
    """Per attribute the cost of a cell of each value at each level, and what a suppressed record of each class costs.

    Both are weighted, as in the objective. Where records of one node cost different amounts (non-uniform
    entropy), the node costs their mean; a node never costs less than one below it. An objective that is
    no loss per cell is served by the leaf-share loss: groups as small and cells as fine as can be.
    """
    classes = problem.classes
    objective = problem.objective
    cost = objective.cost if isinstance(objective, CellObjective) else LEAF_SHARE
    weights = attribute_weights(classes, problem.weights)
    tables = []
    star = np.zeros(len(classes))
    for weight, ladder, column in zip(weights, problem.ladders, classes.codes, strict=True):
        totals = np.bincount(column, weights=classes.records, minlength=ladder.domain.size)
        rows = []
        for level, step in enumerate(ladder.steps):
            per_value = cost.generalised(ladder, level, totals.astype(np.float64))
            records = np.bincount(step.codes, weights=totals, minlength=len(step.labels))
            summed = np.bincount(step.codes, weights=totals * per_value, minlength=len(step.labels))
            rows.append((summed / np.maximum(records, 1))[step.codes])
        tables.append(np.maximum.accumulate(np.stack(rows), axis=0) * weight)
        star += cost.suppressed(ladder, totals.astype(np.float64))[column] * weight
    return tuple(tables), star * problem.suppression_weight


def screen_of(classes: EquivalenceClasses, models: Sequence[PrivacyModel]) -> Screen:
    """The requirements among ``models`` that read one histogram in a way that compiled loops know.

    >>> classes = EquivalenceClasses.from_columns({"a": [1, 2]}, sensitive={"dx": ["flu", "acne"]})
    >>> screen_of(classes, [TCloseness(0.2, "dx")]).limit
    array([0.2])
    """
    rules: list[tuple[int, float, str]] = []
    for model in models:
        if isinstance(model, TCloseness) and model.distance == "equal":
            rules.append((CLOSE, model.t, model.sensitive))
        elif isinstance(model, LDiversity) and model.kind == "entropy":
            rules.append((UNCERTAIN, float(np.log(model.l)), model.sensitive))
        elif isinstance(model, LDiversity) and model.kind == "simple":
            rules.append((CAPPED, 1.0 / model.l, model.sensitive))
        elif isinstance(model, AlphaKAnonymity) and model.values is None:
            rules.append((CAPPED, model.alpha, model.sensitive))
    n = len(classes)
    ptr = np.zeros((len(rules), n + 1), dtype=np.int64)
    whole, value, tally, first = [np.zeros(0)], [], [], [0]
    entries = 0
    for r, (_, _, name) in enumerate(rules):
        histogram = classes.histogram(name)
        ptr[r] = histogram.indptr + entries
        entries += len(histogram.values)
        value.append(histogram.values.astype(np.int64) + first[-1])
        tally.append(histogram.records.astype(np.int64))
        whole.append(histogram.distribution)
        first.append(first[-1] + len(histogram.distribution))
    return Screen(
        kind=np.array([kind for kind, _, _ in rules], dtype=np.int64),
        limit=np.array([limit for _, limit, _ in rules], dtype=np.float64),
        first=np.array(first, dtype=np.int64),
        whole=np.concatenate(whole),
        ptr=ptr,
        value=np.concatenate([np.zeros(0, dtype=np.int64), *value]),
        tally=np.concatenate([np.zeros(0, dtype=np.int64), *tally]),
    )
