"""The document of a table's columns: what each holds, its suggested role with the reason, and a small distribution."""

from __future__ import annotations

from dataclasses import asdict

import numpy as np

from discreet.errors import DiscreetError
from discreet.policy.suggest import Suggestion
from discreet.table import Column, Table

BARS = 12
SAMPLED_ROWS = 50_000
LONGEST_LABEL = 40


def describe(table: Table, suggestion: Suggestion) -> dict[str, object]:
    """The table and its columns as JSON-ready data. The distributions hold values: for the custodian only."""
    sampled = table.engine.sample(table, SAMPLED_ROWS)
    profiles = {profile.column.name: profile for profile in table.engine.profile(table)}
    columns = []
    for column in table.columns:
        suggested = suggestion.policy.column(column.name)
        profile = profiles[column.name]
        columns.append(
            {
                "name": column.name,
                "storage": column.storage,
                "type": suggested.type if suggested and suggested.type else column.type,
                "suggested": suggested.role if suggested else "insensitive",
                "reason": suggested.reason if suggested else "",
                "rating": asdict(suggested.rating) if suggested and suggested.rating else None,
                "nulls": profile.nulls,
                "marks": profile.marks,
                "distinct": profile.distinct,
                "approximate": profile.approximate,
                "distribution": distribution(sampled, column),
            }
        )
    return {
        "schema": "discreet-columns-1",
        "table": {**table.source.to_dict(), "rows": table.rows, "columns": len(table.columns)},
        "columns": columns,
        "notes": list(suggestion.heading),
    }


def distribution(table: Table, column: Column) -> list[dict[str, object]]:
    """At most a dozen bars: ranges of numbers, or the most frequent values and the rest.

    >>> import pyarrow as pa
    >>> from discreet.engine.read import read
    >>> table = read(pa.table({"sex": ["f", "f", "m"], "age": [30, 40, 41]}))
    >>> distribution(table, table.column("sex"))
    [{'label': 'f', 'records': 2}, {'label': 'm', 'records': 1}]
    >>> [bar["records"] for bar in distribution(table, table.column("age"))]
    [1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1, 1]
    """
    try:
        classes = table.engine.count(table, quasi_identifiers=[column.name])
    except DiscreetError:
        # A column that cannot be counted cannot be drawn; the audit will say what is wrong with it.
        return []
    domain, codes = classes.attributes[0], classes.codes[0]
    records = np.bincount(codes, weights=classes.records, minlength=domain.size).astype(int)
    numbers = domain.numbers
    known = ~np.isnan(numbers)
    if (column.numeric or column.type == "date") and domain.is_numeric and known.sum() > 1:
        bars, edges = np.histogram(numbers[known], bins=BARS, weights=records[known])
        bounds = [_edge(edge, column) for edge in edges]
        return [
            {"label": f"{low} – {high}", "records": int(bar)}
            for low, high, bar in zip(bounds[:-1], bounds[1:], bars, strict=True)
        ]
    order = np.argsort(-records, kind="stable")
    first = order[:BARS] if len(order) <= BARS else order[: BARS - 1]
    shown: list[dict[str, object]] = [
        {"label": domain.label(int(code))[:LONGEST_LABEL], "records": int(records[code])} for code in first
    ]
    if len(order) > len(first):
        shown.append({"label": "…", "records": int(records[order[len(first) :]].sum()), "rest": True})
    return shown


def _edge(number: float, column: Column) -> str:
    """The edge of a range of numbers, or of days.

    >>> _edge(1234.5678, Column("pay", "continuous", "float")), _edge(365, Column("born", "date", "date"))
    ('1235', '1971-01-01')
    """
    return str(np.datetime64(round(number), "D")) if column.type == "date" else f"{number:.4g}"
