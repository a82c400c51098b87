"""Copies: whether a release holds records of people exactly as they are, more often than of people who are not in it."""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from discreet.attacks.linkage.compatible import weighted_median
from discreet.attacks.linkage.nearest import nearest_people
from discreet.attacks.linkage.view import View, known_names
from discreet.attacks.result import AttackResult
from discreet.attacks.synthetic.control import beyond_others
from discreet.classes.equivalence import EquivalenceClasses
from discreet.classes.pair import Pair
from discreet.sentences import Sentence
from discreet.table.meaning import KINDS
from discreet.types import BoolArray, FloatArray, IntArray

AT_MOST = 20_000
"""So many people are tried on either side; of more, a sample."""


def copies(
    pair: Pair,
    *,
    control: EquivalenceClasses,
    known: Sequence[str] | None = None,
    seed: int = 1,
    at_most: int = AT_MOST,
) -> AttackResult:
    """Say of whoever stands in the release as they are that their record was used to make it.

    Successes are the people of the original with a copy: a released record that shows all that is known of them and nothing else.
    The baseline is the share of ``control``, people who are not in the original and drawn like it, with one:
    whoever has common values has a copy by chance. The interval bounds the difference (Newcombe 1998), so that few people of
    a control group say little. The figures tell which share is copied of those whose combination nobody else in the original has, and
    how far away the closest record is, in the median and by Gower's distance, of both: shown, never a verdict, for an
    independent sample can be as near. Made for artificial records.

    >>> original = EquivalenceClasses.from_columns({"age": [31, 34, 47, 52]})
    >>> control = EquivalenceClasses.from_columns({"age": [31, 90]})
    >>> released = EquivalenceClasses.from_columns({"age": [31, 34, 47, 60]})
    >>> result = copies(Pair.of(original, released), control=control)
    >>> result.successes, result.baseline
    (3.0, 0.5)
    """
    began = time.perf_counter()
    names = known_names(pair, known, control)
    sides = [_tried(pair, people, names, at_most, seed) for people in (pair.original, control)]
    (people, distance, copied, alone), (others, apart, _, _) = sides
    rate, chance = (float(side[shown].sum() / side.sum()) for side, _, shown, _ in sides)
    tries = float(people.sum())
    return AttackResult(
        attack="copies",
        criterion="inference",
        tries=tries,
        successes=rate * tries,
        baseline=chance,
        meaning=Sentence(
            "Of the people whose records were used {rate:.1%} stand in the release as they are, of others {chance:.1%}.",
            rate=rate,
            chance=chance,
        ),
        scenario="someone who wants to know whether a person is in the table",
        known=names,
        unit=pair.unit,
        source="Newcombe 1998; Gower 1971",
        figures=(
            ("median-distance", weighted_median(distance, people)),
            ("median-distance-of-controls", weighted_median(apart, others)),
            ("copied-of-those-who-are-alone", float(copied[alone].mean()) if alone.any() else 0.0),
            ("controls", float(others.sum())),
        ),
        seconds=time.perf_counter() - began,
        interval=beyond_others(rate, tries, chance, float(others.sum())),
    )


def _tried(
    pair: Pair, people: EquivalenceClasses, names: tuple[str, ...], at_most: int, seed: int
) -> tuple[FloatArray, FloatArray, BoolArray, BoolArray]:
    """How many people each combination stands for, how far away their closest record is, whether one is a copy, and whether
    only one person has it."""
    view = View.of(replace(pair, links=None), names, people).sampled(at_most, seed)
    at = np.flatnonzero(view.tried)
    return (
        view.tried[at].astype(np.float64),
        nearest_people(view, at).distance,
        _copied(view, at),
        view.targets.sizes[at] == 1,
    )


def _copied(view: View, at: IntArray) -> BoolArray:
    """Of which targets all values stand in one released combination: by the values, as distances depend on the largest one."""
    number = np.zeros(len(view.released) + len(at), dtype=np.int64)
    exact = np.ones(len(view.released), dtype=bool)
    for meaning, shown, own in zip(view.meanings, view.released.codes, view.targets.codes, strict=True):
        value = np.full(len(meaning.kinds), -1, dtype=np.int64)
        single = np.flatnonzero(meaning.kinds == KINDS.index("exact"))
        value[single] = meaning.code_at[meaning.starts[meaning.indptr[single]]]
        exact &= value[shown] >= 0
        column = np.concatenate([value[shown], own[at]]) + 1
        number = np.unique(number * (meaning.original.size + 1) + column, return_inverse=True)[1]
    return np.isin(number[len(exact) :], number[: len(exact)][exact])
