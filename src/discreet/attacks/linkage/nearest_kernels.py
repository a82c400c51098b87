"""Compiled search for the nearest released combination, by branch and bound on a tree."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from discreet.attacks.linkage.fitting_kernels import Spans, Tree, covers
from discreet.compiled import kernel, part
from discreet.types import FloatArray, FloatMatrix, IntArray, IntMatrix

TIE = 1e-9
"""Distances that differ by less are equal."""


class Scale(NamedTuple):
    """Released codes on the scale of their attribute: bounds (NaN: no number), and 1 / values they may stand for."""

    low: FloatArray
    high: FloatArray
    single: FloatArray


@part
def apart(spans: Spans, scale: Scale, code: int, rank: int, number: float) -> float:
    """The expected distance between a person's value and one drawn from what a released code may stand for."""
    low = scale.low[code]
    if not (np.isnan(number) or np.isnan(low)):
        width = scale.high[code] - low
        if width > 1e-12 and low < number < low + width:
            distance: float = ((number - low) ** 2 + (low + width - number) ** 2) / (2 * width)
        else:
            distance = abs(number - low - width / 2)
        return min(distance, 1.0)
    return 1.0 - scale.single[code] if covers(spans, code, rank) else 1.0


@kernel
def closest_values(spans: Spans, scale: Scale, codes: IntArray, numbers: FloatArray) -> FloatArray:
    """For each rank of an attribute the distance to the nearest of its released codes."""
    least = np.ones(numbers.size)
    for rank in range(numbers.size):
        for code in codes:
            least[rank] = min(least[rank], apart(spans, scale, code, rank, numbers[rank]))
    return least


@kernel
def nearest(
    tree: Tree,
    spans: Spans,
    scale: Scale,
    ranks: IntMatrix,
    numbers: FloatMatrix,
    least: FloatMatrix,
    sizes: IntArray,
    best: FloatArray,
    ties: IntArray,
) -> None:
    """The smallest distance of each target to the tree's leaves, and the people behind all leaves so near.

    ``least[t, l]`` bounds from below what level ``l`` adds: a branch is left once it cannot reach the best.
    """
    levels = ranks.shape[1]
    stack = np.empty(tree.code.size + 1, dtype=np.int64)
    depth = np.empty(tree.code.size + 1, dtype=np.int64)
    sums = np.empty(tree.code.size + 1, dtype=np.float64)
    rest = np.zeros(levels + 1)
    for t in range(ranks.shape[0]):
        for level in range(levels - 1, -1, -1):
            rest[level] = rest[level + 1] + least[t, level]
        # A first guess by going to the nearest child each time bounds the search from above.
        bound = 0.0
        first, last = tree.level[0], tree.level[1]
        for level in range(levels):
            step = np.inf
            chosen = first
            for child in range(first, last):
                d = apart(spans, scale, tree.code[child], ranks[t, level], numbers[t, level])
                if d < step:
                    step = d
                    chosen = child
            bound += step
            if level + 1 < levels:
                first, last = tree.first[chosen], tree.last[chosen]
        total = 0
        stack[0] = -1
        depth[0] = -1
        sums[0] = 0.0
        height = 1
        while height:
            height -= 1
            node, level, so_far = stack[height], depth[height] + 1, sums[height]
            if so_far + rest[level] > bound + TIE:
                continue
            if node < 0:
                first, last = tree.level[0], tree.level[1]
            else:
                first, last = tree.first[node], tree.last[node]
            for child in range(first, last):
                d = so_far + apart(spans, scale, tree.code[child], ranks[t, level], numbers[t, level])
                if d + rest[level + 1] > bound + TIE:
                    continue
                if level + 1 < levels:
                    stack[height] = child
                    depth[height] = level
                    sums[height] = d
                    height += 1
                else:
                    if d < bound - TIE:
                        bound = d
                        total = 0
                    total += sizes[tree.entry[child - tree.level[level]]]
        best[t] = bound
        ties[t] = total
