"""Bounds on how surely a sensitive value follows from quasi-identifiers."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import ClassVar

import numpy as np

from discreet.classes import EquivalenceClasses, Histogram, Unit
from discreet.classes.packing import Packing, run_starts, sort_words
from discreet.errors import InvalidParameter
from discreet.measure import Direction
from discreet.privacy.base import (
    PrivacyModel,
    WithClassSize,
    absent_labels_note,
    counted_in,
    need_column,
    need_number,
    need_unit,
    need_whole,
    record_note,
)
from discreet.sentences import Sentence
from discreet.types import BoolArray, FloatArray, IntArray


def largest_share(histogram: Histogram, values: Iterable[str] | None = None) -> FloatArray:
    """The share of the most frequent of ``values`` (``None``: of all) in each class: max of n(E, s) / |E|.

    Wong et al., "(α,k)-anonymity", KDD 2006.

    >>> classes = EquivalenceClasses.from_columns({"a": [0] * 4}, sensitive={"dx": ["flu", "flu", "flu", "HIV"]})
    >>> largest_share(classes.histogram("dx")), largest_share(classes.histogram("dx"), ["HIV"])
    (array([0.75]), array([0.25]))
    """
    shares = histogram.shares
    if values is not None:
        shares = np.where(_named(histogram, values)[histogram.values], shares, 0.0)
    return histogram.per_class(np.maximum, shares)


def confidence(
    classes: EquivalenceClasses, sensitive: str, values: Iterable[str], given: Sequence[str] | None = None
) -> FloatArray:
    """For each class, how surely each of ``values`` follows from ``given``: P(value | group), the largest.

    ``given`` names some of the quasi-identifiers (``None``: all); classes that agree on them form a group.
    Wang, Fung and Yu, "Handicapping attacker's confidence", KAIS 2007.

    >>> classes = EquivalenceClasses.from_columns(
    ...     {"sex": ["f", "f", "m", "m"], "job": [1, 2, 1, 1]}, sensitive={"dx": ["HIV", "flu", "flu", "flu"]})
    >>> confidence(classes, "dx", ["HIV"], ["sex"]), confidence(classes, "dx", ["HIV"])
    (array([0.5, 0.5, 0. ]), array([1., 0., 0.]))
    """
    histogram = classes.histogram(sensitive)
    if given is None:
        return largest_share(histogram, values)
    wanted = np.flatnonzero(_named(histogram, values)[histogram.values])
    group, bound = classes.groups(given)
    size = np.bincount(group, weights=classes.records, minlength=bound)
    packing = Packing.of([bound, histogram.domain.size])
    words, counts = sort_words(
        packing.pack([group[histogram.class_of_entry[wanted]], histogram.values[wanted]]),
        histogram.records[wanted],
    )
    starts = run_starts(words)
    shares = np.zeros(bound)
    if len(starts):
        owner = packing.unpack([word[starts] for word in words], 0).astype(np.int64)
        np.maximum.at(shares, owner, np.add.reduceat(counts, starts) / size[owner])
    return np.asarray(shares[group])


def group_sizes(classes: EquivalenceClasses, given: Sequence[str] | None, unit: Unit) -> IntArray:
    """For each class, the persons (or records) that share its values of ``given`` (``None``: all).

    >>> classes = EquivalenceClasses.from_columns({"sex": ["f", "f"], "job": [1, 2]}, person=[7, 7])
    >>> group_sizes(classes, ["sex"], "persons"), group_sizes(classes, ["sex"], "records")
    (array([1, 1]), array([2, 2]))
    """
    if given is None:
        return classes.sizes(unit)
    if unit == "records" or classes.person_codes is None:
        return classes.group_records(given)
    group, bound = classes.groups(given)
    packing = Packing.of([bound, int(classes.person_codes.max()) + 1])
    words, _ = sort_words(packing.pack([group[classes.class_of_cell], classes.person_codes]), classes.counts)
    starts = run_starts(words)
    owner = packing.unpack([word[starts] for word in words], 0)
    return np.bincount(owner, minlength=bound)[group]


def _named(histogram: Histogram, values: Iterable[str]) -> BoolArray:
    """Which value codes have one of the labels ``values``."""
    wanted = set(values)
    return np.array([label in wanted for label in histogram.domain.labels()], dtype=np.bool_)


class _Confidence(PrivacyModel):
    """Models whose measure is a confidence, the lower the better."""

    better: ClassVar[Direction] = "lower"
    sensitive: str

    def measured_in(self, classes: EquivalenceClasses) -> str:
        return "share of records"

    def meaning(self, value: float, classes: EquivalenceClasses) -> str:
        return Sentence(
            "Who knows the quasi-identifiers infers a protected value with up to {value:.1%} confidence.",
            value=value,
        )


class _GivenColumns(_Confidence):
    """What follows from the columns ``given`` (``None``: all quasi-identifiers) with confidence ``h`` at most."""

    h: float
    given: tuple[str, ...] | None

    def __post_init__(self) -> None:
        need_number("h", self.h, high=1.0, above=True)
        need_column("sensitive", self.sensitive)
        if self.given is not None:
            object.__setattr__(self, "given", names("given", self.given))

    @property
    def needs_attributes(self) -> bool:
        return self.given is not None

    @property
    def by_itself(self) -> PrivacyModel:
        """Confidence given all quasi-identifiers: in groups that agree on fewer it is at most the largest of their parts."""
        return replace(self, given=None)  # type: ignore[type-var]  # every model is a dataclass

    @property
    def threshold(self) -> float:
        return float(self.h)


@dataclass(frozen=True)
class AlphaKAnonymity(WithClassSize, _Confidence):
    """k-anonymity, and no (named) sensitive value fills more than ``alpha`` of a class.

    |(E, s)| / |E| <= alpha for every class E and each s of ``values`` (``None``: every value).

    Monotone: a value's share in a mixture is at most the largest of its shares in the parts.

    Wong, Li, Fu and Wang, "(α,k)-anonymity: an enhanced k-anonymity model", KDD 2006.

    >>> classes = EquivalenceClasses.from_columns({"a": [0] * 4}, sensitive={"dx": ["flu", "flu", "flu", "HIV"]})
    >>> AlphaKAnonymity(0.5, 2, "dx").satisfied(classes), AlphaKAnonymity(0.5, 2, "dx", ("HIV",)).satisfied(classes)
    (False, True)
    """

    id: ClassVar[str] = "alpha-k-anonymity"
    title: ClassVar[str] = "(α, k)-anonymity"
    says: ClassVar[str] = "How surely someone who knows the quasi-identifiers infers a sensitive value."
    source: ClassVar[str] = "Wong et al., (α,k)-anonymity, 2006"

    alpha: float
    k: int
    sensitive: str
    values: tuple[str, ...] | None = None
    unit: Unit | None = None

    def __post_init__(self) -> None:
        need_number("alpha", self.alpha, high=1.0, above=True)
        need_whole("k", self.k)
        need_unit(self.unit)
        need_column("sensitive", self.sensitive)
        if self.values is not None:
            object.__setattr__(self, "values", names("values", self.values))

    @property
    def threshold(self) -> float:
        return float(self.alpha)

    @property
    def named_values(self) -> tuple[str, ...]:
        return self.values or ()

    def describe(self) -> str:
        told = {
            "k": self.k,
            "unit": Sentence(self.unit or "persons"),
            "sensitive": self.sensitive,
            "alpha": self.alpha,
        }
        if self.values is None:
            return Sentence(
                "every class has at least {k} {unit} and no value of {sensitive!r} fills more than {alpha:.4g} of it",
                **told,
            )
        return Sentence(
            "every class has at least {k} {unit} and none of {named} named values of {sensitive!r} fills more than "
            "{alpha:.4g} of it",
            named=len(self.values),
            **told,
        )

    def per_class(self, classes: EquivalenceClasses) -> FloatArray:
        return largest_share(classes.histogram(self.sensitive), self.values)

    def holds(self, classes: EquivalenceClasses) -> BoolArray:
        return super().holds(classes) & self.large_enough(classes)

    def notes(self, classes: EquivalenceClasses, per_class: FloatArray) -> tuple[str, ...]:
        domain = classes.sensitive_domain(self.sensitive)
        absent = absent_labels_note(domain, self.values) if self.values else ()
        return (self.size_note(classes), *absent, *record_note(classes))


@dataclass(frozen=True)
class ConfidenceBounding(_GivenColumns):
    """A privacy template: ``value`` must not follow from ``given`` with more than confidence ``h``.

    Conf(given → value) = max over groups g that agree on ``given`` of P(value | g) <= h.
    ``given`` names some of the quasi-identifiers; ``None`` means all.

    Monotone: generalising merges groups, and a share in a mixture is at most the largest in the parts.

    Wang, Fung and Yu, "Handicapping attacker's confidence: an alternative to k-anonymization", KAIS 2007.

    >>> classes = EquivalenceClasses.from_columns(
    ...     {"sex": ["f", "f", "m"], "job": [1, 2, 1]}, sensitive={"dx": ["HIV", "flu", "flu"]})
    >>> ConfidenceBounding(0.5, "dx", "HIV", given=("sex",)).measure(classes).value
    0.5
    """

    id: ClassVar[str] = "confidence-bounding"
    title: ClassVar[str] = "Confidence bounding"
    says: ClassVar[str] = "How surely the named value follows from the quasi-identifiers."
    source: ClassVar[str] = "Wang, Fung and Yu, Handicapping attacker's confidence, 2007"

    h: float
    sensitive: str
    value: str
    given: tuple[str, ...] | None = None

    def __post_init__(self) -> None:
        super().__post_init__()
        object.__setattr__(self, "value", str(self.value))

    @property
    def named_values(self) -> tuple[str, ...]:
        return (self.value,)

    def describe(self) -> str:
        if self.given is None:
            return Sentence(
                "the named value of {sensitive!r} follows from the quasi-identifiers with confidence of at most {h:.4g}",
                sensitive=self.sensitive,
                h=self.h,
            )
        return Sentence(
            "the named value of {sensitive!r} follows from {known} with confidence of at most {h:.4g}",
            sensitive=self.sensitive,
            known=self.given,
            h=self.h,
        )

    def per_class(self, classes: EquivalenceClasses) -> FloatArray:
        return confidence(classes, self.sensitive, [self.value], self.given)

    def notes(self, classes: EquivalenceClasses, per_class: FloatArray) -> tuple[str, ...]:
        domain = classes.sensitive_domain(self.sensitive)
        return (*absent_labels_note(domain, [self.value]), *record_note(classes))


@dataclass(frozen=True)
class XYPrivacy(_GivenColumns):
    """(X,Y)-privacy: each group on X has ``k`` persons and implies no value of Y with more than ``h``.

    X is ``given`` (``None``: all quasi-identifiers), Y is ``sensitive``.

    Monotone: generalising merges groups; sizes only grow and shares are at most the largest of the parts.

    Wang and Fung, "Anonymizing sequential releases", KDD 2006.

    >>> classes = EquivalenceClasses.from_columns(
    ...     {"sex": ["f", "f", "m", "m"], "job": [1, 2, 1, 2]}, sensitive={"dx": ["HIV", "flu", "flu", "acne"]})
    >>> model = XYPrivacy(2, 0.5, "dx", given=("sex",))
    >>> model.measure(classes).value, model.satisfied(classes)
    (0.5, True)
    """

    id: ClassVar[str] = "x-y-privacy"
    title: ClassVar[str] = "(X, Y)-privacy"
    says: ClassVar[str] = "How surely a sensitive value follows from the named columns."
    source: ClassVar[str] = "Wang and Fung, Anonymizing sequential releases, 2006"

    k: int
    h: float
    sensitive: str
    given: tuple[str, ...] | None = None
    unit: Unit | None = None

    def __post_init__(self) -> None:
        need_whole("k", self.k)
        super().__post_init__()
        need_unit(self.unit)

    def describe(self) -> str:
        if self.given is None:
            return Sentence(
                "at least {k} {unit} share each combination of the quasi-identifiers, and no value of {sensitive!r} "
                "follows from it with more than {h:.4g} confidence",
                k=self.k,
                unit=Sentence(self.unit or "persons"),
                sensitive=self.sensitive,
                h=self.h,
            )
        return Sentence(
            "at least {k} {unit} share each combination of {known}, and no value of {sensitive!r} follows from it "
            "with more than {h:.4g} confidence",
            k=self.k,
            unit=Sentence(self.unit or "persons"),
            known=self.given,
            sensitive=self.sensitive,
            h=self.h,
        )

    def per_class(self, classes: EquivalenceClasses) -> FloatArray:
        if self.given is None:
            return largest_share(classes.histogram(self.sensitive))
        every = classes.sensitive_domain(self.sensitive).labels()
        return confidence(classes, self.sensitive, every, self.given)

    def holds(self, classes: EquivalenceClasses) -> BoolArray:
        bounded = super().holds(classes)
        return bounded & (group_sizes(classes, self.given, counted_in(self.unit, classes)) >= self.k)

    def notes(self, classes: EquivalenceClasses, per_class: FloatArray) -> tuple[str, ...]:
        unit = counted_in(self.unit, classes)
        least = int(group_sizes(classes, self.given, unit).min())
        told = Sentence(
            "the smallest group has {least} {unit}; required are {k}",
            least=least,
            unit=Sentence(unit),
            k=self.k,
        )
        return (told, *record_note(classes))


def names(parameter: str, given: object) -> tuple[str, ...]:
    """Several names as a tuple of texts; one alone may be given without brackets.

    >>> names("given", "sex"), names("values", [1, "flu"])
    (('sex',), ('1', 'flu'))
    """
    values = (given,) if isinstance(given, str) else tuple(given) if isinstance(given, Iterable) else ()
    if not values:
        raise InvalidParameter(
            Sentence("{parameter} names nothing", parameter=parameter),
            remedy=Sentence("leave {parameter} out or name at least one", parameter=parameter),
        )
    return tuple(str(value) for value in values)
