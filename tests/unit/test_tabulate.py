"""Tables of counts with noise: what they say without noise, that they agree, and what one person changes."""

from __future__ import annotations

import json
from collections.abc import Sequence
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from click.testing import CliRunner

import discreet
from discreet.cli import cli
from discreet.dp import tabulate as module
from discreet.dp.certificate import read_statement, statement_beside
from discreet.dp.ledger import Ledger
from discreet.dp.noise import Noisy
from discreet.errors import BudgetExceeded, InvalidParameter
from helpers.neighbours import violation

pytest.importorskip("opendp")

SURE = 10**6
"""So much that noise is nought."""
PEOPLE = pa.table(
    {
        "who": ["a", "a", "b", "c", "d", "e", "e", "e"],
        "sex": ["f", "f", "m", "f", "m", "f", "f", None],
        "town": ["x", "y", "x", "x", "y", "y", "y", "y"],
        "age": [31, 31, 47, 52, 38, 60, 60, 60],
    }
)
KEYS = {"sex": ["f", "m"], "town": ["x", "y", "z"]}


@pytest.fixture
def ledger(tmp_path: Path) -> Ledger:
    made = Ledger(tmp_path / "budget")
    made.set_budget(10**9, "0.9")
    return made


def counted(ledger: Ledger, tables: Any, rows: pa.Table = PEOPLE, **terms: Any) -> discreet.NoisyTables:
    given = {"epsilon": SURE, "unit": "record", "keys": KEYS, "ledger": ledger, **terms}
    return discreet.tabulate(rows, tables, **given)


def test_one_table_by_hand(ledger: Ledger) -> None:
    made = counted(ledger, [["town", "sex"]]).rows
    assert made.column_names == ["sex", "town", "count", "low", "high"]
    shown = {(row["sex"], row["town"]): row["count"] for row in made.to_pylist() if row["count"]}
    assert shown == {("f", "x"): 2, ("f", "y"): 3, ("m", "x"): 1, ("m", "y"): 1, (None, "y"): 1}
    # Every cell is there: three values of sex with what is missing, four of town.
    assert made.num_rows == 12
    assert made["low"].to_pylist() == made["count"].to_pylist() == made["high"].to_pylist()


def test_numbers_are_counted_in_bins(ledger: Ledger) -> None:
    made = counted(ledger, [["age"]], bounds={"age": (20, 59)}, bins=4).rows
    assert made.to_pydict()["age"] == ["[20, 29]", "[30, 39]", "[40, 49]", "[50, 59]", None]
    # 60 lies outside, and counts as the nearest bound.
    assert made.to_pydict()["count"] == [0, 3, 1, 4, 0]


def test_several_tables_have_stars_for_what_they_do_not_tell_apart(ledger: Ledger) -> None:
    made = counted(ledger, None, columns=["sex", "town"], ways=1).rows.to_pylist()
    assert [(row["sex"], row["town"], row["count"]) for row in made if row["count"]] == [
        ("f", "*", 5),
        ("m", "*", 2),
        (None, "*", 1),
        ("*", "x", 3),
        ("*", "y", 5),
    ]


def test_of_each_person_so_many_rows_count_and_no_more(ledger: Ledger) -> None:
    made = counted(ledger, [["sex"]], unit=None, person="who").rows
    assert sum(made["count"].to_pylist()) == 5
    made = counted(ledger, [["sex"]], unit=None, person="who", max_rows=2).rows
    assert sum(made["count"].to_pylist()) == 7


@pytest.mark.parametrize("delta", [None, "1e-6"], ids=["laplace", "gaussian"])
def test_noisy_tables_agree_are_whole_and_not_negative(delta: str | None, ledger: Ledger) -> None:
    rows = pa.table(
        {"sex": ["f", "m"] * 100, "town": (["x"] * 3 + ["y"]) * 50, "age": [20 + i % 40 for i in range(200)]}
    )
    asked = [["sex", "town"], ["town", "age"], ["sex", "age"], ["town"]]
    made = counted(ledger, asked, rows, epsilon=1, delta=delta, bounds={"age": (20, 59)}, bins=4)
    cells = made.rows.to_pylist()
    assert {type(row["count"]) for row in cells} == {int}
    assert min(row["count"] for row in cells) >= 0

    def margin(name: str, *table: str) -> dict[object, int]:
        others = {"sex", "town", "age"} - set(table)
        sums: dict[object, int] = {}
        for row in cells:
            if all((row[other] == "*") for other in others) and all(row[own] != "*" for own in table):
                sums[row[name]] = sums.get(row[name], 0) + row["count"]
        return sums

    assert margin("town", "sex", "town") == margin("town", "town", "age") == margin("town", "town")
    assert margin("sex", "sex", "town") == margin("sex", "sex", "age")
    assert margin("age", "town", "age") == margin("age", "sex", "age")


