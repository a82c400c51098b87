"""Attacks on the sensitive values of a class, by hand on rows that a reader can check."""

from __future__ import annotations

import numpy as np
import pytest

from discreet.attacks.disclosure.background import background_knowledge
from discreet.attacks.disclosure.homogeneity import homogeneity, skewness
from discreet.attacks.disclosure.proximity import proximity, similarity
from discreet.classes import EquivalenceClasses
from discreet.classes.pair import Links, Pair
from discreet.errors import EmptyTable, InvalidParameter, UnknownColumn, UnsuitableColumn
from discreet.table.hierarchies.hierarchy import Hierarchy

STOMACH = Hierarchy.of(
    "dx",
    [
        ["ulcer", "stomach", "illness", "*"],
        ["gastritis", "stomach", "illness", "*"],
        ["flu", "lungs", "illness", "*"],
        ["cold", "lungs", "illness", "*"],
    ],
)


def release(ages: str, dx: list[object], name: str = "dx") -> EquivalenceClasses:
    """One record per letter of ``ages``; a class per letter, ``*`` for suppressed ones."""
    return EquivalenceClasses.from_columns({"age": list(ages)}, sensitive={name: dx})


# ── homogeneity ──────────────────────────────────────────────────────────────────────────────────────


def test_homogeneity_takes_what_nearly_all_of_a_class_have() -> None:
    classes = release("aaabbb", ["flu", "flu", "flu", "flu", "flu", "cold"])
    found = homogeneity(classes, "dx")
    assert (found.tries, found.successes, found.fallen) == (6, 3, (0,))
    assert found.baseline == pytest.approx(3 * 5 / 6 / 6)
    looser = homogeneity(classes, "dx", certainty=2 / 3)
    assert (looser.successes, looser.fallen) == (5, (0, 1))
    assert [one.score for one in looser.exposed] == [1.0, pytest.approx(2 / 3)]
    assert looser.exposed[0].values == {"age": "a"}
    assert "flu" not in looser.exposed[0].says


def test_suppressed_records_are_not_attacked_but_count_for_the_prior() -> None:
    found = homogeneity(release("aa**", ["flu", "flu", "cold", "cold"]), "dx")
    assert (found.tries, found.successes, found.baseline) == (2, 2, 0.5)


def test_with_the_original_the_guess_is_held_against_the_true_value() -> None:
    """The release says flu of everybody; the person of 34 really had a cold."""
    original = EquivalenceClasses.from_columns(
        {"age": [31, 34, 47]}, sensitive={"dx": ["flu", "cold", "flu"]}
    )
    released = EquivalenceClasses.from_columns(
        {"age": ["47", "[31, 34]", "[31, 34]"]}, sensitive={"dx": ["flu"] * 3}
    )
    links = Links(np.array([0, 1, 2]), np.array([1, 1, 0]), np.array([1, 1, 1]))
    assert homogeneity(released, "dx").successes == 3
    assert homogeneity(Pair.of(original, released), "dx").successes == 3
    pair = Pair.of(original, released, links=links)
    assert (homogeneity(pair, "dx").successes, homogeneity(pair, "dx").tries) == (2, 3)
    assert homogeneity(pair.trivial(), "dx").tries == 0


def test_at_event_level_persons_are_counted_who_have_the_value_at_all() -> None:
    classes = EquivalenceClasses.from_columns(
        {"car": ["a"] * 4 + ["b"] * 2},
        person=[1, 1, 2, 2, 3, 3],
        sensitive={"artist": ["x", "y", "x", "z", "x", "y"]},
    )
    found = homogeneity(classes, "artist")
    assert (found.unit, found.tries, found.successes, found.baseline) == ("persons", 3, 3, 1.0)


def test_a_person_in_two_classes_is_tried_in_each_and_a_note_says_so() -> None:
    classes = EquivalenceClasses.from_columns(
        {"car": ["a", "b"]}, person=[1, 1], sensitive={"artist": ["x", "y"]}
    )
    found = homogeneity(classes, "artist")
    assert found.tries == 2
    assert "several classes" in found.notes[0]


# ── background knowledge ─────────────────────────────────────────────────────────────────────────────


def test_named_values_are_struck_out_for_those_who_do_not_have_them() -> None:
    classes = release("aaabb", ["flu", "cold", "ulcer", "flu", "cold"])
    found = background_knowledge(classes, "dx", excluded=["cold"])
    # Who has flu in b is left alone with it; in a flu and ulcer are left; who has a cold has not excluded it.
    assert (found.tries, found.successes, found.fallen) == (5, 1, (1,))
    assert found.baseline == pytest.approx((2 / 5) / (3 / 5) / 5)
    both = background_knowledge(classes, "dx", excluded=["cold", "ulcer"])
    # Flu in a and b; and who has ulcer strikes out only cold, so flu and ulcer are left.
    assert both.successes == 2


def test_the_worst_knowledge_strikes_out_the_most_frequent_other_values() -> None:
    classes = release("aaaaa", ["flu", "flu", "flu", "cold", "ulcer"])
    one = background_knowledge(classes, "dx", excluded=1, certainty=0.75)
    # Without ulcer and cold alike, flu has 3 of 4 left: all three with flu are told. Who has a cold strikes out flu
    # and is left with cold and ulcer, one each.
    assert one.successes == 3
    two = background_knowledge(classes, "dx", excluded=2)
    assert (two.successes, two.baseline) == (5, 1.0)


