"""Learn a hierarchy from the data, so that anonymising works where nobody has made one."""

from __future__ import annotations

import itertools
import math
from collections import deque
from collections.abc import Sequence

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from discreet.table.column import DataType
from discreet.table.domain import Domain
from discreet.table.hierarchies.builder import (
    Builder,
    Level,
    finish,
    is_whole,
    known_totals,
    marks,
    texts,
)
from discreet.table.hierarchies.categories import Mask, grouped_level, natural_rank, span_namer
from discreet.table.hierarchies.dates import Dates, Period, moments_of
from discreet.table.hierarchies.hierarchy import Hierarchy
from discreet.table.hierarchies.numbers import cut_level, shares_before
from discreet.table.values import Exact, Interval, Suppressed, Value, parse
from discreet.types import AnyIntArray, BoolArray, FloatArray, IntArray

MAX_LEVELS = 5
"""Levels between the values and the root, at most."""
FINEST_GROUPS = 32
"""Ordered values are put into at most so many groups, then half as many, and so on."""
TAIL = 0.01
"""Share of the records that may be coded together at the bottom, and at the top."""
LEAST = 0.25
"""A group must have at least this part of the records that it would have if all groups were equal."""
CODE = r"^[0-9A-Za-z][0-9A-Za-z ./-]*$"
LOOKED_AT = 2_000
"""So many values are looked at to find out whether they are generalised already."""


def hierarchy_for(
    domain: Domain,
    totals: AnyIntArray | None = None,
    *,
    spec: Builder | Hierarchy | None = None,
    column_type: DataType | None = None,
) -> Hierarchy:
    """The hierarchy of a column: the given one, the one that a builder makes, or a learned one."""
    if isinstance(spec, Hierarchy):
        return spec
    if spec is not None:
        return spec.build(domain, totals=totals)
    return learn(domain, totals, type=column_type)


def learn(domain: Domain, totals: AnyIntArray | None = None, *, type: DataType | None = None) -> Hierarchy:
    """A hierarchy from nothing but the values and how often each occurs; the same data give the same one.

    Numbers become intervals with round bounds, dates periods, codes of equal length are masked from the
    right, ordered values are merged with their neighbours, and of other categories the rarest are merged
    first (as Huffman 1952 merges symbols). Levels that would change nothing are left out. Missing marks
    stay apart up to the root.

    >>> jobs = Domain("job", pa.array(["baker", "cook", "judge", "nurse"]))
    >>> learn(jobs, np.array([5, 1, 2, 4])).rows()[1]
    ('cook', '{cook, judge, nurse}', '*')
    """
    leaves = texts(domain)
    weights = known_totals(domain, totals)
    apart = marks(leaves)
    if len(leaves) - int(apart.sum()) < 3:
        return finish(domain, leaves, [])
    levels = _levels(domain, leaves, weights, apart, type)
    return _pruned(finish(domain, leaves, levels), int(apart.sum()))


def _pruned(hierarchy: Hierarchy, apart: int) -> Hierarchy:
    """The hierarchy without levels that merge nothing or all, and with at most ``MAX_LEVELS`` below the root.

    ``apart`` leaves have a node of their own on every level but the last.
    """
    kept = [0]
    for level in range(1, hierarchy.height):
        if 1 + apart < len(hierarchy.labels[level]) < len(hierarchy.labels[kept[-1]]):
            kept.append(level)
    if len(kept) > MAX_LEVELS + 1:
        picks = np.linspace(1, len(kept) - 1, MAX_LEVELS).round().astype(int)
        kept = [0, *(kept[pick] for pick in picks)]
    kept.append(hierarchy.height)
    return Hierarchy(
        hierarchy.name,
        tuple(hierarchy.labels[level] for level in kept),
        tuple(hierarchy.nodes[level] for level in kept),
    )


def _levels(
    domain: Domain,
    leaves: Sequence[str],
    weights: FloatArray,
    apart: BoolArray,
    type: DataType | None,
) -> Sequence[Level]:
    """The levels that suit what the values are."""
    if type == "date" or pa.types.is_timestamp(domain.values.type) or pa.types.is_date(domain.values.type):
        moments, missing = moments_of(domain)
        if not np.isnat(moments[~missing]).any():
            return _as_levels(_dates(moments[~missing]).build(domain))
    numeric = domain.is_numeric and not pa.types.is_temporal(domain.values.type)
    if numeric and (type in ("integer", "continuous") or (type is None and not domain.is_text)):
        return _numbers(domain, leaves, weights, apart)
    if domain.is_text and type in (None, "nominal", "generalised"):
        generalised = _generalised(leaves, weights, apart)
        if generalised is not None:
            return generalised
        if _are_codes(leaves, apart):
            return _as_levels(Mask(characters=tuple(range(1, max(map(len, leaves))))).build(domain))
        if type is None and numeric:
            return _numbers(domain, leaves, weights, apart)
    if type == "ordinal":
        rank = natural_rank(domain, leaves, apart)
        name = span_namer(domain, leaves)
        return [
            grouped_level(groups, rank, apart, leaves, name) for groups in _in_order(rank, weights, apart)
        ]
    return _merged(leaves, weights, apart)