def test_the_error_is_stated_and_holds(ledger: Ledger) -> None:
    """2,000 cells with nobody in them, and one, what is not in the list: as many intervals hold 0 as is said."""
    rows = pa.table({"cell": [5000]})
    made = counted(ledger, [["cell"]], rows, epsilon=1, keys={"cell": range(2000)}, confidence=0.9)
    (noise,) = made.tables
    assert (noise.columns, noise.cells, noise.scale) == (("cell",), 2001, 1.0)
    held = sum(
        low <= 0 <= high
        for low, high in zip(made.rows["low"].to_pylist(), made.rows["high"].to_pylist(), strict=True)
    )
    assert held >= 0.86 * 2001  # six standard deviations below what is promised
    assert made.to_dict()["tables"] == [
        {"columns": ["cell"], "cells": 2001, "scale": 1.0, "margin": noise.margin, "mean_error": 1.0}
    ]


# ── one person ────────────────────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize("delta", [None, "1e-6"], ids=["laplace", "gaussian"])
def test_nobody_changes_a_table_further_than_stated(
    delta: str | None, ledger: Ledger, monkeypatch: pytest.MonkeyPatch
) -> None:
    log: list[tuple[np.ndarray, float]] = []

    def recorded(values: Sequence[int], *, sensitivity: float, **_: Any) -> Noisy:
        log.append((np.array(values), float(sensitivity)))
        return Noisy(list(values), "laplace", 1.0)

    monkeypatch.setattr(module, "gaussian", recorded)
    monkeypatch.setattr(module, "laplace", recorded)
    villain = pa.table(
        {"who": ["v"] * 6, "sex": ["f", "m", None] * 2, "town": list("xyzxyq"), "age": [10**9] * 6}
    )
    terms = {"unit": None, "person": "who", "max_rows": 2, "bounds": {"age": (0, 99)}, "delta": delta}
    for rows in (PEOPLE, pa.concat_tables([villain.slice(0, 3), PEOPLE, villain.slice(3)])):
        counted(ledger, [["sex", "town"], ["age"]], rows, **terms)
    for (before, stated), (after, _) in zip(log[:2], log[2:], strict=True):
        assert 0 < np.abs(after - before).sum() <= stated == 2


