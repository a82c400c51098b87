"""Several tables released together: made, verified on what was written, and put in place whole or not at all."""

from __future__ import annotations

import json
from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from itertools import combinations
from os import PathLike
from pathlib import Path

import pyarrow as pa

from discreet.errors import DiscreetError, InvalidParameter, RequirementNotMet
from discreet.files.writing import folder_atomically, refuse_filled_folder
from discreet.plain import Printed
from discreet.relational.judging import RelationalAudit, judge_related
from discreet.relational.policy import KnownEvents, RelationalPolicy
from discreet.relational.rows import RelatedTables
from discreet.relational.sources import open_tables
from discreet.release.verify import read_back
from discreet.release.write import write_rows
from discreet.sentences import Sentence

SUFFIXES = (".csv", ".parquet")


@dataclass(frozen=True)
class TableChange:
    """What became of one table: how many rows it had and has, and the level of each generalised column with its loss."""

    rows: int
    kept: int
    columns: tuple[str, ...]
    levels: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True)
class RelationalRelease(Printed):
    """Several tables that may be given away together, with what shows it.

    Keys are pseudonyms that were drawn anew: they tie the tables to each other and to nothing else.
    """

    policy: RelationalPolicy = field(repr=False)
    tables: Mapping[str, pa.Table] = field(repr=False)
    changes: Mapping[str, TableChange]
    loss: float
    before: RelationalAudit = field(repr=False)
    after: RelationalAudit = field(repr=False)
    notes: tuple[str, ...] = ()

    def __str__(self) -> str:
        return str(self.after.says)

    def to_dict(self) -> dict[str, object]:
        """What was done and what it cost, as JSON-ready data without values."""
        return {
            "schema": "discreet-related-release-1",
            "loss": self.loss,
            "tables": {
                name: {
                    "rows": change.rows,
                    "kept": change.kept,
                    "columns": list(change.columns),
                    "levels": dict(change.levels),
                }
                for name, change in self.changes.items()
            },
            "before": self.before.to_dict(),
            "after": self.after.to_dict(),
            "notes": list(self.notes),
        }

    def save(self, folder: str | PathLike[str], *, suffix: str = ".csv") -> tuple[Path, ...]:
        """Write every table to a file of a new folder, verified on what was written.

        Tables that do not hold what they promise raise ``RequirementNotMet``, and no folder appears.
        """
        target = Path(folder)
        if suffix not in SUFFIXES:
            raise InvalidParameter(
                Sentence("tables are written as {suffixes}", suffixes=SUFFIXES), remedy="name one of them"
            )
        files = self.policy.files(suffix)
        refuse_filled_folder(target)

        def written(part: Path) -> None:
            for name, rows in self.tables.items():
                write_rows(rows, part / files[name])

        def checked(part: Path) -> None:
            try:
                back = {name: read_back(part / file) for name, file in files.items()}
                told = self.complaint(back) or self._unmet(part, files)
            except (pa.ArrowException, ValueError, OSError):
                told = "it cannot be read back"
            if told:
                raise RequirementNotMet(
                    Sentence(
                        "the written release does not meet its requirements ({told})", told=Sentence(told)
                    ),
                    remedy="nothing was written",
                )

        folder_atomically(target, written, checked)
        return tuple(target / file for file in files.values())

    def _unmet(self, part: Path, files: Mapping[str, str]) -> str:
        """What the tables fail, judged as whoever receives them would."""
        try:
            tables = open_tables({name: str(part / file) for name, file in files.items()})
            judged = judge_related(RelatedTables.of(tables, self.policy), lambda _: None)
        except DiscreetError:
            return "the tables do not belong together any more"
        return "" if judged.holds else "a table does not meet what is asked of it"

    def complaint(self, tables: Mapping[str, pa.Table]) -> str:
        """What is wrong with tables that were read back, or nothing; counted by plain loops."""
        for name, rows in self.tables.items():
            if tables[name].column_names != rows.column_names or tables[name].num_rows != rows.num_rows:
                return "a table has other columns or rows"
        held = {name: _texts(rows) for name, rows in tables.items()}
        told = broken_references(held, self.policy)
        if told:
            return told
        people = seen_people(held, self.policy)
        return "" if fewest_alike(people, self.policy.known_events) >= self.policy.k else "people are found"


Row = Mapping[str, str | None]


def _texts(rows: pa.Table) -> list[Row]:
    """Rows with their values as texts."""
    columns = {name: rows.column(name).cast(pa.string()).to_pylist() for name in rows.column_names}
    return [dict(zip(columns, values, strict=True)) for values in zip(*columns.values(), strict=True)]


def broken_references(tables: Mapping[str, Sequence[Row]], policy: RelationalPolicy) -> str:
    """What is wrong with the keys of tables, or nothing."""
    keys = {t.name: [row[t.key] for row in tables[t.name]] for t in policy.tables if t.key is not None}
    if any(None in values or len(set(values)) < len(values) for values in keys.values()):
        return "a key is there twice"
    known = {name: set(values) for name, values in keys.items()}
    for table in policy.tables:
        for column, to in {**table.refers, **table.looks_up}.items():
            if any(row[column] not in known[to] for row in tables[table.name]):
                return "a reference finds nothing"
    return ""


@dataclass(frozen=True)
class SeenPerson:
    """What is seen of a person: the values in the people's table, all rows below in one, and each row with those above it."""

    root: tuple[str | None, ...]
    whole: object
    rows: tuple[object, ...]


def seen_people(tables: Mapping[str, Sequence[Row]], policy: RelationalPolicy) -> list[SeenPerson]:
    """Everybody as an intruder sees them who knows quasi-identifiers, by plain loops."""
    below: dict[str, dict[str | None, list[Row]]] = {}
    for table in map(policy.table, policy.knowable):
        parent = policy.parent(table.name)
        assert parent is not None, "events refer to people"
        held: dict[str | None, list[Row]] = defaultdict(list)
        for row in tables[table.name]:
            held[row[parent[0]]].append(row)
        below[table.name] = held

    def values(name: str, row: Row) -> tuple[str | None, ...]:
        return tuple(row.get(column) for column in policy.table(name).quasi_identifiers)

    def all_below(name: str, row: Row, above: tuple[object, ...], rows: list[object]) -> object:
        parts = []
        key = policy.table(name).key
        for child in policy.children(name):
            if child not in below:
                continue
            told = []
            for under in below[child].get(None if key is None else row[key], ()):
                way = (*above, child, values(child, under))
                rows.append(way)
                told.append((values(child, under), all_below(child, under, way, rows)))
            parts.append((child, tuple(sorted(told, key=repr))))
        return tuple(parts)

    people = []
    for row in tables[policy.people]:
        rows: list[object] = []
        whole = all_below(policy.people, row, (), rows)
        people.append(SeenPerson(values(policy.people, row), whole, tuple(rows)))
    return people


def fewest_alike(people: Sequence[SeenPerson], known: KnownEvents) -> int:
    """The fewest people who share what is known of one of them, by plain loops."""
    if known == "all":
        return min(Counter((person.root, person.whole) for person in people).values())
    counts: Counter[object] = Counter()
    for person in people:
        again: Counter[object] = Counter()
        rows = []
        for row in person.rows:
            again[row] += 1
            rows.append((repr(row), again[row]))
        rows.sort()
        for size in range(min(known, len(rows)) + 1):
            counts.update((person.root, chosen) for chosen in combinations(rows, size))
    return min(counts.values())


def as_json(release: RelationalRelease) -> str:
    """What was done, as JSON."""
    return json.dumps(release.to_dict(), ensure_ascii=False, indent=2) + "\n"
