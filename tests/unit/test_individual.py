"""Individual risk: published values, an independent formula, the limits of p, and the sums."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.integrate import quad
from scipy.special import hyp2f1

from discreet.errors import InvalidParameter
from discreet.risk.individual import global_risk, individual_risk


@pytest.mark.parametrize(
    ("f", "total", "expected"), [(2, 360, 0.00542452), (1, 215, 0.02509644), (2, 152, 0.01256343)]
)
def test_published_values(f: int, total: int, expected: float) -> None:
    assert round(float(individual_risk([f], [total])[0]), 8) == expected


@pytest.mark.parametrize("f", [1, 2, 3])
@pytest.mark.parametrize("p", [0.001, 0.1, 0.4, 0.6, 0.9])
def test_closed_forms_for_small_classes(f: int, p: float) -> None:
    odds, log = p / (1 - p), np.log(1 / p)
    first = odds * log
    second = odds - odds**2 * log
    third = odds * (1 / 2 - second)
    expected = {1: first, 2: second, 3: third}[f]
    assert individual_risk([f], [f / p])[0] == pytest.approx(expected, rel=1e-10)


@pytest.mark.parametrize("f", [1, 2, 5, 29, 30, 31])
@pytest.mark.parametrize("p", [0.02, 0.2, 0.499, 0.501, 0.8, 0.99])
def test_the_defining_formula(f: int, p: float) -> None:
    expected = p**f / f * hyp2f1(f, f, f + 1, 1 - p)
    assert individual_risk([f], [f / p])[0] == pytest.approx(expected, rel=1e-8)


@pytest.mark.parametrize("f", [1, 2, 7, 29, 30, 100])
@pytest.mark.parametrize("p", [1e-3, 0.3, 0.5, 0.7, 0.999])
def test_the_expectation_of_one_over_f(f: int, p: float) -> None:
    expected, _ = quad(
        lambda u: p * u ** (f - 1) / (p + (1 - p) * u), 0, 1, epsabs=0, epsrel=1e-11, points=[p, 0.9]
    )
    assert individual_risk([f], [f / p])[0] == pytest.approx(expected, rel=1e-9)


@given(f=st.integers(1, 10**6), p=st.floats(1e-9, 1.0))
def test_always_between_its_bounds(f: int, p: float) -> None:
    total = f / p
    risk = individual_risk([f], [total])[0]
    # Jensen: E[1/F] is at least 1/E[F]; and F is at least f
    assert 1 / total * (1 - 1e-9) <= risk <= 1 / f * (1 + 1e-12)


@pytest.mark.parametrize("f", [1, 2, 29, 30, 10**6])
def test_everybody_in_the_sample_gives_one_over_f(f: int) -> None:
    assert individual_risk([f], [f])[0] == 1 / f


@pytest.mark.parametrize("p", [1e-9, 1e-3, 0.4999, 0.5001, 1 - 1e-9])
def test_neighbouring_sizes_are_smooth_across_the_two_methods(p: float) -> None:
    f = np.arange(26, 36)
    risk = individual_risk(f, f / p)
    odds = p / (1 - p)
    if p < 0.5:
        assert risk[1:] == pytest.approx(odds * (1 / f[:-1] - risk[:-1]), rel=1e-9)
    assert (np.diff(risk) < 0).all()


def test_the_global_risk_adds_up() -> None:
    found = global_risk([1, 2, 3], population_sizes=[215, 360, 3])
    expected = 0.02509644 + 2 * 0.00542452 + 3 * (1 / 3)
    assert found.expected.value == pytest.approx(expected, abs=1e-7)
    assert found.rate.value == pytest.approx(expected / 6, abs=1e-7)
    assert found.records.mean == pytest.approx(found.rate.value)
    assert found.expected.assumptions


def test_a_sampling_fraction_is_the_same_as_equal_weights() -> None:
    by_weights = global_risk([1, 4], population_sizes=[10, 40])
    assert global_risk([1, 4], sampling_fraction=0.1).rate.value == pytest.approx(by_weights.rate.value)


def test_weights_below_one_are_refused_and_rounding_is_not() -> None:
    with pytest.raises(InvalidParameter, match="smaller than"):
        individual_risk([3], [2.5])
    assert individual_risk([3], [3 - 1e-12])[0] == pytest.approx(1 / 3)


@pytest.mark.parametrize(
    ("sizes", "totals"), [([], []), ([0], [1]), ([1], [1, 2]), ([1], [float("nan")]), ([1.5], [2.0])]
)
def test_impossible_input_is_refused(sizes: list[float], totals: list[float]) -> None:
    with pytest.raises(InvalidParameter):
        individual_risk(np.array(sizes), totals)


@pytest.mark.parametrize("given_both", [True, False])
def test_exactly_one_way_to_describe_the_population(given_both: bool) -> None:
    arguments = {"population_sizes": [2], "sampling_fraction": 0.5} if given_both else {}
    with pytest.raises(InvalidParameter, match="relates to the population"):
        global_risk([1], **arguments)
