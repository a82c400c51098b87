"""Builders for texts and categories: flat, groups in order, masks, prefixes, and explicit sets."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import ClassVar, Literal

import numpy as np
import pyarrow as pa

from discreet.errors import InvalidParameter, UnsuitableColumn
from discreet.sentences import Sentence
from discreet.table.domain import Domain
from discreet.table.hierarchies.builder import (
    Builder,
    Level,
    check_counts,
    check_multiples,
    check_text,
    finish,
    is_whole,
    make_level,
    marks,
    texts,
)
from discreet.table.hierarchies.hierarchy import ROOT, Hierarchy
from discreet.table.values import Interval, set_label
from discreet.types import AnyIntArray, BoolArray, IntArray

SpanNamer = Callable[[int, int], str]
"""The label of a group by its first and last member; empty if it has none of its own."""


@dataclass(frozen=True)
class Flat(Builder):
    """Every value directly below ``*``: kept or suppressed, nothing between.

    >>> import pyarrow as pa
    >>> Flat().build(Domain("sex", pa.array(["f", "m"]))).rows()
    [('f', '*'), ('m', '*')]
    """

    id: ClassVar[str] = "flat"

    def build(self, domain: Domain, *, totals: AnyIntArray | None = None) -> Hierarchy:
        return finish(domain, texts(domain), [])


@dataclass(frozen=True)
class Order(Builder):
    """Groups of consecutive values: level ``i`` has ``sizes[i]`` values in each group.

    The order is the given one, which may name values that the table does not have, or the natural one
    (numbers by size, texts by letters with the numbers in them by size).

    >>> import pyarrow as pa
    >>> school = Domain("school", pa.array(["high", "low", "middle", "none"]))
    >>> Order(sizes=(2,), order=("none", "low", "middle", "high")).build(school).labels[1]
    ('{none, low}', '{middle, high}')
    """

    id: ClassVar[str] = "order"

    sizes: tuple[int, ...] = ()
    order: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        object.__setattr__(self, "sizes", check_counts(self.id, "sizes", self.sizes))
        if not self.sizes:
            raise InvalidParameter("order lacks sizes", remedy="write for example sizes = [2, 4]")
        check_multiples(self.id, "sizes", self.sizes)
        object.__setattr__(self, "order", check_texts(self.id, "order", self.order))
        if len(set(self.order)) < len(self.order):
            raise InvalidParameter("the order names a value twice", remedy="name each value once")

    def build(self, domain: Domain, *, totals: AnyIntArray | None = None) -> Hierarchy:
        leaves = texts(domain)
        if self.order:
            missing = len(set(leaves) - set(self.order) - set(np.array(leaves, dtype=object)[marks(leaves)]))
            if missing:
                raise UnsuitableColumn(
                    Sentence(
                        "the order for {name!r} misses {missing:,} of the {leaves:,} values of the column",
                        name=domain.name,
                        missing=missing,
                        leaves=len(leaves),
                    ),
                    remedy="add them to the order, or leave it out to take the natural one",
                )
            known = set(self.order)
            leaves = [*self.order, *(leaf for leaf in leaves if leaf not in known)]
            apart = np.array([leaf not in known for leaf in leaves], dtype=bool)
            rank = np.arange(len(leaves))
        else:
            apart = marks(leaves)
            rank = natural_rank(domain, leaves, apart)
        name = span_namer(domain, leaves) if not self.order else None
        return finish(
            domain,
            leaves,
            [grouped_level(rank // size, rank, apart, leaves, name) for size in self.sizes],
        )


@dataclass(frozen=True)
class Mask(Builder):
    """Characters replaced by ``*`` from one side: level ``i`` hides ``characters[i]`` of them.

    With ``padding`` (one character) all values are first brought to the length of the longest, on the side
    that ``align`` leaves free; so ``7`` and ``42`` become ``07`` and ``42`` with "0" and align = "right".

    >>> import pyarrow as pa
    >>> Mask(characters=(1, 2)).build(Domain("zip", pa.array(["1020", "1025", "1130"]))).rows()[0]
    ('1020', '102*', '10**', '*')
    """

    id: ClassVar[str] = "mask"

    characters: tuple[int, ...] = (1,)
    side: Literal["right", "left"] = "right"
    character: str = "*"
    padding: str = ""
    align: Literal["left", "right"] = "left"

    def __post_init__(self) -> None:
        object.__setattr__(self, "characters", check_counts(self.id, "characters", self.characters))
        if not self.characters or list(self.characters) != sorted(set(self.characters)):
            raise InvalidParameter(
                "characters of mask must ascend", remedy="write for example characters = [1, 2, 3]"
            )
        check_text(self.id, "side", self.side, choices=("right", "left"))
        check_text(self.id, "align", self.align, choices=("left", "right"))
        if len(check_text(self.id, "character", self.character)) != 1:
            raise InvalidParameter("character of mask must be one character", remedy='write for example "*"')
        if len(check_text(self.id, "padding", self.padding)) > 1:
            raise InvalidParameter("padding of mask must be one character", remedy='write for example " "')

    def build(self, domain: Domain, *, totals: AnyIntArray | None = None) -> Hierarchy:
        leaves = texts(domain)
        apart = marks(leaves)
        longest = _longest(leaves, apart)
        pad = str.ljust if self.align == "left" else str.rjust
        padded = [pad(leaf, longest, self.padding) for leaf in leaves] if self.padding else leaves
        levels = []
        for hidden in self.characters:
            if hidden >= longest:
                # Nothing is left to see: that is the root, which stands above in any case.
                break
            masked = [self._masked(text, hidden) for text in padded]
            levels.append(labelled_level(masked, apart, leaves))
        return finish(domain, leaves, levels)

    def _masked(self, text: str, hidden: int) -> str:
        kept = max(len(text) - hidden, 0)
        stars = self.character * (len(text) - kept)
        return text[:kept] + stars if self.side == "right" else stars + text[len(text) - kept :]


@dataclass(frozen=True)
class Zip(Builder):
    """Prefixes of codes: level ``i`` keeps the first ``lengths[i]`` characters, as postcodes are made for.

    >>> import pyarrow as pa
    >>> Zip(lengths=(3, 1)).build(Domain("zip", pa.array(["10115", "10117", "20095"]))).rows()[0]
    ('10115', '101**', '1****', '*')
    """

    id: ClassVar[str] = "zip"

    lengths: tuple[int, ...] = (5, 3, 2, 1)

    def __post_init__(self) -> None:
        object.__setattr__(self, "lengths", check_counts(self.id, "lengths", self.lengths))
        if not self.lengths or list(self.lengths) != sorted(set(self.lengths), reverse=True):
            raise InvalidParameter(
                "lengths of zip must descend", remedy="write for example lengths = [5, 3, 2]"
            )

    def build(self, domain: Domain, *, totals: AnyIntArray | None = None) -> Hierarchy:
        leaves = texts(domain)
        longest = _longest(leaves, marks(leaves))
        hidden = tuple(longest - length for length in self.lengths if length < longest)
        if not hidden:
            return finish(domain, leaves, [])
        return Mask(characters=hidden, padding="*").build(domain, totals=totals)


@dataclass(frozen=True)
class Sets(Builder):
    """Groups that are named with their members, level by level.

    Members of the first level are values; those of a further level are labels of the level below. What no
    group names keeps its own label, or becomes ``others`` if that is given.

    >>> import pyarrow as pa
    >>> jobs = Domain("job", pa.array(["baker", "cook", "nurse", "judge"]))
    >>> Sets(levels=({"food": ["baker", "cook"]},), others="other").build(jobs).labels[1]
    ('food', 'other')
    """

    id: ClassVar[str] = "sets"

    levels: tuple[Mapping[str, Sequence[str]], ...] = ()
    others: str = ""

    def __post_init__(self) -> None:
        levels = [self.levels] if isinstance(self.levels, Mapping) else self.levels
        if not isinstance(levels, list | tuple) or not levels:
            raise InvalidParameter(
                "levels of sets must be a list of groups",
                remedy='write levels = [{school = ["low", "high"]}]',
            )
        checked = []
        for number, level in enumerate(levels, start=1):
            if not isinstance(level, Mapping) or not level:
                raise InvalidParameter(
                    Sentence("level {number} of sets must name its groups", number=number),
                    remedy='write {school = ["low", "high"]}',
                )
            groups = {
                str(label): check_texts(self.id, "members", members) for label, members in level.items()
            }
            listed = [member for members in groups.values() for member in members]
            if len(set(listed)) < len(listed):
                raise InvalidParameter(
                    Sentence("level {number} of sets has a member in two groups", number=number),
                    remedy="name each member once",
                )
            checked.append(groups)
        object.__setattr__(self, "levels", tuple(checked))
        check_text(self.id, "others", self.others)

    def build(self, domain: Domain, *, totals: AnyIntArray | None = None) -> Hierarchy:
        leaves = list(
            dict.fromkeys(
                [*texts(domain), *(member for members in self.levels[0].values() for member in members)]
            )
        )
        nowhere = np.zeros(len(leaves), dtype=bool)
        current = leaves
        levels = []
        for number, groups in enumerate(self.levels, start=1):
            group_of = {member: label for label, members in groups.items() for member in members}
            unknown = len(set(group_of) - set(current))
            if unknown:
                raise InvalidParameter(
                    Sentence(
                        "level {number} of sets has {unknown} members that are no labels of level {below}",
                        number=number,
                        unknown=unknown,
                        below=number - 1,
                    ),
                    remedy="members of a level are the labels of the level below it",
                )
            # A suppressed value is no further value, so it is not one of the others.
            current = [
                group_of.get(label, label if label == ROOT else self.others or label) for label in current
            ]
            levels.append(labelled_level(current, nowhere, leaves))
        return finish(domain, leaves, levels)


# ── levels ────────────────────────────────────────────────────────────────────────────────────────────


def check_texts(builder: str, name: str, given: object) -> tuple[str, ...]:
    """A parameter that is a list of texts; numbers are taken as they are written."""
    if not isinstance(given, list | tuple) or not all(isinstance(text, str | int | float) for text in given):
        raise InvalidParameter(
            Sentence("{name} of {builder} must be a list of texts", name=name, builder=builder),
            remedy=Sentence('write for example {name} = ["a", "b"]', name=name),
        )
    return tuple(str(text) for text in given)


def _longest(leaves: Sequence[str], apart: BoolArray) -> int:
    """The length of the longest value that does not stand apart."""
    return max((len(leaf) for leaf, mark in zip(leaves, apart, strict=True) if not mark), default=0)


def labelled_level(labels: Sequence[str], apart: BoolArray, leaves: Sequence[str]) -> Level:
    """The level in which equal labels are one node."""
    wanted = [leaf if mark else label for leaf, label, mark in zip(leaves, labels, apart, strict=True)]
    encoded = pa.array(wanted, pa.string()).dictionary_encode()
    return encoded.indices.to_numpy(zero_copy_only=False).astype(np.int32), encoded.dictionary.to_pylist()


def grouped_level(
    groups: IntArray,
    rank: IntArray,
    apart: BoolArray,
    leaves: Sequence[str],
    name: SpanNamer | None = None,
) -> Level:
    """The level of given groups, each printed as the set of its members in their order."""
    order = np.lexsort((rank, groups))
    order = order[~apart[order]]
    keys, starts = np.unique(groups[order], return_index=True)
    ends = np.append(starts, len(order))[1:]
    labels = {}
    sets = {leaf for leaf in leaves if leaf.startswith("{")}
    for key, start, end in zip(keys.tolist(), starts.tolist(), ends.tolist(), strict=True):
        # Many members cannot be shown anyway, so only the first ones are looked up.
        shown = [leaves[at] for at in order[start : min(end, start + 12)]]
        labels[key] = (name and name(order[start], order[end - 1])) or set_label(
            shown, more=end - start - len(shown), unlike=sets
        )
    taken = set(labels.values()) | {leaves[at] for at in np.flatnonzero(apart).tolist()}
    if len(taken) < len(labels) + int(apart.sum()):
        # A value may look like the label of a group: number the groups, and all are different.
        labels = {key: f"{label} ({number})" for number, (key, label) in enumerate(labels.items(), start=1)}
    return make_level(groups, lambda key: labels[key], apart, leaves)


def span_namer(domain: Domain, leaves: Sequence[str]) -> SpanNamer | None:
    """How groups of consecutive values are named, if the values are whole numbers: ``[30, 39]``."""
    values = domain.numbers[: len(leaves)]
    temporal = pa.types.is_temporal(domain.values.type)
    if not domain.holds_numbers or temporal or not is_whole(domain, values):
        return None
    return lambda first, last: "" if first == last else str(Interval(values[first], values[last]))


def natural_rank(domain: Domain, leaves: Sequence[str], apart: BoolArray) -> IntArray:
    """The place of each value in natural order; missing marks come last.

    >>> import pyarrow as pa
    >>> grades = ["grade 10", "grade 9", "?"]
    >>> natural_rank(Domain("g", pa.array(grades)), grades, np.array([False, False, True]))
    array([1, 0, 2])
    """
    if domain.holds_numbers:
        order = np.lexsort((domain.numbers[: len(leaves)], apart))
    else:
        keys = [_natural_key(leaf) for leaf in leaves]
        order = np.array(sorted(range(len(leaves)), key=lambda at: (apart[at], keys[at])), dtype=np.int64)
    rank = np.empty(len(leaves), dtype=np.int64)
    rank[order] = np.arange(len(leaves))
    return rank


def _natural_key(text: str) -> list[tuple[int, int | str]]:
    parts = re.split(r"(\d+)", text)
    return [(0, int(part)) if part.isdecimal() else (1, part) for part in parts if part]
