"""Re-identification by linkage: the prosecutor, the journalist and the marketer.

The prosecutor looks for one person and knows that the person is in the table; the journalist looks for
anybody and knows only that the people of the table come from a larger population; the marketer tries to name
everybody and counts the hits. At event level a class is as large as it has *persons*, and shares are shares
of records.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from discreet.classes import EquivalenceClasses
from discreet.classes.pair import Told
from discreet.classes.population import Population
from discreet.errors import InvalidParameter
from discreet.measure import Measure, RecordRisk
from discreet.risk.population import checked_fraction
from discreet.sentences import Sentence
from discreet.table.hierarchies.hierarchy import Hierarchy
from discreet.types import FloatArray

_SOURCE = "El Emam, Guide to the De-Identification of Personal Health Information, 2013, chapters 15-17"
_DANKAR = "Dankar & El Emam 2010, A method for evaluating marketer re-identification risk, PAIS"
_EVENT = "class sizes are counted in distinct persons, shares in records"
_NO_POPULATION = "no population sizes were given: the table is taken for the whole population"


@dataclass(frozen=True)
class PopulationSizes:
    """How many people of the population share the quasi-identifier of each class, and how that is known."""

    people: FloatArray
    basis: str

    @classmethod
    def by_weights(cls, classes: EquivalenceClasses) -> PopulationSizes | None:
        """F by the sampling weights of the class's people, each person once; at least its people in the table."""
        if classes.class_weights is None:
            return None
        people = np.maximum(classes.class_weights, classes.persons)
        return cls(people, "F is the sum of the sampling weights of the people in the class")

    @classmethod
    def by_fraction(cls, classes: EquivalenceClasses, fraction: float) -> PopulationSizes:
        """F = f / sampling fraction, as if every class were sampled alike (Dankar & El Emam 2010).

        >>> classes = EquivalenceClasses.from_columns({"zip": [1, 1, 1, 1, 2]})
        >>> PopulationSizes.by_fraction(classes, 0.1).people
        array([40., 10.])
        """
        return cls(
            classes.persons / checked_fraction(fraction),
            "F is estimated as f / sampling fraction; who is alone in the table may be alone in the population, too",
        )

    @classmethod
    def by_table(
        cls,
        classes: EquivalenceClasses,
        population: EquivalenceClasses,
        hierarchies: Mapping[str, Hierarchy],
        told: Told | None = None,
    ) -> PopulationSizes:
        """F by counting: the people of a table of the population whom the class's values may stand for.

        >>> classes = EquivalenceClasses.from_columns({"age": ["[30, 39]", "47"]})
        >>> people = EquivalenceClasses.from_columns({"age": [31, 34, 38, 47]})
        >>> classes.attributes[0].values.to_pylist(), PopulationSizes.by_table(classes, people, {}).people
        (['47', '[30, 39]'], array([1., 3.]))
        """
        fitting = Population(population, hierarchies, told or {}).people(classes)
        few = int((fitting < classes.persons).sum())
        basis = "F is counted in the table of the population"
        if few:
            basis += f"; {few:,} classes have more people in the table, which then count"
        return cls(np.maximum(fitting, classes.persons), basis)


def prosecutor(classes: EquivalenceClasses) -> RecordRisk:
    """Risk per record against someone who knows that the person is in the table: 1 / f (El Emam 2013).

    f is the size of the record's class in persons: records at person level, distinct persons at event level.

    >>> classes = EquivalenceClasses.from_columns({"zip": [1, 1, 1, 1, 2]})
    >>> prosecutor(classes).values, prosecutor(classes).weights
    (array([0.25, 1.  ]), array([4, 1]))
    """
    return RecordRisk(
        "prosecutor",
        1.0 / classes.persons,
        classes.all_records,
        meaning="The chance to name the person of a record for someone who knows that the person is in the table.",
        source=_SOURCE,
    )


def journalist(
    classes: EquivalenceClasses, population: PopulationSizes | ArrayLike | None = None
) -> RecordRisk:
    """Risk per record against someone who does not know who is in the table: 1 / F (El Emam 2013).

    F is the number of people in the population who share the quasi-identifier, one number per class in
    ``population``: counted, or estimated by weights or a sampling fraction (``PopulationSizes``). Without it the
    table is taken for the population, F = f, and the risk is the prosecutor's.

    >>> classes = EquivalenceClasses.from_columns({"zip": [1, 1, 1, 1, 2]})
    >>> journalist(classes, [40, 5]).values
    array([0.025, 0.2  ])
    """
    meaning = "The chance to name the person of a record for someone who does not know who is in the table"
    if population is None:
        meaning += "; as nothing is known about the population, the table is taken for all of it"
    elif isinstance(population, PopulationSizes):
        meaning += f". {population.basis}"
    return RecordRisk(
        "journalist",
        1.0 / _population(classes, population),
        classes.all_records,
        meaning=meaning + ".",
        source=_SOURCE,
    )


