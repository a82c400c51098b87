"""A frame of Spark stays in Spark: counted there, changed there, and handed out as a frame of the same session."""

from __future__ import annotations

import datetime as dt
import gc
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet
import pytest

import discreet
from discreet.engine.duckdb import DuckDBEngine
from discreet.engine.spark import SparkEngine
from discreet.errors import RequirementNotMet, UnreadableInput
from discreet.policy.plan import Plan
from discreet.privacy import KAnonymity
from discreet.release.release import Release
from discreet.release.targets import parts_of
from discreet.table import Table
from helpers.spark_views import global_views

pytestmark = pytest.mark.spark

ROWS = pa.table(
    {
        "age": pa.array([31, 34, None, 47, 31, 62] * 40, pa.int32()),
        "town": ["Åre", "zürich", "Ahlen", "", None, "b"] * 40,
        "day": [dt.date(2020, 1, 1), None] * 120,
        "ill": ["flu", "cold", "flu", "asthma", "flu", None] * 40,
    }
)
POLICY = discreet.Policy.of(
    quasi_identifiers=["age", "town"], sensitive=["ill"], require=[KAnonymity(50)], unknown="keep"
)
PLAN = Plan(method="optimal", unexamined="keep")
SAMPLES = ("policy.examination.ROWS", "policy.suggest.RECOGNITION_ROWS", "engine.recognise.FIRST_LOOK_ROWS")
"""Of the rows themselves samples come here, to see what columns hold."""


@pytest.fixture(scope="module")
def session(spark: SparkEngine) -> Any:
    return spark._parent


@pytest.fixture(scope="module")
def made(session: Any) -> tuple[Release, int]:
    """A release of a frame, and the most rows that one answer of Spark brought here: of samples, which are small here."""
    kind = type(session.range(1))
    fetched, rows = kind.toArrow, []

    def fetch(frame: Any) -> pa.Table:
        table = fetched(frame)
        rows.append(table.num_rows)
        return table

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(kind, "toArrow", fetch)
        for sample in SAMPLES:
            patch.setattr(f"discreet.{sample}", 60)
        release = discreet.anonymize(session.createDataFrame(ROWS), POLICY, plan=PLAN)
    return release, max(rows)


def texts(rows: pa.Table) -> list[str]:
    return sorted(map(str, rows.to_pylist()))


def test_a_release_of_a_frame_is_made_there_and_is_that_of_duckdb(made: tuple[Release, int]) -> None:
    release, most = made
    wanted = discreet.anonymize(ROWS, POLICY, plan=PLAN)
    assert release.table.engine.name == "spark"
    assert most <= 60
    assert release.recipe == wanted.recipe
    assert texts(release.table.to_arrow()) == texts(wanted.table.to_arrow())


def test_what_is_handed_out_is_a_frame_of_the_session_that_lasts(
    made: tuple[Release, int], session: Any
) -> None:
    table = made[0].table
    there = discreet.read(table.engine._session.table(table.relation))  # type: ignore[attr-defined]
    released = made[0].to_native()
    assert released.sparkSession is session
    assert texts(released.toArrow()) == texts(table.to_arrow())
    assert dict(released.dtypes)["day"] == "date"
    assert global_views(session) == set()
    lasting = there.to_native()
    del there
    gc.collect()
    discreet.read(session.range(3))  # what nobody refers to any more is forgotten now
    assert lasting.count() == released.count() == table.rows


def test_its_workers_write_the_release_and_no_row_passes_through_memory(
    made: tuple[Release, int], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    wanted = texts(made[0].table.to_arrow())
    monkeypatch.setattr(SparkEngine, "to_arrow", None)
    made[0].save(f"{tmp_path}/several/")
    parts = parts_of(tmp_path / "several")
    assert texts(pa.concat_tables(map(pyarrow.parquet.read_table, parts))) == wanted


def test_rows_that_break_the_policy_are_not_handed_out(
    made: tuple[Release, int], monkeypatch: pytest.MonkeyPatch
) -> None:
    """They are checked as they come out, by a path of its own: here one has become another on the way."""
    shown = SparkEngine._rows_of

    def damaged(engine: SparkEngine, table: Table) -> Any:
        rows = shown(engine, table)
        return rows.offset(1).union(rows.limit(1).selectExpr("age", "'elsewhere' AS town", "day", "ill"))

    monkeypatch.setattr(SparkEngine, "_rows_of", damaged)
    with pytest.raises(RequirementNotMet, match="the release does not meet its requirements"):
        made[0].to_native()


def test_what_a_frame_draws_by_chance_is_drawn_once(session: Any) -> None:
    frame = session.range(500).selectExpr("id", "floor(rand() * 5) AS town", "CAST(NULL AS VOID) AS no")
    table = discreet.read(frame)
    first, second = (table.engine.count(table, quasi_identifiers=["town"]).records.tolist() for _ in "ab")
    assert first == second
    assert table.engine.to_arrow(table)["no"].null_count == 500


def test_a_frame_that_somebody_keeps_is_kept_on_and_its_session_as_it_was(session: Any) -> None:
    frame = session.createDataFrame(ROWS).persist()
    frame.count()
    names = "spark.sql.session.timeZone", "spark.sql.timestampType"
    before = [session.conf.get(name) for name in names]
    some, everything = discreet.read(frame, rows=100), discreet.read(frame)
    assert (some.rows, everything.rows) == (100, 240)
    frames = everything.engine._frames  # type: ignore[attr-defined]
    assert [frames[table.relation].storageLevel.useMemory for table in (some, everything)] == [True, False]
    other = session.range(50)
    read = discreet.read(other)
    assert not other.storageLevel.useMemory
    del some, everything, read
    gc.collect()
    discreet.read(session.range(3))
    assert frame.storageLevel.useMemory
    assert [session.conf.get(name) for name in names] == before
    frame.unpersist()


def test_whoever_names_another_engine_has_the_rows_there(session: Any) -> None:
    engine = DuckDBEngine()
    assert discreet.read(session.createDataFrame(ROWS), engine=engine).engine is engine
    engine.close()
    with pytest.raises(UnreadableInput, match="two columns called"):
        discreet.read(session.createDataFrame(ROWS).selectExpr("age", "town AS AGE"))
    with pytest.raises(UnreadableInput, match="stream"):
        discreet.read(session.readStream.format("rate").load())
