"""`discreet schema`: the JSON schema of an audit."""

from __future__ import annotations

import json

import click

from discreet.cli.command import StrictCommand


@click.command(cls=StrictCommand)
def schema() -> None:
    """Print the JSON schema of `discreet audit --json`."""
    from discreet.reports.schema import AUDIT_SCHEMA

    click.echo(json.dumps(AUDIT_SCHEMA, indent=2))
