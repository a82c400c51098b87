"""Parallel composition: of disjoint people the largest amount counts, as declared and checked; all else adds up."""

from __future__ import annotations

import json
from fractions import Fraction
from pathlib import Path

import pytest
from click.testing import CliRunner

import discreet
from discreet.cli import cli
from discreet.dp.disjoint import combined, declare_disjoint
from discreet.dp.ledger import Ledger
from discreet.errors import BudgetExceeded, InvalidParameter, UnknownColumn, UnreadableInput

pytest.importorskip("opendp")


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    for name, ids in (("north", range(20)), ("south", range(20, 40)), ("both", range(15, 25))):
        (tmp_path / f"{name}.csv").write_text("who\n" + "".join(f"{i}\n" for i in ids))
    (tmp_path / "odd.csv").write_text("who,x\n1,a\n,b\n")
    (tmp_path / "texts.csv").write_text("who\n01\nb\n")
    Ledger(tmp_path / "budget").set_budget(1, "1e-5")
    return tmp_path


def spend(folder: Path, name: str, epsilon: str) -> Fraction:
    """Ask about a table, and say what is left."""
    ledger = Ledger(folder / "budget")
    question = "select count(*) from data"
    discreet.ask(folder / f"{name}.csv", question, epsilon=epsilon, person="who", ledger=ledger)
    return ledger.balance().left_epsilon


def declared(folder: Path, *names: str) -> None:
    declare_disjoint([folder / f"{name}.csv" for name in names], "who", folder / "budget")


def test_without_a_declaration_amounts_add_up(folder: Path) -> None:
    assert spend(folder, "north", "1/2") == Fraction(1, 2)
    assert spend(folder, "south", "1/4") == Fraction(1, 4)


def test_of_disjoint_tables_the_largest_counts(folder: Path) -> None:
    spend(folder, "north", "1/2")
    declared(folder, "north", "south")
    assert spend(folder, "south", "1/2") == Fraction(1, 2)
    assert spend(folder, "south", "1/4") == Fraction(1, 4)
    assert spend(folder, "north", "1/2") == 0
    # The north has nothing left, the south a quarter, which is what remains up to the north's.
    with pytest.raises(BudgetExceeded):
        spend(folder, "north", "1/100")
    assert spend(folder, "south", "1/4") == 0
    with pytest.raises(BudgetExceeded):
        spend(folder, "south", "1/100")


def test_other_tables_add_to_the_largest(folder: Path) -> None:
    declared(folder, "north", "south")
    spend(folder, "north", "1/2")
    spend(folder, "south", "1/4")
    assert spend(folder, "both", "1/4") == Fraction(1, 4)


def test_a_file_that_was_changed_is_another_one(folder: Path) -> None:
    declared(folder, "north", "south")
    spend(folder, "north", "1/2")
    with (folder / "south.csv").open("a") as file:
        file.write("3\n")
    assert spend(folder, "south", "1/2") == 0


def test_households_and_rows_may_be_in_both_and_add_up(folder: Path) -> None:
    """Nobody is in two files, but the household 1 is: it loses what is spent on both."""
    for name, start in (("north", 0), ("south", 20)):
        ids = range(start, start + 20)
        (folder / f"{name}.csv").write_text("who,home\n" + "".join(f"{i},{i % 7}\n" for i in ids))
    declared(folder, "north", "south")
    ledger = Ledger(folder / "budget")
    for name in ("north", "south"):
        question, file = "select count(*) from data", folder / f"{name}.csv"
        discreet.ask(file, question, epsilon="1/4", person="home", ledger=ledger)
        discreet.ask(file, question, epsilon="1/8", person="who", ledger=ledger)
    assert ledger.balance().spent_epsilon == Fraction(1, 2) + Fraction(1, 8)


