"""Write a release to a file: whole and verified, or not at all."""

from __future__ import annotations

import codecs
import math
import re
from collections.abc import Collection
from contextlib import suppress
from dataclasses import dataclass
from datetime import date, datetime
from decimal import Decimal
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.csv
import pyarrow.feather
import pyarrow.parquet

from discreet.errors import InvalidParameter, UnreadableInput
from discreet.files.scratch import Scratch
from discreet.sentences import Sentence

SUFFIXES = (".csv", ".tsv", ".parquet", ".pq", ".arrow", ".feather", ".ipc", ".xlsx")
PARQUET = (".parquet", ".pq")
SPREADSHEET_ROWS = 1_048_575
SPREADSHEET_TEXT = 32_767
CONTROL = "\\x00-\\x08\\x0b\\x0c\\x0e-\\x1f\ufffe\uffff"
"""Signs that XML, of which spreadsheets are made, cannot hold."""
FRACTION = r"^[+-]?[0-9]+[.][0-9]+([eE][+-]?[0-9]+)?$"
"""A number with a decimal point, and nothing beside it."""


@dataclass(frozen=True)
class TextDialect:
    """How a text file is written for people: as the file that they gave was.

    A spreadsheet takes text for UTF-8 only after a byte order mark, so one is written where it matters.
    """

    delimiter: str = ","
    decimal: str = "."

    def numbers(self, rows: pa.Table, among_texts: Collection[str] = ()) -> pa.Table:
        """Rows with numbers as people wrote them; ``among_texts`` names columns of numbers that are kept as texts, as
        those with empty cells are, or that became labels: a cell that is a number is one there, too.

        >>> mixed = pa.table({"pay": ["1.5", "", "[1.5, 2)"], "code": ["1.5", "1.7", "1.9"]})
        >>> TextDialect(";", ",").numbers(mixed, ["pay"]).to_pydict()
        {'pay': ['1,5', '', '[1.5, 2)'], 'code': ['1.5', '1.7', '1.9']}
        """
        if self.decimal == ".":
            return rows
        for i, column in enumerate(rows.schema):
            texts = rows.column(i)
            if pa.types.is_floating(column.type) or pa.types.is_decimal(column.type):
                texts = pc.replace_substring(pc.cast(texts, pa.string()), ".", self.decimal)
            elif column.name in among_texts and _is_text(texts):
                marked = pc.replace_substring(texts, ".", self.decimal)
                texts = pc.if_else(pc.match_substring_regex(texts, FRACTION), marked, texts)
            rows = rows.set_column(i, column.name, texts)
        return rows

    def write(self, rows: pa.Table, path: Path) -> None:
        """Write rows; the decimal mark is that of numbers, not of texts."""
        rows = self.numbers(rows)
        with path.open("wb") as file:
            if _has_accents(rows):
                file.write(codecs.BOM_UTF8)
            options = pyarrow.csv.WriteOptions(delimiter=self.delimiter, quoting_style="needed")
            pyarrow.csv.write_csv(rows, file, write_options=options)


def _has_accents(rows: pa.Table) -> bool:
    """Whether any name or text has a sign beyond ASCII."""
    return not "".join(rows.column_names).isascii() or any(
        pc.any(pc.invert(pc.string_is_ascii(column))).as_py() for column in rows.columns if _is_text(column)
    )


def check_target(path: Path, *, force: bool = False) -> None:
    """Refuse what could not be written, before any work is done."""
    if path.suffix.lower() not in SUFFIXES:
        raise InvalidParameter(
            Sentence("{name} has no known ending for a table", name=path.name),
            remedy=Sentence("use one of {suffixes}", suffixes=", ".join(SUFFIXES)),
        )
    if not path.parent.is_dir():
        raise UnreadableInput(
            Sentence("there is no folder for {name}", name=path.name), remedy="create it first"
        )
    if path.is_dir():
        raise UnreadableInput(Sentence("{name} is a folder", name=path.name or path), remedy="name a file")


def write_rows(rows: pa.Table, path: Path) -> None:
    """Write rows in the format that the file's name asks for."""
    suffix = path.suffix.lower()
    nested = [column.name for column in rows.schema if pa.types.is_nested(column.type)]
    if nested and suffix in (".csv", ".tsv", ".xlsx"):
        raise InvalidParameter(
            Sentence(
                "column {column!r} holds lists, which {suffix} files cannot", column=nested[0], suffix=suffix
            ),
            remedy="write .parquet instead",
        )
    # A NUL ends a text for half of all readers of text files; a spreadsheet is XML, which has no such sign.
    if suffix in (".csv", ".tsv"):
        _refuse_signs(
            rows, r"\x00", Sentence("NUL characters, which {suffix} files cannot hold", suffix=suffix)
        )
    elif suffix == ".xlsx":
        _refuse_signs(rows, f"[{CONTROL}]", Sentence("control characters, which a spreadsheet cannot hold"))
        _refuse_signs(
            rows, r"^[ \t\r\n]+$", Sentence("texts of blanks, which in a spreadsheet are empty cells")
        )
    if suffix in PARQUET:
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


