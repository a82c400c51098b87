"""Few rows are coded outside the engine, many by its statements: both must say the same."""

from __future__ import annotations

import datetime as dt
import itertools
import random
from collections.abc import Iterator
from decimal import Decimal
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest

import discreet
from discreet.classes import EquivalenceClasses
from discreet.engine.duckdb import DuckDBEngine
from discreet.errors import UnsuitableColumn
from discreet.table import Table
from helpers.profiles import seeds

EVERY_TYPE = pa.table(
    {
        "text": ["b", "Ä", None, "a", "", "B", "a", "b"],
        "digits": ["10", "9", "?", "NA", "1e1", "9", "", "09"],
        "whole": pa.array([3, -1, None, 3, 0, 7, 7, 3], pa.int32()),
        "number": [0.0, -0.0, float("nan"), None, 1.5, -2.0, 1.5, 0.0],
        "flag": [True, False, None, True, True, False, False, True],
        "day": [dt.date(2020, 1, d) for d in (3, 1, 2, 2, 3, 1, 3, 3)],
        "moment": [dt.datetime(2020, 1, 1, h) for h in (5, 1, 2, 1, 1, 9, 9, 5)],
        "exact": [Decimal(v) for v in ("1.10", "0.20", "1.10", "3.00", "0.20", "9.99", "1.10", "1.10")],
        "list": [["b", "a"], ["a", "b"], [], None, ["c"], ["c"], ["a"], ["a", "b"]],
        "one": ["same"] * 8,
    }
)
NAMES = EVERY_TYPE.column_names


class ByStatements(DuckDBEngine):
    """DuckDB that takes every table for a large one."""

    few_rows = 0


@pytest.fixture(scope="module")
def engines() -> Iterator[tuple[DuckDBEngine, DuckDBEngine]]:
    made = DuckDBEngine(), ByStatements()
    yield made
    for engine in made:
        engine.close()


def opened(engines: tuple[DuckDBEngine, DuckDBEngine], source: object) -> list[Table]:
    return [discreet.read(source, engine=engine).retype({}) for engine in engines]  # type: ignore[arg-type]


def same(here: EquivalenceClasses, there: EquivalenceClasses) -> bool:
    """Whether two tables were counted alike: values, their order, codes, cells and persons."""
    domains = zip((*here.attributes, *here.sensitive), (*there.attributes, *there.sensitive), strict=True)
    if not all(a == b and a.values.equals(b.values) for a, b in domains):
        return False
    pairs = [
        *zip(here.codes, there.codes, strict=True),
        (here.indptr, there.indptr),
        (here.counts, there.counts),
    ]
    pairs += [(here.sensitive_codes[name], there.sensitive_codes[name]) for name in here.sensitive_codes]
    if here.person_codes is not None and there.person_codes is not None:
        pairs.append((here.person_codes, there.person_codes))
    return all(a.dtype == b.dtype and np.array_equal(a, b) for a, b in pairs)


def test_every_type_is_counted_alike(engines: tuple[DuckDBEngine, DuckDBEngine]) -> None:
    few, many = opened(engines, EVERY_TYPE)
    for names in [*itertools.permutations(NAMES, 2), tuple(NAMES)]:
        asked = {"quasi_identifiers": names[:-1], "sensitive": names[-1:]}
        assert same(few.engine.count(few, **asked), many.engine.count(many, **asked)), names


def test_texts_that_are_numbers_are_in_their_order(
    engines: tuple[DuckDBEngine, DuckDBEngine], tmp_path: Path
) -> None:
    path = tmp_path / "people.csv"
    path.write_text("age,sex\n10,f\n9,m\n?,f\n100,m\nNA,f\n9,f\n", encoding="utf-8")
    for table in opened(engines, path):
        counted = table.engine.count(table, quasi_identifiers=["age"], sensitive=["sex"])
        assert counted.attributes[0].values.to_pylist() == ["9", "10", "100", "?", "NA"]
        assert counted.records.tolist() == [2, 1, 1, 1, 1]


def test_infinite_values_are_refused_by_name(engines: tuple[DuckDBEngine, DuckDBEngine]) -> None:
    for table in opened(engines, pa.table({"x": [1.0, float("inf")]})):
        with pytest.raises(UnsuitableColumn, match="'x' holds infinite values"):
            table.engine.count(table, quasi_identifiers=["x"])


@seeds(20)
def test_random_tables_are_counted_and_recoded_alike(
    engines: tuple[DuckDBEngine, DuckDBEngine], seed: int
) -> None:
    draw = random.Random(seed)
    rows = draw.randint(1, 60)
    values = {
        "city": ["Ulm", "Aachen", "", "ä", None],
        "age": [*range(5), None],
        "pay": [0.0, -0.0, 1.5, float("nan")],
    }
    columns = {name: [draw.choice(some) for _ in range(rows)] for name, some in values.items()}
    person = [draw.randint(1, 9) for _ in range(rows)]
    source = pa.table(
        {
            "city": pa.array(columns["city"], pa.string()),
            "age": pa.array(columns["age"], pa.int64()),
            "pay": pa.array(columns["pay"], pa.float64()),
            "person": person,
            "note": [f"n{i}" for i in range(rows)],
        }
    )
    results = []
    for table in opened(engines, source):
        engine = table.engine
        # Of a table that was drawn, places are not the numbers of its rows.
        table = engine.thin(table, 0.8, seed=seed) if rows > 30 else table
        counted = engine.count(table, quasi_identifiers=["city", "age"], sensitive=["pay"], person="person")
        kept = np.arange(len(counted)) % 3 != 1
        if not kept.any():
            return
        released = engine.recode(
            table,
            counted,
            values={"age": pa.array([f"class {i}" for i in range(len(counted))])},
            kept=kept,
            columns=["note", "person", "age", "city"],
            keys={"person": "secret"},
        )
        results.append((counted, engine.to_arrow(released), engine.places(released)))
    (few, few_rows, few_places), (many, many_rows, many_places) = results
    assert same(few, many)
    assert few_rows.equals(many_rows)
    assert few_places.tolist() == many_places.tolist()
