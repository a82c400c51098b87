"""Values that become others by a rule: top and bottom coding, rounding, averages of neighbours, shifted dates."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, Literal

import numpy as np
import pyarrow as pa

from discreet.errors import InvalidParameter, UnsuitableColumn
from discreet.perturb.base import (
    Perturbation,
    decimals,
    groups,
    names_of,
    need_choice,
    need_number,
    numbers,
    on_grid,
    ordered,
    released_numbers,
    whole,
)
from discreet.perturb.chances import NEVER, ColumnValues, allowed, apart, same
from discreet.perturb.randomness import Randomness
from discreet.sentences import Sentence
from discreet.types import FloatArray, IntArray

SECONDS_OF_A_DAY = 86_400
_UNITS = {"s": 1, "ms": 1_000, "us": 1_000_000, "ns": 1_000_000_000}


@dataclass(frozen=True)
class TopBottomCoding(Perturbation):
    """Values above ``top`` become ``top``, those below ``bottom`` become ``bottom``.

    Extreme values are the ones that everybody recognises. Willenborg, de Waal, "Elements of statistical disclosure
    control", 2001.

    >>> rows = pa.table({"age": [3, 40, 97]})
    >>> TopBottomCoding(("age",), top=90, bottom=18).changed(rows, Randomness())["age"].to_pylist()
    [18, 40, 90]
    """

    id: ClassVar[str] = "top-bottom-coding"
    title: ClassVar[str] = "top and bottom coding"
    says: ClassVar[str] = "Values beyond a limit become that limit."
    keeps: ClassVar[str] = "no value lies beyond the limits, and those between them are as they were"
    source: ClassVar[str] = "Willenborg and de Waal, Elements of statistical disclosure control, 2001"
    random: ClassVar[bool] = False

    top: float | None = None
    bottom: float | None = None

    def check(self) -> None:
        for name, limit in (("top", self.top), ("bottom", self.bottom)):
            if limit is not None:
                need_number(self.id, name, limit, above=-np.inf)
        if self.top is None and self.bottom is None:
            raise InvalidParameter(
                Sentence("{step} has neither top nor bottom", step=self.id),
                remedy="give at least one of them",
            )
        if self.top is not None and self.bottom is not None and self.bottom >= self.top:
            raise InvalidParameter(
                Sentence("bottom of {step} is not below top", step=self.id), remedy="exchange or correct them"
            )

    def _coded(self, rows: pa.Table, name: str) -> pa.Array:
        column = whole(rows[name])
        low, high = self._limits(column.type)
        return on_grid(np.clip(numbers(rows, name, self.id), low, high), column, None)

    def _limits(self, kind: pa.DataType) -> tuple[float, float]:
        """The outermost values between the limits that a column of this type can hold."""
        low = -np.inf if self.bottom is None else self.bottom
        high = np.inf if self.top is None else self.top
        if not (pa.types.is_integer(kind) or pa.types.is_decimal(kind)):
            return low, high
        steps = 1.0 if pa.types.is_integer(kind) else 10.0**kind.scale
        # A limit that the type can hold stays itself, also where its product is a hair beside a whole number.
        return float(np.ceil(low * steps - 1e-9) / steps), float(np.floor(high * steps + 1e-9) / steps)

    def changed(self, rows: pa.Table, randomness: Randomness) -> dict[str, pa.Array]:
        return {name: self._coded(rows, name) for name in self.columns}

    def log_chances(self, true: ColumnValues, seen: ColumnValues) -> FloatArray:
        low = -np.inf if self.bottom is None else self.bottom
        high = np.inf if self.top is None else self.top
        coded = np.clip(true.low, low, high)
        labels = tuple(
            label if np.isnan(number) else "" for label, number in zip(true.labels, coded, strict=True)
        )
        return allowed(same(ColumnValues(labels, coded, coded, true.records), seen))

    def complaint(self, before: pa.Table, after: pa.Table, places: IntArray) -> str:
        for name in after.column_names:
            shown = released_numbers(after, name, before)
            coded = numbers(pa.table({name: self._coded(before, name)}), name, self.id)[places]
            if shown is None or not np.allclose(shown, coded, rtol=1e-9, atol=1e-12, equal_nan=True):
                return f"{name} shows values beyond the limits, or other values between them"
        return ""


@dataclass(frozen=True)
class RoundToBase(Perturbation):
    """Values become multiples of ``base``: the nearest one, or by chance one of the two around.

    ``direction="random"`` rounds x up with the probability (x mod base) / base, so that sums stay in expectation.
    Willenborg, de Waal 2001.

    >>> rows = pa.table({"pay": [1234, 1277]})
    >>> RoundToBase(("pay",), base=50).changed(rows, Randomness())["pay"].to_pylist()
    [1250, 1300]
    """

    id: ClassVar[str] = "round"
    title: ClassVar[str] = "rounding"
    says: ClassVar[str] = "Values become multiples of a number."
    keeps: ClassVar[str] = "every value is a multiple of the base, less than one base away from what it was"
    source: ClassVar[str] = "Willenborg and de Waal, Elements of statistical disclosure control, 2001"

    base: float = 10.0
    direction: Literal["nearest", "random"] = "nearest"

    def check(self) -> None:
        need_number(self.id, "base", self.base)
        need_choice(self.id, "direction", self.direction, ("nearest", "random"))

    def changed(self, rows: pa.Table, randomness: Randomness) -> dict[str, pa.Array]:
        new = {}
        for name in self.columns:
            column = whole(rows[name])
            if pa.types.is_integer(column.type) and self.base != int(self.base):
                raise UnsuitableColumn(
                    Sentence(
                        "the column {name!r} holds whole numbers, which multiples of the base of {step} are not",
                        name=name,
                        step=self.id,
                    ),
                    remedy="give a whole number as base",
                )
            scaled = numbers(rows, name, self.id) / self.base
            if self.direction == "nearest":
                steps = np.floor(scaled + 0.5)
            else:
                # What is a multiple already stays.
                exact = np.abs(scaled - np.round(scaled)) < 1e-9
                steps = np.where(exact, np.round(scaled), np.floor(scaled + randomness.uniform(len(scaled))))
            new[name] = on_grid(steps * self.base, column, decimals(np.array([self.base])))
        return new

    def log_chances(self, true: ColumnValues, seen: ColumnValues) -> FloatArray:
        width = self.base if self.direction == "random" else self.base / 2
        silent = np.isnan(true.low)[:, None] | np.isnan(seen.low)[None]
        near = np.abs(apart(true, seen)) <= width * (1 + 1e-9)
        return allowed(np.where(silent, same(true, seen), near))

    def complaint(self, before: pa.Table, after: pa.Table, places: IntArray) -> str:
        for name in after.column_names:
            shown = released_numbers(after, name, before)
            given = numbers(before, name, self.id)[places]
            if shown is None or (np.isnan(shown) != np.isnan(given)).any():
                return f"{name} shows what is no number"
            known = ~np.isnan(shown)
            steps = shown[known] / self.base
            if (np.abs(steps - np.round(steps)) > 1e-6).any():
                return f"{name} has values that are no multiples of the base"
            if (np.abs(shown - given)[known] >= self.base * (1 + 1e-9)).any():
                return f"{name} has values that are further away than the base"
        return ""


@dataclass(frozen=True)
class GroupAverages(Perturbation):
    """Records are put in groups of ``k`` that are near each other, and all of a group show its mean (or median).

    ``by="each"``: every column by itself, along its order (individual ranking); ``by="axis"``: all columns together, along
    their first principal component. Groups have k records, the last one up to 2k - 1. Quasi-identifiers are better
    microaggregated by the method of that name (``anonymize --method microaggregation``), whose groups are those of MDAV and
    whose k is counted on the release; ``by="each"`` leaves combinations of columns as they were recognisable.
    Defays, Nanopoulos 1993; Domingo-Ferrer, Mateo-Sanz, "Practical data-oriented microaggregation for statistical
    disclosure control", IEEE TKDE 2002.

    >>> rows = pa.table({"pay": [1.0, 2.0, 9.0, 3.0, 8.0, 7.0]})
    >>> GroupAverages(("pay",), k=3).changed(rows, Randomness())["pay"].to_pylist()
    [2.0, 2.0, 8.0, 2.0, 8.0, 8.0]
    """

    id: ClassVar[str] = "microaggregation"
    title: ClassVar[str] = "microaggregation"
    says: ClassVar[str] = "Groups of neighbouring values show their mean."
    keeps: ClassVar[str] = "every value (with by = axis, every combination) is shown by at least k records"
    source: ClassVar[str] = "Domingo-Ferrer and Mateo-Sanz, Practical data-oriented microaggregation, 2002"
    random: ClassVar[bool] = False

    k: int = 3
    by: Literal["each", "axis"] = "each"
    statistic: Literal["mean", "median"] = "mean"

    def check(self) -> None:
        if need_number(self.id, "k", self.k, above=2, allow=True) != int(self.k):
            raise InvalidParameter(
                Sentence("k of {step} must be a whole number", step=self.id), remedy="write for example 3"
            )
        need_choice(self.id, "by", self.by, ("each", "axis"))
        need_choice(self.id, "statistic", self.statistic, ("mean", "median"))

    def changed(self, rows: pa.Table, randomness: Randomness) -> dict[str, pa.Array]:
        values = [numbers(rows, name, self.id) for name in self.columns]
        known = [~np.isnan(column) for column in values]
        if self.by == "axis":
            together = np.logical_and.reduce(known)
            if (np.logical_or.reduce(known) != together).any():
                raise UnsuitableColumn(
                    Sentence(
                        "some records lack one of the columns of {step}, so they have no place along an axis",
                        step=self.id,
                    ),
                    remedy='name columns that are filled together, or say by = "each"',
                )
        axis = _axis(np.stack(values, axis=1)[known[0]]) if self.by == "axis" else None
        new = {}
        for name, column, filled in zip(self.columns, values, known, strict=True):
            if filled.sum() < self.k:
                raise UnsuitableColumn(
                    Sentence(
                        "the column {name!r} has fewer than k values, so {step} has no group",
                        name=name,
                        step=self.id,
                    ),
                    remedy="give a smaller k, or leave the column out",
                )
            order = np.argsort(column[filled] if axis is None else axis, kind="stable")
            made = np.full(len(column), np.nan)
            made[filled] = self._averaged(column[filled], order)
            places = decimals(column)
            new[name] = on_grid(made, whole(rows[name]), None if places is None else max(places, 1))
        return new

    def _averaged(self, values: FloatArray, order: IntArray) -> FloatArray:
        """The mean or median of each group along an order, at the places of its members."""
        count = len(order) // self.k
        group = np.minimum(np.arange(len(order)) // self.k, count - 1)
        along = values[order]
        if self.statistic == "mean":
            centre = np.bincount(group, weights=along) / np.bincount(group)
        else:
            inner = np.sort(along[: (count - 1) * self.k].reshape(count - 1, self.k), axis=1)
            centre = np.append(np.median(inner, axis=1), np.median(along[(count - 1) * self.k :]))
        made = np.empty(len(values))
        made[order] = centre[group]
        return made

    def log_chances(self, true: ColumnValues, seen: ColumnValues) -> FloatArray | None:
        if self.by == "axis":
            return None
        # A value lies between the means of its neighbours' groups: its own is equal, or the next one below or above.
        silent = np.isnan(true.low)[:, None] | np.isnan(seen.low)[None]
        means = np.unique(seen.low[~np.isnan(seen.low)])
        if not len(means):
            return None
        last = len(means) - 1
        below = means[np.clip(np.searchsorted(means, true.low, side="left") - 1, 0, last)]
        above = means[np.clip(np.searchsorted(means, true.low, side="right"), 0, last)]
        near = (seen.low[None] >= below[:, None]) & (seen.low[None] <= above[:, None])
        # Of these the nearer one is likelier.
        chance = np.where(near, -np.abs(apart(true, seen)) / max(seen.spread()[1], 1e-300), NEVER)
        return np.where(silent, allowed(same(true, seen)), chance)

    def complaint(self, before: pa.Table, after: pa.Table, places: IntArray) -> str:
        missing = before.num_rows - after.num_rows
        shown = after.column_names
        for names in [shown] if self.by == "axis" else [[name] for name in shown]:
            number = groups(after, names)
            filled = np.flatnonzero(
                np.logical_and.reduce(
                    [whole(after[name]).is_valid().to_numpy(zero_copy_only=False) for name in names]
                )
            )
            sizes = np.bincount(number[filled])
            # Records that are not in the file may have shared a value with those that are.
            if (sizes[sizes > 0] + missing < self.k).any():
                return f"{', '.join(names)} shows values of fewer than {self.k} records"
        return ""


def _axis(values: FloatArray) -> FloatArray:
    """Where records lie along the first principal component of standardised columns."""
    centred = values - values.mean(axis=0)
    spread = centred.std(axis=0)
    scaled = centred / np.where(spread > 0, spread, 1.0)
    _, axes = np.linalg.eigh(scaled.T @ scaled)
    first = axes[:, -1]
    # An axis has two directions: take the one along which the first column with a part in it grows.
    lead = first[np.argmax(np.abs(first) > 1e-12)]
    return np.asarray(scaled @ (first if lead >= 0 else -first))


@dataclass(frozen=True)
class DateShift(Perturbation):
    """All dates of a person are shifted by the same random number of days, at most ``days`` back or forth.

    ``person`` names the column that says who it is; without one every record is a person of its own. Times between the
    dates of a person stay; ``weekdays`` shifts by whole weeks. Seasons and calendar years blur.
    Hripcsak et al., "Preserving temporal relations in clinical data while maintaining privacy", JAMIA 2016.

    >>> from datetime import date
    >>> rows = pa.table({"in": [date(2024, 1, 1)], "out": [date(2024, 1, 9)]})
    >>> new = DateShift(("in", "out"), days=30).changed(rows, Randomness(1))
    >>> (new["out"][0].as_py() - new["in"][0].as_py()).days
    8
    """

    id: ClassVar[str] = "date-shift"
    title: ClassVar[str] = "shifted dates"
    says: ClassVar[str] = "All dates of a person move by the same random number of days."
    keeps: ClassVar[str] = "all dates of a person moved by the same number of days, within the limit"
    source: ClassVar[str] = "Hripcsak et al., Preserving temporal relations in clinical data, 2016"

    days: int = 365
    person: str | None = None
    weekdays: bool = False

    def check(self) -> None:
        least = 7 if self.weekdays else 1
        if need_number(self.id, "days", self.days, above=least, allow=True, most=36_500) != int(self.days):
            raise InvalidParameter(
                Sentence("days of {step} must be a whole number", step=self.id),
                remedy="write for example 365",
            )
        if self.person is not None:
            names_of(self.id, "person", self.person)

    @property
    def needed(self) -> tuple[str, ...]:
        named = self.person is not None and self.person not in self.columns
        return (*self.columns, *([self.person or ""] if named else []))

    def _persons(self, rows: pa.Table) -> IntArray:
        if self.person is None:
            return np.arange(rows.num_rows)
        return groups(rows, [self.person])

    def changed(self, rows: pa.Table, randomness: Randomness) -> dict[str, pa.Array]:
        persons = self._persons(rows)
        step = 7 if self.weekdays else 1
        most = self.days // step
        shift = step * (randomness.below(2 * most + 1, int(persons.max(initial=0)) + 1) - most)[persons]
        new = {}
        for name in self.columns:
            column = whole(rows[name])
            unit = _day(column.type)
            if unit is None:
                raise UnsuitableColumn(
                    Sentence(
                        "the column {name!r} does not hold dates, which {step} needs", name=name, step=self.id
                    ),
                    remedy="leave it out of this step, or have it read as dates",
                )
            plain = column.cast(pa.date32()).cast(pa.int32()) if pa.types.is_date(column.type) else column
            moved = np.asarray(plain.cast(pa.int64(), safe=False).fill_null(0)) + shift * unit
            kept = np.asarray(column.is_null().to_numpy(zero_copy_only=False))
            made = pa.array(moved, mask=kept)
            if pa.types.is_date(column.type):
                new[name] = made.cast(pa.int32()).cast(pa.date32()).cast(column.type)
            else:
                new[name] = made.cast(column.type)
        return new

    def complaint(self, before: pa.Table, after: pa.Table, places: IntArray) -> str:
        persons = self._persons(before)[places]
        low = np.full(int(persons.max(initial=0)) + 1, np.inf)
        high = -low
        for name in after.column_names:
            shown = released_numbers(after, name, before)
            given = ordered(before, name, self.id)[places]
            if shown is None or (np.isnan(shown) != np.isnan(given)).any():
                return f"{name} shows what is no date"
            kind = whole(before[name]).type
            # As `ordered` has them: microseconds in place of nanoseconds.
            day = (
                _day(kind)
                if not pa.types.is_timestamp(kind) or kind.unit != "ns"
                else _day(pa.timestamp("us"))
            )
            moved = (shown - given) / (day or 1)
            known = ~np.isnan(moved)
            np.minimum.at(low, persons[known], moved[known])
            np.maximum.at(high, persons[known], moved[known])
        seen = np.isfinite(low)
        if (high[seen] - low[seen] > 1e-6).any():
            return "dates of one person moved by different numbers of days"
        if (np.abs(low[seen]) > self.days + 1e-6).any():
            return "dates moved further than the limit"
        return ""


def _day(kind: pa.DataType) -> int | None:
    """How many units of a type of dates or times a day has."""
    if pa.types.is_date(kind):
        return 1
    return SECONDS_OF_A_DAY * _UNITS[kind.unit] if pa.types.is_timestamp(kind) else None
