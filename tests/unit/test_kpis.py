"""The user's own figures: errors by hand, what a release cannot answer, and the finding on 15 drivers."""

from __future__ import annotations

import datetime as dt
import json
from pathlib import Path

import pyarrow as pa
import pytest

import discreet
from discreet.errors import InvalidParameter, InvalidPolicy
from discreet.policy import Kpi, Policy
from discreet.policy.plan import Method, Plan
from discreet.privacy import KAnonymity
from discreet.release.kpis import check_kpis, measure_kpis
from discreet.table import Table
from discreet.utility.kpi import KpiResult, compare_answers
from helpers.cars import FLEET, trips

# ── two answers ───────────────────────────────────────────────────────────────────────────────────


def by_engine(engines: list[str | None], values: list[float | None]) -> pa.Table:
    return pa.table({"engine": engines, "share": pa.array(values, pa.float64())})


def test_errors_by_hand() -> None:
    result = compare_answers(
        "share",
        by_engine(["EV", "Gas", "Hybrid", "Diesel", None], [0.5, 0.4, -0.2, 0.0, 1.0]),
        by_engine(["Gas", "EV", "*", None, "Diesel"], [0.5, 0.5, 0.4, 1.1, 0.3]),
        tolerance=0.3,
    )
    assert {group.key[0]: group.released for group in result.groups} == {
        "EV": 0.5, "Gas": 0.5, "Hybrid": None, "Diesel": 0.3, None: 1.1,
    }  # fmt: skip
    assert [group.error for group in result.groups] == pytest.approx([0.0, 0.25, None, 0.3, 0.1])
    assert [group.absolute for group in result.groups] == [False, False, False, True, False]
    assert result.answerable_share == pytest.approx(4 / 5)
    assert result.mean_error == pytest.approx(0.65 / 4)
    assert result.median_error == pytest.approx(0.175)
    assert result.max_error == pytest.approx(0.3)
    assert result.only_in_release == 1
    # No error is above 0.3, but one figure is gone.
    assert result.holds is False


@pytest.mark.parametrize(("tolerance", "holds"), [(None, None), (0.25, True), (0.2499, False)])
def test_tolerance(tolerance: float | None, holds: bool | None) -> None:
    result = compare_answers("x", pa.table({"n": [4]}), pa.table({"n": [5]}), tolerance=tolerance)
    assert (result.max_error, result.holds) == (0.25, holds)


def test_keys_match_as_they_print() -> None:
    day = dt.date(2024, 3, 1)
    before = pa.table({"seats": [2, 5], "day": [day, day], "n": [10, 20]})
    after = pa.table({"seats": ["2", "5"], "day": ["2024-03-01", "2024-03"], "n": [10.0, 20.0]})
    result = compare_answers("x", before, after)
    assert [group.released for group in result.groups] == [10.0, None]
    assert (result.by, result.only_in_release) == (("seats", "day"), 1)
    averaged = compare_answers("x", before.drop(["day"]), pa.table({"seats": [2.0, 4.7], "n": [10, 20]}))
    assert [group.released for group in averaged.groups] == [10.0, None]


@pytest.mark.parametrize(
    "release",
    [
        None,
        pa.table({"n": pa.array([None], pa.float64())}),
        pa.table({"n": [float("nan")]}),
        pa.table({"n": [float("inf")]}),
        pa.table({"n": pa.array([], pa.float64())}),
        pa.table({"n": ["[30, 39]"]}),
        pa.table({"n": [1.0, 2.0]}),
    ],
    ids=["failed", "null", "nan", "infinite", "no rows", "text", "two rows"],
)
def test_what_is_no_figure_is_not_answerable(release: pa.Table | None) -> None:
    result = compare_answers("x", pa.table({"n": [4.0]}), release, tolerance=1.0)
    assert (result.answerable, result.answerable_share, result.holds) == (False, 0.0, False)
    assert (result.mean_error, result.median_error, result.max_error) == (None, None, None)
    assert result.reason


