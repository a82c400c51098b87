"""Questions that are answered with noise: a small part of SQL, of which every figure has a bound.

Nothing of the text runs in an engine: it becomes a `Question`, and `engine.bounded` writes its own SQL for that. What
is not part of the grammar is refused with the reason: either one person could move the figure without a limit, or an
error of the engine could say something about a person.

    select [key, …] figure, … from data [where …] [group by key, …] [order by figure [desc]] [limit n]
    figure: count(*), count(column), count(distinct person), sum, avg, median, quantile_cont(column, 0.9)
    where:  comparisons of columns with constants, between, in, like, is null, and, or, not
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction
from typing import Literal, NoReturn

from discreet.engine.query import TABLE
from discreet.errors import InvalidParameter
from discreet.sentences import Sentence

FigureKind = Literal["count", "persons", "sum", "mean", "quantile"]
Constant = str | Decimal | bool
Operator = Literal["=", "<>", "<", "<=", ">", ">=", "like", "is null", "is true"]

MAX_LENGTH = 10_000
MAX_DEPTH = 30
"""So deep may conditions be nested."""

FIGURES: dict[str, FigureKind] = {
    "count": "count",
    "sum": "sum",
    "avg": "mean",
    "mean": "mean",
    "median": "quantile",
    "quantile": "quantile",
    "quantile_cont": "quantile",
}
UNBOUNDED = {
    **dict.fromkeys(("min", "max"), "shows the value of one person; ask for a quantile"),
    **dict.fromkeys(
        ("stddev", "var_pop", "var_samp", "variance", "stddev_pop", "stddev_samp"),
        "has no derived bound; ask for count, sum or avg",
    ),
}
REFUSED = {
    "join": "joins, so that one person may appear in any number of rows",
    "having": "leaves groups out by their true figures; order the answer and limit it instead",
    "union": "has several parts; ask them one by one",
    "with": "has parts of its own; ask them one by one",
    "over": "has a window, whose figures one person can move in every row",
    "filter": "filters inside a figure; use where",
    "case": "computes values, whose bounds are not known; ask about columns",
    "cast": "computes values, whose bounds are not known; ask about columns",
    "offset": "skips rows of the answer; leave it out",
    "qualify": "leaves rows out by their true figures",
}
"""Words of SQL that people will try, and why they cannot be answered."""

TOKEN = re.compile(
    r"""\s*(?:(?P<number>\d+(?:\.\d*)?(?:[eE][+-]?\d{1,3})?|\.\d+)|(?P<text>'(?:[^']|'')*')|(?P<quoted>"(?:[^"]|"")+")"""
    r"""|(?P<word>[^\W\d]\w*)|(?P<sign><>|!=|<=|>=|[-=<>(),*;.+/%|]))"""
)


@dataclass(frozen=True)
class Figure:
    """A figure of a question: of which column, and for a quantile, which share of the values lies below it."""

    kind: FigureKind
    name: str
    column: str | None = None
    share: Fraction | None = None


@dataclass(frozen=True)
class Predicate:
    """A comparison of a column with constants; with several of them, any may fit."""

    column: str
    operator: Operator
    constants: tuple[Constant, ...] = ()


@dataclass(frozen=True)
class Junction:
    """Conditions that hold together, or of which one holds, or one that does not hold."""

    word: Literal["and", "or", "not"]
    parts: tuple[Condition, ...]


Condition = Predicate | Junction


@dataclass(frozen=True)
class Question:
    """What is asked: figures for groups of rows that fulfil a condition."""

    figures: tuple[Figure, ...]
    keys: tuple[str, ...] = ()
    where: Condition | None = None
    order: int | None = None
    """By which figure the answer is ordered."""
    descending: bool = False
    limit: int | None = None

    @property
    def columns(self) -> tuple[str, ...]:
        """Every column that is named, once."""
        names = [*self.keys, *(figure.column for figure in self.figures if figure.column is not None)]
        names += [] if self.where is None else _tested(self.where)
        return tuple(dict.fromkeys(names))


def parse_question(text: str) -> Question:
    """A question from its text.

    >>> question = parse_question("select sex, count(*) as n from data where age >= 18 group by sex order by n desc limit 2")
    >>> question.keys, question.figures[0].kind, question.where, question.limit
    (('sex',), 'count', Predicate(column='age', operator='>=', constants=(Decimal('18'),)), 2)
    >>> parse_question("select max(age) from data")
    Traceback (most recent call last):
    discreet.errors.InvalidParameter: the question asks for max, which shows the value of one person; ask for a \
quantile; see the grammar of questions in the documentation of `discreet ask`
    """
    return _Parser(text).question()


def name_in_question(name: str) -> str:
    """The name of a column as a question has it: plainly where that is a word of its own.

    >>> name_in_question("sex"), name_in_question("hours per week"), name_in_question("case")
    ('sex', '"hours per week"', '"case"')
    """
    if re.fullmatch(r"[a-z_]\w*", name) and name not in (*REFUSED, "select", "distinct", TABLE):
        return name
    return '"' + name.replace('"', '""') + '"'


