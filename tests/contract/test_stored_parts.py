"""Every engine puts the same rows into the files of a folder; Spark's workers write them."""

from __future__ import annotations

import datetime as dt
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet
import pytest

import discreet
from discreet.engine.duckdb import DuckDBEngine
from discreet.engine.protocol import Engine
from discreet.engine.read import read
from discreet.privacy import KAnonymity
from discreet.release.targets import parts_of

ROWS = pa.table(
    {
        "age": [31, 34, None, 47, 31, 62] * 40,
        "town": ["Åre", "zürich", "Ahlen", "", None, "b"] * 40,
        "day": [dt.date(2020, 1, 1), None] * 120,
        "ill": ["flu", "cold", "flu", "asthma", "flu", None] * 40,
    }
)
POLICY = discreet.Policy.of(
    quasi_identifiers=["age", "town"], sensitive=["ill"], require=[KAnonymity(50)], unknown="keep"
)


def rows_of(table: pa.Table) -> list[str]:
    """Rows as texts, in an order of their own."""
    return sorted(map(str, table.to_pylist()))


def test_the_files_of_a_folder_hold_the_rows_and_nothing_else(engine: Engine, tmp_path: Path) -> None:
    table = read(ROWS, engine=engine)
    engine.store_parts(table, tmp_path)
    assert sorted(tmp_path.iterdir()) == parts_of(tmp_path)
    assert rows_of(pa.concat_tables(map(pyarrow.parquet.read_table, parts_of(tmp_path)))) == rows_of(ROWS)


def test_releases_are_the_same_rows_and_none_passes_through_memory(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A file of the release is the yardstick for the folder; that of Spark: `test_spark_frames`."""
    release = discreet.anonymize(ROWS, POLICY)
    release.save(tmp_path / "one.parquet")
    monkeypatch.setattr(DuckDBEngine, "to_arrow", None)
    release.save(f"{tmp_path}/several/")
    parts = pa.concat_tables(map(pyarrow.parquet.read_table, parts_of(tmp_path / "several")))
    assert rows_of(parts) == rows_of(pyarrow.parquet.read_table(tmp_path / "one.parquet"))
