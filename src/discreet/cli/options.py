"""Options that several commands share: how a file is read, what its columns are, by what it is judged."""

from __future__ import annotations

import csv
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeVar

import click

from discreet.engine.read import read
from discreet.errors import InvalidParameter
from discreet.policy import Policy, load
from discreet.policy.suggest import suggest
from discreet.table import Table
from discreet.types import Progress

Command = TypeVar("Command", bound=Callable[..., Any])

READING = [
    click.option("--rows", type=click.IntRange(min=1), help="Look only at the first N rows.", metavar="N"),
    click.option("--delimiter", help="Field separator of a text file (found out if not given)."),
    click.option("--quote", help="Quote character of a text file."),
    click.option("--encoding", help="Encoding of a text file, e.g. utf-8 or cp1252."),
    click.option("--header/--no-header", default=None, help="Whether the first line holds the column names."),
    click.option("--names", help="Column names, separated by commas.", metavar="A,B,…"),
    click.option("--decimal", type=click.Choice([".", ","]), help="Decimal mark."),
    click.option("--missing", multiple=True, help="Text to read as null, e.g. '?'. May be repeated."),
    click.option("--sheet", help="Sheet of a spreadsheet (the first if not given)."),
    click.option(
        "--engine",
        type=click.Choice(["duckdb", "spark"]),
        default="duckdb",
        show_default=True,
        help="Where the rows are counted.",
    ),
]
ROLES = [
    click.option(
        "--policy",
        "-p",
        "policy_file",
        type=click.Path(path_type=Path, readable=False),
        help="Policy file (see `discreet suggest`).",
    ),
    click.option("--qi", help="Quasi-identifiers: columns an intruder may know.", metavar="A,B,…"),
    click.option("--sensitive", help="Sensitive attributes: what nobody should learn.", metavar="A,B,…"),
    click.option("--person", help="Column that says which rows belong to one person.", metavar="COLUMN"),
    click.option("--weight", help="Column with sampling weights.", metavar="COLUMN"),
    click.option("--identifiers", help="Direct identifiers.", metavar="A,B,…"),
    click.option("--profile", help="By what to judge: a name from `discreet profiles`, or a .toml file."),
    click.option(
        "--sampling-fraction",
        type=click.FloatRange(0, 1, min_open=True),
        help="Share of the population that is in the table; turns on population estimates.",
    ),
]


def reading_options(command: Command) -> Command:
    """Add the options that say how a file is read."""
    for option in reversed(READING):
        command = option(command)
    return command


def role_options(command: Command) -> Command:
    """Add the options that say what the columns are and by what a table is judged."""
    for option in reversed(ROLES):
        command = option(command)
    return command


def split(text: str | None) -> list[str] | None:
    """Column names from ``a,b,c``; a name that holds a comma is put in double quotes.

    >>> split("age, sex"), split('"city, state",age'), split(None)
    (['age', 'sex'], ['city, state', 'age'], None)
    """
    if text is None:
        return None
    parts = next(csv.reader([text], skipinitialspace=True)) if '"' in text else text.split(",")
    return [part.strip() for part in parts if part.strip()]


def refuse_unwritable(target: Path, *inputs: Path | None) -> None:
    """Raise before the work is done if its result could not be written, or would replace what is read."""
    folder = target.resolve().parent
    if not folder.is_dir():
        raise InvalidParameter(f"there is no folder to write {target.name} to", remedy="create it first")
    if target.is_dir():
        raise InvalidParameter(f"{target.name or target} is a folder", remedy="name a file in it")
    for file in filter(None, inputs):
        if target.exists() and file.exists() and target.samefile(file):
            raise InvalidParameter(
                f"{target.name} is a table that is read, and would be overwritten", remedy="name another file"
            )
    if not os.access(target if target.exists() else folder, os.W_OK):
        raise InvalidParameter(
            f"{target.name} may not be written", remedy="check the permissions, or name another place"
        )


def open_table(file: Path, given: dict[str, Any], policy: Policy | None = None) -> Table:
    """Read the file as the options say; what they leave open, as the policy's ``[read]`` says."""
    wanted: dict[str, Any] = dict(policy.read) if policy else {}
    for key in ("rows", "delimiter", "quote", "encoding", "header", "decimal", "sheet"):
        if given.get(key) is not None:
            wanted[key] = given[key]
    if given.get("names"):
        wanted["names"] = split(given["names"])
    if given.get("missing"):
        wanted["missing"] = list(given["missing"])
    if wanted.get("delimiter") in ("\\t", "tab"):
        wanted["delimiter"] = "\t"
    return read(file, engine=_engine(given.get("engine", "duckdb")), **wanted)


def _engine(name: str) -> Any:
    if name == "spark":
        from discreet.engine.spark import SparkEngine

        return SparkEngine()
    return None


def load_policy(given: dict[str, Any]) -> Policy | None:
    """The policy file that was named, if one was."""
    return None if given.get("policy_file") is None else load(given["policy_file"])


def make_policy(
    table: Table, policy: Policy | None, given: dict[str, Any], progress: Progress | None = None
) -> tuple[Policy, list[str]]:
    """The policy to apply, and what had to be assumed: file, then options, then suggestion.

    Options that name roles replace the suggested or written holders of these roles. If the
    quasi-identifiers are named on the command line, nothing is suggested besides direct identifiers.
    """
    assumed: list[str] = []
    if policy is None:
        policy = suggest(table, progress=progress)
        if given.get("qi") is None:
            assumed.append(
                "roles were suggested from names and content: check them, e.g. with `discreet suggest`"
            )
        else:
            if policy.person is not None and given.get("person") is None:
                assumed.append(
                    f"each row was counted as a person, but {policy.person} repeats as the id of a person "
                    f"does: name it with --person if it is one"
                )
            kept = [
                column
                for column in policy.columns
                if column.role not in ("quasi-identifier", "sensitive", "person-id", "weight")
            ]
            policy = Policy(columns=tuple(kept), profile=policy.profile)
    policy = policy.replace(
        quasi_identifiers=split(given.get("qi")),
        sensitive=split(given.get("sensitive")),
        person=given.get("person"),
        weight=given.get("weight"),
        direct_identifiers=split(given.get("identifiers")),
        profile=given.get("profile"),
        sampling_fraction=given.get("sampling_fraction"),
    )
    return policy, assumed
