"""Special uniques: who is singled out by few attributes, and which combinations of attributes do it.

A minimal sample unique is a set of attributes on which a person is alone while being alone on none of its
subsets. The fewer attributes it takes, and the more such sets there are, the more special the unique.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from itertools import combinations as subsets
from math import comb, prod
from typing import Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray

from discreet.classes import EquivalenceClasses
from discreet.errors import InvalidParameter
from discreet.plain import plain
from discreet.risk.tally import CodeGroups, Rows, group_sizes, tally
from discreet.sentences import Sentence
from discreet.types import AnyIntArray, BoolArray, FloatArray, Int32Array, IntArray, Progress

Weighting = Literal["products", "elliot"]

SMALL_GROUP = 11
"""Groups smaller than this count as small: k > 10 is what the release decision asks for."""

_SUDA = (
    "Elliot, Manning & Ford 2002, A computational algorithm for handling the special uniques problem, IJUFKS 10(5); "
    "Manning, Haglin & Keane 2008, SUDA2, Data Mining and Knowledge Discovery 16; "
    "Skinner & Elliot 2002, JRSS B 64(4)"
)


@dataclass(frozen=True)
class MinimalUniques:
    """How many people have this set of attributes as a minimal sample unique."""

    attributes: tuple[str, ...]
    persons: int
    records: int


@dataclass(frozen=True)
class SudaResult:
    """SUDA scores per class, DIS-SUDA scores where a sampling fraction is known, and what they come from.

    ``contributions`` is, per attribute, the percentage of all scores that comes from minimal uniques with
    this attribute; several attributes share a minimal unique, so the percentages sum to more than 100.
    """

    names: tuple[str, ...]
    max_size: int
    weighting: Weighting
    scores: FloatArray = field(repr=False, compare=False)
    records: IntArray = field(repr=False, compare=False)
    contributions: dict[str, float]
    minimal_uniques: tuple[MinimalUniques, ...]
    dis_weighting: Weighting = "elliot"
    sampling_fraction: float | None = None
    file_risk: float | None = None
    dis_scores: FloatArray | None = field(default=None, repr=False, compare=False)
    source: str = _SUDA

    @property
    def meaning(self) -> str:
        return (
            f"Someone with a score above 0 is singled out by {self.max_size} or fewer attributes; the fewer it "
            "takes and the more ways there are, the higher the score."
        )

    @property
    def share_scored(self) -> float:
        """Share of the records with a score above 0."""
        return float(self.records[self.scores > 0].sum() / self.records.sum())

    def to_dict(self) -> dict[str, object]:
        data: dict[str, object] = {
            "max_size": self.max_size,
            "weighting": self.weighting,
            "max": float(self.scores.max()),
            "mean": float(self.scores @ self.records / self.records.sum()),
            "share_scored": self.share_scored,
            "contributions": dict(self.contributions),
            "minimal_uniques": plain(self.minimal_uniques),
            "meaning": self.meaning,
            "source": self.source,
        }
        if self.dis_scores is not None:
            data |= {
                "dis_weighting": self.dis_weighting,
                "sampling_fraction": self.sampling_fraction,
                "file_risk": self.file_risk,
                "dis_max": float(self.dis_scores.max()),
            }
        return data


@dataclass(frozen=True)
class Combination:
    """How far a set of attributes tells records apart and singles people out.

    ``distinction`` is distinct combinations / records; ``separation`` the share of pairs of records that
    differ in it (Motwani & Xu 2007); ``unique`` the share of records whose person is alone with the
    combination; ``small`` the share of records in groups of fewer than 11 persons.
    """

    attributes: tuple[str, ...]
    groups: int
    distinction: float
    separation: float
    unique: float
    small: float

    @property
    def meaning(self) -> str:
        return (
            f"Knowing {', '.join(self.attributes)} of everybody singles out {self.unique:.1%} of the records and "
            f"puts {self.small:.1%} into groups of fewer than {SMALL_GROUP} people."
        )

    def to_dict(self) -> dict[str, object]:
        return {**plain(self), "meaning": self.meaning}


def suda(
    classes: EquivalenceClasses,
    *,
    max_size: int = 3,
    weighting: Weighting = "products",
    dis_weighting: Weighting = "elliot",
    sampling_fraction: float | None = None,
    progress: Progress | None = None,
) -> SudaResult:
    """SUDA scores: all minimal sample uniques of up to ``max_size`` attributes, weighted and summed per class.

    With A attributes, sizes up to M, and k the size of a minimal sample unique, it adds to the score::

        products:  Π_{i=k..min(M, A-1)} (A - i)                      (Elliot, Manning & Ford 2002)
        elliot:    (2^(A-k) - 1) k! (A-k)! / A!

    A sampling fraction π turns scores s into DIS-SUDA scores d, probabilities that a unique match is right::

        file risk  D = π n1 / (π n1 + 2 (1-π) n2)                    (Skinner & Elliot 2002)
        1/d - 1  = (1/D - 1) s^-q / mean(s^-q),   q = max(0, 1 + (8 - A)/20)

    with n1 uniques and n2 classes of two on the whole quasi-identifier; the mean is over uniques with a
    score, so the harmonic mean of their d is D. The published DIS-SUDA scores rest on the second weighting,
    the published SUDA scores on the first: these are the defaults of ``dis_weighting`` and ``weighting``.
    The exponent q has no paper behind it that we know: it is the convention of the R package sdcMicro, to
    which the published DIS-SUDA scores fit; we cut it off at 0. A unique is a *person* alone, at event level
    with any number of records.

    >>> classes = EquivalenceClasses.from_columns({"a": [2, 1, 1], "b": [0, 3, 0], "c": [0, 6, 0]})
    >>> found = suda(classes)
    >>> found.scores          # of (1,0,0), (1,3,6), (2,0,0): {a,b} and {a,c}; {b} and {c}; {a}
    array([2., 4., 2.])
    >>> found.contributions
    {'a': 50.0, 'b': 37.5, 'c': 37.5}
    """
    if max_size < 1:
        raise InvalidParameter("max_size is below 1", remedy="give the number of attributes to combine")
    if sampling_fraction is not None and not 0.0 < sampling_fraction <= 1.0:
        raise InvalidParameter(
            "the sampling fraction lies outside (0, 1]", remedy="give table size / population size"
        )
    width = len(classes.names)
    largest = min(max_size, width)
    # Whoever is alone on some attributes is alone on all: only these classes can have a score.
    alone = np.flatnonzero(classes.persons == 1)
    kinds, per_size = _minimal_uniques(classes, alone, largest, progress or (lambda _: None))
    weights = weights_of(weighting, width, largest)
    scores = np.zeros(len(classes))
    scores[alone] = _weighted(weights, per_size)
    total = float(scores @ classes.records)
    file_risk, dis_scores = None, None
    if sampling_fraction is not None:
        dis_weights = weights_of(dis_weighting, width, largest)
        pairs = int((classes.persons == 2).sum())
        dis_alone = _weighted(dis_weights, per_size)
        file_risk, dis_alone = dis(
            dis_alone, alone=len(alone), pairs=pairs, width=width, fraction=sampling_fraction
        )
        dis_scores = np.zeros(len(classes))
        dis_scores[alone] = dis_alone
    return SudaResult(
        names=classes.names,
        max_size=largest,
        weighting=weighting,
        scores=scores,
        records=classes.records,
        contributions=attributed(classes.names, kinds, weights, total),
        minimal_uniques=fewest_first(kinds),
        dis_weighting=dis_weighting,
        sampling_fraction=sampling_fraction,
        file_risk=file_risk,
        dis_scores=dis_scores,
    )


def attributed(
    names: Sequence[str], kinds: Sequence[MinimalUniques], weights: FloatArray, total: float
) -> dict[str, float]:
    """Per attribute the percentage of all scores, ``total``, that comes from minimal uniques with it."""
    parts = dict.fromkeys(names, 0.0)
    for kind in kinds:
        for name in kind.attributes:
            parts[name] += float(weights[len(kind.attributes) - 1]) * float(kind.records)
    return {name: 100.0 * part / total if total else 0.0 for name, part in parts.items()}


def fewest_first(kinds: Sequence[MinimalUniques]) -> tuple[MinimalUniques, ...]:
    """Those of few attributes first, and of these those of many people."""
    return tuple(sorted(kinds, key=lambda kind: (len(kind.attributes), -kind.persons)))


def _minimal_uniques(
    classes: EquivalenceClasses, alone: IntArray, largest: int, tell: Progress
) -> tuple[list[MinimalUniques], Int32Array]:
    """All minimal sample uniques, and for each class that is ``alone`` how many of each size it has."""
    per_size = np.zeros((largest, len(alone)), dtype=np.int32)
    kinds: list[MinimalUniques] = []
    records = classes.records[alone]
    covered: dict[tuple[str, ...], NDArray[np.uint8]] = {}
    for size in range(1, largest + 1):
        uniques: dict[tuple[str, ...], NDArray[np.uint8]] = {}
        for names in subsets(classes.names, size):
            tell(Sentence("uniques on {names}", names=", ".join(names)))
            unique = _one_person(classes, names)[alone]
            if size < largest:
                uniques[names] = np.packbits(unique)
            for part in subsets(names, size - 1):
                if part:
                    unique &= ~np.unpackbits(covered[part], count=len(alone)).view(bool)
            persons = int(unique.sum())
            if persons:
                per_size[size - 1] += unique
                kinds.append(MinimalUniques(names, persons, int(records[unique].sum())))
        covered = uniques
    return kinds, per_size


def combinations(
    classes: EquivalenceClasses,
    *,
    max_size: int = 3,
    limit: int | None = None,
    progress: Progress | None = None,
) -> list[Combination]:
    """Every set of up to ``max_size`` quasi-identifiers with how far it singles people out, worst first.

    distinction = groups / n; separation = 1 - Σ f (f-1) / (n (n-1)) (Motwani & Xu 2007, Efficient
    algorithms for masking and finding quasi-identifiers). Sorted by unique records, then by records in small
    groups; where these tie, the smaller set comes first. ``limit`` keeps the first so many.

    >>> classes = EquivalenceClasses.from_columns({"a": [1, 1, 2, 2], "b": [1, 2, 3, 3]})
    >>> [(c.attributes, c.unique, round(c.separation, 3)) for c in combinations(classes)]
    [(('b',), 0.5, 0.833), (('a', 'b'), 0.5, 0.833), (('a',), 0.0, 0.667)]
    """
    if max_size < 1:
        raise InvalidParameter("max_size is below 1", remedy="give the number of attributes to combine")
    rows = Rows.of(classes)
    enough = _surely_large(rows.persons, rows.records)
    tell = progress or (lambda _: None)
    figures: list[Combination] = []
    for size in range(1, min(max_size, len(classes.names)) + 1):
        for at in subsets(range(len(classes.names)), size):
            names = tuple(classes.names[j] for j in at)
            tell(Sentence("groups by {names}", names=", ".join(names)))
            groups = group_sizes(
                [rows.spread(classes.codes[j]) for j in at],
                [classes.attributes[j].size for j in at],
                rows.records,
                persons=rows.persons,
                person_size=rows.person_size,
                count_up_to=enough,
            )
            figures.append(figures_of(names, groups))
    return worst_first(figures)[:limit]


def worst_first(figures: list[Combination]) -> list[Combination]:
    """By unique records, then by records in small groups; where these tie, the smaller set comes first."""
    return sorted(
        figures, key=lambda item: (-item.unique, -item.small, len(item.attributes), -item.separation)
    )


def separation(
    codes: Sequence[AnyIntArray],
    sizes: Sequence[int],
    weights: ArrayLike | None = None,
    *,
    names: Sequence[str] | None = None,
    persons: IntArray | None = None,
) -> Combination:
    """The same figures for columns of codes that are not (yet) quasi-identifiers of a table.

    ``sizes`` are the numbers of possible codes, ``weights`` the records per row (one each by default),
    ``persons`` person codes per row at event level (Motwani & Xu 2007).

    >>> figures = separation([np.array([0, 0, 1, 2])], [3], names=["zip"])
    >>> figures.groups, figures.distinction, round(figures.separation, 4), figures.unique
    (3, 0.75, 0.8333, 0.5)
    """
    if not codes or len(codes) != len(sizes):
        raise InvalidParameter(
            "columns and sizes do not match", remedy="give one size per column, at least one"
        )
    counts = (
        np.ones(len(codes[0]), dtype=np.int64) if weights is None else np.asarray(weights, dtype=np.int64)
    )
    bound = 0 if persons is None else int(persons.max()) + 1
    enough = _surely_large(persons, counts)
    groups = group_sizes(codes, sizes, counts, persons=persons, person_size=bound, count_up_to=enough)
    return figures_of(tuple(names or (str(j) for j in range(len(codes)))), groups)


def figures_of(names: tuple[str, ...], groups: CodeGroups) -> Combination:
    """How far a set of attributes tells records apart, by the sizes of its groups."""
    records, persons = groups.records, groups.persons
    total = int(records.sum())
    together = float(np.dot(records.astype(np.float64), records - 1.0))
    return Combination(
        attributes=names,
        groups=len(records),
        distinction=len(records) / total,
        # One record alone has nothing to be told apart from: 1 by convention, as for uniqueness.
        separation=1.0 - together / (total * (total - 1.0)) if total > 1 else 1.0,
        unique=float(records[persons == 1].sum() / total),
        small=float(records[persons < SMALL_GROUP].sum() / total),
    )


def _surely_large(persons: IntArray | None, records: IntArray) -> int | None:
    """Records above which a group cannot be small, however busy the persons in it are."""
    if persons is None:
        return None
    return (SMALL_GROUP - 1) * int(np.bincount(persons, weights=records).max())


def _one_person(classes: EquivalenceClasses, names: Sequence[str]) -> BoolArray:
    """Per class, whether all records that share its values of ``names`` belong to one person."""
    numbers, bound = classes.groups(names)
    if classes.person_codes is None:
        single: BoolArray = tally(numbers, classes.records, bound) == 1
        return single[numbers]
    first = classes.person_counts.persons[classes.person_counts.indptr[:-1]]
    witness = np.empty(bound, dtype=np.int64)
    witness[numbers] = first
    mixed = np.zeros(bound, dtype=bool)
    mixed[numbers[(witness[numbers] != first) | (classes.persons > 1)]] = True
    return ~mixed[numbers]


def weights_of(weighting: Weighting, width: int, largest: int) -> FloatArray:
    """What a minimal sample unique of size 1, 2 … adds to a score."""
    if weighting == "products":
        last = min(largest, width - 1)
        return np.array(
            [prod(width - i for i in range(k, last + 1)) for k in range(1, largest + 1)], dtype=np.float64
        )
    return np.array([(2.0 ** (width - k) - 1) / comb(width, k) for k in range(1, largest + 1)])


def _weighted(weights: FloatArray, per_size: Int32Array) -> FloatArray:
    """Scores from the numbers of minimal sample uniques of each size, one size at a time to save memory."""
    scores = np.zeros(per_size.shape[1])
    for weight, row in zip(weights, per_size, strict=True):
        scores += weight * row
    return scores


def dis(
    scores: FloatArray,
    *,
    alone: int,
    pairs: int,
    width: int,
    fraction: float,
    times: IntArray | None = None,
) -> tuple[float, FloatArray]:
    """The file's risk and the DIS-SUDA score for each SUDA score, which ``times`` so many classes have."""
    hits = fraction * alone
    misses = 2.0 * (1.0 - fraction) * pairs
    file_risk = hits / (hits + misses) if hits else 0.0
    dis_scores = np.zeros(len(scores))
    scored = scores > 0
    if scored.any():
        exponent = max(0.0, 1.0 + (8 - width) / 20)
        inverse = scores[scored] ** -exponent
        mean = inverse.mean() if times is None else np.average(inverse, weights=times[scored])
        odds_against = (1.0 / file_risk - 1.0) * inverse / mean
        dis_scores[scored] = 1.0 / (1.0 + odds_against)
    return file_risk, dis_scores
