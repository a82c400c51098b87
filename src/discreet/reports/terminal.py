"""What the texts for a terminal share: headings, compact tables, remarks, and plain text."""

from __future__ import annotations

import io
from collections.abc import Sequence

from rich import box
from rich.console import Console, RenderableType
from rich.padding import Padding
from rich.table import Table as Grid
from rich.text import Text

from discreet.release.verdict import Decision

STYLE: dict[Decision, tuple[str, str]] = {
    "release": ("green", "✔"),
    "release-with-acknowledged-risk": ("yellow", "!"),
    "do-not-release": ("red", "✘"),
}


def footnotes(lines: Sequence[str]) -> list[RenderableType]:
    """Remarks below the tables."""
    return [Padding(Text(line, style="dim"), (0, 0, 0, 2)) for line in lines]


def title(text: str) -> Text:
    """The heading of a table."""
    return Text(text, style="bold underline")


def grid(*heads: str) -> Grid:
    """A compact table."""
    table = Grid(box=box.SIMPLE_HEAD, pad_edge=False, show_edge=False, header_style="dim")
    for head in heads:
        table.add_column(Text(head), overflow="fold")
    return table


def row(table: Grid, *cells: str | Text) -> None:
    """Add a row of plain text: a column called ``age[years]`` is not markup."""
    table.add_row(*(cell if isinstance(cell, Text) else Text(cell) for cell in cells))


def plain(shown: RenderableType, width: int = 110) -> str:
    """Something that rich can print, as plain text."""
    console = Console(file=io.StringIO(), width=width, color_system=None, legacy_windows=False)
    console.print(shown)
    assert isinstance(console.file, io.StringIO)
    return console.file.getvalue().rstrip() + "\n"
