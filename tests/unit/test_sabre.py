"""SABRE: classes that are t-close by how they are made, of records that are alike."""

from __future__ import annotations

import itertools
import json
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

import discreet
from discreet.classes import Histogram
from discreet.errors import GoalUnreachable, InvalidParameter
from discreet.perturb.randomness import Randomness
from discreet.privacy import LDiversity, TCloseness
from discreet.privacy.base import TOLERANCE
from discreet.search.buckets.sabre import GroundDistance, class_sizes, redistributed, similar_values
from discreet.search.buckets.search import classes_of_buckets
from discreet.table.domain import Domain

TREE = {str(value): (f"node {value // 2}", "all") for value in range(8)}
DISTANCES: tuple[dict[str, Any], ...] = (
    {"distance": "equal"},
    {"distance": "ordered"},
    {"distance": "hierarchical", "hierarchy": TREE},
)


def whole(values: np.ndarray) -> tuple[Domain, Histogram]:
    domain = Domain("x", pa.array([str(value) for value in range(8)]))
    table = classes_of_buckets(np.zeros(len(values), dtype=np.int64), values, domain, "class")
    return domain, table.histogram("x")


@given(
    st.lists(st.integers(0, 7), min_size=2, max_size=80),
    st.sampled_from(DISTANCES),
    st.floats(0.02, 0.9),
    st.integers(0, 2**30),
)
def test_every_class_is_within_t_wherever_records_lie(
    drawn: list[int], given_distance: Mapping[str, Any], t: float, seed: int
) -> None:
    values = np.array(drawn)
    domain, histogram = whole(values)
    model = TCloseness(t, "x", **given_distance)
    classes = redistributed(values, histogram, model, Randomness(seed).permutation(len(values)))
    formed = classes_of_buckets(classes, values, domain, "class")
    assert sorted(set(classes.tolist())) == list(range(classes.max() + 1))
    assert model.distances(formed.histogram("x")).max() <= t + TOLERANCE
    assert formed.records.min() >= 2


@given(st.lists(st.integers(0, 7), min_size=1, max_size=30), st.sampled_from(DISTANCES))
def test_the_ground_distance_is_that_of_the_requirement(
    drawn: list[int], given_distance: Mapping[str, Any]
) -> None:
    """The same numbers as the model gives for classes of one value each."""
    values = np.array(drawn)
    domain, histogram = whole(values)
    model = TCloseness(0.1, "x", **given_distance)
    ground, number = GroundDistance.of(model, histogram)
    own = classes_of_buckets(values, values, domain, "class").histogram("x")
    for value in sorted(set(drawn)):
        point = np.zeros(len(ground.shares))
        point[number[value]] = 1.0
        at = list(own.class_of_entry[own.values == value])
        assert ground.moved(point - ground.shares) == pytest.approx(model.distances(own)[at[0]])


@given(st.lists(st.integers(1, 9), min_size=2, max_size=6), st.sampled_from(DISTANCES), st.floats(0, 0.8))
def test_no_draw_from_similar_values_costs_more_than_said(
    counts: list[int], given_distance: Mapping[str, Any], limit: float
) -> None:
    """All classes that have one value of each bucket, in the buckets' shares: none is farther than the sum of costs."""
    values = np.repeat(np.arange(len(counts)), counts)
    _, histogram = whole(values)
    ground, _ = GroundDistance.of(TCloseness(0.1, "x", **given_distance), histogram)
    similar = similar_values(ground, limit)
    assert similar.costs.sum() <= limit + 1e-6 or all(len(inside) == 1 for inside in similar.buckets)
    worst = 0.0
    for chosen in itertools.product(*similar.buckets):
        drawn = np.zeros(len(ground.shares))
        for value, inside in zip(chosen, similar.buckets, strict=True):
            drawn[value] = ground.shares[inside].sum()
        worst = max(worst, ground.moved(drawn - ground.shares))
    assert worst <= similar.costs.sum() + 1e-9


def test_rare_values_stand_for_each_other_and_frequent_ones_for_themselves() -> None:
    ground = GroundDistance(np.array([0.4, 0.3, 0.1, 0.1, 0.1]), (np.arange(5),))
    assert [bucket.tolist() for bucket in similar_values(ground, 0.2).buckets] == [[0], [1], [2, 3, 4]]


