"""The values an attribute takes in a table, in their order: what the integer codes of classes stand for."""

from __future__ import annotations

import itertools
import math
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property
from operator import itemgetter

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from discreet.table.column import DataType
from discreet.table.values import Interval, parse
from discreet.types import FloatArray, IntArray

NULL_SIGN = "∅"
"""How a null prints where it has to be named: among values, in sets and in recipes."""
LARGEST_NUMBER, SMALLEST_NUMBER = 1e100, 1e-100
"""The squares of other numbers, of their differences and sums of these may be infinite, or nothing where something is."""
KEPT_LABELS = 10_000
"""Of so many values the labels are kept: searches ask for them a thousand times."""
LEAST_BANDS, MOST_BANDS = 3, 10_000
"""So many intervals are looked at for their order: of two nothing is to be ordered."""


@dataclass(frozen=True)
class Domain:
    """The distinct values of one attribute; code ``i`` stands for ``values[i]``.

    Values are sorted, so codes keep the attribute's order. Nulls are a value of their own and take the
    last code. ``type`` is what the values mean, where somebody said so or it was recognised.

    >>> age = Domain("age", pa.array([28, 37, 39]), has_null=True)
    >>> age.size, age.null_code, age.labels()
    (4, 3, ['28', '37', '39', '∅'])
    """

    name: str
    values: pa.Array = field(repr=False, compare=False)
    has_null: bool = False
    type: DataType | None = None

    @property
    def size(self) -> int:
        """How many codes there are, the one for nulls included."""
        return len(self.values) + self.has_null

    @property
    def null_code(self) -> int | None:
        return len(self.values) if self.has_null else None

    def label(self, code: int) -> str:
        """The printed form of one code; a null prints as ``∅``."""
        return NULL_SIGN if code == self.null_code else str(self.values[int(code)].as_py())

    def labels(self) -> list[str]:
        """The printed forms of all codes, in a list of the caller's own.

        >>> town = Domain("town", pa.array(["Bath", "York"]))
        >>> town.labels().pop(), town.labels()
        ('York', ['Bath', 'York'])
        """
        return self._labels.copy() if self.size <= KEPT_LABELS else self._printed()

    def _printed(self) -> list[str]:
        # All at once: value by value takes several times as long.
        texts = [str(value) for value in self.values.to_pylist()]
        return [*texts, NULL_SIGN] if self.has_null else texts

    @cached_property
    def _labels(self) -> list[str]:
        return self._printed()

    @cached_property
    def numbers(self) -> FloatArray:
        """The value of each code as a number; NaN for nulls and for what is not a number.

        Dates count in days. Text that holds numbers besides missing marks is read as numbers.

        >>> Domain("x", pa.array(["1", "10", "?"])).numbers
        array([ 1., 10., nan])
        """
        kind = self.values.type
        if pa.types.is_boolean(kind) or pa.types.is_decimal(kind):
            numbers = pc.cast(self.values, pa.float64()).to_numpy(zero_copy_only=False)
        elif pa.types.is_integer(kind) or pa.types.is_floating(kind):
            numbers = self.values.to_numpy(zero_copy_only=False).astype(np.float64)
        elif pa.types.is_temporal(kind) and not pa.types.is_duration(kind) and not pa.types.is_time(kind):
            stamps = pc.cast(self.values, pa.timestamp("us"), safe=False)
            numbers = pc.cast(stamps, pa.int64()).to_numpy(zero_copy_only=False) / 86_400e6
        else:
            numbers = np.array([_number(value) for value in self.values.to_pylist()], dtype=np.float64)
        return np.append(numbers, np.nan) if self.has_null else np.asarray(numbers, dtype=np.float64)

    @property
    def is_text(self) -> bool:
        return bool(pa.types.is_string(self.values.type) or pa.types.is_large_string(self.values.type))

    def codes_of(self, texts: Sequence[str]) -> IntArray:
        """The codes of those texts that are values of this (text) attribute.

        >>> Domain("job", pa.array(["?", "baker"])).codes_of(["?", ""])
        array([0])
        """
        codes = pc.index_in(pa.array(texts, self.values.type), value_set=self.values).drop_null()
        return np.asarray(codes.to_numpy(zero_copy_only=False), dtype=np.int64)

    @property
    def with_one_missing(self) -> IntArray:
        """For each code itself; for marks of missing values and nulls, which all say the same, the first of theirs.

        >>> Domain("dx", pa.array(["?", "NA", "flu"]), has_null=True).with_one_missing
        array([0, 0, 2, 0])
        """
        codes = np.arange(self.size)
        missing = self.codes_of(MISSING_MARKS) if self.is_text else np.zeros(0, dtype=np.int64)
        if self.has_null:
            missing = np.append(missing, self.size - 1)
        codes[missing] = missing.min(initial=self.size)
        return codes

    @property
    def is_numeric(self) -> bool:
        """Whether the values are numbers (or dates) that have an order: codes of a nominal column have none.

        >>> [Domain("ward", pa.array([4, 91]), type=type).is_numeric for type in (None, "nominal")]
        [True, False]
        """
        return self.type != "nominal" and self.holds_numbers

    @cached_property
    def holds_numbers(self) -> bool:
        """Whether the values are written as numbers (or dates), besides nulls and marks for missing ones.

        >>> [Domain("x", pa.array(values)).holds_numbers for values in (["1", "10", "?"], ["1", "one"])]
        [True, False]
        """
        unknown = np.flatnonzero(np.isnan(self.numbers[: len(self.values)]))
        if len(unknown) == len(self.values) or len(unknown) > len(MISSING_MARKS):
            return False
        return all(self.label(int(code)) in MISSING_MARKS for code in unknown)

    @cached_property
    def places(self) -> FloatArray | None:
        """A number for each code by which the values have their order; NaN for missing ones, ``None`` if they have none.

        Numbers and dates are their own. Of intervals that do not overlap, numbers among them, it is one inside: bands of
        age, shares and amounts, and numbers with an open end, are no mere names.

        >>> Domain("age", pa.array(["30-39", "40-49", "50+", "?"])).places
        array([34.5, 44.5, 54.5,  nan])
        >>> Domain("age", pa.array(["83", "84", ">= 85"])).places, Domain("job", pa.array(["baker", "cook"])).places
        (array([83., 84., 85.]), None)
        """
        if self.is_numeric:
            return self.numbers
        if not self.bands:
            return None
        places = np.full(self.size, np.nan)
        places[list(self.bands)] = _inside_bands(tuple(self.bands.values()))
        return places

    @cached_property
    def bands(self) -> dict[int, Interval]:
        """The interval of each code, where values are intervals that do not overlap, numbers among them; else none.

        >>> {code: str(band) for code, band in Domain("age", pa.array(["83", "84", ">= 85"])).bands.items()}
        {0: '[83, 83]', 1: '[84, 84]', 2: '>= 85'}
        """
        return {} if self.is_numeric or not self._may_be_bands else _bands(self.labels())

    def codes_inside(self, interval: Interval) -> list[int]:
        """The codes of texts that are bands inside an interval: two of them, or some among names, have no order.

        >>> Domain("age", pa.array(["0-17", "18-64", "unknown"])).codes_inside(Interval(0, 64))
        [0, 1]
        """
        return [code for code, band in self._intervals.items() if interval.covers(band)]

    @cached_property
    def _intervals(self) -> dict[int, Interval]:
        texts = self.values.to_pylist() if self.is_text and self.size <= MOST_BANDS else ()
        return {code: band for code, text in enumerate(texts) if isinstance(band := parse(text), Interval)}

    @property
    def _may_be_bands(self) -> bool:
        return self.is_text and self.type in (None, "generalised", "ordinal") and self.size <= MOST_BANDS

    def __len__(self) -> int:
        return self.size


