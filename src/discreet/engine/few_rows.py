"""Few rows are coded here, once they were brought over: every statement of an engine costs more than they do."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from discreet.classes.packing import Packing, run_starts
from discreet.types import IntArray


def in_order(values: pa.ChunkedArray, numbers: pa.ChunkedArray | None = None) -> tuple[pa.Array, IntArray]:
    """The distinct values in their order, and the place of each row's value among them; a null is behind the last.

    Texts are ordered by their bytes, and by the ``numbers`` that they are written for first, where there are any.

    >>> in_order(pa.chunked_array([["b", None, "a", "b"]]))[1]
    array([1, 2, 0, 1])
    """
    encoded = values.combine_chunks().dictionary_encode()
    distinct = encoded.dictionary
    keys = {"value": distinct}
    if numbers is not None:
        first = np.zeros(len(distinct), dtype=np.int64)
        known = encoded.indices.is_valid().to_numpy(zero_copy_only=False)
        first[encoded.indices.drop_null().to_numpy()] = np.flatnonzero(known)
        keys = {"number": numbers.combine_chunks().take(pa.array(first)), **keys}
    order = pc.sort_indices(pa.table(keys), sort_keys=[(name, "ascending") for name in keys])
    places = np.empty(len(distinct) + 1, dtype=np.int64)
    places[order.to_numpy()] = np.arange(len(distinct))
    places[-1] = len(distinct)
    return distinct.take(order), places[encoded.indices.fill_null(len(distinct)).to_numpy()]


def grouped(packing: Packing, codes: Sequence[IntArray]) -> tuple[list[IntArray], IntArray]:
    """The packed words of the combinations of codes that occur, and how often each does."""
    words = packing.pack(codes)
    order = np.lexsort(tuple(reversed(words)))
    words = [word[order] for word in words]
    starts = run_starts(words)
    return [word[starts] for word in words], np.diff(np.append(starts, len(order)))


def codes_of(column: pa.ChunkedArray, dictionary: tuple[pa.Array, IntArray], missing: int) -> IntArray:
    """The code that a dictionary has for each value of a column; null and what it lacks have the ``missing`` one.

    >>> codes_of(pa.chunked_array([["m", None, "f"]]), (pa.array(["f", "m"]), np.array([0, 1])), 2)
    array([1, 2, 0])
    """
    values, codes = dictionary
    places = pc.index_in(column.combine_chunks(), value_set=values).fill_null(len(values))
    return np.asarray(np.append(codes, missing)[places.to_numpy()], dtype=np.int64)


def class_of_rows(words: Sequence[IntArray], of_rows: Sequence[IntArray]) -> IntArray:
    """For each row the place of the class with the same packed words; -1 where there is none.

    >>> class_of_rows([np.array([4, 7])], [np.array([7, 7, 5, 4])])
    array([ 1,  1, -1,  0])
    """
    both = [np.concatenate(pair) for pair in zip(words, of_rows, strict=True)]
    numbers = np.unique(np.stack(both), axis=1, return_inverse=True)[1].ravel()
    classes = len(words[0])
    places = np.full(len(both[0]), -1, dtype=np.int64)
    places[numbers[:classes]] = np.arange(classes)
    return places[numbers[classes:]]
