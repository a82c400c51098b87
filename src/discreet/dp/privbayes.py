"""PrivBayes: a network in which each column follows from up to two others. Zhang et al., *PrivBayes*, 2017; a baseline.

Columns join one after the other, each with the columns that it depends on most, chosen with noise; the table of each with its
parents is counted with noise, and rows are drawn column by column. Tables are not made to agree: AIM and MST come nearer.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Sequence

import numpy as np

from discreet.dp.junction import drawn_given
from discreet.dp.merged import FIXED, MergedColumns
from discreet.dp.noise import gaussian, noisy_max_rho
from discreet.dp.tree import MeasuredTable, on_simplex
from discreet.types import FloatArray, IntArray

DEGREE = 2
"""So many parents has a column at most."""
CHOICE = 0.3
"""What of the amount goes to the choice of parents, as in the paper; the rest goes to tables."""
MOST_CELLS = 10_000
"""Parents with which a column has more cells are not chosen, unless there are no others: noise would fill them."""
Family = tuple[int, tuple[int, ...]]
"""A column and its parents."""


class NetworkModel(MergedColumns):
    """Columns in which rare values are one, and the network that rows are drawn from."""

    def __init__(
        self,
        columns: Sequence[IntArray],
        measured: Sequence[MeasuredTable],
        total: float,
        max_rows: int,
        rho: float,
    ) -> None:
        super().__init__(columns, measured, total, max_rows)
        rounds = max(1, len(columns) - 1)
        self.rho_choice, self.rho_table = rho * CHOICE / rounds, rho * (1 - CHOICE) / rounds
        self.shares = [on_simplex(table.counts, total) / total for table in self.small]

    def fit(self) -> list[tuple[int, ...]]:
        """Measure, and say which tables of several columns are kept."""
        self.network: list[tuple[Family, FloatArray]] = []
        joined = [0]
        while len(joined) < len(self.sizes):
            column, parents = self.chosen(joined)
            self.network.append(((column, parents), self.measured((*parents, column))))
            joined.append(column)
        return [tuple(sorted((*parents, column))) for (column, parents), _ in self.network]

    def draw(self, rows: int) -> list[IntArray]:
        """So many rows as codes."""
        drawn = {0: drawn_given(np.zeros(rows, dtype=np.int64), self.shares[0][None, :])}
        for (column, parents), table in self.network:
            known = np.ravel_multi_index([drawn[i] for i in parents], table.shape[:-1])
            drawn[column] = drawn_given(known, table.reshape(-1, table.shape[-1]))
        return self.told_apart([drawn[i] for i in range(len(self.sizes))])

    def chosen(self, joined: Sequence[int]) -> Family:
        """A further column and its parents, by the exponential mechanism.

        The score is Σ|count(column, parents) − count(parents)·share(column)|, how far they are from independence (R of the paper, in
        rows). Shares are noisy and known, so a row changes the first count by 1 and the second by 1 in all, and the score by at
        most 2; rounding adds one unit.
        """
        families = [
            (column, parents)
            for column in range(len(self.sizes))
            if column not in joined
            for parents in itertools.combinations(sorted(joined), min(DEGREE, len(joined)))
        ]
        small = [family for family in families if self.cells(family) <= MOST_CELLS]
        families = small or [min(families, key=self.cells)]
        place = noisy_max_rho(
            [self.score(family) for family in families],
            sensitivity=2 * FIXED * self.max_rows + 1,
            rho=self.rho_choice,
        )
        return families[place]

    def cells(self, family: Family) -> int:
        column, parents = family
        return math.prod(self.sizes[i] for i in (*parents, column))

    def score(self, family: Family) -> int:
        column, parents = family
        together = self.count((*parents, column))
        independent = together.sum(axis=-1, keepdims=True) * self.shares[column]
        return round(FIXED * float(np.abs(together - independent).sum()))

    def measured(self, columns: tuple[int, ...]) -> FloatArray:
        """A table with noise, without what is negative."""
        true = self.count(columns)
        noisy = gaussian(true.ravel().tolist(), sensitivity=float(self.max_rows), rho=self.rho_table)
        return on_simplex(np.array(noisy.values, dtype=np.float64), self.total).reshape(true.shape)