MISSING_MARKS = ("", "?", "NA", "N/A", "n/a", "#N/A", "NULL", "null", "None", "NaN", "nan", "-", "--", ".")
"""Texts that usually stand for a missing value. They are kept as ordinary values unless told otherwise."""


def _bands(labels: Sequence[str]) -> dict[int, Interval]:
    """Labels as intervals, if these are intervals and numbers, three at least, that do not overlap; else none."""
    bands: dict[int, Interval] = {}
    for at, label in enumerate(labels):
        if label in (NULL_SIGN, *MISSING_MARKS):
            continue
        number, value = _number(label), parse(label)
        if not math.isnan(number):
            bands[at] = Interval(number, number)
        elif isinstance(value, Interval):
            bands[at] = value
        else:
            return {}
    units = Counter(band.unit for band in bands.values() if band.unit or band.low != band.high)
    # A number by itself may be of any unit, and a band among others whose unit was forgotten is of theirs.
    bare = units.pop("", 0)
    if len(bands) < LEAST_BANDS or len(units) > 1 or all(band.low == band.high for band in bands.values()):
        return {}
    if units and bare >= units.total():
        return {}
    ordered = sorted(
        zip(_inside_bands(tuple(bands.values())), bands.values(), strict=True), key=itemgetter(0)
    )
    apart = all(a < b and _are_apart(left, right) for (a, left), (b, right) in itertools.pairwise(ordered))
    return bands if apart else {}


def _are_apart(left: Interval, right: Interval) -> bool:
    """Whether one interval ends before the next begins. Bands may share an end (0-35, 35-55), but no number is in a band."""
    if left.high != right.low or not (left.closed_high and right.closed_low):
        return left.high <= right.low
    return left.low < left.high and right.low < right.high


def _inside_bands(bands: Sequence[Interval]) -> list[float]:
    """A number inside each interval."""
    widths = [band.high - band.low for band in bands]
    half = float(np.median([width for width in widths if 0 < width < math.inf] or [0.0])) / 2
    return [_inside(band, half) for band in bands]


def _inside(band: Interval, half: float) -> float:
    """The middle of an interval; of one without end as far from the other as the middle of most is."""
    if math.isinf(band.high):
        return band.low + (half or 0.5 * (not band.closed_low))
    if math.isinf(band.low):
        return band.high - (half or 0.5 * (not band.closed_high))
    return (band.low + band.high) / 2


def number_of(text: str) -> float | None:
    """A text as a number, if it is one.

    >>> number_of("1.5"), number_of("inf"), number_of("x")
    (1.5, None, None)
    """
    number = _number(text)
    return None if math.isnan(number) else number


def _number(value: object) -> float:
    """A text as a number; NaN for all else, also for what only Python reads as one (``inf``, ``1_0``)."""
    try:
        number = float(value)  # type: ignore[arg-type]
    except (TypeError, ValueError):
        return math.nan
    usual = number == 0 or SMALLEST_NUMBER <= abs(number) <= LARGEST_NUMBER
    return number if usual and "_" not in str(value) else math.nan
