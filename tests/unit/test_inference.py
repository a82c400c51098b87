"""Guessing sensitive values by what a release teaches: by hand on a few people, and by properties."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from discreet.attacks.disclosure.inference import MODELS, attribute_inference
from discreet.attacks.disclosure.places import place, project
from discreet.classes import EquivalenceClasses
from discreet.classes.pair import Links, Pair
from discreet.errors import InvalidParameter, UnknownColumn
from helpers.profiles import tries

columns = EquivalenceClasses.from_columns


def streets(times: int = 1) -> Pair:
    """Two streets; smokers of A all have cancer; in B a smoker and a non-smoker are hidden in each other."""
    people = {"street": ["A", "A", "B", "B"], "smokes": ["yes", "yes", "yes", "no"]}
    ill = {"ill": ["cancer", "cancer", "cancer", "healthy"]}
    counts = [times] * 4
    original = columns(people, sensitive=ill, counts=counts)
    released = columns({**people, "smokes": ["yes", "yes", "*", "*"]}, sensitive=ill, counts=counts)
    return Pair.of(original, released)


# ── by hand ──────────────────────────────────────────────────────────────────────────────────────────


def test_what_one_group_teaches_breaks_the_other() -> None:
    (found,) = attribute_inference(streets(), "ill", models=["naive-bayes"])
    # By the class alone both people of B are a coin's throw: 3 of 4 at best. The smokers of A tell them apart.
    assert (found.tries, found.successes, found.baseline) == (4, 4, 0.75)
    assert dict(found.figures)["gain"] == 0.25
    assert not found.better_than_baseline  # four people prove nothing
    assert [one.values for one in found.exposed] == [
        {"street": "B", "smokes": "no"},
        {"street": "B", "smokes": "yes"},
    ]
    assert all(one.score > 0.7 and "healthy" not in one.says for one in found.exposed)


def test_others_teach_it_too_when_there_are_many() -> None:
    # With hundreds of people the same can be learned from everybody else: nothing is said about the person.
    for found in attribute_inference(streets(200), "ill"):
        assert found.rate == 1
        assert dict(found.figures)["without-target"] == 1
        assert dict(found.figures)["base-rate"] == 0.75
        assert not found.better_than_baseline
        assert found.exposed == ()


def test_a_release_of_unique_people_says_it_all() -> None:
    values = ["y" if i % 3 else "n" for i in range(30)]
    original = columns({"id": [f"p{i}" for i in range(30)]}, sensitive={"s": values})
    for found in attribute_inference(Pair.of(original, original), "s"):
        assert (found.rate, found.baseline) == (1, 2 / 3)
        assert found.better_than_baseline
        assert {one.score for one in found.exposed} == {1.0}
        assert set(found.fallen) >= {i for i in range(30) if values[int(original.labels(i)["id"][1:])] == "n"}


def test_who_is_not_in_the_release_is_judged_by_the_others() -> None:
    original = columns({"x": ["a", "b", "b"]}, sensitive={"s": ["y", "y", "n"]}, counts=[40, 40, 10])
    links = Links(np.array([0, 1]), np.array([-1, 0]), np.array([40, 50]))
    pair = Pair.of(original, original.subset(np.array([1])), links=links)
    (found,) = attribute_inference(pair, "s", models=["naive-bayes"])
    assert found.rate == pytest.approx(80 / 90)
    assert found.exposed == ()


def test_less_knowledge_finds_less() -> None:
    values = ["y", "n"] * 15
    original = columns(
        {"id": [f"p{i}" for i in range(30)], "sex": ["f"] * 15 + ["m"] * 15}, sensitive={"s": values}
    )
    pair = Pair.of(original, original).unchanged()
    (knows,) = attribute_inference(pair, "s", models=["naive-bayes"])
    (little,) = attribute_inference(pair, "s", known=["sex", "s"], models=["naive-bayes"])
    assert (knows.rate, little.rate) == (1.0, 16 / 30)
    assert little.known == ("sex",)
    assert "knowledge of s is not used" in little.notes[0]


def test_averaged_values_place_nobody() -> None:
    # Groups of three whose numbers became their mean; the value is whether the number is large.
    ages = list(range(20, 80))
    ill = {"s": ["y" if age >= 50 else "n" for age in ages]}
    means = [float(np.mean(ages[i // 3 * 3 : i // 3 * 3 + 3])) + 0.25 for i in range(60)]
    ten = [10] * 60
    original = columns({"age": ages}, sensitive=ill, counts=ten)
    pair = Pair.of(original, columns({"age": means}, sensitive=ill, counts=ten))
    assert not pair.truthful
    for found in attribute_inference(pair, "s"):
        assert found.rate > 0.9
        assert found.fallen == ()
        assert not found.better_than_baseline
        assert "nobody was placed" in found.notes[0]


def test_a_person_with_many_records_counts_once() -> None:
    original = columns(
        {"x": ["a"] * 8 + ["b", "c"]},
        sensitive={"s": ["y"] * 8 + ["n", "n"]},
        person=["p"] * 8 + ["q", "r"],
    )
    (found,) = attribute_inference(Pair.of(original, original), "s", models=["naive-bayes"])
    assert (found.tries, found.successes, found.unit) == (3, 3, "persons")
    assert dict(found.figures)["base-rate"] == pytest.approx(2 / 3)


def test_what_does_not_exist_is_refused() -> None:
    with pytest.raises(InvalidParameter, match="no model"):
        attribute_inference(streets(), "ill", models=["oracle"])  # type: ignore[list-item]
    with pytest.raises(UnknownColumn):
        attribute_inference(streets(), "illness")
    with pytest.raises(UnknownColumn):
        attribute_inference(streets(), "ill", known=["strete"])
    with pytest.raises(InvalidParameter, match="no quasi-identifier"):
        attribute_inference(streets(), "ill", known=["ill"])


# ── placing ──────────────────────────────────────────────────────────────────────────────────────────


def test_looking_up_and_comparing_place_alike() -> None:
    original = columns({"age": [31, 34, 47, 52], "sex": ["f", "m", "f", "m"]})
    released = columns({"age": ["[30, 39]", "[30, 39]", "[40, 59]", "*"], "sex": ["f", "m", "f", "*"]})
    pair = Pair.of(original, released)
    found = place(pair)
    for start, stop, chance in zip(found.original, found.released, found.chance, strict=True):
        assert pair.covers(np.array([stop]), np.array([start])).all()
        assert 0 < chance <= 1
    assert np.bincount(found.original, found.chance) == pytest.approx(np.ones(4))
    # One more class with a hidden sex: the same value is printed in two ways, so all classes are compared.
    mixed = columns({"age": ["[30, 39]", "[30, 39]", "[40, 59]", "*"], "sex": ["f", "*", "f", "*"]})
    several = place(Pair.of(original, mixed))
    expected = {
        (q, c)
        for q in range(4)
        for c in range(4)
        if Pair.of(original, mixed).covers(np.array([c]), np.array([q])).all()
    }
    assert set(zip(several.original.tolist(), several.released.tolist(), strict=True)) == expected


def test_people_are_sampled_where_there_are_too_many() -> None:
    original = columns({"x": list(range(50))})
    found = place(Pair.of(original, original), most=10, seed=2)
    assert len(found.tried) == 10
    assert set(found.original) == set(found.tried)


def test_projecting_keeps_the_links() -> None:
    pair = streets(3).unchanged()
    small, owner = project(pair, ["street"])
    assert small.links is not None
    assert small.links.records.tolist() == [6, 6]
    assert owner.tolist() == [0, 1, 1]


# ── properties ───────────────────────────────────────────────────────────────────────────────────────

TABLES = st.lists(
    st.tuples(st.sampled_from("ab"), st.integers(1, 4), st.sampled_from("xyz")), min_size=2, max_size=25
)


def table(rows: list[tuple[str, int, str]]) -> EquivalenceClasses:
    a, b, s = zip(*rows, strict=True)
    return columns({"a": a, "b": b}, sensitive={"s": s})


@given(TABLES)
def test_a_release_that_shows_nothing_gives_nothing_away(rows: list[tuple[str, int, str]]) -> None:
    original = table(rows)
    (found,) = attribute_inference(Pair.of(original, original).trivial(), "s", models=["naive-bayes"])
    assert found.rate == pytest.approx(dict(found.figures)["base-rate"])
    assert not found.better_than_baseline


@pytest.mark.slow
@given(TABLES)
def test_an_unchanged_release_gives_what_the_majority_of_each_class_gives(
    rows: list[tuple[str, int, str]],
) -> None:
    original = table(rows)
    histogram = original.histogram("s")
    best = histogram.per_class(np.maximum, histogram.records).sum()
    for pair in (Pair.of(original, original), Pair.of(original, original).unchanged()):
        (found,) = attribute_inference(pair, "s", models=["naive-bayes"])
        assert found.successes >= best - 1e-6


@tries(5)
@given(TABLES)
def test_both_models_repeat_with_their_seed_and_stay_chances(rows: list[tuple[str, int, str]]) -> None:
    original = table(rows)
    pair = Pair.of(original, original.project(["a"]))
    first, second = (attribute_inference(pair, "s", seed=7) for _ in range(2))
    assert [replace(one, seconds=0.0) for one in first] == [replace(one, seconds=0.0) for one in second]
    assert [one.attack for one in first] == [f"attribute-inference-{model}" for model in MODELS]
    for one in first:
        assert 0 <= one.successes <= one.tries + 1e-9
        assert 0 <= one.baseline <= 1 + 1e-9
