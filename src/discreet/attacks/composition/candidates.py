"""Which sensitive values a release leaves possible for each person whose quasi-identifiers are known."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np

from discreet.classes.pair import Pair
from discreet.table.meaning import KINDS, Meaning
from discreet.types import AnyIntArray, BoolArray

_COMPARED = 500_000
"""So many pairs of a released and an original class are compared at a time."""


@dataclass(frozen=True)
class Candidates:
    """``possible[i, j]``: what is released leaves ``values[j]`` possible for target ``i``.

    A target for whom nothing is possible fits no record: the release says nothing about that person.

    >>> from discreet.classes import EquivalenceClasses
    >>> people = EquivalenceClasses.from_columns({"age": [31, 34, 47]}, sensitive={"dx": ["flu", "cold", "flu"]})
    >>> released = EquivalenceClasses.from_columns(
    ...     {"age": ["[30, 39]", "[30, 39]"]}, sensitive={"dx": ["flu", "cold"]})
    >>> candidates = Candidates.of(Pair.of(people, released), "dx")
    >>> candidates.values, candidates.possible.sum(axis=1)
    (('cold', 'flu'), array([2, 2, 0]))
    """

    values: tuple[str, ...] = field(repr=False)
    possible: BoolArray = field(repr=False)

    @classmethod
    def of(cls, pair: Pair, sensitive: str) -> Candidates:
        """What the released classes that fit each class of the original leave possible.

        Records that show nothing of their quasi-identifiers count only for those whom no other record fits, as in linkage.
        """
        meaning = pair.sensitive[sensitive]
        values, stands_for = _stands_for(meaning)
        histogram = pair.released.histogram(sensitive)
        inside = np.zeros((len(pair.released), len(values)), dtype=bool)
        for at in range(len(values)):
            entries = stands_for[histogram.values, at]
            inside[histogram.class_of_entry[entries], at] = True
        possible = _union(pair, inside, np.flatnonzero(~pair.suppressed))
        alone = ~possible.any(axis=1)
        if alone.any() and pair.suppressed.any():
            possible[alone] = inside[pair.suppressed].any(axis=0)
        return cls(values, possible)

    @property
    def fits(self) -> BoolArray:
        """Who fits any record."""
        return np.asarray(self.possible.any(axis=1))

    def take(self, targets: AnyIntArray) -> Candidates:
        """The candidates of some targets, in their order."""
        return Candidates(self.values, self.possible[targets])

    def over(self, values: Sequence[str]) -> BoolArray:
        """The same over a longer list of values."""
        place = {value: at for at, value in enumerate(values)}
        wider = np.zeros((len(self.possible), len(values)), dtype=bool)
        wider[:, [place[value] for value in self.values]] = self.possible
        return wider


def _stands_for(meaning: Meaning) -> tuple[tuple[str, ...], BoolArray]:
    """All values, and which of them each released code may be: the original's, then those that only the release has."""
    labels = [meaning.original.label(code) for code in range(meaning.original.size)]
    released = np.arange(meaning.released.size)
    known = meaning.covers(released[:, None], np.arange(meaning.original.size)[None])
    foreign = np.flatnonzero(meaning.kinds == KINDS.index("foreign"))
    extra = np.zeros((len(released), len(foreign)), dtype=bool)
    extra[foreign, np.arange(len(foreign))] = True
    return (
        (*labels, *(meaning.released.label(int(code)) for code in foreign)),
        np.concatenate([known, extra], axis=1),
    )


def _union(pair: Pair, inside: BoolArray, classes: AnyIntArray) -> BoolArray:
    """For each class of the original the values that stand in any of the released ``classes`` that fit it."""
    possible = np.zeros((len(pair.original), inside.shape[1]), dtype=bool)
    if not len(classes):
        return possible
    step = max(_COMPARED // len(classes), 1)
    content = inside[classes].astype(np.float32)
    for start in range(0, len(possible), step):
        some = np.arange(start, min(start + step, len(possible)))
        fitting = pair.covers(classes[:, None], some[None])
        possible[some] = fitting.T.astype(np.float32) @ content > 0
    return possible
