"""Record risks by plain loops over rows, from the definitions in the papers; nothing of the product is used."""

from __future__ import annotations

import math
from collections.abc import Sequence

from plain_tables import PlainTable, Row


def alike(table: PlainTable, row: Row, names: Sequence[str]) -> list[Row]:
    """The rows that agree with one on some columns."""
    return [other for other in table.rows if all(other[name] == row[name] for name in names)]


def uniqueness(table: PlainTable, names: Sequence[str]) -> list[float]:
    """1 - log f / log n; a table of one row has nobody to hide among."""
    n = len(table.rows)
    if n == 1:
        return [1.0]
    return [1 - math.log(len(alike(table, row, names))) / math.log(n) for row in table.rows]


def uniformity(table: PlainTable, names: Sequence[str]) -> list[float]:
    """P(person | known values): the share of that person's rows among those that agree."""
    risks = []
    for row in table.rows:
        rows = alike(table, row, names)
        own = 1 if table.person is None else sum(other[table.person] == row[table.person] for other in rows)
        risks.append(own / len(rows))
    return risks


def correlation(table: PlainTable, names: Sequence[str], sensitive: str) -> list[float]:
    """P(sensitive value | known values)."""
    risks = []
    for row in table.rows:
        rows = alike(table, row, names)
        risks.append(sum(other[sensitive] == row[sensitive] for other in rows) / len(rows))
    return risks


def prosecutor(table: PlainTable) -> list[float]:
    """1 / persons that agree."""
    risks = []
    for row in table.rows:
        rows = alike(table, row, table.quasi_identifiers)
        people = len(rows) if table.person is None else len({other[table.person] for other in rows})
        risks.append(1 / people)
    return risks


def people_in(table: PlainTable, rows: Sequence[Row]) -> int:
    """Distinct persons of some rows."""
    return len(rows) if table.person is None else len({row[table.person] for row in rows})


def by_weight(table: PlainTable) -> list[float]:
    """Per row 1 / F, F the weights of the people who agree, each of them once."""
    risks = []
    for row in table.rows:
        rows = alike(table, row, table.quasi_identifiers)
        if table.person is None:
            risks.append(1 / sum(int(str(other["weight"])) for other in rows))
        else:
            weights = {other[table.person]: int(str(other["weight"])) for other in rows}
            risks.append(1 / sum(weights.values()))
    return risks


def by_fraction(table: PlainTable, fraction: float) -> list[float]:
    """Per row 1 / F, F = f / fraction."""
    return [fraction / people_in(table, alike(table, row, table.quasi_identifiers)) for row in table.rows]


def by_population(table: PlainTable, population: PlainTable) -> list[float]:
    """Per row 1 / F, F the people of the population who agree."""
    return [1 / len(alike(population, row, table.quasi_identifiers)) for row in table.rows]


def minimal_uniques(table: PlainTable, largest: int = 3) -> list[set[frozenset[str]]]:
    """Per row the smallest sets of quasi-identifiers (up to a size) with which no other row agrees."""
    from itertools import combinations

    uniques = []
    for row in table.rows:
        own: set[frozenset[str]] = set()
        for size in range(1, largest + 1):
            for names in combinations(table.quasi_identifiers, size):
                if any(smaller <= set(names) for smaller in own):
                    continue
                if len(alike(table, row, names)) == 1:
                    own.add(frozenset(names))
        uniques.append(own)
    return uniques
