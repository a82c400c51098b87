"""How a delimited text file is written: found from its content, with a reason for everything found.

Nothing is guessed silently: what the content does not settle raises an error that says which parameter to pass.
"""

from __future__ import annotations

import io
from collections import Counter, deque
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal

from discreet.engine.sniff.bytes import TextSample, nul_error, open_bytes, read_sample, undecodable_error
from discreet.engine.sniff.delimiters import BrokenRecord, Dialect, Parse, quote_error, records
from discreet.engine.sniff.place import Place, Written, find_place
from discreet.engine.sniff.values import holds_names, looks_like_header, missing_marks, number_marks
from discreet.errors import EmptyTable, InvalidParameter, UnreadableInput
from discreet.sentences import Sentence
from discreet.table.reading import Decimal


@dataclass(frozen=True)
class TextFormat:
    """How a delimited text file is written.

    ``reasons`` says for each field, in words and without cell values, how it was found; ``overridden`` names
    the fields that the caller gave. ``escape`` is a backslash, or ``"`` when the quote, whichever it is, is
    doubled inside quoted fields. Blank lines are no records: a reader skips them. When
    ``skip_initial_space`` is true, spaces after a delimiter are no part of the value, also before a quote. The
    first ``skip_rows`` lines and the last ``skip_last`` lines of the file are no part of the table.
    """

    encoding: str
    delimiter: str
    quote: str
    escape: str
    header: bool
    names: tuple[str, ...]
    decimal: Decimal
    thousands: str
    missing: tuple[str, ...]
    skip_initial_space: bool
    compression: str
    blank_lines: bool
    skip_rows: int
    skip_last: int
    reasons: Mapping[str, str] = field(compare=False)
    overridden: frozenset[str]

    @property
    def dialect(self) -> Dialect:
        """Delimiter, quote, escape and padding together."""
        return Dialect(self.delimiter, self.quote, self.escape, self.skip_initial_space)


def sniff(
    path: Path,
    *,
    encoding: str | None = None,
    delimiter: str | None = None,
    quote: str | None = None,
    header: bool | Literal["auto"] = "auto",
    header_row: int | None = None,
    skip_rows: int | None = None,
    skip_last: int | None = None,
    names: Sequence[str] | None = None,
    decimal: Decimal | None = None,
    expected: Sequence[str] = (),
    sample_bytes: int = 1 << 20,
) -> TextFormat:
    r"""Find how a delimited text file is written, from its first ``sample_bytes`` bytes.

    More is read when lines are very long, and a gzip file is read to its end to see that it is whole.
    Later rows are not checked; :func:`read_rows` does that. A first record that holds ``expected`` names is the
    header, whatever it looks like.

    >>> import tempfile
    >>> file = Path(tempfile.mkdtemp()) / "people.csv"
    >>> _ = file.write_text("name;income\nAda;1.250,50\nBob;?\n")
    >>> form = sniff(file)
    >>> form.delimiter, form.header, form.names, form.decimal, form.thousands, form.missing
    (';', True, ('name', 'income'), ',', '.', ('?',))
    """
    path = Path(path)
    _check_parameters(
        delimiter=delimiter, quote=quote, names=names, decimal=decimal, sample_bytes=sample_bytes
    )
    if header_row is not None:
        refuse_contradiction(header)
        header, skip_rows = True, header_row - 1
    sample = read_sample(path, encoding=encoding, sample_bytes=sample_bytes)
    written = Written(delimiter, quote, skip_rows, skip_last, header is not False, tuple(expected))
    place = find_place(sample, written, path.name)
    dialect, parsed, reasons = place.dialect, place.parsed, place.reasons
    _refuse_unparsed(path, parsed, dialect, len(sample.text))
    _refuse_ragged(path, parsed, dialect, header)

    has_header = _header(path, place, header, names, expected)
    body = parsed.rows[1:] if has_header else parsed.rows
    distinct = [{cell.strip() for cell in {row[i] for row in body}} for i in range(parsed.width)]
    final_names = _names(path, place.names or parsed.rows[0], has_header, names, reasons)
    if place.names and not names:
        reasons["names"] = place.told
    mark, reasons["decimal"], thousands, reasons["thousands"] = number_marks(
        distinct, delimiter=dialect.delimiter, decimal=decimal
    )
    missing, reasons["missing"] = missing_marks(distinct)
    blank = _explain(place, sample)
    return TextFormat(
        encoding=sample.encoding,
        delimiter=dialect.delimiter,
        quote=dialect.quote,
        escape=dialect.escape,
        header=has_header,
        names=final_names,
        decimal=mark,
        thousands=thousands,
        missing=missing,
        skip_initial_space=dialect.padded,
        compression=sample.compression,
        blank_lines=blank,
        skip_rows=place.above,
        skip_last=place.below,
        reasons=reasons,
        overridden=_given(
            encoding=encoding,
            delimiter=delimiter,
            quote=quote,
            names=names,
            decimal=decimal,
            skip_rows=skip_rows,
            skip_last=skip_last,
            header=None if header == "auto" else header,
        ),
    )


