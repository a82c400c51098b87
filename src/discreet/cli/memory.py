"""The options that limit memory and threads."""

from __future__ import annotations

import json
import os
import sys

import click

from discreet.cli import EXIT_BAD_INPUT
from discreet.plain import printable

MESSAGE = "it takes more memory than it was given"
UNWATCHED = (
    "note: this system does not tell how much memory a process takes: only the engine keeps to --memory"
)
REMEDY = "give more (--memory), audit fewer columns or a sample (--rows)"


def _limit(ctx: click.Context, parameter: click.Parameter, size: str | None) -> None:
    """Say it in the environment, which every engine of this process and of its jobs reads; and watch this process."""
    from discreet.engine.limits import MEMORY, memory, taken_memory, watch_memory

    if size is not None:
        os.environ[MEMORY] = size
        memory()
        if not taken_memory():
            click.echo(printable(UNWATCHED), err=True)
    # The server itself takes little, and its jobs are watched one by one.
    if ctx.info_name != "serve":
        ctx.call_on_close(watch_memory(_leave))


def _leave() -> None:
    """End the process now, with the error; of files and folders that are not complete nothing is left."""
    from discreet.files.leaving import remove_unfinished

    remove_unfinished()
    # The streams may be in use by what takes the memory: no buffer, no lock.
    if "--json" in sys.argv:
        told = {"code": "out-of-memory", "message": MESSAGE, "remedy": REMEDY}
        os.write(1, (json.dumps({"schema": "discreet-error-1", "error": told}) + "\n").encode())
    else:
        os.write(2, f"error: {MESSAGE}\n  → {REMEDY}\n".encode())
    os._exit(EXIT_BAD_INPUT)


MEMORY_OPTION = click.option(
    "--memory",
    metavar="SIZE",
    expose_value=False,
    callback=_limit,
    help="Memory that may be taken, e.g. 4G: an engine moves to disk what needs more, anything else ends with an error.",
)


def _share(ctx: click.Context, parameter: click.Parameter, number: str | None) -> None:
    """Say it in the environment, as for memory."""
    from discreet.engine.limits import THREADS, threads

    if number is not None:
        os.environ[THREADS] = number
        threads()


THREADS_OPTION = click.option(
    "--threads", metavar="N", expose_value=False, callback=_share, help="Threads on which an engine works."
)
