"""Titles above a table, notes below it, headers of two lines, and sheets: found, told, and corrected by settings."""

from __future__ import annotations

from pathlib import Path

import openpyxl
import pytest
from click.testing import CliRunner

import discreet
from discreet.cli import cli
from discreet.errors import InvalidParameter, UnreadableInput
from discreet.policy.suggest import suggestion

ROWS = [["Ada", 36, "Rome"], ["Bob", 41, "Bari"], ["Eve", 29, "Rome"], ["Max", 33, "Pisa"]]
NAMES = ("name", "age", "city")
BODY = "name,age,city\nAda,36,Rome\nBob,41,Bari\nEve,29,Rome\nMax,33,Pisa\n"


def text(tmp_path: Path, content: str) -> Path:
    path = tmp_path / "people.csv"
    path.write_text(content)
    return path


def book(tmp_path: Path, **sheets: list[list[object]]) -> Path:
    workbook = openpyxl.Workbook()
    workbook.remove(workbook.worksheets[0])
    for name, rows in sheets.items():
        sheet = workbook.create_sheet(name)
        for row in rows:
            sheet.append(row)
    path = tmp_path / "people.xlsx"
    workbook.save(path)
    return path


def content(path: Path, **options: object) -> tuple[tuple[str, ...], list[list[object]]]:
    table = discreet.read(path, **options)  # type: ignore[arg-type]
    rows = table.engine.to_arrow(table).to_pylist()
    return table.names, [list(row.values()) for row in rows]


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("Residents of the town\n", ""),
        ("Residents of the town\nas of 1 May, 2020\n\n", ""),
        ("Residents,,\n,,\n", ""),  # as spreadsheets write it
        ("", "\nSource: the register\n"),
        ("", "Note: made up\n"),
        ("", ",,\nall numbers are rounded,,\n"),
        ("Residents\n\n", "\n* estimated\nSource: the register\n"),
        ("Residents,,\n", ",,\nSource: the register,,\n"),
        ("", "Total,101,\n"),
        ("", "\nSumme:,101,\nSource: the register\n"),
    ],
)
def test_titles_and_notes_are_no_rows(tmp_path: Path, before: str, after: str) -> None:
    path = text(tmp_path, before + BODY + after)
    assert content(path) == (NAMES, ROWS)
    settings, notes = discreet.read(path).source.settings, discreet.read(path).source.notes
    assert settings.get("skip_rows", 0) == before.count("\n")
    assert settings.get("skip_last", 0) == after.count("\n")
    assert any(note.startswith("skip rows: ") for note in notes) == bool(before)
    assert any(note.startswith("skip last: ") for note in notes) == bool(after)


@pytest.mark.parametrize(
    "content",
    [
        BODY + "Zoe,2\n",  # cut off
        BODY + "Zoe\n",
        BODY + "\nZoe,30\n",
        "name,age\nAda,36,Rome\nBob,41,Bari\nEve,29,Rome\n",  # a name is lacking
        "Residents\nAda,36,Rome\nBob,41,Bari\nEve,29,Rome\n",  # titles, and no names
    ],
)
def test_what_is_not_clear_is_an_error(tmp_path: Path, content: str) -> None:
    with pytest.raises(UnreadableInput, match="line"):
        discreet.read(text(tmp_path, content))


def test_rows_with_few_values_are_rows(tmp_path: Path) -> None:
    assert len(content(text(tmp_path, BODY + "Zoe,,\n"))[1]) == 5
    assert len(content(text(tmp_path, BODY + "\nZoe,30,\n"))[1]) == 5


def test_settings_say_where_the_table_is(tmp_path: Path) -> None:
    path = text(tmp_path, "first,second,third\n" + BODY + "x,1,y\n")
    assert content(path, header_row=2, skip_last=1) == (NAMES, ROWS)
    assert content(path, skip_rows=1, skip_last=1) == (NAMES, ROWS)
    titled = text(tmp_path, "Residents\n" + BODY.split("\n", 1)[1])
    assert content(titled, skip_rows=1, header=False, names=NAMES) == (NAMES, ROWS)
    with pytest.raises(InvalidParameter, match="header_row"):
        discreet.read(path, header_row=2, header=False)


