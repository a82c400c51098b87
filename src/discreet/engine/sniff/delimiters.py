"""Which delimiter and quote divide every line of a text into the same number of fields."""

from __future__ import annotations

import csv
import io
import re
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from functools import cached_property

from discreet.engine.sniff.values import is_moment, is_number
from discreet.errors import UnreadableInput
from discreet.sentences import Sentence

PRIMARY = (",", ";", "\t", "|")
# Taken only when none of the primary ones fits: rare as text, so consistent counts are proof enough.
RARE = ("^", "~", "\x01", "\x1f")
# Taken only on clear evidence: they occur in names, times and prose.
WEAK = (" ", ":")
NAMES = {
    ",": "comma",
    ";": "semicolon",
    "\t": "tab",
    "|": "pipe",
    " ": "space",
    ":": "colon",
    "^": "caret",
    "~": "tilde",
}
SEP_LINE = re.compile(r'"?sep=."?[\r\n]', re.IGNORECASE)
ALIGNED = re.compile(r" {2,}")
TRIAL_CHARACTERS = 1 << 15
TRIAL_LINES = 20
# A quoted field may span lines; one that spans this many was never closed.
LONGEST_RECORD = 500
LONGEST_FIELD = 2**31 - 1


@dataclass(frozen=True)
class Dialect:
    """How fields are divided and quoted; ``escape`` is a backslash, or ``"`` when quotes are doubled."""

    delimiter: str
    quote: str
    escape: str
    padded: bool


@dataclass
class Parse:
    """The records of a text, the line on which each begins, and where reading stopped, if it did."""

    rows: list[list[str]] = field(default_factory=list)
    lines: list[int] = field(default_factory=list)
    blanks: int = 0
    error: str = ""
    error_line: int = 0

    @cached_property
    def widths(self) -> Counter[int]:
        """How many records have how many fields."""
        return Counter(map(len, self.rows))

    @cached_property
    def width(self) -> int:
        """The usual number of fields."""
        return self.widths.most_common(1)[0][0] if self.rows else 0

    @cached_property
    def share(self) -> float:
        """The share of records with the usual number of fields, 0 when reading stopped."""
        return self.widths[self.width] / len(self.rows) if self.rows and not self.error else 0.0


def name_of(delimiter: str) -> str:
    """A delimiter in words.

    >>> name_of(";"), name_of("!")
    ("semicolon (';')", "'!'")
    """
    return f"{NAMES[delimiter]} ({delimiter!r})" if delimiter in NAMES else repr(delimiter)


def records(lines: Iterable[str], dialect: Dialect) -> Iterator[tuple[int, list[str]]]:
    r"""Records with the line on which each begins; a blank line is an empty record.

    >>> list(records(["a,b\n", "\n", '1,"x\n', 'y"\n'], Dialect(",", '"', '"', False)))
    [(1, ['a', 'b']), (2, []), (3, ['1', 'x\ny'])]
    """
    backslash = dialect.escape == "\\"
    reader = csv.reader(
        lines,
        delimiter=dialect.delimiter,
        quotechar=dialect.quote or None,
        quoting=csv.QUOTE_MINIMAL if dialect.quote else csv.QUOTE_NONE,
        doublequote=not backslash,
        escapechar="\\" if backslash and dialect.quote else None,
        skipinitialspace=dialect.padded,
        strict=True,
    )
    start = 1
    while True:
        # The csv module limits fields to 131,072 characters for the whole process. The limit is lifted only
        # while a record is read: between two records other code may run, and even set it.
        limit = csv.field_size_limit(LONGEST_FIELD)
        try:
            row = next(reader)
        except StopIteration:
            return
        except csv.Error as error:
            # The record, not the line where the reader noticed, is where a person has to look.
            raise BrokenRecord(start) from error
        finally:
            csv.field_size_limit(limit)
        yield start, row
        start = reader.line_num + 1


