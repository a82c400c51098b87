"""How far the distributions of single attributes moved, quasi-identifiers and sensitive ones.

A generalised value is spread evenly over the original values it may stand for, as one must who knows only the
release. The measures that end in ``-rolled-up`` compare at the granularity of the release instead: the original is
rolled up to the released values, where those do not overlap. They leave out what generalisation hides and show what
suppression and other changes did.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field, replace
from functools import partial

import numpy as np

from discreet.classes.pair import Pair
from discreet.measure import Measure
from discreet.table.meaning import Meaning
from discreet.types import FloatArray
from discreet.utility.definition import (
    FOREIGN,
    FOREIGN_NOTE,
    UNLINKED_NOTE,
    Definition,
)

_ROLLED = "the original rolled up to the released values"
_relation = partial(Definition, family="Distributions and relations")
EMD = _relation(
    "emd",
    "share of the largest distance",
    "How much of the column's values would have to be moved, and how far, to get the original distribution back.",
    "numbers: ∫ |F - F'| / (max - min); categories: ½ Σ |p - p'|",
    "[0, 1]",
    "Rubner et al. 2000; Li et al. 2007",
)
KL = _relation(
    "kl-divergence",
    "bits",
    "How badly the release predicts the original's values; infinite if it rules out a value that occurs.",
    "Σ p log2 (p / p')",
    "[0, ∞]",
    "Kullback and Leibler 1951; Kifer and Gehrke 2006",
)
JS = _relation(
    "js-divergence",
    "bits",
    "How far both distributions are from their middle: 0 if they are equal, 1 if they share nothing.",
    "½ KL(p, m) + ½ KL(p', m), m = ½ (p + p')",
    "[0, 1]",
    "Lin 1991",
)
VARIATION = _relation(
    "total-variation",
    "share of records",
    "The share of the column's values that would have to change to get the original distribution back; half the L1 norm.",
    "½ Σ |p - p'|",
    "[0, 1]",
    "Agrawal and Aggarwal 2001 (L1 norm)",
)
HELLINGER = _relation(
    "hellinger",
    "distance",
    "A distance of the two distributions that minds rare values: 0 if they are equal, 1 if they share nothing.",
    "sqrt(½ Σ (√p - √p')²)",
    "[0, 1]",
    "Hellinger 1909",
)
KL_ROLLED, JS_ROLLED, VARIATION_ROLLED, HELLINGER_ROLLED = (
    replace(definition, name=f"{definition.name}-rolled-up", formula=f"the same, {_ROLLED}")
    for definition in (KL, JS, VARIATION, HELLINGER)
)
MEAN_Z = _relation(
    "mean-z",
    "standard errors",
    "By how many standard errors the mean of a column of numbers moved.",
    "|mean - mean'| / sqrt(s²/n + s'²/n')",
    "[0, ∞]",
    "Two-sample z-test; review of anonymization procedures for tabular data, 2023, section 5.2",
)
MEAN_P = _relation(
    "mean-p-value",
    "probability",
    "How probable so large a difference of the means would be by chance; small values say that the mean moved.",
    "2 (1 - Φ(z))",
    "[0, 1]",
    "Two-sample z-test; review of anonymization procedures for tabular data, 2023, section 5.2",
    better="higher",
)
JOINT_KL = _relation(
    "joint-kl-divergence",
    "bits",
    "How badly the release, read as even inside each class, predicts whole records of the original.",
    "Σ p(x) log2 (p(x) / q(x)), q(x) = |E| / |T| / V(E), V(E) the leaf combinations that E covers",
    "[0, log2 Π M]",
    "Kifer and Gehrke 2006",
)

_NO_PARTITION = "not defined here: the released values overlap or leave out values of the original, so it cannot be rolled up"
_NO_RELEASE = "not defined here: the release shows no values of this attribute"


@dataclass(frozen=True)
class Marginals:
    """The distribution of one attribute before and after, over the same values.

    ``before`` and ``after`` sum to one; the original's values come first, by code, then values that only the
    release has. ``numbers`` are the values as numbers, NaN where there are none.
    """

    name: str
    before: FloatArray = field(repr=False)
    after: FloatArray = field(repr=False)
    numbers: FloatArray = field(repr=False)
    numeric: bool


def marginals(pair: Pair, name: str) -> Marginals | None:
    """The distribution of an attribute before and after; released values are spread over what they may stand for.

    ``None`` if the release has no records.

    >>> from discreet.utility.examples import four_ages
    >>> shares = marginals(four_ages("[30, 39]", "[30, 39]", "47", "47"), "age")
    >>> shares.before, shares.after
    (array([0.25, 0.25, 0.25, 0.25]), array([0.25, 0.25, 0.5 , 0.  ]))
    """
    meaning, before, after = _counts(pair, name)
    if not after.sum():
        return None
    foreign = meaning.kinds == FOREIGN
    spread = meaning.spread(np.ones(len(before)), np.where(foreign, 0.0, after))
    # What is shown without standing for any value that occurs, such as an interval between them, is foreign too.
    lost = foreign | ((meaning.sizes == 0) & (after > 0))
    numbers = np.concatenate([meaning.original.numbers, meaning.centre[lost]])
    both = np.concatenate([spread, after[lost]])
    return Marginals(
        name,
        np.concatenate([before, np.zeros(int(lost.sum()))]) / before.sum(),
        both / both.sum(),
        numbers,
        meaning.numeric,
    )


def rolled_up(pair: Pair, name: str) -> Marginals | None:
    """The distribution of an attribute over the released values, the original rolled up to them.

    Suppressed cells are left out; original values that no released one stands for are one value of their own, and
    if nothing is shown, the release has nothing in common with the original. ``None`` if released values overlap
    or are not among what the original has.

    >>> from discreet.utility.examples import four_ages
    >>> shares = rolled_up(four_ages("[30, 39]", "[30, 39]", "[40, 49]", "[30, 39]"), "age")
    >>> shares.before, shares.after
    (array([0.5 , 0.25, 0.25]), array([0.75, 0.25, 0.  ]))
    """
    meaning, before, after = _counts(pair, name)
    shown = (after > 0) & ~meaning.suppressed
    if (meaning.kinds[shown] == FOREIGN).any():
        return None
    if not shown.any():
        return Marginals(name, np.array([1.0, 0.0]), np.array([0.0, 1.0]), np.full(2, np.nan), False)
    by_rank = before[meaning.code_at]
    covered = meaning.sum_covering(shown.astype(np.int64))
    if (covered[by_rank > 0] > 1).any():
        return None
    mass = meaning.sum_inside(by_rank)
    left_out = by_rank[covered == 0].sum()
    return Marginals(
        name,
        np.append(mass[shown], left_out) / before.sum(),
        np.append(after[shown] / after[shown].sum(), 0.0),
        np.append(meaning.centre[shown], np.nan),
        meaning.numeric,
    )


def emd(marginal: Marginals) -> float:
    """Earth mover's distance: numbers by their distance over the range of both, categories all at distance 1.

    ∫ |F - F'| / (max - min), or ½ Σ |p - p'|. A missing number is at distance 1 from every number.
    Rubner, Tomasi and Guibas 2000; Li, Li and Venkatasubramanian, "t-closeness", ICDE 2007.

    >>> from discreet.utility.examples import four_ages
    >>> emd(marginals(four_ages("31", "34", "47", "47"), "age"))  # a quarter moves by 5 of 21
    0.05952380952380952
    """
    if not marginal.numeric:
        return total_variation(marginal)
    known = ~np.isnan(marginal.numbers)
    order = np.argsort(marginal.numbers[known], kind="stable")
    numbers = marginal.numbers[known][order]
    before, after = marginal.before[known][order], marginal.after[known][order]
    least = min(float(before.sum()), float(after.sum()))
    missing = abs(float(before.sum()) - float(after.sum()))
    if not least:
        return min(missing, 1.0)
    span = float(numbers[-1] - numbers[0])
    gap = np.abs(np.cumsum(before / before.sum() - after / after.sum()))[:-1]
    moved = float(np.dot(gap, np.diff(numbers)) / span) if span else 0.0
    return min(missing + least * moved, 1.0)


def kl_divergence(marginal: Marginals) -> float:
    """Σ p log2(p / p') in bits; infinite if the release rules out a value of the original.

    Kullback and Leibler, "On information and sufficiency", 1951.

    >>> from discreet.utility.examples import four_jobs
    >>> round(kl_divergence(marginals(four_jobs("craft", "craft", "care", "craft"), "job")), 6)
    0.207519
    """
    at = marginal.before > 0
    with np.errstate(divide="ignore"):
        return max(float(np.dot(marginal.before[at], np.log2(marginal.before[at] / marginal.after[at]))), 0.0)


def js_divergence(marginal: Marginals) -> float:
    """½ KL(p, m) + ½ KL(p', m) with m = ½ (p + p'), in bits.

    Lin, "Divergence measures based on the Shannon entropy", 1991.

    >>> from discreet.utility.examples import four_jobs
    >>> js_divergence(marginals(four_jobs("x", "x", "x", "x"), "job"))
    1.0
    """
    return _jensen_shannon(marginal.before, marginal.after)


def total_variation(marginal: Marginals) -> float:
    """½ Σ |p - p'|, half the L1 norm.

    >>> from discreet.utility.examples import four_ages
    >>> total_variation(marginals(four_ages("31", "34", "47", "47"), "age"))
    0.25
    """
    return min(float(np.abs(marginal.before - marginal.after).sum()) / 2, 1.0)


def hellinger(marginal: Marginals) -> float:
    """sqrt(½ Σ (√p - √p')²) (Hellinger 1909).

    >>> from discreet.utility.examples import four_jobs
    >>> hellinger(marginals(four_jobs("x", "x", "x", "x"), "job"))
    1.0
    """
    squared = float(((np.sqrt(marginal.before) - np.sqrt(marginal.after)) ** 2).sum()) / 2
    return math.sqrt(min(squared, 1.0))


def mean_z_test(pair: Pair, name: str) -> tuple[float, float] | None:
    """How far the mean of an attribute with numbers moved: z = |mean - mean'| / sqrt(s²/n + s'²/n'), and its p-value.

    ``None`` if it has no numbers. Released values are spread over what they may stand for. The two are treated
    as independent samples, though the release comes from the original: a cautious answer.

    >>> from discreet.utility.examples import four_ages
    >>> z, p = mean_z_test(four_ages("31", "34", "47", "47"), "age")
    >>> round(z, 4), round(p, 4)
    (0.1898, 0.8495)
    """
    marginal = marginals(pair, name)
    if marginal is None or not marginal.numeric:
        return None
    known = ~np.isnan(marginal.numbers)
    numbers = marginal.numbers[known]
    means, errors = [], []
    for shares, records in ((marginal.before, pair.original.total), (marginal.after, pair.released.total)):
        part = shares[known]
        n = records * float(part.sum())
        if n < 2:
            return None
        mean = float(np.dot(part, numbers) / part.sum())
        means.append(mean)
        errors.append(float(np.dot(part, (numbers - mean) ** 2) / part.sum()) / (n - 1))
    gap, error = abs(means[0] - means[1]), math.sqrt(sum(errors))
    # Equal means of other sums differ by rounding alone.
    if gap <= 1e-12 * max(abs(means[0]), abs(means[1])):
        return 0.0, 1.0
    z = gap / error if error else math.inf
    return z, math.erfc(z / math.sqrt(2))


_SPREAD_MEASURES = (
    (EMD, emd),
    (KL, kl_divergence),
    (JS, js_divergence),
    (VARIATION, total_variation),
    (HELLINGER, hellinger),
)
_ROLLED_MEASURES = (
    (KL_ROLLED, kl_divergence),
    (JS_ROLLED, js_divergence),
    (VARIATION_ROLLED, total_variation),
    (HELLINGER_ROLLED, hellinger),
)


def attributes_of(pair: Pair) -> tuple[str, ...]:
    """The quasi-identifiers, and the sensitive attributes that both tables have."""
    return (*pair.names, *(name for name in pair.sensitive if name not in pair.names))


def distributions(pair: Pair) -> tuple[Measure, ...]:
    """All distances between the distributions of every attribute; before those, their mean over attributes.

    The mean is over the attributes for which there is a value; there is none if no quasi-identifier has one. See
    the functions of this module.

    >>> from discreet.utility.examples import four_ages
    >>> measures = distributions(four_ages("31", "34", "47", "47"))
    >>> values = {measure.name: measure.value for measure in measures if measure.attribute}
    >>> values["total-variation"], round(values["mean-z"], 4)
    (0.25, 0.1898)
    """
    parts: list[Measure] = []
    for name in attributes_of(pair):
        for marginal, measures, note in (
            (marginals(pair, name), _SPREAD_MEASURES, _NO_RELEASE),
            (rolled_up(pair, name), _ROLLED_MEASURES, _NO_PARTITION),
        ):
            parts += [
                definition.of(note if marginal is None else distance(marginal), attribute=name)
                for definition, distance in measures
            ]
        tested = mean_z_test(pair, name)
        if tested is not None:
            parts += [MEAN_Z(tested[0], attribute=name), MEAN_P(tested[1], attribute=name)]
    means = []
    for definition, _ in (*_SPREAD_MEASURES, *_ROLLED_MEASURES):
        told = [m for m in parts if m.name == definition.name and not math.isnan(m.value)]
        # Sensitive attributes are mostly released as they are: alone they would say that nothing was lost.
        speaks = any(m.attribute in pair.names for m in told)
        means.append(definition.of(float(np.mean([m.value for m in told])) if speaks else _NO_PARTITION))
    return (*means, *parts)


def joint_kl_divergence(pair: Pair) -> Measure:
    """KL = Σ p(x) log2(p(x) / q(x)) over combinations x of quasi-identifiers; q spreads each class evenly.

    p(x) = n(x) / |T|, q(x) = |E| / |T| / V(E) with E the released class of x and V(E) the number of leaf
    combinations it covers; all records that show nothing are one class that covers everything. Where the records
    of a combination went to several classes each is compared with its own, which is never too small.
    Kifer and Gehrke, "Injecting utility into anonymized datasets", SIGMOD 2006.

    >>> from discreet.utility.examples import four_jobs
    >>> joint_kl_divergence(four_jobs("craft", "craft", "*", "*")).value  # * may be 4 jobs, and is 2: 1 bit, twice
    0.5
    """
    if pair.links is None:
        return JOINT_KL.undefined(UNLINKED_NOTE)
    if not pair.truthful:
        return JOINT_KL.undefined(FOREIGN_NOTE)
    volume, everything = np.zeros(len(pair.released)), 0.0
    for meaning, codes in zip(pair.meanings, pair.released.codes, strict=True):
        blank = meaning.original.has_null
        leaves = np.maximum(np.rint(meaning.shares * meaning.leaves), 1.0)
        # The root also covers the null, if there is one.
        volume += np.log2(leaves + (blank & meaning.suppressed))[codes]
        everything += math.log2(meaning.leaves + blank)
    total = pair.original.total
    hidden = np.append(pair.suppressed, True)
    owner = np.where(pair.links.released < 0, len(pair.released), pair.links.released)
    sizes = np.bincount(owner, weights=pair.links.records, minlength=len(hidden))
    sizes = np.where(hidden, sizes[hidden].sum(), sizes)
    volume = np.where(hidden, everything, np.append(volume, everything))
    seen = sizes[owner] > 0
    part = pair.links.records[seen] / total
    surprise = (
        np.log2(pair.original.records[pair.links.original][seen] / sizes[owner][seen]) + volume[owner][seen]
    )
    return JOINT_KL(max(float(np.dot(part, surprise)), 0.0))


def _counts(pair: Pair, name: str) -> tuple[Meaning, FloatArray, FloatArray]:
    """What released values may stand for, and the records of each value before and after."""
    meaning = pair.meaning(name)
    counts = []
    for classes, domain in ((pair.original, meaning.original), (pair.released, meaning.released)):
        _, codes = classes.column_of_cells(name)
        counts.append(np.bincount(codes, weights=classes.counts, minlength=domain.size).astype(np.float64))
    return meaning, counts[0], counts[1]


def _jensen_shannon(p: FloatArray, q: FloatArray) -> float:
    middle = (p + q) / 2
    bits = 0.0
    for part in (p, q):
        at = part > 0
        bits += float(np.dot(part[at], np.log2(part[at] / middle[at]))) / 2
    return min(max(bits, 0.0), 1.0)
