"""Classes as points that can be clustered: what each attribute contributes to distances and to losses."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Literal, NamedTuple

import numpy as np

from discreet.classes import EquivalenceClasses, Unit
from discreet.privacy.base import counted_in
from discreet.search.problem import attribute_weights
from discreet.table.domain import Domain
from discreet.table.hierarchies.hierarchy import Ladder
from discreet.types import AnyIntArray, FloatArray, FloatMatrix, Int32Array, Int32Matrix, IntArray

Scale = Literal["range", "sd"]
"""What a difference of numbers is divided by: the attribute's range or its standard deviation."""
Closeness = Literal["level", "leaves"]
"""How far two categories are apart: the level of their closest common ancestor, or the leaves under it."""

INTERVAL, SET, TREE = 0, 1, 2


class ClassPersons(NamedTuple):
    """How many persons (or records) classes have, and who they are where one person may be in several."""

    sizes: IntArray
    indptr: IntArray
    persons: IntArray

    @property
    def additive(self) -> bool:
        """Whether sizes of classes simply add up."""
        return len(self.indptr) == 0

    def of(self, members: IntArray) -> ClassPersons:
        """Those of some classes only; persons are numbered anew so that buffers stay small."""
        if self.additive:
            return ClassPersons(self.sizes[members], self.indptr, self.persons)
        lengths = np.diff(self.indptr)[members]
        indptr = np.concatenate(([0], np.cumsum(lengths)))
        place = np.repeat(self.indptr[members] - indptr[:-1], lengths) + np.arange(indptr[-1])
        _, persons = np.unique(self.persons[place], return_inverse=True)
        return ClassPersons(self.sizes[members], indptr, persons.astype(np.int64))


class Points(NamedTuple):
    """What distances are made of: scaled numbers, and the paths of categories to the root.

    The distance of two classes is the square root of the sum over attributes of squared distances, each of
    them in [0, 1] before weighting if numbers are scaled by their range. A null (NaN) is at distance 1 from
    every number. ``steps[row[q] + level, code]`` is the node above a category, ``apart`` the distance of two
    categories that meet there.
    """

    numbers: FloatMatrix
    null: FloatArray
    codes: Int32Matrix
    weights: FloatArray
    row: IntArray
    steps: Int32Matrix
    apart: FloatMatrix

    def of(self, members: IntArray) -> Points:
        """Those of some classes only."""
        return self._replace(numbers=self.numbers[members], codes=self.codes[members])


class CellSpans(NamedTuple):
    """What losses are made of: per attribute an interval of leaves, a set of values or a node of a tree.

    ``codes[c, j]`` is the place among the leaves (-1 for a null) or the code of the value; ``unit[j]`` what
    one leaf adds to the loss, ``full[j]`` what the whole domain costs. Sets are kept as bits from word
    ``word[j]`` on; nodes as in ``Points``, with ``shares`` their cost. ``turn`` is the order in which losses
    are added up: attributes of few leaves first, as they soonest exceed a bound.
    """

    kind: IntArray
    codes: Int32Matrix
    unit: FloatArray
    full: FloatArray
    word: IntArray
    row: IntArray
    steps: Int32Matrix
    shares: FloatMatrix
    turn: IntArray

    def of(self, members: IntArray) -> CellSpans:
        """Those of some classes only."""
        return self._replace(codes=self.codes[members])


def persons_of(classes: EquivalenceClasses, unit: Unit | None) -> ClassPersons:
    """Sizes in ``unit``; persons one by one only where they may be in several classes."""
    counted = counted_in(unit, classes)
    sizes = classes.sizes(counted).astype(np.int64)
    none = np.zeros(0, dtype=np.int64)
    if counted == "records" or not classes.event_level:
        return ClassPersons(sizes, none, none)
    inner = classes.person_counts
    return ClassPersons(sizes, inner.indptr.astype(np.int64), inner.persons.astype(np.int64))


def ladders_of(
    classes: EquivalenceClasses, ladders: Sequence[Ladder | None] | None
) -> tuple[Ladder | None, ...]:
    """One ladder or none per attribute, by name."""
    by_name = {ladder.name: ladder for ladder in ladders or () if ladder is not None}
    return tuple(by_name.get(name) for name in classes.names)


def ranks_of(domain: Domain) -> IntArray:
    """The place of each code in the order of an ordinal attribute: that of bands is theirs, not that of their texts.

    >>> import pyarrow as pa
    >>> ranks_of(Domain("age", pa.array(["0-4", "10-19", "5-9"])))
    array([0, 2, 1])
    """
    ranks = np.arange(domain.size)
    if domain.bands and domain.places is not None:
        ranks[np.argsort(domain.places, kind="stable")] = np.arange(domain.size)
    return ranks


def numbers_of(domain: Domain, *, ordinal: bool) -> FloatArray | None:
    """The value of each code as a number: itself, its rank if ``ordinal``; None for categories."""
    if ordinal:
        ranks = ranks_of(domain).astype(np.float64)
        if domain.null_code is not None:
            ranks[domain.null_code] = np.nan
        return ranks
    return domain.places


