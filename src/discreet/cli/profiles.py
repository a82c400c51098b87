"""Commands that take no table: `profiles`, `schema`, `example`."""

from __future__ import annotations

import json
from pathlib import Path

import click
from rich import box
from rich.console import Console
from rich.table import Table as Grid


@click.command()
def profiles() -> None:
    """List the profiles by which a release can be judged, with source and date."""
    from discreet.release.profile import load_profile, profile_names

    grid = Grid(box=box.SIMPLE_HEAD, header_style="dim")
    for head in ("profile", "what it is", "source", "date"):
        grid.add_column(head, overflow="fold")
    for name in profile_names():
        profile = load_profile(name)
        grid.add_row(
            name, f"{profile.title}. {profile.description}", profile.source, profile.date.isoformat()
        )
    Console(highlight=False).print(grid)


@click.command()
def schema() -> None:
    """Print the JSON schema of `discreet audit --json`."""
    from discreet.reports.schema import AUDIT_SCHEMA

    click.echo(json.dumps(AUDIT_SCHEMA, indent=2))


@click.command()
@click.argument("folder", type=click.Path(path_type=Path, file_okay=False))
@click.option(
    "--people", type=click.IntRange(min=10), default=4000, show_default=True, help="How many residents."
)
@click.option(
    "--seed", type=click.IntRange(min=0), default=1, show_default=True, help="Another seed, another town."
)
def example(folder: Path, people: int, seed: int) -> None:
    """Write a made-up town's residents.csv and visits.csv into FOLDER."""
    from discreet.example import write_example

    for path in write_example(folder, people=people, seed=seed).values():
        click.echo(str(path))
