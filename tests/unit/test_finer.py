"""Finer trees between the levels of learned hierarchies: labels nest, are read back, and lose less."""

from __future__ import annotations

import itertools
from dataclasses import replace

import numpy as np
import pyarrow as pa
import pytest

from discreet.engine.read import read
from discreet.example import town
from discreet.policy import Policy
from discreet.policy.hierarchies import hierarchies
from discreet.policy.plan import Plan
from discreet.privacy import KAnonymity
from discreet.release.anonymize import anonymize
from discreet.release.compare import compare
from discreet.release.prepare import count_classes
from discreet.search.contest import find
from discreet.search.local.finer import finer
from discreet.search.problem import Problem, make_problem
from discreet.table.domain import Domain
from discreet.table.hierarchies.hierarchy import Hierarchy, Ladder

QUASI_IDENTIFIERS = ["birth_date", "age", "sex", "occupation", "household_size"]
POLICY = Policy.of(quasi_identifiers=QUASI_IDENTIFIERS, require=[KAnonymity(5)], profile="research-partner-5")


def learned(values: list[object], rows: list[list[str]]) -> Ladder:
    domain = Domain("x", pa.array([v for v in values if v is not None]), has_null=None in values)
    return replace(Hierarchy.of("x", rows).ladder(domain), assumed="learned from the data")


def test_numbers_are_halved_in_their_order_and_nulls_stay_apart() -> None:
    ladder = learned([1, 2, 3, 9, None], [[v, "*"] for v in ("1", "2", "3", "9")])
    steps = finer(ladder, np.array([1.0, 1.0, 1.0, 1.0, 5.0])).steps
    assert [step.labels for step in steps] == [
        ("1", "2", "3", "9", "∅"),
        ("[1, 2]", "[3, 9]", "∅"),
        ("*",),
    ]
    assert steps[1].shares.tolist() == [0.5, 0.5, 0.5, 0.5, 0.25]


def test_names_are_halved_from_the_most_frequent_on() -> None:
    ladder = learned(["a", "b", "c", "d"], [[v, "*"] for v in "abcd"])
    steps = finer(ladder, np.array([1.0, 1.0, 8.0, 2.0])).steps
    assert [set(step.labels) for step in steps] == [
        {"a", "b", "c", "d"},
        {"c", "d", "{a, b}"},
        {"c", "{a, b, d}"},
        {"*"},
    ]


def test_a_hierarchy_that_somebody_gave_stays_as_it_is() -> None:
    ladder = replace(learned(["a", "b", "c", "d"], [[v, "*"] for v in "abcd"]), assumed=None)
    assert finer(ladder, np.ones(4)) is ladder


def demo() -> Problem:
    classes = count_classes(POLICY.fit(read(town(1500))), POLICY)
    ladders = [fitted.ladder for fitted in hierarchies(POLICY, classes)]
    return make_problem(classes, ladders, [KAnonymity(5)], suppression_limit=0.0)


@pytest.mark.slow
def test_labels_nest_and_less_is_lost() -> None:
    problem = demo()
    given = replace(problem, ladders=tuple(replace(ladder, assumed=None) for ladder in problem.ladders))
    fine, coarse = find(problem, method="local"), find(given, method="local")
    assert fine.cost < 0.95 * coarse.cost
    for column, codes in zip(fine.recoding.columns, problem.classes.codes, strict=True):
        # What each label was written for; another one has all of it or nothing.
        tree = finer(
            problem.ladders[problem.classes.index(column.name)],
            np.bincount(codes, weights=problem.classes.records),
        )
        meant = [
            frozenset(np.flatnonzero(step.codes == node).tolist())
            for step in tree.steps
            for node, label in enumerate(step.labels)
            if label in set(column.printed())
        ]
        for one, other in itertools.combinations(set(meant), 2):
            assert one <= other or other <= one or not one & other


@pytest.mark.slow
@pytest.mark.parametrize("keep", [(), ("sex",)])
def test_a_comparison_reads_the_finer_labels(keep: tuple[str, ...]) -> None:
    table = read(town(1500))
    release = anonymize(table, POLICY, plan=Plan(method="local", keep=keep))
    measured = compare(table, release, POLICY, labels=[], queries=5).losses.measure("leaf-loss")
    assert measured is not None
    assert release.chosen.cost == pytest.approx(measured.value)
