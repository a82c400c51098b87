"""Released values are read back to what they may stand for."""

from __future__ import annotations

import datetime

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from discreet.classes import EquivalenceClasses
from discreet.classes.pair import Links, Pair
from discreet.table.domain import Domain
from discreet.table.hierarchies.hierarchy import Hierarchy
from discreet.table.meaning import KINDS, Meaning

AGES = Domain("age", pa.array([28, 37, 38, 39, 50, 53]))
JOBS = Hierarchy.of(
    "job", [["baker", "craft", "*"], ["smith", "craft", "*"], ["nurse", "care", "*"], ["medic", "care", "*"]]
)


def read(
    original: Domain, text: str | None, hierarchy: Hierarchy | None = None
) -> tuple[str, list[str], float]:
    released = Domain(original.name, pa.array([text] if text is not None else [], pa.string()), text is None)
    meaning = Meaning.of(original, released, hierarchy)
    return (
        KINDS[meaning.kinds[0]],
        [original.label(int(code)) for code in meaning.members(0)],
        round(float(meaning.shares[0]), 4),
    )


@pytest.mark.parametrize(
    ("text", "kind", "members", "share"),
    [
        ("39", "exact", ["39"], 1 / 6),
        ("39.0", "exact", ["39"], 1 / 6),
        ("[30, 39]", "interval", ["37", "38", "39"], 3 / 6),
        ("[30, 39)", "interval", ["37", "38"], 2 / 6),
        ("30-39", "interval", ["37", "38", "39"], 3 / 6),
        (">= 50", "interval", ["50", "53"], 2 / 6),
        ("<38", "interval", ["28", "37"], 2 / 6),
        ("{28, 53}", "set", ["28", "53"], 2 / 6),
        ("3*", "masked", ["37", "38", "39"], 3 / 6),
        ("*", "suppressed", ["28", "37", "38", "39", "50", "53"], 1.0),
        ("NA", "suppressed", ["28", "37", "38", "39", "50", "53"], 1.0),
        (None, "suppressed", ["28", "37", "38", "39", "50", "53"], 1.0),
        ("40.83", "foreign", [], 1 / 6),
        ("nonsense", "foreign", [], 1 / 6),
    ],
)
def test_numbers(text: str | None, kind: str, members: list[str], share: float) -> None:
    assert read(AGES, text) == (kind, members, round(share, 4))


def test_labels_of_a_hierarchy_and_values_the_table_lacks() -> None:
    jobs = Domain("job", pa.array(["baker", "nurse", "smith"]))
    assert read(jobs, "craft", JOBS) == ("node", ["baker", "smith"], 0.5)
    assert read(jobs, "care", JOBS) == ("node", ["nurse"], 0.5)
    assert read(jobs, "*", JOBS) == ("suppressed", ["baker", "nurse", "smith"], 1.0)
    assert read(jobs, "craft") == ("foreign", [], 0.3333)


def test_a_label_that_is_also_a_leaf_stands_for_all_below_it() -> None:
    hierarchy = Hierarchy.of("job", [["other", "other", "*"], ["spy", "other", "*"], ["nurse", "nurse", "*"]])
    jobs = Domain("job", pa.array(["nurse", "other", "spy"]))
    assert read(jobs, "other", hierarchy)[1] == ["other", "spy"]
    assert read(jobs, "nurse", hierarchy)[:2] == ("exact", ["nurse"])


def test_a_null_of_the_original_is_a_null_of_the_release() -> None:
    ages = Domain("age", pa.array([28, 37]), has_null=True)
    assert read(ages, None)[:2] == ("exact", ["∅"])
    assert read(ages, "[20, 40]")[1] == ["28", "37"]
    assert read(ages, "*")[1] == ["28", "37", "∅"]


def test_dates_are_read_as_periods_and_intervals() -> None:
    days = [datetime.date(1984, 5, 17), datetime.date(1984, 11, 2), datetime.date(1985, 1, 2)]
    born = Domain("born", pa.array(days))
    assert read(born, "1984")[1] == ["1984-05-17", "1984-11-02"]
    assert read(born, "1984-05")[1] == ["1984-05-17"]
    assert read(born, "1984-Q4")[1] == ["1984-11-02"]
    assert read(born, "[1980, 1989]")[1] == ["1984-05-17", "1984-11-02", "1985-01-02"]
    assert read(born, "[1984-11-02, 1985-01-02]")[1] == ["1984-11-02", "1985-01-02"]


def test_masks_hide_one_character_each_or_any_number() -> None:
    zips = Domain("zip", pa.array(["10115", "10117", "20095"]))
    assert read(zips, "101**")[1] == ["10115", "10117"]
    assert read(zips, "1*")[1] == ["10115", "10117"]
    assert read(zips, "9****") == ("masked", [], 0.3333)


