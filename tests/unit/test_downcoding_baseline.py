"""Downcoding is held against a blind guesser who draws among the values that a cell prints."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pytest

import discreet
from discreet.attacks.minimality.downcoding import downcoding
from discreet.classes import EquivalenceClasses
from discreet.classes.pair import Links, Pair
from discreet.policy import Policy
from discreet.privacy import KAnonymity

AGES = [20, 21, 22, 23]


def weak_release(towns: int) -> tuple[Pair, list[int]]:
    """In each town two of 20 are shown as such, and three of 21 to 23 as 20 to 23: nobody of these can be 20.

    Also the true ages behind the wide cells.
    """
    rng = np.random.default_rng(2)
    town, age, shown, wide = [], [], [], []
    for t in range(towns):
        hidden = rng.choice(AGES[1:], 3, p=[0.6, 0.3, 0.1]).tolist()
        town += [f"town {t:02}"] * 5
        age += [20, 20, *hidden]
        shown += ["20"] * 2 + ["[20, 23]"] * 3
        wide += hidden
    original = EquivalenceClasses.from_columns({"town": town, "age": age})
    released = EquivalenceClasses.from_columns({"town": town, "age": shown})
    place = {tuple(released.labels(c).values()): c for c in range(len(released))}
    stands = []
    for c in range(len(original)):
        labels = original.labels(c)
        stands.append(place[labels["town"], "20" if labels["age"] == "20" else "[20, 23]"])
    links = Links(np.arange(len(original)), np.array(stands), original.records)
    return Pair.of(original, released, links=links), wide


def test_a_true_weakness_is_found_and_the_baseline_is_that_of_a_simulated_guesser() -> None:
    pair, wide = weak_release(40)
    result = downcoding(pair, [KAnonymity(2)], recoding="local")
    assert (result.tries, result.successes) == (120, 120.0)
    everybody = [20] * 80 + wide
    draw = np.random.default_rng(3)
    # For each record with a wide cell any of the ages printed is drawn; "it is not 20" is right if it is not.
    rate = np.mean(draw.choice(everybody, size=(2_000, 120)) != 20)
    assert result.baseline == pytest.approx(float(rate), abs=0.005)
    assert result.better_than_baseline
    assert result.advantage == 1.0


def test_a_method_that_is_not_minimal_makes_the_attack_fail() -> None:
    """The wide cells hold people of 20, too: who concludes that they do not is wrong as often as a blind guesser."""
    rng = np.random.default_rng(4)
    town, age, shown = [], [], []
    for t in range(200):
        town += [f"town {t:03}"] * 6
        age += [20, 20, *rng.choice([20, 20, 21, 22], 4).tolist()]
        shown += ["20"] * 2 + ["[20, 22]"] * 4
    original = EquivalenceClasses.from_columns({"town": town, "age": age})
    released = EquivalenceClasses.from_columns({"town": town, "age": shown})
    place = {tuple(released.labels(c).values()): c for c in range(len(released))}
    source, goal, records = [], [], []
    for c in range(len(original)):
        labels, count = original.labels(c), int(original.records[c])
        twenty = 2 if labels["age"] == "20" else 0
        for where, many in (("20", twenty), ("[20, 22]", count - twenty)):
            if many:
                source.append(c), goal.append(place[labels["town"], where]), records.append(many)
    links = Links(np.array(source), np.array(goal), np.array(records))
    result = downcoding(Pair.of(original, released, links=links), [KAnonymity(2)], recoding="local")
    assert 0 < result.successes < result.tries
    assert not result.better_than_baseline or result.advantage < 0.3


def test_tight_intervals_beside_a_noisy_column_do_not_give_way() -> None:
    """Groups of five neighbours, each with the ends of its ages, and an illness that has nothing to do with anything."""
    rng = np.random.default_rng(1)
    ages = np.sort(rng.integers(18, 90, 400))
    groups = ages.reshape(-1, 5)
    bands = [
        f"[{group[0]}, {group[-1]}]" if group[0] < group[-1] else str(group[0])
        for group in groups
        for _ in group
    ]
    ill = rng.choice([f"illness {at}" for at in range(40)], 400)
    original = pa.table({"nr": np.arange(400), "age": ages, "ill": ill})
    release = original.set_column(1, "age", pa.array(bands))
    policy = Policy.of(quasi_identifiers=["age"], sensitive=["ill"], require=[KAnonymity(5)])
    attacked = discreet.attack(
        release, policy, original=original, key="nr", attacks=["homogeneity", "downcoding"]
    )
    inference = next(one for one in attacked.criteria if one.criterion == "inference")
    assert inference.state == "withstood"
    assert attacked.exposure == 0
