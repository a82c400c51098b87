"""A freer method is never worse than a less free one whose solution it could take, by whatever is to be lost least."""

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from discreet.privacy import KAnonymity, LDiversity, PrivacyModel, TCloseness
from discreet.search.contest import find
from discreet.search.cost import cost_of
from discreet.search.lattice.search import search
from discreet.search.lattice.subtree import subtree
from discreet.search.problem import Problem
from discreet.transform.recoding import Recoding
from discreet.utility.objectives.registry import OBJECTIVES
from helpers.profiles import tries
from helpers.search_reference import Example, Tree, examples

REQUIREMENTS: dict[str, list[PrivacyModel]] = {
    "k": [KAnonymity(2)],
    "k and l": [KAnonymity(2), LDiversity(2, "dx")],
    "k and t": [KAnonymity(2), TCloseness(0.4, "dx")],
    "entropy l": [LDiversity(1.6, "dx", kind="entropy")],
    "k, l and t": [KAnonymity(3), LDiversity(2, "dx"), TCloseness(0.3, "pay", distance="ordered")],
}


def telling(tree: Tree) -> Tree:
    """A hierarchy without levels below the root that say no more than the root: a release that shows those shows nothing."""
    levels = list(zip(*tree, strict=True))
    middle = [level for level in levels[1:-1] if len(set(level)) > 1]
    return [list(path) for path in zip(levels[0], *middle, levels[-1], strict=True)]


def problem_of(example: Example, models: list[PrivacyModel], objective: str) -> Problem:
    # Of a column with one value nothing can be lost, and measures do not agree on what * costs there.
    assume(all(len(tree) > 1 for tree in example.trees.values()))
    example = replace(example, trees={name: telling(tree) for name, tree in example.trees.items()})
    return example.problem(models, objective)


def within_limit(recoding: Recoding, problem: Problem) -> bool:
    return recoding.suppressed_records <= problem.allowed


@given(examples(), st.sampled_from(list(REQUIREMENTS)), st.sampled_from(list(OBJECTIVES)))
@tries(150)
def test_local_loses_no_more_than_subtree_and_subtree_no_more_than_full_domain(
    example: Example, required: str, objective: str
) -> None:
    problem = problem_of(example, REQUIREMENTS[required], objective)
    best = search(problem).best
    if best is None:
        return
    slack = 1e-9 * problem.pricing.worst
    less_free = subtree(problem)
    assert within_limit(less_free, problem)
    assert cost_of(less_free, problem).value <= best.cost + slack
    free = find(problem, method="local")
    assert within_limit(free.recoding, problem)
    assert free.cost <= cost_of(less_free, problem).value + slack


@given(examples(), st.sampled_from(list(REQUIREMENTS)), st.sampled_from(list(OBJECTIVES)))
@tries(150)
def test_the_cost_of_a_recoding_is_that_of_its_node(example: Example, required: str, objective: str) -> None:
    problem = problem_of(example, REQUIREMENTS[required], objective)
    best = search(problem).best
    if best is None:
        return
    owner, kept = problem.partition(best)
    recoding = Recoding.of_node(problem.classes, problem.ladders, best.node, kept[owner], method="optimal")
    measured = cost_of(recoding, problem)
    assert measured.defined
    assert measured.value == pytest.approx(best.cost, abs=1e-9 * problem.pricing.worst)
