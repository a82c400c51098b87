"""Smallest class, diversity and mean class size on a scale from the original (0) to one class of everybody (1)."""

from __future__ import annotations

from functools import partial

import numpy as np

from discreet.classes import EquivalenceClasses
from discreet.classes.pair import Pair
from discreet.measure import Measure
from discreet.utility.definition import Definition

_scaled = partial(
    Definition,
    unit="share of the way to one class",
    bounds="(-∞, 1]",
    source="Metrics evaluation on car data, 2023, section 4.4.1",
)
SCALED_K = _scaled(
    "scaled-k",
    meaning="Where the smallest class lies between that of the original (0) and one class of everybody who is shown (1).",
    formula="(k' - k) / (people shown - k)",
    family="Use against exposure",
    better="higher",
)
SCALED_L = _scaled(
    "scaled-l",
    meaning="Where the fewest different sensitive values of a class lie between those of the original (0) and all that are shown (1).",
    formula="(l' - l) / (values shown - l)",
    family="Use against exposure",
    better="higher",
)
SCALED_CLASS_SIZE = _scaled(
    "scaled-average-class-size",
    meaning="Where the mean class size lies between that of the original (0) and one class of everybody who is shown (1).",
    formula="(C' - C) / (people shown - C)",
    family="Records and classes",
)

_NOTHING_SHOWN = "not defined here: no record shows a quasi-identifier"
_NO_WAY = "not defined here: the original is as far as it can be"


def scaled_sizes(pair: Pair) -> tuple[Measure, ...]:
    """k, l of each sensitive attribute and the mean class size, min-max-scaled: (m - m_min) / (m_max - m_min).

    m_min is that of the original, m_max that of a table in which all people who are shown are one class. Below 0 it is less than
    in the original. Distinct l; people are persons at event level. Metrics evaluation on car data, 2023, section 4.4.1.

    >>> from discreet.utility.examples import four_ages
    >>> [round(each.value, 3) for each in scaled_sizes(four_ages("[30, 39]", "[30, 39]", "[47, 52]", "[47, 52]"))]
    [0.333, 0.333]
    """
    kept = np.flatnonzero(~pair.suppressed)
    sensitive = list(pair.sensitive)
    if not len(kept):
        return (
            SCALED_K.undefined(_NOTHING_SHOWN),
            SCALED_CLASS_SIZE.undefined(_NOTHING_SHOWN),
            *(SCALED_L.undefined(_NOTHING_SHOWN, attribute=name) for name in sensitive),
        )
    shown = pair.released.subset(kept)
    before, after = pair.original.sizes(pair.unit), shown.sizes(pair.unit)
    people = float(shown.total_persons if pair.unit == "persons" else shown.total)
    measures = [
        SCALED_K.of(_between(float(after.min()), float(before.min()), people)),
        SCALED_CLASS_SIZE.of(_between(float(after.mean()), float(before.mean()), people)),
    ]
    for name in sensitive:
        values = len(np.unique(shown.sensitive_codes[name]))
        measures.append(
            SCALED_L.of(
                _between(_least_distinct(shown, name), _least_distinct(pair.original, name), float(values)),
                attribute=name,
            )
        )
    return tuple(measures)


def _least_distinct(classes: EquivalenceClasses, name: str) -> float:
    """The fewest different values of a sensitive attribute in a class."""
    return float(classes.histogram(name).distinct.min())


def _between(value: float, least: float, most: float) -> float | str:
    return (value - least) / (most - least) if most > least else _NO_WAY