def test_values_in_an_order_are_cut_where_they_are_far_apart_or_many() -> None:
    ground = GroundDistance(np.array([0.25, 0.25, 0.0, 0.0, 0.25, 0.25]))
    assert similar_values(ground, 0.15).buckets[0].tolist() in ([0, 1], [0, 1, 2])


def test_classes_take_records_in_the_shares_of_the_table() -> None:
    """Section 5's halving: 8, 4 and 4 records of three values, each by itself, become four classes of 2, 1 and 1."""
    ground = GroundDistance(np.array([0.5, 0.25, 0.25]), (np.arange(3),))
    sizes = class_sizes(similar_values(ground, 0.0), np.array([8, 4, 4]), 0.0)
    assert [each.tolist() for each in sizes] == [[2, 1, 1]] * 4


PEOPLE = pa.table(
    {
        "age": np.repeat(np.arange(20, 60), 10),
        "pay": np.concatenate([(np.arange(10) * 37 + 5 * age) % 100 for age in range(40)]),
    }
)


def closeness(t: float) -> discreet.Policy:
    return discreet.Policy.of(
        quasi_identifiers=["age"], sensitive=["pay"], require=[TCloseness(t, "pay", distance="ordered")]
    )


def spread(release: discreet.BucketRelease) -> float:
    """The mean range of ages in a bucket."""
    rows = release.rows.to_pandas().groupby("bucket").age
    return float((rows.max() - rows.min()).mean())


def test_buckets_of_a_release_are_close_and_of_people_of_one_age(tmp_path: Path) -> None:
    release = discreet.bucketize(PEOPLE, closeness(0.15), seed=1)
    dealt = discreet.bucketize(PEOPLE, closeness(0.15), seed=1, method="dealt")
    assert release.recipe["method"] == "sabre"
    assert release.models[0].measure(release.buckets.classes).value <= 0.15
    assert spread(release) < spread(dealt) / 3
    assert release.save(tmp_path / "rows.csv", tmp_path / "values.csv")[0].exists()


def test_what_is_required_besides_is_met_by_joining_neighbours() -> None:
    diverse = closeness(0.3).require(LDiversity(6, kind="simple", sensitive="pay"))
    release = discreet.bucketize(PEOPLE, diverse, seed=1, method="sabre")
    assert all(model.holds(release.buckets.classes).all() for model in release.models)
    assert len(release.buckets.classes) > 10


def test_buckets_of_a_single_value_are_told() -> None:
    rows = pa.table({"age": [1, 1, 2, 2], "pay": [0, 0, 1, 1]})
    single = discreet.bucketize(rows, closeness(0.5), seed=1, method="sabre")
    assert sorted(zip(*(single.counts[name].to_pylist() for name in ("pay", "records")), strict=True)) == [
        (0, 2),
        (1, 2),
    ]
    assert [note for note in single.notes if "4 records stand in buckets with a single value" in note]
    mixed = discreet.bucketize(rows, closeness(0.4), seed=1, method="sabre")
    assert not [note for note in mixed.notes if "single value" in note]


def test_a_method_that_cannot_is_refused() -> None:
    diverse = discreet.Policy.of(
        quasi_identifiers=["age"],
        sensitive=["pay"],
        require=[LDiversity(2, kind="simple", sensitive="pay")],
    )
    with pytest.raises(InvalidParameter, match="t-closeness, which is not required"):
        discreet.bucketize(PEOPLE, diverse, method="sabre")
    with pytest.raises(InvalidParameter, match="method"):
        discreet.bucketize(PEOPLE, diverse, method="anatomie")  # type: ignore[arg-type]
    with pytest.raises(GoalUnreachable, match="without a value twice"):
        discreet.bucketize(PEOPLE, closeness(0.001), method="anatomy")


def test_the_command_forms_them(run: Callable[..., Any], tmp_path: Path) -> None:
    pa.csv.write_csv(PEOPLE, tmp_path / "people.csv")
    files = [tmp_path / "rows.csv", tmp_path / "values.csv"]
    result = run(
        *("bucketize", tmp_path / "people.csv", "--qi", "age", "--sensitive", "pay", "--json"),
        *("--require", "t-closeness t=0.2 sensitive=pay distance=ordered", "--method", "sabre"),
        *("-o", files[0], "--values", files[1]),
    )
    assert result.code == 0, result.err
    told = json.loads(result.out)
    assert told["recipe"]["method"] == "sabre"
    assert told["measures"][0]["value"] <= 0.2
