"""The made-up town: deterministic, consistent in itself, and shaped so that an audit has something to find."""

from __future__ import annotations

import datetime
import errno
from collections import Counter
from pathlib import Path
from statistics import fmean

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pytest
from pyarrow import csv

from discreet import example
from discreet.errors import InvalidParameter, UnknownColumn, UnreadableInput, UnsuitableColumn
from discreet.example import town, visits, write_example

REFERENCE = datetime.date(2025, 6, 30)
STIGMATISED = {"alcohol dependence", "opioid dependence", "schizophrenia", "HIV infection", "depression"}


@pytest.fixture(scope="module")
def residents() -> pa.Table:
    return town()


@pytest.fixture(scope="module")
def log(residents: pa.Table) -> pa.Table:
    return visits(residents)


def mutual_information(table: pa.Table, one: str, other: str) -> float:
    """Bits that one column tells about the other, by counting pairs."""
    pairs = list(zip(table[one].to_pylist(), table[other].to_pylist(), strict=True))
    joint, left, right = Counter(pairs), Counter(a for a, _ in pairs), Counter(b for _, b in pairs)
    total = len(pairs)
    return sum(n / total * np.log2(n * total / (left[a] * right[b])) for (a, b), n in joint.items())


def class_sizes(table: pa.Table, *columns: str) -> pa.Table:
    return table.group_by(list(columns)).aggregate([([], "count_all"), ("diagnosis", "count_distinct")])


def share(table: pa.Table, column: str, value: str) -> float:
    return fmean(entry == value for entry in table[column].to_pylist())


def test_the_same_seed_gives_the_same_town_and_another_seed_another(
    residents: pa.Table, log: pa.Table
) -> None:
    assert town(seed=1).equals(residents)
    assert visits(residents, seed=1).equals(log)
    other = town(seed=2)
    for column in residents.column_names:
        assert not other[column].equals(residents[column]), column
    assert not visits(residents, seed=2)["date"].equals(log["date"])


def test_the_schema_of_both_tables(residents: pa.Table, log: pa.Table) -> None:
    text = pa.string()
    assert residents.schema == pa.schema(
        {
            "resident_id": text,
            "name": text,
            "birth_date": pa.date32(),
            "age": pa.int16(),
            "sex": text,
            "postcode": text,
            "occupation": text,
            "education": text,
            "marital_status": text,
            "household_size": pa.int16(),
            "nationality": text,
            "diagnosis": text,
            "income": pa.int32(),
        }
    )
    assert log.schema == pa.schema(
        {
            "visit_id": text,
            "resident_id": text,
            "date": pa.date32(),
            "clinic": text,
            "sex": text,
            "age_band": text,
            "postcode3": text,
            "treatment": text,
            "treatment_cost": pa.float64(),
        }
    )


@pytest.mark.parametrize("people", [10, 137, 20_000])
def test_any_number_of_people(people: int) -> None:
    residents = town(people)
    assert residents.num_rows == people
    assert pc.count_distinct(residents["resident_id"]).as_py() == people
    known = set(residents["resident_id"].to_pylist())
    assert set(visits(residents)["resident_id"].to_pylist()) <= known


def test_identifiers_keep_one_length_beyond_a_million() -> None:
    ids = example._identifiers("R-", np.array([1, 1_000_000]), width=7).to_pylist()
    assert ids == ["R-0000001", "R-1000000"]


@pytest.mark.parametrize("people", [9, 0, -5])
def test_too_few_people_are_refused(people: int, tmp_path: Path) -> None:
    with pytest.raises(InvalidParameter, match="people=10"):
        town(people)
    with pytest.raises(InvalidParameter):
        write_example(tmp_path / "new", people=people)
    assert not (tmp_path / "new").exists()


def test_a_negative_seed_is_refused(residents: pa.Table) -> None:
    with pytest.raises(InvalidParameter, match="seed"):
        town(seed=-1)
    with pytest.raises(InvalidParameter, match="seed"):
        visits(residents, seed=-1)


def test_identifiers_are_opaque_and_in_no_order(residents: pa.Table) -> None:
    ids = residents["resident_id"].to_pylist()
    assert sorted(ids) == [f"R-{number:06d}" for number in range(1, 4001)]
    rank = np.array([int(entry[2:]) for entry in ids])
    assert abs(np.corrcoef(rank, np.arange(4000))[0, 1]) < 0.06


def test_age_is_the_completed_years_since_birth(residents: pa.Table) -> None:
    for birth, age in zip(residents["birth_date"].to_pylist(), residents["age"].to_pylist(), strict=True):
        assert age == REFERENCE.year - birth.year - (
            (REFERENCE.month, REFERENCE.day) < (birth.month, birth.day)
        )
    ages = residents["age"].to_numpy()
    assert ages.min() == 0
    assert 90 < ages.max() < 105


