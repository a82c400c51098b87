"""Several tables: keys, who is found by how many known rows, and releases that keep what they promise."""

from __future__ import annotations

import json
import os
import sqlite3
import tomllib
from collections import Counter
from functools import cache
from pathlib import Path

import duckdb
import numpy as np
import openpyxl
import pyarrow as pa
import pyarrow.csv
import pytest
from click.testing import CliRunner

from discreet.cli import cli
from discreet.errors import InvalidParameter, InvalidPolicy, RequirementNotMet, UnreadableInput
from discreet.relational.alike import KnownRows
from discreet.relational.anonymize import anonymize_tables
from discreet.relational.judging import as_seen, audit_tables
from discreet.relational.policy import open_relational
from discreet.relational.release import RelationalRelease, fewest_alike, seen_people
from discreet.relational.rows import RelatedTables
from discreet.relational.sources import open_tables
from discreet.relational.suggest import find_tables, suggest_tables

PATIENTS = {"patient_id": [1, 2, 3, 4], "name": ["Ada", "Ben", "Cem", "Eva"], "age": [30, 30, 30, 30]}
VISITS = {"visit": [7, 8, 9, 10, 11], "patient_id": [1, 2, 3, 3, 4], "ward": ["A", "A", "A", "B", "A"]}
TESTS = {"visit": [7, 8, 9, 11], "test": ["x", "x", "y", "x"]}
QI, ID, SENSITIVE = ({"role": role} for role in ("quasi-identifier", "direct-identifier", "sensitive"))


def policy(known: object = "all", **more: object) -> dict[str, object]:
    """Patients with visits, and tests of visits; k = 3."""
    return {
        "profile": "research-partner-3",
        "people": {"table": "patients", "known_events": known},
        "anonymize": {"method": "subtree", "suppression_limit": 0.2, "seconds": 2},
        "tables": {
            "patients": {"key": "patient_id", "columns": {"name": ID, "age": QI}},
            "visits": {"key": "visit", "refers": {"patient_id": "patients"}, "columns": {"ward": QI}},
            "tests": {"refers": {"visit": "visits"}, "columns": {"test": QI}},
        },
        **more,
    }


def hand_made() -> dict[str, pa.Table]:
    return {"patients": pa.table(PATIENTS), "visits": pa.table(VISITS), "tests": pa.table(TESTS)}


def related(tables: dict[str, pa.Table], given: dict[str, object]) -> RelatedTables:
    opened = open_relational(given)
    return RelatedTables.of(open_tables(tables, opened), opened)


def _parsed(text: str) -> dict[str, object]:
    return tomllib.loads(text)


def texts(rows: pa.Table) -> list[dict[str, str | None]]:
    return rows.cast(pa.schema([(name, pa.string()) for name in rows.column_names])).to_pylist()


def random_town(seed: int) -> dict[str, pa.Table]:
    """Some people with a few visits each, of which some have tests."""
    chance = np.random.default_rng(seed)
    people, visits = int(chance.integers(30, 50)), int(chance.integers(50, 80))
    of_visit = chance.integers(0, people, visits)
    tests = int(chance.integers(40, 60))
    return {
        "patients": pa.table(
            {
                "patient_id": [f"p{i}" for i in range(people)],
                "name": [f"n{i}" for i in range(people)],
                "age": chance.integers(20, 24, people),
            }
        ),
        "visits": pa.table(
            {
                "visit": pa.array(np.arange(visits)),
                "patient_id": pa.array([f"p{i}" for i in of_visit], pa.string()),
                "ward": pa.array(chance.choice(list("ABC"), visits).tolist(), pa.string()),
            }
        ),
        "tests": pa.table(
            {
                "visit": pa.array(chance.integers(0, visits, tests)),
                "test": pa.array(chance.choice(["x", "y"], tests).tolist(), pa.string()),
            }
        ),
    }


# ── measured ─────────────────────────────────────────────────────────────────────────────────────────


