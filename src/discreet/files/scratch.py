"""Private folders on disk that go when their owner goes, however that happens."""

from __future__ import annotations

import atexit
import os
import secrets
import shutil
import sys
import tempfile
from pathlib import Path
from typing import IO

KINDS = {"rows": "discreet-rows-", "serve": "discreet-serve-"}
"""What folders are for, and how their names begin: an engine's rows, and what a page was given."""


HELD: set[Scratch] = set()
"""The folders of this process."""


class Scratch:
    """A folder that only its user may enter, removed by ``remove``.

    What a process that was killed left behind is removed by the next one that needs a folder of the same kind: each
    folder has a lock, which the system lets go of with its owner.

    >>> folder = Scratch("rows")
    >>> folder.path.is_dir(), folder.remove(), folder.path.exists()
    (True, None, False)
    """

    def __init__(self, kind: str) -> None:
        prefix = KINDS[kind]
        remove_leftovers(prefix)
        self.path = Path(tempfile.gettempdir()) / f"{prefix}{secrets.token_hex(4)}"
        # Under another name until it is locked, so that nobody takes it for a leftover in between.
        self._new = self.path.with_name(f"new-{self.path.name}")
        self._lock: IO[bytes] | None = None
        # Before it is there: an interruption may come at any moment.
        atexit.register(self.remove)
        HELD.add(self)
        self._new.mkdir(mode=0o700)
        self._lock = _locked(self._new)
        self._new.rename(self.path)

    def remove(self) -> None:
        for path in (self._new, self.path):
            shutil.rmtree(path, ignore_errors=True)
        if self._lock is not None:
            self._lock.close()
        atexit.unregister(self.remove)
        HELD.discard(self)


def remove_leftovers(prefix: str) -> None:
    """Remove the folders of this user that nobody holds any more."""
    if sys.platform == "win32":
        return
    for folder in Path(tempfile.gettempdir()).glob(f"{prefix}*"):
        try:
            if folder.is_symlink() or folder.stat().st_uid != os.getuid():
                continue
            with _locked(folder):
                shutil.rmtree(folder, ignore_errors=True)
        except OSError:
            # Still in use, or already gone.
            continue


def _locked(folder: Path) -> IO[bytes]:
    file = (folder / "lock").open("wb")
    if sys.platform != "win32":
        import fcntl

        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            file.close()
            raise
    return file
