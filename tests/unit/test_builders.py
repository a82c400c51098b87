"""Builders of hierarchies: by hand on small columns, and what all of them must keep."""

from __future__ import annotations

import datetime
import itertools

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from discreet.errors import InvalidParameter, UnsuitableColumn
from discreet.table import Domain
from discreet.table.hierarchies.builder import Builder
from discreet.table.hierarchies.categories import Flat, Mask, Order, Sets, Zip
from discreet.table.hierarchies.dates import Dates
from discreet.table.hierarchies.hierarchy import Hierarchy
from discreet.table.hierarchies.numbers import Intervals, Rounding
from discreet.table.hierarchies.registry import BUILDERS, make_builder
from helpers.profiles import tries


def domain(*values: object, name: str = "x") -> Domain:
    array = pa.array(values)
    return Domain(name, array.take(pa.compute.sort_indices(array)))


def row(made: Hierarchy, leaf: str) -> tuple[str, ...]:
    return next(found for found in made.rows() if found[0] == leaf)


def check_nesting(made: Hierarchy, values: Domain) -> None:
    """Every value is covered, counts sum to D, coarser never splits, the root is alone at the top."""
    assert made.labels[-1] == ("*",)
    made.ladder(values)
    assert made.leaves >= len(values.values)
    for level in range(made.height + 1):
        assert made.counts(level).sum() == made.leaves
        assert len(set(made.labels[level])) == len(made.labels[level])
    for below, above in itertools.pairwise(made.nodes):
        pairs = set(zip(below.tolist(), above.tolist(), strict=True))
        assert len(pairs) == len(set(below.tolist()))
    assert Hierarchy.of(made.name, made.rows()).rows() == made.rows()


# ── intervals ─────────────────────────────────────────────────────────────────────────────────────────


def test_widths_on_whole_numbers_are_closed_intervals() -> None:
    made = Intervals(widths=(5, 10, 20)).build(domain(30, 34, 35, 39, 40, -1))
    assert row(made, "39") == ("39", "[35, 39]", "[30, 39]", "[20, 39]", "*")
    assert row(made, "-1") == ("-1", "[-5, -1]", "[-10, -1]", "[-20, -1]", "*")


def test_widths_on_other_numbers_are_half_open_and_hold_what_they_say() -> None:
    made = Intervals(widths=(0.1, 0.5)).build(domain(0.3, 0.7, 0.05))
    assert row(made, "0.3") == ("0.3", "[0.3, 0.4)", "[0, 0.5)", "*")
    assert row(made, "0.7") == ("0.7", "[0.7, 0.8)", "[0.5, 1)", "*")


def test_start_shifts_the_intervals() -> None:
    assert row(Intervals(widths=(10,), start=5).build(domain(14, 15)), "14")[1] == "[5, 14]"


def test_bottom_and_top_coding_cut_what_they_touch() -> None:
    made = Intervals(widths=(10, 20), below=18, above=90).build(domain(3, 17, 18, 25, 85, 90, 101))
    assert row(made, "3")[1:] == ("< 18", "< 18", "*")
    assert row(made, "18")[1:] == ("[18, 19]", "[18, 19]", "*")
    assert row(made, "25")[1:] == ("[20, 29]", "[20, 39]", "*")
    assert row(made, "85")[1:] == ("[80, 89]", "[80, 89]", "*")
    assert row(made, "101")[1:] == (">= 90", ">= 90", "*")


def test_coding_alone_keeps_the_other_values() -> None:
    made = Intervals(above=90).build(domain(31, 90, 95))
    assert made.labels[1] == ("31", ">= 90")


def test_given_cuts() -> None:
    made = Intervals(cuts=((18, 30, 65), (30,))).build(domain(17, 18, 29, 30, 64, 65))
    assert made.labels[1] == ("< 18", "[18, 29]", "[30, 64]", ">= 65")
    assert made.labels[2] == ("< 30", ">= 30")


def test_quantiles_count_records() -> None:
    values = domain(1, 2, 3, 4)
    assert Intervals(groups=(2,)).build(values).labels[1] == ("< 3", ">= 3")
    assert Intervals(groups=(2,)).build(values, totals=np.array([6, 1, 1, 1])).labels[1] == ("< 2", ">= 2")
    made = Intervals(groups=(4, 2)).build(values)
    assert made.labels[1] == ("< 2", "2", "3", ">= 4")


def test_missing_marks_stay_apart() -> None:
    made = Intervals(widths=(10,)).build(domain("31", "34", "?"))
    assert made.rows() == [("31", "[30, 39]", "*"), ("34", "[30, 39]", "*"), ("?", "?", "*")]


def test_numbers_with_a_point_in_text_are_not_whole() -> None:
    assert Intervals(widths=(10,)).build(domain("31.0", "34")).labels[1] == ("[30, 40)",)


