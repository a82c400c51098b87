"""Steps of perturbation by themselves: what each keeps, on rows that a reader can check, and what it refuses."""

from __future__ import annotations

import math
from datetime import date, datetime
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

from discreet.errors import InvalidParameter, UnknownColumn, UnsuitableColumn
from discreet.perturb.base import Perturbation
from discreet.perturb.pram import Pram, estimated_shares, invariant, local_epsilon
from discreet.perturb.randomness import Randomness
from discreet.perturb.registry import STEPS, make_step

AGES = pa.table({"age": [20, 30, 40, 50, 60, 70, 80, 90], "town": list("AAAABBBB")})


def made(entry: dict[str, Any], rows: pa.Table = AGES, seed: int = 1) -> dict[str, list[Any]]:
    """The new values of a step, which must keep what it says that it keeps."""
    step = make_step(entry)
    step.fit(rows)
    new = step.changed(rows, Randomness(seed))
    assert step.complaint(rows, pa.table(new), np.arange(rows.num_rows)) == ""
    for name, values in new.items():
        assert values.type == rows[name].type
    return {name: values.to_pylist() for name, values in new.items()}


# ── by hand ──────────────────────────────────────────────────────────────────────────────────────────


def test_percent_of_rank_swapping_is_a_percentage() -> None:
    # 12.5 % of eight ranks is one rank: neighbours exchange their values.
    assert made({"method": "rank-swap", "columns": "age", "percent": 12.5})["age"] == [
        30, 20, 50, 40, 70, 60, 90, 80,
    ]  # fmt: skip
    far = made({"method": "rank-swap", "columns": "age", "percent": 100})["age"]
    assert sorted(far) == AGES["age"].to_pylist()


def test_nulls_stay_where_they_are() -> None:
    rows = pa.table({"age": [20, None, 30, None]})
    assert made({"method": "rank-swap", "columns": ["age"], "percent": 50}, rows)["age"] == [
        30,
        None,
        20,
        None,
    ]
    for method in ("additive-noise", "multiplicative-noise", "round"):
        new = made({"method": method, "columns": ["age"]}, rows)["age"]
        assert [value is None for value in new] == [False, True, False, True]


def test_permutation_and_swaps_stay_within_groups() -> None:
    for entry in (
        {"method": "permutation", "columns": ["age"], "within": ["town"]},
        {"method": "random-swap", "columns": ["age"], "percent": 100, "within": ["town"]},
    ):
        new = made(entry)["age"]
        assert sorted(new[:4]) == [20, 30, 40, 50]
        assert sorted(new[4:]) == [60, 70, 80, 90]


def test_columns_that_are_permuted_together_stay_together() -> None:
    rows = pa.table({"a": [1, 2, 3, 4], "b": [10, 20, 30, 40]})
    new = made({"method": "permutation", "columns": ["a", "b"], "together": True}, rows, seed=5)
    assert [10 * value for value in new["a"]] == new["b"]


def test_top_and_bottom_coding_and_rounding() -> None:
    assert made({"method": "top-bottom-coding", "columns": ["age"], "top": 75, "bottom": 35})["age"] == [
        35, 35, 40, 50, 60, 70, 75, 75,
    ]  # fmt: skip
    rows = pa.table({"pay": [1224.0, 1225.0, 1250.0]})
    assert made({"method": "round", "columns": ["pay"], "base": 50}, rows)["pay"] == [1200, 1250, 1250]
    either = made({"method": "round", "columns": ["pay"], "base": 50, "direction": "random"}, rows)["pay"]
    assert either[0] in (1200, 1250)
    assert either[2] == 1250


def test_limits_between_whole_numbers_are_kept() -> None:
    limits = {"method": "top-bottom-coding", "columns": ["age"], "top": 75.5, "bottom": 34.5}
    new = made(limits, pa.table({"age": [10, 34, 35, 75, 76, 90]}))["age"]
    assert new == [35, 35, 35, 75, 75, 75]
    cents = pa.table({"pay": pa.array([1, 99]).cast(pa.decimal128(21, 1))})
    assert max(made({"method": "top-bottom-coding", "columns": ["pay"], "top": 9.96}, cents)["pay"]) < 9.96


