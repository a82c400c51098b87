"""Attacks by knowledge of the method: minimality and downcoding, by hand and on the textbook example."""

from __future__ import annotations

import numpy as np
import pytest

from discreet.attacks.minimality.downcoding import downcoding
from discreet.attacks.minimality.minimality import minimality
from discreet.attacks.minimality.tracing import finer, recoding_of
from discreet.classes import EquivalenceClasses
from discreet.classes.pair import Links, Pair
from discreet.classes.tracing import traced
from discreet.errors import InvalidParameter
from discreet.privacy import AlphaKAnonymity, KAnonymity, LDiversity, TCloseness
from discreet.table.hierarchies.hierarchy import Hierarchy

HIV = ["HIV", "HIV", "none", "none", "none", "none", "none"]
AT_MOST_HALF = AlphaKAnonymity(alpha=0.5, k=1, sensitive="dx", values=("HIV",))
Q = {"q": Hierarchy.of("q", [["q1", "Q"], ["q2", "Q"]])}
ZIP = {
    "zip": Hierarchy.of(
        "zip", [["10", "1*", "*"], ["11", "1*", "*"], ["20", "2*", "*"], ["21", "2*", "*"], ["22", "2*", "*"]]
    )
}


def table(column: list[str], dx: list[str], name: str = "q") -> EquivalenceClasses:
    return EquivalenceClasses.from_columns({name: column}, sensitive={"dx": dx})


ORIGINAL = table(["q1"] * 2 + ["q2"] * 5, HIV)


# ── minimality ───────────────────────────────────────────────────────────────────────────────────────


def test_the_textbook_example_with_global_recoding() -> None:
    """Wong et al. 2007: two of seven have HIV. Had either been a q2, q1 and q2 could have been shown."""
    pair = Pair.of(ORIGINAL, table(["Q"] * 7, HIV), hierarchies=Q)
    found = minimality(pair, [AT_MOST_HALF], "dx")
    assert (found.tries, found.successes, found.baseline) == (7, 7, pytest.approx(5 / 7))
    assert dict(found.figures)["max-credibility"] == pytest.approx(1)
    assert found.fallen == (0,)
    assert {one.values["q"]: one.people for one in found.exposed} == {"q1": 2, "q2": 5}
    assert "29% by the class alone" in next(one.says for one in found.exposed if one.values["q"] == "q1")


def test_the_textbook_example_with_local_recoding() -> None:
    """Only two of the q2 were generalised; had they had HIV, they could have stood with the other three."""
    released = table(["Q"] * 4 + ["q2"] * 3, HIV)
    links = Links(np.array([0, 1, 1]), np.array([0, 0, 1]), np.array([2, 2, 3]))
    pair = Pair.of(ORIGINAL, released, hierarchies=Q, links=links)
    found = minimality(pair, [AT_MOST_HALF], "dx", recoding="local")
    assert found.exposed[0].values == {"q": "q1"}
    assert found.exposed[0].score == pytest.approx(1)
    assert found.fallen == (0,)


def test_a_good_table_that_was_generalised_all_the_same_misleads_the_intruder() -> None:
    """One HIV in q1, one in q2: q1 and q2 could have been shown, so the method was not minimal."""
    pair = Pair.of(
        table(
            ["q1", "q1", "q2", "q2", "q2", "q2", "q2"], ["HIV", "none", "HIV", "none", "none", "none", "none"]
        ),
        table(["Q"] * 7, HIV),
        hierarchies=Q,
    )
    found = minimality(pair, [AT_MOST_HALF], "dx")
    assert (found.successes, found.better_than_baseline) == (1 + 4, False)


def test_a_violation_that_was_there_anyway_says_nothing() -> None:
    pair = Pair.of(ORIGINAL, table(["Q"] * 7, HIV), hierarchies=Q)
    found = minimality(pair, [AT_MOST_HALF, KAnonymity(3)], "dx")  # two q1 are too few, whatever they have
    assert (found.rate, found.fallen) == (found.baseline, ())