def test_people_are_alike_by_all_rows_and_by_some() -> None:
    """Ada, Ben and Eva have a visit of A with a test x; Cem has one of A with y, and one of B."""
    audited = audit_tables(hand_made(), policy())
    found = {risk.known: (risk.fewest, risk.alone) for risk in audited.intruders}
    assert found == {0: (4, 0), 1: (1, 1), 2: (1, 1), "all": (1, 1)}
    assert not audited.holds
    assert [(each.table, each.cardinality) for each in audited.references] == [
        ("visits", "1..n : 1"),
        ("tests", "0..1 : 1"),
    ]
    # Without what makes Cem another, three are alike, and then all four are.
    tables = hand_made()
    tables["visits"] = pa.table({"visit": [7, 8, 9, 11], "patient_id": [1, 2, 3, 4], "ward": ["A"] * 4})
    assert audit_tables(tables, policy()).alike.fewest == 1
    tables["tests"] = pa.table({"visit": [7, 8, 9, 11], "test": ["x"] * 4})
    assert audit_tables(tables, policy()).alike.fewest == 4


def test_what_a_table_without_quasi_identifiers_holds_is_not_known() -> None:
    given = policy()
    given["tables"]["tests"]["columns"] = {"test": SENSITIVE}  # type: ignore[index]
    found = {risk.known: risk.fewest for risk in audit_tables(hand_made(), given).intruders}
    assert found == {0: 4, 1: 1, 2: 1, "all": 1}
    tables = hand_made()
    tables["visits"] = tables["visits"].slice(0, 3)
    tables["tests"] = tables["tests"].slice(0, 3)
    assert audit_tables(tables, given).alike.fewest == 1


@pytest.mark.parametrize("seed", range(8))
def test_who_is_found_agrees_with_plain_loops(seed: int) -> None:
    tables = random_town(seed)
    tied = related(tables, policy())
    known: KnownRows = as_seen(tied)
    people = seen_people({name: texts(rows) for name, rows in tables.items()}, tied.policy)
    assert int(np.bincount(known.alike()).min()) == fewest_alike(people, "all")
    for count in range(3):
        fewest, alone = known.fewest(count)
        assert fewest == fewest_alike(people, count)
        assert (fewest == 1) == (alone > 0)


# ── enforced, then attacked ──────────────────────────────────────────────────────────────────────────


@cache
def town_release(known: object) -> RelationalRelease:
    """A release of a random town, made once."""
    seed = {0: 0, 1: 1, 2: 0, "all": 1}[known]  # type: ignore[index]
    return anonymize_tables(random_town(seed), policy(known), seed=seed)


@pytest.mark.parametrize(("seed", "known"), [(0, 0), (1, 1), (0, 2), (1, "all")])
def test_what_is_released_holds_whatever_is_known(seed: int, known: object) -> None:
    tables, made = random_town(seed), town_release(known)
    held = {name: texts(rows) for name, rows in made.tables.items()}
    people = seen_people(held, made.policy)
    assert fewest_alike(people, known) >= 3  # type: ignore[arg-type]
    for less in range(known if isinstance(known, int) else 3):
        assert fewest_alike(people, less) >= 3
    assert made.after.holds
    assert made.complaint(made.tables) == ""
    assert 0 <= made.loss <= 1
    # Nothing is made up: what is shown as it was stood there as often.
    for name, column in (("visits", "ward"), ("tests", "test")):
        before = Counter(tables[name].column(column).to_pylist())
        after = Counter(value for value in made.tables[name].column(column).to_pylist() if value in before)
        assert all(before[value] >= count for value, count in after.items())
    assert "name" not in made.tables["patients"].column_names
    # Nobody is left out without all rows.
    kept = {row["patient_id"] for row in held["patients"]}
    assert {row["patient_id"] for row in held["visits"]} <= kept


def test_sensitive_values_of_another_table_meet_what_is_asked(tmp_path: Path) -> None:
    chance = np.random.default_rng(3)
    tables = {
        "patients": pa.table({"patient_id": np.arange(60), "age": chance.integers(20, 30, 60)}),
        "visits": pa.table(
            {"patient_id": chance.integers(0, 60, 150), "ill": chance.choice(["flu", "gout", "acne"], 150)}
        ),
    }
    given = policy()
    given["tables"] = {
        "patients": {"key": "patient_id", "columns": {"age": QI}},
        "visits": {"refers": {"patient_id": "patients"}, "columns": {"ill": SENSITIVE}},
    }
    given["require"] = [{"model": "l-diversity", "l": 3, "sensitive": "ill"}]
    made = anonymize_tables(tables, given)
    assert [c.id for c in made.after.verdicts["visits"].criteria if c.holds and c.attribute == "ill"]
    by_age: dict[str, set[str]] = {}
    ages = {row["patient_id"]: row["age"] for row in texts(made.tables["patients"])}
    for row in texts(made.tables["visits"]):
        by_age.setdefault(str(ages[row["patient_id"]]), set()).add(str(row["ill"]))
    assert min(map(len, by_age.values())) == 3
    made.save(tmp_path / "out", suffix=".parquet")
    assert audit_tables(tmp_path / "out", given).holds