@given(
    st.lists(st.integers(-50, 50), min_size=1, max_size=20, unique=True),
    st.lists(st.tuples(st.integers(-60, 60), st.integers(0, 40)), min_size=1, max_size=8, unique=True),
)
def test_covers_agrees_with_members_and_arithmetic(numbers: list[int], spans: list[tuple[int, int]]) -> None:
    original = Domain("x", pa.array(sorted(numbers)))
    texts = sorted({f"[{low}, {low + width}]" for low, width in spans} | {"*"})
    meaning = Meaning.of(original, Domain("x", pa.array(texts)))
    covers = meaning.covers(np.arange(len(texts))[:, None], np.arange(original.size)[None, :])
    for code, text in enumerate(texts):
        low, high = (-999, 999) if text == "*" else map(int, text[1:-1].split(", "))
        expected = [low <= number <= high for number in sorted(numbers)]
        assert covers[code].tolist() == expected
        assert sorted(meaning.members(code).tolist()) == np.flatnonzero(expected).tolist()
        assert meaning.sizes[code] == sum(expected)


def test_a_missing_column_is_suppressed_everywhere() -> None:
    original = EquivalenceClasses.from_columns({"age": [31, 34], "sex": ["f", "m"]})
    released = EquivalenceClasses.from_columns({"age": [31, 34]})
    pair = Pair.of(original, released)
    assert pair.names == ("age", "sex")
    assert pair.meaning("sex").shares.tolist() == [1.0]
    assert pair.covers(np.array([0, 0]), np.array([0, 1])).tolist() == [True, False]


def test_trivial_and_unchanged_releases() -> None:
    original = EquivalenceClasses.from_columns({"age": [31, 34, 34]}, sensitive={"flu": ["y", "n", "n"]})
    pair = Pair.of(original, original)
    assert len(pair.trivial().released) == 1
    assert pair.trivial().suppressed.tolist() == [True]
    assert pair.trivial().shown == 0
    assert pair.trivial().released.histogram("flu").totals.tolist() == [2, 1]
    assert pair.unchanged().shown == 3
    links = pair.unchanged().links
    assert isinstance(links, Links)
    assert links.records.tolist() == [1, 2]


def test_the_value_of_a_constant_column_is_not_suppressed() -> None:
    pair = Pair.of(*[EquivalenceClasses.from_columns({"town": ["Graz"] * 3})] * 2)
    assert pair.suppressed.tolist() == [False]
    assert pair.trivial().suppressed.tolist() == [True]


def test_an_interval_of_a_hierarchy_is_as_wide_as_it_is_printed() -> None:
    tens = Hierarchy.of("age", [[str(age), f"[{age // 10}0, {age // 10}9]", "*"] for age in range(20, 60)])
    meaning = Meaning.of(AGES, Domain("age", pa.array(["*", "[30, 39]"])), tens)
    assert [KINDS[kind] for kind in meaning.kinds] == ["suppressed", "interval"]
    assert (meaning.low[1], meaning.high[1], meaning.centre[1]) == (30, 39, 34.5)
    assert meaning.members(1).tolist() == [1, 2, 3]
    assert meaning.shares.tolist() == [1, 10 / 40]


ZIPS = Domain("zip", pa.array(["10115", "10117", "10243", "20095"]))
SCHOOLS = Domain("school", pa.array(["10th", "9th", "Bachelors", "HS-grad", "Masters"]))


@pytest.mark.parametrize(
    ("text", "kind", "members"),
    [
        ("9th~10th", "set", ["10th", "9th"]),
        ("Bachelors,Masters", "set", ["Bachelors", "Masters"]),
        ("Bachelors;HS-grad;Masters", "set", ["Bachelors", "HS-grad", "Masters"]),
        ("{'Bachelors', 'Masters'}", "set", ["Bachelors", "Masters"]),
        ("['Bachelors' 'Masters']", "foreign", []),
        ('["Bachelors", "Masters"]', "set", ["Bachelors", "Masters"]),
        ("Bachelors,Doctorate", "foreign", []),
        (" Masters ", "exact", ["Masters"]),
        ("{Doctorate, Prof-school}", "foreign", []),
    ],
)
def test_sets_as_other_tools_print_them(text: str, kind: str, members: list[str]) -> None:
    assert read(SCHOOLS, text)[:2] == (kind, members)


@pytest.mark.parametrize(
    ("text", "members"),
    [
        ("37~39", ["37", "38", "39"]),
        ("37,39", ["37", "38", "39"]),
        ("37|39", ["37", "39"]),
        ("37;38;53", ["37", "38", "53"]),
        ("[37, 39[", ["37", "38"]),
        ("37–39", ["37", "38", "39"]),
        ("50+", ["50", "53"]),
    ],
)
def test_two_numbers_are_an_interval_unless_marked_as_a_set(text: str, members: list[str]) -> None:
    assert read(AGES, text)[1] == members


@pytest.mark.parametrize(
    "text", ["101**", "101*", "101xx", "101XX", "101__", "101##", "101??", "101..", "101"]
)
def test_a_postcode_that_was_cut_or_masked_in_any_way(text: str) -> None:
    assert read(ZIPS, text) == ("masked", ["10115", "10117"], 0.5)
    whole = Domain("zip", pa.array([10115, 10117, 10243, 20095]))
    assert read(whole, text) == ("masked", ["10115", "10117"], 0.5)


