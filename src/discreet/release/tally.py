"""Counting rows that were read back, batch by batch, by pyarrow and numpy alone: they are never in memory as a whole."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from decimal import Decimal
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet

from discreet.classes import EquivalenceClasses
from discreet.classes.packing import Packing, run_starts, smallest_type, sort_words
from discreet.table import Domain
from discreet.types import BoolArray, IntArray

BATCH_ROWS = 1 << 17
MERGED_AT = 1 << 22
"""So many further combinations are collected before they are merged with those that were counted."""
UNSEEN = "\x00not shown"
"""Stands, inside this check only, for the quasi-identifiers of records that the release does not show."""
NAN = math.nan
"""The one that stands for all: no two are equal."""


@dataclass(frozen=True)
class RowBatches:
    """Rows of a written release, given out batch by batch, as often as somebody asks."""

    names: tuple[str, ...]
    rows: int
    batches: Callable[[Sequence[str]], Iterator[pa.RecordBatch]] = field(repr=False)

    @classmethod
    def of_table(cls, rows: pa.Table) -> RowBatches:
        return cls(
            tuple(rows.column_names), rows.num_rows, lambda names: iter(rows.select(list(names)).to_batches())
        )

    @classmethod
    def of_parquet(cls, *paths: Path) -> RowBatches:
        """The rows of Parquet files of one kind; texts come as numbers of a dictionary, as they are stored."""
        if not paths:
            raise FileNotFoundError("there is no file")
        rows = 0
        for path in paths:
            with pyarrow.parquet.ParquetFile(path) as file:
                schema = file.schema_arrow
                rows += file.metadata.num_rows
        texts = [column.name for column in schema if pa.types.is_string(column.type)]

        def batches(names: Sequence[str]) -> Iterator[pa.RecordBatch]:
            for path in paths:
                with pyarrow.parquet.ParquetFile(path, read_dictionary=texts) as file:
                    yield from file.iter_batches(BATCH_ROWS, columns=list(names))

        return cls(tuple(schema.names), rows, batches)

    def singles(self, name: str) -> int:
        """How many values of a column occur once."""
        occurrences = (
            pc.value_counts(self.columns([name])[name]).field("counts") if self.rows else pa.array([])
        )
        return int((occurrences.to_numpy() == 1).sum())

    def columns(self, names: Sequence[str]) -> pa.Table:
        """Some columns as a whole."""
        chunks: dict[str, list[pa.Array]] = {name: [] for name in names}
        for batch in self.batches(names):
            for name in names:
                column = batch.column(name)
                chunks[name].append(
                    column.dictionary_decode() if pa.types.is_dictionary(column.type) else column
                )
        return pa.table({name: pa.chunked_array(parts) for name, parts in chunks.items()})


@dataclass(frozen=True)
class Tally:
    """The classes of rows with all their sensitive values, and the texts that the codes of attributes stand for."""

    classes: EquivalenceClasses

    @classmethod
    def of(
        cls,
        rows: RowBatches,
        quasi_identifiers: Sequence[str],
        *,
        person: str | None,
        sensitive: Sequence[str],
        guards: Sequence[str] = (),
        blanks_are_nulls: bool,
    ) -> Tally:
        """Count the rows: once through them for the values of each column, once for the combinations."""

        def shown(value: object) -> str | None:
            text = canonical(value)
            return (text or None) if blanks_are_nulls else text

        printed: dict[str, Callable[[object], str | None]] = dict.fromkeys(quasi_identifiers, _plainly)
        printed |= dict.fromkeys([person] if person else [], _plainly)
        printed |= dict.fromkeys([*sensitive, *guards], shown)
        names = list(printed)
        seen: dict[str, dict[object, int]] = {name: {} for name in names}
        for batch in rows.batches(names):
            for name in names:
                seen[name].update(dict.fromkeys(_encoded(batch.column(name))[0], 0))
        domains = [
            _number(name, seen[name], printed[name], further=[UNSEEN] if name in quasi_identifiers else [])
            for name in names
        ]
        packing = Packing.of([domain.size for domain in domains])
        words, counts = _combinations(rows, packing, seen)
        m = len(quasi_identifiers)
        return cls(
            EquivalenceClasses.from_packed(
                packing,
                words,
                counts,
                attributes=domains[:m],
                sensitive=domains[m + (person is not None) : len(names) - len(guards)],
                guards=domains[len(names) - len(guards) :],
                persons=person is not None,
            )
        )

    def totals(self, sensitive: str) -> dict[str | None, int]:
        """How often each sensitive value occurs."""
        domain = self.classes.sensitive_domain(sensitive)
        values = [*domain.values.to_pylist(), *([None] if domain.has_null else [])]
        return dict(zip(values, self.classes.histogram(sensitive).totals.tolist(), strict=True))

    def with_unseen(self, sensitive: str, unseen: Mapping[str | None, int]) -> EquivalenceClasses:
        """The classes with one sensitive attribute, and one further class for records that are not shown."""
        counted, domain = self.classes, self.classes.sensitive_domain(sensitive)
        if not unseen:
            return counted
        if counted.person_codes is None:
            histogram = counted.histogram(sensitive)
            indptr, values, records = histogram.indptr, histogram.values, histogram.records
        else:
            indptr, values, records = counted.indptr, counted.sensitive_codes[sensitive], counted.counts
        known = domain.values.to_pylist()
        texts = sorted({*known, *(value for value in unseen if value is not None)})
        place = {text: code for code, text in enumerate(texts)}
        moved = np.array([*(place[text] for text in known), len(texts)], dtype=np.int64)
        further = np.array(
            [len(texts) if value is None else place[value] for value in unseen], dtype=np.int64
        )
        wider = Domain(sensitive, pa.array(texts, pa.string()), has_null=domain.has_null or None in unseen)
        person = counted.person_codes
        return EquivalenceClasses(
            attributes=counted.attributes,
            codes=tuple(
                np.append(codes, domain.values.index(UNSEEN).as_py()).astype(smallest_type(domain.size))
                for domain, codes in zip(counted.attributes, counted.codes, strict=True)
            ),
            indptr=np.append(indptr, len(values) + len(further)),
            counts=np.append(records, list(unseen.values())),
            sensitive=(wider,),
            sensitive_codes={sensitive: np.append(moved[values], further).astype(smallest_type(wider.size))},
            person_codes=None
            if person is None
            else np.append(person, np.full(len(further), person.max() + 1)),
        )

    def showing(self, forms: Mapping[str, Sequence[str]]) -> int:
        """How many records show one of the given texts in every attribute."""
        if not self.classes.names:
            return 0
        hidden = np.ones(len(self.classes), dtype=bool)
        for domain, codes in zip(self.classes.attributes, self.classes.codes, strict=True):
            told = [text in forms[domain.name] for text in domain.values.to_pylist()]
            hidden &= np.array([*told, False])[codes]
        return int(self.classes.records[hidden].sum())


def unseen_class(classes: EquivalenceClasses) -> BoolArray:
    """The class that stands for records that are not shown."""
    if not classes.names:
        return np.zeros(len(classes), dtype=bool)
    return np.asarray(classes.codes[0] == classes.attributes[0].values.index(UNSEEN).as_py())


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


def _plainly(value: object) -> str | None:
    return None if value is None else str(value)


def _encoded(column: pa.Array) -> tuple[list[object], pa.Array]:
    """The distinct values of a column, a null after them where there is one, and the place of each row's value among them."""
    if pa.types.is_nested(column.type):
        # Lists cannot be looked up.
        column = pa.array([canonical(value) for value in column.to_pylist()], pa.string())
    encoded = column if pa.types.is_dictionary(column.type) else column.dictionary_encode()
    values = [NAN if value != value else value for value in encoded.dictionary.to_pylist()]
    if encoded.indices.null_count:
        values.append(None)
    return values, encoded.indices.fill_null(len(values) - 1)


