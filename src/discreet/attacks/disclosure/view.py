"""What an intruder reads in the released classes about a sensitive attribute, and what is true of the people."""

from __future__ import annotations

import time
from dataclasses import dataclass, field
from functools import cached_property
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from discreet.attacks.intervals import interval_of_classes
from discreet.attacks.result import AttackResult, Exposed
from discreet.classes import EquivalenceClasses, Histogram, Unit
from discreet.classes.histogram import Scalar
from discreet.classes.packing import Packing, expanded, run_starts
from discreet.classes.pair import Pair
from discreet.privacy.base import refuse_empty
from discreet.table.domain import Domain
from discreet.table.values import Suppressed, parse
from discreet.types import AnyIntArray, BoolArray, FloatArray, IntArray

EXPOSED = 10
"""How many of the most exposed groups a result names."""

AnyRelease = Pair | EquivalenceClasses
"""A release with its original, or a release alone."""


class ClassWords(Protocol):
    """Words about one class, by its number."""

    def __call__(self, place: int, /) -> str: ...


def best_values(entries: Histogram, weights: NDArray[Scalar]) -> tuple[NDArray[Scalar], IntArray]:
    """The largest weight of each class and the (first) value that has it; one weight per entry of the histogram."""
    best = entries.per_class(np.maximum, weights)
    at = np.where(weights == best[entries.class_of_entry], np.arange(len(weights)), len(weights))
    return best, entries.values[entries.per_class(np.minimum, at)].astype(np.int64)


@dataclass(frozen=True)
class TrueValues:
    """The sensitive values that the people of the released classes really have.

    ``counts[i]`` people of class ``owner[i]`` have value ``values[i]`` of ``domain``. Released values are true where
    every record kept its own, and are taken for true without the original (or where it is not known who became
    what). Else the values of an original class are shared among the released classes of its records.
    """

    domain: Domain
    owner: IntArray
    values: IntArray
    counts: FloatArray

    def right(self, hits: BoolArray, classes: int) -> FloatArray:
        """People per class among the entries that were hit."""
        people = np.bincount(self.owner[hits], weights=self.counts[hits], minlength=classes)
        return people.astype(np.float64)


