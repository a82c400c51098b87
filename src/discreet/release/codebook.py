"""The codebook: what every label of a release stands for, for whoever holds nothing but the release."""

from __future__ import annotations

import math
import re
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path

import numpy as np
import pyarrow as pa

from discreet.files.writing import atomically
from discreet.policy.hierarchies import FittedHierarchy
from discreet.release.write import write_rows
from discreet.table.domain import NULL_SIGN
from discreet.table.hierarchies.hierarchy import ROOT
from discreet.table.values import Interval, Masked, OneOf, number_text, parse
from discreet.transform.recoding import Recoding, ReleasedAttribute

SEPARATOR = "; "
ANY = "any value"
MISSING = "missing"
SUPPRESSED = "suppressed: not told"
CENTRE = "a mean or another centre of the values that stood there"


@dataclass(frozen=True)
class CodebookEntry:
    """A label of a column, what it stands for, and how many records of the release have it."""

    column: str
    label: str
    meaning: str
    records: int

    def to_dict(self) -> dict[str, object]:
        return asdict(self)


def make_codebook(recoding: Recoding, fitted: Sequence[FittedHierarchy] = ()) -> tuple[CodebookEntry, ...]:
    """What every label of the quasi-identifiers stands for, in the order of the original values.

    It tells nothing that the release does not: a set that was made from the data is told by the values that released
    records with this label have, and the number of the others; a node of a hierarchy that somebody gave or that is
    known by the values that as many released records have as the smallest class has; intervals and masked texts by what
    they say, without the values inside.

    >>> from discreet.classes import EquivalenceClasses
    >>> towns = ["Aachen", "Bonn", "Celle", "Celle"]
    >>> classes = EquivalenceClasses.from_columns({"age": [31, 34, 64, 107], "town": towns})
    >>> groups = Recoding.of_groups(classes, np.array([0, 0, 1, 1]), kept=np.array([True, True]), method="example")
    >>> [(entry.label, entry.meaning, entry.records) for entry in make_codebook(groups)]
    [('[31, 34]', '31 to 34', 2), ('[64, 107]', '64 to 107', 2), ('{Aachen, Bonn}', 'Aachen; Bonn', 2), ('Celle', 'Celle', 2)]
    """
    given = {hierarchy.ladder.name: hierarchy for hierarchy in fitted if not hierarchy.learned}
    smallest = int(recoding.released().records.min())
    return tuple(
        entry
        for at, column in enumerate(recoding.columns)
        for entry in _entries(recoding, at, column, smallest if column.name in given else 1)
    )


def _entries(recoding: Recoding, at: int, column: ReleasedAttribute, least: int) -> list[CodebookEntry]:
    """The labels of one attribute; values that fewer than ``least`` released records have are not named."""
    domain, kept = recoding.classes.attributes[at], recoding.kept
    new, old = column.codes[kept], recoding.classes.codes[at][kept]
    records = recoding.classes.records[kept]
    labels, printed = domain.labels(), column.printed()
    per_value = np.bincount(old, weights=records, minlength=domain.size)
    per_label = np.bincount(new, weights=records, minlength=len(printed)).astype(np.int64)
    members: dict[int, list[int]] = {}
    for pair in np.unique(new.astype(np.int64) * domain.size + old).tolist():
        members.setdefault(pair // domain.size, []).append(pair % domain.size)
    unchanged = set(labels)
    # Numbers and truth values as a text file has them.
    shown = column.values.cast(pa.string()).to_pylist()
    entries = []
    for code in sorted(members, key=lambda code: (members[code], code)):
        label = printed[code]
        values = [labels[value] for value in members[code] if per_value[value] >= least]
        if not column.truthful:
            meaning = CENTRE
        elif label in unchanged:
            meaning = MISSING if label == NULL_SIGN else label
        else:
            meaning = meaning_of(label, values, others=len(members[code]) > len(values))
        entries.append(_entry(column.name, shown[code], meaning, int(per_label[code])))
    if recoding.hidden is not None and not kept.all():
        told = recoding.hidden[column.name].cast(pa.string())[-1].as_py()
        entries.append(_entry(column.name, told, SUPPRESSED, recoding.suppressed_records))
    return entries


def _entry(column: str, label: str | None, meaning: str, records: int) -> CodebookEntry:
    """A line of the codebook; a null has an empty label, and NUL is shown as its picture, as a text file needs it."""
    label, meaning = (text.replace("\0", "\u2400") for text in (label or "", meaning))
    return CodebookEntry(column, label, meaning, records)


def meaning_of(label: str, values: Sequence[str], *, others: bool = False) -> str:
    """What a label stands for, in words; ``values`` may be named, ``others`` may not.

    >>> meaning_of("[30, 40)", []), meaning_of(">= 64", []), meaning_of("[1980-01-01, 1981-06-30]", [])
    ('30 to less than 40', '64 or more', '1980-01-01 to 1981-06-30')
    >>> meaning_of("{cook, nurse, +2}", ["cook", "judge", "nurse"]), meaning_of("1020*", ["10201"])
    ('cook; judge; nurse; and 1 more', '1020*, where * hides what follows or stood there')
    >>> meaning_of("Oceania", ["Fiji", "Samoa"], others=True), meaning_of("*", [])
    ('Oceania: Fiji; Samoa; and others', 'any value')
    """
    meant = parse(label)
    if label == ROOT:
        return ANY
    if isinstance(meant, Interval):
        return _between(meant)
    if dates := re.fullmatch(r"\[(\S+), (\S+)\]", label):
        return f"{dates[1]} to {dates[2]}"
    if dates := re.fullmatch(r"([<>])= (\S+)", label):
        return f"{dates[2]} or {'earlier' if dates[1] == '<' else 'later'}"
    if isinstance(meant, Masked):
        return f"{label}, where * hides what follows or stood there"
    if isinstance(meant, OneOf):
        named = dict.fromkeys((*values, *meant.members))
        more = len(meant.members) + meant.more - len(named)
        return SEPARATOR.join([*named, *([f"and {more} more"] if more > 0 else [])])
    told = [*values, *(["and others"] if others and values else [])]
    return f"{label}: {SEPARATOR.join(told)}" if told else label


def _between(interval: Interval) -> str:
    """An interval in words."""
    low, high = (
        "" if math.isinf(end) else f"{number_text(end)}{interval.unit}"
        for end in (interval.low, interval.high)
    )
    if math.isinf(interval.high):
        return f"{low} or more" if interval.closed_low else f"more than {low}"
    if math.isinf(interval.low):
        return f"{high} or less" if interval.closed_high else f"less than {high}"
    first = low if interval.closed_low else f"more than {low}"
    return f"{first} to {high}" if interval.closed_high else f"{first} to less than {high}"


def write_codebook(entries: Sequence[CodebookEntry], path: Path) -> None:
    """Write a codebook as a table, in the format that the file's name asks for."""
    rows = pa.table(
        {
            "column": pa.array([entry.column for entry in entries], pa.string()),
            "label": pa.array([entry.label for entry in entries], pa.string()),
            "meaning": pa.array([entry.meaning for entry in entries], pa.string()),
            "records": pa.array([entry.records for entry in entries], pa.int64()),
        }
    )
    atomically(path, lambda scratch: write_rows(rows, scratch))
