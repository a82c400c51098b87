"""A regression that recipients will run: the ``[[analysis]]`` part of a policy."""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import cached_property

from discreet.errors import InvalidParameter
from discreet.sentences import Sentence

Term = tuple[str, ...]
"""The columns whose product is a term; one column for itself."""

_NAME = re.compile(r"\s*(?:`([^`]+)`\s*|([^~+:*`()^|]+))")


@dataclass(frozen=True)
class Analysis:
    """A regression by its formula: a column, ``~``, and the terms that it is explained by.

    ``+`` adds a term, ``a:b`` is the product of two columns, ``a * b`` both and their product. Names with signs of the
    formula in them stand between backticks. A column of numbers is explained by a linear regression, one of two values by a
    logistic one.

    >>> Analysis("income ~ age * sex").outcome, Analysis("income ~ age * sex").terms
    ('income', (('age',), ('sex',), ('age', 'sex')))
    """

    formula: str
    name: str = ""

    def __post_init__(self) -> None:
        object.__setattr__(self, "formula", " ".join(self.formula.split()))
        if not self.name.strip():
            object.__setattr__(self, "name", self.formula)
        outcome, terms = self._parsed
        if (outcome,) in terms:
            raise InvalidParameter(
                Sentence(
                    "the analysis {name!r} explains {outcome!r} by itself", name=self.name, outcome=outcome
                ),
                remedy="leave it out on the right of ~",
            )

    @property
    def outcome(self) -> str:
        """The column that is explained."""
        return self._parsed[0]

    @property
    def terms(self) -> tuple[Term, ...]:
        """What it is explained by, besides a constant."""
        return self._parsed[1]

    @property
    def columns(self) -> tuple[str, ...]:
        """All columns of the formula, each once."""
        return tuple(dict.fromkeys([self.outcome, *(name for term in self.terms for name in term)]))

    @cached_property
    def _parsed(self) -> tuple[str, tuple[Term, ...]]:
        at, outcome = self._name(0)
        at = self._sign(at, "~")
        terms: list[Term] = []
        while True:
            at, first = self._name(at)
            factors, signs = [first], set()
            while at < len(self.formula) and self.formula[at] in ":*":
                signs.add(self.formula[at])
                at, another = self._name(at + 1)
                factors.append(another)
            if len(signs) > 1 or len(set(factors)) < len(factors) or len(factors) > 3:
                raise self._error()
            if "*" in signs:
                terms += [(factor,) for factor in factors]
                terms += [(a, b) for i, a in enumerate(factors) for b in factors[i + 1 :]]
            if "*" not in signs or len(factors) > 2:
                terms.append(tuple(factors))
            if at == len(self.formula):
                return outcome, tuple(dict.fromkeys(terms))
            at = self._sign(at, "+")

    def _name(self, at: int) -> tuple[int, str]:
        match = _NAME.match(self.formula, at)
        if match is None or not (name := (match.group(1) or match.group(2)).strip()):
            raise self._error()
        return match.end(), name

    def _sign(self, at: int, sign: str) -> int:
        if self.formula[at : at + 1] != sign:
            raise self._error()
        return at + 1

    def _error(self) -> InvalidParameter:
        return InvalidParameter(
            Sentence("the formula {formula!r} cannot be read", formula=self.formula),
            remedy="write it as: income ~ age + sex, with a:b for products, and names with other signs between backticks",
        )
