"""Chains of regressions, positions by a grid, and how closely a noisy number tells the true one."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

import discreet
from discreet.errors import InvalidParameter, UnsuitableColumn
from discreet.perturb.chains import SyntheticChain
from discreet.perturb.grid import PositionGrid
from discreet.perturb.noise import AdditiveNoise, CorrelatedNoise
from discreet.perturb.randomness import Randomness
from discreet.perturb.registry import make_step

EARTH = 6_371_008.8


def metres_between(a: tuple[float, float], b: tuple[float, float]) -> float:
    """The great circle between two positions (haversine)."""
    (lat, lon), (other_lat, other_lon) = (tuple(map(math.radians, each)) for each in (a, b))
    root = math.sin((lat - other_lat) / 2) ** 2
    root += math.cos(lat) * math.cos(other_lat) * math.sin((lon - other_lon) / 2) ** 2
    return 2 * EARTH * math.asin(math.sqrt(root))


def test_a_chain_draws_numbers_as_the_regression_says() -> None:
    rng = np.random.default_rng(5)
    x = rng.normal(size=4000)
    group = rng.choice(["a", "b", "c"], 4000, p=[0.6, 0.3, 0.1])
    y = 2 * x + np.where(group == "a", 3.0, 0.0) + rng.normal(size=4000)
    rows = pa.table({"x": x, "group": group, "y": y})
    new = SyntheticChain(("group", "x", "y")).changed(rows, Randomness(1))
    made = {name: np.array(values.to_pylist()) for name, values in new.items()}

    def slopes(group: Any, x: Any, y: Any) -> Any:
        design = np.stack([np.ones(4000), x, group == "a"], axis=1)
        return np.linalg.lstsq(design, y, rcond=None)[0]

    assert np.allclose(slopes(**made), slopes(group, x, y), atol=0.2)
    assert set(made["y"]) <= set(y)
    # Another draw is another table.
    again = SyntheticChain(("group", "x", "y")).changed(rows, Randomness(2))
    assert again["y"].to_pylist() != new["y"].to_pylist()


def test_a_chain_draws_categories_by_what_is_before_them() -> None:
    rng = np.random.default_rng(6)
    x = rng.normal(size=3000)
    ill = np.where(rng.random(3000) < 1 / (1 + np.exp(-2 * x)), "yes", "no")
    rows = pa.table({"x": x, "ill": ill})
    new = np.array(SyntheticChain(("ill",), given=("x",)).changed(rows, Randomness(1))["ill"].to_pylist())
    for low, high in ((-9, -1), (-1, 0), (0, 1), (1, 9)):
        part = (x > low) & (x <= high)
        assert abs((new[part] == "yes").mean() - (ill[part] == "yes").mean()) < 0.06
    # Who is ill is drawn anew, so far as it does not follow from x.
    assert (new != ill).mean() > 0.2


def test_a_chain_takes_columns_of_nothing_and_of_many_categories() -> None:
    rows = pa.table(
        {
            "none": pa.nulls(40, pa.float64()),
            "one": ["x"] * 40,
            "many": [str(i) for i in range(40)],
            "n": [float(i % 5) if i % 7 else None for i in range(40)],
        }
    )
    step = SyntheticChain(("none", "one", "many", "n"))
    new = pa.table(step.changed(rows, Randomness(1)))
    assert new.schema == rows.schema
    assert step.complaint(rows, new, np.arange(40)) == ""


@given(
    st.floats(-90, 90, allow_subnormal=False),
    st.floats(-180, 180, allow_subnormal=False),
    st.sampled_from([50.0, 1000.0, 30_000.0]),
)
def test_a_position_is_never_far_from_the_middle_of_its_cell(lat: float, lon: float, metres: float) -> None:
    rows = pa.table({"lat": [lat], "lon": [lon]})
    step = PositionGrid(("lat", "lon"), metres=metres)
    new = step.changed(rows, Randomness())
    middle = (new["lat"][0].as_py(), new["lon"][0].as_py())
    # Half a diagonal, a little more where cells are wider than high (near the poles), and rounding.
    assert metres_between((lat, lon), middle) <= 1.1 * metres
    # The middle of a cell lies in that cell.
    moved = step.changed(pa.table({"lat": [middle[0]], "lon": [middle[1]]}), Randomness())
    assert (moved["lat"][0].as_py(), moved["lon"][0].as_py()) == middle


def test_cells_of_a_grid_are_equally_large() -> None:
    for latitude in (0.0, 48.2, 70.0):
        there = PositionGrid(("lat", "lon"), metres=10_000).changed(
            pa.table({"lat": [latitude] * 4000, "lon": np.linspace(0, 20, 4000)}), Randomness()
        )
        middles = np.unique(there["lon"].to_numpy())
        width = metres_between((latitude, middles[0]), (latitude, middles[1]))
        assert width == pytest.approx(10_000, rel=0.02)


def test_a_position_with_one_coordinate_is_no_position() -> None:
    rows = pa.table({"lat": [52.5, None, 48.1], "lon": [13.4, 11.6, None]})
    step = PositionGrid(("lat", "lon"))
    new = step.changed(rows, Randomness())
    assert [value is None for value in new["lat"].to_pylist()] == [False, True, True]
    assert [value is None for value in new["lon"].to_pylist()] == [False, True, True]
    assert step.shortfall(rows, new).startswith("2 positions had only one of lat, lon")
    assert step.complaint(rows, pa.table(new), np.arange(3)) == ""
    exact = pa.table({"lat": new["lat"], "lon": rows["lon"]})
    assert "no middle" in step.complaint(rows, exact, np.arange(3))


def test_what_is_no_position_is_refused() -> None:
    with pytest.raises(InvalidParameter, match="takes two columns"):
        PositionGrid(("lat",))
    with pytest.raises(InvalidParameter, match="metres of position-grid"):
        PositionGrid(("lat", "lon"), metres=0)
    with pytest.raises(UnsuitableColumn, match="beyond 90 degrees"):
        PositionGrid(("lon", "lat")).changed(pa.table({"lat": [1.0], "lon": [130.0]}), Randomness())


@pytest.mark.parametrize("shape", ["normal", "uniform", "laplace"])
def test_the_interval_of_noise_covers_as_often_as_it_says(shape: str) -> None:
    rows = pa.table({"x": np.random.default_rng(1).normal(50, 20, 20_000)})
    step = AdditiveNoise(("x",), percent=30, shape=shape)  # type: ignore[arg-type]
    new = step.changed(rows, Randomness(1))["x"].to_numpy()
    half = step.intervals(rows)["x"] / 2
    assert (np.abs(new - rows["x"].to_numpy()) <= half).mean() == pytest.approx(0.95, abs=0.006)
    assert step.certainty(rows).startswith("who knows the method and a released number")


def test_the_interval_of_correlated_noise_covers_when_the_shrinking_is_undone() -> None:
    rng = np.random.default_rng(2)
    x = rng.normal(size=20_000)
    rows = pa.table({"x": x, "y": x + rng.normal(size=20_000)})
    step = CorrelatedNoise(("x", "y"), percent=40)
    new = step.changed(rows, Randomness(1))
    for name, width in step.intervals(rows).items():
        true = rows[name].to_numpy()
        undone = true.mean() + (new[name].to_numpy() - true.mean()) * math.sqrt(1 + 0.4**2)
        assert (np.abs(undone - true) <= width / 2).mean() == pytest.approx(0.95, abs=0.006)
    assert AdditiveNoise(("x",)).certainty(pa.table({"x": pa.nulls(3, pa.int64())})) == ""


def test_a_release_tells_how_closely_noise_hides() -> None:
    rows = pa.table({"age": [20, 30, 40, 50] * 10, "pay": list(range(40))})
    policy = discreet.Policy.of(quasi_identifiers=["age"], sensitive=["pay"], profile="research-partner-3")
    made = discreet.anonymize(
        rows,
        policy.perturbed_by(make_step({"method": "additive-noise", "columns": ["pay"]})).require(
            discreet.KAnonymity(3)
        ),
    )
    [told] = made.to_dict()["perturbation"]  # type: ignore[misc]
    assert "95 % confidence" in told["certainty"]  # type: ignore[index]
    assert any("95 % confidence" in note for note in made.notes)
