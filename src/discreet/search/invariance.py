"""Groups for m-invariance: whoever was published before stays among the same sensitive values, by counterfeits where needed."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass, field

import numpy as np

from discreet.errors import GoalUnreachable
from discreet.perturb.randomness import Randomness
from discreet.search.buckets.anatomy import anatomized
from discreet.sentences import Sentence
from discreet.types import FloatArray, IntArray

Signature = tuple[int, ...]
"""The sensitive values of a group, in order, each once."""
SOURCE = (
    "Xiao and Tao, M-invariance: towards privacy preserving re-publication of dynamic datasets, SIGMOD 2007"
)


@dataclass(frozen=True)
class InvariantGroups:
    """The group of each person and the values of each group; those without a person are a counterfeit's."""

    of_person: IntArray = field(repr=False)
    signatures: tuple[Signature, ...] = field(repr=False)
    of_counterfeit: IntArray = field(repr=False)
    value_of_counterfeit: IntArray = field(repr=False)

    @classmethod
    def of(cls, of_person: IntArray, signatures: tuple[Signature, ...], values: IntArray) -> InvariantGroups:
        """Groups of people with some ``values``, with the counterfeits that these lack."""
        inside = set(zip(of_person.tolist(), values.tolist(), strict=True))
        missing = [
            (group, value)
            for group, signature in enumerate(signatures)
            for value in signature
            if (group, value) not in inside
        ]
        groups, lacking = np.array(missing, dtype=np.int64).reshape(-1, 2).T
        return cls(of_person, signatures, groups, lacking)

    @property
    def counterfeits(self) -> IntArray:
        """How many counterfeits each group has."""
        return np.bincount(self.of_counterfeit, minlength=len(self.signatures))


def invariant_groups(
    values: IntArray,
    known: Sequence[Signature | None],
    positions: FloatArray,
    m: int,
    randomness: Randomness,
) -> InvariantGroups:
    """Groups of at least ``m`` records without a value twice, in which everybody with a ``known`` signature has that signature.

    Those with a signature form buckets. What a bucket lacks to have every value equally often is taken from newcomers, as long as
    there are any, else it is a counterfeit's. Newcomers that are left are parted along their
    ``positions`` (a row per person) as long as both parts are m-eligible, that is no value has more than one in m of the records, and
    form groups as in Anatomy; buckets are parted into groups with one record of each value. After Xiao and Tao, SIGMOD 2007, whose
    algorithm leaves newcomers m-eligible instead, and does not say what becomes of those who are not. The fewest counterfeits are not promised.

    Two people stay, of (0, 1) and of (0, 2), and two come who have what these lack.

    >>> groups = invariant_groups(np.array([0, 0, 2, 1]), [(0, 1), (0, 2), None, None], np.zeros((4, 1)), 2, Randomness(1))
    >>> sorted(groups.signatures), int(groups.counterfeits.sum())
    ([(0, 1), (0, 2)], 0)
    """
    refuse_short(known, m)
    buckets = _buckets(values, known)
    drawn = randomness.permutation(len(values))
    pool: dict[int, list[int]] = {}
    for person in drawn.tolist():
        if known[person] is None:
            pool.setdefault(int(values[person]), []).append(person)
    _fill(buckets, pool)
    alone = _made_eligible(pool, m)
    of_person = np.full(len(values), -1, dtype=np.int64)
    signatures: list[Signature] = []
    parts = [
        *(part for signature in sorted(buckets) for part in _split(buckets[signature], signature, positions)),
        *_newcomers(pool, values, positions, m, randomness),
        *_with_counterfeits(alone, values, m),
    ]
    for group, place in enumerate(randomness.permutation(len(parts)).tolist()):
        people, signature = parts[place]
        of_person[people] = group
        signatures.append(signature)
    return InvariantGroups.of(of_person, tuple(signatures), values)


def refuse_short(known: Sequence[Collection[int] | None], m: int) -> None:
    """Raise if earlier releases left too few values for somebody."""
    short = [len(each) for each in known if each is not None and len(each) < m]
    if short:
        raise GoalUnreachable(
            Sentence(
                "earlier releases left fewer than {m} values for {people:,} people, who would have to keep these",
                m=m,
                people=len(short),
            ),
            nearest=Sentence("m = {m}", m=min(short)),
            remedy="ask for a smaller m, or leave these people out",
        )


