"""Learned hierarchies: sensible on small columns, sound on any, and quick on a million values."""

from __future__ import annotations

import datetime
import itertools
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

import discreet
from discreet.errors import InvalidPolicy
from discreet.policy import Policy, dumps, load, loads, save
from discreet.policy.hierarchies import hierarchies
from discreet.table import DATA_TYPES, DataType, Domain
from discreet.table.hierarchies.categories import Flat, Mask, Sets
from discreet.table.hierarchies.hierarchy import Hierarchy
from discreet.table.hierarchies.learn import MAX_LEVELS, hierarchy_for, learn
from discreet.table.hierarchies.numbers import Intervals
from discreet.table.values import Interval, parse
from helpers.profiles import tries


def domain(*values: object) -> Domain:
    array = pa.array(values)
    return Domain("x", array.take(pa.compute.sort_indices(array)))


def levels(made: Hierarchy) -> list[tuple[str, ...]]:
    return list(made.labels[1:-1])


# ── numbers ───────────────────────────────────────────────────────────────────────────────────────────


def test_ages_get_round_widths_and_open_ends() -> None:
    found = levels(learn(domain(*range(17, 91)), np.full(74, 10), type="integer"))
    assert found[0][:3] == ("< 20", "[20, 24]", "[25, 29]")
    assert found[1][:3] == ("< 20", "[20, 29]", "[30, 39]")
    assert found[2] == ("< 20", "[20, 39]", "[40, 59]", "[60, 79]", ">= 80")


def test_rare_extremes_share_a_node() -> None:
    ages = list(range(20, 70))
    made = learn(domain(*ages, 99, 104), np.array([100] * 50 + [1, 1]), type="integer")
    assert {row[1] for row in made.rows() if row[0] in ("69", "99", "104")} == {">= 65"}


def test_few_numbers_are_merged_by_their_frequency() -> None:
    made = learn(domain(0, 1, 2, 3, 4), np.array([870, 90, 20, 10, 10]), type="integer")
    assert levels(made) == [("< 1", "1", ">= 2"), ("< 1", ">= 1")]


def test_numbers_that_only_just_differ_or_have_no_end() -> None:
    near = learn(domain(*(2**62 + i for i in range(20))), type="integer")
    assert near.height == 1
    made = learn(domain(1.0, 2.0, 3.0, 4.0, float("inf")), type="continuous")
    assert ("inf", "inf", "*") in made.rows()
    assert made.labels[1] == ("< 3", ">= 3", "inf")


def test_skewed_numbers_get_equal_frequencies_and_round_cuts() -> None:
    values = np.unique(np.round(np.random.default_rng(1).lognormal(3, 1, 5000), 2))
    made = learn(domain(*values), None, type="continuous")
    assert 4 <= made.height - 1 <= MAX_LEVELS
    coarsest = made.counts(made.height - 1)
    assert len(coarsest) == 2
    assert coarsest.min() > 0.4 * len(values)
    for label in made.labels[2]:
        interval = parse(label)
        assert isinstance(interval, Interval)
        # A round cut is short: at most three digits that are not zero.
        for bound in (interval.low, interval.high):
            assert np.isinf(bound) or float(f"{bound:.3g}") == bound


def test_every_number_lies_in_the_interval_that_it_gets() -> None:
    values = np.unique(np.random.default_rng(2).normal(0, 50, 3000).round(1))
    for made in (
        learn(domain(*values), type="continuous"),
        Intervals(widths=(0.1, 5)).build(domain(*values)),
    ):
        for row in made.rows():
            for label in row[1:-1]:
                interval = parse(label)
                assert isinstance(interval, Interval)
                assert float(row[0]) in interval


# ── dates, codes, categories ──────────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize(
    ("days", "first", "sizes"),
    [
        (60, "2024-W01", 1),
        (400, "2024-01", 3),
        (3000, "2024-01", 4),
        (9000, "2024-01", 3),
    ],
)
def test_dates_by_their_span(days: int, first: str, sizes: int) -> None:
    start = datetime.date(2024, 1, 1)
    made = learn(domain(*(start + datetime.timedelta(i) for i in range(days))), type="date")
    assert made.labels[1][0] == first
    assert made.height - 1 == sizes


def test_times_get_hours_or_days() -> None:
    start = datetime.datetime(2024, 1, 1)
    few = learn(domain(*(start + datetime.timedelta(minutes=7 * i) for i in range(500))), type="date")
    assert few.labels[1][0] == "2024-01-01T00"
    many = learn(domain(*(start + datetime.timedelta(hours=7 * i) for i in range(500))), type="date")
    assert many.labels[1][0] == "2024-01-01"


def test_dates_in_text_and_what_only_claims_to_be_dates() -> None:
    text = [f"{year}-03-01" for year in range(1950, 2010)]
    assert learn(domain(*text, "?"), type="date").labels[-2] == (
        *(f"[{decade}, {decade + 9}]" for decade in range(1950, 2010, 10)),
        "?",
    )
    assert learn(domain("a", "b", "c", "d"), type="date").height == 2


