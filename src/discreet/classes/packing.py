"""Several small codes in one machine word, so that a combination is grouped and sorted as one integer."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from discreet.arrays import distinct
from discreet.types import AnyIntArray, CodeArray, IntArray

WORD_BITS = 63
"""Words are non-negative signed 64-bit integers: every engine has those."""
CHUNK = 1 << 16
"""So many words are worked on at once."""


@dataclass(frozen=True)
class BitField:
    """Where one attribute's code sits: which word, how far shifted, how many bits."""

    word: int
    shift: int
    bits: int

    @property
    def factor(self) -> int:
        return 1 << self.shift

    @property
    def mask(self) -> int:
        return (1 << self.bits) - 1


@dataclass(frozen=True)
class Packing:
    """How the codes of several attributes share as few words as possible, first attribute highest.

    >>> packing = Packing.of([3, 2, 1])
    >>> packing.words, packing.fields[0]
    (1, BitField(word=0, shift=1, bits=2))
    >>> words = packing.pack([np.array([2, 0]), np.array([1, 1]), np.array([0, 0])])
    >>> words[0], packing.unpack(words, 0)
    (array([5, 1]), array([2, 0], dtype=uint8))
    """

    fields: tuple[BitField, ...]
    words: int

    @classmethod
    def of(cls, sizes: Sequence[int]) -> Packing:
        """Lay out attributes with ``sizes`` possible codes each."""
        bits = [max(int(size) - 1, 0).bit_length() for size in sizes]
        groups: list[list[int]] = [[]]
        used = 0
        for index, width in enumerate(bits):
            if used + width > WORD_BITS:
                groups.append([])
                used = 0
            groups[-1].append(index)
            used += width
        fields: list[BitField] = [BitField(0, 0, 0)] * len(bits)
        for word, members in enumerate(groups):
            shift = 0
            for index in reversed(members):
                fields[index] = BitField(word, shift, bits[index])
                shift += bits[index]
        return cls(tuple(fields), len(groups))

    def pack(self, codes: Sequence[AnyIntArray]) -> list[IntArray]:
        """The words of every row of ``codes`` (one array per attribute)."""
        length = len(codes[0]) if codes else 0
        words = [np.zeros(length, dtype=np.int64) for _ in range(self.words)]
        for at, column in zip(self.fields, codes, strict=True):
            if at.bits:
                words[at.word] |= column.astype(np.int64) << at.shift
        return words

    def unpack(self, words: Sequence[IntArray], index: int, places: IntArray | None = None) -> CodeArray:
        """The codes of attribute ``index``, in the smallest type that holds them; of all words or of those at ``places``."""
        at = self.fields[index]
        word = words[at.word]
        length = len(word) if places is None else len(places)
        codes = np.empty(length, dtype=smallest_type(at.mask + 1))
        # Piece by piece: what lies between word and code stays in the caches.
        for start in range(0, length, CHUNK):
            piece = slice(start, start + CHUNK)
            codes[piece] = ((word[piece] if places is None else word[places[piece]]) >> at.shift) & at.mask
        return codes


def combination_numbers(sizes: Sequence[int], codes: Sequence[AnyIntArray]) -> IntArray:
    """The number of each combination of codes among those that occur, in the order of packed codes.

    >>> combination_numbers([2, 9], [np.array([1, 0, 1]), np.array([4, 8, 4])])
    array([1, 0, 1])
    """
    words = Packing.of(sizes).pack(codes)
    return np.unique(np.stack(words), axis=1, return_inverse=True)[1].ravel().astype(np.int64)


def smallest_type(size: int) -> type[np.unsignedinteger]:
    """The narrowest unsigned type for codes below ``size``.

    >>> smallest_type(256).__name__, smallest_type(257).__name__
    ('uint8', 'uint16')
    """
    if size <= 1 << 8:
        return np.uint8
    if size <= 1 << 16:
        return np.uint16
    return np.uint32 if size <= 1 << 32 else np.uint64


def sort_words(
    words: Sequence[IntArray], counts: IntArray, *, spent: bool = False
) -> tuple[list[IntArray], IntArray]:
    """Words and their counts, ordered by the words; arrays that are ``spent`` may be overwritten.

    Sorting values is several times faster than sorting positions, so the count rides in the low bits of
    the word whenever both fit.
    """
    if not len(counts):
        return list(words), counts
    if len(words) == 1:
        if is_ordered(words[0]):
            return [words[0]], counts
        width = int(counts.max()).bit_length()
        if int(words[0].max()).bit_length() + width <= WORD_BITS:
            # In place, one step after the other: of a hundred million words every copy takes 800 MB.
            places = [array if spent and array.flags.writeable else None for array in (words[0], counts)]
            both = np.left_shift(words[0], width, out=places[0])
            both |= counts
            both.sort()
            ordered = np.bitwise_and(both, (1 << width) - 1, out=places[1])
            both >>= width
            return [both], ordered
        order = np.argsort(words[0], kind="stable")
    else:
        order = np.lexsort(tuple(reversed(words)))
    return [word[order] for word in words], counts[order]


