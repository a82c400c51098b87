"""What a release tells of the people it was learned from, held against what it tells of others."""

from __future__ import annotations

import numpy as np

from discreet.classes.equivalence import EquivalenceClasses
from discreet.measure import proportion_interval
from discreet.types import IntArray


def beyond_others(rate: float, tries: float, chance: float, others: float) -> tuple[float, float]:
    """The 95 % interval of a rate, widened by what is unsure of the rate ``chance`` among ``others``.

    It lies above ``chance`` where the interval of the difference of both rates lies above 0. Newcombe, "Interval estimation
    for the difference between independent proportions", Statistics in Medicine 17, 1998 (method 10: square and add).

    >>> [round(end, 3) for end in beyond_others(0.5, 100, 0.3, 100)]
    [0.364, 0.626]
    """
    low, high = proportion_interval(rate * tries, tries)
    floor, ceiling = proportion_interval(chance * others, others)
    return (
        max(rate - float(np.hypot(rate - low, ceiling - chance)), 0.0),
        min(rate + float(np.hypot(high - rate, chance - floor)), 1.0),
    )


def drawn_people(people: EquivalenceClasses, count: int, seed: int) -> IntArray:
    """How many people of each class are among so many that are drawn without replacement.

    >>> drawn_people(EquivalenceClasses.from_columns({"age": [31, 31, 47]}), 9, 1).tolist()
    [2, 1]
    """
    sizes = people.records.astype(np.int64)
    if int(sizes.sum()) <= count:
        return sizes
    return np.random.default_rng(seed).multivariate_hypergeometric(sizes, count, method="marginals")
