"""At which levels columns are released: given, by a degree of generalisation, or any of them, to be searched for."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from os import PathLike

import numpy as np
import pyarrow as pa

from discreet.dp.keys import plain_key
from discreet.errors import InvalidParameter, UnsuitableColumn
from discreet.sentences import Sentence
from discreet.table import Table
from discreet.table.hierarchies.hierarchy import ROOT, Hierarchy
from discreet.types import FloatArray, IntArray

HierarchyGiven = Hierarchy | str | PathLike[str]
DEGREES: dict[str, Fraction] = {
    "low": Fraction(1, 5),
    "low-medium": Fraction(2, 5),
    "medium": Fraction(1, 2),
    "medium-high": Fraction(3, 5),
    "high": Fraction(4, 5),
}
"""Which part of the height of its hierarchy every column is generalised by: chosen without the data."""


@dataclass(frozen=True)
class ReleasedColumn:
    """A column, its hierarchy, and the levels that come into question."""

    name: str
    hierarchy: Hierarchy | None
    levels: tuple[int, ...]

    @property
    def searched(self) -> bool:
        return len(self.levels) > 1

    def nodes(self, values: list[object], level: int) -> IntArray:
        """Which node of a level each value belongs to; the last node is that of what the hierarchy does not know."""
        if not level or self.hierarchy is None:
            return np.arange(len(values))
        known = {leaf: place for place, leaf in enumerate(self.hierarchy.labels[0])}
        labels = self.hierarchy.labels[level]
        outside = labels.index(ROOT) if ROOT in labels else len(labels)
        above = np.append(self.hierarchy.nodes[level], outside).astype(np.int64)
        # A missing value is no leaf, whatever the leaves are called.
        leaves = [
            len(known) if value is None else known.get(str(plain_key(value)), len(known)) for value in values
        ]
        return np.asarray(above[np.array(leaves, dtype=np.int64)])

    def precisions(self, values: list[object], level: int) -> FloatArray:
        """What each value still says at a level: 1 less the share of the other leaves that it may be."""
        assert self.hierarchy is not None
        if not level:
            return np.ones(len(values))
        leaves = self.hierarchy.leaves
        shares = (self.hierarchy.counts(level) - 1) / max(1, leaves - 1)
        precisions = np.append(1 - shares, 0.0)
        labels = self.hierarchy.labels[level]
        if ROOT in labels:
            precisions[labels.index(ROOT)] = 0.0
        return precisions[self.nodes(values, level)]

    def labels(self, level: int) -> tuple[str, ...]:
        """What the nodes of a level above 0 are called."""
        assert self.hierarchy is not None
        return (*self.hierarchy.labels[level], ROOT)

    def shown(self, cells: pa.ChunkedArray, level: int) -> pa.Array:
        """The cells as they are released."""
        column = cells.combine_chunks()
        if not level:
            return column
        encoded = column.dictionary_encode(null_encoding="encode")
        nodes = self.nodes(encoded.dictionary.to_pylist(), level)
        return pa.array(self.labels(level), pa.string()).take(pa.array(nodes)).take(encoded.indices)


def released_columns(
    table: Table,
    levels: Mapping[str, int],
    hierarchies: Mapping[str, HierarchyGiven],
    degree: str | None,
    *,
    search: bool,
) -> list[ReleasedColumn]:
    """Columns with a given level at that one; those with a hierarchy alone by the degree, or at any."""
    if degree is not None and degree not in DEGREES:
        raise InvalidParameter(
            Sentence("the degree is {degree!r}", degree=degree),
            remedy=Sentence("choose one of: {choices}", choices=tuple(DEGREES)),
        )
    if degree is not None and search:
        raise InvalidParameter(
            "levels are either searched for or follow from a degree", remedy="leave one of both out"
        )
    others = hierarchies if search or degree is not None else {}
    names = list(dict.fromkeys(table.column(name).name for name in (*levels, *others)))
    if not names:
        raise InvalidParameter("no column is released", remedy="say levels, e.g. {'age': 2, 'sex': 0}")
    given = {table.column(name).name: level for name, level in levels.items()}
    trees = {table.column(name).name: tree for name, tree in hierarchies.items()}
    made = [_released(table, name, given.get(name), trees.get(name), degree) for name in names]
    if search and not any(column.searched for column in made):
        raise InvalidParameter(
            "no level is left to be searched for",
            remedy="give hierarchies of columns for which no level is given",
        )
    return made


def _released(
    table: Table, name: str, level: int | None, given: HierarchyGiven | None, degree: str | None
) -> ReleasedColumn:
    if table.column(name).storage in ("list", "other"):
        raise UnsuitableColumn(
            Sentence("the column {name!r} holds values that cannot be told alike", name=name),
            remedy="leave the column out",
        )
    hierarchy = given if isinstance(given, Hierarchy) or given is None else Hierarchy.read(str(given), name)
    height = 0 if hierarchy is None else hierarchy.height
    if level is None:
        # Halves are rounded up, as the paper's tool does.
        by_degree = () if degree is None else (math.floor(height * DEGREES[degree] + Fraction(1, 2)),)
        return ReleasedColumn(name, hierarchy, by_degree or tuple(range(height + 1)))
    if isinstance(level, bool) or not isinstance(level, int) or not 0 <= level <= height:
        raise InvalidParameter(
            Sentence("the level of {name} is {level}, and no hierarchy has it", name=name, level=level),
            remedy="give a hierarchy, or level 0 for values as they are",
        )
    return ReleasedColumn(name, hierarchy, (level,))
