"""A release made by a Spark of two workers, one of which dies, beside that of DuckDB: ``python -m helpers.spark_cluster FOLDER``.

It runs in a process of its own: there is one Spark in each.
"""

from __future__ import annotations

import os
import signal
import sys
from pathlib import Path

import pyarrow.parquet
from pyspark.sql import SparkSession

from discreet.engine.duckdb import DuckDBEngine
from discreet.engine.read import read
from discreet.engine.spark import SparkEngine
from discreet.release.anonymize import anonymize
from discreet.release.audit import audit
from helpers.spark_people import PLAN, POLICY, rows, write_people


def started() -> SparkSession:
    """Two workers with one core and 2 GB each, as processes of their own."""
    session = (
        SparkSession.builder.master("local-cluster[2,1,2048]")
        .config("spark.ui.enabled", "false")
        .config("spark.driver.host", "127.0.0.1")
        .config("spark.executor.memory", "1g")
        .config("spark.sql.shuffle.partitions", "2")
        .getOrCreate()
    )
    session.sparkContext.setLogLevel("OFF")
    return session


def executors(application: str) -> list[int]:
    """The processes that work for one application."""
    found = []
    for process in Path("/proc").iterdir():
        if process.name.isdigit():
            try:
                command = (process / "cmdline").read_bytes()
            except OSError:
                continue
            if b"CoarseGrainedExecutorBackend" in command and application.encode() in command:
                found.append(int(process.name))
    return found


def compare(session: SparkSession, folder: Path) -> None:
    """The release of a cluster beside that of DuckDB, before and after one of two workers is killed."""
    cluster = SparkEngine(session=session)
    path = write_people(folder)
    here = DuckDBEngine()
    wanted = anonymize(read(path, engine=here), POLICY, plan=PLAN)
    table = read(path, engine=cluster)
    assert audit(table, POLICY).measure("k-anonymity").value == wanted.before.measure("k-anonymity").value
    release = anonymize(table, POLICY, plan=PLAN)
    assert release.recipe == wanted.recipe
    assert rows(release.table) == rows(wanted.table)

    application = session.sparkContext.applicationId
    working = executors(application)
    assert len(working) == 2
    # What the release holds was kept by both; half of it is lost now and made again.
    os.kill(working[0], signal.SIGKILL)
    saved = release.save(folder / "release.parquet")
    assert sorted(map(str, pyarrow.parquet.read_table(saved).to_pylist())) == rows(wanted.table)
    again = anonymize(read(path, engine=cluster), POLICY, plan=PLAN)
    assert rows(again.table) == rows(wanted.table)
    assert again.links.tolist() != []
    here.close()
    cluster.close()


if __name__ == "__main__":
    spark = started()
    try:
        compare(spark, Path(sys.argv[1]))
    finally:
        spark.stop()
