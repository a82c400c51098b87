"""Guessing a value from the nearest artificial records, better for those who were used to make them than for others."""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from scipy.sparse import coo_array, csr_array

from discreet.attacks.linkage.view import Combinations, View, known_names
from discreet.attacks.result import AttackResult
from discreet.attacks.synthetic.control import beyond_others
from discreet.attacks.synthetic.neighbours import Neighbours
from discreet.classes.equivalence import EquivalenceClasses
from discreet.classes.pair import Pair
from discreet.sentences import Sentence
from discreet.types import FloatArray, IntArray

AT_MOST = 1_000
"""So many people are tried on either side; of more, a sample."""
MANY_VALUES = 20
"""A number with more values than these need only be near."""
NEAR = 0.05
"""So near, as a share of the range of the original's numbers."""
SOURCE = "Giomi et al., A unified framework for quantifying privacy risk in synthetic data, PoPETs 2023"


def guessing_by_nearest(
    pair: Pair,
    sensitive: str,
    *,
    control: EquivalenceClasses,
    known: Sequence[str] | None = None,
    seed: int = 1,
    at_most: int = AT_MOST,
) -> AttackResult:
    """Guess everyone's sensitive value by the nearest artificial records: the one that most of them have, or their median.

    What is true of people in general is learned of people who are not in the table just as well, so that the baseline is the same
    rate among ``control``, who are not in the original and drawn like it. A number with more than 20 values is guessed rightly
    within 5 % of the original's range; of values that are equally frequent one is drawn. Giomi, Boenisch, Wehmeyer, Tasnádi, "A
    unified framework for quantifying privacy risk in synthetic data", PoPETs 2023.

    >>> people = EquivalenceClasses.from_columns({"age": [31, 47]}, sensitive={"ill": ["flu", "cold"]})
    >>> others = EquivalenceClasses.from_columns({"age": [30, 48]}, sensitive={"ill": ["cold", "cold"]})
    >>> result = guessing_by_nearest(Pair.of(people, people), "ill", control=others)
    >>> result.successes, result.baseline
    (2.0, 0.5)
    """
    began = time.perf_counter()
    names = tuple(name for name in known_names(pair, known, control) if name != sensitive)
    secret = _Secret.of(pair, sensitive, control)
    rates, tried = [], []
    for people in (pair.original, control):
        view = View.of(replace(pair, links=None), names, people)
        group, value, records = _drawn(people, view, sensitive, at_most, seed)
        own = secret.codes_of(people, sensitive)[value]
        rates.append(_right(view, secret, group, own, records))
        tried.append(float(records.sum()))
    (rate, chance), (tries, others) = rates, tried
    return AttackResult(
        attack="guessing-by-nearest",
        criterion="inference",
        tries=tries,
        successes=rate * tries,
        baseline=chance,
        meaning=Sentence(
            "The nearest released records tell {sensitive} rightly of {rate:.1%} of the people whose records were used, of "
            "{chance:.1%} of others.",
            sensitive=sensitive,
            rate=rate,
            chance=chance,
        ),
        scenario="someone who knows a person and looks for the most similar released records",
        known=names,
        target=sensitive,
        unit="records",
        source=SOURCE,
        figures=(("controls", others),),
        seconds=time.perf_counter() - began,
        notes=(
            Sentence(
                "{sensitive} is a number: a guess within 5 % of its range is right", sensitive=sensitive
            ),
        )
        if secret.near
        else (),
        interval=beyond_others(rate, tries, chance, others),
    )


@dataclass(frozen=True)
class _Secret:
    """What is guessed: per released class how many records have which value, and the values as printed and as numbers."""

    cells: csr_array
    labels: dict[str, int]
    numbers: FloatArray
    near: float
    """How far a guessed number may be away; 0 where values are guessed."""

    @classmethod
    def of(cls, pair: Pair, sensitive: str, control: EquivalenceClasses) -> _Secret:
        domain = pair.original.sensitive_domain(sensitive)
        shown = pair.released.sensitive_domain(sensitive)
        every = (domain, shown, control.column_of_cells(sensitive)[0])
        labels: dict[str, int] = {}
        for each in every:
            for label in each.labels():
                labels.setdefault(label, len(labels))
        numbers = np.full(len(labels), np.nan)
        for each in every:
            numbers[[labels[label] for label in each.labels()]] = each.numbers
        known = domain.numbers[~np.isnan(domain.numbers)]
        near = NEAR * float(np.ptp(known)) if domain.is_numeric and len(known) > MANY_VALUES else 0.0
        codes = np.array([labels[label] for label in shown.labels()])
        classes = pair.released
        value = codes[classes.sensitive_codes[sensitive]]
        size = (len(classes), len(labels))
        cells = coo_array((classes.counts.astype(np.float64), (classes.class_of_cell, value)), shape=size)
        return cls(cells.tocsr(), labels, numbers, near)

    def codes_of(self, people: EquivalenceClasses, sensitive: str) -> IntArray:
        """The codes of the values that people have."""
        return np.array([self.labels[label] for label in people.column_of_cells(sensitive)[0].labels()])


def _drawn(
    people: EquivalenceClasses, view: View, sensitive: str, at_most: int, seed: int
) -> tuple[IntArray, IntArray, IntArray]:
    """Combination, value and number of the records that are tried."""
    cells = Combinations.of_cells(people, [*view.names, sensitive])
    sizes = cells.records
    if int(sizes.sum()) > at_most:
        sizes = np.random.default_rng(seed).multivariate_hypergeometric(sizes, at_most, method="marginals")
    at = np.flatnonzero(sizes)
    owner = np.empty(len(cells.records), dtype=np.int64)
    owner[cells.group] = view.targets.group[people.class_of_cell]
    return owner[at], cells.codes[-1][at], sizes[at].astype(np.int64)


def _right(view: View, secret: _Secret, group: IntArray, own: IntArray, records: IntArray) -> float:
    """The share of the records of which the value is guessed rightly."""
    near = Neighbours(view)
    # Released classes that are one combination of what is known.
    size = (len(view.released), secret.cells.shape[0])
    joined = coo_array((np.ones(size[1]), (view.released.group, np.arange(size[1]))), shape=size).tocsr()
    inside = (joined @ secret.cells).tocsr()
    hits = 0.0
    for target in np.unique(group).tolist():
        nearest = near.nearest(target, range(len(view.meanings)))
        often = np.asarray(inside[nearest].sum(axis=0)).ravel()
        mine = group == target
        hits += float((_chance(secret, often, own[mine]) * records[mine]).sum())
    return hits / float(records.sum())


def _chance(secret: _Secret, often: FloatArray, own: IntArray) -> FloatArray:
    """The chance that each true value is guessed, where released records have values so often."""
    if secret.near:
        there = np.flatnonzero((often > 0) & ~np.isnan(secret.numbers))
        if not len(there):
            return np.zeros(len(own))
        order = there[np.argsort(secret.numbers[there], kind="stable")]
        running = np.cumsum(often[order])
        guess = float(secret.numbers[order][np.searchsorted(running, running[-1] / 2)])
        return (np.abs(secret.numbers[own] - guess) <= secret.near).astype(np.float64)
    most = np.flatnonzero(often == often.max()) if often.any() else np.empty(0, dtype=np.int64)
    return np.isin(own, most) / max(len(most), 1)
