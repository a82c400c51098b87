"""Microaggregation under t-closeness: groups that are spread over the sensitive attribute, by the bound of the paper."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from discreet.classes import EquivalenceClasses
from discreet.privacy import KAnonymity, TCloseness
from discreet.search.clusters import close_groups as module
from discreet.search.clusters.close_groups import close_groups
from discreet.search.clusters.microaggregation import microaggregate
from discreet.search.clusters.space import points_of
from discreet.search.requirements import held
from discreet.table.hierarchies.hierarchy import Hierarchy

JOBS = Hierarchy.of(
    "job", [["nurse", "care", "*"], ["doctor", "care", "*"], ["smith", "craft", "*"], ["cook", "food", "*"]]
)


def test_what_goes_with_the_sensitive_attribute_is_not_all_put_together() -> None:
    ages = list(range(120))
    classes = EquivalenceClasses.from_columns(
        {"age": ages}, sensitive={"pay": [1000 + 7 * age for age in ages]}
    )
    model = TCloseness(0.2, "pay", distance="ordered")
    found = microaggregate(classes, 3, models=[model])
    # Merging neighbours until all are close leaves hardly anything: near ages have near pays.
    assert len(np.unique(found.owner)) == 40
    assert found.kept.all()
    assert found.method == "t-closeness first"
    shown = held([model, KAnonymity(3)], classes, found.owner, 40)
    assert shown.all()
    # Where pay has nothing to do with age, neighbours are close enough by themselves, and are nearer to each other.
    mixed = EquivalenceClasses.from_columns({"age": ages}, sensitive={"pay": [age % 3 for age in ages]})
    apart = microaggregate(mixed, 3, models=[TCloseness(0.2, "pay")])
    assert apart.method != "t-closeness first"


@given(st.integers(2, 6), st.integers(2, 8), st.integers(0, 1000))
def test_groups_of_equal_size_keep_the_bound_of_the_paper(k: int, groups: int, seed: int) -> None:
    count = k * groups
    rng = np.random.default_rng(seed)
    columns = {
        "age": rng.permutation(count).tolist(),
        "job": rng.choice(["nurse", "smith", "cook"], count).tolist(),
    }
    classes = EquivalenceClasses.from_columns(columns, sensitive={"pay": rng.permutation(count).tolist()})
    points = points_of(classes, [None, JOBS.ladder(classes.attributes[1])])
    owner = close_groups(classes, points, [TCloseness(1.0, "pay", distance="ordered")], k)
    assert owner is not None
    assert np.bincount(owner).tolist() == [k] * groups
    bound = (count - k) / (2 * (count - 1) * k)
    assert held([TCloseness(bound, "pay", distance="ordered")], classes, owner, groups).all()


@given(
    st.lists(
        st.tuples(st.none() | st.integers(0, 9), st.integers(0, 3)), min_size=2, max_size=9, unique=True
    ).filter(lambda rows: any(row[0] is not None for row in rows))
)
def test_distances_are_those_of_numbers_and_of_the_hierarchy(rows: list[tuple[int | None, int]]) -> None:
    jobs = ["nurse", "doctor", "smith", "cook"]
    classes = EquivalenceClasses.from_columns(
        {"age": [row[0] for row in rows], "job": [jobs[row[1]] for row in rows]}
    )
    points = points_of(classes, [None, JOBS.ladder(classes.attributes[1])])
    labels = classes.attributes[1].labels()
    every = np.arange(len(classes))
    for place in every:
        for other, found in zip(every, module._squared(points, every, int(place)), strict=True):
            some, number = points.numbers[place, 0], points.numbers[other, 0]
            wanted = (
                0.0
                if np.isnan(some) and np.isnan(number)
                else float(np.isnan(some) != np.isnan(number) or (some - number) ** 2)
            )
            one, two = (labels[int(points.codes[at, 0])] for at in (place, other))
            wanted += 0.0 if one == two else 0.25 if {one, two} == {"nurse", "doctor"} else 1.0
            assert found == pytest.approx(wanted)


def test_where_nothing_asks_for_it_or_classes_are_too_many_groups_are_as_before(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    classes = EquivalenceClasses.from_columns({"age": list(range(12))}, sensitive={"pay": list(range(12))})
    points = points_of(classes, [None])
    model = TCloseness(0.2, "pay", distance="ordered")
    assert close_groups(classes, points, [KAnonymity(2)], 2) is None
    assert close_groups(classes, points, [model], 7) is None
    assert close_groups(classes, points, [model], 2) is not None
    monkeypatch.setattr(module, "MOST_CLASSES", 11)
    assert close_groups(classes, points, [model], 2) is None
