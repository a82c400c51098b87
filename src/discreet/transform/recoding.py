"""A recoding: what becomes of every equivalence class. What searches find and engines apply."""

from __future__ import annotations

import itertools
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Literal

import numpy as np
import pyarrow as pa

from discreet.classes import EquivalenceClasses
from discreet.classes.packing import combination_numbers, distinct_rows
from discreet.table.domain import NULL_SIGN, Domain
from discreet.table.hierarchies.hierarchy import ROOT, Ladder
from discreet.table.hierarchies.known import written_order
from discreet.table.values import Interval, OneOf, parse
from discreet.types import AnyIntArray, BoolArray, FloatArray, Int32Array, IntArray

Style = Literal["values", "hierarchy"]
"""How a group's cell is written: its own values (interval or set), or their closest common ancestor."""
Scope = Literal["global", "local"]


@dataclass(frozen=True)
class ReleasedAttribute:
    """The new values of one quasi-identifier: class ``c`` gets ``values[codes[c]]``.

    ``values`` keep the column's type where nothing was generalised; else they are text such as ``[30, 39]``,
    ``{Bachelors, Masters}``, ``1020*`` or ``*``, or numbers where cells were replaced by means. A null that was not
    generalised stays a null; as a member of a set it prints as ``∅``.
    ``shares[c]`` is the share of the attribute's domain that the new value of class ``c`` may stand for
    (1 / D for a single value), which is what losses are made of. ``truthful``: a new value stands for the old
    one, not for a mean or another centre in its place.
    """

    name: str
    values: pa.Array = field(repr=False, compare=False)
    codes: Int32Array = field(repr=False)
    shares: FloatArray = field(repr=False)
    leaves: int
    truthful: bool = True

    def printed(self) -> list[str]:
        """The new values as text; a null prints as ``∅``."""
        return [_printed(value) for value in self.values.to_pylist()]

    def texts(self) -> pa.Array:
        """The new values as they are printed, nulls as nulls."""
        return pa.array(
            [None if value is None else str(value) for value in self.values.to_pylist()], pa.string()
        )

    def per_class(self) -> pa.Array:
        """The new value of every class."""
        return self.values.take(pa.array(self.codes))

    @property
    def domain(self) -> Domain:
        """The new values as a domain, for counting again."""
        return Domain(self.name, self.values)


@dataclass(frozen=True)
class Recoding:
    """For every class of a table: its new quasi-identifier values, or that its records are suppressed.

    >>> classes = EquivalenceClasses.from_columns({"age": [31, 34, 47]})
    >>> recoding = Recoding.of_groups(classes, np.array([0, 0, 1]), kept=np.array([True, False]), method="example")
    >>> recoding.columns[0].values.to_pylist(), recoding.suppressed_records
    (['[31, 34]', '47'], 1)
    """

    classes: EquivalenceClasses = field(repr=False)
    columns: tuple[ReleasedAttribute, ...]
    kept: BoolArray = field(repr=False)
    method: str
    levels: dict[str, int] | None = None
    scope: Scope = "local"
    """Whether a value always becomes the same new value (global), or its group decides (local)."""
    hidden: Mapping[str, pa.Array] | None = field(default=None, repr=False, compare=False)
    """Per attribute its new values and, last, what suppressed records show; without it they are left out."""

    @property
    def starred(self) -> bool:
        """Whether the release has the suppressed records, as one class that shows nothing of them."""
        return self.hidden is not None

    @property
    def suppressed_records(self) -> int:
        """Records whose quasi-identifiers are suppressed."""
        return int(self.classes.records[~self.kept].sum())

    @property
    def shares(self) -> FloatArray:
        """Per attribute and class the share of the domain a cell may stand for; 1 where suppressed."""
        return np.stack([np.where(self.kept, column.shares, 1.0) for column in self.columns])

    def shown(self) -> EquivalenceClasses:
        """The classes of the records that are not suppressed, as one who holds nothing else sees them."""
        return self.classes.subset(np.flatnonzero(self.kept)).recoded(
            [column.domain for column in self.columns], [column.codes[self.kept] for column in self.columns]
        )

    def released(self) -> EquivalenceClasses:
        """The classes of the release, that of the suppressed records included if it has them."""
        return self.regrouped() if self.starred else self.shown()

    def groups(self) -> IntArray:
        """For every class the number of its combination of new values."""
        if not self.columns:
            return np.zeros(len(self.classes), dtype=np.int64)
        sizes = [len(column.values) + 1 for column in self.columns]
        return combination_numbers(sizes, [column.codes for column in self.columns])

    def regrouped(self) -> EquivalenceClasses:
        """The classes after the recoding; suppressed records together form one of ``*``, or of what they show."""
        domains, codes = [], []
        for column in self.columns:
            told = ROOT if self.hidden is None else _printed(self.hidden[column.name][-1].as_py())
            labels, places = _distinct([*column.printed(), told])
            domains.append(Domain(column.name, labels))
            codes.append(np.where(self.kept, places[:-1][column.codes], places[-1]))
        return self.classes.recoded(domains, codes)

    # ── making ────────────────────────────────────────────────────────────────────────────────────

    @classmethod
    def of_node(
        cls,
        classes: EquivalenceClasses,
        ladders: Sequence[Ladder],
        node: Sequence[int],
        kept: BoolArray,
        *,
        method: str,
    ) -> Recoding:
        """Full-domain generalisation: every value of an attribute stands at the same level."""
        columns = tuple(
            of_level(ladder, level, codes)
            for ladder, level, codes in zip(ladders, node, classes.codes, strict=True)
        )
        levels = dict(zip(classes.names, map(int, node), strict=True))
        return cls(classes, columns, kept, method, levels, "global")

    @classmethod
    def of_groups(
        cls,
        classes: EquivalenceClasses,
        owner: AnyIntArray,
        *,
        kept: BoolArray,
        method: str,
        ladders: Sequence[Ladder | None] | None = None,
        style: Style = "values",
    ) -> Recoding:
        """Local recoding: each group of classes shares one value per attribute.

        ``owner[c]`` is the group of class ``c`` and ``kept[g]`` whether group ``g`` is released. Numbers
        become intervals and categories sets, or both their closest common ancestor where there is a hierarchy
        (``style="hierarchy"``). A missing number has no place in an interval: with it, numbers form a set.
        """
        columns = []
        for j, (domain, codes) in enumerate(zip(classes.attributes, classes.codes, strict=True)):
            ladder = ladders[j] if ladders is not None else None
            if style == "hierarchy" and ladder is not None:
                columns.append(_ancestors(ladder, codes, owner, len(kept)))
            else:
                columns.append(spans(domain, codes, owner, len(kept), ladder))
        return cls(classes, tuple(columns), kept[owner], method)


