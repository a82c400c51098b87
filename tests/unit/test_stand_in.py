"""Numeric suppression by a statistic: what suppressed records show, what it tells, and how it is verified."""

from __future__ import annotations

import datetime as dt
from decimal import Decimal
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest

from discreet.errors import InvalidParameter
from discreet.policy import Policy
from discreet.policy.file import dumps, loads
from discreet.policy.plan import METHODS, Method, Numbers, Plan
from discreet.privacy import KAnonymity, TCloseness
from discreet.release.anonymize import anonymize
from discreet.release.release import Release
from discreet.release.verify import read_back, verify
from discreet.release.write import SUFFIXES
from discreet.transform.stand_in import statistic_of

SIX = [77516, 83311, 215646, 234721, 338409, 284582]
"""fnlwgt in six rows of Adult."""


def policy(*names: str, k: int = 3) -> Policy:
    return Policy.of(quasi_identifiers=names, require=[KAnonymity(k)], profile="research-partner-3")


def shown(release: Release) -> pa.Table:
    return release.table.engine.to_arrow(release.table)


def plan(numbers: Numbers, **more: object) -> Plan:
    given: dict[str, object] = {"suppression_limit": 0.2, "order": "kept", **more}
    return Plan(method="optimal", suppressed="star", suppressed_numbers=numbers, **given)  # type: ignore[arg-type]


def test_fnlwgt_by_its_mean() -> None:
    """Review of anonymisation procedures for tabular data (2023): the mean is 205697.5."""
    assert statistic_of(np.array(SIX, dtype=float), np.ones(6, dtype=np.int64), "mean") == 205697.5
    rows = pa.table({"fnlwgt": [*SIX * 3, 999_997, 999_998, 999_999], "sex": ["m"] * 18 + ["f"] * 3})
    release = anonymize(rows, policy("fnlwgt", "sex"), plan=plan("mean", keep=("fnlwgt", "sex")))
    assert shown(release).to_pylist()[-1] == {"fnlwgt": 205697.5, "sex": "*"}
    assert shown(release)["fnlwgt"].to_pylist()[:6] == SIX


@pytest.mark.parametrize(
    ("numbers", "told"), [("mean", 41), ("median", 30), ("mode", 20), ("minimum", 20), ("maximum", 80)]
)
def test_every_statistic_is_that_of_the_records_that_are_shown(numbers: Numbers, told: int) -> None:
    """95, 97 and 99 are suppressed; none of the statistics knows them, so nobody can work them out from it."""
    rows = pa.table({"age": [20] * 8 + [30] * 6 + [80] * 6 + [95, 97, 99], "sex": ["m"] * 23})
    release = anonymize(rows, policy("age", "sex"), plan=plan(numbers, keep=("age", "sex")))
    assert shown(release)["age"].to_pylist()[-1] == told
    assert release.suppressed == 3
    assert pa.types.is_integer(shown(release).schema.field("age").type)
    assert any(f"the {numbers} of the released values of age" in note for note in release.notes)


def test_numbers_stay_numbers_and_other_columns_become_text(tmp_path: Path) -> None:
    rows = pa.table({"age": [20] * 9 + [31] * 9 + [95, 96, 97], "sex": [True] * 18 + [False] * 3})
    kept = ("age", "sex")
    release = anonymize(rows, policy(*kept), plan=plan("mean", keep=kept))
    assert shown(release).schema.types == [pa.float64(), pa.string()]
    assert shown(release).to_pylist()[-1] == {"age": 25.5, "sex": "*"}
    starred = anonymize(
        rows,
        policy(*kept),
        plan=Plan(method="optimal", suppressed="star", keep=kept, suppression_limit=0.2, order="kept"),
    )
    assert shown(starred).schema.types == [pa.string(), pa.string()]


