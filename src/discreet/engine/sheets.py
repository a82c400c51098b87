"""Sheets of a spreadsheet: which one holds the table, and where the table stands on it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import date, datetime
from pathlib import Path

import pyarrow as pa
from python_calamine import CalamineError, CalamineWorkbook

from discreet.engine.limits import check_spreadsheet
from discreet.engine.sniff.format import refuse_contradiction
from discreet.engine.sniff.layout import NOTE, heading, is_total, stand_apart
from discreet.engine.sniff.values import holds_names
from discreet.errors import EmptyTable, InvalidParameter, UnreadableInput
from discreet.sentences import Sentence
from discreet.table.reading import ReadOptions
from discreet.table.values import SUPPRESSED

Cells = list[object]
OTHER_SHEETS = 10
"""A sheet is read without asking if no other has more than a tenth of its filled cells."""


@dataclass(frozen=True)
class Sheet:
    """The table on a sheet, and how it was found there."""

    names: tuple[str, ...]
    rows: list[Cells] = field(repr=False)
    settings: dict[str, object]
    notes: tuple[str, ...]

    def batches(self) -> pa.RecordBatchReader:
        """The table as Arrow batches."""
        columns = (_column(list(cells)) for cells in zip(*self.rows, strict=True))
        return pa.table(dict(zip(self.names, columns, strict=True))).to_reader()


def sheet_names(path: Path) -> list[str]:
    """The names of the sheets of a spreadsheet; none where it cannot be opened, which reading it will tell."""
    check_spreadsheet(path)
    try:
        return list(CalamineWorkbook.from_path(str(path)).sheet_names)
    except CalamineError:
        return []


def read_sheet(path: Path, options: ReadOptions) -> Sheet:
    """The table of a spreadsheet; an error that lists the sheets where several could hold it."""
    check_spreadsheet(path)
    try:
        workbook = CalamineWorkbook.from_path(str(path))
        sheets: dict[str, list[Cells]] = {
            # Rows above the first filled one count, too: their numbers are those that the spreadsheet shows.
            name: [list(row) for row in workbook.get_sheet_by_name(name).to_python(skip_empty_area=False)]
            for name in workbook.sheet_names
        }
    except CalamineError as error:
        raise UnreadableInput(
            Sentence("{name} could not be read as a spreadsheet", name=path.name),
            remedy="check that the file is complete and not protected by a password",
        ) from error
    if not sheets:
        raise EmptyTable(
            Sentence("{name} has no sheets", name=path.name), remedy="check that this is the file you meant"
        )
    name, why = _choose(path, sheets, options)
    return _table(path, name, why, sheets[name], options)


def _choose(path: Path, sheets: dict[str, list[Cells]], options: ReadOptions) -> tuple[str, str]:
    """The sheet to read, and why this one."""
    if options.sheet is not None and options.sheet in sheets:
        return options.sheet, "given by the caller"
    holding = [
        n for n, rows in sheets.items() if any(holds_names(_texts(r), options.expected) for r in rows[:30])
    ]
    if len(holding) == 1:
        return holding[0], "it holds column names that the policy knows"
    if options.sheet is not None:
        raise UnreadableInput(
            Sentence("{name} has no sheet {sheet!r}", name=path.name, sheet=options.sheet),
            remedy=Sentence("its sheets are: {sheets}", sheets=", ".join(sheets)),
        )
    sizes = {name: sum(_is_filled([cell]) for row in rows for cell in row) for name, rows in sheets.items()}
    filled = sorted((name for name in sheets if sizes[name]), key=lambda name: -sizes[name])
    if len(filled) < 2:
        return (filled or list(sheets))[0], "it is the only one with rows"
    if sizes[filled[1]] * OTHER_SHEETS > sizes[filled[0]]:
        raise UnreadableInput(
            Sentence(
                "{name} has several sheets with rows: {sheets}",
                name=path.name,
                sheets=tuple(name for name in sheets if sizes[name]),
            ),
            remedy="pass sheet= with the name of the one to read",
        )
    return filled[0], "the other sheets hold next to nothing"


def _table(path: Path, name: str, why: str, rows: list[Cells], options: ReadOptions) -> Sheet:
    """The table on a sheet, without empty rows and columns, titles and notes."""
    numbers = [i for i, row in enumerate(rows, start=1) if _is_filled(row)]
    if options.header_row is not None:
        refuse_contradiction(options.header)
    above = options.skip_rows if options.header_row is None else options.header_row - 1
    last = len(rows) - (options.skip_last or 0)
    numbers = [i for i in numbers if (above or 0) < i <= last]
    used = [
        i for i in range(len(rows[0]) if rows else 0) if any(_is_filled([rows[n - 1][i]]) for n in numbers)
    ]
    cells = [[rows[n - 1][i] for i in used] for n in numbers]
    empty = EmptyTable(
        Sentence("the sheet of {name} has no rows", name=path.name),
        remedy="name another sheet, or check the file",
    )
    if not cells:
        raise empty
    if options.skip_last is None and len(used) > 1:
        cells, numbers = _without_notes(cells, numbers)
    head, told = 0, ""
    names = _texts(cells[0])
    if above is None and options.header is not False and len(used) > 1:
        place = heading([_texts(row) for row in cells], options.expected)
        head, told = place.index, place.told
        names = list(place.names or _texts(cells[head]))
    if options.header is False:
        names, body = [f"column_{i}" for i in range(len(used))], cells
    else:
        names, body = [text or f"column_{i}" for i, text in enumerate(names)], cells[head + 1 :]
    names = list(options.names or names)
    if not body:
        raise empty
    _check_names(path, names, len(used))
    settings: dict[str, object] = {"sheet": name, "header": options.header is not False}
    if numbers[head] > 1:
        settings["skip_rows"] = numbers[head] - 1
    if numbers[-1] < len(rows):
        settings["skip_last"] = len(rows) - numbers[-1]
    notes = [Sentence("sheet: {why}", why=Sentence(why))]
    if options.header is not False:
        notes.append(Sentence("header: row {row} of the sheet holds the column names", row=numbers[head]))
    notes += [Sentence("names: {why}", why=Sentence(told))] if told else []
    return Sheet(tuple(names), body, settings, tuple(notes))


def _without_notes(cells: list[Cells], numbers: list[int]) -> tuple[list[Cells], list[int]]:
    """Rows and their numbers without totals and single texts at the end, from one that opens like these or follows a gap on."""
    width = len(cells[0])
    end = start = len(cells)
    while start > 2:
        total, text = is_total(_texts(cells[start - 1])), _lone_text(cells[start - 1], width)
        if not total and not text:
            break
        start -= 1
        if total or NOTE.match(text) or numbers[start] > numbers[start - 1] + 1:
            end = start
    return cells[:end], numbers[:end]


def _lone_text(row: Cells, width: int) -> str:
    """The only text of a row, if it stands apart from the table: at its left, and says more than a mark of suppression."""
    first, *others = _texts(row)
    if any(others) or first == SUPPRESSED:
        return ""
    return first if stand_apart([[first]], width) else ""


def _check_names(path: Path, names: Sequence[str], width: int) -> None:
    if len(names) != width:
        raise InvalidParameter(
            Sentence(
                "names has {names} names where {name} has {width} columns",
                names=len(names),
                name=path.name,
                width=width,
            ),
            remedy="give one name per column",
        )
    lower = [name.lower() for name in names]
    repeated = sorted({name for name in names if lower.count(name.lower()) > 1})
    if repeated:
        raise UnreadableInput(
            Sentence("{name} has two columns called {column!r}", name=path.name, column=repeated[0]),
            remedy="rename one of them",
        )


def _texts(row: Cells) -> list[str]:
    return ["" if cell is None else str(cell).strip() for cell in row]


def _is_filled(row: Sequence[object]) -> bool:
    return any(cell not in ("", None) for cell in row)


def _column(cells: Cells) -> pa.Array:
    """One column of a sheet: empty cells are nulls, whole floats are integers, mixtures become text."""
    filled = [cell for cell in cells if cell not in ("", None)]
    if filled and all(isinstance(cell, float) and cell.is_integer() for cell in filled):
        # A spreadsheet has nothing but floats; beyond 64 bits they stay what they are.
        whole = all(abs(cell) < 2.0**63 for cell in filled)  # type: ignore[arg-type]
        numbers = [None if c in ("", None) else int(c) if whole else c for c in cells]  # type: ignore[call-overload]
        return pa.array(numbers, pa.int64() if whole else pa.float64())
    kinds = {type(cell) for cell in filled}
    if len(kinds) == 1 and kinds <= {float, int, bool, date, datetime}:
        return pa.array([None if c in ("", None) else c for c in cells])
    return pa.array([None if c in ("", None) else str(c) for c in cells], pa.string())
