"""What each column and each requirement costs: both sides by the same method, never more without than with."""

from __future__ import annotations

import random
from dataclasses import replace
from itertools import combinations
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

import discreet
from discreet.classes import EquivalenceClasses
from discreet.errors import GoalUnreachable
from discreet.policy.plan import Plan
from discreet.policy.policy import Policy
from discreet.privacy import KAnonymity, TCloseness
from discreet.release.prices import ColumnPrice, Prices, demanding, foresee, prices, too_many_columns


def people(rows: int = 300) -> dict[str, list[object]]:
    dice = random.Random(6)
    return {
        "age": [20 + dice.randrange(60) for _ in range(rows)],
        "sex": [dice.choice("fm") for _ in range(rows)],
        "town": [dice.choice(["Aachen", "Bonn", "Celle", "Dortmund", "Essen"]) for _ in range(rows)],
    }


def policy(*models: discreet.PrivacyModel) -> discreet.Policy:
    asked = discreet.Policy.of(quasi_identifiers=["age", "sex", "town"], sensitive=["ill"], require=models)
    return replace(asked, profile="research-partner-3")


def counted(table: dict[str, list[object]]) -> EquivalenceClasses:
    # Whoever is young is ill, so that t-closeness costs something.
    ill = ["yes" if int(str(age)) < 40 else "no" for age in table["age"]]
    return EquivalenceClasses.from_columns(table, sensitive={"ill": ill})


def test_a_column_is_priced_by_the_others_alone() -> None:
    """By hand: with sex beside it no two ages can be told apart, without it all can."""
    classes = EquivalenceClasses.from_columns({"sex": ["f", "m"] * 6, "age": [30, 30, 31, 31, 32, 32] * 2})
    asked = replace(
        discreet.Policy.of(quasi_identifiers=["sex", "age"], require=[KAnonymity(4)]),
        profile="research-partner-3",
    )
    told = {price.column: price for price in prices(classes, asked).columns}
    assert (told["sex"].loss_with, told["sex"].loss_without) == (1.0, 0.0)
    assert (told["age"].loss_with, told["age"].loss_without) == (0.0, 0.0)


def counted_calls(monkeypatch: pytest.MonkeyPatch, name: str) -> list[str]:
    """A note for each call of a function by which prices are found."""
    calls: list[str] = []
    inner = getattr(discreet.release.prices, name)

    def called(*given: Any, **settings: Any) -> Any:
        calls.append(name)
        return inner(*given, **settings)

    monkeypatch.setattr(f"discreet.release.prices.{name}", called)
    return calls


