"""The codebook: what every label of a release stands for, for whoever holds nothing but the release.

Labels of long sets name a few values only. Whoever reads the release again (to compare it, to attack it) needs the codebook
for what they stand for, as an intruder would, to whom it is handed out with the release.
"""

from __future__ import annotations

import csv
import io
import math
import os
import re
from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import asdict, dataclass
from os import PathLike
from pathlib import Path

import numpy as np
import pyarrow as pa

from discreet.classes import EquivalenceClasses
from discreet.classes.pair import Pair, Told
from discreet.errors import InvalidParameter
from discreet.files.addresses import database_address
from discreet.files.members import PATTERN
from discreet.files.reading import check_regular
from discreet.files.writing import atomically, parts_folder
from discreet.policy.hierarchies import FittedHierarchy
from discreet.release.verify import read_back
from discreet.release.write import write_rows
from discreet.sentences import Sentence
from discreet.table.domain import NULL_SIGN
from discreet.table.hierarchies.hierarchy import ROOT
from discreet.table.meaning import KINDS
from discreet.table.values import Interval, Masked, OneOf, as_set, number_text, parse
from discreet.transform.recoding import Recoding, ReleasedAttribute

SEPARATOR = "; "
ANY = "any value"
MISSING = "missing"
OTHERS = "and others"
SUPPRESSED = "suppressed: not told"
_MOMENT = r"\S+(?: \d\d:\S+)?"
_REST = r"and (\d+ more|others)"
HEADER = ("column", "label", "meaning", "records")
NAME = ".codebook.csv"
"""How the name of a codebook ends that stands beside its release."""
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


Given = str | PathLike[str] | Iterable[CodebookEntry]


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
    nodes = {
        hierarchy.ladder.name: {label for labels in hierarchy.hierarchy.labels for label in labels}
        for hierarchy in fitted
        if not hierarchy.learned
    }
    smallest = int(recoding.released().records.min())
    return tuple(
        entry
        for at, column in enumerate(recoding.columns)
        for entry in _entries(recoding, at, column, smallest, nodes.get(column.name, ()))
    )


def _entries(
    recoding: Recoding, at: int, column: ReleasedAttribute, smallest: int, nodes: Collection[str]
) -> list[CodebookEntry]:
    """The labels of one attribute; of public ``nodes`` values that fewer records have than the smallest class are not named."""
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
    of_time = pa.types.is_temporal(domain.values.type)
    # Numbers and truth values as a text file has them.
    shown = column.values.cast(pa.string()).to_pylist()
    entries = []
    for code in sorted(members, key=lambda code: (members[code], code)):
        label = printed[code]
        least = smallest if label in nodes else 1
        values = [labels[value] for value in members[code] if per_value[value] >= least]
        if not column.truthful:
            meaning = CENTRE
        elif label in unchanged:
            meaning = MISSING if label == NULL_SIGN else label
        else:
            # A period or span of days says which they are; the days inside would tell each record's own.
            inside = [] if of_time and not isinstance(parse(label), OneOf) else values
            meaning = meaning_of(label, inside, others=len(members[code]) > len(values))
        entries.append(_entry(column.name, shown[code], meaning, int(per_label[code])))
    if recoding.hidden is not None and not kept.all():
        told = recoding.hidden[column.name].cast(pa.string())[-1].as_py()
        entries.append(_entry(column.name, told, SUPPRESSED, recoding.suppressed_records))
    return entries


def _entry(column: str, label: str | None, meaning: str, records: int) -> CodebookEntry:
    """A line of the codebook; a null has an empty label."""
    return CodebookEntry(column, _shown(label or ""), _shown(meaning), records)


def _shown(text: str) -> str:
    """A text with NUL shown as its picture, as a text file needs it."""
    return text.replace("\0", "\u2400")