@pytest.mark.parametrize(
    ("values", "numbers", "told"),
    [
        ([dt.date(2020, 1, 1), dt.date(2020, 1, 3), dt.date(1900, 1, 1)], "mean", dt.date(2020, 1, 2)),
        (
            [dt.datetime(2020, 1, 1), dt.datetime(2020, 1, 2), dt.datetime(1900, 1, 1)],
            "mean",
            dt.datetime(2020, 1, 1, 12),
        ),
        ([Decimal("1.10"), Decimal("1.20"), Decimal("9.99")], "mean", Decimal("1.15")),
        ([2**60 + 1, 2**60 + 3, 5], "maximum", 2**60 + 3),
        (["7", "9", "1000"], "mean", "8"),
    ],
)
def test_statistics_have_the_type_of_their_column(
    values: list[object], numbers: Numbers, told: object, tmp_path: Path
) -> None:
    rows = pa.table({"x": [values[0]] * 9 + [values[1]] * 9 + [values[2]] * 3, "y": ["a"] * 18 + [*"bcd"]})
    release = anonymize(rows, policy("x", "y"), plan=plan(numbers, keep=("x", "y")))
    assert shown(release)["x"].to_pylist()[-1] == told
    for suffix in (".csv", ".parquet"):
        release.save(tmp_path / f"out{suffix}")


def test_whole_numbers_that_floats_cannot_hold_stay_as_they_are() -> None:
    rows = pa.table({"x": [2**60 + 1] * 9 + [2**60 + 4] * 9 + [5] * 3, "y": ["a"] * 18 + [*"bcd"]})
    release = anonymize(rows, policy("x", "y"), plan=plan("mean", keep=("x", "y")))
    assert shown(release)["x"].to_pylist()[:18] == [2**60 + 1] * 9 + [2**60 + 4] * 9
    assert release.recoding.starred


def test_generalised_numbers_count_by_their_middle_and_ends() -> None:
    ages = [21, 22, 23, 41, 42, 43, 95, 96, 97]
    rows = pa.table({"age": ages, "sex": ["m"] * 9, "town": [*"aaaaaabcd"]})
    told: dict[Numbers, str] = {"mean": "32", "minimum": "21", "maximum": "43"}
    for numbers, expected in told.items():
        wanted = Plan(
            order="kept",
            method="mondrian",
            keep=("town",),
            suppression_limit=0.5,
            suppressed="star",
            suppressed_numbers=numbers,
        )
        release = anonymize(rows, policy("age", "sex", "town"), plan=wanted)
        assert shown(release)["age"].to_pylist() == ["<= 39"] * 3 + [">= 40"] * 3 + [expected] * 3


@pytest.mark.parametrize("suffix", SUFFIXES)
def test_every_format_is_verified(tmp_path: Path, suffix: str) -> None:
    rows = pa.table(
        {
            "age": [20] * 3 + [31] * 3 + [95, 96, 97],
            "height": [1.7] * 3 + [1.8] * 3 + [2.0, 2.1, 2.2],
            "born": [dt.date(2000, 1, 1)] * 6 + [dt.date(year, 1, 1) for year in (1929, 1930, 1931)],
        }
    )
    wanted = plan("mean", suppression_limit=0.5, keep=("age", "height", "born"))
    release = anonymize(rows, policy("age", "height", "born"), plan=wanted)
    assert release.stand_ins["age"] == 25.5
    release.save(tmp_path / f"out{suffix}")
    assert read_back(tmp_path / f"out{suffix}").num_rows == 9


# ── privacy ──────────────────────────────────────────────────────────────────────────────────────────


def test_a_released_class_that_looks_the_same_is_counted_with_the_suppressed_records(tmp_path: Path) -> None:
    """The mode is the value of a released class: both are one class of four, which is large enough."""
    rows = pa.table({"age": [20] * 4 + [31] * 3 + [97]})
    release = anonymize(rows, policy("age"), plan=plan("mode"))
    assert shown(release)["age"].to_pylist() == [20] * 4 + [31] * 3 + [20]
    release.save(tmp_path / "out.csv")
    found = release.verify(read_back(tmp_path / "out.csv"))
    assert (found.holds, found.classes, found.smallest) == (True, 2, 3)


