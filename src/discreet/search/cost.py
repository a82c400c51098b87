"""What a recoding costs by a problem's objective, whichever method made it: as a comparison measures the release."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import NamedTuple

import numpy as np
import pyarrow as pa

from discreet.classes.packing import combination_numbers
from discreet.classes.pair import Links, Pair
from discreet.measure import Measure
from discreet.search.problem import Problem
from discreet.table.domain import Domain
from discreet.table.hierarchies.hierarchy import Ladder
from discreet.transform.labels import spelled_out
from discreet.transform.recoding import Recoding
from discreet.utility import class_sizes, entropy, precision
from discreet.utility.definition import FOREIGN_NOTE
from discreet.utility.distributions import joint_kl_divergence
from discreet.utility.objectives.aggregates import CellObjective, CellSums
from discreet.utility.objectives.class_sizes import AverageClassSize
from discreet.utility.objectives.classification import Classification
from discreet.utility.objectives.objective import Grouping, Pricing

CELL_MEASURES: Mapping[str, tuple[Callable[[Pair], tuple[Measure, ...]], str]] = {
    "loss": (precision.leaf_loss, "leaf-loss"),
    "ncp": (precision.certainty_penalty, "certainty-penalty"),
    "precision": (precision.height_loss, "height-loss"),
    "interval": (precision.interval_loss, "interval-loss"),
    "entropy": (entropy.non_uniform_entropy, "non-uniform-entropy"),
    "conditional-entropy": (entropy.conditional_entropy, "conditional-entropy"),
}
"""For each loss per cell the measure of a release that says the same, and its id."""


class Cost(NamedTuple):
    """A cost by an objective, or NaN and why there is none."""

    value: float
    note: str = ""

    @property
    def defined(self) -> bool:
        return not math.isnan(self.value)


def cost_of(recoding: Recoding, problem: Problem) -> Cost:
    """What a recoding of a problem's classes costs by its objective.

    >>> from discreet.classes import EquivalenceClasses
    >>> from discreet.privacy import KAnonymity
    >>> from discreet.search.problem import make_problem
    >>> from discreet.table.hierarchies.hierarchy import Hierarchy
    >>> classes = EquivalenceClasses.from_columns({"age": [31, 34, 47]})
    >>> ladder = Hierarchy.of("age", [["31", "*"], ["34", "*"], ["47", "*"]]).ladder(classes.attributes[0])
    >>> groups, kept = np.array([0, 0, 1]), np.array([True, False])
    >>> recoding = Recoding.of_groups(classes, groups, kept=kept, method="example", ladders=[ladder])
    >>> cost_of(recoding, make_problem(classes, [ladder], [KAnonymity(2)])).value  # 1/2, 1/2 and *
    0.6666666666666666
    """
    if not recoding.kept.any():
        price = problem.pricing.price(_ungrouped(recoding), recoding.kept, recoding.kept)
        return Cost(price.generalisation + price.suppression)
    pair = pair_of(recoding, problem.ladders)
    if isinstance(problem.objective, CellObjective):
        if not all(column.truthful for column in recoding.columns):
            # What is shown says nothing about a record that it replaces the value of, however precise it looks.
            return Cost(math.nan, FOREIGN_NOTE)
        return _of_cells(pair, recoding, problem, problem.objective)
    return _of_classes(pair, recoding, problem)


def pair_of(recoding: Recoding, ladders: Sequence[Ladder]) -> Pair:
    """The classes before and after, as one counts them who reads the release; suppressed records are not in it."""
    at = np.flatnonzero(recoding.kept)
    domains, codes = [], []
    for column in recoding.columns:
        encoded = column.texts().take(pa.array(column.codes[at])).dictionary_encode()
        has_null = bool(encoded.indices.null_count)
        places = encoded.indices.fill_null(len(encoded.dictionary)).to_numpy(zero_copy_only=False)
        domains.append(Domain(column.name, encoded.dictionary, has_null))
        codes.append(places.astype(np.int64))
    classes = recoding.classes
    became = np.full(len(classes), -1, dtype=np.int64)
    became[at] = combination_numbers([domain.size for domain in domains], codes)
    return Pair.of(
        classes,
        classes.subset(at).recoded(domains, codes),
        hierarchies={ladder.name: ladder.hierarchy for ladder in ladders if ladder.hierarchy is not None},
        assumed={ladder.name: ladder.assumed for ladder in ladders if ladder.assumed is not None},
        told=spelled_out(recoding),
        links=Links(np.arange(len(classes)), became, classes.records.astype(np.int64)),
    )


def _of_cells(pair: Pair, recoding: Recoding, problem: Problem, objective: CellObjective) -> Cost:
    """The losses of the attributes, with the weight of what is suppressed, brought together."""
    measure, name = CELL_MEASURES[objective.cost.name]
    measured = [m for m in measure(pair) if m.name == name and m.attribute is not None]
    undefined = next((m for m in measured if math.isnan(m.value)), None)
    if undefined is not None:
        return Cost(math.nan, undefined.notes[0])
    pricing = problem.pricing
    assert isinstance(pricing, CellSums)
    classes = recoding.classes
    gone = np.where(recoding.kept, 0, classes.records)
    losses = []
    for ladder, codes, loss in zip(problem.ladders, classes.codes, measured, strict=True):
        totals = np.bincount(codes, weights=classes.records, minlength=ladder.domain.size).astype(np.float64)
        suppressed = objective.cost.suppressed(ladder, totals)[codes] @ gone / classes.total
        value = loss.value
        if objective.cost.name in ("entropy", "conditional-entropy"):
            value /= classes.total  # measured in bits of all records
        if objective.cost.name == "entropy":
            value /= math.log2(max(classes.total, 2))
        losses.append(value + (problem.suppression_weight - 1.0) * suppressed)
    return Cost(pricing.combined(np.array(losses)))


def _of_classes(pair: Pair, recoding: Recoding, problem: Problem) -> Cost:
    """What is no sum over cells: the measure, and what the weight of suppression adds to it."""
    pricing = problem.pricing
    measured = _measured(pair, problem)
    if math.isnan(measured.value):
        return Cost(math.nan, measured.notes[0])
    more = problem.suppression_weight - 1.0
    if not more or recoding.kept.all():
        return Cost(measured.value)
    if isinstance(problem.objective, AverageClassSize):
        return Cost(measured.value * (1.0 + more * recoding.suppressed_records / recoding.classes.total))
    return Cost(measured.value + more * _suppressed_part(pricing, problem, recoding))


def _measured(pair: Pair, problem: Problem) -> Measure:
    """The measure of the release that an objective which is no sum over cells stands for."""
    objective = problem.objective
    if isinstance(objective, AverageClassSize):
        k = objective.k or problem.pricing.setting.k
        return class_sizes.normalised_average_class_size(pair, k=k)
    if isinstance(objective, Classification):
        label = objective.label_among(pair.original.sensitive)
        return next(m for m in class_sizes.classification_metric(pair) if m.attribute == label)
    measures: Mapping[str, Callable[[Pair], Measure]] = {
        "discernibility": class_sizes.discernibility,
        "ambiguity": precision.ambiguity,
        "kl-divergence": joint_kl_divergence,
    }
    return measures[objective.name](pair)


def _ungrouped(recoding: Recoding) -> Grouping:
    """Every class as a group of its own."""
    classes = recoding.classes
    every = np.arange(len(classes), dtype=np.int32)
    levels = np.zeros(len(classes.names), dtype=np.int64)
    return Grouping(levels, every, every, classes.records.astype(np.int64), classes.histogram)


def _suppressed_part(pricing: Pricing, problem: Problem, recoding: Recoding) -> float:
    """What suppressed records cost at weight 1: it does not depend on how the others are grouped."""
    with_, without = (
        problem.objective.bind(replace(pricing.setting, suppression=weight)).price(
            _ungrouped(recoding), recoding.kept, recoding.kept
        )
        for weight in (1.0, 0.0)
    )
    return with_.generalisation + with_.suppression - without.generalisation - without.suppression