def test_the_same_column_in_several_tables_is_generalised_alike() -> None:
    """Stays and visits have wards; visits repeat the age of the patient."""
    chance = np.random.default_rng(5)
    age = chance.integers(20, 60, 40)
    owner, other = chance.integers(0, 40, 90), chance.integers(0, 40, 50)
    wards = ["A1", "A2", "B1", "B2"]
    tables = {
        "patients": pa.table({"patient_id": np.arange(40), "age": age}),
        "visits": pa.table({"patient_id": owner, "age": age[owner], "ward": chance.choice(wards, 90)}),
        "stays": pa.table({"patient_id": other, "ward": chance.choice(wards, 50)}),
    }
    ward = {**QI, "hierarchy": {"builder": "mask"}}
    given = policy(1)
    given["tables"] = {
        "patients": {"key": "patient_id", "columns": {"age": QI}},
        "visits": {"refers": {"patient_id": "patients"}, "columns": {"age": QI, "ward": ward}},
        "stays": {"refers": {"patient_id": "patients"}, "columns": {"ward": QI}},
    }
    made = anonymize_tables(tables, given)
    assert made.changes["visits"].levels == {"ward": made.changes["stays"].levels["ward"]}
    ages = {row["patient_id"]: row["age"] for row in texts(made.tables["patients"])}
    assert all(row["age"] == ages[row["patient_id"]] for row in texts(made.tables["visits"]))


def test_dates_are_shifted_by_person_and_intervals_stay() -> None:
    days = ["2024-01-01", "2024-01-11", "2024-03-01", "2024-03-31"]
    tables = {
        "patients": pa.table({"patient_id": [1, 2, 3], "age": [30, 30, 30], "born": ["1990-05-01"] * 3}),
        "visits": pa.table({"patient_id": [1, 1, 2, 3], "day": days, "n": [1, 2, 3, 4]}),
    }
    given = policy(0)
    given["people"]["shift_days"] = 1000  # type: ignore[index]
    given["tables"] = {
        "patients": {
            "key": "patient_id",
            "shift": ["born"],
            "columns": {"age": QI, "born": {"role": "insensitive"}},
        },
        "visits": {
            "refers": {"patient_id": "patients"},
            "shift": ["day"],
            "columns": {"day": {"role": "insensitive"}, "n": SENSITIVE},
        },
    }
    made = anonymize_tables(tables, given, seed=2)
    moved = {row["n"]: np.datetime64(str(row["day"])) for row in texts(made.tables["visits"])}
    assert (moved["2"] - moved["1"]).astype(int) == 10
    by = [int((moved[str(n)] - np.datetime64(day)).astype(int)) for n, day in enumerate(days, start=1)]
    assert len(set(by)) == 3
    assert max(map(abs, by)) <= 1000
    born = {row["patient_id"]: np.datetime64(str(row["born"])) for row in texts(made.tables["patients"])}
    owner = {row["n"]: row["patient_id"] for row in texts(made.tables["visits"])}
    assert all(
        (born[owner[str(n)]] - np.datetime64("1990-05-01")).astype(int) == by[n - 1] for n in range(1, 5)
    )
    assert "3 of 3 people are alone with their intervals" in " ".join(made.before.notes)


def test_keys_of_tables_that_tell_of_nobody_stay() -> None:
    tables = {
        **hand_made(),
        "wards": pa.table({"ward": ["A", "B", "C"], "beds": [10, 20, 30]}),
    }
    given = policy(1)
    given["tables"]["wards"] = {"key": "ward", "columns": {"beds": {"role": "insensitive"}}}  # type: ignore[index]
    given["tables"]["visits"]["refers"]["ward"] = "wards"  # type: ignore[index]
    made = anonymize_tables(tables, given)
    assert made.tables["wards"].column("ward").to_pylist() == ["A", "B", "C"]
    assert set(made.tables["visits"].column("ward").to_pylist()) == {"A"}
    assert "not judged: wards" in " ".join(made.after.notes)


