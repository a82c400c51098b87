"""`discreet hierarchy`: what it writes and prints, and that it tells no value unless asked to."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from discreet.table.hierarchies.hierarchy import Hierarchy

Run = Any

PEOPLE = "age,job,born\n" + "".join(
    f"{age},{job},{year}-05-17\n"
    for age, job, year in [
        (17, "baker", 2007),
        (31, "cook", 1993),
        (34, "cook", 1990),
        (47, "judge", 1977),
        (47, "nurse", 1977),
        (93, "baker", 1931),
    ]
)


@pytest.fixture
def people(tmp_path: Path) -> Path:
    file = tmp_path / "people.csv"
    file.write_text(PEOPLE)
    return file


def test_the_group_lists_its_commands(run: Run) -> None:
    told = run("hierarchy")
    assert told.code == 0
    assert all(word in told.out for word in ("build", "show", "check"))


def test_build_writes_a_file_that_check_accepts(people: Path, tmp_path: Path, run: Run) -> None:
    target = tmp_path / "age.csv"
    told = run(
        "hierarchy",
        "build",
        people,
        "age",
        "--builder",
        "intervals",
        "--widths",
        "10,20",
        "--above",
        "90",
        "-o",
        target,
    )
    assert told.code == 0
    assert "built: intervals; 5 values, nodes per level 5 → 4 → 4 → 1" in told.out
    assert target.read_text().splitlines()[1] == "31;[30, 39];[20, 39];*"
    assert [path.name for path in tmp_path.iterdir() if ".part" in path.name] == []
    told = run("hierarchy", "check", people, "age", "--hierarchy", target)
    assert told.code == 0
    assert "covers all 5 values of age" in told.out


@pytest.mark.parametrize(
    ("column", "options", "line"),
    [
        ("age", ["--builder", "intervals", "--cuts", "18,30,90;30"], "31;[30, 89];>= 30;*"),
        ("age", ["--builder", "intervals", "--groups", "2"], "31;< 47;*"),
        (
            "age",
            ["--builder", "intervals", "--widths", "10", "--start", "5", "--below", "18"],
            "31;[25, 34];*",
        ),
        ("age", ["--builder", "rounding", "--steps", "5,10", "--direction", "down"], "31;30;30;*"),
        ("age", ["--builder", "order", "--sizes", "2"], "31;[17, 31];*"),
        (
            "job",
            ["--builder", "order", "--sizes", "2", "--order", "judge,cook,nurse,baker"],
            "cook;{judge, cook};*",
        ),
        (
            "job",
            ["--builder", "mask", "--characters", "2", "--side", "left", "--character", "#"],
            "cook;##ok;*",
        ),
        ("job", ["--builder", "mask", "--padding", "_", "--align", "right"], "cook;_coo*;*"),
        ("job", ["--builder", "zip", "--lengths", "2,1"], "cook;co***;c****;*"),
        ("job", ["--builder", "flat"], "cook;*"),
        ("born", ["--builder", "dates", "--levels", "month,year"], "1931-05-17;1931-05;1931;*"),
        ("job", ["--builder", "learn", "--type", "ordinal"], "cook;{cook, judge, nurse};*"),
    ],
)
def test_every_builder_and_option(people: Path, run: Run, column: str, options: list[str], line: str) -> None:
    told = run("hierarchy", "build", people, column, *options)
    assert told.code == 0, told.err
    assert line in told.out.splitlines()


def test_without_a_builder_it_is_learned(people: Path, tmp_path: Path, run: Run) -> None:
    assert "learned from the data" in run("hierarchy", "build", people, "job", "-o", tmp_path / "job.csv").out
    assert Hierarchy.read(tmp_path / "job.csv", "job").leaves == 4


def test_a_policy_says_how(people: Path, tmp_path: Path, run: Run) -> None:
    policy = tmp_path / "policy.toml"
    policy.write_text(
        '[columns.job]\nrole = "quasi-identifier"\n'
        'hierarchy = {builder = "sets", levels = [{food = ["baker", "cook"]}]}\n'
        '[columns.age]\nrole = "quasi-identifier"\ntype = "integer"\n'
    )
    assert "cook;food;*" in run("hierarchy", "build", people, "job", "--policy", policy).out
    assert "built: sets" in run("hierarchy", "show", people, "job", "-p", policy).out
    assert "learned" in run("hierarchy", "show", people, "age", "-p", policy).out
    told = run("hierarchy", "show", people, "born", "-p", policy)
    assert told.code == 2
    assert "there is no column 'born'" in told.err


def test_show_prints_a_tree_and_a_table(people: Path, tmp_path: Path, run: Run) -> None:
    file = tmp_path / "age.csv"
    run("hierarchy", "build", people, "age", "--builder", "intervals", "--widths", "50", "-o", file)
    told = run("hierarchy", "show", people, "age", "--hierarchy", file)
    assert told.code == 0
    assert "read from age.csv" in told.out
    assert "├── [0, 49]  4 values" in told.out
    assert "└── … 1 more" in told.out
    rows = [line.split() for line in told.out.splitlines() if line.strip()[:1].isdigit()]
    # Level, nodes, smallest and average group, unique records, mean leaf share.
    assert rows == [
        ["0", "5", "1", "1.2", "66.7%", "0.2"],
        ["1", "2", "1", "3.0", "16.7%", "0.7"],
        ["2", "1", "6", "6.0", "0.0%", "1"],
    ]


def test_check_lists_everything_and_tells_values_only_when_asked(
    people: Path, tmp_path: Path, run: Run
) -> None:
    file = tmp_path / "job.csv"
    file.write_text("baker;food;all;*\n\ncook;food;some;*\ncook;law;all;*\nrough;*\n")
    told = run("hierarchy", "check", people, "job", "--hierarchy", file)
    assert told.code == 2
    assert told.out.splitlines() == [
        "✘ line 5 has 2 levels where line 1 has 4",
        "✘ line 4 repeats the value of line 3",
        "✘ line 3: its level 1 has another parent than in line 1",
        "✘ it misses 2 of the 4 values of job; they stand in 2 of 6 records; --show-values lists them",
        "job.csv has 4 problems",
    ]
    for value in ("judge", "nurse", "cook", "baker"):
        assert value not in told.said
    shown = run("hierarchy", "check", people, "job", "--hierarchy", file, "--show-values")
    assert shown.code == 2
    assert "    judge\n    nurse\n" in shown.out


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        (["age", "--widths", "5"], "--widths belong to a builder"),
        (["age", "--builder", "intervals", "--widths", "5,x"], "--widths must be numbers"),
        (["age", "--builder", "intervals", "--widths", "5,7"], "do not nest"),
        (["age", "--builder", "flat", "--widths", "5"], "flat has no parameter widths"),
        (["age", "--builder", "sets"], "pass --policy"),
        (["agee"], "did you mean 'age'?"),
        (["job", "--builder", "intervals", "--widths", "5"], "not numbers"),
        (["age", "-o", "nowhere/age.csv"], "there is no folder"),
        (["age", "--policy", "nowhere.toml"], "there is no policy file"),
    ],
)
def test_what_is_wrong_is_said_in_one_message(
    people: Path, run: Run, arguments: list[str], told: str
) -> None:
    found = run("hierarchy", "build", people, *arguments)
    assert found.code == 2
    assert told in found.err
    assert "internal" not in found.err


def test_files_are_not_overwritten_and_not_mixed_with_builders(
    people: Path, tmp_path: Path, run: Run
) -> None:
    file = tmp_path / "age.csv"
    file.write_text("mine")
    assert "exists already" in run("hierarchy", "build", people, "age", "-o", file).err
    assert file.read_text() == "mine"
    assert run("hierarchy", "build", people, "age", "-o", file, "--force").code == 0
    told = run("hierarchy", "show", people, "age", "--hierarchy", file, "--builder", "flat")
    assert told.code == 2
    assert "leave out --hierarchy" in told.err
    assert run("hierarchy", "check", people, "age").code == 2
    assert (
        "there is no hierarchy file" in run("hierarchy", "check", people, "age", "--hierarchy", "no.csv").err
    )