def _as_levels(hierarchy: Hierarchy) -> list[Level]:
    return list(zip(hierarchy.nodes[1:-1], hierarchy.labels[1:-1], strict=True))


# ── dates ─────────────────────────────────────────────────────────────────────────────────────────────


def _dates(moments: NDArray[np.datetime64]) -> Dates:
    """The periods that suit how long a time the dates span."""
    seconds = (moments.max() - moments.min()) / np.timedelta64(1, "s")
    days = seconds / 86_400
    times = bool((moments != moments.astype("datetime64[D]")).any())
    suits: dict[Period, bool] = {
        "hour": times and days < 8,
        "day": times,
        # Over a few weeks months say little, and weeks nest in nothing coarser.
        "week": days < 100,
        "month": days >= 100,
        "quarter": 100 <= days < 20 * 365,
        "year": days >= 100,
        "decade": days > 5 * 365,
        "century": days > 120 * 365,
    }
    return Dates(levels=tuple(period for period, fits in suits.items() if fits))


# ── numbers ───────────────────────────────────────────────────────────────────────────────────────────


def _numbers(domain: Domain, leaves: Sequence[str], weights: FloatArray, apart: BoolArray) -> Sequence[Level]:
    """Equal round widths where the records are spread over the range, else intervals of equal frequency."""
    numbers = domain.numbers[: len(leaves)]
    # Infinite values lie in no interval: each keeps to itself, as a missing mark does.
    apart = apart | ~np.isfinite(numbers)
    if apart.all():
        return []
    whole = is_whole(domain, numbers)
    order = np.flatnonzero(~apart)[np.argsort(numbers[~apart], kind="stable")]
    values, mass = numbers[order], weights[order] / weights[order].sum()
    cuts = _equal_widths(values, mass) if whole and len(values) > 12 else None
    if cuts is None:
        cuts = _round_cuts(values, mass, whole)
    return [cut_level(numbers, apart, leaves, level, whole) for level in cuts if level]


def _equal_widths(values: FloatArray, mass: FloatArray) -> list[tuple[float, ...]] | None:
    """Cuts at multiples of round widths, doubling per level; ``None`` if one interval would hold most records.

    Each level ends where hardly any records are left, so that the rare extremes share one node.
    """
    before = np.cumsum(mass)
    low = float(values[min(int(np.searchsorted(before, TAIL)), len(values) - 1)])
    high = float(values[min(int(np.searchsorted(before, 1 - TAIL)), len(values) - 1)])
    if high <= low:
        return None
    width = _round_up((high - low) / 20)
    eighths = np.bincount(((values - values[0]) / (values[-1] - values[0]) * 7.999).astype(int), weights=mass)
    if eighths.max() > 0.5 or (high - low) / width > 2 * len(values):
        return None
    levels: list[tuple[float, ...]] = []
    while not levels or width <= (high - low) / 2:
        first = math.floor(low / width) + 1
        last = math.floor(high / width)
        levels.append(tuple(width * place for place in range(first, last + 1)))
        width *= 2
    return levels


def _round_up(number: float) -> float:
    """The next number of the kind 2, 5, 10, 20, 50, 100 …

    >>> [_round_up(n) for n in (0.2, 3.6, 7, 15, 300)]
    [2, 5, 10, 20, 500]
    """
    if number <= 2:
        return 2
    power: int = 10 ** math.floor(math.log10(number))
    return next(step * power for step in (1, 2, 5, 10) if step * power >= number)