def test_a_table_may_have_nothing_but_keys() -> None:
    """Who visited is all that is known: a table of references alone."""
    tables = {
        "patients": pa.table({"patient_id": np.arange(9), "age": np.arange(9) * 3 + 20}),
        "visits": pa.table({"patient_id": [1, 2, 3]}),
    }
    assert open_relational(_parsed(suggest_tables(tables))).people == "patients"
    given = policy()
    given["tables"] = {
        "patients": {"key": "patient_id", "columns": {"age": QI}},
        "visits": {"refers": {"patient_id": "patients"}},
    }
    made = anonymize_tables(tables, given)
    assert made.tables["visits"].num_rows == 3


# ── refused ──────────────────────────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda p: p["people"].update(table="people"), "there is no table 'people'"),
        (
            lambda p: p["tables"]["visits"].update(refers={"patient_id": "people"}),
            "there is no table 'people'",
        ),
        (lambda p: p["tables"]["patients"].pop("key"), "refers to patients, which has no key"),
        (lambda p: p["tables"]["patients"].update(refers={"age": "visits"}), "in a circle"),
        (lambda p: p["tables"]["tests"]["refers"].update(test="patients"), "in several ways"),
        (
            lambda p: p.update(profile="open-data", people={"table": "patients", "known_events": 2}),
            "known_events is 2",
        ),
        (lambda p: p["tables"]["visits"]["columns"].update(ward={"role": "person-id"}), "no weights"),
        (lambda p: p["tables"]["visits"]["columns"].update(visit=QI), "no other role"),
        (lambda p: p["tables"]["visits"].update(shift=["ward"]), "cannot be both"),
        (lambda p: p["tables"]["visits"].update(colour="red"), "colour"),
        (lambda p: p["tables"]["tests"].update(key="visit"), "leave the key out"),
        (lambda p: p["people"].update(known_events=-1), "known_events"),
        (
            lambda p: p["tables"].update(wards={"key": "w", "columns": {"beds": QI}}),
            "tells of nobody",
        ),
        (lambda p: [t.update(columns={}) for t in p["tables"].values()], "no column is a quasi-identifier"),
    ],
)
def test_policies_that_do_not_fit_together_are_refused(change, message: str) -> None:
    given = policy()
    given["tables"] = {
        name: {**table, "refers": {**table.get("refers", {})}, "columns": {**table["columns"]}}
        for name, table in given["tables"].items()
    }  # type: ignore[attr-defined]
    change(given)
    with pytest.raises(InvalidPolicy, match=message):
        open_relational(given)


def test_rows_that_are_nobodys_and_keys_that_are_none_are_refused() -> None:
    tables = hand_made()
    with pytest.raises(
        InvalidParameter, match=r"visits.patient_id refers to no row of patients in 1 of 5 rows"
    ):
        audit_tables({**tables, "visits": pa.table({**VISITS, "patient_id": [1, 2, 3, 3, 99]})}, policy())
    with pytest.raises(InvalidParameter, match=r"1 have one that another row has"):
        audit_tables({**tables, "patients": pa.table({**PATIENTS, "patient_id": [1, 2, 3, 3]})}, policy())
    with pytest.raises(InvalidParameter, match=r"tables that are not there: tests"):
        audit_tables({name: rows for name, rows in tables.items() if name != "tests"}, policy())


@pytest.mark.parametrize(
    ("name", "spoil"),
    [
        ("visits", lambda rows: rows.set_column(1, "patient_id", pa.array([99] * rows.num_rows))),
        ("patients", lambda rows: rows.set_column(0, "patient_id", pa.array([1] * rows.num_rows))),
        (
            "patients",
            lambda rows: rows.set_column(1, "age", pa.array([*["x"], *["y"] * (rows.num_rows - 1)])),
        ),
        ("visits", lambda rows: rows.slice(1)),
    ],
)
def test_what_was_written_otherwise_is_not_put_in_place(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str, spoil
) -> None:
    made = town_release(1)
    files = iter(made.tables)

    def writing(rows: pa.Table, path: Path) -> None:
        pyarrow.csv.write_csv(spoil(rows) if next(files) == name else rows, path)

    monkeypatch.setattr("discreet.relational.release.write_rows", writing)
    with pytest.raises(RequirementNotMet, match="does not meet its requirements"):
        made.save(tmp_path / "out")
    assert not (tmp_path / "out").exists()


