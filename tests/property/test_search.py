"""The optimum found equals brute force over the whole lattice, for every requirement and every objective."""

from __future__ import annotations

from dataclasses import replace
from unittest.mock import patch

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from discreet.privacy import (
    MODELS,
    AlphaKAnonymity,
    BetaLikeness,
    CKSafety,
    ConfidenceBounding,
    DeltaDisclosure,
    DeltaPresence,
    DistributionModel,
    EpsilonMAnonymity,
    GBalance,
    HAffiliation,
    KAnonymity,
    KEAnonymity,
    KMap,
    LDiversity,
    LinkedKAnonymity,
    LPlusDiversity,
    MultiAttributeLDiversity,
    PAlphaSensitivity,
    PersonalisedPrivacy,
    PPlusSensitivity,
    PrivacyModel,
    PSensitivity,
    TCloseness,
    WorstGroupProtection,
    XYPrivacy,
)
from discreet.search.lattice import evaluator
from discreet.search.lattice.anytime import search_anytime
from discreet.search.lattice.bounds import bound_by_parts, growing_bounds
from discreet.search.lattice.evaluator import LatticeResult
from discreet.search.lattice.search import search, walk
from discreet.search.problem import Evaluation, Grouper, Problem
from discreet.utility.objectives.registry import OBJECTIVES
from helpers.profiles import tries
from helpers.search_reference import Example, PlainPopulation, best_of_all, counted, examples, generalised

TREE = {"acne": ("skin", "any"), "flu": ("lung", "any"), "gastritis": ("stomach", "any")}
CATEGORY = {"acne": "mild", "flu": "mild", "gastritis": "bad", "∅": "unknown"}
WEIGHT = {"acne": 1.0, "flu": 0.75, "gastritis": 0.25, "∅": 0.5}
ALL: dict[str, PrivacyModel] = {
    "k": KAnonymity(2),
    "k records": KAnonymity(3, unit="records"),
    "k persons": KAnonymity(2, unit="persons"),
    "distinct l": LDiversity(2, "dx"),
    "entropy l": LDiversity(1.6, "dx", kind="entropy"),
    "recursive l": LDiversity(2, "dx", kind="recursive", c=1.5),
    "simple l": LDiversity(1.5, "dx", kind="simple"),
    "multi-attribute l": MultiAttributeLDiversity(2),
    "multi-attribute entropy l": MultiAttributeLDiversity(1.3, kind="entropy"),
    "l+": LPlusDiversity("dx", {"flu": 0.5, "acne": 0.7}),
    "p": PSensitivity(2, 2, "dx"),
    "p+": PPlusSensitivity(2, 2, "dx", CATEGORY),
    "p alpha": PAlphaSensitivity(2, 1.2, 2, "dx", WEIGHT),
    "alpha k": AlphaKAnonymity(0.6, 2, "dx"),
    "confidence": ConfidenceBounding(0.5, "dx", "flu"),
    "confidence given a": ConfidenceBounding(0.5, "dx", "flu", given=("a",)),
    "x y": XYPrivacy(2, 0.6, "dx"),
    "x y given a": XYPrivacy(3, 0.6, "dx", given=("a",)),
    "t": TCloseness(0.3, "dx"),
    "t from the original": TCloseness(0.3, "dx", reference="original"),
    "ordered t": TCloseness(0.2, "pay", distance="ordered"),
    "hierarchical t": TCloseness(0.3, "dx", distance="hierarchical", hierarchy=TREE),
    "beta": BetaLikeness(0.8, "dx"),
    "beta from the original": BetaLikeness(0.8, "dx", reference="original"),
    "enhanced beta": BetaLikeness(0.8, "dx", kind="enhanced"),
    "delta": DeltaDisclosure(1.5, "dx"),
    "delta from the original": DeltaDisclosure(1.5, "dx", reference="original"),
    "k e": KEAnonymity(2, 3, "pay"),
    "epsilon m": EpsilonMAnonymity(1, 1.5, "pay"),
    "relative epsilon m": EpsilonMAnonymity(0.5, 1.5, "pay", kind="relative"),
    "worst group": WorstGroupProtection(0.6, 2, "pay"),
    "k map": KMap(4),
    "estimated k map": KMap(9, estimator="poisson", sampling_fraction=0.1),
    "presence": DeltaPresence(0.6),
    "linked k": LinkedKAnonymity(2),
    "balance": GBalance(0.4),
    "affiliation": HAffiliation(0.7, "dx"),
    "c k": CKSafety(0.9, 1, "dx"),
    "personal": PersonalisedPrivacy(0.6, "dx", "wish", TREE),
}
FEW_ROWS = 7
"""Rows of a table of which every set of classes is tried."""
WIDE = [name for name, model in ALL.items() if model.needs_attributes]