def marketer(classes: EquivalenceClasses, population: PopulationSizes | ArrayLike | None = None) -> Measure:
    """Expected share of records named rightly by someone who links all of them: Σ_records (1/F) / n.

    F as for the journalist. Without a population this is classes / records at person level, and with a sampling
    fraction that times the fraction (Dankar & El Emam 2010).

    >>> classes = EquivalenceClasses.from_columns({"zip": [1, 1, 1, 1, 2]})
    >>> marketer(classes).value, marketer(classes, PopulationSizes.by_fraction(classes, 0.1)).value
    (0.4, 0.04)
    """
    notes = _notes(classes)
    if population is None:
        notes = (*notes, _NO_POPULATION)
    elif isinstance(population, PopulationSizes):
        notes = (*notes, population.basis)
    return Measure(
        "marketer",
        journalist(classes, population).mean,
        "share of records",
        "lower",
        "The share of all records that someone who links the whole table to named people is expected to hit.",
        _DANKAR,
        notes=notes,
    )


def average_risk(classes: EquivalenceClasses) -> Measure:
    """Average re-identification risk: the mean of the prosecutor risk over *records*, not over classes.

    At person level it equals classes / records (El Emam 2013).

    >>> average_risk(EquivalenceClasses.from_columns({"zip": [1, 1, 1, 1, 2]})).value
    0.4
    """
    risk = prosecutor(classes)
    return Measure(
        "average-risk",
        risk.mean,
        "probability",
        "lower",
        "The chance to name the right person behind a record, on average over all records.",
        _SOURCE,
        per_class=risk.values,
        notes=_notes(classes),
    )


def share_above(classes: EquivalenceClasses, threshold: float) -> Measure:
    """Share of the records whose prosecutor risk is greater than ``threshold`` (El Emam 2013).

    >>> share_above(EquivalenceClasses.from_columns({"zip": [1, 1, 1, 1, 2]}), 0.25).value
    0.2
    """
    if not 0.0 <= threshold <= 1.0:
        raise InvalidParameter("the threshold of a risk lies outside [0, 1]", remedy="give a probability")
    risk = prosecutor(classes)
    return Measure(
        "share-above",
        risk.share_above(threshold),
        "share of records",
        "lower",
        Sentence(
            "The share of records whose person can be named with a chance above {threshold:g}.",
            threshold=threshold,
        ),
        _SOURCE,
        per_class=risk.values,
        notes=_notes(classes),
    )


def unique_records(classes: EquivalenceClasses) -> Measure:
    """Share of sample uniques: records whose class holds one person only (El Emam 2013).

    >>> unique_records(EquivalenceClasses.from_columns({"zip": [1, 1, 1, 1, 2]})).value
    0.2
    """
    alone = classes.persons == 1
    return Measure(
        "sample-uniques",
        float(classes.all_records[alone].sum() / classes.total),
        "share of records",
        "lower",
        "The share of records that belong to someone who is alone with this combination of quasi-identifiers.",
        _SOURCE,
        per_class=alone.astype(np.float64),
        notes=_notes(classes),
    )


def _notes(classes: EquivalenceClasses) -> tuple[str, ...]:
    return (_EVENT,) if classes.event_level else ()


def _population(classes: EquivalenceClasses, population: PopulationSizes | ArrayLike | None) -> FloatArray:
    if population is None:
        return classes.persons.astype(np.float64)
    given = population.people if isinstance(population, PopulationSizes) else population
    people = np.asarray(given, dtype=np.float64)
    if people.shape != (len(classes),):
        raise InvalidParameter(
            Sentence("{size} population sizes for {classes} classes", size=people.size, classes=len(classes)),
            remedy="give one number per class",
        )
    if not bool((people >= classes.persons - 1e-9).all()):
        raise InvalidParameter(
            "a class has fewer people in the population than in the table",
            remedy="check that the population sizes are in the order of the classes",
        )
    return people
