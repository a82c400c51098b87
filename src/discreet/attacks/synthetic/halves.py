"""Linking two halves: whether artificial records tell that what is known here and there is of one person."""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from discreet.attacks.linkage.view import View, known_names
from discreet.attacks.result import AttackResult
from discreet.attacks.synthetic.control import beyond_others
from discreet.attacks.synthetic.neighbours import Neighbours
from discreet.classes.equivalence import EquivalenceClasses
from discreet.classes.pair import Pair
from discreet.errors import InvalidParameter
from discreet.sentences import Sentence
from discreet.types import FloatArray, IntArray

AT_MOST = 1_000
"""So many people are tried on either side; of more, a sample."""


def linking_of_halves(
    pair: Pair,
    *,
    control: EquivalenceClasses,
    known: Sequence[str] | None = None,
    seed: int = 1,
    at_most: int = AT_MOST,
) -> AttackResult:
    """Say of what is known of somebody here and there that it is one person, because the same artificial record is nearest to both.

    What is known is in two parts that tell released records apart about equally well. For each part the nearest artificial
    records are looked up (Gower's distance); of several that are equally near, the first in one random order of all records is
    taken, so that both parts lead to the same one with the chance |A ∩ B| / |A ∪ B|. Who has common values is linked by chance:
    the baseline is the same rate among ``control``, people who are not in the original and drawn like it. Giomi, Boenisch,
    Wehmeyer, Tasnádi, "A unified framework for quantifying privacy risk in synthetic data", PoPETs 2023.

    >>> people = EquivalenceClasses.from_columns({"age": [31, 47], "pay": [1000, 9000]})
    >>> others = EquivalenceClasses.from_columns({"age": [33, 45], "pay": [8000, 2000]})
    >>> artificial = EquivalenceClasses.from_columns({"age": [31, 47], "pay": [1100, 9100]})
    >>> result = linking_of_halves(Pair.of(people, artificial), control=others)
    >>> result.successes, result.baseline
    (2.0, 0.0)
    """
    began = time.perf_counter()
    names = known_names(pair, known, control)
    if len(names) < 2:
        raise InvalidParameter(
            "one attribute has no halves", remedy="name at least two attributes that are known"
        )
    parts = halves_of(pair, names)
    sides = []
    for people in (pair.original, control):
        view = View.of(replace(pair, links=None), names, people).sampled(at_most, seed)
        at = np.flatnonzero(view.tried)
        sides.append((view.tried[at].astype(np.float64), _linked(view, at, parts)))
    (used, own), (strangers, others) = sides
    tries = float(used.sum())
    rate, chance = float(own @ used / tries), float(others @ strangers / strangers.sum())
    told = tuple(Sentence("{names:,}", names=tuple(names[j] for j in part)) for part in parts)
    return AttackResult(
        attack="linking-of-halves",
        criterion="linkability",
        tries=tries,
        successes=rate * tries,
        baseline=chance,
        meaning=Sentence(
            "By {here} and by {there} the same released record is nearest to {rate:.1%} of the people whose records were used, "
            "to {chance:.1%} of others.",
            here=told[0],
            there=told[1],
            rate=rate,
            chance=chance,
        ),
        scenario="someone who holds two lists and wants to know who stands in both",
        known=names,
        unit=pair.unit,
        source="Giomi et al. 2023; Gower 1971",
        figures=(("controls", float(strangers.sum())),),
        seconds=time.perf_counter() - began,
        interval=beyond_others(rate, tries, chance, float(strangers.sum())),
    )


def halves_of(pair: Pair, names: Sequence[str]) -> tuple[list[int], list[int]]:
    """Two parts of what is known: attributes by the entropy of their released values, dealt in turn (1 2 2 1 1 2 …).

    >>> table = EquivalenceClasses.from_columns({"sex": [0, 0, 1, 1], "id": [1, 2, 3, 4], "age": [1, 1, 2, 3]})
    >>> halves_of(Pair.of(table, table), ["sex", "id", "age"])
    ([1], [0, 2])
    """
    records = pair.released.records
    entropy = []
    for name in names:
        share = np.bincount(pair.released.codes[pair.released.index(name)], weights=records) / records.sum()
        share = share[share > 0]
        entropy.append(float(-(share * np.log2(share)).sum()))
    order = np.argsort(-np.array(entropy), kind="stable").tolist()
    first = [j for place, j in enumerate(order) if place % 4 in (0, 3)]
    return sorted(first), sorted(set(order) - set(first))


def _linked(view: View, at: IntArray, parts: tuple[list[int], list[int]]) -> FloatArray:
    """The chance that both parts of what is known of each target lead to the same released record."""
    near = Neighbours(view)
    sizes = view.released.sizes
    chances = np.zeros(len(at))
    for place, target in enumerate(at.tolist()):
        here, there = (near.nearest(target, part) for part in parts)
        both = float(sizes[np.intersect1d(here, there, assume_unique=True)].sum())
        chances[place] = both / max(float(sizes[here].sum() + sizes[there].sum()) - both, 1.0)
    return chances
