"""Where a release goes: a file, a folder of Parquet files or a table of a database, whole and verified or not at all."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Callable, Collection
from os import PathLike
from pathlib import Path
from typing import Protocol

import pyarrow as pa
import pyarrow.parquet

from discreet.engine.targets import StoredRows, put_table, refuse_taken
from discreet.errors import InvalidParameter
from discreet.files.addresses import DatabaseAddress, database_address
from discreet.files.scratch import Scratch
from discreet.files.writing import atomically, folder_atomically, parts_folder, unwritable
from discreet.release.tally import BATCH_ROWS, RowBatches
from discreet.release.verify import KEEPS_BLANKS, read_back
from discreet.release.write import PARQUET, check_target, write_rows
from discreet.sentences import Sentence
from discreet.table import Table

STREAMED_ROWS = 1_000_000
"""More rows than this go from the engine into a Parquet file by themselves; fewer pass through here."""

Target = Path | DatabaseAddress
"""A file, a folder's files (``people/*.parquet``), or a table of a database."""


class WrittenCheck(Protocol):
    """Raises if what was written, read back by the function, is not what may be released."""

    def __call__(self, back: Callable[[], RowBatches], *, blanks_are_nulls: bool = False) -> None: ...


def target_of(path: str | PathLike[str]) -> Target:
    """What a path or an address means; a name that ends with a slash is a folder of Parquet files.

    >>> target_of("out/people/").as_posix()
    'out/people/*.parquet'
    """
    text = os.fspath(path)
    if (address := database_address(text)) is not None:
        return address
    return Path(text, "*.parquet") if text.endswith(("/", os.sep)) else Path(text)


def check_release_target(target: Target, *, linked: bool = False) -> None:
    """Refuse what could not be written, before any work is done; ``linked`` rows are told by their numbers."""
    if linked and (isinstance(target, DatabaseAddress) or parts_folder(target) is not None):
        raise InvalidParameter(
            "links tell rows by their numbers, and neither the files of a folder nor a table of a database keep rows in order",
            remedy="write the release into one file, or leave the links out",
        )
    if isinstance(target, DatabaseAddress):
        refuse_taken(target)
    elif (folder := parts_folder(target)) is None:
        check_target(target)
    elif target.suffix.lower() not in PARQUET:
        raise InvalidParameter(
            Sentence("a folder holds Parquet files only, not {suffix}", suffix=target.suffix),
            remedy="end with /*.parquet, or name one file",
        )
    elif not folder.name:
        raise InvalidParameter("the folder for the release has no name", remedy="name a new folder")
    elif folder.exists() and not (folder.is_dir() and not any(folder.iterdir())):
        raise InvalidParameter(
            Sentence("{name} exists and is not empty", name=folder.name), remedy="name a new folder"
        )
    else:
        check_target(folder.with_name("parts.parquet"))


def put_rows(table: Table, target: Target, check: WrittenCheck, *, texts: Collection[str] = ()) -> None:
    """Write the rows of a table, read back what was written, and leave it there only if the check passes.

    Of a text file the columns in ``texts`` are read back as they stand there, all others as what they were.
    """
    if isinstance(target, DatabaseAddress):
        _into_database(table, target, check)
    elif (folder := parts_folder(target)) is not None:
        folder_atomically(
            folder,
            lambda part: table.engine.store_parts(table, part),
            lambda part: check(lambda: RowBatches.of_parquet(*parts_of(part))),
        )
    else:
        _into_file(table, target, check, texts)


def _into_file(table: Table, target: Path, check: WrittenCheck, texts: Collection[str]) -> None:
    suffix = target.suffix.lower()
    if suffix in PARQUET and table.rows > STREAMED_ROWS:
        atomically(
            target,
            lambda part: table.engine.store(table, part),
            lambda part: check(lambda: RowBatches.of_parquet(part)),
        )
        return
    rows = table.engine.to_arrow(table)
    types = {column.name: column.type for column in rows.schema if column.name not in texts}

    def back(part: Path) -> RowBatches:
        return (
            RowBatches.of_parquet(part) if suffix in PARQUET else RowBatches.of_table(read_back(part, types))
        )

    atomically(
        target,
        lambda part: write_rows(rows, part),
        lambda part: check(lambda: back(part), blanks_are_nulls=suffix not in KEEPS_BLANKS),
    )


def _into_database(table: Table, address: DatabaseAddress, check: WrittenCheck) -> None:
    """Rows go through a private file; what the database holds is checked before its transaction ends."""

    def checked(stored: StoredRows) -> None:
        check(lambda: RowBatches(stored.names, stored.rows, stored.batches))

    folder = Scratch("rows")
    try:
        staged = folder.path / "release.parquet"
        try:
            table.engine.store(table, staged)
        except OSError as error:
            raise unwritable(staged.name, error) from None
        with pyarrow.parquet.ParquetFile(staged) as file:
            batches = file.iter_batches(BATCH_ROWS)
            put_table(address, pa.RecordBatchReader.from_batches(file.schema_arrow, batches), checked)
    finally:
        folder.remove()


def parts_of(folder: Path) -> list[Path]:
    """The files of a folder of parts, in the order of their names."""
    return sorted(path for path in folder.iterdir() if path.suffix in PARQUET)


def hash_of(*paths: Path) -> str:
    """The SHA-256 of a file, or of several one after the other."""
    digest = hashlib.sha256()
    for path in paths:
        with path.open("rb") as file:
            while chunk := file.read(1 << 20):
                digest.update(chunk)
    return digest.hexdigest()


def release_hash(target: Target) -> str | None:
    """The SHA-256 of the file of a release, or of all files of its folder; a table of a database has none."""
    if isinstance(target, DatabaseAddress):
        return None
    folder = parts_folder(target)
    return hash_of(target) if folder is None else hash_of(*parts_of(folder))
