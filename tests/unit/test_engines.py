"""The documented tables say which command takes which engine, and where each verb of an engine runs."""

from __future__ import annotations

import inspect
import re
from collections.abc import Iterator
from pathlib import Path

import click

from discreet.cli import cli
from discreet.cli.streams import InputFile
from discreet.engine.duckdb import DuckDBEngine
from discreet.engine.postgres import PostgresEngine
from discreet.engine.protocol import Engine
from discreet.engine.spark import SparkEngine
from discreet.engine.sql import SqlEngine

PAGE = Path(__file__).parents[2] / "docs" / "reference" / "engines.md"
TABLES = ("file", "files", "first", "second", "original", "release", "public", "control", "earlier", "test")
"""Parameters that are tables."""
ENGINES = (DuckDBEngine, SparkEngine, PostgresEngine)


def place(engine: type[SqlEngine], verb: str) -> str:
    """Where a verb runs, by what its code does."""
    code = inspect.getsource(getattr(engine, verb))
    for inner in ("query", "_answer"):
        if f"self.{inner}(" in code:
            return place(engine, inner)
    if "self._duckdb." in code and verb != "close":
        return "DuckDB"
    if (verb != "to_arrow" and "self.to_arrow(" in code) or code.endswith("        return None\n"):
        return "memory"
    return "there"


def test_the_table_of_verbs_and_engines_is_that_of_the_code() -> None:
    listed = {
        match[1]: match[2].split(" | ")
        for match in re.finditer(
            r"^\| `(\w+)` \| [^|]+ \| (.+) \|$", PAGE.read_text(encoding="utf-8"), re.MULTILINE
        )
    }
    verbs = [name for name, value in vars(Engine).items() if callable(value) and not name.startswith("_")]
    assert listed == {verb: [place(engine, verb) for engine in ENGINES] for verb in verbs}


def commands(group: click.Command = cli, *path: str) -> Iterator[tuple[str, click.Command]]:
    """All commands by their whole names."""
    if not isinstance(group, click.Group):
        yield " ".join(path), group
        return
    context = click.Context(group)
    for name in group.list_commands(context):
        command = group.get_command(context, name)
        assert command is not None
        yield from commands(command, *path, name)


def test_the_table_of_commands_is_that_of_the_command_line() -> None:
    """Where an engine can be named, tables are files or addresses; every command stands in one line."""
    page = PAGE.read_text(encoding="utf-8").partition("## Commands")[2].partition("\n## ")[0]
    lines = [line.split(" | ") for line in page.splitlines() if line.startswith("| `")]
    placed = {name: line for line in lines for name in re.findall(r"`([a-z -]+)`", line[0])}
    listed = [name for line in lines for name in re.findall(r"`([a-z -]+)`", line[0])]
    offered = dict(commands())
    assert set(offered) <= set(placed)
    assert [name for name in offered if listed.count(name) != 1] == []
    for name, command in offered.items():
        options = {parameter.name for parameter in command.params}
        assert ("engine" in options) == (placed[name][2:3] == ["`--engine spark`"]), name
        if "engine" in options:
            tables = [one for one in command.params if one.name in TABLES]
            assert tables, name
            assert all(isinstance(one.type, InputFile) for one in tables), name
