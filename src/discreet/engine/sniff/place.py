"""Which lines of a text are the table, and how these are divided."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field, replace

from discreet.engine.sniff.bytes import TextSample
from discreet.engine.sniff.delimiters import BrokenRecord, Dialect, Parse, choose_dialect, records
from discreet.engine.sniff.layout import (
    LINE,
    MOST_LINES,
    Heading,
    endings,
    heading,
    stand_apart,
    without_lines,
)
from discreet.engine.sniff.values import differs_in_kind, holds_names, looks_like_header
from discreet.errors import UnreadableInput

TITLES = "what stands above the column names is no part of the table"
NOTES = "what stands below the last row is no part of the table"
NOTHING = "every line is part of the table"
HEAD = 1 << 14
"""So much of a text shows whether its first lines are titles."""


@dataclass(frozen=True)
class Written:
    """What the caller says about a text: ``None`` where it is to be worked out."""

    delimiter: str | None
    quote: str | None
    above: int | None
    below: int | None
    may_have_header: bool
    expected: tuple[str, ...]


@dataclass(frozen=True)
class Place:
    """The table within a text: its records, and the lines above and below that are no part of it."""

    dialect: Dialect
    parsed: Parse
    reasons: dict[str, str] = field(default_factory=dict)
    above: int = 0
    below: int = 0
    names: tuple[str, ...] | None = None
    told: str = ""


def find_place(sample: TextSample, written: Written, name: str) -> Place:
    """Where the table is: all of the text, or what is left without titles above it and notes below it."""
    if written.expected and (written.above or written.delimiter):
        # What a policy says of the original need not hold for its release, which begins with the policy's names.
        free = replace(written, above=None, below=None, delimiter=None)
        release = next(_attempts(sample, free, name, [0], [0]), None)
        if release is not None and holds_names(release.parsed.rows[0], written.expected):
            written = free
    above = range(MOST_LINES) if written.above is None else [written.above]
    below = [0, *endings(sample.text)] if written.below is None and sample.complete else [written.below or 0]
    place = next(_attempts(sample, written, name, above, below), None)
    if place is None:
        return _ragged(sample, written, name)
    if written.may_have_header and written.above is None and place.parsed.width > 1:
        place = _from_heading(place, heading(place.parsed.rows, written.expected))
    if written.below is None:
        place = _without_notes(place, sample)
    given = "given by the caller"
    place.reasons["skip_rows"] = (given if written.above else TITLES) if place.above else NOTHING
    place.reasons["skip_last"] = (given if written.below else NOTES) if place.below else NOTHING
    return place


def _ragged(sample: TextSample, written: Written, name: str) -> Place:
    """The text with what the caller wants left out: its lines are unequal, which is told with their numbers."""
    above, below = written.above or 0, written.below or 0
    text = without_lines(sample.text, above, below if sample.complete else 0)
    return Place(*_divided(text, sample.complete, written, name), above=above, below=below)


def _divided(text: str, complete: bool, written: Written, name: str) -> tuple[Dialect, Parse, dict[str, str]]:
    return choose_dialect(
        text, complete=complete, place=name, delimiter=written.delimiter, quote=written.quote
    )


def _attempts(
    sample: TextSample, written: Written, name: str, above: range | list[int], below: list[int]
) -> Iterator[Place]:
    """Every way to leave out lines at both ends so that all others have the same number of fields."""
    lines = LINE.findall(sample.text)
    for last in below:
        text = without_lines(sample.text, 0, last if sample.complete else 0)
        for first in above:
            if not without_lines(text, first).strip():
                break
            if first and len(above) > 1:
                if first == 1 and _fits_at_the_head(text, sample.complete, written, name, 0):
                    break  # no titles: what does not fit stands further below
                if not _fits_at_the_head(text, sample.complete, written, name, first):
                    continue
            try:
                parts = _divided(without_lines(text, first), sample.complete, written, name)
            except UnreadableInput:
                continue
            dialect, parsed, _ = parts
            if parsed.error or parsed.share < 1.0:
                continue
            top, end = lines[:first], lines[len(lines) - last :] if last else []
            if (len(above) == 1 or _titles(top, dialect, parsed, written.expected)) and (
                len(below) == 1 or _apart(end, dialect, parsed.width)
            ):
                yield Place(*parts, above=first, below=last)


def _titles(lines: list[str], dialect: Dialect, parsed: Parse, expected: tuple[str, ...]) -> bool:
    """Whether lines above the first record are titles and it holds the column names."""
    first, body = parsed.rows[0], parsed.rows[1:]
    if not lines:
        return True
    # Without a row below it nothing tells names from the last of the lines.
    if (
        parsed.width < 2
        or not body
        or not (looks_like_header(first, body)[0] or holds_names(first, expected))
    ):
        return False
    if not differs_in_kind(first, body):
        return _apart(lines, dialect, parsed.width)
    try:
        return all(len(row) < parsed.width for _, row in records(lines, dialect))
    except BrokenRecord:
        return False


def _fits_at_the_head(text: str, complete: bool, written: Written, name: str, first: int) -> bool:
    """Whether the beginning of a text fits without its first lines: the whole is looked at only then."""
    head = text[:HEAD]
    whole = complete and len(head) == len(text)
    rest = without_lines(head, first)
    if not whole and len(LINE.findall(rest)) < 2:
        return False  # not one line of it is complete
    try:
        _, parsed, _ = _divided(rest, whole, written, name)
    except UnreadableInput:
        return False
    return not parsed.error and parsed.share == 1.0 and parsed.width > 1


def _apart(lines: list[str], dialect: Dialect, width: int) -> bool:
    """Whether lines are no rows of a table of this width: no quoted field runs through them, and they are short."""
    if not lines:
        return True
    if width < 2:
        return False
    if dialect.quote and sum(line.count(dialect.quote) for line in lines) % 2:
        return False
    try:
        return stand_apart([row for _, row in records(lines, dialect)], width)
    except BrokenRecord:
        return False


def _from_heading(place: Place, head: Heading) -> Place:
    """The table from its column names on."""
    if not head.index and not head.names and not place.above:
        return place
    parsed = place.parsed
    rest = Parse(parsed.rows[head.index :], parsed.lines[head.index :], parsed.blanks)
    above = parsed.lines[head.index] - 1
    return replace(place, parsed=rest, above=above, names=head.names, told=head.told)


def _without_notes(place: Place, sample: TextSample) -> Place:
    """The table without notes that a spreadsheet filled up to the table's width, or that the sample does not reach."""
    width = place.parsed.width
    if place.below or width < 2:
        return place
    text = sample.text if sample.complete else sample.tail
    lines = LINE.findall(text)
    apart = [count for count in endings(text) if _apart(lines[len(lines) - count :], place.dialect, width)]
    if not apart:
        return place
    below, parsed = apart[-1], place.parsed
    if sample.complete:
        kept = sum(line <= len(lines) - below for line in parsed.lines)
        parsed = Parse(parsed.rows[:kept], parsed.lines[:kept], parsed.blanks)
    return replace(place, parsed=parsed, below=below)
