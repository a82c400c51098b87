"""Pairs of four records that a reader can check by hand: for the examples of the measures."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from discreet.classes import EquivalenceClasses
from discreet.classes.pair import Links, Pair
from discreet.table.hierarchies.hierarchy import Hierarchy


def four_ages(*released: object) -> Pair:
    """A pair for examples: the ages 31, 34, 47 and 52, of which ``released`` says what became.

    >>> four_ages("[30, 39]", "[30, 39]", "47", "*").shown
    3
    """
    ages = [31, 34, 47, 52]
    shown = [str(value) for value in released or ("[30, 39]", "[30, 39]", "47", "*")]
    after = EquivalenceClasses.from_columns({"age": shown})
    before = EquivalenceClasses.from_columns({"age": ages})
    return Pair.of(before, after, links=_links(before, after, ages, shown))


def four_jobs(*released: str) -> Pair:
    """A pair for examples with a hierarchy: baker and smith are crafts, nurse and medic care.

    >>> four_jobs("craft", "craft", "nurse", "medic").meanings[0].shares
    array([0.5 , 0.25, 0.25])
    """
    jobs = ["baker", "smith", "nurse", "medic"]
    shown = list(released or ("craft", "craft", "nurse", "medic"))
    before, after = (
        EquivalenceClasses.from_columns({"job": jobs}),
        EquivalenceClasses.from_columns({"job": shown}),
    )
    tree = Hierarchy.of("job", [[job, "craft" if at < 2 else "care", "*"] for at, job in enumerate(jobs)])
    return Pair.of(before, after, hierarchies={"job": tree}, links=_links(before, after, jobs, shown))


def two_towns() -> Pair:
    """A pair for examples with a sensitive attribute: half of Graz has flu, nobody in Linz.

    >>> two_towns().released.histogram("ill").records
    array([1, 1, 2])
    """
    towns = EquivalenceClasses.from_columns(
        {"town": ["Graz", "Graz", "Linz", "Linz"]}, sensitive={"ill": ["flu", "no", "no", "no"]}
    )
    return Pair.of(towns, towns).unchanged()


def _links(
    before: EquivalenceClasses, after: EquivalenceClasses, old: Sequence[object], new: Sequence[object]
) -> Links:
    """Links of records that have one attribute."""
    return Links(
        np.array([before.attributes[0].labels().index(str(value)) for value in old]),
        np.array([after.attributes[0].labels().index(str(value)) for value in new]),
        np.ones(len(old), dtype=np.int64),
    )
