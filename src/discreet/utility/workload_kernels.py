"""A compiled loop that answers queries class by class."""

from __future__ import annotations

from discreet.compiled import kernel
from discreet.types import FloatArray, Int32Matrix, IntArray


@kernel
def weigh(
    codes: Int32Matrix,
    inside: FloatArray,
    starts: IntArray,
    counts: FloatArray,
    sums: FloatArray,
    known: FloatArray,
) -> tuple[float, float, float]:
    """Three sums over classes, each class weighing as much as its values lie inside what a query asks for.

    ``inside[starts[j] + v]`` is the share of value ``v`` of attribute ``j`` that is asked for, ``codes[c, j]`` the
    value of class ``c``.
    """
    count = 0.0
    total = 0.0
    people = 0.0
    for c in range(counts.size):
        share = 1.0
        for j in range(starts.size):
            share *= inside[starts[j] + codes[c, j]]
            if share == 0.0:
                break
        if share != 0.0:
            count += share * counts[c]
            total += share * sums[c]
            people += share * known[c]
    return count, total, people