@pytest.mark.parametrize(
    ("parameters", "told"),
    [
        ({}, "lacks widths, groups or cuts"),
        ({"widths": (5, 12)}, "do not nest: 12 is not a multiple of 5"),
        ({"widths": (10, 5)}, "do not nest"),
        ({"widths": (5,), "groups": (2,)}, "only one of widths and groups"),
        ({"widths": (0,)}, "positive numbers"),
        ({"widths": "5"}, "list of positive numbers"),
        ({"widths": (True,)}, "positive numbers"),
        ({"groups": (8, 3)}, "3 does not divide 8"),
        ({"groups": (2.5,)}, "whole numbers"),
        ({"cuts": ((30, 18),)}, "must ascend"),
        ({"cuts": ((18, 30), (31,))}, "do not nest"),
        ({"cuts": 5}, "list per level"),
        ({"cuts": ((18,),), "below": 3}, "do not go with cuts"),
        ({"widths": (5,), "below": 9, "above": 3}, "below must be less"),
        ({"widths": (5,), "start": "a"}, "must be a number"),
        ({"widths": (float("inf"),)}, "positive numbers"),
    ],
)
def test_wrong_intervals(parameters: dict[str, object], told: str) -> None:
    with pytest.raises(InvalidParameter, match=told) as caught:
        make_builder("intervals", parameters)
    assert caught.value.remedy


def test_intervals_need_numbers() -> None:
    with pytest.raises(UnsuitableColumn, match="1 values that are not numbers"):
        Intervals(widths=(5,)).build(domain("1", "secret"))
    with pytest.raises(UnsuitableColumn, match="dates") as caught:
        Intervals(widths=(5,)).build(domain(datetime.date(2024, 1, 1)))
    assert caught.value.remedy == "choose the builder dates"
    with pytest.raises(UnsuitableColumn, match="infinite"):
        Rounding(steps=(5,)).build(domain(1.0, float("inf")))
    with pytest.raises(InvalidParameter, match="too small"):
        Intervals(widths=(1e-9,)).build(domain(1e15))


# ── rounding ──────────────────────────────────────────────────────────────────────────────────────────


def test_rounding() -> None:
    made = Rounding(steps=(5, 10)).build(domain(12, 13, 17, 18))
    assert [made.labels[1], made.labels[2]] == [("10", "15", "20"), ("10", "20")]
    down = Rounding(steps=(0.5, 1), direction="down").build(domain(1.2, 1.7, 2.0))
    assert down.labels[1:3] == (("1", "1.5", "2"), ("1", "2"))


@pytest.mark.parametrize(
    ("parameters", "told"),
    [({}, "lacks steps"), ({"steps": (4, 6)}, "do not nest"), ({"steps": (4,), "direction": "up"}, "one of")],
)
def test_wrong_rounding(parameters: dict[str, object], told: str) -> None:
    with pytest.raises(InvalidParameter, match=told):
        make_builder("rounding", parameters)


# ── texts ─────────────────────────────────────────────────────────────────────────────────────────────


def test_flat() -> None:
    assert Flat().build(domain("f", "m")).rows() == [("f", "*"), ("m", "*")]


def test_order_given_with_values_that_the_table_lacks() -> None:
    made = Order(sizes=(2, 4), order=("none", "low", "middle", "high", "top")).build(domain("low", "high"))
    assert made.leaves == 5
    assert row(made, "low") == ("low", "{none, low}", "{none, low, middle, high}", "*")
    assert row(made, "top") == ("top", "top", "top", "*")


def test_natural_order() -> None:
    made = Order(sizes=(2,)).build(domain("grade 10", "grade 9", "grade 11", "grade 8", "?"))
    assert set(made.labels[1]) == {"{grade 8, grade 9}", "{grade 10, grade 11}", "?"}
    assert Order(sizes=(2,)).build(domain("2", "10", "1")).labels[1] == ("[1, 2]", "10")


@pytest.mark.parametrize(
    ("parameters", "told"),
    [
        ({}, "lacks sizes"),
        ({"sizes": (2, 3)}, "do not nest"),
        ({"sizes": (2,), "order": ("a", "a")}, "twice"),
        ({"sizes": (2,), "order": "a"}, "list of texts"),
    ],
)
def test_wrong_order(parameters: dict[str, object], told: str) -> None:
    with pytest.raises(InvalidParameter, match=told):
        make_builder("order", parameters)


def test_an_order_must_name_every_value() -> None:
    with pytest.raises(UnsuitableColumn, match="misses 1 of the 2") as caught:
        Order(sizes=(2,), order=("a",)).build(domain("a", "secret"))
    assert "secret" not in str(caught.value)


