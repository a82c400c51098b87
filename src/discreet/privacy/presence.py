"""k-map and δ-presence: people hide among those of a population of which the table is a part."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from functools import cache
from typing import ClassVar, Literal

import numpy as np

from discreet.classes import EquivalenceClasses
from discreet.errors import InvalidParameter, InvalidPolicy
from discreet.privacy.base import PrivacyModel, need_choice, need_number, need_whole
from discreet.sentences import Sentence
from discreet.types import FloatArray, IntArray

Estimator = Literal["poisson", "zero-truncated-poisson"]
ESTIMATORS: tuple[Estimator, ...] = ("poisson", "zero-truncated-poisson")
SIGNIFICANCE = 0.01
LEAST_CONFIDENCE, MOST_CONFIDENCE = 0.8, 0.999999


class OfPopulation(PrivacyModel):
    """A model that compares the people of each class with those of a population who share its values."""

    sensitive: None

    @property
    def needs_population(self) -> bool:
        return True

    def people(self, classes: EquivalenceClasses) -> FloatArray:
        """The people of the population per class, at least those of the table."""
        if classes.class_population is None:
            raise InvalidPolicy(
                [Sentence("{model} is required, and no population is known to count in", model=self.id)],
                remedy='name a table of it: [population] table = "register.csv" (--population register.csv)',
            )
        return np.maximum(classes.class_population, classes.persons)


@dataclass(frozen=True)
class KMap(OfPopulation):
    """The values of every class are shared by at least ``k`` people of the population.

    k(T) = min over classes E of F(E), with F the people of a table of the population whom the values of E may stand
    for, and at least the people of E. A person who is alone in the table is not alone if others outside share the
    values. Without a table of the population, an ``estimator`` tests for every class of f people whether F could be
    below ``k``: P(X ≥ f) ≤ ``significance`` with X Poisson with mean k · ``sampling_fraction``, as it is or, since the
    class was seen, given X ≥ 1. A class of k people in the table needs no test.

    Monotone: a merged class stands for everybody for whom its parts do.

    Sweeney, "Computational disclosure control", 2001; El Emam and Dankar, "Protecting privacy using k-anonymity",
    JAMIA 2008, for the test.

    >>> classes = EquivalenceClasses.from_columns({"sex": ["f", "f", "m"]})
    >>> KMap(3, estimator="poisson", sampling_fraction=0.1).measure(classes).per_class
    array([2., 1.])
    """

    id: ClassVar[str] = "k-map"
    title: ClassVar[str] = "k-map"
    says: ClassVar[str] = (
        "The fewest people of the population who share the quasi-identifiers of somebody in the table."
    )
    source: ClassVar[str] = "Sweeney, Computational disclosure control, 2001"
    absorbing: ClassVar[bool] = True

    k: int
    estimator: Estimator | None = None
    significance: float = SIGNIFICANCE
    sampling_fraction: float | None = None
    sensitive: None = field(default=None, init=False, repr=False)

    def __post_init__(self) -> None:
        need_whole("k", self.k)
        need_number("significance", self.significance, high=0.5, above=True)
        if self.estimator is not None:
            need_choice("estimator", self.estimator, ESTIMATORS)
        if self.sampling_fraction is not None:
            need_number("sampling_fraction", self.sampling_fraction, high=1.0, above=True)

    @property
    def needs_population(self) -> bool:
        return self.estimator is None

    @property
    def threshold(self) -> float:
        return float(self.k)

    def describe(self) -> str:
        if self.estimator is None:
            return Sentence(
                "the values of every class are shared by at least {k} people of the population", k=self.k
            )
        return Sentence(
            "the values of every class are shared by at least {k} people of the population, as estimated "
            "({estimator}, significance {significance:g})",
            k=self.k,
            estimator=Sentence(self.estimator),
            significance=self.significance,
        )

    def measured_in(self, classes: EquivalenceClasses) -> str:
        return "persons"

    def per_class(self, classes: EquivalenceClasses) -> FloatArray:
        if self.estimator is None:
            return self.people(classes)
        if self.sampling_fraction is None:
            raise InvalidParameter(
                "k-map is to be estimated, and no sampling fraction is known",
                remedy="say [population] sampling_fraction = 0.1 (--sampling-fraction 0.1), the share of the population "
                "that is in the table, or count in a table of the population",
            )
        return largest_passing(
            classes.persons, self.k, self.estimator, self.significance, self.sampling_fraction
        )

    def meaning(self, value: float, classes: EquivalenceClasses) -> str:
        return Sentence(
            "Everybody of the table hides among at least {value:.0f} people of the population.", value=value
        )

    def notes(self, classes: EquivalenceClasses, per_class: FloatArray) -> tuple[str, ...]:
        if self.estimator is None:
            return ()
        least = least_size(self.k, self.estimator, self.significance, self.sampling_fraction or 1.0)
        return (
            Sentence(
                "estimated, as if everybody of the population were in the table with the same chance: classes of at "
                "least {least} people pass the test",
                least=least,
            ),
        )


@dataclass(frozen=True)
class DeltaPresence(OfPopulation):
    """Of those whom a class fits, at most a share ``delta`` is in the table.

    δ(T) = max over classes E of f(E) / F(E), with f the people of E in the table and F those of a table of the
    population whom the values of E may stand for: the greatest chance with which being in the table can be told, δ max
    of (δ min, δ max)-presence.

    Monotone: the share of a merged class is a mean of those of its parts.

    With a ``confidence`` c the counts of the population are statistics: F people are expected to have such values, and each of those who are
    not in the table (all but the ``sampling_fraction``) has them by chance. Then δ(T) = max of f(E) / (f(E) + q(E)), with q the most others of
    whom there are at least so many with probability c: P(X ≥ q) ≥ c, X Poisson with mean (1 − ``sampling_fraction``) · F(E). Chances below 0.8 are
    refused: for them merged classes might have fewer others than their parts.

    Nergiz, Atzori and Clifton, "Hiding the presence of individuals from shared databases", SIGMOD 2007; c-confident: Nergiz and Clifton, "δ-presence
    without complete world knowledge", TKDE 2010.

    >>> classes = EquivalenceClasses.from_columns({"sex": ["f", "f", "m"]})
    >>> classes.__dict__["class_population"] = np.array([10.0, 4.0])
    >>> DeltaPresence(0.5).measure(classes).per_class
    array([0.2 , 0.25])
    >>> DeltaPresence(0.5, confidence=0.95, sampling_fraction=0.2).measure(classes).per_class
    array([0.33333333, 0.5       ])
    """

    id: ClassVar[str] = "delta-presence"
    title: ClassVar[str] = "δ-presence"
    says: ClassVar[str] = (
        "The greatest chance with which it can be told that somebody of the population is in the table."
    )
    source: ClassVar[str] = (
        "Nergiz, Atzori and Clifton, Hiding the presence of individuals from shared databases, 2007"
    )

    delta: float
    confidence: float | None = None
    sampling_fraction: float | None = None
    sensitive: None = field(default=None, init=False, repr=False)

    def __post_init__(self) -> None:
        need_number("delta", self.delta, high=1.0, above=True)
        if self.confidence is not None:
            need_number("confidence", self.confidence, low=LEAST_CONFIDENCE, high=MOST_CONFIDENCE)
        if self.sampling_fraction is not None:
            need_number("sampling_fraction", self.sampling_fraction, high=1.0, above=True)

    @property
    def threshold(self) -> float:
        return float(self.delta)

    @property
    def better(self) -> Literal["lower"]:
        return "lower"

    def describe(self) -> str:
        if self.confidence is not None:
            return Sentence(
                "of the people of the population who share the values of a class, at most a share of {delta:.4g} is in the table, "
                "with a confidence of {confidence:.4g}",
                delta=self.delta,
                confidence=self.confidence,
            )
        return Sentence(
            "of the people of the population who share the values of a class, at most a share of {delta:.4g} is in the table",
            delta=self.delta,
        )

    def measured_in(self, classes: EquivalenceClasses) -> str:
        return "probability"

    def per_class(self, classes: EquivalenceClasses) -> FloatArray:
        people = self.people(classes)
        if self.confidence is None:
            return np.asarray(classes.persons / people)
        if self.sampling_fraction is None:
            raise InvalidParameter(
                "δ-presence is asked for with a confidence, and no sampling fraction is known",
                remedy="say [population] sampling_fraction = 0.1 (--sampling-fraction 0.1), the share of the population that is in the "
                "table",
            )
        # `people` are at least those of the table, who may be more than are expected.
        expected = np.asarray(classes.class_population, dtype=np.float64)
        others = surely_there(expected * (1.0 - self.sampling_fraction), self.confidence)
        return np.asarray(classes.persons / (classes.persons + others))

    def meaning(self, value: float, classes: EquivalenceClasses) -> str:
        return Sentence(
            "Of somebody of the population it can be told with a chance of {value:.4g} that they are in the table.",
            value=value,
        )

    def notes(self, classes: EquivalenceClasses, per_class: FloatArray) -> tuple[str, ...]:
        if self.confidence is not None:
            return (
                "the counts of the population are taken for statistics, by which everybody outside of the table has the values of a "
                "class by chance",
            )
        return (
            Sentence(
                "of those whom a class fits, everybody is in the table with a chance of at least {least:.3g}",
                least=float(per_class.min()),
            ),
        )


# ── the test of El Emam and Dankar ────────────────────────────────────────────────────────────────────


def least_size(k: int, estimator: Estimator, significance: float, fraction: float) -> int:
    """The fewest people a class of the table must have for less than ``k`` in the population to be unlikely; at most k.

    With a tenth of the population in the table, somebody of a class of three is met thrice with a chance of 0.4 %:

    >>> least_size(3, "poisson", 0.01, 0.1), least_size(3, "zero-truncated-poisson", 0.01, 0.1), least_size(3, "poisson", 0.01, 1)
    (3, 3, 3)
    >>> [least_size(k, "poisson", 0.01, 0.01) for k in (5, 20, 100)]
    [2, 3, 5]
    """
    # Takes long to load, and only who asks for an estimate needs it.
    from scipy.special import pdtr

    mean = k * fraction
    share = 1.0 - significance
    if estimator == "zero-truncated-poisson":
        nobody = math.exp(-mean)
        share = nobody + share * (1.0 - nobody)
    return min(k, int(np.searchsorted(pdtr(np.arange(k), mean), share)) + 1)


@cache
def _least_sizes(most: int, estimator: Estimator, significance: float, fraction: float) -> IntArray:
    return np.array([least_size(k, estimator, significance, fraction) for k in range(1, most + 1)])


def largest_passing(
    persons: IntArray, k: int, estimator: Estimator, significance: float, fraction: float
) -> FloatArray:
    """For each class the largest number up to ``k`` for which it passes the test, or its own people if these are more.

    >>> largest_passing(np.array([1, 2, 5, 30]), 20, "poisson", 0.01, 0.01)
    array([ 1., 14., 20., 30.])
    """
    least = _least_sizes(k, estimator, significance, fraction)
    # The size that is asked for never falls as k grows.
    passing = np.searchsorted(least, persons, side="right")
    return np.maximum(passing, persons).astype(np.float64)


# ── others of whom only statistics are known ──────────────────────────────────────────────────────────


def surely_there(expected: FloatArray, confidence: float) -> FloatArray:
    """The most people of whom there are at least so many with probability ``confidence``, where so many are ``expected`` (Poisson).

    Of 8 expected there are at least 4 with a chance of 95.8 %, and at least 5 with one of 90.0 %:

    >>> surely_there(np.array([0.0, 3.0, 8.0]), 0.95)
    array([0., 1., 4.])
    """
    # Takes long to load, and only who asks for a confidence needs it.
    from scipy.special import pdtr, pdtrik

    below = 1.0 - confidence
    means, of_class = np.unique(expected, return_inverse=True)
    some = means > 0
    least = np.zeros(len(means))
    # The first number that is not reached with probability `below`; the inverse is exact but for rounding.
    least[some] = np.maximum(np.floor(np.nan_to_num(pdtrik(below, means[some]))) + 1.0, 0.0)
    least[(least > 0) & (pdtr(np.maximum(least - 1.0, 0.0), means) > below)] -= 1.0
    least[some & (pdtr(least, means) <= below)] += 1.0
    return least[of_class.ravel()]
