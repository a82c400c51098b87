"""What changed between two releases or policies, for a terminal and a notebook."""

from __future__ import annotations

from rich.console import Group, RenderableType
from rich.text import Text

from discreet.release.difference import Difference, Value
from discreet.reports.terminal import grid, html, plain, row, title
from discreet.reports.words import number

TITLES = {
    "columns": "Columns",
    "roles": "Roles",
    "requirements": "Requirements",
    "settings": "Settings",
    "records": "Records",
    "verdict": "Verdict",
    "measures": "Measures",
    "risks": "Risks",
    "losses": "Losses",
}


def show_difference(difference: Difference) -> RenderableType:
    """A table for each subject in which the two differ."""
    if not difference.changes:
        return Text(f"{difference.first} and {difference.second} do not differ.")
    parts: list[RenderableType] = []
    for subject, heading in TITLES.items():
        changes = [change for change in difference.changes if change.subject == subject]
        if not changes:
            continue
        table = grid("", difference.first, difference.second)
        for change in changes:
            row(table, change.name, _shown(change.before), _shown(change.after))
        parts += [title(heading), table, Text()]
    return Group(*parts[:-1])


def _shown(value: Value) -> str:
    if value is None:
        return "–"
    return value if isinstance(value, str) else number(value)


def difference_as_text(difference: Difference, *, width: int = 110) -> str:
    """The difference as plain text, for ``print(difference)``."""
    return plain(show_difference(difference), width)


def difference_as_html(difference: Difference) -> str:
    """The difference as a notebook shows it."""
    return html(show_difference(difference))
