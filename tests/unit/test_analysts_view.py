"""What an analyst of many records sees of a release: moments, tables of counts, propensity; against plain loops."""

from __future__ import annotations

import statistics
from collections import Counter
from itertools import combinations

import numpy as np
import pytest

from discreet.classes import EquivalenceClasses
from discreet.classes.pair import Pair
from discreet.measure import Measure
from discreet.utility.losses import measure_all
from discreet.utility.marginals import k_marginal_error
from discreet.utility.moments import moment_changes
from discreet.utility.propensity import propensity
from discreet.utility.scaled import scaled_sizes

AGES = [31, 34, 47, 52, 60, 31]
PAY = [10, 14, 30, 28, 40, 12]
SEX = ["f", "m", "f", "m", "m", "f"]
ILL = ["flu", "no", "no", "flu", "no", "no"]


def pair_of(ages: list[object], pay: list[object], sex: list[str], ill: list[str]) -> Pair:
    before = EquivalenceClasses.from_columns({"age": AGES, "sex": SEX}, sensitive={"pay": PAY, "ill": ILL})
    after = EquivalenceClasses.from_columns(
        {"age": [str(age) for age in ages], "sex": sex}, sensitive={"pay": pay, "ill": ill}
    )
    return Pair.of(before, after)


def named(measures: tuple[Measure, ...]) -> dict[tuple[str, str | None], float]:
    return {(measure.name, measure.attribute): measure.value for measure in measures}


def test_moments_are_those_of_plain_columns() -> None:
    ages, pay = [35, 35, 47, 50, 66, 31], [11, 13, 33, 20, 45, 12]
    found = named(moment_changes(pair_of(ages, pay, SEX, ILL)))
    s_age, s_pay = statistics.stdev(AGES), statistics.stdev(PAY)
    means = [
        abs(statistics.mean(ages) - statistics.mean(AGES)) / s_age,
        abs(statistics.mean(pay) - statistics.mean(PAY)) / s_pay,
    ]
    assert found["mean-change", "age"] == pytest.approx(means[0])
    assert found["mean-change", None] == pytest.approx(statistics.mean(means))
    assert found["variance-change", "pay"] == pytest.approx(
        abs(statistics.variance(pay) / statistics.variance(PAY) - 1)
    )
    before, after = np.cov(np.array([AGES, PAY])), np.cov(np.array([ages, pay]))
    units = np.outer([s_age, s_pay], [s_age, s_pay])
    assert found["covariance-change", None] == pytest.approx(abs(after - before)[0, 1] / units[0, 1])
    axes = [np.sort(np.linalg.eigvals(table / units)) for table in (before, after)]
    assert found["eigenvalue-change", None] == pytest.approx(float(np.abs(axes[0] - axes[1]).sum() / 2))


def test_suppressed_numbers_are_left_out_of_moments() -> None:
    found = named(moment_changes(pair_of([31, 34, 47, 52, 60, "*"], PAY, SEX, ILL)))
    left = AGES[:5]
    assert found["mean-change", "age"] == pytest.approx(
        abs(statistics.mean(left) - statistics.mean(AGES)) / statistics.stdev(AGES)
    )
    assert found["mean-change", "pay"] == pytest.approx(0.0)
    nothing = named(moment_changes(pair_of(AGES, PAY, SEX, ILL).trivial()))
    assert np.isnan(nothing["mean-change", "age"])
    assert nothing["mean-change", "pay"] == pytest.approx(0.0)


def test_tables_over_three_columns_are_counted_as_by_hand() -> None:
    ages, sex = [31, 34, 52, 52, 60, 31], ["f", "m", "f", "m", "m", "m"]
    before = list(zip(AGES, SEX, PAY, ILL, strict=True))
    after = list(zip(ages, sex, PAY, ILL, strict=True))
    errors = []
    for chosen in combinations(range(4), 3):
        counts = [Counter(tuple(row[at] for at in chosen) for row in rows) for rows in (before, after)]
        errors.append(sum(abs(counts[0][key] - counts[1][key]) for key in counts[0] | counts[1]) / 12)
    assert k_marginal_error(pair_of(ages, PAY, sex, ILL)).value == pytest.approx(statistics.mean(errors))


def test_a_generalised_value_is_spread_over_what_it_may_be() -> None:
    before = EquivalenceClasses.from_columns({"a": ["x", "y", "z"]})
    after = EquivalenceClasses.from_columns({"a": ["{x, y}", "{x, y}", "{x, y}"]})
    # 1.5 records in x and in y against one each: a third of the records is elsewhere.
    assert k_marginal_error(Pair.of(before, after)).value == pytest.approx(1 / 3)


