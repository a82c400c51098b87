"""Addresses of tables in databases: ``postgresql://user@host/database#table`` and ``sqlite:///file.db#table``."""

from __future__ import annotations

import re
from pathlib import Path
from urllib.parse import unquote

from discreet.errors import InvalidParameter

ADDRESS = re.compile(r"(postgresql|postgres|sqlite)://[^#]*(#.*)?", re.DOTALL)


class DatabaseAddress(str):
    """Where a table lies; what is shown of it is the name of the table, never a user or a password."""

    __slots__ = ()

    @property
    def kind(self) -> str:
        """The kind of database."""
        return "sqlite" if self.startswith("sqlite:") else "postgresql"

    @property
    def database(self) -> str:
        """The address without the table."""
        return self.partition("#")[0]

    @property
    def table(self) -> tuple[str, ...]:
        """The table and, where it is named, the schema before it.

        >>> DatabaseAddress("postgresql://me:secret@host/clinic#study.visits").table
        ('study', 'visits')
        """
        name = unquote(self.partition("#")[2])
        if not name:
            raise InvalidParameter(
                "the address of a database names no table", remedy="put it after a #, e.g. …/database#visits"
            )
        return tuple(name.split(".", 1)) if self.kind == "postgresql" else (name,)

    @property
    def name(self) -> str:
        """What is shown.

        >>> DatabaseAddress("postgresql://me:secret@host/clinic#visits").name
        'visits'
        """
        return ".".join(self.table)

    @property
    def file(self) -> Path | None:
        """The file of an SQLite database.

        >>> DatabaseAddress("sqlite:///a%20b.db#t").file, DatabaseAddress("sqlite:////srv/c.db#t").file
        (PosixPath('a b.db'), PosixPath('/srv/c.db'))
        """
        if self.kind != "sqlite":
            return None
        return Path(unquote(self.database.removeprefix("sqlite://").removeprefix("/")))


def database_address(source: str) -> DatabaseAddress | None:
    """The address of a table in a database; nothing for a path."""
    return DatabaseAddress(source) if ADDRESS.fullmatch(source) else None
