"""Kinds of classes: those that hold the same sensitive values equally often are looked at once.

Most models and risks ask only how many records a class has and which sensitive values. Of millions of classes nearly
all are small and hold what many others hold, too: one of each kind says it all, exactly.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property

import numpy as np
import pyarrow as pa

from discreet.arrays import tallied
from discreet.classes.equivalence import EquivalenceClasses
from discreet.classes.histogram import Histogram
from discreet.classes.packing import CHUNK, Packing, expanded, smallest_type
from discreet.table.domain import Domain
from discreet.types import BoolArray, IntArray

COUNT_BITS = 8
"""Cells of up to 255 records are compared; classes with larger ones are few and stand for themselves."""
TABLE_BITS = 20
"""Keys below this many bits are counted in a table, the others by sorting."""


@dataclass(frozen=True)
class ClassKinds(EquivalenceClasses):
    """One class of each kind of a table with one record per person, and how many are like it.

    Its only attribute is the number of the kind. What classes are compared with is the whole table.

    >>> whole = EquivalenceClasses.from_columns({"zip": [1, 2, 3]}, sensitive={"flu": ["yes", "no", "no"]})
    >>> kinds = ClassKinds.of(whole)
    >>> kinds.records, kinds.times, kinds.all_records, kinds.histogram("flu").totals
    (array([1, 1]), array([1, 2]), array([1, 2]), array([2, 1]))
    """

    whole: EquivalenceClasses = field(kw_only=True, repr=False)
    times: IntArray = field(kw_only=True, repr=False)
    """How many classes of the table are of each kind."""
    value_records: Mapping[str, IntArray] = field(kw_only=True, repr=False)
    """Records per sensitive value in the whole table."""

    @classmethod
    def of(cls, whole: EquivalenceClasses) -> ClassKinds:
        assert whole.person_codes is None, "persons with several records are told apart by class"
        at, times = _distinct_contents(whole)
        _, cells = expanded(whole.indptr, at)
        numbers = np.arange(len(at), dtype=np.int64)
        return cls(
            attributes=(Domain("kind of class", pa.array(numbers)),),
            codes=(numbers.astype(np.uint64),),
            indptr=np.append(0, np.cumsum(np.diff(whole.indptr)[at])),
            counts=whole.counts[cells],
            sensitive=whole.sensitive,
            sensitive_codes={name: codes[cells] for name, codes in whole.sensitive_codes.items()},
            guards=whole.guards,
            whole=whole,
            times=times,
            value_records={
                domain.name: tallied(whole.sensitive_codes[domain.name], whole.counts, domain.size)
                for domain in whole.sensitive
            },
        )

    @cached_property
    def total(self) -> int:
        return self.whole.total

    @cached_property
    def total_persons(self) -> int:
        return self.whole.total

    @cached_property
    def all_records(self) -> IntArray:
        return self.records * self.times

    def all_entries(self, histogram: Histogram) -> IntArray:
        return np.asarray(histogram.records * np.repeat(self.times, histogram.distinct))

    def how_many(self, chosen: BoolArray) -> int:
        return int(self.times[chosen].sum())

    def totals(self, name: str) -> IntArray:
        return self.value_records[name]

    def _count_values(self, name: str) -> Histogram:
        histogram = super()._count_values(name)
        histogram.__dict__["totals"] = self.totals(name)
        return histogram


def _distinct_contents(classes: EquivalenceClasses) -> tuple[IntArray, IntArray]:
    """The first class of each kind, in their order, and how many classes there are of it."""
    from discreet.classes.kinds_kernels import content_keys, occurrences

    packing = Packing.of([domain.size for domain in classes.sensitive])
    bits = sum(place.bits for place in packing.fields) + COUNT_BITS
    if bits > 62:
        return np.arange(len(classes)), np.ones(len(classes), dtype=np.int64)
    contents = np.zeros(len(classes.counts), dtype=smallest_type(1 << bits - COUNT_BITS))
    codes = [classes.sensitive_codes[domain.name] for domain in classes.sensitive]
    for start in range(0, len(contents), CHUNK):
        piece = slice(start, start + CHUNK)
        contents[piece] = packing.pack([column[piece] for column in codes])[0] if codes else 0
    keys, fits = content_keys(classes.indptr, classes.counts, contents, bits, COUNT_BITS)
    bound = 1 << min(bits, TABLE_BITS)
    first, often = occurrences(keys, fits, bound)
    occurring = np.flatnonzero(often)
    left = np.flatnonzero(fits & (keys >= bound))
    _, places, repeated = np.unique(keys[left], return_index=True, return_counts=True)
    alone = np.flatnonzero(~fits)
    at = np.concatenate([first[occurring], left[places], alone])
    times = np.concatenate([often[occurring], repeated, np.ones(len(alone), dtype=np.int64)])
    order = np.argsort(at)
    return at[order], times[order]