def _printed(value: object) -> str:
    return NULL_SIGN if value is None else str(value)


def of_level(ladder: Ladder, level: int, codes: AnyIntArray) -> ReleasedAttribute:
    """A column in which every value stands at one level of its hierarchy; level 0 keeps the values' type."""
    step = ladder.steps[level]
    if level == 0:
        return ReleasedAttribute(
            ladder.name, with_null(ladder.domain), codes.astype(np.int32), step.shares[codes], ladder.leaves
        )
    values = pa.array(ladder.values(level), pa.string())
    return ReleasedAttribute(ladder.name, values, step.codes[codes], step.shares[codes], ladder.leaves)


def with_null(domain: Domain) -> pa.Array:
    """The values of a domain with the null at its code."""
    if not domain.has_null:
        return domain.values
    return pa.concat_arrays([domain.values, pa.nulls(1, domain.values.type)])


def _ancestors(ladder: Ladder, codes: AnyIntArray, owner: AnyIntArray, groups: int) -> ReleasedAttribute:
    """Each group stands at the lowest level at which its values agree."""
    indptr, members = distinct_rows(owner, codes, groups)
    level = np.zeros(groups, dtype=np.int64)
    settled = np.zeros(groups, dtype=bool)
    node = np.zeros(groups, dtype=np.int64)
    for at, step in enumerate(ladder.steps):
        above = step.codes[members]
        agree = np.minimum.reduceat(above, indptr[:-1]) == np.maximum.reduceat(above, indptr[:-1])
        new = agree & ~settled
        level[new], node[new] = at, above[indptr[:-1]][new]
        settled |= agree
    shares = np.zeros(groups)
    for at, step in enumerate(ladder.steps):
        here = level == at
        share_of_node = np.zeros(len(step.labels))
        share_of_node[step.codes] = step.shares
        shares[here] = share_of_node[node[here]]
    shown = [ladder.values(at) for at in range(len(ladder.steps))]
    names = [shown[at][place] for at, place in zip(level, node, strict=True)]
    if (level == 0).all():
        return ReleasedAttribute(
            ladder.name, with_null(ladder.domain), codes.astype(np.int32), shares[owner], ladder.leaves
        )
    values, where = _distinct(names)
    return ReleasedAttribute(ladder.name, values, where[owner], shares[owner], ladder.leaves)


