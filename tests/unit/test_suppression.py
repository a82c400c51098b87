"""Suppression of values, attributes and cells: what is named is ``*`` everywhere, and nothing names it any more."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from pathlib import Path

import pyarrow as pa
import pytest

from discreet.engine.read import read
from discreet.errors import GoalUnreachable, InvalidParameter, InvalidPolicy, UnknownColumn
from discreet.policy import Policy
from discreet.policy.file import dumps, loads
from discreet.policy.plan import METHODS, Method, Plan
from discreet.privacy import KAnonymity, LDiversity
from discreet.release.anonymize import anonymize
from discreet.release.apply import apply
from discreet.release.recommend import recommend
from discreet.release.release import Release
from discreet.table.hierarchies.categories import Flat

TWELVE = pa.table(
    {
        "city": ["a"] * 4 + ["b"] * 4 + ["Xa", "Yb", "Zc", None],
        "age": [21, 22, 31, 99] * 3,
        "ill": ["flu", "cold"] * 6,
        "nr": range(12),
    }
)
POLICY = Policy.of(
    quasi_identifiers=["city", "age"],
    sensitive=["ill"],
    require=[KAnonymity(3)],
    profile="research-partner-3",
    unknown="keep",
)
SOME = [method for method in METHODS if method != "auto"]


def rows_of(release: Release) -> list[dict[str, object]]:
    return release.table.engine.to_arrow(release.table).to_pylist()  # type: ignore[no-any-return]


def cells(release: Release, name: str) -> list[object]:
    return [row[name] for row in rows_of(release)]


# ── values ───────────────────────────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize("method", SOME)
def test_a_named_value_is_a_star_wherever_it_occurs(method: Method, tmp_path: Path) -> None:
    plan = Plan(
        method=method, suppress_values={"age": ("99",)}, seconds=3600, unexamined="keep", order="kept"
    )
    release = anonymize(TWELVE, POLICY, plan=plan)
    for row in rows_of(release):
        if int(str(row["nr"])) % 4 == 3:
            assert row["age"] == "*"
    assert not any("99" in str(cell) for cell in cells(release, "age"))
    assert min(Counter((row["city"], row["age"]) for row in rows_of(release)).values()) >= 3
    release.save(tmp_path / "release.csv")


@pytest.mark.parametrize("method", SOME)
def test_rare_values_are_neither_shown_nor_named_by_sets_and_hierarchies(method: Method) -> None:
    plan = Plan(method=method, suppress_rare={"city": 2}, seconds=3600, unexamined="keep", order="kept")
    release = anonymize(TWELVE, POLICY, plan=plan)
    shown = " ".join(str(cell) for cell in cells(release, "city"))
    assert not any(name in shown for name in ("Xa", "Yb", "Zc"))
    assert [row["city"] for row in rows_of(release) if int(str(row["nr"])) > 7] == ["*"] * sum(
        int(str(row["nr"])) > 7 for row in rows_of(release)
    )
    labels = [label for one in release.hierarchies for level in one.hierarchy.labels for label in level]
    assert not any(name in label for label in labels for name in ("Xa", "Yb", "Zc"))


def test_by_hand() -> None:
    """Alone, 99 makes the three who have it unlike all others; as ``*`` they are a class of their own."""
    rows = pa.table({"age": [21] * 3 + [22] * 3 + [97, 98, 99]})
    policy = Policy.of(quasi_identifiers=["age"], require=[KAnonymity(3)], profile="research-partner-3")
    release = anonymize(rows, policy, plan=Plan(suppress_rare={"age": 2}, suppression_limit=0, order="kept"))
    assert cells(release, "age") == ["21"] * 3 + ["22"] * 3 + ["*"] * 3
    assert release.suppressed == 0
    assert release.recipe.values["age"]["98"] == "*"
    assert any("some values of age" in note for note in release.notes)
    assert not any("98" in note for note in release.notes)


def test_missing_values_of_such_an_attribute_cannot_be_told_from_them() -> None:
    rows = pa.table({"city": ["a"] * 3 + ["b", None, None]})
    policy = Policy.of(quasi_identifiers=["city"], require=[KAnonymity(3)], profile="research-partner-3")
    release = anonymize(
        rows, policy, plan=Plan(suppress_values={"city": ("b",)}, suppression_limit=0, order="kept")
    )
    assert cells(release, "city") == ["a"] * 3 + ["*"] * 3


def test_a_hierarchy_need_not_know_what_is_suppressed(tmp_path: Path) -> None:
    (tmp_path / "city.csv").write_text("a;*\nb;*\n")
    policy = POLICY.generalise({"city": tmp_path / "city.csv"})
    with pytest.raises(InvalidPolicy, match="misses 3"):
        anonymize(TWELVE, policy)
    anonymize(TWELVE, policy, plan=Plan(suppress_values={"city": ("Xa", "Yb", "Zc")}))


def test_a_value_that_does_not_occur_is_told_without_naming_it() -> None:
    release = anonymize(TWELVE, POLICY, plan=Plan(suppress_values={"city": ("Atlantis", "a")}))
    assert any("1 do not occur" in note for note in release.notes)
    assert not any("Atlantis" in note for note in release.notes)


def test_the_recipe_suppresses_them_again() -> None:
    plan = Plan(suppress_values={"age": ("99",)}, suppress_rare={"city": 2}, order="kept")
    first = anonymize(TWELVE, POLICY, plan=plan)
    again = apply(first.recipe, TWELVE, replace(POLICY, plan=plan))
    assert rows_of(again) == rows_of(first)


def test_what_is_starred_still_has_to_hold() -> None:
    """The one who is the only one with a star is as unlike the others as before."""
    rows = pa.table({"city": ["a"] * 5 + ["b"]})
    policy = Policy.of(quasi_identifiers=["city"], require=[KAnonymity(3)], profile="research-partner-3")
    plan = Plan(suppress_values={"city": ("b",)}, suppression_limit=0.2)
    assert anonymize(rows, policy, plan=plan).suppressed == 1
    whole = anonymize(rows, policy, plan=replace(plan, suppression_limit=0, order="kept"))
    assert cells(whole, "city") == ["*"] * 6


def test_requirements_that_merging_can_break_hold_after_groups_became_one() -> None:
    rows = pa.table({"age": [1, 1, 2, 2] * 3, "ill": ["a", "b", "a", "c"] * 3})
    policy = Policy.of(
        quasi_identifiers=["age"],
        sensitive=["ill"],
        require=[LDiversity(2, "ill", kind="entropy")],
        profile="research-partner-3",
    )
    release = anonymize(
        rows, policy, plan=Plan(suppress_attributes=("age",), suppression_limit=0, order="kept")
    )
    assert set(cells(release, "age")) == {"*"}


def test_an_attribute_that_stays_as_it_was_loses_nothing_to_the_last_digit() -> None:
    """Of values in three classes of 7, 11 and 13 the mean share of a third is not a third for floats."""
    ills = [ill for ill, records in (("flu", 7), ("cold", 11), ("gout", 13)) for _ in range(records)]
    policy = Policy.of(quasi_identifiers=["ill"], require=[KAnonymity(3)], profile="research-partner-3")
    for repeated in range(1, 6):
        release = anonymize(pa.table({"ill": ills * repeated}), policy)
        assert release.changes()["ill"]["loss"] == 0


# ── attributes ───────────────────────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize("method", SOME)
def test_a_suppressed_attribute_is_a_column_of_stars(method: Method, tmp_path: Path) -> None:
    release = anonymize(
        TWELVE,
        POLICY,
        plan=Plan(method=method, suppress_attributes=("age",), seconds=3600, unexamined="keep", order="kept"),
    )
    assert set(cells(release, "age")) == {"*"}
    assert release.changes()["age"]["loss"] == 1
    release.save(tmp_path / "release.parquet")


@pytest.mark.parametrize("method", SOME)
def test_a_dropped_attribute_is_not_there(method: Method, tmp_path: Path) -> None:
    plan = Plan(method=method, drop_attributes=("age",), seconds=3600, unexamined="keep")
    release = anonymize(TWELVE, POLICY, plan=plan)
    assert release.table.names == ("city", "ill", "nr")
    assert release.policy.quasi_identifiers == ("city",)
    assert release.before.policy.quasi_identifiers == ("city", "age")
    release.save(tmp_path / "release.csv")
    again = apply(release.recipe, TWELVE, replace(POLICY, plan=plan))
    assert rows_of(again) == rows_of(release)
    assert not again.notes


# ── cells ────────────────────────────────────────────────────────────────────────────────────────────


def test_cells_are_suppressed_by_local_recoding_with_flat_hierarchies() -> None:
    """Each value is shown or ``*``, record by record: three a share their age, three do not."""
    rows = pa.table({"city": ["a"] * 6 + ["b"] * 3, "age": [30, 30, 30, 41, 42, 43, 50, 50, 50]})
    policy = Policy.of(
        quasi_identifiers=["city", "age"], require=[KAnonymity(3)], profile="research-partner-3"
    ).generalise({"city": Flat(), "age": Flat()})
    release = anonymize(rows, policy, plan=Plan(method="local", suppression_limit=0, order="kept"))
    assert cells(release, "city") == ["a"] * 6 + ["b"] * 3
    assert cells(release, "age") == ["30"] * 3 + ["*"] * 3 + ["50"] * 3


# ── settings ─────────────────────────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize(
    ("plan", "error", "told"),
    [
        (Plan(suppress_values={"cty": ("a",)}), UnknownColumn, "cty"),
        (Plan(suppress_rare={"ill": 3}), UnknownColumn, "ill"),
        (Plan(suppress_rare={"city": 1}), InvalidParameter, "at least 2"),
        (Plan(suppress_attributes=("nr",)), UnknownColumn, "nr"),
        (
            Plan(keep=("city",), suppress_rare={"city": 3}),
            InvalidParameter,
            "both in keep and in suppress_rare",
        ),
        (Plan(drop_attributes=("city",), weights={"city": 2}), InvalidParameter, "both in drop_attributes"),
        (Plan(drop_attributes=("city", "age")), InvalidParameter, "leaves no quasi-identifier"),
    ],
)
def test_plans_that_make_no_sense_are_refused(plan: Plan, error: type[Exception], told: str) -> None:
    with pytest.raises(error, match=told):
        anonymize(TWELVE, POLICY, plan=plan)


def test_all_problems_of_a_plan_are_told_at_once() -> None:
    plan = Plan(method="magic", suppress_rare={"cty": 1}, keep=("age",), suppress_attributes=("age",))  # type: ignore[arg-type]
    with pytest.raises(InvalidPolicy) as told:
        anonymize(TWELVE, POLICY, plan=plan)
    for part in ("magic", "'cty'", "at least 2", "both in keep and in suppress_attributes"):
        assert part in str(told.value)


SETTINGS = """
[anonymize]
suppress_values = {age = [99, "old"], day = [2020-01-31]}
suppress_rare = {city = 20}
suppress_attributes = ["postcode"]
drop_attributes = ["street"]
"""


def test_the_policy_file_has_these_settings() -> None:
    plan = loads(SETTINGS).plan
    assert plan.suppress_values == {"age": ("99", "old"), "day": ("2020-01-31",)}
    assert plan.suppress_rare == {"city": 20}
    assert (plan.suppress_attributes, plan.drop_attributes) == (("postcode",), ("street",))
    assert loads(dumps(loads(SETTINGS))).plan == plan


def test_all_errors_of_the_file_are_told_at_once_with_their_lines() -> None:
    with pytest.raises(InvalidPolicy) as told:
        loads(
            "[anonymize]\nsuppress_rare = {city = 1}\nsuppress_values = {city = []}\n"
            'suppress_attributes = "city"\ndrop_attribute = ["a"]\n'
        )
    assert [f"line {line}:" in str(told.value) for line in (2, 3, 4, 5)] == [True] * 4


def test_advice_counts_with_what_is_suppressed() -> None:
    table = read(TWELVE)
    plain = recommend(table, POLICY)
    helped = recommend(table, POLICY, plan=Plan(drop_attributes=("age",), suppress_rare={"city": 2}))
    assert helped.recommendations
    assert helped.recommendations[0].loss < plain.recommendations[0].loss


def test_a_goal_out_of_reach_stays_out_of_reach() -> None:
    with pytest.raises(GoalUnreachable):
        anonymize(TWELVE, POLICY.require(KAnonymity(13)), plan=Plan(suppress_attributes=("age",)))


def test_the_only_value_of_a_column_is_suppressed_too() -> None:
    rows = pa.table({"city": ["a"] * 3})
    policy = Policy.of(quasi_identifiers=["city"], require=[KAnonymity(3)], profile="research-partner-3")
    assert cells(anonymize(rows, policy, plan=Plan(suppress_values={"city": ("a",)})), "city") == ["*"] * 3


def test_a_value_that_looks_like_what_is_suppressed_shares_its_fate() -> None:
    """Nobody could tell a town written as ``*`` from towns that are shown as ``*``: they are one class."""
    rows = pa.table(
        {"town": ["Ulm"] * 5 + ["*"] + ["Bonn"] * 5, "ill": ["a", "b", "a", "b", "a", "b"] + ["a"] * 5}
    )
    policy = Policy.of(quasi_identifiers=["town"], require=[KAnonymity(3)], profile="research-partner-3")
    plan = Plan(method="optimal", suppress_values={"town": ("Ulm",)}, suppression_limit=1.0)
    release = anonymize(rows, policy, plan=plan)
    again = apply(release.recipe, rows, replace(policy, plan=plan))
    assert release.suppressed == again.suppressed == 0
    assert sorted(release.to_arrow()["town"].to_pylist()) == sorted(["*"] * 6 + ["Bonn"] * 5)
