"""Addresses of tables in databases: ``postgresql://user@host/database#table``, ``sqlite:///file.db#table``, and all that
SQLAlchemy knows (``mysql+pymysql://…``)."""

from __future__ import annotations

import re
from pathlib import Path
from urllib.parse import unquote

from discreet.errors import InvalidParameter

ADDRESS = re.compile(r"([a-z][a-z0-9]*(?:[+][a-z0-9_]+)?)://[^#]*(#.*)?", re.DOTALL)
PASSWORD = re.compile(r"(://[^\s/@:]*):[^\s/@]*@")
NO_DATABASES = ("http", "https", "ftp", "sftp", "file", "s3", "gs", "abfs", "abfss", "hdfs", "dbfs", "spark")
"""What begins the address of a file or a service, not of a database."""


class DatabaseAddress(str):
    """Where a table lies; what is shown of it is the name of the table, never a user or a password."""

    __slots__ = ()

    @property
    def kind(self) -> str:
        """The kind of database: one that is read in a way of its own, or ``sql`` for what SQLAlchemy reaches.

        >>> DatabaseAddress("mysql+pymysql://host/clinic#visits").kind
        'sql'
        """
        known = {"sqlite": "sqlite", "postgresql": "postgresql", "postgres": "postgresql"}
        return known.get(self.partition(":")[0], "sql")

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
        return (name,) if self.kind == "sqlite" else tuple(name.split(".", 1))

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


def without_passwords(text: str) -> str:
    """A text in which addresses show no password.

    >>> without_passwords("'postgresql://me:secret@host/clinic#visits' is no number")
    "'postgresql://me:…@host/clinic#visits' is no number"
    """
    return PASSWORD.sub(r"\1:…@", text)


def database_address(source: str) -> DatabaseAddress | None:
    """The address of a table in a database; nothing for a path.

    >>> database_address("https://example.org/a.csv#b") is None
    True
    """
    address = ADDRESS.fullmatch(source)
    return DatabaseAddress(source) if address and address[1] not in NO_DATABASES else None
