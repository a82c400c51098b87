"""Some of the classes of a table, compared with the distribution of the whole."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, fields, replace

import numpy as np

from discreet.classes.equivalence import EquivalenceClasses
from discreet.classes.histogram import Histogram
from discreet.table.domain import Domain
from discreet.types import AnyIntArray, IntArray


@dataclass(frozen=True)
class PartOfTable(EquivalenceClasses):
    """Some of the classes of a table; what they are compared with is the distribution of the whole table.

    >>> whole = EquivalenceClasses.from_columns({"sex": ["f", "f", "m"]}, sensitive={"flu": ["yes", "no", "no"]})
    >>> PartOfTable.of(whole, np.array([1])).histogram("flu").totals
    array([2, 1])
    """

    whole: EquivalenceClasses = field(kw_only=True, repr=False)

    @classmethod
    def of(cls, whole: EquivalenceClasses, at: IntArray) -> PartOfTable:
        return cls.seen_from(whole, whole.subset(at))

    @classmethod
    def seen_from(cls, whole: EquivalenceClasses, classes: EquivalenceClasses) -> PartOfTable:
        """Classes that were counted elsewhere, of some records of the whole."""
        return cls(
            **{part.name: getattr(classes, part.name) for part in fields(EquivalenceClasses)}, whole=whole
        )

    def _count_values(self, name: str) -> Histogram:
        histogram, whole = super()._count_values(name), self.whole.histogram(name)
        if histogram.domain is not whole.domain:
            place = {label: code for code, label in enumerate(_names(whole.domain))}
            codes = np.array([place[label] for label in _names(histogram.domain)])
            histogram = replace(histogram, domain=whole.domain, values=codes[histogram.values])
        histogram.__dict__["totals"] = whole.totals
        return histogram

    def recoded(self, domains: Sequence[Domain], class_codes: Sequence[AnyIntArray]) -> EquivalenceClasses:
        return self.seen_from(self.whole, super().recoded(domains, class_codes))


def _names(domain: Domain) -> list[tuple[str, bool]]:
    """Each value as it prints, and whether it is the null."""
    return [(label, code == domain.null_code) for code, label in enumerate(domain.labels())]