@pytest.mark.parametrize(
    "original",
    [pa.table({"n": ["x"]}), pa.table({"n": [True]}), pa.table({"k": ["a", "a"], "n": [1, 2]}), pa.table({"n": pa.array([None], pa.int64())})],
    ids=["text", "truth", "twice", "null"],
)  # fmt: skip
def test_the_original_must_have_an_answer(original: pa.Table) -> None:
    with pytest.raises(InvalidParameter):
        compare_answers("x", original, None)


def test_as_json_with_and_without_figures() -> None:
    result = compare_answers("x", by_engine(["EV"], [0.4391]), by_engine(["EV"], [0.4391]), tolerance=0)
    whole = json.loads(json.dumps(result.to_dict()))
    assert whole["groups"] == [
        {"key": ["EV"], "original": 0.4391, "released": 0.4391, "error": 0.0, "absolute": False}
    ]
    assert (whole["holds"], whole["answerable_share"], whole["by"]) == (True, 1.0, ["engine"])
    assert "0.4391" not in json.dumps(result.to_dict(groups=False))


# ── two tables ────────────────────────────────────────────────────────────────────────────────────

SECRET = 4711.25
ORIGINAL = pa.table(
    {
        "id": [1, 2, 3, 4],
        "age": [30, 34, 40, 60],
        "sex": ["f", "f", "m", "m"],
        "pay": [10, 20, 30, 40],
        "height": [1.5, 1.7, 1.8, SECRET],
    }
)
RELEASE = pa.table(
    {
        "id": ["c0ffee", "12", "beef", "f00d"],
        "age": ["[30, 39]", "34", "*", "60"],
        "sex": ["f", "f", "*", "*"],
        "pay": ["10", "20", "30", "50"],
    }
)
MEAN_AGE = "SELECT avg(age) FROM data"


@pytest.fixture
def tables() -> tuple[Table, Table]:
    return discreet.read(ORIGINAL), discreet.read(RELEASE)


def measured(tables: tuple[Table, Table], *kpis: Kpi) -> list[KpiResult]:
    return list(measure_kpis(*tables, kpis))


def test_intervals_are_refused_or_read_as_midpoints(tables: tuple[Table, Table]) -> None:
    refused, middle = measured(tables, Kpi("a", MEAN_AGE), Kpi("b", MEAN_AGE, generalised="midpoint"))
    assert (refused.answerable, refused.reason) == (False, "no longer numbers in the release: age")
    assert middle.groups[0].original == 41
    assert middle.groups[0].released == pytest.approx((34.5 + 34 + 60) / 3)
    assert middle.generalised == "midpoint"


def test_text_that_holds_nothing_but_numbers_is_numbers() -> None:
    # As an Arrow table, the column stays the text it is; a release whose labels are rounded numbers looks so.
    release = discreet.read(RELEASE)
    assert release.column("pay").storage == "text"
    (result,) = measure_kpis(discreet.read(ORIGINAL), release, [Kpi("pay", "SELECT avg(pay) FROM data")])
    assert result.errors == pytest.approx((0.1,))


def test_marks_for_missing_numbers_are_null(tmp_path: Path) -> None:
    original, release = tmp_path / "original.csv", tmp_path / "release.csv"
    original.write_text("sex,pay\nf,10\nf,?\nm,30\nm,\n")
    release.write_text("sex,pay\nf,10\n*,?\nm,40\n*,\n")
    table = discreet.read(original)
    assert table.column("pay").storage == "text"
    total, parts = measure_kpis(
        table,
        discreet.read(release),
        [
            Kpi("total", "SELECT avg(pay) FROM data"),
            Kpi("by", "SELECT sex, count(pay) FROM data GROUP BY sex"),
        ],
    )
    assert (total.groups[0].original, total.groups[0].released) == (20.0, 25.0)
    assert {group.key: (group.original, group.released) for group in parts.groups} == {
        ("f",): (1.0, 1.0),
        ("m",): (1.0, 1.0),
    }


def test_pseudonyms_are_not_read_as_numbers(tables: tuple[Table, Table]) -> None:
    query = "SELECT count(DISTINCT id) FROM data"
    for result in measured(tables, Kpi("a", query), Kpi("b", query, generalised="midpoint")):
        assert result.errors == (0.0,)