def _given(**settings: object) -> frozenset[str]:
    return frozenset(name for name, value in settings.items() if value is not None)


def _explain(place: Place, sample: TextSample) -> bool:
    """Whether there are blank lines; says why, and how the text is encoded, packed and padded."""
    reasons, blank = place.reasons, place.parsed.blanks > 0 or sample.ends_blank
    reasons["encoding"] = sample.encoding_reason
    reasons["compression"] = "the file begins with the mark of gzip" if sample.compression else "none"
    reasons["skip_initial_space"] = (
        "spaces follow the delimiters"
        if place.dialect.padded
        else "values are not padded after the delimiter"
    )
    reasons["blank_lines"] = "blank lines occur; they are skipped" if blank else "no blank line was seen"
    if blank and place.parsed.width == 1:
        reasons["blank_lines"] += ", although in a file of one column they could be missing values"
    return blank


def read_rows(path: Path, fmt: TextFormat, *, rows: int | None = None) -> Iterator[list[str]]:
    r"""The records of a file after its header; ``UnreadableInput`` at the first that does not fit ``fmt``.

    Finds ragged records, unbalanced quotes, undecodable bytes and NUL bytes, each with its line number.
    ``rows`` limits the reading to that many records after the header.

    >>> import tempfile
    >>> file = Path(tempfile.mkdtemp()) / "people.csv"
    >>> _ = file.write_text("name,age\nAda,36\nBob,41\n")
    >>> form = sniff(file)
    >>> _ = file.write_text("name,age\nAda,36\nLovelace, Ada,36\n")
    >>> list(read_rows(file, form))
    Traceback (most recent call last):
    discreet.errors.UnreadableInput: line 3 of people.csv has 3 fields where the header has 2; ...
    """
    path = Path(path)
    if rows is not None and rows < 0:
        raise InvalidParameter(Sentence("rows is {rows}", rows=rows), remedy="use a count of rows, 0 or more")
    width = len(fmt.names)
    place = "the header" if fmt.header else "the first row"
    heading = fmt.header
    left = rows
    with open_bytes(path, fmt.compression) as stream:
        lines = io.TextIOWrapper(stream, encoding=fmt.encoding, errors="strict", newline="")
        try:
            inside = _inside(_without_nul(path, lines), fmt.skip_rows, fmt.skip_last)
            for line, row in records(inside, fmt.dialect):
                if not row:
                    continue
                if left is not None and not heading:
                    if left == 0:
                        return
                    left -= 1
                if len(row) != width:
                    raise _ragged(path, line, len(row), width, place, fmt.dialect)
                if not heading:
                    yield row
                heading = False
        except BrokenRecord as broken:
            raise quote_error(path.name, broken.line, fmt.quote) from broken
        except UnicodeDecodeError as error:
            raise undecodable_error(path, fmt.encoding, fmt.compression) from error


def _without_nul(path: Path, lines: io.TextIOWrapper) -> Iterator[str]:
    for number, line in enumerate(lines, start=1):
        if "\0" in line:
            raise nul_error(path, number)
        yield line


def _inside(lines: Iterator[str], above: int, below: int) -> Iterator[str]:
    """The lines of the table; those above it are empty, so that numbers of lines stay, those below it are left out."""
    waiting: deque[str] = deque()
    for number, line in enumerate(lines, start=1):
        waiting.append("\n" if number <= above else line)
        if len(waiting) > below:
            yield waiting.popleft()


def _check_parameters(
    *,
    delimiter: str | None,
    quote: str | None,
    names: Sequence[str] | None,
    decimal: str | None,
    sample_bytes: int,
) -> None:
    if delimiter is not None and (len(delimiter) != 1 or delimiter in "\r\n\"'\0"):
        raise InvalidParameter(
            Sentence("delimiter is {delimiter!r}", delimiter=delimiter),
            remedy="use one character that is neither a quote nor a line end",
        )
    if quote is not None and quote not in {'"', "'", ""}:
        raise InvalidParameter(
            Sentence("quote is {quote}", quote=repr(quote)), remedy="use '\"', \"'\" or '' for no quotes"
        )
    if decimal is not None and decimal not in {".", ","}:
        raise InvalidParameter(
            Sentence("decimal is {decimal}", decimal=repr(decimal)), remedy="use '.' or ','"
        )
    if sample_bytes < 1:
        raise InvalidParameter(
            Sentence("sample_bytes is {sample_bytes}", sample_bytes=sample_bytes), remedy="use at least 1"
        )
    if names is not None:
        if isinstance(names, str) or any(not name.strip() for name in names):
            raise InvalidParameter(
                "names holds no list of names", remedy="give one non-empty name per column"
            )
        if repeated := _repeated(names):
            raise InvalidParameter(
                Sentence(
                    "names repeats {repeated} (upper and lower case count as equal)", repeated=tuple(repeated)
                ),
                remedy="give every column a name of its own",
            )


def refuse_contradiction(header: bool | Literal["auto"] | None) -> None:
    """Raise if there is to be no header although its line is given."""
    if header is False:
        raise InvalidParameter(
            "header_row names the line of a header that header=False denies", remedy="leave one of them out"
        )


