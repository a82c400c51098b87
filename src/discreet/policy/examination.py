"""What columns hold, whatever they are called: those that nobody judged, and texts that name people."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial

import pyarrow as pa
import pyarrow.compute as pc

from discreet.policy.policy import Policy
from discreet.risk.unexamined import Culprit, culprits
from discreet.table import Table
from discreet.table.identifiers import Finding
from discreet.table.roles import Role
from discreet.types import AnyIntArray

ROWS = 20_000
"""So many rows are looked at first; what singles people out among them is counted in the whole table."""
NAMING = ("name", "street", "email", "free-text")
"""Kinds of information that name people in texts: no label may be made of them."""
SURE = 0.8
"""So sure a recognition must be to speak against the role that a policy gives."""
JUDGED: tuple[Role, ...] = ("quasi-identifier", "sensitive", "direct-identifier", "person-id")


def unjudged(table: Table, policy: Policy) -> tuple[str, ...]:
    """The columns whose values no requirement speaks of, in the order of the table."""
    roles = {column.name: column.role for column in policy.columns}
    return tuple(name for name in table.names if roles.get(name) not in JUDGED)


def unknown(table: Table, policy: Policy) -> tuple[str, ...]:
    """The columns that a policy does not know."""
    known = {column.name for column in policy.columns}
    return tuple(name for name in table.names if name not in known)


def naming_people(
    table: Table, policy: Policy, findings: Callable[[], Mapping[str, Finding]]
) -> dict[str, str]:
    """Columns with names of people, addresses or free text for values, and what they look like, whatever their role.

    Direct identifiers and person ids are left aside, which are never released as they are, and columns of which the
    policy knows nothing and says that they are kept.
    """
    treated = {*policy.direct_identifiers, policy.person}
    if policy.unknown == "keep":
        treated |= set(unknown(table, policy))
    texts = {column.name for column in table.columns if column.storage == "text"} - treated
    if not texts:
        return {}
    return {
        name: finding.kind.title
        for name, finding in findings().items()
        if name in texts
        and finding.kind.id in NAMING
        and "content" in finding.by
        and finding.confidence >= SURE
    }


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

    return culprits(
        {name: _codes(rows[name]) for name in known},
        unexamined,
        confirm=partial(table.engine.unique_share, table) if sampled else None,
    )


def unfit(table: Table, policy: Policy, findings: Callable[[], Mapping[str, Finding]]) -> dict[str, str]:
    """Columns that nobody judged and that must not be released, each with the reason."""
    names = naming_people(table, policy, findings)
    naming = {name: f"it looks like: {names[name]}" for name in unjudged(table, policy) if name in names}
    singling = singling_out(table.without(naming), policy)
    return naming | {culprit.column: culprit.describe() for culprit in singling}


def _codes(column: pa.ChunkedArray) -> AnyIntArray:
    """A number per row, the same for the same value; a null is a value of its own."""
    values = column.combine_chunks()
    if pa.types.is_nested(values.type):
        # Lists and records inside a cell have no dictionary: they are told apart by how they are written.
        values = pa.array(
            [None if value is None else str(value) for value in values.to_pylist()], pa.string()
        )
    encoded = pc.dictionary_encode(values, null_encoding="encode")
    return encoded.indices.to_numpy()  # type: ignore[no-any-return]
