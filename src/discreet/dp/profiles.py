"""One row per person from a table in which people have several: how many rows, their commonest values and the means of their numbers.

Whatever somebody's rows are, one profile comes of them, and nobody else's changes. So a person moves every table of profiles by one, however many rows
they have, where rows themselves would have to be left out.
"""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from discreet.dp.coding import Coding, NumberCoding, number_bins
from discreet.dp.found_bounds import PowerCoding
from discreet.errors import InvalidParameter
from discreet.sentences import Sentence
from discreet.types import IntArray

ROWS = "rows"
"""The column that says how many rows somebody has."""


def rows_column(names: Mapping[str, object], most: int, bins: int) -> NumberCoding:
    """How the number of rows of a person is coded: from 1 to so many, which those with more count as."""
    if ROWS in names:
        raise InvalidParameter(
            Sentence("a column is called {name}, as is the number of rows of a person", name=ROWS),
            remedy="leave the column out, or give it another name",
        )
    return number_bins(ROWS, 1, most, bins, whole=True)


def profiles(cells: pa.Table, person: str, coded: Mapping[str, Coding | PowerCoding | None]) -> pa.Table:
    """The profile of each person: nothing of it depends on the rows of others. Rows without an id are one person's.

    >>> rows = pa.table({"who": ["a", "a", "b"], "pay": [10.0, 99.0, 30.0], "town": ["x", "y", "y"]})
    >>> made = profiles(rows, "who", {"pay": NumberCoding("pay", 0, 1, 50, whole=False), "town": None})
    >>> made["rows"].to_pylist(), made["pay"].to_pylist(), made["town"].to_pylist()
    ([2, 1], [30.0, 30.0], ['x', 'y'])
    """
    encoded = cells[person].combine_chunks().dictionary_encode(null_encoding="encode")
    people = encoded.indices.to_numpy(zero_copy_only=False).astype(np.int64)
    count = len(encoded.dictionary)
    made: dict[str, pa.Array] = {}
    for name, coding in coded.items():
        if name == ROWS:
            made[name] = pa.array(np.bincount(people, minlength=count))
        elif isinstance(coding, NumberCoding | PowerCoding):
            made[name] = _means(cells[name], people, count, coding)
        else:
            made[name] = _commonest(cells[name], people, count)
    if ROWS not in made:
        made[ROWS] = pa.array(np.bincount(people, minlength=count))
    return pa.table(made)


def _means(
    cells: pa.ChunkedArray, people: IntArray, count: int, coding: NumberCoding | PowerCoding
) -> pa.Array:
    """The mean of everybody's numbers, each within its bounds; nothing for those who have none.

    They are added up from the smallest to the largest: in the order in which rows come, the last digit of a mean would depend on it.
    """
    numbers = pc.cast(cells, pa.float64(), safe=False).to_numpy(zero_copy_only=False)
    known = ~np.isnan(numbers)
    inside, owners = np.clip(numbers[known], coding.low, coding.high), people[known]
    rising = np.argsort(inside, kind="stable")
    have = np.bincount(owners, minlength=count)
    mean = np.bincount(owners[rising], weights=inside[rising], minlength=count) / np.maximum(have, 1)
    return pa.array(np.round(mean) if coding.whole else mean, mask=have == 0)


def _commonest(cells: pa.ChunkedArray, people: IntArray, count: int) -> pa.Array:
    """Everybody's commonest value, the first in order among several; nothing for those who have none."""
    encoded = cells.combine_chunks().dictionary_encode()
    # In the order of values, which those of others do not change, not in that in which they come.
    order = pc.sort_indices(encoded.dictionary).to_numpy()
    ranks = np.empty(len(order), dtype=np.int64)
    ranks[order] = np.arange(len(order))
    known = pc.is_valid(encoded.indices).to_numpy(zero_copy_only=False)
    codes = ranks[pc.fill_null(encoded.indices, 0).to_numpy(zero_copy_only=False)[known]]
    pairs, times = np.unique(people[known] * max(1, len(order)) + codes, return_counts=True)
    owners, values = np.divmod(pairs, max(1, len(order)))
    best = np.lexsort((values, -times, owners))
    owners, values = owners[best], values[best]
    first = np.flatnonzero(np.append(True, owners[1:] != owners[:-1])[: len(owners)])
    places = np.full(count, -1, dtype=np.int64)
    places[owners[first]] = order[values[first]] if len(first) else 0
    return encoded.dictionary.take(pa.array(places, mask=places < 0))
