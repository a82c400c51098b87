"""TOML and JSON from outside: parsed within stated limits, so that nothing in them can surprise what reads them."""

from __future__ import annotations

import json
import tomllib
from collections.abc import Mapping
from typing import Any

from discreet.sentences import Sentence

DEEPEST = 40
"""Levels of tables and lists in one another; a policy has five."""
LARGEST = 2**63
"""Whole numbers are below this, as TOML says."""


def parse_toml(text: str) -> dict[str, Any]:
    """The table that a TOML text holds; a ``ValueError`` says what is wrong with it.

    >>> parse_toml("a = " + "[" * 50 + "]" * 50)
    Traceback (most recent call last):
    ValueError: it is nested deeper than 40 levels
    """
    try:
        document = tomllib.loads(text)
    except RecursionError:
        raise ValueError(Sentence("it is nested deeper than {deepest} levels", deepest=DEEPEST)) from None
    except tomllib.TOMLDecodeError as error:
        raise ValueError(str(error)) from None
    except ValueError:
        # Python reads no whole number of more than some thousand digits.
        raise ValueError("it holds a number that is too large") from None
    check_document(document)
    return document


def parse_json(text: str) -> Any:
    """What a JSON text holds; a ``ValueError`` says what is wrong with it.

    >>> parse_json('{"k": 99999999999999999999}')
    Traceback (most recent call last):
    ValueError: it holds a number that is too large
    """
    try:
        document = json.loads(text)
    except RecursionError:
        raise ValueError(Sentence("it is nested deeper than {deepest} levels", deepest=DEEPEST)) from None
    except json.JSONDecodeError as error:
        raise ValueError(f"{error.msg} (at line {error.lineno}, column {error.colno})") from None
    except ValueError:
        raise ValueError("it holds a number that is too large") from None
    return check_document(document)


def check_document(document: Any) -> Any:
    """The document, after looking at every value of it; a ``ValueError`` says what is wrong.

    >>> check_document({"profile": "\\ud800"})
    Traceback (most recent call last):
    ValueError: it holds half a character, which is no text
    """
    level = [document]
    for _ in range(DEEPEST + 1):
        following: list[Any] = []
        for value in level:
            if isinstance(value, Mapping):
                following += (*value, *value.values())
            elif isinstance(value, list):
                following += value
            elif isinstance(value, int) and abs(value) >= LARGEST:
                raise ValueError("it holds a number that is too large")
            elif isinstance(value, str) and not value.isascii() and _is_broken(value):
                raise ValueError("it holds half a character, which is no text")
        if not following:
            return document
        level = following
    raise ValueError(Sentence("it is nested deeper than {deepest} levels", deepest=DEEPEST))


def _is_broken(text: str) -> bool:
    try:
        text.encode("utf-8")
    except UnicodeEncodeError:
        return True
    return False
