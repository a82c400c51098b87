"""Which class a combination of codes is, and which row of an original each row of a release may be."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from discreet.classes.equivalence import EquivalenceClasses
from discreet.classes.packing import Packing
from discreet.table.meaning import Meaning
from discreet.types import AnyIntArray, IntArray

MOST_LOOKED_AT = 50_000_000
"""So many rows between the first and the last that fit are looked at; with more a match counts as unknown."""


def locate(classes: EquivalenceClasses, codes: Sequence[AnyIntArray]) -> IntArray:
    """The class of each combination of codes; -1 where there is none.

    >>> classes = EquivalenceClasses.from_columns({"age": [31, 34], "sex": ["f", "m"]})
    >>> locate(classes, [np.array([1, 0]), np.array([1, 1])])
    array([ 1, -1])
    """
    return places_of([domain.size for domain in classes.attributes], classes.codes, codes)


def places_of(sizes: Sequence[int], those: Sequence[AnyIntArray], wanted: Sequence[AnyIntArray]) -> IntArray:
    """Where each combination of codes that is wanted stands among those that are distinct; -1 where it does not.

    >>> places_of([9], [np.array([4, 2])], [np.array([2, 3])])
    array([ 1, -1])
    """
    packing = Packing.of(sizes)
    known, asked = packing.pack(those), packing.pack(wanted)
    if not len(known[0]):
        return np.full(len(asked[0]), -1, dtype=np.int64)
    if len(known) == 1:
        order = np.argsort(known[0], kind="stable")
        at = np.searchsorted(known[0][order], asked[0]).clip(max=len(order) - 1)
        nearest = order[at]
        return np.where(known[0][nearest] == asked[0], nearest, -1)
    both = np.concatenate([np.stack(known), np.stack(asked)], axis=1)
    numbers = np.unique(both, axis=1, return_inverse=True)[1].ravel()
    place = np.full(int(numbers.max()) + 1, -1, dtype=np.int64)
    place[numbers[: len(known[0])]] = np.arange(len(known[0]))
    return place[numbers[len(known[0]) :]]


def match_in_order(
    meanings: Sequence[Meaning],
    released: Sequence[AnyIntArray],
    original: Sequence[AnyIntArray],
    same: tuple[IntArray, IntArray] | None = None,
) -> IntArray | None:
    """For each released row the first original row after the previous one's that it may be; ``None`` if one has none.

    ``released[j]`` and ``original[j]`` are the codes of attribute ``j``, row by row. ``same`` gives each released
    and each original row a number that must agree (of the columns that were not changed). If rows kept their
    order and some were left out, the first that fits always leads to a complete match.

    >>> import pyarrow as pa
    >>> from discreet.table.domain import Domain
    >>> meaning = Meaning.of(Domain("age", pa.array([31, 34, 47])), Domain("age", pa.array(["47", "[30, 39]"])))
    >>> match_in_order([meaning], [np.array([1, 0])], [np.array([0, 1, 2])])
    array([0, 2])
    """
    from discreet.classes.alignment_kernels import first_fits  # loads a compiler: only when rows are matched

    rows = len(released[0]) if released else len(same[0]) if same else 0
    length = len(original[0]) if original else len(same[1]) if same else 0
    marks = same if same is not None else (np.zeros(rows, np.int64), np.zeros(length, np.int64))
    pointers = [meaning.indptr for meaning in meanings]
    starts = [np.array([0], dtype=np.int64), *(meaning.starts for meaning in meanings)]
    before = np.cumsum([len(part) for part in starts])
    matches = np.empty(rows, dtype=np.int64)
    done = first_fits(
        np.stack([codes.astype(np.int64) for codes in released])
        if released
        else np.empty((0, rows), np.int64),
        np.stack([m.rank[codes] for m, codes in zip(meanings, original, strict=True)])
        if original
        else np.empty((0, length), np.int64),
        np.cumsum([0, *map(len, pointers)])[:-1].astype(np.int64),
        np.concatenate(
            [np.empty(0, np.int64), *(p + start for p, start in zip(pointers, before, strict=False))]
        ),
        np.concatenate(starts),
        np.concatenate([np.array([0], dtype=np.int64), *(meaning.stops for meaning in meanings)]),
        marks[0],
        marks[1],
        matches,
    )
    return matches if done == rows else None


def only_match(
    meanings: Sequence[Meaning],
    released: Sequence[AnyIntArray],
    original: Sequence[AnyIntArray],
    same: tuple[IntArray, IntArray] | None,
    first: IntArray,
    kinds: IntArray,
) -> bool:
    """Whether every match in order says the same as ``first``, the one of the first rows that fit.

    The last rows that fit are found from behind. A released row may be any fitting one between both; if these
    are of several ``kinds``, it is not known which one it is.

    >>> import pyarrow as pa
    >>> from discreet.table.domain import Domain
    >>> meaning = Meaning.of(Domain("age", pa.array([31, 34, 47])), Domain("age", pa.array(["47", "[30, 39]"])))
    >>> only_match([meaning], [np.array([0])], [np.array([0, 1, 2])], None, np.array([2]), np.arange(3))
    True
    >>> only_match([meaning], [np.array([1])], [np.array([0, 1, 2])], None, np.array([0]), np.arange(3))
    False
    """
    length = len(original[0]) if original else len(same[1]) if same else 0
    behind = match_in_order(
        meanings,
        [codes[::-1] for codes in released],
        [codes[::-1] for codes in original],
        None if same is None else (same[0][::-1], same[1][::-1]),
    )
    assert behind is not None, "what can be matched from the front can be matched from behind"
    last = length - 1 - behind[::-1]
    if int((last - first).sum()) > MOST_LOOKED_AT:
        return False
    for row in np.flatnonzero(first != last).tolist():
        between = np.arange(first[row] + 1, last[row] + 1)
        fits = np.ones(len(between), dtype=bool)
        for meaning, shown, true in zip(meanings, released, original, strict=True):
            fits &= meaning.covers(shown[row : row + 1], true[between])
        if same is not None:
            fits &= same[0][row] == same[1][between]
        if (kinds[between[fits]] != kinds[first[row]]).any():
            return False
    return True
