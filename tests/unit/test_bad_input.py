"""What users get wrong: each mistake has its own message with place and remedy, code 2, and nothing is written.

No message repeats a value of the data: every table here carries a marker that must never be seen again.
"""

from __future__ import annotations

import csv
import json
import os
import subprocess
import sys
from collections.abc import Callable
from decimal import Decimal
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

import discreet
from discreet.classes import EquivalenceClasses
from discreet.errors import InvalidPolicy, UnreadableInput, UnsuitableColumn
from discreet.policy import Policy, dumps, loads
from discreet.privacy.numeric import crowded_share, value_range
from helpers.bad_input import AGE, CASES, MARKER, Bad, parquet, people, write

Run = Callable[..., Any]


def contents(folder: Path) -> dict[str, bytes]:
    return {str(p.relative_to(folder)): p.read_bytes() for p in folder.rglob("*") if p.is_file()}


def test_there_are_many_cases_and_each_has_its_own_name() -> None:
    assert len({case.id for case in CASES}) == len(CASES) >= 80


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.id)
def test_bad_input_has_a_clear_error(case: Bad, tmp_path: Path, run: Run) -> None:
    arguments = case.make(tmp_path)
    before = contents(tmp_path)
    told = run(*arguments)
    assert told.code == 2, told.said
    assert told.out == ""
    assert told.err.startswith("error: ")
    assert case.place in told.err
    assert case.remedy in told.err
    assert "Traceback" not in told.err
    assert MARKER not in told.err
    assert contents(tmp_path) == before


WITHOUT_JSON = {
    "unknown command",
    "too small a town",
    "report over a folder",
    "report below a file",
    "suggest over a file",
    "suggest into no folder",
}
HAVE_JSON = [case for case in CASES if case.id not in WITHOUT_JSON]


@pytest.mark.parametrize("case", HAVE_JSON[::3], ids=lambda case: case.id)
def test_errors_are_json_where_json_was_asked_for(case: Bad, tmp_path: Path, run: Run) -> None:
    arguments = case.make(tmp_path)
    told = run(*arguments, "--json")
    assert told.code == 2
    assert told.err == ""
    found = json.loads(told.out)
    assert found["schema"] == "discreet-error-1"
    assert set(found["error"]) == {"code", "message", "remedy"}
    assert case.place in found["error"]["message"] + found["error"]["remedy"]
    assert found["error"]["remedy"]
    assert MARKER not in told.out


def test_all_problems_of_a_policy_are_told_at_once(tmp_path: Path, run: Run) -> None:
    policy = write(
        tmp_path,
        "my.toml",
        'profil = "x"\n[columns.age]\nrole = "quasi"\n[columns.sex]\nrole = 5\ntype = "int"\n'
        '[[require]]\nmodel = "k-anonymity"\nk = 0\n[[require]]\nmodel = "k-anonimity"\nk = 3\n'
        '[[require]]\nmodel = "k-anonymity"\nkk = 3\n',
    )
    told = run("audit", people(tmp_path), "--policy", policy)
    assert told.code == 2
    assert "7 problems in the policy" in told.err
    for line in (1, 3, 5, 6, 7, 10, 13):
        assert f"my.toml, line {line}: " in told.err
    assert "did you mean 'k-anonymity'?" in told.err