def test_codes_of_one_length_are_masked() -> None:
    zips = [f"{first}{i:03}" for first in "12" for i in range(0, 40, 3)]
    made = learn(domain(*zips), type="nominal")
    assert made.rows()[0] == ("1000", "100*", "10**", "*")


def test_words_are_not_codes() -> None:
    made = learn(domain("east", "west", "nort", "sout", "cent", "isle", "hill", "dale"), type="nominal")
    assert all("*" not in label for label in made.labels[1])


def test_rare_categories_are_merged_first() -> None:
    made = learn(domain(*"abcdefgh"), np.array([100, 90, 1, 2, 3, 4, 5, 6]), type="nominal")
    assert levels(made) == [("b", "a", "{f, g}", "{c, d, e, h}"), ("a", "{b, c, d, e, f, g, h}")]


def test_ordinal_values_keep_their_neighbours() -> None:
    made = learn(domain("grade 1", "grade 2", "grade 9", "grade 10"), type="ordinal")
    assert levels(made) == [("{grade 1, grade 2}", "{grade 9, grade 10}")]


def test_values_that_are_generalised_already() -> None:
    bands = ["0-9", "10-19", "20-29", "30-39", "40-49", "50-59", "60-69", "70+"]
    found = levels(learn(domain(*bands, ""), type="nominal"))
    assert found[0] == ("[0, 19]", "[20, 39]", "[40, 59]", ">= 60", "")
    assert found[1] == ("[0, 39]", ">= 40", "")
    assert levels(learn(domain("0-35", "35-55", "55<="), type="generalised")) == [("0-35", ">= 35")]


def test_masked_and_suppressed_values_are_masked_further() -> None:
    masks = [f"1{i}{j}**" for i in range(3) for j in range(4)]
    made = learn(domain(*masks, "*"), type="generalised")
    assert ("100**", "10***", "*") in made.rows()
    assert ("*", "*", "*") in made.rows()


def test_two_values_need_no_level_between() -> None:
    assert learn(domain("f", "m"), type="nominal").rows() == [("f", "*"), ("m", "*")]
    assert learn(domain("f", "m", "?"), type="nominal").height == 1


def test_labels_of_groups_differ_from_values_that_look_like_them() -> None:
    made = learn(domain("a", "b", "c", "d", "{a, b}"), np.array([1, 1, 9, 9, 9]), type="nominal")
    for names in made.labels:
        assert len(set(names)) == len(names)


# ── any column ────────────────────────────────────────────────────────────────────────────────────────

columns = st.one_of(
    st.lists(st.integers(-(10**12), 10**12), min_size=1, max_size=60, unique=True),
    st.lists(st.integers(0, 40), min_size=1, max_size=30, unique=True),
    st.lists(
        st.floats(allow_nan=False, allow_infinity=False).map(lambda x: x + 0.0),
        min_size=1,
        max_size=60,
        unique=True,
    ),
    st.lists(st.dates(), min_size=1, max_size=60, unique=True),
    st.lists(st.booleans(), min_size=1, unique=True),
    st.lists(st.text("ab01*?{}-,<=+ ", max_size=6), min_size=1, max_size=60, unique=True),
    st.lists(st.from_regex(r"[0-9]{5}", fullmatch=True), min_size=8, max_size=60, unique=True),
    st.lists(
        st.tuples(st.integers(0, 99), st.integers(0, 99)).map(lambda p: f"{min(p)}-{max(p)}"),
        min_size=3,
        max_size=40,
        unique=True,
    ),
)


@tries(300)
@given(columns, st.sampled_from([None, *DATA_TYPES]), st.randoms(use_true_random=False))
def test_any_column_gets_a_sound_hierarchy(
    values: list[object], type: DataType | None, random: object
) -> None:
    found = domain(*values)
    totals = np.array([random.choice([1, 2, 50, 4000]) for _ in values])  # type: ignore[attr-defined]
    made = learn(found, totals, type=type)
    assert made.labels[-1] == ("*",)
    assert 1 <= made.height <= MAX_LEVELS + 1
    made.ladder(found)
    assert made.leaves == len(values)
    for level in range(made.height + 1):
        assert made.counts(level).sum() == made.leaves
        assert len(set(made.labels[level])) == len(made.labels[level])
    for below, above in itertools.pairwise(made.labels):
        assert len(above) < len(below) or len(below) == 1
    for below, above in itertools.pairwise(made.nodes):
        assert len(set(zip(below.tolist(), above.tolist(), strict=True))) == len(set(below.tolist()))
    # What is learned can be written, read, and is the same a second time.
    assert Hierarchy.of("x", made.rows()).rows() == made.rows()
    assert learn(found, totals, type=type).rows() == made.rows()


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["float", "text"])
def test_a_million_values(kind: str) -> None:
    count = 1_000_000
    values = {
        "float": lambda: pa.array(np.arange(count) / 7),
        "text": lambda: pa.array([f"word {i}" for i in range(count)]),
    }[kind]()
    found = Domain("x", values)
    made = learn(found, np.arange(count) % 13 + 1)
    assert made.leaves == count
    assert 2 <= made.height <= MAX_LEVELS + 1


