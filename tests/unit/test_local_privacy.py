"""Reports that everybody randomises by themselves: they keep their ε, and estimates are without bias."""

from __future__ import annotations

import math
from collections import Counter
from fractions import Fraction
from statistics import mean, pvariance
from typing import Any

import pytest

from discreet.dp import local
from discreet.dp.local import RandomizedResponse, UnaryEncoding
from discreet.errors import InvalidParameter
from helpers.neighbours import violation

VALUES = ["flu", "cold", "gout"]
WAYS: dict[str, Any] = {
    "response": lambda epsilon: RandomizedResponse(VALUES, epsilon),
    "optimised": lambda epsilon: UnaryEncoding(VALUES, epsilon),
    "symmetric": lambda epsilon: UnaryEncoding(VALUES, epsilon, symmetric=True),
}


@pytest.mark.parametrize("epsilon", ["0.1", "1", "4", "20"])
def test_no_report_is_likelier_than_stated(epsilon: str) -> None:
    """By exact fractions: e^ε is computed to more digits than the rounding leaves."""
    bound = Fraction(math.exp(float(epsilon))) * (1 + Fraction(1, 10**12))
    response = WAYS["response"](epsilon)
    assert Fraction(99, 100) * bound < response.p / response.q <= bound
    assert response.p + 2 * response.q == 1
    for way in ("optimised", "symmetric"):
        bits = WAYS[way](epsilon)
        ratio = bits.p * (1 - bits.q) / ((1 - bits.p) * bits.q)
        assert Fraction(99, 100) * bound < ratio <= bound


@pytest.mark.slow
@pytest.mark.parametrize("way", WAYS)
def test_reports_keep_their_epsilon_and_a_wrong_copy_does_not(
    way: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    def draws(value: str, epsilon: int) -> list[float]:
        made = WAYS[way](epsilon)
        reports = [made.report(value) for _ in range(20_000)]
        if way == "response":
            return [float(VALUES.index(report)) for report in reports]
        return [float(sum(bit << place for place, bit in enumerate(report))) for report in reports]

    assert not violation(draws("flu", 1), draws("cold", 1), 1.0)
    assert violation(draws("flu", 3), draws("cold", 3), 1.0)


@pytest.mark.parametrize("way", WAYS)
def test_estimates_are_without_bias_and_vary_as_stated(way: str) -> None:
    made, runs = WAYS[way](1), 200
    people = ["flu"] * 120 + ["cold"] * 70 + ["gout"] * 10
    counts: dict[str, list[float]] = {value: [] for value in VALUES}
    held: Counter[str] = Counter()
    for _ in range(runs):
        for estimate in made.estimate([made.report(value) for value in people], confidence=0.9):
            counts[estimate.value].append(estimate.count)
            held[estimate.value] += estimate.low <= people.count(estimate.value) <= estimate.high
    for value in VALUES:
        stated = made.deviation(people.count(value), len(people))
        # Six standard deviations of a mean, and of a variance, of 200 runs.
        assert abs(mean(counts[value]) - people.count(value)) < 6 * stated / math.sqrt(runs)
        assert abs(pvariance(counts[value]) / stated**2 - 1) < 6 * math.sqrt(2 / runs)
        assert held[value] >= 0.75 * runs  # seven standard deviations below what is promised


def test_an_estimate_by_hand() -> None:
    """p = 3/4, q = 1/4: of 100 reports 60 say yes, so (60 − 25) / ½ = 70 have it."""
    coin = RandomizedResponse(["yes", "no"], 1)
    coin.p, coin.q = Fraction(3, 4), Fraction(1, 4)
    yes, no = coin.estimate(["yes"] * 60 + ["no"] * 40)
    assert (yes.count, no.count) == (70.0, 30.0)
    assert yes.deviation == pytest.approx(math.sqrt(100 * 3 / 16) / 0.5)


def test_what_makes_no_sense_is_refused() -> None:
    for values, epsilon in ((["a"], 1), (["a", "a"], 1), (["a", "b"], 21), (["a", "b"], -1)):
        with pytest.raises(InvalidParameter):
            RandomizedResponse(values, epsilon)
    with pytest.raises(InvalidParameter, match="none of the values"):
        RandomizedResponse(["a", "b"], 1).report("c")
    with pytest.raises(InvalidParameter, match="another number of bits"):
        UnaryEncoding(["a", "b"], 1).estimate([(True,)])
    with pytest.raises(InvalidParameter, match="confidence"):
        UnaryEncoding(["a", "b"], 1).estimate([(True, False)], confidence=1)


def test_nothing_is_drawn_from_a_seed() -> None:
    assert "random" not in vars(local)
    assert not any("seed" in name for name in vars(local))
