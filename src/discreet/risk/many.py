"""Who is singled out among millions of classes: one table per set of attributes, and estimates from drawn groups.

For tables with one record per person. What comes from tables is exact; what is estimated says how far it may be off.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from itertools import combinations as subsets
from statistics import NormalDist

import numpy as np
from numpy.typing import NDArray

from discreet.classes import EquivalenceClasses
from discreet.classes.packed import PackedClasses, packed
from discreet.classes.packing import run_starts
from discreet.risk.exposure import AttributeContribution, ranked
from discreet.risk.special_uniques import (
    Combination,
    MinimalUniques,
    SudaResult,
    attributed,
    dis,
    fewest_first,
    figures_of,
    weights_of,
    worst_first,
)
from discreet.risk.tally import CodeGroups
from discreet.sentences import Sentence
from discreet.types import IntArray, Progress

AT_ONCE = 2
"""So many tables are filled at the same time."""
SIZE_BITS = 20
"""Bits for how many minimal uniques of each size a class has."""
Z = NormalDist().inv_cdf(0.975)


def singled_out(
    classes: EquivalenceClasses,
    *,
    max_size: int,
    sampling_fraction: float | None = None,
    progress: Progress | None = None,
) -> tuple[list[Combination], SudaResult]:
    """What ``combinations`` and ``suda`` say of these classes, from one table for each set of attributes.

    An entry of the SUDA scores stands for all classes with as many minimal uniques of each size.

    >>> classes = EquivalenceClasses.from_columns({"a": [2, 1, 1], "b": [0, 3, 0], "c": [0, 6, 0]})
    >>> exposing, scores = singled_out(classes, max_size=3)
    >>> exposing[0].attributes, scores.scores, scores.records
    (('a', 'b'), array([2., 4., 2.]), array([1, 1, 1]))
    """
    tell = progress or (lambda _: None)
    largest, width = min(max_size, len(classes.names)), len(classes.names)
    figures: list[Combination] = []
    kinds: list[MinimalUniques] = []
    numbers = np.zeros(len(classes), dtype=np.int64)
    covered: dict[tuple[str, ...], NDArray[np.uint8]] = {}
    for size in range(1, largest + 1):
        uniques: dict[tuple[str, ...], NDArray[np.uint8]] = {}
        for names, records, alone in _tables(packed(classes), size):
            tell(Sentence("groups by {names}", names=", ".join(names)))
            figures.append(figures_of(names, CodeGroups(records, records)))
            if size < largest:
                uniques[names] = _bits(alone, len(classes))
            minimal = np.ones(len(alone), dtype=bool)
            for part in subsets(names, size - 1):
                if part:
                    minimal &= ~_has(covered[part], alone)
            people = alone[minimal]
            if len(people):
                numbers[people] += 1 << SIZE_BITS * (size - 1)
                kinds.append(MinimalUniques(names, len(people), len(people)))
        covered = uniques
    scored, times = np.unique(numbers[numbers > 0], return_counts=True)
    per_size = [(scored >> SIZE_BITS * i) & ((1 << SIZE_BITS) - 1) for i in range(largest)]
    weights = weights_of("products", width, largest)
    scores = np.append(
        0.0, sum((w * n for w, n in zip(weights, per_size, strict=True)), np.zeros(len(scored)))
    )
    records = np.append(classes.total - int(times.sum()), times)
    file_risk = dis_scores = None
    if sampling_fraction is not None:
        each = weights_of("elliot", width, largest)
        file_risk, dis_scores = dis(
            np.append(0.0, sum((w * n for w, n in zip(each, per_size, strict=True)), np.zeros(len(scored)))),
            alone=int((classes.records == 1).sum()),
            pairs=int((classes.records == 2).sum()),
            width=width,
            fraction=sampling_fraction,
            times=records,
        )
    shown = records > 0
    total = float(scores @ records)
    return worst_first(figures), SudaResult(
        names=classes.names,
        max_size=largest,
        weighting="products",
        scores=scores[shown],
        records=records[shown],
        contributions=attributed(classes.names, kinds, weights, total),
        minimal_uniques=fewest_first(kinds),
        sampling_fraction=sampling_fraction,
        file_risk=file_risk,
        dis_scores=None if dis_scores is None else dis_scores[shown],
    )


def _tables(classes: PackedClasses, size: int) -> Iterator[tuple[tuple[str, ...], IntArray, IntArray]]:
    """For each set of so many attributes the sizes of its groups, and the classes alone in theirs."""

    def counted(names: tuple[str, ...]) -> tuple[tuple[str, ...], IntArray, IntArray]:
        records, witness = classes.table(names)
        return names, records[records > 0].astype(np.int64), witness[records == 1].astype(np.int64)

    sets = list(subsets(classes.classes.names, size))
    # Made before the threads ask for them.
    assert classes.words.size
    with ThreadPoolExecutor(AT_ONCE) as pool:
        waiting = []
        for names in sets:
            waiting.append(pool.submit(counted, names))
            if len(waiting) > AT_ONCE:
                yield waiting.pop(0).result()
        for result in waiting:
            yield result.result()


def _bits(positions: IntArray, size: int) -> NDArray[np.uint8]:
    """Positions as bits."""
    chosen = np.zeros(size, dtype=bool)
    chosen[positions] = True
    return np.packbits(chosen)


def _has(bits: NDArray[np.uint8], positions: IntArray) -> NDArray[np.bool_]:
    """Which positions are set."""
    return np.asarray((bits[positions >> 3] >> (7 - (positions & 7)).astype(np.uint8)) & 1, dtype=bool)


def drawn_contributions(classes: EquivalenceClasses) -> list[AttributeContribution]:
    """What ``contributions`` says, estimated from groups that are drawn whole, with the margin of a 95 % interval.

    Without an attribute, groups that agree in all others are drawn by the hash of what they agree in, a share f of them.
    G groups drawn stand for G / f, and so the risk is G / (f n) with n records, and its margin 1.96 sqrt((1 - f) G) /
    (f n); alike for the share of unique records (Horvitz & Thompson 1952, each group drawn independently). The smallest
    group drawn is an upper limit of k.
    """
    whole = classes.records
    total = float(classes.total)
    packs = packed(classes)
    share = 0.5**packs.halvings
    left_out = []
    for name in classes.names:
        at, keys = packs.draw([other for other in classes.names if other != name])
        groups, alone, smallest = _sizes(keys, whole[at])
        margin = Z * math.sqrt((1.0 - share) * groups) / (share * total)
        risk, unique = (min(drawn / (share * total), 1.0) for drawn in (groups, alone))
        left_out.append((name, risk, unique, smallest, margin))
    unique = float((whole == 1).sum() / total)
    return ranked(left_out, risk=len(classes) / total, unique=unique, k=int(whole.min()))


def _sizes(keys: IntArray, records: IntArray) -> tuple[int, int, int]:
    """How many groups there are, how many of a single record, and the smallest; by sorting values, not positions."""
    # The lowest bit of a hash makes room for whether a class has one record.
    ordered = np.sort((keys & ~np.int64(1)) | (records > 1))
    starts = run_starts([ordered >> 1])
    lengths = np.diff(np.append(starts, len(ordered)))
    alone = int(np.count_nonzero((lengths == 1) & (ordered[starts] & 1 == 0)))
    if alone:
        return len(starts), alone, 1
    _, group = np.unique(keys, return_inverse=True)
    return len(starts), 0, int(np.bincount(group, weights=records).min())


def margin_of(contributions: Sequence[AttributeContribution]) -> float:
    """The widest margin among estimated contributions; 0 if they were counted."""
    return max((each.margin or 0.0 for each in contributions), default=0.0)
