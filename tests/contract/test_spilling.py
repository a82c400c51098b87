"""A DuckDB that has too little memory for the rows puts them on disk, and answers as one that has enough."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest

import discreet
from discreet.engine.duckdb import DuckDBEngine
from discreet.engine.read import read
from discreet.policy.plan import Plan
from discreet.privacy import KAnonymity
from discreet.table import Table
from helpers.classes import same

ROW_COUNT = 30_000
POLICY = discreet.Policy.of(
    quasi_identifiers=["age", "zip", "job"],
    sensitive=["ill"],
    require=[KAnonymity(30)],
    profile="research-partner-3",
    unknown="keep",
)


@pytest.fixture(scope="module")
def people() -> pa.Table:
    """Some 40 MB of people, nearly all of it in a column that nobody changes."""
    rng = np.random.default_rng(1)
    notes = np.array([f"{n:032x}" * 40 for n in range(50)])
    columns = {
        "age": rng.integers(18, 38, ROW_COUNT),
        "zip": rng.integers(100, 110, ROW_COUNT),
        "job": rng.integers(0, 4, ROW_COUNT),
        "ill": np.array(["flu", "cold"])[rng.integers(0, 2, ROW_COUNT)],
        "who": rng.integers(0, ROW_COUNT // 2, ROW_COUNT),
        "note": notes[rng.integers(0, 50, ROW_COUNT)],
    }
    return pa.table(columns)


@pytest.fixture(scope="module")
def tables(people: pa.Table) -> Iterator[tuple[Table, Table]]:
    """The same rows where they fit and where they do not."""
    engines = DuckDBEngine(), DuckDBEngine(memory_limit="60MB", threads=1)
    # Twice: neither has room for the other.
    (ample, _), (scarce, _) = held = [[read(people, engine=engine) for _ in range(2)] for engine in engines]
    assert on_disk(scarce) > 0 == on_disk(ample)
    yield ample, scarce
    del held
    for engine in engines:
        engine.close()


def on_disk(table: Table) -> int:
    """Bytes of the engine's rows that lie on disk."""
    assert isinstance(table.engine, DuckDBEngine)
    told = table.engine._fetch("SELECT sum(temporary_storage_bytes) AS n FROM duckdb_memory()")
    return int(told["n"][0].as_py())


def test_rows_on_disk_are_counted_as_those_in_memory(tables: tuple[Table, Table]) -> None:
    ample, scarce = (
        table.engine.count(
            table, quasi_identifiers=["age", "zip", "job", "note"], sensitive=["ill"], person="who"
        )
        for table in tables
    )
    assert len(ample) > ROW_COUNT / 3
    same(scarce, ample)
    assert tables[0].engine.profile(tables[0]) == tables[1].engine.profile(tables[1])


def test_a_release_of_rows_on_disk_is_that_of_rows_in_memory(
    tables: tuple[Table, Table], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("discreet.policy.examination.ROWS", 500)
    plan = Plan(method="mondrian", unexamined="keep", suppression_limit=0.1)
    ample, scarce = (discreet.anonymize(table, POLICY, plan=plan) for table in tables)
    assert scarce.recipe == ample.recipe
    assert scarce.table.to_arrow().equals(ample.table.to_arrow())
    assert on_disk(scarce.table) > 0
    saved = [release.save(tmp_path / f"{at}.parquet") for at, release in enumerate((ample, scarce))]
    assert saved[0].read_bytes() == saved[1].read_bytes()
