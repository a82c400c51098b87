"""The worker process: it waits for one task, runs it, sends progress, and ends."""

from __future__ import annotations

import json
import os
import signal
import sys
import tempfile
import threading
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from importlib import import_module
from multiprocessing import parent_process
from multiprocessing.connection import Connection, wait
from pathlib import Path
from typing import Literal, Protocol

from pydantic import BaseModel

from discreet.engine.limits import watch_memory
from discreet.sentences import dumps, renamed
from discreet.web.refusals import ProblemDetails, explain

PRELOADED = (
    "pandas",
    "discreet.engine.duckdb",
    "discreet.reports.release.html",
    "discreet.web.jobs.verbs",
    "discreet.web.jobs.evidence",
    "discreet.search.lattice.search",
    "discreet.search.lattice.kernels",
    "discreet.search.mondrian.kernels",
    "discreet.utility.objectives.kernels",
    "discreet.web.jobs.compiled",
)
"""What a process that stands ready has already imported."""
EVIDENCE_MODULES = (
    "sklearn.ensemble",
    "sklearn.linear_model",
    "threadpoolctl",
    "splink.blocking_rule_library",
    "splink.comparison_library",
    "discreet.attacks.disclosure.inference",
    "discreet.attacks.linkage.probabilistic",
)
"""What learners and attacks import besides, longer than they take for a small table: worth it if done once for all jobs."""
RESULT = "result.json"
"""What a job leaves for machines: the same document as the command line's ``--json``."""
VIEW = "view.json"
"""What a job leaves for the page."""
ROWS = "rows.json"
"""The first rows of the table, for the page."""
SHEETS = "sheets.json"
"""The names of the sheets of a spreadsheet, for the page."""
BASKETS = "baskets.json"
"""What a text file that is no table seems to be, if it holds a basket on each line."""
READY = "ready"
"""The folder of the releases that were found beside the chosen one, each in a folder with its number."""
READY_DOCUMENT = "ready.json"
"""What all of these releases come to, for the page."""
LINKS = "links.csv"
CODEBOOK = "codebook.csv"
"""Which row of the table each row of a release was: for jobs that judge the release, never to be handed out."""


class JobProgress(Protocol):
    """Takes what is being done, in words, and which share of it is done, if that is known."""

    def __call__(self, message: str, fraction: float | None = None) -> None: ...


OUT_OF_MEMORY = 12
"""The exit code of a job that took more memory than it was given; ENOMEM of the system."""


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
    language: str = "en"
    """The language of the reports."""
    base: Path | None = None
    """What the job that this one follows has left."""

    def write(self, name: str, document: object) -> None:
        """Leave a JSON document among the results; one for the page keeps its sentences with their templates."""
        text = json.dumps(document, ensure_ascii=False) if name == RESULT else dumps(document)
        (self.out / name).write_text(text, encoding="utf-8")


@dataclass(frozen=True)
class Message:
    """What a worker sends to the server."""

    kind: Literal["progress", "done", "failed"]
    text: str = ""
    fraction: float | None = None
    problem: ProblemDetails | None = None


def work(connection: Connection) -> None:
    """Wait for one task, run it, and end."""
    # Ctrl-C in a terminal reaches all processes; the server decides what becomes of this one.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    signal.signal(signal.SIGTERM, signal.SIG_DFL)
    # A library that prints could print a value of the data.
    sys.stdout = sys.stderr = open(os.devnull, "w")  # noqa: SIM115
    threading.Thread(target=_end_with_parent, daemon=True).start()
    watch_memory(leave_for_memory)
    for module in PRELOADED:
        # Arrow uses pandas where it is there; what a job cannot do without, it asks for itself.
        with suppress(ModuleNotFoundError):
            import_module(module)
    try:
        task = connection.recv()
    except EOFError:
        return
    connection.send(run_task(task, connection.send))


def leave_for_memory() -> None:
    """End this process, which takes too much; the server knows why by the code."""
    os._exit(OUT_OF_MEMORY)


def run_task(task: Task, send: Callable[[Message], None]) -> Message:
    """Run the function of a task and say how it ended."""
    # An engine spills here: the server removes it even if this process is killed.
    tempfile.tempdir = str(task.scratch)

    def progress(message: str, fraction: float | None = None) -> None:
        send(Message("progress", renamed(message, task.source.name, task.label), fraction))

    try:
        module, name = task.function.split(":")
        getattr(import_module(module), name)(task, progress)
    except BaseException as error:
        return Message("failed", problem=_with_label(explain(error), task))
    return Message("done")


def _with_label(problem: ProblemDetails, task: Task) -> ProblemDetails:
    """Call the file by the name that its user gave it: on disk it has a made-up one."""

    def labelled(text: str) -> str:
        told: str = renamed(text, task.source.name, task.label)
        return told

    return ProblemDetails(
        problem.code,
        labelled(problem.message),
        labelled(problem.remedy),
        tuple(labelled(line) for line in problem.problems),
    )


def _end_with_parent() -> None:
    parent = parent_process()
    if parent is not None:
        wait([parent.sentinel])
        os._exit(1)