# ── where tables lie ─────────────────────────────────────────────────────────────────────────────────


def test_folders_workbooks_and_databases_hold_the_same_tables(tmp_path: Path) -> None:
    tables = hand_made()
    folder = tmp_path / "folder"
    folder.mkdir()
    book = openpyxl.Workbook()
    book.remove(book.worksheets[0])
    lite = sqlite3.connect(tmp_path / "clinic.db")
    with duckdb.connect(str(tmp_path / "clinic.duckdb")) as duck:
        for name, rows in tables.items():
            pyarrow.csv.write_csv(rows, folder / f"{name}.csv")
            sheet = book.create_sheet(name)
            for row in [rows.column_names, *(list(row.values()) for row in rows.to_pylist())]:
                sheet.append(row)
            columns = ", ".join(rows.column_names)
            lite.execute(f"CREATE TABLE {name} ({columns})")
            marks = ", ".join("?" * rows.num_columns)
            lite.executemany(
                f"INSERT INTO {name} VALUES ({marks})", [list(row.values()) for row in rows.to_pylist()]
            )
            duck.register("rows", rows)
            duck.execute(f"CREATE TABLE {name} AS SELECT * FROM rows")
            duck.unregister("rows")
    lite.commit()
    lite.close()
    book.save(tmp_path / "clinic.xlsx")
    wanted = audit_tables(tables, policy()).intruders
    for place in ("folder", "clinic.xlsx", "clinic.db", "clinic.duckdb"):
        assert audit_tables(tmp_path / place, policy()).intruders == wanted, place
        assert find_tables(tmp_path / place).people == "patients", place
    (tmp_path / "broken.duckdb").write_bytes(b"nothing")
    for place, message in (("broken.duckdb", "as a database"), ("absent", "does not exist")):
        with pytest.raises(UnreadableInput, match=message):
            find_tables(tmp_path / place)


def test_command_line(tmp_path: Path) -> None:
    folder = tmp_path / "clinic"
    folder.mkdir()
    for name, rows in random_town(0).items():
        pyarrow.csv.write_csv(rows, folder / f"{name}.csv")

    def run(*arguments: object, code: int = 0) -> str:
        done = CliRunner().invoke(cli, [str(argument) for argument in arguments])
        assert done.exit_code == code, done.output
        return done.stdout

    drawn = tmp_path / "keys.svg"
    shown = json.loads(run("tables", "show", folder, "--json", "--chart", drawn))
    assert shown["people"] == "patients"
    assert {(each["table"], each["column"], each["to"]) for each in shown["references"]} == {
        ("visits", "patient_id", "patients"),
        ("tests", "visit", "visits"),
    }
    assert drawn.read_text().count("<text") >= 6
    assert "patients" in run("tables", "show", folder)
    suggested = tmp_path / "suggested.toml"
    run("tables", "suggest", folder, "-o", suggested)
    assert suggested.read_text() == suggest_tables(folder)
    assert open_relational(suggested).people == "patients"
    own = tmp_path / "policy.toml"
    own.write_text(suggested.read_text().replace('"open-data"', '"research-partner-3"'))
    assert not json.loads(run("tables", "audit", folder, "-p", own, "--json"))["holds"]
    run("tables", "check", folder, "-p", own, code=1)
    run("tables", "anonymize", folder, "-p", own, "-o", tmp_path / "out", "--tables-seed", 1)
    run("tables", "check", tmp_path / "out", "-p", own)
    assert sorted(file.name for file in (tmp_path / "out").iterdir()) == [
        "patients.csv",
        "tests.csv",
        "visits.csv",
    ]


# ── what comes from elsewhere ────────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize("called", ["../evil", "/tmp/evil", ".hidden", "a\\b", "x" * 250, ""])
def test_no_table_is_written_outside_of_the_folder_of_a_release(called: str) -> None:
    """Names of tables come from a database or a policy that somebody else may have made."""
    given = policy()
    tables = {**given["tables"], called: {"key": "x"}}  # type: ignore[dict-item]
    with pytest.raises(InvalidPolicy, match="no file can be called"):
        open_relational({**given, "tables": tables}).files(".csv")


