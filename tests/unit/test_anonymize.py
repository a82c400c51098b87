"""Anonymising by hand-sized tables: the least change, what is told about it, and what is refused."""

from __future__ import annotations

import math
from dataclasses import replace
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest

from discreet.classes import EquivalenceClasses
from discreet.engine.read import read
from discreet.errors import GoalUnreachable, InvalidParameter, InvalidPolicy, UnknownColumn
from discreet.policy import Policy, load
from discreet.policy.file import dumps, loads
from discreet.policy.plan import METHODS, Plan
from discreet.privacy import KAnonymity, LDiversity, TCloseness
from discreet.release.anonymize import anonymize
from discreet.release.frontier import compare_methods
from discreet.release.profile import load_profile
from discreet.release.recommend import recommend
from discreet.release.release import Release
from discreet.release.requirements import goals
from discreet.search.suppression import consistent
from discreet.table.hierarchies.numbers import Intervals
from discreet.transform.recoding import Recoding

EIGHT = pa.table(
    {
        "age": [21, 22, 23, 24, 31, 32, 33, 34],
        "sex": ["f", "m", "m", "f", "f", "m", "m", "m"],
        "ill": ["flu", "cold", "flu", "cold", "flu", "cold", "flu", "cold"],
        "nr": [8, 7, 6, 5, 4, 3, 2, 1],
    }
)
POLICY = Policy.of(
    quasi_identifiers=["age", "sex"],
    sensitive=["ill"],
    require=[KAnonymity(4)],
    profile="research-partner-3",
).generalise({"age": Intervals(widths=(2, 10))})


def rows_of(release: Release) -> list[dict[str, object]]:
    return release.table.engine.to_arrow(release.table).to_pylist()  # type: ignore[no-any-return]


def test_the_least_change_by_hand() -> None:
    """Four persons share a decade only if the sex is not shown; nothing finer makes groups of four."""
    release = anonymize(EIGHT, replace(POLICY, unknown="keep"), plan=Plan(unexamined="keep", order="kept"))
    assert release.recoding.levels == {"age": 2, "sex": 1}
    assert [row["age"] for row in rows_of(release)] == ["[20, 29]"] * 4 + ["[30, 39]"] * 4
    assert {row["sex"] for row in rows_of(release)} == {"*"}
    assert [row["nr"] for row in rows_of(release)] == EIGHT["nr"].to_pylist()
    assert release.suppressed == 0
    assert release.chosen.optimal
    assert release.before.measure("k-anonymity").value == 1
    assert release.after.measure("k-anonymity").value == 4


def test_what_already_holds_is_left_alone_with_its_types() -> None:
    rows = pa.table({"age": [31, 31, 31, None, None, None], "day": [1.5] * 6})
    policy = Policy.of(
        quasi_identifiers=["age", "day"], require=[KAnonymity(3)], profile="research-partner-3"
    )
    release = anonymize(rows, policy, plan=Plan(order="kept"))
    assert release.chosen.cost == 0
    assert release.table.engine.to_arrow(release.table).equals(rows)


def test_nan_and_null_of_a_quasi_identifier_are_one_and_the_same_in_the_release(tmp_path: Path) -> None:
    """They were counted as one class; whoever could tell them apart in the file would see smaller ones."""
    rows = pa.table({"x": pa.array([math.nan, None, math.nan, 0.0, -0.0, 0.0])})
    policy = Policy.of(quasi_identifiers=["x"], require=[KAnonymity(3)], profile="research-partner-3")
    release = anonymize(rows, policy, plan=Plan(order="kept"))
    assert [row["x"] for row in rows_of(release)] == [None, None, None, 0.0, 0.0, 0.0]
    assert not any(math.copysign(1, float(str(row["x"]))) < 0 for row in rows_of(release)[3:])
    release.save(tmp_path / "out.csv")
    assert (tmp_path / "out.csv").read_text() == '"x"\n\n\n\n0\n0\n0\n'