def test_every_model_is_among_the_cases() -> None:
    assert {model.id for model in ALL.values()} == set(MODELS)


def agree(
    found: LatticeResult, problem: Problem, every: dict[tuple[int, ...], tuple[float, int, int]]
) -> None:
    if not every:
        assert found.best is None
        return
    scale = problem.pricing.worst
    expected = min(every, key=lambda node: (round(every[node][0] / scale, 10), every[node][1], node))
    assert found.best is not None
    assert found.best.cost == pytest.approx(every[expected][0], abs=1e-9 * scale)
    assert (found.best.node, found.best.suppressed) == (expected, every[expected][1])
    if not any(isinstance(model, DistributionModel) and model.relative for model in problem.models):
        # Which groups go is no choice then; where it is one, equally good ones may differ in number.
        assert found.best.groups == every[expected][2]
    assert found.optimal
    assert found.bound == pytest.approx(found.best.cost)
    assert found.gap == 0.0


def all_ways_agree(example: Example, models: list[PrivacyModel], objective: str) -> None:
    if any(getattr(model, "reference", "") == "release" for model in models):
        example = replace(example, rows=example.rows[:FEW_ROWS])
    k = max(
        (
            model.k
            for model in models
            if hasattr(model, "k")
            and model.id not in ("x-y-privacy", "k-e-anonymity", "k-map", "linked-k-anonymity")
        ),
        default=1,
    )
    every = best_of_all(example, models, objective, k)
    problem = example.problem(models, objective)
    agree(search(problem, threads=1), problem, every)
    agree(search_anytime(problem, seconds=None, threads=1), problem, every)
    full = walk(problem)
    agree(full, problem, every)
    assert full.evaluated == problem.nodes


@pytest.mark.parametrize("case", ALL)
@given(example=examples(), objective=st.sampled_from(sorted(OBJECTIVES)))
@tries(25)
def test_the_optimum_under_every_model(case: str, example: Example, objective: str) -> None:
    all_ways_agree(example, [ALL[case]], objective)


@pytest.mark.parametrize("objective", OBJECTIVES)
@given(
    example=examples(),
    cases=st.lists(st.sampled_from(sorted(ALL)), max_size=3, unique=True),
)
@tries(40)
def test_the_optimum_of_every_objective(objective: str, example: Example, cases: list[str]) -> None:
    all_ways_agree(example, [ALL[case] for case in cases], objective)


@given(
    example=examples(),
    cases=st.lists(st.sampled_from(WIDE), min_size=2, max_size=3, unique=True),
    k=st.sampled_from([[], [KAnonymity(2)]]),
)
def test_the_optimum_where_requirements_take_classes_from_each_other(
    example: Example, cases: list[str], k: list[PrivacyModel]
) -> None:
    all_ways_agree(example, [*k, *(ALL[case] for case in cases)], "loss")


@pytest.mark.parametrize("objective", OBJECTIVES)
@given(example=examples(), cases=st.lists(st.sampled_from(sorted(ALL)), min_size=1, max_size=2, unique=True))
@tries(50)
def test_no_node_costs_less_than_its_bounds(objective: str, example: Example, cases: list[str]) -> None:
    """Each bound by itself, not only through the optimum: every pair of a node and a coarser one."""
    problem = example.problem([ALL[case] for case in cases], objective)
    with_all = walk_all(problem)
    slack = 1e-9 * problem.pricing.worst
    discount = min(problem.suppression_weight, 1.0)
    for low, one in with_all.items():
        if one.suppressed > problem.allowed:
            continue
        assert problem.below(low) <= one.cost + slack
        if problem.objective.monotone:
            assert discount * one.generalisation <= one.cost + slack
        for high, above in with_all.items():
            if all(a <= b for a, b in zip(low, high, strict=True)):
                assert problem.below(low) + above.floor <= one.cost + slack
                assert above.least <= one.cost + slack
                assert above.floor_suppressed <= one.suppressed
                if problem.objective.monotone:
                    assert one.generalisation <= above.generalisation + slack


