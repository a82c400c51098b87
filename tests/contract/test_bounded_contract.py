"""What each person may contribute: the same counts and sums on every engine."""

from __future__ import annotations

import datetime as dt

import pyarrow as pa
import pytest

from discreet.engine.bounded import ValueGrid
from discreet.engine.protocol import Engine
from discreet.engine.question import parse_question
from discreet.engine.read import read
from discreet.table import Table

ROWS = pa.table(
    {
        "who": ["a"] * 6 + ["b", "b", "c", None, None, None],
        "town": ["x", "x", "x", "y", "z", None, "x", "y", "x", "x", "x", "y"],
        "age": [30, 31, 32, 33, 34, 35, 40, None, 50, 60, 61, 62],
        "pay": [1.5, float("inf"), float("nan"), -7.0, 2.25, 3.0, None, 4.0, 0.5, 0.5, 0.5, 0.5],
        "day": [dt.date(2024, 1 + i, 1) for i in range(12)],
        "old": [False] * 8 + [True] * 4,
    }
)
PAY = ValueGrid.of(0, 5, whole=False)


@pytest.fixture(scope="module")
def table(engine: Engine) -> Table:
    return read(ROWS, engine=engine)


def test_everything_counts_where_nothing_is_bounded(table: Table) -> None:
    told = table.engine.bounded_groups(
        table, keys=["town"], person="who", max_rows=9, max_groups=9, counts=["age"], sums=[("pay", PAY)]
    ).to_pylist()
    shown = {row["key0"]: [row[name] for name in ("rows", "persons", "count0")] for row in told}
    assert shown == {"x": [7, 4, 7], "y": [3, 3, 2], "z": [1, 1, 1], None: [1, 1, 1]}
    sums = {row["key0"]: row["sum0"] * PAY.unit for row in told}
    assert sums == pytest.approx({"x": 1.5 + 5 + 1.5, "y": 0 + 4 + 0.5, "z": 2.25, None: 3.0}, abs=1e-3)


def test_each_person_has_so_many_rows_in_so_many_groups(table: Table) -> None:
    told = table.engine.bounded_groups(table, keys=["town"], person="who", max_rows=2, max_groups=1)
    # a, b, c and whoever has no id are in one group each.
    assert sum(told["persons"].to_pylist()) == 4
    assert max(told["rows"].to_pylist()) <= 2 * 4
    assert sum(told["rows"].to_pylist()) <= 2 * 4
    alone = table.engine.bounded_groups(table, person="who", max_rows=1).to_pylist()
    assert alone == [{"rows": 4, "persons": 4}]


@pytest.mark.parametrize(
    ("condition", "rows"),
    [
        ("age >= 40.5 or town is null", 5),
        ("town in ('x', 'z') and not old", 5),
        ("town like 'x%' and pay < 1", 3),
        ("day between '2024-03-01' and '2024-05-01'", 3),
        ("old = true", 4),
    ],
)
def test_conditions_mean_the_same(condition: str, rows: int, table: Table) -> None:
    where = parse_question(f"select count(*) from data where {condition}").where
    assert table.engine.bounded_groups(table, where=where)["rows"].to_pylist() == [rows]


def test_values_are_sorted_into_bins(table: Table) -> None:
    decades = ValueGrid(30.0, 70.0, 30.0, 10.0, 4)
    told = table.engine.bounded_groups(table, bins=("age", decades)).to_pylist()
    # To the nearest: 30 to 34 are 0, 35 and 40 are 1, and a missing age has no bin.
    assert {row["bin"]: row["rows"] for row in told} == {0: 5, 1: 2, 2: 1, 3: 3, None: 1}
