"""Privacy models by plain loops over rows, from the definitions in the papers; nothing of the product is used."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Sequence

from plain_tables import PlainTable, Row, Value

Class = list[Row]


def classes_of(table: PlainTable) -> list[Class]:
    """Rows that agree on all quasi-identifiers; a null agrees with a null only."""
    groups: dict[tuple[Value, ...], Class] = {}
    for row in table.rows:
        groups.setdefault(tuple(row[name] for name in table.quasi_identifiers), []).append(row)
    return list(groups.values())


def people(rows: Sequence[Row], person: str | None) -> int:
    return len(rows) if person is None else len({row[person] for row in rows})


def shares(rows: Sequence[Row], sensitive: str) -> dict[Value, float]:
    counts = Counter(row[sensitive] for row in rows)
    return {value: count / len(rows) for value, count in counts.items()}


def k_anonymity(table: PlainTable) -> float:
    return min(people(rows, table.person) for rows in classes_of(table))


def distinct_l(table: PlainTable, sensitive: str) -> float:
    return min(len({row[sensitive] for row in rows}) for rows in classes_of(table))


def entropy_l(table: PlainTable, sensitive: str) -> float:
    return min(
        math.exp(-sum(p * math.log(p) for p in shares(rows, sensitive).values()))
        for rows in classes_of(table)
    )


def simple_l(table: PlainTable, sensitive: str) -> float:
    return min(1 / max(shares(rows, sensitive).values()) for rows in classes_of(table))


def recursive_c(table: PlainTable, sensitive: str, length: int = 2) -> float:
    """The largest r1 / (r_l + … + r_m): what c must exceed."""
    worst = 0.0
    for rows in classes_of(table):
        counts = sorted(Counter(row[sensitive] for row in rows).values(), reverse=True)
        tail = sum(counts[length - 1 :])
        worst = max(worst, counts[0] / tail if tail else math.inf)
    return worst


def t_equal(table: PlainTable, sensitive: str, *, reference: PlainTable | None = None) -> float:
    """Half the sum of absolute differences between class and table."""
    whole = shares((reference or table).rows, sensitive)
    worst = 0.0
    for rows in classes_of(table):
        part = shares(rows, sensitive)
        worst = max(worst, sum(abs(part.get(value, 0.0) - whole[value]) for value in whole) / 2)
    return worst


def t_ordered(table: PlainTable, sensitive: str) -> float:
    """The earth mover's distance on the ranks of the values, over the number of steps; nulls come last."""
    values = sorted({row[sensitive] for row in table.rows}, key=lambda value: (value is None, value or 0))
    if len(values) == 1:
        return 0.0
    whole = shares(table.rows, sensitive)
    worst = 0.0
    for rows in classes_of(table):
        part = shares(rows, sensitive)
        carried = distance = 0.0
        for value in values:
            carried += part.get(value, 0.0) - whole[value]
            distance += abs(carried)
        worst = max(worst, distance / (len(values) - 1))
    return worst


def beta(
    table: PlainTable, sensitive: str, *, enhanced: bool = False, reference: PlainTable | None = None
) -> float:
    """The largest relative gain (q - p) / p of a value; enhanced: the beta that min(beta, -ln p) needs."""
    whole = shares((reference or table).rows, sensitive)
    worst = 0.0
    for rows in classes_of(table):
        for value, q in shares(rows, sensitive).items():
            p = whole[value]
            gain = (q - p) / p
            if enhanced and gain > -math.log(p) + 1e-9:
                gain = math.inf
            worst = max(worst, gain)
    return worst


def delta(table: PlainTable, sensitive: str, *, reference: PlainTable | None = None) -> float:
    """The largest |ln(q / p)|; a value of the table that a class lacks makes it infinite."""
    whole = shares((reference or table).rows, sensitive)
    worst = 0.0
    for rows in classes_of(table):
        part = shares(rows, sensitive)
        for value, p in whole.items():
            q = part.get(value, 0.0)
            worst = max(worst, abs(math.log(q / p)) if q else math.inf)
    return worst


def alpha(table: PlainTable, sensitive: str) -> float:
    return max(max(shares(rows, sensitive).values()) for rows in classes_of(table))


def linked_k(table: PlainTable) -> float:
    """The fewest persons who have the same rows, all rows of a person taken together."""
    together: dict[Value, Counter[tuple[Value, ...]]] = {}
    for number, row in enumerate(table.rows):
        person = number if table.person is None else row[table.person]
        known = tuple(row[name] for name in table.quasi_identifiers)
        together.setdefault(person, Counter())[known] += 1
    return min(Counter(frozenset(rows.items()) for rows in together.values()).values())


def g_balance(table: PlainTable) -> float:
    """The least over classes of 1 - Σ (rows of a person / rows)²."""
    worst = 1.0
    for rows in classes_of(table):
        counts = Counter(at if table.person is None else row[table.person] for at, row in enumerate(rows))
        worst = min(worst, 1 - sum((count / len(rows)) ** 2 for count in counts.values()))
    return worst


def h_affiliation(table: PlainTable, sensitive: str) -> float:
    """The largest share of a class's persons who have one and the same value."""
    worst = 0.0
    for rows in classes_of(table):
        everybody = people(rows, table.person)
        for value in {row[sensitive] for row in rows}:
            with_it = people([row for row in rows if row[sensitive] == value], table.person)
            worst = max(worst, with_it / everybody)
    return worst
