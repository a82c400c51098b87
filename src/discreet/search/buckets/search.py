"""The most buckets of which each meets every requirement on a sensitive attribute."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Literal, get_args

import numpy as np
import pyarrow as pa

from discreet.classes import EquivalenceClasses
from discreet.classes.packing import Packing
from discreet.errors import GoalUnreachable, InvalidParameter
from discreet.perturb.randomness import Randomness
from discreet.privacy import LDiversity, PrivacyModel, TCloseness
from discreet.search.buckets.anatomy import anatomized, dealt
from discreet.search.buckets.sabre import redistributed
from discreet.sentences import Sentence
from discreet.table.domain import Domain
from discreet.types import BoolArray, IntArray

FURTHER = 3
"""So many larger l are tried before buckets are made like the whole table."""

BucketMethod = Literal["anatomy", "dealt", "sabre"]
BUCKET_METHODS: tuple[BucketMethod, ...] = get_args(BucketMethod)


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
    values: IntArray,
    domain: Domain,
    models: Sequence[PrivacyModel],
    *,
    name: str,
    randomness: Randomness,
    line: Callable[[], IntArray] | None = None,
    method: BucketMethod | None = None,
) -> Buckets:
    """The most buckets that meet all ``models``, by a ``method`` or the first that can: Anatomy's, SABRE's, dealt ones.

    Anatomy's buckets have no value twice, which is the least size for l-diversity. t-closeness is met by SABRE's if there is a
    ``line``, all records in an order in which those that are alike are near each other. What else asks for buckets that
    resemble the table (β-likeness) is met by dealing values out evenly: their number is halved in, so that a larger one may
    be missed where requirements are met by many and not by fewer. l-diversity also holds where all missing values, marks
    and nulls, count as one: they say the same of a person.
    """
    if method in (None, "anatomy"):
        for buckets in _tried(values, domain, models, name, randomness):
            if _meets(buckets, models):
                return buckets
    single = _dealt(values, domain, 1, name, randomness)
    if not _meets(single, models):
        raise GoalUnreachable(
            Sentence("even all records as one bucket do not meet: {asked}", asked=_failing(single, models)),
            nearest="one bucket of all records, which says of everybody what the whole table says",
            remedy="ask for less",
        )
    if method == "anatomy":
        raise GoalUnreachable(
            Sentence("buckets without a value twice do not meet: {asked}", asked=_asked(models)),
            nearest="buckets that resemble the table",
            remedy="leave the method out, and one is chosen that can",
        )
    close = next((model for model in models if isinstance(model, TCloseness)), None)
    if method == "sabre" and close is None:
        raise InvalidParameter(
            "SABRE forms classes for t-closeness, which is not required",
            remedy="require t-closeness, or leave the method out",
        )
    if method != "dealt" and close is not None and line is not None:
        return _close(values, domain, models, close, name, randomness, line())
    return _most_dealt(values, domain, models, single, name, randomness)


def _close(
    values: IntArray,
    domain: Domain,
    models: Sequence[PrivacyModel],
    close: TCloseness,
    name: str,
    randomness: Randomness,
    line: IntArray,
) -> Buckets:
    """SABRE's classes, of which neighbours are joined as long as one does not meet another requirement."""
    whole = classes_of_buckets(np.zeros(len(values), dtype=np.int64), values, domain, name)
    formed = redistributed(values, whole.histogram(domain.name), close, line)
    while True:
        buckets = Buckets(formed, classes_of_buckets(formed, values, domain, name), "sabre")
        count = len(buckets.classes)
        if count == 1 or _meets(buckets, models):
            break
        failing = ~np.logical_and.reduce([model.holds(buckets.classes) for model in models])
        # Only missing values that count as one may fail where no class does by itself.
        joins = failing if failing.any() else np.ones(count, dtype=bool)
        formed = _joined(joins)[formed]
    shuffled = randomness.permutation(count)[formed]
    return Buckets(shuffled, classes_of_buckets(shuffled, values, domain, name), "sabre")


def _joined(failing: BoolArray) -> IntArray:
    """New numbers of buckets: each that fails is one with the next, the last with the one before.

    >>> _joined(np.array([True, False, False, True])).tolist()
    [0, 0, 1, 1]
    """
    starts = np.ones(len(failing), dtype=bool)
    for at in np.flatnonzero(failing).tolist():
        after = at + 1 < len(failing)
        if after and starts[at]:
            starts[at + 1] = False
        elif not after and starts[at]:
            starts[at] = False
    starts[0] = True
    return np.cumsum(starts) - 1


def _most_dealt(
    values: IntArray,
    domain: Domain,
    models: Sequence[PrivacyModel],
    single: Buckets,
    name: str,
    randomness: Randomness,
) -> Buckets:
    """As many buckets that resemble the table as halving finds."""
    low, high, best = 1, max(len(values) // 2, 1) + 1, single
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
    return _asked([model for model in models if not buckets.meets(model)])


def _asked(models: Sequence[PrivacyModel]) -> str:
    return "; ".join(model.describe() for model in models)
