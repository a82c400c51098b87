"""Errors as the page and the REST interface show them: code, message, remedy and HTTP status."""

from __future__ import annotations

import traceback
from dataclasses import dataclass, field
from typing import Final

from discreet.errors import SURPRISES, DiscreetError, InvalidHierarchy, InvalidPolicy
from discreet.sentences import Sentence

UNPROCESSABLE: Final = 422


@dataclass(frozen=True)
class ProblemDetails:
    """An error as data: what the command line prints of it. ``problems`` lists several at once."""

    code: str
    message: str
    remedy: str = ""
    problems: tuple[str, ...] = field(default=())

    def to_dict(self) -> dict[str, object]:
        document: dict[str, object] = {"code": self.code, "message": self.message, "remedy": self.remedy}
        return {**document, "problems": list(self.problems)} if self.problems else document


class Refusal(Exception):
    """A refused request, with its HTTP status."""

    def __init__(self, status: int, code: str, message: str, remedy: str = "") -> None:
        self.status = status
        self.problem = ProblemDetails(code, message, remedy)
        super().__init__(message)


def explain(error: BaseException) -> ProblemDetails:
    """An error in words for people: never a traceback, never a value of the data.

    >>> explain(MemoryError()).code, explain(ValueError("Smith, 47")).message
    ('out-of-memory', 'something went wrong inside discreet (ValueError)')
    """
    if isinstance(error, DiscreetError):
        listed = error.problems if isinstance(error, InvalidPolicy | InvalidHierarchy) else ()
        return ProblemDetails(error.code, error.message, error.remedy, tuple(listed))
    if isinstance(error, MemoryError) or type(error).__name__ == "OutOfMemoryException":
        return ProblemDetails(
            "out-of-memory", "the machine ran out of memory", "name fewer quasi-identifiers, or take a sample"
        )
    if isinstance(error, SURPRISES):
        return ProblemDetails(
            "unreadable-input",
            Sentence(
                "the input is too deep, too large or no text ({kind})",
                kind=f"{type(error).__name__}{_where(error)}",
            ),
            "correct it",
        )
    return ProblemDetails(
        "internal",
        Sentence(
            "something went wrong inside discreet ({kind})", kind=f"{type(error).__name__}{_where(error)}"
        ),
        "please report this line together with the version; it contains none of your data",
    )


def _where(error: BaseException) -> str:
    """The place in discreet where it went wrong; the exception's own text could hold a value of the data."""
    inside = [frame for frame in traceback.extract_tb(error.__traceback__) if "/discreet/" in frame.filename]
    return f" at {inside[-1].filename.rsplit('discreet/', 1)[-1]}:{inside[-1].lineno}" if inside else ""


def changed_meanwhile() -> Refusal:
    """The refusal of a change that rests on something that somebody else has changed."""
    return Refusal(
        409, "changed-meanwhile", "the policy has been changed meanwhile", "look at it again and repeat"
    )


def not_found(what: str) -> Refusal:
    """The refusal for something that is not, or no longer, there."""
    return Refusal(
        404,
        "not-found",
        Sentence("there is no such {what}", what=Sentence(what)),
        "it may have been removed; go back to the start",
    )
