"""Who is missing from a release: categories of which suppression takes a large part."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from scipy.special import bdtrc

from discreet.sentences import Sentence
from discreet.transform.recoding import Recoding

LARGE_PART = 0.25
"""A category that loses so much of its records is told."""
UNEVEN_PART, CHANCE = 0.1, 0.01
"""One that loses so much is told if it is more than its share by more than chance would bring about so often."""
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

    def is_large(self, expected: float, chance: float) -> bool:
        """Whether so much of it is suppressed that it must be told, where a share of all records is.

        >>> [ErasedCategory("job", "monk", 100, gone).is_large(0.05, 0.001) for gone in (5, 13, 14, 25)]
        [False, False, True, True]
        """
        if self.share < UNEVEN_PART:
            return False
        by_chance = bdtrc(self.suppressed - 1, self.records, expected)
        return self.share >= LARGE_PART or bool(by_chance <= chance)


def erased_categories(recoding: Recoding) -> tuple[ErasedCategory, ...]:
    """The names of which a large part of the records is suppressed, the largest loss first; numbers have none.

    Suppression looks for records that are unlike others, so it takes minorities first, and a mean over all records does
    not show that. A quarter is a large part, and so is a tenth that is significantly more than the category's share: if
    the suppressed records had been drawn by chance, P(X ≥ x) ≤ 1 % / m, X binomial with the share of all records that is
    suppressed, m the number of categories (Bonferroni 1936).

    >>> from discreet.classes import EquivalenceClasses
    >>> classes = EquivalenceClasses.from_columns({"sex": ["f"] * 30 + ["m"] * 29 + ["x"] * 6})
    >>> kept = np.array([True, True, False])
    >>> recoding = Recoding.of_groups(classes, np.arange(3), kept=kept, method="example")
    >>> erased_categories(recoding)
    (ErasedCategory(attribute='sex', value='x', records=6, suppressed=6),)
    """
    classes = recoding.classes
    gone = np.where(recoding.kept, 0, classes.records)
    if not gone.any():
        return ()
    counted = []
    for domain, codes in zip(classes.attributes, classes.codes, strict=True):
        if domain.is_numeric:
            continue
        records, suppressed = (
            np.bincount(codes, weights=counts, minlength=domain.size).astype(np.int64)
            for counts in (classes.records, gone)
        )
        counted += [
            ErasedCategory(domain.name, domain.label(int(code)), int(records[code]), int(suppressed[code]))
            for code in np.flatnonzero(records >= FEWEST)
        ]
    chance, share = CHANCE / max(len(counted), 1), float(gone.sum() / classes.total)
    erased = [category for category in counted if category.suppressed and category.is_large(share, chance)]
    return tuple(sorted(erased, key=lambda category: -category.suppressed))


def representation_note(erased: Sequence[ErasedCategory]) -> str:
    """Of which attributes categories are missing, without naming a value."""
    counts = Counter(category.attribute for category in erased)
    told = tuple(Sentence("{name} ({count})", name=name, count=count) for name, count in counts.items())
    return Sentence("suppression takes a large part of the records of some categories: {told}", told=told)
