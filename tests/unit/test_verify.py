"""A written file is believed only after it was read back: nulls, blanks, and files that somebody changed."""

from __future__ import annotations

import datetime as dt
from dataclasses import replace
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet
import pytest

from discreet.engine.read import read
from discreet.errors import InvalidParameter, RequirementNotMet
from discreet.files.writing import atomically
from discreet.policy import Policy
from discreet.policy.plan import Plan
from discreet.privacy import KAnonymity, LDiversity, PrivacyModel, TCloseness
from discreet.release import tally
from discreet.release import targets as module
from discreet.release.anonymize import anonymize
from discreet.release.check import check
from discreet.release.verify import Verification, read_back, verify
from discreet.release.write import SUFFIXES, write_rows
from discreet.table import Table

SIX = pa.table(
    {
        "city": ["a", "a", "a", "b", "b", "b"],
        "ill": ["flu", "cold", "flu", "flu", "cold", "flu"],
    }
)
POLICY = replace(
    Policy.of(
        quasi_identifiers=["city"],
        sensitive=["ill"],
        require=[KAnonymity(3), LDiversity(2, "ill")],
        profile="research-partner-3",
        unknown="keep",
    ),
    plan=Plan(unexamined="keep", order="kept"),
)


def asked(
    rows: pa.Table, *models: PrivacyModel, original: dict[str, dict[str | None, int]] | None = None
) -> tuple[str, ...]:
    return verify(
        rows, models, quasi_identifiers=["city"], person=None, original=original or {}, starred=False
    ).failures


# ── blanks ───────────────────────────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize("suffix", [s for s in SUFFIXES if s != ".xlsx"])
@pytest.mark.parametrize(
    "values",
    [["a", None, "", "a", None, ""], [None, None, ""], ["NA", "null", "", "nan", None], ["", ""], [None]],
)
def test_a_null_and_an_empty_text_come_back_as_what_they_are(
    tmp_path: Path, suffix: str, values: list[str | None]
) -> None:
    for name, rows in {
        "alone": pa.table({"city": pa.array(values, pa.string())}),
        "beside": pa.table({"city": pa.array(values, pa.string()), "n": range(len(values))}),
    }.items():
        path = tmp_path / f"{name}{suffix}"
        write_rows(rows, path)
        assert read_back(path)["city"].to_pylist() == values


def test_a_null_and_an_empty_text_are_two_classes_of_a_text_file(tmp_path: Path) -> None:
    path = tmp_path / "out.csv"
    write_rows(pa.table({"city": ["", "", "", None]}), path)
    assert asked(read_back(path), KAnonymity(2)) == ("every class has at least 2 persons: 1 classes fail",)


def test_a_spreadsheet_has_one_kind_of_empty_cell(tmp_path: Path) -> None:
    path = tmp_path / "out.xlsx"
    write_rows(pa.table({"city": ["a", "", None, "b"], "ill": ["x", "z", "z", "y"]}), path)
    assert read_back(path).to_pydict() == {"city": ["a", None, None, "b"], "ill": ["x", "z", "z", "y"]}


@pytest.mark.parametrize("suffix", [".csv", ".xlsx"])
def test_a_diversity_of_blanks_is_none_where_readers_see_one_value(tmp_path: Path, suffix: str) -> None:
    rows = pa.table({"city": ["a"] * 4, "ill": ["", None, "", None]})
    release = anonymize(rows, POLICY.replace(profile="research-partner-3"))
    release.save(tmp_path / "kept.parquet")
    with pytest.raises(RequirementNotMet, match="2 different values of 'ill'"):
        release.save(tmp_path / f"merged{suffix}")
    assert [path.name for path in tmp_path.iterdir()] == ["kept.parquet"]


# ── values ───────────────────────────────────────────────────────────────────────────────────────────

MOMENT = dt.datetime(2020, 1, 1, 12)
TYPED = {
    "text that looks like numbers": pa.array(["1", "01", "1.0", "1", "01", "1.0"]),
    "numbers": pa.array([1.0, 2.5, 1e15, 1.0, 2.5, 1e15]),
    "integers": pa.array([1, 2**60, None, 1, 2**60, None]),
    "decimals": pa.array([1, 2, 3, 1, 2, 3], pa.decimal128(5, 2)),
    "truth": pa.array([True, False, None, True, False, None]),
    "days": pa.array([dt.date(1850, 1, 1), dt.date(2020, 1, 1), None] * 2),
    "moments": pa.array([MOMENT, None, MOMENT + dt.timedelta(hours=1)] * 2),
    "moments of a zone": pa.array([MOMENT, None, None] * 2, pa.timestamp("us", "Europe/Berlin")),
    "signs": pa.array(["∅", "=1+1", 'a"b,c\n', "∅", "=1+1", 'a"b,c\n']),
}


