"""Losses by class: how many records are gone, and how large the classes of the others are.

The formulas are those of the objectives of the same names, here of any release that was read.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial

import numpy as np

from discreet.classes.pair import Pair
from discreet.errors import InvalidParameter
from discreet.measure import Measure
from discreet.sentences import Sentence
from discreet.types import FloatArray
from discreet.utility.definition import Definition
from discreet.utility.objectives.class_sizes import average_class_size as mean_size
from discreet.utility.objectives.class_sizes import discernibility as penalty

_classes = partial(Definition, family="Records and classes")
SUPPRESSION_RATIO = _classes(
    "suppression-ratio",
    "share of records",
    "How many of the records are missing from the release or show no quasi-identifier at all.",
    "1 - shown / |T|",
    "[0, 1]",
    "Samarati and Sweeney 1998",
    full=1.0,
)
AVERAGE_CLASS_SIZE = _classes(
    "average-class-size",
    "people per class",
    "How many people on average look alike in the release: the larger, the less can be told apart.",
    "|T'| / number of classes",
    "[1, |T|]",
    "Machanavajjhala et al. 2006",
)
NORMALISED_CLASS_SIZE = _classes(
    "normalised-average-class-size",
    "times k",
    "How many times larger the classes are than the smallest class makes necessary; 1 is the best.",
    "|T| / (number of classes · k), all suppressed records being one class",
    "[1, |T| / k]",
    "LeFevre, DeWitt and Ramakrishnan 2006",
)
DISCERNIBILITY = _classes(
    "discernibility",
    "pairs of records",
    "How many other records each record can no longer be told from, summed up; a suppressed record cannot be told from any.",
    "Σ |E|² + suppressed · |T|",
    "[|T|, |T|²]",
    "Bayardo and Agrawal 2005",
)
NORMALISED_DISCERNIBILITY = _classes(
    "normalised-discernibility",
    "share of the possible penalty",
    "Where the discernibility lies between that of the original (0) and that of total suppression (1).",
    "(DM - DM(T)) / (|T|² - DM(T))",
    "[0, 1]",
    "Bayardo and Agrawal 2005, scaled as in the metrics evaluation on car data, 2023",
    full=1.0,
)
NUMBER_OF_CLASSES = _classes(
    "number-of-classes",
    "classes",
    "How many different combinations of quasi-identifiers the release still shows.",
    "number of classes that show anything",
    "[0, |T|]",
    "Samarati 2001 (maximum distribution)",
    better="higher",
)
CLASSIFICATION_METRIC = _classes(
    "classification-metric",
    "share of records",
    "How many records show nothing, or have another value than most records that look like them.",
    "1/|T| · (Σ (|E| - most frequent value of E) + suppressed)",
    "[0, 1]",
    "Iyengar 2002 (classification metric)",
)
CLASSIFICATION_COST = _classes(
    "classification-cost",
    "cost per record",
    "What it costs per record to take all that look alike for the value for which that is cheapest.",
    "1/|T| · (Σ over classes of min over t of Σ n(E, s) · c(s, t) + Σ over suppressed of max over t of c(s, t))",
    "[0, largest cost]",
    "Iyengar 2002 (classification metric), with the costs of Elkan 2001",
)

Costs = Mapping[tuple[str, str | None], float]
"""What it costs to take a value for another, or for any other (``None``); what is not named costs 1."""
MOST_VALUES = 200
"""With more values than this costs of mistakes are not reckoned with."""
MANY_VALUES_NOTE = "not defined here: the attribute has too many values for costs of mistakes"


def suppression_ratio(pair: Pair) -> Measure:
    """The share of records that are not in the release, or show no quasi-identifier: 1 - shown / |T|.

    Samarati and Sweeney, "Protecting privacy when disclosing information", 1998.

    >>> from discreet.utility.examples import four_ages
    >>> suppression_ratio(four_ages()).value  # one of four ages became *
    0.25
    """
    return SUPPRESSION_RATIO(_suppressed(pair) / pair.original.total)


def average_class_size(pair: Pair) -> Measure:
    """The mean size of the classes that show anything, in persons at event level.

    |T'| / number of classes; if nothing is shown all records are one class.
    Machanavajjhala et al., "l-diversity", ICDE 2006.

    >>> from discreet.utility.examples import four_ages
    >>> average_class_size(four_ages()).value  # [30, 39] twice, 47 once
    1.5
    """
    shown = ~pair.suppressed
    if not shown.any():
        people = pair.original.total_persons if pair.unit == "persons" else pair.original.total
        return AVERAGE_CLASS_SIZE(people)
    return AVERAGE_CLASS_SIZE(mean_size(pair.released.sizes(pair.unit)[shown]))


def normalised_average_class_size(pair: Pair, *, k: int | None = None) -> Measure:
    """C_AVG = records / (classes × k), all suppressed records being one class; ``k``: the smallest class shown.

    LeFevre, DeWitt and Ramakrishnan, "Mondrian multidimensional k-anonymity", ICDE 2006.

    >>> from discreet.utility.examples import four_ages
    >>> normalised_average_class_size(four_ages(), k=1).value  # four records, three classes
    1.3333333333333333
    """
    if k is not None and k < 1:
        raise InvalidParameter(
            Sentence("k must be at least 1, not {k}", k=repr(k)), remedy="for example k = 5"
        )
    sizes = pair.released.records[~pair.suppressed]
    gone = _suppressed(pair)
    least = k or (int(sizes.min()) if len(sizes) else gone)
    return NORMALISED_CLASS_SIZE((int(sizes.sum()) + gone) / ((len(sizes) + (gone > 0)) * least))


def discernibility(pair: Pair) -> Measure:
    """Every record costs the size of its class, every suppressed one |T|: Σ |E|² + suppressed × |T|.

    Bayardo and Agrawal, "Data privacy through optimal k-anonymization", ICDE 2005.

    >>> from discreet.utility.examples import four_ages
    >>> discernibility(four_ages()).value  # 2·2 + 1·1 + 1·4
    9.0
    """
    return DISCERNIBILITY(_penalty(pair))


def normalised_discernibility(pair: Pair) -> Measure:
    """Discernibility between that of the original and that of total suppression.

    (DM - DM(T)) / (|T|² - DM(T)); 0 if all records of the original are alike.

    >>> from discreet.utility.examples import four_ages
    >>> normalised_discernibility(four_ages()).value  # (9 - 4) / (16 - 4)
    0.4166666666666667
    """
    least = int((pair.original.records.astype(np.int64) ** 2).sum())
    span = pair.original.total**2 - least
    if not span:
        return NORMALISED_DISCERNIBILITY(_suppressed(pair) / pair.original.total)
    return NORMALISED_DISCERNIBILITY((_penalty(pair) - least) / span)


def number_of_classes(pair: Pair) -> Measure:
    """How many classes show anything (Samarati 2001, "maximum distribution").

    >>> from discreet.utility.examples import four_ages
    >>> number_of_classes(four_ages()).value
    2.0
    """
    return NUMBER_OF_CLASSES(int((~pair.suppressed).sum()))


def classification_metric(pair: Pair) -> tuple[Measure, ...]:
    """For each sensitive attribute: records whose value is not the most frequent of their class, or that show nothing.

    CM = 1/|T| × (sum over classes of (|E| - records with the most frequent value) + suppressed); if no class
    shows anything, those in the release are one class. Iyengar, "Transforming data to satisfy privacy constraints", KDD 2002.

    >>> from discreet.classes import EquivalenceClasses
    >>> original = EquivalenceClasses.from_columns({"age": [31, 34, 47, 52]}, sensitive={"flu": list("ynyn")})
    >>> released = EquivalenceClasses.from_columns(
    ...     {"age": ["[31, 34]", "[31, 34]", "47", "*"]}, sensitive={"flu": list("ynyn")})
    >>> classification_metric(Pair.of(original, released))[0].value  # one of [31, 34], and the one of *
    0.5
    """
    shown = ~pair.suppressed if not pair.suppressed.all() else np.ones(len(pair.released), dtype=bool)
    measures = []
    for name in pair.sensitive:
        histogram = pair.released.histogram(name)
        most = histogram.per_class(np.maximum, histogram.records)
        missed = pair.original.total - most[shown].sum()
        measures.append(CLASSIFICATION_METRIC(float(missed / pair.original.total), attribute=name))
    return tuple(measures)


def classification_cost(pair: Pair, costs: Mapping[str, Costs]) -> tuple[Measure, ...]:
    """For each attribute with ``costs`` of mistakes: what the best guess of each class costs its records.

    CC = 1/|T| × (Σ over classes of min over t of Σ over s of n(E, s) c(s, t) + Σ over suppressed records of the dearest mistake about their
    value), c(s, s) = 0; where all mistakes cost 1 it is the classification metric. Iyengar, "Transforming data to satisfy privacy constraints", KDD 2002; Elkan, "The foundations of
    cost-sensitive learning", IJCAI 2001.

    >>> from discreet.classes import EquivalenceClasses
    >>> ill = {"ill": list("ynnn")}
    >>> pair = Pair.of(*(EquivalenceClasses.from_columns({"age": ages}, sensitive=ill) for ages in ([31, 34, 36, 39], ["[31, 39]"] * 4)))
    >>> classification_cost(pair, {"ill": {}})[0].value  # all are taken for healthy: one mistake in four
    0.25
    >>> classification_cost(pair, {"ill": {("y", "n"): 10}})[0].value  # all are taken for ill: three mistakes of 1
    0.75
    """
    return tuple(
        CLASSIFICATION_COST.of(_cost(pair, name, named), attribute=name)
        for name, named in costs.items()
        if name in pair.sensitive
    )


def _cost(pair: Pair, name: str, named: Costs) -> float | str:
    before, after = pair.original.histogram(name), pair.released.histogram(name)
    labels = list(dict.fromkeys([*before.domain.labels(), *after.domain.labels()]))
    if len(labels) > MOST_VALUES:
        return MANY_VALUES_NOTE
    at = {label: place for place, label in enumerate(labels)}
    matrix = _matrix(at, named)
    shown = ~pair.suppressed if not pair.suppressed.all() else np.ones(len(pair.released), dtype=bool)
    codes = np.array([at[label] for label in after.domain.labels()])[after.values]
    cheapest = np.full(len(pair.released), np.inf)
    for guess in matrix.T:
        cost = np.bincount(after.class_of_entry, weights=after.records * guess[codes], minlength=len(shown))
        cheapest = np.minimum(cheapest, cost)
    of_entry = shown[after.class_of_entry]
    hidden = -np.bincount(codes[of_entry], weights=after.records[of_entry], minlength=len(labels))
    np.add.at(hidden, [at[label] for label in before.domain.labels()], before.totals)
    # A release whose values were changed may show a value more often than the original has it.
    dearest = float(np.maximum(hidden, 0.0) @ matrix.max(axis=1))
    return (float(cheapest[shown].sum()) + dearest) / pair.original.total


def _matrix(at: Mapping[str, int], named: Costs) -> FloatArray:
    """What it costs to take each value for each other; a mistake named with both values goes before one named with one."""
    matrix = 1.0 - np.eye(len(at))
    for (value, taken_for), cost in sorted(named.items(), key=lambda entry: entry[0][1] is not None):
        if value not in at or (taken_for is not None and taken_for not in at):
            continue
        if taken_for is None:
            matrix[at[value]] = cost
        else:
            matrix[at[value], at[taken_for]] = cost
    np.fill_diagonal(matrix, 0.0)
    return matrix


def _suppressed(pair: Pair) -> int:
    return max(pair.original.total - pair.shown, 0)


def _penalty(pair: Pair) -> int:
    return penalty(pair.released.records[~pair.suppressed], _suppressed(pair), pair.original.total)