def _round_cuts(values: FloatArray, mass: FloatArray, whole: bool) -> list[tuple[float, ...]]:
    """Cuts per level, fine to coarse, so that groups have about equally many records and cuts are round.

    The coarsest level is cut first and may move its cuts farthest to a round number; finer levels add cuts
    between those, so levels nest. A cut never moves by more than a fifth of a group's records.
    """
    share = shares_before(mass)
    before = np.concatenate(([0.0], np.cumsum(mass)))
    cuts: dict[int, float] = {}
    levels = []
    for groups in _halvings(share)[::-1]:
        for at in (np.flatnonzero(np.diff(np.floor(share * groups))) + 1).tolist():
            if at in cuts:
                continue
            slack = 0.2 / groups
            lowest = max(int(np.searchsorted(before, before[at] - slack, "right")) - 1, 0)
            highest = min(int(np.searchsorted(before, before[at] + slack, "right")) - 1, len(values) - 1)
            # Each side must keep a value of its own up to the neighbouring cuts.
            left = max((cut for place, cut in cuts.items() if place < at), default=-math.inf)
            right = min((cut for place, cut in cuts.items() if place > at), default=math.inf)
            first, last = int(np.searchsorted(values, left)), int(np.searchsorted(values, right)) - 1
            low = float(values[max(min(lowest, at - 1), first)])
            high = float(values[min(max(highest, at), last)])
            if low >= high:
                continue
            cut = _roundest(low, high, float(values[at]), whole)
            middle = int(np.searchsorted(values, cut))
            smaller = min(before[middle] - before[first], before[last + 1] - before[middle])
            if smaller >= LEAST / groups:
                cuts[at] = cut
        levels.append(tuple(sorted(cuts.values())))
    return levels[::-1]


def _roundest(low: float, high: float, near: float, whole: bool) -> float:
    """The roundest number above ``low`` and not above ``high``; of equally round ones that nearest ``near``.

    >>> _roundest(28, 33, 31, True), _roundest(0.231, 0.262, 0.24, False), _roundest(-3, 4, 1, True)
    (30, 0.25, 0)
    """
    if low < 0 <= high:
        return 0
    # Powers of ten that a float can hold, fractions of the last one included.
    power = min(max(math.ceil(math.log10(max(abs(low), abs(high)))), -280), 308)
    for exponent in range(power, power - 18, -1):
        for factor in (1.0, 0.5, 0.2):
            step = factor * 10.0**exponent
            if whole and (step < 1 or step != int(step)):
                continue
            nearest = min(max(round(near / step), math.floor(low / step) + 1), math.floor(high / step))
            cut = float(f"{nearest * step:.15g}")
            if low < cut <= high:
                return int(cut) if cut == int(cut) else cut
    return high


# ── in order ──────────────────────────────────────────────────────────────────────────────────────────


def _halvings(share: FloatArray) -> list[int]:
    """Numbers of groups per level: powers of two, the first one being such that a third of the values merge.

    ``share`` is the share of the records before the middle of each value, in order.

    >>> _halvings(shares_before(np.ones(16))), _halvings(shares_before(np.ones(1000)))
    ([8, 4, 2], [32, 16, 8, 4, 2])
    >>> _halvings(shares_before(np.array([87.0, 9.0, 2.0, 1.0, 1.0])))
    [32, 16, 8, 4, 2]
    """
    top = FINEST_GROUPS
    while top > 2 and len(np.unique(np.floor(share * top))) > len(share) * 2 / 3:
        top //= 2
    return [top >> step for step in range(top.bit_length() - 1)]


def _in_order(rank: IntArray, weights: FloatArray, apart: BoolArray) -> list[IntArray]:
    """Per level the group of each value, when neighbours are put together until groups are equally full."""
    order = np.argsort(rank)
    order = order[~apart[order]]
    share = shares_before(weights[order])
    levels = []
    for number in _halvings(share):
        groups = np.zeros(len(rank), dtype=np.int64)
        groups[order] = np.floor(share * number)
        levels.append(groups)
    return levels