def meaning_of(label: str, values: Sequence[str], *, others: bool = False) -> str:
    """What a label stands for, in words; ``values`` may be named, ``others`` may not.

    >>> meaning_of("[30, 40)", []), meaning_of(">= 64", []), meaning_of("[1980-01-01, 1981-06-30]", [])
    ('30 to less than 40', '64 or more', '1980-01-01 to 1981-06-30')
    >>> meaning_of("[2019-03-08 14:51:00, 2019-03-11 16:55:59]", []), meaning_of(">= 2019-03-16 03:00:00", [])
    ('2019-03-08 14:51:00 to 2019-03-11 16:55:59', '2019-03-16 03:00:00 or later')
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
    if dates := re.fullmatch(rf"\[({_MOMENT}), ({_MOMENT})\]", label):
        return f"{dates[1]} to {dates[2]}"
    if dates := re.fullmatch(rf"([<>])= ({_MOMENT})", label):
        return f"{dates[2]} or {'earlier' if dates[1] == '<' else 'later'}"
    if isinstance(meant, Masked):
        return f"{label}, where * hides what follows or stood there"
    if isinstance(meant, OneOf):
        named = dict.fromkeys((*values, *meant.members))
        more = meant.total - len(named)
        rest = OTHERS if others else f"and {more} more"
        return SEPARATOR.join([*map(_quoted, named), *([rest] if more > 0 else [])])
    told = [*values, *([OTHERS] if others and values else [])]
    return f"{label}: {SEPARATOR.join(told)}" if told else label


def _quoted(value: str) -> str:
    """A value in a list; in double quotes if it would be misread without them."""
    plain = value and value == value.strip() and not re.search(rf'[";\r\n]|^{_REST}$', value)
    return value if plain else '"' + value.replace('"', '""') + '"'


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
    lines = [tuple(entry.to_dict().values()) for entry in entries]
    types = (pa.string(), pa.string(), pa.string(), pa.int64())
    rows = pa.table(
        [pa.array([line[at] for line in lines], kind) for at, kind in enumerate(types)], names=list(HEADER)
    )
    atomically(path, lambda scratch: write_rows(rows, scratch))


def codebook_place(release: Path) -> Path:
    """Where the codebook of a release stands if nobody names another place.

    >>> codebook_place(Path("taxis.csv")).name
    'taxis.codebook.csv'
    >>> codebook_place(Path("out/taxis/*.parquet")).as_posix()
    'out/taxis.codebook.csv'
    """
    release = parts_folder(release) or release
    return release.with_name(release.stem + NAME)


def codebook_beside(release: object) -> Path | None:
    """The codebook beside the file of a release, if there is one."""
    file = os.fspath(release).removeprefix(PATTERN) if isinstance(release, str | PathLike) else None
    place = None if file is None or database_address(file) else codebook_place(Path(file))
    return place if place is not None and place.is_file() else None


def read_codebook(path: str | PathLike[str]) -> tuple[CodebookEntry, ...]:
    """The lines of a codebook that was written with a release."""
    place = Path(path)
    check_regular(place)
    try:
        rows = read_back(place, {"records": pa.int64()}).select(list(HEADER))
        texts = [rows.column(name).cast(pa.string()).fill_null("").to_pylist() for name in HEADER[:3]]
        records = rows.column("records").cast(pa.int64()).to_pylist()
        return tuple(CodebookEntry(*line) for line in zip(*texts, records, strict=True))
    except (pa.ArrowException, KeyError, OSError, ValueError):
        raise InvalidParameter(
            Sentence(
                "{name} is no codebook: it has not the columns {columns}",
                name=place.name,
                columns=tuple(HEADER),
            ),
            remedy="give the file that was written with the release",
        ) from None


def told_sets(entries: Iterable[CodebookEntry]) -> dict[str, dict[str, OneOf]]:
    """Per column what its labels stand for that name some values only.

    >>> told_sets([CodebookEntry("town", "{Aachen, +2}", "Aachen; Bonn; and 1 more", 7)])
    {'town': {'{Aachen, +2}': OneOf(members=('Aachen', 'Bonn'), more=1, mark='')}}
    """
    told: dict[str, dict[str, OneOf]] = {}
    for entry in entries:
        label = as_set(entry.label)
        # A value of the table that looks like a set stands for itself.
        itself = entry.meaning == entry.label
        if label is not None and label.more and not itself and not entry.meaning.endswith(SEPARATOR + OTHERS):
            told.setdefault(entry.column, {})[entry.label] = _read_meaning(entry.meaning)
    return told


def _read_meaning(meaning: str) -> OneOf:
    """The values that a meaning lists, and how many it counts."""
    rest = re.fullmatch(rf"(?s)(.*){SEPARATOR}and (\d+) more", meaning)
    listed = meaning if rest is None else rest[1]
    rows = csv.reader(io.StringIO(listed, newline=""), delimiter=SEPARATOR.strip(), skipinitialspace=True)
    return OneOf(tuple(value for row in rows for value in row), 0 if rest is None else int(rest[2]))


def told_of(codebook: Given, released: EquivalenceClasses) -> Told:
    """What a codebook, or its file, tells of the labels of a release; it must be the one of this release.

    That it is one is seen by its numbers: as many records have each of these labels as it says.
    """
    entries = tuple(codebook) if not isinstance(codebook, str | PathLike) else read_codebook(codebook)
    told = told_sets(entries)
    records = {(entry.column, entry.label): entry.records for entry in entries}
    for name, label, counted in _counted_labels(released):
        if records.get((name, label)) != counted:
            raise InvalidParameter(
                Sentence(
                    "the codebook is not that of this release: it says something else of the labels of {name!r}",
                    name=name,
                ),
                remedy="give the codebook that was written with it (--codebook)",
            )
    return told


def without_meaning(pair: Pair) -> list[str]:
    """The columns with labels that name some values only, of which neither a codebook nor a hierarchy tells the others."""
    read = {
        meaning.name: dict(zip(meaning.released.labels(), meaning.kinds, strict=True))
        for meaning in pair.meanings
    }
    labels = [(name, label) for name, label, _ in _counted_labels(pair.released)]
    unknown = [
        name
        for name, label in labels
        if label not in pair.told.get(name, {}) and read[name].get(label) == KINDS.index("set")
    ]
    return list(dict.fromkeys(unknown))


def _counted_labels(released: EquivalenceClasses) -> Iterator[tuple[str, str, int]]:
    """The labels of a release that name some values only, each with its column and records."""
    for domain, codes in zip(released.attributes, released.codes, strict=True):
        if not pa.types.is_string(domain.values.type):
            continue
        records = np.bincount(codes, weights=released.records, minlength=domain.size)
        for code, label in enumerate(domain.values.to_pylist()):
            if (meant := as_set(label)) is not None and meant.more and records[code]:
                yield domain.name, _shown(label), int(records[code])
