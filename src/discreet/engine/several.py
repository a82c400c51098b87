"""Several files as one table: all of one format, with the same columns, and folders that are columns too."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet

from discreet.engine.files import describe_file, open_batches
from discreet.engine.sniff.format import TextFormat
from discreet.errors import UnreadableInput
from discreet.files.members import Members
from discreet.sentences import Sentence
from discreet.table import Source
from discreet.table.reading import ReadOptions

PLAIN = ("ascii", "utf-8", "utf-8-sig")
ALIKE = ("delimiter", "header", "skip_initial_space", "compression", "skip_rows", "skip_last")
"""What must be the same in all text files."""


def describe_members(several: Members, options: ReadOptions) -> tuple[Source, TextFormat | None]:
    """What the files are and how they are written: as the first one is, and all of them alike."""
    first, written = describe_file(several.files[0], options)
    if first.format not in ("text", "parquet"):
        raise UnreadableInput(
            Sentence("{name} is neither text nor Parquet, which several files must be", name=first.name),
            remedy="name one file, or convert them",
        )
    formats = [written] if isinstance(written, TextFormat) else []
    further = _like(formats[0], options) if formats else options
    columns = _columns(several.files[0], written)
    hashes = [first.sha256]
    for file in several.files[1:]:
        other, its = describe_file(file, further)
        hashes.append(other.sha256)
        formats += [its] if isinstance(its, TextFormat) else []
        if other.format != first.format or _columns(file, its) != columns:
            raise _unlike(file, several.files[0])
    doubled = [key for key in several.keys if key in dict(columns)]
    if doubled:
        raise UnreadableInput(
            Sentence("{name!r} is a column of the files and the name of a folder", name=doubled[0]),
            remedy="rename one of them",
        )
    known = [text for text in hashes if text is not None]
    source = replace(
        first,
        name=several.pattern,
        settings={**first.settings, "files": len(several.files), "columns from folders": list(several.keys)},
        # Of the hashes of all files, in their order.
        sha256=hashlib.sha256("".join(known).encode()).hexdigest() if len(known) == len(hashes) else None,
    )
    return source, _common(several, formats) if formats else None


def _common(several: Members, formats: Sequence[TextFormat]) -> TextFormat:
    """The one way in which all text files are written: what one of them does not show, another one may."""
    first = formats[0]
    quotes = {text.quote for text in formats} - {""}
    escapes = {text.escape for text in formats} - {""}
    for file, text in zip(several.files, formats, strict=True):
        if (
            len(quotes) > 1
            or len(escapes) > 1
            or any(getattr(text, name) != getattr(first, name) for name in ALIKE)
        ):
            raise _unlike(file, several.files[0])
    return replace(
        first,
        encoding="utf-8-sig" if first.encoding in PLAIN else first.encoding,
        quote="".join(quotes),
        escape="".join(escapes),
        blank_lines=any(text.blank_lines for text in formats),
    )


def _unlike(file: Path, first: Path) -> UnreadableInput:
    return UnreadableInput(
        Sentence("{name} has another format or other columns than {other}", name=file.name, other=first.name),
        remedy="choose a pattern for files of one kind",
    )


def member_batches(
    several: Members, source: Source, options: ReadOptions, written: TextFormat | None
) -> pa.RecordBatchReader:
    """The rows of all files, with what their folders say."""
    readers = (
        open_batches(file, source.format, replace(options, rows=None), written) for file in several.files
    )
    head = next(readers)
    schema = pa.schema([*head.schema, *((key, pa.string()) for key in several.keys)])

    def batches() -> Iterator[pa.RecordBatch]:
        for reader, values in zip(_again(head, readers), several.partitions, strict=True):
            for batch in reader:
                told = [pa.array([value] * len(batch), pa.string()) for value in values.values()]
                yield pa.RecordBatch.from_arrays([*batch.columns, *told], schema=schema)

    return pa.RecordBatchReader.from_batches(schema, batches())


def _again(
    head: pa.RecordBatchReader, rest: Iterator[pa.RecordBatchReader]
) -> Iterator[pa.RecordBatchReader]:
    yield head
    yield from rest


def _like(text: TextFormat, options: ReadOptions) -> ReadOptions:
    """Options by which further files are read as the first one is."""
    return replace(
        options,
        encoding="utf-8" if text.encoding in PLAIN else text.encoding,
        delimiter=text.delimiter,
        quote=text.quote or None,
        header=text.header,
        decimal=text.decimal,
    )


def _columns(file: Path, written: object) -> list[tuple[str, str]]:
    """The columns of a file and, where it says so, their types."""
    if isinstance(written, TextFormat):
        return [(name, "") for name in written.names]
    try:
        schema = pyarrow.parquet.read_schema(file)
    except (pa.ArrowException, OSError):
        raise UnreadableInput(
            Sentence("{name} could not be read as {file_format}", name=file.name, file_format="parquet"),
            remedy="check that the file is complete and of this format",
        ) from None
    return [(column.name, str(column.type)) for column in schema]
