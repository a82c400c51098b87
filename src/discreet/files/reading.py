"""Files that are read: regular ones only, and texts up to a stated size."""

from __future__ import annotations

import gzip
import os
import stat
from os import PathLike
from pathlib import Path

from discreet.errors import UnreadableInput
from discreet.sentences import Sentence

TEXT_BYTES = 16 << 20
"""The largest policy, profile or key that is read."""
HIERARCHY_BYTES = 256 << 20
RECIPE_BYTES = 1 << 30
"""A recipe of a local method names every combination of values."""
UNPACKED_RATIO = 200
"""A packed file may be so many times larger inside: text about people is 5 to 50 times."""
UNPACKED_FREE = 256 << 20
"""Up to this size a packed file may be anything inside."""
CHUNK = 1 << 20


def check_regular(path: Path) -> os.stat_result:
    """The state of a file that can be read; a pipe, a device or a folder is refused without being opened.

    >>> check_regular(Path("/dev/null"))
    Traceback (most recent call last):
    discreet.errors.UnreadableInput: null is not a regular file; copy its content to a file first
    """
    try:
        state = os.stat(path)
        if stat.S_ISDIR(state.st_mode):
            raise UnreadableInput(
                Sentence("{name} is a folder", name=path.name or path), remedy="name a file"
            )
        if not stat.S_ISREG(state.st_mode):
            raise UnreadableInput(
                Sentence("{name} is not a regular file", name=path.name),
                remedy="copy its content to a file first",
            )
        with path.open("rb"):
            return state
    except PermissionError:
        raise UnreadableInput(
            Sentence("{name} may not be read", name=path.name), remedy="check its permissions"
        ) from None
    except (OSError, ValueError):
        # Also what no file can be called: too long, with a NUL, or no Unicode.
        raise UnreadableInput(
            Sentence("there is no file {name}", name=path.name), remedy="check the path"
        ) from None


def read_text(path: str | PathLike[str], what: str, *, remedy: str, limit: int = TEXT_BYTES) -> str:
    """The UTF-8 text of a regular file of at most ``limit`` bytes; errors say of ``what`` kind it should be.

    >>> read_text("/dev/zero", "policy file", remedy="write one")
    Traceback (most recent call last):
    discreet.errors.UnreadableInput: the policy file zero could not be read (it is not a regular file); write one
    """
    place = Path(path)
    try:
        # Without waiting for whoever might write into a pipe.
        handle = os.open(place, os.O_RDONLY | getattr(os, "O_NONBLOCK", 0))
        with open(handle, "rb") as file:
            if not stat.S_ISREG(os.fstat(handle).st_mode):
                raise OSError(Sentence("it is not a regular file"))
            content = file.read(limit + 1)
        if len(content) > limit:
            raise OSError(Sentence("it is larger than {limit} MB", limit=limit >> 20))
        return content.decode("utf-8")
    except FileNotFoundError:
        raise UnreadableInput(
            Sentence("there is no {what} {name}", what=Sentence(what), name=place.name),
            remedy="check the path",
        ) from None
    except UnicodeDecodeError:
        why: str = Sentence("it is not UTF-8")
    except (OSError, ValueError) as error:
        own = isinstance(error, OSError) and error.strerror
        why = own.lower() if own else error.args[0] if error.args else str(error)
    raise UnreadableInput(
        Sentence(
            "the {what} {name} could not be read ({why})", what=Sentence(what), name=place.name, why=why
        ),
        remedy=remedy,
    )


def check_unpacked(path: Path, unpacked: int) -> None:
    """Raise if a packed file grows out of all proportion."""
    if unpacked > max(UNPACKED_FREE, UNPACKED_RATIO * path.stat().st_size):
        raise UnreadableInput(
            Sentence(
                "{name} unpacks to more than {unpacked_ratio} times its size",
                name=path.name,
                unpacked_ratio=UNPACKED_RATIO,
            ),
            remedy="unpack it first, if that is what it should hold",
        )


def unpacked(path: Path) -> bytes:
    """What a gzip file holds; one that grows out of all proportion is refused before it is taken in."""
    content = bytearray()
    with gzip.open(path) as packed:
        while chunk := packed.read(CHUNK):
            content += chunk
            check_unpacked(path, len(content))
    return bytes(content)
