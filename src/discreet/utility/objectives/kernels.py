"""A compiled loop that prices suppressed classes cell by cell."""

from __future__ import annotations

import numpy as np

from discreet.compiled import kernel
from discreet.types import BoolArray, FloatArray, Int32Array, Int32Matrix, IntArray


@kernel
def price_of_suppression(
    base: Int32Matrix,
    costs: FloatArray,
    caps: FloatArray,
    starts: IntArray,
    suppressed: FloatArray,
    suppressed_starts: IntArray,
    members: Int32Array,
    owner: Int32Array,
    records: IntArray,
    kept: BoolArray,
    certain: BoolArray,
) -> tuple[FloatArray, FloatArray]:
    """Per attribute, what suppressing the groups that are not ``kept`` adds, and how much of it is certain.

    ``costs[starts[j] + v]`` is the cost of a record with value ``v`` of attribute ``j`` at the node's level,
    ``caps`` the most that it costs at this or any finer level, ``suppressed`` its cost when suppressed;
    ``base[j, c]`` is the value of class ``c``. ``members`` are all classes, or one of each group that stands for the
    others where all cost the same; each has an ``owner`` among the groups and stands for so many ``records``.
    """
    m = base.shape[0]
    added = np.zeros(m)
    floor = np.zeros(m)
    for i in range(members.size):
        g = owner[i]
        if not kept[g]:
            c = members[i]
            for j in range(m):
                price = suppressed[suppressed_starts[j] + base[j, c]]
                added[j] += records[i] * (price - costs[starts[j] + base[j, c]])
                if not certain[g]:
                    floor[j] += records[i] * (price - caps[starts[j] + base[j, c]])
    return added, floor