class BrokenRecord(Exception):
    """Internal: the quotes of the record that begins at ``line`` do not balance."""

    def __init__(self, line: int) -> None:
        self.line = line
        super().__init__(f"line {line}")


def parse(text: str, dialect: Dialect, *, complete: bool) -> Parse:
    """Divide a text into records; the last one is left out when the text was cut."""
    result = Parse()
    source = io.StringIO(text, newline="")
    try:
        for line, row in records(source, dialect):
            if row:
                result.rows.append(row)
                result.lines.append(line)
            else:
                result.blanks += 1
    except BrokenRecord as broken:
        cut = not complete and not source.read(1)
        if not cut or max(text.count("\n"), text.count("\r")) - broken.line > LONGEST_RECORD:
            result.error = "quotes"
            result.error_line = broken.line
        return result
    if not complete and result.rows:
        result.rows.pop()
        result.lines.pop()
    return result


def choose_dialect(
    text: str, *, complete: bool, place: str, delimiter: str | None, quote: str | None
) -> tuple[Dialect, Parse, dict[str, str]]:
    """The delimiter, quote, escape and padding that fit the text, its records, and the reasons."""
    if SEP_LINE.match(text):
        raise UnreadableInput(
            Sentence(
                "line 1 of {place} is a note to Excel about the delimiter (sep=) and no part of the table",
                place=place,
            ),
            remedy="remove that line, or pass skip_rows=1",
        )
    trial, whole = _trial(text, complete)
    try:
        dialect, reason = _fitting(trial, whole, place, delimiter, quote)
        parsed = parse(text, dialect, complete=complete)
        settled = parsed.share == 1.0
    except UnreadableInput:
        if len(trial) == len(text):
            raise
        settled = False
    if not settled and len(trial) < len(text):
        # What settles the matter, such as the first quoted field, may come after the trial.
        dialect, reason = _fitting(text, complete, place, delimiter, quote)
        parsed = parse(text, dialect, complete=complete)
    return dialect, parsed, _reasons(text, dialect, reason, delimiter, quote)


def _fitting(
    trial: str, whole: bool, place: str, delimiter: str | None, quote: str | None
) -> tuple[Dialect, str]:
    """The first way of quoting under which some delimiter fits, or the next best."""
    for quoting in _quotings(trial, quote, delimiter):
        candidate = _with_quoting(trial, whole, quoting, delimiter, place)
        if candidate is not None:
            return candidate
    return _second_best(trial, whole, delimiter, quote, place)


def _reasons(
    text: str, dialect: Dialect, reason: str, delimiter: str | None, quote: str | None
) -> dict[str, str]:
    reasons = {"delimiter": "given by the caller" if delimiter is not None else reason}
    seen = dialect.quote and dialect.quote in text
    if quote is not None:
        reasons["quote"] = "given by the caller"
    elif not dialect.quote:
        reasons["quote"] = "quote characters occur, but the fields only fit when they are ordinary characters"
    else:
        reasons["quote"] = "fields fit with this quote" if seen else "no quote occurs; this one is usual"
    reasons["escape"] = (
        "the fields only fit when a backslash protects a quote"
        if dialect.escape == "\\"
        else "quotes inside quoted fields are doubled, as is usual"
    )
    return reasons


def _trial(text: str, complete: bool) -> tuple[str, bool]:
    """Enough of the text to try every delimiter on, and whether it is all of it."""
    size = TRIAL_CHARACTERS
    while size < len(text) and text.count("\n", 0, size) + text.count("\r", 0, size) < TRIAL_LINES:
        size *= 2
    return text[:size], complete and size >= len(text)


