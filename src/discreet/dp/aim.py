"""AIM: tables of two and three columns, chosen one after the other where the model is worst. McKenna et al., *AIM*, 2022.

After the single columns, in each round a table is chosen by the exponential mechanism on how far the rows of the model are
from it, less what noise alone would make of it; it is counted with noise, and the model is fitted anew on a junction tree
(`dp.junction`) of limited size. Rounds that change less than half of what their noise would are followed by dearer ones.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Sequence

import numpy as np

from discreet.dp.junction import Columns, JunctionTree, cells_of, cliques_of, draw_rows, fit_tree
from discreet.dp.merged import FIXED, MergedColumns, table_of
from discreet.dp.noise import gaussian, noisy_max_rho
from discreet.dp.tree import MeasuredTable
from discreet.types import FloatArray, IntArray

ROUNDS = 2
"""So many rounds per column are planned for; dearer ones make them fewer."""
CHOICE = 0.1
"""What of a round's amount goes to the choice; the rest goes to the table."""
MOST_CELLS = 10_000
"""Tables with more cells are not measured: noise would fill them."""
TREE_CELLS = 300_000
"""So many cells the junction tree may have once everything is spent; before, as much of them as is spent."""
MOST_TRIPLES = 2500
"""With more of them only pairs are measured: each round looks at all."""
LOOKED_AT = 50_000
"""So many rows of the model are drawn at most to see how far it is from a table."""
HELD_BACK = math.sqrt(2 / math.pi) / 2
"""Half of the mean size of Gaussian noise of scale 1: so much of its noise is held against each cell of a table."""


class AdaptiveModel(MergedColumns):
    """Columns in which rare values are one, the tables that were measured, and the model that follows from them."""

    columns_share = 0.5

    def __init__(
        self,
        columns: Sequence[IntArray],
        measured: Sequence[MeasuredTable],
        total: float,
        max_rows: int,
        rho: float,
    ) -> None:
        super().__init__(columns, measured, total, max_rows)
        self.rho = self.left = rho
        self.tables: dict[Columns, MeasuredTable] = {(i,): table for i, table in enumerate(self.small)}
        pairs, triples = (
            [
                columns
                for columns in itertools.combinations(range(len(self.sizes)), ways)
                if math.prod(self.sizes[i] for i in columns) <= MOST_CELLS
            ]
            for ways in (2, 3)
        )
        self.candidates = [*pairs, *(triples if len(triples) <= MOST_TRIPLES else [])]

    def fit(self) -> list[Columns]:
        """Measure, and say which tables of several columns are kept."""
        model = fit_tree(self.tables, self.sizes)
        amount = self.rho / (ROUNDS * len(self.sizes))
        while self.left > 0 and self.candidates:
            amount = self.left if self.left < 2 * amount else amount
            drawn = draw_rows(model, min(LOOKED_AT, max(1, round(model.total))))
            columns = self.chosen(drawn, amount)
            scale = self.measure(columns, amount * (1 - CHOICE))
            self.left = 0.0 if amount == self.left else self.left - amount
            model = fit_tree(self.tables, self.sizes)
            if self.unchanged(model, drawn, columns, scale):
                amount *= 4
        self.model, self.total = model, model.total
        return [columns for columns in self.tables if len(columns) > 1]

    def draw(self, rows: int) -> list[IntArray]:
        """So many rows as codes."""
        return self.told_apart(draw_rows(self.model, rows))

    def chosen(self, drawn: Sequence[IntArray], amount: float) -> Columns:
        """The table that the model is farthest from, by the exponential mechanism: (0.1 · amount)-zCDP.

        The score of a table of w columns is w · (Σ|count − drawn| − ½√(2/π)·σ·cells). Drawn rows and σ follow from what was measured
        before, so a row changes it by at most w ≤ 3; rounding adds one unit.
        """
        scale = self.max_rows / math.sqrt(2 * amount * (1 - CHOICE))
        allowed = TREE_CELLS * (1 - (self.left - amount) / self.rho)
        cells = {columns: self.cells(columns) for columns in self.candidates}
        fitting = [columns for columns in cells if cells[columns] <= allowed]
        fitting = fitting or [min(cells, key=lambda columns: cells[columns])]
        scores = []
        for columns in fitting:
            true = self.count(columns)
            apart = float(np.abs(true - self.expected(drawn, columns)).sum())
            scores.append(round(FIXED * len(columns) * (apart - HELD_BACK * scale * true.size)))
        place = noisy_max_rho(scores, sensitivity=FIXED * 3 * self.max_rows + 1, rho=amount * CHOICE)
        return fitting[place]

    def expected(self, drawn: Sequence[IntArray], columns: Columns) -> FloatArray:
        """A table of the model, from rows that were drawn from it."""
        counts = table_of(drawn, columns, self.sizes).astype(np.float64)
        return counts * (self.total / len(drawn[0]))

    def cells(self, columns: Columns) -> int:
        """How many cells the junction tree has with a further table."""
        return cells_of(cliques_of([*self.tables, columns], self.sizes), self.sizes)

    def measure(self, columns: Columns, rho: float) -> float:
        """Count a table with noise, and keep it together with what was counted of it before; the scale of the noise."""
        true = self.count(columns)
        noisy = gaussian(true.ravel().tolist(), sensitivity=float(self.max_rows), rho=rho)
        counts = np.array(noisy.values, dtype=np.float64).reshape(true.shape)
        made = MeasuredTable(counts, noisy.scale**2)
        if (before := self.tables.get(columns)) is not None:
            weights = 1 / before.variance, 1 / made.variance
            mean = (before.counts * weights[0] + counts * weights[1]) / sum(weights)
            made = MeasuredTable(mean, 1 / sum(weights))
        self.tables[columns] = made
        return noisy.scale

    def unchanged(
        self, model: JunctionTree, drawn: Sequence[IntArray], columns: Columns, scale: float
    ) -> bool:
        """Whether a measurement changed the model by less than half of what its noise alone would."""
        after = model.marginal(columns)
        assert after is not None
        before = self.expected(drawn, columns)
        return bool(np.abs(after - before).sum() <= HELD_BACK * scale * after.size)
