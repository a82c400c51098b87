"""Classes of a release beside what the people of its original guard, which the release does not tell."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, fields

import numpy as np

from discreet.classes.equivalence import EquivalenceClasses
from discreet.classes.histogram import Histogram
from discreet.classes.pair import Pair, Told
from discreet.table.domain import Domain
from discreet.table.hierarchies.hierarchy import Hierarchy
from discreet.types import IntArray


@dataclass(frozen=True)
class GuardedClasses(EquivalenceClasses):
    """Classes with the nodes that those guard whom their labels may stand for, suppressed people among them.

    >>> original = EquivalenceClasses.from_columns({"age": [31, 34, 47]}, guards={"wish": ["lung", None, "gut"]})
    >>> release = EquivalenceClasses.from_columns({"age": ["47", "[30, 39]", "[30, 39]"]})
    >>> told = GuardedClasses.of(release, original, {}, {}).histogram("wish")
    >>> [(int(c), told.domain.label(v)) for c, v in zip(told.class_of_entry, told.values)]
    [(0, 'gut'), (1, 'lung')]
    """

    guarding: Mapping[str, Histogram] = field(kw_only=True, repr=False)

    @classmethod
    def of(
        cls,
        released: EquivalenceClasses,
        original: EquivalenceClasses,
        hierarchies: Mapping[str, Hierarchy],
        told: Told,
    ) -> GuardedClasses:
        known = original.project(list(released.names))
        pair = Pair.of(known, released, hierarchies=hierarchies, told=told)
        guarding = {}
        for domain in known.guards:
            own = known.histogram(domain.name)
            nodes = [code for code in np.unique(own.values).tolist() if code != domain.null_code]
            there = np.zeros((len(released), len(nodes)), dtype=bool)
            for place, code in enumerate(nodes):
                records = np.zeros(len(known))
                chosen = own.values == code
                records[own.class_of_entry[chosen]] = own.records[chosen]
                there[:, place] = pair.fitting_amounts(records) > 0
            guarding[domain.name] = _histogram(domain, there, np.array(nodes, dtype=np.int64))
        own_parts = {part.name: getattr(released, part.name) for part in fields(EquivalenceClasses)}
        return cls(**{**own_parts, "guards": known.guards}, guarding=guarding)

    def _count_values(self, name: str) -> Histogram:
        return self.guarding.get(name) or super()._count_values(name)


def _histogram(
    domain: Domain, there: np.ndarray[tuple[int, int], np.dtype[np.bool_]], nodes: IntArray
) -> Histogram:
    indptr = np.append(0, np.cumsum(there.sum(axis=1)))
    values = nodes[np.nonzero(there)[1]]
    return Histogram(domain, indptr, values.astype(np.uint32), np.ones(len(values), dtype=np.int64))
