"""Keys of hashes: long secret texts, each in a file of its own so that it never stands on a command line."""

from __future__ import annotations

import secrets
from pathlib import Path

from discreet.errors import InvalidParameter
from discreet.files.reading import read_text
from discreet.files.writing import atomically
from discreet.sentences import Sentence

SHORTEST = 16
BYTES = 32
"""So much chance is in a new key."""


def read_key(file: Path) -> str:
    """The key in a file; one that is too short is refused."""
    key = read_text(file, "key file", remedy="it must be a text file").strip()
    if len(key) < SHORTEST:
        raise InvalidParameter(
            Sentence(
                "the key in {name} is shorter than {shortest} characters", name=file.name, shortest=SHORTEST
            ),
            remedy="use a long random text",
        )
    return key


def new_key(file: Path) -> None:
    """Write a new random key into a file that only its owner may read; one that is there stays."""
    if file.exists():
        return
    text = f"{secrets.token_urlsafe(BYTES)}\n"
    atomically(file, lambda part: part.write_text(text, encoding="utf-8"), private=True)
