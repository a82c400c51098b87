"""Steps of perturbation on random columns: types, nulls and what each keeps, whatever the values are."""

from __future__ import annotations

from collections import Counter
from typing import Any

import numpy as np
import pyarrow as pa
from hypothesis import given
from hypothesis import strategies as st

from discreet.errors import UnsuitableColumn
from discreet.perturb.pram import Pram, invariant, local_epsilon
from discreet.perturb.randomness import Randomness
from discreet.perturb.registry import make_step

WHOLE = st.lists(st.none() | st.integers(-50, 50), min_size=1, max_size=40)
DECIMAL = st.lists(st.none() | st.integers(-500, 500).map(lambda n: n / 4), min_size=1, max_size=40)
COLUMNS = st.one_of(
    WHOLE.map(lambda values: pa.array(values, pa.int16())),
    DECIMAL.map(lambda values: pa.array(values, pa.float64())),
)
STEPS: st.SearchStrategy[dict[str, Any]] = st.one_of(
    st.fixed_dictionaries({"method": st.just("rank-swap"), "percent": st.floats(0.5, 100)}),
    st.fixed_dictionaries({"method": st.just("random-swap"), "percent": st.floats(1, 100), "within": st.just(["g"])}),
    st.fixed_dictionaries({"method": st.just("permutation"), "within": st.sampled_from([[], ["g"]])}),
    st.fixed_dictionaries(
        {
            "method": st.just("additive-noise"),
            "percent": st.floats(1, 300),
            "shape": st.sampled_from(["normal", "uniform", "laplace"]),
            "rescale": st.booleans(),
            "low": st.just(-200),
            "high": st.just(200),
        }
    ),
    st.fixed_dictionaries({"method": st.just("multiplicative-noise"), "percent": st.floats(1, 100)}),
    st.fixed_dictionaries({"method": st.just("microaggregation"), "k": st.integers(2, 5)}),
    st.fixed_dictionaries({"method": st.just("top-bottom-coding"), "top": st.integers(1, 60), "bottom": st.integers(-60, 0)}),
    st.fixed_dictionaries(
        {"method": st.just("round"), "base": st.integers(1, 30), "direction": st.sampled_from(["nearest", "random"])}
    ),
    st.fixed_dictionaries(
        {"method": st.just("pram"), "keep": st.floats(0, 1), "kind": st.sampled_from(["plain", "invariant"])}
    ),
)  # fmt: skip


@given(COLUMNS, STEPS, st.integers(0, 1000))
def test_what_a_step_keeps_holds_for_every_column(column: pa.Array, entry: dict[str, Any], seed: int) -> None:
    rows = pa.table({"x": column, "g": [i % 2 for i in range(len(column))]})
    step = make_step({**entry, "columns": ["x"]})
    try:
        new = step.changed(rows, Randomness(seed))["x"]
    except UnsuitableColumn:
        # Only groups of k need k values.
        assert entry["method"] == "microaggregation"
        return
    assert new.type == column.type
    assert new.is_null().equals(column.is_null()) or "within" in entry
    assert step.complaint(rows, pa.table({"x": new}), np.arange(len(column))) == ""
    # A part of the rows, as a release shows them, keeps it, too.
    part = np.arange(0, len(column), 2)
    assert step.complaint(rows, pa.table({"x": new.take(pa.array(part))}), part) == ""
    if entry["method"] in ("rank-swap", "random-swap", "permutation"):
        assert Counter(new.to_pylist()) == Counter(column.to_pylist())


@given(st.lists(st.integers(0, 40), min_size=2, max_size=6).filter(sum), st.floats(0.01, 0.99))
def test_invariant_matrices_keep_every_distribution(counts: list[int], keep: float) -> None:
    labels = [str(i) for i in range(len(counts))]
    matrix = invariant(Pram(("x",), keep=keep).probabilities(labels), np.array(counts))
    assert np.allclose(matrix.sum(axis=1), 1)
    assert (matrix >= 0).all()
    assert np.allclose(np.array(counts) @ matrix, counts)


@given(st.integers(2, 12), st.floats(0.01, 8))
def test_randomised_response_has_the_epsilon_that_was_asked_for(size: int, epsilon: float) -> None:
    matrix = Pram(("x",), epsilon=epsilon).probabilities([str(i) for i in range(size)])
    assert np.isclose(local_epsilon(matrix), epsilon)
    assert np.allclose(matrix.sum(axis=1), 1)
