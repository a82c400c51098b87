"""The released records nearest to one person after another, exactly, by some of what is known of them."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field

import numpy as np

from discreet.attacks.linkage.nearest import value_distances
from discreet.attacks.linkage.view import View
from discreet.types import FloatArray, IntArray

KEPT = 4_000_000
"""So many distances between values are kept for people with the same value."""
TIE = 2e-9
"""Distances that differ by less are one."""


@dataclass(frozen=True)
class Neighbours:
    """Gower's distance between people and all released combinations, attribute by attribute.

    >>> from discreet.classes.equivalence import EquivalenceClasses
    >>> from discreet.classes.pair import Pair
    >>> people = EquivalenceClasses.from_columns({"age": [31, 91], "job": ["a", "b"]})
    >>> released = EquivalenceClasses.from_columns({"age": [30, 33, 90], "job": ["b", "a", "a"]})
    >>> near = Neighbours(View.of(Pair.of(people, released)))
    >>> near.nearest(0, [0]).tolist(), near.nearest(0, [1]).tolist(), near.nearest(0, [0, 1]).tolist()
    ([0], [1, 2], [1])
    """

    view: View
    _kept: dict[tuple[int, int], FloatArray] = field(default_factory=dict, repr=False)

    def nearest(self, target: int, attributes: Iterable[int]) -> IntArray:
        """The released combinations nearest to a target by some attributes, all that are equally near."""
        total = np.zeros(len(self.view.released))
        for j in attributes:
            total += self._by_value(j, int(self.view.targets.codes[j][target]))[self.view.released.codes[j]]
        return np.flatnonzero(total <= total.min(initial=np.inf) + TIE)

    def _by_value(self, j: int, own: int) -> FloatArray:
        """The distance of each released value of an attribute."""
        known = self._kept.get((j, own))
        if known is not None:
            return known
        size = self.view.meanings[j].released.size
        made = value_distances(self.view, j, np.arange(size), np.full(size, own))
        if len(self._kept) * size < KEPT:
            self._kept[j, own] = made
        return made
