"""Cells that a spreadsheet would take for formulas: found and neutralised in files that people open.

Text that begins with ``=``, ``+``, ``-``, ``@``, a tab or a carriage return is run as a formula when a
spreadsheet opens a CSV file ("CSV injection", OWASP; CWE-1236). A leading apostrophe makes it text. Programs
that read the file would see the apostrophe, so that this is done for people only.
"""

from __future__ import annotations

import pyarrow as pa
import pyarrow.compute as pc

FORMULA = "^'*[=+\\-@\\t\\r\u2212\uff1d\uff0b\uff0d\uff20]"
"""A formula, also one that has apostrophes already: adding one more to each loses no difference."""
NUMBER = r"^[+-]?([0-9]+([.,][0-9]*)?|[.,][0-9]+)([eE][+-]?[0-9]+)?$"
"""A plain number with its sign is none."""


def neutralise(rows: pa.Table) -> tuple[pa.Table, dict[str, int]]:
    """The rows with an apostrophe before every text that a spreadsheet would run, and how many per column.

    >>> safe, changed = neutralise(pa.table({"who": ["=1+1", "-5", "Ann", "'@x"], "age": [-1, 2, 3, 4]}))
    >>> safe["who"].to_pylist(), changed
    (["'=1+1", '-5', 'Ann', "''@x"], {'who': 2})
    """
    changed: dict[str, int] = {}
    names = []
    for i, column in enumerate(rows.schema):
        names.append(_safe(pa.chunked_array([[column.name]]))[0].as_py())
        if not (pa.types.is_string(column.type) or pa.types.is_large_string(column.type)):
            continue
        dangerous = _dangerous(rows.column(i))
        count = pc.sum(dangerous).as_py() or 0
        if count:
            changed[column.name] = count
            rows = rows.set_column(i, column.name, _safe(rows.column(i)))
    if names != rows.column_names:
        changed.update({name: changed.get(name, 0) + 1 for name in set(rows.column_names) - set(names)})
        rows = rows.rename_columns(names)
    return rows, changed


def _dangerous(texts: pa.ChunkedArray) -> pa.ChunkedArray:
    formulas = pc.match_substring_regex(texts, FORMULA)
    return pc.and_(formulas, pc.invert(pc.match_substring_regex(texts, NUMBER)))


def _safe(texts: pa.ChunkedArray) -> pa.ChunkedArray:
    quote = pa.scalar("'", texts.type)
    marked = pc.binary_join_element_wise(quote, texts, pa.scalar("", texts.type))
    return pc.if_else(_dangerous(texts), marked, texts)
