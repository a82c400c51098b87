"""Without a key: what can be known of who became whom is used, and what cannot is never guessed."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pytest

import discreet
from discreet.policy import Policy
from discreet.release.pairing import make_pair

POLICY = Policy.of(quasi_identifiers=["age", "town"], sensitive=["ill"])
ORDER = ["withstood", "weakened", "gives way"]


def people(rows: int, seed: int) -> pa.Table:
    rng = np.random.default_rng(seed)
    return pa.table(
        {
            "nr": np.arange(rows),
            "age": rng.integers(20, 80, rows),
            "town": rng.choice(["Aachen", "Bonn", "Celle"], rows),
            "ill": rng.choice(["flu", "acne", "none"], rows),
        }
    )


def generalised(table: pa.Table, rows: np.ndarray) -> pa.Table:
    """Ages in tens; towns and illnesses stay as they are."""
    taken = table.take(pa.array(rows))
    bands = [f"[{age // 10 * 10}, {age // 10 * 10 + 9}]" for age in taken["age"].to_pylist()]
    return taken.set_column(1, "age", pa.array(bands))


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(4))
def test_a_reordered_sample_is_not_matched_and_no_verdict_becomes_better_by_it(seed: int) -> None:
    original = people(300, seed)
    rows = np.random.default_rng(seed).permutation(300)[:12]
    release = generalised(original, rows)
    attacks = ["singling-out", "record-linkage", "homogeneity"]
    known = discreet.attack(release, POLICY, original=original, key="nr", attacks=attacks)
    found = discreet.attack(release.drop(["nr"]), POLICY, original=original.drop(["nr"]), attacks=attacks)
    assert "not matched" in found.matched
    for told, true in zip(found.criteria, known.criteria, strict=True):
        assert ORDER.index(told.state) >= ORDER.index(true.state)
    # Whoever is in the sample, one guess is right per class: every matching says the same.
    assert found.result("record-linkage").successes == pytest.approx(known.result("record-linkage").successes)
    assert found.result("singling-out").successes == pytest.approx(known.result("singling-out").successes)
    assert found.result("record-linkage").baseline == pytest.approx(known.result("record-linkage").baseline)


def test_a_match_that_contradicts_an_unchanged_column_is_not_made() -> None:
    original = pa.table({"age": [31, 34, 47, 52], "town": ["a"] * 4, "ill": ["w", "x", "y", "z"]})
    release = pa.table({"age": ["[30, 39]", "[40, 59]"], "town": ["a"] * 2, "ill": ["z", "w"]})
    paired = make_pair(discreet.read(original), discreet.read(release), POLICY)
    assert paired.pair.links is None
    assert "not matched" in paired.matched


def test_a_sample_in_order_is_matched_only_where_one_matching_is_left() -> None:
    original = pa.table({"age": [31, 34, 47, 52], "town": ["a"] * 4, "ill": ["x", "x", "y", "x"]})
    left = pa.table({"age": ["[30, 39]", "[40, 49]"], "town": ["a"] * 2, "ill": ["x", "y"]})
    paired = make_pair(discreet.read(original), discreet.read(left), POLICY)
    assert paired.pair.links is None, "the first row is that of 31 or of 34"
    right = pa.table({"age": ["[40, 49]", "[50, 59]"], "town": ["a"] * 2, "ill": ["y", "x"]})
    paired = make_pair(discreet.read(original), discreet.read(right), POLICY)
    assert paired.rows is not None
    assert paired.rows.tolist() == [2, 3]


def test_a_large_sample_in_order_is_not_matched_where_several_matchings_are_left() -> None:
    """That so many rows stand in order is no luck, but of two people alike who follow each other one was left out."""
    original = people(200, 7)
    rows = np.sort(np.random.default_rng(7).permutation(200)[:190])
    release = generalised(original, rows).drop(["nr"])
    paired = make_pair(discreet.read(original.drop(["nr"])), discreet.read(release), POLICY)
    assert paired.rows is None
    assert paired.matched == "records were not matched: their order leaves several matchings"


def test_rows_in_their_places_are_known_even_where_a_sensitive_column_was_changed() -> None:
    original = people(200, 5).drop(["nr"])
    release = generalised(people(200, 5), np.arange(200)).drop(["nr"])
    changed = release.set_column(
        2, "ill", pa.array(np.random.default_rng(1).permutation(release["ill"].to_pylist()))
    )
    paired = make_pair(discreet.read(original), discreet.read(changed), POLICY)
    assert paired.rows is not None
    assert paired.rows.tolist() == list(range(200))
    assert "ill" in paired.matched
    # Where both rows may stand in either place, and their illnesses disagree, nothing is known.
    two = pa.table({"age": [31, 34], "town": ["a", "a"], "ill": ["x", "y"]})
    open_ = pa.table({"age": ["[30, 39]", "*"], "town": ["a", "a"], "ill": ["y", "x"]})
    assert make_pair(discreet.read(two), discreet.read(open_), POLICY).rows is None


def test_a_shuffled_table_that_fits_by_luck_is_not_taken_for_one_in_order() -> None:
    """Exchanged rows fit their places all the same; only the order would tell, and four rows cannot tell that."""
    original = pa.table({"age": [31, 34, 47, 52], "town": ["a"] * 4, "ill": ["x", "x", "x", "x"]})
    shuffled = pa.table({"age": ["[30, 49]", "*", "47", "*"], "town": ["a"] * 4, "ill": ["x"] * 4})
    assert make_pair(discreet.read(original), discreet.read(shuffled), POLICY).rows is None
    # In two hundred rows it cannot be luck.
    many = people(200, 6).drop(["nr"])
    kept = generalised(people(200, 6), np.arange(200)).drop(["nr"])
    assert make_pair(discreet.read(many), discreet.read(kept), POLICY).rows is not None


def test_where_everybody_fits_one_released_class_no_order_is_needed() -> None:
    """Whoever of A, C and E is which row of the set: all of them are in it, and the others are not."""
    original = pa.table({"age": [31, 31, 34, 47], "town": ["a", "c", "e", "b"]})
    released = pa.table({"age": ["*"] * 4, "town": ["{a, c, e}"] * 3 + ["b"]})
    policy = Policy.of(quasi_identifiers=["age", "town"])
    links = make_pair(discreet.read(original), discreet.read(released), policy).pair.links
    assert links is not None
    assert links.records.tolist() == [1, 1, 1, 1]


@pytest.mark.parametrize("ill", [["y", "x", "w", "x"], None])
def test_rows_that_all_look_alike_are_not_taken_for_rows_in_their_places(ill: list[str] | None) -> None:
    """One class of everybody fits the original in any order, and so tells nothing of the order."""
    hidden = {"age": ["*"] * 4, "town": ["*"] * 4}
    original = pa.table({"age": [31, 34, 47, 52], "town": ["a", "b", "c", "d"], "ill": ["w", "x", "y", "x"]})
    release = pa.table(hidden if ill is None else {**hidden, "ill": ill})
    found = make_pair(discreet.read(original), discreet.read(release), POLICY)
    assert found.rows is None
    assert "class by class" in found.matched
    assert found.pair.links is not None
    assert found.pair.kept == (set() if ill is None else {"ill"})
    attacks = discreet.attack(release, POLICY, original=original)
    assert not [result for result in attacks.results if result.attack == "order"]
    assert "give the links" in next(one.why for one in attacks.untested if one.attack == "order")
