"""The values an attribute takes in a table, in their order: what the integer codes of classes stand for."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from discreet.table.column import DataType
from discreet.types import FloatArray, IntArray

NULL_SIGN = "∅"
"""How a null prints where it has to be named: among values, in sets and in recipes."""


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
        # All at once: value by value takes several times as long, and searches ask for them often.
        texts = [str(value) for value in self.values.to_pylist()]
        return [*texts, NULL_SIGN] if self.has_null else texts

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

    def __len__(self) -> int:
        return self.size


MISSING_MARKS = ("", "?", "NA", "N/A", "n/a", "#N/A", "NULL", "null", "None", "NaN", "nan", "-", "--", ".")
"""Texts that usually stand for a missing value. They are kept as ordinary values unless told otherwise."""


def _number(value: object) -> float:
    """A text as a finite number; NaN for all else, also for what only Python reads as one (``inf``, ``1_0``)."""
    try:
        number = float(value)  # type: ignore[arg-type]
    except (TypeError, ValueError):
        return math.nan
    return number if math.isfinite(number) and "_" not in str(value) else math.nan
