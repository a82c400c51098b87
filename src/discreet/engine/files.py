"""Files as engines meet them: which format it is, how it was found to be written, and its Arrow batches."""

from __future__ import annotations

import gzip
import hashlib
import re
from collections.abc import Iterable, Iterator
from itertools import islice
from pathlib import Path
from typing import Literal, get_args
from uuid import uuid4

import pyarrow as pa
import pyarrow.ipc
import pyarrow.parquet as pq

from discreet.engine.dialect import SqlDialect
from discreet.engine.limits import check_columns
from discreet.engine.sheets import Sheet, read_sheet
from discreet.engine.sniff.format import TextFormat, read_rows, sniff
from discreet.errors import EmptyTable, UnreadableInput
from discreet.files.reading import check_regular
from discreet.sentences import Sentence
from discreet.table import Source
from discreet.table.reading import ReadOptions

FileFormat = Literal["text", "parquet", "arrow", "json-lines", "excel"]

SUFFIXES: dict[str, FileFormat] = {
    **dict.fromkeys((".parquet", ".pq"), "parquet"),
    **dict.fromkeys((".arrow", ".feather", ".ipc"), "arrow"),
    **dict.fromkeys((".jsonl", ".ndjson"), "json-lines"),
    **dict.fromkeys((".xlsx", ".xlsm", ".xls", ".ods"), "excel"),
}
MAGIC: tuple[tuple[bytes, FileFormat], ...] = ((b"PAR1", "parquet"), (b"ARROW1", "arrow"), (b"FEA1", "arrow"))
FOLDERS = {"hive_partitioning": "true", "hive_types_autocast": "false"}
"""How DuckDB is told that names of folders are columns, as texts."""
UNUSUAL = re.compile(r"[^\w/.-]")
BATCH_ROWS = 50_000
HASHED_BYTES = 4 << 30
"""Files up to this size get a SHA-256 in the evidence; hashing more would take longer than the audit."""


def detect_format(path: Path) -> FileFormat:
    """The format of a file, by its name and, where the name does not say, by its first bytes."""
    suffixes = [suffix.lower() for suffix in path.suffixes]
    if suffixes and suffixes[-1] == ".gz":
        suffixes.pop()
    if suffixes and suffixes[-1] in SUFFIXES:
        return SUFFIXES[suffixes[-1]]
    with path.open("rb") as file:
        start = file.read(8)
    return next((format for magic, format in MAGIC if start.startswith(magic)), "text")


def describe_file(path: Path, options: ReadOptions) -> tuple[Source, TextFormat | Sheet | None]:
    """What the file is and how it is written, with a reason for everything that was found."""
    _check_readable(path)
    format = detect_format(path)
    sha256 = None
    if path.stat().st_size <= HASHED_BYTES:
        with path.open("rb") as file:
            sha256 = hashlib.file_digest(file, "sha256").hexdigest()
    if format == "excel":
        sheet = read_sheet(path, options)
        return Source(path.name, format, sheet.settings, sheet.notes, sha256), sheet
    if format != "text":
        return Source(path.name, format, sha256=sha256), None
    text_format = sniff(
        path,
        encoding=options.encoding,
        delimiter=options.delimiter,
        quote=options.quote,
        header="auto" if options.header is None else options.header,
        header_row=options.header_row,
        skip_rows=options.skip_rows,
        skip_last=options.skip_last,
        names=options.names,
        decimal=options.decimal,
        expected=options.expected,
    )
    check_columns(text_format.names, path.name)
    settings: dict[str, object] = {
        **{
            name: getattr(text_format, name)
            for name in ("encoding", "delimiter", "quote", "header", "decimal")
        },
        "missing marks seen": list(text_format.missing),
        "missing marks read as null": list(options.missing),
    }
    if text_format.compression:
        settings["compression"] = text_format.compression
    skipped = {"skip_rows": text_format.skip_rows, "skip_last": text_format.skip_last}
    settings |= {name: lines for name, lines in skipped.items() if lines}
    told = {*settings, "names", *(["blank_lines"] if text_format.blank_lines else [])}
    notes = [
        Sentence("{setting}: {why}", setting=Sentence(key.replace("_", " ")), why=Sentence(why))
        for key, why in text_format.reasons.items()
        if key in told
    ]
    return Source(path.name, "text", settings, tuple(notes), sha256), text_format


def _check_readable(path: Path) -> None:
    if not check_regular(path).st_size:
        raise EmptyTable(
            Sentence("{name} is empty", name=path.name), remedy="check that this is the file you meant"
        )


def scan_path(path: Path, folder: Path, suffix: str = "") -> Path:
    """The path by which an engine scans this file and no other; ``suffix`` is how its name must end.

    Engines take ``*``, ``?``, brackets and braces for patterns, ``sex=f`` in a folder's name for a column, and hide
    names that begin with a dot. A file whose path holds anything unusual is scanned by a link in the private folder.
    """
    place = path.resolve()
    if not UNUSUAL.search(str(place)) and place.name[0] not in "._" and place.name.endswith(suffix):
        return place
    if UNUSUAL.search(str(folder)):
        raise UnreadableInput(
            "the folder for temporary files has a name that engines take for a pattern",
            remedy="set TMPDIR to a folder whose path has only letters, digits, '.', '-' and '_'",
        )
    link = folder / f"{uuid4().hex}{suffix}"
    link.symlink_to(place)
    return link