def test_k_anonymity_alone_is_immune() -> None:
    found = minimality(Pair.of(ORIGINAL, table(["Q"] * 7, HIV), hierarchies=Q), [KAnonymity(3)], "dx")
    assert found.tries == 0
    assert "no requirement looks at" in found.notes[0]


def test_global_recoding_shares_the_blame_between_classes() -> None:
    """Two classes of two pairs each, one illness in each: some class must have its two ill people in one zip."""
    zips = ["10", "10", "11", "11", "20", "20", "21", "21"]
    dx = ["ill", "ill", "well", "well", "ill", "well", "ill", "well"]
    pair = Pair.of(table(zips, dx, "zip"), table(["1*"] * 4 + ["2*"] * 4, dx, "zip"), hierarchies=ZIP)
    model = AlphaKAnonymity(alpha=0.5, k=1, sensitive="dx", values=("ill",))
    # Of the six worlds of a class two violate, so P(no violation) = 2/3, symmetric in both zips: no gain.
    found = minimality(pair, [model], "dx")
    assert found.fallen == ()
    assert dict(found.figures)["classes-tested"] == 2


def test_global_recoding_with_suppression_is_not_tried() -> None:
    pair = Pair.of(ORIGINAL, table(["q2"] * 5, ["none"] * 5), hierarchies=Q)
    found = minimality(pair, [AT_MOST_HALF], "dx")
    assert found.tries == 0
    assert "suppresses records" in found.notes[0]


def test_other_requirements_and_other_values_stop_the_conclusion() -> None:
    pair = Pair.of(ORIGINAL, table(["Q"] * 7, HIV), hierarchies=Q)
    assert "something else" in minimality(pair, [AT_MOST_HALF, LDiversity(2, "other")], "dx").notes[0]
    noisy = Pair.of(ORIGINAL, table(["q9"] * 7, HIV), hierarchies=Q)
    assert "not generalisations" in minimality(noisy, [AT_MOST_HALF], "dx").notes[0]


def test_models_that_compare_with_the_table_see_the_table() -> None:
    """t-closeness: a zip of two with one ill is as the table is; two ill or none are half away."""
    zips, dx = ["q1", "q1", "q2", "q2"], ["ill", "ill", "well", "well"]
    pair = Pair.of(table(zips, dx), table(["Q"] * 4, dx), hierarchies=Q)
    found = minimality(pair, [TCloseness(0.4, "dx")], "dx")
    # Both ill are in one group, and which one is open: a half for everybody, as in the class.
    assert (found.fallen, dict(found.figures)["classes-tested"]) == ((), 1)
    assert dict(minimality(pair, [TCloseness(0.5, "dx")], "dx").figures)["classes-not-minimal"] == 1


def test_more_worlds_than_the_limit_are_skipped_and_counted() -> None:
    pair = Pair.of(ORIGINAL, table(["Q"] * 7, HIV), hierarchies=Q)
    found = minimality(pair, [AT_MOST_HALF], "dx", limit=1)
    assert (dict(found.figures)["classes-skipped"], found.rate) == (1, found.baseline)
    with pytest.raises(InvalidParameter):
        minimality(pair, [AT_MOST_HALF], "dx", limit=0)


# ── downcoding ───────────────────────────────────────────────────────────────────────────────────────


def plain(column: list[str], name: str = "zip") -> EquivalenceClasses:
    return EquivalenceClasses.from_columns({name: column})


def cells(pair: Pair, k: int = 2) -> tuple[float, ...]:
    found = downcoding(pair, [KAnonymity(k)], recoding="local")
    return found.tries, found.successes, *(value for _, value in found.figures)


def test_both_children_of_a_node_occur() -> None:
    pair = Pair.of(plain(["10", "10", "11", "20", "20"]), plain(["1*"] * 3 + ["20"] * 2), hierarchies=ZIP)
    # A blind guesser finds a 10 among three with 1 - (1/3)³, and an 11 with 1 - (2/3)³.
    assert cells(pair) == (3, 2, 3, 2, 2, pytest.approx(26 / 27 + 19 / 27))


