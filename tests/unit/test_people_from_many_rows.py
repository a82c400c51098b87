"""Artificial people of other kinds: one row per person, bounds that are found, correlations, rules that rows keep."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.csv as csv
import pytest
from click.testing import CliRunner

import discreet
from discreet.cli import cli
from discreet.dp.coding import NumberCoding
from discreet.dp.found_bounds import PowerCoding
from discreet.dp.ledger import Ledger
from discreet.dp.profiles import profiles
from discreet.errors import DiscreetError, InvalidParameter

pytest.importorskip("opendp")

SURE: dict[str, Any] = {"epsilon": 10**4, "delta": "1e-6", "unit": "record"}


@pytest.fixture
def ledger(tmp_path: Path) -> Ledger:
    made = Ledger(tmp_path / "budget")
    made.set_budget(10**9, "0.9")
    return made


# ── one row per person ────────────────────────────────────────────────────────────────────────────


def test_a_profile_by_hand_and_whatever_the_order_of_rows() -> None:
    rows = pa.table(
        {
            "who": ["b", "a", None, "a", "a", "c", None],
            "pay": [9.0, 2.0, 100.0, None, 400.0, None, 0.0],
            "town": ["x", "y", "x", "y", "x", None, "z"],
        }
    )
    pay = NumberCoding("pay", 0, 10, 10, whole=False)
    expected = {
        "a": (3, 51.0, "y"),
        "b": (1, 9.0, "x"),
        "c": (1, None, None),
        None: (2, 50.0, "x"),
    }
    for order in (range(7), (6, 5, 4, 3, 2, 1, 0), (3, 0, 6, 1, 5, 2, 4)):
        given = rows.take(list(order))
        made = profiles(given, "who", {"pay": pay, "town": None})
        people = list(dict.fromkeys(given["who"].to_pylist()))
        told = zip(*(made[name].to_pylist() for name in ("rows", "pay", "town")), strict=True)
        assert dict(zip(people, told, strict=True)) == expected


def test_no_order_of_rows_changes_the_last_digit_of_a_mean() -> None:
    """Rows of a database have no order, and numbers near the end of a bin would change it by their last digit."""
    chance = np.random.default_rng(4)
    rows = pa.table({"who": ["a", "b"] * 50, "pay": chance.uniform(0, 10, 100)})
    pay = NumberCoding("pay", 0, 10, 10, whole=False)
    means = [
        sorted(profiles(rows.take(chance.permutation(100)), "who", {"pay": pay})["pay"].to_pylist())
        for _ in range(20)
    ]
    assert all(mean == means[0] for mean in means)


def test_people_with_many_rows_become_one_row_each(ledger: Ledger) -> None:
    rows = pa.table(
        {
            "who": [p for p in range(300) for _ in range(1 + p % 9)],
            "town": ["xy"[p % 2] for p in range(300) for _ in range(1 + p % 9)],
            "pay": [float(p % 50) for p in range(300) for _ in range(1 + p % 9)],
        }
    )
    terms = {**SURE, "unit": None, "person": "who", "per_person": True, "bounds": {"pay": (0, 50)}}
    made = discreet.synthesize(rows, max_rows=6, keys={"town": ["x", "y"]}, ledger=ledger, **terms)
    assert abs(made.rows.num_rows - 300) <= 2
    # Whoever has more rows counts as having 6.
    counts = np.bincount(made.rows["rows"].to_pylist(), minlength=7)
    assert np.abs(counts - [0, 34, 34, 34, 33, 33, 132]).max() <= 3
    assert "all of them become one row" in made.guarantee.unit_description
    with pytest.raises(InvalidParameter, match="needs the column of the person ids"):
        discreet.synthesize(rows, per_person=True, bounds={"pay": (0, 50)}, ledger=ledger, **SURE)
    with pytest.raises(InvalidParameter, match="a column is called rows"):
        discreet.synthesize(
            rows.rename_columns(["who", "rows", "pay"]), keys={"rows": ["x"]}, ledger=ledger, **terms
        )


# ── bounds, correlations, whole tables ────────────────────────────────────────────────────────────


def test_bounds_that_are_found_hold_nearly_all_numbers(ledger: Ledger) -> None:
    chance = np.random.default_rng(5)
    pay = np.append(chance.lognormal(7, 1, 4000), [1e12, -1e12])
    rows = pa.table({"pay": pay, "age": [20 + i % 60 for i in range(len(pay))]})
    made = discreet.synthesize(
        rows, find_bounds=["pay"], bounds={"age": (0, 100)}, ledger=ledger, **{**SURE, "epsilon": 1}
    )
    drawn = [value for value in made.rows["pay"].to_pylist() if value is not None]
    assert 0 <= min(drawn) < max(drawn) <= 2**18
    assert abs(np.median(drawn) / np.median(pay) - 1) < 0.5
    assert "the values of pay were found in the data and paid for" in made.guarantee.tuning
    for wrong in (["age"], ["pay", "nobody"], ["place"]):
        with pytest.raises(Exception, match=r"cannot be found|no column"):
            discreet.synthesize(rows, find_bounds=wrong, bounds={"age": (0, 9)}, ledger=ledger, **SURE)


def test_numbers_among_texts_have_no_bounds_and_nothing_is_paid_for_them(
    tmp_path: Path, ledger: Ledger
) -> None:
    file = tmp_path / "people.csv"
    file.write_text("sex,pay\n" + 'f,1000\nm,""\n' * 50)
    keys = {"sex": ["f", "m"]}
    for asked in ({"find_bounds": ["pay"]}, {"bounds": {"pay": (0, 9000)}}):
        with pytest.raises(InvalidParameter, match="pay is read as text"):
            discreet.synthesize(file, keys=keys, ledger=ledger, **asked, **SURE)  # type: ignore[arg-type]
    assert not ledger.balance().spent_epsilon
    table = discreet.read(file, missing=[""])
    made = discreet.synthesize(table, keys=keys, ledger=ledger, find_bounds=["pay"], **SURE)
    assert {None, *range(512, 1025)} >= set(made.rows["pay"].to_pylist()) > {None}


def test_no_power_that_nobody_is_in_bounds_numbers() -> None:
    powers = PowerCoding("pay")
    nobody = np.zeros(0, dtype=np.int64)
    assert sum(powers.bounds(nobody, max_rows=1, rho=0.5) != (0.0, 1.0) for _ in range(60)) <= 2
    codes = powers.encode(pa.chunked_array([[float("inf"), -float("inf"), 5e-324, -0.0, 1e-4, 3.0]] * 500))
    assert codes.max() < powers.size - 1
    assert powers.bounds(codes, max_rows=1, rho=0.5) == (powers.low, powers.high)


def test_components_keep_correlations_and_every_column(ledger: Ledger) -> None:
    chance = np.random.default_rng(7)
    size = 20_000
    first = chance.normal(50, 10, size)
    numbers = {
        "a": first,
        "b": 100 - first + chance.normal(0, 5, size),
        "c": chance.exponential(10, size),
    }
    absent = np.arange(size) % 4 == 0
    rows = pa.table({**numbers, "d": pa.array(first, mask=absent)})
    terms = {**SURE, "method": "pca", "bounds": dict.fromkeys("abcd", (0, 100))}
    made = discreet.synthesize(rows, ledger=ledger, **{**terms, "epsilon": 2}).rows
    drawn = {name: made[name].to_numpy(zero_copy_only=False) for name in "abcd"}
    known = ~np.isnan(np.stack(list(drawn.values()))).any(axis=0)
    true = np.corrcoef([numbers[name] for name in "abc"])
    assert np.abs(np.corrcoef([drawn[name][known] for name in "abc"]) - true).max() < 0.1
    assert abs(np.nanmean(drawn["c"]) - 10) < 1
    assert abs(np.isnan(drawn["d"]).mean() - 0.25) < 0.03
    text = rows.append_column("e", pa.array(["x"] * size))
    with pytest.raises(InvalidParameter, match="holds no numbers"):
        discreet.synthesize(text, ledger=ledger, **terms)


def test_a_whole_table_keeps_what_pairs_do_not(ledger: Ledger) -> None:
    """Of three columns each is the sum of the others: no pair depends on each other."""
    bits = [(i & 1, i >> 1 & 1, (i & 1) ^ (i >> 1 & 1)) for i in range(4000)]
    rows = pa.table({name: [row[at] for row in bits] for at, name in enumerate("abc")})
    made = discreet.synthesize(
        rows, method="table", bounds=dict.fromkeys("abc", (0, 1)), ledger=ledger, **{**SURE, "epsilon": 5}
    )
    assert made.tables == (("a", "b", "c"),)
    odd = sum(row["a"] ^ row["b"] != row["c"] for row in made.rows.drop_null().to_pylist())
    assert odd < 60
    for more in ({"keys": {}}, {"keys": {"t": [str(i) for i in range(200_000)]}}):
        wide = rows.append_column("t", pa.array(["x"] * 4000))
        with pytest.raises(InvalidParameter, match=r"the table of all columns has"):
            discreet.synthesize(
                wide, method="table", bounds=dict.fromkeys("abc", (0, 1)), ledger=ledger, **SURE, **more
            )
    # Bounds that are found make as many bins as are allowed.
    spent = ledger.balance().spent_epsilon
    with pytest.raises(InvalidParameter, match=r"has 100,020,001 cells"):
        discreet.synthesize(
            rows.select(["a", "b"]),
            method="table",
            find_bounds=["a", "b"],
            bins=10_000,
            ledger=ledger,
            **SURE,
        )
    assert ledger.balance().spent_epsilon == spent


# ── rules ─────────────────────────────────────────────────────────────────────────────────────────

POLICY = """
[columns]
sex = {role = "quasi-identifier"}
[[constraint]]
name = "births"
holds = "not (sex = 'm' and births > 0)"
[[constraint]]
name = "order"
holds = "leaves >= comes"
[[constraint]]
name = "elsewhere"
holds = "fee >= 0"
"""


def test_rows_keep_the_rules_of_a_policy(tmp_path: Path) -> None:
    chance = np.random.default_rng(11)
    comes = chance.integers(0, 20, 3000)
    sex = np.array(["f", "m"])[chance.integers(0, 2, 3000)]
    births = np.where(sex == "f", chance.integers(0, 4, 3000), 0)
    table = pa.table(
        {"sex": sex, "births": births, "comes": comes, "leaves": comes + births, "fee": comes * 1.0}
    )
    csv.write_csv(table, tmp_path / "stays.csv")
    (tmp_path / "policy.toml").write_text(POLICY)
    Ledger.beside(tmp_path / "stays.csv").set_budget(2, "1e-5")
    asked = [
        "synthesize",
        str(tmp_path / "stays.csv"),
        "--epsilon",
        "1",
        "--delta",
        "1e-6",
        "--unit",
        "record",
    ]
    asked += ["--columns", "sex,births,comes,leaves", "--keys", "sex=f,m", "-o", str(tmp_path / "made.csv")]
    asked += ["--bounds", "births=0:5", "--bounds", "comes=0:20", "--bounds", "leaves=0:25"]
    told = CliRunner().invoke(cli, [*asked, "--policy", str(tmp_path / "policy.toml")])
    assert told.exit_code == 0, told.output
    assert "rules that records keep, given" in " ".join(told.output.split())
    rows = csv.read_csv(tmp_path / "made.csv")
    assert rows.num_rows > 2500
    known = rows.drop_null()
    assert not pc.any(pc.and_(pc.equal(known["sex"], "m"), pc.greater(known["births"], 0))).as_py()
    assert pc.all(pc.greater_equal(known["leaves"], known["comes"])).as_py()
    spent = Ledger.beside(tmp_path / "stays.csv").balance().spent_epsilon
    for rule, problem in (
        ('holds = "nobody > 3"', "nobody"),
        ('column = "leaves"\nfollows = ["comes"]', "known from the data only"),
    ):
        (tmp_path / "policy.toml").write_text(f"{POLICY}[[constraint]]\nname = 'new'\n{rule}\n")
        told = CliRunner().invoke(cli, [*asked, "--policy", str(tmp_path / "policy.toml")])
        assert isinstance(told.exception, DiscreetError)
        assert problem in str(told.exception)
    assert Ledger.beside(tmp_path / "stays.csv").balance().spent_epsilon == spent == 1


def test_rules_that_hardly_any_row_keeps_leave_few_rows(ledger: Ledger) -> None:
    rows = pa.table({"a": [0, 1] * 200, "b": [1, 0] * 200})
    terms = {**SURE, "bounds": {"a": (0, 1), "b": (0, 1)}, "epsilon": 50}
    made = discreet.synthesize(
        rows, keeps=lambda made: np.zeros(made.num_rows, dtype=bool), ledger=ledger, **terms
    )
    assert made.rows.num_rows == 0
    assert "rows that break the rules were drawn again" in made.guarantee.post_processing
