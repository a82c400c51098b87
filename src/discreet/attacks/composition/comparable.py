"""Which records of two releases may be the same person's: classes that are comparable, with the same sensitive value."""

from __future__ import annotations

from typing import TypeAlias

import numpy as np
from scipy import sparse

from discreet.classes.pair import Pair
from discreet.errors import InvalidParameter
from discreet.table.meaning import KINDS, Meaning
from discreet.types import FloatArray

Relation: TypeAlias = sparse.csr_matrix
"""Which rows and columns go together: 1 where they do."""

NOT_TRUTHFUL = (
    "values of a release were changed, so that records of two releases cannot be told to be the same"
)
GENERALISED = "the sensitive values were generalised"
TOO_MANY = "the releases have too many classes to be compared with each other"

_COMPARED = 500_000
"""So many pairs of classes are compared at a time."""
_MOST_COMPARED = 200_000_000
"""So many pairs of classes are compared at most."""


def made_up(pair: Pair) -> bool:
    """Whether a release has values that are not those of people, such as means; that somebody left since is none."""
    return any((meaning.kinds == KINDS.index("foreign")).any() for meaning in pair.meanings)


def value_counts(
    earlier: Pair, later: Pair, sensitive: str
) -> tuple[tuple[str, ...], FloatArray, FloatArray]:
    """The sensitive values of both releases, and how many records of each class of the one and of the other have them."""
    shown = [_labels(pair.sensitive[sensitive]) for pair in (earlier, later)]
    values = tuple(dict.fromkeys([*shown[0], *shown[1]]))
    return (
        values,
        _counts(earlier, sensitive, shown[0], values),
        _counts(later, sensitive, shown[1], values),
    )


def comparable_classes(earlier: Pair, later: Pair) -> Relation:
    """Which classes of the two releases may stand for a same combination of values of the original's attributes."""
    if len(earlier.released) * len(later.released) > _MOST_COMPARED:
        raise InvalidParameter(TOO_MANY)
    shared = []
    for before, after in zip(earlier.meanings, later.meanings, strict=True):
        every = np.arange(before.original.size)
        inside = [
            sparse.csr_matrix(
                meaning.covers(np.arange(meaning.released.size)[:, None], every[None]), dtype=np.float32
            )
            for meaning in (before, after)
        ]
        shared.append((inside[0] @ inside[1].T).toarray() > 0)
    blocks = []
    step = max(_COMPARED // max(len(later.released), 1), 1)
    for start in range(0, len(earlier.released), step):
        some = slice(start, start + step)
        together = np.ones((len(earlier.released.records[some]), len(later.released)), dtype=bool)
        for at, pairs in enumerate(shared):
            together &= pairs[earlier.released.codes[at][some][:, None], later.released.codes[at][None]]
        blocks.append(sparse.csr_matrix(together, dtype=np.float64))
    return sparse.vstack(blocks, format="csr")


def _labels(meaning: Meaning) -> list[str]:
    """The value that each released code of a sensitive attribute is."""
    exact, foreign = KINDS.index("exact"), KINDS.index("foreign")
    if not np.isin(meaning.kinds, (exact, foreign)).all():
        raise InvalidParameter(GENERALISED)
    return [
        meaning.original.label(int(meaning.members(code)[0]))
        if meaning.kinds[code] == exact
        else meaning.released.label(code)
        for code in range(meaning.released.size)
    ]


def _counts(pair: Pair, sensitive: str, labels: list[str], values: tuple[str, ...]) -> FloatArray:
    """Records of each released class by value."""
    histogram = pair.released.histogram(sensitive)
    place = {value: at for at, value in enumerate(values)}
    column = np.array([place[label] for label in labels], dtype=np.int64)[histogram.values]
    counts = np.zeros((len(pair.released), len(values)))
    np.add.at(counts, (histogram.class_of_entry, column), histogram.records)
    return counts
