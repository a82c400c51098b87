"""The contingency table of all columns with noise, and rows drawn from it: the simplest artificial people, for few columns with few values."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from discreet.dp.merged import table_of
from discreet.dp.noise import gaussian
from discreet.dp.tree import MeasuredTable, on_simplex, shares, shuffled
from discreet.errors import InvalidParameter
from discreet.sentences import Sentence
from discreet.types import IntArray

MOST_CELLS = 1_000_000
"""So many cells may the table have: each gets noise, also those that nobody is in."""


class TableModel:
    """Every combination of values, counted with noise. Barak et al., *Privacy, Accuracy, and Consistency Too*, 2007, without their transform."""

    columns_share = 0.1

    def __init__(
        self,
        columns: Sequence[IntArray],
        measured: Sequence[MeasuredTable],
        total: float,
        max_rows: int,
        rho: float,
    ) -> None:
        self.columns, self.max_rows, self.rho, self.total = columns, max_rows, rho, total
        self.sizes = [len(table.counts) for table in measured]

    @property
    def rows(self) -> int:
        return max(1, round(self.total))

    def fit(self) -> list[tuple[int, ...]]:
        """Count: a person with m rows is in m cells at most, so they change the table by m at most (Euclidean)."""
        names = tuple(range(len(self.sizes)))
        true = table_of(self.columns, names, self.sizes)
        noisy = gaussian(true.ravel().tolist(), sensitivity=float(self.max_rows), rho=self.rho)
        self.weights = on_simplex(np.array(noisy.values, dtype=np.float64), self.total)
        return [names]

    def draw(self, rows: int) -> list[IntArray]:
        """So many rows as codes."""
        cells = shuffled(np.repeat(np.arange(len(self.weights)), shares(self.weights, rows)))
        return [np.asarray(codes, dtype=np.int64) for codes in np.unravel_index(cells, self.sizes)]


def check_cells(sizes: Sequence[int | None]) -> None:
    """Refuse tables of which the values are not given, or with too many cells."""
    known = [size for size in sizes if size is not None]
    cells = math.prod(known)
    if len(known) < len(sizes) or cells > MOST_CELLS:
        raise InvalidParameter(
            Sentence("the table of all columns has {cells:,} cells or more", cells=cells),
            remedy=Sentence(
                "give the values of all columns, and name fewer columns or fewer bins: {most:,} cells at most",
                most=MOST_CELLS,
            ),
        )
