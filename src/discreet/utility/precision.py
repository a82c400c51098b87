"""Losses of precision in the release alone: how much less a generalised cell says than a single value.

The objectives of the same names price every value at every level of a hierarchy, before there is a release; these read
what a release shows, whoever made it and whether or not it has hierarchies.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

import numpy as np

from discreet.classes.pair import Pair
from discreet.measure import Measure
from discreet.table.hierarchies.hierarchy import leaf_loss as iyengar
from discreet.types import FloatArray
from discreet.utility.ancestors import Ancestors, scale_of
from discreet.utility.definition import (
    EXACT,
    FOREIGN_NOTE,
    NO_HIERARCHY_NOTE,
    NO_NUMBERS_NOTE,
    Cells,
    Definition,
    Weights,
    assumed_notes,
    cells,
    notes_of,
    per_attribute,
)

_precision = partial(Definition, family="Precision of values")
_distortion = partial(Definition, family="Distortion")
LEAF_LOSS = _precision(
    "leaf-loss",
    "share",
    "How much of all possible values a cell may stand for: 0 for a single value, 1 for any.",
    "mean of (M_P - 1) / (M - 1), M_P of the M leaves under the cell",
    "[0, 1]",
    "Iyengar 2002 (general loss metric)",
    full=1.0,
)
INTERVAL_LOSS = _precision(
    "interval-loss",
    "share of the range",
    "How wide the released intervals of numbers are, compared with the whole range.",
    "mean of (upper - lower) / (max - min)",
    "[0, 1]",
    "Review of anonymization procedures for tabular data, 2023, eq. 14",
    full=1.0,
)
HEIGHT_LOSS = _precision(
    "height-loss",
    "share of the height",
    "How far up its hierarchy a cell was generalised: 0 not at all, 1 to the top. Precision is 1 minus this.",
    "mean of level / height",
    "[0, 1]",
    "Sweeney 2002 (Prec)",
    full=1.0,
)
CERTAINTY_PENALTY = _precision(
    "certainty-penalty",
    "share",
    "The share of all values under the smallest branch of the hierarchy that holds everything a cell may stand for.",
    "mean of size(u) / |A|, u the closest common ancestor (no hierarchy: the set or interval); 0 for a single value",
    "[0, 1]",
    "Xu et al. 2006 (NCP)",
    full=1.0,
)
MINIMAL_DISTORTION = _distortion(
    "minimal-distortion",
    "steps",
    "How many steps up their hierarchies all cells were taken together.",
    "Σ over cells of the level",
    "[0, |T| · Σ height]",
    "Samarati 2001; Sweeney 2002",
)
GENERALISED_CELLS = _distortion(
    "generalisation-height",
    "cells",
    "How many cells were generalised or suppressed, however far.",
    "Σ over cells of 1 if generalised",
    "[0, |T| · m]",
    "Meyerson and Williams 2004; constant penalty of Samarati 2001",
)
ABSOLUTE_DISTANCE = _distortion(
    "minimum-absolute-distance",
    "levels",
    "How many levels the columns were generalised, added up; defined if each column stands at one level.",
    "Σ over attributes of the level",
    "[0, Σ height]",
    "Samarati 2001",
)
RELATIVE_DISTANCE = _distortion(
    "minimum-relative-distance",
    "hierarchies",
    "How far up their hierarchies the columns were generalised, added up; defined if each column stands at one level.",
    "Σ over attributes of level / height",
    "[0, m]",
    "Samarati 2001",
)
ILOSS = _distortion(
    "iloss",
    "share",
    "How many other values a cell may stand for besides the true one, as a share of all values.",
    "mean of (M_P - 1) / M; 1 for a suppressed cell",
    "[0, 1]",
    "Xiao and Tao 2006",
    full=1.0,
)
AMBIGUITY = _distortion(
    "ambiguity",
    "combinations",
    "How many different original records a released one may have been, on average.",
    "1/|T| · Σ over records of Π over attributes of M_P",
    "[1, Π M]",
    "Nergiz and Clifton 2007",
)


def leaf_loss(pair: Pair, *, weights: Weights = None) -> tuple[Measure, ...]:
    """The mean of (M_P - 1) / (M - 1), M_P of the M leaves of the attribute under each cell.

    The weighted mean over attributes first, then each attribute; a record that shows nothing costs 1.
    Iyengar, "Transforming data to satisfy privacy constraints", KDD 2002.

    >>> from discreet.utility.examples import four_ages
    >>> leaf_loss(four_ages())[0].value  # two cells may be 2 of 4 values: 1/3 each, one is *
    0.41666666666666663
    """

    def loss(at: int) -> float | str:
        column = cells(pair, at)
        return _mean(column, iyengar(column.meaning.shares, column.meaning.leaves))

    return per_attribute(pair, LEAF_LOSS, loss, weights)


def interval_loss(pair: Pair, *, weights: Weights = None) -> tuple[Measure, ...]:
    """The mean of (upper - lower) / (max - min) over attributes with numbers, max and min of the original.

    Bounds as printed; a width beyond the original's counts as 1, as does a record that shows nothing. What has
    no number costs 0 if it stands alone, else 1.
    Review of anonymization procedures for tabular data, 2023, eq. 14.

    >>> from discreet.utility.examples import four_ages
    >>> interval_loss(four_ages("[30, 39]", "[30, 39]", "47", "52"))[1].value  # 2 · 9/21 of 4
    0.21428571428571427
    """

    def loss(at: int) -> float | str | None:
        column = cells(pair, at)
        return _mean(column, widths(column)) if column.meaning.numeric else None

    return per_attribute(pair, INTERVAL_LOSS, loss, weights, nothing=NO_NUMBERS_NOTE)


def height_loss(pair: Pair, *, weights: Weights = None) -> tuple[Measure, ...]:
    """The mean of level / height of each cell in its hierarchy; sets stand at their closest common ancestor.

    A hierarchy that nobody gave counts, and is named, only if all values of the release stand in it.
    Sweeney, "Achieving k-anonymity privacy protection using generalization and suppression", 2002.

    >>> from discreet.utility.examples import four_jobs
    >>> height_loss(four_jobs())[0].value  # two of four cells stand on level 1 of 2
    0.25
    """

    def loss(at: int) -> float | str:
        column = cells(pair, at)
        above = _ancestors(pair, at, column)
        if above is None:
            return NO_HIERARCHY_NOTE
        height = above.hierarchy.height
        return _mean(column, above.level / height if height else np.zeros(len(above.level)))

    return per_attribute(pair, HEIGHT_LOSS, loss, weights, levels=True)


def certainty_penalty(pair: Pair, *, weights: Weights = None) -> tuple[Measure, ...]:
    """NCP: the mean of size(u) / |A|, u the closest common ancestor of what a cell may stand for; 0 for one value.

    Without a hierarchy that somebody gave, u is the cell itself: a set of its members, an interval of the values of
    the original that lie in it.
    Xu et al., "Utility-based anonymization using local recoding", KDD 2006.

    >>> from discreet.utility.examples import four_jobs
    >>> certainty_penalty(four_jobs())[0].value  # two of four cells stand for 2 of 4 jobs
    0.25
    """

    def loss(at: int) -> float | str:
        column = cells(pair, at)
        above = None if pair.names[at] in pair.assumed else _ancestors(pair, at, column)
        shares = column.meaning.shares
        if above is not None:
            joint = (column.meaning.kinds != EXACT) & (above.leaf >= 0)
            shares = np.where(joint, above.counts / above.hierarchy.leaves, shares)
        return _mean(column, np.where(shares * column.meaning.leaves > 1.5, shares, 0.0))

    return per_attribute(pair, CERTAINTY_PENALTY, loss, weights)


def iloss(pair: Pair, *, weights: Weights = None) -> tuple[Measure, ...]:
    """The mean of (M_P - 1) / M of each cell, 1 for a suppressed one.

    Xiao and Tao, "Personalized privacy preservation", SIGMOD 2006.

    >>> from discreet.utility.examples import four_jobs
    >>> iloss(four_jobs())[0].value  # two of four cells stand for 2 of 4 jobs
    0.125
    """

    def loss(at: int) -> float | str:
        column = cells(pair, at)
        cost = column.meaning.shares - 1.0 / column.meaning.leaves
        return _mean(column, np.where(column.meaning.suppressed, 1.0, cost))

    return per_attribute(pair, ILOSS, loss, weights)


def minimal_distortion(pair: Pair) -> tuple[Measure, ...]:
    """The steps that all cells were taken up their hierarchies: Σ over records and attributes of the level.

    Samarati, "Protecting respondents' identities in microdata release", 2001. A record that shows nothing
    counts with the full heights. The sum first, then each attribute.

    >>> from discreet.utility.examples import four_jobs
    >>> minimal_distortion(four_jobs())[0].value
    2.0
    """

    def steps(at: int) -> float | str:
        column = cells(pair, at)
        above = _ancestors(pair, at, column)
        if above is None:
            return NO_HIERARCHY_NOTE
        mean = _mean(column, above.level.astype(np.float64), float(above.hierarchy.height))
        return mean if isinstance(mean, str) else mean * column.total

    return _summed(pair, MINIMAL_DISTORTION, steps, levels=True)


def generalisation_height(pair: Pair) -> tuple[Measure, ...]:
    """How many cells were generalised or suppressed, each counting once whatever its level.

    Meyerson and Williams, "On the complexity of optimal k-anonymity", PODS 2004. The sum first, then each
    attribute.

    >>> from discreet.utility.examples import four_jobs
    >>> generalisation_height(four_jobs())[0].value
    2.0
    """

    def count(at: int) -> float | str:
        column = cells(pair, at)
        mean = _mean(column, (column.meaning.kinds != EXACT).astype(np.float64))
        return mean if isinstance(mean, str) else mean * column.total

    return _summed(pair, GENERALISED_CELLS, count)


def minimum_absolute_distance(pair: Pair) -> tuple[Measure, ...]:
    """Σ over attributes of the level at which the column stands; undefined where values stand on several.

    Samarati, "Protecting respondents' identities in microdata release", 2001.

    >>> from discreet.utility.examples import four_jobs
    >>> minimum_absolute_distance(four_jobs())[0].notes
    ('not defined here: the values of a column stand on different levels of its hierarchy',)
    """
    return _summed(pair, ABSOLUTE_DISTANCE, lambda at: _column_level(pair, at, relative=False), levels=True)


def minimum_relative_distance(pair: Pair) -> tuple[Measure, ...]:
    """Σ over attributes of level / height of the column; undefined where values stand on several levels.

    Samarati, "Protecting respondents' identities in microdata release", 2001.

    >>> from discreet.utility.examples import four_jobs
    >>> minimum_relative_distance(four_jobs().trivial())[0].value
    1.0
    """
    return _summed(pair, RELATIVE_DISTANCE, lambda at: _column_level(pair, at, relative=True), levels=True)


def ambiguity(pair: Pair) -> Measure:
    """The mean over records of the number of leaf combinations that each may stand for.

    1/|T| × Σ over records of Π over attributes of the leaves under the cell; a record that shows nothing may be
    any combination. Nergiz and Clifton, "Thoughts on k-anonymization", DKE 2007.

    >>> from discreet.utility.examples import four_jobs
    >>> ambiguity(four_jobs()).value  # 2, 2, 1 and 1
    1.5
    """
    if not pair.truthful:
        return AMBIGUITY.undefined(FOREIGN_NOTE)
    product = np.where(pair.suppressed, 0.0, 1.0)
    everything = 1.0
    for meaning, codes in zip(pair.meanings, pair.released.codes, strict=True):
        product = product * np.maximum(np.rint(meaning.shares * meaning.leaves), 1.0)[codes]
        everything *= meaning.leaves
    shown = float(np.dot(product, pair.released.records))
    hidden = cells(pair, 0).hidden if pair.names else 0.0
    total = pair.shown + hidden
    return AMBIGUITY((shown + hidden * everything) / total)


def widths(column: Cells) -> FloatArray:
    """The width of each released value as a share of the original's range, at most 1."""
    meaning = column.meaning
    numbers = meaning.original.numbers
    span = float(np.nanmax(numbers) - np.nanmin(numbers))
    wide = meaning.high - meaning.low
    width = np.minimum(wide / span, 1.0) if span else np.where(wide > 0, 1.0, 0.0)
    # What has no number stands for itself alone, or for anything.
    blank = np.isnan(numbers)
    if blank.any():
        covers = np.array([bool(blank[meaning.members(code)].any()) for code in range(len(width))])
        width = np.where(covers, np.where(meaning.sizes > 1, 1.0, 0.0), width)
    width = np.where(meaning.suppressed, 1.0, width)
    return np.asarray(np.where(np.isnan(width), 0.0, width))


