"""The user's own figures, computed on the original and on the release by the same query."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from functools import cache

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from discreet.errors import DiscreetError, InvalidParameter, InvalidPolicy, UnknownColumn, UnsuitableColumn
from discreet.policy.kpi import Generalised, Kpi
from discreet.table import MISSING_MARKS, Domain, Table
from discreet.table.values import Exact, Interval, parse
from discreet.utility.kpi import KpiResult, compare_answers

UNANSWERABLE = (UnknownColumn, UnsuitableColumn, InvalidParameter)
"""What an engine says of a query that this table cannot answer."""


def check_kpis(original: Table, kpis: Sequence[Kpi]) -> tuple[pa.Table, ...]:
    """The answers on the original; an error that names every KPI that has none.

    Cheap beside a search: worth asking before anything is changed.
    """
    answers, problems = [], []
    for kpi in kpis:
        try:
            answer = original.engine.query(original, kpi.query)
            compare_answers(kpi.name, answer, None)
            answers.append(answer)
        except UNANSWERABLE as error:
            problems.append(f"KPI {kpi.name!r}: {error}")
    if problems:
        raise InvalidPolicy(problems, remedy="correct the query; it must have an answer on the original")
    return tuple(answers)


def measure_kpis(original: Table, release: Table, kpis: Sequence[Kpi]) -> tuple[KpiResult, ...]:
    """How well the release answers each KPI; one that it cannot answer any more is a result, too.

    A column that held numbers and is text in the release is read as numbers where all of its cells are plain
    numbers. Otherwise it stays text, with which nothing can be computed, unless the KPI asks for midpoints and
    its cells are numbers or generalised values.
    """
    answers = check_kpis(original, kpis)
    lost = _lost_numbers(original, release)

    @cache
    def seen(generalised: Generalised) -> Table:
        return _read_numbers(release, lost, generalised)

    return tuple(_measure(kpi, answer, seen, lost) for kpi, answer in zip(kpis, answers, strict=True))


def _measure(
    kpi: Kpi, answer: pa.Table, seen: Callable[[Generalised], Table], lost: Sequence[str]
) -> KpiResult:
    found, reason = None, ""
    table = seen(kpi.generalised)
    try:
        found = table.engine.query(table, kpi.query)
    except UNANSWERABLE as error:
        asked = kpi.query.lower()
        texts = [one for one in lost if one.lower() in asked and table.column(one).storage == "text"]
        reason = _reason(error, texts)
    return compare_answers(
        kpi.name,
        answer,
        found,
        tolerance=kpi.tolerance,
        description=kpi.description,
        generalised=kpi.generalised,
        reason=reason,
    )


def _reason(error: DiscreetError, texts: Sequence[str]) -> str:
    if isinstance(error, UnknownColumn):
        return f"the release has no column {error.name!r}"
    if isinstance(error, UnsuitableColumn) and texts:
        return f"no longer numbers in the release: {', '.join(texts)}"
    return error.message


def _lost_numbers(original: Table, release: Table) -> list[str]:
    """Columns of numbers that are text in the release."""
    numeric = {column.name for column in original.columns if column.numeric}
    return [column.name for column in release.columns if column.storage == "text" and column.name in numeric]


def _read_numbers(release: Table, names: Sequence[str], generalised: Generalised) -> Table:
    """The release with these columns as numbers where their cells allow it: one join on distinct values."""
    read = {}
    for name in names:
        domain = release.engine.domain(release, name)
        if not np.isnan(domain.numbers[: len(domain.values)]).any():
            read[name] = domain.numbers
        elif generalised == "midpoint" and is_generalised(domain):
            read[name] = midpoints(domain)
    if not read:
        return release
    classes = release.engine.count(release, quasi_identifiers=list(read))
    values = {}
    for name, codes in zip(classes.names, classes.codes, strict=True):
        numbers = read[name][codes]
        values[name] = pa.array(numbers, mask=np.isnan(numbers))
    kept = np.ones(len(classes), dtype=np.bool_)
    return release.engine.recode(release, classes, values=values, kept=kept, columns=release.names)


def is_generalised(domain: Domain) -> bool:
    """Whether every value is a number, a generalised value or a mark for a missing one: no name, no pseudonym.

    >>> is_generalised(Domain("age", pa.array(["*", "35", "[30, 39]", "?"]))), is_generalised(Domain("id", pa.array(["f3"])))
    (True, False)
    """
    others = np.flatnonzero(np.isnan(domain.numbers[: len(domain.values)]))
    labels = [domain.label(int(code)) for code in others]
    return not any(isinstance(parse(label), Exact) and label not in MISSING_MARKS for label in labels)


def midpoints(domain: Domain) -> NDArray[np.float64]:
    """Each value of a domain as a number: an interval as its middle, NaN for ``*`` and all else.

    An interval without an end has no middle, and one with a unit counts in something else.

    >>> midpoints(Domain("age", pa.array(["*", "35", "[30, 39]", ">= 80"]), has_null=True))
    array([ nan, 35. , 34.5,  nan,  nan])
    """
    found = domain.numbers.copy()
    for code in np.flatnonzero(np.isnan(found[: len(domain.values)])):
        value = parse(domain.label(int(code)))
        if isinstance(value, Interval) and not value.unit and math.isfinite(value.low + value.high):
            found[code] = (value.low + value.high) / 2
    return found
