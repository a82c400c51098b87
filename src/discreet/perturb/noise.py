"""Noise: random numbers that are added to values, or that these are multiplied with."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import ClassVar, Literal

import numpy as np
import pyarrow as pa

from discreet.errors import InvalidParameter, UnsuitableColumn
from discreet.perturb.base import (
    Perturbation,
    decimals,
    groups,
    names_of,
    need_choice,
    need_number,
    numbers,
    on_grid,
    released_numbers,
    whole,
)
from discreet.perturb.chances import NEVER, ColumnValues, allowed, apart, same
from discreet.perturb.randomness import Randomness
from discreet.sentences import Sentence
from discreet.types import FloatArray, IntArray

NoiseShape = Literal["normal", "uniform", "laplace"]
SHAPES: dict[str, Callable[[Randomness, int], FloatArray]] = {
    "normal": Randomness.normal,
    "uniform": Randomness.flat,
    "laplace": Randomness.laplace,
}
"""How noise is spread, each with mean 0 and standard deviation 1."""
CONFIDENCE = 0.95
WITHIN: Mapping[NoiseShape, float] = {
    "normal": 1.9599639845,
    "uniform": 1.6454482672,
    "laplace": 2.1183060545,
}
"""So many standard deviations from 0 the noise is with this confidence: Φ⁻¹(0.975), 0.95 √3, ln 20 / √2."""


MOST_PERCENT = 10_000.0
"""With more, nothing of a value is left, and its logarithm may be too large for a number."""


@dataclass(frozen=True)
class _Noise(Perturbation):
    """What all kinds of noise have in common: bounds, and the grid of the column."""

    keeps: ClassVar[str] = "values have the decimals of the column and lie within the bounds"

    percent: float = 10.0
    low: float | None = None
    high: float | None = None

    def check(self) -> None:
        need_number(self.id, "percent", self.percent, most=MOST_PERCENT)
        for name, bound in (("low", self.low), ("high", self.high)):
            if bound is not None:
                need_number(self.id, name, bound, above=-np.inf)
        if self.low is not None and self.high is not None and self.low >= self.high:
            raise InvalidParameter(
                Sentence("low of {step} is not below high", step=self.id), remedy="exchange or correct them"
            )

    def written(self, values: FloatArray, rows: pa.Table, name: str) -> pa.Array:
        """New values within the bounds, with the decimals and the type of the column."""
        given = numbers(rows, name, self.id)
        inside = reflected(values, self.low, self.high)
        return on_grid(inside, whole(rows[name]), decimals(given))

    def given(self, rows: pa.Table, name: str) -> FloatArray:
        """The values of a column, which must lie within the bounds."""
        values = numbers(rows, name, self.id)
        if self._outside(values).any():
            raise UnsuitableColumn(
                Sentence(
                    "the column {name!r} has values outside the bounds of {step}", name=name, step=self.id
                ),
                remedy="widen low and high, or code what lies outside first (top-bottom-coding)",
            )
        return values

    def _outside(self, values: FloatArray) -> IntArray:
        low = -np.inf if self.low is None else self.low
        high = np.inf if self.high is None else self.high
        return np.asarray((values < low - 1e-9) | (values > high + 1e-9))

    def complaint(self, before: pa.Table, after: pa.Table, places: IntArray) -> str:
        for name in after.column_names:
            shown = released_numbers(after, name, before)
            if shown is None:
                return f"{name} shows what is no number"
            finest = decimals(numbers(before, name, self.id))
            if finest is not None and (decimals(shown) is None or (decimals(shown) or 0) > finest):
                return f"{name} has more decimals than the original"
            if self._outside(shown).any():
                return f"{name} has values outside the bounds"
        return ""


@dataclass(frozen=True)
class _NoiseByClasses(_Noise):
    """Noise whose deviation is that of the column, or of each class of records that agree in some columns."""

    within: tuple[str, ...] = ()

    def check(self) -> None:
        super().check()
        object.__setattr__(self, "within", names_of(self.id, "within", self.within))
        if set(self.within) & set(self.columns):
            raise InvalidParameter(
                Sentence("{step} has a column that both forms classes and is changed", step=self.id),
                remedy="name it in columns or in within",
            )

    @property
    def needed(self) -> tuple[str, ...]:
        return (*self.columns, *self.within)

    def classes(self, rows: pa.Table) -> list[IntArray]:
        """The records of each class; all together where none were named."""
        group = groups(rows, self.within)
        return np.split(np.argsort(group, kind="stable"), np.cumsum(np.bincount(group))[:-1])

    def intervals(self, rows: pa.Table) -> dict[str, float]:
        """The width of the interval around a released number in which the true one lies with 95 % confidence, per column.

        For who knows the method and nothing else of the person: 2 q s d, with s d the noise's deviation, in the class where it is least.
        Agrawal and Srikant, "Privacy-preserving data mining", SIGMOD 2000. Whoever knows how values are spread may know more (Agrawal
        and Aggarwal 2001): the attacks of the intruder who knows the method tell.

        >>> rows = pa.table({"age": [20, 30, 40, 50], "town": ["a", "a", "b", "b"]})
        >>> [round(width, 2) for width in AdditiveNoise(("age",), percent=100).intervals(rows).values()]
        [43.83]
        >>> [round(width, 2) for width in AdditiveNoise(("age",), percent=100, within=("town",)).intervals(rows).values()]
        [19.6]
        """
        reach = 2.0 * WITHIN[self.spread] * self.percent / 100.0
        widths = {}
        for name in self.columns:
            values = numbers(rows, name, self.id)
            own = [values[part][~np.isnan(values[part])] for part in self.classes(rows)]
            if any(len(part) for part in own):
                widths[name] = reach * min(float(part.std()) for part in own if len(part))
        return widths

    @property
    def spread(self) -> NoiseShape:
        """How the noise is spread."""
        return "normal"

    def certainty(self, rows: pa.Table) -> str:
        told = []
        for name, width in self.intervals(rows).items():
            values = numbers(rows, name, self.id)
            span = float(np.nanmax(values) - np.nanmin(values))
            told.append(
                Sentence(
                    "{width:.3g} wide ({share:.1%} of the range) in {column}",
                    width=width,
                    share=width / span if span else 0.0,
                    column=name,
                )
            )
        if not told:
            return ""
        return Sentence(
            "who knows the method and a released number, and nothing else of the person, knows the true one with 95 % confidence within an "
            "interval: {told}",
            told=tuple(told),
        )


@dataclass(frozen=True)
class AdditiveNoise(_NoiseByClasses):
    """x' = x + e, where e has mean 0 and a standard deviation of ``percent`` of the column's.

    Each column gets its own, independent noise. Means stay in expectation, variances grow by (percent / 100)², correlations
    fall by the factor 1 / (1 + (percent / 100)²); ``rescale`` (Kim) shrinks x' towards the mean so that the variance
    stays. ``within``: mean and deviation are those of the records that agree in these columns, so that small classes with
    alike values get little noise, and their means and variances stay. ``shape`` of the noise: normal, uniform or laplace. What would lie beyond ``low`` or ``high`` is reflected
    there, so bounds bend the distribution near them.
    Kim, "A method for limiting disclosure in microdata based on random noise and transformation", 1986; Brand,
    "Microdata protection through noise addition", 2002.

    >>> rows = pa.table({"age": [20, 30, 40, 50]})
    >>> new = AdditiveNoise(("age",), percent=50, low=0).changed(rows, Randomness(1))["age"]
    >>> new.type, len(new)
    (DataType(int64), 4)
    """

    id: ClassVar[str] = "additive-noise"
    title: ClassVar[str] = "additive noise"
    says: ClassVar[str] = "A random number is added to each value."
    source: ClassVar[str] = "Kim, A method for limiting disclosure in microdata based on random noise, 1986"

    shape: NoiseShape = "normal"
    rescale: bool = False

    @property
    def spread(self) -> NoiseShape:
        return self.shape

    def check(self) -> None:
        super().check()
        need_choice(self.id, "shape", self.shape, tuple(SHAPES))

    def changed(self, rows: pa.Table, randomness: Randomness) -> dict[str, pa.Array]:
        new = {}
        for name in self.columns:
            values = self.given(rows, name)
            drawn = SHAPES[self.shape](randomness, len(values))
            share = self.percent / 100.0
            noisy = values.copy()
            for part in self.classes(rows):
                known = part[~np.isnan(values[part])]
                if not len(known):
                    continue
                noisy[known] += share * float(values[known].std()) * drawn[known]
                if self.rescale:
                    noisy[known] = shrunk(noisy[known], float(values[known].mean()), share)
            new[name] = self.written(noisy, rows, name)
        return new

    def log_chances(self, true: ColumnValues, seen: ColumnValues) -> FloatArray:
        # Classes have deviations of their own, so that no width is impossible for all of them.
        shape = "normal" if self.within else self.shape
        return _noise_chances(true, seen, self.percent, shape, rescale=self.rescale)


@dataclass(frozen=True)
class CorrelatedNoise(_NoiseByClasses):
    """x' = x + e, where e is normal with (percent / 100)² of the covariances of ``columns``.

    ``within``: covariances are those of the records that agree in these columns (of all, where fewer than two have all
    values). Correlations stay in expectation; with ``rescale`` (Kim), means and all variances and covariances do:
    x' = m + (x + e - m) / sqrt(1 + (percent / 100)²). Records that lack one of the values get noise in the others by the
    same covariances. Kim 1986; Brand, "Microdata protection through noise addition", 2002.

    >>> rows = pa.table({"pay": [1.0, 2.0, 3.0, 4.0], "tax": [0.1, 0.2, 0.3, 0.4]})
    >>> list(CorrelatedNoise(("pay", "tax"), percent=10).changed(rows, Randomness(1)))
    ['pay', 'tax']
    """

    id: ClassVar[str] = "correlated-noise"
    title: ClassVar[str] = "correlated noise"
    says: ClassVar[str] = "Random numbers that are correlated as the columns are, are added to the values."
    source: ClassVar[str] = "Brand, Microdata protection through noise addition, 2002"

    rescale: bool = True

    def check(self) -> None:
        super().check()
        if len(self.columns) < 2:
            raise InvalidParameter(
                Sentence("{step} of one column has nothing to be correlated with", step=self.id),
                remedy="name several columns, or use additive-noise",
            )

    def changed(self, rows: pa.Table, randomness: Randomness) -> dict[str, pa.Array]:
        values = np.stack([self.given(rows, name) for name in self.columns], axis=1)
        complete = values[~np.isnan(values).any(axis=1)]
        if len(complete) < 2:
            raise UnsuitableColumn(
                Sentence("fewer than two records have all columns of {step}", step=self.id),
                remedy="name columns that are filled together",
            )
        share = self.percent / 100.0
        drawn = randomness.normal(values.size).reshape(values.shape)
        noisy = values.copy()
        for part in self.classes(rows):
            own = values[part]
            told = own[~np.isnan(own).any(axis=1)]
            noisy[part] += (
                share * drawn[part] @ root(np.cov(told if len(told) > 1 else complete, rowvar=False))
            )
            if self.rescale:
                known = ~np.isnan(own)
                middle = np.where(known, own, 0.0).sum(axis=0) / np.maximum(known.sum(axis=0), 1)
                noisy[part] = shrunk(noisy[part], middle, share)
        return {name: self.written(noisy[:, i], rows, name) for i, name in enumerate(self.columns)}

    def log_chances(self, true: ColumnValues, seen: ColumnValues) -> FloatArray:
        # Column by column: how their noise goes together is left aside.
        return _noise_chances(true, seen, self.percent, "normal", rescale=self.rescale)


@dataclass(frozen=True)
class MultiplicativeNoise(_Noise):
    """x' = x · exp(s z - s²/2), where z is standard normal and s follows from ``percent``, the factor's deviation.

    The factor is positive with mean 1 and a standard deviation of ``percent`` / 100 (s² = ln(1 + (percent / 100)²)), so zeros
    stay zeros, signs stay, large values change more, and means stay in expectation.
    Kim, Winkler, "Multiplicative noise for masking continuous data", US Census Bureau 2003.

    >>> rows = pa.table({"pay": [0, 1000, -1000]})
    >>> new = MultiplicativeNoise(("pay",), percent=10).changed(rows, Randomness(1))["pay"].to_pylist()
    >>> new[0], new[1] > 0, new[2] < 0
    (0, True, True)
    """

    id: ClassVar[str] = "multiplicative-noise"
    title: ClassVar[str] = "multiplicative noise"
    says: ClassVar[str] = "Each value is multiplied with a random number near 1."
    source: ClassVar[str] = "Kim and Winkler, Multiplicative noise for masking continuous data, 2003"

    def changed(self, rows: pa.Table, randomness: Randomness) -> dict[str, pa.Array]:
        spread = np.sqrt(np.log1p((self.percent / 100.0) ** 2))
        return {
            name: self.written(
                self.given(rows, name) * np.exp(spread * randomness.normal(rows.num_rows) - spread**2 / 2),
                rows,
                name,
            )
            for name in self.columns
        }

    def interval(self) -> tuple[float, float]:
        """Between which multiples of a released number the true one lies with 95 % confidence: exp(s²/2 ± 1.96 s).

        >>> [round(end, 3) for end in MultiplicativeNoise(("pay",), percent=10).interval()]
        [0.827, 1.222]
        """
        spread = float(np.sqrt(np.log1p((self.percent / 100.0) ** 2)))
        middle, reach = spread**2 / 2, WITHIN["normal"] * spread
        return float(np.exp(middle - reach)), float(np.exp(middle + reach))

    def certainty(self, rows: pa.Table) -> str:
        low, high = self.interval()
        return Sentence(
            "who knows the method and a released number, and nothing else of the person, knows with 95 % confidence that the true one "
            "is between {low:.3g} and {high:.3g} times as large ({columns})",
            low=low,
            high=high,
            columns=self.columns,
        )

    def log_chances(self, true: ColumnValues, seen: ColumnValues) -> FloatArray:
        spread = np.sqrt(np.log1p((self.percent / 100.0) ** 2))
        middle = (seen.low + seen.high) / 2
        with np.errstate(divide="ignore", invalid="ignore"):
            factor = np.log(middle[None] / true.low[:, None])
            chance = -((factor + spread**2 / 2) ** 2) / (2 * spread**2)
        zero = (true.low == 0)[:, None]
        chance = np.where(zero, allowed(same(true, seen)), np.where(np.isnan(chance), NEVER, chance))
        silent = np.isnan(true.low)[:, None] | np.isnan(seen.low)[None]
        return np.where(silent, allowed(same(true, seen)), chance)


def _noise_chances(
    true: ColumnValues, seen: ColumnValues, percent: float, shape: NoiseShape, *, rescale: bool
) -> FloatArray:
    """Log chances of added noise, whose deviation everybody can reckon from that of the released values."""
    share = percent / 100.0
    mean, deviation = seen.spread()
    shrink = np.sqrt(1.0 + share**2)
    # Without rescaling the released values vary more than the true ones did; with it the noise was shrunk, too.
    noise = max(share * deviation / shrink, 1e-300)
    values = mean + (true.low - mean) / shrink if rescale else true.low
    gap = np.abs(apart(ColumnValues(true.labels, values, values, true.records), seen))
    if shape == "uniform":
        # The deviation is an estimate, and values were rounded: a little more than the width is possible.
        chance = allowed(gap <= 1.02 * np.sqrt(3.0) * noise + 0.5 * 10.0 ** -(decimals(seen.low) or 0))
    elif shape == "laplace":
        chance = -np.sqrt(2.0) * gap / noise
    else:
        chance = -((gap / noise) ** 2) / 2
    silent = np.isnan(true.low)[:, None] | np.isnan(seen.low)[None]
    return np.where(silent, allowed(same(true, seen)), chance)


def shrunk(noisy: FloatArray, centre: FloatArray | float, share: float) -> FloatArray:
    """Values with noise, shrunk towards the mean so that variances are those without it (Kim)."""
    return np.asarray(centre + (noisy - centre) / np.sqrt(1.0 + share**2))


def root(covariance: FloatArray) -> FloatArray:
    """A symmetric matrix whose square is a covariance matrix, also of columns that follow from each other.

    >>> root(np.array([[4.0, 0.0], [0.0, 9.0]])).round(6).tolist()
    [[2.0, 0.0], [0.0, 3.0]]
    """
    sizes, axes = np.linalg.eigh(covariance)
    return np.asarray((axes * np.sqrt(np.maximum(sizes, 0.0))) @ axes.T)


def reflected(values: FloatArray, low: float | None, high: float | None) -> FloatArray:
    """Values that would lie beyond a bound as far inside of it.

    >>> reflected(np.array([-3.0, 5.0, 12.0]), 0, 10).tolist(), reflected(np.array([-3.0]), 0, None).tolist()
    ([3.0, 5.0, 8.0], [3.0])
    """
    if low is not None and high is not None:
        # A ball between two walls.
        phase = np.mod(values - low, 2.0 * (high - low))
        return np.asarray(low + np.minimum(phase, 2.0 * (high - low) - phase))
    if low is not None:
        return np.asarray(low + np.abs(values - low))
    if high is not None:
        return np.asarray(high - np.abs(high - values))
    return values
