"""(c, k)-safety: what somebody learns at most who knows k implications between the values of people."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from typing import ClassVar

import numpy as np

from discreet.classes import EquivalenceClasses, Histogram
from discreet.classes.kinds import ClassKinds
from discreet.measure import Direction
from discreet.privacy.base import PrivacyModel, need_column, need_number, need_whole, record_note
from discreet.sentences import Sentence
from discreet.types import BoolArray, FloatArray, IntArray

MOST_IMPLICATIONS = 12
"""Of more implications there are too many ways to spread them over people."""


def denials(histogram: Histogram, most: int) -> FloatArray:
    """For each class and each m up to ``most`` the least chance that m statements "this person has that value" are all wrong.

    Whoever has which value of a class is equally likely. The least chance is reached by denying the k_i most frequent values
    of person i, for some k_1 ≥ k_2 ≥ … that sum to m:

    min over k_1 ≥ k_2 ≥ … of Π_i (n - i - (records of the k_i most frequent values)) / (n - i),  i = 0, 1, …

    Martin, Kifer, Machanavajjhala, Gehrke and Halpern 2007 (MINIMIZE1).

    Of two people with flu and one with acne: it is wrong with a chance of 1/3 that one has flu, and sure that one of two has it.

    >>> classes = EquivalenceClasses.from_columns({"a": [0] * 3}, sensitive={"dx": ["flu", "flu", "acne"]})
    >>> denials(classes.histogram("dx"), 2).round(3).tolist()
    [[1.0, 0.333, 0.0]]
    """
    counts = histogram.class_records.astype(np.float64)
    order = np.lexsort((-histogram.records, histogram.class_of_entry))
    place = np.arange(len(order)) - np.repeat(histogram.indptr[:-1], histogram.distinct)
    frequent = np.zeros((len(counts), most + 1))
    there = place < most
    frequent[histogram.class_of_entry[there], place[there] + 1] = histogram.records[order][there]
    denied = np.cumsum(frequent, axis=1)
    least = np.ones((len(counts), most + 1))
    for m in range(1, most + 1):
        chances = np.full(len(counts), np.inf)
        for parts in partitions(m):
            left = counts[:, None] - np.arange(len(parts))
            with np.errstate(divide="ignore", invalid="ignore"):
                factors = np.maximum(left - denied[:, list(parts)], 0.0) / left
            # Of fewer people than parts nothing is said this way.
            chances = np.where(counts >= len(parts), np.minimum(chances, np.prod(factors, axis=1)), chances)
        least[:, m] = np.minimum(chances, least[:, m - 1])
    return least


def disclosures(histogram: Histogram, k: int, times: IntArray | None = None) -> FloatArray:
    """For each class the chance that somebody gives at most to a value of a person in it who knows k implications.

    max over atoms A and k implications of P(A | they hold), where an implication says: if these people have these values,
    one of those people has one of those values. The worst are k that end in the statement A itself, so the chance is
    1 / (1 + r), r the least of P(A and all k premises are wrong) / P(A), over how the k premises are spread over classes:

    r = min over b and m of [denials(b, m_b + 1) / P(A) · Π over other classes of denials(b', m_b')],  Σ m = k,

    with A the most frequent value of b. ``times``: so many classes are like each of these.
    Martin, Kifer, Machanavajjhala, Gehrke and Halpern, "Worst-case background knowledge for privacy-preserving data
    publishing", ICDE 2007 (MINIMIZE2).

    >>> ill = ["flu", "flu", "acne", "cold"] * 2
    >>> classes = EquivalenceClasses.from_columns({"a": [0] * 4 + [1] * 4}, sensitive={"dx": ill})
    >>> [disclosures(classes.histogram("dx"), k).round(3).tolist() for k in (0, 1, 2)]
    [[0.5, 0.5], [0.75, 0.75], [1.0, 1.0]]
    """
    least = denials(histogram, k + 1)
    likeliest = histogram.per_class(np.maximum, histogram.shares)
    as_target = least[:, 1:] / likeliest[:, None]
    others = _Spread.of(least[:, : k + 1], times)
    ratios = (as_target * others.best[::-1]).min(axis=1)
    for b, best in others.without():
        ratios[b] = float((as_target[b] * best[::-1]).min())
    return np.asarray(1.0 / (1.0 + ratios))


@dataclass(frozen=True)
class _Spread:
    """The classes that may be worth a premise, each as often as it occurs, and the least chances of denials over all of them."""

    members: IntArray
    before: FloatArray
    """``before[i]``: of 0 to k premises in the first i members."""
    after: FloatArray

    @classmethod
    def of(cls, least: FloatArray, times: IntArray | None) -> _Spread:
        k = least.shape[1] - 1
        # No more than k classes have premises, and of those with m of them the least chances count; one is the target's.
        chosen = np.zeros(len(least), dtype=bool)
        for m in range(1, k + 1):
            some = min(k + 1, len(least))
            chosen[np.argpartition(least[:, m], some - 1)[:some]] = True
        at = np.flatnonzero(chosen)
        often = np.ones(len(at), dtype=np.int64) if times is None else np.minimum(times[at], k + 1)
        members = np.repeat(at, often)
        before = np.empty((len(members) + 1, k + 1))
        after = np.empty_like(before)
        before[0] = after[-1] = [1.0, *[np.inf] * k]
        for i, b in enumerate(members):
            before[i + 1] = _together(before[i], least[b])
        for i in range(len(members) - 1, -1, -1):
            after[i] = _together(after[i + 1], least[members[i]])
        return cls(members, before, after)

    @property
    def best(self) -> FloatArray:
        """The least chances of 0 to k premises; none in a class counts as one that is never wrong."""
        return np.minimum.accumulate(self.before[-1])

    def without(self) -> Iterator[tuple[int, FloatArray]]:
        """The same without each member in turn, once for each class."""
        for i, b in enumerate(self.members.tolist()):
            if i == 0 or self.members[i - 1] != b:
                yield b, np.minimum.accumulate(_together(self.before[i], self.after[i + 1]))


def _together(some: FloatArray, further: FloatArray) -> FloatArray:
    """The least products of two rows of chances, by how many statements both have together.

    >>> _together(np.array([1.0, 0.5, 0.1]), np.array([1.0, 0.4, 0.3])).round(3).tolist()
    [1.0, 0.4, 0.1]
    """
    size = len(some)
    with np.errstate(invalid="ignore"):
        products = np.outer(some, further)
    # Nothing that is wrong for sure can be spread over what cannot be.
    products[np.isnan(products)] = np.inf
    total = np.add.outer(np.arange(size), np.arange(size))
    least = np.full(size, np.inf)
    inside = total < size
    np.minimum.at(least, total[inside], products[inside])
    return least


@cache
def partitions(m: int, most: int | None = None) -> tuple[tuple[int, ...], ...]:
    """All ways to write a number as a sum, the largest part first.

    >>> partitions(3)
    ((3,), (2, 1), (1, 1, 1))
    """
    if m == 0:
        return ((),)
    first = range(min(m, m if most is None else most), 0, -1)
    return tuple((part, *rest) for part in first for rest in partitions(m - part, part))


@dataclass(frozen=True)
class CKSafety(PrivacyModel):
    """Somebody who knows any ``k`` implications gives no value of a person a chance of ``c`` or more.

    An implication: if some people have some values, then one of some people has one of some values. To know that a person
    does not have a value, that of two people one has it, or that a husband with flu has a wife with flu, is one each. What is
    known of one class tells of another; all classes are looked at together (:func:`disclosures`). With k = 0 it is that no
    value's share reaches c. Where the table fails, the classes fail for which the chance that k + 1 statements are all wrong
    is at most 1 - c: without them the rest is safe, since the chances of statements in several classes multiply to
    no less than that of as many in the worst of these.

    Monotone: whoever tells merged classes apart knows more (theorem 14 of the paper).

    Martin, Kifer, Machanavajjhala, Gehrke and Halpern, "Worst-case background knowledge for privacy-preserving data
    publishing", ICDE 2007.

    >>> ill = ["flu", "flu", "acne", "cold"] * 2
    >>> classes = EquivalenceClasses.from_columns({"a": [0] * 4 + [1] * 4}, sensitive={"dx": ill})
    >>> round(CKSafety(0.8, 1, "dx").measure(classes).value, 3), CKSafety(0.8, 1, "dx").satisfied(classes)
    (0.75, True)
    >>> CKSafety(0.8, 2, "dx").satisfied(classes)
    False
    """

    id: ClassVar[str] = "c-k-safety"
    title: ClassVar[str] = "(c, k)-safety"
    says: ClassVar[str] = "How sure of a value somebody may become who knows some implications."
    source: ClassVar[str] = (
        "Martin, Kifer, Machanavajjhala, Gehrke and Halpern, Worst-case background knowledge for privacy-preserving data "
        "publishing, 2007"
    )
    better: ClassVar[Direction] = "lower"
    strict: ClassVar[bool] = True

    c: float
    k: int
    sensitive: str

    def __post_init__(self) -> None:
        need_number("c", self.c, high=1.0, above=True)
        need_whole("k", self.k, at_least=0)
        need_number("k", self.k, high=MOST_IMPLICATIONS)
        need_column("sensitive", self.sensitive)

    @property
    def threshold(self) -> float:
        return float(self.c)

    @property
    def by_itself(self) -> PrivacyModel:
        return _SafeByItself(self.c, self.k, self.sensitive)

    def describe(self) -> str:
        return Sentence(
            "whoever knows {k} implications between values of {sensitive!r} gives none of them a chance of {c:g} or more",
            k=self.k,
            sensitive=self.sensitive,
            c=self.c,
        )

    def measured_in(self, classes: EquivalenceClasses) -> str:
        return "chance"

    def per_class(self, classes: EquivalenceClasses) -> FloatArray:
        times = classes.times if isinstance(classes, ClassKinds) else None
        return disclosures(classes.histogram(self.sensitive), self.k, times)

    def holds(self, classes: EquivalenceClasses) -> BoolArray:
        holds = super().holds(classes)
        return holds if holds.all() else self.by_itself.holds(classes)

    def meaning(self, value: float, classes: EquivalenceClasses) -> str:
        return Sentence(
            "Who knows the classes and {k} such implications may become {value:.0%} sure of a person's value.",
            k=self.k,
            value=value,
        )

    def notes(self, classes: EquivalenceClasses, per_class: FloatArray) -> tuple[str, ...]:
        return record_note(classes)


@dataclass(frozen=True)
class _SafeByItself(CKSafety):
    """Classes that are safe whatever others they are released with: k + 1 statements are all wrong with a chance above 1 - c.

    For m statements in a class the chance is at least d^(m / (k + 1)) with d = min over m of denials(m)^((k + 1) / m), so for
    k + 1 over several classes at least the least of their d; and no value's share reaches c.
    """

    @property
    def by_itself(self) -> PrivacyModel:
        return self

    def per_class(self, classes: EquivalenceClasses) -> FloatArray:
        least = denials(classes.histogram(self.sensitive), self.k + 1)[:, 1:]
        powers = (self.k + 1) / np.arange(1, self.k + 2)
        return np.asarray(1.0 - (least**powers).min(axis=1))

    def holds(self, classes: EquivalenceClasses) -> BoolArray:
        return PrivacyModel.holds(self, classes)