def _repeated(names: Sequence[str]) -> list[str]:
    """Names that occur more than once when case is ignored, each spelling once, in order."""
    counts = Counter(name.casefold() for name in names)
    return list(dict.fromkeys(name for name in names if counts[name.casefold()] > 1))


def _refuse_unparsed(path: Path, parsed: Parse, dialect: Dialect, characters: int) -> None:
    if parsed.error:
        raise quote_error(path.name, parsed.error_line, dialect.quote)
    if not parsed.rows:
        raise UnreadableInput(
            Sentence(
                "the first line of {name} does not end within {characters:,} characters",
                name=path.name,
                characters=characters,
            ),
            remedy="check that it is a table, or that its quotes balance",
        )


def _refuse_ragged(path: Path, parsed: Parse, dialect: Dialect, header: bool | Literal["auto"]) -> None:
    if parsed.share == 1.0:
        return
    width, first = parsed.width, parsed.rows[0]
    if len(first) != width and parsed.widths[len(first)] == 1:
        raise UnreadableInput(
            Sentence(
                "line {line} of {name} has {fields} where the lines below it have {width}",
                line=parsed.lines[0],
                name=path.name,
                fields=_fields(len(first)),
                width=width,
            ),
            remedy=Sentence(
                "give the header one name per column, pass header_row= with the number of its line, or pass delimiter= if "
                "{delimiter!r} is not the delimiter",
                delimiter=dialect.delimiter,
            ),
        )
    odd = next(i for i, row in enumerate(parsed.rows) if len(row) != len(first))
    even = [row for row in parsed.rows[1:] if len(row) == len(first)]
    named = looks_like_header(first, even)[0] if header == "auto" else header
    place = "the header" if named else "the first row"
    raise _ragged(path, parsed.lines[odd], len(parsed.rows[odd]), len(first), place, dialect)


def _fields(count: int) -> Sentence:
    return Sentence("1 field") if count == 1 else Sentence("{count} fields", count=count)


def _ragged(path: Path, line: int, fields: int, wanted: int, place: str, dialect: Dialect) -> UnreadableInput:
    return UnreadableInput(
        Sentence(
            "line {line} of {name} has {fields} where {place} has {wanted}",
            line=line,
            name=path.name,
            fields=_fields(fields),
            place=Sentence(place),
            wanted=wanted,
        ),
        remedy=Sentence(
            "quote fields that contain the delimiter and complete short lines, pass skip_rows= or skip_last= if lines "
            "above or below are no part of the table, or pass delimiter= if {delimiter!r} is not the delimiter",
            delimiter=dialect.delimiter,
        ),
    )


def _header(
    path: Path,
    place: Place,
    header: bool | Literal["auto"],
    names: Sequence[str] | None,
    expected: Sequence[str],
) -> bool:
    first, body, reasons = place.parsed.rows[0], place.parsed.rows[1:], place.reasons
    if header != "auto":
        has_header, reasons["header"] = header, "given by the caller"
    elif names is not None and [c.strip().casefold() for c in first] == [n.casefold() for n in names]:
        has_header, reasons["header"] = True, "the first record holds the names that the caller gave"
    elif holds_names(first, expected):
        has_header, reasons["header"] = True, "the first record holds column names that the policy knows"
    elif place.names:
        has_header, reasons["header"] = True, "the column names differ in kind from the rows"
    else:
        has_header, reasons["header"] = looks_like_header(first, body)
    if has_header and not body:
        raise EmptyTable(
            Sentence("{name} has a header and no rows", name=path.name),
            remedy="check that the export finished, or pass header=False if its only line is a row",
        )
    return has_header


def _names(
    path: Path, first: Sequence[str], header: bool, given: Sequence[str] | None, reasons: dict[str, str]
) -> tuple[str, ...]:
    if given is not None:
        if len(given) != len(first):
            raise InvalidParameter(
                Sentence(
                    "names has {given} names where {name} has {first} columns",
                    given=len(given),
                    name=path.name,
                    first=len(first),
                ),
                remedy="give one name per column",
            )
        reasons["names"] = "given by the caller"
        return tuple(name.strip() for name in given)
    if not header:
        reasons["names"] = "there is no header, so the columns are numbered from 0"
        return tuple(f"column_{i}" for i in range(len(first)))
    names = [name.strip() for name in first]
    reasons["names"] = "taken from the header"
    if repeated := _repeated([name for name in names if name]):
        raise UnreadableInput(
            Sentence(
                "the header of {name} repeats column names: {repeated} (upper and lower case count as equal, "
                "because SQL does not tell them apart)",
                name=path.name,
                repeated=", ".join(repeated),
            ),
            remedy="rename them in the file, pass names= with a name for every column, "
            "or pass header=False if the first line is a row",
        )
    taken = {name.casefold() for name in names}
    for i, name in enumerate(names):
        if not name:
            filled = f"column_{i}"
            while filled in taken:
                filled += "_"
            names[i] = filled
            taken.add(filled)
            reasons["names"] += f"; it has no name for column {i + 1}, which is called {filled}"
    return tuple(names)
