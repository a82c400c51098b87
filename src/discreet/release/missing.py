"""How the missing values of a table were treated when its classes were counted."""

from __future__ import annotations

from dataclasses import dataclass

import pyarrow as pa

from discreet.arrays import tallied
from discreet.classes import EquivalenceClasses
from discreet.sentences import Sentence
from discreet.table import MISSING_MARKS


@dataclass(frozen=True)
class MissingValues:
    """How a column's missing values were treated: nulls as a class of their own, marks as ordinary values.

    ``floating`` says that the column holds floats, in which NaN counts as null.
    """

    column: str
    nulls: int
    marks: int
    floating: bool = False

    @property
    def treatment(self) -> str:
        parts = []
        if self.nulls and self.floating:
            parts.append(
                Sentence("{nulls:,} nulls or NaN, counted as one value of their own", nulls=self.nulls)
            )
        elif self.nulls:
            parts.append(Sentence("{nulls:,} nulls, counted as one value of their own", nulls=self.nulls))
        if self.marks:
            parts.append(Sentence("{marks:,} missing marks, kept as ordinary values", marks=self.marks))
        return Sentence("{parts:; }", parts=tuple(parts)) if parts else ""


def missing_values(classes: EquivalenceClasses) -> list[MissingValues]:
    """The missing values of every column that was counted and has some."""
    missing = []
    for name in (*classes.names, *(domain.name for domain in classes.sensitive)):
        if name in classes.names:
            j = classes.index(name)
            domain, codes, counts = classes.attributes[j], classes.codes[j], classes.records
        else:
            domain, codes, counts = (
                classes.sensitive_domain(name),
                classes.sensitive_codes[name],
                classes.counts,
            )
        if not domain.has_null and not domain.is_text:
            continue
        totals = tallied(codes, counts, domain.size)
        nulls = int(totals[domain.null_code]) if domain.null_code is not None else 0
        marks = int(totals[domain.codes_of(MISSING_MARKS)].sum()) if domain.is_text else 0
        if nulls or marks:
            missing.append(MissingValues(name, nulls, marks, pa.types.is_floating(domain.values.type)))
    return missing
