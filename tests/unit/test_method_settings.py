"""Settings that belong to one method: they reach its search, are told in the recipe, and no other method takes them."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from statistics import median, mode

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from discreet.classes import EquivalenceClasses
from discreet.errors import InvalidParameter, InvalidPolicy
from discreet.policy import Policy
from discreet.policy.plan import Method, Plan
from discreet.privacy import KAnonymity
from discreet.release.anonymize import anonymize
from discreet.release.frontier import compare_methods
from discreet.release.release import Release
from discreet.search.methods import GROUPINGS
from discreet.search.problem import Choices, make_problem
from discreet.table.hierarchies.hierarchy import Hierarchy

PEOPLE = pa.table({"age": [1, 3, 2, 2, 2, 2, 3, 1], "id": list("abcdefgh")})
NUMBERS = pa.table({"x": [0, 1, 2, 3, 50, 51, 52, 53]})


def released(rows: pa.Table, plan: Plan) -> Release:
    policy = Policy.of(quasi_identifiers=rows.column_names, profile="research-partner-3")
    return anonymize(rows, policy, plan=replace(plan, order="kept", seconds=5))


def cells(release: Release, name: str) -> list[object]:
    found: list[object] = release.to_arrow().column(name).to_pylist()
    return found


def test_strict_keeps_equal_values_together_and_relaxed_divides_them() -> None:
    # Three on either side of a cut by age: it would run through the four 2s.
    plan = Plan(method="mondrian", weights={"id": 0})
    relaxed, strict = (released(PEOPLE, replace(plan, mondrian_mode=each)) for each in ("relaxed", "strict"))
    assert set(cells(relaxed, "age")) == {"<= 2", ">= 2"}
    assert set(cells(strict, "age")) == {"*"}
    assert relaxed.recipe.method == "mondrian (relaxed)"
    assert strict.recipe.method == "mondrian (strict)"
    assert [any("do not overlap" in note for note in each.notes) for each in (relaxed, strict)] == [
        False,
        True,
    ]


@pytest.mark.parametrize(
    ("plan", "low", "high", "method"),
    [
        (Plan(), 1.5, 51.5, "univariate optimum"),
        (Plan(group_value="mode"), 0, 50, "univariate optimum (mode)"),
        # From the far end: 0, 1 and 2 are a group, and five are too few for two more.
        (Plan(group_size="fixed"), 1.0, 41.8, "MDAV"),
        (Plan(group_size="fixed", group_value="median"), 1, 51, "MDAV (median)"),
    ],
)
def test_groups_of_microaggregation_by_hand(plan: Plan, low: float, high: float, method: str) -> None:
    found = released(NUMBERS, replace(plan, method="microaggregation"))
    lower = 3 if plan.group_size == "fixed" else 4
    assert cells(found, "x") == pytest.approx([low] * lower + [high] * (8 - lower))
    assert found.recipe.method == method
    notes = " ".join(found.notes)
    assert ("groups are as small as may be" in notes) == (plan.group_size == "fixed")
    assert ("numbers show the median" in notes) == (plan.group_value == "median")
    assert ("numbers show the most frequent value" in notes) == (plan.group_value == "mode")


def test_a_semantic_mean_goes_the_whole_way(tmp_path: Path) -> None:
    rows = pa.table({"job": ["nurse", "doctor", "midwife", "smith", "smith", "smith"] * 2})
    tree = tmp_path / "job.csv"
    tree.write_text("nurse;care;*\ndoctor;care;*\nmidwife;care;*\nsmith;craft;*\n", encoding="utf-8")
    policy = Policy.of(quasi_identifiers=["job"], profile="research-partner-3").generalise({"job": tree})
    plan = Plan(method="microaggregation", group_value="semantic", order="kept", seconds=5)
    found = anonymize(rows, policy, plan=plan)
    assert {*cells(found, "job")} <= {*rows["job"].to_pylist()}
    assert any("nearest to the others along the hierarchy" in note for note in found.notes)
    assert found.recipe.method.endswith("(semantic)")


@given(
    rows=st.lists(st.tuples(st.integers(0, 30), st.integers(0, 4)), min_size=3, max_size=12),
    value=st.sampled_from(["median", "mode"]),
    variable=st.booleans(),
)
def test_each_group_shows_what_stands_for_it(rows: list[tuple[int, int]], value: str, variable: bool) -> None:
    columns = {name: [row[j] for row in rows] for j, name in enumerate("xy")}
    classes = EquivalenceClasses.from_columns(columns)
    ladders = [
        Hierarchy.of(d.name, [[label, "*"] for label in d.labels()]).ladder(d) for d in classes.attributes
    ]
    choices = Choices(variable_size=variable, value=value)  # type: ignore[arg-type]
    problem = make_problem(classes, ladders, [KAnonymity(3)], suppression_limit=0.0, choices=choices)
    found = GROUPINGS["microaggregation"](problem, 60.0, lambda _: None)
    owner = found.owner  # type: ignore[attr-defined]
    for group in set(owner.tolist()):
        members = [c for c in range(len(classes)) if owner[c] == group for _ in range(classes.records[c])]
        assert len(members) >= 3
        for j, column in enumerate(found.columns):
            values = sorted(classes.attributes[j].numbers[classes.codes[j][members]].tolist())
            shown = {column.values[int(column.codes[c])].as_py() for c in members}
            # Of several most frequent values the smallest.
            assert shown == {median(values) if value == "median" else mode(values)}


@pytest.mark.parametrize("method", ["auto", "optimal", "clustering", "microaggregation"])
def test_what_a_method_cannot_follow_is_refused(method: Method) -> None:
    with pytest.raises(InvalidParameter, match="mondrian_mode is strict, which the method") as caught:
        released(PEOPLE, Plan(method=method, mondrian_mode="strict"))
    assert 'say method = "mondrian" (--method mondrian)' in str(caught.value)
    with pytest.raises(InvalidPolicy, match=r"group_size is fixed(.|\n)*group_value is mode"):
        released(PEOPLE, Plan(method="mondrian", group_size="fixed", group_value="mode"))


def test_methods_are_compared_each_with_its_own_settings() -> None:
    policy = Policy.of(quasi_identifiers=["age", "id"], profile="research-partner-3")
    plan = Plan(mondrian_mode="strict", group_value="median", seconds=5)
    outcomes = compare_methods(PEOPLE, policy, plan=plan, methods=["optimal", "mondrian", "microaggregation"])
    assert not any(outcome.failed for outcome in outcomes)
