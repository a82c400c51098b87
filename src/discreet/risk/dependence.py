"""How much one attribute tells about another: mutual information, Cramér's V, Pearson's correlation.

An attribute that is nearly a function of another cannot be protected alone. Nulls count as a value of their
own, except for Pearson's correlation, which needs numbers.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np

from discreet.classes import EquivalenceClasses
from discreet.plain import plain
from discreet.risk.tally import Crosstab, crosstab_of
from discreet.table.domain import Domain
from discreet.types import FloatArray


@dataclass(frozen=True)
class Dependence:
    """Three measures between every two attributes; NaN where a measure does not apply."""

    names: tuple[str, ...]
    mutual_information: FloatArray = field(repr=False, compare=False)
    cramers_v: FloatArray = field(repr=False, compare=False)
    absolute_pearson: FloatArray = field(repr=False, compare=False)
    meaning: str = (
        "How much one column tells about another: 0 means nothing; mutual information is in bits, the other two "
        "reach 1 when one column determines the other (Pearson: along a straight line)."
    )
    source: str = "Shannon 1948; Cramér 1946, Mathematical Methods of Statistics, § 21.9; Pearson 1895"

    def to_dict(self) -> dict[str, object]:
        """A JSON-ready mapping; ``None`` where a measure does not apply."""
        document: dict[str, object] = plain(self)
        return document


def mutual_information(classes: EquivalenceClasses, a: str, b: str) -> float:
    """Mutual information in bits: I = Σ p(x, y) log2 (p(x, y) / (p(x) p(y))) (Shannon 1948).

    Of an attribute with itself it is the attribute's entropy. It says by how many yes-or-no questions
    knowing ``a`` shortens the search for ``b``.

    >>> classes = EquivalenceClasses.from_columns({"a": [0, 0, 1, 1], "b": [0, 0, 1, 1], "c": [0, 1, 0, 1]})
    >>> mutual_information(classes, "a", "b"), mutual_information(classes, "a", "c")
    (1.0, 0.0)
    """
    return _information(_table(classes, a, b)[0])


def cramers_v(classes: EquivalenceClasses, a: str, b: str) -> float:
    """Cramér's V = sqrt(χ² / (n min(r - 1, c - 1))), plain, without bias correction (Cramér 1946).

    r and c are the numbers of values that occur. A constant column tells nothing: 0 by convention.
    0 means that the two have nothing to do with each other, 1 that one determines the other.

    >>> classes = EquivalenceClasses.from_columns({"a": [0, 0, 1, 1], "b": [0, 0, 1, 1], "c": [0, 1, 0, 1]})
    >>> cramers_v(classes, "a", "b"), cramers_v(classes, "a", "c")
    (1.0, 0.0)
    """
    return _cramer(_table(classes, a, b)[0])


def association(classes: EquivalenceClasses, a: str, b: str) -> tuple[float, float]:
    """Cramér's V and mutual information, of one count of both attributes.

    >>> classes = EquivalenceClasses.from_columns({"a": [0, 0, 1, 1], "b": [0, 0, 1, 1]})
    >>> association(classes, "a", "b")
    (1.0, 1.0)
    """
    table = crosstab_of(classes, a, b)
    return _cramer(table), _information(table)


def absolute_pearson(classes: EquivalenceClasses, a: str, b: str) -> float:
    """|cov(a, b)| / (σ_a σ_b) over the records where both are numbers (Pearson 1895).

    NaN if an attribute is not numeric or no record has both numbers; 0 by convention if one of them is
    constant there. 1 means that the two lie on a straight line.

    >>> classes = EquivalenceClasses.from_columns({"a": [1, 2, 3, None], "b": [6, 4, 2, 9], "c": list("xyzz")})
    >>> round(absolute_pearson(classes, "a", "b"), 12), absolute_pearson(classes, "a", "c")
    (1.0, nan)
    """
    return _pearson(*_table(classes, a, b))


def dependence(classes: EquivalenceClasses, names: Sequence[str] | None = None) -> Dependence:
    """All three measures between every two of ``names`` (default: all quasi-identifiers and sensitive ones).

    Shannon 1948, Cramér 1946, Pearson 1895; see the functions of this module.

    >>> classes = EquivalenceClasses.from_columns({"a": [0, 0, 1, 1]}, sensitive={"b": [5, 5, 7, 7]})
    >>> dependence(classes).cramers_v
    array([[1., 1.],
           [1., 1.]])
    """
    chosen = tuple(names) if names is not None else (*classes.names, *(d.name for d in classes.sensitive))
    shape = (len(chosen), len(chosen))
    information, cramer, pearson = np.zeros(shape), np.zeros(shape), np.full(shape, np.nan)
    for i, a in enumerate(chosen):
        for j in range(i, len(chosen)):
            table, first, second = _table(classes, a, chosen[j])
            information[i, j] = information[j, i] = _information(table)
            cramer[i, j] = cramer[j, i] = _cramer(table)
            pearson[i, j] = pearson[j, i] = _pearson(table, first, second)
    return Dependence(chosen, information, cramer, pearson)


def _table(classes: EquivalenceClasses, a: str, b: str) -> tuple[Crosstab, Domain, Domain]:
    first, second = (
        classes.attributes[classes.index(name)] if name in classes.names else classes.sensitive_domain(name)
        for name in (a, b)
    )
    return crosstab_of(classes, a, b), first, second


def _information(table: Crosstab) -> float:
    total = float(table.records.sum())
    share = table.records / total
    expected = (table.a_totals[table.a] / total) * (table.b_totals[table.b] / total)
    return max(0.0, float(np.sum(share * np.log2(share / expected))))


def _cramer(table: Crosstab) -> float:
    freedom = min(np.count_nonzero(table.a_totals), np.count_nonzero(table.b_totals)) - 1
    if freedom == 0:
        return 0.0
    # χ² / n = Σ n_xy² / (n_x n_y) - 1, a sum over the pairs that occur.
    products = table.a_totals[table.a].astype(np.float64) * table.b_totals[table.b]
    squared = float(np.sum(table.records.astype(np.float64) ** 2 / products)) - 1.0
    return float(np.sqrt(np.clip(squared / freedom, 0.0, 1.0)))


def _pearson(table: Crosstab, first: Domain, second: Domain) -> float:
    if not (first.is_numeric and second.is_numeric):
        return float("nan")
    x, y = first.numbers[table.a], second.numbers[table.b]
    both = np.isfinite(x) & np.isfinite(y)
    x, y, counts = x[both], y[both], table.records[both]
    if not len(x):
        return float("nan")
    if bool((x == x[0]).all()) or bool((y == y[0]).all()):
        return 0.0
    x = x - np.average(x, weights=counts)
    y = y - np.average(y, weights=counts)
    spread = float(np.sqrt(np.dot(counts, x * x) * np.dot(counts, y * y)))
    return min(1.0, abs(float(np.dot(counts, x * y))) / spread)
