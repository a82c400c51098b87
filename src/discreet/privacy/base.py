"""What every privacy model offers: a requirement in words, a number for a table, and a mask over its classes."""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Iterable, Mapping
from dataclasses import MISSING, dataclass, fields
from typing import ClassVar, Literal, cast

import numpy as np

from discreet.classes import EquivalenceClasses, Histogram, Unit
from discreet.classes.kinds import ClassKinds
from discreet.classes.part import PartOfTable
from discreet.errors import EmptyTable, InvalidParameter
from discreet.measure import Direction, Measure, Wording
from discreet.sentences import Sentence
from discreet.table.domain import Domain
from discreet.types import BoolArray, FloatArray

Reference = Literal["release", "original"]
REFERENCES: tuple[Reference, ...] = ("release", "original")
TOLERANCE = 1e-9
"""Floats this close count as equal: a class split exactly in halves is entropy 2-diverse."""


class PrivacyModel(ABC):
    """A requirement on equivalence classes: takes parameters when made, and data when asked.

    ``id`` is the name in the policy file and ``name`` that of the literature (they differ where one model has
    several kinds). ``title`` is how people call it, ``says`` what its number says of any table, in one
    sentence; ``kinds`` holds both for names other than ``id``. ``monotone`` says whether merging classes, of
    an otherwise unchanged table, never breaks the requirement, so that a search may prune. ``per_class``
    gives the parameter that each class reaches, ``measure`` the one the table reaches, and ``holds`` decides,
    class by class.

    >>> from discreet.privacy import KAnonymity
    >>> classes = EquivalenceClasses.from_columns({"sex": ["f", "f", "m"]})
    >>> model = KAnonymity(2)
    >>> model.measure(classes).value, model.holds(classes).tolist(), model.satisfied(classes)
    (1.0, [True, False], False)
    """

    id: ClassVar[str]
    title: ClassVar[str]
    says: ClassVar[str]
    kinds: ClassVar[Mapping[str, Wording]] = {}
    source: ClassVar[str]
    monotone: ClassVar[bool] = True
    strict: ClassVar[bool] = False
    sensitive: str | None

    @property
    def name(self) -> str:
        """The name that the literature has for it."""
        return self.id

    @property
    @abstractmethod
    def threshold(self) -> float:
        """What ``measure`` is compared with."""

    @property
    def better(self) -> Direction:
        """Which direction of ``measure`` protects people."""
        return "higher"

    @property
    def absorbing(self) -> bool:
        """Whether a class meets the requirement as soon as one of the classes merged into it did.

        Stronger than ``monotone``: what a coarse class fails, each of its parts fails too, so a search may
        carry over to finer generalisations what a coarser one had to suppress.
        """
        return False

    @property
    def needs_attributes(self) -> bool:
        """Whether the quasi-identifiers' values are read, not only who and what is in each class."""
        return False

    @property
    def needs_population(self) -> bool:
        """Whether it asks who shares the values of each class outside the table."""
        return False

    @property
    def by_itself(self) -> PrivacyModel:
        """The requirement in a form that each class meets or fails whatever the others are, as strict at least."""
        return self

    @property
    def needs_guards(self) -> bool:
        """Whether it asks which nodes of a hierarchy the people of each class guard."""
        return False

    @property
    def named_values(self) -> tuple[str, ...]:
        """The sensitive values that it protects by name; one that no record has would protect nobody."""
        return ()

    @property
    def exclusive(self) -> bool:
        """Whether a value equal to the threshold already fails."""
        return self.strict

    @abstractmethod
    def describe(self) -> str:
        """The requirement in words."""

    @abstractmethod
    def per_class(self, classes: EquivalenceClasses) -> FloatArray:
        """The parameter each class reaches, in the terms of ``threshold``."""

    @abstractmethod
    def meaning(self, value: float, classes: EquivalenceClasses) -> str:
        """What the measured value says, for a layperson."""

    def measured_in(self, classes: EquivalenceClasses) -> str:
        """The unit of the measured value."""
        return ""

    def notes(self, classes: EquivalenceClasses, per_class: FloatArray) -> tuple[str, ...]:
        """What a reader must know besides the value."""
        return ()

    def measure(self, classes: EquivalenceClasses) -> Measure:
        """The best parameter that the whole table satisfies."""
        refuse_empty(classes)
        per_class = self.per_class(classes)
        value = float(per_class.min() if self.better == "higher" else per_class.max())
        return Measure(
            name=self.name,
            value=value,
            unit=self.measured_in(classes),
            better=self.better,
            meaning=self.meaning(value, classes),
            source=self.source,
            attribute=self.sensitive,
            per_class=per_class,
            notes=self.notes(classes, per_class),
        )

    def holds(self, classes: EquivalenceClasses) -> BoolArray:
        """Which classes meet the requirement."""
        refuse_empty(classes)
        return self.meets(self.per_class(classes))

    def meets(self, values: FloatArray) -> BoolArray:
        """Which values reach the threshold, up to ``TOLERANCE``."""
        sign = 1.0 if self.better == "higher" else -1.0
        margin = sign * (values - self.threshold)
        return np.asarray(margin > TOLERANCE if self.exclusive else margin >= -TOLERANCE)

    def satisfied(self, classes: EquivalenceClasses) -> bool:
        """Whether every class meets the requirement."""
        return bool(self.holds(classes).all())

    def parameters(self) -> dict[str, object]:
        """What the model was made with, without what was left at its default: ready for a policy file.

        >>> from discreet.privacy import LDiversity
        >>> LDiversity(3, "dx", kind="entropy").parameters()
        {'l': 3, 'sensitive': 'dx', 'kind': 'entropy'}
        """
        given: dict[str, object] = {}
        for parameter in fields(self):  # type: ignore[arg-type]  # every model is a dataclass
            value = getattr(self, parameter.name)
            if parameter.init and (parameter.default is MISSING or value != parameter.default):
                given[parameter.name] = dict(value) if isinstance(value, Mapping) else value
        return given


