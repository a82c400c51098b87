"""The steps of perturbation of a case, which forms can add and remove: what changes values before anything is generalised."""

from __future__ import annotations

import dataclasses
import hashlib
import types
import typing
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal

import tomlkit

from discreet.errors import InvalidParameter
from discreet.perturb.base import Perturbation
from discreet.perturb.registry import STEPS, make_step
from discreet.sentences import Sentence
from discreet.web.cases import Case
from discreet.web.policies import changed_policy, column_at, policy_of
from discreet.web.refusals import changed_meanwhile, not_found

Input = Literal["count", "number", "choice"]
USUAL: Mapping[str, Mapping[str, object]] = {
    "pram": {"keep": 0.8},
    "joint-pram": {"keep": 0.8},
    "svd": {"rank": 1},
    "discretise": {"width": 10.0},
}
"""What a form begins with where a step has nothing that it would do by itself."""


@dataclass(frozen=True)
class StepField:
    """One parameter of a step as a field of a form: a number, or one of some words."""

    name: str
    input: Input
    needed: bool
    choices: tuple[str, ...] = ()
    value: str = ""


@dataclass(frozen=True)
class ListedStep:
    """A step of the policy: what it does to which columns, and what was given of what a form asks for.

    ``mark`` tells whether another one stands at its place by now.
    """

    number: int
    title: str
    columns: tuple[str, ...]
    fields: tuple[StepField, ...]
    source: str
    mark: str


def listed(case: Case) -> list[ListedStep]:
    """The steps of a case in their order."""
    return [
        ListedStep(number, step.title, step.columns, _given(step), step.source, mark_of(step))
        for number, step in enumerate(policy_of(case).perturb)
    ]


def _given(step: Perturbation) -> tuple[StepField, ...]:
    """What was given to a step, as the fields of its form; of one that has no form, nothing."""
    if not offered(step.id):
        return ()
    parameters = step.parameters()
    fields = [
        dataclasses.replace(field, value=_shown(parameters.get(field.name))) for field in fields_of(step.id)
    ]
    return tuple(field for field in fields if field.value)


def fields_of(method: str) -> list[StepField]:
    """The parameters of a step that a form asks for: numbers and choices; the others stand in a policy file.

    >>> [(field.name, field.input, field.value) for field in fields_of("rank-swap")]
    [('percent', 'number', '5')]
    """
    if method not in STEPS:
        raise not_found("method")
    hints = typing.get_type_hints(STEPS[method])
    fields = []
    for parameter in dataclasses.fields(STEPS[method]):
        kind = _input(hints[parameter.name])
        if kind is not None:
            needed = parameter.default is dataclasses.MISSING
            usual = USUAL.get(method, {}).get(parameter.name, None if needed else parameter.default)
            fields.append(StepField(parameter.name, *kind[:1], needed, kind[1], _shown(usual)))
    return fields


def offered(method: str) -> bool:
    """Whether a form is enough for a step: what it needs are columns, numbers and choices.

    >>> offered("rank-swap"), offered("slicing")
    (True, False)
    """
    if method not in STEPS:
        return False
    asked = {"columns", *(field.name for field in fields_of(method))}
    needed = {
        parameter.name
        for parameter in dataclasses.fields(STEPS[method])
        if parameter.default is dataclasses.MISSING
    }
    return needed <= asked


def _input(hint: Any) -> tuple[Input, tuple[str, ...]] | None:
    """How a parameter of a type is asked for, if a form does."""
    parts = [hint]
    if isinstance(hint, types.UnionType) or typing.get_origin(hint) is typing.Union:
        parts = [part for part in typing.get_args(hint) if part is not type(None)]
    if len(parts) > 1:
        return None
    if typing.get_origin(parts[0]) is Literal:
        return "choice", tuple(typing.get_args(parts[0]))
    return {int: ("count", ()), float: ("number", ())}.get(parts[0])  # type: ignore[return-value]


def _shown(value: object) -> str:
    """A parameter as its field shows it.

    >>> _shown(5.0), _shown(0.25), _shown("normal"), _shown(None)
    ('5', '0.25', 'normal', '')
    """
    if isinstance(value, float):
        return f"{value:g}"
    return "" if value is None else str(value)


def add(case: Case, given: Mapping[str, Any]) -> None:
    """Add what a form has sent as the last step; columns go by their places in the table."""
    method = str(given.get("method", ""))
    numbers = [str(number) for number in given.get("columns", [])]
    entry: dict[str, object] = {
        "method": method,
        "columns": [column_at(case, int(number))["name"] for number in numbers if number.isdecimal()],
    }
    for field in fields_of(method):
        text = str(given.get(field.name, "")).strip().replace(",", ".")
        if text:
            entry[field.name] = text if field.input == "choice" else _number(field, text)
    make_step(entry)
    with changed_policy(case) as document:
        entries = document.setdefault("perturb", tomlkit.aot())
        table = tomlkit.table()
        for key, value in entry.items():
            table.add(key, value)
        entries.append(table)


def _number(field: StepField, text: str) -> float:
    try:
        number = float(text)
        if field.input == "number" or number == int(number):
            return int(number) if number == int(number) else number
    except (ValueError, OverflowError):
        pass
    raise InvalidParameter(
        Sentence("{name} is not a number", name=field.name), remedy="write a number, e.g. 5"
    )


def remove(case: Case, number: int, *, seen: str | None) -> None:
    """Remove a step, if it is still the one that was seen."""
    with changed_policy(case) as document:
        entries = document.get("perturb", [])
        if not 0 <= number < len(entries):
            raise not_found("step")
        if seen is not None and seen != mark_of(make_step(entries[number].unwrap())):
            raise changed_meanwhile()
        del entries[number]
        if not entries:
            del document["perturb"]


def mark_of(step: Perturbation) -> str:
    """A short hash of a step."""
    return hashlib.sha256(repr(step).encode()).hexdigest()[:16]
