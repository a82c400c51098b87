"""PRAM's matrix tells true shares and answers questions: in comparisons and in the codebook."""

from __future__ import annotations

import dataclasses
import math

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

import discreet
from discreet.classes.pair import ExpectedCells
from discreet.errors import InvalidParameter
from discreet.perturb.joint_pram import JointPram
from discreet.perturb.noise import MultiplicativeNoise
from discreet.perturb.pram import Pram, belief_bound
from discreet.perturb.randomness import Randomness
from discreet.perturb.swapping import RandomSwap
from discreet.release.estimates import _told_back, entries_of_matrix, plain_steps


def people(rows: int = 5000) -> pa.Table:
    rng = np.random.default_rng(8)
    return pa.table(
        {
            "age": rng.integers(20, 40, rows),
            "sex": rng.choice(["f", "m"], rows, p=[0.8, 0.2]),
            "ill": rng.choice(["none", "flu", "cold", "rare"], rows, p=[0.7, 0.2, 0.08, 0.02]),
        }
    )


POLICY = discreet.Policy.of(quasi_identifiers=["age", "sex"], sensitive=["ill"])


def drawn(steps: list[Pram], rows: pa.Table) -> pa.Table:
    chance = Randomness(4)
    for step in steps:
        new = step.changed(rows, chance)
        rows = pa.table({name: new.get(name, rows[name]) for name in rows.column_names})
    return rows


def test_shares_and_questions_are_told_by_the_matrix() -> None:
    rows = people()
    steps = [Pram(("ill",), keep=0.7), Pram(("sex",), keep=0.8)]
    made = drawn(steps, rows)
    links = np.arange(rows.num_rows)
    with_matrix = discreet.compare(rows, made, POLICY.perturbed_by(*steps), links=links, labels=[])
    without = discreet.compare(rows, made, POLICY, labels=[])
    assert {each.column for each in with_matrix.estimates} == {"ill", "sex"}
    for each in with_matrix.estimates:
        assert each.estimated < 0.3 * each.released
        assert each.estimated < 4 * each.error
    figures = [side.losses.measure("count-error-mean") for side in (with_matrix, without)]
    assert figures[0] is not None
    assert figures[1] is not None
    assert figures[0].value < 0.5 * figures[1].value
    assert any("PRAM's matrix" in note for note in with_matrix.notes)
    assert without.estimates == ()


def test_cells_told_back_by_hand() -> None:
    """Eight of ten stay: 56 of 100 seen are 60 of 100 true, (56 - 20) / 0.6."""
    classes = discreet.read(pa.table({"x": [1] * 100, "sex": ["f"] * 56 + ["m"] * 44}))
    counted = classes.engine.count(classes, quasi_identifiers=["x"], sensitive=["sex"])
    cells = ExpectedCells(
        counted, counted.class_of_cell, dict(counted.sensitive_codes), counted.counts.astype(float)
    )
    matrix = np.array([[0.8, 0.2], [0.2, 0.8]])
    back = _told_back(cells, "sex", matrix, counted.sensitive_domain("sex"))
    totals = np.bincount(back.columns["sex"], weights=back.counts)
    assert totals.round(9).tolist() == [60.0, 40.0]


def test_only_a_matrix_that_does_not_follow_from_the_data_and_no_other_step() -> None:
    steps = (
        Pram(("a", "b"), keep=0.9),
        Pram(("c",), keep=0.9, kind="invariant"),
        RandomSwap(("b",)),
    )
    assert set(plain_steps(steps)) == {"a"}


def test_nothing_is_told_where_the_matrix_tells_nothing() -> None:
    rows = people(300)
    step = Pram(("sex",), keep=0.5)
    made = drawn([step], rows)
    compared = discreet.compare(
        rows, made, POLICY.perturbed_by(step), links=np.arange(300), labels=[], queries=10
    )
    assert compared.estimates == ()


def test_the_codebook_tells_true_shares_with_their_errors() -> None:
    rows = people(2000)
    step = Pram(("ill",), keep=0.7)
    policy = discreet.Policy.of(
        quasi_identifiers=["age", "sex"],
        sensitive=["ill"],
        require=[discreet.KAnonymity(3)],
        profile="research-partner-3",
    ).perturbed_by(step)
    release = discreet.anonymize(rows, policy, plan=discreet.Plan(method="mondrian"))
    entries = {entry.label: entry for entry in release.codebook if entry.column == "ill"}
    assert set(entries) == {"none", "flu", "cold", "rare"}
    told = entries["none"].meaning
    assert told.startswith("true share about ")
    share = float(told.split("about ")[1].split(" %")[0]) / 100
    error = float(told.split("± ")[1].split(" %")[0]) / 100
    true = rows["ill"].to_pylist().count("none") / rows.num_rows
    # Every run draws anew: six errors away is one in five hundred million.
    assert share == pytest.approx(true, abs=6 * error)
    assert 0 < error < 0.05


