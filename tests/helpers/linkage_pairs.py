"""Small pairs for linkage: made by hand, and drawn at random with intervals, sets, stars and nulls."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from hypothesis import strategies as st

from discreet.classes.equivalence import EquivalenceClasses
from discreet.classes.pair import Links, Pair

Row = tuple[object, ...]
NAMES = ("age", "sex", "zip")
AGES = [23, 27, 31, 34, 47, None]
SEXES = ["f", "m", None]
ZIPS = ["1010", "1020", "1090", "2000"]


def classes(rows: Sequence[Row], person: Sequence[object] | None = None) -> EquivalenceClasses:
    columns = {name: [row[j] for row in rows] for j, name in enumerate(NAMES[: len(rows[0])])}
    return EquivalenceClasses.from_columns(columns, person=person)


def place(counted: EquivalenceClasses, row: Row) -> int:
    """The class of a row."""
    wanted = {name: "∅" if value is None else str(value) for name, value in zip(NAMES, row, strict=False)}
    return next(c for c in range(len(counted)) if counted.labels(c) == wanted)


def linked(
    before: Sequence[Row],
    after: Sequence[Row | None],
    persons: Sequence[object] | None = None,
) -> Pair:
    """The pair of rows and what each became (``None``: left out)."""
    original = classes(before, persons)
    kept = [_printed(row) for row in after if row is not None]
    whose = None if persons is None else [p for p, row in zip(persons, after, strict=True) if row is not None]
    released = classes(kept, whose)
    links = [
        (place(original, one), -1 if other is None else place(released, _printed(other)))
        for one, other in zip(before, after, strict=True)
    ]
    arrays = np.array(links, dtype=np.int64).T
    return Pair.of(original, released, links=Links(arrays[0], arrays[1], np.ones(len(links), dtype=np.int64)))


def _printed(row: Row) -> Row:
    return tuple(None if value is None else str(value) for value in row)


def fits(shown: object, own: object, *, nulls: bool) -> bool:
    """Whether a released value may stand for a person's, from the printed form alone."""
    text = str(shown)
    if shown is None:
        return own is None or not nulls
    if text == "*":
        return True
    if own is None:
        return False
    if text.startswith("["):
        low, high = text.strip("[]").split(", ")
        return float(low) <= float(str(own)) <= float(high)
    if text.startswith("{"):
        return str(own) in text.strip("{}").split(", ")
    if text.endswith("*"):
        return str(own).startswith(text.rstrip("*"))
    return text == str(own)


def row_fits(shown: Row, own: Row, before: Sequence[Row]) -> bool:
    return all(
        fits(s, o, nulls=any(row[j] is None for row in before))
        for j, (s, o) in enumerate(zip(shown, own, strict=True))
    )


def shows_nothing(shown: Row, before: Sequence[Row]) -> bool:
    """Whether every cell is generalised, and may be any value that the original has."""
    generalised = all(
        (isinstance(cell, str) and cell[:1] in "[{*") or str(cell)[-1:] == "*" for cell in shown
    )
    return generalised and all(row_fits(shown, own, before) for own in before)


def _coarser(draw: st.DrawFn, j: int, value: object) -> object:
    way = draw(st.sampled_from(["same", "coarse", "star"]))
    if way == "same":
        return value
    if way == "star" or value is None:
        return "*"
    if j == 0:
        width = draw(st.sampled_from([5, 10, 20]))
        low = int(str(value)) - int(str(value)) % width
        return f"[{low}, {low + width - 1}]"
    if j == 1:
        return "{f, m}"
    return draw(st.sampled_from([f"{str(value)[:2]}**", "{1010, 1020, 1090, 2000}", f"{{{value}, 3000}}"]))


@st.composite
def rows(draw: st.DrawFn, nulls: bool = True) -> list[Row]:
    few = slice(None if nulls else -1)
    one = st.tuples(st.sampled_from(AGES[few]), st.sampled_from(SEXES[few]), st.sampled_from(ZIPS))
    return draw(st.lists(one, min_size=1, max_size=9))


@st.composite
def recoded(draw: st.DrawFn, lost: bool = True, nulls: bool = True) -> tuple[list[Row], list[Row | None]]:
    """Rows, and what each became: recoded value by value, or left out (never all)."""
    before = draw(rows(nulls))
    after: list[Row | None] = []
    for row in before:
        gone = lost and draw(st.integers(0, 9)) == 0
        after.append(None if gone else tuple(_coarser(draw, j, value) for j, value in enumerate(row)))
    if all(row is None for row in after):
        after[0] = before[0]
    return before, after
