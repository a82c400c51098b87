"""Value and attribute suppression: some values of an attribute, or all, are ``*`` wherever they occur."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

import numpy as np
import pyarrow as pa

from discreet.classes import EquivalenceClasses
from discreet.classes.packing import combination_numbers
from discreet.table.domain import Domain
from discreet.table.hierarchies.hierarchy import ROOT, Ladder
from discreet.transform.recoding import Recoding, ReleasedAttribute
from discreet.types import AnyIntArray, BoolArray, IntArray


def named_values(domain: Domain, texts: Sequence[str]) -> BoolArray:
    """Which values are printed as one of the texts, or are the same number.

    >>> named_values(Domain("age", pa.array([30.0, 99.0, 120.0])), ["99", "120.0"])
    array([False,  True,  True])
    """
    wanted = set(texts)
    named = np.array([label in wanted for label in domain.labels()], dtype=bool)
    if domain.has_null:
        named[-1] = False
    if not domain.is_text:
        numbers = {number for number in map(_number, texts) if number is not None}
        named |= np.isin(domain.numbers, list(numbers))
    return named


def _number(text: str) -> float | None:
    """The finite number that a text is, if it is one."""
    try:
        number = float(text)
    except ValueError:
        return None
    return number if math.isfinite(number) else None


def rare_values(classes: EquivalenceClasses, name: str, least: int) -> BoolArray:
    """Which values of an attribute fewer than ``least`` records have.

    >>> classes = EquivalenceClasses.from_columns({"city": ["a", "a", "a", "b", None]})
    >>> rare_values(classes, "city", 2)
    array([False,  True, False])
    """
    j = classes.index(name)
    domain = classes.attributes[j]
    rare = np.bincount(classes.codes[j], weights=classes.records, minlength=domain.size) < least
    if domain.has_null:
        rare[-1] = False
    return np.asarray(rare)


@dataclass(frozen=True)
class ValueSuppression:
    """Classes of a table some values of which are suppressed before anything is searched.

    In ``classes`` a suppressed value is a null, so that no hierarchy needs or names it; the nulls of such an
    attribute cannot be told from it and are suppressed with it. ``owner[c]`` is the class there of class ``c``
    of the ``original``, ``attributes`` are those with suppressed values.

    >>> classes = EquivalenceClasses.from_columns({"city": ["a", "a", "b", "c"]})
    >>> covered = ValueSuppression.of(classes, {"city": np.array([False, True, True])})
    >>> covered.classes.records, covered.owner, covered.classes.attributes[0].labels()
    (array([2, 2]), array([0, 1, 1]), ['a', '∅'])
    """

    original: EquivalenceClasses = field(repr=False)
    classes: EquivalenceClasses = field(repr=False)
    owner: IntArray = field(repr=False)
    attributes: tuple[str, ...] = ()

    @classmethod
    def of(cls, classes: EquivalenceClasses, gone: Mapping[str, BoolArray]) -> ValueSuppression:
        """``gone[name]`` says which values of attribute ``name`` are suppressed."""
        names = tuple(name for name in classes.names if name in gone and gone[name].any())
        if not names:
            return cls(classes, classes, np.arange(len(classes)))
        domains: list[Domain] = []
        codes: list[AnyIntArray] = []
        for domain, column in zip(classes.attributes, classes.codes, strict=True):
            if domain.name not in names:
                domains.append(domain)
                codes.append(column)
                continue
            left = ~gone[domain.name][: len(domain.values)]
            place = np.full(domain.size, int(left.sum()), dtype=np.int64)
            place[: len(left)][left] = np.arange(left.sum())
            domains.append(replace(domain, values=domain.values.filter(pa.array(left)), has_null=True))
            codes.append(place[column])
        # Classes are in the order of their packed codes.
        owner = combination_numbers([domain.size for domain in domains], codes)
        return cls(classes, classes.recoded(domains, codes), owner, names)

    def priced(self, ladder: Ladder) -> Ladder:
        """The ladder on which suppressed values count among the leaves, and cost at every level what the top does."""
        if ladder.name not in self.attributes:
            return ladder
        before = self.original.attributes[self.original.index(ladder.name)]
        gone = len(before.values) - len(ladder.domain.values)
        leaves = ladder.leaves + gone
        null = np.arange(ladder.domain.size) == ladder.domain.null_code
        steps = [
            replace(step, shares=np.where(null, 1.0, step.shares * ladder.leaves / leaves))
            for step in ladder.steps[:-1]
        ]
        return replace(ladder, leaves=leaves, steps=(*steps, ladder.steps[-1]))

    def uncovered(self, recoding: Recoding) -> Recoding:
        """What a recoding of ``classes`` makes of the original's classes, suppressed values as ``*``.

        Records that are written alike must stay so: where one of a group has a suppressed value, the whole
        group shows ``*``.
        """
        if not self.attributes:
            return recoding
        groups = recoding.groups()
        columns = []
        for domain, codes, column in zip(
            self.classes.attributes, self.classes.codes, recoding.columns, strict=True
        ):
            if domain.name in self.attributes:
                starred = np.zeros(int(groups.max()) + 1, dtype=bool)
                starred[groups[codes == domain.null_code]] = True
                column = _with_root(column, starred[groups])
            columns.append(replace(column, codes=column.codes[self.owner], shares=column.shares[self.owner]))
        return replace(
            recoding, classes=self.original, columns=tuple(columns), kept=recoding.kept[self.owner]
        )


def _with_root(column: ReleasedAttribute, starred: BoolArray) -> ReleasedAttribute:
    """The column with ``*`` in some classes; it is text then."""
    if not starred.any():
        return column
    texts = column.texts()
    places = pa.array(np.where(starred, len(texts), column.codes))
    cells = pa.concat_arrays([texts, pa.array([ROOT])]).take(places)
    encoded = cells.dictionary_encode(null_encoding="encode")
    return replace(
        column,
        values=encoded.dictionary,
        codes=encoded.indices.to_numpy(zero_copy_only=False).astype(np.int32),
        shares=np.where(starred, 1.0, column.shares),
    )
