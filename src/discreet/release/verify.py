"""Verify a written release from the outside: read the file anew and count it by a path of its own.

Nothing here comes from the search or from an engine: pyarrow reads and groups the file, and the requirements
are asked of what it counted.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.csv
import pyarrow.feather
import pyarrow.parquet
from numpy.typing import NDArray

from discreet.classes import EquivalenceClasses
from discreet.privacy import PrivacyModel
from discreet.table.hierarchy import ROOT

UNSEEN = "\x00not shown"
"""Stands, inside this check only, for the quasi-identifiers of records that the release does not show."""


@dataclass(frozen=True)
class Verification:
    """What reading the written file back has shown."""

    rows: int
    classes: int
    smallest: int
    failures: tuple[str, ...]

    @property
    def holds(self) -> bool:
        return not self.failures

    def to_dict(self) -> dict[str, object]:
        return {
            "rows": self.rows,
            "classes": self.classes,
            "smallest_class": self.smallest,
            "failures": list(self.failures),
        }


def read_back(path: Path) -> pa.Table:
    """The rows of a written release, by pyarrow (or calamine for spreadsheets) alone."""
    suffix = path.suffix.lower()
    if suffix in (".parquet", ".pq"):
        return pyarrow.parquet.read_table(path)
    if suffix in (".arrow", ".feather", ".ipc"):
        return pyarrow.feather.read_table(path)
    if suffix == ".xlsx":
        from python_calamine import CalamineWorkbook

        head, *rows = CalamineWorkbook.from_path(str(path)).get_sheet_by_index(0).to_python()
        columns = zip(*rows, strict=True) if rows else [[] for _ in head]
        return pa.table(
            {str(n): pa.array([str(v) for v in c], pa.string()) for n, c in zip(head, columns, strict=True)}
        )
    delimiter = "\t" if suffix == ".tsv" else ","
    with pyarrow.csv.open_csv(
        path, parse_options=pyarrow.csv.ParseOptions(delimiter=delimiter, newlines_in_values=True)
    ) as csv:
        names = csv.schema.names
    return pyarrow.csv.read_csv(
        path,
        parse_options=pyarrow.csv.ParseOptions(delimiter=delimiter, newlines_in_values=True),
        convert_options=pyarrow.csv.ConvertOptions(
            column_types=dict.fromkeys(names, pa.string()),
            strings_can_be_null=True,
            quoted_strings_can_be_null=False,
        ),
    )


def verify(
    rows: pa.Table,
    models: Sequence[PrivacyModel],
    *,
    quasi_identifiers: Sequence[str],
    person: str | None,
    original: Mapping[str, Mapping[str, int]],
    starred: bool,
) -> Verification:
    """Ask every requirement of the rows that were read back.

    ``original`` has, per sensitive attribute, how often each value occurs in the original table: distances
    are measured from the distribution of all input records, those included that the release does not show.
    Records whose quasi-identifiers are all ``*`` are suppressed and asked nothing if ``starred``.
    """
    shown = _shown(rows, quasi_identifiers) if starred else rows
    base = _count(shown, quasi_identifiers, person)
    failures: list[str] = []
    for model in models:
        counted = base
        if model.sensitive is not None:
            counted = _count(
                shown,
                quasi_identifiers,
                person,
                sensitive=model.sensitive,
                original=original[model.sensitive],
            )
        asked = model.holds(counted) | _unseen(counted)
        if not asked.all():
            failures.append(f"{model.describe()}: {int((~asked).sum())} classes fail")
    smallest = int(base.persons.min()) if len(base) else 0
    return Verification(rows.num_rows, len(base), smallest, tuple(failures))


def canonical(value: object) -> str:
    """A value in the form in which it is recognised again, however it was written to the file.

    >>> canonical(1.0), canonical("1"), canonical(None), canonical("x")
    ('1.0', '1.0', '∅', 'x')
    """
    if value is None:
        return "∅"
    try:
        return repr(float(str(value)))
    except ValueError:
        return str(value)


def _shown(rows: pa.Table, quasi_identifiers: Sequence[str]) -> pa.Table:
    """The records of which at least one quasi-identifier is shown."""
    any_shown = pa.scalar(False)
    for name in quasi_identifiers:
        starred = pc.fill_null(pc.equal(pc.cast(rows[name], pa.string()), ROOT), False)
        any_shown = pc.or_(any_shown, pc.invert(starred))
    return rows.filter(any_shown) if quasi_identifiers else rows


def _count(
    rows: pa.Table,
    quasi_identifiers: Sequence[str],
    person: str | None,
    *,
    sensitive: str | None = None,
    original: Mapping[str, int] | None = None,
) -> EquivalenceClasses:
    """The classes of the rows; with ``original``, one further class for the records that are not shown."""
    columns = [*quasi_identifiers, *([person] if person else []), *([sensitive] if sensitive else [])]
    grouped = rows.select(columns).group_by(columns).aggregate([([], "count_all")])
    counts = grouped["count_all"].to_pylist()
    cells: dict[str, list[object]] = {name: grouped[name].to_pylist() for name in columns}
    for name in quasi_identifiers:
        cells[name] = [None if value is None else str(value) for value in cells[name]]
    if sensitive is not None:
        cells[sensitive] = [canonical(value) for value in cells[sensitive]]
        seen: Counter[str] = Counter()
        for value, count in zip(cells[sensitive], counts, strict=True):
            seen[str(value)] += count
        for value, total in (original or {}).items():
            if total > seen[value]:
                for name in quasi_identifiers:
                    cells[name].append(UNSEEN)
                if person:
                    cells[person].append(None)
                cells[sensitive].append(value)
                counts.append(total - seen[value])
        cells[sensitive] = [None if value == "∅" else value for value in cells[sensitive]]
    return EquivalenceClasses.from_columns(
        {name: cells[name] for name in quasi_identifiers},
        sensitive={sensitive: cells[sensitive]} if sensitive else None,
        person=cells[person] if person else None,
        counts=counts,
    )


def _unseen(classes: EquivalenceClasses) -> NDArray[np.bool_]:
    """The class that stands for records that are not shown."""
    if not classes.names:
        return np.zeros(len(classes), dtype=bool)
    marked = np.array([label == UNSEEN for label in classes.attributes[0].labels()])
    return np.asarray(marked[classes.codes[0]])
