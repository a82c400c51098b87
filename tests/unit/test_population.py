"""Population uniqueness: values by hand, limits, and honest failure."""

from __future__ import annotations

from math import comb

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from discreet.errors import InvalidParameter
from discreet.risk import population
from discreet.risk.population import dankar, pitman, population_uniques, sample_uniques, snb, zayatz

ESTIMATORS = [zayatz, pitman, snb, dankar]
# a sample of 1,150 records in 700 classes for which all three models have a solution
SIZES = np.repeat([1, 2, 3, 4, 5, 6], [450, 150, 50, 25, 15, 10])
# a long tail, for which Pitman's alpha is inside (0, 1); for SIZES it is on the edge, 0
TAILED = np.repeat([1, 2, 3, 5, 10, 40], [450, 90, 40, 30, 15, 10])

class_sizes = st.lists(st.integers(1, 8), min_size=1, max_size=60).map(np.array)
fractions = st.floats(1e-4, 1.0)


def test_sample_uniques_count_records_not_classes() -> None:
    assert sample_uniques(np.array([1, 1, 2, 4])).value == 2 / 8


@pytest.mark.parametrize("estimator", ESTIMATORS)
def test_a_sample_that_is_the_population_is_exact(estimator) -> None:
    found = estimator(np.array([1, 1, 1, 2, 5]), sampling_fraction=1.0)
    assert found.value == found.low == found.high == 3 / 10


@pytest.mark.parametrize("estimator", ESTIMATORS)
def test_without_sample_uniques_there_are_no_population_uniques(estimator) -> None:
    assert estimator(np.array([2, 2, 5]), sampling_fraction=0.1).value == 0.0


@pytest.mark.parametrize("estimator", ESTIMATORS)
@given(sizes=class_sizes, fraction=fractions)
def test_never_above_the_sample_uniques_never_negative_and_order_is_irrelevant(
    estimator, sizes, fraction
) -> None:
    found = estimator(sizes, sampling_fraction=fraction)
    if np.isnan(found.value):
        assert found.notes[-1].startswith("no estimate: ")
    else:
        assert 0.0 <= found.value <= sample_uniques(sizes).value
    again = estimator(sizes[::-1].copy(), sampling_fraction=fraction)
    assert again.value == found.value or np.isnan(found.value)


def test_zayatz_against_the_hypergeometric_distribution() -> None:
    sizes, fraction = np.array([1, 1, 1, 2, 2, 3]), 0.25
    n, big = 10, 40
    one = [i * comb(big - i, n - 1) / comb(big, n) for i in (1, 2, 3)]
    expected = 3 * one[0] / (3 * one[0] + 2 * one[1] + one[2])
    assert zayatz(sizes, sampling_fraction=fraction).value == pytest.approx(3 * expected / n, rel=1e-12)


def test_population_uniques_are_the_share_times_the_population() -> None:
    found = zayatz(SIZES, sampling_fraction=0.2)
    total = population_uniques(found, records=int(SIZES.sum()), sampling_fraction=0.2)
    assert total == pytest.approx(found.value * SIZES.sum() / 0.2)


@pytest.mark.parametrize(("sizes", "inside"), [(SIZES, False), (TAILED, True)])
def test_pitman_fit_is_the_maximum_of_the_likelihood(sizes, inside: bool) -> None:
    i = np.arange(1, sizes.sum())

    def likelihood(a: float, t: float) -> float:
        within = sum(np.log(np.arange(1, size) - a).sum() for size in sizes)
        return float(np.log(t + a * i[: sizes.size - 1]).sum() - np.log(t + i).sum() + within)

    a, t = population._fit_pitman(population._frequencies(sizes))
    assert (0 < a < 1) if inside else a == 0
    best = likelihood(a, t)
    for da in (-1e-3, 0, 1e-3) if inside else (0, 1e-3):
        for dt in (-0.01 * t, 0, 0.01 * t):
            assert likelihood(a + da, t + dt) < best or da == dt == 0


@pytest.mark.parametrize("sizes", [SIZES, TAILED])
def test_pitman_share_is_the_chance_that_nobody_joins(sizes) -> None:
    a, t = population._fit_pitman(population._frequencies(sizes))
    i = np.arange(1, round(sizes.sum() / 0.1))
    expected = np.exp(np.log((t + a + i - 1) / (t + i)).sum())
    assert pitman(sizes, sampling_fraction=0.1).value == pytest.approx(expected, rel=1e-9)


def test_pitman_says_why_it_has_no_estimate() -> None:
    found = pitman(np.ones(20, dtype=np.int64), sampling_fraction=0.1)
    assert np.isnan(found.value)
    assert "every record is unique" in found.notes[0]
    assert found.to_dict()["value"] == "undefined"


