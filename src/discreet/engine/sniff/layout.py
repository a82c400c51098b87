"""Where the table stands in a file: titles above its header, a header of two lines, notes below its last row."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

from discreet.engine.sniff.values import differs_in_kind, holds_names, is_number, looks_like_header, resembles

MOST_LINES = 30
"""So many lines of titles or of notes are looked through."""
UNITS_BELOW = 5
"""So many rows must differ from a line below the header, before that line is taken for units."""
LINE = re.compile(r"[^\r\n]*(?:\r\n|\r|\n)|[^\r\n]+\Z")
EMPTY = re.compile(r"[\s,;|]*")
NOTE = re.compile(
    r"""["'\s]*(?:(?:foot)?notes?|sources?|remarks?|legend|copyright|disclaimer|exported|generated|end\ of
    |quellen?|anmerkung(?:en)?|hinweise?|fußnoten?|legende|stand|erstellt)\b[\s:.]
    |["'\s]*[*†‡©]""",
    re.IGNORECASE | re.VERBOSE,
)
TOTAL = re.compile(
    r"""["'\s]*(?:summen?|(?:gesamt|end)summe|gesamt|insgesamt|zwischensumme|durchschnitt|mittelwert|anzahl
    |(?:sub|grand\ )?totals?|sum|average|mean|count)\s*:?["'\s]*""",
    re.IGNORECASE | re.VERBOSE,
)
"""What a row of totals opens with."""


@dataclass(frozen=True)
class Heading:
    """Which record holds the column names (or is the first row), and the names where two lines give them."""

    index: int
    names: tuple[str, ...] | None = None
    told: str = ""


def heading(rows: Sequence[Sequence[str]], expected: Sequence[str] = ()) -> Heading:
    """The record with the column names among the first ones; the first record where nothing else is clear.

    >>> heading([["Visits", ""], ["", ""], ["name", "age"], ["Ada", "36"], ["Bob", "41"]]).index
    2
    >>> heading([["who", ""], ["name", "age"], ["Ada", "36"], ["Bob", "41"], ["Eve", "29"]]).index
    1
    >>> heading([["id", "home", ""], ["", "city", "zip"], ["1", "Rome", "00100"], ["2", "Bari", "70121"]]).names
    ('id', 'city', 'zip')
    """
    first = next((i for i, row in enumerate(rows[:MOST_LINES]) if holds_names(row, expected)), None)
    if first is not None:
        return Heading(first)
    width = Counter(map(len, rows)).most_common(1)[0][0]
    first = next((i for i, row in enumerate(rows) if _filled(row) * 2 > width), 0)
    if first and (first > MOST_LINES or not looks_like_header(rows[first], rows[first + 1 :])[0]):
        return Heading(0)
    top, below, rest = rows[first], rows[first + 1 : first + 2], rows[first + 2 :]
    if len(rest) > 1 and differs_in_kind(below[0], rest) and not resembles(top, rest):
        # A first row with an odd value differs, too: a name that lacks inside the header, or two columns, are proof.
        if not all(_texts(top)[1:]) or len(set(_texts(top))) < len(top):
            return Heading(first + 1, _joined(top, below[0]), "put together from two lines")
        if len(rest) >= UNITS_BELOW and all(_texts(top)) and differs_in_kind(below[0], rest, least=2):
            told = "the line below the column names differs from the rows, as units do, and is left out"
            return Heading(first + 1, tuple(_texts(top)), told)
    if first and len(set(_texts(top))) < len(top) and _filled(rows[first - 1]):
        return Heading(first, _joined(rows[first - 1], top), "put together from two lines")
    return Heading(first)


def _texts(row: Sequence[str]) -> list[str]:
    return [cell.strip() for cell in row]


def _filled(row: Sequence[str]) -> int:
    return sum(1 for cell in row if cell.strip())


def _joined(top: Sequence[str], below: Sequence[str]) -> tuple[str, ...]:
    """Names from two lines: the lower one's, with what stands above it where the lower one's repeat."""
    upper, lower = _texts(top), _texts(below)
    for i in range(1, len(upper)):
        upper[i] = upper[i] or upper[i - 1]
    counts = Counter(name.casefold() for name in lower)
    return tuple(
        (f"{group} {name}".strip() if counts[name.casefold()] > 1 else name) if name else group
        for group, name in zip(upper, lower, strict=True)
    )


def without_lines(text: str, above: int, below: int = 0) -> str:
    r"""The text with its first and last lines emptied, so that all others keep their numbers.

    >>> without_lines("title\na,b\n1,2\nnote\n", 1, 1)
    '\na,b\n1,2\n\n'
    """
    lines = LINE.findall(text)
    last = len(lines) - below
    return "".join(line if above <= i < last else "\n" for i, line in enumerate(lines))


def endings(text: str) -> list[int]:
    r"""How many of the last lines may be notes, fewest first: what opens like a note or follows an empty line.

    >>> endings("a,b\n1,2\n\nSource: register\n"), endings("a,b\n1,2\n3\n")
    ([2], [])
    >>> endings("a,b,c\n1,2,3\nTotal,1,\n")
    [1]
    """
    lines = LINE.findall(text)
    ends, opened = [], True
    for count, line in enumerate(reversed(lines[-MOST_LINES - 1 :]), start=1):
        empty = EMPTY.fullmatch(line) is not None
        opened = opened and (empty or _opens(line))
        before = lines[-count - 1] if count < len(lines) else ""
        if not empty and opened and not _opens(before) and not EMPTY.fullmatch(before):
            ends.append(count)
        if empty and count > 1 and EMPTY.fullmatch(lines[-count + 1]) is None:
            ends.append(count)
    return sorted(set(ends))


def _opens(line: str) -> bool:
    """Whether a line begins as notes or rows of totals do."""
    return (
        NOTE.match(line) is not None or TOTAL.fullmatch(re.split(r"[,;\t|]", line, maxsplit=1)[0]) is not None
    )


def is_total(row: Sequence[str]) -> bool:
    """Whether a row holds totals: it says so at its left, all else is numbers, and cells are empty that rows fill.

    >>> is_total(["Summe", "640", ""]), is_total(["Total", "red", ""]), is_total(["Total", "640"])
    (True, False, False)
    """
    first, *others = _texts(row) or [""]
    filled = [cell for cell in others if cell]
    return TOTAL.fullmatch(first) is not None and len(filled) < len(others) and all(map(is_number, filled))


def stand_apart(rows: Sequence[Sequence[str]], width: int) -> bool:
    """Whether records are titles, notes or totals and no rows of a table: fewer fields than it has, or one text and no more.

    >>> stand_apart([["Source: register"], []], 2), stand_apart([["Eve", ""]], 2), stand_apart([["17"]], 2)
    (True, False, False)
    """
    for row in rows:
        if is_total(row):
            continue
        texts = [cell for cell in _texts(row) if cell]
        if any(map(is_number, texts)) and len(texts) == 1:
            return False
        short = len(row) < width and 2 * len(texts) <= width
        if texts and not short and not (len(texts) == 1 and width > 2):
            return False
    return True
