"""Verify a written release from the outside: read the file anew and count it by a path of its own.

Nothing here comes from the search or from an engine: pyarrow reads and groups the file, and the requirements
are asked of what it counted.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.csv
import pyarrow.feather
import pyarrow.parquet

from discreet.classes import EquivalenceClasses
from discreet.privacy import DistributionModel, PrivacyModel
from discreet.risk.unexamined import SHARE
from discreet.table.hierarchies.hierarchy import ROOT
from discreet.types import BoolArray

KEEPS_BLANKS = (".parquet", ".pq", ".arrow", ".feather", ".ipc")
"""Formats in which every reader tells an empty text from a null."""

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


def read_back(path: Path, types: Mapping[str, pa.DataType] | None = None) -> pa.Table:
    """The rows of a written release, by pyarrow (or calamine for spreadsheets) alone.

    Columns of a text file are read as the ``types`` say, all others as the text that stands there: a field
    without quotes and without content is a null, ``""`` an empty text.
    """
    suffix = path.suffix.lower()
    if suffix in (".parquet", ".pq"):
        return pyarrow.parquet.read_table(path)
    if suffix in (".arrow", ".feather", ".ipc"):
        return pyarrow.feather.read_table(path)
    if suffix == ".xlsx":
        from python_calamine import CalamineWorkbook

        sheet = CalamineWorkbook.from_path(str(path)).get_sheet_by_index(0)
        head, *rows = sheet.to_python(skip_empty_area=False)
        columns = zip(*rows, strict=True) if rows else [[] for _ in head]
        return pa.table(
            {
                str(n): pa.array([canonical(v) or None for v in c], pa.string())
                for n, c in zip(head, columns, strict=True)
            }
        )
    # A null that is alone on its line leaves the line empty.
    parsing = pyarrow.csv.ParseOptions(
        delimiter="\t" if suffix == ".tsv" else ",", newlines_in_values=True, ignore_empty_lines=False
    )
    with pyarrow.csv.open_csv(path, parse_options=parsing) as csv:
        names = csv.schema.names
    return pyarrow.csv.read_csv(
        path,
        parse_options=parsing,
        convert_options=pyarrow.csv.ConvertOptions(
            column_types={name: (types or {}).get(name, pa.string()) for name in names},
            null_values=[""],
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
    original: Mapping[str, Mapping[str | None, int]],
    starred: bool,
    suppressed: int = 0,
    stand_ins: Mapping[str, object] | None = None,
    blanks_are_nulls: bool = False,
    mean_limit: Fraction | None = None,
    unexamined: Collection[str] = (),
    absent: Collection[str] = (),
) -> Verification:
    """Ask every requirement of the rows that were read back.

    ``original`` has, per sensitive attribute, how often each value occurs in the original table. Distances are
    measured from the distribution of the rows, or, where a model says so, from that of all input records, those
    included that the release does not show.
    If suppressed records are ``starred``, at least the ``suppressed`` ones have ``*`` in all quasi-identifiers, or
    the ``stand_ins`` for it, and are a class like any other. Of a text
    file most readers take an empty sensitive value for a null; then the two count as one
    (``blanks_are_nulls``). The mean over all rows of one over the persons of their class is at most ``mean_limit``.
    Of the ``unexamined`` columns none may make many rows unique by itself. Columns that are ``absent`` from the release
    may not be in the file.
    """
    failures = [
        f"{name} is left out of the release, and is in the file"
        for name in absent
        if name in rows.column_names
    ]
    if starred and _hidden(rows, quasi_identifiers, stand_ins or {}) < suppressed:
        failures.append("records that are suppressed show their quasi-identifiers")
    for name, totals in original.items():
        texts = _texts(rows[name], blanks_are_nulls)
        if min(_left(texts, totals, blanks_are_nulls).values(), default=0) < 0:
            failures.append(f"{name} has values that the original does not have, or has them more often")
    if not rows.num_rows:
        return Verification(0, 0, 0, tuple(failures))
    for name in unexamined:
        occurrences = pc.value_counts(rows[name].combine_chunks()).field("counts").to_numpy()
        if (occurrences == 1).sum() > SHARE * rows.num_rows:
            failures.append(f"{name} singles people out, and nobody judged it")
    base = _count(rows, quasi_identifiers, person)
    for model in models:
        counted = base
        if model.sensitive is not None:
            counted = _count(
                rows,
                quasi_identifiers,
                person,
                sensitive=model.sensitive,
                original={}
                if isinstance(model, DistributionModel) and model.relative
                else original[model.sensitive],
                blanks_are_nulls=blanks_are_nulls,
            )
        asked = model.holds(counted) | _unseen(counted)
        if not asked.all():
            failures.append(f"{model.describe()}: {int((~asked).sum())} classes fail")
    if mean_limit is not None:
        sizes = zip(base.records.tolist(), base.persons.tolist(), strict=True)
        if sum(Fraction(records, persons) for records, persons in sizes) > mean_limit * rows.num_rows:
            failures.append(f"the mean prosecutor risk is above {float(mean_limit):.4g}")
    return Verification(rows.num_rows, len(base), int(base.persons.min()), tuple(failures))


def canonical(value: object) -> str | None:
    """A value in the form in which it is recognised again, whatever type the file gave it.

    >>> canonical(1.0), canonical(1), canonical("1.0"), canonical(None), canonical(["b", "a"])
    ('1', '1', '1.0', None, 'a, b')
    """
    if value is None or isinstance(value, str):
        return value
    if isinstance(value, list):
        return ", ".join(sorted(str(member) for member in value))
    if isinstance(value, int | float | Decimal) and not isinstance(value, bool):
        if not math.isfinite(value):
            return None if math.isnan(value) else str(value)
        return str(int(value)) if value == int(value) else repr(float(value))
    return str(value)


def _texts(column: pa.ChunkedArray, blanks_are_nulls: bool) -> pa.Array:
    """The values of a column in canonical form: lists cannot be grouped, and 1.0 is 1."""
    values, codes = column.combine_chunks(), None
    if not pa.types.is_nested(values.type):
        encoded = values.dictionary_encode()
        values, codes = encoded.dictionary, encoded.indices
    texts = [canonical(value) for value in values.to_pylist()]
    canonicals = pa.array([text or None for text in texts] if blanks_are_nulls else texts, pa.string())
    return canonicals if codes is None else canonicals.take(codes)


def _left(
    texts: pa.Array | pa.ChunkedArray, original: Mapping[str | None, int], blanks_are_nulls: bool
) -> Counter[str | None]:
    """How often each value of the original is not among the texts; negative where it is too often."""
    left: Counter[str | None] = Counter()
    for value, total in original.items():
        left[(value or None) if blanks_are_nulls else value] += total
    for counted in texts.value_counts().to_pylist():
        left[counted["values"]] -= counted["counts"]
    return left


def _hidden(rows: pa.Table, quasi_identifiers: Sequence[str], stand_ins: Mapping[str, object]) -> int:
    """How many records show ``*``, or what stands for it, in all quasi-identifiers."""
    hidden = pa.scalar(True)
    for name in quasi_identifiers:
        forms = pa.array(_forms(stand_ins.get(name, ROOT)), pa.string())
        told = pc.is_in(pc.cast(rows[name], pa.string()), value_set=forms)
        hidden = pc.and_(hidden, pc.fill_null(told, False))
    return int(pc.sum(pc.cast(hidden, pa.int64())).as_py() or 0) if quasi_identifiers else 0


def _forms(value: object) -> list[str]:
    """The ways in which files print a value."""
    printed = {str(value), canonical(value), pc.cast(pa.scalar(value), pa.string()).as_py()}
    return sorted(form for form in printed if form is not None)


def _count(
    rows: pa.Table,
    quasi_identifiers: Sequence[str],
    person: str | None,
    *,
    sensitive: str | None = None,
    original: Mapping[str | None, int] | None = None,
    blanks_are_nulls: bool = False,
) -> EquivalenceClasses:
    """The classes of the rows; with ``original``, one further class for the records that are not shown."""
    columns = [*quasi_identifiers, *([person] if person else []), *([sensitive] if sensitive else [])]
    chosen = rows.select(columns)
    if sensitive is not None:
        chosen = chosen.set_column(len(columns) - 1, sensitive, _texts(rows[sensitive], blanks_are_nulls))
    grouped = chosen.group_by(columns).aggregate([([], "count_all")])
    counts = grouped["count_all"].to_pylist()
    cells: dict[str, list[object]] = {name: grouped[name].to_pylist() for name in columns}
    for name in quasi_identifiers:
        cells[name] = [None if value is None else str(value) for value in cells[name]]
    if sensitive is not None:
        for value, total in _left(chosen[sensitive], original or {}, blanks_are_nulls).items():
            if total > 0:
                for name in quasi_identifiers:
                    cells[name].append(UNSEEN)
                if person:
                    cells[person].append(None)
                cells[sensitive].append(value)
                counts.append(total)
    return EquivalenceClasses.from_columns(
        {name: cells[name] for name in quasi_identifiers},
        sensitive={sensitive: cells[sensitive]} if sensitive else None,
        person=cells[person] if person else None,
        counts=counts,
    )


def _unseen(classes: EquivalenceClasses) -> BoolArray:
    """The class that stands for records that are not shown."""
    if not classes.names:
        return np.zeros(len(classes), dtype=bool)
    marked = np.array([label == UNSEEN for label in classes.attributes[0].labels()])
    return np.asarray(marked[classes.codes[0]])
