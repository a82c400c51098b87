"""Models for tables in which a person may have several records."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass, field
from typing import ClassVar

import numpy as np

from discreet.classes import EquivalenceClasses
from discreet.classes.histogram import Unit
from discreet.classes.linked import LinkedRows
from discreet.measure import Direction
from discreet.privacy.base import PrivacyModel, counted_in, need_column, need_number, need_unit, need_whole
from discreet.privacy.confidence import names
from discreet.sentences import Sentence
from discreet.types import FloatArray

_SOURCE = "Kartal and Li, Protecting privacy when releasing data with multiple records per person, 2020"


def balance(classes: EquivalenceClasses) -> FloatArray:
    """How evenly the records of each class spread over its persons: 1 - sum over persons of (c_i / |E|)².

    The chance that two records, drawn with replacement, belong to different persons.
    Kartal and Li, "Protecting privacy when sharing and releasing data with multiple records per person",
    Journal of the Association for Information Systems 2020.

    >>> classes = EquivalenceClasses.from_columns({"car": ["suv"] * 3}, person=[5, 5, 6])
    >>> balance(classes).round(4)
    array([0.4444])
    """
    size = classes.records.astype(np.float64)
    if not classes.event_level:
        return 1.0 - 1.0 / size
    counts = classes.person_counts
    squares = np.add.reduceat(counts.records.astype(np.float64) ** 2, counts.indptr[:-1])
    return np.asarray(1.0 - squares / size**2)


def affiliation(
    classes: EquivalenceClasses, sensitive: str, unit: Unit = "persons", harmless: Collection[str] = ()
) -> FloatArray:
    """The share of each class's persons (or records) who have its most widespread sensitive value: max over j of n_j / n.

    Values that are ``harmless`` do not count. Kartal and Li 2020.

    >>> classes = EquivalenceClasses.from_columns(
    ...     {"car": ["suv"] * 3}, person=[5, 5, 6], sensitive={"artist": ["Swift", "Radio", "Swift"]})
    >>> affiliation(classes, "artist")
    array([1.])
    """
    histogram = classes.histogram(sensitive)
    counted = np.array([label not in harmless for label in histogram.domain.labels()])
    sizes = histogram.sizes(unit) * counted[histogram.values]
    return np.asarray(histogram.per_class(np.maximum, sizes) / classes.sizes(unit))


@dataclass(frozen=True)
class LinkedKAnonymity(PrivacyModel):
    """Everybody has the same rows as at least ``k`` - 1 others: as many of them in each class.

    min over persons u of |{v : n_v(E) = n_u(E) in every class E}| >= k, with n_u(E) the records of person u in E.
    Whoever holds a table that tells which rows belong to one person (by an id or a pseudonym) sees them together,
    and someone may be alone with them although each row is in a large class. Without ids it is k-anonymity in
    records.

    Monotone: people who agree in all classes still do after some are merged.

    He and Naughton, "Anonymization of set-valued data via top-down, local generalization", VLDB 2009: each set occurs
    at least k times. Intruders who know at most m of the rows: Terrovitis et al. 2008, which asks for less.

    >>> classes = EquivalenceClasses.from_columns({"car": ["suv", "van", "suv", "van", "suv"]}, person=[5, 5, 6, 6, 7])
    >>> LinkedKAnonymity(2).measure(classes).per_class, LinkedKAnonymity(2).satisfied(classes)
    (array([1., 2.]), False)
    """

    id: ClassVar[str] = "linked-k-anonymity"
    title: ClassVar[str] = "k-anonymity of linked rows"
    says: ClassVar[str] = (
        "How many persons share the rarest combination of rows, all rows of a person taken together."
    )
    source: ClassVar[str] = (
        "He and Naughton, Anonymization of set-valued data via top-down, local generalization, 2009"
    )

    k: int
    sensitive: None = field(default=None, init=False, repr=False)

    def __post_init__(self) -> None:
        need_whole("k", self.k)

    @property
    def threshold(self) -> float:
        return float(self.k)

    def describe(self) -> str:
        return Sentence("everybody has the same linked rows as at least {k} other persons", k=self.k - 1)

    def measured_in(self, classes: EquivalenceClasses) -> str:
        return counted_in(None, classes)

    def per_class(self, classes: EquivalenceClasses) -> FloatArray:
        if not classes.event_level:
            return classes.records.astype(np.float64)
        linked = LinkedRows.of(classes)
        number, held = linked.alike()
        inside = classes.person_counts
        of_member = held[number][np.searchsorted(linked.persons, inside.persons)]
        return np.minimum.reduceat(of_member, inside.indptr[:-1]).astype(np.float64)

    def meaning(self, value: float, classes: EquivalenceClasses) -> str:
        if value == 1 and classes.event_level:
            alone = float((LinkedRows.of(classes).alike()[1] == 1).sum() / classes.total_persons)
            return Sentence(
                "{alone:.1%} of the persons are alone with their rows taken together.", alone=alone
            )
        return Sentence(
            "Everybody hides among at least {value:.0f} {unit} with the same rows.",
            value=value,
            unit=Sentence(counted_in(None, classes)),
        )


@dataclass(frozen=True)
class GBalance(PrivacyModel):
    """The records of every class are spread over its persons with a balance of at least ``g``.

    min over classes E of 1 - sum over persons of (c_i / |E|)² >= g. It is 0 where one person has all
    records, and 1 - 1/|E| where everybody has one.

    Monotone: the balance is a concave function of the persons' shares, so that of a mixture is at least
    the mean of the parts'.

    Kartal and Li, "Protecting privacy when sharing and releasing data with multiple records per person",
    Journal of the Association for Information Systems 2020.

    >>> classes = EquivalenceClasses.from_columns({"car": ["suv"] * 3}, person=[5, 5, 6])
    >>> GBalance(0.5).satisfied(classes), GBalance(0.4).satisfied(classes)
    (False, True)
    """

    id: ClassVar[str] = "g-balance"
    title: ClassVar[str] = "g-balance"
    says: ClassVar[str] = "How evenly the records of a class are spread over its persons, in the worst class."
    source: ClassVar[str] = _SOURCE

    g: float
    sensitive: None = field(default=None, init=False, repr=False)

    def __post_init__(self) -> None:
        need_number("g", self.g, high=1.0)

    @property
    def threshold(self) -> float:
        return float(self.g)

    def describe(self) -> str:
        return Sentence(
            "the records of every class are spread over its persons with a balance of at least {g:.4g}",
            g=self.g,
        )

    def measured_in(self, classes: EquivalenceClasses) -> str:
        return "probability"

    def per_class(self, classes: EquivalenceClasses) -> FloatArray:
        return balance(classes)

    def meaning(self, value: float, classes: EquivalenceClasses) -> str:
        return Sentence(
            "Two records of a class belong to different persons with a chance of at least {value:.0%}.",
            value=value,
        )


@dataclass(frozen=True)
class HAffiliation(PrivacyModel):
    """No sensitive value is shared by more than a part ``h`` of the persons of a class.

    max over classes E and values j of n_j / n <= h, with n the persons of E and n_j those with value j in
    any of their records in E. ``harmless`` values, as they print, may be shared by all ("Radio" in the example of the
    paper's trips). ``unit="records"`` counts records instead: whoever holds a release without person ids
    cannot do otherwise.

    Not monotone: a person in two classes is counted once after merging but may have the value in one only.

    Kartal and Li, "Protecting privacy when sharing and releasing data with multiple records per person",
    Journal of the Association for Information Systems 2020.

    >>> classes = EquivalenceClasses.from_columns(
    ...     {"car": ["suv"] * 4}, person=[5, 5, 6, 7], sensitive={"artist": ["Swift", "Radio", "Swift", "Kid Cudi"]})
    >>> round(HAffiliation(0.5, "artist").measure(classes).value, 4)
    0.6667
    """

    id: ClassVar[str] = "h-affiliation"
    title: ClassVar[str] = "h-affiliation"
    says: ClassVar[str] = "The largest share of a class's persons who have one sensitive value in common."
    source: ClassVar[str] = _SOURCE
    monotone: ClassVar[bool] = False
    better: ClassVar[Direction] = "lower"

    h: float
    sensitive: str
    unit: Unit | None = None
    harmless: tuple[str, ...] | None = None

    def __post_init__(self) -> None:
        need_number("h", self.h, high=1.0, above=True)
        need_column("sensitive", self.sensitive)
        need_unit(self.unit)
        if self.harmless is not None:
            object.__setattr__(self, "harmless", names("harmless", self.harmless))

    @property
    def threshold(self) -> float:
        return float(self.h)

    def describe(self) -> str:
        unit = Sentence(self.unit or "persons")
        if self.harmless:
            return Sentence(
                "no value of {sensitive!r} but {count} harmless ones is shared by more than {h:.4g} of the {unit} of a class",
                sensitive=self.sensitive,
                count=len(self.harmless),
                h=self.h,
                unit=unit,
            )
        return Sentence(
            "no value of {sensitive!r} is shared by more than {h:.4g} of the {unit} of a class",
            sensitive=self.sensitive,
            h=self.h,
            unit=unit,
        )

    def measured_in(self, classes: EquivalenceClasses) -> str:
        return f"share of {self.unit or 'persons'}"

    def per_class(self, classes: EquivalenceClasses) -> FloatArray:
        return affiliation(classes, self.sensitive, self.unit or "persons", self.harmless or ())

    def meaning(self, value: float, classes: EquivalenceClasses) -> str:
        if value >= 1:
            return "In at least one class everybody shares a sensitive value: it is disclosed."
        return Sentence("In the worst class {value:.0%} of the persons share a sensitive value.", value=value)
