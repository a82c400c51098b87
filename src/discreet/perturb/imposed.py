"""Recoding that is imposed before any search: a column by one statistic of it, numbers by the interval in which they lie."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import ClassVar, Literal, get_args

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from discreet.errors import InvalidParameter, UnsuitableColumn
from discreet.perturb.base import (
    Perturbation,
    decimals,
    has_room,
    need_choice,
    need_number,
    numbers,
    on_grid,
    whole,
)
from discreet.perturb.chances import ColumnValues, allowed, apart, same
from discreet.perturb.randomness import Randomness
from discreet.sentences import Sentence
from discreet.table.values import Interval
from discreet.types import FloatArray, IntArray

ColumnStatistic = Literal["mean", "median", "mode", "minimum", "maximum", "sum", "variance"]
STATISTICS: tuple[ColumnStatistic, ...] = get_args(ColumnStatistic)


@dataclass(frozen=True)
class StatisticInstead(Perturbation):
    """Every value of a column becomes one ``statistic`` of it: suppression that leaves a number, and no star.

    What is left of the column is that one figure, of all its values together: mean, median, mode (of several the smallest),
    minimum, maximum, sum or variance (dividing by n); in a column of text the mode only. Nulls stay nulls. The minimum and the
    maximum are somebody's: code the ends first (top-bottom-coding). Review of anonymization procedures for tabular data, 2023, 4.3.

    >>> rows = pa.table({"pay": [1.0, 2.0, 6.0], "job": ["b", "a", "b"]})
    >>> StatisticInstead(("pay",)).changed(rows, Randomness())["pay"].to_pylist()
    [3.0, 3.0, 3.0]
    >>> StatisticInstead(("job",), statistic="mode").changed(rows, Randomness())["job"].to_pylist()
    ['b', 'b', 'b']
    """

    id: ClassVar[str] = "column-statistic"
    title: ClassVar[str] = "one statistic in place of a column"
    says: ClassVar[str] = "All values of a column become one statistic of it."
    keeps: ClassVar[str] = "all values of the column are one, its statistic"
    source: ClassVar[str] = "Review of anonymization procedures for tabular data, 2023, section 4.3"
    random: ClassVar[bool] = False

    statistic: ColumnStatistic = "mean"

    def check(self) -> None:
        need_choice(self.id, "statistic", self.statistic, STATISTICS)

    def changed(self, rows: pa.Table, randomness: Randomness) -> dict[str, pa.Array]:
        return {name: self._instead(rows, name) for name in self.columns}

    def _instead(self, rows: pa.Table, name: str) -> pa.Array:
        column = whole(rows[name])
        empty = np.asarray(column.is_null().to_numpy(zero_copy_only=False))
        if empty.all():
            return column
        if self.statistic == "mode":
            counted = pc.value_counts(column.drop_null())
            values, often = counted.field("values"), counted.field("counts")
            most = values.filter(pc.equal(often, pc.max(often)))
            shown = most.take(pc.sort_indices(most))[0]
            return pc.if_else(pa.array(empty), pa.scalar(None, column.type), shown)
        values = numbers(rows, name, self.id)
        figure = _FIGURES[self.statistic](values[~empty])
        made = np.where(empty, np.nan, figure)
        if not has_room(made, column.type):
            raise UnsuitableColumn(
                Sentence(
                    "the type of the column {name!r} has no room for all numbers that {step} makes ({kind})",
                    name=name,
                    step=self.id,
                    kind=column.type,
                ),
                remedy="give the column a wider type, such as int64",
            )
        return on_grid(made, column, None)

    def log_chances(self, true: ColumnValues, seen: ColumnValues) -> FloatArray:
        return np.zeros((len(true.labels), len(seen.labels)))

    def complaint(self, before: pa.Table, after: pa.Table, places: IntArray) -> str:
        for name in after.column_names:
            wanted = self._instead(before, name).take(pa.array(places))
            shown = whole(after[name])
            try:
                shown = shown if shown.type == wanted.type else shown.cast(wanted.type)
            except pa.ArrowException:
                return f"{name} shows values that are not its statistic"
            if not shown.equals(wanted):
                return f"{name} shows values that are not its statistic"
        return ""


_FIGURES: Mapping[str, Callable[[FloatArray], float]] = {
    "mean": np.mean,
    "median": np.median,
    "minimum": np.min,
    "maximum": np.max,
    "sum": np.sum,
    "variance": np.var,
}


@dataclass(frozen=True)
class Discretisation(Perturbation):
    """Numbers become the interval in which they lie, as text: ``[30, 40)``.

    Intervals are of one ``width`` (from ``start`` on), between given ``cuts`` (with open ends), or ``parts`` with about as many records
    each, between quantiles; say one of the three. Equal numbers are in one interval. Nulls stay nulls.

    >>> rows = pa.table({"age": [31, 40, 7, None]})
    >>> Discretisation(("age",), width=10).changed(rows, Randomness())["age"].to_pylist()
    ['[30, 40)', '[40, 50)', '[0, 10)', None]
    >>> Discretisation(("age",), cuts=(18, 40)).changed(rows, Randomness())["age"].to_pylist()
    ['[18, 40)', '>= 40', '< 18', None]
    >>> Discretisation(("age",), parts=2).changed(rows, Randomness())["age"].to_pylist()
    ['>= 31', '>= 31', '< 31', None]
    """

    id: ClassVar[str] = "discretise"
    title: ClassVar[str] = "intervals"
    says: ClassVar[str] = "Numbers become the interval in which they lie."
    keeps: ClassVar[str] = "every value is the interval in which the true number lies"
    source: ClassVar[str] = "Willenborg and de Waal, Elements of statistical disclosure control, 2001"
    random: ClassVar[bool] = False

    width: float | None = None
    start: float = 0.0
    cuts: tuple[float, ...] = ()
    parts: int | None = None

    def check(self) -> None:
        listed = self.cuts if isinstance(self.cuts, list | tuple) else (self.cuts,)
        object.__setattr__(self, "cuts", tuple(listed))
        ways = [self.width is not None, bool(self.cuts), self.parts is not None]
        if sum(ways) != 1:
            raise InvalidParameter(
                Sentence("{step} takes one of width, cuts and parts", step=self.id),
                remedy="write for example width = 10",
            )
        if self.width is not None:
            need_number(self.id, "width", self.width)
        need_number(self.id, "start", self.start, above=-np.inf)
        for cut in self.cuts:
            need_number(self.id, "cuts", cut, above=-np.inf)
        if list(self.cuts) != sorted(set(self.cuts)):
            raise InvalidParameter(
                Sentence("cuts of {step} do not rise", step=self.id), remedy="write them in their order"
            )
        if self.parts is not None and need_number(self.id, "parts", self.parts, above=2, allow=True) != int(
            self.parts
        ):
            raise InvalidParameter(
                Sentence("parts of {step} must be a whole number", step=self.id), remedy="write for example 4"
            )

    def changed(self, rows: pa.Table, randomness: Randomness) -> dict[str, pa.Array]:
        return {name: self._intervals(numbers(rows, name, self.id)) for name in self.columns}

    def _intervals(self, values: FloatArray) -> pa.Array:
        known = ~np.isnan(values)
        if self.width is not None:
            # A border that is written with few decimals is that number, not a hair beside it.
            place = np.floor((values - self.start) / self.width + 1e-9)
            steps, codes = np.unique(place[known], return_inverse=True)
            ends = np.stack([steps, steps + 1]) * self.width + self.start
            digits = decimals(np.array([self.width, self.start]))
            ends = ends if digits is None else np.round(ends, digits)
        else:
            cuts = np.array(self.cuts) if self.parts is None else _quantiles(values[known], self.parts)
            borders = np.concatenate([[-np.inf], cuts, [np.inf]])
            used, codes = np.unique(np.searchsorted(cuts, values[known], side="right"), return_inverse=True)
            ends = np.stack([borders[used], borders[used + 1]])
        labels = [_label(low, high) for low, high in ends.T.tolist()]
        at = np.zeros(len(values), dtype=np.int64)
        at[known] = codes
        return pa.array([*labels, None], pa.string()).take(pa.array(np.where(known, at, len(labels))))

    def log_chances(self, true: ColumnValues, seen: ColumnValues) -> FloatArray:
        silent = np.isnan(true.low)[:, None] | np.isnan(seen.low)[None]
        return allowed(np.where(silent, same(true, seen), apart(true, seen) == 0))

    def complaint(self, before: pa.Table, after: pa.Table, places: IntArray) -> str:
        for name in after.column_names:
            wanted = self._intervals(numbers(before, name, self.id)).take(pa.array(places))
            shown = whole(after[name])
            if not pa.types.is_string(shown.type):
                shown = shown.cast(pa.string())
            # A text file shows a null as nothing.
            if not pc.fill_null(shown, "").equals(pc.fill_null(wanted, "")):
                return f"{name} shows values that are not the interval of the true one"
        return ""


def _quantiles(values: FloatArray, parts: int) -> FloatArray:
    """Borders between parts of about as many records, each a number that somebody has; those of empty parts are left out."""
    if not len(values):
        return np.empty(0)
    ranked = np.sort(values)
    at = (np.arange(1, parts) * len(ranked)) // parts
    return np.asarray(np.setdiff1d(np.unique(ranked[at]), ranked[:1]))


def _label(low: float, high: float) -> str:
    if np.isinf(low) and np.isinf(high):
        return "*"
    return str(Interval(low, high, closed_high=False))
