"""Results as plain data, and files that are written whole or not at all."""

from __future__ import annotations

import dataclasses
import math
import os
from collections.abc import Callable, Mapping, Sequence
from datetime import date
from pathlib import Path
from typing import Any

import numpy as np

from discreet.errors import UnreadableInput


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


def finite(value: float) -> float | str:
    """JSON has no infinity: write it as a word rather than as invalid JSON.

    >>> finite(2.0), finite(float("inf"))
    (2.0, 'infinite')
    """
    if math.isfinite(value):
        return float(value)
    return "undefined" if math.isnan(value) else ("infinite" if value > 0 else "-infinite")


def atomically(
    target: Path, write: Callable[[Path], object], verify: Callable[[Path], object] | None = None
) -> None:
    """Write beside the target, verify what was written, and only then put it in place.

    Whatever happens in between, the target is either as it was or complete and verified.
    """
    scratch = target.with_name(f".{target.stem}.{os.getpid()}.part{target.suffix}")
    try:
        try:
            write(scratch)
            with scratch.open("rb") as file:
                os.fsync(file.fileno())
            if verify is not None:
                verify(scratch)
            os.replace(scratch, target)
        finally:
            scratch.unlink(missing_ok=True)
    except OSError as error:
        raise UnreadableInput(
            f"{target.name} could not be written ({error.strerror})",
            remedy="check the folder, its permissions and the space left",
        ) from None


def write_text(target: Path, text: str) -> Path:
    """Write a text file; a crash leaves the old file or the new one, never half of one."""
    atomically(target, lambda scratch: scratch.write_text(text, encoding="utf-8"))
    return target