def test_of_three_children_none_can_be_named() -> None:
    pair = Pair.of(plain(["20", "21", "22", "10"]), plain(["2*"] * 3 + ["10"]), hierarchies=ZIP)
    assert cells(pair, k=1) == (3, 0, 3, 0, 0, 0)


def test_what_a_set_or_an_interval_prints_is_no_conclusion() -> None:
    sets = Pair.of(plain(["10", "11", "20", "22"]), plain(["{10, 11, 20}"] * 3 + ["22"]))
    assert cells(sets) == (3, 0, 3, 0, 0, 0)
    ages = EquivalenceClasses.from_columns({"age": [31, 33, 34, 60]})
    for printed in ("[31, 34]", "[30, 39]"):
        pair = Pair.of(ages, plain([printed] * 3 + ["60"], "age"))
        assert cells(pair) == (3, 0, 3, 0, 0, 0)


def narrower(zips: list[str], links: Links) -> Pair:
    """Three people in 2* (class 0), two in 20 (class 1)."""
    return Pair.of(plain(zips), plain(["2*"] * 3 + ["20"] * 2), hierarchies=ZIP, links=links)


def test_nobody_could_have_stood_in_a_narrower_class() -> None:
    """With k = 2 a third 20 would have been shown as such, so nobody of 2* is one; with k = 3 nobody could move."""
    links = Links(np.array([0, 1, 2]), np.array([1, 0, 0]), np.array([2, 2, 1]))
    pair = narrower(["20", "20", "21", "21", "22"], links)
    # Of five people in 2* three are 21 or 22: so often a value drawn for each of the three is right.
    assert cells(pair) == (3, 3, 3, 3, 3, pytest.approx(3 * 3 / 5))
    assert cells(pair, k=3) == (3, 0, 3, 0, 0, 0)
    mixed = downcoding(pair, [KAnonymity(2), LDiversity(2, "dx")], recoding="local")
    assert mixed.successes == 0  # the move may have broken diversity


def test_conclusions_about_a_method_that_is_not_minimal_are_wrong() -> None:
    links = Links(np.array([0, 0, 1]), np.array([1, 0, 0]), np.array([2, 1, 2]))
    assert cells(narrower(["20", "20", "20", "21", "21"], links)) == (3, 2, 3, 3, 2, pytest.approx(3 * 2 / 5))


def test_downcoding_says_why_it_is_not_tried() -> None:
    lowered = Pair.of(plain(["10", "11", "20", "21"]), plain(["1*", "1*", "2*", "2*"]), hierarchies=ZIP)
    assert "all classes at once" in downcoding(lowered, [KAnonymity(2)]).notes[0]
    foreign = Pair.of(plain(["10", "11"]), plain(["99", "99"]))
    assert "not generalisations" in downcoding(foreign, [KAnonymity(2)]).notes[0]
    overlapping = Pair.of(plain(["10", "11", "20"]), plain(["{10, 11}", "{11, 20}", "{11, 20}"]))
    assert "not known" in downcoding(overlapping, [KAnonymity(1)]).notes[0]


# ── tracing ──────────────────────────────────────────────────────────────────────────────────────────


def test_tracing_needs_one_form_per_value_and_equal_numbers() -> None:
    original = plain(["10", "11", "20", "21"])
    found = traced(Pair.of(original, plain(["1*", "1*", "*"]), hierarchies=ZIP))
    assert found is not None
    assert found.released.tolist() == [1, 1, -1, -1]
    assert traced(Pair.of(original, plain(["1*", "2*", "2*"]), hierarchies=ZIP)) is None
    assert traced(Pair.of(original, plain(["1*", "10", "2*", "2*"]), hierarchies=ZIP)) is None


def test_recoding_is_local_where_a_value_has_two_forms() -> None:
    links = Links(np.array([0, 1, 1]), np.array([0, 0, 1]), np.array([2, 2, 3]))
    pair = Pair.of(ORIGINAL, table(["Q"] * 4 + ["q2"] * 3, HIV), hierarchies=Q, links=links)
    assert recoding_of(pair, links) == "local"
    assert recoding_of(pair, links, "global") == "global"
    assert finer(pair, links, "q").child.tolist() == [0, 1, -1]