def points_of(
    classes: EquivalenceClasses,
    ladders: Sequence[Ladder | None],
    *,
    ordinal: Sequence[str] = (),
    weights: Mapping[str, float] | None = None,
    scale: Scale = "sd",
    closeness: Closeness = "level",
) -> Points:
    """Classes as points for distances. A constant attribute contributes nothing."""
    numbers: list[FloatArray] = []
    codes: list[AnyIntArray] = []
    steps: list[Int32Array] = []
    apart: list[FloatArray] = []
    nulls, kept, rows = [], [], []
    for domain, column, ladder, weight in zip(
        classes.attributes, classes.codes, ladders, attribute_weights(classes, weights), strict=True
    ):
        values = numbers_of(domain, ordinal=domain.name in ordinal)
        if values is not None:
            column_values = values[column]
            spread = _spread(column_values, classes.records, scale)
            numbers.append(column_values / spread * np.sqrt(weight))
            nulls.append(weight)
            continue
        codes.append(column)
        kept.append(weight)
        rows.append(sum(len(table) for table in steps))
        above, distance = levels_above(domain, ladder, closeness)
        steps.append(above)
        apart.append(distance)
    n = len(classes)
    return Points(
        numbers=np.ascontiguousarray(np.stack(numbers, axis=1)) if numbers else np.zeros((n, 0)),
        null=np.array(nulls, dtype=np.float64),
        codes=np.ascontiguousarray(np.stack(codes, axis=1), dtype=np.int32)
        if codes
        else np.zeros((n, 0), dtype=np.int32),
        weights=np.array(kept, dtype=np.float64),
        row=np.array(rows, dtype=np.int64),
        steps=padded(steps).astype(np.int32),
        apart=padded(apart),
    )


def _spread(values: FloatArray, records: IntArray, scale: Scale) -> float:
    """Range or (sample) standard deviation over records; 1 where there is none."""
    known = ~np.isnan(values)
    if not known.any():
        return 1.0
    seen, weight = values[known], records[known]
    if scale == "range":
        spread = float(seen.max() - seen.min())
    else:
        mean = np.average(seen, weights=weight)
        spread = float(np.sqrt(weight @ (seen - mean) ** 2 / max(int(weight.sum()) - 1, 1)))
    return spread if spread > 0 else 1.0


def levels_above(
    domain: Domain, ladder: Ladder | None, closeness: Closeness = "level"
) -> tuple[Int32Array, FloatArray]:
    """Nodes above each category level by level, and how far apart categories are that meet there."""
    if ladder is None or ladder.height == 0:
        own = np.arange(domain.size, dtype=np.int32)
        return np.stack([own, np.zeros_like(own)]), np.stack([np.zeros(domain.size), np.ones(domain.size)])
    steps = np.stack([step.codes for step in ladder.steps]).astype(np.int32)
    if closeness == "level":
        apart = np.repeat(np.arange(ladder.height + 1) / ladder.height, domain.size).reshape(steps.shape)
    else:
        least = 1.0 / ladder.leaves
        apart = (np.stack([step.shares for step in ladder.steps]) - least) / max(1.0 - least, least)
    return steps, apart


def padded(tables: Sequence[Int32Array] | Sequence[FloatArray]) -> FloatArray:
    """Tables with one column per code, one below the other."""
    stacked = np.zeros((sum(len(table) for table in tables), max((t.shape[1] for t in tables), default=0)))
    row = 0
    for table in tables:
        stacked[row : row + len(table), : table.shape[1]] = table
        row += len(table)
    return stacked


def spans_of(
    classes: EquivalenceClasses,
    ladders: Sequence[Ladder | None],
    *,
    hierarchy: bool = False,
    weights: Mapping[str, float] | None = None,
) -> CellSpans:
    """Classes as cells for losses: intervals and sets of values, or with ``hierarchy`` common ancestors."""
    weight = attribute_weights(classes, weights)
    codes: list[AnyIntArray] = []
    steps: list[Int32Array] = []
    shares: list[FloatArray] = []
    kinds, leaves, words, rows = [], [], [0], []
    for domain, column, ladder, factor in zip(
        classes.attributes, classes.codes, ladders, weight, strict=True
    ):
        leaves.append(ladder.leaves if ladder is not None else domain.size)
        rows.append(sum(len(table) for table in steps))
        if hierarchy and ladder is not None:
            kinds.append(TREE)
            codes.append(column)
            steps.append(np.stack([step.codes for step in ladder.steps]).astype(np.int32))
            shares.append(np.stack([step.shares for step in ladder.steps]) * factor)
        elif domain.places is not None:
            kinds.append(INTERVAL)
            codes.append(places_of(domain, ladder)[column])
        else:
            kinds.append(SET)
            codes.append(column)
        words.append(words[-1] + ((domain.size + 63) // 64 if kinds[-1] == SET else 0))
    return CellSpans(
        kind=np.array(kinds, dtype=np.int64),
        codes=np.ascontiguousarray(np.stack(codes, axis=1), dtype=np.int32),
        unit=weight / np.array(leaves),
        full=weight,
        word=np.array(words, dtype=np.int64),
        row=np.array(rows, dtype=np.int64),
        steps=padded(steps).astype(np.int32),
        shares=padded(shares),
        turn=np.argsort(-weight / np.array(leaves), kind="stable").astype(np.int64),
    )


def places_of(domain: Domain, ladder: Ladder | None) -> IntArray:
    """Place of each value among the leaves (or among the values of the table), -1 for nulls."""
    numbers = domain.numbers if domain.places is None else domain.places
    unknown = np.isnan(numbers)
    if ladder is not None and ladder.leaf_numbers is not None:
        places = np.searchsorted(np.sort(ladder.leaf_numbers), numbers)
    else:
        places = np.searchsorted(np.unique(numbers[~unknown]), numbers)
    return np.where(unknown, -1, places).astype(np.int64)