def test_truth_values_become_sets_not_intervals() -> None:
    rows = pa.table(
        {"a": [True, False, True, False], "b": ["x", "x", "y", "y"], "c": [True, False, None, None]}
    )
    policy = Policy.of(
        quasi_identifiers=["a", "b", "c"], require=[KAnonymity(4)], profile="research-partner-3"
    )
    release = anonymize(rows, policy, plan=Plan(method="mondrian"))
    assert not any("[" in str(value) for row in rows_of(release) for value in row.values())


def test_suppression_instead_of_generalisation() -> None:
    rows = pa.table({"city": ["a"] * 15 + ["b", "c", "d"]})
    policy = Policy.of(quasi_identifiers=["city"], require=[KAnonymity(3)], profile="research-partner-3")
    dropped = anonymize(rows, policy, plan=Plan(keep=("city",), suppression_limit=0.2))
    assert [row["city"] for row in rows_of(dropped)] == ["a"] * 15
    starred = anonymize(
        rows, policy, plan=Plan(suppressed="star", keep=("city",), order="kept", suppression_limit=0.2)
    )
    assert [row["city"] for row in rows_of(starred)] == ["a"] * 15 + ["*"] * 3
    assert any("shown with *" in note for note in starred.notes)
    nothing = anonymize(rows, policy, plan=Plan(suppression_limit=0))
    assert {row["city"] for row in rows_of(nothing)} == {"a", "{b, c, d}"}


def test_an_unreachable_goal_says_what_came_nearest() -> None:
    with pytest.raises(GoalUnreachable) as told:
        anonymize(EIGHT, POLICY.require(LDiversity(3, "ill")))
    assert told.value.nearest == "only a release without records, which is none"
    assert "allow more suppression" in told.value.remedy


@pytest.mark.parametrize("method", METHODS)
def test_no_method_returns_an_empty_release(method: str) -> None:
    with pytest.raises(GoalUnreachable):
        anonymize(
            EIGHT,
            POLICY.require(LDiversity(3, "ill")),
            plan=Plan(method=method, suppression_limit=1.0, seconds=3600),  # type: ignore[arg-type]
        )


def test_the_limit_on_a_prosecutor_is_a_k() -> None:
    classes = EquivalenceClasses.from_columns({"age": [1, 2]})
    bare = Policy.of(quasi_identifiers=["age"], profile="ema-0070")
    assert KAnonymity(11) in goals(bare, load_profile("ema-0070"), classes)


def test_nothing_asked_is_refused(tmp_path: Path) -> None:
    (tmp_path / "bare.toml").write_text('title="t"\ndescription="d"\nsource="s"\ndate=2026-01-01\nrules=[]\n')
    with pytest.raises(InvalidPolicy, match="requires anything"):
        anonymize(EIGHT, Policy.of(quasi_identifiers=["age"], profile=str(tmp_path / "bare.toml")))


@pytest.mark.parametrize(
    ("plan", "error"),
    [
        (Plan(keep=("sx",)), UnknownColumn),
        (Plan(weights={"ill": 2}), UnknownColumn),
        (Plan(method="magic"), InvalidParameter),  # type: ignore[arg-type]
        (Plan(objective="beauty"), InvalidParameter),
    ],
)
def test_a_plan_that_makes_no_sense_is_refused(plan: Plan, error: type[Exception]) -> None:
    with pytest.raises(error):
        anonymize(EIGHT, POLICY, plan=plan)


def test_who_holds_only_the_release_finds_the_requirements_met_too() -> None:
    """City b is as far from all rows as it may be; once c is gone it is farther from the rest, and goes too."""
    classes = EquivalenceClasses.from_columns(
        {"city": ["a"] * 8 + ["b"] * 4 + ["c"] * 4},
        sensitive={"ill": ["x"] * 4 + ["y"] * 4 + ["x"] * 3 + ["y"] + ["x"] * 4},
    )
    owner = np.arange(3)
    kept = np.array([True, True, False])
    recoding = Recoding.of_groups(classes, owner, kept=kept, method="test")
    model = TCloseness(0.1, "ill")
    judged = consistent(recoding, [model], allowed=16)
    assert model.holds(judged.shown()).all()
    assert judged.kept.sum() < recoding.kept.sum()