def test_a_release_is_found_whatever_the_policy_says_of_the_original(tmp_path: Path) -> None:
    path = text(tmp_path, BODY)
    assert content(path, skip_rows=3, delimiter=";", expected=NAMES) == (NAMES, ROWS)


@pytest.mark.slow
def test_notes_at_the_end_of_a_large_file(tmp_path: Path) -> None:
    rows = "Ada,36,Rome\n" * 100_000
    path = text(tmp_path, "name,age,city\n" + rows + "\nSource: the register\n")
    assert discreet.read(path).rows == 100_000


@pytest.mark.parametrize(
    ("lines", "names"),
    [
        (["who,,where", "name,age,city"], NAMES),
        (["name,who,", ",age,city"], NAMES),
        (["2019,,2020", "men,age,men"], ("2019 men", "age", "2020 men")),
    ],
)
def test_headers_of_two_lines(tmp_path: Path, lines: list[str], names: tuple[str, ...]) -> None:
    rows = BODY.split("\n", 1)[1]
    more = "Kim,50,Pisa\nLea,51,Bari\n"
    found, values = content(text(tmp_path, "\n".join(lines) + "\n" + rows + more))
    assert (found, values[:4]) == (names, ROWS)


@pytest.mark.parametrize(
    "rows",
    [
        [list(NAMES), *ROWS],
        [["Residents"], [], list(NAMES), *ROWS],
        [list(NAMES), *ROWS, [], ["Source: the register"], ["made up"]],
        [list(NAMES), *ROWS, [], ["Summe", 101], ["Quelle: Register"]],
        [list(NAMES), *ROWS, ["Total", 101]],
        [["", "", "", ""], *[["", *row] for row in [list(NAMES), *ROWS]]],
        [["who", "", "where"], list(NAMES), *ROWS],
    ],
)
def test_a_table_on_a_sheet(tmp_path: Path, rows: list[list[object]]) -> None:
    assert content(book(tmp_path, data=rows)) == (NAMES, ROWS)


def test_the_row_of_the_names_is_told(tmp_path: Path) -> None:
    source = discreet.read(book(tmp_path, data=[["Residents"], [], list(NAMES), *ROWS])).source
    assert (source.settings["sheet"], source.settings["skip_rows"]) == ("data", 2)
    assert "header: row 3 of the sheet holds the column names" in source.notes


def test_several_sheets_are_listed(tmp_path: Path) -> None:
    path = book(tmp_path, men=[list(NAMES), *ROWS], women=[["x", "y"], [1, 2], [3, 4]])
    with pytest.raises(UnreadableInput, match=r"men, women.*sheet="):
        discreet.read(path)
    assert content(path, sheet="men") == content(path, expected=NAMES) == (NAMES, ROWS)
    small = book(tmp_path, about=[["made up"]], data=[list(NAMES), *ROWS])
    assert content(small) == (NAMES, ROWS)


def test_suggest_and_audit_say_what_was_left_out(tmp_path: Path) -> None:
    path = text(tmp_path, "Residents\n" + BODY + "\nSource: the register\n")
    told = "Reading: the file was read without 1 line above and 2 lines below the table"
    assert f"{told}." in suggestion(discreet.read(path)).heading
    for arguments in (
        ["suggest", str(path), "-o", str(tmp_path / "p.toml")],
        ["audit", str(path), "--qi", "city"],
    ):
        shown = CliRunner().invoke(cli, arguments, env={"COLUMNS": "200"})
        assert told in shown.output


def test_units_below_the_names_are_no_row(tmp_path: Path) -> None:
    body = "".join(f"Ada,{30 + i},{160 + i}\n" for i in range(6))
    names, rows = content(text(tmp_path, "name,age,height\ntext,years,cm\n" + body))
    assert (names, len(rows)) == (("name", "age", "height"), 6)


@pytest.mark.parametrize("header", ["name,age,city", ",age,city"])
def test_a_first_row_with_an_odd_value_is_a_row(tmp_path: Path, header: str) -> None:
    body = "".join(f"p{chr(97 + i)}x,{30 + i},c{chr(97 + i)}y\n" for i in range(9))
    names, rows = content(text(tmp_path, f"{header}\npq,unknown,cq\n" + body))
    assert (names[1:], len(rows)) == (("age", "city"), 10)
