"""A release made by a Spark of two workers, one of which dies, beside that of DuckDB: ``spark_cluster.py FOLDER``.

It runs in a process of its own: there is one Spark in each.
"""

from __future__ import annotations

import os
import signal
import sys
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet
from pyspark.sql import SparkSession

from discreet.engine.duckdb import DuckDBEngine
from discreet.engine.read import read
from discreet.engine.spark import SparkEngine
from discreet.policy import Policy
from discreet.policy.plan import Plan
from discreet.privacy import KAnonymity
from discreet.release.anonymize import anonymize
from discreet.release.audit import audit
from discreet.table import Table

POLICY = Policy.of(
    quasi_identifiers=["age", "town"],
    sensitive=["ill"],
    require=[KAnonymity(5)],
    profile="research-partner-3",
    unknown="keep",
)
PLAN = Plan(method="optimal", unexamined="keep", suppression_limit=0.1)


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


def rows(table: Table) -> list[str]:
    return sorted(map(str, table.engine.to_arrow(table).to_pylist()))


def compare(session: SparkSession, folder: Path) -> None:
    """Parquet in eight row groups, so that both workers have something to do."""
    cluster = SparkEngine(session=session)
    path = folder / "people.parquet"
    people = pa.table(
        {
            "age": [20 + (n * n) % 50 for n in range(4000)],
            "town": [f"t{n % 7}" for n in range(4000)],
            "ill": [["flu", "cold", None][n % 3] for n in range(4000)],
        }
    )
    pyarrow.parquet.write_table(people, path, row_group_size=500)
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