def test_a_lossy_release_prices_its_columns_and_what_is_asked_for_later(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Its note tells columns to leave out; other profiles are tried for whoever asks for all prices."""
    searches = counted_calls(monkeypatch, "_of_other_profiles")
    table = {
        "age": list(range(40)),
        "zip": [i * 7 % 40 for i in range(40)],
        "job": [i * 3 % 40 for i in range(40)],
    }
    asked = discreet.Policy.of(
        quasi_identifiers=list(table), require=[KAnonymity(15)], profile="research-partner-3"
    )
    release = discreet.anonymize(pa.table(table), asked)
    assert any("of the detail is lost" in note for note in release.notes)
    assert not searches
    assert release.prices == prices(EquivalenceClasses.from_columns(table), asked)
    assert len(searches) == 2


def test_releases_of_one_table_share_its_audit_and_its_prices(monkeypatch: pytest.MonkeyPatch) -> None:
    """Prices are of the table and what is required: they are looked for once, whichever release asks first."""
    searches = counted_calls(monkeypatch, "prepare")
    table = people()
    asked = discreet.Policy.of(
        quasi_identifiers=list(table), require=[KAnonymity(5)], profile="research-partner-3"
    )
    release = discreet.anonymize(pa.table(table), asked)
    others = [alternative.make() for alternative in release.alternatives]
    assert others
    assert not searches
    assert all(other.prices is release.prices for other in others)
    assert release.acknowledged("a reason").prices is release.prices
    assert len(searches) == 1
    assert release.prices == prices(EquivalenceClasses.from_columns(table), asked)
    assert all(other.before is release.before for other in others)


def test_nothing_costs_less_than_nothing_and_the_dearest_comes_first() -> None:
    told = prices(counted(people()), policy(KAnonymity(11), TCloseness(0.2, "ill")))
    for group in (told.columns, told.requirements):
        saved = [price.loss_with - price.loss_without for price in group if price.loss_without is not None]
        assert len(saved) == len(group) >= 3
        assert saved == sorted(saved, reverse=True)
        assert saved[-1] >= 0
    assert {price.column for price in told.columns} == {"age", "sex", "town"}
    assert "ill" in told.requirements[0].requirement
    assert told.requirements[0].loss_with == told.loss


def test_requirements_of_several_attributes_are_one() -> None:
    table = people()
    ill = {
        name: ["yes" if int(str(age)) < at else "no" for age in table["age"]]
        for name, at in (("a", 30), ("b", 50))
    }
    classes = EquivalenceClasses.from_columns(table, sensitive=ill)
    asked = policy(KAnonymity(3), TCloseness(0.3, "a"), TCloseness(0.3, "b")).replace(sensitive=["a", "b"])
    assert "t-closeness of a, b" in [price.requirement for price in prices(classes, asked).requirements]


def test_what_there_was_no_time_for_is_unknown(monkeypatch: pytest.MonkeyPatch) -> None:
    """Also before the clock, which goes in steps, has moved: no time is over when it begins."""
    monkeypatch.setattr("discreet.search.clock.now", lambda: 5.0)
    told = prices(counted(people()), policy(KAnonymity(11)), seconds=0)
    assert (told.loss, told.columns, told.requirements, told.profiles) == (None, (), (), ())
    with pytest.raises(GoalUnreachable, match="not in so short a time"):
        foresee(counted(people()), policy(KAnonymity(11)), seconds=0)


def test_kept_columns_stay_and_dropped_ones_are_not_asked_about() -> None:
    classes = counted(people()).project(["age", "sex"])
    told = prices(classes, policy(KAnonymity(5)), plan=Plan(keep=("sex",), drop_attributes=("town",)))
    assert {price.column: price.loss_with for price in told.columns}["age"] == 0.0


def test_advice_and_report_tell_them(tmp_path: Path) -> None:
    table = pa.table({**people(), "ill": ["yes", "no"] * 150})
    advice = discreet.recommend(discreet.read(table), policy(KAnonymity(11)))
    document = advice.to_dict()["prices"]
    assert isinstance(document, dict)
    assert {price["column"] for price in document["columns"]} == {"age", "sex", "town"}
    release = discreet.anonymize(table, policy(KAnonymity(11)), plan=Plan(method="mondrian"))
    release.save(tmp_path / "release.csv", report=tmp_path / "report.html")
    report = (tmp_path / "report.html").read_text()
    assert "What each column and each requirement costs" in report
    assert "Without town" in report


def test_where_most_is_lost_the_dearest_columns_are_told() -> None:
    few = pa.table({**people(60), "ill": ["yes", "no"] * 30})
    hard = discreet.anonymize(few, policy(KAnonymity(25)), plan=Plan(method="mondrian"))
    (advice,) = [note for note in hard.notes if "of the detail is lost" in note]
    assert "3 quasi-identifiers are many for 60 people" in advice
    assert "the loss of the others falls from" in advice
    easy = discreet.anonymize(few, policy(KAnonymity(2)), plan=Plan(method="mondrian"))
    assert not any("of the detail is lost" in note for note in easy.notes)


def test_a_column_that_nobody_minds_may_be_all_that_is_left() -> None:
    people = {"sex": ["f", "m"] * 6, "age": [30, 30, 31, 31, 32, 32] * 2}
    policy = replace(
        Policy.of(quasi_identifiers=["sex", "age"]).require(KAnonymity(4)), profile="research-partner-3"
    )
    told = prices(EquivalenceClasses.from_columns(people), policy, plan=Plan(weights={"age": 0.0}))
    assert {price.column for price in told.columns} == {"sex", "age"}


@pytest.mark.parametrize("values", ["abcdefgh", "aaabbbcd", "aaaaabcd", "aabbccdd"])
@pytest.mark.parametrize("t", [0.3, 0.5])
def test_no_smaller_group_is_near_the_table(values: str, t: float) -> None:
    """What a sensitive attribute is said to need, beside all groups that there are."""
    classes = EquivalenceClasses.from_columns({"x": ["same"] * 8}, sensitive={"pay": list(values)})
    (told,) = demanding(classes, [TCloseness(t, "pay")])
    least = int(told.split("at least ")[1].split()[0])

    def distance(group: tuple[str, ...]) -> float:
        return sum(max(0.0, group.count(v) / len(group) - values.count(v) / 8) for v in set(values))

    near = [size for size in range(1, 9) for group in combinations(values, size) if distance(group) <= t]
    assert min(near) >= least
    assert values != "abcdefgh" or min(near) == least


def test_many_columns_of_which_none_is_dear_are_told() -> None:
    columns = tuple(ColumnPrice(f"q{i}", 0.85, 0.85) for i in range(45))
    (advice,) = too_many_columns(0.85, 1300, Prices(0.8, columns))
    assert "45 quasi-identifiers are many for 1,300 people, and no single one" in advice
    assert too_many_columns(0.85, 1300, Prices(0.8, columns[:4])) == []
