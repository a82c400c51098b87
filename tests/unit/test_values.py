"""Generalised values: what is read, how it is printed, and that printing and reading undo each other."""

from __future__ import annotations

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from discreet.errors import InvalidParameter
from discreet.table.values import Exact, Interval, Masked, OneOf, Suppressed, Value, parse, set_label


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("[30, 39]", Interval(30, 39)),
        ("[30, 40)", Interval(30, 40, closed_high=False)),
        ("(30;40]", Interval(30, 40, closed_low=False)),
        ("[0, 5[", Interval(0, 5, closed_high=False)),
        ("]0, 5]", Interval(0, 5, closed_low=False)),
        ("[0-10)", Interval(0, 10, closed_high=False)),
        ("[-5, -1]", Interval(-5, -1)),
        ("0-35", Interval(0, 35)),
        ("35 – 55", Interval(35, 55)),
        ("0 to 17", Interval(0, 17)),
        ("05-09", Interval(5, 9)),
        ("20-30%", Interval(20, 30, unit="%")),
        ("1.5..2.5", Interval(1.5, 2.5)),
        ("55<=", Interval(55, math.inf)),
        ("70+", Interval(70, math.inf)),
        ("70 or Older", Interval(70, math.inf)),
        ("65 und älter", Interval(65, math.inf)),
        ("< 18", Interval(-math.inf, 18, closed_high=False)),
        ("≤5", Interval(-math.inf, 5)),
        ("under 18", Interval(-math.inf, 18, closed_high=False)),
        ("<=50K", Interval(-math.inf, 50, unit="K")),
        (">= 90", Interval(90, math.inf)),
        ("> 3", Interval(3, math.inf, closed_low=False)),
        ("{a, b}", OneOf(("a", "b"))),
        ('{"a, b", c}', OneOf(("a, b", "c"))),
        ("{a, b, +5}", OneOf(("a", "b"), more=5)),
        ('{"+5", b}', OneOf(("+5", "b"))),
        ("1020*", Masked("1020*")),
        ("**34", Masked("**34")),
        ("AB1 *", Masked("AB1 *")),
        ("*", Suppressed()),
        (" * ", Suppressed()),
        ("*****", Masked("*****")),
        ("baker", Exact("baker")),
        ("", Exact("")),
        ("31", Exact("31")),
        ("2024-05", Exact("2024-05")),
        ("2024-05-17", Exact("2024-05-17")),
        ("030-12345", Exact("030-12345")),
        ("{}", Exact("{}")),
        ("[9, 3]", Exact("[9, 3]")),
        ("[1e999, 2e999]", Exact("[1e999, 2e999]")),
        ("> 1e999", Exact("> 1e999")),
        ("a < b", Exact("a < b")),
    ],
)
def test_what_is_read(text: str, value: Value) -> None:
    assert parse(text) == value


numbers = st.floats(allow_nan=False, allow_infinity=False)


@st.composite
def intervals(draw: st.DrawFn) -> Interval:
    low, high = sorted((draw(numbers), draw(numbers)))
    closed = draw(st.booleans()), draw(st.booleans())
    open_end = draw(st.sampled_from(["none", "low", "high"]))
    unit = draw(st.sampled_from(["", "%", "K"]))
    return Interval(
        -math.inf if open_end == "low" else low, math.inf if open_end == "high" else high, *closed, unit=unit
    )


text = st.text(st.characters(exclude_categories=["Cs", "Cc"]), max_size=12)
sets = st.builds(OneOf, st.lists(text, min_size=1, max_size=4).map(tuple), st.integers(0, 30))
masks = st.from_regex(r"[0-9A-Za-z]{1,6}\*{1,4}", fullmatch=True).map(Masked)


@given(st.one_of(intervals(), sets, masks, st.just(Suppressed())))
def test_what_is_printed_is_read_back(value: Value) -> None:
    assert parse(str(value)) == value


@given(st.one_of(text, st.text('[](){}<>=*-+,. 0159aK"%', max_size=12), st.text(max_size=12)))
def test_reading_is_settled_after_one_printing(anything: str) -> None:
    once = parse(anything)
    assert parse(str(once)) == once


@given(intervals(), intervals(), numbers)
def test_a_hull_holds_both(one: Interval, other: Interval, number: float) -> None:
    hull = one.hull(other)
    if number in one or number in other:
        assert hull is None or number in hull


def test_bounds_belong_to_closed_ends_only() -> None:
    assert 30 in Interval(30, 40)
    assert 30 not in Interval(30, 40, closed_low=False)
    assert 40 not in Interval(30, 40, closed_high=False)
    assert 1e300 in Interval(3, math.inf)
    assert 41 not in Interval(30, 40)


@pytest.mark.parametrize(("low", "high"), [(2, 1), (math.nan, 1), (-math.inf, math.inf)])
def test_no_interval(low: float, high: float) -> None:
    with pytest.raises(InvalidParameter):
        Interval(low, high)


def test_a_set_needs_a_member() -> None:
    with pytest.raises(InvalidParameter):
        OneOf(())


def test_labels_of_long_sets_stay_short_and_name_the_first_member() -> None:
    members = [f"member {i}" for i in range(50)]
    label = set_label(members)
    assert label == "{member 0, member 1, member 2, +47}"
    assert len(label) <= 40
    assert set_label(["x" * 60, "y"]) == "{" + "x" * 60 + ", +1}"
    assert set_label(["a"]) == "a"


@given(st.lists(text, min_size=1, max_size=9, unique=True), st.integers(0, 9))
def test_a_label_counts_every_member(members: list[str], more: int) -> None:
    if len(members) + more > 1:
        found = parse(set_label(members, more=more))
        assert isinstance(found, OneOf)
        assert len(found.members) + found.more == len(members) + more
        assert list(found.members) == members[: len(found.members)]
