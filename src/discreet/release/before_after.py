"""How often the values of an attribute occur before and after, in few enough bins to be drawn."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal

import numpy as np
import pyarrow as pa

from discreet.classes.pair import Pair
from discreet.sentences import Sentence
from discreet.table.values import number_text
from discreet.types import FloatArray
from discreet.utility.distributions import Marginals, marginals

MOST_VALUES = 12
"""Values that are drawn one by one; of more, the most frequent ones, and the others together."""
BINS = 8
TAIL = 0.01
"""The share of the records at either end that does not decide where bins lie."""

ONLY_RELEASED = "only in the release"
MISSING = "missing"
EMPTY = "(empty text)"


@dataclass(frozen=True)
class Bin:
    """Values under one label, and the share of records that have them before and after."""

    label: str
    before: float
    after: float


@dataclass(frozen=True)
class Distribution:
    """One attribute before and after: released values are spread evenly over what they may stand for."""

    name: str
    role: Literal["quasi-identifier", "sensitive"]
    distinct: int
    bins: tuple[Bin, ...]


def before_and_after(pair: Pair, name: str) -> Distribution | None:
    """The distribution of an attribute in the original and as the release implies it; ``None`` if it is empty.

    A few values are told one by one, the order of numbers kept; of many numbers there are bins of equal width,
    with open ends and without empty ones, of many categories the most frequent ones. The values themselves are in the labels.

    >>> from discreet.utility.examples import four_ages
    >>> ages = before_and_after(four_ages("[30, 39]", "[30, 39]", "47", "47"), "age")
    >>> [(bar.label, bar.before, bar.after) for bar in ages.bins]
    [('31', 0.25, 0.25), ('34', 0.25, 0.25), ('47', 0.25, 0.5), ('52', 0.25, 0.0)]
    """
    spread = marginals(pair, name)
    if spread is None:
        return None
    domain = pair.meaning(name).original
    if domain.size <= MOST_VALUES and len(spread.before) == domain.size:
        order = np.arange(domain.size)
        if spread.numeric:
            order = np.argsort(spread.numbers, kind="stable")
        bins = [
            Bin(domain.label(int(at)) or EMPTY, float(spread.before[at]), float(spread.after[at]))
            for at in order
        ]
    elif spread.numeric:
        bins = _of_numbers(spread, dates=pa.types.is_temporal(domain.values.type))
    else:
        bins = _of_categories(spread, domain.size, lambda code: domain.label(code) or EMPTY)
    role: Literal["quasi-identifier", "sensitive"] = "quasi-identifier" if name in pair.names else "sensitive"
    return Distribution(name, role, domain.size, tuple(bins))


def _of_categories(spread: Marginals, size: int, label: Callable[[int], str]) -> list[Bin]:
    """The most frequent values of the original, then the others, then what only the release has."""
    order = np.argsort(-spread.before[:size], kind="stable")
    first = order if size <= MOST_VALUES else order[: MOST_VALUES - 1]
    bins = [Bin(label(int(at)), float(spread.before[at]), float(spread.after[at])) for at in first]
    rest = order[len(first) :]
    if len(rest):
        bins.append(
            Bin(
                Sentence("{count:,} other values", count=len(rest)),
                float(spread.before[rest].sum()),
                float(spread.after[rest].sum()),
            )
        )
    if len(spread.before) > size:
        bins.append(Bin(ONLY_RELEASED, 0.0, float(spread.after[size:].sum())))
    return bins


def _of_numbers(spread: Marginals, *, dates: bool) -> list[Bin]:
    """Bins of one width over all but the ends of the original's numbers; the ends are open."""
    known = ~np.isnan(spread.numbers)
    numbers = spread.numbers[known]
    edges = _edges(numbers, spread.before[known])
    whole = bool((numbers == np.rint(numbers)).all() and (edges == np.rint(edges)).all())
    at = np.searchsorted(edges, numbers, side="right")
    sums = [np.bincount(at, part[known], len(edges) + 1) for part in (spread.before, spread.after)]
    bins = []
    for i in range(len(edges) + 1):
        before, after = float(sums[0][i]), float(sums[1][i])
        if before or after:
            bins.append(Bin(_label(edges, i, whole=whole, dates=dates), before, after))
    before, after = float(spread.before[~known].sum()), float(spread.after[~known].sum())
    return [*bins, Bin(MISSING, before, after)] if before or after else bins


def _edges(numbers: FloatArray, shares: FloatArray) -> FloatArray:
    """Round numbers, a round step apart, around all but the ends.

    >>> _edges(np.arange(100.0), np.full(100, 0.01))
    array([  0.,  20.,  40.,  60.,  80., 100.])
    """
    order = np.argsort(numbers, kind="stable")
    rising = np.cumsum(shares[order]) / max(float(shares.sum()), 1e-300)
    low, high = (
        float(numbers[order][min(int(np.searchsorted(rising, q - 1e-12)), len(order) - 1)])
        for q in (TAIL, 1 - TAIL)
    )
    rough = max(high - low, abs(high) * 1e-9, 1e-9) / BINS
    scale = 10.0 ** math.floor(math.log10(rough))
    step = next(scale * factor for factor in (1, 2, 2.5, 5, 10) if scale * factor >= rough * (1 - 1e-9))
    first = math.floor(low / step)
    last = max(math.floor(high / step) + 1, first + 1)
    return np.arange(first, last + 1, dtype=np.float64) * step


def _label(edges: FloatArray, at: int, *, whole: bool, dates: bool) -> str:
    def text(number: float) -> str:
        if dates:
            return str(np.datetime64(int(number), "D"))
        return number_text(float(f"{number:.10g}"))

    if at == 0:
        return Sentence("under {end}", end=text(edges[0]))
    if at == len(edges):
        return Sentence("{start} and more", start=text(edges[-1]))
    if whole:
        last = edges[at] - 1
        if last == edges[at - 1]:
            return text(last)
        return Sentence("{start} to {end}", start=text(edges[at - 1]), end=text(last))
    return Sentence("{start} to under {end}", start=text(edges[at - 1]), end=text(edges[at]))
