"""Several tables in one place: files of a folder, sheets of a workbook, tables of a file of SQLite or DuckDB."""

from __future__ import annotations

import os
import sqlite3
from collections.abc import Mapping
from contextlib import closing
from dataclasses import replace
from pathlib import Path
from urllib.parse import quote

import duckdb
import pyarrow as pa

from discreet.engine.dialect import DUCKDB as DIALECT
from discreet.engine.limits import memory
from discreet.engine.read import read
from discreet.engine.sheets import sheet_names
from discreet.engine.sqlite import open_sqlite
from discreet.errors import EmptyTable, UnreadableInput
from discreet.files.reading import check_regular
from discreet.sentences import Sentence
from discreet.table import Source, Table

TABLES = (".csv", ".tsv", ".txt", ".parquet", ".pq", ".arrow", ".feather", ".ipc", ".jsonl", ".ndjson", ".gz")
WORKBOOKS = (".xlsx", ".xls", ".ods", ".xlsm")
SQLITE = (".db", ".sqlite", ".sqlite3")
DUCKDB = (".duckdb", ".ddb")


def table_names(place: Path) -> tuple[str, ...]:
    """The names of the tables in a place.

    A file of a folder is named without what stands after its first dot.
    """
    return tuple(_listed(place))


def read_tables(
    place: Path,
    options: Mapping[str, Mapping[str, object]] | None = None,
    files: Mapping[str, str] | None = None,
) -> dict[str, Table]:
    """All tables of a place, or those of ``files``: names with what they are called there. ``options`` are how single ones are read."""
    there = _listed(place)
    if files is not None:
        chosen = {}
        # Of a folder the name of a file in it, never a path to another place.
        by_file = {Path(at).name: at for at in there.values()} if place.is_dir() else {}
        for name, called in files.items():
            at = there.get(called, by_file.get(called))
            if at is None:
                raise UnreadableInput(
                    Sentence("{place} has no table {name!r}", place=place.name, name=called),
                    remedy=Sentence("there are: {known}", known=tuple(there)),
                )
            chosen[name] = at
        there = chosen
    return {name: _read(place, at, dict((options or {}).get(name, {}))) for name, at in there.items()}


def _listed(place: Path) -> dict[str, str]:
    """The tables of a place by their names, with where each is."""
    # Also for what no file can be called.
    folder = os.path.isdir(place)
    if not folder and os.path.exists(place):
        check_regular(place)
    if folder:
        files = sorted(
            file
            for file in place.iterdir()
            if file.suffix.lower() in (*TABLES, *WORKBOOKS) and not file.name.startswith(".")
        )
        named = {file.name.split(".")[0]: str(file) for file in files}
        if len(named) < len(files):
            raise UnreadableInput(
                Sentence(
                    "{place} has files that are called alike but for what stands after the dot",
                    place=place.name,
                ),
                remedy="keep one of each",
            )
    elif place.suffix.lower() in WORKBOOKS:
        named = {name: name for name in sheet_names(place)}
    elif place.suffix.lower() in SQLITE:
        named = {name: name for name in _sqlite_tables(place)}
    elif place.suffix.lower() in DUCKDB:
        named = {name: name for name in _duckdb_tables(place)}
    elif os.path.exists(place):
        raise UnreadableInput(
            Sentence("{place} is one table, and several are asked for", place=place.name),
            remedy="name a folder of files, a workbook, or a file of SQLite (.db) or DuckDB (.duckdb)",
        )
    else:
        raise UnreadableInput(Sentence("{place} does not exist", place=place.name), remedy="check the path")
    if not named:
        raise EmptyTable(Sentence("{place} holds no tables", place=place.name), remedy="check the path")
    return named


def _read(place: Path, at: str, options: dict[str, object]) -> Table:
    if place.is_dir():
        return read(at, **options)  # type: ignore[arg-type]
    if place.suffix.lower() in WORKBOOKS:
        return read(place, sheet=at, **options)  # type: ignore[arg-type]
    if place.suffix.lower() in SQLITE:
        # A path from the root has four slashes.
        return read(f"sqlite:///{quote(str(place))}#{quote(at)}", **options)  # type: ignore[arg-type]
    with closing(_open_duckdb(place)) as database:
        try:
            table = read(database.sql(f"FROM {DIALECT.quote(at)}"), **options)  # type: ignore[arg-type]
        except (duckdb.Error, pa.ArrowException, OSError):
            raise UnreadableInput(
                Sentence("the table {name} of {place} could not be read", name=at, place=place.name),
                remedy="check that it is complete; a view may read the tables of its own file only",
            ) from None
    return replace(table, source=Source(at, "duckdb"))


def _sqlite_tables(place: Path) -> list[str]:
    try:
        with closing(open_sqlite(place)) as database:
            rows = database.execute(
                "SELECT name FROM sqlite_master WHERE type IN ('table', 'view') AND name NOT LIKE 'sqlite_%' ORDER BY name"
            )
            return [name for (name,) in rows]
    except sqlite3.Error:
        raise _unreadable(place) from None


def _duckdb_tables(place: Path) -> list[str]:
    with closing(_open_duckdb(place)) as database:
        rows = database.sql(
            "SELECT table_name FROM information_schema.tables WHERE table_schema = 'main' ORDER BY table_name"
        ).fetchall()
    return [name for (name,) in rows]


def _open_duckdb(place: Path) -> duckdb.DuckDBPyConnection:
    allowed = memory()
    try:
        database = duckdb.connect(
            str(place),
            read_only=True,
            config={
                "autoinstall_known_extensions": "false",
                "autoload_known_extensions": "false",
                **({"memory_limit": f"{allowed >> 20}MiB"} if allowed else {}),
            },
        )
        # A view in a file that somebody sent could read every other file of this user.
        for setting in ("enable_external_access = false", "lock_configuration = true"):
            database.execute(f"SET {setting}").fetchall()
    except duckdb.Error:
        raise _unreadable(place) from None
    return database


def _unreadable(place: Path) -> UnreadableInput:
    return UnreadableInput(
        Sentence("{place} could not be read as a database", place=place.name),
        remedy="check that it is complete, and that nobody else writes to it",
    )
