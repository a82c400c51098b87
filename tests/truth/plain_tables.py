"""Random small tables as plain rows, and how many of them are tried: ``make truth N=1000`` for more."""

from __future__ import annotations

import os
import random
from dataclasses import dataclass

import pyarrow as pa

TABLES = int(os.environ.get("DISCREET_TRUTH", "25"))
"""How many random tables each comparison looks at."""

Value = int | str | None
Row = dict[str, Value]

CITIES = ("Aachen", "Bonn", "Celle", "Dresden", "Erfurt", "Fulda")
DISEASES = ("asthma", "bronchitis", "cold", "diabetes", "eczema")


@dataclass(frozen=True)
class PlainTable:
    """Rows with the names of their quasi-identifiers, sensitive attributes and, at event level, of the person."""

    rows: list[Row]
    quasi_identifiers: tuple[str, ...]
    sensitive: tuple[str, ...]
    person: str | None = None
    weight: str | None = None

    def to_arrow(self) -> pa.Table:
        integers = ("age", "nr", "pay", "person", "weight")
        types = dict.fromkeys(integers, pa.int64())
        return pa.table(
            {
                name: pa.array([row[name] for row in self.rows], types.get(name, pa.string()))
                for name in self.rows[0]
            }
        )


def random_table(
    seed: int, *, event_level: bool = False, nulls: bool = True, weighted: bool = False
) -> PlainTable:
    """A table of 1 to 40 rows with skewed values, few enough that classes of many sizes occur.

    With weights every person stands for 1 to 20 people, in all of the person's rows alike.
    """
    draw = random.Random(seed)
    size = draw.randint(1, 40)
    ages = [draw.randint(18, 80) for _ in range(draw.randint(1, 5))]
    cities = draw.sample(CITIES, draw.randint(1, 4))
    diseases = draw.sample(DISEASES, draw.randint(1, 5))
    pays = [draw.randint(0, 100) for _ in range(draw.randint(1, 6))]

    def skewed(values: list[int] | list[str]) -> Value:
        if nulls and draw.random() < 0.05:
            return None
        return values[min(int(draw.expovariate(1.0)), len(values) - 1)]

    rows: list[Row] = []
    for _ in range(size):
        row: Row = {
            "age": skewed(ages),
            "city": skewed(cities),
            "sex": draw.choice(["f", "m"]),
            "disease": skewed(diseases),
            "pay": skewed(pays),
        }
        if event_level:
            row["person"] = draw.randint(0, max(1, size // 2))
        rows.append(row)
    if weighted:
        persons = [row["person"] if event_level else at for at, row in enumerate(rows)]
        weights = {person: draw.randint(1, 20) for person in persons}
        for person, row in zip(persons, rows, strict=True):
            row["weight"] = weights[person]
    return PlainTable(
        rows,
        ("age", "city", "sex"),
        ("disease", "pay"),
        "person" if event_level else None,
        "weight" if weighted else None,
    )


def random_population(seed: int, table: PlainTable) -> PlainTable:
    """The people of a table and up to 60 more, with the quasi-identifiers only; one row for every person."""
    draw = random.Random(seed)
    names = table.quasi_identifiers
    rows = [{name: row[name] for name in names} for row in table.rows]
    rows += [{name: draw.choice(table.rows)[name] for name in names} for _ in range(draw.randint(0, 60))]
    draw.shuffle(rows)
    return PlainTable(rows, names, ())
