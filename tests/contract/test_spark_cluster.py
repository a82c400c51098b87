"""Spark with workers of their own: the same releases as DuckDB, also when a worker dies on the way."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

import helpers
from discreet.engine.spark_session import session_type
from discreet.errors import MissingDependency
from helpers.absent import missing
from helpers.java import QUICK_JAVA


@pytest.mark.spark
@pytest.mark.slow
def test_a_cluster_gives_the_release_of_duckdb_also_after_a_worker_was_lost(tmp_path: Path) -> None:
    try:
        session_type()
    except MissingDependency as error:
        missing(str(error))
    script = Path(helpers.__file__).with_name("spark_cluster.py")
    work = tmp_path / "work"
    work.mkdir()
    done = subprocess.run(
        [sys.executable, "-P", str(script), str(tmp_path)],
        env={**os.environ, "JDK_JAVA_OPTIONS": QUICK_JAVA, "SPARK_WORKER_DIR": str(work)},
        cwd=work,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr[-3000:]
