"""Which rows of a person count: chosen by whose they are and what they hold, never by where they stand or by what others have."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from hashlib import blake2b

import numpy as np
import pyarrow as pa

from discreet.types import IntArray

Hashes = np.ndarray[tuple[int], np.dtype[np.uint64]]


def mixed(columns: Iterable[Hashes], rows: int) -> Hashes:
    """A number for each row that follows from the numbers of its cells."""
    content = np.zeros(rows, dtype=np.uint64)
    for column in columns:
        content = (content ^ column) * np.uint64(0x9E3779B97F4A7C15)
        content ^= content >> np.uint64(29)
    return content


def hashes_of(texts: Sequence[str]) -> Hashes:
    """A number for each text that follows from the text alone."""
    digests = b"".join(blake2b(text.encode(), digest_size=8).digest() for text in texts)
    return np.frombuffer(digests, dtype=np.uint64)


def kept_rows(ids: pa.ChunkedArray, content: Hashes, codes: Sequence[IntArray], max_rows: int) -> IntArray:
    """The places of at most ``max_rows`` rows of each person; no id is a person, too.

    Those come first whose content has the smaller hash together with the person's id: by the content alone everybody's rows of
    one kind would count, and nobody's of another.

    >>> ids = pa.chunked_array([["a", "a", "b", "a"]])
    >>> content = np.array([3, 1, 9, 2], dtype=np.uint64)
    >>> kept_rows(ids, content, [np.zeros(4, dtype=np.int64)], 2).tolist()
    [0, 1, 2]
    """
    encoded = ids.combine_chunks().dictionary_encode(null_encoding="encode")
    people = encoded.indices.to_numpy(zero_copy_only=False)
    of_person = hashes_of([repr(value) for value in encoded.dictionary.to_pylist()])[people]
    order = np.lexsort([*codes, mixed([of_person, content], len(people)), people])
    ordered = people[order]
    starts = np.flatnonzero(np.append(True, ordered[1:] != ordered[:-1]))
    nth = np.arange(len(order)) - np.repeat(starts, np.diff(np.append(starts, len(order))))
    return np.sort(order[nth < max_rows])