def expected_counts(classes: float, a: float, b: float, p: float) -> tuple[float, float]:
    """E[c1] and E[c2] as the papers print them."""
    d = (1 - p) * (1 - b)
    c1 = classes * p * b**a * (1 - (1 - a) * d) / (1 - d) ** (a + 1)
    c2 = classes * a * b**a * p**2 * (1 - b) * (2 - (1 - a) * d) / (2 * (1 - d) ** (a + 2))
    return c1, c2


@pytest.mark.parametrize("a", [0.05, 0.4, 1.0, 3.0, 20.0])
@pytest.mark.parametrize("b", [0.02, 0.3, 0.8])
@pytest.mark.parametrize("p", [0.02, 0.3, 0.9])
def test_snb_finds_the_parameters_that_made_the_counts(a: float, b: float, p: float) -> None:
    c1, c2 = expected_counts(1e5, a, b, p)
    assert np.exp(population._solve_snb(c1, c2, 1e5, p)) == pytest.approx(b**a, rel=1e-6)


def test_expected_counts_are_those_of_a_sampled_slide_negative_binomial() -> None:
    rng = np.random.default_rng(5)
    a, b, p, classes = 0.7, 0.25, 0.3, 2_000_000
    drawn = rng.binomial(1 + rng.negative_binomial(a, b, classes), p)
    c1, c2 = expected_counts(classes, a, b, p)
    assert (drawn == 1).sum() == pytest.approx(c1, rel=0.01)
    assert (drawn == 2).sum() == pytest.approx(c2, rel=0.01)
    # multiplied by the power of (1 - d) instead of divided, as some code has it, it is 56 times too small
    power = (1 - (1 - p) * (1 - b)) ** (a + 2)
    assert (drawn == 2).sum() > 50 * c2 * power**2


def test_snb_is_right_under_its_own_model() -> None:
    rng = np.random.default_rng(6)
    size = 1 + rng.negative_binomial(0.7, 0.25, 200_000)
    drawn = rng.binomial(size, 0.4)
    found = snb(drawn[drawn > 0], sampling_fraction=0.4)
    truth = ((drawn == 1) & (size == 1)).sum() / drawn.sum()
    assert found.value == pytest.approx(truth, rel=0.05)


def test_shlosser_by_hand() -> None:
    # one class of 1 and one of 2 at p = 1/2: A = 1/4 + 3/8, B = 1/4 + 5/16, C = 1/2 + 1/4, D = 1/2 + 1/2
    found = population._shlosser(population._frequencies(np.array([1, 2])), 0.5)
    assert found == pytest.approx(2 + (5 / 8) / (9 / 16) * (3 / 4) ** 2)


def test_the_rule_takes_pitman_up_to_ten_percent() -> None:
    assert dankar(SIZES, sampling_fraction=0.1).value == pitman(SIZES, sampling_fraction=0.1).value
    assert dankar(SIZES, sampling_fraction=0.1).method == "Dankar rule: Pitman"


@pytest.mark.parametrize("fraction", [0.11, 0.3, 0.6])
def test_the_rule_takes_the_smaller_of_zayatz_and_snb_above(fraction: float) -> None:
    both = zayatz(SIZES, sampling_fraction=fraction), snb(SIZES, sampling_fraction=fraction)
    found = dankar(SIZES, sampling_fraction=fraction)
    assert found.value == min(e.value for e in both)
    assert found.method == f"Dankar rule: {min(both, key=lambda e: e.value).method}"


@pytest.mark.parametrize("fraction", [0.05, 0.5])
def test_the_rule_falls_back_and_says_so(fraction: float) -> None:
    found = dankar(np.ones(20, dtype=np.int64), sampling_fraction=fraction)
    assert found.method == "Dankar rule: Zayatz"
    assert found.value == 1.0
    assert "was passed over" in found.notes[-1]


def test_large_tables_keep_their_digits() -> None:
    # the same frequencies ten thousand times over: a share hardly moves, unless digits were lost
    large = np.repeat(SIZES, 10_000)
    for estimator in (zayatz, snb):
        one = estimator(SIZES, sampling_fraction=0.01).value
        assert estimator(large, sampling_fraction=0.01).value == pytest.approx(one, rel=2e-3)


@pytest.mark.parametrize("fraction", [0.0, -0.1, 1.1, float("nan")])
@pytest.mark.parametrize("estimator", ESTIMATORS)
def test_impossible_fractions_are_refused(estimator, fraction: float) -> None:
    with pytest.raises(InvalidParameter, match="sampling fraction"):
        estimator(SIZES, sampling_fraction=fraction)


@pytest.mark.parametrize("sizes", [[], [0, 1], [[1, 2]], [1.5]])
def test_impossible_sizes_are_refused(sizes) -> None:
    with pytest.raises(InvalidParameter, match="whole numbers"):
        sample_uniques(np.array(sizes))
