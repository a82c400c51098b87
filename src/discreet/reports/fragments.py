"""A release in fragments, in the terminal."""

from __future__ import annotations

from collections.abc import Sequence

from rich.console import Group, RenderableType
from rich.text import Text

from discreet.release.fragment import FragmentRelease
from discreet.reports.terminal import grid, row


def show_fragments(
    release: FragmentRelease, names: Sequence[str], assumed: Sequence[str] = ()
) -> RenderableType:
    """What each fragment shows and reveals, and what is tied."""
    table = grid("file", "columns", "alone in it", "fewest alike", "fewest candidates elsewhere")
    for name, each in zip(names, release.fragments, strict=True):
        row(
            table, name, ", ".join(each.columns), f"{each.unique:,}", f"{each.smallest:,}", f"{each.joined:,}"
        )
    return Group(
        Text(f"{len(release.fragments)} fragments, score {release.score:.3f}", style="bold"),
        table,
        *(Text(f"  never together: {', '.join(each)}") for each in release.confidential),
        *(Text(f"  {note}", style="dim") for note in (*assumed, *release.notes)),
    )
