"""k-marginal error: how far tables of counts over any three attributes are from the original's."""

from __future__ import annotations

import math
from dataclasses import dataclass
from itertools import combinations

import numpy as np

from discreet.classes import EquivalenceClasses
from discreet.classes.pair import Pair
from discreet.measure import Measure
from discreet.types import AnyIntArray, FloatArray, IntArray
from discreet.utility.bins import BinnedAttribute, binned
from discreet.utility.definition import EMPTY_NOTE, Definition
from discreet.utility.distributions import attributes_of

TOGETHER = 3
"""Attributes of a table; fewer if there are no more."""
MOST_TABLES = 50
"""Tables that are compared; of more, so many are drawn."""
_ENTRIES = 4_000_000
"""Counts of a table by how values are shared out, and shares that are multiplied at a time."""

K_MARGINAL = Definition(
    "k-marginal-error",
    "share of records",
    "How many records would have to change so that tables of counts over three columns are those of the original, on average.",
    "mean over sets of 3 attributes of ½ Σ |p - p'|; NIST's score is 1000 (1 - this)",
    "[0, 1]",
    "NIST 2018 differential privacy synthetic data challenge; McKenna, Miklau and Sheldon 2021",
    family="Analyses",
)


def k_marginal_error(pair: Pair, *, seed: int = 1) -> Measure:
    """The mean total variation of the tables over three attributes: of all sets of three, or of 50 drawn ones.

    ½ Σ |p - p'| with values in bins. The score of NIST's challenge of 2018 is 1000 times what is missing to 1. McKenna,
    Miklau, Sheldon, "Winning the NIST contest: a scalable and general approach to differentially private synthetic data", 2021.

    >>> from discreet.utility.examples import four_ages
    >>> k_marginal_error(four_ages("31", "34", "47", "47")).value, k_marginal_error(four_ages("[30, 39]", "[30, 39]", "47", "52")).value
    (0.25, 0.0)
    """
    if not pair.released.total:
        return K_MARGINAL.undefined(EMPTY_NOTE)
    attributes = [binned(pair, name) for name in attributes_of(pair)]
    sets = list(combinations(range(len(attributes)), min(TOGETHER, len(attributes))))
    if len(sets) > MOST_TABLES:
        drawn = np.random.default_rng(seed).choice(len(sets), MOST_TABLES, replace=False)
        sets = [sets[at] for at in np.sort(drawn)]
    tables = []
    for classes, released in ((pair.original, False), (pair.released, True)):
        columns = [_SharedColumn.of(classes, attribute, released=released) for attribute in attributes]
        tables.append([_table(classes, [columns[at] for at in chosen]) for chosen in sets])
    errors = [float(np.abs(before - after).sum() / 2) for before, after in zip(*tables, strict=True)]
    return K_MARGINAL(float(np.mean(errors)))


@dataclass(frozen=True)
class _SharedColumn:
    """The cells of an attribute by how their values are shared out among bins.

    Cell ``c`` lies in bin ``b`` by ``shares[kinds[c], b]``. The first kinds are values that lie in one bin, by its number.
    """

    kinds: AnyIntArray
    shares: FloatArray

    @classmethod
    def of(cls, classes: EquivalenceClasses, attribute: BinnedAttribute, *, released: bool) -> _SharedColumn:
        _, codes = classes.column_of_cells(attribute.name)
        kinds, shares = attribute.original, np.eye(attribute.size)
        if released:
            kinds = attribute.released.argmax(axis=1)
            spread = attribute.released.max(axis=1) < 1
            several, which = np.unique(attribute.released[spread], axis=0, return_inverse=True)
            kinds[spread] = attribute.size + which.reshape(-1)
            shares = np.vstack([shares, several])
        return cls(kinds.astype(np.min_scalar_type(len(shares)))[codes], shares)

    @property
    def whole(self) -> bool:
        """Whether every value lies in one bin."""
        return len(self.shares) == int(self.shares.shape[1])


def _table(classes: EquivalenceClasses, columns: list[_SharedColumn]) -> FloatArray:
    """The shares of records in every combination of bins."""
    packed = np.zeros(len(classes.counts), dtype=np.int64)
    for column in columns:
        packed *= len(column.shares)
        packed += column.kinds
    # Cells that are shared out alike count together.
    shape = [len(column.shares) for column in columns]
    if math.prod(shape) > _ENTRIES:
        return _of_many_kinds(packed, classes, columns)
    counts = np.bincount(packed, weights=classes.counts, minlength=math.prod(shape))
    table: FloatArray = counts.astype(np.float64).reshape(shape)
    for column in columns:
        # The first axis becomes the last, from kinds to bins; after all of them they stand as before.
        table = np.moveaxis(table, 0, -1) if column.whole else np.tensordot(table, column.shares, axes=(0, 0))
    return np.asarray(table / classes.total)


def _of_many_kinds(packed: IntArray, classes: EquivalenceClasses, columns: list[_SharedColumn]) -> FloatArray:
    """The same, where there are far more combinations of kinds than cells."""
    _, first, where = np.unique(packed, return_index=True, return_inverse=True)
    counts = np.bincount(where, weights=classes.counts).astype(np.float64)
    shape = [column.shares.shape[1] for column in columns]
    table = np.zeros((math.prod(shape[:-1]), shape[-1]))
    step = max(_ENTRIES // len(table), 1)
    for start in range(0, len(first), step):
        at = first[start : start + step]
        shares = [column.shares[column.kinds[at]] for column in columns]
        products: FloatArray = counts[start : start + step, None]
        for share in shares[:-1]:
            products = (products[:, :, None] * share[:, None, :]).reshape(len(at), -1)
        table += products.T @ shares[-1]
    return np.asarray(table.reshape(shape) / classes.total)
