"""Losses of information in bits: what a released cell leaves open about the value it stands for.

Probabilities are the original's own: Pr(x) = n(x) / |T|, and Pr(x | B) = n(x) / n(B) for what a released value B
may stand for.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from discreet.classes.pair import Pair
from discreet.measure import Measure
from discreet.table.meaning import Meaning
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

CONDITIONAL = Definition(
    "conditional-entropy",
    "Information",
    "bits",
    "lower",
    "How many yes-or-no questions it would take to find out the true values again, all cells together.",
    "Σ over records and attributes of H(X | B)",
    "[0, |T| · Σ max H(X | B)]",
    "Gionis and Tassa 2009; review of anonymization procedures for tabular data, 2023, eq. 13",
)
CONDITIONAL_SHARE = Definition(
    "conditional-entropy-share",
    "Information",
    "share of total suppression",
    "lower",
    "The uncertainty about the true values, compared with a release that shows nothing.",
    "conditional entropy / (|T| · Σ H(X))",
    "[0, 1]; above 1 if rare values were merged",
    "Gionis and Tassa 2009",
    full=1.0,
)
MONOTONE = Definition(
    "monotone-entropy",
    "Information",
    "bits",
    "lower",
    "Like conditional entropy, but large groups of values weigh more, so that a coarser release never loses less.",
    "Σ over records and attributes of Pr(B) · H(X | B)",
    "[0, |T| · Σ H(X)]",
    "Gionis and Tassa 2009",
)
MONOTONE_SHARE = Definition(
    "monotone-entropy-share",
    "Information",
    "share of total suppression",
    "lower",
    "The monotone entropy, compared with a release that shows nothing.",
    "monotone entropy / (|T| · Σ H(X))",
    "[0, 1]",
    "Gionis and Tassa 2009",
    full=1.0,
)
NON_UNIFORM = Definition(
    "non-uniform-entropy",
    "Information",
    "bits",
    "lower",
    "How surprising the true values are to one who knows the release and how frequent each value is.",
    "Σ over records and attributes of -log2 Pr(x | B)",
    "[0, |T| · Σ H(X)]",
    "Gionis and Tassa 2009",
)
NON_UNIFORM_SHARE = Definition(
    "non-uniform-entropy-share",
    "Information",
    "share of total suppression",
    "lower",
    "The non-uniform entropy, compared with a release that shows nothing.",
    "non-uniform entropy / (|T| · Σ H(X))",
    "[0, 1]",
    "Gionis and Tassa 2009",
    full=1.0,
)
ILE = Definition(
    "entropy-information-loss",
    "Information",
    "share of total suppression",
    "lower",
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
    >>> found = conditional_entropy(four_jobs())
    >>> [(one.name, one.value) for one in found if one.attribute is None]
    [('conditional-entropy', 2.0), ('conditional-entropy-share', 0.25)]
    """
    return _both(pair, CONDITIONAL, CONDITIONAL_SHARE, weights, lambda at: _in_data(pair, at, monotone=False))


def monotone_entropy(pair: Pair, *, weights: Weights = None) -> tuple[Measure, ...]:
    """Σ over records and attributes of Pr(B) H(X | B), in bits, and its share of that of total suppression.

    Pr(B) is the share of the original's records that B may stand for. Gionis and Tassa 2009.

    >>> from discreet.utility.examples import four_jobs
    >>> found = monotone_entropy(four_jobs())
    >>> [(one.name, one.value) for one in found if one.attribute is None]
    [('monotone-entropy', 1.0), ('monotone-entropy-share', 0.125)]
    """
    return _both(pair, MONOTONE, MONOTONE_SHARE, weights, lambda at: _in_data(pair, at, monotone=True))


def non_uniform_entropy(pair: Pair, *, weights: Weights = None) -> tuple[Measure, ...]:
    """Σ over records and attributes of -log2 Pr(x | B), in bits, and its share of that of total suppression.

    A released value that cannot stand for the true one says nothing about it and costs as much as ``*``.
    Gionis and Tassa 2009.

    >>> from discreet.utility.examples import four_jobs
    >>> found = non_uniform_entropy(four_jobs("craft", "craft", "nurse", "nurse"))
    >>> [(one.name, one.value) for one in found if one.attribute is None]
    [('non-uniform-entropy', 4.0), ('non-uniform-entropy-share', 0.5)]
    """

    def mean(at: int) -> float | str:
        if pair.links is None:
            return UNLINKED_NOTE
        found = crossed(pair, at)
        counts = value_records(pair, at)
        inside = np.append(_mass(found.meaning, counts), counts.sum())[found.released]
        told = found.hidden.copy()
        seen = ~found.hidden
        told[seen] = found.meaning.covers(found.released[seen], found.original[seen])
        bits = np.log2(np.where(told, inside, counts.sum()) / counts[found.original])
        return float(np.dot(bits, found.records) / found.total)

    return _both(pair, NON_UNIFORM, NON_UNIFORM_SHARE, weights, mean)


