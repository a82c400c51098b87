"""The forms of the builders of hierarchies: their parameters as text, and a first proposal for a column."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any, Literal

import numpy as np

from discreet.errors import InvalidParameter
from discreet.sentences import Sentence
from discreet.table.domain import Domain
from discreet.table.hierarchies.dates import PERIODS
from discreet.table.hierarchies.registry import BUILDERS
from discreet.web.hierarchies import Spec

LEARNED = "learned"
BY_HAND = "sets"
CHOICES = (LEARNED, *(builder for builder in BUILDERS if builder != BY_HAND), BY_HAND)
"""Every way to make a hierarchy, in the order in which they are offered."""
FieldKind = Literal["numbers", "number", "cuts", "lines", "text", "choice", "several"]


@dataclass(frozen=True)
class BuilderField:
    """One parameter of a builder. ``choices`` are those of a choice; the first one is the default."""

    name: str
    kind: FieldKind
    choices: tuple[str, ...] = ()


FIELDS: Mapping[str, tuple[BuilderField, ...]] = {
    "intervals": (
        BuilderField("widths", "numbers"),
        BuilderField("cuts", "cuts"),
        BuilderField("groups", "numbers"),
        BuilderField("below", "number"),
        BuilderField("above", "number"),
        BuilderField("start", "number"),
    ),
    "rounding": (BuilderField("steps", "numbers"), BuilderField("direction", "choice", ("nearest", "down"))),
    "order": (BuilderField("sizes", "numbers"), BuilderField("order", "lines")),
    "mask": (
        BuilderField("characters", "numbers"),
        BuilderField("side", "choice", ("right", "left")),
        BuilderField("character", "text"),
        BuilderField("padding", "text"),
        BuilderField("align", "choice", ("left", "right")),
    ),
    "dates": (BuilderField("levels", "several", PERIODS), BuilderField("format", "text")),
    "zip": (BuilderField("lengths", "numbers"),),
}
"""The parameters of each builder that has some. Sets have an editor of their own."""


def parsed(builder: str, given: Mapping[str, Sequence[str]]) -> Spec:
    """The specification that a filled form gives, as the policy file has it.

    >>> parsed("intervals", {"cuts": ["18, 30, 65; 30"], "above": [""]})
    {'builder': 'intervals', 'cuts': [[18, 30, 65], [30]]}
    """
    if builder == LEARNED:
        return None
    if builder not in BUILDERS:
        raise InvalidParameter(
            Sentence("there is no such {what}", what=Sentence("builder")),
            remedy=Sentence("choose from: {builders}", builders=", ".join(BUILDERS)),
        )
    spec: dict[str, Any] = {"builder": builder}
    for field in FIELDS.get(builder, ()):
        value = _value(field, [text for text in given.get(field.name, ()) if text.strip(" \t\r\n")])
        if value not in (None, [], ""):
            spec[field.name] = value
    return spec


def _value(field: BuilderField, given: Sequence[str]) -> object:
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
        return [choice for choice in field.choices if choice in given]
    if field.kind == "choice":
        # The default need not be said.
        return None if text == field.choices[0] else text
    return text


def _numbers(field: BuilderField, text: str) -> list[float]:
    numbers: list[float] = []
    for part in text.replace(",", " ").split():
        try:
            number = float(part)
        except ValueError:
            number = math.nan
        if not math.isfinite(number):
            raise InvalidParameter(
                Sentence("{name} must be numbers", name=field.name), remedy="write for example 5, 10, 20"
            )
        numbers.append(int(number) if number.is_integer() else number)
    if not numbers:
        raise InvalidParameter(
            Sentence("{name} must be numbers", name=field.name), remedy="write for example 5, 10, 20"
        )
    return numbers


def filled(builder: str, spec: Spec) -> list[dict[str, Any]]:
    """The fields of a form, filled with the parameters of a specification.

    >>> [field["value"] for field in filled("zip", {"builder": "zip", "lengths": [3, 1]})]
    ['3, 1']
    """
    known = spec if isinstance(spec, dict) and spec.get("builder") == builder else {}
    return [
        {**asdict(field), "value": _text(field, known.get(field.name))} for field in FIELDS.get(builder, ())
    ]


def _text(field: BuilderField, value: Any) -> Any:
    if value is None:
        return field.choices[0] if field.kind == "choice" else [] if field.kind == "several" else ""
    if field.kind == "cuts":
        levels = value if value and isinstance(value[0], list) else [value]
        return "; ".join(", ".join(f"{cut:.15g}" for cut in level) for level in levels)
    if field.kind == "numbers":
        return ", ".join(f"{number:.15g}" for number in value)
    if field.kind == "number":
        return f"{value:.15g}"
    return "\n".join(map(str, value)) if field.kind == "lines" else value


def proposal(builder: str, domain: Domain) -> Spec:
    """First parameters that suit the values of a column.

    >>> import pyarrow as pa
    >>> proposal("intervals", Domain("age", pa.array([17, 34, 93])))
    {'builder': 'intervals', 'widths': [5, 10, 20]}
    """
    if builder == LEARNED:
        return None
    parameters: dict[str, object] = {}
    if builder == "intervals":
        parameters = {"widths": [_times(_width(domain), by) for by in (1, 2, 4)]}
    elif builder == "rounding":
        parameters = {"steps": [_times(_width(domain), by) for by in (1, 10)]}
    elif builder == "order":
        parameters = {"sizes": [2, 4]}
    elif builder in ("mask", "zip"):
        longest = max((len(domain.label(code)) for code in range(len(domain.values))), default=1)
        hidden = list(range(1, min(max(longest, 2), 4)))
        parameters = {"characters": hidden} if builder == "mask" else {"lengths": _prefixes(longest)}
    elif builder == "dates":
        parameters = {"levels": ["month", "quarter", "year", "decade"]}
    return {"builder": builder, **parameters}


def _prefixes(longest: int) -> list[int]:
    return [length for length in (5, 4, 3, 2, 1) if length < longest][-3:] or [1]


def _width(domain: Domain) -> float:
    """A round number of which about sixteen go into the range of the values: 1, 2 or 5 times a power of ten."""
    numbers = domain.numbers[np.isfinite(domain.numbers)]
    span = float(numbers.max() - numbers.min()) if len(numbers) else 0.0
    if span <= 0:
        return 1.0
    power = math.floor(math.log10(span / 16))
    return next(unit * 10.0**power for unit in (1, 2, 5, 10) if unit * 10.0**power >= span / 16)


def _times(width: float, by: int) -> float:
    product = float(f"{width * by:.12g}")
    return int(product) if product.is_integer() else product
