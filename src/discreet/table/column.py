"""What a column is: its name, its type in the field's sense, and what a first look at it found."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, get_args

DataType = Literal["nominal", "ordinal", "integer", "continuous", "date", "set", "generalised"]
"""Types that decide how values are compared and generalised."""

Storage = Literal["text", "integer", "float", "boolean", "date", "timestamp", "list", "other"]
"""How an engine keeps values."""

DATA_TYPES: tuple[DataType, ...] = get_args(DataType)


@dataclass(frozen=True)
class Column:
    """A column of a table. ``storage`` is how the engine keeps it, ``type`` what it means.

    ``declared`` tells that somebody gave the type, so that nothing is read out of the values against it.
    """

    name: str
    type: DataType
    storage: Storage
    declared: bool = False

    @property
    def numeric(self) -> bool:
        """Whether the values have an order and differences."""
        return self.type in ("integer", "continuous")


@dataclass(frozen=True)
class ColumnProfile:
    """A first look at one column: how full and how varied it is. Holds no cell value."""

    column: Column
    rows: int
    nulls: int
    marks: int
    distinct: int
    infinite: int
    mean_length: float
    approximate: bool = False

    @property
    def distinct_share(self) -> float:
        """Distinct values per row that has one: 1 means every row has its own.

        >>> ColumnProfile(Column("id", "nominal", "text"), 10, 2, 0, 8, 0, 4.0).distinct_share
        1.0
        """
        filled = self.rows - self.nulls
        return min(self.distinct / filled, 1.0) if filled else 0.0