def test_one_door_for_all_three_ways() -> None:
    values = domain(31, 34, 47)
    given_one = Hierarchy.of("x", [["31", "*"], ["34", "*"], ["47", "*"]])
    assert hierarchy_for(values, spec=given_one) is given_one
    assert hierarchy_for(values, spec=Intervals(widths=(10,))).labels[1] == ("[30, 39]", "[40, 49]")
    assert hierarchy_for(values, np.ones(3), column_type="integer").labels[-1] == ("*",)


# ── in a policy ───────────────────────────────────────────────────────────────────────────────────────

POLICY = """
[columns.age]
role = "quasi-identifier"
hierarchy = {builder = "intervals", widths = [10, 20]}

[columns.zip]
role = "quasi-identifier"
hierarchy = "zip.csv"

[columns.sex]
role = "quasi-identifier"

[columns.job]
role = "quasi-identifier"

[columns.job.hierarchy]
builder = "sets"
others = "other"
levels = [{"in food" = ["baker", "cook"]}, {any = ["in food", "other"]}]
"""


def table() -> pa.Table:
    return pa.table(
        {
            "age": [31, 34, 47],
            "zip": ["1010", "1011", "2020"],
            "sex": ["f", "m", "f"],
            "job": ["baker", "cook", "judge"],
        }
    )


def test_a_policy_reads_builds_and_learns(tmp_path: Path) -> None:
    (tmp_path / "policy.toml").write_text(POLICY)
    (tmp_path / "zip.csv").write_text("1010;101*;*\n1011;101*;*\n2020;202*;*\n")
    policy = load(tmp_path / "policy.toml")
    opened = discreet.read(table())
    classes = opened.engine.count(opened, quasi_identifiers=policy.quasi_identifiers)
    found = hierarchies(policy, classes)
    assert [(one.ladder.name, one.origin, one.learned) for one in found] == [
        ("age", "built: intervals", False),
        ("zip", "read from zip.csv", False),
        ("sex", "learned from the data", True),
        ("job", "built: sets", False),
    ]
    assert found[0].ladder.steps[1].labels == ("[30, 39]", "[40, 49]")
    assert found[3].ladder.steps[1].labels == ("in food", "other")


def test_a_policy_with_hierarchies_is_written_as_it_is_read(tmp_path: Path) -> None:
    policy = loads(POLICY)
    again = loads(dumps(policy))
    assert again == policy
    job = again.column("job")
    assert job is not None
    assert job.hierarchy == Sets(
        levels=({"in food": ("baker", "cook")}, {"any": ("in food", "other")}), others="other"
    )
    # A file is named as it is found from the policy, wherever that is written.
    (tmp_path / "a").mkdir()
    (tmp_path / "a" / "policy.toml").write_text(POLICY)
    saved = save(load(tmp_path / "a" / "policy.toml"), tmp_path / "other.toml")
    assert 'hierarchy = "a/zip.csv"' in saved.read_text()
    zips = load(saved).column("zip")
    assert zips is not None
    assert zips.hierarchy == str(tmp_path / "a" / "zip.csv")


def test_all_mistakes_in_hierarchies_at_once_with_their_lines() -> None:
    text = """
[columns.a]
role = "quasi-identifier"
hierarchy = {builder = "interval"}

[columns.b]
role = "quasi-identifier"

[columns.b.hierarchy]
builder = "intervals"
widths = [5, 7]

[columns.c]
role = "nobody"
hierarchy = 3

[columns.d]
role = "sensitive"
hierarchy = {widths = [5]}
"""
    with pytest.raises(InvalidPolicy) as caught:
        loads(text, name="p.toml")
    told = caught.value.problems
    assert len(told) == 5
    for line, words in [
        (4, "did you mean 'intervals'"),
        (9, "7 is not a multiple of 5"),
        (14, "'nobody' is not a role"),
        (15, "must be a file or name a builder"),
        (19, "must be a file or name a builder"),
    ]:
        assert any(f"line {line}:" in one and words in one for one in told), (line, told)


def test_all_hierarchies_that_do_not_fit_at_once(tmp_path: Path) -> None:
    policy = Policy.of(quasi_identifiers=["age", "zip", "sex", "job"]).generalise(
        {"age": tmp_path / "nowhere.csv", "sex": Intervals(widths=(5,)), "job": Mask()}
    )
    opened = discreet.read(table())
    classes = opened.engine.count(opened, quasi_identifiers=policy.quasi_identifiers)
    with pytest.raises(InvalidPolicy) as caught:
        hierarchies(policy, classes)
    assert [problem.split(":")[0] for problem in caught.value.problems] == ["age", "sex"]
    assert str(tmp_path) not in str(caught.value)


def test_only_columns_of_the_policy_have_hierarchies() -> None:
    policy = Policy.of(quasi_identifiers=["age"])
    with pytest.raises(InvalidPolicy, match="did you mean 'age'"):
        policy.generalise({"agee": Flat()})
    assert policy.generalise({"age": Flat()}).generalise({"age": None}) == policy
