"""Groups in which a sensitive attribute is spread as in the whole table: t-closeness first, likeness second."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from discreet.classes import EquivalenceClasses
from discreet.privacy import PrivacyModel, TCloseness
from discreet.search.clusters.space import Points, numbers_of
from discreet.search.requirements import held, on_groups
from discreet.types import BoolArray, FloatArray, IntArray

MOST_CLASSES = 8_000
"""More classes would take too long: every group looks at all that are left."""
ROUNDS = 8
"""So often groups are made larger by a half where some are not close enough."""
ENOUGH = 0.99
"""If this share of the groups is close enough, the others may as well be merged."""


def close_groups(
    classes: EquivalenceClasses, points: Points, models: Sequence[PrivacyModel], k: int
) -> IntArray | None:
    """Groups of at least ``k`` classes that are alike and take one class of each stratum of a sensitive attribute.

    The classes are put in the order of the first attribute of which t-closeness is asked, and cut into strata of equal size. A group begins with
    the class that is farthest away (from the middle of those left, then from the last one), and takes the nearest class of each stratum, so that
    its values are spread as those of the table are. Of n classes and the ordered distance at least n / (2 (n - 1) t + 1) strata are needed; where
    groups are not close enough there are more. Nothing where no t-closeness is asked, or there are too many classes.

    Soria-Comas, Domingo-Ferrer, Sánchez and Martínez, "t-closeness through microaggregation: strict privacy with enhanced utility preservation",
    IEEE TKDE 27(11), 2015, algorithm 3.

    >>> from discreet.search.clusters.space import points_of
    >>> classes = EquivalenceClasses.from_columns({"age": [30, 31, 32, 60, 61, 62]}, sensitive={"pay": [1, 2, 3, 1, 2, 3]})
    >>> close_groups(classes, points_of(classes, [None]), [TCloseness(0.1, "pay", distance="ordered")], 2)
    array([0, 0, 0, 1, 1, 1])
    """
    asked = next((model for model in models if isinstance(model, TCloseness)), None)
    count = len(classes)
    if asked is None or count > MOST_CLASSES or count < 2 * k:
        return None
    order = np.argsort(_places(classes, asked.sensitive), kind="stable")
    strata = max(k, math.ceil(count / (2 * (count - 1) * asked.t + 1)), 2)
    required = [model for model in on_groups(models) if not model.needs_attributes]
    owner: IntArray | None = None
    for _ in range(ROUNDS):
        if 2 * strata > count:
            break
        owner = _grouped(points, order, strata)
        groups = int(owner.max()) + 1
        if held(required, classes, owner, groups).mean() >= ENOUGH:
            break
        strata = math.ceil(strata * 1.5)
    return owner


def _places(classes: EquivalenceClasses, name: str) -> FloatArray:
    """Where the records of each class lie in the order of a sensitive attribute, on average; nulls lie at its end."""
    histogram = classes.histogram(name)
    numbers = numbers_of(histogram.domain, ordinal=False)
    if numbers is None:
        numbers = np.arange(histogram.domain.size, dtype=np.float64)
    ranks = np.empty(len(numbers))
    ranks[np.argsort(numbers, kind="stable")] = np.arange(len(numbers))
    return np.asarray(
        np.bincount(histogram.class_of_entry, weights=ranks[histogram.values] * histogram.records)
        / classes.records
    )


def _grouped(points: Points, order: IntArray, strata: int) -> IntArray:
    """The group of each class, of which each has one class of each stratum; those left over join the nearest."""
    count = len(order)
    parts = np.array_split(order, strata)
    stratum = np.empty(count, dtype=np.int64)
    for number, part in enumerate(parts):
        stratum[part] = number
    groups = count // strata
    owner = np.full(count, -1, dtype=np.int64)
    seeds = np.empty(groups, dtype=np.int64)
    last = -1
    for group in range(groups):
        left = np.flatnonzero(owner < 0)
        far = _from_middle(points, left) if group % 2 == 0 else _squared(points, left, last)
        last = int(left[np.argmax(far)])
        seeds[group] = last
        near = _squared(points, left, last)
        # Of each stratum the first in the order of nearness: the seed is at distance 0, but among equals it goes first.
        near[left == last] = -1.0
        by_nearness = np.argsort(near, kind="stable")
        _, first = np.unique(stratum[left[by_nearness]], return_index=True)
        owner[left[by_nearness[first]]] = group
    for class_ in np.flatnonzero(owner < 0):
        owner[class_] = int(np.argmin(_squared(points, seeds, int(class_))))
    return owner


def _squared(points: Points, members: IntArray, place: int) -> FloatArray:
    """Squared distances of some classes from another."""
    return _from(points, members, points.numbers[place], points.codes[place])


def _from_middle(points: Points, members: IntArray) -> FloatArray:
    """Squared distances of some classes from their mean, and from their most frequent categories."""
    numbers, codes = points.numbers[members], points.codes[members]
    known = ~np.isnan(numbers)
    mean = np.where(known, numbers, 0.0).sum(axis=0) / np.maximum(known.sum(axis=0), 1)
    modes = [int(np.bincount(codes[:, q]).argmax()) for q in range(codes.shape[1])]
    return _from(points, members, mean, np.array(modes, dtype=np.int32))


def _from(points: Points, members: IntArray, numbers: FloatArray, codes: IntArray) -> FloatArray:
    gaps = points.numbers[members] - numbers
    unknown: BoolArray = np.isnan(points.numbers[members]) != np.isnan(numbers)
    total = np.where(np.isnan(gaps), 0.0, gaps**2).sum(axis=1) + unknown @ points.null
    ends = np.append(points.row[1:], len(points.steps))
    for q, code in enumerate(codes):
        mine = points.codes[members, q]
        apart = np.zeros(len(members))
        for level in range(int(ends[q]) - 1, int(points.row[q]) - 1, -1):
            meets = points.steps[level, mine] == points.steps[level, code]
            apart = np.where(meets, points.apart[level, mine], apart)
        total += points.weights[q] * apart**2
    return np.asarray(total)
