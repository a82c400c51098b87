"""What a process removes that must end at once: files that are not complete, and its private folders."""

from __future__ import annotations

from discreet.files import scratch, writing


def remove_unfinished() -> None:
    """Remove the files that are being written and the private folders of this process."""
    for part in tuple(writing.UNFINISHED):
        part.unlink(missing_ok=True)
    for folder in tuple(scratch.HELD):
        folder.remove()
