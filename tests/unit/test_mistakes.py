"""Costs of mistakes: what the cheapest guess of each class costs, by hand, and as the classification metric where all cost 1."""

from __future__ import annotations

import dataclasses
import itertools
from collections import Counter
from typing import Any

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

import discreet
from discreet.classes import EquivalenceClasses
from discreet.classes.pair import Pair
from discreet.errors import InvalidPolicy
from discreet.policy.file import dumps, loads
from discreet.utility.class_sizes import MANY_VALUES_NOTE, classification_cost, classification_metric

AGES = [31, 31, 34, 34, 47, 47, 47, 52]
SHOWN = ["[30, 39]"] * 4 + ["47"] * 3
ILL = ["flu", "none", "none", "none", "flu", "cold", "none", "flu"]


def pair_of(ill: list[str], shown: list[str], left: list[str]) -> Pair:
    original = EquivalenceClasses.from_columns({"age": AGES[: len(ill)]}, sensitive={"ill": ill})
    return Pair.of(original, EquivalenceClasses.from_columns({"age": shown}, sensitive={"ill": left}))


def test_the_cheapest_guess_of_each_class_by_hand() -> None:
    pair = pair_of(ILL, SHOWN, ILL[:7])
    # In their thirties one flu and three healthy: "flu" costs 3, "none" 4. At 47 one of each: "flu" costs 2. The one left out
    # had flu: taken for healthy it costs 4.
    costs = {("flu", "none"): 4.0}
    [found] = classification_cost(pair, {"ill": costs})
    assert found.value == pytest.approx((3 + 2 + 4) / 8)
    # Whatever is no flu is cheap: two of three at 47.
    [found] = classification_cost(pair, {"ill": {("flu", None): 4.0, ("flu", "cold"): 0.5}})
    assert found.value == pytest.approx((0.5 + 3 if 0.5 + 3 < 3 else 3) / 8 + (0.5 + 1) / 8 + 4 / 8)
    assert classification_cost(pair, {"pay": costs}) == ()


VALUES = st.sampled_from(["a", "b", "c"])


@given(
    st.lists(st.tuples(VALUES, st.sampled_from(["30", "35", "*"]), st.booleans()), min_size=1, max_size=8),
    st.dictionaries(st.tuples(VALUES, VALUES), st.integers(0, 9), max_size=6),
)  # fmt: skip
def test_costs_are_those_of_trying_every_guess(
    rows: list[tuple[str, str, bool]], named: dict[Any, int]
) -> None:
    kept = [row for row in rows if row[2]] or rows
    original = EquivalenceClasses.from_columns(
        {"age": [35 if row[1] == "35" else 30 for row in rows]}, sensitive={"ill": [row[0] for row in rows]}
    )
    shown = EquivalenceClasses.from_columns(
        {"age": [row[1] for row in kept]}, sensitive={"ill": [row[0] for row in kept]}
    )
    pair = Pair.of(original, shown)
    costs = {mistake: float(cost) for mistake, cost in named.items() if mistake[0] != mistake[1]}
    values = sorted({row[0] for row in rows})

    def cost(value: str, guess: str) -> float:
        return 0.0 if value == guess else costs.get((value, guess), 1.0)

    hidden = Counter(row[0] for row in rows)
    total = 0.0
    nothing = all(row[1] == "*" for row in kept)
    for label in {row[1] for row in kept}:
        if label == "*" and not nothing:
            continue
        members = [row[0] for row in kept if row[1] == label]
        hidden.subtract(members)
        total += min(sum(cost(value, guess) for value in members) for guess in values)
    total += sum(count * max(cost(value, guess) for guess in values) for value, count in hidden.items())
    assert classification_cost(pair, {"ill": costs})[0].value == pytest.approx(total / len(rows))
    if len(values) > 1:
        assert classification_cost(pair, {"ill": {}})[0].value == pytest.approx(
            classification_metric(pair)[0].value
        )


def test_very_many_values_are_left_to_the_metric_without_costs() -> None:
    many = [str(number) for number in range(300)]
    classes = EquivalenceClasses.from_columns({"age": [1] * 300}, sensitive={"ill": many})
    [found] = classification_cost(Pair.of(classes, classes), {"ill": {}})
    assert found.notes == (MANY_VALUES_NOTE,)


POLICY = """
[columns.age]
role = "quasi-identifier"

[columns.ill]
role = "sensitive"

[[mistake]]
column = "ill"
value = "flu"
cost = 4.0
taken_for = "none"
"""


def test_a_policy_names_what_mistakes_cost() -> None:
    policy = loads(POLICY)
    assert loads(dumps(policy)) == policy
    assert "ill: flu for none costs 4" in str(policy)
    assert [
        change.name for change in discreet.diff(dataclasses.replace(policy, mistakes=()), policy).changes
    ] == ["mistake.1"]
    original = pa.table({"age": AGES, "ill": ILL})
    release = pa.table({"age": SHOWN, "ill": ILL[:7]})
    compared = discreet.compare(original, release, policy, labels=[], queries=10)
    found = compared.losses.measure("classification-cost", "ill")
    assert found is not None
    assert found.value == pytest.approx(9 / 8)
    assert "classification-cost" not in str(
        discreet.compare(
            original, release, dataclasses.replace(policy, mistakes=()), labels=[], queries=10
        ).to_dict()
    )


@pytest.mark.parametrize(
    ("changes", "told"),
    [
        ({"cost": -1.0}, "mistake"),
        ({"taken_for": "flu"}, "takes a value for itself"),
        ({"column": "age"}, "not sensitive"),
        ({"value": "plague"}, "does not have"),
        ({"taken_for": "plague"}, "does not have"),
    ],
)  # fmt: skip
def test_mistakes_that_make_no_sense(changes: dict[str, object], told: str) -> None:
    entry: dict[str, object] = {"column": "ill", "value": "flu", "cost": 4.0, "taken_for": "none", **changes}
    roles = {"age": {"role": "quasi-identifier"}, "ill": {"role": "sensitive"}}
    rows = pa.table({"age": AGES, "ill": ILL})
    with pytest.raises(InvalidPolicy, match=told):
        discreet.compare(rows, rows, {"columns": roles, "mistake": [entry]}, labels=[], queries=10)


def test_a_mistake_is_named_once() -> None:
    entries = list(itertools.repeat({"column": "ill", "value": "flu", "cost": 4.0}, 2))
    with pytest.raises(InvalidPolicy, match="named twice"):
        discreet.compare(pa.table({"ill": ILL}), pa.table({"ill": ILL}), {"mistake": entries})