@dataclass(frozen=True)
class SensitiveView:
    """One sensitive attribute of a release, class by class, counted in people.

    >>> released = EquivalenceClasses.from_columns(
    ...     {"age": ["30-39", "30-39", "40-49", "*"]}, sensitive={"dx": ["flu", "flu", "flu", "acne"]})
    >>> view = SensitiveView.of(released, "dx")
    >>> view.shown, view.people, view.shares, view.prior
    (array([False,  True,  True]), array([1, 2, 1]), array([1., 1., 1.]), array([0.25, 0.75]))
    """

    released: EquivalenceClasses
    sensitive: str
    pair: Pair | None
    unit: Unit
    began: float = field(default_factory=time.perf_counter, repr=False, compare=False)

    @classmethod
    def of(cls, release: AnyRelease, sensitive: str, *, unit: Unit | None = None) -> SensitiveView:
        pair = release if isinstance(release, Pair) else None
        released = release.released if isinstance(release, Pair) else release
        refuse_empty(released)
        released.sensitive_domain(sensitive)
        return cls(released, sensitive, pair, unit or ("persons" if released.event_level else "records"))

    @cached_property
    def histogram(self) -> Histogram:
        return self.released.histogram(self.sensitive)

    @property
    def domain(self) -> Domain:
        return self.histogram.domain

    @cached_property
    def shown(self) -> BoolArray:
        """Which classes show anything of their quasi-identifiers."""
        if self.pair is not None:
            return ~self.pair.suppressed
        hidden = np.ones(len(self.released), dtype=bool)
        for domain, codes in zip(self.released.attributes, self.released.codes, strict=True):
            stars = [isinstance(parse(label), Suppressed) for label in domain.labels()]
            hidden &= np.array(stars, dtype=bool)[codes]
        return ~hidden

    @cached_property
    def people(self) -> IntArray:
        """People per class."""
        return self.released.sizes(self.unit)

    @cached_property
    def tries(self) -> int:
        """People in shown classes; at event level one who is in several classes is tried in each."""
        return int(self.people[self.shown].sum())

    @cached_property
    def shares(self) -> FloatArray:
        """Per entry of the histogram, the share of the class's people who have the value."""
        return np.asarray(self.histogram.sizes(self.unit) / self.people[self.histogram.class_of_entry])

    @cached_property
    def prior(self) -> FloatArray:
        """Per value, the share of all people of the release who have it: what everybody may know."""
        _, values, counts = self.grouped(np.arange(self.domain.size), whole=True)
        return np.bincount(values, weights=counts, minlength=self.domain.size) / self.total

    @property
    def total(self) -> int:
        return self.released.total if self.unit == "records" else self.released.total_persons

    def grouped(self, group: AnyIntArray, *, whole: bool = False) -> tuple[IntArray, IntArray, IntArray]:
        """Class, group and people for every group of values that occurs in a class (or in the whole release).

        ``group[v]`` is the group of value ``v``, -1 for none. A person with several values of a group counts once.
        """
        released = self.released
        label = group[released.sensitive_codes[self.sensitive]].astype(np.int64)
        inside = label >= 0
        label = label[inside]
        owner = np.zeros(len(label), dtype=np.int64) if whole else released.class_of_cell[inside]
        bound = int(label.max(initial=0)) + 1
        key = owner * bound + label
        if self.unit == "persons" and released.person_codes is not None:
            packing = Packing.of([len(released) * bound, int(released.person_codes.max()) + 1])
            words = packing.pack([key, released.person_codes[inside]])
            order = np.lexsort(tuple(reversed(words)))
            words = [word[order] for word in words]
            key, counts = np.unique(key[order][run_starts(words)], return_counts=True)
        else:
            key, places = np.unique(key, return_inverse=True)
            counts = np.bincount(places, weights=released.counts[inside], minlength=len(key))
        return key // bound, key % bound, np.asarray(counts, dtype=np.int64)

    @cached_property
    def truth(self) -> TrueValues:
        """What the people of each class really have."""
        pair, histogram = self.pair, self.histogram
        linked = pair is not None and self.sensitive in pair.sensitive and self.sensitive not in pair.kept
        if pair is None or pair.links is None or not linked or self.unit == "persons":
            return TrueValues(
                histogram.domain,
                histogram.class_of_entry,
                histogram.values.astype(np.int64),
                histogram.sizes(self.unit).astype(np.float64),
            )
        links, before = pair.links, pair.original.histogram(self.sensitive)
        kept = links.released >= 0
        source = links.original[kept]
        owner, entry = expanded(before.indptr, source)
        share = links.records[kept] / pair.original.records[source]
        return TrueValues(
            before.domain,
            links.released[kept][owner],
            before.values[entry].astype(np.int64),
            share[owner] * before.records[entry],
        )

    def stands_for(self, released: AnyIntArray, true: AnyIntArray) -> BoolArray:
        """Whether released values say the true values beside them."""
        if self.pair is not None and self.truth.domain is not self.domain:
            return self.pair.meaning(self.sensitive).covers(released, true)
        return np.asarray(released == true)

    def result(
        self,
        attack: str,
        *,
        fallen: BoolArray,
        right: FloatArray,
        before: FloatArray,
        score: FloatArray,
        says: ClassWords,
        meaning: str,
        scenario: str,
        source: str,
        figures: tuple[tuple[str, float], ...] = (),
        notes: tuple[str, ...] = (),
    ) -> AttackResult:
        """Sum up: per class whether it fell, the people told rightly, and the chance of the same guess before."""
        fallen = fallen & self.shown
        at = np.flatnonzero(fallen)
        people = self.people[at]
        order = np.lexsort((at, -people, -score[at]))[:EXPOSED]
        weighed = float((people * before[at]).sum() / self.tries) if self.tries else 0.0
        several = self.unit == "persons" and self.released.persons.sum() > self.released.total_persons
        return AttackResult(
            attack,
            "inference",
            tries=self.tries,
            successes=float(right[at].sum()),
            baseline=weighed,
            meaning=meaning,
            scenario=scenario,
            known=self.released.names,
            target=self.sensitive,
            unit=self.unit,
            source=source,
            exposed=tuple(
                Exposed(self.released.labels(int(c)), float(score[c]), int(self.people[c]), says(int(c)))
                for c in at[order]
            ),
            fallen=tuple(at.tolist()),
            figures=(
                ("classes-fallen", float(len(at))),
                ("people-in-fallen-classes", float(people.sum())),
                *figures,
            ),
            seconds=time.perf_counter() - self.began,
            notes=notes + (("who is in several classes is tried in each",) if several else ()),
            interval=interval_of_classes(np.where(fallen, right, 0.0)[self.shown], self.people[self.shown]),
            certain=self.truth.domain is self.domain,
        )
