"""Write a release to a file: whole and verified, or not at all."""

from __future__ import annotations

import os
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

import pyarrow as pa
import pyarrow.csv
import pyarrow.feather
import pyarrow.parquet

from discreet.errors import InvalidParameter, UnreadableInput

SUFFIXES = (".csv", ".tsv", ".parquet", ".pq", ".arrow", ".feather", ".ipc", ".xlsx")
SPREADSHEET_ROWS = 1_048_575


def check_target(path: Path, *, force: bool = False) -> None:
    """Refuse what could not be written, before any work is done."""
    if path.suffix.lower() not in SUFFIXES:
        raise InvalidParameter(
            f"{path.name} has no known ending for a table", remedy=f"use one of {', '.join(SUFFIXES)}"
        )
    if not path.parent.is_dir():
        raise UnreadableInput(f"there is no folder for {path.name}", remedy="create it first")
    if path.is_dir():
        raise UnreadableInput(f"{path.name} is a folder", remedy="name a file")


def write_rows(rows: pa.Table, path: Path) -> None:
    """Write rows in the format that the file's name asks for."""
    suffix = path.suffix.lower()
    if suffix in (".parquet", ".pq"):
        pyarrow.parquet.write_table(rows, path)
    elif suffix in (".arrow", ".feather", ".ipc"):
        pyarrow.feather.write_feather(rows, path, compression="uncompressed")
    elif suffix == ".xlsx":
        _write_spreadsheet(rows, path)
    else:
        mark = "\t" if suffix == ".tsv" else ","
        pyarrow.csv.write_csv(
            rows, path, write_options=pyarrow.csv.WriteOptions(delimiter=mark, quoting_style="needed")
        )


def _write_spreadsheet(rows: pa.Table, path: Path) -> None:
    from openpyxl import Workbook

    if rows.num_rows > SPREADSHEET_ROWS:
        raise InvalidParameter(
            f"a spreadsheet holds {SPREADSHEET_ROWS:,} rows at most, not {rows.num_rows:,}",
            remedy="write .parquet or .csv instead",
        )
    book = Workbook(write_only=True)
    sheet = book.create_sheet("release")
    sheet.append(rows.column_names)
    for batch in rows.to_batches():
        for row in zip(*(column.to_pylist() for column in batch.columns), strict=True):
            sheet.append(list(row))
    book.save(path)


def atomically(target: Path, write: Callable[[Path], None], verify: Callable[[Path], None]) -> None:
    """Write beside the target, verify what was written, and only then put it in place.

    Whatever happens in between, the target is either as it was or complete and verified.
    """
    scratch = target.with_name(f".{target.stem}.{os.getpid()}.part{target.suffix}")
    try:
        write(scratch)
        with scratch.open("rb") as file:
            os.fsync(file.fileno())
        verify(scratch)
        os.replace(scratch, target)
    except OSError as error:
        raise UnreadableInput(
            f"{target.name} could not be written ({error.strerror})",
            remedy="check the folder, its permissions and the space left",
        ) from None
    finally:
        with suppress(FileNotFoundError):
            scratch.unlink()
