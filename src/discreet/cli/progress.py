"""A progress bar that appears when something takes longer than two seconds, and says what it is doing."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager

from rich.progress import BarColumn, Progress, SpinnerColumn, TextColumn, TimeElapsedColumn

from discreet.reports.console import Terminal

PATIENCE_SECONDS = 2.0


class Reporter:
    """Shows in a progress bar what is being done, once that takes longer than ``PATIENCE_SECONDS``."""

    def __init__(self, *, quiet: bool) -> None:
        self._console = Terminal(stderr=True)
        # In a log a moving bar is noise, so only somebody who sits before a terminal gets one.
        self._wanted = not quiet and self._console.is_terminal
        self._message = "starting"
        self._lock = threading.Lock()
        self._bar = Progress(
            SpinnerColumn(),
            TextColumn("{task.description}", markup=False),
            BarColumn(bar_width=30),
            TimeElapsedColumn(),
            console=self._console,
            transient=True,
        )
        self._task = self._bar.add_task(self._message, total=None)
        self._timer = threading.Timer(PATIENCE_SECONDS, self._appear)
        self._timer.daemon = True
        self._done = False

    def __call__(self, message: str) -> None:
        with self._lock:
            self._message = message
            self._bar.update(self._task, description=f"{message[:60]} (Ctrl-C cancels)")

    def _appear(self) -> None:
        with self._lock:
            if not self._done:
                self._bar.start()

    def start(self) -> None:
        if self._wanted:
            self._timer.start()

    def stop(self) -> None:
        with self._lock:
            self._done = True
        self._timer.cancel()
        if self._bar.live.is_started:
            self._bar.stop()


@contextmanager
def progress(*, quiet: bool = False) -> Iterator[Reporter]:
    """Report progress on standard error for the time of a block."""
    reporter = Reporter(quiet=quiet)
    reporter.start()
    try:
        yield reporter
    finally:
        reporter.stop()
