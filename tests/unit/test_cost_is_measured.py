"""The cost that a release names is the number of its objective: what a comparison measures on the written file."""

from __future__ import annotations

import json
import math
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest

from discreet.classes import EquivalenceClasses
from discreet.engine.read import read
from discreet.policy import Policy
from discreet.policy.plan import METHODS as PLANNED
from discreet.policy.plan import Plan
from discreet.policy.policy import ColumnPolicy
from discreet.privacy import KAnonymity
from discreet.release.anonymize import anonymize
from discreet.release.compare import compare
from discreet.release.frontier import compare_methods
from discreet.release.release import Release
from discreet.search import methods
from discreet.search.cost import CELL_MEASURES, cost_of
from discreet.search.methods import METHODS
from discreet.search.problem import make_problem
from discreet.table.hierarchies.categories import Order
from discreet.table.hierarchies.learn import learn
from discreet.table.hierarchies.numbers import Intervals
from discreet.utility.losses import Losses
from discreet.utility.objectives.aggregates import CellObjective
from discreet.utility.objectives.cells import NonUniformEntropy
from discreet.utility.objectives.registry import OBJECTIVES

K = 3
NUMBERS = ["age", "rooms"]


def people(rows: int = 60) -> pa.Table:
    """People with nulls; ages and rooms are numbers, the job is not."""
    rng = np.random.default_rng(4)
    ages = [int(age) if place % 11 else None for place, age in enumerate(rng.integers(20, 60, rows))]
    return pa.table(
        {
            "age": ages,
            "rooms": rng.integers(1, 6, rows),
            "job": rng.choice(
                ["baker", "cook", "judge", "nurse", "pilot"], rows, p=[0.4, 0.3, 0.1, 0.1, 0.1]
            ),
            "ill": rng.choice(["no", "yes"], rows),
        }
    )


def policy_of(objective: str, *, given: bool = True) -> Policy:
    """A policy with hierarchies that somebody gave, or with learned ones; widths need columns of numbers."""
    trees = {
        "age": Intervals(widths=(5, 10, 20)),
        "rooms": Intervals(widths=(2, 4)),
        "job": Order(order=("baker", "cook", "nurse", "pilot", "judge"), sizes=(2, 4)),
    }
    names = NUMBERS if objective == "interval" else [*NUMBERS, "job"]
    columns = [
        ColumnPolicy(name, "quasi-identifier", hierarchy=trees[name] if given else None) for name in names
    ]
    return Policy(
        columns=(*columns, ColumnPolicy("ill", "sensitive")),
        requirements=(KAnonymity(K),),
        profile="research-partner-3",
        plan=Plan(objective=objective, suppression_limit=0.1, weights={"age": 2.0}, unexamined="keep"),
        # The number of its row tells which record became which.
        unknown="keep",
    )


def overall(name: str) -> Callable[[Losses], float]:
    return lambda losses: losses.measure(name).value  # type: ignore[union-attr]


def shares(losses: Losses, name: str) -> dict[str, float]:
    """The measure of each attribute, in the order of the columns, and its weight."""
    found = {m.attribute: m.value for m in losses.attributes if m.name == name and m.attribute != "ill"}
    return {str(attribute): value for attribute, value in found.items()}


def weight(name: str, names: list[str]) -> float:
    return (2.0 if name == "age" else 1.0) / (len(names) + 1)


def mean_bits(losses: Losses, name: str) -> float:
    """Bits per cell, weighted."""
    bits = shares(losses, name)
    return sum(value * weight(attribute, list(bits)) for attribute, value in bits.items()) / 60


def geometric(losses: Losses) -> float:
    found = shares(losses, "leaf-loss")
    return math.prod((1 + value) ** weight(name, list(found)) for name, value in found.items()) - 1


def largest(losses: Losses) -> float:
    found = shares(losses, "leaf-loss")
    return max(value * weight(name, list(found)) * len(found) for name, value in found.items())


MEASURED: dict[str, Callable[[Losses], float]] = {
    "loss": overall("leaf-loss"),
    "loss-geometric": geometric,
    "loss-max": largest,
    "ncp": overall("certainty-penalty"),
    "precision": overall("height-loss"),
    "interval": overall("interval-loss"),
    "entropy": lambda losses: mean_bits(losses, "non-uniform-entropy") / math.log2(60),
    "conditional-entropy": lambda losses: mean_bits(losses, "conditional-entropy"),
    "discernibility": overall("discernibility"),
    "ambiguity": overall("ambiguity"),
    "classification": lambda losses: losses.measure("classification-metric", "ill").value,  # type: ignore[union-attr]
    "kl-divergence": overall("joint-kl-divergence"),
}
"""What a comparison says for each objective; the average class size is asked apart, as it needs k."""


def written(method: str, policy: Policy, folder: Path) -> tuple[Release, Losses]:
    """A release, and what a comparison of its file with the original says."""
    source = people()
    keyed = source.append_column("row", pa.array(range(len(source))))
    release = anonymize(keyed, policy, plan=replace(policy.plan, method=method))  # type: ignore[arg-type]
    path = release.save(folder / "release.parquet")
    return release, compare(keyed, path, policy, key="row", labels=[], queries=5).losses


