"""Results as plain data."""

from __future__ import annotations

import dataclasses
import html
import math
import re
from collections.abc import Mapping, Sequence
from datetime import date
from typing import Any

import numpy as np


def plain(value: object, *, nulls: bool = True) -> Any:
    """A result in the types that JSON has; a number that is not one is null, an infinite one a word.

    ``nulls=False`` leaves out the entries of mappings that have no value, since TOML has no null.

    >>> plain({"when": date(2024, 5, 1), "sizes": np.array([1.5, np.nan]), "rows": ((1, "a"),)})
    {'when': '2024-05-01', 'sizes': [1.5, None], 'rows': [[1, 'a']]}
    >>> plain({"a": None, "b": [{"c": None}]}, nulls=False)
    {'b': [{}]}
    """
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        value = {field.name: getattr(value, field.name) for field in dataclasses.fields(value)}
    elif isinstance(value, np.ndarray | np.generic):
        value = value.tolist()
    if isinstance(value, Mapping):
        return {str(k): plain(v, nulls=nulls) for k, v in value.items() if nulls or v is not None}
    if isinstance(value, float):
        return None if math.isnan(value) else finite(value)
    if isinstance(value, str | int) or value is None:
        return value
    if isinstance(value, Sequence):
        return [plain(part, nulls=nulls) for part in value]
    return value.isoformat() if isinstance(value, date) else str(value)


class Printed:
    """Something that prints in lines: a notebook shows them, too.

    >>> class Note(Printed):
    ...     def __str__(self) -> str:
    ...         return "a < b"
    >>> Note()._repr_html_()
    '<pre style="line-height:1.3">a &lt; b</pre>'
    """

    def _repr_html_(self) -> str:
        return f'<pre style="line-height:1.3">{html.escape(printable(str(self)))}</pre>'


OBEYED = re.compile(
    "[\\x00-\\x08\\x0b-\\x1f\\x7f-\\x9f\\u061c\\u200e\\u200f\\u2028-\\u202e\\u2066-\\u2069\\ud800-\\udfff]"
)
"""Signs that a terminal obeys instead of showing them (escape codes, changes of direction), and halves of characters."""


def printable(text: str) -> str:
    """A text as it may be printed: whatever a terminal would obey is shown as a sign of its own.

    >>> printable("a\\x1b[2Jb\\nc\\u202ed")
    'a␛[2Jb\\nc\ufffdd'
    """
    return OBEYED.sub(lambda sign: chr(0x2400 + ord(sign[0])) if sign[0] < " " else "\ufffd", text)


def printable_json(text: str) -> str:
    """A JSON text as it may be printed; it says the same.

    >>> printable_json('"a\\x9bb"')
    '"a\\\\u009bb"'
    """
    return OBEYED.sub(lambda sign: f"\\u{ord(sign[0]):04x}", text)


def finite(value: float) -> float | str:
    """JSON has no infinity: write it as a word rather than as invalid JSON.

    >>> finite(2.0), finite(float("inf"))
    (2.0, 'infinite')
    """
    if math.isfinite(value):
        return float(value)
    return "undefined" if math.isnan(value) else ("infinite" if value > 0 else "-infinite")
