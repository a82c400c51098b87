"""How the risk of people accumulates: what all releases up to each one leave possible for those who are in them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass

import numpy as np

from discreet.attacks.composition.candidates import Candidates
from discreet.register.entry import RegisterEntry
from discreet.register.people import PeopleOfRelease
from discreet.types import AnyIntArray

MANY = np.iinfo(np.int32).max
"""So many values stand for: nothing narrows them."""


@dataclass(frozen=True)
class TimelinePoint:
    """All releases up to one, laid over one another.

    ``people`` are in any of them. ``one`` are those of whom a single value of some sensitive attribute is left possible,
    ``alone`` of these by one release already, without the others; ``two`` are those of whom two values are left.
    """

    number: int
    time: str
    file: str
    audience: str
    people: int
    one: int
    alone: int
    two: int


@dataclass(frozen=True)
class Timeline:
    """A point for each release that was entered with its people; ``unjudged`` are the numbers of the others."""

    points: tuple[TimelinePoint, ...]
    unjudged: tuple[int, ...] = ()

    def to_dict(self) -> dict[str, object]:
        return {
            "schema": "discreet-timeline-1",
            "points": [asdict(point) for point in self.points],
            "unjudged": list(self.unjudged),
        }


def timeline_of(
    entries: Sequence[RegisterEntry], known: Mapping[int, PeopleOfRelease], unjudged: Sequence[int] = ()
) -> Timeline:
    """Lay releases over one another, one after the other; people and values are compared by their hashes alone.

    With C(r, i) the values that release r leaves possible for person i, after release n there are left

        |L(n, i)| of L(n, i) = intersection of C(r, i) over all r ≤ n in which i fits a record,

    for the attribute that leaves fewest. Where nothing is left a value has changed between releases, and none is told.
    Ganta, Kasiviswanathan and Smith, KDD 2008.
    """
    names = [np.asarray(people.persons, dtype=np.bytes_) for people in known.values()]
    everybody = np.unique(np.concatenate(names)) if names else np.zeros(0, dtype=np.bytes_)
    places = [np.searchsorted(everybody, persons) for persons in names]
    left = np.full((len(known), len(everybody)), MANY, dtype=np.int32)
    by_one = np.full_like(left, MANY)
    attributes = dict.fromkeys(name for people in known.values() for name in people.candidates)
    for attribute in attributes:
        shown = [people.candidates.get(attribute) for people in known.values()]
        _lay_over(shown, places, left, by_one)
    told = {entry.number: entry for entry in entries}
    seen = np.zeros(len(everybody), dtype=bool)
    points = []
    for at, number in enumerate(known):
        seen[places[at]] = True
        entry, single = told[number], left[at] == 1
        points.append(
            TimelinePoint(
                number,
                entry.time,
                entry.file,
                entry.audience,
                int(seen.sum()),
                int(single.sum()),
                int((single & (by_one[at] == 1)).sum()),
                int((left[at] == 2).sum()),
            )
        )
    return Timeline(tuple(points), tuple(unjudged))


def _lay_over(
    shown: Sequence[Candidates | None], places: Sequence[AnyIntArray], left: AnyIntArray, by_one: AnyIntArray
) -> None:
    """Lower ``left`` to the number of values of one attribute that the releases up to each leave, ``by_one`` to that of the
    most telling one of them."""
    values = tuple(
        dict.fromkeys(value for candidates in shown if candidates is not None for value in candidates.values)
    )
    possible = np.ones((left.shape[1], len(values)), dtype=bool)
    together = np.full(left.shape[1], MANY, dtype=left.dtype)
    fewest = together.copy()
    for at, candidates in enumerate(shown):
        if candidates is not None:
            fits = candidates.fits
            rows, telling = places[at][fits], candidates.take(np.flatnonzero(fits)).over(values)
            possible[rows] &= telling
            counts = possible[rows].sum(axis=1)
            together[rows] = np.where(counts, counts, MANY)
            fewest[rows] = np.minimum(fewest[rows], telling.sum(axis=1))
        np.minimum(left[at], together, out=left[at])
        np.minimum(by_one[at], fewest, out=by_one[at])
