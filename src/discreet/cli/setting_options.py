"""Options made from settings that are declared elsewhere, and what such options were given."""

from __future__ import annotations

import csv
from collections.abc import Callable, Collection, Mapping
from typing import Any, Literal, get_args, get_origin

import click
from pydantic.fields import FieldInfo

from discreet.cli.command import once
from discreet.errors import InvalidParameter
from discreet.policy.settings import bare, bounds, settings

Option = Callable[[Callable[..., Any]], Callable[..., Any]]

MOST_DIGITS = 18
NAMES = {"suppression_limit": "suppression", "person": "person_ids"}
"""Settings whose options have other names: ``--person`` names a column."""


def setting_options(declared: type, *, repeated: Collection[str] = ()) -> list[Option]:
    """An option for every setting of a dataclass; those in ``repeated`` take one text at a time."""
    return [_option(name, setting, repeated=name in repeated) for name, setting in settings(declared).items()]


def given_settings(declared: type, given: Mapping[str, Any]) -> dict[str, Any]:
    """The settings of a dataclass that the command line says."""
    values = {name: given.get(NAMES.get(name, name)) for name in settings(declared)}
    return {name: value for name, value in values.items() if value is not None}


def split(text: str | None) -> list[str] | None:
    """Column names from ``a,b,c``; a name that holds a comma is put in double quotes.

    >>> split("age, sex"), split('"city, state",age'), split(None)
    (['age', 'sex'], ['city, state', 'age'], None)
    """
    if text is None:
        return None
    try:
        parts = next(csv.reader([text], skipinitialspace=True)) if '"' in text else text.split(",")
    except csv.Error:
        raise InvalidParameter("a list of names cannot be read", remedy='write it as in a,"b, c"') from None
    return [part.strip() for part in parts if part.strip()]


def whole_number(text: str) -> int | None:
    """The number that is written in digits; none if it is not one, or too large for anything that is counted.

    >>> whole_number(" 20 "), whole_number("-1"), whole_number("9" * 5000)
    (20, None, None)
    """
    digits = text.strip()
    return int(digits) if digits.isdecimal() and len(digits) <= MOST_DIGITS else None


def _option(name: str, setting: FieldInfo, *, repeated: bool) -> Option:
    flag = f"--{NAMES.get(name, name).replace('_', '-')}"
    kind = bare(setting.annotation)
    described = setting.description or name
    help_text = described[0].upper() + described[1:]
    if kind is bool:
        return click.option(f"{flag}/--no-{flag[2:]}", default=None, help=f"{help_text}.")
    how: dict[str, Any] = {}
    if get_origin(kind) is Literal:
        how["type"] = click.Choice(get_args(kind))
    elif kind in (int, float):
        how["type"] = (click.IntRange if kind is int else click.FloatRange)(**bounds(setting))
    elif repeated or kind in NOTATIONS:
        metavar, example, parse = (None, "", tuple) if repeated else NOTATIONS[kind]
        several = repeated or kind == VALUES
        help_text += f", e.g. {example}" if example else ""
        help_text += ". May be repeated" if several else ""
        how = {"metavar": metavar, "multiple": several, "callback": _parsed(parse)}
    if setting.default not in (None, (), {}):
        default = setting.default
        help_text += f" ({default:g})" if isinstance(default, float) else f" ({default})"
    return click.option(flag, help=f"{help_text}.", **how)


def _parsed(parse: Callable[[Any], Any]) -> Callable[[click.Context, click.Parameter, Any], Any]:
    return lambda context, parameter, value: None if value in (None, ()) else parse(value)


def _names(text: str) -> tuple[str, ...]:
    return tuple(split(text) or ())


def _weights(text: str) -> dict[str, float]:
    return once(map(_weight, _names(text)), "a weight")


def _weight(part: str) -> tuple[str, float]:
    name, _, weight = part.partition("=")
    try:
        number = float(weight)
    except ValueError:
        number = -1.0
    if number < 0:
        raise InvalidParameter(f"{part!r} is not a weight", remedy="write name=number, e.g. age=2")
    return name.strip(), number


def _counts(text: str) -> dict[str, int]:
    return once(map(_count, _names(text)), "a number")


def _count(part: str) -> tuple[str, int]:
    name, mark, text = part.partition("=")
    least = whole_number(text)
    if not mark or least is None:
        raise InvalidParameter(
            f"{part!r} is not a name with a whole number",
            remedy="write name=number, e.g. town=20",
        )
    return name.strip(), least


def _values(texts: tuple[str, ...]) -> dict[str, tuple[str, ...]]:
    values: dict[str, tuple[str, ...]] = {}
    for text in texts:
        name, mark, value = text.partition("=")
        if not mark:
            raise InvalidParameter(
                "a value to suppress has no attribute", remedy="write attribute=value, e.g. town=Rome"
            )
        values[name.strip()] = (*values.get(name.strip(), ()), value)
    return values


VALUES = Mapping[str, tuple[str, ...]]
NOTATIONS: dict[Any, tuple[str, str, Callable[[Any], Any]]] = {
    tuple[str, ...]: ("A,B,…", "", _names),
    Mapping[str, float]: ("A=W,…", "age=2,sex=0.5", _weights),
    Mapping[str, int]: ("A=N,…", "town=20,job=5", _counts),
    VALUES: ("A=VALUE", "'town=Little Hope'", _values),
}
"""How settings of several values are written on a command line: metavar, example, and what reads them."""
