"""Where suppression would erase a category, generalising is preferred, unless somebody says otherwise."""

from __future__ import annotations

import random
from dataclasses import replace

import pyarrow as pa

import discreet
from discreet.policy.plan import Plan
from discreet.release.representation import erased_categories

POLICY = replace(
    discreet.Policy.of(quasi_identifiers=["age", "sex"], require=[discreet.KAnonymity(8)]),
    profile="research-partner-3",
)


def people() -> pa.Table:
    """300 people, six of whom call themselves x: they are fewer than a class must have."""
    dice = random.Random(9)
    sex = [dice.choice("fm") for _ in range(294)] + ["x"] * 6
    return pa.table({"age": [30 + dice.randrange(6) for _ in sex], "sex": sex})


def shown(plan: Plan) -> discreet.Release:
    return discreet.anonymize(people(), POLICY, plan=plan)


def test_by_default_nobody_is_erased_and_the_other_release_stands_beside_it() -> None:
    release = shown(Plan(shape="uniform", seconds=5))
    assert erased_categories(release.recoding) == ()
    assert release.suppressed == 0
    assert "erasing a category" in release.chosen.why
    (fewer,) = [other for other in release.alternatives if other.title == "a few records suppressed"]
    assert fewer.make().suppressed > 0


def test_it_can_be_turned_off_and_is_told() -> None:
    release = shown(Plan(shape="uniform", seconds=5, keep_representation=False))
    assert [category.value for category in erased_categories(release.recoding)] == ["x"]
    assert any("a quarter or more" in note for note in release.notes)


def test_where_only_suppression_meets_the_requirements_it_is_told() -> None:
    release = shown(Plan(shape="uniform", seconds=5, keep=("sex",)))
    assert [category.value for category in erased_categories(release.recoding)] == ["x"]
    assert any("a quarter or more" in note for note in release.notes)
