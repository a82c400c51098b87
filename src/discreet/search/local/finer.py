"""Finer trees for local recoding: between the levels of a learned hierarchy, halves of halves of its nodes."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pyarrow as pa

from discreet.search.problem import Problem
from discreet.table.domain import MISSING_MARKS, NULL_SIGN, Domain
from discreet.table.hierarchies.hierarchy import Ladder, Step
from discreet.table.hierarchies.known import BRITISH, POSTCODE, known_order
from discreet.transform.recoding import spans
from discreet.types import BoolArray, FloatArray, IntArray
from discreet.utility.objectives.aggregates import CellObjective

_MISSING = frozenset((NULL_SIGN, *MISSING_MARKS))


def finely(problem: Problem) -> Problem:
    """A problem with finer trees where hierarchies were learned, unless the objective counts their levels."""
    if steered_by_levels(problem):
        return problem
    counted = zip(problem.ladders, problem.pricing.setting.value_records, strict=True)
    return replace(problem, ladders=tuple(finer(ladder, records) for ladder, records in counted))


def steered_by_levels(problem: Problem) -> bool:
    """Whether the objective counts the levels of hierarchies, so that further ones would change what it means."""
    return isinstance(problem.objective, CellObjective) and problem.objective.cost.name == "precision"


def is_missing(domain: Domain, codes: IntArray) -> BoolArray:
    """Which codes stand for a missing value: it keeps to itself up to the root."""
    missing = codes == domain.null_code if domain.has_null else np.zeros(len(codes), dtype=bool)
    values = domain.values.take(pa.array(codes[~missing])).to_pylist()
    missing[~missing] = [str(value) in _MISSING for value in values]
    return missing


def finer(ladder: Ladder, records: FloatArray) -> Ladder:
    """A ladder with further levels between those of a learned one: every node is halved until its children are left.

    Children are halved by records: numbers, dates and what has a known order (levels of education, codes of diseases) in
    their order, other values from the most frequent on (Shannon and Fano 1949). Nodes of the ladder stay nodes, so labels still nest. A ladder that somebody gave stays
    as it is: its nodes are what may be shown. So do the masks of postcodes: ranges of them are no places.

    >>> from discreet.table.hierarchies.hierarchy import Hierarchy
    >>> import pyarrow as pa
    >>> ages = Domain("age", pa.array([31, 34, 47, 52]))
    >>> learned = replace(Hierarchy.of("age", [[str(a), "*"] for a in (31, 34, 47, 52)]).ladder(ages), assumed="learned")
    >>> [step.labels for step in finer(learned, np.ones(4)).steps]
    [('31', '34', '47', '52'), ('[31, 34]', '[47, 52]'), ('*',)]
    """
    if ladder.assumed in (None, POSTCODE, BRITISH) or ladder.domain.size <= 2:
        return ladder
    steps = [ladder.steps[0]]
    for below, above in zip(ladder.steps[:-1], ladder.steps[1:], strict=True):
        steps += [partition_step(ladder, codes) for codes in _halvings(ladder, below, above, records)]
        steps.append(above)
    return replace(ladder, steps=tuple(steps))


def _halvings(ladder: Ladder, below: Step, above: Step, records: FloatArray) -> list[IntArray]:
    """Partitions of the values between two levels, fine to coarse; empty if no node has more than two children."""
    domain = ladder.domain
    count = len(below.labels)
    weight = np.bincount(below.codes, weights=records, minlength=count).astype(np.float64)
    first = np.zeros(count, dtype=np.int64)
    first[below.codes[::-1]] = np.arange(domain.size)[::-1]
    known = known_order(domain, ladder.assumed)
    if domain.places is not None:
        order = np.argsort(domain.places[first], kind="stable")
    elif known is not None:
        order = np.argsort(known[first], kind="stable")
    else:
        order = np.argsort(-weight, kind="stable")
    parent = np.where(is_missing(domain, first), len(above.labels) + np.arange(count), above.codes[first])
    parts = [order[parent[order] == node] for node in np.unique(parent)]
    partitions: list[IntArray] = []
    while True:
        parts = [half for part in parts for half in _halves(part, weight)]
        if all(len(part) == 1 for part in parts):
            return partitions[::-1]
        group = np.empty(count, dtype=np.int64)
        for number, part in enumerate(parts):
            group[part] = number
        partitions.append(group[below.codes])


def _halves(part: IntArray, weight: FloatArray) -> list[IntArray]:
    """A sequence of nodes in two of about equally many records, unless it is a single one."""
    if len(part) == 1:
        return [part]
    before = np.cumsum(weight[part])
    cut = int(np.argmin(np.abs(before[:-1] - before[-1] / 2))) + 1
    return [part[:cut], part[cut:]]


def partition_step(ladder: Ladder, partition: IntArray) -> Step:
    """A partition of the values as a level, each part labelled by what is in it."""
    every = np.arange(ladder.domain.size)
    shown = spans(ladder.domain, every, partition, int(partition.max()) + 1, ladder)
    return Step(shown.codes, tuple(shown.printed()), shown.shares)
