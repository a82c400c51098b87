"""Millions of classes with one record per person, as packed words: counted in tables, or drawn by whole groups."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from math import prod

import numpy as np

from discreet.arrays import tallied
from discreet.classes.equivalence import EquivalenceClasses
from discreet.classes.packing import CHUNK, Packing, is_ordered
from discreet.types import AnyIntArray, IntArray

MANY = 200_000
"""Above so many classes with one record per person each, they are walked through by compiled loops and some of what is
said of them is estimated."""
DRAWN = 1_000_000
"""Of groups about so many classes are drawn for an estimate."""
LARGEST_TABLE = 1 << 24
"""Tables of all combinations have at most so many; larger ones are numbered by sorting."""


def are_many(classes: EquivalenceClasses) -> bool:
    """Whether classes are so many that they are packed; persons with several rows are told apart another way."""
    return classes.person_codes is None and len(classes) > MANY and len(classes.names) > 0


def packed(classes: EquivalenceClasses) -> PackedClasses:
    """The classes as packed words, which are kept with them."""
    kept: PackedClasses = classes.__dict__.setdefault("_packed", PackedClasses(classes))
    return kept


def unpacked(classes: EquivalenceClasses) -> None:
    """Keep packed words and sizes no longer, which are made again when asked for: of 80 million classes they take 1.3 GB."""
    for name in ("_packed", "records", "persons"):
        classes.__dict__.pop(name, None)


@dataclass(frozen=True)
class PackedClasses:
    """Classes as words of their attributes' codes.

    >>> packed = PackedClasses(EquivalenceClasses.from_columns({"a": [0, 0, 1], "b": [0, 1, 1]}))
    >>> packed.table(["a"])[0].tolist(), packed.table(["b", "a"])[0].tolist()
    ([2, 1], [1, 0, 1, 1])
    """

    classes: EquivalenceClasses

    @cached_property
    def packing(self) -> Packing:
        return Packing.of([domain.size for domain in self.classes.attributes])

    @cached_property
    def words(self) -> IntArray:
        """The words of all classes, one row per word; packed piece by piece, to stay in the caches."""
        words = np.empty((self.packing.words, len(self.classes)), dtype=np.int64)
        for start in range(0, len(self.classes), CHUNK):
            piece = slice(start, start + CHUNK)
            words[:, piece] = self.packing.pack([codes[piece] for codes in self.classes.codes])
        return words

    @cached_property
    def halvings(self) -> int:
        """One in 2 to this of the groups is drawn."""
        return max(0, round(math.log2(max(1.0, len(self.classes) / DRAWN))))

    def table(self, names: Sequence[str]) -> tuple[AnyIntArray, AnyIntArray]:
        """The records of each combination of some attributes, and a class that has it where there is one."""
        from discreet.classes.packed_kernels import tabulate, tabulate_numbers

        classes = self.classes
        at = [classes.index(name) for name in names]
        sizes = [classes.attributes[j].size for j in at]
        kind = np.dtype(np.int32 if classes.total < 1 << 31 else np.int64)
        if prod(sizes) > LARGEST_TABLE:
            numbers, bound = classes.groups(names)
            table: AnyIntArray = np.zeros(2 * bound, dtype=kind)
            tabulate_numbers(numbers, classes.records, table)
        else:
            strides = [prod(sizes[i + 1 :]) for i in range(len(at))]
            places = [self.packing.fields[j] for j in at]
            fields = np.array(
                [[f.word, f.shift, f.mask, stride] for f, stride in zip(places, strides, strict=True)],
                dtype=np.int64,
            )
            table = np.zeros(2 * prod(sizes), dtype=kind)
            tabulate(self.words, fields, classes.records, table)
        if len(names) == 2 and prod(sizes) <= LARGEST_TABLE:
            # Asked for again where attributes are compared in pairs.
            self._pairs[names[0], names[1]] = table[0::2].reshape(sizes).astype(np.int64)
        return table[0::2], table[1::2]

    def pair_table(self, a: str, b: str) -> IntArray | None:
        """Records by value of one attribute (rows) and of another, sensitive or not; nothing if there are too many."""
        if (b, a) in self._pairs:
            return self._pairs[b, a].T
        if (a, b) not in self._pairs:
            classes = self.classes
            sizes = [
                (
                    classes.attributes[classes.index(name)]
                    if name in classes.names
                    else classes.sensitive_domain(name)
                ).size
                for name in (a, b)
            ]
            if prod(sizes) > LARGEST_TABLE:
                return None
            if a == b:
                single = self.table([a])[0] if a in classes.names else self._sensitive_records(a)
                self._pairs[a, a] = np.diag(single).astype(np.int64)
            elif a in classes.names and b in classes.names:
                self.table([a, b])
            elif a in classes.names:
                self._pairs[a, b] = self._cell_table(a, b, (sizes[0], sizes[1]))
            elif b in classes.names:
                return None
            else:
                self._pairs[a, b] = self._sensitive_table(a, b, (sizes[0], sizes[1]))
        return self._pairs[a, b]

    def _sensitive_records(self, name: str) -> IntArray:
        codes, counts = self.classes.sensitive_codes[name], self.classes.counts
        return tallied(codes, counts, self.classes.sensitive_domain(name).size)

    def _sensitive_table(self, a: str, b: str, shape: tuple[int, int]) -> IntArray:
        from discreet.classes.packed_kernels import tabulate_values

        table = np.zeros(shape, dtype=np.int64)
        codes = self.classes.sensitive_codes
        tabulate_values(codes[a], codes[b], self.classes.counts, table)
        return table

    @cached_property
    def _pairs(self) -> dict[tuple[str, str], IntArray]:
        return {}

    def _cell_table(self, name: str, sensitive: str, shape: tuple[int, int]) -> IntArray:
        from discreet.classes.packed_kernels import tabulate_cells

        classes = self.classes
        place = self.packing.fields[classes.index(name)]
        table = np.zeros(shape, dtype=np.int64)
        values = classes.sensitive_codes[sensitive]
        tabulate_cells(
            self.words, (place.word, place.shift, place.mask), classes.indptr, values, classes.counts, table
        )
        return table

    def draw(self, names: Sequence[str]) -> tuple[IntArray, IntArray]:
        """The classes of some groups that agree in ``names``, drawn by what they agree in, and the key of each's group."""
        from discreet.classes.packed_kernels import drawn_groups

        kept = np.zeros(self.packing.words, dtype=np.int64)
        for name in names:
            place = self.packing.fields[self.classes.index(name)]
            kept[place.word] |= place.mask << place.shift
        length, drawn = 0, int(1.1 * (len(self.classes) >> self.halvings)) + 1000
        while length < drawn:
            length = drawn
            positions, keys = np.empty(length, dtype=np.int64), np.empty(length, dtype=np.int64)
            drawn = drawn_groups(self.words, kept, self.halvings, positions, keys)
        return positions[:drawn], keys[:drawn]

    def without(self, position: int) -> dict[str, int]:
        """For each attribute the records that agree with a class in all others."""
        from discreet.classes.packed_kernels import joining

        if self.packing.words == 1 and self._ordered:
            return {name: self._agreeing_but_for(j, position) for j, name in enumerate(self.classes.names)}
        fields = np.array([[f.word, f.mask << f.shift] for f in self.packing.fields], dtype=np.int64)
        sums = joining(self.words, position, fields, self.classes.records)
        return dict(zip(self.classes.names, sums.tolist(), strict=True))

    @cached_property
    def _ordered(self) -> bool:
        """Whether the words ascend, as they do where classes were counted."""
        return is_ordered(self.words[0])

    def _agreeing_but_for(self, j: int, position: int) -> int:
        """The records that agree with a class in all attributes but one: each of its values is looked up."""
        place = self.packing.fields[j]
        others = self.words[0, position] & ~np.int64(place.mask << place.shift)
        wanted = others | (np.arange(self.classes.attributes[j].size, dtype=np.int64) << place.shift)
        at = np.minimum(np.searchsorted(self.words[0], wanted), self.words.shape[1] - 1)
        return int(self.classes.records[at[self.words[0, at] == wanted]].sum())