def test_no_permission(tmp_path: Path, run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    """Simulated, because a superuser may read everything."""
    file = people(tmp_path)
    usual = Path.open

    def refuse(self: Path, *arguments: object, **named: object) -> object:
        if self.name == file.name:
            raise PermissionError(13, "Permission denied")
        return usual(self, *arguments, **named)  # type: ignore[arg-type]

    monkeypatch.setattr(Path, "open", refuse)
    told = run("audit", file)
    assert told.code == 2
    assert "people.csv may not be read" in told.err
    assert "check its permissions" in told.err


def test_a_folder_that_may_not_be_written(tmp_path: Path, run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(os, "access", lambda *_: False)  # simulated, as above
    told = run("report", people(tmp_path), "--qi", "age", "-o", tmp_path / "r.html")
    assert told.code == 2
    assert "r.html may not be written" in told.err
    assert not (tmp_path / "r.html").exists()


def test_an_unforeseen_error_tells_nothing_of_the_data(
    tmp_path: Path, run: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(*_: object, **__: object) -> None:
        raise ValueError(MARKER)

    monkeypatch.setattr("discreet.cli.audit.run_audit", fail)
    told = run("audit", people(tmp_path), "--qi", "age")
    assert told.code == 70
    assert "something went wrong inside discreet (ValueError at cli/audit.py:" in told.err
    assert MARKER not in told.said
    assert "Traceback" not in told.said
    as_json = json.loads(run("audit", people(tmp_path), "--qi", "age", "--json").out)
    assert as_json["error"]["code"] == "internal"


@pytest.mark.parametrize(
    ("program", "arguments", "said"),
    [
        ([sys.executable, "-m", "discreet"], ["audit", "none.csv"], "there is no file none.csv"),
        (["discreet"], ["audit", "people.csv", "--qi", "agee"], "did you mean 'age'?"),
        (["discreet"], ["check", "people.csv"], "name a --policy"),
    ],
)
@pytest.mark.slow
def test_as_a_program(program: list[str], arguments: list[str], said: str, tmp_path: Path) -> None:
    people(tmp_path)
    if program == ["discreet"]:
        program = [str(Path(sys.executable).with_name("discreet"))]
    told = subprocess.run([*program, *arguments], cwd=tmp_path, capture_output=True, text=True)
    assert told.returncode == 2
    assert told.stdout == ""
    assert said in told.stderr
    assert "Traceback" not in told.stderr
    assert MARKER not in told.stderr


# ── odd, but not wrong ────────────────────────────────────────────────────────────────────────────────


def test_a_k_beyond_the_table_is_an_answer_not_an_error(tmp_path: Path, run: Run) -> None:
    policy = write(tmp_path, "my.toml", AGE + '[[require]]\nmodel = "k-anonymity"\nk = 100\n')
    told = run("check", people(tmp_path), "--policy", policy)
    assert told.code == 1
    assert "every class has at least 100 persons; found 2 records" in told.out
    assert "the table has only 4 persons" in told.out
    assert MARKER not in told.said


def test_nan_counts_as_null_and_the_audit_says_so(tmp_path: Path, run: Run) -> None:
    file = parquet(tmp_path, "t.parquet", {"a": [1.0, np.nan, None, 1.0], "b": [1, 2, 3, 4]})
    assert "a: 2 nulls or NaN, counted as one value of their own" in run("audit", file, "--qi", "a").out
    found = json.loads(run("audit", file, "--qi", "a", "--json").out)
    assert found["measures"]["k-anonymity"]["value"] == 2
    assert found["table"]["missing"] == [
        {
            "column": "a",
            "nulls": 2,
            "marks": 0,
            "treatment": "2 nulls or NaN, counted as one value of their own",
        }
    ]


@pytest.mark.parametrize("rows", [1, 2, 5])
def test_columns_with_one_value(rows: int) -> None:
    table = pa.table({"a": ["x"] * rows, "b": [1] * rows, "s": ["only"] * rows})
    found = discreet.audit(table, Policy.of(quasi_identifiers=["a", "b"], sensitive=["s"]))
    assert found.measure("k-anonymity").value == rows
    assert found.measure("l-diversity").value == 1
    assert found.measure("t-closeness").value == 0
    assert found.risk("correlation").max == 1


@pytest.mark.parametrize("kind", [pa.null(), pa.string(), pa.float64(), pa.int64(), pa.date32()])
def test_columns_without_any_value(kind: pa.DataType) -> None:
    table = pa.table({"a": pa.array([None, None, None], kind), "s": [1, 1, 2]})
    as_quasi = discreet.audit(table, Policy.of(quasi_identifiers=["a"], sensitive=["s"]))
    assert as_quasi.measure("k-anonymity").value == 3
    as_sensitive = discreet.audit(table, Policy.of(quasi_identifiers=["s"], sensitive=["a"]))
    assert as_sensitive.measure("l-diversity").value == 1
    assert as_sensitive.measure("k-anonymity").value == 1


@pytest.mark.slow
def test_a_million_categories() -> None:
    n = 1_000_000
    table = discreet.read(pa.table({"a": np.arange(n), "s": np.arange(n) % 3}))
    found = discreet.audit(table, Policy.of(quasi_identifiers=["a"], sensitive=["s"]), detail="core")
    assert found.measure("k-anonymity").value == 1
    assert found.measure("sample-uniques").value == 1


@pytest.mark.parametrize("text", ["inf", "-Infinity", "1_000"])
def test_texts_that_only_python_takes_for_numbers(text: str) -> None:
    table = pa.table({"a": [1, 1, 2, 2], "s": [text, "1", "2", "3"]})
    found = discreet.audit(table, Policy.of(quasi_identifiers=["a"], sensitive=["s"]))
    assert found.measure("t-closeness").value == pytest.approx(0.5)


def test_numbers_at_the_edge_of_what_can_be_reckoned_with() -> None:
    policy = Policy.of(quasi_identifiers=["a"], sensitive=["s"])
    table = pa.table({"a": [1, 1, 2, 2], "s": [1e100, -1e100, 0.0, 1e-100]})
    assert discreet.audit(table, policy, detail="core").measure("l-diversity").value == 2
    for beyond in (1.7e308, 5e-324):
        with pytest.raises(UnsuitableColumn, match="'s' holds numbers beyond"):
            discreet.audit(pa.table({"a": [1, 1], "s": [0.0, beyond]}), policy, detail="core")


def test_what_no_float_holds_is_counted_right() -> None:
    """A range of 3.4e308 is told as the largest float; a window that reaches beyond all floats holds all that it should."""
    far = [1.7e308, -1.7e308, 1.5e308, 0.0]
    histogram = EquivalenceClasses.from_columns({"a": [0] * 4}, sensitive={"s": far}).histogram("s")
    assert value_range(histogram).tolist() == [sys.float_info.max]
    numbers = histogram.domain.numbers
    assert numbers is not None
    assert crowded_share(histogram, np.zeros(4), np.full(4, 1.75e308)).tolist() == [0.75]
    assert crowded_share(histogram, np.zeros(4), 0.9 * np.abs(numbers)).tolist() == [0.5]


ODD_NAMES = [
    '"; DROP TABLE people; --', "a'b", 'a"b', "a`b", "ünï ☃ 😀", "x" * 3000, "marital.status", "two\nlines",
    "tab\there", "age[years]", "[/b]", "<script>alert(1)</script>", "{{ 7 * 7 }}", "back\\slash", "select",
    "%s", "$1", "1", "a;b", "a, b", "= 1", "#x", "columns.age", "",
]  # fmt: skip


@pytest.mark.parametrize("name", ODD_NAMES, ids=lambda name: repr(name[:12]))
def test_odd_column_names(name: str, tmp_path: Path) -> None:
    """Counted, printed, written to a policy file and read from it like any other."""
    table = discreet.read(pa.table({name: [1, 1, 2, 2], "s": ["x", "y", "x", "x"]}))
    first = table.names[0]
    if name:
        assert first == name
    policy = Policy.of(quasi_identifiers=[first], sensitive=["s"])
    found = discreet.audit(table, policy)
    assert found.measure("k-anonymity").value == 2
    assert found.measure("l-diversity").value == 1
    assert json.loads(json.dumps(found.to_dict()))["policy"]["columns"][0]["name"] == first
    printed = "".join(str(found).split())
    assert "".join(first.split())[:3] in printed
    assert loads(dumps(policy)).quasi_identifiers == (first,)
    suggested = discreet.suggest(table)
    assert loads(dumps(suggested, heading=[first], notes={first: [first]})).columns[0].name == first


@pytest.mark.slow
@pytest.mark.parametrize("name", [n for n in ODD_NAMES if n], ids=lambda name: repr(name[:12]))
def test_odd_column_names_in_a_file(name: str, tmp_path: Path, run: Run) -> None:
    file = tmp_path / "odd.csv"
    with file.open("w", newline="", encoding="utf-8") as out:
        rows = [[name, "dx"], *([age, dx] for age in (31, 47) for dx in ("flu", "cold", "flu"))]
        csv.writer(out).writerows(rows)
    quoted = '"' + name.replace('"', '""') + '"' if {",", '"'} & set(name) else name
    told = run("audit", file, "--qi", quoted, "--sensitive", "dx", "--json", "--header", "--delimiter", ",")
    found = json.loads(told.out)
    assert told.code == 0, told.said
    assert found["measures"]["k-anonymity"]["value"] == 3
    assert run("audit", file, "--qi", quoted, "--header", "--delimiter", ",").code == 0


def test_odd_cell_values(tmp_path: Path, run: Run) -> None:
    odd = [
        "'; DROP TABLE people; --",
        "<script>alert(1)</script>",
        "two\nlines",
        '"',
        "[red]",
        "{{ 7 }}",
        "\\",
    ]
    file = tmp_path / "odd.csv"
    with file.open("w", newline="") as out:
        csv.writer(out, quoting=csv.QUOTE_ALL).writerows([["a", "s"], *([v, v] for v in odd * 2)])
    told = run("audit", file, "--qi", "a", "--sensitive", "s", "--json")
    found = json.loads(told.out)
    assert found["table"]["rows"] == 2 * len(odd)
    assert found["table"]["classes"] == len(odd)
    assert found["measures"]["k-anonymity"]["value"] == 2
    assert "DROP TABLE" not in told.said
    assert "alert" not in told.said


def test_json_lines_with_missing_and_nested_fields(tmp_path: Path, run: Run) -> None:
    lines = ['{"a": 1, "b": {"c": 2}}', '{"a": 1}', '{"b": {"c": 2}, "d": "x"}', '{"a": 1, "b": {"c": 3}}']
    file = write(tmp_path, "n.jsonl", "\n".join(lines) + "\n")
    found = json.loads(run("audit", file, "--qi", "a,b,d", "--json").out)
    assert found["table"]["rows"] == 4
    assert found["table"]["classes"] == 4
    assert {m["column"]: m["nulls"] for m in found["table"]["missing"]} == {"a": 1, "b": 1, "d": 3}


def test_a_table_that_could_be_delimited_in_two_ways_says_how_it_was_read(tmp_path: Path, run: Run) -> None:
    file = write(tmp_path, "two.csv", "a;b,c\n1;2,3\n4;5,6\n")
    found = json.loads(run("audit", file, "--json").out)
    note = next(note for note in found["table"]["notes"] if note.startswith("delimiter: "))
    assert found["table"]["settings"]["delimiter"] in (";", ",")
    assert len(note) > len("delimiter: ")
    by_comma = json.loads(run("audit", file, "--delimiter", ",", "--qi", "c", "--json").out)
    assert by_comma["table"]["columns"] == 2


def test_blank_lines_are_no_records_and_the_audit_says_so(tmp_path: Path, run: Run) -> None:
    file = write(tmp_path, "one.csv", "age\n31\n\n31\n")
    found = json.loads(run("audit", file, "--qi", "age", "--header", "--delimiter", ",", "--json").out)
    assert found["table"]["rows"] == 2
    [note] = [note for note in found["table"]["notes"] if note.startswith("blank lines: ")]
    assert "they are skipped" in note
    assert "could be missing values" in note


# ── the same through the library ──────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize(
    "value", [[[1, 2], [1, 2], [3]], [b"x", b"y", b"x"], [{"x": 1}, {"x": 2}, {"x": 1}], [True, False, None]]
)
def test_unusual_types(value: list[object]) -> None:
    table = pa.table({"a": value, "s": [1, 2, 2]})
    found = discreet.audit(table, Policy.of(quasi_identifiers=["a"], sensitive=["s"]))
    assert len(found.classes) == len({repr(v) for v in value})
    turned = discreet.audit(table, Policy.of(quasi_identifiers=["s"], sensitive=["a"]))
    assert len(turned.classes) == 2


@pytest.mark.parametrize(
    ("column", "read"),
    [
        (pa.array([Decimal("1e30"), Decimal("1e30"), None], pa.decimal256(38, 2)), True),
        (pa.array([Decimal("1e50"), Decimal("1e50"), None], pa.decimal256(60, 2)), False),
    ],
    ids=["a number that fits", "a number that no engine holds"],
)
def test_types_that_engines_lack(column: pa.Array, read: bool, tmp_path: Path, run: Run) -> None:
    file = tmp_path / "people.arrow"
    with pa.ipc.new_file(file, pa.schema([("a", column.type)])) as stream:
        stream.write_batch(pa.record_batch([column], ["a"]))
    told = run("audit", file, "--qi", "a", "--core", "--quiet")
    assert told.code == (0 if read else 2), told.said
    assert read or "taken over by DuckDB" in told.err or "could not be read" in told.err


def test_values_of_several_types_are_read() -> None:
    kinds = pa.array([0, 1, 0, 1], pa.int8())
    values = [pa.array([1, 2, 1, 4]), pa.array(["a", "b", "c", "b"])]
    table = pa.table({"a": pa.UnionArray.from_sparse(kinds, values)})
    assert len(discreet.audit(table, Policy.of(quasi_identifiers=["a"])).classes) == 2


@pytest.mark.parametrize("source", [3, None, "none.csv", [1, 2], {"a": [1]}, object()])
def test_what_is_no_table(source: object) -> None:
    with pytest.raises(UnreadableInput):
        discreet.audit(source)


def test_a_text_where_a_list_of_columns_belongs() -> None:
    with pytest.raises(InvalidPolicy, match="give a list of names"):
        Policy.of(quasi_identifiers="age")


@pytest.mark.parametrize("fraction", [0.0, -1.0, 1.5, float("nan"), float("inf")])
def test_sampling_fractions_through_the_library(fraction: float) -> None:
    table = pa.table({"a": [1, 2]})
    with pytest.raises(InvalidPolicy, match="sampling fraction"):
        discreet.audit(table, Policy.of(quasi_identifiers=["a"], sampling_fraction=fraction))


def test_errors_of_a_frame_hold_no_value() -> None:
    import pandas as pd

    mixed = pd.DataFrame({"age": [31, MARKER], "sex": ["f", "m"]})
    with pytest.raises(UnreadableInput, match=r"mixes types .*\(age\)") as told:
        discreet.audit(mixed, Policy.of(quasi_identifiers=["age"]))
    assert MARKER not in str(told.value)


def test_infinite_values_in_a_sensitive_column() -> None:
    table = pa.table({"a": [1, 2, 2], "s": [1.0, np.inf, 2.0]})
    with pytest.raises(UnsuitableColumn, match="'s' holds infinite values"):
        discreet.audit(table, Policy.of(quasi_identifiers=["a"], sensitive=["s"]))


@pytest.mark.parametrize("column", [[1j, 2j], [31, MARKER]], ids=["complex", "mixed"])
@pytest.mark.parametrize("name", ["age", 0])
def test_columns_that_no_engine_holds(column: Any, name: object) -> None:
    import pandas as pd

    with pytest.raises(UnreadableInput, match=rf"\({name}\)") as told:
        discreet.read(pd.DataFrame({name: column, "sex": ["f", "m"]}))
    assert MARKER not in str(told.value)


def test_numbered_columns_are_called_by_texts() -> None:
    import pandas as pd

    frame = pd.DataFrame({0: [1, 1, 2], 1: ["a", "b", "b"]})
    assert discreet.audit(frame, Policy.of(quasi_identifiers=["0"])).measure("k-anonymity").value == 1
    with pytest.raises(InvalidPolicy, match="names are texts, also where a frame has numbers: '0'"):
        Policy.of(quasi_identifiers=[0])  # type: ignore[list-item]


def test_a_connection_is_no_table() -> None:
    import duckdb

    with pytest.raises(UnreadableInput, match="is not a table"):
        discreet.read(duckdb.connect())
    result = duckdb.connect().execute("SELECT range AS n FROM range(3)")
    assert list(discreet.read(result).names) == ["n"]


def test_signed_zeros_are_one_value_and_letters_are_compared_as_written() -> None:
    table = pa.table({"z": [0.0, -0.0, 1.0], "t": ["a", "A", "a "], "u": ["é", "e\u0301", "é"]})
    found = [len(discreet.audit(table, Policy.of(quasi_identifiers=[name])).classes) for name in "ztu"]
    assert found == [2, 3, 2]


def test_two_audits_at_once() -> None:
    """The engine is shared by the process, so it must not mix up what threads ask of it."""
    from concurrent.futures import ThreadPoolExecutor

    def classes(values: int) -> int:
        table = pa.table({"a": [i % values for i in range(600)], "s": [i % 3 for i in range(600)]})
        policy = Policy.of(quasi_identifiers=["a"], sensitive=["s"])
        return len(discreet.audit(table, policy, detail="core").classes)

    with ThreadPoolExecutor(4) as pool:
        assert list(pool.map(classes, range(1, 9))) == list(range(1, 9))
