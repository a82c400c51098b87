"""What each step lets an intruder reckon who knows it, and linkage by that, on rows that a reader can check."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

import discreet
from discreet.attacks.linkage.mechanism import mechanism_linkage
from discreet.classes import EquivalenceClasses
from discreet.classes.pair import Links, Pair
from discreet.perturb.chances import ColumnValues
from discreet.perturb.randomness import Randomness
from discreet.perturb.registry import make_step
from discreet.types import FloatArray


def values(numbers: list[float], records: list[int] | None = None) -> ColumnValues:
    array = np.array(numbers, dtype=np.float64)
    counts = np.array(records or [1] * len(numbers), dtype=np.int64)
    return ColumnValues(tuple(f"{number:g}" for number in numbers), array, array, counts)


def texts(labels: str, records: list[int]) -> ColumnValues:
    nothing = np.full(len(labels), math.nan)
    return ColumnValues(tuple(labels), nothing, nothing, np.array(records))


def chances(entry: dict[str, Any], true: ColumnValues, seen: ColumnValues) -> FloatArray:
    matrix = make_step({"columns": ["x"], **entry}).log_chances(true, seen)
    assert matrix is not None
    return np.exp(matrix)


def test_ranks_within_the_percentage_are_possible() -> None:
    seen = values([10, 20, 30, 40])
    matrix = chances({"method": "rank-swap", "percent": 25}, values([10, 30]), seen)
    assert matrix.tolist() == [[1, 1, 0, 0], [0, 1, 1, 1]]


def test_an_interval_has_all_ranks_of_its_values() -> None:
    seen = ColumnValues(
        ("[10, 20]", "[30, 40]"), np.array([10.0, 30.0]), np.array([20.0, 40.0]), np.array([2, 2])
    )
    matrix = chances({"method": "rank-swap", "percent": 25}, values([10, 20]), seen)
    assert matrix[:, 0].tolist() == [1, 1]


def test_a_random_swap_leaves_most_values() -> None:
    matrix = chances({"method": "random-swap", "percent": 20}, texts("a", [0]), texts("ab", [3, 1]))
    assert matrix[0] == pytest.approx([0.8 + 0.2 * 0.75, 0.2 * 0.25])


def test_noise_is_likelier_nearby() -> None:
    seen = values([8, 10, 12, 30], [5, 5, 5, 1])
    normal = chances({"method": "additive-noise", "percent": 50}, values([10]), seen)[0]
    assert normal[1] == pytest.approx(1.0)
    assert normal[0] == pytest.approx(normal[2])
    assert normal[3] < normal[2] < normal[1]
    bounded = chances({"method": "additive-noise", "percent": 50, "shape": "uniform"}, values([10]), seen)[0]
    assert bounded.tolist() == [1, 1, 1, 0]
    factors = chances({"method": "multiplicative-noise", "percent": 10}, values([0, 10]), values([0, 9, 20]))
    assert factors[0].tolist() == [1, 0, 0]
    assert factors[1, 1] > factors[1, 2] > 0 == factors[1, 0]


def test_rules_allow_few_values() -> None:
    seen = values([0, 50, 100])
    assert chances({"method": "round", "base": 50}, values([60]), seen)[0].tolist() == [0, 1, 0]
    either = chances({"method": "round", "base": 50, "direction": "random"}, values([60]), seen)
    assert either[0].tolist() == [0, 1, 1]
    coded = chances({"method": "top-bottom-coding", "top": 100}, values([130, 50]), seen)
    assert coded.tolist() == [[0, 0, 1], [0, 1, 0]]
    means = chances({"method": "microaggregation", "k": 2}, values([60]), seen)[0]
    assert means[0] == 0
    assert means[1] > means[2] > 0


def test_a_matrix_says_its_chances() -> None:
    matrix = chances({"method": "pram", "keep": 0.8}, texts("ab", [0, 0]), texts("ab", [5, 5]))
    assert matrix == pytest.approx(np.array([[0.8, 0.2], [0.2, 0.8]]))
    assert (
        make_step({"method": "permutation", "columns": ["x"]}).log_chances(texts("a", [0]), texts("a", [1]))
        is None
    )


def test_who_knows_the_method_finds_more_than_who_does_not() -> None:
    rng = np.random.default_rng(2)
    rows = pa.table({f"x{i}": rng.normal(size=150).round(3) for i in range(5)})
    step = make_step({"method": "rank-swap", "columns": rows.column_names, "percent": 20})
    new = step.changed(rows, Randomness(1))
    policy = discreet.Policy.of(quasi_identifiers=rows.column_names).perturbed_by(step)
    found = discreet.attack(
        pa.table(new),
        policy,
        original=rows,
        links=np.arange(150),
        attacks=["mechanism-linkage", "interval-disclosure"],
    )
    aware, ordinary = found.result("mechanism-linkage"), found.result("nearest-person")
    # By hand: everybody is linked to the records whose ranks are at most 30 away in all five columns.
    ranks = {name: np.argsort(np.argsort(rows[name].to_numpy())) for name in rows.column_names}
    shown = {
        name: np.searchsorted(np.sort(rows[name].to_numpy()), new[name].to_numpy())
        for name in rows.column_names
    }
    fits = np.ones((150, 150), dtype=bool)
    for name in rows.column_names:
        fits &= np.abs(ranks[name][:, None] - shown[name][None]) <= 30
    assert np.diag(fits).all()
    assert aware.successes == pytest.approx((1 / fits.sum(axis=1)).sum())
    assert aware.rate > ordinary.rate
    assert found.exposure >= aware.advantage
    inside = found.result("interval-disclosure")
    gaps = np.mean([np.abs(ranks[n] - shown[n]) / 150 for n in rows.column_names])
    assert 0 < gaps < 0.2
    assert inside.rate > inside.baseline


def test_without_steps_nothing_is_to_be_known() -> None:
    rows = pa.table({"age": [20, 30, 40, 50]})
    policy = discreet.Policy.of(quasi_identifiers=["age"])
    found = discreet.attack(rows, policy, original=rows, attacks=["mechanism-linkage"])
    assert found.results == ()
    assert "names no step" in found.untested[0].why


def test_a_step_that_the_attack_does_not_reckon_with_is_told() -> None:
    """Means of neighbours lie near the true numbers, which the nearest record tells and this attack does not see."""
    rng = np.random.default_rng(1)
    rows = pa.table({"x": rng.normal(size=60), "y": rng.normal(size=60)})
    step = make_step({"method": "condensation", "columns": ["x", "y"], "k": 3})
    made = pa.table(step.changed(rows, Randomness(1)))
    policy = discreet.Policy.of(quasi_identifiers=["x", "y"]).perturbed_by(step)
    tried = discreet.attack(
        made, policy, original=rows, links=np.arange(60), attacks=["mechanism-linkage", "record-linkage"]
    )
    by_method = tried.result("mechanism-linkage")
    assert list(by_method.notes) == [
        f"{name} was left aside: this attack does not reckon with condensation" for name in ("x", "y")
    ]
    assert tried.result("distance-linkage").rate > 5 * by_method.rate


@given(
    st.lists(st.sampled_from("abc"), min_size=1, max_size=12),
    st.floats(0.4, 0.95),
    st.integers(0, 2**16),
)
def test_the_probability_of_the_own_record_is_that_of_a_plain_sum(
    people: list[str], keep: float, seed: int
) -> None:
    drawn = np.random.default_rng(seed).choice(list("abc"), len(people)).tolist()
    step = make_step({"method": "pram", "columns": ["x"], "keep": keep})
    original = EquivalenceClasses.from_columns({"x": people, "row": list(range(len(people)))})
    released = EquivalenceClasses.from_columns({"x": drawn, "row": list(range(len(people)))})
    own = np.arange(len(people))
    # Classes stand in the order of their values: the links say which are of one row.
    rows = [np.argsort(classes.codes[1]) for classes in (original, released)]
    links = Links(rows[0][own], rows[1][own], np.ones(len(people), dtype=np.int64))
    values = sorted({*people, *drawn})
    size = len(values)

    def chance(true: str, shown: str) -> float:
        if size == 1:
            return 1.0
        return keep if true == shown else (1 - keep) / (size - 1)

    result = mechanism_linkage(Pair.of(original, released, links=links), steps=[step], known=["x"])
    probable = [
        chance(true, shown) / sum(chance(true, other) for other in drawn)
        for true, shown in zip(people, drawn, strict=True)
    ]
    figures = dict(result.figures)
    assert figures["mean-match-probability"] == pytest.approx(np.mean(probable))
    alone = [[chance(true, other) for other in drawn] for true in people]
    likeliest = [sorted(row)[-1] > sorted([0.0, *row])[-2] + 1e-9 for row in alone]
    assert figures["one-likeliest"] == pytest.approx(np.mean(likeliest))
    right = [only and row[i] == max(row) for i, (only, row) in enumerate(zip(likeliest, alone, strict=True))]
    assert figures["one-likeliest-and-right"] == pytest.approx(np.mean(right))
    assert figures["largest-match-probability"] >= np.mean(probable) - 1e-12
