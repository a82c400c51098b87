"""Verify a written release from the outside: read the file anew and count it by a path of its own.

Nothing here comes from the search or from an engine: pyarrow reads the file, numpy groups what it reads, and the
requirements are asked of what was counted.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.csv
import pyarrow.feather
import pyarrow.parquet

from discreet.classes import EquivalenceClasses
from discreet.privacy import DistributionModel, KnownBy, PersonalisedPrivacy, PrivacyModel
from discreet.release.tally import RowBatches, Tally, canonical, unseen_class
from discreet.risk.unexamined import SHARE
from discreet.sentences import Sentence
from discreet.table.hierarchies.hierarchy import ROOT

KEEPS_BLANKS = (".parquet", ".pq", ".arrow", ".feather", ".ipc")
"""Formats in which every reader tells an empty text from a null."""


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
    rows: pa.Table | RowBatches,
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
    guarding: Collection[str] = (),
    beside: Callable[[EquivalenceClasses], EquivalenceClasses] = lambda classes: classes,
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
    may not be in the file; ``guarding`` are those that somebody put beside its rows, with what people guard. ``beside`` counts the people of the population who share the values of each class, where a
    model asks for them.
    """
    held = rows if isinstance(rows, RowBatches) else RowBatches.of_table(rows)
    failures = [
        Sentence("{name} is left out of the release, and is in the file", name=name)
        for name in absent
        if name in held.names and name not in guarding
    ]
    unhidden = Sentence("records that are suppressed show their quasi-identifiers")
    if not held.rows:
        return Verification(0, 0, 0, (*failures, *([unhidden] if starred and suppressed else [])))
    asked_about = dict.fromkeys(model.sensitive for model in models if model.sensitive is not None)
    guards = [name for name in held.names if name in guarding]
    tally = Tally.of(
        held,
        quasi_identifiers,
        person=person,
        sensitive=list({**dict.fromkeys(original), **asked_about}),
        guards=guards,
        blanks_are_nulls=blanks_are_nulls,
    )
    base = tally.classes
    forms = {name: _forms((stand_ins or {}).get(name, ROOT)) for name in quasi_identifiers}
    if starred and tally.showing(forms) < suppressed:
        failures.append(unhidden)
    left = {name: _left(tally.totals(name), totals, blanks_are_nulls) for name, totals in original.items()}
    failures += [
        Sentence("{name} has values that the original does not have, or has them more often", name=name)
        for name, counted in left.items()
        if min(counted.values(), default=0) < 0
    ]
    failures += [
        Sentence("{name} singles people out, and nobody judged it", name=name)
        for name in unexamined
        if held.singles(name) > SHARE * held.rows
    ]
    for model in models:
        counted = beside(base) if model.needs_population else base
        if model.sensitive is not None and not model.needs_guards and not _against_release(model):
            # Subtracting from nothing leaves what is above 0.
            counted = tally.with_unseen(model.sensitive, +left[model.sensitive])
        failures += _asked(model, counted)
    if mean_limit is not None:
        sizes, classes = np.unique(np.stack([base.records, base.persons]), axis=1, return_counts=True)
        risks = zip(sizes[0].tolist(), sizes[1].tolist(), classes.tolist(), strict=True)
        if sum(Fraction(records * of, persons) for records, persons, of in risks) > mean_limit * held.rows:
            failures.append(
                Sentence("the mean prosecutor risk is above {limit:.4g}", limit=float(mean_limit))
            )
    return Verification(held.rows, len(base), int(base.persons.min()), tuple(failures))


def _against_release(model: PrivacyModel) -> bool:
    """Whether it compares classes with what is released."""
    asked = model.model if isinstance(model, KnownBy) else model
    return isinstance(asked, DistributionModel) and asked.relative


def _asked(model: PrivacyModel, counted: EquivalenceClasses) -> list[Sentence]:
    """What of the counted classes does not meet a requirement."""
    told = Sentence(model.describe())
    if isinstance(model, PersonalisedPrivacy) and not model.told(counted):
        return [Sentence("{requirement}: nobody can tell", requirement=told)]
    holds = model.holds(counted) | unseen_class(counted)
    if holds.all():
        return []
    return [Sentence("{requirement}: {classes} classes fail", requirement=told, classes=int((~holds).sum()))]


def _left(
    shown: Mapping[str | None, int], original: Mapping[str | None, int], blanks_are_nulls: bool
) -> Counter[str | None]:
    """How often each value of the original is not shown; negative where it is shown too often."""
    left: Counter[str | None] = Counter()
    for value, total in original.items():
        left[(value or None) if blanks_are_nulls else value] += total
    left.subtract(shown)
    return left


def _forms(value: object) -> list[str]:
    """The ways in which files print a value."""
    printed = {str(value), canonical(value), pc.cast(pa.scalar(value), pa.string()).as_py()}
    return sorted(form for form in printed if form is not None)
