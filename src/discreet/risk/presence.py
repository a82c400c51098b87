"""Where the table is a sample of a population that others know: k-map, and whether being in the table can be told.

Both compare f, the people of a class in the table, with F, the people of the population whom the class's values may stand
for, counted in a table of the population.
"""

from __future__ import annotations

import numpy as np

from discreet.classes import EquivalenceClasses
from discreet.measure import Measure
from discreet.risk.prosecutor import PopulationSizes
from discreet.sentences import Sentence


def k_map(classes: EquivalenceClasses, population: PopulationSizes) -> Measure:
    """The fewest people of the population among whom anybody of the table hides: min over classes of F.

    A table that is not k-anonymous may be a k-map of its population: a person alone in the table is not alone outside.
    Sweeney, "Computational disclosure control", 2001.

    >>> classes = EquivalenceClasses.from_columns({"age": ["[30, 39]", "47"]})
    >>> people = EquivalenceClasses.from_columns({"age": [31, 34, 38, 47, 47]})
    >>> k_map(classes, PopulationSizes.by_table(classes, people, {})).value
    2.0
    """
    return Measure(
        "k-map",
        float(population.people.min()) if len(classes) else 0.0,
        "persons",
        "higher",
        "The fewest people of the population who share the quasi-identifiers of somebody in the table.",
        "Sweeney, Computational disclosure control, 2001",
        per_class=population.people,
        notes=(population.basis,),
    )


def delta_presence(classes: EquivalenceClasses, population: PopulationSizes) -> Measure:
    """The greatest chance with which being in the table can be told of somebody of the population: max over classes of f / F.

    It is δ max of (δ min, δ max)-presence; the least f / F of all classes stands in the notes. For whom no class fits, it is
    known that they are not in the table. Nergiz, Atzori and Clifton, "Hiding the presence of individuals from shared databases",
    SIGMOD 2007.

    >>> classes = EquivalenceClasses.from_columns({"age": ["[30, 39]", "47"]})
    >>> people = EquivalenceClasses.from_columns({"age": [31, 34, 38, 47, 47]})
    >>> delta_presence(classes, PopulationSizes.by_table(classes, people, {})).value
    0.5
    """
    chance = classes.persons / np.maximum(population.people, 1.0)
    return Measure(
        "delta-presence",
        float(chance.max()) if len(classes) else 0.0,
        "probability",
        "lower",
        "The greatest chance with which it can be told that somebody of the population is in the table.",
        "Nergiz, Atzori and Clifton, Hiding the presence of individuals from shared databases, 2007",
        per_class=chance,
        notes=(
            population.basis,
            Sentence(
                "of those whom a class fits, everybody is in the table with a chance of at least {least:.3g}",
                least=float(chance.min()) if len(classes) else 0.0,
            ),
        ),
    )
