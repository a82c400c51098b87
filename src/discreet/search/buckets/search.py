"""The most buckets of which each meets every requirement on a sensitive attribute."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Literal

import numpy as np
import pyarrow as pa

from discreet.classes import EquivalenceClasses
from discreet.classes.packing import Packing
from discreet.errors import GoalUnreachable
from discreet.perturb.randomness import Randomness
from discreet.privacy import LDiversity, PrivacyModel
from discreet.search.buckets.anatomy import anatomized, dealt
from discreet.sentences import Sentence
from discreet.table.domain import Domain
from discreet.types import IntArray

FURTHER = 3
"""So many larger l are tried before buckets are made like the whole table."""

BucketMethod = Literal["anatomy", "dealt"]


@dataclass(frozen=True)
class Buckets:
    """The bucket of each record, the buckets as classes of one attribute, and how they were formed."""

    of_record: IntArray = field(repr=False)
    classes: EquivalenceClasses = field(repr=False)
    method: BucketMethod
    l: int | None = None  # noqa: E741

    def meets(self, model: PrivacyModel) -> bool:
        """Whether every bucket meets a requirement; l-diversity, also if all missing values are one."""
        if not model.holds(self.classes).all():
            return False
        (domain,) = self.classes.sensitive
        same = domain.with_one_missing
        if not isinstance(model, LDiversity) or np.array_equal(same, np.arange(domain.size)):
            return True
        (codes,) = self.classes.sensitive_codes.values()
        entries = np.repeat(np.arange(len(self.classes)), np.diff(self.classes.indptr))
        counts = self.classes.counts
        merged = classes_of_buckets(
            np.repeat(entries, counts), np.repeat(same[codes], counts), domain, self.classes.names[0]
        )
        return bool(model.holds(merged).all())


def classes_of_buckets(buckets: IntArray, values: IntArray, domain: Domain, name: str) -> EquivalenceClasses:
    """Buckets as classes of one attribute, their number, with the sensitive values in them.

    >>> domain = Domain("dx", pa.array(["cold", "flu"]))
    >>> classes_of_buckets(np.array([0, 0, 1]), np.array([0, 1, 1]), domain, "bucket").histogram("dx").records
    array([1, 1, 1])
    """
    count = int(buckets.max(initial=-1)) + 1
    packing = Packing.of([max(count, 1), domain.size])
    keys, counts = np.unique(buckets * domain.size + values, return_counts=True)
    return EquivalenceClasses.from_packed(
        packing,
        packing.pack([keys // domain.size, keys % domain.size]),
        counts.astype(np.int64),
        attributes=[Domain(name, pa.array(np.arange(1, count + 1)))],
        sensitive=[domain],
    )


def find_buckets(
    values: IntArray, domain: Domain, models: Sequence[PrivacyModel], *, name: str, randomness: Randomness
) -> Buckets:
    """The most buckets that meet all ``models``: Anatomy's where these do, else such as are like the whole table.

    Anatomy's buckets have no value twice, which is the least size for l-diversity. What asks for buckets that resemble the
    table (t-closeness, β-likeness) is met by fewer and larger ones: their number is halved in, so that a larger one may
    be missed where requirements are met by many and not by fewer. l-diversity also holds where all missing values, marks
    and nulls, count as one: they say the same of a person.
    """
    for buckets in _tried(values, domain, models, name, randomness):
        if _meets(buckets, models):
            return buckets
    low, high = 1, max(len(values) // 2, 1) + 1
    best = _dealt(values, domain, 1, name, randomness)
    if not _meets(best, models):
        raise GoalUnreachable(
            Sentence("even all records as one bucket do not meet: {asked}", asked=_failing(best, models)),
            nearest="one bucket of all records, which says of everybody what the whole table says",
            remedy="ask for less",
        )
    while high - low > 1:
        count = (low + high) // 2
        attempt = _dealt(values, domain, count, name, randomness)
        if _meets(attempt, models):
            low, best = count, attempt
        else:
            high = count
    return best


def _tried(
    values: IntArray, domain: Domain, models: Sequence[PrivacyModel], name: str, randomness: Randomness
) -> Iterator[Buckets]:
    """Anatomy's buckets, from the smallest l that may do."""
    asked = [int(np.ceil(model.l)) for model in models if isinstance(model, LDiversity)]
    least = max([2, *asked])
    # No two missing values in a bucket, however they are written.
    apart = domain.with_one_missing[values]
    most = len(values) // max(int(np.bincount(apart, minlength=1).max()), 1)
    for l in range(least, min(least + FURTHER, most) + 1):  # noqa: E741
        formed = anatomized(apart, l, randomness)
        yield Buckets(formed, classes_of_buckets(formed, values, domain, name), "anatomy", l)


def _dealt(values: IntArray, domain: Domain, count: int, name: str, randomness: Randomness) -> Buckets:
    formed = dealt(values, count, randomness)
    return Buckets(formed, classes_of_buckets(formed, values, domain, name), "dealt")


def _meets(buckets: Buckets, models: Sequence[PrivacyModel]) -> bool:
    return all(map(buckets.meets, models))


def _failing(buckets: Buckets, models: Sequence[PrivacyModel]) -> str:
    return "; ".join(model.describe() for model in models if not buckets.meets(model))
