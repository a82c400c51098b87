"""Hierarchies: reading, writing, every kind of mistake, and how they are fitted to the values of a table."""

from __future__ import annotations

import csv
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest

from discreet.errors import InvalidHierarchy, UnreadableInput, UnsuitableColumn
from discreet.table import Domain
from discreet.table.hierarchies.hierarchy import Hierarchy, missing_values
from discreet.table.hierarchies.preview import preview

ZIPS = [["1010", "101*", "*"], ["1011", "101*", "*"], ["2020", "202*", "*"]]


def problems_of(rows: list[list[str]]) -> tuple[str, ...]:
    with pytest.raises(InvalidHierarchy) as caught:
        Hierarchy.of("zip", rows)
    for row in rows:
        for cell in row:
            assert len(cell) < 3 or cell not in str(caught.value)
    return caught.value.problems


def test_shape() -> None:
    zips = Hierarchy.of("zip", ZIPS)
    assert (zips.height, zips.leaves) == (2, 3)
    assert [zips.counts(level).tolist() for level in range(3)] == [[1, 1, 1], [2, 1], [3]]
    assert zips.rows() == [tuple(row) for row in ZIPS]
    assert zips.leaf_numbers is not None
    assert zips.leaf_numbers.tolist() == [1010, 1011, 2020]
    assert Hierarchy.of("job", [["cook", "*"]]).leaf_numbers is None


def test_ladder_of_a_table_that_has_fewer_values_and_nulls() -> None:
    domain = Domain("zip", pa.array(["1011", "2020"]), has_null=True)
    ladder = Hierarchy.of("zip", ZIPS).ladder(domain)
    assert [step.labels for step in ladder.steps] == [("1011", "2020", "∅"), ("101*", "202*", "∅"), ("*",)]
    assert [step.codes.tolist() for step in ladder.steps] == [[0, 1, 2], [0, 1, 2], [0, 0, 0]]
    # Shares count the leaves of the hierarchy, not those that the table happens to have.
    np.testing.assert_allclose(ladder.steps[1].shares, [2 / 3, 1 / 3, 1 / 3])
    assert ladder.recoding(1)[1].labels() == ["101*", "202*", "∅"]


def test_whole_floats_are_found_under_their_integer_form() -> None:
    ages = Hierarchy.of("age", [["7", "*"], ["8", "*"]])
    assert ages.ladder(Domain("age", pa.array([7.0, 8.0]))).steps[0].codes.tolist() == [0, 1]
    assert missing_values(["7", "8"], Domain("age", pa.array([7.0, 9.0]))) == [1]


def test_missing_values_are_counted_not_told() -> None:
    with pytest.raises(UnsuitableColumn, match="misses 1 of the 2 values") as caught:
        Hierarchy.of("zip", ZIPS).ladder(Domain("zip", pa.array(["1010", "secret"])))
    assert "secret" not in str(caught.value)


@pytest.mark.parametrize(
    ("rows", "told"),
    [
        ([], ["it has no lines"]),
        ([["1010"]], ["it has only one level: give at least the value and *, separated by a semicolon"]),
        ([[]], ["it has only one level: give at least the value and *, separated by a semicolon"]),
        ([["1010", "*"], ["1011", "101*", "*"]], ["line 2 has 3 levels where line 1 has 2"]),
        ([["1010", "*"], ["1010", "*"]], ["line 2 repeats the value of line 1"]),
        (
            [["1010", "aaa", "xxx", "*"], ["1011", "aaa", "yyy", "*"]],
            ["line 2: its level 1 has another parent than in line 1"],
        ),
        (
            [["1010", "*"], ["1011", "everything"]],
            ["the last level has 2 values; it must have one, usually *"],
        ),
        (
            [["1010", "101*", "1010", "*"]],
            ["line 1: level 2 goes back to the value of a lower level (a cycle)"],
        ),
    ],
)
def test_every_kind_of_mistake(rows: list[list[str]], told: list[str]) -> None:
    assert list(problems_of(rows)) == told


def test_all_mistakes_at_once_each_with_its_line() -> None:
    rows = [
        ["1010", "aaa", "xxx", "*"],
        ["1010", "aaa", "yyy", "*"],
        ["1011", "*"],
        ["1012", "bbb", "1012", "everything"],
    ]
    told = problems_of(rows)
    assert len(told) == 5
    assert [word for problem in told for word in ("line 2", "line 3", "line 4") if word in problem] == [
        "line 3",
        "line 2",
        "line 2",
        "line 4",
    ]


