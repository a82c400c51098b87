"""Suggested roles for tables as people bring them: nothing that names a person may slip through."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

import discreet
from discreet.example import town, visits
from discreet.policy import Policy, dumps, loads
from discreet.policy.suggest import looks_generalised, suggest, suggestion
from helpers.adult import ADULT_COLUMNS

# What matters most per table; columns that may well be seen otherwise are left out.
EXPECTED: dict[str, tuple[str, dict[str, Any], dict[str, str]]] = {
    "oulad": (
        "oulad/studentInfo.csv.gz",
        {},
        {
            "quasi-identifier": "gender region highest_education imd_band age_band",
            "sensitive": "final_result disability",
            "person-id": "id_student",
        },
    ),
    "adult": (
        "adult/adult.data.gz",
        {"header": False, "names": ADULT_COLUMNS},
        {
            "quasi-identifier": "age workclass education marital-status occupation relationship race sex native-country",
            "sensitive": "income capital-gain capital-loss",
            "weight": "fnlwgt",
        },
    ),
    "sparcs": (
        "sparcs/sparcs2016_random1000.csv.gz",
        {},
        {
            "direct-identifier": "row",
            "quasi-identifier": "Gender,Race,Ethnicity,Age Group,Zip Code - 3 digits,Length of Stay,Hospital County",
            "sensitive": "CCS Diagnosis Description,APR DRG Description,Total Charges",
        },
    ),
    "diabetic": (
        "uci/diabetic_data.csv.gz",
        {"rows": 20_000},
        {
            "direct-identifier": "encounter_id",
            "quasi-identifier": "race gender age",
            "sensitive": "diag_1 diag_2 diag_3 A1Cresult readmitted",
            "person-id": "patient_nbr",
        },
    ),
}  # fmt: skip


def roles(policy: Policy) -> dict[str, str]:
    return {column.name: column.role for column in policy.columns}


@pytest.mark.slow
@pytest.mark.data
@pytest.mark.parametrize("name", EXPECTED)
def test_public_tables(name: str, data_dir: Path) -> None:
    file, reading, expected = EXPECTED[name]
    table = discreet.read(data_dir / file, **reading)
    policy = discreet.suggest(table)
    found = roles(policy)
    assert tuple(found) == table.names
    wrong = {
        column: found[column]
        for role, listed in expected.items()
        for column in (listed.split(",") if "," in listed else listed.split())
        if found[column] != role
    }
    assert wrong == {}
    assert all(column.reason and column.rating and column.type for column in policy.columns)
    assert loads(dumps(policy)) == policy


@pytest.fixture(scope="module")
def residents() -> pa.Table:
    return town(people=800, seed=2)


def test_residents_of_the_example_town(residents: pa.Table) -> None:
    found = roles(discreet.suggest(discreet.read(residents)))
    assert found["resident_id"] == found["name"] == "direct-identifier"
    assert found["diagnosis"] == found["income"] == "sensitive"
    for name in ("birth_date", "age", "sex", "postcode", "occupation", "education", "nationality"):
        assert found[name] == "quasi-identifier"


def test_amounts_with_an_empty_cell_among_them_name_nobody(tmp_path: Path) -> None:
    """They are kept as texts, and were taken for a text that is different in every row."""
    file = tmp_path / "amounts.csv"
    amounts = [f"{20 + number % 60},{number * 17 % 997}.{number % 100:02}\n" for number in range(120)]
    file.write_text("".join(["age,qfx\n", *amounts]), encoding="utf-8")
    whole = roles(discreet.suggest(discreet.read(file)))
    file.write_text("".join(["age,qfx\n", "31,\n", *amounts]), encoding="utf-8")
    table = discreet.read(file)
    assert table.columns[1].storage == "text"
    assert roles(discreet.suggest(table)) == whole


def test_visits_of_the_example_town(residents: pa.Table) -> None:
    policy = discreet.suggest(discreet.read(visits(residents, seed=2)))
    found = roles(policy)
    assert policy.person == "resident_id"
    assert found["visit_id"] == "direct-identifier"
    for name in ("date", "sex", "age_band", "postcode3"):
        assert found[name] == "quasi-identifier"
    person = policy.column("resident_id")
    assert person is not None
    assert "rows per person" in person.reason


def test_the_suggestion_can_be_audited_as_it_is(residents: pa.Table) -> None:
    found = discreet.audit(residents, detail="core")
    assert found.verdict.decision == "do-not-release"
    assert any("suggested" in note for note in found.notes)
    assert found.verdict.obstacles[0].id == "no-direct-identifiers"


def test_order_of_rows_and_columns_does_not_matter(residents: pa.Table) -> None:
    shuffled = residents.take(np.random.default_rng(1).permutation(len(residents)))
    turned = shuffled.select(list(reversed(residents.column_names)))
    assert roles(discreet.suggest(discreet.read(turned))) == roles(discreet.suggest(discreet.read(residents)))


def test_no_note_or_reason_holds_a_value(residents: pa.Table) -> None:
    found = suggestion(discreet.read(residents))
    text = dumps(found.policy, notes=found.notes, heading=found.heading)
    names = set(residents["name"].to_pylist()) | set(residents["resident_id"].to_pylist())
    assert not [name for name in names if name in text]
    for diagnosis in set(residents["diagnosis"].to_pylist()) - {None}:
        assert diagnosis not in text


def test_heading_tells_what_the_quasi_identifiers_do_together(residents: pa.Table) -> None:
    found = suggestion(discreet.read(residents))
    assert any("of rows unique" in line for line in found.heading)
    assert all(set(c.attributes) <= set(found.policy.quasi_identifiers) for c in found.combinations)


def test_an_id_is_a_person_id_only_if_it_repeats() -> None:
    n = 200
    repeated = pa.table({"patient_id": np.arange(n) // 4, "sex": ["f", "m"] * (n // 2)})
    single = pa.table({"patient_id": np.arange(n), "sex": ["f", "m"] * (n // 2)})
    assert discreet.suggest(discreet.read(repeated)).person == "patient_id"
    policy = discreet.suggest(discreet.read(single))
    assert policy.person is None
    assert "patient_id" in policy.direct_identifiers


def test_an_id_with_gaps_is_not_suggested_as_person_id() -> None:
    ids = ["" if i % 10 == 0 else f"P{i // 4}" for i in range(200)]
    table = discreet.read(pa.table({"patient_id": ids, "sex": ["f", "m"] * 100}))
    policy = discreet.suggest(table)
    assert policy.person is None
    assert discreet.audit(table, policy, detail="core").rows == 200


def test_texts_that_differ_in_every_row_may_name_a_person() -> None:
    odd = [f"{i * 7919 % 10007:x}-{i * 104729 % 7877:x}" for i in range(100)]
    policy = discreet.suggest(discreet.read(pa.table({"blob": odd, "sex": ["f", "m"] * 50})))
    assert "blob" in policy.direct_identifiers


def test_without_any_quasi_identifier_the_best_separating_columns_are_taken() -> None:
    policy = discreet.suggest(discreet.read(pa.table({"foo": [1, 1, 2, 2] * 20, "bar": ["x", "y"] * 40})))
    assert set(policy.quasi_identifiers) == {"foo", "bar"}
    assert "no column was recognised" in policy.columns[0].reason


def test_columns_that_tell_nobody_apart_are_insensitive() -> None:
    policy = discreet.suggest(discreet.read(pa.table({"age": [31, 47], "name": ["x", "x"]})))
    assert roles(policy)["name"] == "insensitive"


@pytest.mark.parametrize(
    ("values", "expected"),
    [
        (["[30, 39]", "[40, 49]"], True),
        (["[70-80)", "[80-90)"], True),
        (["0-35", "35-55", "55<="], True),
        (["90+", "80-89"], True),
        (["1020*", "*"], True),
        (["{Bachelors, Masters}"], True),
        (["<=50K", ">50K"], True),
        (["11th", "{Bachelors, Masters}", "*"], True),
        (["11th", "{Bachelors, Masters}", *map(str, range(20))], False),
        (["Bachelors", "Masters"], False),
        (["30", "[30, 39]"], True),
        (["30", "thirty", "[30, 39]"], False),
        ([], False),
    ],
)
def test_generalised_values_are_recognised(values: list[str], expected: bool) -> None:
    assert looks_generalised(values) is expected


@pytest.mark.slow
def test_a_table_wider_than_what_is_counted_together() -> None:
    table = pa.table({f"c{i}": [j % (2 + i % 3) for j in range(30)] for i in range(230)})
    policy = suggestion(discreet.read(table)).policy
    assert len(policy.columns) == 230
    assert policy.quasi_identifiers


def test_codes_are_nominal_whatever_their_digits() -> None:
    table = discreet.read(
        pa.table(
            {
                "admission_type_id": [1, 2, 3] * 20,
                "MARSTAT": [1.0, 4.0, 2.0] * 20,
                "number_of_children": [0, 1, 2] * 20,
                "age": [*range(60)],
            }
        )
    )
    types = {column.name: column.type for column in suggest(table).columns}
    assert types == {
        "admission_type_id": "nominal",
        "MARSTAT": "nominal",
        "number_of_children": "integer",
        "age": "integer",
    }


def test_alike_columns_get_the_same_role() -> None:
    doses = ["No", "Steady", "Up", "Down"] * 15
    drugs = {"metformin": ["No", "Steady"] * 30, "acarbose": doses, "insulin": doses, "glipizide": doses}
    policy = suggest(discreet.read(pa.table({"age": [*range(60)], **drugs})))
    assert policy.sensitive == tuple(drugs)
    told = policy.column("acarbose")
    assert told is not None
    assert "the same values as insulin" in told.reason


def test_a_household_is_no_person_and_an_amount_no_row_number() -> None:
    table = pa.table(
        {
            "hhid": [i // 2 for i in range(100)],
            "amount": [(i * 7919) % 100_003 * 3 for i in range(100)],
            "age": [20 + i % 50 for i in range(100)],
            "WEIGHT": [118.3 if i % 2 else 92.75 for i in range(100)],
        }
    )
    policy = suggest(discreet.read(table))
    assert (policy.person, policy.weight) == (None, "WEIGHT")
    assert policy.direct_identifiers == ("hhid",)


def test_an_unrecognised_column_that_singles_people_out_with_others_is_kept_coarser() -> None:
    draw = np.random.default_rng(5)
    rows = 4_000
    table = discreet.read(
        pa.table(
            {
                "age": draw.integers(18, 90, rows),
                "sex": draw.choice(["f", "m"], rows),
                "occupation": draw.choice([f"job {i}" for i in range(20)], rows),
                "zork": draw.integers(0, 60, rows) * draw.integers(0, 2, rows),
            }
        )
    )
    columns = {column.name: column for column in suggest(table).columns}
    assert columns["zork"].role == "quasi-identifier"
    assert "singles out" in columns["zork"].reason


def beside_ages(name: str, values: list[Any]) -> pa.Table:
    """120 rows with a column of such values, by chance, and ages."""
    chance = np.random.default_rng(1)
    drawn = [values[at] for at in chance.integers(0, len(values), 120)]
    return pa.table({name: drawn, "age": chance.integers(20, 80, 120)})


def test_row_numbers_of_a_long_table_are_row_numbers_however_the_rows_lie() -> None:
    count = 9_000
    numbers = np.random.default_rng(1).permutation(count) + 1
    policy = suggest(pa.table({"x": numbers, "age": np.arange(count) % 60 + 20}))
    assert policy.direct_identifiers == ("x",)


def test_answers_in_numbers_are_not_alike_to_degrees_of_education() -> None:
    chance = np.random.default_rng(2)
    marks = np.array(["1", "2", "3", "4", "5", "NA"])
    columns = {f"A{i}": marks[chance.integers(0, 6, 400)] for i in range(1, 6)}
    policy = suggest(pa.table({**columns, "education": marks[chance.integers(0, 6, 400)]}))
    said = [policy.column(name) for name in columns]
    assert all(column is not None and column.reason.startswith("not sure") for column in said)


@pytest.mark.parametrize(
    ("name", "values", "role"),
    [
        ("black", ["yes", "no"], "quasi-identifier"),
        ("union", ["yes", "no"], "sensitive"),
        ("Mathe", [1, 2, 3, 4], "sensitive"),
        ("Wohngeld", [118.5, 260.0, 310.25], "sensitive"),
        ("Herkunftssprache", ["Deutsch", "Arabisch", "Kurdisch"], "quasi-identifier"),
        ("Förderschwerpunkt", ["Lernen", "Sehen", "Sprache"], "sensitive"),
        ("albumin", [3.5, 4.1, 2.9], "sensitive"),
        ("years_of_service", [1, 7, 22], "quasi-identifier"),
        ("Cost Center", [4100, 4200, 4300], "quasi-identifier"),
    ],
)
def test_words_that_offices_and_studies_use_are_known(name: str, values: list[Any], role: str) -> None:
    column = suggest(beside_ages(name, values)).column(name)
    assert column is not None
    assert (column.role, column.reason.startswith("not sure")) == (role, False)


@pytest.mark.parametrize(
    ("name", "values"),
    [("major", ["yes", "no"]), ("white", [0.12, 0.5, 0.33]), ("history", [f"event {i}" for i in range(30)])],
)
def test_words_of_several_meanings_are_taken_by_their_values(name: str, values: list[Any]) -> None:
    column = suggest(beside_ages(name, values)).column(name)
    assert column is not None
    assert column.reason.startswith("not sure")


def test_sizes_of_households_are_ordered() -> None:
    sizes = [1 + i % 6 for i in range(120)]
    policy = suggest(pa.table({"Haushaltsgröße": sizes, "children": sizes, "relationship": sizes}))
    types = {column.name: column.type for column in policy.columns}
    assert types == {"Haushaltsgröße": "integer", "children": "integer", "relationship": "nominal"}


def test_an_unrecognised_column_of_a_small_table_with_few_values_is_kept_as_a_quasi_identifier() -> None:
    chance = np.random.default_rng(3)
    policy = suggest(
        pa.table({"xq": chance.integers(0, 14, 200).astype(str), "age": chance.integers(20, 80, 200)})
    )
    assert "xq" in policy.quasi_identifiers


def test_answers_on_a_scale_are_what_nobody_should_learn() -> None:
    for answers in (["agree", "disagree", "neutral"], ["nie", "manchmal", "oft", "immer"]):
        column = suggest(beside_ages("Q1", answers)).column("Q1")
        assert column is not None
        assert column.role == "sensitive"


def test_sensitive_texts_that_all_differ_are_left_out() -> None:
    rows = 80
    texts = [f"pay of {i} after review {7 * i}" for i in range(rows)]
    policy = suggest(pa.table({"salary": texts, "age": [20 + i % 50 for i in range(rows)]}))
    assert policy.direct_identifiers == ("salary",)


def test_the_doctor_of_a_patient_is_no_person_of_the_table() -> None:
    chance = np.random.default_rng(4)
    doctors = chance.integers(510, 540, 300)
    visits = {"doctor_id": doctors, "age": chance.integers(20, 80, 300)}
    assert suggest(pa.table({"patient_id": np.arange(300) * 7 + 1000, **visits})).person is None
    assert suggest(pa.table({"patient_id": chance.integers(1, 90, 300), **visits})).person == "patient_id"
    assert suggest(pa.table(visits)).person == "doctor_id"