def spans(
    domain: Domain,
    codes: AnyIntArray,
    owner: AnyIntArray,
    groups: int,
    ladder: Ladder | None,
) -> ReleasedAttribute:
    """Each group stands at the interval (numbers) or the set (categories) of its own values."""
    rank, tick, blank = (
        by_number(domain, ladder)
        if domain.places is not None
        else (written_order(domain, None if ladder is None else ladder.assumed), np.arange(domain.size), 0)
    )
    code_at = np.argsort(rank)
    indptr, members = distinct_rows(owner, rank[codes], groups)
    low = members[indptr[:-1]]
    high = members[indptr[1:] - 1]
    size = np.diff(indptr)
    leaves = ladder.leaves if ladder is not None else domain.size
    if (size == 1).all():
        return ReleasedAttribute(
            domain.name, with_null(domain), codes.astype(np.int32), np.full(len(codes), 1 / leaves), leaves
        )
    labels = np.array(domain.labels(), dtype=object)[code_at]
    numbers = domain.numbers[code_at]
    # Two truth values are numbers to a distance, but no reader writes them as an interval.
    interval = (high < blank) & (not pa.types.is_boolean(domain.values.type))
    everything = ~interval & (size == domain.size) & (domain.size > 1)
    names: list[str | None] = []
    taken = {label for label in labels.tolist() if label.startswith("{")}
    # Many groups have the same ends.
    printed: dict[tuple[int, int], str] = {}
    for g, (start, stop) in enumerate(itertools.pairwise(indptr.tolist())):
        if stop == start + 1:
            names.append(None if code_at[members[start]] == domain.null_code else labels[members[start]])
        elif interval[g]:
            ends = first, last = int(low[g]), int(high[g])
            if ends not in printed:
                printed[ends] = (
                    _interval(labels[first], labels[last], float(numbers[first]), float(numbers[last]))
                    if domain.is_numeric
                    else _hull(labels[first : last + 1].tolist(), taken)
                )
            names.append(printed[ends])
        elif everything[g]:
            names.append(ROOT)
        else:
            names.append(OneOf(tuple(labels[members[start:stop]])).unlike(taken))
    values, where = _distinct(names)
    width = np.where(interval, tick[high] - tick[low] + 1, size)
    shares = np.where(everything, 1.0, np.minimum(width / leaves, 1.0))
    return ReleasedAttribute(domain.name, values, where[owner], shares[owner], leaves)


def _hull(labels: Sequence[str], taken: Collection[str]) -> str:
    """Of bands in their order the interval from the first to the last; a set of them if that has no end at all.

    >>> _hull(["[60-70)", "[70-80)"], ()), _hull(["83", "84", ">= 85"], ()), _hull(["<= 17", "18-64", "65+"], ())
    ('[60, 80)', '>= 83', '{<= 17, 18-64, 65+}')
    """
    ends = [parse(labels[0]), parse(labels[-1])]
    first, last = (
        end if isinstance(end, Interval) else Interval(float(label), float(label))
        for end, label in zip(ends, (labels[0], labels[-1]), strict=True)
    )
    hull = first.hull(last)
    return OneOf(tuple(labels)).unlike(taken) if hull is None else str(hull)


def _interval(low: str, high: str, first: float, last: float) -> str:
    """An interval with the ends that the column prints, or with plain numbers if those would not be read again.

    >>> _interval("07", "09", 7, 9), _interval("07", "100", 7, 100), _interval("2020-01-31", "2021-01-01", 18292, 18628)
    ('[07, 09]', '[7, 100]', '[2020-01-31, 2021-01-01]')
    """
    printed = f"[{low}, {high}]"
    told = parse(printed)
    if isinstance(told, Interval) and (told.low, told.high) == (first, last):
        return printed
    try:
        float(low), float(high)
    except ValueError:
        return printed
    return str(Interval(first, last))


def by_number(domain: Domain, ladder: Ladder | None) -> tuple[IntArray, IntArray, int]:
    """The values of a numeric attribute, or of bands, in the order of their numbers: place of each code, leaf of each place.

    The leaf is counted among those of the hierarchy, if it has numbers, else among the values that occur.
    Missing values come last; the third result is where they begin.

    >>> by_number(Domain("x", pa.array(["10", "9", "?"])), None)
    (array([1, 0, 2]), array([0, 1, 2]), 2)
    """
    numbers = domain.numbers if domain.places is None else domain.places
    order = np.argsort(numbers, kind="stable")
    rank = np.empty(domain.size, dtype=np.int64)
    rank[order] = np.arange(domain.size)
    blank = int((~np.isnan(numbers)).sum())
    if ladder is None or ladder.leaf_numbers is None:
        return rank, np.arange(domain.size), blank
    tick = np.searchsorted(np.sort(ladder.leaf_numbers), numbers[order])
    tick[blank:] = ladder.leaves + np.arange(domain.size - blank)
    return rank, tick.astype(np.int64), blank


def _distinct(names: Sequence[str | None]) -> tuple[pa.Array, Int32Array]:
    """Labels once each, a null among them, and the place of every given one."""
    encoded = pa.array(names, pa.string()).dictionary_encode(null_encoding="encode")
    return encoded.dictionary, encoded.indices.to_numpy(zero_copy_only=False).astype(np.int32)
