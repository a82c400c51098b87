"""`discreet schema`: the JSON schemas of what is printed with `--json`."""

from __future__ import annotations

import json

import click

from discreet.cli.command import StrictCommand
from discreet.cli.options import say
from discreet.errors import unknown


@click.command(cls=StrictCommand)
@click.argument("name", default="audit")
@click.option("--list", "list_all", is_flag=True, help="List the names of all schemas, and who prints them.")
def schema(name: str, list_all: bool) -> None:
    """Print the JSON schema NAME: of what a command prints with `--json` (default: of an audit).

    A document says by which schema it is written: `"schema": "discreet-NAME-1"`.
    """
    from discreet.reports.schema import PRINTED_BY, SCHEMAS

    if list_all:
        width = max(map(len, SCHEMAS))
        for each in sorted(SCHEMAS):
            say(f"{each:<{width}}  {PRINTED_BY[each]}")
        return
    if name not in SCHEMAS:
        raise unknown("schema", name, sorted(SCHEMAS))
    click.echo(json.dumps(SCHEMAS[name], indent=2))
