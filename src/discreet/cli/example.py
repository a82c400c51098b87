"""`discreet example`: a made-up town's tables."""

from __future__ import annotations

from pathlib import Path

import click

from discreet.cli.command import StrictCommand


@click.command(cls=StrictCommand)
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
    from discreet.plain import printable

    for path in write_example(folder, people=people, seed=seed).values():
        click.echo(printable(str(path)))