def _buckets(values: IntArray, known: Sequence[Signature | None]) -> dict[Signature, dict[int, list[int]]]:
    """By signature and value the people who have to stay with it."""
    buckets: dict[Signature, dict[int, list[int]]] = {}
    for person, signature in enumerate(known):
        if signature is not None:
            bucket = buckets.setdefault(signature, {value: [] for value in signature})
            bucket[int(values[person])].append(person)
    return buckets


def _fill(buckets: dict[Signature, dict[int, list[int]]], pool: dict[int, list[int]]) -> None:
    """Move newcomers to where buckets lack a value.

    Each saves a counterfeit, and makes at most one more necessary among the newcomers that are left.
    """
    for signature in sorted(buckets):
        bucket = buckets[signature]
        most = max(map(len, bucket.values()))
        for value, people in bucket.items():
            waiting = pool.get(value, [])
            while len(people) < most and waiting:
                people.append(waiting.pop())


def _made_eligible(pool: dict[int, list[int]], m: int) -> list[int]:
    """Take the people out of the pool whose value is too frequent among newcomers for groups without it twice."""
    alone = []
    while pool:
        most = max(pool, key=lambda value: (len(pool[value]), value))
        if m * len(pool[most]) <= sum(map(len, pool.values())):
            break
        alone.append(pool[most].pop())
    return alone


def _split(
    bucket: dict[int, list[int]], signature: Signature, positions: FloatArray
) -> Iterator[tuple[IntArray, Signature]]:
    """Groups with at most one person of each value: halves along the widest attribute, until there is one group."""
    todo = [[np.array(bucket[value], dtype=np.int64) for value in signature]]
    while todo:
        columns = todo.pop()
        size = max(map(len, columns))
        people = np.concatenate(columns)
        if size == 1:
            yield people, signature
            continue
        axis = int(np.ptp(positions[people], axis=0).argmax()) if positions.shape[1] else None
        places = np.zeros(len(positions)) if axis is None else positions[:, axis]
        half, middle = size // 2, float(np.median(places[people]))
        lower, upper = [], []
        for column in columns:
            ordered = column[np.argsort(places[column], kind="stable")]
            below = int((places[column] <= middle).sum())
            # Neither half has more of a value than groups; what lacks is a counterfeit's.
            cut = min(max(below, len(column) - (size - half)), half)
            lower.append(ordered[:cut])
            upper.append(ordered[cut:])
        todo += [upper, lower]


def _newcomers(
    pool: dict[int, list[int]], values: IntArray, positions: FloatArray, m: int, randomness: Randomness
) -> Iterator[tuple[IntArray, Signature]]:
    """Groups of m-eligible newcomers, who are near to each other where that can be."""
    todo = [np.array([person for people in pool.values() for person in people], dtype=np.int64)]
    while todo:
        people = todo.pop()
        if not len(people):
            continue
        halves = _halves(people, values, positions, m)
        if halves is not None:
            todo += halves
            continue
        formed = anatomized(np.unique(values[people], return_inverse=True)[1], m, randomness)
        for group in range(int(formed.max()) + 1):
            members = people[formed == group]
            yield members, tuple(sorted(values[members].tolist()))


def _halves(people: IntArray, values: IntArray, positions: FloatArray, m: int) -> list[IntArray] | None:
    """Two m-eligible parts of some people, along the widest attribute that allows it."""
    if len(people) < 2 * m:
        return None
    places = positions[people]
    for axis in np.argsort(-np.ptp(places, axis=0), kind="stable") if positions.shape[1] else ():
        order = people[np.argsort(places[:, axis], kind="stable")]
        parts = [order[: len(order) // 2], order[len(order) // 2 :]]
        if all(int(np.unique(values[part], return_counts=True)[1].max()) * m <= len(part) for part in parts):
            return parts
    return None


def _with_counterfeits(
    people: Sequence[int], values: IntArray, m: int
) -> Iterator[tuple[IntArray, Signature]]:
    """Groups of newcomers for whom there are no others: with counterfeits of the values that most people have."""
    by_value: dict[int, list[int]] = {}
    for person in people:
        by_value.setdefault(int(values[person]), []).append(person)
    common = np.argsort(-np.bincount(values, minlength=1), kind="stable").tolist()
    while any(by_value.values()):
        members = [waiting.pop() for waiting in by_value.values() if waiting]
        own = values[members].tolist()
        others = [value for value in common if value not in own][: max(m - len(own), 0)]
        if len(own) + len(others) < m:
            raise GoalUnreachable(
                Sentence("fewer than {m} values occur", m=m),
                nearest=Sentence("m = {m}", m=len(own) + len(others)),
                remedy="ask for a smaller m",
            )
        yield np.array(members, dtype=np.int64), tuple(sorted([*own, *others]))
