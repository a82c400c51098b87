"""Labels name no value that only suppressed people have, and do not tell the smallest and the largest one."""

from __future__ import annotations

import datetime as dt
import re
from collections import Counter
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest

import discreet
from discreet.classes import EquivalenceClasses
from discreet.policy import Policy
from discreet.policy.plan import Method, Plan
from discreet.privacy import KAnonymity
from discreet.table.hierarchies.numbers import Intervals
from discreet.transform.labels import discreetly_named
from discreet.transform.recoding import Recoding

METHODS: tuple[Method, ...] = ("optimal", "subtree", "local", "mondrian", "clustering")


def policy(*names: str) -> Policy:
    return Policy.of(quasi_identifiers=names, require=[KAnonymity(5)], profile="research-partner-3")


def townspeople() -> pa.Table:
    """Forty people of eight towns, and one from far away whom no group of five can hold with the same sex."""
    rng = np.random.default_rng(4)
    towns = ["Aachen", "Bonn", "Celle", "Daun", "Erfurt", "Fulda", "Gera", "Hof"] * 10
    return pa.table(
        {
            "town": [*towns, "CANARYTOWN"],
            "sex": [*rng.choice(["f", "m"], 80), "x"],
            "age": [*rng.integers(20, 64, 80).tolist(), 107],
        }
    )


def cells(release: discreet.Release, name: str) -> set[str]:
    return {str(cell) for cell in release.table.engine.to_arrow(release.table)[name].to_pylist()}


@pytest.mark.slow
@pytest.mark.parametrize("method", METHODS)
def test_a_value_that_only_suppressed_people_have_stands_in_no_label(method: Method, tmp_path: Path) -> None:
    plan = Plan(method=method, keep=("sex",), suppression_limit=0.1, seconds=3600)
    release = discreet.anonymize(townspeople(), policy("town", "sex"), plan=plan)
    assert 1 <= release.suppressed <= 8
    file = release.save(tmp_path / "release.csv")
    assert "CANARY" not in file.read_text()
    compared = discreet.compare(townspeople(), release, policy("town", "sex"), labels=[])
    assert compared.paired is not None
    assert compared.paired.pair.truthful
    loss = compared.losses.measure("leaf-loss")
    assert loss is not None
    assert loss.value == pytest.approx(release.chosen.cost)


def test_a_set_with_fewer_names_is_read_as_the_node_that_it_stands_for() -> None:
    plan = Plan(method="optimal", keep=("sex",), suppression_limit=0.1)
    release = discreet.anonymize(townspeople(), policy("town", "sex"), plan=plan)
    assert any("+1}" in cell for cell in cells(release, "town"))
    assert release.recipe.values["town"]["CANARYTOWN"] in cells(release, "town")
    paired = discreet.compare(townspeople(), release, policy("town", "sex"), labels=[])
    height = paired.losses.measure("height-loss", "town")
    assert height is not None
    assert height.value == pytest.approx(height.value), "a level is known"


@pytest.mark.slow
@pytest.mark.parametrize("method", METHODS)
def test_intervals_are_open_at_the_smallest_and_largest_age(method: Method) -> None:
    people = townspeople().slice(0, 80)
    release = discreet.anonymize(people, policy("age"), plan=Plan(method=method, seconds=3600))
    ages = people["age"].to_pylist()
    shown = cells(release, "age")
    assert not any(str(end) in cell for cell in shown for end in (min(ages), max(ages)) if cell != str(end))
    if method in ("mondrian", "clustering"):
        assert any(cell.startswith("<= ") for cell in shown)
        assert any(cell.startswith(">= ") for cell in shown)
    loss = discreet.compare(people, release, policy("age"), labels=[]).losses.measure("leaf-loss")
    assert loss is not None
    assert loss.value == pytest.approx(release.chosen.cost)


def test_the_largest_released_age_is_not_told_where_a_larger_one_is_suppressed() -> None:
    people = townspeople()
    plan = Plan(method="mondrian", keep=("sex",), suppression_limit=0.1)
    release = discreet.anonymize(people, policy("age", "sex"), plan=plan)
    assert 1 <= release.suppressed <= 8
    largest = max(age for age in people["age"].to_pylist() if age < 107)
    assert not any(str(largest) in cell or "107" in cell for cell in cells(release, "age"))
    loss = discreet.compare(people, release, policy("age", "sex"), labels=[]).losses.measure("leaf-loss")
    assert loss is not None
    assert loss.value == pytest.approx(release.chosen.cost)


def test_dates_are_open_too_and_read_again() -> None:
    days = [dt.date(2020, 1, 1) + dt.timedelta(days=7 * n) for n in range(40)]
    people = pa.table({"day": days})
    release = discreet.anonymize(people, policy("day"), plan=Plan(method="mondrian"))
    shown = cells(release, "day")
    assert not any(str(end) in cell for cell in shown for end in (days[0], days[-1]))
    compared = discreet.compare(people, release, policy("day"), labels=[])
    assert compared.paired is not None
    assert compared.paired.pair.truthful


def test_labels_that_somebody_gave_stay() -> None:
    people = townspeople().slice(0, 80)
    given = policy("age").generalise({"age": Intervals(widths=(50, 100))})
    release = discreet.anonymize(people, given, plan=Plan(method="optimal"))
    assert cells(release, "age") <= {"[0, 49]", "[50, 99]", "[0, 99]"}


