"""What a process removes that must end at once: files that are not complete, and its private folders."""

from __future__ import annotations

import shutil
from contextlib import suppress

from discreet.files import scratch, writing


def remove_unfinished() -> None:
    """Remove the files and folders that are being written, and the private folders of this process."""
    for part in tuple(writing.UNFINISHED):
        if part.is_dir():
            shutil.rmtree(part, ignore_errors=True)
        else:
            # What cannot be removed must not keep the others.
            with suppress(OSError):
                part.unlink()
    for folder in tuple(scratch.HELD):
        folder.remove()