@pytest.mark.slow
@pytest.mark.parametrize("suffix", [".csv", ".tsv", ".parquet", ".feather", ".xlsx"])
@pytest.mark.parametrize("kind", TYPED)
def test_sensitive_values_are_recognised_in_every_format(tmp_path: Path, suffix: str, kind: str) -> None:
    rows = SIX.set_column(1, "ill", TYPED[kind])
    policy = Policy.of(
        quasi_identifiers=["city"],
        sensitive=["ill"],
        require=[KAnonymity(3), LDiversity(2, "ill"), TCloseness(0.01, "ill")],
        profile="research-partner-3",
    )
    anonymize(rows, policy).save(tmp_path / f"out{suffix}")


@pytest.mark.parametrize("suffix", [".parquet", ".csv"])
def test_lists_are_verified_or_refused(tmp_path: Path, suffix: str) -> None:
    ill = pa.array([["flu", "cold"], ["flu"], ["flu"]] * 2)
    release = anonymize(SIX.set_column(1, "ill", ill), POLICY)
    if suffix == ".csv":
        with pytest.raises(InvalidParameter, match="'ill' holds lists"):
            release.save(tmp_path / "out.csv")
        assert not list(tmp_path.iterdir())
    else:
        release.save(tmp_path / "out.parquet")
        assert read_back(tmp_path / "out.parquet")["ill"].to_pylist() == ill.to_pylist()


def test_lists_as_quasi_identifiers_are_shown_as_they_were_counted(tmp_path: Path) -> None:
    rows = pa.table({"tags": [["x", "y"], ["y", "x"], ["x", "y"]]})
    policy = Policy.of(quasi_identifiers=["tags"], require=[KAnonymity(3)], profile="research-partner-3")
    anonymize(rows, policy).save(tmp_path / "out.csv")
    assert (tmp_path / "out.csv").read_text() == '"tags"\n' + '"x, y"\n' * 3


def test_a_spreadsheet_refuses_control_characters(tmp_path: Path) -> None:
    for sign in ("\x01", "\x00", "\ufffe"):
        rows = SIX.append_column("remark", pa.array([f"a{sign}"] * 6))
        with pytest.raises(InvalidParameter, match="'remark' holds control characters"):
            anonymize(rows, POLICY).save(tmp_path / "out.xlsx")
    assert not list(tmp_path.iterdir())


def test_a_spreadsheet_keeps_every_other_sign(tmp_path: Path) -> None:
    remarks = ["a\rb", "a\r\nb", "_x000D_", " a ", "=1+1", "_x_x000D_"]
    anonymize(SIX.append_column("remark", pa.array(remarks)), POLICY).save(tmp_path / "out.xlsx")
    assert read_back(tmp_path / "out.xlsx")["remark"].to_pylist() == remarks


def test_a_spreadsheet_refuses_what_it_would_cut_off(tmp_path: Path) -> None:
    rows = SIX.append_column("remark", pa.array(["a" * 32_768, *"abcde"]))
    with pytest.raises(InvalidParameter, match="'remark' holds texts of more than 32,767"):
        anonymize(rows, POLICY).save(tmp_path / "out.xlsx")
    assert not list(tmp_path.iterdir())


def test_a_spreadsheet_refuses_records_for_which_it_has_no_row(tmp_path: Path) -> None:
    """Whoever reads a sheet takes an empty row for no record, as we do: the release would have one person fewer."""
    rows = pa.table({"age": [None, None, 30, 30], "ill": ["", None, "flu", "flu"]})
    policy = Policy.of(
        quasi_identifiers=["age"], sensitive=["ill"], require=[KAnonymity(2)], profile="research-partner-3"
    )
    release = anonymize(pa.concat_tables([rows, rows]), policy)
    with pytest.raises(
        InvalidParameter, match=r"in 4 records every value is missing.*write \.parquet or \.csv"
    ):
        release.save(tmp_path / "out.xlsx")
    assert not list(tmp_path.iterdir())
    release.save(tmp_path / "out.csv")
    assert check(tmp_path / "out.csv", policy).passes


@pytest.mark.parametrize(
    "rows",
    [
        {"city": [None] * 6, "ill": ["a", "a", "b", "a", "b", "*"]},
        {"city": ["x", "x", "x", "*", "*", "*"], "ill": ["a", "a", "b", "b", "a", None]},
    ],
)
def test_a_record_of_a_spreadsheet_that_shows_only_a_star_is_no_note(
    tmp_path: Path, rows: dict[str, list[str | None]]
) -> None:
    write_rows(
        pa.table(rows, schema=pa.schema([("city", pa.string()), ("ill", pa.string())])), tmp_path / "a.xlsx"
    )
    assert read(tmp_path / "a.xlsx").rows == 6


