"""A second session of Spark for queries of the user's own: it sees one table and no file.

The list of what a query may say is the first wall; this is what stands behind it, with a limit of time: at the limit its jobs are
cancelled and whoever asked is told at once. Their tasks are interrupted and notice it when they come to their next row: one that
finds none, in a product of tables say, goes on to its end and takes its share of the cluster until then. Spark has
no limit of memory for one query: that of the cluster holds.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Mapping
from concurrent.futures import Future
from typing import TYPE_CHECKING
from uuid import uuid4

import pyarrow as pa

from discreet.engine import query as limits
from discreet.engine.query import TABLE, takes_too_long
from discreet.engine.spark_session import unlogged

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

SHARED = "global_temp"
"""The schema of what all sessions see."""


def answer(
    session: SparkSession, rows: DataFrame, query: str, settings: Mapping[str, str] | None = None
) -> pa.Table:
    """The answer to a query of one SELECT, in which the rows are called as a query calls them."""
    from pyspark import InheritableThread

    handed = f"discreet_{uuid4().hex}"
    apart = session.newSession()
    for key, value in {**(settings or {}), "spark.sql.runSQLOnFiles": "false"}.items():
        apart.conf.set(key, value)
    context = session.sparkContext
    rows.createGlobalTempView(handed)
    answered: Future[pa.Table] = Future()

    def run() -> None:
        try:
            with unlogged():
                # Of this thread alone, and besides those of the caller, whose own jobs go on.
                context.addJobTag(handed)
                context.setInterruptOnCancel(True)
                try:
                    asked = f"WITH {TABLE} AS (SELECT * FROM {SHARED}.{handed}) {query}"
                    answered.set_result(apart.sql(asked).toArrow())
                finally:
                    session.catalog.dropGlobalTempView(handed)
        except BaseException as error:
            if not answered.done():
                answered.set_exception(error)

    # In a thread of its own, which may go on for a while after it was cancelled.
    asking = InheritableThread(target=run)
    asking.daemon = True
    asking.start()
    try:
        return answered.result(limits.QUERY_SECONDS)
    except TimeoutError:
        raise takes_too_long() from None
    finally:
        if not answered.done():
            _cancel_until_done(answered, lambda: context.cancelJobsWithTag(handed))


def passed_on(frame: DataFrame, session: SparkSession) -> DataFrame:
    """The same frame in another session of the same Spark, whose names and settings hold for what is made of it."""
    name = f"discreet_{uuid4().hex}"
    # Whoever drops a view also forgets the kept rows of its plan, and those of the frame are the caller's: this is another plan.
    frame.where("true").createGlobalTempView(name)
    try:
        return session.table(f"{SHARED}.{name}")
    finally:
        frame.sparkSession.catalog.dropGlobalTempView(name)


def _cancel_until_done(answered: Future[pa.Table], cancel: Callable[[], None]) -> None:
    """Cancel the jobs of a query, and those that it still begins: it has moments in which none runs."""
    over = threading.Event()
    answered.add_done_callback(lambda _: over.set())
    cancel()

    def watch() -> None:
        while not over.wait(0.5):
            cancel()

    threading.Thread(target=watch, daemon=True).start()
