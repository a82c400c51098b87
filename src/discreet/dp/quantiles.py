"""Quantiles with their intervals: three values, each chosen by report-noisy-max among those of a grid."""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction

import numpy as np

from discreet.dp.noise import check_scale, noisy_max
from discreet.types import IntArray

POINT = Fraction(1, 2)
"""What of the amount goes to the quantile itself; the two ends of its interval share the rest."""


@dataclass(frozen=True)
class QuantileChooser:
    """Chooses the a/b-quantile of values that were sorted into bins, and two bins between which it lies.

    With ``below`` and ``above`` rows on its two sides, of n, a bin holds an a/b-quantile if b·below ≤ a·n and b·above ≤ (b−a)·n. Its score
    is by how much it fails: −max(b·below − a·n, b·above − (b−a)·n, 0). A row more adds 0 or 1 to below, or to above, and 1 to n, so each term
    changes by at most max(a, b−a), and so does the score; somebody with m rows changes it by ``step`` = m·max(a, b−a).

    *The interval.* The lower end is chosen as if the quantile lay s/b rows further down: a·n − s stands for a·n, a number that moves no
    score by more than before. A place before all bins has the score −max(a·n − s, 0), so that some place always has 0. Noise lets no place
    win whose score is below −t, t = 2·step/ε · ln(places/error), but with the probability of the error. So with s = t what wins has b·below ≤ a·n: the
    quantile is not below it. The upper end is the same the other way round.
    """

    share: Fraction
    step: int
    epsilon: Fraction
    error: float

    def check(self) -> None:
        """Refuse what would be nothing but noise, before anything is spent."""
        check_scale(2 * self.step / self._end)

    @property
    def _end(self) -> Fraction:
        return self.epsilon * (1 - POINT) / 2

    def reach(self, places: int, epsilon: Fraction, error: float) -> int:
        """By how much what wins may fall short of the best, but for the error."""
        return math.ceil(float(2 * self.step / epsilon) * math.log(places / error))

    def rank_error(self, bins: int) -> int:
        """How many rows lie between the quantile and the value that is told for it, at most, but for the error."""
        return math.ceil(self.reach(bins, self.epsilon * POINT, self.error) / self.share.denominator)

    def scores(self, rows: IntArray, shift: int = 0) -> IntArray:
        """The score of each bin if the quantile lay so far up.

        >>> QuantileChooser(Fraction(1, 2), 1, Fraction(1), 0.05).scores(np.array([2, 1, 4])).tolist()
        [-3, -1, 0]
        """
        a, b = self.share.numerator, self.share.denominator
        upto = np.cumsum(rows)
        total = int(upto[-1])
        below, above = upto - rows, total - upto
        short = np.maximum(b * below - (a * total + shift), b * above - ((b - a) * total - shift))
        return np.asarray(-np.maximum(short, 0))

    def choose(self, rows: IntArray) -> tuple[int, int, int]:
        """The bin of the quantile, and the bins of its lower and upper end: −1 and the number of bins are beyond them all."""
        a, b, total = self.share.numerator, self.share.denominator, int(rows.sum())
        shift = self.reach(len(rows) + 1, self._end, self.error / 2)
        first, last = -max(a * total - shift, 0), -max((b - a) * total - shift, 0)
        at = self._winner(self.scores(rows).tolist(), self.epsilon * POINT)
        low = self._winner([first, *self.scores(rows, -shift).tolist()], self._end) - 1
        high = self._winner([*self.scores(rows, shift).tolist(), last], self._end)
        return at, min(low, at), max(high, at)

    def _winner(self, scores: list[int], epsilon: Fraction) -> int:
        return noisy_max(scores, sensitivity=self.step, epsilon=epsilon)
