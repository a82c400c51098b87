"""`discreet suggest`: a policy to start with."""

from __future__ import annotations

import dataclasses
from pathlib import Path
from typing import Any

import click

from discreet.cli.command import StrictCommand
from discreet.cli.options import (
    FILE,
    PATH,
    open_table,
    print_document,
    read_options,
    reading_options,
    refuse_unwritable,
    say,
)
from discreet.cli.progress import progress
from discreet.errors import InvalidParameter
from discreet.policy import dumps, save
from discreet.policy.document import UNWRITTEN
from discreet.policy.suggest import suggestion


@click.command(cls=StrictCommand)
@FILE
@click.option(
    "--output",
    "-o",
    type=PATH,
    help="Where the policy is written (standard output if not given).",
)
@click.option("--force", is_flag=True, help="Overwrite an existing policy file.")
@reading_options
def suggest(file: Path, output: Path | None, force: bool, **given: Any) -> None:
    """Write a commented TOML policy for FILE: each column's role with its reason, rating and type.

    Check every role and correct it in the file: it is a suggestion.
    """
    if output is not None and output.exists() and not force:
        raise InvalidParameter(f"{output.name} exists already", remedy="name another file, or pass --force")
    refuse_unwritable(output)
    with progress(quiet=False) as tell:
        tell(f"reading {file.name}")
        table = open_table(file, given)
        suggested = suggestion(table, progress=tell)
    reading = {key: value for key, value in read_options(given).given().items() if key not in UNWRITTEN}
    policy = dataclasses.replace(suggested.policy, read=reading)
    if output is None:
        print_document(dumps(policy, notes=suggested.notes, heading=suggested.heading))
        return
    save(policy, output, notes=suggested.notes, heading=suggested.heading)
    counts = {
        role: sum(column.role == role for column in policy.columns)
        for role in dict.fromkeys(column.role for column in policy.columns)
    }
    if table.source.left_out:
        say(f"Reading: {table.source.left_out}")
    say(f"Wrote {output}: " + ", ".join(f"{n} {role}" for role, n in counts.items()))
    shown = file if isinstance(file, Path) else "ADDRESS"
    say(f"Check the roles in it, then run: discreet audit {shown} --policy {output}")
