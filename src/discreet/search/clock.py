"""The clock by which searches end: it counts what this process works, not how busy the machine is otherwise."""

from __future__ import annotations

import threading
import time
from functools import cache
from typing import Any

from discreet.compiled import compiles_at_calls

TICK = 0.001
"""A clock that was looked at so many seconds ago is not looked at again: the processor time of all threads is dear to ask for."""
WAITING = 1 / 3
"""A second in which the process gets no processor counts so much: nobody waits more than three times as long."""


class WorkClock:
    """Seconds of work since it was made. A kernel that is compiled at its first call costs nothing.

    Between two looks at it, the processor time that the process got counts, at most the time that passed and at least
    a third of it: the same search with the same seconds gets as far on a busy machine as on an idle one. It moves in
    steps of a millisecond.
    """

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._compiling = _CompileTime()
        self._worked = 0.0
        self._last = self._looks()

    def now(self) -> float:
        """Seconds of work until now; only differences mean something."""
        with self._lock:
            if time.monotonic() - self._last[0] < TICK:
                return self._worked
            looks = self._looks()
            passed, busy, compiled = (new - old for new, old in zip(looks, self._last, strict=True))
            self._last = looks
            self._worked += max(0.0, max(min(busy, passed), WAITING * passed) - compiled)
            return self._worked

    def _looks(self) -> tuple[float, float, float]:
        return time.monotonic(), time.process_time(), self._compiling.seconds


class _CompileTime:
    """Adds up how long kernels were compiled, or read from numba's cache, in this process."""

    def __init__(self) -> None:
        self.seconds = 0.0
        self._depth = 0
        self._began = 0.0
        if not compiles_at_calls():
            return
        # Not at the top: whoever only asks for help need not wait for it.
        from numba.core import event

        event.Listener.register(_CompileTime)
        event.register("numba:compile", self)  # type: ignore[no-untyped-call]

    def notify(self, event: Any) -> None:
        """A compilation begins or ends; a kernel that calls another one has it compiled on the way."""
        if event.is_start:
            self._began = self._began if self._depth else time.monotonic()
            self._depth += 1
        else:
            self._depth -= 1
            self.seconds += 0.0 if self._depth else time.monotonic() - self._began


@cache
def _clock() -> WorkClock:
    return WorkClock()


def now() -> float:
    """Seconds of work of this process, by which all searches end."""
    return _clock().now()
