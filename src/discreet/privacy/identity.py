"""k-anonymity: nobody is alone with a combination of quasi-identifiers."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import ClassVar

import numpy as np

from discreet.classes import EquivalenceClasses, Unit
from discreet.privacy.base import PrivacyModel, counted_in, need_unit, need_whole
from discreet.sentences import Sentence
from discreet.types import FloatArray


@dataclass(frozen=True)
class KAnonymity(PrivacyModel):
    """Every equivalence class has at least ``k`` persons (or records).

    k(T) = min over classes E of their size. With ``unit="persons"`` it is (X,Y)-anonymity with X the
    quasi-identifiers and Y the person: distinct persons are counted, however many records they have.
    ``unit=None`` counts persons where a person may have several records, else records. A null in a
    quasi-identifier is a value of its own, so its record is not dropped.

    Monotone: a merged class has at least the persons of each of its parts.

    Samarati and Sweeney 1998; Sweeney, "k-anonymity: a model for protecting privacy", 2002.
    (X,Y)-anonymity: Wang and Fung, "Anonymizing sequential releases", KDD 2006.

    >>> classes = EquivalenceClasses.from_columns({"sex": ["f", "f", "f", "m"]}, person=[1, 1, 2, 3])
    >>> KAnonymity(2).measure(classes).per_class, KAnonymity(2, unit="records").measure(classes).per_class
    (array([2., 1.]), array([3., 1.]))
    """

    id: ClassVar[str] = "k-anonymity"
    title: ClassVar[str] = "k-anonymity"
    says: ClassVar[str] = "The size of the smallest class: how many share the rarest combination of values."
    source: ClassVar[str] = "Sweeney, k-anonymity: a model for protecting privacy, 2002"
    absorbing: ClassVar[bool] = True

    k: int
    unit: Unit | None = None
    sensitive: None = field(default=None, init=False, repr=False)

    def __post_init__(self) -> None:
        need_whole("k", self.k)
        need_unit(self.unit)

    @property
    def threshold(self) -> float:
        return float(self.k)

    def describe(self) -> str:
        return Sentence(
            "every class has at least {k} {unit}", k=self.k, unit=Sentence(self.unit or "persons")
        )

    def measured_in(self, classes: EquivalenceClasses) -> str:
        return counted_in(self.unit, classes)

    def per_class(self, classes: EquivalenceClasses) -> FloatArray:
        return classes.sizes(counted_in(self.unit, classes)).astype(np.float64)

    def meaning(self, value: float, classes: EquivalenceClasses) -> str:
        unit = counted_in(self.unit, classes)
        if value == 1:
            return Sentence(
                "At least one of the {unit} is alone with its combination of quasi-identifiers.",
                unit=Sentence(unit),
            )
        return Sentence(
            "Everybody hides among at least {value:.0f} {unit} with the same quasi-identifiers.",
            value=value,
            unit=Sentence(unit),
        )

    def notes(self, classes: EquivalenceClasses, per_class: FloatArray) -> tuple[str, ...]:
        return ("a null in a quasi-identifier is a value of its own, and two nulls are equal",)
