"""A population that was counted by itself, and who of it shares the values of classes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property

import numpy as np

from discreet.classes.equivalence import EquivalenceClasses
from discreet.classes.pair import Pair, Told
from discreet.table.domain import Domain
from discreet.table.hierarchies.hierarchy import Hierarchy
from discreet.table.meaning import Meaning
from discreet.types import FloatArray, IntArray


@dataclass(frozen=True)
class Population:
    """The counted people of a population; ``hierarchies`` and ``told`` help to read the labels of a release.

    >>> people = EquivalenceClasses.from_columns({"age": [31, 34, 47, 47]})
    >>> Population(people).people(EquivalenceClasses.from_columns({"age": ["47", "[30, 39]"]}))
    array([2., 2.])
    """

    counted: EquivalenceClasses
    hierarchies: Mapping[str, Hierarchy] = field(default_factory=dict, repr=False)
    told: Told = field(default_factory=dict, repr=False)

    @cached_property
    def amounts(self) -> FloatArray:
        """The people of each of its classes: as counted, or as a column says."""
        weighed = self.counted.class_weights
        return self.counted.persons.astype(np.float64) if weighed is None else weighed

    def people(self, classes: EquivalenceClasses) -> FloatArray:
        """How many people the values of each class may stand for."""
        known = self.among(classes.names)
        pair = Pair.of(known.counted, classes, hierarchies=self.hierarchies, told=self.told)
        return pair.fitting_amounts(known.amounts)

    def among(self, names: Sequence[str]) -> Population:
        """The same people by fewer attributes."""
        if tuple(names) == self.counted.names:
            return self
        return replace(self, counted=self.counted.project(list(names)))

    def labelled(self, name: str, labels: Domain) -> IntArray:
        """Of each value of an attribute the label that may stand for it, the narrowest of several; -1 if none does.

        A null, which says nothing to who knows no nulls, stands for nulls only.
        """
        own = self.counted.attributes[self.counted.index(name)]
        meaning = Meaning.of(own, labels, self.hierarchies.get(name), self.told.get(name))
        label = np.full(own.size, -1, dtype=np.int64)
        for code in np.argsort(-meaning.sizes, kind="stable").tolist():
            if code != labels.null_code or own.has_null:
                label[meaning.members(code)] = code
        return label
