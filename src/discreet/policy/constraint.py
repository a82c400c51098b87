"""A rule that the records of a table keep: the ``[[constraint]]`` part of a policy."""

from __future__ import annotations

from dataclasses import dataclass

from discreet.errors import InvalidParameter


@dataclass(frozen=True)
class Constraint:
    """A condition that holds for every record: an equation, an order, a pair of values that cannot be.

    ``holds`` is an expression over columns, in the language of KPIs. A record for which it cannot be told, because a value
    is missing, does not break it.

    >>> Constraint("stay", "discharge >= admission").holds
    'discharge >= admission'
    """

    name: str
    holds: str

    def __post_init__(self) -> None:
        object.__setattr__(self, "holds", self.holds.replace("\r\n", "\n").strip())
        if not self.name.strip() or not self.holds:
            raise InvalidParameter(
                "a constraint needs a name and what holds",
                remedy='for example holds = "discharge >= admission"',
            )
