"""The search for levels of truthful records: from the top down, every choice by the exponential mechanism.

Bild, Kuhn and Prasser, *SafePub: A Truthful Data Anonymization Algorithm With Strong Privacy Guarantees*, 2018. Their scores count
what levels leave of a table. Here they count what is left *on average over the sampling* that follows: a record of a class of n is
shown with probability P(B(n−1, β) ≥ k−1) once it is kept, which grows slowly around n = k/β, where the score of a fixed sample jumps
by k records at once. One record moves the average by a few records and not by k, so that a choice is nearer to the best at the same ε.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property

import numpy as np
import pyarrow as pa
from scipy.special import bdtrc

from discreet.dp.generalization import ReleasedColumn
from discreet.dp.noise import check_scale, noisy_max
from discreet.types import FloatArray, IntArray

PARTS = 2**16
"""Probabilities are whole numbers of this part."""
WEIGHT = 2**10
"""What a record is worth is a whole number of this part."""
RECORD = PARTS * WEIGHT
"""A record that is shown as it is, in the unit of scores."""
LARGEST_KEY = 2**62
Levels = tuple[int, ...]


@dataclass(frozen=True)
class Sampling:
    """With which probability a record is kept, and how many must look alike."""

    share: float
    k: int

    @cached_property
    def of_record(self) -> IntArray:
        """By the size of its class, how likely a record that is kept is shown: P(B(n−1, β) ≥ k−1)."""
        return self._by_size(1)

    @cached_property
    def of_class(self) -> IntArray:
        """By its size, how likely a class is shown: P(B(n, β) ≥ k)."""
        return self._by_size(0)

    def _by_size(self, certain: int) -> IntArray:
        """P(B(n − c, β) ≥ k − c) for n = 0, 1, … until it is 1 but for rounding, never falling; larger n have the last."""
        last = 2 * self.k
        while True:
            draws = np.arange(last + 1) - certain
            possible = draws >= self.k - certain
            tails = np.zeros(last + 1)
            tails[possible] = bdtrc(self.k - certain - 1, draws[possible], self.share)
            parts = np.maximum.accumulate(np.round(PARTS * tails).astype(np.int64))
            if parts[-1] == PARTS:
                return parts
            last *= 2

    def records(self, sizes: IntArray) -> IntArray:
        """How many records of classes are shown on average, of those that are kept, in parts."""
        return sizes * self.of_record[np.minimum(sizes, len(self.of_record) - 1)]

    @property
    def step(self) -> int:
        """By how much a record more in a class changes its `records` at most: beyond the last size it is one whole."""
        return int(np.diff(self.records(np.arange(len(self.of_record) + 1))).max())


class ValueCombinations:
    """Each combination of values once, how many records have it, and the classes that levels make of them."""

    def __init__(self, cells: pa.Table, columns: Sequence[ReleasedColumn], target: str | None) -> None:
        # The target last: its classes are then neighbours.
        self.columns = sorted(columns, key=lambda column: column.name == target)
        self.order = [self.columns.index(column) for column in columns]
        encoded = [
            cells[column.name].combine_chunks().dictionary_encode(null_encoding="encode")
            for column in self.columns
        ]
        self.values = [column.dictionary.to_pylist() for column in encoded]
        codes = [column.indices.to_numpy(zero_copy_only=False).astype(np.int64) for column in encoded]
        key = _key(codes, [max(1, len(values)) for values in self.values])
        _, first, self.counts = np.unique(key, return_index=True, return_counts=True)
        self.codes = [column[first] for column in codes]
        self.totals = [
            np.bincount(code, minlength=len(values)) for code, values in zip(codes, self.values, strict=True)
        ]
        self.records = cells.num_rows
        self._nodes: dict[tuple[int, int], IntArray] = {}

    def nodes(self, place: int, level: int) -> IntArray:
        """The node of each value of a column."""
        if (place, level) not in self._nodes:
            self._nodes[place, level] = self.columns[place].nodes(self.values[place], level)
        return self._nodes[place, level]

    def classes(self, levels: Levels) -> tuple[IntArray, IntArray, IntArray]:
        """A key of each class, its size, and the class of each combination."""
        nodes = [self.nodes(place, level) for place, level in enumerate(levels)]
        sizes = [int(node.max(initial=0)) + 1 for node in nodes]
        key = _key([node[code] for node, code in zip(nodes, self.codes, strict=True)], sizes)
        keys, classes = np.unique(key, return_inverse=True)
        counted = np.bincount(classes, weights=self.counts, minlength=len(keys)).astype(np.int64)
        return keys, counted, classes

    @property
    def searched(self) -> list[int]:
        return [place for place, column in enumerate(self.columns) if column.searched]


def _key(codes: Sequence[IntArray], sizes: Sequence[int]) -> IntArray:
    """A number for each combination of codes."""
    key, span = np.zeros(len(codes[0]), dtype=np.int64), 1
    for code, size in zip(codes, sizes, strict=True):
        if span * size > LARGEST_KEY:
            _, key = np.unique(key, return_inverse=True)
            span = int(key.max(initial=0)) + 1
        key, span = key * size + code, span * size
    return key


# ── scores ────────────────────────────────────────────────────────────────────────────────────────

Worth = Callable[[ValueCombinations, Sampling, Levels], int]


@dataclass(frozen=True)
class LevelScore:
    """What levels are worth, by how much a record changes it, and whether a further record can only raise it."""

    worth: Worth
    sensitivity: Callable[[Sampling], int]
    monotone: bool


def _granularity(space: ValueCombinations, sampling: Sampling, levels: Levels) -> int:
    """Σ over classes of records · (1 − mean share of the leaves that a value stands for); Iyengar's loss, turned round."""
    weights = [space.columns[i].precisions(space.values[i], levels[i]) for i in space.searched]
    return _weighed(space, sampling, levels, weights)


