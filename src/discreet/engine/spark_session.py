"""Starting Spark inside this machine, quietly, with everything it writes in a private directory."""

from __future__ import annotations

import logging
import os
import shutil
import subprocess
import threading
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING

from discreet.engine.limits import machine_memory, memory, threads
from discreet.errors import MissingDependency
from discreet.files.scratch import Scratch

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

JAVA_REMEDY = "install Java 17, e.g. apt install openjdk-17-jre-headless"

MEMORY_SHARE = 0.3
"""Share of the machine's memory that Spark may take: rows, workers and driver share one process here."""


def spark_errors() -> tuple[type[Exception], ...]:
    """What a query that Spark refuses can raise."""
    from py4j.protocol import Py4JJavaError  # type: ignore[import-untyped]
    from pyspark.errors import PySparkException

    return (Py4JJavaError, PySparkException)


class Silence:
    """Who wants no log of a logger, counted: it speaks again when the last of them has left, in whichever thread."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._wanted = 0
        self._before = False

    @contextmanager
    def of(self, logger: logging.Logger) -> Iterator[None]:
        with self._lock:
            self._wanted += 1
            if self._wanted == 1:
                self._before, logger.disabled = logger.disabled, True
        try:
            yield
        finally:
            with self._lock:
                self._wanted -= 1
                if not self._wanted:
                    logger.disabled = self._before


SILENCE = Silence()


@contextmanager
def unlogged() -> Iterator[None]:
    """No log while this lasts: Spark would log a query that fails together with the cell it failed on."""
    from pyspark.logger import PySparkLogger

    with SILENCE.of(PySparkLogger.getLogger("SQLQueryContextLogger")):
        yield


def unresolved_column(error: Exception) -> str:
    """The name in a query that no column has, or nothing if the query failed for another reason."""
    from pyspark.errors import AnalysisException

    if not isinstance(error, AnalysisException) or not str(error.getCondition()).startswith(
        "UNRESOLVED_COLUMN"
    ):
        return ""
    return str((error.getMessageParameters() or {}).get("objectName", "")).split("`.`")[-1].strip("`")


def session_type() -> type[SparkSession]:
    """Spark's session class, if pyspark is installed."""
    try:
        from pyspark.sql import SparkSession
    except ImportError:
        raise MissingDependency(
            "the Spark engine needs pyspark", remedy='pip install "discreet[spark]"'
        ) from None
    # Said at some later call, about a library that no rows pass through.
    warnings.filterwarnings("ignore", "PySpark does not yet fully support pandas", FutureWarning)
    return SparkSession


@cache
def _java_folder() -> Path:
    """Where Java keeps Spark's files, for as long as this process: it stays with the first folder it was given."""
    return Scratch("rows").path


def stop(session: SparkSession) -> None:
    """Stop a session that was started here, and remove what it left on disk."""
    session.stop()
    for path in _java_folder().iterdir():
        if path.is_dir():
            shutil.rmtree(path, ignore_errors=True)


def start() -> SparkSession:
    """A session inside this machine that reaches nothing else and says nothing."""
    make = session_type()
    from pyspark import SparkConf, SparkContext
    from pyspark.errors import PySparkRuntimeError
    from pyspark.java_gateway import launch_gateway

    home = os.environ.get("JAVA_HOME")
    if shutil.which("java", path=str(Path(home) / "bin") if home else None) is None:
        raise MissingDependency("the Spark engine needs Java", remedy=JAVA_REMEDY)
    scratch = _java_folder()
    allowed = memory() or int(MEMORY_SHARE * machine_memory())
    conf = SparkConf().setMaster(f"local[{threads() or 2}]").setAppName("discreet")
    for key, value in {
        "spark.ui.enabled": "false",
        "spark.ui.showConsoleProgress": "false",
        "spark.driver.host": "127.0.0.1",
        "spark.driver.bindAddress": "127.0.0.1",
        "spark.driver.memory": f"{max(allowed >> 20, 1024)}m",
        "spark.driver.maxResultSize": "0",
        "spark.local.dir": str(scratch),
        "spark.sql.warehouse.dir": str(scratch / "warehouse"),
        "spark.sql.catalogImplementation": "in-memory",
        "spark.sql.shuffle.partitions": "2",
    }.items():
        conf.set(key, value)
    try:
        # Java's own warnings at the start come before any log level could be set.
        quiet = {"stderr": subprocess.DEVNULL}
        gateway = None if SparkContext._gateway else launch_gateway(conf, quiet)  # type: ignore[no-untyped-call]
        context = SparkContext(conf=conf, gateway=gateway)
    except PySparkRuntimeError:
        raise MissingDependency("Java could not be started for Spark", remedy=JAVA_REMEDY) from None
    # A failed task would log the record it failed on.
    context.setLogLevel("OFF")
    return make(context)