def test_masks() -> None:
    zips = domain("1020", "1025", "1130")
    assert Mask(characters=(1, 3)).build(zips).rows()[0] == ("1020", "102*", "1***", "*")
    assert Mask(characters=(1,), side="left", character="x").build(zips).rows()[0] == ("1020", "x020", "*")
    # What hides everything is the root, which is there once.
    assert Mask(characters=(3, 4)).build(zips).height == 2


def test_masks_of_values_of_different_length() -> None:
    values = domain("7", "42", "431")
    padded = Mask(characters=(1,), padding="0", align="right").build(values)
    assert [found[1] for found in padded.rows()] == ["04*", "43*", "00*"]
    left = Mask(characters=(1,), padding=" ").build(values)
    assert row(left, "42")[1] == "42*"
    bare = Mask(characters=(2,)).build(values)
    assert row(bare, "7")[1] == "*"
    assert row(bare, "431")[1] == "4**"


@pytest.mark.parametrize(
    ("parameters", "told"),
    [
        ({"characters": (2, 1)}, "ascend"),
        ({"characters": ()}, "ascend"),
        ({"side": "top"}, "one of: right, left"),
        ({"character": "**"}, "one character"),
        ({"padding": "  "}, "one character"),
        ({"align": 3}, "one of"),
    ],
)
def test_wrong_masks(parameters: dict[str, object], told: str) -> None:
    with pytest.raises(InvalidParameter, match=told):
        make_builder("mask", parameters)


def test_zip_prefixes() -> None:
    made = Zip(lengths=(5, 3, 2)).build(domain("10115", "10117-1234", "20095", "?"))
    assert row(made, "10115")[1:] == ("10115*****", "101*******", "10********", "*")
    assert row(made, "10117-1234")[1:3] == ("10117*****", "101*******")
    assert row(made, "?")[1:] == ("?", "?", "?", "*")
    assert Zip().build(domain("10115", "10117")).rows()[0] == ("10115", "101**", "10***", "1****", "*")
    assert Zip(lengths=(9,)).build(domain("10115")).height == 1
    with pytest.raises(InvalidParameter, match="descend"):
        Zip(lengths=(2, 3))


def test_sets_level_by_level() -> None:
    levels = (
        {"school": ["low", "high"], "university": ["bachelor", "master"]},
        {"any": ["school", "university"]},
    )
    made = Sets(levels=levels).build(domain("low", "master", "none"))
    assert row(made, "master") == ("master", "university", "any", "*")
    assert row(made, "none") == ("none", "none", "none", "*")
    # Members that the table lacks are leaves all the same.
    assert made.leaves == 5
    assert row(Sets(levels=levels, others="rest").build(domain("none")), "none")[1:3] == ("rest", "rest")


@pytest.mark.parametrize(
    ("parameters", "told"),
    [
        ({}, "list of groups"),
        ({"levels": ["a"]}, "level 1 of sets must name its groups"),
        ({"levels": [{"a": "b"}]}, "list of texts"),
        ({"levels": [{"a": ["x"], "b": ["x"]}]}, "member in two groups"),
        ({"levels": [{"a": ["x"]}], "others": 1}, "must be a text"),
    ],
)
def test_wrong_sets(parameters: dict[str, object], told: str) -> None:
    with pytest.raises(InvalidParameter, match=told):
        make_builder("sets", parameters)


def test_members_of_a_further_level_must_be_labels() -> None:
    with pytest.raises(InvalidParameter, match="level 2 of sets has 1 members"):
        Sets(levels=({"a": ["x"]}, {"b": ["z"]})).build(domain("x"))


# ── dates ─────────────────────────────────────────────────────────────────────────────────────────────


def test_dates() -> None:
    days = domain(datetime.date(1984, 5, 17), datetime.date(1969, 12, 31), datetime.date(2021, 1, 2))
    made = Dates(levels=("day", "month", "quarter", "year", "decade", "century")).build(days)
    assert row(made, "1969-12-31")[1:] == (
        "1969-12-31",
        "1969-12",
        "1969-Q4",
        "1969",
        "[1960, 1969]",
        "[1900, 1999]",
        "*",
    )
    assert row(Dates(levels=("week",)).build(days), "2021-01-02")[1] == "2020-W53"
    assert row(Dates(levels=("week",)).build(days), "1969-12-31")[1] == "1970-W01"


@given(st.lists(st.dates(min_value=datetime.date(2, 1, 1)), min_size=1, max_size=30, unique=True))
def test_weeks_are_those_of_the_calendar(days: list[datetime.date]) -> None:
    made = Dates(levels=("week",)).build(domain(*days))
    for day in days:
        year, week, _ = day.isocalendar()
        assert row(made, str(day))[1] == f"{year}-W{week:02}"


