"""What is called best or unreachable, against trying every node and every set of suppressed classes."""

from __future__ import annotations

from pathlib import Path

import pytest
from plain_search import Task, best, random_task
from plain_tables import TABLES

import discreet
from discreet import BetaLikeness, DeltaDisclosure, KAnonymity, LDiversity, Plan, TCloseness
from discreet.policy.plan import Method

PROFILE = """title = "Nothing of its own"
description = "Only what the policy requires."
source = "none"
date = 2026-01-01
"""


def policy_of(task: Task, folder: Path) -> discreet.Policy:
    (folder / "own.toml").write_text(PROFILE, encoding="utf-8")
    for name, tree in task.trees.items():
        (folder / f"{name}.csv").write_text(
            "\n".join(";".join(path) for path in tree) + "\n", encoding="utf-8"
        )
    policy = discreet.Policy.of(
        quasi_identifiers=task.table.quasi_identifiers,
        sensitive=task.table.sensitive,
        require=[KAnonymity(task.k), LDiversity(task.distinct, "disease"), *nearness(task)],
        profile=str(folder / "own.toml"),
    )
    return policy.generalise({name: folder / f"{name}.csv" for name in task.trees})


def nearness(task: Task) -> list[TCloseness | BetaLikeness | DeltaDisclosure]:
    if task.near is None:
        return []
    kind = {"t": TCloseness, "beta": BetaLikeness, "delta": DeltaDisclosure}[task.near.model]
    return [kind(task.near.most, "disease", reference=task.near.reference)]  # type: ignore[arg-type]


@pytest.mark.parametrize("near", [False, True], ids=["k and l", "distances"])
@pytest.mark.parametrize("seed", range(2 * TABLES))
def test_the_best_is_the_best_and_unreachable_is_unreachable(seed: int, near: bool, tmp_path: Path) -> None:
    task = random_task(seed, near=near)
    expected = best(task)
    plan = Plan(method="optimal", suppression_limit=task.limit)
    policy = policy_of(task, tmp_path)
    if expected is None:
        with pytest.raises(discreet.DiscreetError, match="no generalisation"):
            discreet.anonymize(task.table.to_arrow(), policy, plan=plan)
        return
    release = discreet.anonymize(task.table.to_arrow(), policy, plan=plan)
    assert release.chosen.optimal
    assert release.chosen.cost == pytest.approx(expected.loss, abs=1e-8)


@pytest.mark.parametrize("method", ["subtree", "local", "mondrian", "clustering", "microaggregation"])
@pytest.mark.parametrize("seed", range(TABLES // 5))
def test_no_method_says_unreachable_where_a_uniform_generalisation_will_do(
    seed: int, method: Method, tmp_path: Path
) -> None:
    task = random_task(seed, near=True)
    plan = Plan(method=method, suppression_limit=task.limit)
    try:
        release = discreet.anonymize(task.table.to_arrow(), policy_of(task, tmp_path), plan=plan)
    except discreet.DiscreetError:
        assert best(task) is None
        return
    assert release.verdict.passes