def _intensity(space: ValueCombinations, sampling: Sampling, levels: Levels) -> int:
    """Σ over classes of records · (1 − mean of level / height); Sweeney's precision."""
    weights = [
        np.full(len(space.values[i]), 1 - levels[i] / space.columns[i].levels[-1]) for i in space.searched
    ]
    return _weighed(space, sampling, levels, weights)


def _weighed(
    space: ValueCombinations, sampling: Sampling, levels: Levels, weights: Sequence[FloatArray]
) -> int:
    """Records that are shown, each with the mean of its columns' weights, in whole numbers."""
    _, sizes, classes = space.classes(levels)
    # The weights of a class are those of any of its combinations.
    some = np.zeros(len(sizes), dtype=np.int64)
    some[classes] = np.arange(len(classes))
    mean = np.mean([w[space.codes[i][some]] for i, w in zip(space.searched, weights, strict=True)], axis=0)
    return int(np.sum(sampling.records(sizes) * np.round(WEIGHT * mean).astype(np.int64)))


def _group_size(space: ValueCombinations, sampling: Sampling, levels: Levels) -> int:
    """How many classes are shown: the more there are, the smaller they are on average."""
    _, sizes, _ = space.classes(levels)
    return WEIGHT * int(np.sum(sampling.of_class[np.minimum(sizes, len(sampling.of_class) - 1)]))


