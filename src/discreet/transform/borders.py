"""Where intervals that were made from the data end: between two values, at a round number, not at somebody's value."""

from __future__ import annotations

import datetime
import math
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import pyarrow as pa

from discreet.table.domain import Domain
from discreet.table.values import Interval
from discreet.types import BoolArray, FloatArray, IntArray

EPOCH = datetime.date(1970, 1, 1)
MIDNIGHT = datetime.datetime(1970, 1, 1)
DAY, SECOND = datetime.timedelta(days=1), datetime.timedelta(seconds=1)
MICROSECOND = datetime.timedelta(microseconds=1)
UNIVERSAL = ("UTC", "Etc/UTC", "+00:00")
"""Names of the zone without an offset."""
SMALLEST_STEP = -12
"""Borders have at most so many decimal places."""


@dataclass(frozen=True)
class Borders:
    """The numbers of an attribute, ascending, and which of them only a few released people have."""

    numbers: FloatArray
    rare: BoolArray

    @classmethod
    def of(cls, domain: Domain, people: IntArray, least: int) -> Borders:
        """Of a domain of which ``people[c]`` released people have the value ``c``; fewer than ``least`` are a few."""
        known = np.isfinite(domain.numbers)
        numbers, place = np.unique(domain.numbers[known], return_inverse=True)
        held = np.bincount(place, weights=people[: len(domain.numbers)][known], minlength=len(numbers))
        # Bands among the numbers are in the way, and their ends are told anyway.
        wide = [band for band in domain.bands.values() if band.low < band.high]
        ends = np.unique([end for band in wide for end in (band.low, band.high) if math.isfinite(end)])
        both = np.append(numbers, np.setdiff1d(ends, numbers))
        rare = np.append(held < least, np.zeros(len(both) - len(numbers), dtype=bool)) & ~np.isin(both, ends)
        order = np.argsort(both)
        return cls(both[order], rare[order])

    @property
    def whole(self) -> bool:
        """Whether all are whole numbers (or days)."""
        return bool((self.numbers == np.floor(self.numbers)).all())

    def loosened(
        self,
        meant: Interval,
        border: Callable[[float, float], float] | None = None,
        step: float | None = None,
    ) -> Interval:
        """The interval with ends that are nobody's rare value, as far as there is room to the values next to it.

        An end moves into the gap between the last value inside and the first one outside, so that the same values lie
        in it as before. Two intervals that meet in a gap have the same ``border`` there, so they stay apart: the lower
        one ends a ``step`` before it (1 for whole numbers), or is open there.

        >>> numbers = np.array([12000.0, 41237.0, 58911.0, 60123.0, 90000.0])
        >>> print(Borders(numbers, np.ones(5, dtype=bool)).loosened(Interval(41237, 58911)))
        [40000, 59999]
        >>> print(Borders(numbers / 100, np.ones(5, dtype=bool)).loosened(Interval(412.37, 589.11)))
        [400, 600)
        >>> print(Borders(np.arange(20.0, 30.0), np.ones(10, dtype=bool)).loosened(Interval(22, 25)))
        [22, 25]
        """
        roundest = border or roundest_above
        step = 1.0 if step is None and self.whole else step
        first = int(np.searchsorted(self.numbers, meant.low, "left" if meant.closed_low else "right"))
        last = int(np.searchsorted(self.numbers, meant.high, "right" if meant.closed_high else "left")) - 1
        if first > last:
            return meant
        low, high, closed = meant.low, meant.high, meant.closed_high
        if self._tells(low, first) and first > 0:
            low = roundest(float(self.numbers[first - 1]), float(self.numbers[first]))
        if self._tells(high, last) and last + 1 < len(self.numbers):
            reached = roundest(float(self.numbers[last]), float(self.numbers[last + 1]))
            # The border itself belongs to what begins there.
            high, closed = (reached - step, True) if step else (reached, False)
        return Interval(low, high, meant.closed_low, closed, meant.unit)

    def _tells(self, end: float, at: int) -> bool:
        """Whether an end is the value at a place, and rare."""
        return bool(end == self.numbers[at] and self.rare[at])


def roundest_above(low: float, high: float) -> float:
    """The number above ``low`` and up to ``high`` with the fewest digits.

    >>> roundest_above(58911, 60123), roundest_above(63, 64), roundest_above(0.31, 0.42), roundest_above(-3, 5)
    (60000.0, 64.0, 0.4, 0.0)
    """
    if low < 0 <= high:
        return 0.0
    largest = max(abs(low), abs(high))
    for exponent in range(math.ceil(math.log10(largest)) if largest else 0, SMALLEST_STEP - 1, -1):
        step = 10.0**exponent
        number = round(math.floor(high / step) * step, max(-exponent, 0))
        if low < number <= high:
            return number
    return high


def first_day_above(low: float, high: float) -> float:
    """The first day of a year, else of a month, above ``low`` and up to ``high``, else ``high``; in days since 1970.

    >>> first_day_above(10.0, 40.0), first_day_above(10.0, 400.0), first_day_above(10.0, 12.0)
    (31.0, 365.0, 12.0)
    """
    last = EPOCH + datetime.timedelta(days=high)
    for day in (last.replace(month=1, day=1), last.replace(day=1)):
        if (number := float((day - EPOCH).days)) > low:
            return number
    return high


def first_moment_above(low: float, high: float) -> float:
    """The beginning of a year, else of a month, day, hour, minute or second, above ``low`` and up to ``high``; as above.

    >>> first_moment_above(10.5, 40.7), first_moment_above(10.5, 11.3), first_moment_above(10.5, 10.6) * 24
    (31.0, 11.0, 254.0)
    """
    last = MIDNIGHT + datetime.timedelta(days=high)
    midnight = last.replace(hour=0, minute=0, second=0, microsecond=0)
    for moment in (
        midnight.replace(month=1, day=1),
        midnight.replace(day=1),
        midnight,
        last.replace(minute=0, second=0, microsecond=0),
        last.replace(second=0, microsecond=0),
        last.replace(microsecond=0),
    ):
        if (number := (moment - MIDNIGHT) / DAY) > low:
            return number
    return high


def is_days(domain: Domain) -> bool:
    """Whether the values are dates without a time."""
    return bool(pa.types.is_date(domain.values.type))


def beginning_of_time(domain: Domain) -> datetime.date:
    """The day, or the moment with or without a zone, from which days are counted."""
    if is_days(domain):
        return EPOCH
    return MIDNIGHT if domain.values.type.tz is None else MIDNIGHT.replace(tzinfo=datetime.UTC)


def tick_of_moments(domain: Domain) -> float | None:
    """How fine the times of an attribute are, in days: seconds or microseconds; nothing if it has no times.

    Times with a zone are those of UTC, as engines print them; with the clocks of another zone they are left as they are.
    """
    kind = domain.values.type
    if not pa.types.is_timestamp(kind) or kind.tz not in (None, *UNIVERSAL):
        return None
    seconds = domain.numbers[np.isfinite(domain.numbers)] * 86_400
    fine = np.abs(seconds - np.round(seconds)) > 1e-5
    return (MICROSECOND if fine.any() else SECOND) / DAY
