"""Log-linear risk: margins by hand, the fit against its margins, limits, and refusals."""

from __future__ import annotations

import numpy as np
import pytest

from discreet.errors import InvalidParameter
from discreet.risk import loglinear
from discreet.risk.loglinear import loglinear_risk

# a 2 x 2 x 2 table with one empty cell (1, 1, 0) and two sample uniques
CODES = [
    np.array([0, 0, 0, 0, 1, 1, 1]),
    np.array([0, 0, 1, 1, 0, 0, 1]),
    np.array([0, 1, 0, 1, 0, 1, 1]),
]
SIZES = np.array([6, 3, 2, 1, 4, 2, 1])


def risk(codes=CODES, levels=(2, 2, 2), sizes=SIZES, sampling_fraction=0.25, model="two-way"):
    return loglinear_risk(codes, levels=levels, sizes=sizes, sampling_fraction=sampling_fraction, model=model)


def test_independence_by_hand() -> None:
    n = 19
    mu = np.array([n * (12 / n) * (4 / n) * (7 / n), n * (7 / n) * (4 / n) * (7 / n)])
    v = mu * 3
    found = risk(model="independence")
    assert found.unique.value == pytest.approx(np.exp(-v).sum())
    assert found.matches.value == pytest.approx(((1 - np.exp(-v)) / v).sum())
    assert found.unique.per_class[:3].tolist() == [0, 0, 0]


def test_the_two_way_fit_has_the_margins_of_the_sample() -> None:
    mu, worst = loglinear._two_way(CODES, (2, 2, 2), SIZES, np.arange(7))
    assert worst <= loglinear.MARGIN_TOLERANCE
    # the fitted empty cell takes what the seven others leave of 19 records
    empty = SIZES.sum() - mu.sum()
    fitted = np.zeros((2, 2, 2))
    fitted[tuple(CODES)] = mu
    fitted[1, 1, 0] = empty
    seen = np.zeros((2, 2, 2))
    seen[tuple(CODES)] = SIZES
    for axis in range(3):
        assert fitted.sum(axis=axis) == pytest.approx(seen.sum(axis=axis), abs=0.05)
    # no three-way interaction: the two conditional odds ratios agree
    odds = fitted[:, 0, 0] * fitted[:, 1, 1] / (fitted[:, 0, 1] * fitted[:, 1, 0])
    assert odds[0] == pytest.approx(odds[1], rel=0.05)


def test_two_attributes_and_all_pairs_are_saturated() -> None:
    found = loglinear_risk(
        [np.array([0, 0, 1]), np.array([0, 1, 1])],
        levels=[2, 2],
        sizes=np.array([5, 1, 3]),
        sampling_fraction=0.5,
    )
    assert found.unique.value == pytest.approx(np.exp(-1), rel=1e-6)
    assert "saturated" in found.unique.notes[0]


def test_one_attribute_has_no_pairs() -> None:
    arguments = {"levels": [3], "sizes": np.array([5, 1]), "sampling_fraction": 0.5}
    both = [loglinear_risk([np.array([0, 2])], model=m, **arguments) for m in ("independence", "two-way")]
    assert both[0].unique.value == both[1].unique.value == pytest.approx(np.exp(-1))


@pytest.mark.parametrize("model", ["independence", "two-way"])
def test_a_sample_that_is_the_population_is_exact(model) -> None:
    found = risk(sampling_fraction=1.0, model=model)
    assert found.unique.value == found.matches.value == 2


@pytest.mark.parametrize("model", ["independence", "two-way"])
def test_matches_exceed_population_uniques_and_both_fall_with_the_fraction(model) -> None:
    by_fraction = [risk(sampling_fraction=p, model=model) for p in (0.01, 0.1, 0.5, 0.9)]
    tau1, tau2 = (
        [e.value for e in es] for es in zip(*((r.unique, r.matches) for r in by_fraction), strict=True)
    )
    assert tau1 == sorted(tau1)
    assert tau2 == sorted(tau2)
    assert all(a < b for a, b in zip(tau1, tau2, strict=True))


def test_without_sample_uniques_both_are_zero() -> None:
    found = risk(sizes=SIZES + 1)
    assert found.unique.value == found.matches.value == 0
    assert "no record is unique" in found.unique.notes[0]


def test_a_fit_that_does_not_converge_is_not_reported(monkeypatch) -> None:
    monkeypatch.setattr(loglinear, "SWEEP_LIMIT", 1)
    found = risk()
    assert np.isnan(found.unique.value)
    assert "1 sweeps" in found.unique.notes[0]
    assert np.isnan(found.matches.value)


def test_too_many_cells_are_refused_for_pairs_only() -> None:
    levels = (10**4, 10**4, 10)
    with pytest.raises(InvalidParameter, match="cells"):
        risk(levels=levels)
    assert risk(levels=levels, model="independence").cells == 10**9


@pytest.mark.parametrize(
    "change",
    [
        {"sampling_fraction": 0.0},
        {"sampling_fraction": 1.5},
        {"model": "three-way"},
        {"levels": (2, 2)},
        {"levels": (2, 2, 1)},
        {"codes": []},
        {"codes": [*CODES[:2], CODES[2][:3]]},
        {"codes": [*CODES[:2], CODES[2] - 1]},
        {"sizes": np.zeros(7, dtype=np.int64)},
        {"sizes": np.array([], dtype=np.int64)},
    ],
)
def test_impossible_input_is_refused(change) -> None:
    with pytest.raises(InvalidParameter):
        risk(**change)
