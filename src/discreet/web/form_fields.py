"""Parameters of models and steps as fields of forms: how each is asked for, what it shows, and the numbers that are typed."""

from __future__ import annotations

import re
import types
import typing
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal

from discreet.errors import InvalidParameter
from discreet.sentences import Sentence

Input = Literal["count", "number", "text", "choice", "column", "list", "pairs"]
THOUSANDS = re.compile("[+-]?[1-9][0-9]{0,2}([.,][0-9]{3})+")
"""Numbers whose sign may part thousands or begin decimals, by who reads them."""


@dataclass(frozen=True)
class FormField:
    """One parameter as a field of a form."""

    name: str
    input: Input
    needed: bool
    choices: tuple[str, ...] = ()
    value: str = ""


def input_of(hint: Any) -> tuple[Input, tuple[str, ...]] | None:
    """How a parameter of a type is asked for, with its choices; nothing where it may be of several types.

    >>> input_of(int), input_of(float | None), input_of(Literal["a", "b"]), input_of(int | str)
    (('count', ()), ('number', ()), ('choice', ('a', 'b')), None)
    """
    parts = [hint]
    if isinstance(hint, types.UnionType) or typing.get_origin(hint) is typing.Union:
        parts = [part for part in typing.get_args(hint) if part is not type(None)]
    if len(parts) > 1:
        return None
    part, origin = parts[0], typing.get_origin(parts[0])
    if origin is Literal:
        return "choice", tuple(typing.get_args(part))
    simple: dict[Any, Input] = {int: "count", float: "number", str: "text"}
    return "list" if origin is tuple else simple.get(part, "pairs"), ()


def shown(value: object) -> str:
    """A parameter as its field shows it: whole numbers without decimals, lists by line, pairs as ``value = …``.

    >>> shown(5.0), shown(0.25), shown(None), shown(("a", "b")), shown({"flu": 0.5, "cold": ("a", "b")})
    ('5', '0.25', '', 'a\\nb', 'flu = 0.5\\ncold = a, b')
    """
    if value is None:
        return ""
    if isinstance(value, float) and value.is_integer():
        return str(int(value))
    if isinstance(value, Mapping):
        return "\n".join(
            f"{key} = {', '.join(entry) if isinstance(entry, tuple) else entry}"
            for key, entry in value.items()
        )
    return "\n".join(value) if isinstance(value, tuple) else str(value)


def number_in(text: str, name: str, *, whole: bool = False) -> float:
    """The number that was typed into a field, with a decimal point or comma; whole ones are whole numbers.

    One whose sign may part thousands is refused: 1,000 people are not one.

    >>> number_in("3", "k"), number_in("0,25", "t")
    (3, 0.25)
    """
    if THOUSANDS.fullmatch(text.strip()):
        raise InvalidParameter(
            Sentence("{name} can be read with thousands and with decimals", name=name),
            remedy="write thousands without a sign between them, such as 100000",
        )
    try:
        number = float(text.replace(",", "."))
        if number == int(number):
            return int(number)
        if not whole:
            return number
    except (ValueError, OverflowError):  # no number, or none that is finite
        pass
    raise InvalidParameter(Sentence("{name} is not a number", name=name), remedy="write a number, e.g. 5")
