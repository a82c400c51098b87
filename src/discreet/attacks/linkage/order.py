"""Linkage by order: whose row is whose, for one who holds a list of the people in the order of the original."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from discreet.attacks.intervals import interval_of_classes
from discreet.attacks.result import AttackResult
from discreet.classes.alignment import match_in_order
from discreet.classes.pair import Pair, RowOrder
from discreet.sentences import Sentence
from discreet.types import IntArray

EFFORT = 50_000_000
"""So many times it is looked at whether a person fits a released class; of the classes beyond it a sample is tried."""

SOURCE = "Article 29 Working Party, Opinion 05/2014 (WP216), section 2.2: linkability"


def order_linkage(pair: Pair, *, seed: int = 1) -> AttackResult:
    """Guess for each released record the person at its place in the list, among those whose known values fit.

    If the whole release can be laid along the list so that every row meets a person who fits, it is. If not, the i-th of
    the q records of a class is taken for the person at place ⌊(i - 1/2) m / q⌋ + 1 among the m of the list who fit that
    class: some tools sort by class and keep the order within. Where values were averaged, noised or made up, everybody
    fits. The baseline is the same guess without the order,

        baseline = 1/n · sum over released records 1 / (people of the original who fit the record).

    Where the order says nothing about the people, one of the m is as likely as another, and the guess gains nothing.

    >>> from discreet.classes import EquivalenceClasses
    >>> original = EquivalenceClasses.from_columns({"age": [31, 34, 47, 52]})
    >>> released = EquivalenceClasses.from_columns({"age": ["[30, 39]", "[30, 39]", "[40, 59]", "[40, 59]"]})
    >>> kept = RowOrder(np.arange(4), np.array([0, 0, 1, 1]), np.arange(4))
    >>> result = order_linkage(Pair.of(original, released, order=kept))
    >>> result.successes, result.baseline
    (4.0, 0.5)
    """
    order = pair.order
    assert order is not None, "ask for the order of rows before this attack"
    # Values that were averaged, noised or made up fit others: then the place alone must do.
    names = pair.names if pair.truthful else ()
    laid = _along_the_list(pair, order, names)
    people = _RowsOfClass(order.original, len(pair.original))
    records = _RowsOfClass(order.released, len(pair.released))
    right, tries, blind = [], [], 0.0
    work = 0
    for number in np.random.default_rng(seed).permutation(len(pair.released)).tolist():
        if work > EFFORT:
            break
        fits = np.flatnonzero(pair.covers(np.array([number]), np.arange(len(pair.original)), names))
        fitting = people.of(fits)
        own = records.of(np.array([number]))
        work += len(pair.original) + len(fitting)
        if laid is not None:
            guess = laid[own]
        else:
            guess = fitting[((np.arange(len(own)) + 0.5) * len(fitting) / len(own)).astype(np.int64)]
        right.append(int((guess == order.places[own]).sum()))
        tries.append(len(own))
        blind += len(own) / len(fitting)
    tried, hits = sum(tries), sum(right)
    return AttackResult(
        "order",
        "linkability",
        tries=tried,
        successes=float(hits),
        baseline=blind / tried if tried else 0.0,
        meaning=Sentence(
            "Of {tried} records, {hits} are found by their place: whoever holds a list of the people in "
            "the order of the original takes them for the right person. The baseline is the same guess "
            "without the order.",
            tried=tried,
            hits=hits,
        ),
        unit="records",
        source=SOURCE,
        notes=()
        if len(tries) == len(pair.released)
        else (
            Sentence(
                "{tries} of {released} classes were tried", tries=len(tries), released=len(pair.released)
            ),
        ),
        interval=interval_of_classes(np.array(right, dtype=np.float64), np.array(tries)),
    )


def _along_the_list(pair: Pair, order: RowOrder, names: Sequence[str]) -> IntArray | None:
    """The place in the list of each released row, if all of them can be laid along it in their order."""
    at = [pair.original.index(name) for name in names]
    if not at:
        rows = len(order.released)
        return ((np.arange(rows) + 0.5) * len(order.original) / max(rows, 1)).astype(np.int64)
    return match_in_order(
        [pair.meanings[j] for j in at],
        [pair.released.codes[j][order.released] for j in at],
        [pair.original.codes[j][order.original] for j in at],
    )


class _RowsOfClass:
    """The rows of each class, in their order."""

    def __init__(self, classes: IntArray, count: int) -> None:
        self.rows = np.argsort(classes, kind="stable")
        self.starts = np.concatenate([[0], np.cumsum(np.bincount(classes, minlength=count))])

    def of(self, classes: IntArray) -> IntArray:
        parts = [self.rows[self.starts[number] : self.starts[number + 1]] for number in classes.tolist()]
        return np.sort(np.concatenate([np.empty(0, np.int64), *parts]))
