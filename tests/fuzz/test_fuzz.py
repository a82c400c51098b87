"""Three hundred of what `make fuzz` tries by the thousand: see `fuzz.py`."""

from __future__ import annotations

from pathlib import Path

import pytest

pytest.importorskip("fastapi")

from broken_files import try_file
from kills import Kills
from random_commands import Commands
from random_kinds import attempt
from random_releases import mistakes, random_case, release, rows_of
from random_requests import Attack, page

RELEASES = range(70)
LARGE = range(1000, 1015)
ODD = range(30)
FILES = range(25)
COMMANDS = range(35)
REQUESTS = range(160)
KILLS = range(3)


def test_no_random_release_breaks_its_policy(tmp_path: Path) -> None:
    wrong = {seed: told for seed in RELEASES if (told := release(seed, tmp_path))}
    assert wrong == {}


def test_nor_does_one_that_goes_the_way_of_many_rows(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Labels as numbers, the engine's own hash, and Parquet written by the engine, as for more than a million rows."""
    for place in ("engine.counting.MANY_ROWS", "engine.sql.MANY_ROWS", "release.targets.STREAMED_ROWS"):
        monkeypatch.setattr(f"discreet.{place}", 1)
    wrong = {seed: told for seed in LARGE if (told := release(seed, tmp_path))}
    assert wrong == {}


def test_columns_of_any_kind_and_name_go_the_whole_way(tmp_path: Path) -> None:
    wrong = {seed: told for seed in ODD if (told := attempt(seed, tmp_path))}
    assert wrong == {}


def test_the_loops_see_what_is_wrong(tmp_path: Path) -> None:
    """A table as it is, as if it were its release: nearly every one breaks what was asked of it."""
    broken = 0
    for seed in range(100):
        case = random_case(seed)
        place = tmp_path / "table.csv"
        lines = [",".join(case.table.rows[0])]
        lines += [
            ",".join(str(value).replace(",", " ").replace("\n", " ") for value in row.values())
            for row in case.table.rows
        ]
        place.write_text("\n".join(lines).replace('"', ""), encoding="utf-8")
        broken += bool(mistakes(case, rows_of(place)))
    assert broken > 80


def test_no_broken_file_is_a_mistake_of_the_program(tmp_path: Path) -> None:
    wrong = {seed: told for seed in FILES if (told := try_file(seed, tmp_path))}
    assert wrong == {}


def test_no_random_command_is_a_mistake_of_the_program(tmp_path: Path) -> None:
    commands = Commands(tmp_path)
    wrong = {seed: told for seed in COMMANDS if (told := commands.attempt(seed))}
    assert wrong == {}


def test_a_kill_leaves_the_old_file_or_the_new_one(tmp_path: Path) -> None:
    killed = Kills(tmp_path)
    wrong = {seed: told for seed in KILLS if (told := killed.attempt(seed))}
    assert wrong == {}


def test_no_random_request_is_a_server_error() -> None:
    with page() as there:
        attack = Attack(there)
        wrong = {seed: told for seed in REQUESTS if (told := attack.request(seed))}
    assert wrong == {}
    # They did reach what is behind the door.
    assert attack.statuses[200] > len(REQUESTS) // 20