@pytest.mark.parametrize("suffix", [".csv", ".tsv"])
def test_a_text_file_refuses_nul_which_its_readers_would(tmp_path: Path, suffix: str) -> None:
    rows = SIX.append_column("remark", pa.array(["a\x00b", *"cdefg"]))
    release = anonymize(rows, POLICY)
    with pytest.raises(InvalidParameter, match=r"'remark' holds NUL characters.*write \.parquet"):
        release.save(tmp_path / f"out{suffix}")
    assert not list(tmp_path.iterdir())
    release.save(tmp_path / "out.parquet")
    assert read_back(tmp_path / "out.parquet")["remark"].to_pylist()[0] == "a\x00b"


# ── tampering ────────────────────────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize("suffix", [".csv", ".parquet", ".feather", ".xlsx"])
@pytest.mark.parametrize(
    ("told", "column", "changed"),
    [
        ("at least 3 persons", "city", ["a", "a", "a", "b", "b", "c"]),
        ("2 different values of 'ill'", "ill", ["flu", "flu", "flu", "cold", "flu", "cold"]),
        ("that the original does not have", "ill", ["flu", "cold", "flu", "flu", "cold", "plague"]),
    ],
)
def test_a_file_that_was_changed_never_appears(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, suffix: str, told: str, column: str, changed: list[str]
) -> None:
    def tampering(rows: pa.Table, path: Path) -> None:
        place = rows.column_names.index(column)
        write_rows(rows.set_column(place, column, pa.array(changed)), path)

    release = anonymize(SIX, POLICY)
    monkeypatch.setattr(module, "write_rows", tampering)
    with pytest.raises(RequirementNotMet, match=told):
        release.save(tmp_path / f"out{suffix}", recipe=tmp_path / "recipe.json")
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize(
    ("told", "change"),
    [
        ("5 of 6 rows", lambda rows: rows.slice(1)),
        ("other columns", lambda rows: rows.append_column("name", pa.array(list("uvwxyz")))),
        ("other columns", lambda rows: rows.drop_columns(["ill"])),
    ],
)
def test_rows_and_columns_are_counted(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, told: str, change: object
) -> None:
    assert callable(change)
    release = anonymize(SIX, POLICY)
    monkeypatch.setattr(module, "write_rows", lambda rows, path: write_rows(change(rows), path))
    with pytest.raises(RequirementNotMet, match=told):
        release.save(tmp_path / "out.csv")
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize("suffix", [".csv", ".parquet", ".feather"])
def test_a_damaged_file_never_appears(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, suffix: str) -> None:
    release = anonymize(SIX, POLICY)
    monkeypatch.setattr(module, "write_rows", lambda rows, path: path.write_bytes(b'"city"\n1,2,3\n"'))
    with pytest.raises(RequirementNotMet, match="cannot be read back"):
        release.save(tmp_path / f"out{suffix}")
    assert not list(tmp_path.iterdir())


