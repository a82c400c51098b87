"""The regressions that a policy names, run on the original and on the release."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from discreet.classes import EquivalenceClasses
from discreet.classes.pair import Pair
from discreet.errors import DiscreetError, InvalidPolicy, UnknownColumn, UnsuitableColumn
from discreet.policy.analysis import Analysis
from discreet.sentences import Sentence
from discreet.table import Table
from discreet.table.meaning import Meaning
from discreet.types import BoolArray, FloatArray
from discreet.utility.regression import AnalysisResult, Coefficient, FittedTerm, Model, estimates

MOST_VALUES = 50
"""Values of a category that a formula may have: each is a coefficient."""

Column = tuple[list[str], FloatArray]
"""What the parts of a column are called, and each part per class."""


def measure_analyses(
    original: Table, release: Table, analyses: Sequence[Analysis], beside: Pair
) -> tuple[AnalysisResult, ...]:
    """Every regression on both tables, with intervals and how far they overlap.

    A released number stands in the middle of its interval; a generalised category counts for each value that it may be by
    its share of them, spread evenly. Records with a suppressed, missing or unreadable value in a column of the formula are left out, as
    statistics programs do. Hierarchies and meanings of labels are those of ``beside``, the pair of both tables.
    """
    measured, problems = [], []
    for analysis in analyses:
        try:
            measured.append(_measured(original, release, analysis, beside))
        except DiscreetError as error:
            problems.append(Sentence("analysis {name!r}: {error}", name=analysis.name, error=error.sentence))
    if problems:
        raise InvalidPolicy(problems, remedy="correct the formula; it must have an answer on the original")
    return tuple(measured)


def _measured(original: Table, release: Table, analysis: Analysis, beside: Pair) -> AnalysisResult:
    for name in analysis.columns:
        if name not in original.names:
            raise UnknownColumn(name, original.names)
    names = list(analysis.columns)
    before = original.engine.count(original, quasi_identifiers=names)
    model = _model(before, analysis.outcome)
    there = [name for name in names if name in release.names]
    after = release.engine.count(release, quasi_identifiers=there) if there else before
    pair = Pair.of(
        before,
        after,
        hierarchies={name: tree for name, tree in beside.hierarchies.items() if name in names},
        told={name: labels for name, labels in beside.told.items() if name in names},
    )
    terms, first, records = _estimates(pair, analysis, model, released=False)
    known = [each for each in zip(terms, first, strict=True) if each[1] is not None]
    if len(known) < 2:
        raise UnsuitableColumn(
            "its terms cannot be told on the original",
            remedy="there must be more records than terms, and terms that vary and do not tell the outcome for certain",
        )
    second: list[FittedTerm | None]
    gone = [name for name in names if name not in there]
    if gone:
        second, shown = [None] * len(terms), 0
        reason: str = Sentence("the release has no column {gone}", gone=gone)
    else:
        _, second, shown = _estimates(pair, analysis, model, released=True)
        reason = "" if any(each is not None for each in second) else "the release no longer tells any term"
    return AnalysisResult(
        analysis.name,
        analysis.formula,
        model,
        tuple(
            Coefficient(term, estimate, other)
            for term, estimate, other in zip(terms, first, second, strict=True)
            if estimate is not None
        ),
        (records, shown),
        reason,
    )


def _model(classes: EquivalenceClasses, outcome: str) -> Model:
    domain = classes.attributes[classes.index(outcome)]
    if domain.is_numeric:
        return "linear"
    if len(domain.values) != 2:
        raise UnsuitableColumn(
            Sentence("{outcome!r} is neither numbers nor one of two values", outcome=outcome),
            remedy="explain a column of numbers, or one with two values",
        )
    return "logistic"


def _estimates(
    pair: Pair, analysis: Analysis, model: Model, *, released: bool
) -> tuple[list[str], list[FittedTerm | None], int]:
    classes = pair.released if released else pair.original
    known = np.ones(len(classes), dtype=bool)
    columns: dict[str, Column] = {}
    for name in analysis.columns:
        parts, values = _column(pair.meaning(name), released=released)
        codes = classes.codes[classes.index(name)]
        columns[name] = parts, values[codes]
        known &= ~np.isnan(values[codes]).any(axis=1)
    labels, design = _design(columns, analysis, known)
    outcome = columns[analysis.outcome][1][known, 0]
    counts = classes.records[known].astype(np.float64)
    return labels, estimates(design, outcome, counts, model), int(counts.sum())


def _column(meaning: Meaning, *, released: bool) -> Column:
    """A column of numbers as it is; of a category the share of every value but the first in each code. NaN is unknown."""
    domain = meaning.original
    if domain.is_numeric:
        numbers = np.where(meaning.suppressed, np.nan, meaning.centre) if released else domain.numbers
        return [meaning.name], np.asarray(numbers)[:, None]
    values = len(domain.values)
    if values > MOST_VALUES:
        raise UnsuitableColumn(
            Sentence("{name!r} has {values:,} values", name=meaning.name, values=values),
            remedy=Sentence("at most {most} can be explained by", most=MOST_VALUES),
        )
    labels = [f"{meaning.name} = {domain.label(code)}" for code in range(1, values)]
    if not released:
        shares = np.eye(domain.size)[:, :values]
        shares[values:] = np.nan
    else:
        inside = np.column_stack(
            [meaning.sum_inside((meaning.code_at == code).astype(np.int64)) for code in range(domain.size)]
        )
        unknown: BoolArray = meaning.suppressed | (inside.sum(axis=1) == 0) | (inside[:, values:].any(axis=1))
        shares = inside[:, :values] / np.maximum(inside.sum(axis=1), 1)[:, None]
        shares[unknown] = np.nan
    return labels, np.asarray(shares[:, 1:])


def _design(columns: dict[str, Column], analysis: Analysis, known: BoolArray) -> tuple[list[str], FloatArray]:
    """A constant and all terms, with what they are called."""
    labels = ["(constant)"]
    parts = [np.ones((int(known.sum()), 1))]
    for term in analysis.terms:
        names, product = columns[term[0]][0], columns[term[0]][1][known]
        for other in term[1:]:
            more, values = columns[other][0], columns[other][1][known]
            names = [f"{left} : {right}" for left in names for right in more]
            product = (product[:, :, None] * values[:, None, :]).reshape(len(product), -1)
        labels += names
        parts.append(product)
    return labels, np.hstack(parts)
