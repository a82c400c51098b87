"""Private folders on disk that go when their owner goes, however that happens."""

from __future__ import annotations

import os
import shutil
import sys
import tempfile
from pathlib import Path
from typing import IO

KINDS = {"rows": "discreet-rows-", "serve": "discreet-serve-"}
"""What folders are for, and how their names begin: an engine's rows, and what a page was given."""


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
        # Under another name until it is locked, so that nobody takes it for a leftover in between.
        made = Path(tempfile.mkdtemp(prefix=f"new-{prefix}"))
        self._lock = _locked(made)
        self.path = made.with_name(made.name.removeprefix("new-"))
        made.rename(self.path)

    def remove(self) -> None:
        shutil.rmtree(self.path, ignore_errors=True)
        self._lock.close()


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
