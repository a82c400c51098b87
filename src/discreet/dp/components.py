"""Principal components with a guarantee: artificial numbers whose correlations are those of a noisy covariance matrix.

The sums and products of all pairs of columns are counted with noise; means, covariances, their eigenvectors and the rows that are drawn follow from
them, so they cost nothing. Jiang, Ji, Wang, Mohammed, Cheng and Ohno-Machado, *Differential-Private Data Publishing Through Component Analysis*,
2013, put noise on the covariance matrix and on the projected records; Dwork, Talwar, Thakurta and Zhang, *Analyze Gauss*, 2014, on the matrix. Noise on
the eigenvectors alone would not do: records that are projected on them are still those of people, and one person can turn eigenvectors by any angle.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np
from scipy.special import ndtr, ndtri

from discreet.dp.noise import gaussian
from discreet.dp.statement import upward
from discreet.dp.tree import MeasuredTable, on_simplex, uniforms
from discreet.types import FloatArray, IntArray

GRID = 64
"""Numbers are whole numbers from −64 to 64 when their products are added up."""


class ComponentModel:
    """Bins of numbers, the noisy table of each column, and the components that tie them."""

    columns_share = 0.4

    def __init__(
        self,
        columns: Sequence[IntArray],
        measured: Sequence[MeasuredTable],
        total: float,
        max_rows: int,
        rho: float,
    ) -> None:
        self.columns, self.max_rows, self.rho, self.total = columns, max_rows, rho, total
        self.margins = [on_simplex(table.counts, total) for table in measured]

    @property
    def rows(self) -> int:
        return max(1, round(self.total))

    @property
    def sensitivity(self) -> float:
        """By how much somebody changes sums and products, as a Euclidean length: m · 64² · √(d + d(d+1)/2).

        A row adds 64·x_i for each of d columns and x_i·x_j for each pair i ≤ j, with |x| ≤ 64: each at most 64².
        """
        d = len(self.columns)
        return upward(self.max_rows * GRID**2 * math.sqrt(d + d * (d + 1) / 2))

    def counted(self) -> IntArray:
        """The sums and the products: whole numbers."""
        scaled = np.stack(
            [
                _on_grid(column, len(margin))
                for column, margin in zip(self.columns, self.margins, strict=True)
            ],
            axis=1,
        )
        upper = np.triu_indices(scaled.shape[1])
        return np.concatenate([GRID * scaled.sum(axis=0), (scaled.T @ scaled)[upper]])

    def fit(self) -> list[tuple[int, ...]]:
        """Measure; all columns are kept together, as far as correlations go."""
        d = len(self.columns)
        noisy = gaussian(self.counted().tolist(), sensitivity=self.sensitivity, rho=self.rho)
        values = np.array(noisy.values, dtype=np.float64) / max(1.0, self.total)
        means, products = values[:d] / GRID, np.zeros((d, d))
        products[np.triu_indices(d)] = values[d:]
        products += np.triu(products, 1).T
        variances, vectors = np.linalg.eigh(products - np.outer(means, means))
        # What noise alone would make: the largest eigenvalue of a symmetric matrix of it is about 2σ√d.
        noise = 2 * noisy.scale * math.sqrt(d) / max(1.0, self.total)
        kept = variances > noise
        self.loadings: FloatArray = vectors[:, kept] * np.sqrt(variances[kept])
        told = (self.loadings**2).sum(axis=1)
        # What the components leave out of a column varies by itself.
        own = np.maximum(np.diag(products) - means**2 - told, 0)
        spread = np.sqrt(told + own)
        self.loadings = self.loadings / np.where(spread > 0, spread, 1)[:, None]
        self.own: FloatArray = np.sqrt(np.maximum(1 - (self.loadings**2).sum(axis=1), 0))
        return [tuple(range(d))]

    def draw(self, rows: int) -> list[IntArray]:
        """Rows with normal scores of these components, each column in the distribution that it was counted with."""
        scores = _normals(rows * self.loadings.shape[1]).reshape(rows, -1)
        made = []
        for loading, own, margin in zip(self.loadings, self.own, self.margins, strict=True):
            places = ndtr(scores @ loading + own * _normals(rows))
            ends = np.cumsum(margin[:-1])
            known = ends[-1] if len(ends) else 0.0
            codes = np.searchsorted(ends, places * known, side="right").clip(0, len(margin) - 2)
            absent = uniforms(rows) * margin.sum() >= known
            made.append(np.where(absent, len(margin) - 1, codes).astype(np.int64))
        return made


def _on_grid(column: IntArray, size: int) -> IntArray:
    """Bins as whole numbers around 0; what is missing stands in the middle.

    >>> _on_grid(np.array([0, 1, 2, 3]), 4).tolist()
    [-64, 0, 64, 0]
    """
    middle = (size - 2) / 2
    places = np.rint(GRID * (column - middle) / max(middle, 1)).astype(np.int64)
    return np.asarray(np.where(column == size - 1, 0, places.clip(-GRID, GRID)))


def _normals(count: int) -> FloatArray:
    """Normal numbers from the system's randomness."""
    return np.asarray(ndtri(uniforms(count) * (1 - 2.0**-52) + 2.0**-54), dtype=np.float64)
