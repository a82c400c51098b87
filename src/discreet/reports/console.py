"""The terminal: names and values of a table may hold anything, and none of it may move the cursor or hide text."""

from __future__ import annotations

from collections.abc import Iterable
from typing import IO

from rich.console import Console, ConsoleOptions, RenderableType
from rich.segment import Segment

from discreet.plain import printable


class Terminal(Console):
    """A console that prints what it is given, never does what it says."""

    def __init__(
        self,
        *,
        stderr: bool = False,
        file: IO[str] | None = None,
        width: int | None = None,
        record: bool = False,
    ) -> None:
        super().__init__(
            highlight=False,
            stderr=stderr,
            file=file,
            width=width,
            record=record,
            # Without a terminal there are no colours, whatever the environment says.
            color_system="auto" if file is None else None,
            legacy_windows=None if file is None else False,
            # In a notebook rich would show by itself what the notebook is to be given.
            force_jupyter=False,
        )

    def render(self, renderable: RenderableType, options: ConsoleOptions | None = None) -> Iterable[Segment]:
        """What is printed: every piece of text without what a terminal would obey."""
        for segment in super().render(renderable, options):
            text, style, control = segment
            yield segment if control else Segment(printable(text), style)