def test_two_tables_are_not_written_to_one_file() -> None:
    given = policy()
    given["tables"]["tests"]["file"] = "VISITS.of.tests"  # type: ignore[index]
    with pytest.raises(InvalidPolicy, match="another one has a file that is called visits, too"):
        open_relational(given).files(".csv")


def test_a_policy_names_a_file_of_the_folder_and_no_other(tmp_path: Path) -> None:
    """A path to the original was written to when the release was."""
    (tmp_path / "in").mkdir()
    for place in (tmp_path, tmp_path / "in"):
        (place / "patients.csv").write_text("patient_id,age\n1,30\n2,30\n")
    given = {
        "people": {"table": "patients"},
        "tables": {"patients": {"key": "patient_id", "columns": {"age": QI}, "file": "patients.csv"}},
    }
    opened = open_relational(given)
    assert opened.files(".csv") == {"patients": "patients.csv"}
    assert open_tables(tmp_path / "in", opened)["patients"].rows == 2
    for path in (str(tmp_path / "in" / "patients.csv"), "../patients.csv"):
        given["tables"]["patients"]["file"] = path  # type: ignore[index]
        with pytest.raises(UnreadableInput, match="has no table"):
            open_tables(tmp_path / "in", open_relational(given))


@pytest.mark.parametrize("name", ["a#b.db", "a%20b.db", "a[1]?.db", "a[1]?.duckdb"])
def test_a_path_is_a_path_also_of_several_tables(tmp_path: Path, name: str) -> None:
    """a%20b.db was taken for the address of another file."""
    odd = 'pa"tients #1%20; x'
    quoted = '"' + odd.replace('"', '""') + '"'
    for place, rows in ((tmp_path / name, 3), (tmp_path / "a b.db", 1)):
        connect = duckdb.connect if place.suffix == ".duckdb" else sqlite3.connect
        with connect(str(place)) as database:
            database.execute(f"create table {quoted} (age integer)")
            for _ in range(rows):
                database.execute(f"insert into {quoted} values (1)")
    assert {table: each.rows for table, each in open_tables(tmp_path / name).items()} == {odd: 3}


def test_a_view_reads_no_file_of_the_machine(tmp_path: Path) -> None:
    (tmp_path / "secret.csv").write_text("a,b\n1,2\n")
    with duckdb.connect(str(tmp_path / "sent.duckdb")) as database:
        database.execute("create table patients as select 1 as age")
        database.execute("create view older as select age + 1 as age from patients")
        database.execute(f"create view visits as from read_csv('{tmp_path}/secret.csv')")
    with pytest.raises(UnreadableInput, match=r"visits of sent[.]duckdb could not be read"):
        open_tables(tmp_path / "sent.duckdb")
    with duckdb.connect(str(tmp_path / "sent.duckdb")) as database:
        database.execute("drop view visits")
    assert {name: table.rows for name, table in open_tables(tmp_path / "sent.duckdb").items()} == {
        "older": 1,
        "patients": 1,
    }


@pytest.mark.parametrize("name", ["pipe.duckdb", "pipe.xlsx", "pipe.db"])
def test_nobody_waits_for_a_pipe(tmp_path: Path, name: str) -> None:
    os.mkfifo(tmp_path / name)
    with pytest.raises(UnreadableInput, match="is not a regular file"):
        find_tables(tmp_path / name)


@pytest.mark.parametrize("verb", ["show", "suggest"])
def test_a_name_that_no_file_can_have_is_not_there(tmp_path: Path, verb: str) -> None:
    more = ["-o", str(tmp_path / "out.toml")] if verb == "suggest" else []
    ended = CliRunner().invoke(cli, ["tables", verb, str(tmp_path / ("x" * 300)), *more])
    assert isinstance(ended.exception, UnreadableInput)


def test_nobody_has_more_rows_than_there_are_to_be_known() -> None:
    """Each number up to that of known_events was counted, for hours."""
    audited = audit_tables(hand_made(), policy(10**15))
    found = {risk.known: (risk.fewest, risk.alone) for risk in audited.intruders}
    assert (audited.required, audited.alike.known) == (10**15, 10**15)
    assert found[10**15] == found[3] == (1, 1)
    release = anonymize_tables(hand_made(), policy(10**15), seed=1)
    held = {name: texts(rows) for name, rows in release.tables.items()}
    assert fewest_alike(seen_people(held, release.policy), 10**15) >= 3
