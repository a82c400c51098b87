"""Where suppression would erase a category, generalising is preferred, unless somebody says otherwise."""

from __future__ import annotations

import random
from dataclasses import replace

import numpy as np
import pyarrow as pa

import discreet
from discreet.classes import EquivalenceClasses
from discreet.policy.plan import Plan
from discreet.release.representation import erased_categories
from discreet.transform.recoding import Recoding

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
    (fewer,) = [other for other in release.alternatives if other.title == "few left out"]
    assert fewer.make().suppressed > 0


def test_a_part_that_is_significantly_more_than_its_share_counts() -> None:
    """Of 1,000 monks 150 go and of 9,000 others 50: 15 % where 2 % of all do. A tenth that everybody loses is nobody's."""

    def erased(gone_monks: int, gone_others: int) -> list[str]:
        jobs, rows = ["monk", "monk", "other", "other"], ["a", "b", "a", "b"]
        counts = [1000 - gone_monks, gone_monks, 9000 - gone_others, gone_others]
        classes = EquivalenceClasses.from_columns({"job": jobs, "row": rows}, counts=counts)
        kept = np.array([label == "a" for label in ("a", "b", "a", "b")])
        recoding = Recoding.of_groups(classes, np.arange(4), kept=kept, method="example")
        return [category.value for category in erased_categories(recoding) if category.attribute == "job"]

    assert erased(150, 50) == ["monk"]
    assert erased(150, 1350) == []
    assert erased(50, 5) == []


def test_it_can_be_turned_off_and_is_told() -> None:
    release = shown(Plan(shape="uniform", seconds=5, keep_representation=False))
    assert [category.value for category in erased_categories(release.recoding)] == ["x"]
    assert any("a large part" in note for note in release.notes)


def test_where_only_suppression_meets_the_requirements_it_is_told() -> None:
    release = shown(Plan(shape="uniform", seconds=5, keep=("sex",)))
    assert [category.value for category in erased_categories(release.recoding)] == ["x"]
    assert any("a large part" in note for note in release.notes)
