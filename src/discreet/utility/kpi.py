"""What a release does to the figures it is used for: the answers to one query, before and after."""

from __future__ import annotations

import datetime as dt
import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from decimal import Decimal
from statistics import fmean, median

import pyarrow as pa

from discreet.errors import InvalidParameter
from discreet.table.values import number_text

SOURCE = "Singer, Enhancing Privacy in Car Data (University of Stuttgart 2023), section 4.4.4: Utility Demonstrator"
TIE = 1e-12
"""Errors that differ by no more than this are equal: sums of the same numbers in another order differ so."""

Key = tuple[str | None, ...]


@dataclass(frozen=True)
class KpiGroup:
    """One figure before and after; ``released`` is ``None`` where the release cannot tell it any more.

    >>> round(KpiGroup(("EV",), 0.40, 0.42).error, 6)
    0.05
    >>> KpiGroup(("Hybrid",), 0.38, None).error is None, KpiGroup((), 0.0, 2.0).absolute
    (True, True)
    """

    key: Key
    original: float
    released: float | None

    @property
    def absolute(self) -> bool:
        """Whether the error is an absolute one: nothing is relative to zero."""
        return self.original == 0

    @property
    def error(self) -> float | None:
        """|r - o| / |o|; where o is 0, |r|; nothing where the figure is not answerable."""
        if self.released is None:
            return None
        return abs(self.released - self.original) / (1.0 if self.absolute else abs(self.original))

    def to_dict(self) -> dict[str, object]:
        return {**vars(self), "key": list(self.key), "error": self.error, "absolute": self.absolute}


@dataclass(frozen=True)
class KpiResult:
    """How well a release answers one query, group by group.

    ``by`` names the columns that tell the groups apart (none: the query gives one figure); ``only_in_release``
    counts groups that the original does not have, such as ``*``; ``reason`` says why no group is answerable.

    >>> groups = (KpiGroup(("EV",), 0.40, 0.42), KpiGroup(("Gas",), 0.50, 0.50), KpiGroup(("Hybrid",), 0.38, None))
    >>> result = KpiResult("touchscreen", groups, by=("engine",), tolerance=0.1)
    >>> round(result.answerable_share, 3), round(result.max_error, 3), result.holds
    (0.667, 0.05, False)
    """

    name: str
    groups: tuple[KpiGroup, ...] = field(repr=False)
    by: tuple[str, ...] = ()
    only_in_release: int = 0
    tolerance: float | None = None
    description: str = ""
    generalised: str = "refuse"
    reason: str = ""

    @property
    def errors(self) -> tuple[float, ...]:
        """The errors of the groups that are answerable."""
        return tuple(group.error for group in self.groups if group.error is not None)

    @property
    def answerable_share(self) -> float:
        """Share of the original's groups that the release still has a figure for."""
        return len(self.errors) / len(self.groups)

    @property
    def answerable(self) -> bool:
        """Whether the release has a figure for every group."""
        return len(self.errors) == len(self.groups)

    @property
    def mean_error(self) -> float | None:
        return fmean(self.errors) if self.errors else None

    @property
    def median_error(self) -> float | None:
        return median(self.errors) if self.errors else None

    @property
    def max_error(self) -> float | None:
        return max(self.errors, default=None)

    @property
    def holds(self) -> bool | None:
        """Whether every group is answerable with at most the tolerated error; nothing if none was named."""
        if self.tolerance is None:
            return None
        return self.answerable and max(self.errors) <= self.tolerance + TIE

    def to_dict(self, *, groups: bool = True) -> dict[str, object]:
        """A JSON-ready mapping; without ``groups`` it tells no figure of the original."""
        plain: dict[str, object] = {
            "name": self.name,
            "description": self.description,
            "generalised": self.generalised,
            "by": list(self.by),
            "count": len(self.groups),
            "answerable_share": self.answerable_share,
            "mean_error": self.mean_error,
            "median_error": self.median_error,
            "max_error": self.max_error,
            "only_in_release": self.only_in_release,
            "tolerance": self.tolerance,
            "holds": self.holds,
            "reason": self.reason,
            "source": SOURCE,
        }
        return {**plain, "groups": [group.to_dict() for group in self.groups]} if groups else plain


def compare_answers(
    name: str,
    original: pa.Table,
    release: pa.Table | None,
    *,
    tolerance: float | None = None,
    description: str = "",
    generalised: str = "refuse",
    reason: str = "",
) -> KpiResult:
    """The answers to one query on the original and on the release (``None``: it has none, for a ``reason``).

    The last column is the figure, those before it are the group's key; keys are matched as they print, so that
    a number 2 and a text "2" are the same key. A figure that is null, not finite or missing is not answerable.
    Per group |r - o| / |o| (|r| where o is 0); groups without a figure in the original are left out.
    Singer, "Enhancing Privacy in Car Data" (2023), section 4.4.4: the utility demonstrator.

    >>> before = pa.table({"engine": ["EV", "Gas", "Hybrid"], "km": [10.0, 20.0, 30.0]})
    >>> after = pa.table({"engine": ["EV", "{Gas, Hybrid}"], "km": [11.0, 25.0]})
    >>> result = compare_answers("km per trip", before, after)
    >>> [(group.key, group.released) for group in result.groups], result.only_in_release, result.errors
    ([(('EV',), 11.0), (('Gas',), None), (('Hybrid',), None)], 1, (0.1,))
    """
    known = {key: value for key, value in figures(original).items() if value is not None}
    if not known:
        raise InvalidParameter("the query gives no figure", remedy="check its conditions")
    released: Mapping[Key, float | None] = {}
    if release is not None:
        try:
            released = figures(release)
        except InvalidParameter as error:
            reason = error.message
    if not reason and not any(released.get(key) is not None for key in known):
        reason = "the release gives no figure for any group of the original"
    return KpiResult(
        name,
        tuple(KpiGroup(key, value, released.get(key)) for key, value in known.items()),
        by=tuple(original.column_names[:-1]),
        only_in_release=sum(value is not None and key not in known for key, value in released.items()),
        tolerance=tolerance,
        description=description,
        generalised=generalised,
        reason=reason,
    )


def figures(answer: pa.Table) -> dict[Key, float | None]:
    """The figures of an answer by the key of their group; ``None`` for null and what is not finite.

    >>> figures(pa.table({"seats": [2, 5], "trips": [70, None]}))
    {('2',): 70.0, ('5',): None}
    """
    kind = answer.schema.types[-1]
    if not (pa.types.is_integer(kind) or pa.types.is_floating(kind) or pa.types.is_decimal(kind)):
        raise InvalidParameter(
            "the last column of the answer is not a number", remedy="put the figure last, the keys before it"
        )
    *keys, values = (column.to_pylist() for column in answer.columns)
    by_key: dict[Key, float | None] = {}
    for i, value in enumerate(values):
        key = tuple(printed(column[i]) for column in keys)
        if key in by_key:
            raise InvalidParameter(
                "the answer has several rows for one group", remedy="group by all columns but the last"
            )
        number = math.nan if value is None else float(value)
        by_key[key] = number if math.isfinite(number) else None
    return by_key


def printed(value: object) -> str | None:
    """A key as it prints, the same whether a number came as integer, float, decimal or text.

    >>> [printed(value) for value in (2, 2.0, Decimal("2.00"), "2", True, None)]
    ['2', '2', '2', '2', 'true', None]
    """
    if value is None:
        return None
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, float | Decimal) and math.isfinite(value):
        return number_text(float(value))
    if isinstance(value, dt.datetime):
        return value.isoformat(sep=" ")
    return str(value)
