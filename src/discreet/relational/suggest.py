"""A policy of several tables as it is suggested: keys that were found, and roles by names and content."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import tomlkit

from discreet.errors import EmptyTable
from discreet.policy.policy import DEFAULT_PROFILE
from discreet.policy.suggest import suggest
from discreet.relational.keys import KeyReference, find_keys, find_references
from discreet.relational.policy import KnownEvents
from discreet.relational.sources import GivenTables, open_tables
from discreet.table import Table

NO_ROLES = ("person-id", "weight")
"""What columns of single tables may be and those of several may not: keys say who is who."""


@dataclass(frozen=True)
class FoundTables:
    """What was found about several tables: their rows, keys and references, and the table that seems to be that of the people."""

    rows: Mapping[str, int]
    keys: Mapping[str, str]
    references: tuple[KeyReference, ...]
    people: str | None

    def to_dict(self) -> dict[str, object]:
        return {
            "schema": "discreet-keys-1",
            "rows": dict(self.rows),
            "keys": dict(self.keys),
            "references": [reference.to_dict() for reference in self.references],
            "people": self.people,
        }


def find_tables(source: GivenTables) -> FoundTables:
    """Keys, references and the table of the people, as names and values tell them.

    >>> import pyarrow as pa
    >>> schema = find_tables({"visits": pa.table({"patient_id": [2, 2]}), "patients": pa.table({"patient_id": [1, 2]})})
    >>> schema.people, [(each.column, each.to, each.most) for each in schema.references]
    ('patients', [('patient_id', 'patients', 2)])
    """
    return _keys_and_references(open_tables(source))


def _keys_and_references(tables: Mapping[str, Table]) -> FoundTables:
    keys = find_keys(tables)
    references = find_references(tables, keys)
    return FoundTables(
        {name: table.rows for name, table in tables.items()}, keys, references, _people(tables, references)
    )


def _people(tables: Mapping[str, Table], references: Sequence[KeyReference]) -> str | None:
    """The table to which most others lead, and which refers to none."""
    above: dict[str, list[str]] = {name: [] for name in tables}
    for reference in references:
        above[reference.table].append(reference.to)

    def leads(name: str, to: str, steps: int = 0) -> bool:
        return steps < len(tables) and any(at == to or leads(at, to, steps + 1) for at in above[name])

    roots = [name for name in tables if not above[name]]
    followers = {root: sum(leads(name, root) for name in tables) for root in roots}
    return max(roots, key=lambda root: (followers[root], tables[root].rows), default=None)


def suggest_tables(
    source: GivenTables,
    *,
    profile: str = DEFAULT_PROFILE,
    people: str | None = None,
    known_events: KnownEvents = "all",
    columns: Mapping[str, Mapping[str, Mapping[str, object]]] | None = None,
) -> str:
    """A policy of several tables as TOML: roles with their reasons, to be checked by who knows the data.

    ``people`` is the table with a row for each person, found if not given. ``columns`` are those of policies of single tables by
    their names, whose roles and hierarchies are taken over instead of being suggested.
    """
    tables = open_tables(source)
    if not tables:
        raise EmptyTable(
            "no table was given", remedy="pass a folder, a database file, or tables by their names"
        )
    schema = _keys_and_references(tables)
    document = tomlkit.document()
    document.add(tomlkit.comment("Suggested from names and content: check it, most of all the roles."))
    document.add("profile", tomlkit.item(profile))
    entry = tomlkit.table()
    entry.add(tomlkit.comment("the table with a row for each person"))
    entry.add("table", people or schema.people or next(iter(tables)))
    entry.add(tomlkit.comment('how many rows of the other tables an intruder knows of a person, or "all"'))
    entry.add("known_events", known_events)
    document.add("people", entry)
    every = tomlkit.table(is_super_table=True)
    for name, table in tables.items():
        every.add(name, _suggested(name, table, schema, (columns or {}).get(name)))
    document.add("tables", every)
    return tomlkit.dumps(document)


def _suggested(
    name: str, table: Table, schema: FoundTables, given: Mapping[str, Mapping[str, object]] | None
) -> tomlkit.items.Table:
    """One table with its key, references and columns."""
    own = tomlkit.table()
    if name in schema.keys:
        own.add("key", schema.keys[name])
    refers = {each.column: each.to for each in schema.references if each.table == name}
    if refers:
        inline = tomlkit.inline_table()
        inline.update(refers)
        own.add("refers", inline)
    columns = tomlkit.table(is_super_table=True)
    ties = {schema.keys.get(name), *refers}
    others = table.without([each for each in ties if each])
    if given is None:
        given = {
            column.name: {"role": column.role, "type": column.type, "reason": column.reason}
            for column in (suggest(others).columns if others.columns else ())
        }
    for column, said in given.items():
        if column in ties:
            continue
        entry = tomlkit.table()
        for key, value in said.items():
            if value:
                entry.add(key, "insensitive" if value in NO_ROLES and key == "role" else value)
        columns.add(column, entry)
    if len(columns):
        own.add("columns", columns)
    return own
