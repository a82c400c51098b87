"""Where people may stand in a release: the released classes that may be theirs, and how likely each is."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np

from discreet.classes.alignment import locate
from discreet.classes.pair import Links, Pair
from discreet.table.meaning import Meaning
from discreet.types import AnyIntArray, FloatArray, IntArray

MOST_COMPARED = 200_000_000
"""Pairs of an original and a released class that are looked at; beyond, people are sampled."""
MOST_PLACES = 50
"""Released classes kept for one original class: the most likely ones."""
_CHUNK = 4_000_000


@dataclass(frozen=True)
class Places:
    """People of class ``original[i]`` stand in class ``released[i]`` (-1: nowhere) with chance ``chance[i]``.

    ``tried`` are the original classes that were placed: all of them, or a sample where there are too many.
    """

    original: IntArray
    released: IntArray
    chance: FloatArray
    tried: IntArray = field(repr=False)


def project(pair: Pair, names: Sequence[str]) -> tuple[Pair, IntArray]:
    """The pair over fewer quasi-identifiers, and for each released class the one it has become.

    >>> from discreet.classes import EquivalenceClasses
    >>> people = EquivalenceClasses.from_columns({"age": [31, 34], "sex": ["f", "f"]})
    >>> small, owner = project(Pair.of(people, people).unchanged(), ["sex"])
    >>> len(small.original), owner, small.links.records
    (1, array([0, 0]), array([2]))
    """
    if tuple(names) == pair.names:
        return pair, np.arange(len(pair.released))
    original, released = pair.original.project(names), pair.released.project(names)
    at = [pair.original.index(name) for name in names]
    before = locate(original, [pair.original.codes[j] for j in at])
    after = locate(released, [pair.released.codes[j] for j in at])
    links = pair.links
    if links is not None:
        width = len(released) + 1
        where = np.where(links.released < 0, -1, after[links.released])
        keys, inverse = np.unique(before[links.original] * width + where + 1, return_inverse=True)
        records = np.bincount(inverse, links.records).astype(np.int64)
        links = Links(keys // width, keys % width - 1, records)
    return Pair.of(
        original,
        released,
        hierarchies=pair.hierarchies,
        links=links,
        kept=pair.kept,
        assumed=pair.assumed,
        told=pair.told,
    ), after


def place(pair: Pair, *, most: int | None = None, seed: int = 1) -> Places:
    """Where people may stand: by ``pair.links`` if known, else in every class that covers them.

    Without links a class ``c`` that covers a person has a chance in proportion to records(c) / Π_j |c_j|, its
    records by the number of combinations that it may stand for: what one expects who spreads each class evenly.
    At most ``most`` original classes are placed.

    >>> from discreet.classes import EquivalenceClasses
    >>> original = EquivalenceClasses.from_columns({"age": [31, 34, 47]})
    >>> released = EquivalenceClasses.from_columns({"age": ["[30, 39]", "[30, 39]", "*"]})
    >>> places = place(Pair.of(original, released))
    >>> places.original, places.released, places.chance.round(2)
    (array([0, 0, 1, 1, 2]), array([0, 1, 0, 1, 0]), array([0.25, 0.75, 0.25, 0.75, 1.  ]))
    """
    rng = np.random.default_rng(seed)
    count = len(pair.original)
    links = pair.links
    if links is not None:
        tried = _sample(count, most, rng)
        chosen = np.zeros(count, dtype=bool)
        chosen[tried] = True
        at = np.flatnonzero(chosen[links.original] & (links.records > 0))
        at = at[np.argsort(links.original[at], kind="stable")]
        total = np.bincount(links.original, links.records, count)
        owner = links.original[at]
        return _complete(owner, links.released[at], links.records[at] / total[owner], tried)
    log_density = np.log(pair.released.records.astype(np.float64))
    for meaning, codes in zip(pair.meanings, pair.released.codes, strict=True):
        log_density -= np.log(np.maximum(meaning.sizes, 1))[codes]
    owners = _looked_up(pair)
    if owners is None:
        limit = max(MOST_COMPARED // max(len(pair.released), 1), 1)
        tried = _sample(count, limit if most is None else min(limit, most), rng)
        original, released = _compared(pair, tried, log_density)
    else:
        tried = _sample(count, most, rng)
        stars = np.flatnonzero(pair.suppressed)
        covered = tried[owners[tried] >= 0]
        original = np.concatenate([covered, np.repeat(tried, len(stars))])
        released = np.concatenate([owners[covered], np.tile(stars, len(tried))])
        order = np.lexsort((released, original))
        original, released = original[order], released[order]
    mass = np.exp(log_density[released] - log_density.max())
    total = np.bincount(original, mass, count)
    return _complete(original, released, mass / total[original], tried)


def _sample(count: int, most: int | None, rng: np.random.Generator) -> IntArray:
    if most is None or count <= most:
        return np.arange(count)
    return np.sort(rng.choice(count, size=max(most, 1), replace=False))


def _complete(original: IntArray, released: IntArray, chance: FloatArray, tried: IntArray) -> Places:
    """With those who stand nowhere."""
    nowhere = np.setdiff1d(tried, original)
    owner = np.concatenate([original, nowhere])
    order = np.argsort(owner, kind="stable")
    return Places(
        owner[order],
        np.concatenate([released, np.full(len(nowhere), -1)])[order],
        np.concatenate([chance, np.ones(len(nowhere))])[order],
        tried,
    )


def _looked_up(pair: Pair) -> IntArray | None:
    """The one shown class of each original class (-1: none), if every value is always printed in the same way."""
    if not pair.names:
        return None
    shown = ~pair.suppressed
    codes = []
    for meaning, before, after in zip(pair.meanings, pair.original.codes, pair.released.codes, strict=True):
        printed = _printed(meaning, np.unique(after[shown]))
        if printed is None:
            return None
        codes.append(printed[before])
    known = np.all([column >= 0 for column in codes], axis=0)
    owners = np.full(len(pair.original), -1, dtype=np.int64)
    owners[known] = locate(pair.released, [column[known] for column in codes])
    return owners


def _printed(meaning: Meaning, used: AnyIntArray) -> IntArray | None:
    """The only one of some released codes that covers each original code (-1: none); ``None`` if two do."""
    codes = np.arange(meaning.released.size)
    inside = np.isin(codes, used)
    covers, code = meaning.sum_covering(inside.astype(np.int64)), meaning.sum_covering(inside * codes)
    if (covers > 1).any():
        return None
    return np.asarray(np.where(covers == 1, code, -1)[meaning.rank])


def _compared(pair: Pair, tried: IntArray, log_density: FloatArray) -> tuple[IntArray, IntArray]:
    """Every covering class by looking at all, a few original classes at a time."""
    classes = np.arange(len(pair.released))
    tables = [
        meaning.covers(np.arange(meaning.released.size)[None], np.arange(meaning.original.size)[:, None])
        if meaning.released.size * meaning.original.size <= _CHUNK
        else None
        for meaning in pair.meanings
    ]
    original, released = [], []
    step = max(_CHUNK // max(len(classes), 1), 1)
    for start in range(0, len(tried), step):
        some = tried[start : start + step]
        covers = np.ones((len(some), len(classes)), dtype=bool)
        for j, table in enumerate(tables):
            before, after = pair.original.codes[j][some], pair.released.codes[j]
            covers &= (
                pair.meanings[j].covers(after[None], before[:, None])
                if table is None
                else table[before][:, after]
            )
        crowded = np.flatnonzero(covers.sum(axis=1) > MOST_PLACES)
        for row in crowded:
            at = np.flatnonzero(covers[row])
            best = at[np.argsort(-log_density[at], kind="stable")[:MOST_PLACES]]
            covers[row] = False
            covers[row, best] = True
        rows, columns = np.nonzero(covers)
        original.append(some[rows])
        released.append(columns)
    return np.concatenate(original), np.concatenate(released)
