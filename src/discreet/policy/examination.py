"""Columns of a table that nobody judged: those without a role, weights, and those called insensitive."""

from __future__ import annotations

from collections.abc import Sequence

import pyarrow as pa
import pyarrow.compute as pc

from discreet.policy.policy import Policy
from discreet.risk.unexamined import Culprit, culprits
from discreet.table import Table
from discreet.table.roles import Role
from discreet.types import AnyIntArray

ROWS = 20_000
"""So many rows are looked at first; what singles people out among them is counted in the whole table."""
JUDGED: tuple[Role, ...] = ("quasi-identifier", "sensitive", "direct-identifier", "person-id")


def unjudged(table: Table, policy: Policy) -> tuple[str, ...]:
    """The columns whose values no requirement speaks of, in the order of the table."""
    roles = {column.name: column.role for column in policy.columns}
    return tuple(name for name in table.names if roles.get(name) not in JUDGED)


def unknown(table: Table, policy: Policy) -> tuple[str, ...]:
    """The columns that a policy does not know."""
    known = {column.name for column in policy.columns}
    return tuple(name for name in table.names if name not in known)


def singling_out(table: Table, policy: Policy) -> list[Culprit]:
    """The unjudged columns that single people out, alone or with what else an intruder may know.

    Sensitive attributes are what an intruder wants to learn, and so none of what is known; direct identifiers
    and person ids are judged by rules of their own.
    """
    unexamined = unjudged(table, policy)
    if not unexamined or not table.rows:
        return []
    known = [name for name in table.names if name in (*unexamined, *policy.quasi_identifiers)]
    sampled = table.rows > ROWS
    rows = table.engine.to_arrow(table.engine.sample(table, ROWS) if sampled else table).select(known)

    def in_the_whole_table(names: Sequence[str]) -> float:
        classes = table.engine.count(table, quasi_identifiers=list(names))
        return float((classes.records == 1).sum() / classes.total)

    return culprits(
        {name: _codes(rows[name]) for name in known},
        unexamined,
        confirm=in_the_whole_table if sampled else None,
    )


def _codes(column: pa.ChunkedArray) -> AnyIntArray:
    """A number per row, the same for the same value; a null is a value of its own."""
    encoded = pc.dictionary_encode(column.combine_chunks(), null_encoding="encode")
    return encoded.indices.to_numpy()  # type: ignore[no-any-return]