def earners() -> pa.Table:
    """Sixty people, each with an income of their own, and a common one."""
    rng = np.random.default_rng(9)
    own = np.sort(rng.choice(np.arange(12_345, 98_765), 60, replace=False))
    days = [dt.date(1950, 1, 1) + dt.timedelta(days=int(day)) for day in np.sort(rng.integers(0, 18_000, 60))]
    return pa.table(
        {"income": [*own.tolist(), *[50_000] * 20], "born": [*days, *[dt.date(1980, 5, 17)] * 20]}
    )


def ends_of(cells: set[str]) -> set[str]:
    """What stands in labels between brackets, commas and signs."""
    return {end for cell in cells for end in re.split(r"[\[\]()<>=, ]+", cell) if end}


@pytest.mark.slow
@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("name", ["income", "born"])
def test_no_interval_ends_at_a_value_of_a_few_people(method: Method, name: str) -> None:
    table = earners().select([name])
    release = discreet.anonymize(table, policy(name), plan=Plan(method=method))
    told = cells(release, name)
    assert len(told) > 3
    own = {str(value) for value, held in Counter(table[name].to_pylist()).items() if held < 5}
    assert ends_of(told) & own == set()
    compared = discreet.compare(table, release, policy(name), labels=[])
    assert compared.paired is not None
    assert compared.paired.pair.truthful
    loss = compared.losses.measure("leaf-loss")
    assert loss is not None
    assert loss.value == pytest.approx(release.chosen.cost)


@pytest.mark.slow
@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize(
    ("ticks", "zone"), [(1, None), (1_000_000, None), (1, "Europe/Berlin"), (1_000_000, "-05:00")]
)
def test_no_interval_ends_at_the_time_of_somebody(method: Method, ticks: int, zone: str | None) -> None:
    """Times of 800 days, to the second or to the microsecond, in a zone or not; everybody's own."""
    rng = np.random.default_rng(4)
    drawn = np.sort(rng.integers(0, 800 * 86_400 * ticks, 60))
    times = [
        dt.datetime(2024, 1, 1) + dt.timedelta(microseconds=int(tick) * (1_000_000 // ticks))
        for tick in drawn
    ]
    table = pa.table({"seen": pa.array(times, pa.timestamp("us", zone))})
    release = discreet.anonymize(table, policy("seen"), plan=Plan(method=method))
    told = cells(release, "seen")
    assert len(told) > 2
    assert not [cell for cell in told for time in times if str(time) in cell]
    compared = discreet.compare(table, release, policy("seen"), labels=[])
    assert compared.paired is not None
    assert compared.paired.pair.truthful
    loss = compared.losses.measure("leaf-loss")
    assert loss is not None
    assert loss.value == pytest.approx(release.chosen.cost)


def test_times_in_a_zone_end_on_the_clocks_of_utc() -> None:
    times = [dt.datetime(2024, month, 7, 5, 30, 1, tzinfo=dt.UTC) for month in range(1, 11)]
    table = pa.table({"seen": pa.array(times, pa.timestamp("us", "Europe/Berlin"))})
    release = discreet.anonymize(table, policy("seen"), plan=Plan(method="mondrian"))
    assert cells(release, "seen") == {"<= 2024-05-31 23:59:59+00:00", ">= 2024-06-01 00:00:00+00:00"}


def test_ends_lie_between_two_values_at_a_round_number() -> None:
    classes = EquivalenceClasses.from_columns({"pay": [1234, 2345, 2411, 4711, 7777, 8001]})
    groups = Recoding.of_groups(
        classes, np.array([0, 0, 1, 1, 2, 2]), kept=np.ones(3, dtype=bool), method="x"
    )
    [column] = discreetly_named(groups).columns
    assert column.values.to_pylist() == ["<= 2399", "[2400, 6999]", ">= 7000"]


def test_an_end_that_many_share_stays() -> None:
    """As many have 2345 and 4711 as the smallest class has people."""
    pays = [1234, 2345, 2345, 4711, 4711, 7777, 21000, 30000]
    classes = EquivalenceClasses.from_columns({"pay": pays})
    groups = Recoding.of_groups(
        classes, np.array([0, 0, 1, 1, 2, 2]), kept=np.ones(3, dtype=bool), method="x"
    )
    [column] = discreetly_named(groups).columns
    assert column.values.to_pylist() == ["<= 2345", "[4711, 19999]", ">= 20000"]


def test_a_label_that_ends_below_the_largest_value_stays_closed() -> None:
    """[400, 600) does not hold 600, the largest value: open, it would stand for the people of 600 too."""
    amounts = [120.0] * 4 + [412.37, 589.11] * 2 + [600.0] * 4
    classes = EquivalenceClasses.from_columns({"amount": amounts})
    recoding = Recoding.of_groups(classes, np.array([0, 1, 1, 2]), kept=np.ones(3, dtype=bool), method="x")
    named = discreetly_named(recoding).columns[0]
    assert named.printed()[1:2] == ["[400, 600)"]
    assert named.shares.tolist() == [0.25, 0.5, 0.5, 0.25]
