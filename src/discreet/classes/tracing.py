"""What became of the records of an original, worked out from the values of both tables alone, in whatever order they stand."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from discreet.classes.pair import Links, Pair
from discreet.types import IntArray

MOST_COMPARED = 50_000_000
"""Pairs of a released and an original class that are compared; with more, nothing is said."""
MOST_FITTING = 5_000_000
_CHUNK = 500_000


def traced(pair: Pair) -> Links | None:
    """What became of the records: as given, or worked out where every original value has one released form.

    That is so for global recoding: values that no released one stands for, and combinations that the release does
    not have, were suppressed. ``None`` if it is not so, or the numbers of records do not agree.

    >>> from discreet.classes import EquivalenceClasses
    >>> original = EquivalenceClasses.from_columns({"age": [31, 34, 47]})
    >>> released = EquivalenceClasses.from_columns({"age": ["*", "[30, 39]", "[30, 39]"]})
    >>> traced(Pair.of(original, released)).released.tolist()
    [1, 1, -1]
    """
    if pair.links is not None:
        return pair.links
    # A release that shows nothing at all is one class with everybody in it.
    shown = np.flatnonzero(~pair.suppressed) if not pair.suppressed.all() else np.arange(len(pair.released))
    number = np.zeros(len(pair.original) + len(shown), dtype=np.int64)
    lost = np.zeros(len(pair.original), dtype=bool)
    for meaning, before, after in zip(pair.meanings, pair.original.codes, pair.released.codes, strict=True):
        used = np.zeros(meaning.released.size, dtype=np.int64)
        used[after[shown]] = 1
        forms = meaning.sum_covering(used)[meaning.rank]
        which = meaning.sum_covering(np.arange(len(used)) * used)[meaning.rank]
        if (forms > 1).any():
            return None
        lost |= forms[before] == 0
        column = np.concatenate([which[before], after[shown]])
        _, number = np.unique(number * meaning.released.size + column, return_inverse=True)
    place = np.full(int(number.max(initial=0)) + 1, -1, dtype=np.int64)
    place[number[len(pair.original) :]] = shown
    owner = np.where(lost, -1, place[number[: len(pair.original)]])
    records = pair.original.records
    behind = np.bincount(owner[owner >= 0], weights=records[owner >= 0], minlength=len(pair.released))
    if not np.array_equal(behind[shown], pair.released.records[shown]):
        return None
    return Links(np.arange(len(pair.original), dtype=np.int64), owner, records)


def only_links(pair: Pair) -> Links | None:
    """What became of the records, if values and numbers leave one answer only; else ``None``.

    A released class with as many records as there are people who fit it has all of these people in it. They are in no
    other class then, so that fewer are left to fit the others. If all people are in the release, whoever fits one class
    only is in that. What this leaves open is not guessed.

    >>> from discreet.classes import EquivalenceClasses
    >>> original = EquivalenceClasses.from_columns({"age": [31, 34, 47, 62]})
    >>> released = EquivalenceClasses.from_columns({"age": ["47", "*", "[30, 39]", "[30, 39]"]})
    >>> links = only_links(Pair.of(original, released))
    >>> [released.labels(int(at))["age"] for at in links.released]
    ['[30, 39]', '[30, 39]', '47', '*']
    >>> only_links(Pair.of(original, EquivalenceClasses.from_columns({"age": ["*", "[30, 39]"]}))) is None
    True
    """
    if not all(meaning.truthful for meaning in pair.meanings):
        return None
    links = traced(pair)
    if links is not None:
        return _with_hidden(pair, links)
    if len(pair.released) * len(pair.original) > MOST_COMPARED:
        return None
    fitting = list(_fitting(pair))
    if sum(len(after) for after, _ in fitting) > MOST_FITTING:
        return None
    owner = _peeled(
        np.concatenate([after for after, _ in fitting]),
        np.concatenate([before for _, before in fitting]),
        pair,
    )
    return None if owner is None else Links(np.arange(len(owner)), owner, pair.original.records)


def _with_hidden(pair: Pair, links: Links) -> Links | None:
    """Links of all records, also of those that show nothing: they are in the one class that is left, or in none."""
    hidden = np.flatnonzero(pair.suppressed)
    if not len(hidden) or pair.suppressed.all():
        return links
    gone = links.released < 0
    if int(links.records[gone].sum()) != int(pair.released.records[hidden].sum()) or len(hidden) > 1:
        return None
    return Links(links.original, np.where(gone, hidden[0], links.released), links.records)


def _fitting(pair: Pair) -> Iterator[tuple[IntArray, IntArray]]:
    """Released and original classes that fit, some at a time."""
    before = np.arange(len(pair.original))
    step = max(_CHUNK // max(len(before), 1), 1)
    for start in range(0, len(pair.released), step):
        some = np.arange(start, min(start + step, len(pair.released)))
        after, fits = np.nonzero(pair.covers(some[:, None], before[None]))
        yield some[after], fits


def _peeled(after: IntArray, before: IntArray, pair: Pair) -> IntArray | None:
    """The released class of each original one (-1: none), from the pairs that fit; ``None`` if several are possible."""
    size, room = pair.original.records, pair.released.records.astype(np.int64)
    whole = int(size.sum()) == int(room.sum())
    owner = np.full(len(size), -1, dtype=np.int64)
    while room.any():
        people = np.bincount(after, weights=size[before], minlength=len(room))
        sure = (people == room)[after]
        if whole:
            sure |= (np.bincount(before, minlength=len(size)) == 1)[before]
        if (people < room).any() or not sure.any():
            return None
        if len(np.unique(before[sure])) < sure.sum():
            return None
        owner[before[sure]] = after[sure]
        room = room - np.bincount(after[sure], weights=size[before[sure]], minlength=len(room)).astype(
            np.int64
        )
        if (room < 0).any():
            return None
        left = (owner[before] < 0) & (room > 0)[after]
        after, before = after[left], before[left]
    return owner
