"""`discreet profiles`: by what a release can be judged."""

from __future__ import annotations

import click
from rich import box
from rich.table import Table as Grid

from discreet.cli.command import StrictCommand
from discreet.reports.console import Terminal


@click.command(cls=StrictCommand)
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
    Terminal().print(grid)
