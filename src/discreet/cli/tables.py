"""`discreet tables`: several tables about the same people, judged and released together."""

from __future__ import annotations

import os
from pathlib import Path

import click

from discreet.cli.command import StrictGroup
from discreet.cli.options import PATH, print_json, refuse_unwritable
from discreet.cli.progress import progress
from discreet.errors import InvalidParameter
from discreet.files.writing import refuse_filled_folder, write_text
from discreet.relational.anonymize import anonymize_tables
from discreet.relational.judging import RelationalAudit, audit_tables
from discreet.relational.suggest import find_tables, suggest_tables
from discreet.reports.console import Terminal
from discreet.reports.relational import (
    chart_of_tables,
    show_references,
    show_relational_audit,
    show_relational_release,
)

BESIDE_TABLES = (".toml", ".svg")
SOURCE = click.argument("source", type=PATH)
POLICY = click.option(
    "--policy", "-p", "policy_file", type=PATH, required=True, help="Policy with [people] and [tables]."
)
JSON = click.option("--json", "as_json", is_flag=True, help="Print it as JSON.")


@click.group(cls=StrictGroup)
def tables() -> None:
    """Judge and release several tables about the same people together.

    SOURCE is a folder of files, a workbook, or a file of SQLite (.db) or DuckDB (.duckdb).
    """


@tables.command()
@SOURCE
@click.option("--chart", type=PATH, help="Write a picture of the tables and their keys to this file (SVG).")
@JSON
def show(source: Path, chart: Path | None, as_json: bool) -> None:
    """Show the tables in SOURCE, their keys, and how many rows refer to one."""
    _refuse_tables(source, chart)
    schema = find_tables(source)
    if chart is not None:
        write_text(chart, chart_of_tables(schema.rows, schema.keys, schema.references))
    if as_json:
        print_json(schema.to_dict())
        return
    Terminal().print(show_references(schema.rows, schema.keys, schema.references))
    if schema.people is not None:
        Terminal().print(f"The people seem to be in {schema.people}.")


@tables.command()
@SOURCE
@click.option("--output", "-o", type=PATH, required=True, help="Where the policy is written.")
@click.option("--profile", help="The profile by which releases are judged.")
@click.option("--force", is_flag=True, help="Replace a file that is there.")
def suggest(source: Path, output: Path, profile: str | None, force: bool) -> None:
    """Write a policy for the tables in SOURCE, with a suggested role for every column."""
    if os.path.lexists(output) and not force:
        raise InvalidParameter("the policy file is there", remedy="name another one, or replace it (--force)")
    _refuse_tables(source, output)
    text = suggest_tables(source) if profile is None else suggest_tables(source, profile=profile)
    write_text(output, text)
    Terminal().print(f"Wrote {output.name}. Check the roles in it, then run: discreet tables audit")


@tables.command()
@SOURCE
@POLICY
@JSON
def audit(source: Path, policy_file: Path, as_json: bool) -> None:
    """Say who is found by how many known rows, and whether each table may be released with those above it."""
    _judged(source, policy_file, as_json=as_json)


@tables.command()
@SOURCE
@POLICY
@JSON
def check(source: Path, policy_file: Path, as_json: bool) -> None:
    """Exit with 0 if everything that the policy asks holds, with 1 if not."""
    if not _judged(source, policy_file, as_json=as_json).holds:
        raise click.exceptions.Exit(1)


@tables.command()
@SOURCE
@POLICY
@click.option("--output", "-o", type=PATH, required=True, help="The new folder of the release.")
@click.option(
    "--format",
    "suffix",
    type=click.Choice(["csv", "parquet"]),
    default="csv",
    show_default=True,
    help="What files are written.",
)
@click.option(
    "--tables-seed",
    type=click.IntRange(min=0),
    help="Makes pseudonyms, shifts and orders repeatable, and for whoever knows it undoable: keep it secret.",
)
@JSON
def anonymize(
    source: Path, policy_file: Path, output: Path, suffix: str, tables_seed: int | None, as_json: bool
) -> None:
    """Write the tables in SOURCE so that nobody is found by what is known of a person in all of them, verified."""
    refuse_filled_folder(output)
    with progress(quiet=as_json) as say:
        release = anonymize_tables(source, policy_file, seed=tables_seed, progress=say)
        release.save(output, suffix=f".{suffix}")
    if as_json:
        print_json(release.to_dict())
    else:
        Terminal().print(show_relational_release(release))
        Terminal().print(f"Wrote {len(release.tables)} tables to {output.name}/")


def _refuse_tables(source: Path, output: Path | None) -> None:
    """Refuse to write over a table; a policy or a picture may lie in their folder."""
    files = source.iterdir() if os.path.isdir(source) else [source]
    tables = [file for file in files if file.suffix.lower() not in BESIDE_TABLES]
    refuse_unwritable(output, inputs=tables, folder=source)


def _judged(source: Path, policy_file: Path, *, as_json: bool) -> RelationalAudit:
    with progress(quiet=as_json) as say:
        judged = audit_tables(source, policy_file, progress=say)
    if as_json:
        print_json(judged.to_dict())
    else:
        Terminal().print(show_relational_audit(judged))
    return judged
