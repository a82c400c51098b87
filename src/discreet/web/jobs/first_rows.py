"""The first rows of a table as they are shown: right after reading, and before and after anonymising."""

from __future__ import annotations

import pyarrow as pa

from discreet.release.release import Release
from discreet.table import Table

SHOWN = 8
LONGEST = 48


def first_rows(table: Table) -> dict[str, object]:
    """Names and first rows of a table, every cell as a short text."""
    rows = table.engine.to_arrow(table, first=SHOWN)
    return {"names": rows.column_names, "rows": _texts(rows)}


def before_and_after(table: Table, release: Release, released: pa.Table) -> dict[str, object]:
    """The first rows of the original beside what became of each; ``released`` are the rows of the release.

    Shown are the columns that the release has; in a row that it leaves out no cell has an ``after``.
    """
    kept = [name for name in table.names if name in released.column_names]
    original = table.engine.to_arrow(table, kept, first=SHOWN)
    links = release.links
    places = {int(links[place]): int(place) for place in (links < original.num_rows).nonzero()[0]}
    texts = _texts(released.take(pa.array(list(places.values()), pa.int64())))
    after = dict(zip(places, texts, strict=True))
    columns = {name: at for at, name in enumerate(released.column_names)}
    rows = []
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
    return {
        "names": original.column_names,
        "left_out": [name for name in table.names if name not in columns],
        "rows": rows,
    }


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