@pytest.mark.slow
@pytest.mark.parametrize("objective", OBJECTIVES)
@pytest.mark.parametrize("method", METHODS)
def test_the_cost_is_what_a_comparison_measures(method: str, objective: str, tmp_path: Path) -> None:
    policy = policy_of(objective)
    release, losses = written(method, policy, tmp_path)
    document = release.to_dict()
    assert document["objective"] == objective
    if objective == "average-class-size":
        least = float(losses.measure("normalised-average-class-size").value)  # type: ignore[union-attr]
        smallest = int(release.after.classes.records.min())
        measured = least * smallest / K
    else:
        measured = MEASURED[objective](losses)
    # What stands in the place of values says nothing about them, also where it is one of the original's.
    if math.isnan(measured) or (method == "microaggregation" and objective in CELL_MEASURES):
        assert document["cost"] is None
        assert str(document["cost_undefined"]).startswith("not defined here")
    else:
        assert document["cost"] == pytest.approx(measured, rel=1e-9)
        assert document["cost_undefined"] is None


@pytest.mark.slow
@pytest.mark.parametrize("method", METHODS)
def test_only_means_leave_a_loss_undefined(method: str, tmp_path: Path) -> None:
    release, _ = written(method, policy_of("loss"), tmp_path)
    assert math.isnan(release.chosen.cost) == (method == "microaggregation")


def test_the_most_frequent_category_in_the_place_of_others_is_no_precise_value() -> None:
    table = pa.table({"job": ["baker", "cook", "cook", "judge", "judge", "nurse"]})
    policy = Policy.of(quasi_identifiers=["job"], require=[KAnonymity(3)], profile="research-partner-3")
    release = anonymize(table, policy, plan=Plan(method="microaggregation"))
    assert release.chosen.undefined.startswith("not defined here")


@pytest.mark.parametrize("method", ["mondrian", "clustering"])
def test_levels_of_a_hierarchy_that_nobody_gave_are_no_scale_for_intervals(
    method: str, tmp_path: Path
) -> None:
    release, losses = written(method, policy_of("precision", given=False), tmp_path)
    assert math.isnan(losses.measure("height-loss").value)  # type: ignore[union-attr]
    assert release.chosen.undefined == "not defined here: there is no hierarchy to count levels in"


@pytest.mark.slow
@pytest.mark.parametrize(
    ("method", "objective", "minimised"),
    [
        ("optimal", "ambiguity", "ambiguity"),
        ("subtree", "discernibility", "discernibility"),
        ("local", "ncp", "ncp"),
        ("local", "discernibility", "loss"),
        ("mondrian", "discernibility", "loss"),
        ("clustering", "entropy", "entropy"),
        ("clustering", "kl-divergence", "loss"),
        ("microaggregation", "loss", "squared distance"),
    ],
)
def test_a_method_says_what_it_minimised(method: str, objective: str, minimised: str, tmp_path: Path) -> None:
    release, _ = written(method, policy_of(objective), tmp_path)
    told = json.loads(json.dumps(release.to_dict()))
    assert told["minimised"] == minimised
    said = f"cannot follow the objective {objective}: it minimised {minimised}"
    # Terminal, JSON, report and page show the notes.
    assert any(said in note for note in told["notes"]) == (minimised != objective)
    assert (said in " ".join(str(release).split())) == (minimised != objective)


def test_mondrian_weighs_columns_by_the_objective_where_it_charges_them_differently() -> None:
    """A column in which 19 of 20 have one value has few bits: cuts are better spent where the bits are."""
    better = 0
    for seed in range(3):
        rng = np.random.default_rng(seed)
        columns = {
            "rare": rng.choice(["x", "y"], 600, p=[0.95, 0.05]).tolist(),
            "even": rng.integers(0, 40, 600).tolist(),
            "falling": np.minimum(rng.geometric(0.5, 600), 9).tolist(),
            "town": rng.choice(list("pqrstu"), 600).tolist(),
        }
        classes = EquivalenceClasses.from_columns(columns)
        ladders = [learn(domain).ladder(domain) for domain in classes.attributes]
        objective = CellObjective(NonUniformEntropy())
        problem = make_problem(classes, ladders, [KAnonymity(5)], suppression_limit=0.0, objective=objective)
        costs = []
        for bits in (methods.BITS, ()):
            with pytest.MonkeyPatch.context() as patch:
                patch.setattr(methods, "BITS", bits)
                costs.append(cost_of(METHODS["mondrian"](problem, 60.0, lambda _: None), problem).value)  # type: ignore[arg-type]
        assert costs[0] <= costs[1]
        better += costs[0] < costs[1] - 1e-6
    assert better


def test_subtree_follows_its_objective(tmp_path: Path) -> None:
    by = {name: written("subtree", policy_of(name), tmp_path)[1] for name in ("loss", "discernibility")}
    for objective, losses in by.items():
        assert MEASURED[objective](losses) <= min(MEASURED[objective](other) for other in by.values()) + 1e-12


@pytest.mark.slow
def test_methods_are_compared_by_the_loss_that_a_comparison_measures(tmp_path: Path) -> None:
    policy = policy_of("loss")
    policy = replace(policy, plan=replace(policy.plan, weights={}))
    methods = [method for method in PLANNED if method not in ("auto", "anytime")]
    for outcome in compare_methods(read(people()), policy, methods=methods):
        _, losses = written(outcome.method, policy, tmp_path)
        measured = MEASURED["loss"](losses)
        assert (outcome.loss is None) == math.isnan(measured)
        if outcome.loss is not None:
            assert outcome.loss == pytest.approx(measured)
            assert not outcome.failed
