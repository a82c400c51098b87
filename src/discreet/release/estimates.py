"""What PRAM's matrix tells of the true values: shares with their errors, and counts of questions."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass, replace

import numpy as np
import pyarrow as pa

from discreet.classes import Histogram
from discreet.classes.pair import ExpectedCells, Pair
from discreet.errors import InvalidParameter
from discreet.perturb.base import Perturbation
from discreet.perturb.pram import BELIEFS, Pram, belief_bound, estimated_shares
from discreet.policy import Policy
from discreet.release.codebook import CodebookEntry
from discreet.sentences import Sentence
from discreet.table import Domain
from discreet.types import FloatArray, IntArray

MOST_CELLS = 5_000_000
"""With more cells than this questions are answered as the release has it."""


@dataclass(frozen=True)
class EstimatedShares:
    """How far the shares of a column's values are off in a release, as they are and as PRAM's matrix tells them.

    ``released`` and ``estimated`` are total variation distances from the true shares, Σ |p - p'| / 2; ``covered`` is the share of the values
    whose true share lies within 1.96 of the estimated standard errors, of which ``error`` is the largest.
    """

    column: str
    released: float
    estimated: float
    error: float
    covered: float
    beliefs: tuple[tuple[float, float], ...] = ()
    """What somebody who gave a statement about a person's value a chance, knowing all else, may give it at most after seeing the released one."""

    @property
    def note(self) -> str:
        """What to tell about it."""
        return Sentence(
            "{column}: shares of its values are {released:.2%} off in the release and {estimated:.2%} as PRAM's matrix tells them (total "
            "variation; standard error up to {error:.2%}); counts, sums and means of questions are told by the matrix",
            column=self.column,
            released=self.released,
            estimated=self.estimated,
            error=self.error,
        )

    def to_dict(self) -> dict[str, object]:
        return asdict(self)


def plain_steps(steps: Sequence[Perturbation]) -> dict[str, Pram]:
    """The columns that one step of PRAM changed and nothing else, by a matrix that does not follow from the data."""
    often = [name for step in steps for name in step.columns]
    return {
        name: step
        for step in steps
        if isinstance(step, Pram) and step.kind == "plain"
        for name in step.columns
        if often.count(name) == 1
    }


def estimates(pair: Pair, policy: Policy) -> tuple[Pair, tuple[EstimatedShares, ...]]:
    """The pair with what is expected of its cells by the matrices of PRAM, and how far shares are off with and without them."""
    told: list[EstimatedShares] = []
    released = pair.released
    cells = ExpectedCells(
        released, released.class_of_cell, dict(released.sensitive_codes), released.counts.astype(np.float64)
    )
    names = (*pair.names, *pair.sensitive)
    for name, step in plain_steps(policy.perturb).items():
        if name not in names or pair.expected is not None:
            continue
        before, after = pair.meaning(name).original, pair.meaning(name).released
        matrix = _matrix(step, before, after)
        if matrix is None or len(cells.owner) * after.size > MOST_CELLS:
            continue
        try:
            told.append(_shares(pair, name, matrix))
        except InvalidParameter:
            # A matrix without an inverse tells nothing.
            continue
        cells = _told_back(cells, name, matrix, after)
    if not told:
        return pair, ()
    return replace(pair, expected=cells), tuple(told)


def _matrix(step: Pram, before: Domain, after: Domain) -> FloatArray | None:
    """The matrix over the values of the original, if the release shows these and no others."""
    labels = [before.label(code) for code in range(len(before.values))]
    shown = [after.label(code) for code in range(len(after.values))]
    if set(labels) != set(shown) or before.has_null != after.has_null:
        return None
    if step.matrix is not None and not set(labels) >= {
        *step.matrix,
        *(v for row in step.matrix.values() for v in row),
    }:
        return None
    matrix = step.probabilities(labels)
    at = {label: code for code, label in enumerate(labels)}
    order = [at[label] for label in shown]
    return matrix[np.ix_(order, order)]


def _shares(pair: Pair, name: str, matrix: FloatArray) -> EstimatedShares:
    """How far shares are off, by the values of the release, without nulls."""
    size = len(matrix)
    sides = []
    for classes in (pair.original, pair.released):
        domain, codes = classes.column_of_cells(name)
        counts = np.bincount(codes, weights=classes.counts, minlength=domain.size)[:size]
        labels = {domain.label(code): count for code, count in enumerate(counts)}
        sides.append(labels)
    shown = pair.meaning(name).released
    true, new = (np.array([side[shown.label(code)] for code in range(size)]) for side in sides)
    shares, errors = estimated_shares(matrix, new.astype(np.int64))
    share = true / true.sum()
    return EstimatedShares(
        name,
        float(np.abs(new / new.sum() - share).sum() / 2),
        float(np.abs(shares - share).sum() / 2),
        float(errors.max()),
        float((np.abs(shares - share) <= 1.96 * errors + 1e-12).mean()),
        tuple((before, belief_bound(matrix, before)) for before in BELIEFS),
    )


def _told_back(cells: ExpectedCells, name: str, matrix: FloatArray, domain: Domain) -> ExpectedCells:
    """Cells by the true values of a column: one that shows l counts for each k by the entry (k, l) of the inverse of Pᵀ."""
    back = np.eye(domain.size)
    back[: len(matrix), : len(matrix)] = np.linalg.inv(matrix.T)
    shown = cells.column_of_cells(name)[1].astype(np.int64)
    kind: IntArray = np.tile(np.arange(domain.size), len(shown))
    every = np.repeat(np.arange(len(shown)), domain.size)
    return ExpectedCells(
        cells.classes,
        cells.owner[every],
        {**{other: codes[every] for other, codes in cells.columns.items()}, name: kind},
        cells.counts[every] * back[kind, shown[every]],
    )


def entries_of_matrix(step: Pram, given: pa.Table, released: Histogram) -> Iterator[CodebookEntry]:
    """What the matrix tells of the true share of each value of a released column: lines of a codebook.

    Nothing where the matrix has no inverse, and of no value that is not released: that it occurred is the original's to tell.
    """
    name = released.domain.name
    labels = [str(value) for value in step.values(given, name).to_pylist()]
    codes = {released.domain.label(code): code for code in range(len(released.domain.values))}
    if not set(codes) <= set(labels):
        return
    counts = np.array([released.totals[codes[label]] if label in codes else 0 for label in labels])
    try:
        shares, errors = estimated_shares(step.probabilities(labels), counts)
    except InvalidParameter:
        return
    for label, share, error, records in zip(labels, shares, errors, counts, strict=True):
        if label not in codes:
            continue
        meaning = (
            f"true share about {share:.2%} ± {error:.2%} (standard error, by the matrix of PRAM)".replace(
                "%", " %"
            )
        )
        yield CodebookEntry(name, label, meaning, int(records))
