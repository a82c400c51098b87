"""Columns as codes and back: the domains of artificial people, given or found in the data and paid for.

The last code of a column is what is missing. Values outside of a given list count as missing, numbers outside of given
bounds as the nearest bound.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from discreet.dp.answer import Key
from discreet.dp.contributions import kept_rows, mixed
from discreet.dp.keys import PublicKeys, constants_of, plain_key
from discreet.dp.measuring import Bounds
from discreet.dp.tree import uniforms
from discreet.engine.question import Constant
from discreet.errors import InvalidParameter
from discreet.sentences import Sentence
from discreet.table import Column, Table
from discreet.types import IntArray

OTHER = "*"
"""What stands for values that too few people have."""


@dataclass(frozen=True)
class NumberCoding:
    """Numbers between given bounds, in bins of equal width."""

    name: str
    low: float
    unit: float
    bins: int
    whole: bool

    @property
    def size(self) -> int:
        return self.bins + 1

    @property
    def high(self) -> float:
        """The upper end of the last bin."""
        return self.low + self.bins * self.unit - (1 if self.whole else 0)

    def encode(self, values: pa.ChunkedArray) -> IntArray:
        numbers = pc.cast(values, pa.float64(), safe=False).to_numpy(zero_copy_only=False)
        absent = np.isnan(numbers)
        # Clamped before it becomes a whole number: an infinite one would become any.
        places = np.clip(
            np.floor((np.where(absent, self.low, numbers) - self.low) / self.unit), 0, self.bins - 1
        )
        return np.where(absent, self.bins, places.astype(np.int64))

    def decode(self, codes: IntArray) -> pa.Array:
        """A number per code: the value itself where a bin has only one, else any of its bin."""
        absent = codes == self.bins
        if self.whole and self.unit == 1:
            return pa.array((self.low + codes).astype(np.int64), mask=absent)
        numbers = self.low + (codes + uniforms(len(codes))) * self.unit
        if self.whole:
            return pa.array(np.floor(numbers).astype(np.int64), mask=absent)
        digits = max(0, 2 - math.floor(math.log10(self.unit)))
        return pa.array(np.round(numbers, digits), mask=absent)

    def labels(self) -> pa.Array:
        """What each code stands for, in words: a value, or the bin from a number to below another."""
        ends = [self.low + at * self.unit for at in range(self.bins + 1)]
        if self.whole:
            whole = [int(end) for end in ends]
            if self.unit == 1:
                return pa.array([*whole[:-1], None], pa.int64())
            shown = [f"[{low}, {high - 1}]" for low, high in itertools.pairwise(whole)]
        else:
            shown = [f"[{low:g}, {high:g})" for low, high in itertools.pairwise(ends)]
        return pa.array([*shown, None], pa.string())


@dataclass(frozen=True)
class ListedCoding:
    """Values of a list that was given."""

    name: str
    values: tuple[Key, ...]
    kind: pa.DataType

    @property
    def size(self) -> int:
        return len(self.values) + 1

    def encode(self, values: pa.ChunkedArray) -> IntArray:
        encoded = values.combine_chunks().dictionary_encode()
        if isinstance(encoded, pa.ChunkedArray):
            encoded = encoded.combine_chunks()
        known = {value: code for code, value in enumerate(self.values)}
        absent = len(self.values)
        codes = [known.get(plain_key(value), absent) for value in encoded.dictionary.to_pylist()]
        places = pc.fill_null(encoded.indices, len(codes)).to_numpy(zero_copy_only=False)
        return np.asarray(np.array([*codes, absent], dtype=np.int64)[places])

    def decode(self, codes: IntArray) -> pa.Array:
        return self.labels().take(pa.array(codes))

    def labels(self) -> pa.Array:
        """What each code stands for; the last, what is missing, is null."""
        return pa.array([*self.values, None], self.kind)


Coding = NumberCoding | ListedCoding


def codings(
    table: Table,
    names: Sequence[str],
    bounds: Bounds,
    keys: PublicKeys,
    bins: int,
) -> dict[str, Coding | None]:
    """How each column is coded; nothing where its values are not given and have to be paid for."""
    made: dict[str, Coding | None] = {}
    for name in names:
        column = table.column(name)
        if name in bounds:
            check_bounded(column)
        if name in keys:
            made[name] = _categories(column, constants_of(column, keys[name]))
        elif column.storage == "boolean":
            made[name] = _categories(column, [False, True])
        elif column.numeric and column.storage in ("integer", "float"):
            made[name] = _numbers(column, bounds, bins)
        elif column.storage == "text":
            made[name] = None
        else:
            raise InvalidParameter(
                Sentence("the values of {name} are not given", name=name),
                remedy="give them by keys, or leave the column out",
            )
    return made


def check_bounded(column: Column) -> None:
    """Refuse bounds of what is stored as text: cells that are no numbers have none, and bounds would count for nothing."""
    if column.storage == "text":
        raise InvalidParameter(
            Sentence("{name} is read as text, which has no bounds", name=column.name),
            remedy="say which texts stand for a missing value, or leave the bounds out",
        )


def given_codings(
    table: Table, names: Sequence[str], bounds: Bounds, keys: PublicKeys, bins: int
) -> dict[str, Coding]:
    """Codings of which all values are given: cells that exist only because somebody has them would tell of them."""
    listed = {table.column(name).name: values for name, values in keys.items()}
    limits = {table.column(name).name: pair for name, pair in bounds.items()}
    coded = codings(table, names, limits, listed, bins)
    for name, coding in coded.items():
        if coding is None:
            raise InvalidParameter(
                Sentence("the values of {name} are not given", name=name),
                remedy="give them by keys, or leave the column out",
            )
    return {name: coding for name, coding in coded.items() if coding is not None}


def counted_codes(
    table: Table, coded: Mapping[str, Coding], person: str | None, max_rows: int
) -> list[IntArray]:
    """Columns as codes, with at most so many rows of each person."""
    cells = table.engine.to_arrow(table, [*coded, *([] if person is None else [person])])
    codes = [coding.encode(cells[name]) for name, coding in coded.items()]
    if person is None:
        return codes
    content = mixed((column.astype(np.uint64) for column in codes), cells.num_rows)
    kept = kept_rows(cells[person], content, codes, max_rows)
    return [column[kept] for column in codes]


def _categories(column: Column, values: Sequence[Constant | None]) -> ListedCoding:
    """The coding of values that were given; those of exact decimals are told as floats.

    >>> price = Column("price", "continuous", "integer")
    >>> _categories(price, constants_of(price, ["1.50", 2])).labels().to_pylist()
    [1.5, 2.0, None]
    """
    kinds = {"integer": pa.int64(), "float": pa.float64(), "boolean": pa.bool_()}
    given = tuple(plain_key(value) for value in values if value is not None)
    if not given:
        raise InvalidParameter(
            Sentence("no value is given for {name}", name=column.name), remedy="give at least one"
        )
    kind = kinds.get(column.storage, pa.string())
    if column.storage == "integer":
        if not all(isinstance(value, int | float) and -(2**63) <= value < 2**63 for value in given):
            raise InvalidParameter(
                Sentence("a given value of {name} is of another kind than the column", name=column.name),
                remedy="write numbers as numbers and dates as 2024-05-01",
            )
        kind = kind if all(isinstance(value, int) for value in given) else pa.float64()
    return ListedCoding(column.name, given, kind)


def _numbers(column: Column, bounds: Bounds, bins: int) -> NumberCoding:
    if column.name not in bounds:
        raise InvalidParameter(
            Sentence("the values of {name} have no bounds", name=column.name),
            remedy=Sentence(
                "say between what they lie, from what is known without the data, e.g. --bounds {name}=0:100",
                name=column.name,
            ),
        )
    low, high = bounds[column.name]
    usable = math.isfinite(low) and math.isfinite(high) and 1e-300 < high - low < 1e300
    # Whole numbers are drawn as such: from here on floats skip some of them.
    if not usable or (column.type == "integer" and max(abs(low), abs(high)) > 2**53):
        raise InvalidParameter(
            Sentence("the bounds of {name} are {low} and {high}", name=column.name, low=low, high=high),
            remedy="give a lower and a larger upper bound",
        )
    return number_bins(column.name, low, high, bins, whole=column.type == "integer")


def number_bins(name: str, low: float, high: float, bins: int, *, whole: bool) -> NumberCoding:
    """At most so many bins of equal width; of whole numbers each has equally many.

    >>> number_bins("age", 0, 100, 10, whole=True).unit, number_bins("pay", 0, 100, 10, whole=False).unit
    (11, 10.0)
    """
    if whole:
        low, high = math.floor(low), math.ceil(high)
        unit = max(1, math.ceil((high - low + 1) / bins))
        return NumberCoding(name, low, unit, math.ceil((high - low + 1) / unit), whole=True)
    return NumberCoding(name, low, (high - low) / bins, bins, whole=False)
