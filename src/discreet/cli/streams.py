"""``-`` in place of a file: what comes from standard input, and what goes to standard output."""

from __future__ import annotations

import shutil
import sys
from functools import cache
from pathlib import Path
from typing import Any

import click

from discreet.files.addresses import DatabaseAddress, database_address
from discreet.files.scratch import Scratch
from discreet.release.targets import Target, target_of

STANDARD = "-"
"""How standard input and output are named."""


class InputFile(click.Path):
    """The path of a file that is read, the address of a table, or ``-`` for what comes from standard input."""

    def __init__(self) -> None:
        super().__init__(path_type=Path, readable=False)

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        address = database_address(value) if isinstance(value, str) else None
        if address is not None:
            return address
        if value != STANDARD or ctx is None:
            return super().convert(value, param, ctx)
        if ctx.meta.setdefault("discreet.standard-input", param) is not param:
            self.fail("standard input can be read once only: name a file here", param, ctx)
        place = _folder().path / "standard-input"
        with place.open("wb") as file:
            shutil.copyfileobj(sys.stdin.buffer, file)
        return place


class OutputFile(click.Path):
    """Where a release goes: a file, a folder, a table of a database, or ``-`` for standard output, as CSV."""

    def __init__(self) -> None:
        super().__init__(path_type=Path)

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        if value == STANDARD:
            return _folder().path / "standard-output.csv"
        target = target_of(value) if isinstance(value, str) else value
        return target if isinstance(target, DatabaseAddress) else super().convert(target, param, ctx)


def is_streamed(output: Target) -> bool:
    """Whether a file that was written goes to standard output."""
    if isinstance(output, DatabaseAddress):
        return False
    return output.parent == _folder().path if _folder.cache_info().currsize else False


def stream(output: Path) -> None:
    """Hand a file that was written and verified to standard output."""
    with output.open("rb") as file:
        shutil.copyfileobj(file, sys.stdout.buffer)
    sys.stdout.buffer.flush()


@cache
def _folder() -> Scratch:
    """The private folder for what passes through; it goes with the process."""
    return Scratch("rows")