def test_age_counts_birthdays_exactly() -> None:
    births = ["2024-02-29", "2000-06-29", "2000-06-30", "2000-07-01", "1999-12-31", "2025-06-30"]
    ages = example._age_on_reference_date(np.array(births, dtype="datetime64[D]"))
    assert ages.tolist() == [1, 25, 25, 24, 25, 0]


def test_choosing_follows_the_weights_of_each_row() -> None:
    weights = np.array([[1.0, 0.0, 3.0], [0.0, 5.0, 0.0]])
    row = np.repeat([0, 1], 40_000)
    drawn = example._choose(np.random.default_rng(5), weights, row)
    first, second = drawn[:40_000], drawn[40_000:]
    assert set(first.tolist()) == {0, 2}
    assert abs((first == 0).mean() - 0.25) < 0.01
    assert set(second.tolist()) == {1}


def test_children_and_the_grown_up_live_plausible_lives(residents: pa.Table) -> None:
    for person in residents.to_pylist():
        age = person["age"]
        assert 1 <= person["household_size"] <= 6
        if age < 10:
            assert person["education"] == "none yet"
        if 6 <= age < 16:
            assert person["occupation"] == "pupil"
        if age < 6:
            assert person["occupation"] is None
        if age < 16:
            assert (person["income"], person["marital_status"]) == (None, "single")
            assert person["household_size"] >= 2
        if age >= 16:
            assert person["education"] != "none yet"
        if person["occupation"] in {"physician", "lawyer", "teacher", "pastor"}:
            assert person["education"] == "master"
        if person["marital_status"] == "married":
            assert person["household_size"] >= 2
        if person["sex"] == "male":
            assert person["diagnosis"] != "endometriosis"
        if person["sex"] == "female":
            assert person["diagnosis"] != "prostate enlargement"
        if person["income"] is not None:
            assert person["income"] > 0
            assert person["income"] % 100 == 0


def test_nulls_are_where_life_has_them(residents: pa.Table) -> None:
    nulls = {name: residents[name].null_count for name in residents.column_names}
    assert {name for name, count in nulls.items() if count} == {"occupation", "income"}
    adults = residents.filter(pc.greater_equal(residents["age"], 16))
    assert 0.01 < adults["occupation"].null_count / adults.num_rows < 0.06
    earners = adults.filter(pc.is_in(adults["occupation"], pa.array(["nurse", "office clerk", "retired"])))
    assert 0.01 < earners["income"].null_count / earners.num_rows < 0.06


def test_the_vocabularies_have_the_promised_breadth(residents: pa.Table, log: pa.Table) -> None:
    distinct = {name: set(residents[name].drop_null().to_pylist()) for name in residents.column_names}
    assert len(distinct["postcode"]) == 12
    assert all(len(code) == 5 and code.isdigit() for code in distinct["postcode"])
    assert len({code[:3] for code in distinct["postcode"]}) == 3
    assert len(distinct["occupation"]) == 32
    assert len(distinct["education"]) == 7
    assert len(distinct["diagnosis"]) == 25
    assert distinct["diagnosis"] >= STIGMATISED
    assert len(distinct["name"]) > 2000
    assert len(set(log["clinic"].to_pylist())) == 8
    assert share(residents, "nationality", "German") > 0.75
    sizes = Counter(residents["postcode"].to_pylist())
    assert max(sizes.values()) > 5 * min(sizes.values())


def test_education_and_occupation_tell_the_income(residents: pa.Table) -> None:
    workers = residents.filter(pc.and_(pc.greater_equal(residents["age"], 30), pc.less(residents["age"], 60)))
    workers = workers.filter(pc.is_valid(workers["income"]))

    def mean_income(column: str, value: str) -> float:
        return fmean(workers.filter(pc.equal(workers[column], value))["income"].to_pylist())

    by_level = [
        mean_income("education", level) for level in ("lower secondary", "vocational", "bachelor", "master")
    ]
    assert by_level == sorted(by_level)
    assert by_level[-1] > 1.7 * by_level[0]
    assert mean_income("occupation", "physician") > 2 * mean_income("occupation", "nurse")
    assert mean_income("occupation", "nurse") > 1.3 * mean_income("occupation", "cleaner")
    assert mutual_information(workers, "education", "occupation") > 0.5

    clerks = residents.filter(pc.equal(residents["occupation"], "office clerk"))
    clerks = clerks.filter(pc.is_valid(clerks["income"]))
    assert np.corrcoef(clerks["age"].to_numpy(), clerks["income"].to_numpy())[0, 1] > 0.3


