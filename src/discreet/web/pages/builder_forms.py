"""The builders of hierarchies as small forms: their parameters as text, and a first proposal for a column."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np

from discreet.errors import InvalidParameter
from discreet.table.domain import Domain
from discreet.table.hierarchies.dates import PERIODS
from discreet.table.hierarchies.registry import BUILDERS
from discreet.web.hierarchies import Spec

LEARNED = "learned"
BY_HAND = "sets"
CHOICES = (LEARNED, *(one for one in BUILDERS if one != BY_HAND), BY_HAND)
"""Every way to make a hierarchy, in the order in which they are offered."""
Kind = Literal["numbers", "number", "cuts", "lines", "text", "choice", "several"]


@dataclass(frozen=True)
class Field:
    """One parameter of a builder. ``choices`` are those of a choice; the first one is the default."""

    name: str
    kind: Kind
    choices: tuple[str, ...] = ()


FIELDS: Mapping[str, tuple[Field, ...]] = {
    "intervals": (
        Field("widths", "numbers"),
        Field("cuts", "cuts"),
        Field("groups", "numbers"),
        Field("below", "number"),
        Field("above", "number"),
        Field("start", "number"),
    ),
    "rounding": (Field("steps", "numbers"), Field("direction", "choice", ("nearest", "down"))),
    "order": (Field("sizes", "numbers"), Field("order", "lines")),
    "mask": (
        Field("characters", "numbers"),
        Field("side", "choice", ("right", "left")),
        Field("character", "text"),
        Field("padding", "text"),
        Field("align", "choice", ("left", "right")),
    ),
    "dates": (Field("levels", "several", PERIODS), Field("format", "text")),
    "zip": (Field("lengths", "numbers"),),
}
"""The parameters of each builder that has some. Sets have an editor of their own."""


def parsed(builder: str, given: Mapping[str, Sequence[str]]) -> Spec:
    """What a filled form asks for, as the policy file has it.

    >>> parsed("intervals", {"cuts": ["18, 30, 65; 30"], "above": [""]})
    {'builder': 'intervals', 'cuts': [[18, 30, 65], [30]]}
    """
    if builder == LEARNED:
        return None
    if builder not in BUILDERS:
        raise InvalidParameter("there is no such builder", remedy=f"choose from: {', '.join(BUILDERS)}")
    spec: dict[str, Any] = {"builder": builder}
    for field in FIELDS.get(builder, ()):
        value = _value(field, [one for one in given.get(field.name, ()) if one.strip(" \t\r\n")])
        if value not in (None, [], ""):
            spec[field.name] = value
    return spec


def _value(field: Field, given: Sequence[str]) -> object:
    if not given:
        return None
    text = given[0]
    if field.kind == "numbers":
        return _numbers(field, text)
    if field.kind == "number":
        return _numbers(field, text)[0]
    if field.kind == "cuts":
        return [_numbers(field, part) for part in text.replace("\n", ";").split(";") if part.strip()]
    if field.kind == "lines":
        return [line.strip() for line in text.splitlines() if line.strip()]
    if field.kind == "several":
        return [one for one in field.choices if one in given]
    if field.kind == "choice":
        # The default need not be said.
        return None if text == field.choices[0] else text
    return text


def _numbers(field: Field, text: str) -> list[float]:
    found = []
    for part in text.replace(",", " ").split():
        try:
            number = float(part)
        except ValueError:
            number = math.nan
        if not math.isfinite(number):
            raise InvalidParameter(f"{field.name} must be numbers", remedy="write for example 5, 10, 20")
        found.append(int(number) if number.is_integer() else number)
    if not found:
        raise InvalidParameter(f"{field.name} must be numbers", remedy="write for example 5, 10, 20")
    return found


def filled(builder: str, spec: Spec) -> list[dict[str, Any]]:
    """The fields of a form with what a specification says.

    >>> [one["value"] for one in filled("zip", {"builder": "zip", "lengths": [3, 1]})]
    ['3, 1']
    """
    known = spec if isinstance(spec, dict) and spec.get("builder") == builder else {}
    return [
        {
            "name": field.name,
            "kind": field.kind,
            "choices": field.choices,
            "value": _text(field, known.get(field.name)),
        }
        for field in FIELDS.get(builder, ())
    ]


def _text(field: Field, value: Any) -> Any:
    if value is None:
        return field.choices[0] if field.kind == "choice" else [] if field.kind == "several" else ""
    if field.kind == "cuts":
        levels = value if value and isinstance(value[0], list) else [value]
        return "; ".join(", ".join(f"{one:.15g}" for one in level) for level in levels)
    if field.kind == "numbers":
        return ", ".join(f"{one:.15g}" for one in value)
    if field.kind == "number":
        return f"{value:.15g}"
    return "\n".join(map(str, value)) if field.kind == "lines" else value


def proposal(builder: str, domain: Domain) -> Spec:
    """Parameters to begin with, that suit the values of a column.

    >>> import pyarrow as pa
    >>> proposal("intervals", Domain("age", pa.array([17, 34, 93])))
    {'builder': 'intervals', 'widths': [5, 10, 20]}
    """
    if builder == LEARNED:
        return None
    found: dict[str, object] = {}
    if builder == "intervals":
        found = {"widths": [_times(_width(domain), by) for by in (1, 2, 4)]}
    elif builder == "rounding":
        found = {"steps": [_times(_width(domain), by) for by in (1, 10)]}
    elif builder == "order":
        found = {"sizes": [2, 4]}
    elif builder in ("mask", "zip"):
        longest = max((len(domain.label(code)) for code in range(len(domain.values))), default=1)
        hidden = list(range(1, min(max(longest, 2), 4)))
        found = {"characters": hidden} if builder == "mask" else {"lengths": _prefixes(longest)}
    elif builder == "dates":
        found = {"levels": ["month", "quarter", "year", "decade"]}
    return {"builder": builder, **found}


def _prefixes(longest: int) -> list[int]:
    return [one for one in (5, 4, 3, 2, 1) if one < longest][-3:] or [1]


def _width(domain: Domain) -> float:
    """A round number of which about sixteen go into the range of the values: 1, 2 or 5 times a power of ten."""
    numbers = domain.numbers[np.isfinite(domain.numbers)]
    span = float(numbers.max() - numbers.min()) if len(numbers) else 0.0
    if span <= 0:
        return 1.0
    power = math.floor(math.log10(span / 16))
    return next(one * 10.0**power for one in (1, 2, 5, 10) if one * 10.0**power >= span / 16)


def _times(width: float, by: int) -> float:
    found = float(f"{width * by:.12g}")
    return int(found) if found.is_integer() else found
