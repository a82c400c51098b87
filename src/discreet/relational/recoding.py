"""What becomes of the rows of event tables: levels of their values, and rows that are left out."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

import numpy as np

from discreet.relational.alike import KnownRows, PersonRows, joint
from discreet.relational.rows import PartOfPeople, RelatedTables
from discreet.table.hierarchies.hierarchy import leaf_loss
from discreet.types import BoolArray, IntArray


@dataclass(frozen=True)
class EventRecoding:
    """``levels`` of quasi-identifiers of event tables, by name, and which rows of each table are ``kept``.

    ``root`` is a number for each person: the same for those whom the people's table shows alike.
    """

    related: RelatedTables = field(repr=False)
    root: IntArray = field(repr=False)
    levels: Mapping[str, int]
    kept: Mapping[str, BoolArray] = field(repr=False)

    def numbers(self, part: PartOfPeople) -> IntArray:
        """A number for each row of an event table by the values that it would show."""
        columns = [
            self.related.fitted[domain.name]
            .ladder.steps[self.levels[domain.name]]
            .codes[codes]
            .astype(np.int64)
            for domain, codes in zip(part.domains, part.codes, strict=True)
        ]
        return joint([np.zeros(len(part), dtype=np.int64), *columns])

    def known(self) -> tuple[KnownRows, Mapping[str, IntArray]]:
        """What an intruder sees of the rows that are kept, and which rows of the tables these are."""
        related = self.related
        places = {part.name: np.flatnonzero(self.kept[part.name]) for part in related.parts}
        now = {name: _places_of(rows, len(related.part(name))) for name, rows in places.items()}
        tables, above = {}, {}
        for part in map(related.part, related.policy.knowable):
            parent = related.policy.parent(part.name)
            assert parent is not None, "events refer to people"
            rows = places[part.name]
            tables[part.name] = PersonRows(
                self.numbers(part)[rows],
                now[parent[1]][part.parents[rows]],
                now[related.root.name][part.persons[rows]],
            )
            above[part.name] = "" if parent[1] == related.root.name else parent[1]
        return KnownRows(self.root[places[related.root.name]], tables, above), places

    @property
    def loss(self) -> float:
        """The mean loss of the cells of event tables: all of a row that is left out, else that of the level of each value.

        A table without quasi-identifiers counts by its rows.
        """
        lost = 0.0
        for part in self.related.parts[1:]:
            kept = self.kept[part.name]
            width = max(len(part.domains), 1)
            lost += width * float((~kept).sum())
            for domain, codes in zip(part.domains, part.codes, strict=True):
                ladder = self.related.fitted[domain.name].ladder
                shares = ladder.steps[self.levels[domain.name]].shares[codes[kept]]
                lost += float(leaf_loss(shares, ladder.leaves).sum())
        return lost / self.cells if self.cells else 0.0

    @property
    def cells(self) -> int:
        """The cells of event tables of which the loss is the mean."""
        return sum(max(len(part.domains), 1) * len(part) for part in self.related.parts[1:])

    @property
    def emptied(self) -> tuple[str, ...]:
        """The event tables of which no row is left."""
        return tuple(part.name for part in self.related.parts[1:] if not self.kept[part.name].any())

    @property
    def left_out(self) -> Mapping[str, int]:
        """How many rows of each event table are left out."""
        return {part.name: int((~self.kept[part.name]).sum()) for part in self.related.parts[1:]}


def _places_of(rows: IntArray, count: int) -> IntArray:
    """Where each row stands among those that are kept."""
    places = np.full(count, -1, dtype=np.int64)
    places[rows] = np.arange(len(rows))
    return places
