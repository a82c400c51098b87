"""The user's own figures, computed on the original and on the release by the same query."""

from __future__ import annotations

import math
from collections.abc import Sequence
from functools import cache

import numpy as np
import pyarrow as pa

from discreet.errors import DiscreetError, InvalidParameter, InvalidPolicy, UnknownColumn, UnsuitableColumn
from discreet.policy.kpi import Generalised, Kpi
from discreet.sentences import Sentence
from discreet.table import MISSING_MARKS, Domain, Table
from discreet.table.values import Exact, Interval, parse
from discreet.types import FloatArray
from discreet.utility.kpi import KpiResult, compare_answers

UNANSWERABLE = (UnknownColumn, UnsuitableColumn, InvalidParameter)
"""What an engine says of a query that this table cannot answer."""


def check_kpis(original: Table, kpis: Sequence[Kpi]) -> tuple[pa.Table, ...]:
    """The answers on the original; an error that names every KPI that has none.

    Cheap beside a search: worth asking before anything is changed.
    """
    answers, problems = [], []
    table = read_numbers(
        original, texts_of_numbers(original, original, [kpi.query for kpi in kpis]), "refuse"
    )
    for kpi in kpis:
        try:
            answer = table.engine.query(table, kpi.query)
            compare_answers(kpi.name, answer, None)
            answers.append(answer)
        except UNANSWERABLE as error:
            problems.append(Sentence("KPI {name!r}: {problem}", name=kpi.name, problem=error.sentence))
    if problems:
        raise InvalidPolicy(problems, remedy="correct the query; it must have an answer on the original")
    return tuple(answers)


def measure_kpis(original: Table, release: Table, kpis: Sequence[Kpi]) -> tuple[KpiResult, ...]:
    """How well the release answers each KPI; one that it cannot answer any more is a result, too.

    A column of numbers that is stored as text, here or there, is read as numbers where all of its cells are
    numbers or marks for missing ones, which are null. Otherwise it stays text, with which nothing can be
    computed, unless the KPI asks for midpoints and its cells are numbers or generalised values.
    """
    answers = check_kpis(original, kpis)
    texts = texts_of_numbers(original, release, [kpi.query for kpi in kpis])

    @cache
    def seen(generalised: Generalised) -> Table:
        return read_numbers(release, texts, generalised)

    return tuple(
        _measure(kpi, answer, seen(kpi.generalised), texts) for kpi, answer in zip(kpis, answers, strict=True)
    )


def _measure(kpi: Kpi, answer: pa.Table, release: Table, lost: Sequence[str]) -> KpiResult:
    answered, reason = None, ""
    try:
        answered = release.engine.query(release, kpi.query)
    except UNANSWERABLE as error:
        texts = [
            name for name in lost if speaks_of(name, kpi.query) and release.column(name).storage == "text"
        ]
        reason = why_unanswerable(error, texts)
    return compare_answers(
        kpi.name,
        answer,
        answered,
        tolerance=kpi.tolerance,
        description=kpi.description,
        generalised=kpi.generalised,
        reason=reason,
    )


def why_unanswerable(error: DiscreetError, texts: Sequence[str]) -> str:
    """Why a release does not answer what the original does; ``texts`` are columns that are no longer numbers."""
    if isinstance(error, UnknownColumn):
        return Sentence("the release has no column {name!r}", name=error.name)
    if isinstance(error, UnsuitableColumn) and texts:
        return Sentence("no longer numbers in the release: {names}", names=tuple(texts))
    return error.message


def speaks_of(column: str, query: str) -> bool:
    """Whether a query may speak of a column; quotation marks inside its name are doubled there."""
    asked = query.lower()
    return any(name in asked for name in (column.lower(), column.lower().replace('"', '""')))


def texts_of_numbers(original: Table, table: Table, queries: Sequence[str]) -> list[str]:
    """Columns that queries speak of, numbers in the original and stored as text in this table."""
    numeric = {column.name for column in original.columns if column.numeric}
    return [
        column.name
        for column in table.columns
        if column.storage == "text"
        and column.name in numeric
        and any(speaks_of(column.name, query) for query in queries)
    ]


def read_numbers(table: Table, names: Sequence[str], generalised: Generalised) -> Table:
    """The table with these columns as numbers where their cells allow it: one join on distinct values."""
    read = {}
    for name in names:
        domain = table.engine.domain(table, name)
        if domain.is_numeric:
            read[name] = domain.numbers
        elif generalised == "midpoint" and is_generalised(domain):
            read[name] = midpoints(domain)
    if not read:
        return table
    classes = table.engine.count(table, quasi_identifiers=list(read))
    values = {}
    for name, codes in zip(classes.names, classes.codes, strict=True):
        numbers = read[name][codes]
        values[name] = pa.array(numbers, mask=np.isnan(numbers))
    kept = np.ones(len(classes), dtype=np.bool_)
    return table.engine.recode(table, classes, values=values, kept=kept, columns=table.names)


def is_generalised(domain: Domain) -> bool:
    """Whether every value is a number, a generalised value or a mark for a missing one: no name, no pseudonym.

    >>> is_generalised(Domain("age", pa.array(["*", "35", "[30, 39]", "?"]))), is_generalised(Domain("id", pa.array(["f3"])))
    (True, False)
    """
    others = np.flatnonzero(np.isnan(domain.numbers[: len(domain.values)]))
    labels = [domain.label(int(code)) for code in others]
    return not any(isinstance(parse(label), Exact) and label not in MISSING_MARKS for label in labels)


def midpoints(domain: Domain) -> FloatArray:
    """Each value of a domain as a number: an interval as its middle, NaN for ``*`` and all else.

    An interval without an end has no middle, and one with a unit counts in something else.

    >>> midpoints(Domain("age", pa.array(["*", "35", "[30, 39]", ">= 80"]), has_null=True))
    array([ nan, 35. , 34.5,  nan,  nan])
    """
    numbers = domain.numbers.copy()
    for code in np.flatnonzero(np.isnan(numbers[: len(domain.values)])):
        value = parse(domain.label(int(code)))
        if isinstance(value, Interval) and not value.unit and math.isfinite(value.low + value.high):
            numbers[code] = (value.low + value.high) / 2
    return numbers
