"""Spark with workers of their own: the same releases as DuckDB, also when a worker dies on the way."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pyarrow.parquet
import pytest

import helpers
from discreet.engine.duckdb import DuckDBEngine
from discreet.engine.read import read
from discreet.engine.spark import SparkEngine
from discreet.engine.spark_session import session_type
from discreet.errors import MissingDependency
from discreet.release.anonymize import anonymize
from helpers.absent import missing
from helpers.java import QUICK_JAVA
from helpers.spark_people import PLAN, POLICY, rows, write_people

pytestmark = pytest.mark.spark


def test_kept_rows_that_are_lost_are_made_again(spark: SparkEngine, tmp_path: Path) -> None:
    """A worker that dies takes the kept rows with it; here they are taken from under the engine."""
    people = write_people(tmp_path)
    with_duckdb = DuckDBEngine()
    wanted = rows(anonymize(read(people, engine=with_duckdb), POLICY, plan=PLAN).table)
    with_duckdb.close()
    release = anonymize(read(people, engine=spark), POLICY, plan=PLAN)
    assert rows(release.table) == wanted

    kept = list(spark._session.sparkContext._jsc.getPersistentRDDs().values())
    assert kept
    for part in kept:
        part.unpersist(True)
    saved = release.save(tmp_path / "release.parquet")
    assert sorted(map(str, pyarrow.parquet.read_table(saved).to_pylist())) == wanted


@pytest.mark.walk
def test_a_cluster_gives_the_release_of_duckdb_also_after_a_worker_was_lost(tmp_path: Path) -> None:
    try:
        session_type()
    except MissingDependency as error:
        missing(str(error))
    tests = str(Path(helpers.__file__).parents[1])
    path = os.pathsep.join([tests, os.environ.get("PYTHONPATH", "")])
    work = tmp_path / "work"
    work.mkdir()
    done = subprocess.run(
        [sys.executable, "-m", "helpers.spark_cluster", str(tmp_path)],
        env={**os.environ, "PYTHONPATH": path, "JDK_JAVA_OPTIONS": QUICK_JAVA, "SPARK_WORKER_DIR": str(work)},
        cwd=work,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr[-3000:]
