"""What is told while a verb works: to whoever asked, and to the log called ``discreet``."""

from __future__ import annotations

import logging
import sys

from discreet.types import Progress

LOG = logging.getLogger("discreet")
LOG.addHandler(logging.NullHandler())

Asked = Progress | bool | None
"""A function that is told each step, ``True`` for a line that is written over and over, or nothing."""


def telling(asked: Asked) -> Progress:
    """A function that tells each step to the log and to whoever asked for it.

    >>> steps = []
    >>> telling(steps.append)("counting equivalence classes")
    >>> steps
    ['counting equivalence classes']
    """

    def tell(step: str) -> None:
        LOG.info(step)
        if asked is True:
            # The end of the line is cleared, the next step begins at its start: in terminals and in notebooks.
            print(f"\r{step[:78]:<78}", end="", file=sys.stderr, flush=True)
        elif asked:
            asked(step)

    return tell
