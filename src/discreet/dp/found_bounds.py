"""Bounds of numbers that nobody knows, found with noise: in which powers of two do enough of them lie?"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from discreet.dp.noise import gaussian
from discreet.types import IntArray

LEAST_POWER, MOST_POWER = -10, 40
"""Numbers nearer to 0 than a thousandth count as such; beyond a million millions they count as so many."""
POWERS = MOST_POWER - LEAST_POWER + 1
SURE = 4.5
"""A power counts if so many standard deviations of noise are in it: of a hundred powers that nobody is in, one in 3,000 answers has one."""


@dataclass(frozen=True)
class PowerCoding:
    """Numbers by their sign and the power of two below them; the last code is what is missing.

    >>> PowerCoding("pay").encode(pa.chunked_array([[0.0, 1.0, 1.9, -8.0, None]])).tolist() == [51, 62, 62, 37, 103]
    True
    """

    name: str
    low: ClassVar[float] = -(2.0 ** (MOST_POWER + 1))
    high: ClassVar[float] = 2.0 ** (MOST_POWER + 1)
    whole: ClassVar[bool] = False

    @property
    def size(self) -> int:
        return 2 * POWERS + 2

    def encode(self, values: pa.ChunkedArray) -> IntArray:
        numbers = pc.cast(values, pa.float64(), safe=False).to_numpy(zero_copy_only=False)
        absent = np.isnan(numbers)
        known = np.where(absent, 0.0, numbers)
        _, exponents = np.frexp(known)
        # Of infinite numbers there is no exponent.
        powers = np.where(np.isinf(known), MOST_POWER, np.clip(exponents - 1, LEAST_POWER - 1, MOST_POWER))
        steps = np.where(known == 0, 0, powers - LEAST_POWER + 1).astype(np.int64).clip(0, POWERS)
        return np.where(absent, self.size - 1, POWERS + np.sign(known).astype(np.int64) * steps)

    def bounds(self, codes: IntArray, *, max_rows: int, rho: float) -> tuple[float, float]:
        """The lowest and the highest end of powers that enough rows are in: ρ-zero-concentrated.

        All powers are counted, whoever is in them, and a row is in one: a person with m rows changes the counts by m at most (Euclidean).
        """
        true = np.bincount(codes, minlength=self.size)[: self.size - 1]
        noisy = gaussian(true.tolist(), sensitivity=float(max_rows), rho=rho)
        often = np.flatnonzero(np.array(noisy.values) >= SURE * noisy.scale)
        if not len(often):
            return 0.0, 1.0
        return _end(int(often[0]) - POWERS, upper=False), _end(int(often[-1]) - POWERS, upper=True)


def _end(step: int, *, upper: bool) -> float:
    """Where the numbers of a power end.

    >>> _end(0, upper=False), _end(11, upper=False), _end(11, upper=True), _end(-11, upper=False)
    (0.0, 1.0, 2.0, -2.0)
    """
    if not step:
        return 2.0**LEAST_POWER if upper else 0.0
    power = LEAST_POWER + abs(step) - 1
    farther = upper == (step > 0)
    return math.copysign(2.0 ** (power + 1 if farther else power), step)