def test_lines_are_those_of_the_file(tmp_path: Path) -> None:
    path = tmp_path / "zip.csv"
    path.write_text('1010;*\n\n"10\n11";*\n1010;*\n')
    with pytest.raises(InvalidHierarchy) as caught:
        Hierarchy.read(path, "zip")
    assert caught.value.problems == ("line 5 repeats the value of line 1",)


def test_a_level_may_keep_the_label_of_the_one_below() -> None:
    assert Hierarchy.of("age", [["NIU", "NIU", "NIU", "*"], ["3", "0-4", "0-9", "*"]]).height == 3


@pytest.mark.parametrize(
    ("content", "told"),
    [(None, "there is no hierarchy file"), (b"\xff\xfe\x00", "could not be read"), (b"\n\n", "is empty")],
)
def test_files_that_cannot_be_read(tmp_path: Path, content: bytes | None, told: str) -> None:
    path = tmp_path / "zip.csv"
    if content is not None:
        path.write_bytes(content)
    with pytest.raises(UnreadableInput, match=told):
        Hierarchy.read(path, "zip")


def test_written_files_are_read_back(tmp_path: Path) -> None:
    rows = [["a;b", "x\ny", "*"], ['say "hi"', "", "*"], ["", " z ", "*"], ["ä", "{ä, +3}", "*"]]
    written = Hierarchy.of("odd", rows)
    path = tmp_path / "odd.csv"
    path.write_text(written.to_csv(), encoding="utf-8")
    assert Hierarchy.read(path, "odd").rows() == written.rows()


def test_levels_from_arrays() -> None:
    made = Hierarchy.of_levels("x", ["a", "b", "c"], [(np.array([0, 0, 1]), ["{a, b}", "c"])])
    assert made.rows() == [("a", "{a, b}", "*"), ("b", "{a, b}", "*"), ("c", "c", "*")]
    with pytest.raises(InvalidHierarchy, match="two nodes of one name"):
        Hierarchy.of_levels("x", ["a", "b"], [(np.array([0, 1]), ["y", "y"])])
    with pytest.raises(InvalidHierarchy, match="splits"):
        Hierarchy.of_levels(
            "x", ["a", "b", "c"], [(np.array([0, 0, 1]), ["p", "q"]), (np.array([0, 1, 1]), ["r", "s"])]
        )


def test_preview_counts_records_and_leaves() -> None:
    domain = Domain("zip", pa.array(["1010", "1011", "2020"]), has_null=True)
    ladder = Hierarchy.of("zip", ZIPS).ladder(domain)
    levels = preview(ladder, np.array([1, 4, 2, 1]))
    assert [(one.nodes, one.smallest, one.average, one.unique) for one in levels] == [
        (4, 1, 2.0, 0.25),
        (3, 1, 8 / 3, 0.125),
        (1, 8, 8.0, 0.0),
    ]
    assert levels[1].leaf_share == pytest.approx((5 * 2 / 3 + 2 / 3 + 1 / 3) / 8)


def test_the_files_of_arx_are_read_and_written_back(data_dir: Path, tmp_path: Path) -> None:
    files = sorted((data_dir / "arx" / "hierarchies").glob("*.csv"))
    assert len(files) == 35
    for file in files:
        with file.open(encoding="utf-8-sig", newline="") as stream:
            wanted = [tuple(row) for row in csv.reader(stream, delimiter=";") if row]
        made = Hierarchy.read(file, file.stem)
        assert made.rows() == wanted, file.name
        again = tmp_path / file.name
        again.write_text(made.to_csv(), encoding="utf-8")
        assert Hierarchy.read(again, file.stem).rows() == wanted, file.name
        for level in range(made.height + 1):
            assert made.counts(level).sum() == made.leaves


def test_the_hierarchies_of_arx_fit_their_data(data_dir: Path) -> None:
    import discreet

    table = discreet.read(data_dir / "arx" / "adult.csv.gz")
    for name in table.names:
        made = Hierarchy.read(data_dir / "arx" / "hierarchies" / f"adult_hierarchy_{name}.csv", name)
        ladder = made.ladder(table.engine.domain(table, name))
        assert ladder.steps[-1].labels == ("*",)
