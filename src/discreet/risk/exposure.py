"""Who is exposed most, by which attributes, and what each attribute adds to the risk of the whole table."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from discreet.arrays import distinct, first_places
from discreet.classes import EquivalenceClasses
from discreet.classes.packed import are_many, packed
from discreet.errors import InvalidParameter
from discreet.plain import plain
from discreet.risk.tally import CodeGroups, Rows, group_sizes
from discreet.sentences import Sentence
from discreet.types import FloatArray, IntArray

_SOURCE = "prosecutor risk (El Emam 2013) with one attribute left out; Folz et al. 2025, section VII"


@dataclass(frozen=True)
class RiskyClass:
    """A class of high risk, and how large it would be with one attribute suppressed.

    ``position`` is the class's place in the equivalence classes; ``without[name]`` the persons it would
    hold if attribute ``name`` were suppressed everywhere.
    """

    position: int
    persons: int
    records: int
    risk: float
    without: dict[str, int]

    @property
    def decisive(self) -> tuple[str, ...]:
        """The attributes whose suppression would enlarge the class, the most effective first."""
        helping = [name for name, size in self.without.items() if size > self.persons]
        return tuple(sorted(helping, key=lambda name: -self.without[name]))

    @property
    def meaning(self) -> str:
        if not self.decisive:
            return (
                "No single attribute exposes these people: suppressing one would hide them among nobody else."
            )
        best = self.decisive[0]
        return Sentence(
            "{persons} of a kind; without {best} there would be {without}, so {best} exposes these people most.",
            persons=self.persons,
            best=best,
            without=self.without[best],
        )

    def to_dict(self) -> dict[str, object]:
        return {**plain(self), "decisive": list(self.decisive), "meaning": self.meaning}


@dataclass(frozen=True)
class AttributeContribution:
    """What one attribute adds: risk, share of unique records and k with it and without it.

    ``rank`` 1 is the attribute whose removal lowers the average risk most.
    """

    attribute: str
    rank: int
    risk: float
    risk_without: float
    unique: float
    unique_without: float
    k: int
    k_without: int
    margin: float | None = None
    """Where risk and unique records without the attribute are estimated: half the width of their 95 % intervals."""

    @property
    def added_risk(self) -> float:
        return self.risk - self.risk_without

    @property
    def added_unique(self) -> float:
        return self.unique - self.unique_without

    @property
    def meaning(self) -> str:
        return (
            f"Without {self.attribute} the average risk would be {self.risk_without:.1%} instead of "
            f"{self.risk:.1%}, {self.unique_without:.1%} of the records would be unique instead of "
            f"{self.unique:.1%}, and k would be {self.k_without} instead of {self.k}."
        )

    def to_dict(self) -> dict[str, object]:
        counted = {"margin"} if self.margin is None else set()
        figures = {name: value for name, value in plain(self).items() if name not in counted}
        return {**figures, "meaning": self.meaning, "source": _SOURCE}


def riskiest_classes(
    classes: EquivalenceClasses, n: int = 10, *, scores: FloatArray | None = None
) -> list[RiskyClass]:
    """The ``n`` classes with the highest prosecutor risk 1 / persons, each with its reason.

    The reason is the size the class would have without each attribute: the persons who agree in all *other*
    attributes (prosecutor risk: El Emam 2013; explanation per record: Folz et al. 2025, section VII).
    Classes of equal risk come by ``scores`` (say SUDA scores), highest first, then in their own order.

    >>> classes = EquivalenceClasses.from_columns({"zip": [1, 1, 1, 2], "sex": ["f", "f", "m", "f"]})
    >>> for found in riskiest_classes(classes, 2):
    ...     print(found.position, found.risk, found.without, found.decisive)
    1 1.0 {'zip': 1, 'sex': 3} ('sex',)
    2 1.0 {'zip': 3, 'sex': 1} ('zip',)
    """
    if n < 1:
        raise InvalidParameter("fewer than one class is asked for", remedy="let n be 1 or more")
    return [_explain(classes, int(position)) for position in _smallest(classes.persons, n, scores)]


def contributions(classes: EquivalenceClasses) -> list[AttributeContribution]:
    """What each attribute adds to the risk of the table, by leaving it out; the worst attribute first.

    Average risk is the mean over records of 1 / persons in the class (El Emam 2013); k the smallest class in
    persons. Attributes that agree in risk are ranked by the share of unique records they add, then by name.

    >>> classes = EquivalenceClasses.from_columns({"zip": [1, 2, 3, 4], "sex": ["f", "f", "m", "m"]})
    >>> [(c.attribute, c.rank, c.risk, c.risk_without, c.k_without) for c in contributions(classes)]
    [('zip', 1, 1.0, 0.5, 2), ('sex', 2, 1.0, 1.0, 1)]
    """
    rows = Rows.of(classes)
    width = len(classes.names)
    whole = CodeGroups(classes.records, classes.persons)
    risk, unique = _figures(whole)
    k = int(whole.persons.min())
    left_out: list[tuple[str, float, float, int, float | None]] = []
    for j, name in enumerate(classes.names):
        others = [i for i in range(width) if i != j]
        groups = group_sizes(
            [rows.spread(classes.codes[i]) for i in others],
            [classes.attributes[i].size for i in others],
            rows.records,
            persons=rows.persons,
            person_size=rows.person_size,
        )
        left_out.append((name, *_figures(groups), int(groups.persons.min()), None))
    return ranked(left_out, risk=risk, unique=unique, k=k)


def ranked(
    left_out: Sequence[tuple[str, float, float, int, float | None]], *, risk: float, unique: float, k: int
) -> list[AttributeContribution]:
    """Attributes with risk, share of unique records and k without each, and the margin of an estimate; worst first."""
    # Rounded, so that the order does not hang on how a sum was rounded.
    in_order = sorted(left_out, key=lambda item: (round(item[1], 12), round(item[2], 12), item[0]))
    return [
        AttributeContribution(name, rank, risk, risk_without, unique, unique_without, k, k_without, margin)
        for rank, (name, risk_without, unique_without, k_without, margin) in enumerate(in_order, start=1)
    ]


def _figures(groups: CodeGroups) -> tuple[float, float]:
    """Average prosecutor risk and share of unique records."""
    total = groups.records.sum()
    return (
        float((groups.records / groups.persons).sum() / total),
        float(groups.records[groups.persons == 1].sum() / total),
    )


def _smallest(sizes: IntArray, n: int, scores: FloatArray | None) -> IntArray:
    """Positions of the ``n`` smallest classes without sorting all of them."""
    n = min(n, len(sizes))
    least = sizes.min()
    # Of many equal sizes, telling which is the n-th smallest takes longer than all else.
    limit = least if np.count_nonzero(sizes == least) >= n else np.partition(sizes, n - 1)[n - 1]
    if scores is None:
        smaller = np.flatnonzero(sizes < limit)
        equal = first_places(sizes == limit, n - len(smaller))
        return np.concatenate([smaller[np.lexsort((smaller, sizes[smaller]))], equal])
    candidates = np.flatnonzero(sizes <= limit)
    return candidates[np.lexsort((candidates, -scores[candidates], sizes[candidates]))][:n]


def _explain(classes: EquivalenceClasses, position: int) -> RiskyClass:
    return RiskyClass(
        position=position,
        persons=int(classes.persons[position]),
        records=int(classes.records[position]),
        risk=1.0 / int(classes.persons[position]),
        without=packed(classes).without(position) if are_many(classes) else _without(classes, position),
    )


def _without(classes: EquivalenceClasses, position: int) -> dict[str, int]:
    """For each attribute, how many persons agree with a class in all others."""
    # Whoever joins the class when one attribute is suppressed differs from it in that attribute at most.
    differences = np.zeros(len(classes), dtype=np.uint16)
    for codes in classes.codes:
        differences += codes != codes[position]
    near = np.flatnonzero(differences <= 1)
    without = {}
    for name, codes in zip(classes.names, classes.codes, strict=True):
        joining = near[(differences[near] == 0) | (codes[near] != codes[position])]
        without[name] = _persons_in(classes, joining)
    return without


def _persons_in(classes: EquivalenceClasses, positions: IntArray) -> int:
    """Distinct persons in several classes together."""
    if classes.person_codes is None:
        return int(classes.records[positions].sum())
    counts = classes.person_counts
    starts, lengths = counts.indptr[positions], np.diff(counts.indptr)[positions]
    offsets = np.arange(lengths.sum()) - np.repeat(np.cumsum(lengths) - lengths, lengths)
    return len(distinct(counts.persons[np.repeat(starts, lengths) + offsets]))
