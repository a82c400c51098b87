"""A first look at every column: what it holds, which role is suggested and why, and a tiny distribution."""

from __future__ import annotations

from dataclasses import asdict

import numpy as np

from discreet.errors import DiscreetError
from discreet.policy.suggest import Suggestion
from discreet.table import Column, Table
from discreet.web.views import plain

BARS = 12
SAMPLED_ROWS = 50_000
LONGEST_LABEL = 40


def describe(table: Table, found: Suggestion) -> dict[str, object]:
    """The table and its columns as JSON-ready data. The distributions hold values: for the custodian only."""
    sampled = table.engine.sample(table, SAMPLED_ROWS)
    profiles = {one.column.name: one for one in table.engine.profile(table)}
    columns = []
    for column in table.columns:
        suggested = found.policy.column(column.name)
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
        "notes": list(found.heading),
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
    if column.numeric and domain.is_numeric and known.sum() > 1:
        bars, edges = np.histogram(numbers[known], bins=BARS, weights=records[known])
        return [
            {"label": f"{low:.4g} – {high:.4g}", "records": int(bar)}
            for low, high, bar in zip(edges[:-1], edges[1:], bars, strict=True)
        ]
    order = np.argsort(-records, kind="stable")
    shown = order[:BARS] if len(order) <= BARS else order[: BARS - 1]
    found = [
        {"label": domain.label(int(code))[:LONGEST_LABEL], "records": int(records[code])} for code in shown
    ]
    if len(order) > len(shown):
        found.append({"label": "…", "records": int(records[order[len(shown) :]].sum())})
    return plain(found)  # type: ignore[return-value]
