"""Where several tables come from: a place that holds them, or frames by their names."""

from __future__ import annotations

from collections.abc import Mapping
from os import PathLike
from pathlib import Path

from discreet.engine.read import read
from discreet.engine.table_sets import read_tables, table_names
from discreet.errors import InvalidParameter
from discreet.relational.policy import RelationalPolicy
from discreet.sentences import Sentence
from discreet.table import Table

GivenTables = str | PathLike[str] | Mapping[str, object]
"""What verbs on several tables take: a folder, a workbook or a database file, or a mapping from names to tables of any kind."""


def open_tables(source: GivenTables, policy: RelationalPolicy | None = None) -> dict[str, Table]:
    """The tables of a source; with a policy those that it speaks of, read as it says."""
    if isinstance(source, Mapping):
        return {str(name): read(table) for name, table in source.items()}
    place = Path(source)
    if policy is None:
        return read_tables(place)
    there = table_names(place)
    missing = [t.name for t in policy.tables if t.file is None and t.name not in there]
    if missing:
        raise InvalidParameter(
            Sentence("the policy speaks of tables that are not there: {missing}", missing=tuple(missing)),
            remedy=Sentence("there are: {known}", known=there),
        )
    options = {table.name: {**table.policy.read, "expected": table.policy.names} for table in policy.tables}
    return read_tables(place, options, {table.name: table.file or table.name for table in policy.tables})
