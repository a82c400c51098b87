"""Files that only grow: each entry holds the hash of the one before it, and a small file beside them names the last."""

from __future__ import annotations

import hashlib
import json
import os
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from discreet.errors import UnreadableInput
from discreet.files.reading import read_text
from discreet.files.writing import atomically

FIRST = "0" * 64
"""What the first entry holds in place of a hash."""


def digest(content: Mapping[str, Any]) -> str:
    """The hash of an entry, in which that of the entry before it stands."""
    return hashlib.sha256(json.dumps(content, sort_keys=True, ensure_ascii=True).encode()).hexdigest()


def told_head(head: Path) -> tuple[int, str] | None:
    """How many entries there are, and the hash of the last; ``ValueError`` if the file was changed."""
    if not os.path.lexists(head):
        return None
    try:
        text = read_text(head, "file", remedy="restore it")
    except UnreadableInput as error:
        raise ValueError(error.message) from None
    count, _, last = text.strip().partition(" ")
    return int(count), last


def write_head(head: Path, count: int, last: str) -> None:
    """Say how many entries there are now, and the hash of the last."""
    atomically(head, lambda part: part.write_text(f"{count} {last}\n", encoding="ascii"), private=True)


def wait_for_lock(handle: int) -> None:
    """Wait until nobody else holds the file; the lock ends with the handle, also when the process is killed."""
    if sys.platform == "win32":
        import msvcrt

        os.lseek(handle, 0, os.SEEK_SET)
        msvcrt.locking(handle, msvcrt.LK_LOCK, 1)
    else:
        import fcntl

        fcntl.flock(handle, fcntl.LOCK_EX)
