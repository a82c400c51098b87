"""The intersection attack: what several releases about the same people leave possible together."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np

from discreet.attacks.composition.candidates import Candidates
from discreet.attacks.intervals import interval_of_people
from discreet.attacks.result import AttackResult
from discreet.classes.histogram import Unit
from discreet.classes.pair import Pair
from discreet.sentences import Sentence
from discreet.types import BoolArray, IntArray

INTERSECTION = "intersection"
SOURCE = "Ganta, Kasiviswanathan and Smith, Composition attacks and auxiliary information in data privacy, KDD 2008"


@dataclass(frozen=True)
class KnownPeople:
    """People whose quasi-identifiers are known: ``people[i]`` of them have ``truth[i]``, a number in ``values``."""

    values: tuple[str, ...] = field(repr=False)
    truth: IntArray = field(repr=False)
    people: IntArray = field(repr=False)


def intersection(releases: Sequence[Candidates], targets: KnownPeople) -> Overlap:
    """What is left for each target once all ``releases`` are laid over one another.

    With C(r, i) the values that release r leaves possible for target i, what is left is

        L(i) = intersection of C(r, i) over all releases r in which i fits a record.

    >>> first = Candidates(("cold", "flu", "gout"), np.array([[True, True, False], [False, True, True]]))
    >>> second = Candidates(("flu", "gout"), np.array([[True, True], [True, True]]))
    >>> overlap = intersection([first, second], KnownPeople(("flu", "gout"), np.array([0, 1]), np.array([1, 1])))
    >>> overlap.left.sum(axis=1), overlap.told
    (array([1, 2]), array([ True, False]))
    """
    values = tuple(
        dict.fromkeys([*(value for release in releases for value in release.values), *targets.values])
    )
    place = {value: at for at, value in enumerate(values)}
    truth = np.array([place[value] for value in targets.values], dtype=np.int64)[targets.truth]
    fits = np.array([release.fits for release in releases])
    possible = [release.over(values) | ~there[:, None] for release, there in zip(releases, fits, strict=True)]
    return Overlap(tuple(possible), fits, truth, targets.people)


@dataclass(frozen=True)
class Overlap:
    """What each release leaves possible for each target: everything where the target fits no record of it."""

    possible: tuple[BoolArray, ...] = field(repr=False)
    fits: BoolArray = field(repr=False)
    truth: IntArray = field(repr=False)
    people: IntArray = field(repr=False)

    @property
    def left(self) -> BoolArray:
        """The values that all releases leave possible."""
        return np.asarray(np.logical_and.reduce(self.possible))

    @property
    def tried(self) -> BoolArray:
        """The targets who fit a record of two releases or more: for others there is nothing to be laid over."""
        return np.asarray(self.fits.sum(axis=0) >= 2)

    @property
    def told(self) -> BoolArray:
        """Of whom one value is left, which is the true one."""
        return self._only_truth(self.left)

    @property
    def told_by_one(self) -> BoolArray:
        """Of whom a single release leaves no other value than the true one."""
        return np.asarray(np.logical_or.reduce([self._only_truth(shown) for shown in self.possible]))

    def narrowed(self, least: int) -> BoolArray:
        """Of whom the last release leaves fewer than ``least`` values, and fewer than those before it had left.

        Whom earlier releases alone gave away is not laid to the last one; for whom nothing is left, a value has changed, and
        no value is told.
        """
        before = np.logical_and.reduce(self.possible[:-1]).sum(axis=1)
        left = self.left.sum(axis=1)
        return np.asarray(self.tried & self.fits[-1] & (left > 0) & (left < least) & (left < before))

    def changed(self) -> BoolArray:
        """For whom the last release leaves other values possible than one of those before it.

        Where nobody is, and everybody has m values, laying releases over one another tells nothing: m-invariance, but for its
        classes without a value twice. Xiao and Tao, SIGMOD 2007.
        """
        differs = np.array([(shown != self.possible[-1]).any(axis=1) for shown in self.possible[:-1]])
        return np.asarray((differs & self.fits[:-1]).any(axis=0) & self.fits[-1])

    def _only_truth(self, shown: BoolArray) -> BoolArray:
        return np.asarray((shown.sum(axis=1) == 1) & shown[np.arange(len(shown)), self.truth])

    def by_one_release(self) -> float:
        """How often the same people's values are guessed by one who has a single release, the most telling for each.

        The guess is random among the m(i) values that this release leaves possible, so that it is right for
        Σ people(i) / m(i) of those whom all releases together give away.
        """
        told = self.told & self.tried
        fewest = np.min([shown.sum(axis=1) for shown in self.possible], axis=0)
        tries = float(self.people[self.tried].sum())
        return float((self.people[told] / fewest[told]).sum() / tries) if tries else 0.0

    def result(self, sensitive: str, *, known: Sequence[str] = (), unit: Unit = "records") -> AttackResult:
        """The attack in numbers: whom all releases together give away, among those who are in two or more."""
        tried = self.tried
        people = self.people[tried].astype(np.float64)
        told, by_one = self.told[tried], self.told_by_one[tried]
        left = self.left.sum(axis=1)[tried]
        tries, successes = float(people.sum()), float(people @ told)
        notes: tuple[str, ...] = ()
        if not tries:
            notes = ("nobody fits a record of two releases",)

        def share(which: BoolArray) -> float:
            return float(people @ which / tries) if tries else 0.0

        return AttackResult(
            attack=INTERSECTION,
            criterion="inference",
            tries=tries,
            successes=successes,
            baseline=self.by_one_release(),
            meaning=Sentence(
                "Of {tries:,} people who are in several releases, {successes:,} have one possible value of "
                "{sensitive} left when all releases are laid over one another; {alone:,} of them already in one release.",
                tries=int(tries),
                successes=int(successes),
                alone=int(people @ (told & by_one)),
                sensitive=sensitive,
            ),
            known=tuple(known),
            target=sensitive,
            unit=unit,
            source=SOURCE,
            figures=(
                ("told-by-one-release", share(by_one)),
                ("told-only-together", share(told & ~by_one)),
                ("nothing-left", share(left == 0)),
                ("least-values-left", float(left[left > 0].min(initial=len(self.left.T))) if tries else 0.0),
                ("mean-values-left", float(people @ left / tries) if tries else 0.0),
            ),
            notes=notes,
            interval=interval_of_people(told.astype(np.float64), people),
        )


def intersect_pairs(pairs: Sequence[Pair], sensitive: str) -> AttackResult:
    """Lay published files over one another: each is paired with the same table of targets, the newest last.

    Successes: targets of whom one value is left, the true one. Tries: targets who fit a record of at least two releases.
    Baseline: the same people's values are guessed among what the most telling single release leaves possible.
    Ganta, Kasiviswanathan and Smith, KDD 2008.

    >>> from discreet.classes import EquivalenceClasses
    >>> people = EquivalenceClasses.from_columns(
    ...     {"age": [31, 34, 38]}, sensitive={"dx": ["flu", "cold", "gout"]})
    >>> first = EquivalenceClasses.from_columns({"age": ["[30, 35]"] * 2}, sensitive={"dx": ["flu", "cold"]})
    >>> second = EquivalenceClasses.from_columns({"age": ["[33, 39]"] * 2}, sensitive={"dx": ["cold", "gout"]})
    >>> result = intersect_pairs([Pair.of(people, first), Pair.of(people, second)], "dx")
    >>> result.tries, result.successes, result.baseline
    (1.0, 1.0, 0.5)
    """
    original = pairs[-1].original
    histogram = original.histogram(sensitive)
    rows = histogram.class_of_entry
    targets = KnownPeople(
        tuple(histogram.domain.labels()),
        histogram.values.astype(np.int64),
        histogram.sizes(pairs[-1].unit),
    )
    releases = [Candidates.of(pair, sensitive).take(rows) for pair in pairs]
    return intersection(releases, targets).result(sensitive, known=original.names, unit=pairs[-1].unit)