def test_dependence_is_far_above_what_chance_gives(residents: pa.Table) -> None:
    shuffled = residents.take(pa.array(np.random.default_rng(3).permutation(residents.num_rows)))
    for one, other in [("sex", "occupation"), ("sex", "diagnosis"), ("occupation", "diagnosis")]:
        apart = pa.table({one: residents[one], other: shuffled[other]})
        assert mutual_information(residents, one, other) > 1.5 * mutual_information(apart, one, other), (
            one,
            other,
        )


def test_district_age_and_sex_bear_on_the_other_columns(residents: pa.Table) -> None:
    adults = residents.filter(pc.greater_equal(residents["age"], 26))
    rich, poor = (adults.filter(pc.equal(adults["postcode"], code)) for code in ("62109", "62017"))
    assert share(rich, "education", "master") > share(poor, "education", "master") + 0.15
    assert share(poor, "nationality", "German") < share(rich, "nationality", "German") - 0.1

    old = residents.filter(pc.greater_equal(residents["age"], 65))
    middle = residents.filter(pc.and_(pc.greater_equal(residents["age"], 35), pc.less(residents["age"], 50)))
    young = residents.filter(pc.less(residents["age"], 26))
    assert share(old, "marital_status", "widowed") > share(middle, "marital_status", "widowed") + 0.1
    assert share(middle, "marital_status", "married") > share(young, "marital_status", "married") + 0.3
    assert share(old, "diagnosis", "hypertension") > share(young, "diagnosis", "hypertension") + 0.1

    nurses = residents.filter(pc.equal(residents["occupation"], "nurse"))
    assert share(nurses, "sex", "female") > 0.6


def test_work_bears_on_health(residents: pa.Table) -> None:
    builders, clerks, jobless = (
        residents.filter(pc.is_in(residents["occupation"], pa.array(names)))
        for names in (
            ["construction worker", "warehouse worker", "electrician"],
            ["office clerk", "software developer", "engineer"],
            ["unemployed"],
        )
    )
    assert share(builders, "diagnosis", "back pain") > share(clerks, "diagnosis", "back pain") + 0.08
    assert share(clerks, "diagnosis", "carpal tunnel syndrome") > share(
        builders, "diagnosis", "carpal tunnel syndrome"
    )
    addicted = "alcohol dependence"
    assert share(jobless, "diagnosis", addicted) > share(clerks, "diagnosis", addicted) + 0.04


def test_many_people_are_unique(residents: pa.Table) -> None:
    sizes = class_sizes(residents, "age", "sex", "postcode", "occupation")["count_all"].to_numpy()
    assert sizes.sum() == 4000
    assert sizes.min() == 1
    assert (sizes == 1).sum() / 4000 > 0.5
    without_occupation = class_sizes(residents, "age", "sex", "postcode")["count_all"].to_numpy()
    assert 0.05 < (without_occupation == 1).sum() / 4000 < 0.3


def test_some_classes_hide_their_members_but_not_their_diagnosis(residents: pa.Table) -> None:
    classes = class_sizes(residents, "age", "sex", "postcode")
    size, diagnoses = classes["count_all"].to_numpy(), classes["diagnosis_count_distinct"].to_numpy()
    assert ((size >= 3) & (diagnoses == 1)).sum() >= 3
    home = residents.filter(
        pc.and_(pc.equal(residents["postcode"], "62304"), pc.greater_equal(residents["age"], 80))
    )
    assert home.num_rows >= 20
    assert share(home, "diagnosis", "dementia") > 0.8


def test_visits_agree_with_the_resident(residents: pa.Table, log: pa.Table) -> None:
    people = {person["resident_id"]: person for person in residents.to_pylist()}
    for visit in log.to_pylist():
        person = people[visit["resident_id"]]
        assert visit["sex"] == person["sex"]
        assert visit["postcode3"] == person["postcode"][:3]
        if person["age"] >= 90:
            assert visit["age_band"] == "90+"
        else:
            low, high = map(int, visit["age_band"].split("-"))
            assert low <= person["age"] <= high
        assert max(person["birth_date"], datetime.date(2024, 7, 1)) <= visit["date"] <= REFERENCE
        assert visit["treatment_cost"] > 0


def test_visits_are_a_log_in_the_order_of_time(log: pa.Table) -> None:
    dates = log["date"].to_numpy()
    assert (dates[1:] >= dates[:-1]).all()
    assert log["visit_id"].to_pylist() == [f"V-{number:06d}" for number in range(1, log.num_rows + 1)]