def _tested(condition: Condition) -> list[str]:
    if isinstance(condition, Predicate):
        return [condition.column]
    return [name for part in condition.parts for name in _tested(part)]


def refuse_question(reason: str) -> NoReturn:
    """Refuse a question; the reason quotes nothing but the question."""
    raise InvalidParameter(
        Sentence("the question {reason}", reason=Sentence(reason)),
        remedy="see the grammar of questions in the documentation of `discreet ask`",
    )


class _Parser:
    """Reads a question from left to right, word by word."""

    def __init__(self, text: str) -> None:
        if len(text) > MAX_LENGTH:
            refuse_question("is too long")
        self.tokens: list[tuple[str, str]] = []
        at = 0
        text = text.rstrip()
        while at < len(text):
            match = TOKEN.match(text, at)
            if match is None:
                refuse_question("holds a sign that is not part of its grammar")
            self.tokens.append((str(match.lastgroup), match[str(match.lastgroup)]))
            at = match.end()
        self.at = 0
        self.depth = 0

    # ── tokens ────────────────────────────────────────────────────────────────────────────────────

    def peek(self) -> tuple[str, str]:
        return self.tokens[self.at] if self.at < len(self.tokens) else ("end", "")

    def said(self, *words: str) -> bool:
        """Take the next words if they are these."""
        ahead = [
            value.lower()
            for kind, value in self.tokens[self.at : self.at + len(words)]
            if kind in ("word", "sign")
        ]
        if ahead != list(words):
            return False
        self.at += len(words)
        return True

    def need(self, word: str) -> None:
        if not self.said(word):
            self.unexpected(f"lacks {word!r}")

    def unexpected(self, otherwise: str) -> NoReturn:
        kind, value = self.peek()
        word = value.lower()
        if kind == "word" and word in REFUSED:
            refuse_question(REFUSED[word])
        if kind == "word" and word == "select":
            refuse_question("holds another question; ask them one by one")
        if kind == "sign" and word in "+-*/%|":
            refuse_question("computes values, whose bounds are not known; ask about columns")
        refuse_question(otherwise + (f" before {value!r}" if kind != "end" else " at its end"))

    def name(self) -> str:
        """The name of a column, in quotes or plain."""
        kind, value = self.peek()
        if (
            kind == "word"
            and value.lower() == TABLE
            and self.tokens[self.at + 1 : self.at + 2] == [("sign", ".")]
        ):
            self.at += 2
            kind, value = self.peek()
        if kind not in ("word", "quoted") or (kind == "word" and value.lower() in (*REFUSED, "select")):
            self.unexpected("lacks the name of a column")
        self.at += 1
        return value if kind == "word" else value[1:-1].replace('""', '"')

    def constant(self) -> Constant:
        negative = self.said("-")
        kind, value = self.peek()
        self.at += 1
        if kind == "number":
            return Decimal(value) * (-1 if negative else 1)
        if not negative and kind == "text":
            return value[1:-1].replace("''", "'")
        if not negative and kind == "word" and value.lower() in ("true", "false"):
            return value.lower() == "true"
        self.at -= 1
        return self.unexpected("compares with what is no constant")

    # ── the parts ─────────────────────────────────────────────────────────────────────────────────

    def question(self) -> Question:
        if self.peek()[1].lower() == "with":
            refuse_question(REFUSED["with"])
        self.need("select")
        if self.said("distinct"):
            refuse_question("asks for distinct rows; group by columns instead")
        figures: list[Figure] = []
        shown: list[str] = []
        while True:
            self.item(figures, shown)
            if not self.said(","):
                break
        self.need("from")
        if not self.said(TABLE):
            self.unexpected(f"does not read the table {TABLE!r}")
        where = self.condition() if self.said("where") else None
        keys = self.keys()
        order, descending = self.order(figures)
        limit = self.limit()
        self.said(";")
        if self.peek()[0] != "end":
            self.unexpected("goes on where it should end")
        if not figures:
            refuse_question("asks for no figure: rows themselves are never shown")
        folded = [key.lower() for key in keys]
        if any(name.lower() not in folded for name in shown):
            refuse_question("shows a column that it does not group by")
        names = [*folded, *(figure.name.lower() for figure in figures)]
        if len(set(names)) < len(names):
            refuse_question("gives two columns of its answer one name; name them by 'as'")
        return Question(tuple(figures), keys, where, order, descending, limit)

    def item(self, figures: list[Figure], shown: list[str]) -> None:
        word = self.peek()[1].lower()
        if self.said("*"):
            refuse_question("asks for rows, which are never shown; ask for figures")
        if self.tokens[self.at + 1 : self.at + 2] == [("sign", "(")]:
            self.at += 2
            if word in UNBOUNDED:
                refuse_question(f"asks for {word}, which {UNBOUNDED[word]}")
            if word not in FIGURES:
                refuse_question(
                    f"calls {word!r}, whose bounds are not known; ask for count, sum, avg or quantiles"
                )
            start = self.at - 2
            figure = self.figure(word)
            words = " ".join(value for _, value in self.tokens[start : self.at])
            name = self.alias() or re.sub(r" ?([(),.*]) ?", r"\1", words)
            figures.append(Figure(figure.kind, name, figure.column, figure.share))
        else:
            shown.append(self.name())
            if self.alias():
                refuse_question("gives a key another name; leave it out")

    def alias(self) -> str:
        return self.name() if self.said("as") else ""

    def figure(self, word: str) -> Figure:
        """A figure after its name and the opening bracket."""
        kind: FigureKind = FIGURES[word]
        column: str | None = None
        share: Fraction | None = None
        if word == "count" and self.said("*"):
            pass
        elif self.said("distinct"):
            if word != "count":
                refuse_question("asks for distinct values, of which one person may have many")
            kind, column = "persons", self.name()
        else:
            column = self.name()
            if kind == "quantile":
                share = Fraction(1, 2) if word == "median" else self.share()
        self.need(")")
        return Figure(kind, "", column, share)

    def share(self) -> Fraction:
        self.need(",")
        share = self.constant()
        if not isinstance(share, Decimal) or not 0 < share < 1 or Fraction(share).denominator > 10**6:
            refuse_question("asks for a quantile that is not between 0 and 1, or has more than six decimals")
        return Fraction(share)

    def keys(self) -> tuple[str, ...]:
        if not self.said("group", "by"):
            return ()
        names = [self.name()]
        while self.said(","):
            names.append(self.name())
        return tuple({name.lower(): name for name in names}.values())

    def order(self, figures: list[Figure]) -> tuple[int | None, bool]:
        if not self.said("order", "by"):
            return None, False
        start = self.at
        if self.tokens[self.at + 1 : self.at + 2] == [("sign", "(")]:
            word = self.name().lower()
            self.at += 1
            asked = self.figure(word) if word in FIGURES else None
            fits = [
                i
                for i, f in enumerate(figures)
                if asked and (f.kind, f.column, f.share) == (asked.kind, asked.column, asked.share)
            ]
        else:
            name = self.name().lower()
            fits = [i for i, figure in enumerate(figures) if figure.name.lower() == name]
        if not fits:
            self.at = start
            refuse_question("is ordered by what is no figure of its own; answers come ordered by their keys")
        descending = self.said("desc")
        if not descending:
            self.said("asc")
        return fits[0], descending

    def limit(self) -> int | None:
        if not self.said("limit"):
            return None
        count = self.constant()
        if not isinstance(count, Decimal) or count != int(count) or count < 1:
            refuse_question("has a limit that is no whole number above 0")
        return int(count)

    # ── conditions ────────────────────────────────────────────────────────────────────────────────

    def condition(self) -> Condition:
        """Conditions of which one holds."""
        self.depth += 1
        if self.depth > MAX_DEPTH:
            refuse_question("nests its conditions too deeply")
        parts = [self.conjunction()]
        while self.said("or"):
            parts.append(self.conjunction())
        self.depth -= 1
        return parts[0] if len(parts) == 1 else Junction("or", tuple(parts))

    def conjunction(self) -> Condition:
        parts = [self.negation()]
        while self.said("and"):
            parts.append(self.negation())
        return parts[0] if len(parts) == 1 else Junction("and", tuple(parts))

    def negation(self) -> Condition:
        negated = False
        while self.said("not"):
            negated = not negated
        if self.said("("):
            condition = self.condition()
            self.need(")")
        else:
            condition = self.test()
        return Junction("not", (condition,)) if negated else condition

    def test(self) -> Condition:
        column = self.name()
        if self.peek() == ("sign", "("):
            refuse_question(
                f"calls {column!r} in its condition, which could fail for the value of one person"
            )
        if self.said("is"):
            negated = self.said("not")
            self.need("null")
            return _negated(Predicate(column, "is null"), negated)
        negated = self.said("not")
        if self.said("in"):
            self.need("(")
            constants = [self.constant()]
            while self.said(","):
                constants.append(self.constant())
            self.need(")")
            return _negated(Predicate(column, "=", tuple(constants)), negated)
        if self.said("between"):
            low = self.constant()
            self.need("and")
            both = Junction(
                "and", (Predicate(column, ">=", (low,)), Predicate(column, "<=", (self.constant(),)))
            )
            return _negated(both, negated)
        if self.said("like"):
            pattern = self.constant()
            if "\\" in str(pattern):
                # PostgreSQL fails on one at the end of a pattern, but only for values that match up to there.
                refuse_question(
                    "has a pattern with a backslash, which could fail for the value of one person"
                )
            return _negated(Predicate(column, "like", (pattern,)), negated)
        if negated:
            self.unexpected("has a 'not' where none belongs")
        operators: dict[str, Operator] = {
            "=": "=",
            "<>": "<>",
            "!=": "<>",
            "<": "<",
            "<=": "<=",
            ">": ">",
            ">=": ">=",
        }
        for sign, operator in operators.items():
            if self.said(sign):
                return Predicate(column, operator, (self.constant(),))
        if self.peek()[0] == "sign" and self.peek()[1] not in ")":
            self.unexpected("has a condition that is no comparison with a constant")
        return Predicate(column, "is true")


def _negated(condition: Condition, negated: bool) -> Condition:
    return Junction("not", (condition,)) if negated else condition
