"""Ctrl-C and a polite kill: the work ends within a second, and nothing half-done is left."""

from __future__ import annotations

import os
import signal
import socket
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType

from discreet.files.leaving import remove_unfinished

SIGNALS = (signal.SIGINT, signal.SIGTERM)
PATIENCE_SECONDS = 0.7
"""So long the work may take to end in its own way; a compiled loop does not hear of a signal before it is through."""
AGAIN_SECONDS = 0.05
CANCELLED = 130
SHOW_CURSOR = "\x1b[?25h"


class Interruption:
    """Whether the work was interrupted."""

    def __init__(self) -> None:
        self.happened = False

    def stop(self, number: int, frame: FrameType | None) -> None:
        self.happened = True
        if _importing(frame):
            # A compiled module that is interrupted while it loads may take the process down: ask again soon.
            again = threading.Timer(AGAIN_SECONDS, signal.raise_signal, [number])
            again.daemon = True
            again.start()
            return
        raise KeyboardInterrupt


@contextmanager
def interruptible(*, whole_process: bool) -> Iterator[Interruption]:
    """Take both signals as a ``KeyboardInterrupt`` from here on, and end the process if that takes too long.

    Python hears of a signal only between two steps of its own. So another thread, which the system wakes at once, waits
    a moment, removes what is not complete and ends the process. If that is a ``whole_process``, it does so also while
    Python waits for threads after the work; else somebody else goes on living here.
    """
    interruption = Interruption()
    # A polite kill takes the same way out as Ctrl-C, so that nothing is left behind.
    for number in SIGNALS:
        signal.signal(number, interruption.stop)
    heard, told = socket.socketpair()
    told.setblocking(False)
    before = signal.set_wakeup_fd(told.fileno(), warn_on_full_buffer=False)
    ended = threading.Event()
    watch = threading.Thread(target=_watch, args=(heard, ended), name="discreet-interruption", daemon=True)
    watch.start()
    try:
        yield interruption
    finally:
        if interruption.happened and whole_process:
            # A signal between making a file and knowing of it leaves it to nobody but this.
            remove_unfinished()
        else:
            signal.set_wakeup_fd(before)
            ended.set()
            told.close()
            watch.join()
            heard.close()


def _watch(heard: socket.socket, ended: threading.Event) -> None:
    """Wait for one of the signals; then, if the work does not end soon, end it."""
    while True:
        number = heard.recv(1)
        if not number:
            return
        if number[0] in SIGNALS:
            break
    if not ended.wait(PATIENCE_SECONDS):
        leave()


def leave() -> None:
    """End the process now; of files and folders that are not complete nothing is left."""
    remove_unfinished()
    # The streams may be in use by what is interrupted: no buffer, no lock.
    cursor = SHOW_CURSOR if sys.stderr.isatty() else ""
    os.write(2, f"{cursor}cancelled\n".encode())
    os._exit(CANCELLED)


def _importing(frame: FrameType | None) -> bool:
    while frame is not None:
        if frame.f_globals.get("__name__") == "importlib._bootstrap":
            return True
        frame = frame.f_back
    return False