def test_an_earlier_release_stays_when_the_new_one_fails(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    target = tmp_path / "out.csv"
    target.write_text("the earlier one")
    release = anonymize(SIX, POLICY)
    monkeypatch.setattr(module, "write_rows", lambda rows, path: write_rows(rows.slice(3), path))
    with pytest.raises(RequirementNotMet):
        release.save(target)
    assert target.read_text() == "the earlier one"


def test_an_interrupted_writer_leaves_nothing(tmp_path: Path) -> None:
    def interrupted(scratch: Path) -> None:
        scratch.write_text("half")
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        atomically(tmp_path / "out.csv", interrupted, lambda _: None)
    assert not list(tmp_path.iterdir())


# ── stars ────────────────────────────────────────────────────────────────────────────────────────────


def test_starred_records_are_a_class_like_any_other() -> None:
    """Four shown records are half flu, two are not shown and have none; the whole is one third flu."""
    rows = pa.table({"city": ["a", "a", "a", "a", "*", "*"], "ill": ["flu", "flu", "x", "x", "x", "x"]})

    def failures(k: int, most: float) -> tuple[str, ...]:
        return verify(
            rows,
            [KAnonymity(k), TCloseness(most, "ill")],
            quasi_identifiers=["city"],
            person=None,
            original={"ill": {"flu": 2, "x": 4}},
            starred=True,
        ).failures

    assert failures(2, 0.34) == ()
    assert len(failures(3, 0.34)) == len(failures(2, 0.33)) == 1


def test_a_release_of_nothing_but_stars_is_verified(tmp_path: Path) -> None:
    rows = pa.table({"day": [1, 2, 3, 4]})
    policy = Policy.of(quasi_identifiers=["day"], require=[KAnonymity(4)], profile="research-partner-3")
    anonymize(rows, policy, plan=Plan(suppressed="star", method="local")).save(tmp_path / "out.csv")
    assert (tmp_path / "out.csv").read_text() == '"day"\n' + '"*"\n' * 4


@pytest.mark.parametrize("suffix", SUFFIXES)
def test_what_is_not_a_number_is_empty_in_every_format(suffix: str, tmp_path: Path) -> None:
    """Three with NaN and three with a null are one class of six, and look alike in the release."""
    missing = [float("nan"), None, float("nan"), None, float("nan"), None]
    numbers = pa.array([*missing, *[5.0] * 6], from_pandas=False)
    table = pa.table({"pay": numbers, "ill": ["flu", "cold"] * 6, "score": numbers})
    policy = Policy.of(
        quasi_identifiers=["pay"],
        sensitive=["ill", "score"],
        require=[KAnonymity(6)],
        profile="research-partner-3",
    )
    target = anonymize(table, policy).save(tmp_path / f"out{suffix}")
    back = read_back(target)
    assert set(back["score"].to_pylist()) in ({None, 5.0}, {None, "5"}, {None, "5.0"})
    assert back["score"].null_count == 6


# ── many rows ────────────────────────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize("person", [None, "who"])
def test_batches_are_counted_like_one_table(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, person: str | None
) -> None:
    """Eight rows in four row groups, merged after every one; of two flus the original has, one is not shown."""
    rows = pa.table(
        {
            "city": ["a", "b", "a", None, "b", "a", None, "b"],
            "who": [1, 2, 1, 4, 5, 6, 7, 8],
            "ill": ["x", "x", "flu", None, "y", "x", "y", "x"],
        }
    )
    path = tmp_path / "rows.parquet"
    pyarrow.parquet.write_table(rows, path, row_group_size=2)
    monkeypatch.setattr(tally, "MERGED_AT", 1)
    original: dict[str, dict[str | None, int]] = {"ill": {"x": 4, "flu": 2, "y": 2, None: 1}}

    def verified(back: pa.Table | tally.RowBatches, k: int, most: float) -> Verification:
        return verify(
            back,
            [KAnonymity(k), TCloseness(most, "ill"), LDiversity(2, "ill")],
            quasi_identifiers=["city"],
            person=person,
            original=original,
            starred=False,
        )

    for k, most in ((2, 1.0), (3, 0.1)):
        told = verified(tally.RowBatches.of_parquet(path), k, most)
        assert told == verified(rows, k, most)
    # Cities a, b and none: 3, 3 and 2 rows; the first of two people if they are told apart.
    assert (told.rows, told.classes, told.smallest) == (8, 3, 2)
    assert len(told.failures) == 2
    assert verified(rows, 2, 1.0).holds


def test_more_rows_than_pass_through_here_are_written_by_the_engine(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The same rows come of it, and a file that somebody spoils on the way does not appear either."""
    release = anonymize(SIX, POLICY)
    release.save(tmp_path / "small.parquet")
    monkeypatch.setattr(module, "STREAMED_ROWS", 5)
    monkeypatch.setattr(module, "write_rows", None)
    release.save(tmp_path / "many.parquet")
    assert (
        read_back(tmp_path / "many.parquet").to_pydict() == read_back(tmp_path / "small.parquet").to_pydict()
    )

    def spoiling(table: Table, path: Path) -> None:
        write_rows(SIX.set_column(0, "city", pa.array(list("aaabbc"))), path)

    monkeypatch.setattr(release.table.engine, "store", spoiling)
    with pytest.raises(RequirementNotMet, match="at least 3 persons"):
        release.save(tmp_path / "spoilt.parquet")
    assert not (tmp_path / "spoilt.parquet").exists()


def test_numbers_with_many_digits_come_back_from_a_spreadsheet(tmp_path: Path) -> None:
    numbers = [n / 7 for n in range(1, 40)] + [0.1 + 0.2, 1e-300, 1.7976931348623157e308, -2.5, 3.0]
    write_rows(pa.table({"score": numbers}), tmp_path / "out.xlsx")
    back = read_back(tmp_path / "out.xlsx")["score"].to_pylist()
    assert [float(value) for value in back] == numbers
