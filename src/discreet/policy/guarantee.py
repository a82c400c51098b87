"""The requirement of differential privacy: a property of how a release was made, which no file shows by itself."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import ClassVar, Literal

from discreet.dp.amounts import Amount, exact, said
from discreet.errors import InvalidParameter
from discreet.sentences import Sentence


@dataclass(frozen=True)
class DifferentialPrivacy:
    """Everything that is released about the same people is together (ε, δ)-private, by person or by record.

    >>> DifferentialPrivacy(1, "1e-6").describe()
    'everything released is together (1, 1e-6)-differentially private for each person'
    >>> DifferentialPrivacy("1/3", unit="record").parameters()
    {'epsilon': '1/3', 'delta': 0, 'unit': 'record'}
    """

    epsilon: Amount
    delta: Amount = 0
    unit: Literal["person", "record"] = "person"

    id: ClassVar[str] = "differential-privacy"
    source: ClassVar[str] = (
        "Dwork, McSherry, Nissim and Smith, Calibrating Noise to Sensitivity in Private Data Analysis, 2006"
    )

    def __post_init__(self) -> None:
        if self.unit not in ("person", "record"):
            raise InvalidParameter(
                Sentence("the unit of differential-privacy is {unit!r}", unit=self.unit),
                remedy="choose person or record",
            )
        object.__setattr__(self, "epsilon", exact(self.epsilon, "epsilon"))
        object.__setattr__(self, "delta", exact(self.delta, "delta", zero=True, below_one=True))

    @property
    def limits(self) -> tuple[Fraction, Fraction]:
        """ε and δ as exact fractions."""
        return Fraction(self.epsilon), Fraction(self.delta)

    def parameters(self) -> dict[str, object]:
        """What stands in a policy file."""
        epsilon, delta = (_number(limit) for limit in self.limits)
        return {"epsilon": epsilon, "delta": delta, "unit": self.unit}

    def describe(self) -> Sentence:
        given = dict(zip(("epsilon", "delta"), map(said, self.limits), strict=True))
        if self.unit == "person":
            return Sentence(
                "everything released is together ({epsilon}, {delta})-differentially private for each person",
                **given,
            )
        return Sentence(
            "everything released is together ({epsilon}, {delta})-differentially private for each record",
            **given,
        )


def make_guarantee(parameters: dict[str, object]) -> DifferentialPrivacy:
    """The requirement from the parameters of a ``[[require]]`` entry."""
    unknown = sorted(set(parameters) - {"epsilon", "delta", "unit"})
    if unknown or "epsilon" not in parameters:
        raise InvalidParameter(
            Sentence("differential-privacy has no parameter {unknown!r}", unknown=unknown[0])
            if unknown
            else "differential-privacy lacks epsilon",
            remedy="write epsilon = 1, and if needed delta = 1e-6 and unit = 'person'",
        )
    return DifferentialPrivacy(**parameters)  # type: ignore[arg-type]


def _number(limit: Fraction) -> int | float | str:
    """An amount as a policy file has it: a number where that is exact, else a fraction as text."""
    if limit.denominator == 1:
        return int(limit)
    text = said(limit)
    return text if "/" in text else float(text)