def _quotings(text: str, quote: str | None, delimiter: str | None) -> list[tuple[str, str]]:
    """Pairs of quote and escape in the order in which they are tried."""
    double = [('"', '"')] + ([('"', "\\")] if '\\"' in text else [])
    single = ([("'", '"')] if "'" in text else []) + ([("'", "\\")] if "\\'" in text else [])
    if quote is not None:
        pairs = [pair for pair in double + single if pair[0] == quote]
        return pairs or [(quote, '"')]
    edges = re.escape(delimiter) if delimiter else ",;\t|"

    def wrapped(q: str) -> int:
        field = rf"(?:^|[{edges}]) ?{q}[^\r\n]{{0,200}}?{q}(?=[{edges}\r\n]|\Z)"
        return len(re.findall(field, text[:TRIAL_CHARACTERS], re.MULTILINE))

    # Where fields are wrapped in quotes, one that is never closed is a mistake and no ordinary character.
    none = [("", '"')] if '"' in text and not wrapped('"') else []
    if single and wrapped("'") > wrapped('"'):
        return single + double + none
    return double + single + none


def _with_quoting(
    text: str, whole: bool, quoting: tuple[str, str], delimiter: str | None, place: str
) -> tuple[Dialect, str] | None:
    """The delimiter with which every record has the same number of fields, if there is one."""
    if delimiter is not None:
        dialect = _padding(text, whole, Dialect(delimiter, *quoting, False))
        result = parse(text, dialect, complete=whole)
        return (dialect, "") if result.share == 1.0 else None
    parsed = _parse_all(text, whole, quoting)
    fitting = [d for d in PRIMARY if parsed[d].share == 1.0 and parsed[d].width > 1]
    if fitting:
        best = _cleanest(fitting, parsed, place)
        dialect = _padding(text, whole, Dialect(best, *quoting, False))
        return dialect, _fits(best, parsed[best])
    if all(parsed[d].share == 1.0 for d in PRIMARY):
        lines = [row[0] for row in parsed[","].rows]
        runs = {len(ALIGNED.findall(line.strip())) for line in lines}
        if len(lines) > 1 and len(runs) == 1 and runs != {0}:
            raise UnreadableInput(
                Sentence("{place} seems to align its columns with runs of spaces", place=place),
                remedy="export it with a delimiter, or pass delimiter=',' if each line is one value",
            )
        moments = all(map(is_moment, lines[1:]))
        for d in RARE if moments else RARE + WEAK:
            result = parse(text, Dialect(d, *quoting, False), complete=whole)
            if result.share == 1.0 and result.width > 1 and (d in RARE or _clear(result)):
                return _padding(text, whole, Dialect(d, *quoting, False)), _fits(d, result)
        return Dialect(",", *quoting, False), "no usual delimiter occurs, so there is one column"
    return None


def _parse_all(text: str, whole: bool, quoting: tuple[str, str]) -> dict[str, Parse]:
    """What each of the usual delimiters makes of the text."""
    return {
        d: parse(text, _padding(text, whole, Dialect(d, *quoting, False)), complete=whole) for d in PRIMARY
    }


def _fits(delimiter: str, result: Parse) -> str:
    return Sentence(
        "with the {delimiter} each of the first {rows:,} records has {width} fields",
        delimiter=Sentence(name_of(delimiter)),
        rows=len(result.rows),
        width=result.width,
    )


def _cleanest(fitting: list[str], parsed: dict[str, Parse], place: str) -> str:
    """Among delimiters that all fit, the one that leaves the others only inside numbers."""

    def spoiled(d: str) -> float:
        others = [o for o in fitting if o != d]
        cells = [cell for row in parsed[d].rows[:500] for cell in row]
        return sum(1 for c in cells if any(o in c for o in others) and not is_number(c)) / len(cells)

    ranked = sorted((spoiled(d), PRIMARY.index(d), d) for d in fitting)
    if len(ranked) > 1 and ranked[1][0] - ranked[0][0] < 0.1:
        first, second = ranked[0][2], ranked[1][2]
        raise UnreadableInput(
            Sentence(
                "the {first} and the {second} divide {place} equally well",
                first=name_of(first),
                second=name_of(second),
                place=place,
            ),
            remedy=Sentence("pass delimiter={first!r} or delimiter={second!r}", first=first, second=second),
        )
    return ranked[0][2]