def test_times_and_texts() -> None:
    moment = datetime.datetime(2024, 5, 17, 13, 45)
    assert Dates(levels=("hour", "day")).build(domain(moment)).rows() == [
        ("2024-05-17 13:45:00", "2024-05-17T13", "2024-05-17", "*")
    ]
    assert row(Dates(levels=("year",)).build(domain("2024-05-17", "?")), "2024-05-17")[1] == "2024"
    zone = datetime.timezone(datetime.timedelta(hours=1))
    early = Domain("x", pa.array([datetime.datetime(2024, 1, 1, 0, 30, tzinfo=zone)]))
    assert (
        Dates(levels=("day",))
        .build(early)
        .rows()[0][0]
        .startswith(Dates(levels=("day",)).build(early).labels[1][0])
    )
    german = Dates(levels=("month",), format="%d.%m.%Y").build(domain("17.05.2024"))
    assert german.labels[1] == ("2024-05",)
    with pytest.raises(UnsuitableColumn, match="1 values that are not dates"):
        Dates().build(domain("17.05.2024"))


@pytest.mark.parametrize(
    ("parameters", "told"),
    [
        ({"levels": ("year", "month")}, "do not nest"),
        ({"levels": ("week", "month")}, "a week may lie in two months"),
        ({"levels": ("moon",)}, "one of: hour, day"),
        ({"levels": ()}, "list of periods"),
        ({"levels": "year"}, "list of periods"),
    ],
)
def test_wrong_dates(parameters: dict[str, object], told: str) -> None:
    with pytest.raises(InvalidParameter, match=told):
        make_builder("dates", parameters)


# ── all ───────────────────────────────────────────────────────────────────────────────────────────────


def test_names_and_parameters_of_a_policy_file() -> None:
    assert set(BUILDERS) == {"intervals", "order", "mask", "dates", "zip", "sets", "flat", "rounding"}
    made = make_builder("intervals", {"widths": [5, 10], "above": 90})
    assert made == Intervals(widths=(5, 10), above=90)
    assert made.parameters() == {"widths": (5, 10), "above": 90}
    with pytest.raises(InvalidParameter, match="did you mean 'rounding'"):
        make_builder("roundin", {})
    with pytest.raises(InvalidParameter, match="flat takes no parameters"):
        make_builder("flat", {"k": 1})
    with pytest.raises(InvalidParameter, match="zip takes lengths"):
        make_builder("zip", {"length": 1})


NUMERIC: list[Builder] = [
    Intervals(widths=(5, 10, 40)),
    Intervals(widths=(0.25, 1), start=0.1, below=-2, above=3.3),
    Intervals(groups=(8, 4, 2)),
    Intervals(cuts=((-1, 0, 7.5), (0,))),
    Rounding(steps=(5, 10)),
    Rounding(steps=(0.5, 2), direction="down"),
    Order(sizes=(2, 6)),
]
numbers = st.one_of(
    st.lists(st.integers(-300, 300), min_size=1, max_size=40, unique=True),
    st.lists(st.floats(-50, 50).map(lambda x: x + 0.0), min_size=1, max_size=40, unique=True),
)


@pytest.mark.parametrize("builder", NUMERIC, ids=repr)
@tries(40)
@given(values=numbers)
def test_levels_of_numbers_nest_and_cover(builder: Builder, values: list[float]) -> None:
    found = domain(*values)
    check_nesting(builder.build(found), found)


TEXTS: list[Builder] = [
    Flat(),
    Order(sizes=(2, 6)),
    Mask(characters=(1, 2, 4)),
    Mask(characters=(1, 3), side="left", padding="0", align="right"),
    Zip(lengths=(3, 2, 1)),
    Sets(levels=({"p": ["a", "b"]}, {"q": ["p", "c"]}), others=""),
]


@pytest.mark.parametrize("builder", TEXTS, ids=repr)
@tries(40)
@given(values=st.lists(st.text("ab01*?{}, ", max_size=5), min_size=1, max_size=30, unique=True))
def test_levels_of_texts_nest_and_cover(builder: Builder, values: list[str]) -> None:
    found = domain(*values)
    try:
        made = builder.build(found)
    except InvalidParameter:
        # A further level of sets may name a value that this column has not.
        assert isinstance(builder, Sets)
        return
    check_nesting(made, found)


@pytest.mark.parametrize(
    "builder", [Flat(), Intervals(widths=(5,)), Mask(), Zip(), Dates(), Rounding(steps=(5,))]
)
def test_a_column_of_nulls_only(builder: Builder) -> None:
    empty = Domain("x", pa.array([], pa.string()), has_null=True)
    ladder = builder.build(empty).ladder(empty)
    assert [step.labels for step in ladder.steps][-1] == ("*",)
