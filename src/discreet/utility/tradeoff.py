"""What an intruder gains and a user keeps: measures that set both against each other.

An intruder knows the distribution of the sensitive values in the release, as even total suppression would show it,
and learns the class of a person. ``p(T, v)`` is the share of value v in the release, ``p(e, v)`` that in class e.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import partial

import numpy as np
from numpy.typing import NDArray

from discreet.classes import Histogram
from discreet.classes.pair import Pair
from discreet.errors import InvalidParameter
from discreet.measure import Measure
from discreet.types import IntArray
from discreet.utility.definition import EMPTY_NOTE, FOREIGN_NOTE, UNLINKED_NOTE, Definition, Weights
from discreet.utility.distances import crossed
from discreet.utility.entropy import kept_bits
from discreet.utility.precision import leaf_loss

_tradeoff = partial(Definition, family="Use against risk")
ADDITIVE = _tradeoff(
    "knowledge-gain-additive",
    "share",
    "How much an intruder's idea of the sensitive value changes on average by knowing a person's class.",
    "1/|T'| · Σ |e| · ½ Σ |p(T, v) - p(e, v)|",
    "[0, 1]",
    "Brickell and Shmatikov 2008",
)
MULTIPLICATIVE = _tradeoff(
    "knowledge-gain-multiplicative",
    "nats",
    "How many times likelier or unlikelier sensitive values get by knowing a person's class, summed as logarithms.",
    "1/|T'| · Σ |e| · Σ |ln (p(e, v) / p(T, v))|, values that a class misses left out",
    "[0, ∞)",
    "Brickell and Shmatikov 2008",
)
ACCURACY = _tradeoff(
    "accuracy-gain",
    "share of records",
    "For how many more people an intruder guesses the sensitive value right by taking the most frequent one of their class.",
    "1/|T'| · Σ |e| · max p(e, v) - max p(T, v)",
    "[0, 1]",
    "Brickell and Shmatikov 2008",
)
WORST_CASE = _tradeoff(
    "worst-case-privacy-loss",
    "bits",
    "How far the sensitive values of the most telling class are from those of the table: 0 equal, 1 nothing in common.",
    "max over classes of JS(p(T), p(e))",
    "[0, 1]",
    "Li and Li 2009",
)
LEAKAGE = _tradeoff(
    "min-entropy-leakage",
    "bits",
    "How much the classes help an intruder who has one guess at a person's sensitive value.",
    "log2 (Σ max_v p(e, v) / max_v p(T, v)), p(e, v) as shares of the table",
    "[0, log2 of the values]",
    "Alvim et al. 2012; Smith 2009",
)
LEAKAGE_BOUND = _tradeoff(
    "min-entropy-leakage-bound",
    "bits",
    "The most that the classes can help an intruder with one guess, whatever he believed before.",
    "log2 Σ over classes of max_v p(e | v)",
    "[0, log2 of the values]",
    "Braun, Chatzikokolakis and Palamidessi 2009; Alvim et al. 2012",
)
GLOBAL_UTILITY = _tradeoff(
    "global-utility",
    "share of records",
    "For how many records a user who sees the release guesses the original values right, all quasi-identifiers at once.",
    "Σ_z max_y p(y, z)",
    "(0, 1]",
    "Alvim et al. 2012",
    better="higher",
)
IGPL = _tradeoff(
    "igpl",
    "bits per bit",
    "How much information the release gives for each loss of privacy, seen from a release that shows nothing.",
    "IG / (PL + 1), IG = Σ H(X) - H(X | B) per record, PL = log2 (people / smallest class)",
    "[0, Σ H(X)]",
    "Fung, Wang and Yu 2005; the choice of IG and PL is ours",
    better="higher",
)
SANITISATION = _tradeoff(
    "sanitisation-degree",
    "degree",
    "One number for both: near 1 if people are hard to single out and values still precise, 0 if one of them fails.",
    "2 U P / (U + P), U = 1 - leaf loss, P = 1 - mean of 1 / class size",
    "[0, 1]",
    "After Sadhya and Chakraborty 2022; the combination is ours",
    better="higher",
)


def knowledge_gain_additive(pair: Pair) -> tuple[Measure, ...]:
    """1/|T'| Σ |e| ½ Σ_v |p(T, v) - p(e, v)|, per sensitive attribute.

    Brickell and Shmatikov, "The cost of privacy", KDD 2008.

    >>> from discreet.utility.examples import two_towns
    >>> knowledge_gain_additive(two_towns())[0].value  # (1/2, 1/2) against (3/4, 1/4)
    0.25
    """

    def gain(table: Histogram) -> float:
        shares = table.distribution[table.values]
        # Values that a class misses add their share in the table.
        inside = table.per_class(np.add, np.abs(shares - table.shares))
        missing = 1.0 - table.per_class(np.add, shares)
        return float(np.dot(table.class_records, (inside + missing) / 2) / table.class_records.sum())

    return _per_sensitive(pair, ADDITIVE, gain)


def knowledge_gain_multiplicative(pair: Pair) -> tuple[Measure, ...]:
    """1/|T'| Σ |e| Σ_v |ln(p(e, v) / p(T, v))|, per sensitive attribute; log 0 is taken as 0.

    Brickell and Shmatikov 2008.

    >>> from discreet.utility.examples import two_towns
    >>> round(knowledge_gain_multiplicative(two_towns())[0].value, 6)
    0.693147
    """

    def gain(table: Histogram) -> float:
        logs = table.per_class(np.add, np.abs(np.log(table.shares / table.distribution[table.values])))
        return float(np.dot(table.class_records, logs) / table.class_records.sum())

    return _per_sensitive(pair, MULTIPLICATIVE, gain)


def accuracy_gain(pair: Pair) -> tuple[Measure, ...]:
    """1/|T'| Σ |e| max_v p(e, v) - max_v p(T, v), per sensitive attribute.

    Brickell and Shmatikov 2008. It sees only shifts that change the most frequent value.

    >>> from discreet.utility.examples import two_towns
    >>> accuracy_gain(two_towns())[0].value  # 3 of 4 right with and without the classes
    0.0
    """

    def gain(table: Histogram) -> float:
        right = table.per_class(np.maximum, table.records).sum()
        return float((right - table.totals.max()) / table.class_records.sum())

    return _per_sensitive(pair, ACCURACY, gain)


def worst_case_privacy_loss(pair: Pair) -> tuple[Measure, ...]:
    """The largest Jensen-Shannon divergence, in bits, of a class from the table, per sensitive attribute.

    max over classes of ½ KL(Q, M) + ½ KL(P, M), M = ½ (P + Q). Li and Li, "On the tradeoff between privacy and
    utility in data publishing", KDD 2009.

    >>> from discreet.utility.examples import two_towns
    >>> round(worst_case_privacy_loss(two_towns())[0].value, 6)
    0.137925
    """

    def loss(table: Histogram) -> float:
        p, q = table.shares, table.distribution[table.values]
        middle = (p + q) / 2
        inside = table.per_class(np.add, (p * np.log2(p / middle) + q * np.log2(q / middle)) / 2)
        # A value that a class misses is half as likely in the middle: log2 2 = 1.
        missing = 1.0 - table.per_class(np.add, q)
        return float(min(max((inside + missing / 2).max(), 0.0), 1.0))

    return _per_sensitive(pair, WORST_CASE, loss)


def min_entropy_leakage(pair: Pair) -> tuple[Measure, ...]:
    """H∞(X) - H∞(X | Z) in bits: how much the classes Z help one guess at the sensitive value X; and its bound.

    log2 of Σ_e max_v n(e, v) / max_v n(v); the bound, log2 Σ_e max_v n(e, v) / n(v), holds whatever the
    intruder believed before. Alvim et al., "Differential privacy: on the trade-off between utility and
    information leakage", 2012; Braun, Chatzikokolakis and Palamidessi 2009.

    >>> from discreet.utility.examples import two_towns
    >>> [round(measure.value, 6) for measure in min_entropy_leakage(two_towns())]
    [0.0, 0.736966]
    """

    def leakage(table: Histogram) -> float:
        return float(np.log2(table.per_class(np.maximum, table.records).sum() / table.totals.max()))

    def bound(table: Histogram) -> float:
        return float(np.log2(table.per_class(np.maximum, table.records / table.totals[table.values]).sum()))

    return (*_per_sensitive(pair, LEAKAGE, leakage), *_per_sensitive(pair, LEAKAGE_BOUND, bound))


def differential_leakage_bound(persons: int, values: int, epsilon: float) -> float:
    """The min-entropy leakage of ε-differential privacy about ``persons`` with ``values`` each, at most, in bits.

    u log2(v e^ε / (v - 1 + e^ε)). Alvim et al. 2012.

    >>> differential_leakage_bound(1, 2, 0.0), round(differential_leakage_bound(10, 2, 0.1), 6)
    (0.0, 0.703321)
    """
    if persons < 1 or values < 2 or not epsilon >= 0:
        raise InvalidParameter(
            "the bound needs at least one person, two values and an epsilon of at least 0",
            remedy="for example differential_leakage_bound(100, 2, 0.5)",
        )
    return persons * math.log2(values / ((values - 1) * math.exp(-epsilon) + 1))


def global_utility(pair: Pair) -> tuple[Measure, ...]:
    """Σ_z max_y p(y, z): how often the best guess at the original y from the released z is right.

    Whole records first, then each quasi-identifier alone; a guess is right or worthless.
    Alvim et al. 2012.

    >>> from discreet.utility.examples import four_jobs
    >>> global_utility(four_jobs())[0].value  # one of two crafts, nurse and medic
    0.75
    """
    if pair.links is None:
        return (GLOBAL_UTILITY.undefined(UNLINKED_NOTE),)
    total = float(pair.links.records.sum())
    hidden = np.append(pair.suppressed, True)
    owner = np.where(hidden[pair.links.released], -1, pair.links.released)
    whole = _best_guesses(pair.links.original, owner, pair.links.records, len(pair.original))
    parts = []
    for at, name in enumerate(pair.names):
        cross = crossed(pair, at)
        right = _best_guesses(cross.original, cross.released, cross.records, cross.meaning.original.size)
        parts.append(GLOBAL_UTILITY(right / total, attribute=name))
    return (GLOBAL_UTILITY(whole / total), *parts)


def igpl(pair: Pair) -> Measure:
    """IG / (PL + 1): information gained per privacy lost, from the release that shows nothing to this one.

    IG is what a record tells about its quasi-identifiers, Σ H(X) - H(X | B) in bits; PL = log2(people / people
    of the smallest class), the bits by which the crowd of the most exposed shrank.
    Fung, Wang and Yu, "Top-down specialization for information and privacy preservation", ICDE 2005, who leave
    the choice of both open.

    >>> from discreet.utility.examples import four_jobs
    >>> igpl(four_jobs()).value  # 1.5 bits kept; nurse and medic stand alone among 4: 2 bits
    0.5
    """
    kept = kept_bits(pair)
    if math.isnan(kept):
        return IGPL.undefined(FOREIGN_NOTE)
    if not pair.released.total:
        return IGPL.undefined(EMPTY_NOTE)
    sizes = pair.released.sizes(pair.unit)
    people = pair.released.total_persons if pair.unit == "persons" else pair.released.total
    return IGPL(kept / (math.log2(people / int(sizes.min())) + 1.0))


def sanitisation_degree(pair: Pair, *, weights: Weights = None) -> Measure:
    """2 U P / (U + P): the harmonic mean of utility U = 1 - leaf loss and privacy P = 1 - mean of 1 / class size.

    Sadhya and Chakraborty 2022 put privacy and utility into one value in [0, 1]; this combination is ours.

    >>> from discreet.utility.examples import four_jobs
    >>> round(sanitisation_degree(four_jobs("craft", "craft", "care", "care")).value, 6)  # U = 2/3, P = 1/2
    0.571429
    """
    loss = leaf_loss(pair, weights=weights)[0]
    if math.isnan(loss.value):
        return SANITISATION.undefined(FOREIGN_NOTE)
    utility = 1.0 - loss.value
    shown = ~pair.suppressed
    sizes = pair.released.sizes(pair.unit)
    risk = float(shown.sum() / sizes[shown].sum()) if shown.any() else 0.0
    privacy = 1.0 - risk
    return SANITISATION(2 * utility * privacy / (utility + privacy) if utility + privacy > 0 else 0.0)


def _per_sensitive(
    pair: Pair, definition: Definition, measure: Callable[[Histogram], float]
) -> tuple[Measure, ...]:
    names = [domain.name for domain in pair.released.sensitive]
    if not pair.released.total:
        return tuple(definition.undefined(EMPTY_NOTE, attribute=name) for name in names)
    return tuple(definition(measure(pair.released.histogram(name)), attribute=name) for name in names)


def _best_guesses(original: IntArray, released: IntArray, records: NDArray[np.number], size: int) -> float:
    """Records that are right if each released value is taken for the original one most often behind it."""
    keys, where = np.unique((released.astype(np.int64) + 1) * size + original, return_inverse=True)
    counts = np.bincount(where, weights=records)
    starts = np.flatnonzero(np.diff(np.concatenate([[-1], keys // size])))
    return float(np.maximum.reduceat(counts, starts).sum())
