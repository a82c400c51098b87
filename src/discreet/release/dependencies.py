"""A column that follows from others: what the original says of it, and which rows contradict that."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np
import pyarrow as pa

from discreet.classes.packing import combination_numbers
from discreet.errors import UnknownColumn
from discreet.perturb.base import whole
from discreet.policy.constraint import Constraint
from discreet.release.tally import canonical
from discreet.table import Table
from discreet.types import IntArray

Texts = tuple[str, ...]


@dataclass(frozen=True)
class Dependency:
    """What a column is where others have some values: the most frequent one of the original.

    A row contradicts it if its values are such as the original has, and the column another than the original has beside them.
    What was generalised, averaged or is missing contradicts nothing. In the original the rows that do are the least whose removal
    would make the column follow (g3 of Kivinen and Mannila, "Approximate inference of functional dependencies from relations", 1995).

    >>> town = pa.table({"zip": [1, 1, 1, 2], "county": ["a", "a", "b", "b"]})
    >>> rule = Dependency.of(Constraint("c", column="county", follows=("zip",)), town)
    >>> rule.breaking(town).tolist(), rule.breaking(pa.table({"zip": [2, 2, 3], "county": ["a", "c", "a"]})).tolist()
    ([2], [0])
    """

    columns: Texts
    tells: Mapping[Texts, str] = field(repr=False)
    values: frozenset[str] = field(repr=False)

    @classmethod
    def of(cls, rule: Constraint, rows: pa.Table) -> Dependency:
        """What some rows say of a rule."""
        columns = (*rule.follows, rule.column)
        combinations, numbers = _combinations(rows, columns)
        counts = np.bincount(numbers[numbers >= 0], minlength=len(combinations))
        # The most frequent comes last and stays; of equals the first in the order of texts.
        order = sorted(range(len(combinations)), key=lambda i: combinations[i], reverse=True)
        order.sort(key=lambda i: int(counts[i]))
        tells = {combinations[i][:-1]: combinations[i][-1] for i in order}
        return cls(columns, tells, frozenset(each[-1] for each in combinations))

    @classmethod
    def of_table(cls, rule: Constraint, table: Table) -> Dependency:
        """What a table says of a rule; an error if it lacks a column."""
        return cls.of(rule, rows_of(rule, table))

    def breaking(self, rows: pa.Table) -> IntArray:
        """The places of rows that contradict it, in their order."""
        combinations, numbers = _combinations(rows, self.columns)
        wrong = [
            each[-1] in self.values and self.tells.get(each[:-1], each[-1]) != each[-1]
            for each in combinations
        ]
        return np.flatnonzero(np.array([*wrong, False])[numbers])


def rows_of(rule: Constraint, table: Table) -> pa.Table:
    """The columns that a rule speaks of; an error if one is not there."""
    columns = [*rule.follows, rule.column]
    for name in columns:
        if name not in table.names:
            raise UnknownColumn(name, table.names)
    return table.engine.to_arrow(table, columns)


def _combinations(rows: pa.Table, columns: Sequence[str]) -> tuple[list[Texts], IntArray]:
    """The combinations that occur, as texts, and that of each row: -1 where a value is missing."""
    codes, texts = [], []
    known = np.ones(rows.num_rows, dtype=bool)
    for name in columns:
        encoded = whole(rows[name]).dictionary_encode()
        at = encoded.indices.fill_null(-1).to_numpy(zero_copy_only=False).astype(np.int64)
        labels = [canonical(value) for value in encoded.dictionary.to_pylist()]
        known &= at >= 0
        codes.append(at)
        texts.append(labels)
    places = np.flatnonzero(known)
    numbers = np.full(rows.num_rows, -1, dtype=np.int64)
    if not len(places):
        return [], numbers
    inside = [column[places] for column in codes]
    numbers[places] = combination_numbers([len(labels) for labels in texts], inside)
    _, first = np.unique(numbers[places], return_index=True)
    listed = [
        tuple(str(labels[column[at]]) for labels, column in zip(texts, inside, strict=True)) for at in first
    ]
    return listed, numbers
