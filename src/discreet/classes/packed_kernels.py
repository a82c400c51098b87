"""Compiled loops over millions of classes: counting in tables, drawing whole groups, looking for neighbours."""

from __future__ import annotations

import numpy as np

from discreet.compiled import kernel, part
from discreet.types import AnyIntArray, CodeArray, IntArray, IntMatrix


@kernel
def tabulate(words: IntMatrix, fields: IntMatrix, records: IntArray, table: AnyIntArray) -> None:
    """Add up records by combination: its records in ``table[2 i]``, one of its classes in ``table[2 i + 1]``.

    A field is the word it stands in, how far it is shifted, its mask, and by how much it moves on in the table. Up to
    three fields, which nearly all calls have, are kept in registers.
    """
    if fields.shape[0] <= 3:
        a, a_shift, a_mask, a_stride = fields[0]
        b, b_shift, b_mask, b_stride = fields[min(1, fields.shape[0] - 1)]
        e, e_shift, e_mask, e_stride = fields[fields.shape[0] - 1]
        if fields.shape[0] < 3:
            e_mask = np.int64(0)
        if fields.shape[0] < 2:
            b_mask = np.int64(0)
        first, second, third = words[a], words[b], words[e]
        for c in range(words.shape[1]):
            number = (
                ((first[c] >> a_shift) & a_mask) * a_stride
                + ((second[c] >> b_shift) & b_mask) * b_stride
                + ((third[c] >> e_shift) & e_mask) * e_stride
            )
            table[2 * number] += records[c]
            table[2 * number + 1] = c
        return
    for c in range(words.shape[1]):
        number = np.int64(0)
        for field in range(fields.shape[0]):
            code = (words[fields[field, 0], c] >> fields[field, 1]) & fields[field, 2]
            number += code * fields[field, 3]
        table[2 * number] += records[c]
        table[2 * number + 1] = c


@kernel
def tabulate_numbers(numbers: IntArray, records: IntArray, table: AnyIntArray) -> None:
    """The same where the combinations have been numbered."""
    for c in range(numbers.size):
        table[2 * numbers[c]] += records[c]
        table[2 * numbers[c] + 1] = c


@kernel
def tabulate_cells(
    words: IntMatrix,
    place: tuple[int, int, int],
    indptr: IntArray,
    values: CodeArray,
    counts: IntArray,
    table: IntMatrix,
) -> None:
    """Records by value of one attribute (word, shift, mask) and sensitive value."""
    word, shift, mask = place
    for c in range(words.shape[1]):
        row = (words[word, c] >> shift) & mask
        for cell in range(indptr[c], indptr[c + 1]):
            table[row, values[cell]] += counts[cell]


@kernel
def tabulate_values(first: CodeArray, second: CodeArray, counts: IntArray, table: IntMatrix) -> None:
    """Records by two values of each cell."""
    for cell in range(first.size):
        table[first[cell], second[cell]] += counts[cell]


@part
def _mixed(key: np.uint64) -> np.uint64:
    """Bits spread evenly (the finaliser of SplitMix64; it maps no two numbers to one)."""
    key = np.uint64(key + np.uint64(0x9E3779B97F4A7C15))
    key = np.uint64((key ^ (key >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9))
    key = np.uint64((key ^ (key >> np.uint64(27))) * np.uint64(0x94D049BB133111EB))
    return np.uint64(key ^ (key >> np.uint64(31)))


@kernel
def drawn_groups(words: IntMatrix, kept: IntArray, halvings: int, positions: IntArray, keys: IntArray) -> int:
    """The classes of one in 2**halvings groups that agree in the bits ``kept`` of their words, and their groups' keys.

    Groups are drawn by the hash of what they agree in: all classes of a group are drawn, or none. Both arrays are filled
    as far as they reach; the result says how long they must be.
    """
    drawn = np.uint64((1 << halvings) - 1)
    size = 0
    for c in range(words.shape[1]):
        key = np.uint64(0)
        for word in range(words.shape[0]):
            key = _mixed(key ^ np.uint64(words[word, c] & kept[word]))
        if key & drawn == 0:
            if size < positions.size:
                positions[size] = c
                keys[size] = np.int64(key >> np.uint64(1))
            size += 1
    return size


@kernel
def joining(words: IntMatrix, centre: int, fields: IntMatrix, records: IntArray) -> IntArray:
    """For each field of the words (word, bits) the records of classes that agree with one in all other fields."""
    sums = np.zeros(fields.shape[0], dtype=np.int64)
    own = np.int64(0)
    for c in range(words.shape[1]):
        different = 0
        last = 0
        same = True
        for word in range(words.shape[0]):
            if words[word, c] != words[word, centre]:
                same = False
        if same:
            own += records[c]
            continue
        for field in range(fields.shape[0]):
            if (words[fields[field, 0], c] ^ words[fields[field, 0], centre]) & fields[field, 1]:
                different += 1
                last = field
                if different > 1:
                    break
        if different == 1:
            sums[last] += records[c]
    return sums + own
