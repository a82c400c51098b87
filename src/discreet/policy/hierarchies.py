"""The hierarchies of a policy's quasi-identifiers: read from files, built, or learned from the data."""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path

from discreet.arrays import tallied
from discreet.classes import EquivalenceClasses
from discreet.errors import DiscreetError, InvalidPolicy
from discreet.policy.policy import Policy
from discreet.policy.suggest import CONFIDENT
from discreet.sentences import Sentence
from discreet.table import DataType, Domain
from discreet.table.hierarchies.builder import Builder
from discreet.table.hierarchies.hierarchy import LEARNED, Hierarchy, Ladder
from discreet.table.hierarchies.known import KNOWN, known_hierarchy
from discreet.table.hierarchies.learn import hierarchy_for
from discreet.table.identifiers import recognise
from discreet.types import AnyIntArray


@dataclass(frozen=True)
class FittedHierarchy:
    """A hierarchy on the values of one quasi-identifier, and where it came from."""

    hierarchy: Hierarchy
    ladder: Ladder
    origin: str

    @property
    def learned(self) -> bool:
        return self.origin == LEARNED

    @property
    def assumed(self) -> bool:
        """Whether nobody gave it."""
        return self.origin in ASSUMED

    def known(self, level: int) -> dict[str, str]:
        """What every value of the hierarchy becomes at a level, also those that the table does not have."""
        labels, nodes = self.hierarchy.labels, self.hierarchy.nodes[level]
        return {leaf: labels[level][node] for leaf, node in zip(labels[0], nodes, strict=True)}


ASSUMED = (LEARNED, *KNOWN)
"""Where hierarchies come from that nobody gave."""


def hierarchies(policy: Policy, classes: EquivalenceClasses) -> list[FittedHierarchy]:
    """The hierarchy of every quasi-identifier in the order of the classes; all problems at once.

    >>> classes = EquivalenceClasses.from_columns({"age": [31, 34, 47, 52]})
    >>> from discreet.table.hierarchies.numbers import Intervals
    >>> policy = Policy.of(quasi_identifiers=["age"]).generalise({"age": Intervals(widths=(10, 20))})
    >>> [(age.ladder.name, age.ladder.height, age.origin) for age in hierarchies(policy, classes)]
    [('age', 3, 'built: intervals')]
    """
    fitted, problems = [], []
    for domain, codes in zip(classes.attributes, classes.codes, strict=True):
        column = policy.column(domain.name)
        given = column.hierarchy if column else None
        kind = (column.type if column else None) or domain.type
        totals = tallied(codes, classes.records, domain.size)
        try:
            fitted.append(fit(domain, totals, given, type=kind))
        except DiscreetError as error:
            problems.append(Sentence("{name}: {problem}", name=domain.name, problem=error.sentence))
    if problems:
        raise InvalidPolicy(
            problems, remedy="correct the hierarchies, or leave them out to have them learned"
        )
    return fitted


def fit(
    domain: Domain, totals: AnyIntArray, given: Builder | str | None, *, type: DataType | None = None
) -> FittedHierarchy:
    """The hierarchy of one column by what its policy names: a builder, a file, or nothing.

    >>> import numpy as np
    >>> import pyarrow as pa
    >>> ages = Domain("age", pa.array([31, 34, 47, 52]))
    >>> fit(ages, np.array([1, 1, 5, 1]), None).origin
    'learned from the data'
    """
    hierarchy, origin = _build(domain, totals, given, type)
    assumed = origin if origin in ASSUMED else None
    return FittedHierarchy(hierarchy, replace(hierarchy.ladder(domain), assumed=assumed), origin)


def named_hierarchies(policy: Policy, classes: EquivalenceClasses) -> dict[str, Hierarchy]:
    """The hierarchies that a policy names or that are known, to read labels by; they need not have all values.

    >>> from discreet.table.hierarchies.numbers import Intervals
    >>> policy = Policy.of(quasi_identifiers=["age", "sex"]).generalise({"age": Intervals(widths=(10,))})
    >>> list(named_hierarchies(policy, EquivalenceClasses.from_columns({"age": [31, 34], "sex": ["f", "m"]})))
    ['age']
    """
    named = {}
    for domain, codes in zip(classes.attributes, classes.codes, strict=True):
        column = policy.column(domain.name)
        if column is not None and (column.hierarchy is not None or _known(domain)):
            totals = tallied(codes, classes.records, domain.size)
            named[domain.name] = _build(domain, totals, column.hierarchy, column.type)[0]
    return named


def _build(
    domain: Domain, totals: AnyIntArray, given: Builder | str | None, type: DataType | None
) -> tuple[Hierarchy, str]:
    """A hierarchy, and where it came from."""
    spec: Builder | Hierarchy | None
    origin: str
    if isinstance(given, str):
        spec, origin = Hierarchy.read(given, domain.name), Sentence("read from {name}", name=Path(given).name)
    elif given is not None:
        spec, origin = given, Sentence("built: {id}", id=given.id)
    else:
        spec, origin = _known(domain) or (None, LEARNED)
    return hierarchy_for(domain, totals, spec=spec, column_type=type), origin


def _known(domain: Domain) -> tuple[Builder, str] | None:
    """How values are grouped by what is known of them, such as postcodes, countries and diseases, and why."""
    labels = [domain.label(code) for code in range(min(len(domain.values), 200))]
    kinds = [finding.kind.id for finding in recognise(domain.name, labels) if finding.confidence >= CONFIDENT]
    return known_hierarchy(domain, kinds[0]) if kinds else None
