"""Views of several tables: the rows of each with what the tables above them say, so that one table can be judged by persons."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

import numpy as np
import pyarrow as pa

from discreet.engine.read import read
from discreet.policy import Policy
from discreet.policy.policy import ColumnPolicy
from discreet.relational.policy import RelationalPolicy
from discreet.table import Table
from discreet.types import IntArray

PERSON = "person"


@dataclass(frozen=True)
class ShownRows:
    """The rows of one table as they are shown: ``parents`` are rows of the table above, ``persons`` of that of the people."""

    rows: pa.Table = field(repr=False)
    parents: IntArray = field(repr=False)
    persons: IntArray = field(repr=False)


@dataclass(frozen=True)
class TableView:
    """The rows of one table, each with the quasi-identifiers and sensitive values of the tables above it, and its policy."""

    name: str
    table: Table = field(repr=False)
    policy: Policy = field(repr=False)


def view_of(name: str, shown: Mapping[str, ShownRows], policy: RelationalPolicy) -> TableView | None:
    """The view of a table; nothing where it has no quasi-identifier, also not from above.

    Keys are pseudonyms, and shifted dates nobody knows: they are not looked at. Columns that are called alike in several tables have the table's name before theirs, but those of the table itself.
    """
    own = policy.table(name)
    columns: dict[str, pa.ChunkedArray] = {}
    roles: list[ColumnPolicy] = []
    content = shown[name].rows
    for column in content.column_names:
        if column in (*own.keys, *own.shift):
            continue
        columns[column] = content.column(column)
        known = own.policy.column(column)
        roles += [known] if known is not None else []
    at = np.arange(content.num_rows)
    here = name
    while (parent := policy.parent(here)) is not None:
        at = shown[here].parents[at]
        here = parent[1]
        above = policy.table(here)
        for column in above.policy.columns:
            if column.role not in ("quasi-identifier", "sensitive") or column.name in above.keys:
                continue
            if column.name not in shown[here].rows.column_names:
                continue
            title = column.name if column.name not in columns else f"{here}.{column.name}"
            columns[title] = shown[here].rows.column(column.name).take(pa.array(at))
            roles.append(ColumnPolicy(title, column.role, column.type, column.reason, column.rating))
    if not any(role.role == "quasi-identifier" for role in roles):
        return None
    if name != policy.people:
        person = PERSON if PERSON not in columns else f"{policy.people}.{PERSON}"
        columns[person] = pa.chunked_array([pa.array(shown[name].persons)])
        roles.append(ColumnPolicy(person, "person-id"))
    table = read(pa.table(columns))
    sensitive = [role.name for role in roles if role.role == "sensitive"]
    required = tuple(
        model
        for model in own.policy.requirements
        if model.sensitive is None or model.sensitive in sensitive or (model.sensitive == "*" and sensitive)
    )
    judged = Policy(
        columns=tuple(roles),
        requirements=required,
        profile=own.policy.profile,
        unknown=own.policy.unknown,
        plan=own.policy.plan,
    )
    return TableView(name, table, judged)
