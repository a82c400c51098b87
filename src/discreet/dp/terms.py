"""Under which terms a question is answered: whose privacy, what each contributes, what it costs and from which ledger."""

from __future__ import annotations

import hashlib
import json
from dataclasses import dataclass
from fractions import Fraction
from os import PathLike
from pathlib import Path

from discreet.dp.amounts import Amount, exact, whole_number
from discreet.dp.keys import PublicKeys
from discreet.dp.ledger import Ledger
from discreet.dp.measuring import Bounds
from discreet.dp.noise import NAMES, Mechanism
from discreet.dp.statement import Unit, unit_of
from discreet.engine.question import Question
from discreet.errors import InvalidParameter
from discreet.sentences import Sentence
from discreet.table import Table

MOST_ROWS = 2_000_000_000
"""Of so many rows sums still fit into 64 bits."""


@dataclass(frozen=True)
class GivenTerms:
    """Terms as they were given."""

    epsilon: Amount
    delta: Amount | None
    person: str | None
    unit: Unit | None
    max_groups: int
    max_rows: int
    bounds: Bounds
    keys: PublicKeys
    mechanism: Mechanism
    confidence: float
    most_rows: int | None = None


@dataclass(frozen=True)
class Terms:
    """Under which terms a question is answered."""

    person: str | None
    max_groups: int
    max_rows: int
    mechanism: Mechanism
    epsilon: Fraction
    delta: Fraction
    public: PublicKeys
    error: float
    most_rows: int | None

    @property
    def unit(self) -> Unit:
        return unit_of(self.person)


def resolve_terms(table: Table, question: Question, given: GivenTerms) -> Terms:
    """The terms of a question, checked."""
    whose = resolve_unit(table, given.person, given.unit)
    for name, number in (("max_groups", given.max_groups), ("max_rows", given.max_rows)):
        if isinstance(number, bool) or not isinstance(number, int) or not 1 <= number <= 1_000_000:
            raise InvalidParameter(
                Sentence("{name} is {number}", name=name, number=number),
                remedy="it is a whole number from 1 on",
            )
    if given.mechanism not in NAMES:
        raise InvalidParameter(
            Sentence("the mechanism is {mechanism}", mechanism=repr(given.mechanism)),
            remedy=Sentence("choose one of: {choices}", choices=tuple(NAMES)),
        )
    if (given.mechanism == "bounded-laplace") != (given.most_rows is not None):
        raise InvalidParameter(
            "bounded noise needs to know how many rows a group has at most, and no other noise does",
            remedy="say it from what is known without the data, with bounded-laplace only",
        )
    if given.most_rows is not None:
        whole_number(given.most_rows, "most_rows", MOST_ROWS)
    if not 0.5 <= given.confidence < 1:
        raise InvalidParameter(
            Sentence("confidence is {confidence}", confidence=given.confidence),
            remedy="give a number such as 0.95",
        )
    public = {table.column(name).name: values for name, values in given.keys.items()}
    for name in public:
        if name not in question.keys:
            raise InvalidParameter(
                Sentence("keys are given for {name}, by which nothing is grouped", name=name),
                remedy="leave them out, or group by the column",
            )
    measured = any(figure.kind != "quantile" for figure in question.figures)
    needs_delta = set(question.keys) - set(public) or (given.mechanism == "gaussian" and measured)
    if needs_delta and given.delta is None:
        raise InvalidParameter(
            "this needs a delta: Gaussian noise does, and groups that are not given by keys are shown only if enough "
            "persons share them",
            remedy="give a delta such as 1e-6, or the keys and Laplace noise",
        )
    return Terms(
        person=whose,
        max_groups=given.max_groups if question.keys and whose is not None else 1,
        max_rows=given.max_rows if whose is not None else 1,
        mechanism=given.mechanism,
        epsilon=exact(given.epsilon, "epsilon"),
        delta=exact(given.delta or 0, "delta", below_one=True) if needs_delta else Fraction(0),
        public=public,
        error=1 - given.confidence,
        most_rows=given.most_rows,
    )


def refuse_part(table: Table) -> None:
    """Refuse a table of which only the first rows were read: without somebody's rows among them, as many rows of others take their place."""
    if table.source.first_rows is not None:
        raise InvalidParameter(
            "only the first rows of the table were read, and which these are changes with everybody before them",
            remedy="read all rows; the question may say of which it asks",
        )


def resolve_unit(table: Table, person: str | None, unit: Unit | None) -> str | None:
    """The column of the person ids, or nothing if each row is somebody else; it has to be said which."""
    refuse_part(table)
    if unit not in (None, "person", "record") or (unit == "record" and person is not None):
        raise InvalidParameter(
            "the unit of privacy is unclear", remedy="name the column of the person ids, or say unit='record'"
        )
    if unit != "record" and person is None:
        raise InvalidParameter(
            "it is not said whose privacy is protected",
            remedy="name the column that says which rows belong to one person (person), or say that each row is "
            "somebody else (unit='record')",
        )
    return None if person is None else table.column(person).name


def people_of(table: Table, person: str | None) -> str:
    """By what a ledger knows whose rows were asked about; nothing if that cannot be known again.

    A hash of the file, of how it was read, since a workbook has several sheets, and of the column of the person ids: households may be in
    two tables that have no person in common.
    """
    source = table.source
    if source.sha256 is None:
        return ""
    read_as = json.dumps([source.sha256, source.settings, person], sort_keys=True, default=str)
    return hashlib.sha256(read_as.encode()).hexdigest()


def resolve_ledger(source: object, ledger: Ledger | str | PathLike[str] | None) -> Ledger:
    """The ledger that was named, or the one beside the file."""
    if isinstance(ledger, Ledger):
        return ledger
    if ledger is not None:
        return Ledger(ledger)
    if isinstance(source, str | PathLike):
        return Ledger.beside(Path(source))
    raise InvalidParameter(
        "it is not said from which budget this is paid", remedy="pass ledger='people.budget'"
    )
