"""What happens inside a worker process: wait for one task, do it, tell how it goes, and end."""

from __future__ import annotations

import os
import signal
import sys
import tempfile
import threading
from collections.abc import Callable
from dataclasses import dataclass
from importlib import import_module
from multiprocessing import parent_process
from multiprocessing.connection import Connection, wait
from pathlib import Path
from typing import Literal, Protocol

from pydantic import BaseModel

from discreet.web.refusals import Problem, explain

PRELOADED = (
    "altair",
    "vl_convert",
    "discreet.engine.duckdb",
    "discreet.reports.release.html",
    "discreet.web.jobs.verbs",
    "discreet.web.jobs.evidence",
    "discreet.search.lattice.search",
)
"""What a process that stands ready has already imported."""


class JobProgress(Protocol):
    """Takes what is being done, in words, and how much of it is behind us, if that is known."""

    def __call__(self, message: str, fraction: float | None = None) -> None: ...


@dataclass(frozen=True)
class Task:
    """What a job is to do.

    ``function`` is ``"module:name"`` of a function that takes the task and a :class:`JobProgress`. It finds the
    table at ``source`` (called ``label``) and the policy at ``policy``, both in the directory ``case`` or named by
    it, and leaves its results in ``out``, which is removed if it does not come to its end. ``scratch`` is for what
    is needed meanwhile.
    """

    function: str
    case: Path
    source: Path
    label: str
    policy: Path
    out: Path
    scratch: Path
    parameters: BaseModel
    base: Path | None = None
    """What the job that this one follows has left."""


@dataclass(frozen=True)
class Message:
    """From a worker to the server."""

    kind: Literal["progress", "done", "failed"]
    text: str = ""
    fraction: float | None = None
    problem: Problem | None = None


def work(connection: Connection) -> None:
    """Do one task and end."""
    # Ctrl-C in a terminal reaches all processes; the server decides what becomes of this one.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    signal.signal(signal.SIGTERM, signal.SIG_DFL)
    # A library that prints could print a value of the data.
    sys.stdout = sys.stderr = open(os.devnull, "w")  # noqa: SIM115
    threading.Thread(target=_end_with_parent, daemon=True).start()
    for module in PRELOADED:
        import_module(module)
    try:
        task = connection.recv()
    except EOFError:
        return
    connection.send(perform(task, connection.send))


def perform(task: Task, send: Callable[[Message], None]) -> Message:
    """Run the task's function; how it ended."""
    # An engine spills here: the server removes it even if this process is killed.
    tempfile.tempdir = str(task.scratch)

    def progress(message: str, fraction: float | None = None) -> None:
        send(Message("progress", message.replace(task.source.name, task.label), fraction))

    try:
        module, name = task.function.split(":")
        getattr(import_module(module), name)(task, progress)
    except BaseException as error:
        return Message("failed", problem=_called_by_its_label(explain(error), task))
    return Message("done")


def _called_by_its_label(problem: Problem, task: Task) -> Problem:
    """The file has a made-up name here; people know it by the name that they gave it."""

    def renamed(text: str) -> str:
        return text.replace(task.source.name, task.label)

    return Problem(
        problem.code,
        renamed(problem.message),
        renamed(problem.remedy),
        tuple(renamed(one) for one in problem.problems),
    )


def _end_with_parent() -> None:
    parent = parent_process()
    if parent is not None:
        wait([parent.sentinel])
        os._exit(1)