def test_moments_of_nanoseconds_move_and_change_places() -> None:
    """So pandas keeps them."""
    rows = pa.table({"t": pa.array([datetime(2024, 1, day, 3) for day in range(1, 9)], pa.timestamp("ns"))})
    for entry in ({"method": "date-shift", "days": 3}, {"method": "rank-swap", "percent": 20}):
        step = make_step({**entry, "columns": ["t"]})
        new = step.changed(rows, Randomness(1))["t"]
        assert new.type == pa.timestamp("ns")
        assert step.complaint(rows, pa.table({"t": new}), np.arange(8)) == ""
    spoilt = pa.table({"t": rows["t"].to_pylist()[::-1]})
    assert make_step({"method": "date-shift", "days": 3, "columns": ["t"]}).complaint(
        rows, spoilt, np.arange(8)
    )


def test_what_the_epsilon_of_a_matrix_does_not_cover_is_said() -> None:
    rows = pa.table({"sex": ["f", "m", None], "job": ["a", "b", "c"], "none": pa.nulls(3, pa.string())})
    told = Pram(("sex", "job"), epsilon=1).guarantee(rows)
    assert told == (
        "local differential privacy of sex with ε = 1 among the values that occur (which are missing is not protected); "
        "local differential privacy of job with ε = 1 among the values that occur"
    )
    assert Pram(("none",), epsilon=1).changed(rows, Randomness(1))["none"].null_count == 3
    assert "missing is not protected" in Pram(("none",), epsilon=1).guarantee(rows)


def test_groups_of_neighbours_show_their_mean_or_median() -> None:
    rows = pa.table({"pay": [5.0, 1.0, 3.0, 10.0, 30.0, 20.0, 40.0]})
    means = made({"method": "microaggregation", "columns": ["pay"], "k": 3}, rows)["pay"]
    assert means == [3.0, 3.0, 3.0, 25.0, 25.0, 25.0, 25.0]
    entry = {"method": "microaggregation", "columns": ["pay"], "k": 3, "statistic": "median"}
    assert made(entry, rows)["pay"][3] == 25.0


def test_dates_of_a_person_move_together() -> None:
    rows = pa.table(
        {
            "who": ["a", "a", "b"],
            "in": [date(2024, 1, 1), date(2024, 3, 1), date(2024, 2, 29)],
            "out": [datetime(2024, 1, 5, 12), datetime(2024, 3, 2, 8), None],
        }
    )
    new = made({"method": "date-shift", "columns": ["in", "out"], "person": "who", "days": 90}, rows)
    moved = [(after - before).days for after, before in zip(new["in"], rows["in"].to_pylist(), strict=True)]
    assert moved[0] == moved[1]
    assert abs(moved[2]) <= 90
    assert (new["out"][1] - new["out"][0]) == datetime(2024, 3, 2, 8) - datetime(2024, 1, 5, 12)
    weeks = made({"method": "date-shift", "columns": ["in"], "weekdays": True, "days": 30}, rows)["in"]
    assert [day.weekday() for day in weeks] == [day.weekday() for day in rows["in"].to_pylist()]


# ── distributions ────────────────────────────────────────────────────────────────────────────────────


def correlated(size: int = 20_000) -> pa.Table:
    draws = np.random.default_rng(3).normal(size=(size, 2))
    return pa.table({"x": 50 + 10 * draws[:, 0], "y": 20 + 4 * draws[:, 0] + 3 * draws[:, 1]})


@pytest.mark.parametrize("shape", ["normal", "uniform", "laplace"])
def test_additive_noise_keeps_means_and_with_kims_rescaling_variances(shape: str) -> None:
    rows = correlated()
    before = rows["x"].to_numpy()
    entry = {"method": "additive-noise", "columns": ["x"], "percent": 50, "shape": shape}
    noisy = np.array(made(entry, rows)["x"])
    assert noisy.mean() == pytest.approx(before.mean(), abs=0.2)
    assert noisy.var() / before.var() == pytest.approx(1.25, abs=0.03)
    shrunk = np.array(made({**entry, "rescale": True}, rows)["x"])
    assert shrunk.var() / before.var() == pytest.approx(1.0, abs=0.03)


def test_correlated_noise_keeps_the_covariances() -> None:
    rows = correlated()
    before = np.cov(rows["x"].to_numpy(), rows["y"].to_numpy())
    new = made({"method": "correlated-noise", "columns": ["x", "y"], "percent": 60}, rows)
    assert np.cov(new["x"], new["y"]) == pytest.approx(before, rel=0.04)
    wide = made({"method": "correlated-noise", "columns": ["x", "y"], "percent": 60, "rescale": False}, rows)
    assert np.cov(wide["x"], wide["y"]) == pytest.approx(1.36 * before, rel=0.04)
    assert np.corrcoef(wide["x"], wide["y"]) == pytest.approx(np.corrcoef(rows["x"], rows["y"]), abs=0.02)


