"""The table: a handle to rows that live in an engine."""

from __future__ import annotations

import weakref
from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pyarrow as pa

from discreet.errors import UnknownColumn
from discreet.plain import plain
from discreet.table.column import Column, DataType
from discreet.table.frames import AsFrames, FrameKind

if TYPE_CHECKING:
    from discreet.engine.protocol import Engine


@dataclass(frozen=True)
class Source:
    """Where a table came from and how it was read: what a report states so that it can be repeated."""

    name: str
    format: str
    settings: dict[str, object] = field(default_factory=dict)
    notes: tuple[str, ...] = ()
    sha256: str | None = None
    frame: FrameKind | None = field(default=None, repr=False, compare=False)
    """Of a frame: which library it came from, and with which types."""
    place: Path | None = field(default=None, repr=False, compare=False)
    """The file that it was read from, or the pattern of several: nothing is written over them, and nobody is told."""
    first_rows: int | None = field(default=None, repr=False, compare=False)
    """If only the first rows were read, how many at most: which these are follows from how many rows come before them."""

    @property
    def files(self) -> tuple[Path, ...]:
        """What no result may replace."""
        return () if self.place is None else (self.place,)

    @property
    def left_out(self) -> str:
        """What of the file was not read as part of the table, in words; nothing if all of it was.

        >>> Source("people.xlsx", "excel", {"sheet": "data", "skip_rows": 2, "skip_last": 1}).left_out
        'sheet data was read without 2 lines above and 1 line below the table'
        """
        counts = [
            f"{lines} line{'' if lines == 1 else 's'} {side}"
            for key, side in (("skip_rows", "above"), ("skip_last", "below"))
            if (lines := self.settings.get(key))
        ]
        what = f"sheet {self.settings['sheet']}" if "sheet" in self.settings else "the file"
        return f"{what} was read without {' and '.join(counts)} the table" if counts else ""

    def to_dict(self) -> dict[str, object]:
        untold = ("frame", "place", "first_rows")
        document: dict[str, object] = plain(replace(self, frame=None, place=None))
        return {key: value for key, value in document.items() if key not in untold}


class Lease:
    """A relation inside an engine; ``unused`` is told its name once no table refers to it any more.

    Python may find out in any thread and at any moment, even inside a query that waits for that thread. So
    ``unused`` must only take note, never wait for the engine. ``rests_on`` is the lease of a relation that must stay
    as long as this one; ``samples`` are those that were drawn of it, by their rows, and go with it.
    """

    rests_on: Lease | None = None

    def __init__(self, relation: str, unused: Callable[[str], None]) -> None:
        self.relation = relation
        self.samples: dict[int, Table] = {}
        # At exit the engine removes everything at once.
        weakref.finalize(self, unused, relation).atexit = False


@dataclass(frozen=True, eq=False)
class Table(AsFrames):
    """Rows inside an engine, never a copy of them in Python.

    ``places`` names a column of the relation that only the engine sees: which row of the table that it was made from
    each row was. It tells who became whom, so no verb hands it out but the engine's ``places``.
    """

    engine: Engine = field(repr=False)
    lease: Lease = field(repr=False)
    columns: tuple[Column, ...]
    rows: int
    source: Source
    places: str | None = field(default=None, repr=False)

    @property
    def relation(self) -> str:
        """The quoted name under which the engine knows the rows."""
        return self.lease.relation

    @property
    def names(self) -> tuple[str, ...]:
        return tuple(column.name for column in self.columns)

    @property
    def frame_kind(self) -> FrameKind:
        """What the rows came as."""
        return self.source.frame or FrameKind("arrow")

    def to_arrow(self) -> pa.Table:
        """The rows as an Arrow table: all of them come into memory."""
        return self.engine.to_arrow(self)

    def to_native(self) -> Any:
        """The rows as the kind of frame that came in; those of a frame of Spark stay there."""
        kept = self.engine.native(self)
        return super().to_native() if kept is None else kept.frame

    def column(self, name: str) -> Column:
        """The column called ``name``, or an error that suggests the nearest name."""
        for column in self.columns:
            if column.name == name:
                return column
        raise UnknownColumn(name, self.names)

    def retype(self, types: Mapping[str, DataType], *, declared: bool = True) -> Table:
        """The same rows with other meanings for some columns, which somebody declared or which were recognised."""
        for name in types:
            self.column(name)
        return replace(
            self,
            columns=tuple(
                replace(c, type=types[c.name], declared=declared) if c.name in types else c
                for c in self.columns
            ),
        )

    def without(self, names: Collection[str]) -> Table:
        """The same rows without some columns."""
        return replace(self, columns=tuple(c for c in self.columns if c.name not in names))

    def __repr__(self) -> str:
        return f"Table({self.source.name!r}, {self.rows:,} rows × {len(self.columns)} columns)"