def _refuse_signs(rows: pa.Table, signs: str, what: Sentence) -> None:
    """Raise if a text or the name of a column holds signs that the format cannot."""
    for name, column in zip(rows.column_names, rows.columns, strict=True):
        if re.search(signs, name) or (
            _is_text(column) and pc.any(pc.match_substring_regex(column, signs)).as_py()
        ):
            raise InvalidParameter(
                Sentence("column {name!r} holds {what}", name=name, what=what),
                remedy="write .parquet instead",
            )


def _is_text(column: pa.ChunkedArray) -> bool:
    return bool(pa.types.is_string(column.type) or pa.types.is_large_string(column.type))


def _write_spreadsheet(rows: pa.Table, path: Path) -> None:
    if rows.num_rows > SPREADSHEET_ROWS:
        raise InvalidParameter(
            Sentence(
                "a spreadsheet holds {spreadsheet_rows:,} rows at most, not {num_rows:,}",
                spreadsheet_rows=SPREADSHEET_ROWS,
                num_rows=rows.num_rows,
            ),
            remedy="write .parquet or .csv instead",
        )
    for name, column in zip(rows.column_names, rows.columns, strict=True):
        if _is_text(column) and (pc.max(pc.utf8_length(column)).as_py() or 0) > SPREADSHEET_TEXT:
            raise InvalidParameter(
                Sentence(
                    "column {name!r} holds texts of more than {spreadsheet_text:,} characters, which a "
                    "spreadsheet cannot hold",
                    name=name,
                    spreadsheet_text=SPREADSHEET_TEXT,
                ),
                remedy="write .parquet or .csv instead",
            )
    _refuse_empty_records(rows)
    folder = Scratch("rows")
    try:
        _write_sheet(rows, path, folder.path / "sheet.xml")
    finally:
        folder.remove()


def _refuse_empty_records(rows: pa.Table) -> None:
    """Raise if a record has no value at all: an empty row of a spreadsheet is no record to whoever reads it."""
    empty = np.ones(rows.num_rows, dtype=bool)
    for column in rows.columns:
        absent = pc.is_null(column, nan_is_null=False)
        if _is_text(column):
            absent = pc.or_(absent, pc.fill_null(pc.equal(column, ""), fill_value=False))
        empty &= absent.to_numpy()
    if records := int(empty.sum()):
        raise InvalidParameter(
            Sentence(
                "in {records:,} records every value is missing, and a spreadsheet has no row for them",
                records=records,
            ),
            remedy="write .parquet or .csv instead",
        )


def _write_sheet(rows: pa.Table, path: Path, scratch: Path) -> None:
    from openpyxl import Workbook
    from openpyxl.cell import WriteOnlyCell
    from openpyxl.worksheet import _writer

    book = Workbook(write_only=True)
    sheet = book.create_sheet("release")
    # The rows lie in a private folder until the book is complete, not where openpyxl would leave them if killed.
    sheet._writer = _writer.WorksheetWriter(sheet, out=str(scratch))
    sheet._writer.write_top()
    _writer.ALL_TEMP_FILES.append(str(scratch))

    def cell(value: object) -> object:
        if isinstance(value, float) and math.isfinite(value):
            # openpyxl would write 16 digits, and some numbers need 17.
            number = WriteOnlyCell(sheet, value)
            number._value = repr(value)  # type: ignore[attr-defined]
            return number
        if _fits(value):
            return value
        # As text, said to be text: a spreadsheet takes what begins with = for a formula.
        made = WriteOnlyCell(sheet, _escaped(str(value)))
        made.data_type = "s"
        return made

    try:
        sheet.append([cell(name) for name in rows.column_names])
        for batch in rows.to_batches():
            for row in zip(*(column.to_pylist() for column in batch.columns), strict=True):
                sheet.append([cell(value) for value in row])
        book.save(path)
    except BaseException:
        # It would complain about its closed file when it is collected.
        with suppress(Exception):
            sheet.close()
        raise


def _escaped(text: str) -> str:
    """A text as spreadsheets store it: a carriage return by its number, and what looks like one with a mark.

    >>> _escaped("a\\rb"), _escaped("_x000D_")
    ('a_x000D_b', '_x005F_x000D_')
    """
    return re.sub(r"_(?=x[0-9A-Fa-f]{4}_)", "_x005F_", text).replace("\r", "_x000D_")


def _fits(value: object) -> bool:
    """Whether a spreadsheet has this value as it is: its numbers are doubles, its calendar begins in 1900."""
    if value is None or isinstance(value, bool):
        return True
    if isinstance(value, datetime):
        return value.tzinfo is None and value.year > 1900
    if isinstance(value, date):
        return value.year > 1900
    if isinstance(value, int | Decimal):
        return abs(Decimal(value)) < 2**53 and Decimal(repr(float(value))) == value
    return isinstance(value, float) and math.isfinite(value)
