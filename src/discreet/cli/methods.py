"""`discreet methods`: which family of methods does what."""

from __future__ import annotations

import click
from rich import box
from rich.table import Table as Grid

from discreet.cli.command import StrictCommand
from discreet.reports.console import Terminal


@click.command(cls=StrictCommand)
@click.option("--json", "as_json", is_flag=True, help="Print the table as JSON.")
def methods(as_json: bool) -> None:
    """List the families of methods by what they do to values: what each guarantees, prevents and leaves to be tried."""
    from discreet.cli.options import print_json
    from discreet.release.families import RATINGS, method_families

    families = method_families()
    if as_json:
        print_json({"schema": "discreet-methods-1", "families": [family.to_dict() for family in families]})
        return
    console = Terminal()
    for effect in dict.fromkeys(family.effect for family in families):
        grid = Grid(box=box.SIMPLE_HEAD, header_style="dim", title=effect.capitalize(), title_justify="left")
        for head in ("family", "methods", "guarantee", "prevents", "try these attacks", "ratings", "source"):
            grid.add_column(head, overflow="fold")
        for family in families:
            if family.effect == effect:
                ratings = [f"{name.replace('_', ' ')} {getattr(family, name)}" for name in RATINGS]
                grid.add_row(
                    family.title,
                    "\n".join(family.methods),
                    family.guarantee,
                    "\n".join(family.prevents) or "–",
                    "\n".join(family.leaves) or "–",
                    "\n".join(ratings),
                    family.source,
                )
        console.print(grid)