class DistributionModel(PrivacyModel):
    """A model that compares the sensitive values of each class with a reference distribution.

    ``reference`` says which: that of what is released (what whoever holds the file, ``check`` included, can
    compare with), or that of the original, suppressed records included (what papers write). Against the
    release, suppressing one class changes what is asked of the others.
    """

    sensitive: str
    reference: Reference

    @property
    def relative(self) -> bool:
        """Whether what is asked of a class depends on which others are released."""
        return self.reference == "release"

    @property
    def better(self) -> Direction:
        return "lower"

    @abstractmethod
    def distances(self, histogram: Histogram) -> FloatArray:
        """How far each class is from the whole of the histogram, in the terms of ``threshold``."""

    def distances_of(
        self, classes: EquivalenceClasses, chosen: BoolArray, *, alone: bool = False
    ) -> FloatArray:
        """How far the chosen classes are from the whole table, or from all of them if nothing else is released."""
        histogram = classes.histogram(self.sensitive)
        return self.distances(histogram if chosen.all() else histogram.subset(chosen, alone=alone))

    def close_together(self, classes: EquivalenceClasses, chosen: BoolArray) -> BoolArray:
        """Of the chosen classes those left when the failing ones go, in a release of what is left, until none fails."""
        left = chosen
        while left.any():
            holds = left.copy()
            holds[left] = self.meets(self.distances_of(classes, left, alone=True))
            if (holds == left).all():
                break
            left = holds
        return left

    @abstractmethod
    def within_reach(self, classes: EquivalenceClasses, chosen: BoolArray, share: float) -> BoolArray:
        """Which of the chosen classes may hold in some release that leaves out at most a ``share`` of the records.

        With P = (1 - s) Q + s R the distribution of all records, Q that of the release and R that of the
        records left out, no share q of a value in the release exceeds p / (1 - s), and none is below
        (p - s) / (1 - s).
        """

    def per_class(self, classes: EquivalenceClasses) -> FloatArray:
        return self.distances(classes.histogram(self.sensitive))

    def _whole(self) -> Sentence:
        """Where the shares lie that those of classes are compared with."""
        return Sentence("in the table") if self.relative else Sentence("in the original table")


