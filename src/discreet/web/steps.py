"""The steps of perturbation of a case, which forms can add and remove: what changes values before anything is generalised."""

from __future__ import annotations

import dataclasses
import typing
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import tomlkit

from discreet.perturb.base import Perturbation
from discreet.perturb.registry import STEPS, make_step
from discreet.web.cases import Case
from discreet.web.form_fields import FormField, input_of, number_in, shown
from discreet.web.policies import changed_policy, column_at, mark_of, policy_of
from discreet.web.refusals import changed_meanwhile, not_found

TYPED = ("count", "number", "choice")
"""What a form asks for; the rest stands in a policy file."""
USUAL: Mapping[str, Mapping[str, object]] = {
    "pram": {"keep": 0.8},
    "joint-pram": {"keep": 0.8},
    "svd": {"rank": 1},
    "discretise": {"width": 10.0},
}
"""What a form begins with where a step has nothing that it would do by itself."""


@dataclass(frozen=True)
class ListedStep:
    """A step of the policy: what it does to which columns, and what was given of what a form asks for.

    ``mark`` tells whether another one stands at its place by now.
    """

    number: int
    title: str
    columns: tuple[str, ...]
    fields: tuple[FormField, ...]
    source: str
    mark: str


def listed(case: Case) -> list[ListedStep]:
    """The steps of a case in their order."""
    return [
        ListedStep(number, step.title, step.columns, _given(step), step.source, mark_of(repr(step)))
        for number, step in enumerate(policy_of(case).perturb)
    ]


def _given(step: Perturbation) -> tuple[FormField, ...]:
    """What was given to a step, as the fields of its form; of one that has no form, nothing."""
    if not offered(step.id):
        return ()
    parameters = step.parameters()
    fields = [
        dataclasses.replace(field, value=shown(parameters.get(field.name))) for field in fields_of(step.id)
    ]
    return tuple(field for field in fields if field.value)


def fields_of(method: str) -> list[FormField]:
    """The parameters of a step that a form asks for: numbers and choices; the others stand in a policy file.

    >>> [(field.name, field.input, field.value) for field in fields_of("rank-swap")]
    [('percent', 'number', '5')]
    """
    if method not in STEPS:
        raise not_found("method")
    hints = typing.get_type_hints(STEPS[method])
    fields = []
    for parameter in dataclasses.fields(STEPS[method]):
        entry, choices = input_of(hints[parameter.name]) or ("text", ())
        if entry in TYPED:
            needed = parameter.default is dataclasses.MISSING
            usual = USUAL.get(method, {}).get(parameter.name, None if needed else parameter.default)
            fields.append(FormField(parameter.name, entry, needed, choices, shown(usual)))
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


def add(case: Case, given: Mapping[str, Any]) -> None:
    """Add what a form has sent as the last step; columns go by their places in the table."""
    method = str(given.get("method", ""))
    numbers = [str(number) for number in given.get("columns", [])]
    entry: dict[str, object] = {
        "method": method,
        "columns": [column_at(case, int(number))["name"] for number in numbers if number.isdecimal()],
    }
    for field in fields_of(method):
        text = str(given.get(field.name, "")).strip()
        if text:
            choice = field.input == "choice"
            entry[field.name] = text if choice else number_in(text, field.name, whole=field.input == "count")
    make_step(entry)
    with changed_policy(case) as document:
        entries = document.setdefault("perturb", tomlkit.aot())
        table = tomlkit.table()
        for key, value in entry.items():
            table.add(key, value)
        entries.append(table)


def remove(case: Case, number: int, *, seen: str | None) -> None:
    """Remove a step, if it is still the one that was seen."""
    with changed_policy(case) as document:
        entries = document.get("perturb", [])
        if not 0 <= number < len(entries):
            raise not_found("step")
        if seen is not None and seen != mark_of(repr(make_step(entries[number].unwrap()))):
            raise changed_meanwhile()
        del entries[number]
        if not entries:
            del document["perturb"]