def test_noise_stays_within_bounds_and_on_the_grid() -> None:
    rows = pa.table({"hours": pa.array([1, 5, 40] * 100, pa.int8()), "rate": [0.25, 1.5, 2.0] * 100})
    new = made({"method": "additive-noise", "columns": ["hours"], "percent": 200, "low": 0, "high": 60}, rows)
    assert 0 <= min(new["hours"]) < 5
    assert max(new["hours"]) <= 60
    rates = made({"method": "multiplicative-noise", "columns": ["rate"], "percent": 30}, rows)["rate"]
    assert all(rate == round(rate, 2) for rate in rates)


def test_multiplicative_noise_keeps_zeros_signs_and_the_mean() -> None:
    rows = pa.table({"pay": [0.0, -100.0, 100.0] * 10_000})
    new = np.array(made({"method": "multiplicative-noise", "columns": ["pay"], "percent": 30}, rows)["pay"])
    assert (np.sign(new) == np.sign(rows["pay"].to_numpy())).all()
    assert new[2::3].mean() == pytest.approx(100, abs=1.5)
    assert new[2::3].std() == pytest.approx(30, abs=1.5)


def test_an_invariant_matrix_keeps_shares_in_expectation() -> None:
    rows = pa.table({"job": ["a"] * 6_000 + ["b"] * 3_000 + ["c"] * 1_000})
    plain = made({"method": "pram", "columns": ["job"], "keep": 0.5}, rows)["job"]
    kept = made({"method": "pram", "columns": ["job"], "keep": 0.5, "kind": "invariant"}, rows)["job"]
    assert plain.count("c") == pytest.approx(10_000 * (0.1 * 0.5 + 0.9 * 0.25), abs=200)
    assert kept.count("c") == pytest.approx(1_000, abs=150)
    counts = np.array([6_000, 3_000, 1_000])
    matrix = invariant(Pram(("job",), keep=0.5).probabilities("abc"), counts)
    assert matrix.sum(axis=1) == pytest.approx(np.ones(3))
    assert counts @ matrix == pytest.approx(counts)


def test_true_shares_are_estimated_from_released_counts() -> None:
    true = np.array([6_000, 3_000, 1_000])
    rows = pa.table({"job": np.repeat(["a", "b", "c"], true)})
    step = Pram(("job",), epsilon=1.0)
    matrix = step.probabilities("abc")
    assert local_epsilon(matrix) == pytest.approx(1.0)
    misses = []
    for seed in range(40):
        new = step.changed(rows, Randomness(seed))["job"].to_pylist()
        shares, errors = estimated_shares(matrix, np.array([new.count(job) for job in "abc"]))
        assert shares.sum() == pytest.approx(1.0)
        misses.append((shares - true / true.sum()) / errors)
    # Unbiased, and as far off as the standard errors say.
    assert np.mean(misses, axis=0) == pytest.approx(np.zeros(3), abs=0.6)
    assert np.std(misses, axis=0) == pytest.approx(np.ones(3), abs=0.35)


def test_a_given_matrix_is_followed() -> None:
    rows = pa.table({"sex": ["f"] * 50 + ["m"] * 50})
    matrix = {"f": {"m": 1.0}, "m": {"m": 1.0}}
    assert set(made({"method": "pram", "columns": ["sex"], "matrix": matrix}, rows)["sex"]) == {"m"}
    step = make_step({"method": "pram", "columns": ["sex"], "matrix": matrix})
    assert isinstance(step, Pram)
    assert step.guarantee(rows) == "local differential privacy of sex with ε = 0"
    one_sided = {"f": {"f": 0.5, "m": 0.5}, "m": {"m": 1.0}}
    assert "no formal guarantee" in make_step(
        {"method": "pram", "columns": ["sex"], "matrix": one_sided}
    ).guarantee(rows)
    with pytest.raises(InvalidParameter, match="no inverse"):
        estimated_shares(step.probabilities(["f", "m"]), np.array([0, 100]))


