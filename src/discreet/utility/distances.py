"""Losses between each original record and what became of it; they need to know which record became which."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import partial

import numpy as np

from discreet.classes.pair import Pair
from discreet.measure import Measure
from discreet.table.meaning import Meaning
from discreet.types import BoolArray, FloatArray, IntArray
from discreet.utility.ancestors import Ancestors
from discreet.utility.definition import (
    EXACT,
    FOREIGN,
    NO_NUMBERS_NOTE,
    UNLINKED_NOTE,
    Definition,
    Weights,
    per_attribute,
    shares_of,
)

_precision = partial(Definition, family="Precision of values")
_distance = partial(Definition, family="Distances between records")
SQUARED = _precision(
    "cross-squared",
    "share of the squared range",
    "How far numbers moved from their true values, large moves counting more.",
    "mean of ((t - t') / (max - min))², at most 1",
    "[0, 1]",
    "Soria-Comas et al. 2015",
    full=1.0,
)
ABSOLUTE = _precision(
    "cross-absolute",
    "share of the range",
    "How far numbers moved from their true values, compared with the whole range.",
    "mean of |t - t'| / (max - min), at most 1",
    "[0, 1]",
    "Kikuchi et al. 2016",
    full=1.0,
)
COMMON_ANCESTOR = _precision(
    "cross-common-ancestor",
    "share",
    "The share of all values under the smallest branch that holds both the true value and what was released.",
    "mean of size(u) / |A|, u the closest common ancestor of t and t'; 0 if t is released",
    "[0, 1]",
    "Xu et al. 2006, across data as in the metrics evaluation on car data, 2023",
    full=1.0,
)
AVERAGE_DISTANCE = _distance(
    "average-distance",
    "units of the attribute",
    "How far the middle of what was released lies from the true number, on average.",
    "mean of |t - t'|, t' the middle of an interval",
    "[0, max - min]",
    "Review of anonymization procedures for tabular data, 2023, eq. 16",
)
EUCLIDEAN = _distance(
    "average-euclidean-distance",
    "share of the largest distance",
    "How far released records lie from the true ones, all attributes taken together.",
    "mean of sqrt(Σ w_j d_j²), d_j = |t - t'| / (max - min), for categories sqrt((1 - 1/m) / 2)",
    "[0, 1]",
    "Review of anonymization procedures for tabular data, 2023, eq. 16",
)
SQUARES = _distance(
    "sse-sst",
    "share of the variation",
    "How much of the differences between the numbers of people is lost inside groups.",
    "Σ (t - t̄_group)² / Σ (t - t̄)²",
    "[0, 1]; above 1 for noise",
    "Domingo-Ferrer and Mateo-Sanz 2002",
    full=1.0,
)
CONDENSATION = _distance(
    "relative-condensation-loss",
    "share of the largest distance",
    "How far apart the records are that were made alike, compared with all records.",
    "mean over records of the diameter of their class / diameter of T, both by the box around the records",
    "[0, 1]",
    "Aggarwal 2005; review of anonymization procedures for tabular data, 2023, eq. 15",
    full=1.0,
)


@dataclass(frozen=True)
class Crossed:
    """Per attribute, how many records of each original value became which released one.

    ``released`` is -1 for records that show nothing.
    """

    meaning: Meaning
    original: IntArray = field(repr=False)
    released: IntArray = field(repr=False)
    records: FloatArray = field(repr=False)

    @property
    def total(self) -> float:
        return float(self.records.sum())

    @property
    def hidden(self) -> BoolArray:
        return self.released < 0

    @property
    def suppressed(self) -> BoolArray:
        """Which pairs show a record, but nothing of this attribute."""
        return np.asarray(~self.hidden & self.meaning.suppressed[self.released])

    @property
    def covered(self) -> BoolArray:
        """Which pairs show what may stand for the true value; what is hidden may."""
        inside = self.hidden.copy()
        seen = ~self.hidden
        inside[seen] = self.meaning.covers(self.released[seen], self.original[seen])
        return inside

    @property
    def same(self) -> BoolArray:
        """Which pairs show the true value."""
        exact = self.meaning.kinds[self.released] == EXACT
        return np.asarray(~self.hidden & exact & self.covered)


def crossed(pair: Pair, at: int) -> Crossed:
    """The original and released values of one quasi-identifier side by side.

    >>> from discreet.utility.examples import four_ages
    >>> cross = crossed(four_ages(), 0)
    >>> cross.original, cross.released, cross.records
    (array([0, 1, 2, 3]), array([ 2,  2,  1, -1]), array([1., 1., 1., 1.]))
    """
    assert pair.links is not None, "ask for links before crossing"
    before = pair.original.codes[at][pair.links.original].astype(np.int64)
    after = _released_codes(pair, at)
    width = pair.meanings[at].released.size + 1
    keys, where = np.unique(before * width + after + 1, return_inverse=True)
    records = np.bincount(where, weights=pair.links.records, minlength=len(keys)).astype(np.float64)
    return Crossed(pair.meanings[at], keys // width, keys % width - 1, records)


def cross_squared(pair: Pair, *, weights: Weights = None) -> tuple[Measure, ...]:
    """The mean of ((t - t') / range)² over attributes with numbers, at most 1 per cell; t' is the middle.

    A suppressed cell costs 1, as does a number that was lost. Soria-Comas et al., "t-closeness through
    microaggregation", 2015.

    >>> from discreet.utility.examples import four_ages
    >>> round(cross_squared(four_ages("31", "34", "52", "52"))[0].value, 6)  # (5/21)² of 4
    0.014172
    """
    return _by_number(pair, SQUARED, weights, 2)


def cross_absolute(pair: Pair, *, weights: Weights = None) -> tuple[Measure, ...]:
    """The mean of |t - t'| / range over attributes with numbers, at most 1 per cell; t' is the middle.

    A suppressed cell costs 1, as does a number that was lost. Kikuchi et al. 2016.

    >>> from discreet.utility.examples import four_ages
    >>> round(cross_absolute(four_ages("31", "34", "52", "52"))[0].value, 6)  # 5/21 of 4
    0.059524
    """
    return _by_number(pair, ABSOLUTE, weights, 1)


def cross_common_ancestor(pair: Pair, *, weights: Weights = None) -> tuple[Measure, ...]:
    """The mean of size(u) / |A|, u the closest common ancestor of the true and the released value; 0 if t' = t.

    Without a hierarchy that somebody gave, u is the smallest interval of the original's numbers, or set of categories, that holds
    both. Of generalised values it is the certainty penalty; unlike that it also sees what was swapped or made
    up. Xu et al. 2006.

    >>> from discreet.utility.examples import four_jobs
    >>> cross_common_ancestor(four_jobs("smith", "smith", "nurse", "nurse"))[0].value  # 2 of 4 jobs, twice
    0.25
    """

    def loss(at: int) -> float | str:
        if pair.links is None:
            return UNLINKED_NOTE
        cross = crossed(pair, at)
        hierarchy = None if pair.names[at] in pair.assumed else pair.hierarchies.get(pair.names[at])
        cost = np.ones(len(cross.records))
        visible = ~cross.hidden & ~cross.suppressed
        released, original = cross.released[visible], cross.original[visible]
        if hierarchy is None:
            size = _smallest(cross.meaning, released, original)
        else:
            shown = np.bincount(released, minlength=cross.meaning.released.size) > 0
            size = Ancestors.of(cross.meaning, hierarchy, shown).joined(released, original)
        cost[visible] = np.minimum(size / cross.meaning.leaves, 1.0)
        cost[cross.same] = 0.0
        return float(np.dot(cost, cross.records) / cross.total)

    return per_attribute(pair, COMMON_ANCESTOR, loss, weights)


def average_distance(pair: Pair) -> tuple[Measure, ...]:
    """Per attribute with numbers, the mean distance of the true number from the middle of what was released.

    mean of |t - t'|; a suppressed cell stands in the middle of the range.
    Review of anonymization procedures for tabular data, 2023, eq. 16.

    >>> from discreet.utility.examples import four_ages
    >>> average_distance(four_ages("[30, 39]", "[30, 39]", "47", "52"))[0].value  # 3.5, 0.5, 0 and 0
    1.0
    """
    distances = []
    for at, name in enumerate(pair.names):
        if not pair.meanings[at].numeric:
            continue
        if pair.links is None:
            distances.append(AVERAGE_DISTANCE.undefined(UNLINKED_NOTE, attribute=name))
            continue
        cross = crossed(pair, at)
        distance = np.abs(_numbers(cross)[0] - _numbers(cross)[1])
        known = ~np.isnan(distance)
        value = float(np.average(distance[known], weights=cross.records[known])) if known.any() else np.nan
        distances.append(AVERAGE_DISTANCE(value, attribute=name))
    return tuple(distances)


def average_euclidean_distance(pair: Pair, *, weights: Weights = None) -> Measure:
    """The mean distance of released records from the true ones: sqrt(Σ_j w_j d_j²), weights that sum to one.

    Numbers: d = |t - t'| / range with the middle of what was released. Categories stand in the corners of a
    simplex of side 1 and what may be m of them in their midst: d² = (1 - 1/m) / 2 if t is among them.
    Review of anonymization procedures for tabular data, 2023, eq. 16.

    >>> from discreet.utility.examples import four_ages
    >>> round(average_euclidean_distance(four_ages("31", "34", "52", "52")).value, 6)  # 5/21 of 4
    0.059524
    """
    if pair.links is None:
        return EUCLIDEAN.undefined(UNLINKED_NOTE)
    squared = np.zeros(len(pair.links.records))
    for at, share in enumerate(shares_of(pair, weights)):
        before = pair.original.codes[at][pair.links.original].astype(np.int64)
        cross = Crossed(
            pair.meanings[at], before, _released_codes(pair, at), pair.links.records.astype(np.float64)
        )
        squared += share * (_scaled(cross) ** 2 if cross.meaning.numeric else _simplex(cross))
    return EUCLIDEAN(float(np.average(np.sqrt(squared), weights=pair.links.records)))


def sse_sst(pair: Pair, *, weights: Weights = None) -> tuple[Measure, ...]:
    """Per attribute with numbers Σ (t - t')² / Σ (t - mean)²; the weighted mean over attributes first.

    t' is the released number, or the mean of the true numbers that share a generalised value; for a suppressed
    cell the mean of all. Domingo-Ferrer and Mateo-Sanz, "Practical data-oriented microaggregation", 2002.

    >>> from discreet.utility.examples import four_ages
    >>> round(sse_sst(four_ages("[30, 39]", "[30, 39]", "47", "52"))[0].value, 6)  # (1.5² + 1.5²) / 306
    0.014706
    """

    def loss(at: int) -> float | str | None:
        if not pair.meanings[at].numeric:
            return None
        if pair.links is None:
            return UNLINKED_NOTE
        return _squares(crossed(pair, at))

    return per_attribute(pair, SQUARES, loss, weights, nothing=NO_NUMBERS_NOTE)


def relative_condensation_loss(pair: Pair, *, weights: Weights = None) -> tuple[Measure, ...]:
    """How far apart the true records are that share a released class: its diameter / that of the table.

    The mean over records; the diameter is the diagonal of the smallest box around the records, sqrt(Σ w_j r_j²)
    with r_j the range of a number as a share of the table's, for categories 1 if there are several: an upper
    bound of the largest distance between two records that takes no n × n comparisons, and exact for a single
    attribute. Records that show nothing are as far apart as the table.
    Aggarwal, "On k-anonymity and the curse of dimensionality", VLDB 2005.

    >>> from discreet.utility.examples import four_ages
    >>> round(relative_condensation_loss(four_ages("[30, 39]", "[30, 39]", "47", "52"))[0].value, 6)  # 2 · 3/21 of 4
    0.071429
    """
    if pair.links is None:
        return per_attribute(pair, CONDENSATION, lambda _: UNLINKED_NOTE, weights)
    owner = np.where(pair.links.released < 0, len(pair.released), pair.links.released)
    hidden = np.append(pair.suppressed, True)
    sizes = np.bincount(owner, weights=pair.links.records, minlength=len(hidden))
    total = np.zeros(len(hidden))
    extent = []
    for at, share in enumerate(shares_of(pair, weights)):
        extent.append(np.where(hidden, 1.0, _extent(pair, at, owner, len(hidden))))
        total += share * extent[at] ** 2
    parts = per_attribute(
        pair, CONDENSATION, lambda at: float(np.average(extent[at], weights=sizes)), weights
    )[1:]
    return (CONDENSATION(float(np.average(np.sqrt(total), weights=sizes))), *parts)


def _released_codes(pair: Pair, at: int) -> IntArray:
    """The released value of each link; -1 where nothing is shown."""
    assert pair.links is not None, "ask for links before crossing"
    codes = np.append(np.where(pair.suppressed, -1, pair.released.codes[at].astype(np.int64)), -1)
    return codes[pair.links.released]


def _numbers(cross: Crossed) -> tuple[FloatArray, FloatArray]:
    """The true number and the middle of what was released; what is hidden stands in the middle of the range."""
    numbers = cross.meaning.original.numbers
    middle = (np.nanmin(numbers) + np.nanmax(numbers)) / 2
    return numbers[cross.original], np.append(cross.meaning.centre, middle)[cross.released]


def _scaled(cross: Crossed) -> FloatArray:
    """|t - t'| / range, at most 1; 1 where a number was lost or came from nowhere, 0 where both are missing."""
    numbers = cross.meaning.original.numbers
    span = float(np.nanmax(numbers) - np.nanmin(numbers))
    before, after = _numbers(cross)
    distance = np.abs(before - after)
    cost = np.minimum(distance / span, 1.0) if span else np.where(distance > 0, 1.0, 0.0)
    cost = np.where(np.isnan(distance), 1.0, cost)
    return np.asarray(np.where(cross.same, 0.0, cost))


def _simplex(cross: Crossed) -> FloatArray:
    """The squared distance of a corner of a simplex from the middle of some of its corners."""
    sizes = np.append(cross.meaning.sizes, cross.meaning.original.size)[cross.released]
    with np.errstate(divide="ignore"):
        part = np.where(sizes > 0, 1.0 / sizes, 1.0)
    return np.asarray(np.where(cross.covered, 1.0 - part, 1.0 + part) / 2)


def _by_number(pair: Pair, definition: Definition, weights: Weights, power: int) -> tuple[Measure, ...]:
    def loss(at: int) -> float | str | None:
        if not pair.meanings[at].numeric:
            return None
        if pair.links is None:
            return UNLINKED_NOTE
        cross = crossed(pair, at)
        cost = np.where(cross.hidden | cross.suppressed, 1.0, _scaled(cross) ** power)
        return float(np.dot(cost, cross.records) / cross.total)

    return per_attribute(pair, definition, loss, weights, nothing=NO_NUMBERS_NOTE)


def _squares(cross: Crossed) -> float:
    true = cross.meaning.original.numbers[cross.original]
    known = ~np.isnan(true)
    true, records = true[known], cross.records[known]
    released = np.where(cross.suppressed, -1, cross.released)[known]
    mean = float(np.average(true, weights=records))
    all_ = float(np.dot(records, (true - mean) ** 2))
    size = np.bincount(released + 1, weights=records, minlength=cross.meaning.released.size + 1)
    with np.errstate(invalid="ignore"):
        group = np.bincount(released + 1, weights=records * true, minlength=len(size)) / size
    single = np.isin(cross.meaning.kinds, (EXACT, FOREIGN)) & ~np.isnan(cross.meaning.centre)
    shown = np.where(single, cross.meaning.centre, group[1:])
    after = np.append(shown, mean)[released]
    lost = float(np.dot(records, (true - after) ** 2))
    if not all_:
        return float(lost > 0 or bool((released < 0).any()))
    return lost / all_


def _smallest(meaning: Meaning, released: IntArray, original: IntArray) -> FloatArray:
    """How many original values the smallest interval (numbers) or set holds of both values beside each other."""
    sizes = meaning.sizes[released].astype(np.float64)
    if not len(released):
        return sizes
    inside = meaning.covers(released, original)
    shares = np.rint(meaning.shares[released] * meaning.leaves)
    if not meaning.numeric:
        return np.asarray(np.where(inside, shares, sizes + 1))
    numbers = meaning.original.numbers
    ordered = np.sort(numbers[~np.isnan(numbers)])
    low = np.fmin(meaning.low[released], numbers[original])
    high = np.fmax(meaning.high[released], numbers[original])
    between = np.searchsorted(ordered, high, "right") - np.searchsorted(ordered, low, "left")
    outside = between + (meaning.kinds[released] == FOREIGN)
    # Between a number and none there is no interval.
    blank = np.isnan(numbers[original]) | np.isnan(meaning.low[released])
    return np.asarray(np.where(inside, shares, np.where(blank, meaning.leaves, outside)))


def _extent(pair: Pair, at: int, owner: IntArray, groups: int) -> FloatArray:
    """The range of one attribute in each group of true records, as a share of the table's."""
    assert pair.links is not None, "ask for links before crossing"
    codes = pair.original.codes[at][pair.links.original].astype(np.int64)
    domain = pair.original.attributes[at]
    values = domain.numbers if domain.is_numeric else np.arange(domain.size, dtype=np.float64)
    low, high = np.full(groups, np.inf), np.full(groups, -np.inf)
    known = ~np.isnan(values[codes])
    np.minimum.at(low, owner[known], values[codes[known]])
    np.maximum.at(high, owner[known], values[codes[known]])
    extent = np.where(high > low, high - low, 0.0)
    if not domain.is_numeric:
        return np.asarray((extent > 0).astype(np.float64))
    span = float(np.nanmax(values) - np.nanmin(values))
    share = extent / span if span else np.zeros(groups)
    # Beside a missing value, a number is as far away as can be.
    missing = np.bincount(owner[~known], minlength=groups) > 0
    return np.asarray(np.where(missing & np.isfinite(low), 1.0, share))