def counted_words(words: IntArray) -> tuple[list[IntArray], IntArray]:
    """The distinct words in order, and how often each occurs; the words are overwritten.

    >>> counted_words(np.array([7, 3, 7]))
    ([array([3, 7])], array([1, 2]))
    """
    from discreet.classes.packing_kernels import run_lengths

    words.sort()
    counts = np.empty(len(words), dtype=np.int64)
    length = run_lengths(words, counts)
    return [words[:length]], counts[:length]


def merged_words(words: IntArray, counts: IntArray) -> tuple[IntArray, IntArray]:
    """The distinct words in order, and the sum of the counts of each.

    >>> merged_words(np.array([7, 3, 7]), np.array([1, 5, 2]))
    (array([3, 7]), array([5, 3]))
    """
    [ordered], counts = sort_words([words], counts)
    starts = run_starts([ordered])
    return ordered[starts], np.add.reduceat(counts, starts)


def is_ordered(words: IntArray) -> bool:
    """Whether words ascend; looked at piece by piece, so that one that do not are known soon.

    >>> is_ordered(np.array([1, 1, 4])), is_ordered(np.array([4, 1]))
    (True, False)
    """
    return all(
        bool((piece[1:] >= piece[:-1]).all())
        for start in range(0, len(words), CHUNK)
        for piece in [words[start : start + CHUNK + 1]]
    )


def run_starts(words: Sequence[IntArray]) -> IntArray:
    """Where a new combination starts in ordered ``words``.

    >>> run_starts([np.array([1, 1, 4, 4, 9])])
    array([0, 2, 4])
    """
    return run_bounds(words, 0)[:-1]


def run_bounds(words: Sequence[IntArray], shift: int) -> IntArray:
    """Where a new combination starts in ordered ``words`` whose last one lacks its lowest bits, and where they end.

    >>> run_bounds([np.array([1, 1, 4, 5, 9])], 1)
    array([0, 2, 4, 5])
    """
    length = len(words[0])
    pieces = [slice(start, start + CHUNK) for start in range(0, length, CHUNK)]

    def changed(piece: slice) -> IntArray:
        different = np.zeros(min(piece.stop, length) - piece.start, dtype=bool)
        different[0] = piece.start == 0
        before = max(piece.start - 1, 0)
        for i, word in enumerate(words):
            cut = word[before : piece.stop]
            if i == len(words) - 1:
                cut = cut >> shift
            different[-len(cut) + 1 or length :] |= cut[1:] != cut[:-1]
        return np.asarray(np.flatnonzero(different) + piece.start)

    # Twice through them: of a hundred million words every array takes 800 MB.
    bounds = np.empty(sum(len(changed(piece)) for piece in pieces) + 1, dtype=np.int64)
    at = 0
    for piece in pieces:
        starts = changed(piece)
        bounds[at : at + len(starts)] = starts
        at += len(starts)
    bounds[-1] = length
    return bounds


def expanded(indptr: IntArray, rows: AnyIntArray) -> tuple[IntArray, IntArray]:
    """For some rows the place of each in ``rows``, and all its places ``indptr[row]:indptr[row + 1]``.

    >>> expanded(np.array([0, 2, 3]), np.array([1, 0]))
    (array([0, 1, 1]), array([2, 0, 1]))
    """
    sizes = indptr[rows.astype(np.int64) + 1] - indptr[rows]
    owner = np.repeat(np.arange(len(rows)), sizes)
    return owner, np.repeat(indptr[rows] - np.cumsum(sizes) + sizes, sizes) + np.arange(len(owner))


def distinct_rows(owner: AnyIntArray, values: AnyIntArray, size: int) -> tuple[IntArray, IntArray]:
    """The distinct values of each of ``size`` owners, in compressed sparse rows.

    >>> distinct_rows(np.array([1, 0, 1]), np.array([2, 5, 2]), 2)
    (array([0, 1, 2]), array([5, 2]))
    """
    width = int(values.max(initial=0)) + 1
    keys = distinct(owner.astype(np.int64) * width + values)
    return np.searchsorted(keys, np.arange(size + 1) * width), keys % width


def class_bounds(packing: Packing, words: Sequence[IntArray], fields: int) -> IntArray:
    """Where ordered words begin to differ in their first ``fields`` attributes, and where they end."""
    if not fields:
        return np.array([0, len(words[0])] if len(words[0]) else [0])
    last = packing.fields[fields - 1]
    return run_bounds(words[: last.word + 1], last.shift)
