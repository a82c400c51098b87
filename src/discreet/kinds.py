"""What somebody is told who gave a public function something of another kind than it takes."""

from __future__ import annotations

import functools
import inspect
import numbers
import types
import typing
from collections.abc import Callable, Collection, Iterable, Mapping
from typing import Any, Literal, TypeVar

from discreet.errors import DiscreetError, InvalidParameter
from discreet.sentences import Sentence

Function = TypeVar("Function", bound=Callable[..., Any])


def explained(function: Function, name: str) -> Function:
    """A public function under its public name; where it fails for an argument of the wrong kind, the error says so.

    Looked at is only what has failed: whatever a function can use, it may be given.

    >>> def halved(number: float) -> float:
    ...     return number / 2
    >>> explained(halved, "halved")("seven")
    Traceback (most recent call last):
        ...
    discreet.errors.InvalidParameter: number is an object of type str; pass float
    """

    @functools.wraps(function)
    def call(*given: Any, **named: Any) -> Any:
        try:
            return function(*given, **named)
        except DiscreetError:
            raise
        except Exception:
            wrong = _wrong(function, given, named)
            if wrong is None:
                raise
        parameter, value, wanted = wrong
        raise InvalidParameter(
            Sentence("{name} is an object of type {kind}", name=parameter, kind=type(value).__name__),
            remedy=Sentence("pass {kind}", kind=wanted),
        )

    # So that it can be named to another process.
    call.__module__, call.__qualname__ = "discreet", name
    return typing.cast(Function, call)


def _wrong(
    function: Callable[..., Any], given: tuple[Any, ...], named: Mapping[str, Any]
) -> tuple[str, object, str] | None:
    """The first argument of a kind that its annotation does not name, and what it names."""
    try:
        bound = inspect.signature(function).bind(*given, **named)
    except TypeError:  # of which Python itself says what is missing or too much
        return None
    for name, value in bound.arguments.items():
        wanted = function.__annotations__.get(name)
        if wanted is not None and not _fits(value, _hint(function, wanted)):
            return name, value, str(wanted)
    return None


def _hint(function: Callable[..., Any], annotation: object) -> object:
    """What an annotation stands for; itself, where it names what is known to type checkers only."""
    if not isinstance(annotation, str):
        return annotation
    try:
        return eval(annotation, getattr(function, "__globals__", {}))
    except NameError:
        return annotation


def _fits(value: object, hint: Any) -> bool:
    """Whether a value is of a kind that a hint allows, or nothing can be said of it."""
    origin = typing.get_origin(hint)
    if origin in (typing.Union, types.UnionType):
        return any(_fits(value, part) for part in typing.get_args(hint))
    if origin is Literal:
        return isinstance(value, str | int) and value in typing.get_args(hint)
    if origin is typing.Annotated:
        return _fits(value, typing.get_args(hint)[0])
    if hint is None:
        return value is None
    if isinstance(hint, str):
        names = {part.strip() for part in hint.split("|")}
        own = {"None"} if value is None else {kind.__name__ for kind in type(value).__mro__}
        # Of several names one may stand for more than a class.
        return len(names - {"None"}) > 1 or not names.isdisjoint(own)
    kind = origin or hint
    if not isinstance(kind, type):
        return True
    if issubclass(kind, Collection | Iterable) and not issubclass(kind, str | bytes | Mapping):
        return _listed(value, kind, typing.get_args(hint))
    if kind in (int, float):
        return isinstance(value, numbers.Integral if kind is int else numbers.Real)
    try:
        return isinstance(value, kind)
    except TypeError:  # a protocol that is for type checkers only
        return not isinstance(value, str | bytes | int | float | list | tuple | dict | set)


def _listed(value: object, kind: type, parts: tuple[Any, ...]) -> bool:
    """Whether a value is a list of a kind, of values of their kind; a text is a list of letters only by accident."""
    if isinstance(value, str | bytes) or not isinstance(value, kind):
        return False
    if not parts or not isinstance(value, list | tuple | set | frozenset):
        return True
    return all(_fits(each, parts[0]) for each in value)