class WithClassSize:
    """A model that also asks for ``k`` persons (or records) per class."""

    k: int
    unit: Unit | None

    def large_enough(self, classes: EquivalenceClasses) -> BoolArray:
        return np.asarray(classes.sizes(counted_in(self.unit, classes)) >= self.k)

    def size_note(self, classes: EquivalenceClasses) -> str:
        unit = counted_in(self.unit, classes)
        return Sentence(
            "the smallest class has {min} {unit}; required are {k}",
            min=int(classes.sizes(unit).min()),
            unit=Sentence(unit),
            k=self.k,
        )


@dataclass(frozen=True)
class Requirement:
    """One row of a table of requirements: what is asked, what was found, whether it holds."""

    model: PrivacyModel
    measure: Measure
    holds: bool
    failing_classes: int
    failing_records: int

    @property
    def description(self) -> str:
        return self.model.describe()

    @property
    def threshold(self) -> float:
        return self.model.threshold

    def to_dict(self) -> dict[str, object]:
        """A JSON-ready mapping."""
        return {
            "model": self.model.id,
            "description": self.description,
            "threshold": self.threshold,
            "measure": self.measure.to_dict(),
            "holds": self.holds,
            "failing_classes": self.failing_classes,
            "failing_records": self.failing_records,
        }


def assess(
    models: Iterable[PrivacyModel], classes: EquivalenceClasses, *, original: EquivalenceClasses | None = None
) -> tuple[Requirement, ...]:
    """Every requirement against one table; of a release, what compares with the ``original`` does if it is given.

    >>> from discreet.privacy import KAnonymity
    >>> classes = EquivalenceClasses.from_columns({"sex": ["f", "f", "m"]})
    >>> [row] = assess([KAnonymity(2)], classes)
    >>> row.description, row.measure.value, row.holds, row.failing_records
    ('every class has at least 2 persons', 1.0, False, 1)
    """
    rows = []
    for model in models:
        # What classes hold is the same for all of a kind; their values are not.
        apart = model.needs_attributes or model.needs_population or model.needs_guards
        asked = classes.whole if isinstance(classes, ClassKinds) and apart else classes
        if original is not None and isinstance(model, DistributionModel) and not model.relative:
            asked = PartOfTable.seen_from(original, classes)
        fails = ~model.holds(asked)
        rows.append(
            Requirement(
                model=model,
                measure=model.measure(asked),
                holds=not fails.any(),
                failing_classes=asked.how_many(fails),
                failing_records=int(asked.all_records[fails].sum()),
            )
        )
    return tuple(rows)


# ── what the models share ─────────────────────────────────────────────────────────────────────────────


def refuse_empty(classes: EquivalenceClasses) -> None:
    """No statement is made about nobody: every requirement would hold."""
    if not len(classes):
        raise EmptyTable("there are no equivalence classes", remedy="give a table with at least one record")


def counted_in(unit: Unit | None, classes: EquivalenceClasses) -> Unit:
    """``unit``, or if it was left open: persons where a person may have several records, else records."""
    return unit or ("persons" if classes.event_level else "records")


def record_note(classes: EquivalenceClasses) -> tuple[str, ...]:
    """Said wherever shares count records although a person may have several."""
    return ("counted in records: a person with many weighs more",) if classes.event_level else ()


def per_value(domain: Domain, given: Mapping[str, float], default: float) -> FloatArray:
    """One number for each value code, looked up by the value's label."""
    return np.array([given.get(label, default) for label in domain.labels()], dtype=np.float64)


