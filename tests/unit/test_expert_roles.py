"""Suggested roles agree with what an expert says of each column, on tables that the rules were not mended for."""

from __future__ import annotations

import csv
import random
import tomllib
from collections.abc import Iterator
from datetime import date, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

import discreet
from discreet.policy.suggest import NOT_SURE, suggest

EXPERT = tomllib.loads((Path(__file__).parent.parent / "data" / "expert_roles.toml").read_text("utf-8"))[
    "table"
]
LEAST = {
    "tuned": 0.95,
    "published": 0.95,
    "held-out": 0.95,
    "published later": 0.95,
    "published last": 0.95,
    "offices": 0.95,
}
"""At its first run the last of them reached 97 of 100, and no rule was changed for it."""
ROWS = 300
GIVEN = [
    "Anna",
    "Bernd",
    "Carla",
    "David",
    "Elena",
    "Frank",
    "Greta",
    "Hans",
    "Irene",
    "Jonas",
    "Karla",
    "Lukas",
    "Maria",
    "Nils",
    "Olga",
    "Paul",
]
SURNAMES = [
    "Schmidt",
    "Müller",
    "Rossi",
    "Smith",
    "Weber",
    "Johnson",
    "Fischer",
    "Meyer",
    "Wagner",
    "Brown",
    "Becker",
    "Schulz",
    "Koch",
    "Bauer",
]


def drawn(values: str, chance: random.Random) -> str:
    """One value as the description of a published table says."""
    if ".." in values:
        first, last = map(int, values.split(".."))
        return str(chance.randint(first, last))
    day = date(2014, 1, 1) + timedelta(days=chance.randrange(2_000))
    kinds = {
        "person": f"{chance.choice(SURNAMES)}, {chance.choice(GIVEN)} {chance.choice(GIVEN)[0]}.",
        "given": chance.choice(GIVEN),
        "surname": chance.choice(SURNAMES),
        "code": f"{chance.choice('ABCP')}{chance.choice('CX')} {chance.randrange(2_000, 400_000)}",
        "case": f"{day.year % 100}00{chance.randrange(10_000, 99_999)}CF10A",
        "date": day.isoformat(),
        "birth": (day - timedelta(days=365 * chance.randrange(18, 80))).isoformat(),
        "moment": str(datetime(day.year, day.month, day.day, chance.randrange(24), chance.randrange(60))),
        "person-id": str(chance.randrange(10_000, 10_000 + ROWS // 2)),
    }
    if values in kinds:
        return kinds[values]
    return chance.choice(values.split("|"))


def rows(table: dict[str, Any], path: Path) -> Path:
    """A file with rows as the description of a published table says."""
    chance = random.Random(1)
    with path.open("w", encoding="utf-8", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(column["name"] for column in table["columns"])
        for i in range(ROWS):
            writer.writerow(
                4_000 + 7 * i if column["values"] == "id" else drawn(column["values"], chance)
                for column in table["columns"]
            )
    return path


def answers(table: dict[str, Any], folder: Path, scratch: Path) -> Iterator[tuple[str, str, bool, str]]:
    """Every column with what is suggested, whether an expert agrees, and what the expert says."""
    published = all("values" in column for column in table["columns"])
    policy = suggest(discreet.read(rows(table, scratch) if published else folder / table["file"]))
    assert list(policy.names) == [column["name"] for column in table["columns"]], table["file"]
    for column in table["columns"]:
        suggested = policy.column(column["name"])
        assert suggested is not None
        unsure = suggested.reason.startswith(NOT_SURE)
        wanted = {column["role"], *column.get("also", ())}
        agrees = suggested.role in wanted or (unsure and "unsure" in wanted)
        yield column["name"], "not sure" if unsure else suggested.role, agrees, column["role"]


@pytest.mark.slow
@pytest.mark.parametrize("split", LEAST)
def test_suggested_roles_are_those_of_an_expert(split: str, data_dir: Path, tmp_path: Path) -> None:
    right, total, wrong = 0, 0, []
    for table in EXPERT:
        if table["split"] != split:
            continue
        for name, role, agrees, expert in answers(table, data_dir, tmp_path / "rows.csv"):
            total, right = total + 1, right + agrees
            wrong += [] if agrees else [f"{table['file']} {name}: {role}, expert: {expert}"]
    print(f"{split}: {right} of {total} columns, {right / total:.1%}", *wrong, sep="\n  ")
    assert right >= LEAST[split] * total, "\n".join(wrong)
