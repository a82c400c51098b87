"""Rules that the records of a table seem to keep: candidates, which somebody who knows the table confirms in the policy."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import combinations, permutations
from typing import Literal

import numpy as np
import pyarrow as pa

from discreet.classes import EquivalenceClasses
from discreet.policy.constraint import Constraint
from discreet.progress import Asked, telling
from discreet.release.prepare import open_table
from discreet.risk.redundancy import explained
from discreet.table import MISSING_MARKS, Domain
from discreet.types import BoolArray, FloatArray, IntArray

RuleKind = Literal["dependency", "order", "equation", "impossible pair"]
EXPECTED = 30.0
"""So many records must be expected to break a rule if columns had nothing to do with each other: by chance none in e^30 does not."""
MOST_VALUES = 50
"""Columns with more values are not asked for pairs that cannot be."""
MOST_NUMBERS = 12
"""So many columns of numbers are asked for equations."""
MOST_PAIRS = 20
"""So many pairs that cannot be are named, the most surprising first."""
EVIDENCE = 10
"""An equation is shown by at least so many combinations."""


@dataclass(frozen=True)
class CandidateRule:
    """A rule that every record keeps, what kind it is, and how many records would break it by chance."""

    rule: Constraint
    kind: RuleKind
    expected: float

    def to_dict(self) -> dict[str, object]:
        return {**self.rule.to_dict(), "kind": self.kind, "expected": round(self.expected, 1)}


def find_rules(source: object, *, progress: Asked = None) -> tuple[CandidateRule, ...]:
    """Rules that all records of a table keep and that hardly hold by chance: candidates, not knowledge.

    Columns that follow from another (and show it: each value is judged by the other records); orders of numbers or dates; sums
    and products; pairs of values that never stand together. Of each is counted how many records would break it if the columns had
    nothing to do with each other; only what would break for 30 or more is named. That a rule holds of the rows
    at hand does not make it one of the world: confirm it by putting it into the policy.
    """
    say = telling(progress)
    table = open_table(source)
    names = [column.name for column in table.columns]
    say("counting combinations")
    classes = table.engine.count(table, quasi_identifiers=names, sensitive=[])
    say("looking for rules")
    dependent = list(_dependencies(classes))
    tied = {frozenset((each.rule.column, *each.rule.follows)) for each in dependent}
    pairs = sorted(_impossible_pairs(classes, tied), key=lambda each: -each.expected)
    return (*dependent, *_orders(classes), *_equations(classes), *pairs[:MOST_PAIRS])


def _totals(classes: EquivalenceClasses, j: int) -> FloatArray:
    """Records by value of an attribute."""
    size = classes.attributes[j].size
    return np.bincount(classes.codes[j], weights=classes.records, minlength=size).astype(np.float64)


def _dependencies(classes: EquivalenceClasses) -> Iterator[CandidateRule]:
    """Columns that follow from another one, of which most records share their value with others."""
    total = classes.total
    for i, j in permutations(range(len(classes.attributes)), 2):
        source, column = classes.attributes[i].name, classes.attributes[j].name
        before, after = _totals(classes, i), _totals(classes, j)
        if before[before > 1].sum() * 2 < total or np.count_nonzero(after) < 2:
            continue
        expected = total - float(after.max())
        if expected >= EXPECTED and explained(classes, source, column) == 1.0:
            # λ lets a source's single record be: what contradicts nothing is no proof either.
            rule = Constraint(f"{column} follows from {source}", column=column, follows=(source,))
            yield CandidateRule(rule, "dependency", expected)


def _numbers(classes: EquivalenceClasses) -> dict[int, FloatArray]:
    """The number of each class in every column of numbers that varies."""
    return {
        j: domain.numbers[classes.codes[j]]
        for j, domain in enumerate(classes.attributes)
        if domain.is_numeric
        and not pa.types.is_string(domain.values.type)
        and not pa.types.is_boolean(domain.values.type)
        and len(domain.values) > 1
    }


def _is_date(domain: Domain) -> bool:
    return bool(pa.types.is_temporal(domain.values.type))


def _orders(classes: EquivalenceClasses) -> Iterator[CandidateRule]:
    """Numbers, or dates, of which one is never larger than the other."""
    numbers = _numbers(classes)
    for i, j in permutations(numbers, 2):
        if _is_date(classes.attributes[i]) != _is_date(classes.attributes[j]):
            continue
        low, high = numbers[i], numbers[j]
        known = ~np.isnan(low) & ~np.isnan(high)
        if not known.any() or (low[known] > high[known]).any():
            continue
        expected = _larger_by_chance(low[known], high[known], classes.records[known])
        if expected >= EXPECTED:
            a, b = (classes.attributes[k].name for k in (i, j))
            rule = Constraint(f"{a} is at most {b}", f"{_quoted(a)} <= {_quoted(b)}")
            yield CandidateRule(rule, "order", expected)


def _larger_by_chance(low: FloatArray, high: FloatArray, records: IntArray) -> float:
    """How many records would have the first number above the second if these were dealt out at random."""
    order = np.argsort(high)
    below = np.concatenate([[0.0], np.cumsum(records[order])])
    return float(records @ below[np.searchsorted(high[order], low, side="left")] / records.sum())


def _equations(classes: EquivalenceClasses) -> Iterator[CandidateRule]:
    """Numbers that are the sum or the product of two others."""
    numbers = {j: each for j, each in _numbers(classes).items() if not _is_date(classes.attributes[j])}
    used = list(numbers)[:MOST_NUMBERS]
    for k in used:
        for i, j in combinations([each for each in used if each != k], 2):
            known = ~np.isnan(numbers[i]) & ~np.isnan(numbers[j]) & ~np.isnan(numbers[k])
            a, b, c = (numbers[at][known] for at in (i, j, k))
            for sign, made, plain in (
                ("+", a + b, (a == 0) | (b == 0)),
                ("*", a * b, np.isin(a, (0.0, 1.0)) | np.isin(b, (0.0, 1.0))),
            ):
                if _equal(made, c) and np.count_nonzero(~plain) >= EVIDENCE:
                    first, second, third = (_quoted(classes.attributes[at].name) for at in (i, j, k))
                    name = f"{classes.attributes[k].name} = {classes.attributes[i].name} {sign} {classes.attributes[j].name}"
                    rule = Constraint(name, _equation(third, first, sign, second))
                    yield CandidateRule(rule, "equation", float(classes.records[known][~plain].sum()))


def _equation(third: str, first: str, sign: str, second: str) -> str:
    """An equation up to the rounding of fractions."""
    return f"abs({third} - {first} {sign} {second}) <= 1e-9 * abs({third})".replace(
        f"- {first} + {second}", f"- ({first} + {second})"
    )


def _equal(made: FloatArray, given: FloatArray) -> bool:
    return bool(len(made)) and bool((np.abs(made - given) <= 1e-9 * np.abs(given)).all())


def _impossible_pairs(classes: EquivalenceClasses, tied: set[frozenset[str]]) -> Iterator[CandidateRule]:
    """Pairs of values that never stand together though each is frequent; not of columns of which one follows from the other."""
    total = classes.total
    few = [j for j, domain in enumerate(classes.attributes) if 2 <= domain.size <= MOST_VALUES]
    few = [
        j
        for j in few
        if not classes.attributes[j].is_numeric or pa.types.is_boolean(classes.attributes[j].values.type)
    ]
    for i, j in combinations(few, 2):
        first, other = classes.attributes[i], classes.attributes[j]
        if frozenset((first.name, other.name)) in tied:
            continue
        keys = classes.codes[i].astype(np.int64) * other.size + classes.codes[j]
        together = np.bincount(keys, weights=classes.records, minlength=first.size * other.size)
        expected = np.outer(_totals(classes, i), _totals(classes, j)) / total
        named = np.outer(_real(first), _real(other))
        missing = (together.reshape(expected.shape) == 0) & (expected >= EXPECTED) & named
        for a, b in np.argwhere(missing).tolist():
            left, right = _equals(first, a), _equals(other, b)
            name = f"no {first.label(a)} with {other.label(b)}"
            yield CandidateRule(
                Constraint(name, f"NOT ({left} AND {right})"), "impossible pair", float(expected[a, b])
            )


def _real(domain: Domain) -> BoolArray:
    """Which codes stand for values and not for missing ones."""
    return np.array(
        [
            code != domain.null_code and label not in MISSING_MARKS
            for code, label in enumerate(domain.labels())
        ]
    )


def _equals(domain: Domain, code: int) -> str:
    value = domain.values[code].as_py()
    literal = str(value) if isinstance(value, int | float) else "'" + str(value).replace("'", "''") + "'"
    return f"{_quoted(domain.name)} = {literal}"


def _quoted(name: str) -> str:
    """The name of a column in a condition."""
    return '"' + name.replace('"', '""') + '"'