@pytest.mark.slow
@pytest.mark.parametrize("delta", [None, "1e-3"], ids=["laplace", "gaussian"])
def test_a_table_keeps_its_epsilon_and_a_wrong_copy_does_not(
    delta: str | None, ledger: Ledger, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Each cell is a draw: in all of them there is either nobody or somebody."""

    def draws(rows: int) -> list[float]:
        asked = discreet.read(
            pa.table({"cell": list(range(3000)) * rows}, schema=pa.schema([("cell", pa.int64())]))
        )
        coded = module.given_codings(asked, ["cell"], {}, {"cell": range(3000)}, 10)
        amounts = Fraction(1), Fraction(delta or 0)
        work = module._Tabulation(asked, coded, [("cell",)], None, 1, *amounts)
        made, _ = work.rows(0.5)
        # The middle of the interval is what was measured, where 0 does not cut it off.
        return [float(high) for high in made["high"].to_pylist()]

    assert not violation(draws(20), draws(21), 1.0, float(delta or 0))
    drawn = {name: getattr(module, name) for name in ("laplace", "gaussian")}
    monkeypatch.setattr(
        module,
        "laplace",
        lambda values, sensitivity, epsilon: drawn["laplace"](
            values, sensitivity=sensitivity, epsilon=4 * epsilon
        ),
    )
    monkeypatch.setattr(
        module,
        "gaussian",
        lambda values, sensitivity, rho: drawn["gaussian"](values, sensitivity=sensitivity, rho=100 * rho),
    )
    assert violation(draws(20), draws(21), 1.0, float(delta or 0))


# ── what is refused ───────────────────────────────────────────────────────────────────────────────


def test_terms_that_are_refused_cost_nothing(ledger: Ledger) -> None:
    for tables, terms, reason in (
        (None, {}, "not said which tables"),
        ([["sex"]], {"ways": 1}, "not said which tables"),
        (None, {"ways": 9}, "ways is 9"),
        ([[]], {}, "at least one column"),
        ([["sex", "sex"]], {}, "at least one column"),
        ([["sex"], ["sex"]], {}, "asked for once"),
        ([["who"]], {"person": "who", "unit": None}, "none the person id"),
        ([["who"]], {}, "the values of who are not given"),
        ([["age"]], {}, "have no bounds"),
        ([["sex"]], {"epsilon": "1e-9"}, "nothing but noise"),
        ([["sex"]], {"confidence": 1}, "confidence"),
        ([["sex"]], {"max_rows": 0}, "max_rows"),
        ([["sex"]], {"unit": None}, "whose privacy"),
        (
            [["age", "who", "sex"]],
            {"keys": {"who": range(3000), "sex": range(3000)}, "bounds": {"age": (0, 99)}},
            "cells together",
        ),
    ):
        with pytest.raises(InvalidParameter, match=reason):
            counted(ledger, tables, **terms)
    assert ledger.balance().spent_epsilon == 0


def test_the_command_line_writes_tables_and_their_statement(tmp_path: Path) -> None:
    table, output = tmp_path / "people.csv", tmp_path / "tables.csv"
    table.write_text("who,sex,age\n" + "".join(f"{i},{'fm'[i % 2]},{20 + i % 50}\n" for i in range(900)))
    run = CliRunner().invoke
    assert run(cli, ["budget", "set", str(table), "--epsilon", "2"]).exit_code == 0
    asked = [
        "tabulate",
        str(table),
        "--table",
        "sex,age",
        "--table",
        "sex",
        "--epsilon",
        "1.5",
        "--person",
        "who",
    ]
    asked += ["--bounds", "age=0:99", "--keys", "sex=f,m", "-o", str(output)]
    shown = run(cli, asked)
    assert shown.exit_code == 0, shown.exception
    assert "counts were written to tables.csv" in shown.output
    assert output.read_text().splitlines()[0] == '"sex","age","count","low","high"'
    assert read_statement(statement_beside(output)).epsilon == Fraction(3, 2)
    again = run(cli, asked)
    assert isinstance(again.exception, BudgetExceeded)
    asked[asked.index("1.5")] = "0.25"
    told = run(cli, [*asked, "--json"])
    assert json.loads(told.stdout)["schema"] == "discreet-tables-1"


@pytest.mark.parametrize("name", ["count", "low", "high"])
def test_a_column_with_the_name_of_a_figure_is_refused_and_costs_nothing(name: str, ledger: Ledger) -> None:
    """Its values would be lost under the figures."""
    rows = PEOPLE.rename_columns([name if each == "sex" else each for each in PEOPLE.column_names])
    with pytest.raises(InvalidParameter, match=f"{name} is the name of a column and of a figure"):
        discreet.tabulate(rows, [[name]], epsilon=1, unit="record", keys={name: ["f", "m"]}, ledger=ledger)
    assert ledger.balance().spent_epsilon == 0


def test_which_row_of_a_person_counts_differs_from_person_to_person(ledger: Ledger) -> None:
    """Everybody has a row of each kind, of which one counts: not the same kind for all, and for nobody by what others have."""
    people = 1_000
    rows = pa.table({"who": [i // 2 for i in range(2 * people)], "kind": ["x", "y"] * people})
    terms: dict[str, Any] = {"epsilon": SURE, "person": "who", "keys": {"kind": ["x", "y"]}, "ledger": ledger}
    counts = discreet.tabulate(rows, [["kind"]], **terms).rows["count"].to_pylist()
    assert sum(counts) == people
    assert 400 < counts[0] < 600
    fewer = discreet.tabulate(rows.slice(2), [["kind"]], **terms).rows["count"].to_pylist()
    assert sorted(before - after for before, after in zip(counts, fewer, strict=True)) == [0, 0, 1]
    moved = discreet.tabulate(rows.take(list(range(2 * people))[::-1]), [["kind"]], **terms).rows["count"]
    assert moved.to_pylist() == counts
    drawn = discreet.synthesize(
        rows.append_column("same", pa.array(["z"] * 2 * people)),
        method="mst",
        delta="1e-5",
        **{**terms, "keys": {"kind": ["x", "y"], "same": ["z"]}},
    ).rows["kind"]
    assert 400 < drawn.to_pylist().count("x") < 600