def _clear(result: Parse) -> bool:
    """Whether a delimiter that also occurs in prose gives columns of numbers under a header."""
    columns = list(zip(*result.rows, strict=True))
    numeric = [c for c in columns if len(c) > 1 and all(map(is_number, c[1:]))]
    return any(not is_number(c[0]) for c in numeric) or (
        len(columns) > 2 and 2 * len(numeric) >= len(columns)
    )


def _padding(text: str, whole: bool, dialect: Dialect) -> Dialect:
    """The dialect, padded if (nearly) every value after a delimiter begins with a space."""
    if dialect.delimiter == " " or dialect.delimiter + " " not in text:
        return dialect
    padded = Dialect(dialect.delimiter, dialect.quote, dialect.escape, True)
    trimmed, plain = parse(text, padded, complete=whole), parse(text, dialect, complete=whole)
    if (trimmed.share == 1.0) != (plain.share == 1.0):
        return padded if trimmed.share == 1.0 else dialect
    changed = filled = 0
    skipped = min(1, len(plain.rows) - 1)  # a header may be written without the spaces
    for short, long in zip(trimmed.rows[skipped:], plain.rows[skipped:], strict=False):
        filled += sum(1 for cell in short[1:] if cell)
        changed += sum(1 for a, b in zip(short[1:], long[1:], strict=False) if a and a != b)
    return padded if filled and changed >= 0.95 * filled else dialect


def _second_best(
    text: str, whole: bool, delimiter: str | None, quote: str | None, place: str
) -> tuple[Dialect, str]:
    """No delimiter fits every record: one column after all, or the likeliest one so that the odd line is named."""
    quoting = _quotings(text, quote, delimiter)[0]
    if delimiter is not None:
        return _padding(text, whole, Dialect(delimiter, *quoting, False)), ""
    parsed = _parse_all(text, whole, quoting)
    lines = [line for line in text.splitlines() if line.strip()]
    unused = next((d for d in PRIMARY + RARE if d not in text), None)
    plain = not any(d in lines[0] for d in PRIMARY)
    numbers = plain and len(lines) > 1 and all(map(is_number, lines[1:]))
    rarely = all(p.share >= 0.8 and p.width == 1 for p in parsed.values())
    if unused is not None and (numbers or rarely):
        why = "every line is one number" if numbers else "no usual delimiter occurs in most lines"
        return Dialect(unused, *quoting, False), f"{why}, so there is one column"
    best = max(PRIMARY, key=lambda d: (parsed[d].width > 1, parsed[d].share, -PRIMARY.index(d)))
    result = parsed[best]
    if result.width > 1 and result.share >= 0.5:
        return _padding(text, whole, Dialect(best, *quoting, False)), _fits(best, result)
    best = max((d for d in PRIMARY if parsed[d].share < 1.0), key=text.count)
    result = parsed[best]
    if result.error:
        raise quote_error(place, result.error_line, quoting[0])
    first = len(result.rows[0])
    odd = next(i for i, row in enumerate(result.rows) if len(row) != first)
    raise UnreadableInput(
        Sentence(
            "no delimiter divides {place} into columns: with the {best}, line {lines} has {first} fields "
            "and line {lines2} has {rows}",
            place=place,
            best=name_of(best),
            lines=result.lines[0],
            first=first,
            lines2=result.lines[odd],
            rows=len(result.rows[odd]),
        ),
        remedy="pass delimiter= (one that does not occur, if there is one column), or make the lines equal",
    )


def quote_error(place: str, line: int, quote: str) -> UnreadableInput:
    """A quoted field that is not closed, or goes on after its closing quote."""
    return UnreadableInput(
        Sentence(
            "the quotes ({quote}) of the record that begins on line {line} of {place} do not balance",
            quote=quote,
            line=line,
            place=place,
        ),
        remedy="close the quoted field and double the quotes inside it, or pass quote='' if quotes are ordinary "
        "characters",
    )
