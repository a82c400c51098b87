"""Hierarchies changed by hand: groups of groups follow, and the sets that are written make the same hierarchy."""

from __future__ import annotations

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from discreet.errors import InvalidHierarchy, InvalidParameter
from discreet.table import Domain
from discreet.table.hierarchies.categories import Flat, Sets
from discreet.table.hierarchies.edit import (
    as_sets,
    dissolved,
    groups,
    moved,
    renamed,
    taken_out,
    without_level,
)
from discreet.table.hierarchies.hierarchy import Hierarchy

JOBS = Hierarchy.of(
    "job",
    [
        ["baker", "food", "trade", "*"],
        ["cook", "food", "trade", "*"],
        ["smith", "metal", "trade", "*"],
        ["judge", "law", "office", "*"],
        ["clerk", "clerk", "office", "*"],
        ["monk", "monk", "monk", "*"],
    ],
)
VALUES = Domain("job", pa.array(sorted(JOBS.labels[0])))


def paths(hierarchy: Hierarchy) -> dict[str, tuple[str, ...]]:
    return {row[0]: row[1:] for row in hierarchy.rows()}


def test_a_value_that_joins_a_group_gets_its_ancestors() -> None:
    changed = paths(moved(JOBS, 1, ["judge", "monk"], "food"))
    assert changed["judge"] == changed["monk"] == changed["cook"] == ("food", "trade", "*")
    assert "law" not in moved(JOBS, 1, ["judge"], "food").labels[1]


def test_a_new_group_stands_where_its_first_member_stood() -> None:
    changed = paths(moved(JOBS, 1, ["clerk", "monk"], "pen"))
    assert changed["clerk"] == changed["monk"] == ("pen", "office", "*")
    # One that stood alone up to the root does so under its new name.
    assert paths(moved(JOBS, 1, ["monk"], "clergy"))["monk"] == ("clergy", "clergy", "*")


def test_groups_of_groups() -> None:
    changed = paths(moved(JOBS, 3, ["trade", "office"], "lay"))
    assert changed["baker"] == ("food", "trade", "lay", "*")
    assert changed["monk"] == ("monk", "monk", "monk", "*")
    assert groups(JOBS, 2) == {"trade": ["food", "metal"], "office": ["law", "clerk"], "monk": ["monk"]}


def test_renaming_into_another_group_merges_them_with_all_above() -> None:
    changed = paths(renamed(JOBS, 1, "law", "metal"))
    assert changed["judge"] == ("metal", "trade", "*")
    assert paths(renamed(JOBS, 2, "trade", "craft"))["baker"] == ("food", "craft", "*")


def test_a_group_may_get_the_name_of_a_value_that_stands_alone() -> None:
    changed = paths(renamed(JOBS, 1, "food", "clerk"))
    assert changed["baker"] == changed["clerk"] == ("clerk", "office", "*")


def test_members_of_a_dissolved_group_stay_in_the_groups_above() -> None:
    assert paths(dissolved(JOBS, 1, "food"))["cook"] == ("cook", "trade", "*")
    assert paths(taken_out(JOBS, 2, ["law"]))["judge"] == ("law", "law", "*")
    flat = without_level(without_level(JOBS, 2), 1)
    assert flat.height == 1
    assert as_sets(flat) == Flat()


@pytest.mark.parametrize("name", ["", "  ", "*"])
def test_a_group_needs_a_name_of_its_own(name: str) -> None:
    with pytest.raises(InvalidParameter, match="needs a name"):
        renamed(JOBS, 1, "food", name)


def test_what_is_not_there_cannot_be_moved() -> None:
    for members in ([], ["baker", "nobody"]):
        with pytest.raises(InvalidParameter, match="not there"):
            moved(JOBS, 1, members, "food")
    with pytest.raises(InvalidParameter, match="no such level"):
        without_level(JOBS, 3)


def test_sets_make_the_same_hierarchy_again() -> None:
    made = as_sets(JOBS)
    assert isinstance(made, Sets)
    assert paths(made.build(VALUES)) == paths(JOBS)


@given(
    st.lists(
        st.tuples(
            st.integers(1, 4),
            st.lists(st.integers(0, 9), min_size=1, max_size=4),
            st.sampled_from(["", "north", "south", "a", "b", "{c, d}"]),
        ),
        max_size=8,
    )
)
def test_whatever_is_moved_nests_and_is_told_by_sets(steps: list[tuple[int, list[int], str]]) -> None:
    leaves = list("abcdefgh")
    current = Hierarchy.of("x", [[leaf, "*"] for leaf in leaves])
    for level, chosen, name in steps:
        level = min(level, current.height)
        labels = current.labels[level - 1]
        members = {labels[one % len(labels)] for one in chosen}
        try:
            current = moved(current, level, members, name)
        except InvalidHierarchy:
            # A name that came back on a higher level would be a cycle: it is refused, and nothing changes.
            continue
        again = as_sets(current).build(Domain("x", pa.array(leaves)))
        assert paths(again) == paths(current)
        assert set(current.labels[0]) == set(leaves)
