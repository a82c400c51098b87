"""How many people of another table fit each class: its values may be intervals, sets, nodes or hidden."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from discreet.classes.alignment import locate
from discreet.classes.equivalence import EquivalenceClasses
from discreet.table.meaning import Meaning
from discreet.types import BoolArray, FloatArray, IntArray

TABLE_CELLS = 1 << 26
"""Tables of which value fits which have at most so many cells per attribute."""


def sums_fitting(
    original: EquivalenceClasses,
    released: EquivalenceClasses,
    meanings: Sequence[Meaning],
    amounts: FloatArray,
) -> FloatArray | None:
    """For each released class the ``amounts`` of the original classes that it may stand for, added up.

    Where the labels of every attribute are disjoint, each original class is looked up; else the classes that fit the
    attribute which tells most apart are walked through. ``None`` where values are too many for a table of them.

    >>> people = EquivalenceClasses.from_columns({"age": [31, 34, 47]})
    >>> shown = EquivalenceClasses.from_columns({"age": ["47", "[30, 39]", "{31, 47}"]})
    >>> meaning = Meaning.of(people.attributes[0], shown.attributes[0])
    >>> sums_fitting(people, shown, [meaning], np.array([1.0, 2.0, 4.0]))
    array([4., 3., 5.])
    """
    if not meanings or any(len(m.indptr) * m.original.size > TABLE_CELLS for m in meanings):
        return None
    fits = [_fits(meaning) for meaning in meanings]
    if all((table.sum(axis=0) <= 1).all() for table in fits):
        return _looked_up(original, released, fits, amounts)
    from discreet.classes.fitting_kernels import sums_of_fitting

    shares = [float(table[codes].mean()) for table, codes in zip(fits, released.codes, strict=True)]
    order = np.argsort(shares, kind="stable")
    lead = int(order[0])
    sorted_by_lead = np.argsort(original.codes[lead], kind="stable")
    bounds = np.searchsorted(
        original.codes[lead][sorted_by_lead], np.arange(original.attributes[lead].size + 1)
    )
    offsets = np.append(0, np.cumsum([fits[j].size for j in order]))[:-1]
    widths = np.array([fits[j].shape[1] for j in order])
    return sums_of_fitting(
        np.concatenate([fits[j].ravel() for j in order]),
        offsets.astype(np.int64),
        widths.astype(np.int64),
        np.stack([released.codes[j] for j in order]).astype(np.int64),
        np.stack([original.codes[j][sorted_by_lead] for j in order]).astype(np.int64),
        bounds.astype(np.int64),
        amounts[sorted_by_lead].astype(np.float64),
    )


def _fits(meaning: Meaning) -> BoolArray:
    """Whether each released code (row) may stand for each original code."""
    released = np.arange(len(meaning.indptr) - 1)
    return np.asarray(meaning.covers(released[:, None], np.arange(meaning.original.size)[None]))


def _looked_up(
    original: EquivalenceClasses,
    released: EquivalenceClasses,
    fits: Sequence[BoolArray],
    amounts: FloatArray,
) -> FloatArray:
    """Where each value has at most one label: the class of labels that each original class has, if there is one."""
    labelled = np.ones(len(original), dtype=bool)
    labels: list[IntArray] = []
    for table, codes in zip(fits, original.codes, strict=True):
        labelled &= np.asarray(table.any(axis=0))[codes]
        labels.append(table.argmax(axis=0)[codes])
    at = locate(released, [column[labelled] for column in labels])
    known = at >= 0
    return np.bincount(at[known], weights=amounts[labelled][known], minlength=len(released)).astype(
        np.float64
    )
