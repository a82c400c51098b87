"""What the values of a text file show: a header, the decimal mark, thousands, marks of missing values."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping, Sequence, Set
from itertools import pairwise

from discreet.sentences import Sentence
from discreet.table import MISSING_MARKS
from discreet.table.reading import Decimal

_NUMBER = re.compile(
    r"\s*[+-]?(?:\d+(?:\.\d*|,\d+)?|[.,]\d+"
    r"|[1-9]\d{0,2}(?:(?:,\d{3})+(?:\.\d*)?|(?:\.\d{3})+(?:,\d+)?|(?:'\d{3})+(?:[.,]\d+)?))(?:[eE][+-]?\d+)?\s*"
)
_MOMENT = re.compile(
    r"\s*(?:\d{1,4}[-/.]\d{1,2}[-/.]\d{1,4}(?:[T ]\s*(?=\d)|\s*\Z))?"
    r"(?:\d{1,2}:\d{2}(?::\d{2}(?:[.,]\d+)?)?(?:Z|[+-]\d{2}:?\d{2})?)?(?<=[\dZ])\s*"
)
_COMMA_GROUPS = re.compile(r"[+-]?[1-9]\d{0,2}(?:,\d{3})+")
_DOT_GROUPS = re.compile(r"[+-]?[1-9]\d{0,2}(?:\.\d{3})+")
_COMMA_THEN_DOT = re.compile(r"[+-]?[1-9]\d{0,2}(?:,\d{3})+\.\d*")
_DOT_THEN_COMMA = re.compile(r"[+-]?[1-9]\d{0,2}(?:\.\d{3})+,\d*")
_APOSTROPHES = re.compile(r"[+-]?[1-9]\d{0,2}(?:'\d{3})+(?:[.,]\d*)?")
_SIGNS = re.compile(r"^-?(?:[$€£¥]|EUR|USD|CHF)\s?|\s?(?:[$€£¥%]|EUR|USD|CHF)$")
_YEAR = re.compile(r"(?:19|20)\d\d")
_LETTERS = re.compile(r"[^\W\d_]+")
_DIGITS = re.compile(r"\d+")
_NAME = re.compile(r"[^\W\d][\w .,:;/&%#$€+*'’()\[\]?-]*")
LONGEST_NAME = 100
ROWS_LOOKED_AT = 2000
CELLS_LOOKED_AT = 100_000


def is_number(cell: str) -> bool:
    """Whether a cell is a number in any convention.

    >>> [is_number(c) for c in ("12", "-1.5e3", "1.234,5", "3,913.23", "1'000", "12a", "1,23,4", "")]
    [True, True, True, True, True, False, False, False]
    """
    return _NUMBER.fullmatch(cell) is not None


def is_moment(cell: str) -> bool:
    """Whether a cell is a date, a time of day, or both.

    >>> [is_moment(c) for c in ("2019-03-23 20:21:09", "23.3.2019", "20:21", "12:x", "12")]
    [True, True, True, False, False]
    """
    return _MOMENT.fullmatch(cell) is not None


def kind(cell: str) -> str:
    """The recognisable pattern of a cell: number, or its shape when that holds a digit; else nothing.

    >>> kind("-4.5"), kind("2019-03-23 20:21:09"), kind("[0-10)"), kind("AB12"), kind("Private")
    ('number', '9-9-9 9:9:9', '[9-9)', 'a9', '')
    """
    if is_number(cell):
        return "number"
    if len(cell) > LONGEST_NAME:
        return ""
    shape = _DIGITS.sub("9", _LETTERS.sub("a", cell.strip()))
    return shape if "9" in shape else ""


def looks_like_header(first: Sequence[str], body: Sequence[Sequence[str]]) -> tuple[bool, str]:
    """Whether the first record names the columns, and why.

    >>> looks_like_header(["sex", "age"], [["F", "31"], ["M", "40"]])[0]
    True
    >>> looks_like_header(["Male", "*"], [["Female", "*"]])[0]
    False
    """
    cells = [cell.strip() for cell in first]
    named = all(_NAME.fullmatch(cell) and len(cell) <= LONGEST_NAME for cell in cells)
    unique = len(set(cells)) == len(cells)
    if not body:
        return named and unique, "the only record " + ("holds names" if named else "does not hold names")
    if _numbers_columns(cells, body):
        return True, "the first record numbers the columns one after the other"
    body = body[: min(ROWS_LOOKED_AT, max(10, CELLS_LOOKED_AT // len(cells)))]
    unlike, alike, missing, repeats = _compared(cells, body)
    if list(first) in body:
        repeats = [] if unlike else repeats  # files put one after the other repeat their header
    if unlike and not missing and not repeats and not alike:
        return True, Sentence(
            "the first record differs in kind from the values below it in {unlike}",
            unlike=Sentence(_columns(unlike)),
        )
    for places, why in (
        (alike, "is of the same kind as the values below it"),
        (repeats, "recurs among the values below it"),
        (missing, "holds a mark of a missing value"),
    ):
        if places:
            return False, Sentence(
                "the first record {why} in {columns}", why=Sentence(why), columns=_columns(places)
            )
    if named and unique:
        return True, (
            "every column is text; the first record holds distinct names that do not recur below it "
            "(pass header=False if it is a row)"
        )
    return False, "every column is text, and the first record does not hold distinct names"


def differs_in_kind(cells: Sequence[str], body: Sequence[Sequence[str]], *, least: int = 1) -> bool:
    """Whether a record can be no row: so many cells are of another kind than all below, and none is like those below.

    >>> differs_in_kind(["", "years"], [["Ada", "36"], ["Bob", "41"]])
    True
    >>> differs_in_kind(["Eve", "29"], [["Ada", "36"], ["Bob", "41"]])
    False
    """
    unlike, alike, missing, repeats = _compared([cell.strip() for cell in cells], body[:ROWS_LOOKED_AT])
    return len(unlike) >= least and not (alike or missing or repeats)


def resembles(cells: Sequence[str], body: Sequence[Sequence[str]]) -> bool:
    """Whether a cell of a record is like the values below it, as in a row.

    >>> resembles(["who", ""], [["Ada", "36"], ["Bob", "41"]]), resembles(["Eve", "29"], [["Ada", "36"]])
    (False, True)
    """
    _, alike, _, repeats = _compared([cell.strip() for cell in cells], body[:ROWS_LOOKED_AT])
    return bool(alike or repeats)


def _compared(
    cells: Sequence[str], body: Sequence[Sequence[str]]
) -> tuple[list[int], list[int], list[int], list[int]]:
    """Columns whose cell is of another kind than the values below it, of the same kind, missing, or among them."""
    columns = list(zip(*body, strict=True))
    years = _years(cells)
    unlike, alike, missing, repeats = [], [], [], []
    for i, (cell, column) in enumerate(zip(cells, columns, strict=True)):
        values: Counter[str] = Counter()
        for value, count in Counter(column).items():
            values[value.strip()] += count
        usual = _usual_kind(values)
        if cell in MISSING_MARKS:
            if cell:
                missing.append(i)
        elif cell in years and usual == "number" and not any(map(_YEAR.fullmatch, values)):
            unlike.append(i)
        elif usual and kind(cell) == usual:
            alike.append(i)
        elif usual:
            unlike.append(i)
        elif cell in values:
            repeats.append(i)
    return unlike, alike, missing, repeats


def holds_names(cells: Sequence[str], expected: Sequence[str]) -> bool:
    """Whether a record holds expected column names: nothing else, or mostly and no number besides.

    >>> holds_names(["2", "1"], ["1", "2", "3"]), holds_names(["1", "7"], ["1", "2", "3"])
    (True, False)
    >>> holds_names(["age", "sex", "email"], ["age", "sex"]), holds_names(["31", "f"], ["age", "sex"])
    (True, False)
    """
    written = [cell.strip().casefold() for cell in cells]
    known = {name.strip().casefold() for name in expected}
    strange = [cell for cell in written if cell not in known]
    if len(set(written)) < len(written) or 2 * len(strange) >= len(written):
        return False
    return not strange or not any(map(is_number, written))


def _years(cells: Sequence[str]) -> set[str]:
    """Cells that are consecutive years, as in tables with one column per year; one alone proves nothing."""
    years = [int(cell) for cell in cells if _YEAR.fullmatch(cell)]
    consecutive = len(years) > 1 and all(abs(b - a) == 1 for a, b in pairwise(years))
    return {str(year) for year in years} if consecutive else set()


def _columns(indices: list[int]) -> str:
    return (
        Sentence("column {indices}", indices=indices[0] + 1)
        if len(indices) == 1
        else Sentence("{indices} columns", indices=len(indices))
    )


def _columns_in_all(count: int) -> Sentence:
    return Sentence("{count} column", count=count) if count == 1 else Sentence("{count} columns", count=count)


def _usual_kind(values: Mapping[str, int]) -> str:
    """The kind of at least nine in ten values that are not missing, if it is a recognisable one."""
    kinds: Counter[str] = Counter()
    for value, count in values.items():
        if value not in MISSING_MARKS:
            kinds[kind(value)] += count
    if not kinds:
        return ""
    usual, count = kinds.most_common(1)[0]
    return usual if count >= 0.9 * kinds.total() else ""


def _numbers_columns(cells: list[str], body: Sequence[Sequence[str]]) -> bool:
    """0, 1, 2, ... or 1, 2, 3, ... over at least four columns, which the next record does not carry on."""
    if len(cells) < 4:
        return False
    if not all(re.fullmatch(r"\d{1,9}", cell) for cell in cells):
        return False
    width, start = len(cells), int(cells[0])
    if start > 1 or [int(cell) for cell in cells] != list(range(start, start + width)):
        return False
    following = [cell.strip() for cell in body[0]]
    return following not in (cells, [str(start + width + i) for i in range(width)])


def missing_marks(columns: Sequence[Set[str]]) -> tuple[tuple[str, ...], str]:
    """The marks of missing values among the distinct values of each column, and in how many columns.

    >>> missing_marks([{"1", "?"}, {"", "?"}, {"a", "b"}])
    (('', '?'), "'' in 1 column, '?' in 2 columns")
    """
    seen: Counter[str] = Counter()
    for column in columns:
        seen.update(mark for mark in MISSING_MARKS if mark in column)
    marks = tuple(m for m in MISSING_MARKS if m in seen)
    if not marks:
        return marks, "none of the usual marks occurs"
    places = tuple(
        Sentence("{mark!r} in {columns}", mark=mark, columns=_columns_in_all(seen[mark])) for mark in marks
    )
    return marks, Sentence("{places}", places=places)


def number_marks(
    columns: Sequence[Set[str]], *, delimiter: str, decimal: Decimal | None
) -> tuple[Decimal, str, str, str]:
    """Decimal mark, its reason, thousands mark, its reason, from the distinct values of each column.

    >>> number_marks([{"1,5", "22,75"}], delimiter=";", decimal=None)[::2]
    (',', '')
    >>> number_marks([{"3,913.23", "4"}], delimiter=",", decimal=None)[::2]
    ('.', ',')
    >>> number_marks([{"1.250,00 €", "310,50 €"}], delimiter=";", decimal=None)[::2]
    (',', '.')
    """
    marks = [_column_marks({_SIGNS.sub("", cell) for cell in column}) for column in columns]
    commas = sum("decimal ," in m for m in marks)
    dots = sum("decimal ." in m for m in marks)
    mark: Decimal
    if decimal is not None:
        mark, reason = decimal, "given by the caller"
    elif commas and dots:
        mark = "," if commas > dots or (commas == dots and delimiter == ";") else "."
        reason = Sentence(
            "{commas} columns show a decimal comma and {dots} a decimal point; the other ones stay text "
            "(pass decimal= to choose)",
            commas=commas,
            dots=dots,
        )
    elif commas or dots:
        mark = "," if commas else "."
        reason = Sentence("shown by the numbers of {columns}", columns=_columns_in_all(commas or dots))
    else:
        mark, reason = _without_proof(marks)
    groups = "." if mark == "," else ","
    for sign in (groups, "'"):
        shown = sum(f"groups {sign}" in m or f"maybe {sign}" in m for m in marks)
        if shown:
            return (
                mark,
                reason,
                sign,
                Sentence("numbers of {columns} group their digits", columns=_columns_in_all(shown)),
            )
    return mark, reason, "", "no number groups its digits"


def _without_proof(marks: Sequence[set[str]]) -> tuple[Decimal, str]:
    """Decimal mark when every number could be read both ways, as 1,234 can."""
    if any("groups ." in m for m in marks):
        return ",", "points group the digits, so the comma is the decimal mark"
    if any("groups ," in m for m in marks):
        return ".", "commas group the digits, so the point is the decimal mark"
    both = [m for m in marks if "maybe ," in m]
    if both and all("plain" not in m for m in both):
        return (
            ",",
            "every number of a column has a comma before its last three digits (pass decimal= if it groups)",
        )
    return ".", "no number shows a decimal comma"


def _column_marks(values: Set[str]) -> set[str]:
    """What the numbers of one column prove (decimal, groups) or allow (maybe); nothing for a text column."""
    present = len(values) - sum(mark in values for mark in MISSING_MARKS)
    marked = [c for c in values if not c.isdecimal() and c not in MISSING_MARKS]
    numbers = [c for c in marked if is_number(c)]
    if len(marked) - len(numbers) > 0.1 * present:
        return set()
    notations: set[str] = {"plain"} if len(marked) < present else set()
    for c in numbers:
        if "," not in c and "." not in c and "'" not in c:
            notations.add("plain")
        elif _APOSTROPHES.fullmatch(c):
            notations.update({"groups '"} | {f"decimal {s}" for s in ",." if s in c})
        elif _COMMA_THEN_DOT.fullmatch(c):
            notations.update({"groups ,", "decimal ."})
        elif _DOT_THEN_COMMA.fullmatch(c):
            notations.update({"groups .", "decimal ,"})
        elif _COMMA_GROUPS.fullmatch(c):
            notations.add("groups ," if c.count(",") > 1 else "maybe ,")
        elif _DOT_GROUPS.fullmatch(c):
            notations.add("groups ." if c.count(".") > 1 else "maybe .")
        else:
            notations.add("decimal ," if "," in c else "decimal .")
    # Within one column a proven decimal mark settles the doubtful numbers: 1.234 next to 0.5 has three decimals.
    for sign in ",.":
        if f"decimal {sign}" in notations:
            notations.discard(f"maybe {sign}")
    return notations
