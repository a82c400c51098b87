"""Attributes that must stay as they are, with every method: groups never span them, and what is kept is right."""

from __future__ import annotations

from collections import Counter, defaultdict

import numpy as np
import pyarrow as pa
import pytest

from discreet.errors import GoalUnreachable
from discreet.policy import Policy
from discreet.policy.plan import METHODS, Method, Plan
from discreet.privacy import KAnonymity, LDiversity, PrivacyModel, TCloseness
from discreet.release.anonymize import anonymize
from discreet.release.release import Release

SOME = [method for method in METHODS if method != "auto"]


def adults(size: int = 600, *, seed: int = 4) -> pa.Table:
    """Made-up rows in the manner of the Adult census: correlated, uneven, some of it missing."""
    rng = np.random.default_rng(seed)
    age = rng.integers(17, 80, size)
    education = rng.choice(["HS-grad", "Bachelors", "Masters", "11th"], size, p=[0.5, 0.3, 0.15, 0.05])
    married = np.where(rng.random(size) < age / 100, "Married", "Never-married")
    sex = rng.choice(["Male", "Female"], size, p=[0.67, 0.33])
    hours = rng.choice([20, 35, 40, 50, 60], size)
    income = np.where(rng.random(size) < 0.1 + 0.2 * (education == "Masters"), ">50K", "<=50K")
    return pa.table(
        {
            "age": age,
            "education": pa.array([None if i % 97 == 0 else e for i, e in enumerate(education.tolist())]),
            "married": married,
            "sex": sex,
            "hours": hours,
            "income": income,
            "row": np.arange(size),
            "who": [f"p{i // 2}" for i in range(size)],
        }
    )


def policy(*models: PrivacyModel, person: str | None = None) -> Policy:
    return Policy.of(
        quasi_identifiers=["age", "education", "married", "sex", "hours"],
        sensitive=["income"],
        person=person,
        require=models,
        profile="research-partner-3",
    )


def rows_of(release: Release) -> list[dict[str, object]]:
    return release.table.engine.to_arrow(release.table).to_pylist()  # type: ignore[no-any-return]


def groups_of(release: Release) -> dict[tuple[object, ...], list[dict[str, object]]]:
    found = defaultdict(list)
    for row in rows_of(release):
        found[tuple(row[name] for name in release.policy.quasi_identifiers)].append(row)
    return found


@pytest.mark.slow
@pytest.mark.parametrize("method", SOME)
@pytest.mark.parametrize("keep", [("sex",), ("education", "sex"), ("hours",)])
def test_kept_attributes_stay_and_groups_hold(method: Method, keep: tuple[str, ...]) -> None:
    table = adults()
    plan = Plan(
        method=method, keep=keep, suppression_limit=0.3, seconds=3600, unexamined="keep", order="kept"
    )
    release = anonymize(table, policy(KAnonymity(5)), plan=plan)
    original = {row["row"]: row for row in table.to_pylist()}
    for row in rows_of(release):
        for name in keep:
            assert row[name] == original[row["row"]][name]
    assert min(len(rows) for rows in groups_of(release).values()) >= 5
    for name in keep:
        at = release.table.engine.to_arrow(release.table).schema.field(name)
        assert at.type == table.schema.field(name).type


@pytest.mark.slow
@pytest.mark.parametrize("method", SOME)
def test_distances_are_those_from_the_whole_table_not_from_the_kept_part(method: Method) -> None:
    table = adults()
    plan = Plan(
        method=method, keep=("sex",), suppression_limit=0.5, seconds=3600, unexamined="keep", order="kept"
    )
    try:
        release = anonymize(table, policy(KAnonymity(5), TCloseness(0.15, "income")), plan=plan)
    except GoalUnreachable:
        pytest.fail("one group per sex would do")
    everywhere = Counter(table["income"].to_pylist())
    for rows in groups_of(release).values():
        here = Counter(row["income"] for row in rows)
        distance = sum(abs(here[v] / len(rows) - everywhere[v] / table.num_rows) for v in everywhere) / 2
        assert distance <= 0.15 + 1e-9


@pytest.mark.slow
@pytest.mark.parametrize("method", SOME)
def test_persons_are_counted_inside_the_kept_parts(method: Method) -> None:
    plan = Plan(
        method=method,
        keep=("sex",),
        suppression_limit=0.3,
        seconds=3600,
        unexamined="keep",
        order="kept",
        person="pseudonymise",
    )
    wanted = policy(KAnonymity(4), LDiversity(2, "income"), person="who")
    release = anonymize(adults(400), wanted, plan=plan)
    for rows in groups_of(release).values():
        assert len({row["who"] for row in rows}) >= 4
        assert len({row["income"] for row in rows}) >= 2


@pytest.mark.parametrize("method", ["local", "mondrian", "clustering", "microaggregation"])
def test_by_hand(method: Method) -> None:
    """Two towns of six; the one from c has nobody beside him and goes."""
    ages = [21, 22, 23, 41, 42, 43, 31, 32, 33, 51, 52, 53, 25]
    rows = pa.table({"town": [*"aaaaaabbbbbbc"], "age": ages})
    wanted = Policy.of(
        quasi_identifiers=["town", "age"], require=[KAnonymity(3)], profile="research-partner-3"
    )
    release = anonymize(
        rows, wanted, plan=Plan(method=method, keep=("town",), order="kept", suppression_limit=0.2)
    )
    assert release.suppressed == 1
    assert [row["town"] for row in rows_of(release)] == [*"aaaaaabbbbbb"]
    if method in ("mondrian", "clustering"):
        found = ["<= 24", "[40, 49]", "[30, 39]", ">= 50"]  # ends lie between values
        assert [row["age"] for row in rows_of(release)] == [age for age in found for _ in range(3)]
    if method == "microaggregation":
        assert [row["age"] for row in rows_of(release)] == [age for age in (22, 42, 32, 52) for _ in range(3)]


@pytest.mark.parametrize("method", SOME)
def test_what_everybody_has_may_be_kept(method: Method) -> None:
    rows = pa.table({"town": ["a"] * 6, "age": [21, 22, 23, 41, 42, 43]})
    wanted = Policy.of(
        quasi_identifiers=["town", "age"], require=[KAnonymity(3)], profile="research-partner-3"
    )
    release = anonymize(
        rows,
        wanted,
        plan=Plan(
            method=method, keep=("town",), suppression_limit=0, seconds=3600, unexamined="keep", order="kept"
        ),
    )
    assert {row["town"] for row in rows_of(release)} == {"a"}


@pytest.mark.parametrize("method", SOME)
def test_to_keep_everything_is_to_suppress_what_is_rare(method: Method) -> None:
    rows = pa.table({"town": [*"aaab"], "age": [7, 7, 7, 7]})
    wanted = Policy.of(
        quasi_identifiers=["town", "age"], require=[KAnonymity(3)], profile="research-partner-3"
    )
    plan = Plan(
        method=method,
        keep=("town", "age"),
        suppression_limit=0.25,
        seconds=3600,
        unexamined="keep",
        order="kept",
    )
    assert rows_of(anonymize(rows, wanted, plan=plan)) == [{"town": "a", "age": 7}] * 3
    with pytest.raises(GoalUnreachable):
        anonymize(
            rows,
            wanted,
            plan=Plan(
                method=method, keep=("town", "age"), suppression_limit=0.2, seconds=3600, unexamined="keep"
            ),
        )
