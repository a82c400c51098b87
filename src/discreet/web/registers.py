"""The register of releases that a table belongs to: its folder and its key, given by paths on this machine."""

from __future__ import annotations

import json
import os
from dataclasses import dataclass
from pathlib import Path

from discreet.errors import InvalidParameter, UnreadableInput
from discreet.files.keys import new_key, read_key
from discreet.files.writing import write_text
from discreet.register import Register
from discreet.register.folder import HEAD
from discreet.sentences import Sentence
from discreet.web.cases import Case

PLACE = "register.json"
"""Where a case remembers its register; the key itself is never copied."""


@dataclass(frozen=True)
class RegisterPlace:
    """Where a register and its key lie."""

    folder: Path
    key_file: Path

    @property
    def register(self) -> Register:
        return Register(self.folder)

    @property
    def begun(self) -> bool:
        """Whether anything was entered: the folder is made with the first release."""
        try:
            return self.folder.is_dir() and any(self.folder.iterdir())
        except OSError as error:
            raise UnreadableInput(
                Sentence("{name} could not be opened ({why})", name=self.folder.name, why=error.strerror),
                remedy="check the folder and its permissions",
            ) from None

    @classmethod
    def of(cls, folder: str, key_file: str) -> RegisterPlace:
        """A place by two full paths; refused where the key would lie in the register, or is none."""
        place = cls(_full(folder), _full(key_file))
        if place.key_file.resolve().is_relative_to(place.folder.resolve()):
            raise InvalidParameter(
                "the key would lie in the folder of the register: whoever has both can tell who is who",
                remedy="name a place for the key outside of it",
            )
        return place


def _full(text: str) -> Path:
    path = Path(os.path.expanduser(text.strip()))
    if "\0" in text or not path.is_absolute():
        raise InvalidParameter(
            "the path is not a full path", remedy="write it from the root, e.g. /data/register"
        )
    return path


def place_of(case: Case) -> RegisterPlace | None:
    """The register of a case, if one was named."""
    try:
        named = json.loads((case.folder / PLACE).read_text(encoding="utf-8"))
    except FileNotFoundError:
        return None
    return RegisterPlace(Path(named["folder"]), Path(named["key_file"]))


def open_place(case: Case, folder: str, key_file: str) -> None:
    """Name the register of a case. One that cannot be trusted is refused; for a new one a key is written."""
    place = RegisterPlace.of(folder, key_file)
    if place.begun:
        place.register.entries()
        read_key(place.key_file)
    else:
        for wanted in (place.folder, place.key_file):
            if not wanted.parent.is_dir():
                raise UnreadableInput(
                    Sentence("there is no folder {name}", name=wanted.parent.name),
                    remedy="make it first, or name another",
                )
        new_key(place.key_file)
        read_key(place.key_file)
    write_text(
        case.folder / PLACE, json.dumps({"folder": str(place.folder), "key_file": str(place.key_file)})
    )


def register_mark(case: Case) -> object:
    """What changes with every entry of the register of a case, and with another register."""
    place = place_of(case)
    if place is None:
        return None
    try:
        written = (place.folder / HEAD).stat()
    except OSError:
        return str(place.folder), str(place.key_file)
    return str(place.folder), str(place.key_file), written.st_size, written.st_mtime_ns
