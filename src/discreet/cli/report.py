"""`discreet report`: the audit as one HTML page."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from discreet.cli.audit import audit_file, write_report
from discreet.cli.command import StrictCommand
from discreet.cli.options import FILE, LANGUAGE, PATH, reading_options, refuse_unwritable, role_options, say
from discreet.reports.words import Edition


@click.command(cls=StrictCommand)
@FILE
@click.option("--output", "-o", type=PATH, required=True, help="Where the HTML page is written.")
@click.option(
    "--edition",
    type=click.Choice(["internal", "public"]),
    default="internal",
    show_default=True,
    help="The public edition shows no values of the data.",
)
@LANGUAGE
@click.option("--quiet", "-q", is_flag=True, help="Print nothing but errors.")
@role_options
@reading_options
def report(file: Path, output: Path, edition: Edition, language: str, quiet: bool, **given: Any) -> None:
    """Write the audit of FILE as one self-contained HTML page for people."""
    refuse_unwritable(output)
    result = audit_file(file, given, quiet=quiet)
    written = write_report(result, output, edition, language, quiet=quiet)
    if not quiet:
        say(f"{result.verdict.words} Report: {written}")