def test_the_codebook_names_no_value_that_is_not_released() -> None:
    """Somebody with a rare illness became somebody with another, or was left out: the codebook must not tell that there was one."""
    given = pa.table({"ill": ["none"] * 6 + ["flu"] * 3 + ["rare"]})
    shown = discreet.read(pa.table({"ill": ["none"] * 6 + ["flu"] * 4}))
    counted = shown.engine.count(shown, quasi_identifiers=[], sensitive=["ill"])
    entries = entries_of_matrix(Pram(("ill",), keep=0.8), given, counted.histogram("ill"))
    assert {entry.label for entry in entries} == {"none", "flu"}


# ── ρ1-to-ρ2 breaches ─────────────────────────────────────────────────────────────────────────────────


@given(
    st.lists(st.lists(st.floats(0.01, 1.0), min_size=3, max_size=3), min_size=3, max_size=3),
    st.lists(st.floats(0.01, 1.0), min_size=3, max_size=3),
)
def test_no_belief_rises_above_its_bound(drawn: list[list[float]], weights: list[float]) -> None:
    """Every statement about the true value, every released value, by Bayes' rule."""
    matrix = np.array([np.array(row) / sum(row) for row in drawn])
    prior = np.array(weights) / sum(weights)
    for members in ([0], [1], [2], [0, 1], [0, 2], [1, 2]):
        before = float(prior[members].sum())
        for released in range(3):
            joint = prior * matrix[:, released]
            after = float(joint[members].sum() / joint.sum())
            assert after <= belief_bound(matrix, min(before, 1.0)) + 1e-9


def test_the_bound_is_reached_by_two_values() -> None:
    matrix = np.array([[0.9, 0.1], [0.2, 0.8]])
    # γ is 0.8 / 0.1 for the second value: a belief of 0.3 in the second becomes 0.24 / (0.24 + 0.07).
    assert belief_bound(matrix, 0.3) == pytest.approx(0.24 / 0.31)
    assert belief_bound(np.eye(2), 0.3) == 1.0
    assert belief_bound(matrix, 0.0) == 0.0
    with pytest.raises(InvalidParameter):
        belief_bound(matrix, 1.5)


def test_a_release_says_what_beliefs_may_become() -> None:
    rows = pa.table({"age": [31, 47] * 20, "ill": ["flu", "cold", "flu", "acne"] * 10})
    steps = (Pram(("ill",), keep=0.6), MultiplicativeNoise(("age",), percent=10))
    policy = dataclasses.replace(
        discreet.Policy.of(quasi_identifiers=["age"], sensitive=["ill"], profile="research-partner-3"),
        perturb=steps,
    )
    release = discreet.anonymize(rows, policy, perturb_seed=1, plan=discreet.Plan(method="mondrian"))
    first, second = (step["certainty"] for step in release.to_dict()["perturbation"])
    # γ = 0.6 / 0.2 = 3: 0.03 / 1.02, 0.3 / 1.2 and 0.75, never rounded down.
    assert "at most 2.95 %, 25 % or 75 % (ill)" in first
    assert "between 0.827 and 1.22 times" in second
    assert first in release.notes
    joint = JointPram(("ill",), epsilon=math.log(3))
    assert joint.certainty(rows) == first
    # A value that cannot become another may be certain: the guarantee says so, and no belief is told.
    assert Pram(("ill",), keep=1.0).certainty(rows) == ""


def test_the_interval_of_multiplied_noise_covers_the_truth() -> None:
    rows = pa.table({"pay": np.random.default_rng(1).lognormal(8, 1, 4000)})
    step = MultiplicativeNoise(("pay",), percent=30)
    shown = step.changed(rows, Randomness(1))["pay"].to_numpy()
    low, high = step.interval()
    true = rows["pay"].to_numpy()
    assert ((true >= low * shown) & (true <= high * shown)).mean() == pytest.approx(0.95, abs=0.01)
