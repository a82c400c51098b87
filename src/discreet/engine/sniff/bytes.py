"""From bytes to text: compression, encoding, and what is not text at all."""

from __future__ import annotations

import codecs
import gzip
import re
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import IO, cast

from discreet.errors import EmptyTable, InvalidParameter, UnreadableInput
from discreet.files.reading import CHUNK, check_regular, check_unpacked
from discreet.sentences import Sentence

NEWLINE = re.compile(r"\r\n|\r|\n")
# A sample must hold some whole lines, however long they are; beyond this it is no table.
LONGEST_SAMPLE = 1 << 26
LINES_WANTED = 50
TAIL = 1 << 14
"""So much of the end of a file is looked at: whether it ends with blank lines or with notes."""

MAGIC = (
    (b"PK\x03\x04", "a zip archive or an Excel workbook (.xlsx)"),
    (b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1", "an old Excel workbook (.xls)"),
    (b"%PDF-", "a PDF document"),
    (b"\x89PNG\r\n\x1a\n", "a PNG image"),
    (b"\xff\xd8\xff", "a JPEG image"),
    (b"GIF87a", "a GIF image"),
    (b"GIF89a", "a GIF image"),
    (b"SQLite format 3\x00", "an SQLite database"),
    (b"BZh91AY&SY", "a bzip2 archive"),
    (b"\xfd7zXZ\x00", "an xz archive"),
    (b"\x28\xb5\x2f\xfd", "a zstd archive"),
    (b"7z\xbc\xaf\x27\x1c", "a 7z archive"),
    (b"\x89HDF\r\n\x1a\n", "an HDF5 file"),
    (b"ARROW1\x00\x00", "an Arrow file"),
    (b"Obj\x01", "an Avro file"),
    (b"RDX2\n", "an R data file"),
    (b"RDX3\n", "an R data file"),
    (b"$FL2@(#)", "an SPSS file"),
    (b"<stata_dta>", "a Stata file"),
    (b"{\\rtf", "an RTF document"),
)
MARKUP = re.compile(rb"\s*(?:(<!doctype|<html)|(<\?xml)|(\{\s*\"|\[\s*\{))", re.IGNORECASE)
MARKUP_NAMES = ("an HTML page", "an XML document", "JSON")

BOMS = (
    (codecs.BOM_UTF8, "utf-8-sig", "utf-8"),
    (codecs.BOM_UTF32_LE, "utf-32", "utf-32-le"),
    (codecs.BOM_UTF32_BE, "utf-32", "utf-32-be"),
    (codecs.BOM_UTF16_LE, "utf-16", "utf-16-le"),
    (codecs.BOM_UTF16_BE, "utf-16", "utf-16-be"),
)
FAILURES: tuple[tuple[tuple[type[Exception], ...], str, str], ...] = (
    ((FileNotFoundError,), "there is no file {name}", "check the path"),
    ((IsADirectoryError,), "{name} is a folder", "name one file in it"),
    ((PermissionError,), "{name} may not be read by this user", "change its permissions"),
    ((EOFError,), "the gzip file {name} is cut off before its end", "copy or download it again"),
    ((gzip.BadGzipFile, zlib.error), "the gzip file {name} is damaged", "copy or download it again"),
    ((OSError,), "{name} could not be read ({why})", "check the disk and the path"),
)
"""What can be wrong with a file itself, how it is told, and what to do; the first that fits counts."""

# Control characters that no text holds; \x01 and \x1f are left out because some exports use them as delimiters.
CONTROL = re.compile(r"[\x02-\x08\x0e-\x19\x1c-\x1e\x7f]")


@dataclass(frozen=True)
class TextSample:
    """The decoded beginning of a file, and its end; ``complete`` when the beginning is the whole file."""

    text: str
    complete: bool
    encoding: str
    encoding_reason: str
    compression: str
    ends_blank: bool
    tail: str


@contextmanager
def open_bytes(path: Path, compression: str) -> Iterator[IO[bytes]]:
    """Open a plain or gzip file; every failure of the file itself becomes an ``UnreadableInput``."""
    try:
        with path.open("rb") as raw:
            if compression == "gzip":
                with gzip.open(raw, "rb") as unpacked:
                    yield cast(IO[bytes], unpacked)
            else:
                yield raw
    except (OSError, EOFError, zlib.error) as error:
        message, remedy = next(told for kinds, *told in FAILURES if isinstance(error, kinds))
        why = getattr(error, "strerror", None) or "input/output error"
        raise UnreadableInput(Sentence(message, name=path.name, why=why), remedy=remedy) from error


def read_sample(path: Path, *, encoding: str | None, sample_bytes: int) -> TextSample:
    """Read and decode the beginning of a file, or say what the file is if it is not text.

    A gzip file is read to its end, because only there does it show that it is whole.
    """
    if encoding is not None:
        _check_encoding(encoding)
    check_regular(path)
    with open_bytes(path, "") as raw:
        compression = "gzip" if raw.read(2) == b"\x1f\x8b" else ""
    data, tail, complete = _read_ends(path, compression, sample_bytes)
    if not data:
        raise EmptyTable(Sentence("{name} is empty", name=path.name), remedy="check that the export finished")
    _refuse_other_formats(path, data)
    chosen, reason = _choose_encoding(path, data, complete, encoding)
    text = _decode(path, data, complete, chosen, compression)
    nul = text.find("\0")
    if nul >= 0:
        raise nul_error(path, line_at(text, nul))
    if not text.strip():
        raise EmptyTable(
            Sentence("{name} holds only blank lines", name=path.name), remedy="check that the export finished"
        )
    unit = next((name for bom, _, name in BOMS if data.startswith(bom)), chosen)
    # The tail may begin inside a character, hence "replace".
    end = tail.decode(unit, errors="replace")
    ends_blank = re.search(r"(?:\r\n|\n|\r(?!\n)){2}\Z", end) is not None
    return TextSample(text, complete, chosen, reason, compression, ends_blank, end)


def line_at(text: str, position: int) -> int:
    r"""Number of the line that holds the character at ``position``.

    >>> line_at("a\r\nb\rc\n", 5)
    3
    """
    return sum(1 for _ in NEWLINE.finditer(text, 0, position)) + 1


def nul_error(path: Path, line: int) -> UnreadableInput:
    """A NUL byte: the file is binary, damaged, or in an encoding of two bytes per character."""
    return UnreadableInput(
        Sentence(
            "line {line} of {name} holds a NUL byte, so it is binary or damaged", line=line, name=path.name
        ),
        remedy="export it again as text, or pass encoding= (utf-16-le and utf-16-be have NUL bytes)",
    )


def locate_undecodable(path: Path, encoding: str, compression: str) -> tuple[int, int]:
    """Byte offset (after unpacking) and line number of the first byte that ``encoding`` cannot decode."""
    decoder = codecs.getincrementaldecoder(encoding)()
    read, line, last = 0, 1, ""
    with open_bytes(path, compression) as stream:
        while True:
            chunk = stream.read(CHUNK)
            state = decoder.getstate()
            try:
                text = last + decoder.decode(chunk, final=not chunk)
            except UnicodeDecodeError as error:
                # The decoder saw bytes kept from the last chunk, then this one: count from the end.
                good = max(0, len(chunk) - len(error.object) + error.start)
                decoder.setstate(state)
                before = last + decoder.decode(chunk[:good])
                offset = read + len(chunk) - len(error.object) + error.start
                return offset, line + sum(1 for _ in NEWLINE.finditer(before))
            read += len(chunk)
            # A carriage return at the end of a chunk may be the first half of a line end.
            last = "\r" if text.endswith("\r") else ""
            line += sum(1 for _ in NEWLINE.finditer(text.removesuffix("\r")))
            if not chunk:
                raise AssertionError(f"{encoding} decodes the whole file")


def undecodable_error(path: Path, encoding: str, compression: str) -> UnreadableInput:
    """Name the first byte that is not in the encoding."""
    offset, line = locate_undecodable(path, encoding, compression)
    other = "cp1252" if encoding.lower().replace("_", "-").startswith("utf-8") else "utf-8"
    return UnreadableInput(
        Sentence(
            "line {line} of {name} is not {encoding} (byte {offset:,})",
            line=line,
            name=path.name,
            encoding=encoding,
            offset=offset,
        ),
        remedy=Sentence(
            "pass the encoding the file was written in, for example encoding={other!r}, or repair the line",
            other=other,
        ),
    )


def _check_encoding(encoding: str) -> None:
    try:
        b"text".decode(encoding, errors="replace")
        codecs.getincrementaldecoder(encoding)
    except (LookupError, ValueError) as error:
        raise InvalidParameter(
            Sentence("{encoding!r} is no text encoding that Python knows", encoding=encoding),
            remedy="use a name such as utf-8, utf-16, cp1252 or latin-1",
        ) from error


def _read_ends(path: Path, compression: str, sample_bytes: int) -> tuple[bytes, bytes, bool]:
    with open_bytes(path, compression) as stream:
        data = stream.read(sample_bytes)
        complete = len(data) < sample_bytes
        while not complete and len(data) < LONGEST_SAMPLE and _few_lines(data):
            more = stream.read(len(data))
            complete = len(more) < len(data)
            data += more
        tail = data[-TAIL:]
        if compression:
            unpacked = len(data)
            while chunk := stream.read(CHUNK):
                complete = False
                tail = (tail + chunk)[-TAIL:]
                unpacked += len(chunk)
                check_unpacked(path, unpacked)
        elif not complete:
            size = path.stat().st_size
            complete = size <= len(data)
            stream.seek(max(0, size - TAIL))
            tail = stream.read()
    return data, tail, complete


def _few_lines(data: bytes) -> bool:
    return max(data.count(b"\n"), data.count(b"\r")) < LINES_WANTED


def _refuse_other_formats(path: Path, data: bytes) -> None:
    looks = next((name for magic, name in MAGIC if data.startswith(magic)), "")
    if not looks and data.startswith(b"PAR1") and b"\0" in data:
        looks = "a Parquet file"
    if not looks and (match := MARKUP.match(data)):
        looks = MARKUP_NAMES[next(i for i, group in enumerate(match.groups()) if group)]
    if looks:
        raise UnreadableInput(
            Sentence(
                "{name} is not delimited text; it looks like {looks}", name=path.name, looks=Sentence(looks)
            ),
            remedy="unpack it or export it as CSV, or give it the file extension of its format",
        )


def _choose_encoding(path: Path, data: bytes, complete: bool, encoding: str | None) -> tuple[str, str]:
    bom = next((name for mark, name, _ in BOMS if data.startswith(mark)), None)
    if encoding is not None:
        plain = encoding.lower().replace("_", "-")
        if bom == "utf-8-sig" and plain in {"utf-8", "utf8"}:
            return bom, "given by the caller; the file also begins with a byte order mark"
        return plain, "given by the caller"
    if bom is not None:
        return bom, "the file begins with a byte order mark"
    head = data[:4096]
    if head.count(b"\0") > len(head) // 4:
        guess = "utf-16-le" if head[1::2].count(b"\0") > head[::2].count(b"\0") else "utf-16-be"
        raise UnreadableInput(
            Sentence(
                "{name} is full of NUL bytes: binary, or UTF-16 without a byte order mark", name=path.name
            ),
            remedy=Sentence("export it as UTF-8, or pass encoding={guess!r} if it is text", guess=guess),
        )
    extent = Sentence("the file") if complete else Sentence("the first {bytes:,} bytes", bytes=len(data))
    if data.isascii():
        return "utf-8", Sentence("{extent} held only ASCII characters", extent=extent)
    try:
        codecs.getincrementaldecoder("utf-8")().decode(data, final=complete)
    except UnicodeDecodeError as error:
        return _not_utf8(path, data, error)
    return "utf-8", Sentence("{extent} held valid UTF-8 beyond ASCII", extent=extent)


def _not_utf8(path: Path, data: bytes, error: UnicodeDecodeError) -> tuple[str, str]:
    lenient = data.decode("utf-8", errors="replace")
    bad = lenient.count("\ufffd")
    good = sum(1 for c in lenient if c > "\x7f") - bad
    line = line_at(data[: error.start].decode("utf-8", errors="replace"), len(data))
    if good > bad:
        raise UnreadableInput(
            Sentence(
                "{name} is written in UTF-8 but line {line} is damaged (byte {start:,})",
                name=path.name,
                line=line,
                start=error.start,
            ),
            remedy="repair the line, or pass encoding='cp1252' if the file is not UTF-8",
        ) from error
    try:
        text, encoding = data.decode("cp1252"), "cp1252"
    except UnicodeDecodeError:
        text, encoding = data.decode("latin-1"), "latin-1"
    if "\0" in text or CONTROL.search(text):
        raise UnreadableInput(
            Sentence(
                "line {line} of {name} holds control characters, so it is binary or damaged",
                line=line,
                name=path.name,
            ),
            remedy="export it again as text, or pass encoding= if it is text",
        ) from error
    return (
        encoding,
        Sentence(
            "line {line} is not valid UTF-8; {encoding} can decode every byte, as it can many other "
            "encodings: look at the accented letters, and pass encoding= if they are wrong",
            line=line,
            encoding=encoding,
        ),
    )


def _decode(path: Path, data: bytes, complete: bool, encoding: str, compression: str) -> str:
    # Not final when the sample was cut: its last character may be incomplete.
    try:
        return codecs.getincrementaldecoder(encoding)().decode(data, final=complete)
    except UnicodeDecodeError as error:
        raise undecodable_error(path, encoding, compression) from error