def test_a_short_number_is_a_beginning_only_if_nothing_else_explains_the_column() -> None:
    means = Domain("zip", pa.array(["101", "30000"]))
    assert not Meaning.of(ZIPS, means).truthful
    assert read(AGES, "3") == ("masked", ["37", "38", "39"], 0.5), (
        "every age has two digits, and none is so small"
    )
    assert read(AGES, "30")[0] == "foreign", "within the range a number is a number"
    mixed = Domain("age", pa.array([9, 28, 37]))
    assert read(mixed, "2")[0] == "foreign", "a number among numbers of several lengths"


def test_what_stands_for_no_value_of_the_original_is_not_truthful() -> None:
    for text in ("[100, 200]", "9****", "{1, 2}", "1.5"):
        assert not Meaning.of(AGES, Domain("age", pa.array([text]))).truthful


def test_truth_and_midnight_are_printed_differently_by_tools() -> None:
    truth = Domain("ill", pa.array([False, True]))
    for text in ("true", "True", "TRUE", "1"):
        assert read(truth, text)[:2] == ("exact", ["True"])
    bits = Domain("ill", pa.array([0, 1]))
    meaning = Meaning.of(bits, Domain("ill", pa.array([False, True])))
    assert [meaning.members(code).tolist() for code in (0, 1)] == [[0], [1]]
    born = Domain("born", pa.array([datetime.date(1984, 5, 17), datetime.date(1984, 5, 18)]))
    stamps = Domain("born", pa.array([datetime.datetime(1984, 5, 17), datetime.datetime(1984, 5, 18)]))
    for before, after in ((born, stamps), (stamps, born)):
        meaning = Meaning.of(before, after)
        assert [KINDS[kind] for kind in meaning.kinds] == ["exact", "exact"]
        assert [meaning.members(code).tolist() for code in (0, 1)] == [[0], [1]]


def test_intervals_of_years_and_of_dates_that_do_not_occur() -> None:
    # 1975-06-16 is 1992 days after 1970: an interval of years must not be taken for one of days.
    born = Domain("born", pa.array([datetime.date(1975, 6, 16), datetime.date(1991, 3, 1)]))
    for text in ("1990-1999", "1990s", "[1990, 1999]", "[1990-01-01, 1992-01-01)", "1991-03-01 - 1991-04-01"):
        assert read(born, text)[:2] == ("interval", ["1991-03-01"]), text
    assert read(born, "[1990-01-01, 1991-03-01)")[1] == []
    assert read(born, "1991-**-**")[:2] == ("masked", ["1991-03-01"])
    noon = Domain("at", pa.array([datetime.datetime(1991, 3, 1, 12), datetime.datetime(1991, 3, 2, 12)]))
    assert read(noon, "[1991-02-28, 1991-03-01]")[1] == ["1991-03-01 12:00:00"]
    moved = Meaning.of(born, Domain("born", pa.array([datetime.date(1975, 6, 17)])))
    assert (KINDS[moved.kinds[0]], moved.centre[0]) == ("foreign", 1993.0), "noise is a distance in days"


@pytest.mark.parametrize("text", [None, "", "NA"])
def test_a_mark_is_a_null_where_the_original_has_nulls(text: str | None) -> None:
    pay = Domain("pay", pa.array([100, 200]), has_null=True)
    assert read(pay, text)[:2] == ("exact", ["∅"])
    assert read(Domain("pay", pa.array([100, 200])), text)[:2] == ("suppressed", ["100", "200"])


def test_an_interval_of_times_with_a_zone_stands_for_all_times_in_it() -> None:
    times = [datetime.datetime(2024, 3, day, 5, 30, tzinfo=datetime.UTC) for day in range(1, 9)]
    domain = Domain("seen", pa.array(times, pa.timestamp("us", "UTC")))
    printed = "[2024-03-02 05:30:00+00:00, 2024-03-05 05:30:00+00:00]"
    meaning = Meaning.of(domain, Domain("seen", pa.array([printed])))
    assert meaning.members(0).tolist() == [1, 2, 3, 4]


def test_a_counted_label_of_another_tree_says_nothing_of_what_is_not_named() -> None:
    """The hierarchy that would be learned has {baker, +1} for baker and cook; a release with other sets means another."""
    jobs = Domain("job", pa.array(["baker", "cook", "judge", "nurse"]))
    learned = Hierarchy.of(
        "job",
        [
            ["baker", "{baker, +1}", "*"],
            ["cook", "{baker, +1}", "*"],
            ["judge", "{judge, nurse}", "*"],
            ["nurse", "{judge, nurse}", "*"],
        ],
    )

    def jobs_of(labels: list[str]) -> set[str]:
        meaning = Meaning.of(jobs, Domain("job", pa.array(labels)), learned, assumed=True)
        return {jobs.values[code].as_py() for code in meaning.members(0)}

    assert jobs_of(["{baker, +1}", "{judge, nurse}"]) == {"baker", "cook"}
    assert jobs_of(["{baker, +1}", "{cook, judge}"]) == {"baker", "cook", "judge", "nurse"}
