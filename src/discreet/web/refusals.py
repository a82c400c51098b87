"""What the page and the REST interface say instead of doing something: code, message, remedy and status."""

from __future__ import annotations

import traceback
from dataclasses import dataclass, field
from typing import Final

from discreet.errors import DiscreetError, InvalidHierarchy, InvalidPolicy

UNPROCESSABLE: Final = 422


@dataclass(frozen=True)
class Problem:
    """Something to tell: what the command line prints, as data. ``problems`` lists several at once."""

    code: str
    message: str
    remedy: str = ""
    problems: tuple[str, ...] = field(default=())

    def to_dict(self) -> dict[str, object]:
        found: dict[str, object] = {"code": self.code, "message": self.message, "remedy": self.remedy}
        return {**found, "problems": list(self.problems)} if self.problems else found


class Refusal(Exception):
    """A request that is not granted, with the HTTP status that says so."""

    def __init__(self, status: int, code: str, message: str, remedy: str = "") -> None:
        self.status = status
        self.problem = Problem(code, message, remedy)
        super().__init__(message)


def explain(error: BaseException) -> Problem:
    """An error as it is told to people: never a traceback, never a value of the data.

    >>> explain(MemoryError()).code, explain(ValueError("Smith, 47")).message
    ('out-of-memory', 'something went wrong inside discreet (ValueError)')
    """
    if isinstance(error, DiscreetError):
        listed = error.problems if isinstance(error, InvalidPolicy | InvalidHierarchy) else ()
        return Problem(error.code, error.message, error.remedy, tuple(listed))
    if isinstance(error, MemoryError) or type(error).__name__ == "OutOfMemoryException":
        return Problem(
            "out-of-memory", "the machine ran out of memory", "name fewer quasi-identifiers, or take a sample"
        )
    return Problem(
        "internal",
        f"something went wrong inside discreet ({type(error).__name__}{_where(error)})",
        "please report this line together with the version; it contains none of your data",
    )


def _where(error: BaseException) -> str:
    """The place in discreet where it went wrong; the exception's own text could hold a value of the data."""
    inside = [one for one in traceback.extract_tb(error.__traceback__) if "/discreet/" in one.filename]
    return f" at {inside[-1].filename.rsplit('discreet/', 1)[-1]}:{inside[-1].lineno}" if inside else ""


def not_found(what: str) -> Refusal:
    return Refusal(
        404, "not-found", f"there is no such {what}", "it may have been removed; go back to the start"
    )