def _mean(column: Cells, per_code: FloatArray, hidden: float = 1.0) -> float | str:
    """The mean cost of a cell, or why there is none."""
    return FOREIGN_NOTE if column.foreign else column.mean(per_code, hidden)


def _ancestors(pair: Pair, at: int, column: Cells) -> Ancestors | None:
    hierarchy = scale_of(pair, at, column.shown > 0)
    return None if hierarchy is None else Ancestors.of(column.meaning, hierarchy, column.shown > 0)


def _column_level(pair: Pair, at: int, *, relative: bool) -> float | str:
    column = cells(pair, at)
    above = _ancestors(pair, at, column)
    if above is None:
        return NO_HIERARCHY_NOTE
    if column.foreign:
        return FOREIGN_NOTE
    levels = np.unique(above.level[column.shown > 0])
    if len(levels) > 1:
        return "not defined here: the values of a column stand on different levels of its hierarchy"
    height = above.hierarchy.height
    level = int(levels[0]) if len(levels) else height
    return level / height if relative else float(level)


def _summed(
    pair: Pair, definition: Definition, value_of: Callable[[int], float | str], *, levels: bool = False
) -> tuple[Measure, ...]:
    """The sum over attributes first, then each attribute; ``levels``: hierarchies that nobody gave are named."""
    values = [value_of(at) for at in range(len(pair.names))]
    parts = [
        definition.of(value, attribute=name, notes=assumed_notes(pair, name) if levels else ())
        for name, value in zip(pair.names, values, strict=True)
    ]
    missing = [value for value in values if isinstance(value, str)]
    whole = missing[0] if missing else sum(part.value for part in parts)
    return (definition.of(whole, notes=notes_of(parts)), *parts)
