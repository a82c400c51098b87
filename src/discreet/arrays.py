"""What arrays of numbers are asked for, quicker than numpy does it."""

from __future__ import annotations

import numpy as np

from discreet.types import AnyIntArray, IntArray


def distinct(numbers: AnyIntArray) -> IntArray:
    """Whole numbers that ascend, each once.

    ``numpy.unique`` hashes since 2.3: of a million different numbers it takes 12 to 20 times as long as to sort them.

    >>> distinct(np.array([7, 3, 7]))
    array([3, 7])
    """
    ordered = np.sort(numbers, axis=None).astype(np.int64, copy=False)
    return ordered[np.append(True, ordered[1:] != ordered[:-1])] if len(ordered) else ordered
