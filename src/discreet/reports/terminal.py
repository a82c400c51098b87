"""What the texts for a terminal share: headings, compact tables, remarks, and plain text."""

from __future__ import annotations

import io
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from rich import box
from rich.console import Console, ConsoleOptions, Group, RenderableType, RenderResult
from rich.padding import Padding
from rich.table import Table as Grid
from rich.text import Text

from discreet.release.outcome import Outcome
from discreet.release.verdict import Decision
from discreet.reports.console import Terminal
from discreet.reports.words import number, percent

STYLE: dict[Decision, tuple[str, str]] = {
    "release": ("green", "✔"),
    "release-with-acknowledged-risk": ("yellow", "!"),
    "do-not-release": ("red", "✘"),
}

WIDE = 100
"""So many letters a line have room for a sentence beside each measure."""


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


@dataclass(frozen=True)
class Explained:
    """Measures, each with a sentence, its last cell: in a table where there is room, else a line with the sentence below it."""

    heads: Sequence[str]
    rows: Sequence[tuple[Sequence[str | Text], Text]]

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        if options.max_width < WIDE:
            for cells, line in self.rows:
                yield line
                yield from footnotes([str(cells[-1])])
            return
        table = grid(*self.heads)
        for cells, _ in self.rows:
            row(table, *cells)
        yield table


def outcome_table(
    outcomes: Sequence[Outcome], what: Literal["method", "setting"], told: Sequence[str]
) -> RenderableType:
    """Methods or settings by rising loss; below it what the marks mean, and what failed."""
    settings = what == "setting"
    last = ("value guessed", "classes") if settings else ("classes", "seconds")
    table = grid("", what, "loss", "suppressed", "mean risk", "largest risk", *last)
    failed = []
    for outcome in sorted(outcomes, key=lambda outcome: (outcome.loss is None, outcome.loss)):
        name = outcome.label if settings else outcome.method
        if outcome.mean_risk is None or outcome.max_risk is None:
            failed.append(f"Failed: {name}: {outcome.failed}.")
            continue
        guessed = "–" if outcome.inference is None else percent(outcome.inference)
        classes = f"{outcome.classes:,}"
        row(
            table,
            ("★" if outcome.best else "") + ("◆" if outcome.knee else "") + ("■" if outcome.chosen else ""),
            name,
            "undefined" if outcome.loss is None else number(outcome.loss),
            percent(outcome.suppressed_share or 0.0),
            percent(outcome.mean_risk),
            percent(outcome.max_risk),
            *((guessed, classes) if settings else (classes, f"{outcome.seconds:.1f}")),
        )
    return Group(title("Risk against loss"), table, *footnotes([*told, *failed]))


def html(shown: RenderableType, width: int = 110) -> str:
    """Something that rich can print, as HTML for a notebook, in its colours."""
    console = Terminal(file=io.StringIO(), width=width, record=True)
    console.print(shown)
    return console.export_html(
        inline_styles=True, code_format='<pre style="line-height:1.3;overflow-x:auto">{code}</pre>'
    )


def plain(shown: RenderableType, width: int = 110) -> str:
    """Something that rich can print, as plain text."""
    console = Terminal(file=io.StringIO(), width=width)
    console.print(shown)
    assert isinstance(console.file, io.StringIO)
    return console.file.getvalue().rstrip() + "\n"