# ── chance ───────────────────────────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize(
    "entry",
    [
        {"method": "rank-swap", "columns": ["age"], "percent": 100},
        {"method": "permutation", "columns": ["age"]},
        {"method": "random-swap", "columns": ["age"], "percent": 100},
        {"method": "additive-noise", "columns": ["age"], "percent": 80},
        {"method": "pram", "columns": ["town"], "keep": 0.5},
    ],
    ids=lambda entry: entry["method"],
)
def test_only_a_seed_makes_chance_repeatable(entry: dict[str, Any]) -> None:
    rows = pa.concat_tables([AGES] * 10)
    step = make_step(entry)
    (name,) = step.columns

    def once(seed: int | None) -> list[Any]:
        return step.changed(rows, Randomness(seed))[name].to_pylist()  # type: ignore[no-any-return]

    assert once(7) == once(7)
    assert once(7) != once(8)
    assert once(None) != once(None)


# ── what is refused ──────────────────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize(
    ("entry", "name"),
    [
        ({"method": "permutation", "columns": ["age"], "together": "no"}, "together"),
        ({"method": "additive-noise", "columns": ["age"], "rescale": 0}, "rescale"),
        ({"method": "condensation", "columns": ["age"], "dynamic": "maybe"}, "dynamic"),
        ({"method": "date-shift", "columns": ["day"], "weekdays": 1}, "weekdays"),
    ],
    ids=lambda given: given if isinstance(given, str) else given["method"],
)
def test_what_is_true_or_false_takes_no_word(entry: dict[str, Any], name: str) -> None:
    with pytest.raises(InvalidParameter, match=f"{name} of .* is neither true nor false"):
        make_step(entry)


@pytest.mark.parametrize(
    ("entry", "told"),
    [
        ({"method": "rank-swop", "columns": ["age"]}, "did you mean 'rank-swap'"),
        ({"method": "rank-swap"}, "lacks columns"),
        ({"method": "rank-swap", "columns": []}, "names no column"),
        ({"method": "rank-swap", "columns": ["age", "age"]}, "names a column twice"),
        ({"method": "rank-swap", "columns": ["age"], "percent": 0}, "above 0 and at most 100"),
        ({"method": "rank-swap", "columns": ["age"], "percent": 101}, "above 0 and at most 100"),
        ({"method": "rank-swap", "columns": ["age"], "percent": True}, "must be a number"),
        ({"method": "rank-swap", "columns": ["age"], "p": 5}, "no parameter p"),
        ({"method": "additive-noise", "columns": ["age"], "shape": "cauchy"}, "normal, uniform, laplace"),
        ({"method": "additive-noise", "columns": ["age"], "low": 5, "high": 5}, "not below high"),
        ({"method": "additive-noise", "columns": ["age"], "percent": float("nan")}, "must be a number"),
        ({"method": "multiplicative-noise", "columns": ["age"], "percent": 1e300}, "at most 10000"),
        ({"method": "correlated-noise", "columns": ["age"]}, "nothing to be correlated with"),
        ({"method": "top-bottom-coding", "columns": ["age"]}, "neither top nor bottom"),
        ({"method": "top-bottom-coding", "columns": ["age"], "top": 1, "bottom": 2}, "not below top"),
        ({"method": "round", "columns": ["age"], "base": -1}, "above 0"),
        ({"method": "microaggregation", "columns": ["age"], "k": 1}, "at least 2"),
        ({"method": "microaggregation", "columns": ["age"], "k": 2.5}, "whole number"),
        ({"method": "date-shift", "columns": ["age"], "days": 0}, "at least 1"),
        ({"method": "pram", "columns": ["town"]}, "one of keep, epsilon and matrix"),
        ({"method": "pram", "columns": ["town"], "keep": 0.5, "epsilon": 1}, "one of keep"),
        ({"method": "pram", "columns": ["town"], "keep": 1.5}, "at most 1"),
        ({"method": "pram", "columns": ["town"], "keep": 0.5, "within": ["age"]}, "within of pram says nothing"),
        ({"method": "pram", "columns": ["town"], "matrix": {"A": {"A": 0.9}}}, "sum to 1"),
        ({"method": "pram", "columns": ["town"], "matrix": {"A": {"A": 1.5, "B": -0.5}}}, "sum to 1"),
        ({"method": "pram", "columns": ["town"], "matrix": {"A": 1}}, "a row of probabilities"),
    ],
)  # fmt: skip
def test_parameters_that_make_no_sense(entry: dict[str, Any], told: str) -> None:
    with pytest.raises(InvalidParameter, match=told):
        make_step(entry)