def _classification(space: ValueCombinations, sampling: Sampling, levels: Levels) -> int:
    """Records that are shown and of the target's commonest value among those alike in all else."""
    keys, sizes, _ = space.classes(levels)
    targets = int(space.nodes(len(levels) - 1, levels[-1]).max(initial=0)) + 1
    _, alike = np.unique(keys // targets, return_inverse=True)
    commonest = np.zeros(len(keys), dtype=np.int64)
    np.maximum.at(commonest, alike, sampling.records(sizes))
    return WEIGHT * int(commonest.sum())


def _discernibility(space: ValueCombinations, sampling: Sampling, levels: Levels) -> int:
    """Σ over classes of records · (1 − n/|D|): who is shown among few, and not hidden among all, is told apart best.

    A record more in a class of n of N: there (n+1)/(N+1) ≥ n/N, so at most the step of records is gained and less than one record
    lost; all other classes gain Σ m²/(N(N+1)) < 1 together. So the step and one record bound the change.
    """
    _, sizes, _ = space.classes(levels)
    alone = 1 - sizes / max(1, space.records)
    return round(float(np.sum(sampling.records(sizes) * alone)) * WEIGHT)


def _entropy(space: ValueCombinations, sampling: Sampling, levels: Levels) -> int:
    """Σ over records that are shown of the mean chance to guess a value from what it became, n(v)/n(g(v)).

    A record more of value v in a group of N: Σ over the group of n(w)²/(N(N+1)) < 1 is lost in each column, and at most
    n(N−n)/(N(N+1)) < 1 gained by those with v, besides the step of records. So the step and one record bound the change.
    """
    _, sizes, classes = space.classes(levels)
    chances = []
    for i in space.searched:
        nodes = space.nodes(i, levels[i])
        group = np.bincount(nodes, weights=space.totals[i])
        chances.append((space.totals[i] / np.maximum(1, group[nodes]))[space.codes[i]])
    shown = sampling.of_record[np.minimum(sizes, len(sampling.of_record) - 1)][classes]
    return round(float(np.sum(space.counts * shown * np.mean(chances, axis=0))) * WEIGHT)


def _of_step(sampling: Sampling) -> int:
    return WEIGHT * sampling.step


def _of_step_and_record(sampling: Sampling) -> int:
    # A thousandth of a record for what floating point sums are off by.
    return WEIGHT * sampling.step + RECORD + RECORD // 1000


def _of_class(sampling: Sampling) -> int:
    return WEIGHT * int(np.diff(sampling.of_class).max())


SCORES: dict[str, LevelScore] = {
    "granularity": LevelScore(_granularity, _of_step, monotone=True),
    "intensity": LevelScore(_intensity, _of_step, monotone=True),
    "group-size": LevelScore(_group_size, _of_class, monotone=True),
    "classification": LevelScore(_classification, _of_step, monotone=True),
    "discernibility": LevelScore(_discernibility, _of_step_and_record, monotone=False),
    "entropy": LevelScore(_entropy, _of_step_and_record, monotone=False),
}
"""The scores of the paper. A record is in one class only, so that the first four change by that class's step."""


# ── choices ───────────────────────────────────────────────────────────────────────────────────────


@dataclass(frozen=True)
class LevelSearch:
    """A search of so many choices with an amount, shared evenly."""

    score: str
    steps: int
    epsilon: Fraction
    target: str | None = None

    def check(self, sampling: Sampling) -> None:
        """Refuse what would be nothing but noise, before anything is spent."""
        check_scale(2 * SCORES[self.score].sensitivity(sampling) * self.steps / self.epsilon)

    def levels(self, cells: pa.Table, columns: Sequence[ReleasedColumn], sampling: Sampling) -> Levels:
        """The levels of all columns: ε-private.

        Starting at the top, what lies just below some levels is looked at next; which levels these are is chosen among those that were looked at
        before, and the last choice is among all. Every choice is a report-noisy-max with ε/steps on a score that one record changes by
        at most its sensitivity, and what is looked at follows from earlier choices: together ε (adaptive composition).
        """
        score = SCORES[self.score]
        space = ValueCombinations(cells, columns, self.target)
        sensitivity = score.sensitivity(sampling)
        amount = self.epsilon / self.steps

        def chosen(candidates: Sequence[Levels], epsilon: Fraction) -> Levels:
            worths = [seen[levels] for levels in candidates]
            place = noisy_max(worths, sensitivity=sensitivity, epsilon=epsilon, monotone=score.monotone)
            return candidates[place]

        at = tuple(column.levels[-1] for column in space.columns)
        seen = {at: score.worth(space, sampling, at)}
        open_levels: list[Levels] = []
        left = self.epsilon
        while True:
            for below in _below(at, space.columns):
                if below not in seen:
                    seen[below] = score.worth(space, sampling, below)
                    open_levels.append(below)
            if left <= amount or not open_levels:
                break
            at = chosen(open_levels, amount)
            open_levels.remove(at)
            left -= amount
        best = chosen(list(seen), left)
        return tuple(best[place] for place in space.order)


def _below(levels: Levels, columns: Sequence[ReleasedColumn]) -> list[Levels]:
    """Levels of which a single column's is lower, by one."""
    return [
        (*levels[:i], level - 1, *levels[i + 1 :])
        for i, level in enumerate(levels)
        if level > columns[i].levels[0]
    ]
