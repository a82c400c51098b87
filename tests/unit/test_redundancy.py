"""Columns that follow from others are found on counted data, left out by default, and counted in the loss."""

from __future__ import annotations

import random
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest

import discreet
from discreet.classes import EquivalenceClasses
from discreet.policy.file import dumps, loads
from discreet.policy.plan import Plan
from discreet.policy.suggest import suggest
from discreet.release.check import check
from discreet.release.removed import removed_columns
from discreet.risk.redundancy import explained, redundant
from discreet.transform.recoding import Recoding

SCHOOL = ("none", "primary", "lower", "upper", "college", "master")


def people(rows: int = 600) -> dict[str, list[object]]:
    """Education in words and in years, which say the same, and three columns that say nothing of each other."""
    dice = random.Random(4)
    level = [dice.randrange(6) for _ in range(rows)]
    return {
        "education": [SCHOOL[i] for i in level],
        "education_num": [3 + 2 * i for i in level],
        "age": [20 + dice.randrange(50) for _ in range(rows)],
        "sex": [dice.choice("fm") for _ in range(rows)],
        "diagnosis": [dice.choice(["flu", "cold", "measles", "none"]) for _ in range(rows)],
    }


def counted(columns: dict[str, list[object]]) -> EquivalenceClasses:
    return EquivalenceClasses.from_columns(columns)


def test_what_a_majority_explains_is_counted_by_hand() -> None:
    # Postcode 1: nine of ten records are in county a. Postcode 2: all ten in b. Majority of all: 11 in b of 20.
    classes = counted({"postcode": [1] * 10 + [2] * 10, "county": ["a"] * 9 + ["b"] * 11})
    assert explained(classes, "postcode", "county") == 0.0, "nine records are too few to tell"
    classes = counted({"postcode": [1] * 20 + [2] * 20, "county": ["a"] * 18 + ["b"] * 22})
    assert explained(classes, "postcode", "county") == pytest.approx((38 - 22) / (40 - 22))


def test_a_unique_column_explains_nothing_and_a_constant_one_is_not_explained() -> None:
    dice = random.Random(1)
    sex = [dice.choice("fm") for _ in range(200)]
    classes = counted({"id": list(range(200)), "sex": sex, "country": ["de"] * 199 + ["fr"]})
    assert explained(classes, "id", "sex") == 0.0
    assert explained(classes, "sex", "country") == explained(classes, "id", "country") == 0.0
    assert redundant(classes) == ()


