"""Jobs that do what jobs should not: they take long, die, run out of memory, or leave things behind."""

from __future__ import annotations

import os
import signal
import sys
import tempfile
import time
from pathlib import Path

from discreet.engine import limits
from discreet.errors import UnreadableInput
from discreet.web.jobs.worker import JobProgress, Task, leave_for_memory


def counts(task: Task, progress: JobProgress) -> None:
    """Tells three steps and leaves a result."""
    for step in range(3):
        progress(f"step {step} of {task.source.name}", step / 3)
    (task.out / "result.json").write_text('{"steps": 3}', encoding="utf-8")


def tells_what_it_has(task: Task, progress: JobProgress) -> None:
    """Tells which modules were imported before it began."""
    for name in ("sklearn", "splink", "jinja2"):
        progress(f"{name}: {name in sys.modules}")


def sleeps(task: Task, progress: JobProgress) -> None:
    """Leaves half a result and something in its temporary directory, and never ends."""
    (task.out / "half").write_text("half", encoding="utf-8")
    Path(tempfile.mkdtemp()).joinpath("spill").write_text("rows", encoding="utf-8")
    progress("sleeping", 0.5)
    time.sleep(600)


def fills(task: Task, progress: JobProgress) -> None:
    """Puts more on the disk than a small server allows, and never ends."""
    (task.scratch / "spill").write_bytes(bytes(1 << 20))
    progress("sleeping", 0.5)
    time.sleep(600)


def is_killed(task: Task, progress: JobProgress) -> None:
    """Ends as a process does whose memory the system wants back."""
    (task.out / "half").write_text("half", encoding="utf-8")
    progress("about to be killed")
    os.kill(os.getpid(), signal.SIGKILL)


def exits(task: Task, progress: JobProgress) -> None:
    os._exit(3)


def is_hungry(task: Task, progress: JobProgress) -> None:
    raise MemoryError


def grows(task: Task, progress: JobProgress) -> None:
    """Takes more and more memory; the limit is put near, as if the server had been given it."""
    os.environ[limits.MEMORY], limits.PROGRAM_MEMORY = "256M", -(200 << 20)
    limits.watch_memory(leave_for_memory)
    (task.out / "half").write_text("half", encoding="utf-8")
    kept = []
    while True:
        kept.append(bytearray(1 << 20))
        time.sleep(0.001)


def is_bad(task: Task, progress: JobProgress) -> None:
    raise UnreadableInput(f"{task.source.name} is no table", remedy="name another file")


def breaks(task: Task, progress: JobProgress) -> None:
    raise ValueError("Smith, born 1947")
