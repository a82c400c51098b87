"""Artificial values keep the rules of the table; households move as a whole."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace

import numpy as np
import pyarrow as pa
import pytest

import discreet
from discreet.errors import InvalidParameter, UnsuitableColumn
from discreet.perturb.base import Perturbation
from discreet.perturb.randomness import Randomness
from discreet.perturb.registry import make_step
from discreet.perturb.synthesis import SyntheticCopula, SyntheticTable, SyntheticTrees
from discreet.perturb.targeted import TargetedSwap
from discreet.policy.constraint import Constraint
from discreet.release.kept_rules import breaking

RULES = (
    Constraint("leaves after coming", "discharge >= admission"),
    Constraint("no pregnant men", "NOT (sex = 'm' AND ill = 'pregnant')"),
    Constraint("parts add up", "days = ward + care"),
)


def hospital(rows: int = 400) -> pa.Table:
    """Every record keeps the rules; admission and discharge, sex and illness, days and their parts go along."""
    rng = np.random.default_rng(4)
    sex = rng.choice(["f", "m"], rows)
    admission = rng.integers(0, 300, rows)
    ward, care = rng.integers(0, 4, rows), rng.integers(0, 3, rows)
    return pa.table(
        {
            "age": rng.integers(20, 30, rows),
            "sex": sex,
            "admission": admission,
            "discharge": admission + rng.integers(0, 20, rows),
            "ward": ward,
            "care": care,
            "days": ward + care,
            "ill": np.where(
                (sex == "f") & (rng.random(rows) < 0.4), "pregnant", rng.choice(["flu", "gout"], rows)
            ),
        }
    )


def released(step: Perturbation, rules: tuple[Constraint, ...] = RULES) -> discreet.Release:
    table = hospital()
    plain = discreet.Policy.of(
        quasi_identifiers=["age"],
        sensitive=[name for name in table.column_names if name != "age"],
        profile="research-partner-3",
    ).perturbed_by(step)
    policy = replace(plain, constraints=rules, plan=discreet.Plan(method="mondrian"))
    return discreet.anonymize(table, policy, perturb_seed=3)


@pytest.mark.slow
@pytest.mark.parametrize("model", [SyntheticTrees, SyntheticCopula, SyntheticTable])
def test_artificial_records_keep_the_rules(model: type[SyntheticTrees]) -> None:
    release = released(model(("admission", "discharge", "sex", "ill", "ward", "care", "days")))
    for row in release.to_arrow().to_pylist():
        assert row["discharge"] >= row["admission"]
        assert not (row["sex"] == "m" and row["ill"] == "pregnant")
        assert row["days"] == row["ward"] + row["care"]
    assert [rule.after for rule in release.constraints] == [0, 0, 0]


def test_given_columns_stay_and_what_was_drawn_again_is_told() -> None:
    release = released(SyntheticCopula(("discharge", "ill"), given=("admission", "sex")), RULES[:2])
    assert [rule.after for rule in release.constraints] == [0, 0]
    told = [note for note in release.notes if "drawn again (synthetic-copula)" in note]
    assert len(told) == 1
    assert told[0].endswith("and 0 still break one")
    assert int(told[0].split()[0]) > 0


def test_a_rule_that_nobody_can_keep_is_told() -> None:
    release = released(SyntheticTrees(("ill",)), (Constraint("never", "ill = 'measles'"),))
    assert any("400 still break one" in note for note in release.notes)
    assert release.constraints[0].after == 400


def test_other_rules_change_nothing() -> None:
    step = SyntheticTrees(("ward",))
    free, ruled = (released(step, rules).to_arrow() for rules in ((), RULES[:2]))
    assert sorted(free["ward"].to_pylist()) == sorted(ruled["ward"].to_pylist())


def test_rows_that_break_a_rule_are_told_by_their_places() -> None:
    rows = pa.table({"a": [1, 5, None, 2], "b": [2, 4, 1, 1], "place": ["x", "y", "z", "w"]})
    table = discreet.read(rows)
    assert breaking(rows, [Constraint("order", "a <= b"), Constraint("small", "b < 4")], table).tolist() == [
        1,
        3,
    ]


# ── households ────────────────────────────────────────────────────────────────────────────────────────


def homes(count: int = 300) -> pa.Table:
    rng = np.random.default_rng(8)
    size = rng.integers(1, 5, count)
    home = np.repeat(np.arange(count), size)
    return pa.table(
        {
            "home": home,
            "area": rng.choice(list("ABCD"), count)[home],
            "rooms": rng.integers(1, 4, count)[home],
            "age": rng.integers(0, 90, len(home)),
        }
    )


def test_whole_households_exchange_with_such_of_their_size_and_profile() -> None:
    rows = homes()
    step = TargetedSwap(("area",), known=("age",), within=("rooms",), household="home", k=2)
    step.fit(rows)
    after = step.changed(rows, Randomness(5))["area"].to_pylist()
    people = rows.to_pylist()
    size = Counter(person["home"] for person in people)
    areas: dict[int, set[str]] = {}
    for person, area in zip(people, after, strict=True):
        areas.setdefault(person["home"], set()).add(area)
    assert all(len(each) == 1 for each in areas.values())
    assert any(person["area"] != area for person, area in zip(people, after, strict=True))

    def counted(shown: list[str]) -> Counter[tuple[int, int, str]]:
        return Counter(
            (person["rooms"], size[person["home"]], area) for person, area in zip(people, shown, strict=True)
        )

    assert counted([person["area"] for person in people]) == counted(after)
    risky = {people[at]["home"] for at in step.at_risk(rows).tolist()}
    moved = {p["home"] for p, area in zip(people, after, strict=True) if p["area"] != area}
    # Of each exchange one side is at risk at least.
    assert len(moved - risky) <= len(moved & risky)


def test_households_that_cannot_be_moved_are_refused() -> None:
    step = TargetedSwap(("area",), known=("age",), household="home")
    with pytest.raises(UnsuitableColumn, match="differ in 'area'"):
        step.fit(pa.table({"home": [1, 1], "area": ["A", "B"], "age": [3, 4]}))
    with pytest.raises(UnsuitableColumn, match="no household"):
        step.fit(pa.table({"home": [1, None], "area": ["A", "B"], "age": [3, 4]}))
    with pytest.raises(InvalidParameter, match="one of its other columns"):
        TargetedSwap(("area",), known=("age",), household="age")
    assert make_step(step.to_dict()) == step
