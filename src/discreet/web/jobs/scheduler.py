"""The scheduler of jobs: each runs in a process of its own, reports progress and can be cancelled."""

from __future__ import annotations

import secrets
import shutil
import signal
import sys
import threading
import time
from collections import deque
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from multiprocessing import context, forkserver, get_context, resource_tracker
from multiprocessing.connection import Connection
from multiprocessing.process import BaseProcess
from pathlib import Path
from typing import Literal

from discreet.sentences import Sentence
from discreet.web.jobs.worker import EVIDENCE_MODULES, OUT_OF_MEMORY, PRELOADED, Message, Task, work
from discreet.web.refusals import ProblemDetails, explain

State = Literal["queued", "running", "done", "failed", "cancelled"]
PATIENCE_SECONDS = 3.0
"""How long a process may take to end by itself before it is killed."""
KEPT_MESSAGES = 50
COPIED = sys.platform == "linux"
"""Whether processes are copies of one that has imported everything: a few milliseconds instead of seconds each."""


@dataclass
class Job:
    """One piece of work on a case, and how far it is."""

    kind: str
    case: str
    task: Task = field(repr=False)
    policy: str = ""
    """Fingerprint of the policy that the job works by: tells whether its result is still up to date."""
    then: str | None = None
    """The kind of job that follows this one by itself."""
    id: str = field(default_factory=lambda: secrets.token_urlsafe(9))
    state: State = "queued"
    messages: deque[str] = field(default_factory=lambda: deque(maxlen=KEPT_MESSAGES))
    fraction: float | None = None
    problem: ProblemDetails | None = None
    created: float = field(default_factory=time.time)
    started: float | None = None
    ended: float | None = None

    @property
    def active(self) -> bool:
        return self.state in ("queued", "running")

    @property
    def seconds(self) -> float:
        """How long it has been running, or ran."""
        return 0.0 if self.started is None else (self.ended or time.time()) - self.started


@dataclass
class _Worker:
    process: BaseProcess
    connection: Connection


class Jobs:
    """Runs jobs, each in a process that lives for this job only; one more stands ready with all imports done.

    ``finish`` is called once a job has come to its end and before anybody sees it as done.
    """

    def __init__(self, *, workers: int, finish: Callable[[Job], None] = lambda job: None) -> None:
        self._workers = workers
        self._finish = finish
        self._lock = threading.RLock()
        self._queue: deque[Job] = deque()
        self._running: dict[str, _Worker | None] = {}
        """The jobs under way, with their processes as soon as they have one."""
        self._followers: set[threading.Thread] = set()
        self._starting = threading.Lock()
        """Held while a process is started: the first one takes seconds, and nobody else shall wait for it."""
        self._spare: _Worker | None = None
        self._closed = False

    def warm(self) -> None:
        """Start the process that stands ready, so that the first job does not wait for imports."""
        with self._starting:
            if self._spare is not None and not self._spare.process.is_alive():
                self._spare.connection.close()
                self._spare = None
            if self._spare is None and not self._closed:
                self._spare = _start()

    def submit(self, job: Job) -> Job:
        """Run a job as soon as a process is free."""
        with self._lock:
            self._queue.append(job)
        self._advance()
        return job

    def cancel(self, job: Job) -> None:
        """Stop a job at once; what it left is removed."""
        self._abort(job, "cancelled")

    def fail(self, job: Job, problem: ProblemDetails) -> None:
        """Stop a job at once, because of a problem that it does not know of itself."""
        self._abort(job, "failed", problem)

    def _abort(self, job: Job, state: State, problem: ProblemDetails | None = None) -> None:
        with self._lock:
            if not job.active:
                return
            job.ended, job.problem = time.time(), problem
            job.state = state
            worker = self._running.get(job.id)
            waited = job in self._queue
            if waited:
                self._queue.remove(job)
        if waited:
            _clear(job)
        elif worker is not None:
            _stop(worker.process)

    def close(self) -> None:
        """Stop everything and wait until the last process is gone."""
        with self._lock:
            self._closed = True
            self._queue.clear()
            workers = list(self._running.values())
            followers = list(self._followers)
        with self._starting:
            workers.append(self._spare)
            self._spare = None
        for worker in workers:
            if worker is not None:
                _stop(worker.process)
        for thread in followers:
            thread.join(PATIENCE_SECONDS)

    # ── one job ───────────────────────────────────────────────────────────────────────────────────

    def _advance(self) -> None:
        """Give waiting jobs to processes, as many as may run."""
        with self._lock:
            while self._queue and len(self._running) < self._workers and not self._closed:
                job = self._queue.popleft()
                self._running[job.id] = None
                job.state, job.started = "running", time.time()
                follower = threading.Thread(target=self._follow, args=(job,), daemon=True)
                self._followers.add(follower)
                follower.start()

    def _follow(self, job: Job) -> None:
        """Have a process do a job, and record how it ended."""
        last: Message | None = None
        code: int | None = None
        # A process that cannot be started, or is gone: the job fails, and its code, if any, says why.
        with suppress(OSError, EOFError):
            worker = self._take()
            last = self._converse(job, worker)
            worker.process.join(PATIENCE_SECONDS)
            code = worker.process.exitcode
            if code is None:
                _stop(worker.process)
            worker.connection.close()
        self._end(job, last, code)
        with self._lock:
            self._running.pop(job.id, None)
            self._followers.discard(threading.current_thread())
        self._advance()

    def _converse(self, job: Job, worker: _Worker) -> Message | None:
        """Give a job to a process and receive its messages; the last one, if any."""
        last: Message | None = None
        with self._lock:
            self._running[job.id] = worker
            wanted = job.state == "running" and not self._closed
        if not wanted:
            _stop(worker.process)
        # Where the process is gone, its exit code says why.
        with suppress(EOFError, OSError):
            worker.connection.send(job.task)
            self.warm()
            while last is None or last.kind == "progress":
                last = worker.connection.recv()
                if last.kind == "progress":
                    job.messages.append(last.text)
                    job.fraction = last.fraction
        return last

    def _take(self) -> _Worker:
        """The process that stands ready, or a new one."""
        self.warm()
        with self._starting:
            worker, self._spare = self._spare, None
            return worker or _start()

    def _end(self, job: Job, last: Message | None, code: int | None) -> None:
        """Record how a job ended and remove what it must not leave."""
        with self._lock:
            done = job.state == "running" and last is not None and last.kind == "done"
        problem = last.problem if last is not None and last.problem else _death(code)
        if done:
            try:
                self._finish(job)
            except Exception as error:
                done, problem = False, explain(error)
        if not done:
            _clear(job)
        shutil.rmtree(job.task.scratch, ignore_errors=True)
        with self._lock:
            if job.state == "running":
                job.ended = time.time()
                job.problem = None if done else problem
                # Last, because whoever sees the state reads the rest.
                job.state = "done" if done else "failed"
        if job.state != "done":
            _clear(job)