def test_another_sheet_of_the_workbook_is_another_table(folder: Path) -> None:
    openpyxl = pytest.importorskip("openpyxl")
    for name, first, second in (("a", range(20), range(20, 30)), ("b", range(20, 40), range(9))):
        book = openpyxl.Workbook()
        book.active.title = "now"
        for sheet, ids in ((book["now"], first), (book.create_sheet("then"), second)):
            for cell in ("who", *ids):
                sheet.append([cell])
        book.save(folder / f"{name}.xlsx")
    ledger = Ledger(folder / "budget")
    tables = {
        (name, sheet): discreet.read(folder / f"{name}.xlsx", sheet=sheet)
        for name in "ab"
        for sheet in ("now", "then")
    }
    declare_disjoint([tables["a", "now"], tables["b", "now"]], "who", ledger)
    for table in tables.values():
        discreet.ask(table, "select count(*) from data", epsilon="1/4", person="who", ledger=ledger)
    # Of the two that were compared the largest counts; people of the others may be in any.
    assert ledger.balance().spent_epsilon == Fraction(3, 4)


@pytest.mark.parametrize(
    ("names", "reason"),
    [
        (["north", "south", "both"], "somebody is both in north.csv and in both.csv"),
        (["north"], "at least two files"),
        (["north", "north"], "each another one"),
        (["north", "odd"], "have no who"),
        (["north", "texts"], "numbers in one file and texts in another"),
    ],
)
def test_what_is_not_disjoint_is_not_declared(names: list[str], reason: str, folder: Path) -> None:
    with pytest.raises(InvalidParameter, match=reason):
        declared(folder, *names)
    assert [entry.kind for entry in Ledger(folder / "budget").balance().entries] == ["budget"]


def test_the_first_rows_do_not_speak_for_a_table(folder: Path) -> None:
    """The first five people are nobody of the south; those further down are, and the file by which it is known again holds them all."""
    first = discreet.read(folder / "both.csv", rows=5)
    with pytest.raises(InvalidParameter, match="only the first rows"):
        declare_disjoint([folder / "south.csv", first], "who", folder / "budget")


def test_a_table_is_declared_once(folder: Path) -> None:
    declared(folder, "north", "south")
    (folder / "east.csv").write_text("who\n99\n")
    with pytest.raises(InvalidParameter, match="declared disjoint from others before"):
        declared(folder, "south", "east")
    with pytest.raises(UnknownColumn):
        declare_disjoint([folder / "north.csv", folder / "east.csv"], "whom", folder / "budget")


def test_a_forged_declaration_is_noticed(folder: Path) -> None:
    declared(folder, "north", "south")
    book = folder / "budget"
    lines = book.read_text().splitlines()
    entry = json.loads(lines[1])
    entry["tables"].append("f" * 64)
    book.write_text("\n".join([lines[0], json.dumps(entry)]) + "\n")
    with pytest.raises(UnreadableInput, match="cannot be trusted"):
        Ledger(book).balance()


def test_several_holders(folder: Path) -> None:
    second = Ledger(folder / "second")
    second.set_budget(1, "1e-5")
    with second.reserve("1/3", "1e-6", purpose="theirs") as reservation:
        reservation.drawing()
    spend(folder, "north", "1/2")
    balances = [Ledger(folder / "budget").balance(), second.balance()]
    assert combined(balances, disjoint=False) == (Fraction(5, 6), Fraction(1, 10**6))
    assert combined(balances, disjoint=True) == (Fraction(1, 2), Fraction(1, 10**6))


def test_the_command_line(folder: Path) -> None:
    run = CliRunner().invoke
    paths = [str(folder / "north.csv"), str(folder / "south.csv")]
    done = run(cli, ["budget", "disjoint", *paths, "--person", "who", "--ledger", str(folder / "budget")])
    assert done.exit_code == 0, done.exception
    spend(folder, "north", "1/2")
    spend(folder, "south", "1/2")
    shown = run(cli, ["budget", "show", paths[0], "--ledger", str(folder / "budget")]).output
    assert "0.5 of 1 spent" in shown
    assert "nobody is in two of 2 tables" in shown
    told = run(cli, ["budget", "total", str(folder / "budget"), str(folder / "budget"), "--json"]).stdout
    assert json.loads(told) == {
        "schema": "discreet-budget-total-1",
        "disjoint": False,
        "epsilon": "1",
        "delta": "0",
    }
    said = run(cli, ["budget", "total", str(folder / "budget"), str(folder / "budget"), "--disjoint"]).output
    assert "ε 0.5, δ 0 (the largest" in said
