"""What is called best or unreachable, against trying every node and every set of suppressed classes."""

from __future__ import annotations

from pathlib import Path

import pytest
from plain_search import Task, best, random_task
from plain_tables import TABLES

import discreet
from discreet import KAnonymity, LDiversity, Plan

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
        require=[KAnonymity(task.k), LDiversity(task.distinct, "disease")],
        profile=str(folder / "own.toml"),
    )
    return policy.generalise({name: folder / f"{name}.csv" for name in task.trees})


@pytest.mark.parametrize("seed", range(2 * TABLES))
def test_the_best_is_the_best_and_unreachable_is_unreachable(seed: int, tmp_path: Path) -> None:
    task = random_task(seed)
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
