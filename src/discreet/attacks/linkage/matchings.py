"""Among how many records somebody hides whom an intruder looks for who knows everybody: complete matchings, not only neighbours.

Where labels overlap, a record that fits a person need not be one that can be theirs: everybody else must have a record, too. What
remains is found without trying all matchings: given one, another ties a person to a record if and only if records can be
exchanged along a circle that goes through both, that is, if both are strongly connected in the graph of exchanges.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass, field

import numpy as np
from scipy.sparse import csr_array
from scipy.sparse.csgraph import connected_components, maximum_flow

from discreet.classes.pair import Pair
from discreet.errors import InvalidParameter
from discreet.privacy.base import need_number
from discreet.sentences import Sentence
from discreet.types import IntArray

_COMPARED = 2_000_000
"""So many pairs of a released and an original class are compared at a time."""
MOST_COMPARED = 500_000_000
"""So many are compared at all: with more it would take minutes."""


@dataclass(frozen=True)
class Concealment:
    """For each class of people how many records fit them and how many can be theirs; for each class of records the people.

    People whom no record fits are left out of the release, and of the numbers here.
    """

    records_that_fit: IntArray = field(repr=False)
    people_that_fit: IntArray = field(repr=False)
    records_left: IntArray = field(repr=False)
    people_left: IntArray = field(repr=False)

    @property
    def one_k(self) -> float:
        """(1,k)-anonymity: the fewest records that fit anybody."""
        return _least(self.records_that_fit)

    @property
    def k_one(self) -> float:
        """(k,1)-anonymity: the fewest people whom any record fits."""
        return _least(self.people_that_fit)

    @property
    def k_k(self) -> float:
        """(k,k)-anonymity: the fewer of both."""
        return min(self.one_k, self.k_one)

    @property
    def k(self) -> float:
        """k-concealment: the fewest records that can be anybody's while everybody else has one."""
        return _least(self.records_left)

    @property
    def n(self) -> float:
        """n-confusion: the fewest people whose any record can be while all others are somebody's."""
        return _least(self.people_left)

    @property
    def says(self) -> Sentence:
        one_k, k_one, k, n = (
            "-" if math.isinf(value) else f"{value:.0f}" for value in (self.one_k, self.k_one, self.k, self.n)
        )
        return Sentence(
            "Whoever knows all people finds for everybody at least {k} records that may be theirs (k-concealment), and for every "
            "record {n} people (n-confusion); taken one by one at least {one_k} records fit, and {k_one} people ((1,k)- and "
            "(k,1)-anonymity)",
            k=k,
            n=n,
            one_k=one_k,
            k_one=k_one,
        )

    def holds(self, k: int) -> bool:
        """Whether at least ``k`` records may be anybody's, and every record that of at least ``k`` people."""
        need_number("k", k, low=1)
        return min(self.k, self.n) >= k

    def to_dict(self) -> dict[str, float | None]:
        """The five numbers, as JSON has them; null where nobody is in the release."""
        told = {
            "one_k": self.one_k,
            "k_one": self.k_one,
            "k_k": self.k_k,
            "k_concealment": self.k,
            "n_confusion": self.n,
        }
        return {name: None if math.isinf(value) else value for name, value in told.items()}


def conceal(pair: Pair) -> Concealment:
    """Among how many people and records a release hides everybody from an intruder who knows all quasi-identifiers of all people.

    Of n-confusion it is the number of people whom complete matchings leave to a record, whatever their chances. Whoever was left out may be
    anybody whom the matchings leave out. Gionis, Mazza and Tassa, "k-anonymization revisited", ICDE 2008; Tassa, Mazza and Gionis, "k-concealment",
    TDP 2012; Stokes and Torra, "n-confusion", EDBT/ICDT Workshops 2012.

    Five people; those of 4 and 5 need the last two records, so that the third is that of 3, though two records fit everybody:

    >>> from discreet.classes import EquivalenceClasses
    >>> people = EquivalenceClasses.from_columns({"age": [1, 2, 3, 4, 5]})
    >>> shown = EquivalenceClasses.from_columns({"age": ["[1, 2]", "[1, 2]", "[2, 3]", "[3, 5]", "[4, 5]"]})
    >>> found = conceal(Pair.of(people, shown))
    >>> found.k_k, found.k, found.n
    (2.0, 1.0, 1.0)
    """
    refuse_made_up(not pair.truthful)
    person, record = _fitting(pair)
    people, records = pair.original.records.astype(np.int64), pair.released.records.astype(np.int64)
    matched = _matching(pair, person, record, people, records)
    left_out = people - np.bincount(person, weights=matched, minlength=len(people)).astype(np.int64)
    nobody = len(people) + len(records)
    # Somebody may take a record that fits, or be left out where some are; whose record it was may take another instead.
    out = np.arange(len(people)) if left_out.any() else np.empty(0, dtype=np.int64)
    gone = np.flatnonzero(left_out)
    used = np.flatnonzero(matched)
    start = np.concatenate([person, out, len(people) + record[used], np.full(len(gone), nobody)])
    end = np.concatenate([len(people) + record, np.full(len(out), nobody), person[used], gone])
    exchanges = csr_array((np.ones(len(start), dtype=np.int8), (start, end)), shape=(nobody + 1, nobody + 1))
    circle = connected_components(exchanges, connection="strong")[1]
    possible = circle[person] == circle[len(people) + record]
    return Concealment(
        _summed(person, records[record], len(people)),
        _summed(record, people[person], len(records)),
        _summed(person[possible], records[record[possible]], len(people)),
        _summed(record[possible], people[person[possible]], len(records)),
    )