def test_the_plan_of_a_policy_file_is_used_and_written(tmp_path: Path) -> None:
    text = """profile = "research-partner-3"
unknown = "drop"
[anonymize]
method = "mondrian"
objective = "classification"
suppression_limit = 0.5
suppression_weight = 2.0
weights = {age = 2.0}
keep = []
suppressed = "star"
person = "drop"
seconds = 5.0
label = "ill"
[columns.age]
role = "quasi-identifier"
[columns.ill]
role = "sensitive"
"""
    (tmp_path / "policy.toml").write_text(text)
    policy = load(tmp_path / "policy.toml")
    assert policy.plan == Plan(
        method="mondrian",
        objective="classification",
        suppression_limit=0.5,
        suppression_weight=2.0,
        weights={"age": 2.0},
        suppressed="star",
        person="drop",
        seconds=5.0,
        label="ill",
    )
    assert loads(dumps(policy)) == policy
    assert anonymize(EIGHT, policy.replace(requirements=[KAnonymity(4)])).chosen.method == "mondrian"
    with pytest.raises(InvalidPolicy, match="line 3"):
        loads('profile = "open-data"\n[anonymize]\nmethod = "magic"\n')


def test_methods_side_by_side() -> None:
    found = {
        one.method: one
        for one in compare_methods(read(EIGHT), POLICY, methods=["optimal", "mondrian", "local"])
    }
    assert all(one.loss is not None and one.max_risk == 0.25 for one in found.values())
    assert found["mondrian"].loss is not None
    assert found["optimal"].loss is not None
    assert found["mondrian"].loss <= found["optimal"].loss
    assert [one.method for one in found.values() if one.best]


def test_advice_by_hand() -> None:
    """The nearest decade and no sex is the only generalisation; age alone or sex alone is not enough."""
    advice = recommend(read(EIGHT), POLICY)
    assert [one.levels for one in advice.recommendations] == [{"age": 2, "sex": 1}]
    only = recommend(read(EIGHT), POLICY.replace(requirements=[KAnonymity(8)]))
    assert [one.levels for one in only.recommendations] == [{"age": 3, "sex": 1}]
    costs = {one.requirement: one for one in only.prices.requirements}
    eight = costs["every class has at least 8 persons"]
    assert eight.loss_without is not None
    assert eight.loss_without < eight.loss_with


def test_too_few_people_for_a_class_are_told_before_any_search() -> None:
    policy = Policy.of(quasi_identifiers=["age"], require=[KAnonymity(11)], profile="research-partner-3")
    said: list[str] = []
    with pytest.raises(
        GoalUnreachable, match="the table has 8 people, and every class needs at least 11"
    ) as told:
        anonymize(pa.table({"age": [31, 34, 47, 52, 60, 61, 62, 63]}), policy, progress=said.append)
    assert "at least 8" in told.value.remedy
    assert "searching for the least change" not in said


def test_of_one_person_nothing_can_be_released() -> None:
    policy = Policy.of(quasi_identifiers=["age"], require=[KAnonymity(2)], profile="research-partner-3")
    with pytest.raises(GoalUnreachable, match="one person, whom nothing can hide") as told:
        anonymize(pa.table({"age": [31]}), policy)
    assert told.value.remedy == "gather more people"


def test_too_few_people_for_two_classes_are_told() -> None:
    policy = Policy.of(quasi_identifiers=["age"], require=[KAnonymity(5)], profile="research-partner-3")
    release = anonymize(pa.table({"age": [31, 34, 47, 52, 60, 61, 62]}), policy)
    assert any(note.startswith("the table has 7 people, too few for two classes") for note in release.notes)
    two = anonymize(pa.table({"age": [31, 31, 31, 31, 31, 47, 47, 47, 47, 47]}), policy)
    assert not any(note.startswith("the table has") for note in two.notes)
