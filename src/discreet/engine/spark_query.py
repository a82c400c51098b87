"""A second session of Spark for queries of the user's own: it sees one table and no file.

The list of what a query may say is the first wall; this is what stands behind it. Spark has no limit of time and memory
for one query: those of the cluster hold.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING
from uuid import uuid4

import pyarrow as pa

from discreet.engine.query import TABLE

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
    rows.createGlobalTempView(handed)
    try:
        return apart.sql(f"WITH {TABLE} AS (SELECT * FROM {SHARED}.{handed}) {query}").toArrow()
    finally:
        session.catalog.dropGlobalTempView(handed)
