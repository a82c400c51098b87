"""Published worked examples of losses, and Adult: fixed values, and the same numbers as the search minimised."""

from __future__ import annotations

import math
from pathlib import Path

import numpy as np
import pytest

from discreet.classes import EquivalenceClasses
from discreet.classes.pair import Links, Pair
from discreet.table.hierarchies.hierarchy import Hierarchy
from discreet.utility import class_sizes, distances, entropy, precision, tradeoff
from discreet.utility.distributions import joint_kl_divergence
from discreet.utility.losses import measure_all
from helpers.pairs import adult_pair, linked, value

# ── six rows of Adult ────────────────────────────────────────────────────────────────────────────────

AGES = [39, 50, 38, 53, 28, 37]
EDUCATION = ["Bachelors", "Bachelors", "HS-grad", "11th", "Bachelors", "Masters"]


def test_conditional_entropy_of_education() -> None:
    some = ["{Bachelors, Masters}" if one in ("Bachelors", "Masters") else one for one in EDUCATION]
    all_ = [
        "{Bachelors, Masters}" if one in ("Bachelors", "Masters") else "{11th, HS-grad}" for one in EDUCATION
    ]
    for released, bits in ((some, 3.245), (all_, 5.245)):
        found = entropy.conditional_entropy(linked({"education": EDUCATION}, {"education": released}))
        assert round(value(found, "conditional-entropy"), 3) == bits


@pytest.mark.parametrize(("width", "loss", "distance"), [(10, 0.36, 3.33), (5, 0.16, 1.17)])
@pytest.mark.parametrize("with_hierarchy", [False, True])
def test_interval_loss_and_average_distance_of_age(
    width: int, loss: float, distance: float, with_hierarchy: bool
) -> None:
    def interval(age: int) -> str:
        return f"[{age // width * width}, {age // width * width + width - 1}]"

    tree = Hierarchy.of("age", [[str(age), interval(age), "*"] for age in range(20, 60)])
    pair = linked(
        {"age": AGES},
        {"age": [interval(age) for age in AGES]},
        hierarchies={"age": tree} if with_hierarchy else None,
    )
    assert round(value(precision.interval_loss(pair), "interval-loss"), 2) == loss
    assert round(value(distances.average_distance(pair), "average-distance", "age"), 2) == distance


# ── ten vehicle trips ────────────────────────────────────────────────────────────────────────────────

ARTISTS = [
    "Kid Cudi",
    "Radio",
    "Radio",
    "Paul Kalkbrenner",
    "BLACKPINK",
    "Taylor Swift",
    "Radio",
    "Taylor Swift",
]
DRIVERS = [1, 1, 2, 3, 4, 5, 5, 6]
TREES = {
    "engine": [["EV", "With E", "?"], ["Hybrid", "With E", "?"], ["Gas", "Gas", "?"]],
    "body": [["Sedan", "*"], ["SUV", "*"]],
    "seats": [["2", "2", "*"], ["4", "4 or 5", "*"], ["5", "4 or 5", "*"]],
}


@pytest.fixture
def trips() -> Pair:
    """Ten trips of which eight were released; what the engines and suppressed trips were is not published."""
    original = EquivalenceClasses.from_columns(
        {
            "engine": ["EV", "Gas", "Gas", "Hybrid", "EV", "Hybrid", "Hybrid", "Hybrid", "Gas", "EV"],
            "body": ["Sedan"] * 5 + ["SUV"] * 5,
            "seats": ["2"] * 5 + ["4", "5", "4", "2", "5"],
        },
        sensitive={"artist": [*ARTISTS, "Radio", "Radio"]},
        person=[*DRIVERS, 7, 8],
    )
    released = EquivalenceClasses.from_columns(
        {
            "engine": ["?"] * 5 + ["Hybrid"] * 3,
            "body": ["Sedan"] * 5 + ["SUV"] * 3,
            "seats": ["2"] * 5 + ["4 or 5"] * 3,
        },
        sensitive={"artist": ARTISTS},
        person=DRIVERS,
    )
    hierarchies = {name: Hierarchy.of(name, rows) for name, rows in TREES.items()}
    pair = Pair.of(original, released, hierarchies=hierarchies)
    # Every trip has one class that it can have become; those of the other two are not there.
    owner = [
        next((r for r in range(len(released)) if pair.covers(np.array([r]), np.array([c]))[0]), -1)
        for c in range(len(original))
    ]
    return Pair.of(
        original,
        released,
        hierarchies=hierarchies,
        links=Links(np.arange(len(original)), np.array(owner), original.records),
    )


def test_the_ten_trips(trips: Pair) -> None:
    assert class_sizes.suppression_ratio(trips).value == pytest.approx(0.2)
    assert class_sizes.average_class_size(trips).value == 3  # drivers
    assert class_sizes.discernibility(trips).value == 54  # trips
    assert class_sizes.number_of_classes(trips).value == 2
    assert value(precision.leaf_loss(trips), "leaf-loss") == pytest.approx(12.5 / 30)
    assert value(
        tradeoff.knowledge_gain_additive(trips), "knowledge-gain-additive", "artist"
    ) == pytest.approx(5 / 16)


def test_across_data_equals_in_data_for_generalised_trips(trips: Pair) -> None:
    across = distances.cross_common_ancestor(trips)
    inside = precision.certainty_penalty(trips)
    assert [m.value for m in across] == pytest.approx([m.value for m in inside])


# ── Adult ────────────────────────────────────────────────────────────────────────────────────────────


@pytest.mark.data
def test_adult_has_the_loss_that_the_search_found(data_dir: Path) -> None:
    pair = adult_pair(data_dir)
    assert round(value(precision.leaf_loss(pair), "leaf-loss"), 6) == 0.227062
    assert class_sizes.number_of_classes(pair).value == 649
    assert class_sizes.suppression_ratio(pair).value == pytest.approx(3049 / 30162)
    assert not math.isnan(joint_kl_divergence(pair).value)


@pytest.mark.data
def test_all_measures_of_adult_together(data_dir: Path) -> None:
    pair = adult_pair(data_dir)
    losses = measure_all(pair, queries=1000)
    median, worst = losses.measure("count-error-median"), losses.baseline("count-error-median")
    assert median is not None
    assert worst is not None
    assert 0 < median.value < worst.value
    assert losses.workload.asked > 900
