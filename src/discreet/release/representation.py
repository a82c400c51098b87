"""Who is missing from a release: categories of which suppression takes a large part."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from discreet.sentences import Sentence
from discreet.transform.recoding import Recoding

LARGE_PART = 0.25
"""A category that loses so much of its records is told."""
FEWEST = 5
"""Of how many records a value must be to count as a category."""


@dataclass(frozen=True)
class ErasedCategory:
    """A value of a quasi-identifier, how many records have it, and how many of these are suppressed."""

    attribute: str
    value: str
    records: int
    suppressed: int

    @property
    def share(self) -> float:
        return self.suppressed / self.records


def erased_categories(recoding: Recoding, part: float = LARGE_PART) -> tuple[ErasedCategory, ...]:
    """The names of which at least a ``part`` of the records is suppressed, the largest loss first; numbers have none.

    Suppression looks for records that are unlike others, so it takes minorities first, and a mean over all records does
    not show that.

    >>> from discreet.classes import EquivalenceClasses
    >>> classes = EquivalenceClasses.from_columns({"sex": ["f"] * 30 + ["m"] * 29 + ["x"] * 6})
    >>> kept = np.array([True, True, False])
    >>> recoding = Recoding.of_groups(classes, np.arange(3), kept=kept, method="example")
    >>> erased_categories(recoding)
    (ErasedCategory(attribute='sex', value='x', records=6, suppressed=6),)
    """
    classes = recoding.classes
    gone = np.where(recoding.kept, 0, classes.records)
    erased = []
    for domain, codes in zip(classes.attributes, classes.codes, strict=True):
        if domain.is_numeric:
            continue
        records, suppressed = (
            np.bincount(codes, weights=counts, minlength=domain.size).astype(np.int64)
            for counts in (classes.records, gone)
        )
        large = (records >= FEWEST) & (suppressed > 0) & (suppressed >= part * records)
        erased += [
            ErasedCategory(domain.name, domain.label(int(code)), int(records[code]), int(suppressed[code]))
            for code in np.flatnonzero(large)
        ]
    return tuple(sorted(erased, key=lambda category: -category.suppressed))


def representation_note(erased: Sequence[ErasedCategory]) -> str:
    """Of which attributes categories are missing, without naming a value."""
    counts = Counter(category.attribute for category in erased)
    told = ", ".join(f"{name} ({count})" for name, count in counts.items())
    return Sentence(
        "suppression takes a quarter or more of the records of some categories: {told}", told=told
    )
