"""Keys of tables and what refers to them: as a policy says, or as they are found."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from discreet.plain import plain
from discreet.relational.rows import RelatedTables
from discreet.table import Table

ORPHANS = 0.1
"""At most this share of references may find nothing for a column to be taken for one."""


@dataclass(frozen=True)
class KeyReference:
    """A column that refers to the key of another table: how many rows there are for one of that table.

    ``least`` and ``most`` rows refer to a row of ``to``, ``rows / reached`` on average; ``orphans`` refer to nothing.
    """

    table: str
    column: str
    to: str
    key: str
    rows: int
    reached: int
    least: int
    most: int
    orphans: int = 0

    @property
    def cardinality(self) -> str:
        """As pictures of tables say it: rows of the table for one row of that which it refers to.

        >>> KeyReference("visits", "patient", "patients", "id", 9, 4, 0, 3).cardinality
        '0..n : 1'
        """
        low = "0" if not self.least else "1"
        return (
            f"{'1' if self.most <= 1 and low == '1' else f'{low}..1' if self.most <= 1 else f'{low}..n'} : 1"
        )

    def to_dict(self) -> dict[str, object]:
        return {**plain(self), "cardinality": self.cardinality}


def references_of(related: RelatedTables) -> tuple[KeyReference, ...]:
    """The references by which rows are tied to people, with their counts."""
    told = []
    for part in related.parts[1:]:
        parent = related.policy.parent(part.name)
        assert parent is not None, "events refer to people"
        column, to = parent
        held = np.bincount(part.parents, minlength=len(related.part(to)))
        key = related.policy.table(to).key or ""
        told.append(
            KeyReference(
                part.name,
                column,
                to,
                key,
                len(part),
                int((held > 0).sum()),
                int(held.min()),
                int(held.max(initial=0)),
            )
        )
    return tuple(told)


def find_keys(tables: Mapping[str, Table]) -> dict[str, str]:
    """The column of each table that tells its rows apart and is called as keys are.

    >>> from discreet.engine.read import read
    >>> find_keys({"visits": read(pa.table({"ward": ["A", "B"], "visit_id": [7, 9]}))})
    {'visits': 'visit_id'}
    >>> find_keys({"a": read(pa.table({"who": [1, 2]})), "b": read(pa.table({"who": [2, 2]}))})
    {'a': 'who'}
    """
    keys = {}
    for name, table in tables.items():
        telling = [
            column.name
            for column in table.columns
            if _may_be_key(column.name, name)
            and not _of_another(column.name, name, tables)
            and _tells_apart(table, column.name)
        ]
        # A column that another table repeats is a key, whatever it is called.
        telling = telling or [
            column.name
            for column in table.columns
            if any(_repeats(held, column.name) for other, held in tables.items() if other != name)
            and _tells_apart(table, column.name)
        ]
        if telling:
            keys[name] = min(telling, key=lambda column: (not _own(column, name), telling.index(column)))
    return keys


def _repeats(table: Table, column: str) -> bool:
    """Whether a table has a column of this name with more rows than values."""
    return column in table.names and not _tells_apart(table, column)


def find_references(tables: Mapping[str, Table], keys: Mapping[str, str]) -> tuple[KeyReference, ...]:
    """Columns whose values are keys of another table, and whose names say so."""
    references = []
    values = {name: _texts(tables[name], key) for name, key in keys.items()}
    for name, table in tables.items():
        for column in table.columns:
            if keys.get(name) == column.name:
                continue
            for to, key in keys.items():
                if to == name or not _names(column.name, to, key):
                    continue
                reference = _reference(name, column.name, to, key, _texts(table, column.name), values[to])
                if reference is not None:
                    references.append(reference)
                    break
    return tuple(references)


def _reference(
    name: str, column: str, to: str, key: str, own: pa.Array, keys: pa.Array
) -> KeyReference | None:
    at = pc.index_in(own, value_set=keys, skip_nulls=True)
    orphans = at.null_count
    if not len(own) or orphans > ORPHANS * len(own):
        return None
    held = np.bincount(at.drop_null().to_numpy().astype(np.int64), minlength=len(keys))
    return KeyReference(
        name,
        column,
        to,
        key,
        len(own),
        int((held > 0).sum()),
        int(held.min(initial=0)),
        int(held.max(initial=0)),
        orphans,
    )


def _texts(table: Table, column: str) -> pa.Array:
    return table.engine.to_arrow(table, [column]).column(column).combine_chunks().cast(pa.string())


def _tells_apart(table: Table, column: str) -> bool:
    values = table.engine.to_arrow(table, [column]).column(column).combine_chunks()
    if not (
        pa.types.is_integer(values.type)
        or pa.types.is_string(values.type)
        or pa.types.is_large_string(values.type)
    ):
        return False
    return not values.null_count and pc.count_distinct(values).as_py() == len(values)


def _may_be_key(column: str, table: str) -> bool:
    low = column.casefold()
    return low.endswith(("id", "key", "nr", "no", "number", "code", "uuid")) or _own(column, table)


def _of_another(column: str, table: str, tables: Mapping[str, Table]) -> bool:
    """Whether a column is called after another table that has it, too: who is there at most once is not told by a key of their own."""
    return not _own(column, table) and any(
        _own(column, other) and column in held.names for other, held in tables.items() if other != table
    )


def _own(column: str, table: str) -> bool:
    """Whether a column is called after its table: ``patient_id`` of ``patients``, or just ``id``."""
    low = column.casefold().replace("_", "").replace(" ", "")
    return low in ("id", "key") or low.removesuffix("id") in _stems(table)


def _names(column: str, to: str, key: str) -> bool:
    """Whether a column is called as what refers to a key: by the key's name, or by the table's."""
    low = column.casefold().replace("_", "").replace(" ", "")
    if low == key.casefold().replace("_", "").replace(" ", "") and low not in ("id", "key"):
        return True
    return low in _stems(to) or low.removesuffix("id") in _stems(to) or low.removesuffix("key") in _stems(to)


def _stems(table: str) -> set[str]:
    """What a table's rows may be called: ``patient`` of ``patients``.

    >>> sorted(_stems("diagnoses"))
    ['diagnos', 'diagnose', 'diagnoses', 'diagnosis']
    """
    low = table.casefold().replace("_", "").replace(" ", "")
    stems = {low}
    if low.endswith("s"):
        stems |= {low[:-1]}
    if low.endswith("ies"):
        stems |= {low[:-3] + "y"}
    if low.endswith("es"):
        stems |= {low[:-2], low[:-2] + "is"}
    return stems