def text_scan(
    address: str, text_format: TextFormat, dialect: SqlDialect, *, divided: bool = False
) -> str | None:
    """The DuckDB scan of the text file at an address (or of several, ``divided`` among folders that are columns) with every column as text; ``None`` where its reader would differ.

    DuckDB reads UTF-8 with plain dialects much faster than Python; padded values, other encodings and
    backslash escapes take the slower way, which follows the ``csv`` module to the letter.
    """
    plain = (
        text_format.encoding in ("utf-8", "utf-8-sig", "ascii")
        and text_format.escape in ("", '"')
        and text_format.quote in ('"', "")
        and not text_format.skip_initial_space
        and not text_format.skip_rows
        and not text_format.skip_last
        and not (text_format.blank_lines and len(text_format.names) == 1)
        # DuckDB takes a line end inside a quoted name for the one of all lines.
        and not any("\n" in name or "\r" in name for name in text_format.names)
    )
    if not plain:
        return None
    columns = ", ".join(f"{dialect.literal(name)}: 'VARCHAR'" for name in text_format.names)
    arguments = {
        "auto_detect": "false",
        "delim": dialect.literal(text_format.delimiter),
        "quote": dialect.literal(text_format.quote),
        "escape": dialect.literal(text_format.quote),
        "header": "true" if text_format.header else "false",
        "columns": "{" + columns + "}",
        # Nothing is null in a text file until the caller says so: an empty field is an empty text.
        "nullstr": dialect.literal("\x01null\x01"),
        "strict_mode": "true",
        "null_padding": "false",
        "ignore_errors": "false",
        "max_line_size": "67108864",
        "compression": dialect.literal(text_format.compression or "none"),
    }
    if divided:
        arguments |= FOLDERS
    listed = ", ".join(f"{key} = {value}" for key, value in arguments.items())
    return f"read_csv({address}, {listed})"


def open_batches(
    path: Path, file_format: str, options: ReadOptions, written: TextFormat | Sheet | None = None
) -> pa.RecordBatchReader:
    """Arrow batches of a file: text (all columns as text), Parquet, Arrow/Feather or Excel."""
    assert file_format in get_args(FileFormat), file_format
    if isinstance(written, Sheet):
        return written.batches()
    if written is not None:
        schema = pa.schema([(name, pa.string()) for name in written.names])
        rows = read_rows(path, written, rows=options.rows)
        return pa.RecordBatchReader.from_batches(schema, _text_batches(rows, schema))
    try:
        if file_format == "parquet":
            file = pq.ParquetFile(path)
            return pa.RecordBatchReader.from_batches(file.schema_arrow, file.iter_batches(BATCH_ROWS))
        if file_format == "arrow":
            return _arrow_batches(path)
        return read_sheet(path, options).batches()
    except (OSError, pa.ArrowInvalid) as error:
        raise UnreadableInput(
            Sentence("{name} could not be read as {file_format}", name=path.name, file_format=file_format),
            remedy="check that the file is complete and of this format",
        ) from error


def first_lines(path: Path, count: int) -> Iterator[bytes]:
    """The first lines of a file, gzipped or not, that are not blank."""
    with gzip.open(path) if path.suffix == ".gz" else path.open("rb") as file:
        yield from islice((line for line in file if line.strip()), count)


def head_of_lines(path: Path, rows: int, folder: Path) -> Path:
    """The first rows of a JSON lines file as a file of its own: what comes later has no say in the types."""
    head = folder / f"{uuid4().hex}.jsonl"
    with head.open("wb") as file:
        file.writelines(first_lines(path, rows))
    return head


def _text_batches(rows: Iterator[list[str]], schema: pa.Schema) -> Iterator[pa.RecordBatch]:
    while chunk := list(islice(rows, BATCH_ROWS)):
        columns = [pa.array(column, pa.string()) for column in zip(*chunk, strict=True)]
        yield pa.RecordBatch.from_arrays(columns, schema=schema)


def _arrow_batches(path: Path) -> pa.RecordBatchReader:
    """Batches of an Arrow file, each looked through first: it is mapped, and a wrong offset would end the process."""
    schema, batches = _mapped_batches(path)

    def checked() -> Iterator[pa.RecordBatch]:
        try:
            for batch in batches:
                batch.validate(full=True)
                yield batch
        except (OSError, pa.ArrowException):
            raise UnreadableInput(
                Sentence("{name} could not be read as {file_format}", name=path.name, file_format="arrow"),
                remedy="check that the file is complete and of this format",
            ) from None

    return pa.RecordBatchReader.from_batches(schema, checked())


def _mapped_batches(path: Path) -> tuple[pa.Schema, Iterable[pa.RecordBatch]]:
    source = pa.memory_map(str(path))
    try:
        file = pa.ipc.open_file(source)
    except pa.ArrowInvalid:
        stream = pa.ipc.open_stream(source)
        return stream.schema, stream
    return file.schema, (file.get_batch(i) for i in range(file.num_record_batches))
