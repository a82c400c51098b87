"""A release in two tables: quasi-identifiers with a bucket each, and how often each sensitive value occurs in a bucket."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from functools import cached_property

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from discreet.classes import EquivalenceClasses
from discreet.classes.alignment import locate
from discreet.classes.packing import expanded
from discreet.classes.pair import ExpectedCells, Links, Pair
from discreet.errors import InvalidParameter
from discreet.perturb.randomness import Randomness
from discreet.policy import Policy
from discreet.release.pairing import row_codes
from discreet.release.prepare import open_table
from discreet.search.buckets.search import classes_of_buckets
from discreet.sentences import Sentence
from discreet.table import Domain, Table
from discreet.table.meaning import KINDS
from discreet.table.reading import ReadOptions
from discreet.types import IntArray

RECORDS = "records"
"""The column of the table of sensitive values that says how many records of a bucket have a value."""
DEALT = (
    "sensitive values are told by bucket: counts, sums and means of questions are expected ones, and everything else was "
    "measured on rows whose values were dealt out at random within their buckets"
)


@dataclass(frozen=True)
class BucketedTable:
    """Both tables of such a release: the rows with ``column``, the bucket, and what the buckets hold.

    Entry i of the other table says that ``records[i]`` records of bucket ``buckets[i]`` have value ``values[i]`` of ``domain``;
    row j is in bucket ``of_row[j]``.
    """

    table: Table
    column: str
    domain: Domain = field(repr=False)
    of_row: IntArray = field(repr=False)
    buckets: IntArray = field(repr=False)
    values: IntArray = field(repr=False)
    records: IntArray = field(repr=False)

    @property
    def sensitive(self) -> str:
        """The attribute that is told by bucket."""
        return self.domain.name

    @cached_property
    def classes(self) -> EquivalenceClasses:
        """The buckets as classes: what whoever finds the bucket of a person reads about that person."""
        return classes_of_buckets(
            np.repeat(self.buckets, self.records),
            np.repeat(self.values, self.records),
            self.domain,
            self.column,
        )

    def dealt(self, seed: int) -> Table:
        """The rows with a value each, dealt out at random in every bucket: one of the tables that it may have been."""
        order = np.lexsort((Randomness(seed).words(len(self.of_row)), self.of_row))
        codes = np.empty(len(order), dtype=np.int64)
        by_bucket = np.argsort(self.buckets, kind="stable")
        codes[order] = np.repeat(self.values[by_bucket], self.records[by_bucket])
        null = self.domain.null_code
        shown = self.domain.values.take(
            pa.array(codes, mask=None if null is None else codes == null, type=pa.int64())
        )
        rows = self.table.engine.to_arrow(self.table).append_column(self.sensitive, shown)
        made = self.table.engine.read_batches(rows.to_reader(), self.table.source, ReadOptions())
        return made.retype({c.name: c.type for c in self.table.columns}, declared=False)

    def with_people(self, pair: Pair) -> Pair | None:
        """The people of a pair's original against the buckets, in which they stand as their rows do.

        Quasi-identifiers are shown as they are, so whoever knows them finds the bucket; people who share them stand in
        each of the buckets of their rows as often as there are such rows. ``None`` if rows show anything else than the original has.
        """
        of_row = _classes_of_rows(pair.released, self.table)
        codes = []
        for meaning, after in zip(pair.meanings, pair.released.codes, strict=True):
            single = (meaning.kinds == KINDS.index("exact")) & (meaning.sizes == 1)
            if not single[after].all():
                return None
            own = np.zeros(len(single), dtype=np.int64)
            own[single] = meaning.code_at[meaning.starts[meaning.indptr[:-1][single]]]
            codes.append(own[after])
        original = locate(pair.original, codes)[of_row]
        if (original < 0).any():
            return None
        buckets = self.classes
        width = len(buckets)
        keys, records = np.unique(original * width + self.of_row, return_counts=True)
        links = Links(keys // width, keys % width, records.astype(np.int64))
        return Pair.of(pair.original, replace(buckets, attributes=(), codes=()), links=links)

    def expected(self, pair: Pair, rows: Table) -> ExpectedCells:
        """How many records of each class of a pair are expected to have each sensitive value.

        A row of a bucket with n records, of which n(v) have value v, counts as n(v) / n of a record with it.
        Xiao and Tao 2006, section 3.
        """
        released = pair.released
        of_row = _classes_of_rows(released, rows)
        width = int(self.of_row.max(initial=0)) + 1
        keys, count = np.unique(of_row * width + self.of_row, return_counts=True)
        by_bucket = np.argsort(self.buckets, kind="stable")
        starts = np.concatenate([[0], np.cumsum(np.bincount(self.buckets, minlength=width))])
        owner, entry = expanded(starts, keys % width)
        records = self.records[by_bucket][entry]
        size = np.bincount(self.buckets, weights=self.records, minlength=width)
        labels = {
            label: code for code, label in enumerate(released.sensitive_domain(self.sensitive).labels())
        }
        code = np.array([labels.get(label, 0) for label in self.domain.labels()], dtype=np.int64)
        return ExpectedCells(
            released,
            (keys // width)[owner],
            {self.sensitive: code[self.values[by_bucket][entry]]},
            count[owner] * records / size[keys % width][owner],
        )


def _classes_of_rows(released: EquivalenceClasses, rows: Table) -> IntArray:
    """The class of each row of a release."""
    shown = [domain for domain in released.attributes if domain.name in rows.names]
    at = iter(row_codes(rows, shown))
    stars = np.zeros(rows.rows, dtype=np.int64)
    return locate(released, [next(at) if d in shown else stars for d in released.attributes])


def open_buckets(table: Table, counts: object, policy: Policy) -> BucketedTable:
    """Both tables of a release with buckets; an error where one does not fit the other.

    ``counts`` has a column of the rows (the bucket), a sensitive attribute of the policy, and ``records``.
    """
    other = open_table(counts)
    shared = [name for name in other.names if name in table.names]
    told = [name for name in other.names if name in policy.sensitive and name not in table.names]
    if len(shared) != 1 or len(told) != 1 or RECORDS not in other.names:
        raise InvalidParameter(
            Sentence(
                "{name} is no table of sensitive values by bucket: it must have the bucket of the rows, one sensitive attribute "
                "and {records!r}",
                name=other.source.name,
                records=RECORDS,
            ),
            remedy="give the two tables that were written together, and a policy that calls the attribute sensitive",
        )
    column, sensitive = shared[0], told[0]
    given = policy.column(sensitive)
    other = other if given is None or given.type is None else other.retype({sensitive: given.type})
    entries = other.engine.to_arrow(other)
    rows = table.engine.to_arrow(table, [column])
    both = pa.concat_arrays(
        [pc.cast(each[column].combine_chunks(), pa.string()) for each in (entries, rows)]
    ).dictionary_encode(null_encoding="encode")
    codes = both.indices.to_numpy(zero_copy_only=False).astype(np.int64)
    records = _whole(entries[RECORDS].combine_chunks(), other)
    domain = other.engine.domain(other, sensitive)
    (values,) = row_codes(other, [domain])
    made = BucketedTable(
        table, column, domain, codes[entries.num_rows :], codes[: entries.num_rows], values, records
    )
    size = int(codes.max(initial=-1)) + 1
    if not np.array_equal(
        np.bincount(made.of_row, minlength=size),
        np.bincount(made.buckets, weights=records, minlength=size),
    ):
        raise InvalidParameter(
            Sentence("{name} counts other records in its buckets than the rows have", name=other.source.name),
            remedy="give the two tables that were written together",
        )
    return made


def _whole(column: pa.Array, other: Table) -> IntArray:
    """How many records entries stand for."""
    try:
        records = np.asarray(column.cast(pa.int64()).to_numpy(zero_copy_only=False))
    except pa.ArrowException:
        records = np.zeros(1)
    if column.null_count or not (records >= 1).all():
        raise InvalidParameter(
            Sentence(
                "{records!r} of {name} is not a whole number of at least 1 everywhere",
                records=RECORDS,
                name=other.source.name,
            ),
            remedy="give the table of sensitive values as it was written",
        )
    return records.astype(np.int64)
