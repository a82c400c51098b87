"""Who of a population shares the values of each class: counted in a table of it, weighed, or by one fraction."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import lru_cache
from pathlib import Path

import numpy as np
import pyarrow.compute as pc

from discreet.classes import EquivalenceClasses
from discreet.classes.population import Population
from discreet.engine.read import read
from discreet.errors import InvalidPolicy
from discreet.measure import Measure
from discreet.policy import Policy
from discreet.policy.hierarchies import named_hierarchies
from discreet.privacy import DeltaPresence, KMap
from discreet.privacy.registry import MODELS
from discreet.release.codebook import Given as Codebook
from discreet.release.codebook import told_of
from discreet.release.profile import load_profile
from discreet.risk.prosecutor import PopulationSizes
from discreet.sentences import Sentence
from discreet.table import DataType, Table

Missing = tuple[str, ...]


def population_sizes(
    policy: Policy, classes: EquivalenceClasses, codebook: Codebook | None = None
) -> PopulationSizes | None:
    """How many people of the population share each class's values, by the best that the policy knows of it.

    Of a release the ``codebook`` tells short labels.

    A table of the population is counted; else the sampling weights are added up, or all classes are taken to be
    sampled by the one fraction.
    """
    if policy.population is not None:
        people = _count_population(policy, classes)
        told = None if codebook is None else told_of(codebook, classes)
        return PopulationSizes.by_table(classes, people, named_hierarchies(policy, people), told)
    weighed = PopulationSizes.by_weights(classes)
    if weighed is None and policy.sampling_fraction is not None:
        return PopulationSizes.by_fraction(classes, policy.sampling_fraction)
    return weighed


def sampled_share(policy: Policy, classes: EquivalenceClasses) -> float | None:
    """Which share of the population is in the table, as the policy says it or the sampling weights add up to it."""
    if policy.sampling_fraction is not None or classes.total_weight is None:
        return policy.sampling_fraction
    return min(1.0, classes.total_persons / classes.total_weight)


def beside_population(
    classes: EquivalenceClasses, policy: Policy, codebook: Codebook | None = None
) -> EquivalenceClasses:
    """The classes with the population of which they are a part, where a requirement asks for it."""
    if classes.outside is not None or policy.population is None or not _asks(policy):
        return classes
    people = _count_population(policy, classes)
    if people.event_level and people.total_persons < people.total:
        raise InvalidPolicy(
            [
                "the table of the population has several rows of a person, so that nobody can say how many people share a "
                "label"
            ],
            remedy="give a table of the population with one row per person",
        )
    told = {} if codebook is None else told_of(codebook, classes)
    return replace(classes, outside=Population(people, named_hierarchies(policy, people), told))


def with_people(classes: EquivalenceClasses, counted: PopulationSizes) -> EquivalenceClasses:
    """The classes with what was counted for them."""
    beside = replace(classes)
    beside.__dict__["class_population"] = counted.people
    return beside


def population_measures(classes: EquivalenceClasses, counted: PopulationSizes) -> list[Measure]:
    """k-map and δ-presence of classes beside a table of the population."""
    beside = with_people(classes, counted)
    measures = [model.measure(beside) for model in (KMap(1), DeltaPresence(1.0))]
    return [replace(measure, notes=(counted.basis, *measure.notes)) for measure in measures]


def _asks(policy: Policy) -> bool:
    """Whether the policy or its profile requires something that counts the population."""
    profile = load_profile(policy.profile)
    named = {str(requirement.entry["model"]) for requirement in profile.requirements}
    return any(model.needs_population for model in policy.requirements) or any(
        MODELS[name].id in (KMap.id, DeltaPresence.id) for name in named if name in MODELS
    )


def _count_population(policy: Policy, classes: EquivalenceClasses) -> EquivalenceClasses:
    """The people of the population by the quasi-identifiers of some classes."""
    assert policy.population is not None
    given = policy.read.get("missing", ())
    missing = tuple(map(str, given)) if isinstance(given, Sequence) else ()
    types = tuple((c.name, c.type) for c in policy.columns if c.type and c.name in classes.names)
    asked = (
        policy.population,
        missing,
        policy.names,
        classes.names,
        types,
        policy.person,
        policy.population_count,
    )
    try:
        seen = Path(policy.population).stat()
    except OSError:
        return _counted(*asked)
    return _remembered(asked, (seen.st_mtime_ns, seen.st_size))


Asked = tuple[
    str, Missing, tuple[str, ...], tuple[str, ...], tuple[tuple[str, DataType], ...], str | None, str | None
]


@lru_cache(maxsize=1)
def _remembered(asked: Asked, state: tuple[int, int]) -> EquivalenceClasses:
    """The population as it was counted, as long as its file stays as it is: one release asks several times."""
    return _counted(*asked)


def _counted(
    file: str,
    missing: Missing,
    expected: tuple[str, ...],
    names: tuple[str, ...],
    types: tuple[tuple[str, DataType], ...],
    person: str | None,
    count: str | None,
) -> EquivalenceClasses:
    table = read(file, missing=missing, expected=expected)
    lacking = [name for name in (*names, *([count] if count else [])) if name not in table.names]
    if lacking:
        raise InvalidPolicy(
            [
                Sentence(
                    "the table of the population, {name}, has no column {lacking}",
                    name=table.source.name,
                    lacking=tuple(lacking),
                )
            ],
            remedy="give a table that has all quasi-identifiers, under the same names",
        )
    if count is not None:
        table = _without_nobody(table, count)
    return table.engine.count(
        table.retype(dict(types)),
        quasi_identifiers=names,
        person=person if person in table.names and count is None else None,
        weight=count,
    )


def _without_nobody(table: Table, count: str) -> Table:
    """A table of counts without the rows that stand for nobody."""
    rows = table.engine.to_arrow(table)
    try:
        people = pc.cast(rows[count], "float64")
        sound = not people.null_count and bool(pc.all(pc.greater_equal(people, 0)).as_py())
    except (ValueError, TypeError):
        sound = False
    if not sound or not np.isfinite(people.to_numpy()).all():
        raise InvalidPolicy(
            [
                Sentence(
                    "column {count!r} of the table of the population does not say in every row how many people it "
                    "stands for",
                    count=count,
                )
            ],
            remedy="give every row a number of at least 0",
        )
    return read(rows.filter(pc.greater(people, 0)))
