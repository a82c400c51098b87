"""`discreet audit` and `discreet report`."""

from __future__ import annotations

import dataclasses
import json
from pathlib import Path
from typing import Any

import click
from rich.console import Console

from discreet.cli.options import (
    load_policy,
    make_policy,
    open_table,
    reading_options,
    refuse_unwritable,
    role_options,
)
from discreet.cli.progress import progress
from discreet.release.audit import Audit
from discreet.release.audit import audit as run_audit


def perform(file: Path, given: dict[str, Any], *, quiet: bool, core: bool = False) -> Audit:
    """Read, settle the policy, audit."""
    with progress(quiet=quiet) as tell:
        tell(f"reading {file.name}")
        written = load_policy(given)
        table = open_table(file, given, written)
        policy, assumed = make_policy(table, written, given, tell)
        found = run_audit(table, policy, detail="core" if core else "full", progress=tell)
    return dataclasses.replace(found, notes=(*found.notes, *assumed))


@click.command()
@click.argument("file", type=click.Path(path_type=Path, readable=False))
@role_options
@reading_options
@click.option("--json", "as_json", is_flag=True, help="Print everything as JSON (see `discreet schema`).")
@click.option("--quiet", "-q", is_flag=True, help="Print the verdict only, on one line.")
@click.option("--core", is_flag=True, help="Leave out the search for exposing combinations (faster).")
@click.option(
    "--report",
    "report_file",
    type=click.Path(path_type=Path, readable=False),
    help="Also write an HTML report.",
)
@click.option(
    "--edition",
    type=click.Choice(["internal", "public"]),
    default="internal",
    show_default=True,
    help="The public edition of the report shows no values of the data.",
)
def audit(
    file: Path, as_json: bool, quiet: bool, core: bool, report_file: Path | None, edition: str, **given: Any
) -> None:
    """Say whether the table in FILE may be released, with reasons, numbers and sources.

    Without --policy or --qi the roles of the columns are suggested, and the audit says so.
    """
    if report_file is not None:
        refuse_unwritable(report_file, file)
    found = perform(file, given, quiet=quiet or as_json, core=core)
    written = _write_report(found, report_file, edition, quiet=quiet or as_json) if report_file else None
    if as_json:
        click.echo(json.dumps(found.to_dict(), ensure_ascii=False, indent=2, allow_nan=False))
    elif quiet:
        click.echo(f"{found.verdict.decision}: {found.verdict.words}")
    else:
        from discreet.reports.audit.terminal import show

        console = Console(highlight=False, soft_wrap=False)
        console.print(show(found))
        if written is not None:
            console.print(f"\nReport: {written}", soft_wrap=True, markup=False)


@click.command()
@click.argument("file", type=click.Path(path_type=Path, readable=False))
@click.option(
    "--output",
    "-o",
    type=click.Path(path_type=Path, readable=False),
    required=True,
    help="Where the HTML page is written.",
)
@click.option(
    "--edition",
    type=click.Choice(["internal", "public"]),
    default="internal",
    show_default=True,
    help="The public edition shows no values of the data.",
)
@click.option("--quiet", "-q", is_flag=True, help="Print nothing but errors.")
@role_options
@reading_options
def report(file: Path, output: Path, edition: str, quiet: bool, **given: Any) -> None:
    """Write the audit of FILE as one self-contained HTML page for people."""
    refuse_unwritable(output, file)
    found = perform(file, given, quiet=quiet)
    written = _write_report(found, output, edition, quiet=quiet)
    if not quiet:
        click.echo(f"{found.verdict.words} Report: {written}")


def _write_report(found: Audit, target: Path, edition: str, *, quiet: bool) -> Path:
    with progress(quiet=quiet) as tell:
        tell("drawing the report")
        from discreet.reports.audit.html import report as write_report

        return write_report(found, target, edition="public" if edition == "public" else "internal")
