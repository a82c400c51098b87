"""What it costs to take one value for another: the ``[[mistake]]`` part of a policy."""

from __future__ import annotations

import math
from dataclasses import dataclass

from discreet.errors import InvalidParameter
from discreet.sentences import Sentence


@dataclass(frozen=True)
class Mistake:
    """Taking ``value`` of a column for ``taken_for`` (for any other value, if it is left out) costs so much; what is not named costs 1.

    >>> Mistake("income", ">50K", 5).describe()
    'income: >50K for another costs 5'
    """

    column: str
    value: str
    cost: float
    taken_for: str | None = None

    def __post_init__(self) -> None:
        if isinstance(self.cost, bool) or not math.isfinite(self.cost) or self.cost < 0:
            raise InvalidParameter(
                Sentence("the cost of a mistake about {column!r} is no number from 0 on", column=self.column),
                remedy="for example cost = 5",
            )
        if self.value == self.taken_for:
            raise InvalidParameter(
                Sentence("a mistake about {column!r} takes a value for itself", column=self.column),
                remedy="name two values",
            )

    def describe(self) -> str:
        """The mistake on one line."""
        other = Sentence("another") if self.taken_for is None else self.taken_for
        return Sentence(
            "{column}: {value} for {other} costs {cost:g}",
            column=self.column,
            value=self.value,
            other=other,
            cost=self.cost,
        )