def absent_labels_note(domain: Domain, named: Iterable[str]) -> tuple[str, ...]:
    """A note if values were named that the table does not have: a slip of the pen would protect nobody."""
    asked = set(named)
    absent = len(asked - set(domain.labels()))
    if not absent:
        return ()
    told = Sentence(
        "{absent} of the {asked} values named do not occur in {name!r}",
        absent=absent,
        asked=len(asked),
        name=domain.name,
    )
    return (told,)


def refuse_uncovered(domain: Domain, covered: Iterable[str], parameter: str) -> None:
    """Raise if a value of the attribute is missing from a parameter that must name them all."""
    missing = len(set(domain.labels()) - set(covered))
    if missing:
        raise InvalidParameter(
            Sentence(
                "{parameter!r} leaves out {missing} of the {size} values of {name!r}",
                parameter=parameter,
                missing=missing,
                size=domain.size,
                name=domain.name,
            ),
            remedy=Sentence("name every value of {name!r} (a null is written ∅)", name=domain.name),
        )


def need_whole(parameter: str, value: object, *, at_least: int = 1) -> None:
    """Raise unless ``value`` is a whole number that is large enough."""
    if isinstance(value, bool) or not isinstance(value, int | np.integer) or value < at_least:
        raise InvalidParameter(
            Sentence(
                "{parameter} must be a whole number of at least {at_least}, not {value}",
                parameter=parameter,
                at_least=at_least,
                value=repr(value),
            ),
            remedy=Sentence(
                "for example {parameter} = {at_least}", parameter=parameter, at_least=max(at_least, 2)
            ),
        )


def need_number(
    parameter: str, value: object, *, low: float = 0.0, high: float = math.inf, above: bool = False
) -> None:
    """Raise unless ``value`` is a finite number in [low, high], or in (low, high] if ``above``."""
    number = isinstance(value, int | float | np.number) and not isinstance(value, bool)
    if number:
        given = float(cast(float, value))
        if math.isfinite(given) and (given > low if above else given >= low) and given <= high:
            return
    bounds = Sentence("above {bound:g}", bound=low) if above else Sentence("at least {bound:g}", bound=low)
    if high < math.inf:
        bounds = Sentence("{least} and at most {most:g}", least=bounds, most=high)
    example = (low + high) / 2 if high < math.inf else low + 1
    raise InvalidParameter(
        Sentence(
            "{parameter} must be a number {bounds}, not {value}",
            parameter=parameter,
            bounds=bounds,
            value=repr(value),
        ),
        remedy=Sentence("for example {parameter} = {example:g}", parameter=parameter, example=example),
    )


def need_choice(parameter: str, value: object, choices: tuple[str, ...]) -> None:
    """Raise unless ``value`` is one of ``choices``."""
    if value not in choices:
        raise InvalidParameter(
            Sentence(
                "{parameter} must be one of {choices}, not {value}",
                parameter=parameter,
                choices=tuple(choices),
                value=repr(value),
            ),
            remedy=Sentence("for example {parameter} = {choices!r}", parameter=parameter, choices=choices[0]),
        )


def need_unit(value: object) -> None:
    if value is not None:
        need_choice("unit", value, ("persons", "records"))


def need_column(parameter: str, value: object) -> None:
    """Raise unless ``value`` can be the name of a column."""
    if not isinstance(value, str) or not value:
        raise InvalidParameter(
            Sentence("{parameter} must name a column", parameter=parameter),
            remedy=Sentence('for example {parameter} = "diagnosis"', parameter=parameter),
        )


def need_mapping(parameter: str, value: object) -> None:
    """Raise unless ``value`` is a mapping from value labels with at least one entry."""
    if not isinstance(value, Mapping) or not value or not all(isinstance(label, str) for label in value):
        raise InvalidParameter(
            Sentence("{parameter} must map at least one value, written as text", parameter=parameter),
            remedy="write every value as it prints",
        )
