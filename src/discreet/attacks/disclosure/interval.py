"""Interval disclosure: how often the true number lies close to the one that is shown in its place."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from discreet.attacks.intervals import interval_of_people
from discreet.attacks.result import AttackResult
from discreet.classes.pair import Pair
from discreet.errors import InvalidParameter
from discreet.perturb.base import Perturbation
from discreet.sentences import Sentence
from discreet.types import FloatArray, IntArray

WIDTHS = np.arange(1, 11) / 100.0
"""Half the widths of the intervals around a released value, as shares of the records by rank."""


def interval_disclosure(
    pair: Pair, *, steps: Sequence[Perturbation], known: Sequence[str] | None = None
) -> AttackResult:
    """Guess that the true number lies within p % of the ranks around the released one, for p = 1 to 10.

    For each perturbed number of each linked record: the share of these ten intervals that hold the true value. Ranks are
    those of the original. The baseline is the same share for a released value of anybody: what the column alone tells.
    Domingo-Ferrer, Torra, "Disclosure control methods and information loss for microdata", 2001.

    >>> from discreet.classes import EquivalenceClasses
    >>> from discreet.classes.pair import Links
    >>> from discreet.perturb.swapping import RankSwap
    >>> ages = {"age": list(range(100))}
    >>> classes = EquivalenceClasses.from_columns(ages)
    >>> swapped = Links(np.arange(100), np.arange(100) ^ 1, np.ones(100, dtype=np.int64))
    >>> pair = Pair.of(classes, classes, links=swapped)
    >>> interval_disclosure(pair, steps=[RankSwap(("age",), percent=1)]).rate
    1.0
    """
    links = pair.links
    assert links is not None, "ask for links before this attack"
    changed = {name for step in steps for name in step.columns}
    names = [
        name
        for name in pair.names
        if name in changed and (known is None or name in known) and pair.meaning(name).numeric
    ]
    if not names:
        raise InvalidParameter("no known number was perturbed", remedy="name columns that a step changed")
    inside = links.released >= 0
    source, goal, records = links.original[inside], links.released[inside], links.records[inside]
    chances, baselines = [], []
    for name in names:
        meaning, j = pair.meaning(name), pair.original.index(name)
        numbers, centre = meaning.original.numbers, meaning.centre
        ranks = _Ranks(numbers[pair.original.codes[j]], pair.original.records)
        true = ranks(numbers[pair.original.codes[j]])[source]
        shown = ranks(centre[pair.released.codes[j]])
        chances.append(_held(true, shown[goal]))
        # Anybody's value: of many classes evenly spread ones stand for all.
        other = np.linspace(0, len(shown) - 1, min(len(shown), 200)).astype(np.int64)
        held = _held(true[:, None], shown[other][None])
        baselines.append(
            float(np.average(held @ pair.released.records[other], weights=records))
            / max(int(pair.released.records[other].sum()), 1)
        )
    chance = np.mean(chances, axis=0)
    tries, successes = float(records.sum()), float(chance @ records)
    return AttackResult(
        "interval-disclosure",
        "inference",
        tries=tries,
        successes=successes,
        baseline=float(np.mean(baselines)),
        meaning=Sentence(
            "The true number lies close to the released one for {share:.1%} of the values: within 1 to 10 % of the ranks.",
            share=successes / tries if tries else 0.0,
        ),
        known=tuple(names),
        source="Domingo-Ferrer, Torra 2001",
        figures=tuple(
            (name, float(np.average(part, weights=records)))
            for name, part in zip(names, chances, strict=True)
        ),
        interval=interval_of_people(chance, records),
    )


class _Ranks:
    """The rank of numbers among those of a table, from 0 to 1: the middle of the ranks of equal ones."""

    def __init__(self, numbers: FloatArray, records: IntArray) -> None:
        known = ~np.isnan(numbers)
        order = np.argsort(numbers[known], kind="stable")
        self.values = numbers[known][order]
        self.running = np.concatenate([[0], np.cumsum(records[known][order])])

    def __call__(self, numbers: FloatArray) -> FloatArray:
        low, high = (
            self.running[np.searchsorted(self.values, numbers, side=side)] for side in ("left", "right")
        )
        return np.where(np.isnan(numbers), np.nan, (low + high) / 2 / max(int(self.running[-1]), 1))


def _held(true: FloatArray, shown: FloatArray) -> FloatArray:
    """The share of the intervals around a released rank that hold the true one."""
    gap = np.abs(true - shown)
    missing = np.isnan(gap)
    share = 1.0 - np.searchsorted(WIDTHS, np.where(missing, 1.0, gap) - 1e-12) / len(WIDTHS)
    return np.where(missing, np.isnan(true) & np.isnan(shown), share)
