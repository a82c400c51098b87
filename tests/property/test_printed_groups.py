"""What a group's cell prints, a reader of the release understands: sets name their members, intervals their ends."""

from __future__ import annotations

import datetime as dt
from dataclasses import replace

import numpy as np
import pyarrow as pa
from hypothesis import assume, given
from hypothesis import strategies as st

from discreet.classes import EquivalenceClasses
from discreet.table.domain import Domain
from discreet.table.meaning import Meaning
from discreet.table.values import Exact, Interval, OneOf, Suppressed, parse
from discreet.transform.recoding import Recoding

TEXTS = st.text(st.characters(exclude_categories=["Cs"]), max_size=6) | st.sampled_from(
    ["a, b", "{a}", '"', '""', "+5", " a", "a ", "", "∅", "*", "[1, 2]", "line\nend", "a\r", "1;2"]
)
NUMBERS = st.one_of(
    st.lists(st.integers(-(2**62), 2**62), min_size=2, max_size=8, unique=True),
    st.lists(st.floats(allow_nan=False, allow_infinity=False), min_size=2, max_size=8, unique=True),
    st.lists(
        st.sampled_from(["7", "07", "100", " 7", "7.", ".5", "+3", "1e3", "-2", "1E5", "0012"]),
        min_size=2,
        max_size=8,
        unique=True,
    ),
)


def printed(values: list[object], owner: list[int]) -> list[str]:
    """The cell of each class, in the order of the values; ``owner`` says which group it is in."""
    classes = EquivalenceClasses.from_columns({"x": values})
    numbers, groups = np.unique(owner, return_inverse=True)
    kept = np.ones(len(numbers), dtype=bool)
    recoding = Recoding.of_groups(classes, groups, kept=kept, method="test")
    return [str(cell) for cell in recoding.columns[0].per_class().to_pylist()]


@given(st.lists(TEXTS, min_size=3, max_size=8, unique=True), st.data())
def test_a_set_reads_back_as_exactly_its_members(values: list[str], data: st.DataObject) -> None:
    values = sorted(values, key=lambda text: text.encode())
    assume(not Domain("x", pa.array(values)).is_numeric)
    owner = data.draw(st.lists(st.integers(0, 2), min_size=len(values), max_size=len(values)))
    cells = printed(list(values), owner)
    for group in set(owner):
        members = tuple(value for value, one in zip(values, owner, strict=True) if one == group)
        cell = {cell for cell, one in zip(cells, owner, strict=True) if one == group}
        assert len(cell) == 1
        told = cell.pop()
        if len(members) == 1:
            assert told == members[0]
        elif len(members) == len(values):
            assert parse(told) == Suppressed()
        else:
            # What stands for a missing value is named last.
            read = parse(told)
            assert isinstance(read, OneOf)
            assert replace(read, members=tuple(sorted(read.members))) == OneOf(tuple(sorted(members)))


@given(NUMBERS, st.data())
def test_an_interval_reads_back_with_exactly_the_ends_of_its_group(
    values: list[object], data: st.DataObject
) -> None:
    domain = EquivalenceClasses.from_columns({"x": values}).attributes[0]
    owner = data.draw(st.lists(st.integers(0, 2), min_size=domain.size, max_size=domain.size))
    cells = printed(values, owner)
    for group in set(owner):
        numbers = [domain.numbers[code] for code, one in enumerate(owner) if one == group]
        told = next(cell for cell, one in zip(cells, owner, strict=True) if one == group)
        read = parse(told)
        if len(numbers) == 1:
            assert isinstance(read, Exact)
            assert float(read.text) == numbers[0]
        else:
            assert read == Interval(min(numbers), max(numbers))
            assert all(number in read for number in numbers)


@given(
    st.lists(st.dates(dt.date(1900, 1, 1), dt.date(2100, 1, 1)), min_size=3, max_size=8, unique=True),
    st.data(),
)
def test_an_interval_of_dates_stands_for_the_dates_between_its_ends(
    values: list[dt.date], data: st.DataObject
) -> None:
    values = sorted(values)
    owner = data.draw(st.lists(st.integers(0, 1), min_size=len(values), max_size=len(values)))
    cells = printed(list(values), owner)
    released = pa.array(cells)
    meaning = Meaning.of(Domain("x", pa.array(values)), Domain("x", released))
    for code, group in enumerate(owner):
        members = [value for value, one in zip(values, owner, strict=True) if one == group]
        between = [value for value in values if members[0] <= value <= members[-1]]
        assert [values[member] for member in meaning.members(code)] == between