def _start() -> _Worker:
    with _interrupts_held():
        processes = _processes()
        here, there = processes.Pipe()
        process = processes.Process(target=work, args=(there,), daemon=True)
        process.start()
    # Only the process itself may hold its end, or its death would go unnoticed.
    there.close()
    return _Worker(process, here)  # type: ignore[arg-type, unused-ignore] # on Windows of another class


def _processes() -> context.ForkServerContext | context.SpawnContext:  # type: ignore[name-defined, unused-ignore]
    """How processes are made: as copies, or one by one where the original of copies cannot be had.

    Windows has no copies, and no name for their context. The original listens at a socket in the temporary folder, whose
    path may be longer than a socket's may be.
    """
    if COPIED:
        with suppress(OSError):
            _ensure_original()
            return get_context("forkserver")
    return get_context("spawn")


def _ensure_original() -> None:
    """Start the process that all others are copies of, unless it is there."""
    forkserver.set_forkserver_preload([*PRELOADED, *EVIDENCE_MODULES])
    forkserver.ensure_running()


@contextmanager
def _interrupts_held() -> Iterator[None]:
    """Ctrl-C in a terminal reaches all processes: one that is still importing must neither end nor tell of it."""
    if sys.platform == "win32":
        yield
        return
    # It lets interrupts through again for whoever starts it, so it has to be there before they are held back.
    resource_tracker.ensure_running()
    held = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, held)


def _stop(process: BaseProcess) -> None:
    process.terminate()
    process.join(PATIENCE_SECONDS)
    if process.is_alive():
        process.kill()
        process.join()


def _clear(job: Job) -> None:
    shutil.rmtree(job.task.out, ignore_errors=True)
    shutil.rmtree(job.task.scratch, ignore_errors=True)


def _death(code: int | None) -> ProblemDetails:
    """The problem to report for a process that ended without a message."""
    if code is not None and code < 0:
        name = signal.Signals(-code).name
        message = Sentence("the process that did this work was stopped by the system ({name})", name=name)
        remedy = (
            "most often memory ran out: close other programs, name fewer quasi-identifiers, or take a sample"
        )
    elif code == OUT_OF_MEMORY:
        return ProblemDetails(
            "out-of-memory",
            Sentence("this takes more memory than it was given"),
            "give more (--memory), name fewer quasi-identifiers, or take a sample",
        )
    else:
        message, remedy = (
            Sentence("the process that did this work ended unexpectedly (code {code})", code=code),
            "try it again",
        )
    return ProblemDetails("worker-died", message, remedy)


def task_folders(out: Path, scratch: Path) -> None:
    """Make the private directories of a job."""
    for folder in (out, scratch):
        folder.mkdir(mode=0o700, parents=True)
