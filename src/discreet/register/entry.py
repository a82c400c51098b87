"""An entry of the register: a release that was published, or the withdrawal of one."""

from __future__ import annotations

import tomllib
from dataclasses import dataclass, fields
from typing import Any, Literal

import tomlkit

from discreet.files.chain import digest
from discreet.plain import plain


@dataclass(frozen=True)
class RegisterEntry:
    """What was published when, for whom and under which policy; or that a release was withdrawn (``withdraws``).

    ``sha256`` is the checksum of the published file, ``people_sha256`` that of what is kept about its people (none where they
    were not given), ``key`` what tells one key from another. ``unseen``: nobody had received what was withdrawn.
    """

    number: int
    kind: Literal["release", "withdrawal"]
    time: str
    file: str = ""
    sha256: str = ""
    rows: int = 0
    audience: str = ""
    profile: str = ""
    policy_sha256: str = ""
    quasi_identifiers: tuple[str, ...] = ()
    sensitive: tuple[str, ...] = ()
    persons: int = 0
    people_sha256: str = ""
    key: str = ""
    withdraws: int = 0
    reason: str = ""
    unseen: bool = False
    previous: str = ""

    @property
    def hash(self) -> str:
        """The hash of everything that the entry says."""
        return digest(plain(self))

    def to_dict(self) -> dict[str, object]:
        document: dict[str, object] = plain(self)
        return {**document, "hash": self.hash}

    def to_toml(self) -> str:
        """The entry as it stands in its file, with its hash at the end."""
        return tomlkit.dumps(self.to_dict())

    @classmethod
    def of_toml(cls, text: str) -> RegisterEntry:
        """The entry that a file holds; ``ValueError`` if it is not as it was written."""
        document = tomllib.loads(text)
        told = document.pop("hash", "")
        if set(document) != {field.name for field in fields(cls)}:
            raise ValueError("fields are missing, or there are more")
        content: dict[str, Any] = {
            name: tuple(value) if isinstance(value, list) else value for name, value in document.items()
        }
        entry = cls(**content)
        if entry.hash != told:
            raise ValueError("the hash does not fit")
        return entry
