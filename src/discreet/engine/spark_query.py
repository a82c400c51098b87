"""A second session of Spark for queries of the user's own: it sees one table and no file.

The list of what a query may say is the first wall; this is what stands behind it, with a limit of time: its jobs are
cancelled and their tasks interrupted, which they notice within some seconds of work, whatever the size of the batches that
Spark keeps (1,000 rows or 10,000), also in the middle of a join of one batch with itself. Spark has no limit of memory for one query: that of the cluster holds.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING
from uuid import uuid4

import pyarrow as pa

from discreet.engine.query import TABLE, in_time

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

SHARED = "global_temp"
"""The schema of what all sessions see."""


def answer(
    session: SparkSession, rows: DataFrame, query: str, settings: Mapping[str, str] | None = None
) -> pa.Table:
    """The answer to a query of one SELECT, in which the rows are called as a query calls them."""
    handed = f"discreet_{uuid4().hex}"
    apart = session.newSession()
    for key, value in {**(settings or {}), "spark.sql.runSQLOnFiles": "false"}.items():
        apart.conf.set(key, value)
    context = session.sparkContext
    rows.createGlobalTempView(handed)
    # A tag besides those of the caller, whose own jobs go on.
    context.addJobTag(handed)
    context.setInterruptOnCancel(True)
    try:
        with in_time(lambda: context.cancelJobsWithTag(handed)):
            return apart.sql(f"WITH {TABLE} AS (SELECT * FROM {SHARED}.{handed}) {query}").toArrow()
    finally:
        context.removeJobTag(handed)
        context.setInterruptOnCancel(False)
        session.catalog.dropGlobalTempView(handed)
