"""Values of kinds that few tables have go the whole way: durations, bytes, lists, records inside a cell, zeros with a sign."""

from __future__ import annotations

import datetime as dt
from collections.abc import Sequence
from dataclasses import replace
from decimal import Decimal
from pathlib import Path

import openpyxl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import discreet
from discreet import KAnonymity, Plan, Policy
from discreet.engine.read import read

ODD = {
    "durations": pa.array([dt.timedelta(seconds=1.5), dt.timedelta(hours=30)] * 6, pa.duration("us")),
    "months": pa.array([(1, 2, 3), (0, 0, 5)] * 6, pa.month_day_nano_interval()),
    "bytes": pa.array([b"\xff", b"a"] * 6),
    "lists": pa.array([[3, 1], [2]] * 6),
    "records": pa.array([{"x": 1}, {"x": 2}] * 6),
}


ROLES = ("quasi-identifier", "sensitive", "other")


def people(**odd: pa.Array) -> pa.Table:
    return pa.table({"age": [1, 1, 2, 2] * 3, **odd, "ill": ["a", "b", "c", "d"] * 3})


def policy_of(role: str, names: Sequence[str] = ("odd",)) -> Policy:
    made = Policy.of(
        quasi_identifiers=["age", *(names if role == "quasi-identifier" else [])],
        sensitive=["ill", *(names if role == "sensitive" else [])],
        require=[KAnonymity(2)],
        profile="research-partner-3",
        unknown="keep",
    )
    return replace(made, plan=Plan(method="mondrian", unexamined="keep"))


def linked(release: object, policy: Policy, original: object) -> float:
    attacks = discreet.attack(release, policy, original=original, attacks=["record-linkage"])
    return attacks.result("record-linkage").successes


@pytest.mark.parametrize("role", ROLES)
def test_odd_values_are_released_compared_and_attacked(role: str, tmp_path: Path) -> None:
    original, policy = people(**ODD), policy_of(role, tuple(ODD))
    target = tmp_path / "release.parquet"
    discreet.anonymize(original, policy).save(target)
    compared = discreet.compare(original, target, policy, queries=5, classifiers=())
    assert compared.losses.measure("leaf-loss").value == 0
    # Two classes of six by age; each falls apart in two where odd values are known, too.
    assert linked(target, policy, original) == pytest.approx(4 if role == "quasi-identifier" else 2)


def test_durations_are_seconds() -> None:
    table = read(people(odd=ODD["durations"]))
    assert table.column("odd").numeric
    assert table.to_arrow()["odd"].to_pylist()[:2] == [1.5, 108_000.0]


def test_lists_may_be_the_key_of_rows(tmp_path: Path) -> None:
    original = people(odd=pa.array([[row, 1] for row in range(12)]))
    release = discreet.anonymize(original, policy_of("other"))
    pq.write_table(release.to_arrow(), tmp_path / "release.parquet")
    compared = discreet.compare(
        original, tmp_path / "release.parquet", policy_of("other"), key="odd", queries=5
    )
    assert compared.losses.measure("leaf-loss").value == 0


@pytest.mark.parametrize("kind", [pa.float32(), pa.float64()])
@pytest.mark.parametrize("way", ["frame", "parquet"])
def test_a_zero_with_a_sign_is_the_same_number(kind: pa.DataType, way: str, tmp_path: Path) -> None:
    rows = pa.table(
        {"pay": pa.array([-0.0, 0.0, -0.0, 0.0, 2.0, 2.0, None, None], kind), "ill": ["a", "b"] * 4}
    )
    pq.write_table(rows, tmp_path / "people.parquet")
    original = rows if way == "frame" else tmp_path / "people.parquet"
    policy = Policy.of(
        quasi_identifiers=["pay"], sensitive=["ill"], require=[KAnonymity(2)], profile="research-partner-3"
    )
    # Classes of four, two and two: each person is linked with a chance of one in so many.
    assert linked(original, policy, original) == pytest.approx(3)
    assert read(original).to_arrow()["pay"].type == kind


def test_numbers_of_a_spreadsheet_may_have_any_size(tmp_path: Path) -> None:
    book = openpyxl.Workbook()
    for row in [["pay", "ill"], [2.0**65, "a"], [1e100, "b"], [3.0, "c"]]:
        book.active.append(row)
    book.save(tmp_path / "people.xlsx")
    assert read(tmp_path / "people.xlsx").to_arrow()["pay"].to_pylist() == pytest.approx(
        [2.0**65, 1e100, 3.0]
    )


def test_a_spreadsheet_shows_every_digit_of_decimals(tmp_path: Path) -> None:
    paid = [Decimal(10**28 + row % 2) for row in range(8)]
    rows = pa.table({"age": [1] * 8, "paid": paid, "owed": [Decimal(row % 2) / 8 for row in range(8)]})
    policy = Policy.of(quasi_identifiers=["age"], sensitive=["paid", "owed"], require=[KAnonymity(2)])
    release = discreet.anonymize(rows, replace(policy, profile="research-partner-3"))
    release.save(tmp_path / "release.xlsx")
    sheet = openpyxl.load_workbook(tmp_path / "release.xlsx").worksheets[0]
    _, *cells = sheet.iter_rows(values_only=True)
    assert {cell[1] for cell in cells} == {"1" + "0" * 28, "1" + "0" * 27 + "1"}
    assert {cell[2] for cell in cells} == {0, 0.125}


def test_a_cell_of_blanks_is_refused_by_name_in_a_spreadsheet(tmp_path: Path) -> None:
    rows = pa.table({"age": [1] * 4, "ill": [" ", "flu"] * 2})
    policy = Policy.of(quasi_identifiers=["age"], sensitive=["ill"], require=[KAnonymity(2)])
    with pytest.raises(discreet.DiscreetError, match="'ill' holds texts of blanks"):
        discreet.anonymize(rows, replace(policy, profile="research-partner-3")).save(tmp_path / "r.xlsx")
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize("odd", [1.7e308, float("inf"), 5e-324])
def test_numbers_whose_squares_are_none_are_refused(odd: float) -> None:
    """Means and correlations of them would be infinite, or divide by nothing."""
    rows = pa.table({"pay": [odd, 1.0], "ill": ["a", "b"]})
    with pytest.raises(discreet.DiscreetError, match=r"'pay' holds (numbers beyond|infinite)"):
        discreet.audit(rows, Policy.of(quasi_identifiers=["pay"], sensitive=["ill"]))
    texts = rows.set_column(0, "pay", pa.array([str(odd), "1"]))
    assert not discreet.audit(texts, Policy.of(quasi_identifiers=["pay"])).verdict.passes
