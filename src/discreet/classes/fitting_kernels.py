"""Compiled loop that adds up what fits each of many classes."""

from __future__ import annotations

import numpy as np

from discreet.compiled import kernel
from discreet.types import BoolArray, FloatArray, IntArray, IntMatrix


@kernel
def sums_of_fitting(
    fits: BoolArray,
    offsets: IntArray,
    widths: IntArray,
    released: IntMatrix,
    original: IntMatrix,
    bounds: IntArray,
    amounts: FloatArray,
) -> FloatArray:
    """The amounts of the original classes that fit each released class, added up.

    Released code ``r`` of attribute ``j`` may stand for original code ``o`` if ``fits[offsets[j] + r * widths[j] + o]``.
    Original classes are ordered by their code of attribute 0, code ``o`` at ``bounds[o]:bounds[o + 1]``.
    """
    sums = np.zeros(released.shape[1])
    for place in range(released.shape[1]):
        total = 0.0
        start = offsets[0] + released[0, place] * widths[0]
        for lead in range(widths[0]):
            if not fits[start + lead]:
                continue
            for other in range(bounds[lead], bounds[lead + 1]):
                fitting = True
                for j in range(1, widths.size):
                    if not fits[offsets[j] + released[j, place] * widths[j] + original[j, other]]:
                        fitting = False
                        break
                if fitting:
                    total += amounts[other]
        sums[place] = total
    return sums
