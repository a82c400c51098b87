"""People in several parts of a file, and what a release of them is to hold to, for Spark beside DuckDB."""

from __future__ import annotations

from pathlib import Path

import pyarrow as pa
import pyarrow.parquet

from discreet.policy import Policy
from discreet.policy.plan import Plan
from discreet.privacy import KAnonymity
from discreet.table import Table

POLICY = Policy.of(
    quasi_identifiers=["age", "town"],
    sensitive=["ill"],
    require=[KAnonymity(5)],
    profile="research-partner-3",
    unknown="keep",
)
PLAN = Plan(method="optimal", unexamined="keep", suppression_limit=0.1)


def write_people(folder: Path) -> Path:
    """Parquet in eight row groups, so that two workers have something to do."""
    path = folder / "people.parquet"
    people = pa.table(
        {
            "age": [20 + (n * n) % 50 for n in range(4000)],
            "town": [f"t{n % 7}" for n in range(4000)],
            "ill": [["flu", "cold", None][n % 3] for n in range(4000)],
        }
    )
    pyarrow.parquet.write_table(people, path, row_group_size=500)
    return path


def rows(table: Table) -> list[str]:
    return sorted(map(str, table.engine.to_arrow(table).to_pylist()))