def test_pairs_that_happen_to_agree_are_no_rule() -> None:
    # Everybody shares the first column with one other: half of the pairs agree in sex by chance.
    dice = random.Random(2)
    classes = counted({"pair": [i // 2 for i in range(400)], "sex": [dice.choice("fm") for _ in range(400)]})
    assert explained(classes, "pair", "sex") < 0.2


def test_a_person_with_many_rows_is_no_rule_by_themselves() -> None:
    # Ten rows for each of 60 persons: a birth date repeats, but only with the same person.
    dice = random.Random(3)
    sexes = [dice.choice("fm") for _ in range(60)]
    rows = [person for person in range(60) for _ in range(10)]
    columns = {"born": [f"{1900 + person}" for person in rows], "sex": [sexes[person] for person in rows]}
    assert explained(EquivalenceClasses.from_columns(columns), "born", "sex") == 1.0
    by_person = EquivalenceClasses.from_columns(columns, person=rows)
    assert explained(by_person, "born", "sex") == 0.0


def test_words_stay_before_numbers_and_the_finer_before_the_coarser() -> None:
    table = people()
    table["degree"] = [name in ("college", "master") for name in table["education"]]
    left_out = {each.column: each.source for each in redundant(counted(table))}
    assert left_out == {"education_num": "education", "degree": "education"}


def test_a_name_stays_before_its_number_though_two_bear_one_name() -> None:
    dice = random.Random(8)
    numbers = [dice.randrange(40) for _ in range(2000)]
    columns = {
        "number": numbers,
        "name": [f"plant {max(number, 1)}" for number in numbers],
        "month": [dice.randrange(12) for _ in numbers],
    }
    (redundancy,) = redundant(counted(columns))
    assert (redundancy.column, redundancy.source, redundancy.follows) == ("number", "name", True)


def test_a_birth_date_that_nearly_everybody_has_alone_goes_for_the_age() -> None:
    dice = random.Random(5)
    ages = [dice.randrange(20, 60) for _ in range(2000)]
    born = [f"{2020 - age}-{dice.randrange(1, 13):02}-{dice.randrange(1, 29):02}" for age in ages]
    (redundancy,) = redundant(counted({"birth": born, "age": ages, "sex": [dice.choice("fm") for _ in ages]}))
    assert (redundancy.column, redundancy.source, redundancy.follows) == ("birth", "age", False)


def test_a_hospital_of_which_many_are_too_small_goes_for_its_county() -> None:
    # Ten large hospitals and forty small ones: 35 % of the patients were in one that fewer than 11 share.
    dice = random.Random(6)
    small = [f"clinic {at}" for at in range(40)]
    hospitals = [dice.choice([f"hospital {at}" for at in range(10)]) for _ in range(650)]
    hospitals += [small[at % 40] for at in range(350)]
    county = {name: f"county {int(name.split()[1]) % 4}" for name in hospitals}
    columns = {
        "hospital": hospitals,
        "county": [county[name] for name in hospitals],
        "sex": [dice.choice("fm") for _ in hospitals],
    }
    (redundancy,) = redundant(counted(columns))
    assert (redundancy.column, redundancy.source, redundancy.follows) == ("hospital", "county", False)
    assert "many of its values are too rare" in redundancy.describe()
    # Where few are, their names stay, and the county is read off them.
    columns = {name: values[:700] for name, values in columns.items()}
    (redundancy,) = redundant(counted(columns))
    assert (redundancy.column, redundancy.source, redundancy.follows) == ("county", "hospital", True)


def test_a_column_that_nobody_judged_never_stays_for_one_that_was() -> None:
    table = people()
    assert [each.column for each in redundant(counted(table), ["education_num", "age"])] == ["education"]


def test_by_default_one_stays_and_the_release_passes(tmp_path: Path) -> None:
    table = discreet.read(pa.table(people()))
    policy = loads(dumps(suggest(table)))
    assert policy.plan.drop_attributes == ("education_num",)
    assert policy.plan.weights == {"education": 2.0}
    assert "follows from education" in (policy.column("education_num") or policy.columns[0]).reason
    release = discreet.anonymize(table, policy)
    assert "education_num" not in release.table.names
    (removed,) = release.removed
    assert (removed.name, removed.reason) == ("education_num", "it follows from education")
    # As much as can be read off education is not lost.
    assert removed.loss == pytest.approx(release.changes()["education"]["loss"])
    losses = [change["loss"] for change in release.changes().values()]
    assert release.loss == pytest.approx((sum(losses) + removed.loss) / 4)
    assert release.to_dict()["removed"] == [removed.to_dict()]
    file = release.save(tmp_path / "release.csv", report=tmp_path / "report.html")
    assert check(file, policy).passes
    assert "it follows from education" in (tmp_path / "report.html").read_text()
    assert "it follows from education" in str(release.notes)


def test_an_amount_that_follows_from_the_region_is_no_secret_and_would_tell_it() -> None:
    # Each of six regions has one grant, as a constant of the stratum; wages are people's own.
    dice = random.Random(3)
    regions = [dice.choice(["Ahr", "Eifel", "Hunsrueck", "Mosel", "Saar", "Taunus"]) for _ in range(600)]
    grants = {"Ahr": 7100, "Eifel": 7100, "Hunsrueck": 8200, "Mosel": 8200, "Saar": 9300, "Taunus": 9300}
    rows = {
        "region": regions,
        "sex": [dice.choice("fm") for _ in regions],
        "income": [grants[region] for region in regions],
        "wages": [dice.randrange(1000, 9000, 100) for _ in regions],
    }
    policy = suggest(discreet.read(pa.table(rows)))
    assert policy.sensitive == ("wages",)
    assert policy.plan.drop_attributes == ("income",)
    reason = next(column.reason for column in policy.columns if column.name == "income")
    assert "follows from region" in reason
    # What follows and is left out need not be spared.
    assert policy.plan.weights == {}


def test_long_names_that_repeat_are_compared_too() -> None:
    dice = random.Random(5)
    numbers = [dice.choice([226700, 228000, 401001]) for _ in range(300)]
    names = {
        number: f"Memorial Hospital of the Sisters of Charity in the Town of New Amity {number % 7}"
        for number in numbers
    }
    rows = {
        "facility_id": numbers,
        "facility_name": [names[number] for number in numbers],
        "sex": [dice.choice("fm") for _ in numbers],
    }
    assert suggest(discreet.read(pa.table(rows))).plan.drop_attributes == ("facility_id",)


def test_it_can_be_undone() -> None:
    table = discreet.read(pa.table(people()))
    policy = suggest(table)
    release = discreet.anonymize(table, policy, plan=Plan())
    assert {"education", "education_num"} <= set(release.table.names)
    named = policy.replace(quasi_identifiers=["education", "education_num", "sex"])
    assert named.plan.drop_attributes == ()
    fewer = policy.replace(insensitive=["education"])
    assert fewer.plan.weights == {}


def test_what_is_left_open_of_a_column_is_lost() -> None:
    # Four towns of two counties. A label of towns of both says nothing of the county, though it leaves out half of the towns; and a
    # town that stays for its streets tells one of them or all of its own.
    town = [f"town {i // 10 % 4}" for i in range(240)]
    street = [f"street {i // 10 % 4 * 3 + i % 3}" for i in range(240)]
    county = ["x" if name in ("town 0", "town 1") else "y" for name in town]
    classes = counted({"town": town, "county": county, "street": street})
    left = classes.project(["town"])

    def losses(groups: list[int]) -> list[float | None]:
        owner, kept = np.array(groups), np.ones(max(groups) + 1, dtype=bool)
        shown = Recoding.of_groups(left, owner, kept=kept, method="example")
        reasons = dict.fromkeys(("county", "street"), "as the plan says")
        return [each.loss for each in removed_columns(classes, shown, reasons, ["county", "street"])]

    # Three streets of twelve stand in a town: two of eleven others are left open.
    assert losses([0, 1, 2, 3]) == pytest.approx([0.0, 2 / 11])
    assert losses([0, 0, 1, 1]) == pytest.approx([1 / 3, 5 / 11]), "no less than is lost of the town"
    assert losses([0, 1, 0, 1]) == pytest.approx([1.0, 5 / 11])
    assert losses([0, 0, 0, 0]) == pytest.approx([1.0, 1.0])


def test_a_column_that_is_left_out_must_not_come_back(tmp_path: Path) -> None:
    rows = people()
    table = discreet.read(pa.table(rows))
    policy = suggest(table)
    release = discreet.anonymize(table, policy).table
    released = release.engine.to_arrow(release)
    again = released.append_column("education_num", [rows["education_num"][: len(released)]])
    assert not check(again, policy).passes


def test_what_the_plan_drops_for_other_reasons_counts_as_lost() -> None:
    release = discreet.anonymize(
        pa.table(people()), suggest(discreet.read(pa.table(people()))), plan=Plan(drop_attributes=("age",))
    )
    removed = {column.name: column for column in release.removed}
    assert (removed["age"].reason, removed["age"].loss) == ("as the plan says", 1.0)