def test_propensity_of_groups_is_known_in_closed_form() -> None:
    before = {"x": 30, "y": 50, "z": 20}
    after = {"x": 10, "y": 70, "z": 40}
    pair = Pair.of(
        *(
            EquivalenceClasses.from_columns({"a": list(table)}, counts=list(table.values()))
            for table in (before, after)
        )
    )
    share = 120 / 220
    expected = (
        sum((before[v] + after[v]) * (after[v] / (before[v] + after[v]) - share) ** 2 for v in before) / 220
    )
    score = propensity(pair)
    assert score.error == pytest.approx(expected, rel=1e-6)
    assert (score.terms, score.expected) == (3, pytest.approx(2 * (1 - share) ** 2 * share / 220))


def test_products_see_what_single_attributes_do_not() -> None:
    """Both tables have the same shares of a and of b; which go together is exchanged."""
    before = EquivalenceClasses.from_columns({"a": ["x", "y"], "b": ["p", "q"]}, counts=[50, 50])
    after = EquivalenceClasses.from_columns({"a": ["x", "y"], "b": ["q", "p"]}, counts=[50, 50])
    assert propensity(Pair.of(before, after)).error == pytest.approx(0.25, abs=1e-4)
    assert propensity(Pair.of(before, before)).error == pytest.approx(0.0)


def test_records_drawn_from_the_original_have_the_expected_error() -> None:
    """Snoke et al.: the mean of the ratio over releases that are drawn from the original's distribution is 1."""
    generator = np.random.default_rng(7)
    ratios = []
    for _ in range(150):
        a = generator.choice(3, 1600, p=[0.5, 0.3, 0.2])
        b = (generator.random(1600) < 0.3 + 0.2 * a).astype(int)
        drawn = generator.choice(1600, 2400)
        tables = [
            EquivalenceClasses.from_columns({"a": a[at].tolist(), "b": b[at].tolist()})
            for at in (np.arange(1600), drawn)
        ]
        ratios.append(propensity(Pair.of(*tables)).ratio)
    # Five terms beyond the intercept: the ratio has a standard deviation of sqrt(2 / 5), its mean one of 0.052.
    assert abs(np.mean(ratios) - 1) < 0.26


def test_drawn_records_keep_the_share_of_the_release(monkeypatch: pytest.MonkeyPatch) -> None:
    generator = np.random.default_rng(3)
    tables = [
        EquivalenceClasses.from_columns(
            {name: generator.integers(0, 8, size).tolist() for name in ("a", "b", "c", "d")}
        )
        for size in (3000, 1500)
    ]
    pair = Pair.of(*tables)
    monkeypatch.setattr("discreet.utility.propensity.MOST_ENTRIES", 60_000)
    score = propensity(pair)
    assert score.expected == pytest.approx(
        (score.terms - 1) * (2 / 3) * (1 / 3) / (4500 * (60_000 // 66) / 3000), rel=0.01
    )
    # Both are samples of one population, and are held against what such samples give.
    assert 0.5 < score.ratio < 2


def test_all_of_them_are_among_the_losses() -> None:
    losses = measure_all(
        pair_of(["[30, 49]", "[30, 49]", "[30, 49]", 52, 60, "[30, 49]"], PAY, SEX, ILL), queries=20
    )
    for name in (
        "mean-change",
        "variance-change",
        "covariance-change",
        "eigenvalue-change",
        "k-marginal-error",
        "propensity-error",
        "propensity-ratio",
    ):
        measure = losses.measure(name)
        assert measure is not None
        assert measure.value >= 0
        assert losses.baseline(name) is not None


def test_scaled_k_and_l_are_those_of_the_car_data() -> None:
    """Table 4.8 of the metrics evaluation on car data: six drivers in classes of 4 and 2, five artists of which one class has two."""
    artists = ["Kid Cudi", "Radio", "Radio", "Paul", "Pink", "Taylor", "Radio", "Taylor", "Radio", "Paul"]
    drivers = [1, 1, 2, 3, 4, 5, 5, 6, 7, 8]
    engines = ["EV", "EV", "Gas", "Gas", "Oil", "Hybrid", "Hybrid", "Hybrid", "Rare", "Odd"]
    before = EquivalenceClasses.from_columns(
        {"engine": engines, "seats": [2, 2, 2, 2, 2, 4, 4, 5, 2, 2]},
        sensitive={"artist": artists},
        person=drivers,
    )
    after = EquivalenceClasses.from_columns(
        {"engine": ["*"] * 5 + ["Hybrid"] * 3 + ["*"] * 2, "seats": ["2"] * 5 + ["{4, 5}"] * 3 + ["*"] * 2},
        sensitive={"artist": artists},
        person=drivers,
    )
    found = named(scaled_sizes(Pair.of(before, after)))
    assert found["scaled-k", None] == pytest.approx((2 - 1) / (6 - 1))
    assert found["scaled-l", "artist"] == pytest.approx((2 - 1) / (5 - 1))
    # Before, 8 drivers in 7 classes: EV 1, Gas 2, Oil 1, Hybrid with 4 seats 1, with 5 seats 1, Rare 1, Odd 1.
    assert found["scaled-average-class-size", None] == pytest.approx((3 - 8 / 7) / (6 - 8 / 7))
