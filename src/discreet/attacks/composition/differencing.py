"""Differencing: what the values of those must be who disappeared or appeared between two releases."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Literal

import numpy as np
from scipy import sparse
from scipy.sparse.csgraph import connected_components

from discreet.attacks.composition.comparable import NOT_TRUTHFUL, comparable_classes, made_up, value_counts
from discreet.attacks.intervals import interval_of_classes
from discreet.attacks.result import AttackResult
from discreet.classes.pair import Pair
from discreet.errors import InvalidParameter
from discreet.sentences import Sentence
from discreet.types import FloatArray, IntArray

Change = Literal["deletion", "insertion"]
CHANGES: tuple[Change, ...] = ("deletion", "insertion")
SOURCE = (
    "Xiao and Tao, M-invariance: towards privacy preserving re-publication of dynamic datasets, SIGMOD 2007"
)

NOBODY_CHANGED = "the releases do not tell that anybody did"

_SAYS: dict[Change, str] = {
    "deletion": "At least {tries:,.0f} people disappeared after the earlier release. Whoever knows them guesses {sensitive} rightly "
    "for about {successes:,.1f}, by what the releases differ in; for {told:,.0f} there is but one value.",
    "insertion": "At least {tries:,.0f} people appeared after the earlier release. Whoever knows them guesses {sensitive} rightly for "
    "about {successes:,.1f}, by what the releases differ in; for {told:,.0f} there is but one value.",
}


@dataclass(frozen=True)
class Turnover:
    """``before[r, s]`` records of region r with value s in the earlier release, ``after[r, s]`` in the later one.

    A region is a set of classes of both releases that nobody can have left for another one: all that hang together by
    being comparable.
    """

    before: FloatArray = field(repr=False)
    after: FloatArray = field(repr=False)

    @classmethod
    def of(cls, earlier: Pair, later: Pair, sensitive: str) -> Turnover:
        """Two releases, each paired with the people of the later one."""
        if made_up(earlier) or not later.truthful:
            raise InvalidParameter(NOT_TRUTHFUL)
        _, before, after = value_counts(earlier, later, sensitive)
        comparable = comparable_classes(earlier, later)
        # Both releases' classes are the points of one graph.
        edges = sparse.bmat([[None, comparable], [comparable.T, None]], format="csr")
        count, region = connected_components(edges, directed=False)
        return cls(
            _by_region(before, region[: len(before)], count), _by_region(after, region[len(before) :], count)
        )

    def fewest(self, change: Change) -> FloatArray:
        """How many people with each value must have disappeared from, or appeared in each region.

        Those who stayed kept value and region, so that of n₁(s) records before and n₂(s) after at least max(0, n₁(s) - n₂(s))
        disappeared and max(0, n₂(s) - n₁(s)) appeared.
        """
        more, less = (self.before, self.after) if change == "deletion" else (self.after, self.before)
        return np.asarray(np.maximum(more - less, 0))

    def result(self, change: Change, pair: Pair, sensitive: str) -> AttackResult:
        """The attack in numbers: values of those who must have disappeared or appeared.

        The value is guessed as often as records with it are too many. Baseline: it is guessed as often as the one release in
        which these people are has it in the region.
        """
        fewest = self.fewest(change)
        shown = self.before if change == "deletion" else self.after
        tries = fewest.sum(axis=1)
        there = tries > 0
        fewest, shown, tries = fewest[there], shown[there], tries[there]
        right = (fewest**2).sum(axis=1) / tries
        blind = (fewest * shown).sum(axis=1) / shown.sum(axis=1)
        people = float(tries.sum())
        told = float(tries[(fewest > 0).sum(axis=1) == 1].sum())
        return AttackResult(
            attack=change,
            criterion="inference",
            tries=people,
            successes=float(right.sum()),
            baseline=float(blind.sum() / people) if people else 0.0,
            meaning=Sentence(
                _SAYS[change], tries=people, successes=float(right.sum()), told=told, sensitive=sensitive
            ),
            known=pair.names,
            target=sensitive,
            unit=pair.unit,
            source=SOURCE,
            figures=(("regions", float(len(there))), ("one-value-left", told / people if people else 0.0)),
            notes=() if people else (NOBODY_CHANGED,),
            interval=interval_of_classes(right, tries),
        )


def difference(earlier: Pair, later: Pair, sensitive: str) -> tuple[AttackResult, ...]:
    """What the values of those must be who disappeared (deletion) or appeared (insertion) between two releases.

    Both are paired with the table that the later one was made from. Xiao and Tao, SIGMOD 2007.

    >>> from discreet.classes import EquivalenceClasses
    >>> people = EquivalenceClasses.from_columns({"age": [31, 34]}, sensitive={"dx": ["flu", "cold"]})
    >>> first = EquivalenceClasses.from_columns({"age": ["[30, 39]"] * 3}, sensitive={"dx": ["flu", "cold", "gout"]})
    >>> second = EquivalenceClasses.from_columns({"age": ["[30, 39]"] * 2}, sensitive={"dx": ["flu", "cold"]})
    >>> deletion, insertion = difference(Pair.of(people, first), Pair.of(people, second), "dx")
    >>> deletion.tries, deletion.successes, round(deletion.baseline, 3), insertion.tries
    (1.0, 1.0, 0.333, 0.0)
    """
    turnover = Turnover.of(earlier, later, sensitive)
    return tuple(turnover.result(change, later, sensitive) for change in CHANGES)


def _by_region(counts: FloatArray, region: IntArray, regions: int) -> FloatArray:
    """The counts of classes summed by region."""
    summed = np.zeros((regions, counts.shape[1]))
    np.add.at(summed, region, counts)
    return summed
