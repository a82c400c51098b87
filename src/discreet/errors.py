"""The one family of errors: each has a code, says what is wrong and what to do next.

No error text ever contains a cell value of the data: column names, counts and places only. The one exception are the
values nearest to one that a requirement names by mistake (``release.prepare.refuse_absent_values``).
"""

from __future__ import annotations

from collections.abc import Iterable
from difflib import get_close_matches

from discreet.sentences import Sentence

MOST_NAMES = 30
"""So many names of what there is are listed."""


class DiscreetError(Exception):
    """Something the user can mend. ``code`` is stable; ``remedy`` says what to do next.

    >>> error = DiscreetError("the table has no rows", remedy="check the file")
    >>> print(error)
    the table has no rows; check the file
    """

    code = "error"

    def __init__(self, message: str, *, remedy: str = "") -> None:
        self.message = message
        self.remedy = remedy
        super().__init__(f"{message}; {remedy}" if remedy else message)

    @property
    def sentence(self) -> Sentence:
        """What is wrong and what to do next as one sentence, for another message to hold."""
        if not self.remedy:
            return Sentence(self.message)
        return Sentence("{message}; {remedy}", message=Sentence(self.message), remedy=Sentence(self.remedy))


class UnreadableInput(DiscreetError):
    """The input could not be read as a table: wrong path, encoding, shape or format."""

    code = "unreadable-input"


class EmptyTable(UnreadableInput):
    """The input has no rows or no columns."""

    code = "empty-table"


class UnsuitableColumn(DiscreetError):
    """A column cannot play the part it was given (type, infinities, too many values, one value)."""

    code = "unsuitable-column"


class UnknownColumn(DiscreetError):
    """A column was named that the table does not have.

    >>> print(UnknownColumn("zipp", ["age", "zip"]))
    there is no column 'zipp'; did you mean 'zip'? The columns are: age, zip
    """

    code = "unknown-column"

    def __init__(self, name: str, available: Iterable[str]) -> None:
        self.name = name
        super().__init__(
            Sentence("there is no column {name!r}", name=name), remedy=_known("column", name, available)
        )


class InvalidPolicy(DiscreetError):
    """The policy contradicts itself or the table. Lists every problem at once."""

    code = "invalid-policy"

    def __init__(self, problems: Iterable[str], *, remedy: str = "") -> None:
        self.problems = tuple(problems)
        text = (
            self.problems[0]
            if len(self.problems) == 1
            else Sentence(
                "{count} problems in the policy:\n  - {problems:\n  - }",
                count=len(self.problems),
                problems=tuple(map(Sentence, self.problems)),
            )
        )
        super().__init__(text, remedy=remedy)


class InvalidHierarchy(DiscreetError):
    """A hierarchy contradicts itself. Lists every problem at once."""

    code = "invalid-hierarchy"

    def __init__(self, name: str, problems: Iterable[str]) -> None:
        self.problems = tuple(problems)
        told = {"name": name, "problems": tuple(map(Sentence, self.problems))}
        super().__init__(
            Sentence("the hierarchy of {name!r} has 1 problem:\n  - {problems}", **told)
            if len(self.problems) == 1
            else Sentence(
                "the hierarchy of {name!r} has {count} problems:\n  - {problems:\n  - }",
                count=len(self.problems),
                **told,
            ),
            remedy="correct these lines; `discreet hierarchy check` shows them again",
        )


class InvalidParameter(DiscreetError):
    """A parameter is outside the range in which the definition makes sense."""

    code = "invalid-parameter"


def unknown(kind: str, name: str, known: Iterable[str]) -> InvalidParameter:
    """The error for a name that nothing of its kind has.

    >>> print(unknown("model", "k-anonimity", ["k-anonymity", "l-diversity"]))
    there is no model 'k-anonimity'; did you mean 'k-anonymity'? The models are: k-anonymity, l-diversity
    """
    told = Sentence("there is no {kind} {name!r}", kind=Sentence(kind), name=name)
    return InvalidParameter(told, remedy=_known(kind, name, known))


def refuse_surplus(name: str, given: Iterable[str], known: Iterable[str]) -> None:
    """Raise if a parameter is given that ``name`` does not take.

    >>> refuse_surplus("k-anonymity", ["l"], ["k", "unit"])
    Traceback (most recent call last):
    discreet.errors.InvalidParameter: k-anonymity has no parameter l; k-anonymity takes k, unit
    """
    taken = list(known)
    surplus = [parameter for parameter in given if parameter not in taken]
    if surplus:
        raise InvalidParameter(
            Sentence("{name} has no parameter {surplus}", name=name, surplus=tuple(surplus)),
            remedy=Sentence("{name} takes {parameters}", name=name, parameters=tuple(taken))
            if taken
            else Sentence("{name} takes no parameters", name=name),
        )


def _known(kind: str, name: str, known: Iterable[str]) -> Sentence:
    """The name that was probably meant, and at most thirty of those that there are."""
    names = list(known)
    there_are = Sentence("The {kind}s are: {names}", kind=Sentence(kind), names=tuple(names[:MOST_NAMES]))
    if len(names) > MOST_NAMES:
        there_are = Sentence("{names} and {more} more", names=there_are, more=len(names) - MOST_NAMES)
    close = get_close_matches(name, names, n=1)
    if not close:
        return there_are
    return Sentence("did you mean {close!r}? {names}", close=close[0], names=there_are)


SURPRISES = (RecursionError, OverflowError, UnicodeError)
"""What only input can cause that is too deep, too large or no text, however it came in."""


class MissingDependency(DiscreetError):
    """An optional package or program is needed and is not installed."""

    code = "missing-dependency"


class BudgetExceeded(DiscreetError):
    """More privacy loss is asked for than the budget has left, so nothing was drawn."""

    code = "budget-exceeded"


class RequirementNotMet(DiscreetError):
    """A requirement of the policy does not hold, so nothing was written."""

    code = "requirement-not-met"


class GoalUnreachable(DiscreetError):
    """No allowed change meets the requirements. ``nearest`` says in words what came closest."""

    code = "goal-unreachable"

    def __init__(self, message: str, *, nearest: str, remedy: str) -> None:
        self.nearest = nearest
        super().__init__(
            Sentence("{message}; nearest: {nearest}", message=Sentence(message), nearest=Sentence(nearest)),
            remedy=remedy,
        )