def test_where_they_would_not_hold_suppressed_records_are_left_out(tmp_path: Path) -> None:
    """Half of each class is ill, all of the suppressed are: with them, the class of the mode is 0.14 away."""
    rows = pa.table(
        {
            "age": [age for age in (20, 30, 40, 50, 60) for _ in range(6)] + [94, 95, 96, 97],
            "ill": [*"aaabbb"] * 5 + [*"aaaa"],
        }
    )
    wanted = Policy.of(
        quasi_identifiers=["age"],
        sensitive=["ill"],
        require=[KAnonymity(3), TCloseness(0.1, "ill")],
        profile="research-partner-3",
    )
    release = anonymize(rows, wanted, plan=plan("mode", keep=("age",)))
    assert release.suppressed == 4
    assert shown(release)["age"].to_pylist() == rows["age"].to_pylist()[:30]
    assert any("suppressed records are left out" in note for note in release.notes)
    release.save(tmp_path / "out.csv")
    loose = wanted.replace(requirements=[KAnonymity(3), TCloseness(0.15, "ill")])
    assert shown(anonymize(rows, loose, plan=plan("mode", keep=("age",))))["age"].to_pylist()[-4:] == [20] * 4


def test_a_suppressed_record_that_shows_itself_is_found() -> None:
    rows = pa.table({"age": [20, 20, 20, 25, 97]})
    told = verify(
        rows,
        [KAnonymity(1)],
        quasi_identifiers=["age"],
        person=None,
        original={},
        starred=True,
        suppressed=2,
        stand_ins={"age": 25},
    )
    assert told.failures == ("records that are suppressed show their quasi-identifiers",)


def test_records_that_show_a_statistic_are_asked_like_all_others() -> None:
    def holds(ages: list[int]) -> bool:
        return verify(
            pa.table({"age": ages}),
            [KAnonymity(3)],
            quasi_identifiers=["age"],
            person=None,
            original={},
            starred=True,
            suppressed=2,
            stand_ins={"age": 25},
        ).holds

    assert not holds([20, 20, 20, 25, 25])
    assert holds([20, 20, 20, 25, 25, 25])


@pytest.mark.parametrize("method", [method for method in METHODS if method != "auto"])
def test_every_method(method: Method, tmp_path: Path) -> None:
    rng = np.random.default_rng(3)
    rows = pa.table({"age": rng.integers(20, 60, 80), "town": [*"abcd" * 19, *"eeff"]})
    wanted = Plan(
        method=method,
        keep=("town",),
        suppressed="star",
        suppressed_numbers="median",
        seconds=3600,
        order="kept",
    )
    release = anonymize(rows, policy("age", "town"), plan=wanted)
    assert release.suppressed >= 4
    release.save(tmp_path / "out.csv")
    last = shown(release).to_pylist()[-4:]
    assert all(row == last[0] and row["town"] == "*" and row["age"] != "*" for row in last)


# ── settings ─────────────────────────────────────────────────────────────────────────────────────────


def test_records_that_are_left_out_show_no_statistic() -> None:
    with pytest.raises(InvalidParameter, match="left out"):
        anonymize(pa.table({"age": [1, 2]}), policy("age"), plan=Plan(suppressed_numbers="mean"))


def test_the_policy_file_has_the_setting() -> None:
    written = loads('[anonymize]\nsuppressed = "star"\nsuppressed_numbers = "median"\n')
    assert written.plan.suppressed_numbers == "median"
    assert loads(dumps(written)).plan == written.plan


def test_without_released_numbers_it_is_a_star() -> None:
    rows = pa.table({"age": [20, 30, 40, 95, 96, 97], "town": [*"aaabcd"]})
    release = anonymize(
        rows,
        policy("age", "town"),
        plan=Plan(
            keep=("town",),
            suppress_attributes=("age",),
            suppressed="star",
            suppressed_numbers="mean",
            suppression_limit=0.5,
        ),
    )
    assert shown(release)["age"].to_pylist() == ["*"] * 6
    assert any("no released number" in note for note in release.notes)
