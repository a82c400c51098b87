"""A compiled loop over packed words."""

from __future__ import annotations

from discreet.compiled import kernel
from discreet.types import IntArray


@kernel
def run_lengths(words: IntArray, counts: IntArray) -> int:
    """Each distinct word of an ordered array once, in place, and how often it occurs; returns how many there are."""
    length = 0
    for i in range(words.size):
        if length and words[i] == words[length - 1]:
            counts[length - 1] += 1
        else:
            words[length] = words[i]
            counts[length] = 1
            length += 1
    return length
