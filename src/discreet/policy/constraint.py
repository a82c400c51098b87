"""A rule that the records of a table keep: the ``[[constraint]]`` part of a policy."""

from __future__ import annotations

from dataclasses import dataclass

from discreet.errors import InvalidParameter


@dataclass(frozen=True)
class Constraint:
    """What every record keeps: a condition that ``holds``, or that a ``column`` ``follows`` from others.

    ``holds`` is an expression over columns, in the language of KPIs: an equation, an order, a pair of values that cannot be.
    A record for which it cannot be told, because a value is missing, does not break it. A column follows from others if
    records that agree in them have the same value of it (a functional dependency).

    >>> Constraint("stay", "discharge >= admission").holds
    'discharge >= admission'
    >>> Constraint("county", column="county", follows=("postcode",)).condition
    'county follows from postcode'
    """

    name: str
    holds: str = ""
    column: str = ""
    follows: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        object.__setattr__(self, "holds", self.holds.replace("\r\n", "\n").strip())
        object.__setattr__(self, "follows", tuple(self.follows))
        dependent = bool(self.column and self.follows)
        if not self.name.strip() or bool(self.holds) == dependent or bool(self.column) != bool(self.follows):
            raise InvalidParameter(
                "a constraint needs a name and what holds, or a column and what it follows from",
                remedy='for example holds = "discharge >= admission", or column = "county" and follows = ["postcode"]',
            )
        if self.column in self.follows:
            raise InvalidParameter(
                "a constraint lets a column follow from itself",
                remedy="name the columns that it follows from",
            )

    @property
    def condition(self) -> str:
        """What every record keeps, as it is read."""
        return self.holds or f"{self.column} follows from {', '.join(self.follows)}"

    def to_dict(self) -> dict[str, object]:
        """The entry of a policy file."""
        if self.holds:
            return {"name": self.name, "holds": self.holds}
        return {"name": self.name, "column": self.column, "follows": list(self.follows)}