def _number(
    name: str,
    seen: dict[object, int],
    printed: Callable[[object], str | None],
    *,
    further: Sequence[str],
) -> Domain:
    """The domain of the texts of values that were seen; each value gets the code of its text."""
    texts = {value: printed(value) for value in seen}
    known = [*sorted({text for text in texts.values() if text is not None}), *further]
    place = {text: code for code, text in enumerate(known)}
    for value, text in texts.items():
        seen[value] = len(known) if text is None else place[text]
    return Domain(name, pa.array(known, pa.string()), has_null=None in texts.values())


def _combinations(
    rows: RowBatches, packing: Packing, codes: Mapping[str, Mapping[object, int]]
) -> tuple[list[IntArray], IntArray]:
    """The packed codes of all combinations that occur, in order, and how often each does."""
    words = [np.zeros(0, dtype=np.int64) for _ in range(packing.words)]
    counts = np.zeros(0, dtype=np.int64)
    waiting: list[list[IntArray]] = []
    for batch in rows.batches(list(codes)):
        columns = []
        for name, code in codes.items():
            values, indices = _encoded(batch.column(name))
            table = np.array([code[value] for value in values], dtype=np.int64)
            columns.append(table[indices.to_numpy(zero_copy_only=False)])
        waiting.append(packing.pack(columns) if columns else [np.zeros(batch.num_rows, dtype=np.int64)])
        if sum(len(part[0]) for part in waiting) > MERGED_AT:
            words, counts = _merged(words, counts, waiting)
            waiting = []
    return _merged(words, counts, waiting)


def _merged(
    words: Sequence[IntArray], counts: IntArray, waiting: Sequence[Sequence[IntArray]]
) -> tuple[list[IntArray], IntArray]:
    every = [np.concatenate([word, *(part[i] for part in waiting)]) for i, word in enumerate(words)]
    new = np.ones(len(every[0]) - len(counts), dtype=np.int64)
    ordered, weights = sort_words(every, np.concatenate([counts, new]))
    starts = run_starts(ordered)
    if not len(starts):
        return list(ordered), weights
    return [word[starts] for word in ordered], np.add.reduceat(weights, starts)