@pytest.mark.parametrize(
    ("entry", "told"),
    [
        ({"method": "rank-swap", "columns": ["town"]}, "does not hold numbers"),
        ({"method": "additive-noise", "columns": ["town"]}, "does not hold numbers"),
        ({"method": "additive-noise", "columns": ["age"], "low": 30}, "outside the bounds"),
        ({"method": "date-shift", "columns": ["age"]}, "does not hold dates"),
        ({"method": "round", "columns": ["age"], "base": 2.5}, "whole numbers"),
        ({"method": "microaggregation", "columns": ["age"], "k": 9}, "fewer than k values"),
        ({"method": "pram", "columns": ["town"], "matrix": {"A": {"A": 1.0}}}, "lacks a row for 1 values"),
    ],
)
def test_columns_that_do_not_suit(entry: dict[str, Any], told: str) -> None:
    with pytest.raises((UnsuitableColumn, InvalidParameter), match=told):
        make_step(entry).changed(AGES, Randomness(1))


def test_a_column_that_is_not_there() -> None:
    with pytest.raises(UnknownColumn, match="did you mean 'age'"):
        make_step({"method": "rank-swap", "columns": ["agee"]}).fit(AGES)


def spoiled(step: Perturbation, rows: pa.Table, name: str, value: object) -> str:
    """What a step says of its result after one cell was changed."""
    new = step.changed(rows, Randomness(1))
    cells = new[name].to_pylist()
    cells[0] = value
    columns = {**new, name: pa.array(cells, new[name].type)}
    return step.complaint(rows, pa.table(columns), np.arange(rows.num_rows))


@pytest.mark.parametrize(
    ("entry", "value"),
    [
        ({"method": "rank-swap", "columns": ["age"], "percent": 12.5}, 90),
        ({"method": "rank-swap", "columns": ["age"], "percent": 100}, 91),
        ({"method": "permutation", "columns": ["age"], "within": ["town"]}, 90),
        ({"method": "random-swap", "columns": ["age"], "percent": 50}, 7),
        ({"method": "additive-noise", "columns": ["age"], "low": 0, "high": 100}, 101),
        ({"method": "top-bottom-coding", "columns": ["age"], "top": 50}, 51),
        ({"method": "round", "columns": ["age"], "base": 25}, 30),
        ({"method": "round", "columns": ["age"], "base": 25}, 75),
        ({"method": "microaggregation", "columns": ["age"], "k": 4}, 33),
    ],
)
def test_what_a_step_keeps_is_seen_on_the_rows(entry: dict[str, Any], value: object) -> None:
    assert spoiled(make_step(entry), AGES, "age", value) != ""


def test_a_value_that_a_matrix_does_not_allow_is_seen() -> None:
    step = Pram(("town",), matrix={"A": {"A": 1.0}, "B": {"A": 0.5, "B": 0.5}})
    assert "cannot become" in spoiled(step, AGES, "town", "B")
    assert "does not have" in spoiled(step, AGES, "town", "C")


@pytest.mark.parametrize("name", STEPS)
def test_a_step_reads_back_from_what_it_writes(name: str) -> None:
    given: dict[str, dict[str, Any]] = {
        "pram": {"keep": 0.9},
        "top-bottom-coding": {"top": 3},
        "correlated-noise": {"columns": ["a", "b"]},
        "targeted-swap": {"known": ["b"]},
        "shuffling": {"given": ["b"]},
        "svd": {"columns": ["a", "b"], "rank": 1},
        "slicing": {"sensitive": "a", "slices": 1, "beside": ["b"]},
        "joint-pram": {"columns": ["a", "b"], "keep": 0.9},
        "discretise": {"width": 10},
        "encoded-part": {"kind": "ip", "part": "prefix"},
        "stand-ins": {"kind": "name"},
        "position-grid": {"columns": ["a", "b"]},
    }
    step = make_step({"method": name, "columns": ["a"], **given.get(name, {})})
    assert make_step(step.to_dict()) == step
    assert step.describe().startswith(f"{name} of a")


@pytest.mark.parametrize("keep", [0.5001, 0.6, 0.7499, 0.9, 0.97])
def test_the_epsilon_that_is_told_is_never_below_that_of_the_matrix(keep: float) -> None:
    rows = pa.table({"job": ["a", "b", "c"]})
    step = Pram(("job",), keep=keep)
    told = float(step.guarantee(rows).split("ε = ")[1].split(" ")[0])
    true = math.log(keep / ((1 - keep) / 2))
    assert true <= told <= true * 1.001 + 1e-9
    assert "ε = 1 among" in Pram(("job",), epsilon=1).guarantee(rows)