def test_frequent_and_rare_values_are_those_of_the_table() -> None:
    classes = release("aabbcc", ["flu", "cold", "flu", "ulcer", "flu", "cold"])
    frequent = background_knowledge(classes, "dx", excluded=1, which="frequent")  # flu: 3
    assert frequent.successes == 3
    rare = background_knowledge(classes, "dx", excluded=1, which="rare")  # ulcer: 1
    assert (rare.successes, rare.fallen) == (1, (1,))


def test_values_that_nobody_has_are_noted() -> None:
    found = background_knowledge(release("aa", ["flu", "cold"]), "dx", excluded=["plague"])
    assert found.successes == 0
    assert "1 of the 1 values named" in found.notes[0]


# ── skewness ─────────────────────────────────────────────────────────────────────────────────────────


def test_skewness_needs_a_gain_and_a_level() -> None:
    # One ninth in the table, a third in the class: the survey's example.
    classes = release("aaabbbccc", ["ill"] + ["well"] * 8)
    found = skewness(classes, "dx")
    assert (found.fallen, found.successes, found.baseline) == ((0,), 1, pytest.approx(3 / 9 / 9))
    assert dict(found.figures)["largest-gain"] == pytest.approx(3)
    assert skewness(classes, "dx", factor=3.1).fallen == ()
    assert skewness(classes, "dx", level=0.34).fallen == ()


# ── similarity ───────────────────────────────────────────────────────────────────────────────────────


def test_similarity_names_the_lowest_common_branch() -> None:
    classes = release("aaabb", ["ulcer", "gastritis", "ulcer", "flu", "ulcer"])
    found = similarity(classes, "dx", STOMACH)
    assert (found.successes, found.fallen, found.baseline) == (3, (0,), pytest.approx(3 * 4 / 5 / 5))
    assert "level 1" in found.exposed[0].says
    assert dict(found.figures)["not-homogeneous"] == 1
    # "illness" lies below the root but holds every leaf: it says nothing.
    assert similarity(classes, "dx", STOMACH, level=2).fallen == ()


def test_similarity_reads_values_that_are_nodes_themselves() -> None:
    classes = release("aab", ["stomach", "ulcer", "flu"])
    assert similarity(classes, "dx", STOMACH).fallen == (0, 1)


def test_a_null_belongs_to_no_branch() -> None:
    classes = release("aab", ["ulcer", None, "flu"])
    assert similarity(classes, "dx", STOMACH).fallen == (1,)
    assert similarity(classes, "dx", STOMACH, certainty=0.5).successes == 2


def test_similarity_counts_a_person_once_per_branch() -> None:
    classes = EquivalenceClasses.from_columns(
        {"age": ["a"] * 4}, person=[1, 1, 2, 2], sensitive={"dx": ["ulcer", "gastritis", "flu", "ulcer"]}
    )
    found = similarity(classes, "dx", STOMACH)
    assert (found.tries, found.successes, found.exposed[0].score) == (2, 2, 1.0)


# ── proximity ────────────────────────────────────────────────────────────────────────────────────────


def test_proximity_of_the_survey_example() -> None:
    classes = release("aaaa", [1000, 1030, 1050, 4000], "pay")
    assert proximity(classes, "pay", within=25, certainty=0.75).successes == 3
    assert proximity(classes, "pay", within=24, certainty=0.75).successes == 0
    assert proximity(classes, "pay", within=25).fallen == ()


def test_proximity_by_share_of_the_range() -> None:
    classes = release("aabb", [0, 10, 0, 100], "pay")
    found = proximity(classes, "pay", share_of_range=0.05)  # within 5
    assert (found.fallen, found.successes, dict(found.figures)["within"]) == ((0,), 2, 5)
    assert found.baseline == pytest.approx(2 * 3 / 4 / 4)


def test_missing_numbers_are_near_to_nothing() -> None:
    classes = release("aab", [10, None, 90], "pay")
    assert proximity(classes, "pay").fallen == (1,)
    assert proximity(classes, "pay", certainty=0.5).successes == 2


# ── refusals ─────────────────────────────────────────────────────────────────────────────────────────


def test_refusals_name_the_remedy() -> None:
    classes = release("aa", ["flu", "cold"])
    with pytest.raises(UnknownColumn):
        homogeneity(classes, "pay")
    with pytest.raises(UnsuitableColumn, match="not numeric"):
        proximity(classes, "dx")
    with pytest.raises(InvalidParameter, match="certainty"):
        homogeneity(classes, "dx", certainty=1.5)
    with pytest.raises(InvalidParameter, match="list of values"):
        background_knowledge(classes, "dx", excluded="flu")
    with pytest.raises(InvalidParameter, match="root"):
        similarity(classes, "dx", STOMACH, level=3)
    with pytest.raises(EmptyTable):
        homogeneity(classes.subset(np.array([], dtype=np.int64)), "dx")
