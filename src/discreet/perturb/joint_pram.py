"""PRAM of several columns at once: combinations of what goes together become others, so that they stay plausible."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
import pyarrow as pa

from discreet.errors import InvalidParameter, UnsuitableColumn
from discreet.perturb.base import Perturbation, groups, need_number, whole
from discreet.perturb.pram import MOST_VALUES, Pram, beliefs_told, local_epsilon, rounded_up
from discreet.perturb.randomness import Randomness
from discreet.perturb.slicing import associated
from discreet.perturb.synthesis import strange_combinations
from discreet.sentences import Sentence
from discreet.types import FloatArray, IntArray


@dataclass(frozen=True)
class JointPram(Perturbation):
    """Columns that depend on each other are put in ``clusters``, and the combination of a cluster becomes another by one matrix.

    Which columns go together follows from their mean-square contingency φ² (`slicing.associated`). The combinations that occur are
    the values: with ``keep`` a combination stays with that probability, all others being equally likely, with ``epsilon`` by
    randomised response among them, keep = e^ε / (e^ε + m - 1). So no combination appears that nobody has, and dependences within a cluster
    only fade towards equal shares, which :func:`~discreet.perturb.pram.estimated_shares` undoes with :meth:`matrix`. A null is a value like any other. Domingo-Ferrer and
    Soria-Comas, "Multi-dimensional randomized response", IEEE TKDE 2020; review of anonymization procedures for tabular data, 2023, 5.5.

    >>> rows = pa.table({"sex": ["f", "m"] * 4, "ill": ["a", "b"] * 4, "town": list("xxyyxxyy")})
    >>> step = JointPram(("sex", "ill", "town"), clusters=2, epsilon=1)
    >>> step.clustered(rows), step.matrix(2).round(3).tolist()
    ([('sex', 'ill'), ('town',)], [[0.731, 0.269], [0.269, 0.731]])
    """

    id: ClassVar[str] = "joint-pram"
    title: ClassVar[str] = "post-randomisation of combinations"
    says: ClassVar[str] = "Combinations of columns that go together become others with a known probability."
    keeps: ClassVar[str] = "every combination of a cluster is one that somebody has"
    source: ClassVar[str] = "Domingo-Ferrer and Soria-Comas, Multi-dimensional randomized response, 2020"
    seen_as_a_whole: ClassVar[bool] = True

    clusters: int = 1
    keep: float | None = None
    epsilon: float | None = None

    def check(self) -> None:
        need_number(self.id, "clusters", self.clusters, above=1, allow=True)
        if not isinstance(self.clusters, int) or self.clusters > len(self.columns):
            raise InvalidParameter(
                Sentence(
                    "clusters of {step} must be a whole number, at most that of its columns", step=self.id
                ),
                remedy="ask for fewer clusters, or name more columns",
            )
        if (self.keep is None) == (self.epsilon is None):
            raise InvalidParameter(
                Sentence("{step} takes one of keep and epsilon", step=self.id),
                remedy="write for example keep = 0.9",
            )
        if self.keep is not None:
            need_number(self.id, "keep", self.keep, most=1, allow=True)
        if self.epsilon is not None:
            need_number(self.id, "epsilon", self.epsilon, most=100)

    def clustered(self, rows: pa.Table) -> list[tuple[str, ...]]:
        """Which columns are changed together."""
        return associated(rows, self.columns, self.clusters, self.id)

    def matrix(self, count: int) -> FloatArray:
        """The probabilities of so many combinations."""
        return Pram(("combination",), keep=self.keep, epsilon=self.epsilon).probabilities(
            [str(i) for i in range(count)]
        )

    def _combinations(self, rows: pa.Table, names: tuple[str, ...]) -> tuple[IntArray, IntArray]:
        """The combination of each record, and a record that has each."""
        _, first, code = np.unique(groups(rows, names), return_index=True, return_inverse=True)
        if len(first) > MOST_VALUES:
            raise UnsuitableColumn(
                Sentence(
                    "{names} have more than {most:,} combinations, too many for a matrix of {step}",
                    names=tuple(names),
                    most=MOST_VALUES,
                    step=self.id,
                ),
                remedy="round or generalise them first, or ask for more clusters",
            )
        return code.astype(np.int64), first.astype(np.int64)

    def changed(self, rows: pa.Table, randomness: Randomness) -> dict[str, pa.Array]:
        new: dict[str, pa.Array] = {}
        for names in self.clustered(rows):
            code, first = self._combinations(rows, names)
            draws, others = randomness.uniform(len(code)), randomness.below(max(len(first) - 1, 1), len(code))
            stay = float(self.matrix(len(first))[0, 0]) if len(first) > 1 else 1.0
            # Any of the others, which are numbered without the own one.
            moved = others + (others >= code)
            taken = first[np.where(draws < stay, code, moved)] if len(first) > 1 else first[code]
            new |= {name: whole(rows[name]).take(pa.array(taken)) for name in names}
        return {name: new[name] for name in self.columns}

    def guarantee(self, rows: pa.Table) -> str:
        told = []
        for names in self.clustered(rows):
            count = len(self._combinations(rows, names)[1])
            epsilon = local_epsilon(self.matrix(count))
            if math.isinf(epsilon):
                return Sentence("no formal guarantee: some value cannot become some other")
            told.append(
                Sentence(
                    "local differential privacy of {names} with ε = {epsilon} among the combinations that occur",
                    names=tuple(names),
                    epsilon=rounded_up(epsilon),
                )
            )
        return Sentence("{parts:; }", parts=tuple(told))

    def certainty(self, rows: pa.Table) -> str:
        clusters = [(names, len(self._combinations(rows, names)[1])) for names in self.clustered(rows)]
        return beliefs_told({", ".join(names): self.matrix(count) for names, count in clusters})

    def complaint(self, before: pa.Table, after: pa.Table, places: IntArray) -> str:
        for names in self.clustered(before):
            shown = [name for name in names if name in after.column_names]
            if shown and strange_combinations(before.select(shown), after.select(shown)):
                return f"{', '.join(shown)} show combinations that nobody has"
        return ""
