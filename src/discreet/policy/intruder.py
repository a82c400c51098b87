"""Who may know which quasi-identifiers: the ``[[intruder]]`` part of a policy."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from discreet.errors import InvalidParameter
from discreet.privacy.confidence import names
from discreet.sentences import Sentence

Judged = Literal["together", "separately"]
"""Of whom profile and policy ask what names no intruder: of somebody who knows all quasi-identifiers, or of each intruder."""
EVERYBODY = "*"
"""Names each intruder in a requirement."""


@dataclass(frozen=True)
class Intruder:
    """Somebody who may know these quasi-identifiers about people in the table, and no other.

    >>> Intruder("employer", ("age", "sex")).describe()
    'employer knows age and sex'
    """

    name: str
    columns: tuple[str, ...]

    def __post_init__(self) -> None:
        given = names("columns", self.columns)
        object.__setattr__(self, "columns", given)
        if not self.name.strip() or self.name == EVERYBODY or len(set(given)) < len(given):
            raise InvalidParameter(
                "an intruder needs a name and the columns that they know, each once",
                remedy='for example name = "employer" and columns = ["age", "sex"]',
            )

    def describe(self) -> str:
        """The intruder on one line."""
        return Sentence("{name} knows {columns:and}", name=self.name, columns=self.columns)
