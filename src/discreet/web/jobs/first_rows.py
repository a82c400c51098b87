"""The first rows of a table as they are shown: right after reading, and before and after anonymising."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import pyarrow as pa

from discreet.release.release import Release
from discreet.release.write import TextDialect
from discreet.table import Table

SHOWN = 8
LONGEST = 48


def first_rows(table: Table) -> dict[str, object]:
    """Names and first rows of a table, every cell as a short text."""
    rows = _as_given(table, table.engine.to_arrow(table, first=SHOWN))
    return {"names": rows.column_names, "rows": _texts(rows)}


def before_and_after(table: Table, release: Release, released: pa.Table) -> dict[str, object]:
    """The first rows of the original beside what became of each; ``released`` are the rows of the release.

    Shown are the columns that the release has, those in front in which something has changed: others may lie beyond the edge
    of the screen. In a row that it leaves out no cell has an ``after``.
    """
    kept = [name for name in table.names if name in released.column_names]
    original = _as_given(table, table.engine.to_arrow(table, kept, first=SHOWN))
    links = release.links
    places = {int(links[place]): int(place) for place in (links < original.num_rows).nonzero()[0]}
    taken = released.take(pa.array(list(places.values()), pa.int64()))
    texts = _texts(_as_given(table, taken))
    after = dict(zip(places, texts, strict=True))
    columns = {name: at for at, name in enumerate(released.column_names)}
    rows: list[dict[str, Any]] = []
    for number, row in enumerate(_texts(original)):
        now = after.get(number)
        rows.append(
            {
                "left_out": now is None,
                "cells": [
                    {"before": cell, "after": now[columns[name]] if now else None}
                    for name, cell in zip(original.column_names, row, strict=True)
                ],
            }
        )
    order = _changed_first([row["cells"] for row in rows], len(original.column_names))
    return {
        "names": [original.column_names[at] for at in order],
        "left_out": [name for name in table.names if name not in columns],
        "rows": [{**row, "cells": [row["cells"][at] for at in order]} for row in rows],
    }


def numeric(table: Table) -> set[str]:
    """The names of the columns of numbers, whatever they are kept as."""
    return {column.name for column in table.columns if column.numeric}


def dialect_of(table: Table, format: str = "csv") -> TextDialect:
    """How the file was written that people gave, as far as a text file of this format can be so."""
    if table.source.format != "text":
        return TextDialect("\t" if format == "tsv" else ",")
    delimiter, decimal = (str(table.source.settings.get(name) or "") for name in ("delimiter", "decimal"))
    if format == "tsv" or len(delimiter) != 1:
        delimiter = "\t" if format == "tsv" else ","
    return TextDialect(delimiter, "," if decimal == "," else ".")


def _as_given(table: Table, rows: pa.Table) -> pa.Table:
    """Rows with the decimal mark of the file that people gave."""
    return dialect_of(table).numbers(rows, numeric(table))


def _changed_first(rows: Sequence[Sequence[Mapping[str, str | None]]], columns: int) -> list[int]:
    """The places of columns with a cell that has another value now, then those of the others.

    >>> _changed_first([[{"before": "a", "after": "a"}, {"before": "1", "after": "*"}]], 2)
    [1, 0]
    """
    changed = [
        any(row[at]["after"] not in (None, row[at]["before"]) for row in rows) for at in range(columns)
    ]
    return sorted(range(columns), key=lambda at: not changed[at])


def _texts(rows: pa.Table) -> list[list[str]]:
    """Every cell as a short text, in rows; nothing is an empty one."""
    columns = [[_text(value) for value in column.to_pylist()] for column in rows.columns]
    return [list(row) for row in zip(*columns, strict=True)]


def _text(value: object) -> str:
    """A cell as a text that is not endless.

    >>> _text(None), _text(3.5), _text("a" * 60)[-3:]
    ('', '3.5', 'aa…')
    """
    text = "" if value is None else str(value)
    return text if len(text) <= LONGEST else text[: LONGEST - 1] + "…"
