"""k-marginal error: how far tables of counts over any three attributes are from the original's."""

from __future__ import annotations

from itertools import combinations

import numpy as np

from discreet.classes import EquivalenceClasses
from discreet.classes.pair import Pair
from discreet.measure import Measure
from discreet.types import FloatArray
from discreet.utility.bins import BinnedAttribute, binned, shares_of_cells
from discreet.utility.definition import EMPTY_NOTE, Definition
from discreet.utility.distributions import attributes_of

TOGETHER = 3
"""Attributes of a table; fewer if there are no more."""
MOST_TABLES = 50
"""Tables that are compared; of more, so many are drawn."""
_ENTRIES = 4_000_000
"""Shares that are multiplied at a time."""

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
    errors = []
    for chosen in sets:
        parts = [attributes[at] for at in chosen]
        before = _table(pair.original, parts, released=False)
        after = _table(pair.released, parts, released=True)
        errors.append(float(np.abs(before - after).sum() / 2))
    return K_MARGINAL(float(np.mean(errors)))


def _table(classes: EquivalenceClasses, attributes: list[BinnedAttribute], *, released: bool) -> FloatArray:
    """The shares of records in every combination of bins."""
    packed = np.zeros(len(classes.counts), dtype=np.int64)
    columns = [classes.column_of_cells(attribute.name) for attribute in attributes]
    for domain, codes in columns:
        packed = packed * domain.size + codes
    # Cells that agree in these attributes count together.
    _, first, where = np.unique(packed, return_index=True, return_inverse=True)
    counts = np.bincount(where, weights=classes.counts).astype(np.float64)
    shape = [attribute.size for attribute in attributes]
    table = np.zeros((int(np.prod(shape[:-1])), shape[-1]))
    step = max(_ENTRIES // len(table), 1)
    for start in range(0, len(first), step):
        at = first[start : start + step]
        shares = [
            shares_of_cells(attribute, codes[at], released=released)
            for attribute, (_, codes) in zip(attributes, columns, strict=True)
        ]
        products: FloatArray = counts[start : start + step, None]
        for share in shares[:-1]:
            products = (products[:, :, None] * share[:, None, :]).reshape(len(at), -1)
        table += products.T @ shares[-1]
    return np.asarray(table / classes.total)
