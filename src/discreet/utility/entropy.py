"""Losses of information in bits: what a released cell leaves open about the value it stands for.

Probabilities are the original's own: Pr(x) = n(x) / |T|, and Pr(x | B) = n(x) / n(B) for what a released value B
may stand for. The objectives of the same names count bits per level of a hierarchy, non-uniform entropy as a share of
log2 |T|; here released values may overlap and need no hierarchy, and shares are of total suppression.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

import numpy as np

from discreet.classes.pair import Pair
from discreet.measure import Measure
from discreet.types import FloatArray
from discreet.utility.definition import (
    FOREIGN_NOTE,
    UNLINKED_NOTE,
    Definition,
    Weights,
    cells,
    shares_of,
)
from discreet.utility.distances import crossed

_information = partial(Definition, family="Information")
CONDITIONAL = _information(
    "conditional-entropy",
    "bits",
    "How many yes-or-no questions it would take to find out the true values again, all cells together.",
    "Σ over records and attributes of H(X | B)",
    "[0, |T| · Σ max H(X | B)]",
    "Gionis and Tassa 2009; review of anonymization procedures for tabular data, 2023, eq. 13",
)
CONDITIONAL_SHARE = _information(
    "conditional-entropy-share",
    "share of total suppression",
    "The uncertainty about the true values, compared with a release that shows nothing.",
    "conditional entropy / (|T| · Σ H(X))",
    "[0, 1]; above 1 if rare values were merged",
    "Gionis and Tassa 2009",
    full=1.0,
)
MONOTONE = _information(
    "monotone-entropy",
    "bits",
    "Like conditional entropy, but large groups of values weigh more, so that a coarser release never loses less.",
    "Σ over records and attributes of Pr(B) · H(X | B)",
    "[0, |T| · Σ H(X)]",
    "Gionis and Tassa 2009",
)
NON_UNIFORM = _information(
    "non-uniform-entropy",
    "bits",
    "How surprising the true values are to one who knows the release and how frequent each value is.",
    "Σ over records and attributes of -log2 Pr(x | B)",
    "[0, |T| · Σ H(X)]",
    "Gionis and Tassa 2009",
)
MONOTONE_SHARE, NON_UNIFORM_SHARE = (
    _information(
        f"{kind}-entropy-share",
        "share of total suppression",
        f"The {kind} entropy, compared with a release that shows nothing.",
        f"{kind} entropy / (|T| · Σ H(X))",
        "[0, 1]",
        "Gionis and Tassa 2009",
        full=1.0,
    )
    for kind in ("monotone", "non-uniform")
)
ILE = _information(
    "entropy-information-loss",
    "share of total suppression",
    "How many yes-or-no questions separate a cell from a single value if all values were equally likely.",
    "Σ log2 M_P / Σ log2 M, M_P of the M leaves under the cell",
    "[0, 1]",
    "Wan et al. 2015 (ILE)",
    full=1.0,
)


def conditional_entropy(pair: Pair, *, weights: Weights = None) -> tuple[Measure, ...]:
    """Π_e = Σ over records and attributes of H(X | B), in bits, and its share of that of total suppression.

    H(X | B) is the entropy of the original's values among those that B may stand for. Each as a sum over the
    attributes first (the share weighted), then per attribute.
    Gionis and Tassa, "k-anonymization with minimal loss of information", TKDE 2009.

    >>> from discreet.utility.examples import four_jobs
    >>> measures = conditional_entropy(four_jobs())
    >>> [(measure.name, measure.value) for measure in measures if measure.attribute is None]
    [('conditional-entropy', 2.0), ('conditional-entropy-share', 0.25)]
    """
    return _both(pair, CONDITIONAL, CONDITIONAL_SHARE, weights, lambda at: _in_data(pair, at, monotone=False))


def monotone_entropy(pair: Pair, *, weights: Weights = None) -> tuple[Measure, ...]:
    """Σ over records and attributes of Pr(B) H(X | B), in bits, and its share of that of total suppression.

    Pr(B) is the share of the original's records that B may stand for. Gionis and Tassa 2009.

    >>> from discreet.utility.examples import four_jobs
    >>> measures = monotone_entropy(four_jobs())
    >>> [(measure.name, measure.value) for measure in measures if measure.attribute is None]
    [('monotone-entropy', 1.0), ('monotone-entropy-share', 0.125)]
    """
    return _both(pair, MONOTONE, MONOTONE_SHARE, weights, lambda at: _in_data(pair, at, monotone=True))


def non_uniform_entropy(pair: Pair, *, weights: Weights = None) -> tuple[Measure, ...]:
    """Σ over records and attributes of -log2 Pr(x | B), in bits, and its share of that of total suppression.

    A released value that cannot stand for the true one says nothing about it and costs as much as ``*``.
    Gionis and Tassa 2009.

    >>> from discreet.utility.examples import four_jobs
    >>> measures = non_uniform_entropy(four_jobs("craft", "craft", "nurse", "nurse"))
    >>> [(measure.name, measure.value) for measure in measures if measure.attribute is None]
    [('non-uniform-entropy', 4.0), ('non-uniform-entropy-share', 0.5)]
    """

    def mean(at: int) -> float | str:
        if pair.links is None:
            return UNLINKED_NOTE
        cross = crossed(pair, at)
        counts = value_records(pair, at)
        mass = np.append(cross.meaning.sum_inside(counts[cross.meaning.code_at]), counts.sum())
        inside = np.where(cross.covered, mass[cross.released], counts.sum())
        return float(np.dot(np.log2(inside / counts[cross.original]), cross.records) / cross.total)

    return _both(pair, NON_UNIFORM, NON_UNIFORM_SHARE, weights, mean)


def entropy_information_loss(pair: Pair, *, weights: Weights = None) -> tuple[Measure, ...]:
    """ILE: Σ over cells of log2 M_P, divided by that of total suppression; every leaf counts as equally likely.

    Wan et al. 2015. The weighted share of all attributes first, then each attribute.

    >>> from discreet.utility.examples import four_jobs
    >>> entropy_information_loss(four_jobs())[0].value  # 1, 1, 0 and 0 of 2 bits each
    0.25
    """
    lost: list[float | str] = []
    most = []
    for at in range(len(pair.names)):
        column = cells(pair, at)
        bits = np.log2(np.maximum(column.meaning.shares * column.meaning.leaves, 1.0))
        whole = float(np.log2(column.meaning.leaves))
        lost.append(FOREIGN_NOTE if column.foreign else column.mean(bits, whole))
        most.append(whole)
    return _shares(pair, ILE, lost, np.array(most), weights)


def kept_bits(pair: Pair) -> float:
    """Bits that a record of the release still tells about its quasi-identifiers: Σ H(X) - H(X | B); NaN if undefined.

    >>> from discreet.utility.examples import four_jobs
    >>> kept_bits(four_jobs()), kept_bits(four_jobs().trivial())
    (1.5, 0.0)
    """
    kept = 0.0
    for at in range(len(pair.names)):
        lost = _in_data(pair, at, monotone=False)
        if isinstance(lost, str):
            return float("nan")
        kept += entropy(value_records(pair, at)) - lost
    return kept


def value_records(pair: Pair, at: int) -> FloatArray:
    """Records of each value of a quasi-identifier in the original."""
    return np.bincount(
        pair.original.codes[at], weights=pair.original.records, minlength=pair.original.attributes[at].size
    ).astype(np.float64)


def entropy(counts: FloatArray) -> float:
    """Shannon's entropy of counts in bits.

    >>> entropy(np.array([2.0, 2.0, 0.0]))
    1.0
    """
    shares = counts[counts > 0] / counts.sum()
    return max(float(-np.dot(shares, np.log2(shares))), 0.0)


def _in_data(pair: Pair, at: int, *, monotone: bool) -> float | str:
    """The mean over records of H(X | B), times Pr(B) if monotone."""
    column = cells(pair, at)
    if column.foreign:
        return FOREIGN_NOTE
    counts = value_records(pair, at)
    by_rank = counts[column.meaning.code_at]
    mass = column.meaning.sum_inside(by_rank)
    logs = column.meaning.sum_inside(by_rank * np.log2(np.maximum(by_rank, 1.0)))
    with np.errstate(divide="ignore", invalid="ignore"):
        bits = np.where(mass > 0, np.log2(mass) - logs / mass, 0.0)
    bits = np.maximum(bits, 0.0)
    return column.mean(bits * mass / counts.sum() if monotone else bits, entropy(counts))


def _both(
    pair: Pair, total: Definition, share: Definition, weights: Weights, mean: Callable[[int], float | str]
) -> tuple[Measure, ...]:
    """Bits in all, summed and per attribute; then the share of total suppression, weighted and per attribute."""
    lost = [mean(at) for at in range(len(pair.names))]
    records = max(pair.original.total, pair.released.total)
    bits = [value if isinstance(value, str) else value * records for value in lost]
    most = np.array([entropy(value_records(pair, at)) for at in range(len(pair.names))])
    return (
        total.of(_first_note(lost) or sum(_defined(lost)) * records),
        *(total.of(value, attribute=name) for name, value in zip(pair.names, bits, strict=True)),
        *_shares(pair, share, lost, most, weights),
    )


def _shares(
    pair: Pair, definition: Definition, lost: list[float | str], most: FloatArray, weights: Weights
) -> tuple[Measure, ...]:
    """Bits per record as a share of those of total suppression; 0 of nothing is 0."""
    shares = shares_of(pair, weights)
    parts = [
        definition.of(value if isinstance(value, str) else value / whole if whole else 0.0, attribute=name)
        for name, value, whole in zip(pair.names, lost, most, strict=True)
    ]
    note = _first_note(lost)
    if note:
        return (definition.undefined(note), *parts)
    whole = float(np.dot(shares, most))
    return (definition(float(np.dot(shares, _defined(lost))) / whole if whole else 0.0), *parts)


def _first_note(lost: list[float | str]) -> str:
    """Why a loss is not defined for the first attribute that has none."""
    return next((value for value in lost if isinstance(value, str)), "")


def _defined(lost: list[float | str]) -> list[float]:
    return [value for value in lost if not isinstance(value, str)]
