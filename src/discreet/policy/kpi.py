"""A key figure of the user's own: the ``[[kpi]]`` part of a policy."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Literal, get_args

from discreet.errors import InvalidParameter
from discreet.sentences import Sentence

Generalised = Literal["refuse", "midpoint"]
GENERALISED: tuple[Generalised, ...] = get_args(Generalised)


@dataclass(frozen=True)
class Kpi:
    """A query that is run on the original and on the release: what the release is used for.

    ``query`` selects from the table ``data``; its last column is the figure, columns before it name the
    group. ``tolerance`` is the largest relative error that is accepted in any group. ``generalised`` says how
    numbers that became intervals are seen: ``"refuse"`` leaves them text, with which nothing can be computed;
    ``"midpoint"`` reads an interval as its middle and ``*`` as null.

    >>> Kpi("mean age", "select avg(age) from data", tolerance=0.05).generalised
    'refuse'
    """

    name: str
    query: str
    tolerance: float | None = None
    description: str = ""
    generalised: Generalised = "refuse"

    def __post_init__(self) -> None:
        object.__setattr__(self, "query", self.query.replace("\r\n", "\n").strip())
        if not self.name.strip() or not self.query:
            raise InvalidParameter("a KPI needs a name and a query", remedy='for example query = "…"')
        if self.tolerance is not None and not (math.isfinite(self.tolerance) and self.tolerance >= 0):
            raise InvalidParameter(
                Sentence(
                    "the tolerance of KPI {name!r} is {tolerance}", name=self.name, tolerance=self.tolerance
                ),
                remedy="give the largest acceptable relative error, such as 0.05, or leave it out",
            )
        if self.generalised not in GENERALISED:
            raise InvalidParameter(
                Sentence(
                    "KPI {name!r} has generalised = {generalised}",
                    name=self.name,
                    generalised=repr(self.generalised),
                ),
                remedy=Sentence("choose one of: {choices}", choices=tuple(GENERALISED)),
            )
