"""MST: pairs of columns that form a tree. McKenna, Miklau and Sheldon, *Winning the NIST Contest*, 2021.

Pairs that depend most on each other are chosen with noise until they form a tree, and counted with noise; inference on the
tree is exact (`dp.tree`).
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Sequence

import numpy as np

from discreet.dp.merged import FIXED, MergedColumns
from discreet.dp.noise import gaussian, noisy_max_rho
from discreet.dp.tree import MeasuredTable, Pair, draw, fit, on_simplex
from discreet.types import IntArray

CHOICE = 0.125
"""What of the amount goes to the choice of pairs; the rest goes to pairs."""
PENALTY = 0.5
"""How much of the noise that a pair would get is held against it when pairs are chosen."""


class PairModel(MergedColumns):
    """Columns in which rare values are one, the choice of pairs, and the rows that are drawn."""

    def __init__(
        self,
        columns: Sequence[IntArray],
        measured: Sequence[MeasuredTable],
        total: float,
        max_rows: int,
        rho: float,
    ) -> None:
        super().__init__(columns, measured, total, max_rows)
        self.rho_choice = rho * CHOICE
        self.rho_pair = rho * (1 - CHOICE) / max(1, len(columns) - 1)

    def fit(self) -> list[tuple[int, ...]]:
        """Measure, and say which pairs are kept."""
        pairs = self.chosen(self.rho_choice)
        self.tree = fit(self.small, self.measured(pairs))
        self.total = self.tree.total
        return [*pairs]

    def draw(self, rows: int) -> list[IntArray]:
        """So many rows as codes."""
        return self.told_apart(draw(self.tree, rows))

    def chosen(self, rho: float) -> list[Pair]:
        """A tree of pairs that depend on each other, one after the other by the exponential mechanism.

        The score is how far a pair is from independence, Σ|count − expected|, less a part of the noise that it would get. What is
        expected follows from noisy columns, so a row changes the score by at most 1; rounding adds one unit.
        """
        margins = [on_simplex(table.counts, self.total) for table in self.small]
        noise = math.sqrt(2 / math.pi) * self.max_rows / math.sqrt(2 * self.rho_pair) * PENALTY
        pairs = list(itertools.combinations(range(len(self.sizes)), 2))
        scores = {}
        for i, j in pairs:
            apart = np.abs(self.count((i, j)) - np.outer(margins[i], margins[j]) / self.total).sum()
            scores[i, j] = round(FIXED * (float(apart) - noise * self.sizes[i] * self.sizes[j]))
        parts = list(range(len(self.sizes)))
        chosen: list[Pair] = []
        for _ in range(len(self.sizes) - 1):
            open_pairs = [pair for pair in pairs if parts[pair[0]] != parts[pair[1]]]
            place = noisy_max_rho(
                [scores[pair] for pair in open_pairs],
                sensitivity=FIXED * self.max_rows + 1,
                rho=rho / (len(self.sizes) - 1),
            )
            i, j = open_pairs[place]
            chosen.append((i, j))
            parts = [parts[i] if part == parts[j] else part for part in parts]
        return chosen

    def measured(self, pairs: Sequence[Pair]) -> dict[Pair, MeasuredTable]:
        tables = {}
        for pair in pairs:
            true = self.count(pair)
            noisy = gaussian(true.ravel().tolist(), sensitivity=float(self.max_rows), rho=self.rho_pair)
            counts = np.array(noisy.values, dtype=np.float64).reshape(true.shape)
            tables[pair] = MeasuredTable(counts, noisy.scale**2)
        return tables