def refuse_made_up(values: object) -> None:
    """Raise if there are ``values`` that may be anything else than what they stand for."""
    if values:
        raise InvalidParameter(
            "values were averaged, noised or made up: a record that does not fit may be anybody's",
            remedy="try the attacks that look for the nearest or the most likely record (`discreet attack`)",
        )


def _least(counts: IntArray) -> float:
    return float(counts[counts > 0].min(initial=np.iinfo(np.int64).max)) if (counts > 0).any() else math.inf


def _summed(at: IntArray, amounts: IntArray, size: int) -> IntArray:
    return np.bincount(at, weights=amounts, minlength=size).astype(np.int64)


def _fitting(pair: Pair) -> tuple[IntArray, IntArray]:
    """All pairs of an original and a released class that may be of one another."""
    persons, records = [np.empty(0, dtype=np.int64)], [np.empty(0, dtype=np.int64)]
    for person, record in _candidates(pair):
        for at, meaning in enumerate(pair.meanings):
            fits = meaning.covers(pair.released.codes[at][record], pair.original.codes[at][person])
            person, record = person[fits], record[fits]
        persons.append(person)
        records.append(record)
    return np.concatenate(persons), np.concatenate(records)


def _candidates(pair: Pair) -> Iterator[tuple[IntArray, IntArray]]:
    """Pairs of classes that fit one another by the attribute that tells most apart, some at a time."""
    ranks = [m.rank[codes] for m, codes in zip(pair.meanings, pair.original.codes, strict=True)]
    sizes = [
        m.sum_inside(np.bincount(rank, minlength=m.original.size))[codes].astype(np.int64)
        for m, rank, codes in zip(pair.meanings, ranks, pair.released.codes, strict=True)
    ]
    if not sizes:
        raise InvalidParameter("there is no quasi-identifier", remedy="name what an intruder may know")
    lead = int(np.argmin([size.sum() for size in sizes]))
    if sizes[lead].sum() > MOST_COMPARED:
        raise InvalidParameter(
            "the classes of release and original are too many to be compared with one another",
            remedy="look only at some rows (--rows)",
        )
    meaning, order = pair.meanings[lead], np.argsort(ranks[lead], kind="stable")
    place = np.searchsorted(ranks[lead][order], np.arange(meaning.original.size + 1))
    first, last = place[meaning.starts], place[meaning.stops]
    codes = pair.released.codes[lead].astype(np.int64)
    parts = np.cumsum(sizes[lead]) // _COMPARED
    for part in np.unique(parts).tolist():
        records = np.flatnonzero(parts == part)
        # A released value may stand for several ranges of original ones.
        ranges = _run(meaning.indptr[codes[records]], meaning.indptr[codes[records] + 1])
        owner = np.repeat(records, np.diff(meaning.indptr)[codes[records]])
        yield order[_run(first[ranges], last[ranges])], np.repeat(owner, last[ranges] - first[ranges])


def _run(starts: IntArray, stops: IntArray) -> IntArray:
    """All numbers from each start up to its stop, one run after the other.

    >>> _run(np.array([2, 7]), np.array([4, 8]))
    array([2, 3, 7])
    """
    lengths = stops - starts
    before = np.cumsum(lengths) - lengths
    return np.asarray(np.arange(lengths.sum()) + np.repeat(starts - before, lengths))


def _matching(
    pair: Pair, person: IntArray, record: IntArray, people: IntArray, records: IntArray
) -> IntArray:
    """For each fitting pair of classes how many records of one are those of people of the other, in one complete matching."""
    if pair.links is not None:
        shown = pair.links.released >= 0
        keys = person * len(records) + record
        order = np.argsort(keys)
        known = pair.links.original[shown] * len(records) + pair.links.released[shown]
        at = order[np.searchsorted(keys[order], known)]
        return np.bincount(at, weights=pair.links.records[shown], minlength=len(keys)).astype(np.int64)
    sink = len(people) + len(records) + 1
    start = np.concatenate(
        [np.zeros(len(people), dtype=np.int64), 1 + person, 1 + len(people) + np.arange(len(records))]
    )
    end = np.concatenate([1 + np.arange(len(people)), 1 + len(people) + record, np.full(len(records), sink)])
    room = np.concatenate([people, np.minimum(people[person], records[record]), records]).astype(np.int32)
    flow = maximum_flow(csr_array((room, (start, end)), shape=(sink + 1, sink + 1)), 0, sink)
    if flow.flow_value < records.sum():
        raise InvalidParameter(
            "the records of the release cannot all be those of people of the original",
            remedy="give the original that the release was made from",
        )
    used: IntArray = np.asarray(flow.flow[1 + person, 1 + len(people) + record], dtype=np.int64)
    return used.ravel()
