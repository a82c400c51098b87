"""Rows of events as trips: consecutive rows of a person become one, before anything is judged or released."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from os import PathLike
from pathlib import Path
from typing import Literal, get_args

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from discreet.engine.read import read
from discreet.errors import EmptyTable, InvalidParameter, UnknownColumn, UnsuitableColumn
from discreet.files.writing import atomically, refuse_clashes
from discreet.perturb.base import is_number, need_choice, need_number
from discreet.progress import Asked, telling
from discreet.release.perturb import as_numbers
from discreet.release.write import check_target, write_rows
from discreet.sentences import Sentence
from discreet.table import Table
from discreet.table.frames import AsFrames, FrameKind
from discreet.types import IntArray

Summary = Literal["first", "last", "minimum", "maximum", "mean", "sum", "mode", "distinct"]
SUMMARIES: tuple[Summary, ...] = get_args(Summary)
OF_NUMBERS = ("mean", "sum")
"""What only numbers have."""
TRIP, START, END, EVENTS = "trip", "start", "end", "events"
"""The columns that a trip has besides its person and what is taken of its rows."""
GAP = 30.0
"""Minutes without an event after which a new trip begins, if nothing else is said."""


@dataclass(frozen=True)
class Trips(AsFrames):
    """One row for each trip, by person and start, of a table with one row for each event.

    It is still about people, each with several rows: name the column of the persons in the policy.
    """

    rows: pa.Table = field(repr=False)
    person: str
    given_rows: int
    left_out: tuple[str, ...]
    """Columns of which nothing was asked and which differ within a trip."""
    kind: FrameKind = field(repr=False)
    files: tuple[Path, ...] = field(default=(), repr=False)

    def __repr__(self) -> str:
        return f"Trips({self.rows.num_rows:,} of {self.given_rows:,} events)"

    @property
    def notes(self) -> tuple[str, ...]:
        """What to tell about them."""
        merged = Sentence(
            "{events:,} events became {trips:,} trips of {people:,} people; a person has several rows: name {person} as the person id",
            events=self.given_rows,
            trips=self.rows.num_rows,
            people=pc.count_distinct(self.rows[self.person]).as_py(),
            person=self.person,
        )
        if not self.left_out:
            return (merged,)
        return (
            merged,
            Sentence(
                "left out, since they differ within trips and nothing is said of them: {names}",
                names=self.left_out,
            ),
        )

    @property
    def frame_kind(self) -> FrameKind:
        return FrameKind("arrow" if self.kind.library == "pyspark" else self.kind.library)

    def to_arrow(self) -> pa.Table:
        """The trips as an Arrow table."""
        return self.rows

    def to_dict(self) -> dict[str, object]:
        """What was done, without rows."""
        return {
            "schema": "discreet-trips-1",
            "events": self.given_rows,
            "trips": self.rows.num_rows,
            "columns": self.rows.column_names,
            "left_out": list(self.left_out),
            "notes": list(self.notes),
        }

    def save(self, path: str | PathLike[str]) -> Path:
        """Write them to a file that nobody else can read: nothing was released yet."""
        target = Path(path)
        check_target(target)
        refuse_clashes([target], self.files)
        atomically(target, lambda part: write_rows(self.rows, part), private=True)
        return target


def merge_events(
    source: object,
    *,
    person: str,
    time: str,
    gap: float = GAP,
    within: Sequence[str] = (),
    take: Mapping[str, Summary | Sequence[Summary]] | None = None,
    progress: Asked = None,
) -> Trips:
    """Consecutive rows of a person as one row: what happened, in one line per trip.

    Rows of a ``person`` are put in the order of ``time``; a trip ends where the next row is more than ``gap`` minutes later, or
    where a column of ``within`` (a number of trips, say) changes. A trip has its person, a number, ``start``, ``end`` and how many
    ``events``; of the other columns those that are the same in every trip, and what ``take`` asks for: first, last, minimum,
    maximum, mean, sum, mode (of several the one that came first) or how many distinct values.
    Nulls count for nothing. Metrics evaluation on car data, 2023, section 4.4.

    >>> from datetime import datetime
    >>> rows = pa.table({"car": [7, 7, 7, 8], "at": [datetime(2024, 1, 1, h, m) for h, m in ((8, 0), (8, 20), (17, 5), (8, 1))],
    ...     "speed": [50.0, 70.0, 30.0, 90.0], "fuel": ["EV", "EV", "EV", "gas"]})
    >>> trips = merge_events(rows, person="car", time="at", take={"speed": "mean"})
    >>> trips.to_arrow().drop_columns(["start", "end"]).to_pylist()[:2]
    [{'car': 7, 'trip': 1, 'events': 2, 'fuel': 'EV', 'speed': 60.0}, {'car': 7, 'trip': 2, 'events': 1, 'fuel': 'EV', 'speed': 30.0}]
    """
    need_number("trips", "gap", gap, most=60 * 24 * 36_500)
    table = source if isinstance(source, Table) else read(source)
    say = telling(progress)
    say("reading events")
    written = {column.name for column in table.columns if column.storage == "text" and column.numeric}
    events = as_numbers(table.engine.to_arrow(table), written & set(take or {}))
    asked = _asked(take or {}, events, person, time, within)
    if not events.num_rows:
        raise EmptyTable("the table has no rows", remedy="give a table with one row for each event")
    moments = _moments(events, time)
    lacking = int(pc.sum(pc.or_(events[person].is_null(), pc.is_null(moments))).as_py() or 0)
    if lacking:
        raise UnsuitableColumn(
            Sentence(
                "{lacking:,} rows have no {person} or no {time}, so nobody knows which trip they belong to",
                lacking=lacking,
                person=person,
                time=time,
            ),
            remedy="leave these rows out first, or say whose they are",
        )
    say("merging events")
    order, first = _trips(events, moments, person, within, gap)
    events = events.take(pa.array(order))
    columns, left_out = _columns(events, moments.take(pa.array(order)), first, person, time, within, asked)
    return Trips(
        pa.table(columns), person, events.num_rows, tuple(left_out), table.frame_kind, table.source.files
    )


def _asked(
    take: Mapping[str, Summary | Sequence[Summary]],
    events: pa.Table,
    person: str,
    time: str,
    within: Sequence[str],
) -> list[tuple[str, str, Summary]]:
    """What is taken: the name of each new column, that of its column, and how; raises unless all of it can be."""
    for name in (person, time, *within, *take):
        if name not in events.column_names:
            raise UnknownColumn(name, events.column_names)
    asked: list[tuple[str, str, Summary]] = []
    for name, given in take.items():
        ways: Sequence[Summary] = [given] if isinstance(given, str) else list(given)
        for way in ways:
            need_choice("trips", "take", way, SUMMARIES)
            if way in OF_NUMBERS and not is_number(_plain(events, name).type):
                raise UnsuitableColumn(
                    Sentence(
                        "the column {name!r} does not hold numbers only, so it has no {way}",
                        name=name,
                        way=way,
                    ),
                    remedy="take first, last, mode or distinct of it, or read its missing marks as null (missing)",
                )
            asked.append((name if len(ways) == 1 else f"{name}_{way}", name, way))
    names = [person, TRIP, START, END, EVENTS, *within, *(name for name, _, _ in asked)]
    twice = sorted({name for name in names if names.count(name) > 1})
    if twice:
        raise InvalidParameter(
            Sentence("two columns of the trips would be called {name!r}", name=twice[0]),
            remedy="rename the column first, or take something else",
        )
    return asked


def _moments(events: pa.Table, time: str) -> pa.Array:
    """The moments of the events, in microseconds."""
    column = _plain(events, time)
    try:
        return pc.cast(column, pa.timestamp("us"), safe=False).cast(pa.int64())
    except (pa.ArrowInvalid, pa.ArrowNotImplementedError):
        raise UnsuitableColumn(
            Sentence("the column {name!r} does not hold moments", name=time),
            remedy="name the column that says when an event was, in ISO's notation (2024-01-31 08:15:00)",
        ) from None


def _trips(
    events: pa.Table, moments: pa.Array, person: str, within: Sequence[str], gap: float
) -> tuple[IntArray, IntArray]:
    """The rows in the order of persons and moments, and where in it trips begin."""
    people = pc.dictionary_encode(_plain(events, person))
    ranks = np.argsort(np.asarray(pc.sort_indices(people.dictionary)))
    owner = ranks[np.asarray(people.indices)]
    at = np.asarray(moments)
    order = np.lexsort((at, owner))
    new = np.ones(len(order), dtype=bool)
    later = np.diff(at[order]) > gap * 60e6
    new[1:] = (np.diff(owner[order]) != 0) | later
    for name in within:
        codes = pc.dictionary_encode(_plain(events, name), null_encoding="encode").indices
        new[1:] |= np.diff(np.asarray(codes)[order]) != 0
    return order, np.flatnonzero(new)


def _columns(
    events: pa.Table,
    moments: pa.Array,
    first: IntArray,
    person: str,
    time: str,
    within: Sequence[str],
    asked: Sequence[tuple[str, str, Summary]],
) -> tuple[dict[str, pa.Array], list[str]]:
    """The columns of the trips, and the names of those that were left out."""
    sizes = np.diff(np.append(first, events.num_rows))
    trip = np.repeat(np.arange(len(first)), sizes)
    people = pc.dictionary_encode(_plain(events, person)).indices.to_numpy()[first]
    begins = np.append(True, np.diff(people) != 0)
    number = np.arange(len(first)) - np.maximum.accumulate(np.where(begins, np.arange(len(first)), 0)) + 1
    stamps = _plain(events, time)
    columns = {
        person: _plain(events, person).take(pa.array(first)),
        TRIP: pa.array(number),
        START: stamps.take(pa.array(first)),
        END: stamps.take(pa.array(first + sizes - 1)),
        EVENTS: pa.array(sizes),
    }
    taken = {name for _, name, _ in asked}
    left_out = []
    for name in events.column_names:
        if name in (person, time) or name in taken:
            continue
        column = _plain(events, name)
        codes = pc.dictionary_encode(column, null_encoding="encode").indices.to_numpy()
        if name in within or (codes == codes[first][trip]).all():
            columns[name] = column.take(pa.array(first))
        else:
            left_out.append(name)
    for new, name, way in asked:
        columns[new] = _summary(_plain(events, name), trip, len(first), way)
    return columns, left_out


def _summary(column: pa.Array, trip: IntArray, trips: int, way: Summary) -> pa.Array:
    """One value of a column for each trip; nulls count for nothing."""
    known = np.flatnonzero(np.asarray(column.is_valid()))
    rows = pa.table({"trip": trip[known], "value": column.take(pa.array(known))})
    grouped = _GROUPED[way](rows)
    place = pc.index_in(pa.array(np.arange(trips)), value_set=grouped["trip"].combine_chunks())
    values = grouped["value"].combine_chunks().take(place)
    return pc.fill_null(values, 0) if way == "distinct" else values


def _by(function: str) -> Callable[[pa.Table], pa.Table]:
    def summed(rows: pa.Table) -> pa.Table:
        grouped = rows.group_by("trip", use_threads=False).aggregate([("value", function)])
        return grouped.rename_columns([name.removesuffix(f"_{function}") for name in grouped.column_names])

    return summed


def _modes(rows: pa.Table) -> pa.Table:
    """The most frequent value of each trip; of several the one that came first."""
    codes = pc.dictionary_encode(rows["value"].combine_chunks())
    trip, code = rows["trip"].to_numpy(), codes.indices.to_numpy()
    _, places, often = np.unique(
        trip * (len(codes.dictionary) or 1) + code, return_index=True, return_counts=True
    )
    order = np.lexsort((places, -often, trip[places]))
    owner = trip[places][order]
    best = order[np.append(True, np.diff(owner) != 0)] if len(order) else order
    return pa.table(
        {"trip": trip[places][best], "value": codes.dictionary.take(pa.array(code[places][best]))}
    )


_GROUPED: Mapping[Summary, Callable[[pa.Table], pa.Table]] = {
    "first": _by("first"),
    "last": _by("last"),
    "minimum": _by("min"),
    "maximum": _by("max"),
    "mean": _by("mean"),
    "sum": _by("sum"),
    "mode": _modes,
    "distinct": _by("count_distinct"),
}


def _plain(events: pa.Table, name: str) -> pa.Array:
    return events[name].combine_chunks()