def walk_all(problem: Problem) -> dict[tuple[int, ...], Evaluation]:
    grouper = Grouper(problem)
    nodes = [tuple(map(int, node)) for node in np.ndindex(tuple(h + 1 for h in problem.heights))]
    return {node: problem.evaluate(node, grouper) for node in nodes}


@pytest.mark.parametrize("room", [1, 4, 12])
@pytest.mark.parametrize("objective", OBJECTIVES)
@given(
    example=examples(),
    cases=st.lists(st.sampled_from(sorted(ALL)), min_size=1, max_size=2, unique=True),
)
@tries(25)
def test_parts_of_the_attributes_bound_the_whole(
    room: int, objective: str, example: Example, cases: list[str]
) -> None:
    problem = example.problem([KAnonymity(2), *(ALL[case] for case in cases)], objective)
    bound = bound_by_parts(problem, nodes=room, threads=1)
    growing = list(growing_bounds(problem, least=1, most=room, threads=1))
    assert growing == sorted(growing)
    assert growing[-1] >= bound
    for one in walk_all(problem).values():
        # What shows nobody is no release.
        assert (
            not one.groups
            or one.suppressed > problem.allowed
            or growing[-1] <= one.cost + 1e-9 * problem.pricing.worst
        )


@given(example=examples(), objective=st.sampled_from(sorted(OBJECTIVES)))
@tries(25)
def test_threads_change_nothing(example: Example, objective: str) -> None:
    problem = example.problem([KAnonymity(2), TCloseness(0.4, "dx")], objective)
    with patch.object(evaluator, "THREADED_CLASSES", 0):
        alone, together = search(problem, threads=1), search(problem, threads=3)
    assert alone == together


# ── what searches rely on ────────────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize("case", ALL)
@given(example=examples(), data=st.data())
@tries(60)
def test_merging_keeps_what_a_model_promises(case: str, example: Example, data: st.DataObject) -> None:
    """Monotone: all parts hold, so does the merged class. Absorbing: one part is enough."""
    model = ALL[case]
    nodes = example.nodes()
    low = data.draw(st.sampled_from(nodes))
    high = data.draw(
        st.sampled_from([node for node in nodes if all(a <= b for a, b in zip(low, node, strict=True))])
    )
    fine, coarse = generalised(example, low), generalised(example, high)
    before, after = holding(example, low, model), holding(example, high, model)
    for merged in set(coarse):
        parts = {part for part, whole in zip(fine, coarse, strict=True) if whole == merged}
        if model.absorbing and any(before[part] for part in parts):
            assert after[merged]
        if model.monotone and not model.needs_attributes and all(before[part] for part in parts):
            assert after[merged]
    if model.monotone and all(before.values()):
        assert all(after.values())


def holding(example: Example, node: tuple[int, ...], model: PrivacyModel) -> dict[tuple[str, ...], bool]:
    keys = generalised(example, node)
    rows = [
        {**row, **dict(zip(example.names, key, strict=True))}
        for row, key in zip(example.rows, keys, strict=True)
    ]
    classes = replace(counted(rows, example.names, example.events), outside=PlainPopulation(example))
    mask = model.holds(classes)
    return {tuple(classes.labels(place).values()): bool(mask[place]) for place in range(len(classes))}


def test_which_models_absorb() -> None:
    absorbing = {name for name, model in ALL.items() if model.absorbing}
    assert absorbing == {"k", "k records", "k persons", "distinct l", "p", "p+", "p alpha", "k e"} | {
        "k map",
        "estimated k map",
    }
