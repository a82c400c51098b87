"""Population uniqueness by a Gaussian copula: how likely each record is alone in the population, by what its values are.

Values of each attribute are as frequent as in the sample; how they go together is a normal distribution that they are cut
from, with one correlation for each pair of attributes. So a combination that nobody else has in the sample gets a
probability, too: a rare value among those that rarely go with it a small one, and its person is probably alone.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cache
from itertools import combinations
from types import ModuleType

import numpy as np

from discreet.measure import Estimate
from discreet.risk.population import check_codes, checked_fraction
from discreet.sentences import Sentence
from discreet.table import Domain
from discreet.types import AnyIntArray, FloatArray, IntArray

SOURCE = (
    "Rocher, Hendrickx, de Montjoye (2019), Estimating the success of re-identifications in incomplete datasets using "
    "generative models, Nature Communications 10:3069"
)
BINS = 32
"""So many groups of neighbouring values each attribute has at most while correlations are fitted."""
FEW = 10.0
"""A value of so many records is drawn half of its way to the middle where values are put into an order."""
STRONGEST = 0.98
"""No correlation is fitted beyond this: the normal distribution would have no width left."""
POINTS = 128
"""So many points a probability is averaged over."""
MOST = 2_000
"""Of more unique records than this some are drawn, and the error of the drawing is part of the interval."""
BLOCK = 1 << 20
"""So many points of records are looked at together."""
_STEPS = 16
_NODES = 24


@dataclass(frozen=True)
class GaussianCopula:
    """Discrete attributes cut from a normal distribution: ``cuts[j]`` are the borders of attribute j, from -∞ to ∞.

    The values of attribute j are numbered by ``places[j]``, their place in the order of the attribute.
    """

    cuts: tuple[FloatArray, ...] = field(repr=False)
    places: tuple[IntArray, ...] = field(repr=False)
    correlations: FloatArray

    @classmethod
    def of(
        cls,
        codes: Sequence[AnyIntArray],
        sizes: IntArray,
        *,
        levels: Sequence[int],
        orders: Sequence[AnyIntArray | None] | None = None,
    ) -> GaussianCopula:
        """The copula of a sample: shares of values as they are, and the correlations by which its pairs are likeliest.

        ``codes[j][c]`` is the value (0 to ``levels[j]`` - 1) of attribute j in class c of ``sizes[c]`` records; ``orders[j]``
        lists the codes of attribute j in their order, ``None`` where they have none: then it is the one that says most of the
        other attributes (:func:`order_by_association`).

        >>> model = GaussianCopula.of([np.array([0, 0, 1, 1]), np.array([0, 1, 0, 1])], np.array([40, 10, 10, 40]), levels=[2, 2])
        >>> abs(model.correlations[0, 1]).round(2)
        np.float64(0.81)
        """
        given = orders or [None] * len(codes)
        counts = [
            np.bincount(code, weights=sizes, minlength=level).astype(np.float64)
            for code, level in zip(codes, levels, strict=True)
        ]
        # What is ordered already may be told in few groups; what is not is told in its most frequent values.
        coarse = [
            _grouped(code, count, order) for code, count, order in zip(codes, counts, given, strict=True)
        ]
        places, cuts, groups = [], [], []
        for j, (code, count, order) in enumerate(zip(codes, counts, given, strict=True)):
            if order is None:
                others = [each for i, each in enumerate(coarse) if i != j]
                order = order_by_association(code, count, others, sizes)
            place = np.empty(len(order), dtype=np.int64)
            place[np.asarray(order)] = np.arange(len(order))
            running = np.concatenate([[0.0], np.cumsum(count[order])]) / count.sum()
            running[-1] = 1.0
            places.append(place)
            cuts.append(np.asarray(_special().ndtri(running)))
            groups.append(_grouped(code, count, order))
        correlations = np.eye(len(places))
        for i, j in combinations(range(len(places)), 2):
            correlations[i, j] = correlations[j, i] = _correlation(groups[i], groups[j], sizes)
        return cls(tuple(cuts), tuple(places), _positive(correlations))

    def probabilities(self, codes: Sequence[AnyIntArray]) -> FloatArray:
        """How likely each combination is: the normal probability of its box, by Genz' separation of variables.

        With L Lᵀ the correlations, coordinate i is confined to an interval that depends on those before it; the product of
        the probabilities of these intervals is averaged over points of a lattice.
        Genz, "Numerical computation of multivariate normal probabilities", J. Comp. Graph. Stat. 1, 1992.

        >>> model = GaussianCopula.of([np.array([0, 0, 1, 1]), np.array([0, 1, 0, 1])], np.array([40, 10, 10, 40]), levels=[2, 2])
        >>> model.probabilities([np.array([0, 0, 1, 1]), np.array([0, 1, 0, 1])]).round(2).tolist()
        [0.4, 0.1, 0.1, 0.4]
        """
        at = [place[code] for place, code in zip(self.places, codes, strict=True)]
        likely = np.empty(len(at[0]))
        step = max(BLOCK // POINTS, 1)
        for start in range(0, len(likely), step):
            likely[start : start + step] = self._boxes([place[start : start + step] for place in at])
        return likely

    def _boxes(self, at: Sequence[IntArray]) -> FloatArray:
        root = np.linalg.cholesky(self.correlations)
        normal = _special()
        shape = (len(at[0]), POINTS)
        product, drawn = np.ones(shape), np.zeros((len(at), *shape))
        lattice = _lattice(len(at))
        for i, place in enumerate(at):
            shift = np.tensordot(root[i, :i], drawn[:i], axes=1) if i else np.zeros(shape)
            low = normal.ndtr((self.cuts[i][place][:, None] - shift) / root[i, i])
            high = normal.ndtr((self.cuts[i][place + 1][:, None] - shift) / root[i, i])
            product *= high - low
            inside = np.clip(low + lattice[i][None] * (high - low), 1e-300, 1.0 - 1e-16)
            drawn[i] = normal.ndtri(inside)
        return np.asarray(product.mean(axis=1))


def unique_likelihoods(
    codes: Sequence[AnyIntArray],
    *,
    levels: Sequence[int],
    sizes: IntArray,
    sampling_fraction: float,
    orders: Sequence[AnyIntArray | None] | None = None,
    chosen: IntArray | None = None,
) -> FloatArray:
    """How likely the people of each class are alone in the population; 0 for whoever is not alone in the sample.

    (1 - p)^(N - n), with p the probability of the combination by the copula: none of the N - n people outside the sample
    has it. Rocher, Hendrickx and de Montjoye (2019) write (1 - p)^(N - 1) for a person of whom the sample is not looked at.
    ``chosen``: the classes of one record that are looked at, all if not given.

    >>> codes = [np.array([0, 0, 1, 1]), np.array([0, 1, 0, 1])]
    >>> unique_likelihoods(codes, levels=[2, 2], sizes=np.array([81, 9, 9, 1]), sampling_fraction=0.5).round(2)
    array([0.  , 0.  , 0.  , 0.37])
    """
    fraction = checked_fraction(sampling_fraction)
    check_codes(codes, levels, sizes)
    outside = float(sizes.sum()) * (1.0 / fraction - 1.0)
    alone = np.flatnonzero(sizes == 1) if chosen is None else chosen
    chances = np.zeros(len(sizes))
    if len(alone) and outside > 0:
        model = GaussianCopula.of(codes, sizes, levels=levels, orders=orders)
        likely = model.probabilities([np.asarray(code)[alone] for code in codes])
        chances[alone] = np.exp(outside * np.log1p(-np.minimum(likely, 1.0 - 1e-16)))
    elif len(alone):
        chances[alone] = 1.0
    return chances


def copula_risk(
    codes: Sequence[AnyIntArray],
    *,
    levels: Sequence[int],
    sizes: IntArray,
    sampling_fraction: float,
    orders: Sequence[AnyIntArray | None] | None = None,
    seed: int = 1,
) -> Estimate:
    """The share of the records that are unique in the population, by a Gaussian copula with discrete marginals.

    value = sum over sample uniques of (1 - p)^(N - n) / n. The interval is where the number lies in 19 of 20 cases if the
    model is right: who is alone by it is still up to chance, and of many unique records some are drawn. The paper fits
    correlations to the mutual information of pairs, which has no direction; here they are those by which pairs are likeliest.
    Rocher, Hendrickx and de Montjoye (2019), Estimating the success of re-identifications in incomplete datasets using
    generative models, Nature Communications 10:3069.

    Two attributes that have nothing to do with each other, one unique among 100 records of a population of 200: with
    p = 1/10 · 1/10 nobody of the other 100 is like it with a chance of 0.99^100 = 0.366.

    >>> codes = [np.array([0, 0, 1, 1]), np.array([0, 1, 0, 1])]
    >>> estimate = copula_risk(codes, levels=[2, 2], sizes=np.array([81, 9, 9, 1]), sampling_fraction=0.5)
    >>> round(estimate.value * 100, 2)
    0.37
    """
    fraction = checked_fraction(sampling_fraction)
    check_codes(codes, levels, sizes)
    alone = np.flatnonzero(sizes == 1)
    tried: IntArray = alone
    notes: tuple[str, ...] = ()
    if fraction == 1.0:
        notes = ("the sample is the population: the value is exact",)
    elif not len(alone):
        notes = ("no record is unique in the sample, so none can be unique in the population",)
    elif len(alone) > MOST:
        tried = np.sort(np.random.default_rng(seed).choice(alone, MOST, replace=False))
        notes = (
            Sentence("estimated from {most:,} of {alone:,} unique records", most=MOST, alone=len(alone)),
        )
    chances = unique_likelihoods(
        codes, levels=levels, sizes=sizes, sampling_fraction=fraction, orders=orders, chosen=tried
    )[tried]
    value, low, high = _share(chances, len(alone), float(sizes.sum()))
    return Estimate(
        name="population uniqueness",
        value=value,
        unit="share of records",
        better="lower",
        meaning="Share of the records that nobody else in the whole population shares the quasi-identifier with.",
        source=SOURCE,
        notes=notes,
        method="Gaussian copula",
        assumptions="the records are a simple random sample of the population and the sampling fraction is right; values are as "
        "frequent as in the sample and go together as if they were cut from a normal distribution, so that of three attributes "
        "nothing is told but what each two tell; the interval says what chance does if that holds, not how far it is off",
        low=low,
        high=high,
    )


def _share(chances: FloatArray, alone: int, records: float) -> tuple[float, float, float]:
    """The share of population uniques, and where it lies with 95 % confidence, given the model."""
    if not len(chances):
        return 0.0, 0.0, 0.0
    mean = float(chances.mean()) * alone
    by_chance = float((chances * (1.0 - chances)).mean()) * alone
    by_drawing = float(chances.var()) / len(chances) * (1.0 - len(chances) / alone) * alone**2
    reach = 1.96 * float(np.sqrt(by_chance + by_drawing))
    return mean / records, max(mean - reach, 0.0) / records, min(mean + reach, float(alone)) / records


def orders_of(domains: Sequence[Domain]) -> list[IntArray | None]:
    """For each attribute that has an order its codes in that order, nulls last."""
    return [np.argsort(each.numbers, kind="stable") if each.is_numeric else None for each in domains]


# ── correlations ──────────────────────────────────────────────────────────────────────────────────────


@dataclass(frozen=True)
class _Grouped:
    """An attribute in few groups of neighbouring values: the group of each class, and the share of each group."""

    groups: IntArray
    shares: FloatArray


def _grouped(codes: AnyIntArray, counts: FloatArray, order: AnyIntArray | None) -> _Grouped:
    """Neighbouring values together; of values without an order those apart that are frequent, and all others together."""
    group = np.zeros(len(counts), dtype=np.int64)
    if order is None:
        often = np.argsort(-counts, kind="stable")
        group[often] = np.minimum(np.arange(len(counts)), BINS - 1)
    elif np.count_nonzero(counts) <= BINS:
        group[order] = np.cumsum(counts[order] > 0) - 1
    else:
        middle = (np.cumsum(counts[order]) - counts[order] / 2) / counts.sum()
        group[order] = np.minimum((middle * BINS).astype(np.int64), BINS - 1)
    shares = np.bincount(group.clip(0), weights=counts) / counts.sum()
    there = np.flatnonzero(shares)
    number = np.zeros(len(shares), dtype=np.int64)
    number[there] = np.arange(len(there))
    return _Grouped(number[group.clip(0)[codes]], shares[there])


def order_by_association(
    codes: AnyIntArray, counts: FloatArray, others: Sequence[_Grouped], sizes: IntArray
) -> IntArray:
    """The values of an attribute in the order that says most of the other attributes: the first axis of correspondence analysis.

    Where few records have a value, its place is drawn towards the middle. Greenacre, "Theory and applications of correspondence
    analysis", 1984.
    """
    if not others or len(counts) < 3:
        return np.arange(len(counts))
    apart = []
    for other in others:
        width = len(other.shares)
        joint = np.bincount(codes * width + other.groups, weights=sizes, minlength=len(counts) * width)
        expected = np.outer(counts, other.shares)
        gap = joint.reshape(expected.shape) - expected
        apart.append(np.divide(gap, np.sqrt(expected), out=np.zeros_like(gap), where=expected > 0))
    matrix = np.concatenate(apart, axis=1)
    # The axis of the values from the small side: other attributes have a few hundred groups in all.
    _, axes = np.linalg.eigh(matrix.T @ matrix)
    scores = matrix @ axes[:, -1] / np.sqrt(np.maximum(counts, 1.0)) * counts / (counts + FEW)
    return np.argsort(scores, kind="stable")


def _correlation(first: _Grouped, second: _Grouped, sizes: IntArray) -> float:
    """The correlation by which the pairs of a sample are likeliest, by golden sections (polychoric, Olsson 1979)."""
    shape = (len(first.shares), len(second.shares))
    if min(shape) < 2:
        return 0.0
    joint = np.bincount(first.groups * shape[1] + second.groups, weights=sizes, minlength=shape[0] * shape[1])
    seen = joint.reshape(shape) / joint.sum()
    borders = [np.asarray(_special().ndtri(np.cumsum(each.shares)[:-1])) for each in (first, second)]

    def likely(correlation: float) -> float:
        cells = _cells(borders[0], borders[1], first.shares, second.shares, correlation)
        return float((seen * np.log(np.maximum(cells, 1e-12))).sum())

    low, high = -STRONGEST, STRONGEST
    golden = (np.sqrt(5.0) - 1.0) / 2.0
    inner = [high - golden * (high - low), low + golden * (high - low)]
    told = [likely(each) for each in inner]
    for _ in range(_STEPS):
        if told[0] >= told[1]:
            high, inner, told = inner[1], [0.0, inner[0]], [0.0, told[0]]
            inner[0] = high - golden * (high - low)
            told[0] = likely(inner[0])
        else:
            low, inner, told = inner[0], [inner[1], 0.0], [told[1], 0.0]
            inner[1] = low + golden * (high - low)
            told[1] = likely(inner[1])
    return (low + high) / 2


def _cells(x: FloatArray, y: FloatArray, a: FloatArray, b: FloatArray, correlation: float) -> FloatArray:
    """The shares of all cells of two attributes that are cut at x and y from a normal distribution of this correlation.

    P(X < x, Y < y) = Φ(x) Φ(y) + ∫ exp(-(x² + y² - 2 x y sin t) / (2 cos² t)) dt / 2π from 0 to asin(correlation).
    Drezner and Wesolowsky, "On the computation of the bivariate normal integral", J. Stat. Comput. Simul. 35, 1990.
    """
    nodes, weights = _gauss()
    end = float(np.arcsin(correlation))
    angle = (nodes + 1.0) * end / 2.0
    sine, cosine = np.sin(angle), np.cos(angle)
    squares = x[:, None] ** 2 + y[None] ** 2
    product = x[:, None] * y[None]
    inside = np.exp(-(squares[..., None] - 2.0 * product[..., None] * sine) / (2.0 * cosine**2))
    below = np.zeros((len(a) + 1, len(b) + 1))
    below[1:, -1], below[-1, 1:] = np.cumsum(a), np.cumsum(b)
    below[1:-1, 1:-1] = np.cumsum(a)[:-1, None] * np.cumsum(b)[None, :-1] + inside @ weights * end / 2.0 / (
        2.0 * np.pi
    )
    return np.asarray(np.maximum(np.diff(np.diff(below, axis=0), axis=1), 0.0))


def _positive(correlations: FloatArray) -> FloatArray:
    """The nearest that correlations of several attributes can be: those that were fitted pair by pair may contradict each other."""
    sizes, axes = np.linalg.eigh(correlations)
    least = 1e-3
    if sizes[0] >= least:
        return correlations
    mended = (axes * np.maximum(sizes, least)) @ axes.T
    scale = np.sqrt(np.diag(mended))
    return np.asarray(mended / np.outer(scale, scale))


def _lattice(width: int) -> FloatArray:
    """Points of a lattice in the unit cube: multiples of the roots of primes, folded (Richtmyer 1951; Genz 1992)."""
    primes: list[int] = []
    candidate = 2
    while len(primes) < width:
        if all(candidate % prime for prime in primes):
            primes.append(candidate)
        candidate += 1
    steps = np.arange(1, POINTS + 1)[None] * np.sqrt(np.array(primes, dtype=np.float64))[:, None]
    return np.asarray(np.abs(2.0 * np.mod(steps, 1.0) - 1.0))


@cache
def _gauss() -> tuple[FloatArray, FloatArray]:
    nodes, weights = np.polynomial.legendre.leggauss(_NODES)
    return nodes, weights


@cache
def _special() -> ModuleType:
    """The special functions, loaded only once something is estimated."""
    from scipy import special

    return special  # type: ignore[no-any-return]
