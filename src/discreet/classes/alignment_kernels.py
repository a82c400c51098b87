"""Compiled loop that matches the rows of a release, in their order, with those of an original."""

from __future__ import annotations

from discreet.compiled import kernel
from discreet.types import IntArray, IntMatrix


@kernel
def first_fits(
    released: IntMatrix,
    original: IntMatrix,
    first: IntArray,
    indptr: IntArray,
    starts: IntArray,
    stops: IntArray,
    released_mark: IntArray,
    original_mark: IntArray,
    matches: IntArray,
) -> int:
    """Fill ``matches`` with the first original row after the last one that each released row may be.

    Released code ``c`` of attribute ``j`` may stand for the ranks ``starts[i]:stops[i]`` with ``i`` from
    ``indptr[first[j] + c]`` to ``indptr[first[j] + c + 1]``; marks must agree. Returns how many rows have a match.
    """
    at = 0
    for row in range(released_mark.size):
        while True:
            if at >= original_mark.size:
                return row
            fits = released_mark[row] == original_mark[at]
            for j in range(released.shape[0]):
                if not fits:
                    break
                code, rank = released[j, row], original[j, at]
                fits = False
                for i in range(indptr[first[j] + code], indptr[first[j] + code + 1]):
                    if starts[i] <= rank < stops[i]:
                        fits = True
                        break
            at += 1
            if fits:
                matches[row] = at - 1
                break
    return int(released_mark.size)