def _generalised(leaves: Sequence[str], weights: FloatArray, apart: BoolArray) -> Sequence[Level] | None:
    """Levels for values that are intervals already: merged with their neighbours. ``None`` if they are not."""
    step = max(1, len(leaves) // LOOKED_AT)
    sample = [parse(leaf) for leaf, mark in zip(leaves[::step], apart[::step], strict=True) if not mark]
    if not all(isinstance(value, Interval | Suppressed) or _is_number(value) for value in sample):
        return None
    if not any(isinstance(value, Interval) for value in sample):
        return None
    spans = {at: span for at, leaf in enumerate(leaves) if (span := _as_interval(parse(leaf))) is not None}
    apart = apart | np.array([at not in spans for at in range(len(leaves))], dtype=bool)
    if len(leaves) - int(apart.sum()) < 3:
        return None
    keys = sorted(
        np.flatnonzero(~apart).tolist(),
        key=lambda at: (spans[at].low, not spans[at].closed_low, spans[at].high),
    )
    rank = np.full(len(leaves), len(leaves), dtype=np.int64)
    rank[keys] = np.arange(len(keys))

    # Spans in the order of their ends: the last one of a group says where its hull ends.
    by_end = sorted(keys, key=lambda at: (spans[at].high, spans[at].closed_high))
    end_rank = np.zeros(len(leaves), dtype=np.int64)
    end_rank[by_end] = np.arange(len(keys))
    ordered = np.array(keys)
    places = {leaf: at for at, leaf in enumerate(leaves)}

    def hull(groups: IntArray) -> Level:
        codes, names = grouped_level(groups, rank, apart, leaves)
        starts = np.unique(groups[ordered], return_index=True)[1]
        ends = np.maximum.reduceat(end_rank[ordered], starts)
        sizes = np.bincount(codes)
        hulls = list(names)
        for start, end in zip(starts.tolist(), ends.tolist(), strict=True):
            whole, group = spans[keys[start]].hull(spans[by_end[end]]), codes[keys[start]]
            # A hull that is written like a value of another group would be read as that.
            if whole is not None and sizes[group] > 1 and codes[places.get(str(whole), keys[start])] == group:
                hulls[group] = str(whole)
        # Where intervals overlap two hulls may be the same; the sets of their members never are.
        return codes, hulls if len(set(hulls)) == len(hulls) else names

    return [hull(groups) for groups in _in_order(rank, weights, apart)]


def _is_number(value: Value) -> bool:
    return isinstance(value, Exact) and _as_interval(value) is not None


def _as_interval(value: Value) -> Interval | None:
    if isinstance(value, Exact):
        number = Domain("", pa.array([value.text])).numbers[0]
        return None if math.isnan(number) else Interval(number, number)
    return value if isinstance(value, Interval) else None


# ── codes and categories ──────────────────────────────────────────────────────────────────────────────


def _are_codes(leaves: Sequence[str], apart: BoolArray) -> bool:
    """Whether values are codes of one length with digits in them, as postcodes and diagnoses are."""
    real = pa.array([leaf for leaf, mark in zip(leaves, apart, strict=True) if not mark])
    if len(real) < 8:
        return False
    lengths = pc.min_max(pc.utf8_length(real)).as_py()
    if lengths["min"] != lengths["max"] or lengths["min"] < 3:
        return False
    plain = pc.replace_substring(real, "*", "0")
    return bool(
        pc.all(pc.match_substring_regex(plain, CODE)).as_py()
        and pc.all(pc.match_substring_regex(plain, r"[0-9]")).as_py()
    )


def _merged(leaves: Sequence[str], weights: FloatArray, apart: BoolArray) -> Sequence[Level]:
    """The two rarest groups are merged until as many are left as the level shall have (Huffman 1952)."""
    real = np.flatnonzero(~apart)
    order = real[np.argsort(weights[real], kind="stable")]
    size = len(order)
    steps = min(MAX_LEVELS, math.ceil(math.log2(size)))
    wanted = [max(2, round(size ** (1 - step / steps))) for step in range(1, steps)]
    parents = np.array(_huffman(weights[order].tolist()))
    rank = np.arange(len(leaves), dtype=np.int64)
    levels = []
    for target in wanted:
        # Of the merges only those are done that leave `target` groups; a leaf's group is its highest ancestor.
        done = 2 * size - target
        top = np.where(parents < done, parents, np.arange(2 * size - 1))
        while not np.array_equal(above := top[top], top):
            top = above
        groups = np.zeros(len(leaves), dtype=np.int64)
        groups[order] = top[:size]
        levels.append(grouped_level(groups, rank, apart, leaves))
    return levels


def _huffman(weights: Sequence[float]) -> list[int]:
    """The parent of each node when the two lightest are merged again and again; weights ascend.

    >>> _huffman([1, 1, 3])
    [3, 3, 4, 4, 4]
    """
    size = len(weights)
    total = [*weights, *itertools.repeat(0.0, size - 1)]
    parents = [2 * size - 2] * (2 * size - 1)
    # Merged nodes come into being in ascending order, so two queues do instead of a heap.
    leaves, merged = deque(range(size)), deque[int]()
    for new in range(size, 2 * size - 1):
        for _ in range(2):
            take = leaves if leaves and (not merged or total[leaves[0]] <= total[merged[0]]) else merged
            child = take.popleft()
            parents[child] = new
            total[new] += total[child]
        merged.append(new)
    return parents