def test_a_removed_column_and_lost_groups(tables: tuple[Table, Table]) -> None:
    gone, groups, least = measured(
        tables,
        Kpi("height", "SELECT avg(height) FROM data"),
        Kpi("pay by sex", "SELECT sex, sum(pay) FROM data GROUP BY sex", 0.5),
        Kpi("least age", "SELECT min(age) FROM data"),
    )
    assert gone.reason == "the release has no column 'height'"
    assert [(group.key, group.original, group.released) for group in groups.groups] in (
        [(("f",), 30.0, 30.0), (("m",), 70.0, None)],
        [(("m",), 70.0, None), (("f",), 30.0, 30.0)],
    )
    assert (groups.only_in_release, groups.holds) == (1, False)
    # The least of texts is a text.
    assert (least.answerable, least.reason) == (False, "the last column of the answer is not a number")


def test_every_kpi_without_an_answer_on_the_original_is_named_at_once(tables: tuple[Table, Table]) -> None:
    kpis = [
        Kpi("typo", "SELECT avg(agee) FROM data"),
        Kpi("fine", MEAN_AGE),
        Kpi("file", "SELECT * FROM read_csv('x.csv'), data"),
        Kpi("cast", "SELECT avg(year(CAST(CAST(height AS VARCHAR) AS DATE))) FROM data"),
        Kpi("text", "SELECT sex FROM data"),
        Kpi("nothing", "SELECT avg(age) FROM data WHERE age > 99"),
    ]
    for ask in (lambda: measure_kpis(*tables, kpis), lambda: check_kpis(tables[0], kpis)):
        with pytest.raises(InvalidPolicy) as refused:
            ask()
        told = refused.value.problems
        assert [one.split("'")[1] for one in told] == ["typo", "file", "cast", "text", "nothing"]
        assert "did you mean 'age'" in told[0]
        assert str(SECRET) not in str(refused.value)


# ── 15 drivers ────────────────────────────────────────────────────────────────────────────────────

ENGINES = {fleet[0] for fleet in FLEET}
OVERALL = Kpi("touchscreen", "SELECT avg(touchscreen) FROM data", tolerance=0.05)
BY_ENGINE = Kpi("touchscreen by engine", "SELECT engine, avg(touchscreen) FROM data GROUP BY engine", 0.05)


def test_the_fleet() -> None:
    table = trips()
    assert len(set(table["driver"].to_pylist())) == 15
    assert table.num_rows == sum(fleet[4] for fleet in FLEET)
    assert table.equals(trips())
    assert not table.equals(trips(seed=2))


@pytest.fixture(scope="module")
def cars() -> Table:
    return discreet.read(trips())


@pytest.mark.slow
@pytest.mark.parametrize("method", ["optimal", "mondrian"])
@pytest.mark.parametrize(("k", "known"), [(2, {"EV", "Gas"}), (3, {"EV", "Gas"}), (5, set()), (15, set())])
def test_the_whole_stays_right_while_the_parts_are_lost(
    cars: Table, tmp_path: Path, k: int, known: set[str], method: Method
) -> None:
    """Singer 2023, tables 4.10 and 4.11: the only hybrid is lost at k = 2, every engine at k = 5, the sum never."""
    profile = tmp_path / "plain.toml"
    profile.write_text('title = "Plain"\ndescription = "k only"\nsource = "test"\ndate = 2024-01-01\n')
    policy = Policy.of(
        quasi_identifiers=["engine", "body", "seats"],
        person="driver",
        require=[KAnonymity(k)],
        profile=str(profile),
    )
    release = discreet.anonymize(cars, policy, plan=Plan(method=method, suppression_limit=0.2))
    overall, parts = measure_kpis(cars, release.table, [OVERALL, BY_ENGINE])
    assert overall.holds
    assert {group.key[0] for group in parts.groups} == ENGINES
    assert {group.key[0] for group in parts.groups if group.released is not None} == known
    assert parts.holds is False
    assert parts.answerable_share == pytest.approx(len(known) / 3)
