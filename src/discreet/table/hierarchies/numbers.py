"""Builders for numbers: intervals by width, quantile or given cuts, bottom and top coding, and rounding."""

from __future__ import annotations

import itertools
import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar, Literal

import numpy as np

from discreet.errors import InvalidParameter
from discreet.sentences import Sentence
from discreet.table.domain import Domain
from discreet.table.hierarchies.builder import (
    Builder,
    Level,
    check_counts,
    check_multiples,
    check_number,
    check_numbers,
    check_text,
    finish,
    known_totals,
    make_level,
    numbers,
    texts,
)
from discreet.table.hierarchies.hierarchy import Hierarchy
from discreet.table.values import Interval, number_text
from discreet.types import AnyIntArray, BoolArray, FloatArray

TOLERANCE = 1e-9
"""A number this much of a width below an edge counts as lying on it: 0.3 belongs to [0.3, 0.4)."""
LARGEST = 2**62
"""Intervals are numbered; there cannot be more of them than this."""


@dataclass(frozen=True)
class Intervals(Builder):
    """Intervals of equal width, of equal frequency, or between given cuts; one entry per level.

    ``widths``: level ``i`` has the intervals start + j * widths[i]; each width is a multiple of the one
    before. ``groups``: level ``i`` has about ``groups[i]`` intervals with equally many records; each number
    divides the one before. ``cuts``: level ``i`` has an interval from each cut to the next one, the first
    and the last being open; its cuts are among those of the level before. Values under ``below`` and from
    ``above`` on become ``< 18`` and ``>= 90`` on every level (bottom and top coding). Whole numbers get
    closed intervals, others half-open ones.

    >>> import pyarrow as pa
    >>> ages = Domain("age", pa.array([17, 31, 39, 40, 93]))
    >>> Intervals(widths=(10, 20), below=18, above=90).build(ages).labels
    (('17', '31', '39', '40', '93'), ('< 18', '[30, 39]', '[40, 49]', '>= 90'), ('< 18', '[20, 39]', '[40, 59]', '>= 90'), ('*',))
    """

    id: ClassVar[str] = "intervals"

    widths: tuple[float, ...] = ()
    groups: tuple[int, ...] = ()
    cuts: tuple[tuple[float, ...], ...] = ()
    start: float = 0
    below: float | None = None
    above: float | None = None

    def __post_init__(self) -> None:
        given = [name for name in ("widths", "groups", "cuts") if getattr(self, name)]
        if len(given) > 1:
            raise InvalidParameter(
                Sentence("intervals takes only one of {names:and}", names=tuple(given)),
                remedy="leave out the others",
            )
        object.__setattr__(self, "widths", check_numbers(self.id, "widths", self.widths))
        object.__setattr__(self, "groups", check_counts(self.id, "groups", self.groups))
        object.__setattr__(self, "cuts", _check_cuts(self.cuts))
        for name in ("start", "below", "above"):
            check_number(self.id, name, getattr(self, name))
        coded = self.below is not None or self.above is not None
        if not given and not coded:
            raise InvalidParameter(
                "intervals lacks widths, groups or cuts", remedy="write for example widths = [5, 10, 20]"
            )
        if coded and given and given != ["widths"]:
            raise InvalidParameter(
                Sentence(
                    "below and above do not go with {given}, which has open ends already", given=given[0]
                ),
                remedy="leave them out, or give widths",
            )
        if self.below is not None and self.above is not None and self.below >= self.above:
            raise InvalidParameter("below must be less than above", remedy="exchange them")
        check_multiples(self.id, "widths", self.widths)
        for finer, coarser in itertools.pairwise(self.groups):
            if coarser >= finer or finer % coarser:
                raise InvalidParameter(
                    Sentence(
                        "groups of intervals do not nest: {coarser} does not divide {finer}",
                        coarser=coarser,
                        finer=finer,
                    ),
                    remedy="let each number divide the one before, e.g. 8, 4, 2",
                )

    def build(self, domain: Domain, *, totals: AnyIntArray | None = None) -> Hierarchy:
        values, apart, whole = numbers(domain, self.id)
        leaves = texts(domain)
        cuts: Sequence[Sequence[float]] = self.cuts
        if self.groups:
            cuts = quantile_cuts(values, known_totals(domain, totals), self.groups)
        if cuts:
            levels = [cut_level(values, apart, leaves, level, whole) for level in cuts]
        else:
            levels = list(self._equal_widths(values, apart, leaves, whole))
        return finish(domain, leaves, levels)

    def _equal_widths(
        self, values: FloatArray, apart: BoolArray, leaves: Sequence[str], whole: bool
    ) -> Sequence[Level]:
        low = -math.inf if self.below is None else self.below
        high = math.inf if self.above is None else self.above
        real = np.where(apart, 0.0, values)
        coded = np.where(real < low, -LARGEST, np.where(real >= high, LARGEST, 0))
        if not self.widths:
            order = np.unique(real, return_inverse=True)[1]
            alone = {int(key): leaf for key, leaf in zip(order, leaves, strict=True)}
            keys = np.where(coded == 0, order, coded)
            return [make_level(keys, lambda key: self._coded(key) or alone[key], apart, leaves)]
        # What no float holds is infinite, and refused with what is too large.
        with np.errstate(over="ignore"):
            place = np.floor((real - self.start) / self.widths[0] + TOLERANCE)
        if len(place) and np.abs(place).max() >= LARGEST:
            raise InvalidParameter(
                "the widths of intervals are too small for the values", remedy="give larger widths"
            )
        finest = place.astype(np.int64)
        levels = []
        times = 1
        for width, ratio in zip(
            self.widths, (1, *check_multiples(self.id, "widths", self.widths)), strict=True
        ):
            times *= ratio

            def name(key: int, width: float = width) -> str:
                left = _tidy(self.start + key * width)
                right = _tidy(self.start + (key + 1) * width)
                return self._coded(key) or interval_label(max(left, low), min(right, high), whole)

            keys = np.where(coded == 0, finest // times, coded)
            levels.append(make_level(keys, name, apart, leaves))
        return levels

    def _coded(self, key: int) -> str:
        """The label of the bottom or top code; empty for all other keys."""
        if key == -LARGEST and self.below is not None:
            return str(Interval(-math.inf, self.below, closed_high=False))
        if key == LARGEST and self.above is not None:
            return str(Interval(self.above, math.inf))
        return ""


@dataclass(frozen=True)
class Rounding(Builder):
    """Numbers rounded to multiples of each step: to the nearest (half up), or down.

    Each level rounds what the level below it has, so that levels nest; each step is a multiple of the one
    before.

    >>> import pyarrow as pa
    >>> Rounding(steps=(5, 50)).build(Domain("pay", pa.array([12, 13, 74, 76]))).rows()
    [('12', '10', '0', '*'), ('13', '15', '0', '*'), ('74', '75', '100', '*'), ('76', '75', '100', '*')]
    """

    id: ClassVar[str] = "rounding"

    steps: tuple[float, ...] = ()
    direction: Literal["nearest", "down"] = "nearest"

    def __post_init__(self) -> None:
        object.__setattr__(self, "steps", check_numbers(self.id, "steps", self.steps))
        if not self.steps:
            raise InvalidParameter("rounding lacks steps", remedy="write for example steps = [5, 10, 50]")
        check_text(self.id, "direction", self.direction, choices=("nearest", "down"))
        check_multiples(self.id, "steps", self.steps)

    def build(self, domain: Domain, *, totals: AnyIntArray | None = None) -> Hierarchy:
        values, apart, _ = numbers(domain, self.id)
        leaves = texts(domain)
        levels = []
        shift = 0.5 if self.direction == "nearest" else 0.0
        keys = np.where(apart, 0.0, values) / self.steps[0]
        for step, ratio in zip(self.steps, (1, *check_multiples(self.id, "steps", self.steps)), strict=True):
            keys = np.floor(keys / ratio + shift + TOLERANCE)
            if len(keys) and np.abs(keys).max() >= LARGEST:
                raise InvalidParameter(
                    "the steps of rounding are too small for the values", remedy="give larger steps"
                )

            def name(key: int, step: float = step) -> str:
                return number_text(_tidy(key * step))

            levels.append(make_level(keys.astype(np.int64), name, apart, leaves))
        return finish(domain, leaves, levels)


def interval_label(low: float, high: float, whole: bool) -> str:
    """The numbers from ``low`` up to but not including ``high``; infinite bounds are left out.

    >>> interval_label(30, 40, True), interval_label(30, 40, False), interval_label(7, 8, True)
    ('[30, 39]', '[30, 40)', '7')
    >>> interval_label(-math.inf, 30, True), interval_label(65, math.inf, True)
    ('< 30', '>= 65')
    """
    if math.isinf(low) or math.isinf(high):
        return str(Interval(low, high, closed_high=False))
    if whole and low == int(low) and high == int(high):
        return number_text(low) if high - low == 1 else str(Interval(low, high - 1))
    return str(Interval(low, high, closed_high=False))


def cut_level(
    values: FloatArray,
    apart: BoolArray,
    leaves: Sequence[str],
    cuts: Sequence[float],
    whole: bool,
) -> Level:
    """The level whose intervals begin at the cuts; before the first and after the last they are open."""
    if not cuts:
        return np.zeros(len(leaves), dtype=np.int32), ["*"]
    edges = [-math.inf, *cuts, math.inf]
    keys = np.searchsorted(np.asarray(cuts, dtype=np.float64), np.where(apart, 0.0, values), side="right")
    return make_level(
        keys.astype(np.int64), lambda key: interval_label(edges[key], edges[key + 1], whole), apart, leaves
    )


def shares_before(weights: FloatArray) -> FloatArray:
    """Share of the records before the middle of each value, for values in order.

    >>> shares_before(np.array([1.0, 2.0, 1.0]))
    array([0.125, 0.5  , 0.875])
    """
    return np.asarray((np.cumsum(weights) - weights / 2) / weights.sum(), dtype=np.float64)


def quantile_cuts(values: FloatArray, weights: FloatArray, groups: Sequence[int]) -> list[tuple[float, ...]]:
    """Per level the first number of every group but the first, when all have about equally many records.

    >>> quantile_cuts(np.array([1.0, 2.0, 3.0, 4.0]), np.ones(4), [4, 2])
    [(2.0, 3.0, 4.0), (3.0,)]
    """
    real = np.flatnonzero(~np.isnan(values))
    order = real[np.argsort(values[real], kind="stable")]
    share = shares_before(weights[order]) if len(order) else np.zeros(0)
    levels = []
    for number in groups:
        group = np.floor(share * number)
        starts = np.flatnonzero(np.diff(group)) + 1
        levels.append(tuple(float(cut) for cut in values[order][starts]))
    return levels


def _check_cuts(given: object) -> tuple[tuple[float, ...], ...]:
    listed = given if isinstance(given, list | tuple) else None
    if listed is None:
        raise InvalidParameter(
            "cuts of intervals must be a list per level",
            remedy="write for example cuts = [[18, 30, 65], [30]]",
        )
    if listed and all(isinstance(part, int | float) for part in listed):
        # One level needs no list of lists.
        listed = [listed]
    levels = [check_numbers("intervals", "cuts", level, positive=False) for level in listed]
    for level in levels:
        if not level or list(level) != sorted(set(level)):
            raise InvalidParameter(
                "cuts of intervals must ascend", remedy="list them from the lowest to the highest, each once"
            )
    for finer, coarser in itertools.pairwise(levels):
        if not set(coarser) < set(finer):
            raise InvalidParameter(
                "cuts of intervals do not nest: a level has cuts that the level before it has not, or no fewer",
                remedy="let each level keep some of the cuts of the one before, e.g. [[18, 30, 65], [30]]",
            )
    return tuple(levels)


def _tidy(number: float) -> float:
    """A computed edge without the noise of binary fractions: 0.1 * 3 is 0.3."""
    return float(f"{number:.12g}") if abs(number) < 1e12 else number
