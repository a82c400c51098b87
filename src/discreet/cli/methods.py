"""`discreet methods`: which family of methods does what."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click
from rich.padding import Padding
from rich.table import Table as Grid
from rich.text import Text

from discreet.cli.command import StrictCommand
from discreet.reports.console import Terminal

if TYPE_CHECKING:
    from discreet.release.families import MethodFamily


@click.command(cls=StrictCommand)
@click.option("--json", "as_json", is_flag=True, help="Print the table as JSON.")
def methods(as_json: bool) -> None:
    """List the families of methods by what they do to values: what each guarantees, prevents and leaves to be tried."""
    from discreet.cli.options import print_json
    from discreet.release.families import method_families

    families = method_families()
    if as_json:
        print_json({"schema": "discreet-methods-1", "families": [family.to_dict() for family in families]})
        return
    console = Terminal()
    for effect in dict.fromkeys(family.effect for family in families):
        console.print(Text(f"\n{effect.capitalize()}", style="bold"))
        for family in families:
            if family.effect == effect:
                console.print(Text(f"\n  {family.title}"))
                console.print(Padding(_told(family), (0, 0, 0, 4)))


def _told(family: MethodFamily) -> Grid:
    """What there is to know of a family, one subject a line: side by side they would be a few letters wide."""
    from discreet.release.families import RATINGS

    ratings = (f"{name.replace('_', ' ')} {getattr(family, name)}" for name in RATINGS)
    lines = {
        "methods": ", ".join(family.methods),
        "guarantee": family.guarantee,
        "prevents": ", ".join(family.prevents),
        "try these attacks": ", ".join(family.leaves),
        "measures": ", ".join(family.measures),
        "ratings": ", ".join(ratings),
        "source": family.source,
    }
    grid = Grid(box=None, show_header=False, pad_edge=False)
    grid.add_column(style="dim", no_wrap=True)
    grid.add_column(overflow="fold")
    for head, told in lines.items():
        grid.add_row(head, told or "–")
    return grid
