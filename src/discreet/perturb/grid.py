"""Positions by the cells of a grid: where somebody was, no closer than so many metres."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
import pyarrow as pa

from discreet.errors import InvalidParameter, UnsuitableColumn
from discreet.perturb.base import MOST_DECIMALS, Perturbation, need_number, numbers, released_numbers
from discreet.perturb.randomness import Randomness
from discreet.sentences import Sentence
from discreet.types import BoolArray, FloatArray, IntArray

METRES_OF_A_DEGREE = 6_371_008.8 * np.pi / 180.0
"""Along a meridian of a sphere with the mean radius of the earth."""


@dataclass(frozen=True)
class PositionGrid(Perturbation):
    """A latitude and a longitude (``columns``, in this order, in degrees) become the middle of the cell of a grid in which they lie.

    Cells are ``metres`` high, and as wide as comes nearest to it while a whole number of them makes a circle of latitude; so they are equally large
    everywhere but at the poles. Where one of the two is missing both become missing: a longitude alone would stay exact. A grid hides no path: where
    few people live a cell is one house. Metrics evaluation on car data, 2023, figure 4.7 (areas of positions).

    >>> rows = pa.table({"lat": [52.5163, 52.5164, 48.8584], "lon": [13.3777, 13.3779, 2.2945]})
    >>> new = PositionGrid(("lat", "lon"), metres=1000).changed(rows, Randomness())
    >>> list(zip(new["lat"].to_pylist(), new["lon"].to_pylist()))
    [(52.5206, 13.376), (52.5206, 13.376), (48.8604, 2.2896)]
    """

    id: ClassVar[str] = "position-grid"
    title: ClassVar[str] = "positions by a grid"
    says: ClassVar[str] = "Positions become the middle of the cell of a grid in which they lie."
    keeps: ClassVar[str] = "every position is the middle of the cell in which the true one lies, or missing"
    source: ClassVar[str] = "Metrics evaluation on car data, 2023, section 4.3.2 and figure 4.7"
    random: ClassVar[bool] = False
    seen_as_a_whole: ClassVar[bool] = True

    metres: float = 1000.0

    def check(self) -> None:
        need_number(self.id, "metres", self.metres, above=1.0, allow=True, most=1_000_000.0)
        if len(self.columns) != 2:
            raise InvalidParameter(
                Sentence("{step} takes two columns", step=self.id),
                remedy='name the latitude and the longitude, such as columns = ["lat", "lon"]',
            )

    def changed(self, rows: pa.Table, randomness: Randomness) -> dict[str, pa.Array]:
        middles = self._middles(rows)
        return {
            name: pa.array(middle, pa.float64(), mask=np.isnan(middle))
            for name, middle in zip(self.columns, middles, strict=True)
        }

    def _known(self, rows: pa.Table) -> BoolArray:
        latitude, longitude = (numbers(rows, name, self.id) for name in self.columns)
        return np.asarray(~(np.isnan(latitude) | np.isnan(longitude)))

    def _middles(self, rows: pa.Table) -> tuple[FloatArray, FloatArray]:
        """Latitude and longitude of the middle of each record's cell."""
        given = []
        for name, most in zip(self.columns, (90.0, 180.0), strict=True):
            values = numbers(rows, name, self.id)
            if (np.abs(values[~np.isnan(values)]) > most).any():
                raise UnsuitableColumn(
                    Sentence(
                        "the column {name!r} holds numbers beyond {most:g} degrees, which are no positions",
                        name=name,
                        most=most,
                    ),
                    remedy="name the latitude first, then the longitude, both in degrees",
                )
            given.append(values)
        height = self.metres / METRES_OF_A_DEGREE
        count = max(1, round(180.0 / height))
        height = 180.0 / count
        row = np.clip(np.floor((given[0] + 90.0) / height), 0, count - 1)
        latitude = -90.0 + (row + 0.5) * height
        around = 360.0 * np.cos(np.radians(latitude)) * METRES_OF_A_DEGREE
        cells = np.maximum(1.0, np.round(around / self.metres))
        column = np.clip(np.floor((given[1] + 180.0) / 360.0 * cells), 0, cells - 1)
        longitude = -180.0 + (column + 0.5) * 360.0 / cells
        # A hundredth of a cell is close enough to its middle.
        places = int(np.clip(np.ceil(-np.log10(height)) + 1, 0, MOST_DECIMALS))
        together = np.where(np.isnan(given[0]) | np.isnan(given[1]), np.nan, 0.0)
        return np.round(latitude, places) + together, np.round(longitude, places) + together

    def shortfall(self, rows: pa.Table, new: Mapping[str, pa.Array]) -> str:
        known = self._known(rows)
        either = sum((~np.isnan(numbers(rows, name, self.id)) & ~known).sum() for name in self.columns)
        if not either:
            return ""
        return Sentence(
            "{either:,} positions had only one of {columns}, and {step} made both missing",
            either=int(either),
            columns=self.columns,
            step=self.id,
        )

    def complaint(self, before: pa.Table, after: pa.Table, places: IntArray) -> str:
        wanted = dict(zip(self.columns, self._middles(before), strict=True))
        like = pa.table({name: pa.array([], pa.float64()) for name in after.column_names})
        for name in after.column_names:
            shown = released_numbers(after, name, like)
            middle = wanted[name][places]
            if shown is None or not np.allclose(shown, middle, rtol=0, atol=1e-9, equal_nan=True):
                return f"{name} shows positions that are no middle of the cell of the true one"
        return ""
