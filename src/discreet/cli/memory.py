"""The option that limits the memory of engines."""

from __future__ import annotations

import os

import click


def _limit(ctx: click.Context, parameter: click.Parameter, size: str | None) -> None:
    """Say it in the environment, which every engine of this process and of its jobs reads."""
    if size is not None:
        from discreet.engine.limits import MEMORY, memory

        os.environ[MEMORY] = size
        memory()


MEMORY_OPTION = click.option(
    "--memory",
    metavar="SIZE",
    expose_value=False,
    callback=_limit,
    help="Memory that an engine may take, e.g. 4G; what needs more goes to disk.",
)
