"""The builder for dates: days, weeks, months, quarters, years, decades, centuries."""

from __future__ import annotations

import datetime
from dataclasses import dataclass
from functools import partial
from typing import ClassVar, Literal, get_args

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from discreet.errors import InvalidParameter, UnsuitableColumn
from discreet.sentences import Sentence
from discreet.table.domain import Domain
from discreet.table.hierarchies.builder import Builder, check_text, finish, make_level, marks, texts
from discreet.table.hierarchies.hierarchy import Hierarchy
from discreet.types import AnyIntArray, BoolArray, IntArray

Period = Literal["hour", "day", "week", "month", "quarter", "year", "decade", "century"]
PERIODS: tuple[Period, ...] = get_args(Period)
"""From fine to coarse."""

Moments = NDArray[np.datetime64]


@dataclass(frozen=True)
class Dates(Builder):
    """Dates by the periods they fall into, from fine to coarse; weeks are those of ISO 8601.

    A week may lie in two months and two years, so it nests in nothing coarser and stands alone or after
    days. Text is read as ISO dates, or by ``format`` (as ``strptime`` takes it).

    >>> import pyarrow as pa
    >>> days = Domain("born", pa.array([datetime.date(1984, 5, 17), datetime.date(1985, 1, 2)]))
    >>> Dates(levels=("month", "quarter", "year", "decade")).build(days).rows()[0]
    ('1984-05-17', '1984-05', '1984-Q2', '1984', '[1980, 1989]', '*')
    """

    id: ClassVar[str] = "dates"

    levels: tuple[Period, ...] = ("month", "quarter", "year", "decade")
    format: str = ""

    def __post_init__(self) -> None:
        if not isinstance(self.levels, list | tuple) or not self.levels:
            raise InvalidParameter(
                "levels of dates must be a list of periods",
                remedy=Sentence("choose from: {periods}", periods=", ".join(PERIODS)),
            )
        object.__setattr__(
            self,
            "levels",
            tuple(check_text(self.id, "levels", level, choices=PERIODS) for level in self.levels),
        )
        check_text(self.id, "format", self.format)
        places = [PERIODS.index(level) for level in self.levels]
        if places != sorted(set(places)):
            raise InvalidParameter(
                "levels of dates do not nest",
                remedy=Sentence("list them from fine to coarse: {periods}", periods=tuple(PERIODS)),
            )
        if "week" in self.levels and self.levels[-1] != "week":
            raise InvalidParameter(
                "levels of dates do not nest: a week may lie in two months, quarters and years",
                remedy="leave out week, or let it be the last level",
            )

    def build(self, domain: Domain, *, totals: AnyIntArray | None = None) -> Hierarchy:
        leaves = texts(domain)
        moments, apart = moments_of(domain, self.format)
        if np.isnat(moments[~apart]).any():
            unknown = int(np.isnat(moments[~apart]).sum())
            raise UnsuitableColumn(
                Sentence(
                    "the column {name!r} has {unknown:,} values that are not dates, which dates needs",
                    name=domain.name,
                    unknown=unknown,
                ),
                remedy='give their format, e.g. format = "%d.%m.%Y", or choose another builder',
            )
        moments = np.where(apart, np.datetime64(0, "us"), moments)
        levels = [
            make_level(_keys(moments, period), partial(_label, period=period), apart, leaves)
            for period in self.levels
        ]
        return finish(domain, leaves, levels)


def _local(moments: pa.Array) -> pa.Array:
    """Moments with a zone as its clocks show them."""
    kind = moments.type
    if not kind.tz.startswith(("+", "-")):
        return pc.local_timestamp(moments)
    # Not every version of Arrow knows zones that are written as an offset.
    offset = datetime.datetime.fromisoformat(f"2000-01-01T00:00:00{kind.tz}").utcoffset()
    return pc.add(moments.cast(pa.timestamp(kind.unit)), pa.scalar(offset, pa.duration(kind.unit)))


def moments_of(domain: Domain, format: str = "") -> tuple[Moments, BoolArray]:
    """Each value as a moment (NaT where it is none), and which values are missing marks."""
    kind = domain.values.type
    if pa.types.is_timestamp(kind) or pa.types.is_date(kind):
        # The day of a moment is the day on the clocks of its own time zone.
        values = _local(domain.values) if getattr(kind, "tz", None) else domain.values
        stamps = pc.cast(pc.cast(values, pa.timestamp("us"), safe=False), pa.int64())
        return (
            stamps.to_numpy(zero_copy_only=False).astype("datetime64[us]"),
            np.zeros(len(domain.values), dtype=bool),
        )
    leaves = texts(domain)
    moments = np.array([_moment(text, format) for text in leaves], dtype="datetime64[us]")
    return moments, marks(leaves) & np.isnat(moments)


def _moment(text: str, format: str) -> datetime.datetime | None:
    try:
        if format:
            return datetime.datetime.strptime(text, format).replace(tzinfo=None)
        # Compact forms such as 20240517 are rather numbers than dates.
        return datetime.datetime.fromisoformat(text).replace(tzinfo=None) if "-" in text else None
    except ValueError:
        return None


def _keys(moments: Moments, period: Period) -> IntArray:
    """The number of the period that each moment falls into, counted from 1970 or from the year 0."""
    if period == "hour":
        return moments.astype("datetime64[h]").astype(np.int64)
    days = moments.astype("datetime64[D]").astype(np.int64)
    if period == "day":
        return days
    if period == "week":
        # 1970-01-01 was a Thursday, and ISO weeks begin on Monday.
        return (days + 3) // 7
    months = moments.astype("datetime64[M]").astype(np.int64)
    if period == "month":
        return months
    if period == "quarter":
        return months // 3
    years = months // 12 + 1970
    return years // {"year": 1, "decade": 10, "century": 100}[period]


def _label(key: int, period: Period) -> str:
    if period == "hour":
        return str(np.datetime64(key, "h"))
    if period == "day":
        return str(np.datetime64(key, "D"))
    if period == "week":
        year, week, _ = datetime.date.fromordinal(719_163 + key * 7).isocalendar()
        return f"{year}-W{week:02}"
    if period == "month":
        return str(np.datetime64(key, "M"))
    if period == "quarter":
        return f"{key // 4 + 1970}-Q{key % 4 + 1}"
    if period == "year":
        return str(key)
    width = 10 if period == "decade" else 100
    return f"[{key * width}, {key * width + width - 1}]"
