"""Requirements that are asked of one intruder, who knows some of the quasi-identifiers only."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import ClassVar

import numpy as np

from discreet.classes import EquivalenceClasses
from discreet.errors import InvalidParameter, InvalidPolicy
from discreet.measure import Direction, Measure
from discreet.privacy.base import DistributionModel, PrivacyModel
from discreet.privacy.events import LinkedKAnonymity
from discreet.sentences import Sentence
from discreet.types import BoolArray, FloatArray, IntArray


def seen_by(classes: EquivalenceClasses, knows: tuple[str, ...]) -> tuple[EquivalenceClasses, IntArray]:
    """The classes for somebody who knows some attributes, and for each of the given classes which of these it is in.

    >>> classes = EquivalenceClasses.from_columns({"age": [31, 31, 47], "sex": ["f", "m", "f"]})
    >>> seen, owner = seen_by(classes, ("sex",))
    >>> seen.records, owner
    (array([2, 1]), array([0, 1, 0]))
    """
    known = [name for name in knows if name in classes.names]
    if not known:
        return classes.recoded([], []), np.zeros(len(classes), dtype=np.int64)
    number, _ = classes.groups(known)
    # Both stand in the order of the values.
    _, owner = np.unique(number, return_inverse=True)
    return classes.project(known), owner.astype(np.int64)


def may_be_known(model: PrivacyModel) -> bool:
    """Whether a requirement can be asked of one intruder: what holds of all quasi-identifiers then holds of fewer, too."""
    reads_more = model.needs_attributes or model.needs_population or model.needs_guards
    whole = isinstance(model, LinkedKAnonymity) or (
        isinstance(model, DistributionModel) and not model.relative
    )
    return model.monotone and not reads_more and not whole


@dataclass(frozen=True)
class KnownBy(PrivacyModel):
    """A requirement on what one intruder sees, who knows the columns ``knows`` and no other quasi-identifier.

    It is asked of the classes that agree in these columns. Only requirements that merging keeps (monotone ones) can be asked so:
    what holds of all quasi-identifiers then holds of fewer, too.

    >>> from discreet.privacy import KAnonymity
    >>> classes = EquivalenceClasses.from_columns({"age": [31, 31, 47, 47], "sex": ["f", "m", "f", "m"]})
    >>> employer = KnownBy(KAnonymity(2), "employer", ("age",))
    >>> employer.satisfied(classes), KAnonymity(2).satisfied(classes)
    (True, False)
    """

    title: ClassVar[str] = "What one intruder knows"
    says: ClassVar[str] = "What is asked of somebody who knows some of the quasi-identifiers."

    model: PrivacyModel
    intruder: str
    knows: tuple[str, ...] | None = None

    def __post_init__(self) -> None:
        if not may_be_known(self.model):
            raise InvalidParameter(
                Sentence(
                    "{model} cannot be asked of one intruder: what holds of all quasi-identifiers need not hold of fewer, or it reads more "
                    "than what classes hold",
                    model=self.model.id,
                ),
                remedy="leave the intruder out, so that it is asked of all quasi-identifiers",
            )

    @property
    def id(self) -> str:  # type: ignore[override]
        """That of the requirement, by which a policy file names it."""
        return self.model.id

    @property
    def name(self) -> str:
        return self.model.name

    @property
    def source(self) -> str:  # type: ignore[override]
        return self.model.source

    @property
    def sensitive(self) -> str | None:  # type: ignore[override]
        return self.model.sensitive

    @property
    def threshold(self) -> float:
        return self.model.threshold

    @property
    def better(self) -> Direction:
        return self.model.better

    @property
    def exclusive(self) -> bool:
        return self.model.exclusive

    @property
    def needs_attributes(self) -> bool:
        return True

    @property
    def by_itself(self) -> PrivacyModel:
        """The requirement on all quasi-identifiers, which whoever knows fewer finds kept as well."""
        return self.model

    @property
    def named_values(self) -> tuple[str, ...]:
        return self.model.named_values

    def describe(self) -> str:
        return Sentence(
            "for {intruder}: {requirement}",
            intruder=self.intruder,
            requirement=Sentence(self.model.describe()),
        )

    def per_class(self, classes: EquivalenceClasses) -> FloatArray:
        seen, owner = seen_by(classes, self._known())
        return np.asarray(self.model.per_class(seen)[owner])

    def holds(self, classes: EquivalenceClasses) -> BoolArray:
        seen, owner = seen_by(classes, self._known())
        return np.asarray(self.model.holds(seen)[owner])

    def measure(self, classes: EquivalenceClasses) -> Measure:
        seen, owner = seen_by(classes, self._known())
        measure = self.model.measure(seen)
        per_class = None if measure.per_class is None else measure.per_class[owner]
        return replace(measure, per_class=per_class)

    def measured_in(self, classes: EquivalenceClasses) -> str:
        return self.model.measured_in(classes)

    def meaning(self, value: float, classes: EquivalenceClasses) -> str:
        return self.model.meaning(value, classes)

    def parameters(self) -> dict[str, object]:
        """Those of the requirement, and whose knowledge it is about."""
        known = {} if self.knows is None else {"knows": self.knows}
        return {**self.model.parameters(), "intruder": self.intruder, **known}

    def resolved(self, intruders: Mapping[str, tuple[str, ...]]) -> KnownBy:
        """With what the intruder knows, where it is told elsewhere."""
        return self if self.knows is not None else replace(self, knows=intruders.get(self.intruder))

    def _known(self) -> tuple[str, ...]:
        if self.knows is None:
            raise InvalidPolicy(
                [
                    Sentence(
                        "a requirement speaks of the intruder {intruder!r}, whom nobody describes",
                        intruder=self.intruder,
                    )
                ],
                remedy='say what they know: [[intruder]] name = "employer" columns = ["age", "sex"]',
            )
        return self.knows