def entropy_information_loss(pair: Pair, *, weights: Weights = None) -> tuple[Measure, ...]:
    """ILE: Σ over cells of log2 M_P, divided by that of total suppression; every leaf counts as equally likely.

    Wan et al. 2015. The weighted share of all attributes first, then each attribute.

    >>> from discreet.utility.examples import four_jobs
    >>> entropy_information_loss(four_jobs())[0].value  # 1, 1, 0 and 0 of 2 bits each
    0.25
    """
    found, most = [], []
    for at in range(len(pair.names)):
        one = cells(pair, at)
        bits = np.log2(np.maximum(one.meaning.shares * one.meaning.leaves, 1.0))
        whole = float(np.log2(one.meaning.leaves))
        found.append(FOREIGN_NOTE if one.foreign else one.mean(bits, whole))
        most.append(whole)
    return _share(pair, ILE, found, np.array(most), weights)


def kept_bits(pair: Pair) -> float:
    """Bits that a record of the release still tells about its quasi-identifiers: Σ H(X) - H(X | B); NaN if undefined.

    >>> from discreet.utility.examples import four_jobs
    >>> kept_bits(four_jobs()), kept_bits(four_jobs().trivial())
    (1.5, 0.0)
    """
    found = 0.0
    for at in range(len(pair.names)):
        lost = _in_data(pair, at, monotone=False)
        if isinstance(lost, str):
            return float("nan")
        found += entropy(value_records(pair, at)) - lost
    return found


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


def _mass(meaning: Meaning, counts: FloatArray) -> FloatArray:
    """The original's records among what each released value may stand for."""
    before = np.concatenate([[0.0], np.cumsum(counts[meaning.code_at])])
    owner = np.repeat(np.arange(len(meaning.indptr) - 1), np.diff(meaning.indptr))
    return np.bincount(
        owner, weights=before[meaning.stops] - before[meaning.starts], minlength=len(meaning.indptr) - 1
    ).astype(np.float64)


def _in_data(pair: Pair, at: int, *, monotone: bool) -> float | str:
    """The mean over records of H(X | B), times Pr(B) if monotone."""
    found = cells(pair, at)
    if found.foreign:
        return FOREIGN_NOTE
    counts = value_records(pair, at)
    mass = _mass(found.meaning, counts)
    logs = np.where(counts > 0, counts * np.log2(np.maximum(counts, 1.0)), 0.0)
    with np.errstate(divide="ignore", invalid="ignore"):
        bits = np.where(mass > 0, np.log2(mass) - _mass(found.meaning, logs) / mass, 0.0)
    bits = np.maximum(bits, 0.0)
    return found.mean(bits * mass / counts.sum() if monotone else bits, entropy(counts))


def _both(
    pair: Pair, total: Definition, share: Definition, weights: Weights, mean: Callable[[int], float | str]
) -> tuple[Measure, ...]:
    """Bits in all, summed and per attribute; then the share of total suppression, weighted and per attribute."""
    found = [mean(at) for at in range(len(pair.names))]
    records = max(pair.original.total, pair.released.total)
    missing = [one for one in found if isinstance(one, str)]
    whole = np.array([entropy(value_records(pair, at)) for at in range(len(pair.names))])
    return (
        total.undefined(missing[0])
        if missing
        else total(sum(one for one in found if not isinstance(one, str)) * records),
        *(
            total.undefined(one, attribute=name)
            if isinstance(one, str)
            else total(one * records, attribute=name)
            for name, one in zip(pair.names, found, strict=True)
        ),
        *_share(pair, share, found, whole, weights),
    )


def _share(
    pair: Pair, definition: Definition, found: list[float | str], most: FloatArray, weights: Weights
) -> tuple[Measure, ...]:
    """Bits per record as a share of those of total suppression; 0 of nothing is 0."""
    shares = shares_of(pair, weights)
    parts = tuple(
        definition.undefined(one, attribute=name)
        if isinstance(one, str)
        else definition(one / whole if whole else 0.0, attribute=name)
        for name, one, whole in zip(pair.names, found, most, strict=True)
    )
    missing = [one for one in found if isinstance(one, str)]
    if missing:
        return (definition.undefined(missing[0]), *parts)
    whole = float(np.dot(shares, most))
    lost = float(np.dot(shares, [one for one in found if not isinstance(one, str)]))
    return (definition(lost / whole if whole else 0.0), *parts)
