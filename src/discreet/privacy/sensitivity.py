"""p-sensitive k-anonymity and its two extensions: enough different values, categories or weight per class."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import ClassVar

import numpy as np

from discreet.classes import EquivalenceClasses, Histogram, Unit
from discreet.classes.packing import Packing, run_starts
from discreet.privacy.base import (
    PrivacyModel,
    WithClassSize,
    need_column,
    need_mapping,
    need_number,
    need_unit,
    need_whole,
    per_value,
    refuse_uncovered,
)
from discreet.privacy.diversity import distinct_l
from discreet.sentences import Sentence
from discreet.types import AnyIntArray, BoolArray, FloatArray


def distinct_categories(histogram: Histogram, category: AnyIntArray) -> FloatArray:
    """How many different categories the values of each class fall into; ``category[v]`` for value code v.

    Sun, Wang, Li and Truta, "Enhanced p-sensitive k-anonymity models for privacy preserving data
    publishing", 2008.

    >>> classes = EquivalenceClasses.from_columns({"a": [0] * 3}, sensitive={"dx": ["HIV", "cancer", "flu"]})
    >>> distinct_categories(classes.histogram("dx"), np.array([0, 0, 1]))  # HIV and cancer are incurable
    array([2.])
    """
    packing = Packing.of([len(histogram.distinct), int(category.max()) + 1])
    words = packing.pack([histogram.class_of_entry, category[histogram.values]])
    order = np.lexsort(tuple(reversed(words))) if packing.words > 1 else np.argsort(words[0], kind="stable")
    words = [word[order] for word in words]
    owner = packing.unpack([word[run_starts(words)] for word in words], 0)
    return np.bincount(owner, minlength=len(histogram.distinct)).astype(np.float64)


def total_weight(histogram: Histogram, weight: FloatArray) -> FloatArray:
    """The weights of the different values of each class, added up, each value once.

    Sun, Wang, Li and Truta 2008.

    >>> classes = EquivalenceClasses.from_columns({"a": [0] * 3}, sensitive={"dx": ["HIV", "flu", "flu"]})
    >>> total_weight(classes.histogram("dx"), np.array([0.0, 1.0]))
    array([1.])
    """
    return histogram.per_class(np.add, weight[histogram.values])


class _PSensitive(WithClassSize, PrivacyModel):
    """p different things and ``k`` persons per class."""

    absorbing: ClassVar[bool] = True
    p: int
    sensitive: str

    def __post_init__(self) -> None:
        need_whole("p", self.p)
        need_whole("k", self.k)
        need_unit(self.unit)
        need_column("sensitive", self.sensitive)

    @property
    def threshold(self) -> float:
        return float(self.p)

    def holds(self, classes: EquivalenceClasses) -> BoolArray:
        return super().holds(classes) & self.large_enough(classes)

    def notes(self, classes: EquivalenceClasses, per_class: FloatArray) -> tuple[str, ...]:
        return (self.size_note(classes),)


@dataclass(frozen=True)
class PSensitivity(_PSensitive):
    """k-anonymity, and at least ``p`` different sensitive values in every class.

    Monotone: merging loses neither persons nor values.

    Truta and Vinay, "Privacy protection: p-sensitive k-anonymity property", ICDE workshops 2006.

    >>> classes = EquivalenceClasses.from_columns({"a": [0, 0, 0]}, sensitive={"dx": ["flu", "flu", "acne"]})
    >>> PSensitivity(2, 3, "dx").satisfied(classes), PSensitivity(2, 4, "dx").satisfied(classes)
    (True, False)
    """

    id: ClassVar[str] = "p-sensitivity"
    title: ClassVar[str] = "p-sensitive k-anonymity"
    says: ClassVar[str] = "How many different sensitive values the worst class has."
    source: ClassVar[str] = "Truta and Vinay, p-sensitive k-anonymity property, 2006"

    p: int
    k: int
    sensitive: str
    unit: Unit | None = None

    def describe(self) -> str:
        return Sentence(
            "every class has at least {k} {unit} and {p} different values of {sensitive!r}",
            k=self.k,
            unit=Sentence(self.unit or "persons"),
            p=self.p,
            sensitive=self.sensitive,
        )

    def measured_in(self, classes: EquivalenceClasses) -> str:
        return "distinct values"

    def per_class(self, classes: EquivalenceClasses) -> FloatArray:
        return distinct_l(classes.histogram(self.sensitive))

    def meaning(self, value: float, classes: EquivalenceClasses) -> str:
        return Sentence("Every class has at least {value:.0f} different sensitive values.", value=value)


@dataclass(frozen=True)
class PPlusSensitivity(_PSensitive):
    """k-anonymity, and sensitive values from at least ``p`` different categories in every class.

    ``categories`` maps every value, as it prints, to its category (a null is written ``∅``).

    Monotone: merging loses neither persons nor categories.

    Sun, Wang, Li and Truta, "Enhanced p-sensitive k-anonymity models for privacy preserving data
    publishing", Transactions on Data Privacy 2008.

    >>> classes = EquivalenceClasses.from_columns({"a": [0, 0]}, sensitive={"dx": ["HIV", "cancer"]})
    >>> PPlusSensitivity(2, 2, "dx", {"HIV": "incurable", "cancer": "incurable"}).measure(classes).value
    1.0
    """

    id: ClassVar[str] = "p-plus-sensitivity"
    title: ClassVar[str] = "p⁺-sensitive k-anonymity"
    says: ClassVar[str] = "From how many categories the sensitive values of the worst class come."
    source: ClassVar[str] = "Sun et al., Enhanced p-sensitive k-anonymity models, 2008"

    p: int
    k: int
    sensitive: str
    categories: Mapping[str, str] = field(hash=False)
    unit: Unit | None = None

    def __post_init__(self) -> None:
        super().__post_init__()
        need_mapping("categories", self.categories)

    def describe(self) -> str:
        return Sentence(
            "every class has at least {k} {unit} and values of {sensitive!r} from {p} categories",
            k=self.k,
            unit=Sentence(self.unit or "persons"),
            sensitive=self.sensitive,
            p=self.p,
        )

    def measured_in(self, classes: EquivalenceClasses) -> str:
        return "distinct categories"

    def per_class(self, classes: EquivalenceClasses) -> FloatArray:
        histogram = classes.histogram(self.sensitive)
        refuse_uncovered(histogram.domain, self.categories, "categories")
        number = {name: at for at, name in enumerate(dict.fromkeys(self.categories.values()))}
        of_value = np.array([number[self.categories[label]] for label in histogram.domain.labels()])
        return distinct_categories(histogram, of_value)

    def meaning(self, value: float, classes: EquivalenceClasses) -> str:
        return Sentence("Every class has sensitive values from at least {value:.0f} categories.", value=value)


@dataclass(frozen=True)
class PAlphaSensitivity(_PSensitive):
    """k-anonymity, at least ``p`` different values per class, and their weights add up to ``alpha``.

    ``weights`` gives every value, as it prints, a weight: the less it says about a person the higher, for
    example 0 for the most and 1 for the least sensitive. Each different value of a class counts once.
    Measured is the smallest total weight.

    Monotone: merging loses neither persons nor values, and weights are not negative.

    Sun, Wang, Li and Truta, "Enhanced p-sensitive k-anonymity models for privacy preserving data
    publishing", Transactions on Data Privacy 2008.

    >>> classes = EquivalenceClasses.from_columns({"a": [0, 0]}, sensitive={"dx": ["HIV", "flu"]})
    >>> PAlphaSensitivity(2, 1.0, 2, "dx", {"HIV": 0, "flu": 1}).satisfied(classes)
    True
    """

    id: ClassVar[str] = "p-alpha-sensitivity"
    title: ClassVar[str] = "(p, α)-sensitive k-anonymity"
    says: ClassVar[str] = "The total weight of the sensitive values of the worst class."
    source: ClassVar[str] = "Sun et al., Enhanced p-sensitive k-anonymity models, 2008"

    p: int
    alpha: float
    k: int
    sensitive: str
    weights: Mapping[str, float] = field(hash=False)
    unit: Unit | None = None

    def __post_init__(self) -> None:
        super().__post_init__()
        need_number("alpha", self.alpha)
        need_mapping("weights", self.weights)
        for weight in self.weights.values():
            need_number("every weight", weight)

    @property
    def threshold(self) -> float:
        return float(self.alpha)

    def describe(self) -> str:
        return Sentence(
            "every class has at least {k} {unit} and {p} different values of {sensitive!r} with a total "
            "weight of {alpha:g}",
            k=self.k,
            unit=Sentence(self.unit or "persons"),
            p=self.p,
            sensitive=self.sensitive,
            alpha=self.alpha,
        )

    def measured_in(self, classes: EquivalenceClasses) -> str:
        return "total weight"

    def per_class(self, classes: EquivalenceClasses) -> FloatArray:
        histogram = classes.histogram(self.sensitive)
        refuse_uncovered(histogram.domain, self.weights, "weights")
        return total_weight(histogram, per_value(histogram.domain, self.weights, 0.0))

    def holds(self, classes: EquivalenceClasses) -> BoolArray:
        heavy_and_large = super().holds(classes)
        return heavy_and_large & (classes.histogram(self.sensitive).distinct >= self.p)

    def meaning(self, value: float, classes: EquivalenceClasses) -> str:
        return Sentence(
            "The different sensitive values of every class weigh at least {value:.3g} together.", value=value
        )

    def notes(self, classes: EquivalenceClasses, per_class: FloatArray) -> tuple[str, ...]:
        least = int(distinct_l(classes.histogram(self.sensitive)).min())
        return (
            Sentence(
                "the least diverse class has {least} different values; required are {p}",
                least=least,
                p=self.p,
            ),
            *super().notes(classes, per_class),
        )