def test_people_visit_none_to_twelve_times_and_the_sick_more_often(
    residents: pa.Table, log: pa.Table
) -> None:
    times = Counter(log["resident_id"].to_pylist())
    assert max(times.values()) <= 12
    assert 0.03 < 1 - len(times) / residents.num_rows < 0.3

    def mean_visits(table: pa.Table) -> float:
        return fmean(times[person] for person in table["resident_id"].to_pylist())

    old = residents.filter(pc.greater_equal(residents["age"], 65))
    young = residents.filter(pc.and_(pc.greater(residents["age"], 10), pc.less(residents["age"], 30)))
    assert mean_visits(old) > mean_visits(young) + 1
    well, sad = (
        residents.filter(pc.equal(residents["diagnosis"], name)) for name in ("no finding", "depression")
    )
    assert mean_visits(sad) > mean_visits(well) + 1.5


def test_reason_follows_diagnosis_and_practice_follows_district(residents: pa.Table, log: pa.Table) -> None:
    joined = log.select(["resident_id", "treatment", "clinic", "treatment_cost"]).join(
        residents, "resident_id"
    )
    assert joined.num_rows == log.num_rows
    sad = joined.filter(pc.equal(joined["diagnosis"], "depression"))
    assert 0.5 < share(sad, "treatment", "psychotherapy") < 0.7
    village = joined.filter(pc.equal(joined["postcode"], "62309"))
    assert share(village, "clinic", "Practice Upper Village") > 0.5
    market = joined.filter(pc.equal(joined["postcode"], "62013"))
    assert share(market, "clinic", "Practice Old Market") > 0.5
    therapy = joined.filter(pc.equal(joined["treatment"], "psychotherapy"))
    assert share(therapy, "clinic", "Psychiatry at the Quay") > 0.5
    cancer = joined.filter(pc.equal(joined["treatment"], "cancer care"))
    assert fmean(cancer["treatment_cost"].to_pylist()) > 3 * fmean(joined["treatment_cost"].to_pylist())


def test_visits_of_some_residents_and_of_none(residents: pa.Table) -> None:
    few = residents.slice(100, 50)
    assert set(visits(few)["resident_id"].to_pylist()) <= set(few["resident_id"].to_pylist())
    assert visits(residents.slice(0, 0)).num_rows == 0


def test_visits_refuse_a_table_that_is_not_the_town(residents: pa.Table) -> None:
    with pytest.raises(UnknownColumn, match="'diagnosis'"):
        visits(residents.drop_columns(["diagnosis"]))

    def with_postcode(values: pa.Array) -> pa.Table:
        return residents.set_column(residents.column_names.index("postcode"), "postcode", values)

    with pytest.raises(UnsuitableColumn, match="not text"):
        visits(with_postcode(residents["postcode"].cast(pa.int32())))
    with pytest.raises(UnsuitableColumn, match="nulls"):
        visits(with_postcode(pa.nulls(4000, pa.string())))
    with pytest.raises(UnsuitableColumn, match="unknown in the town") as caught:
        visits(with_postcode(pa.array(["99999"] * 4000)))
    assert "99999" not in str(caught.value)


def test_files_read_back_as_they_were(tmp_path: Path, residents: pa.Table, log: pa.Table) -> None:
    folder = tmp_path / "made" / "here"
    paths = write_example(folder)
    assert paths == {"residents": folder / "residents.csv", "visits": folder / "visits.csv"}
    assert sorted(entry.name for entry in folder.iterdir()) == ["residents.csv", "visits.csv"]
    for name, table in (("residents", residents), ("visits", log)):
        options = csv.ConvertOptions(column_types=table.schema, strings_can_be_null=True)
        assert csv.read_csv(paths[name], convert_options=options).equals(table)
    header = paths["residents"].read_text(encoding="utf-8").splitlines()[0]
    assert header.replace('"', "").split(",") == residents.column_names


def test_files_are_replaced_whole_or_not_at_all(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    first = write_example(tmp_path, people=10)
    before = {name: path.read_bytes() for name, path in first.items()}
    write = csv.write_csv

    def disk_full(table: pa.Table, target: Path) -> None:
        write(table, target)
        if "visit" in table.column_names[0]:
            raise OSError(errno.ENOSPC, "no space left")

    with monkeypatch.context() as patched:
        patched.setattr(csv, "write_csv", disk_full)
        with pytest.raises(UnreadableInput, match="no space left"):
            write_example(tmp_path, people=20)
    assert {name: path.read_bytes() for name, path in first.items()} == before
    assert len(list(tmp_path.iterdir())) == 2

    write_example(tmp_path, people=20)
    assert csv.read_csv(first["residents"]).num_rows == 20
