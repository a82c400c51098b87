"""Recoding that is imposed, classes of noise, optimised and joint PRAM, hybrids: what each keeps, by hand and by brute force."""

from __future__ import annotations

import itertools
from collections import Counter
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

from discreet.errors import InvalidParameter, UnsuitableColumn
from discreet.perturb.base import Perturbation
from discreet.perturb.joint_pram import JointPram
from discreet.perturb.pram import estimated_shares, optimised
from discreet.perturb.randomness import Randomness
from discreet.perturb.registry import make_step
from discreet.table.values import parse


def made(entry: dict[str, Any], rows: pa.Table) -> dict[str, pa.Array]:
    """The new values of a step, which must keep what it says that it keeps."""
    step = make_step(entry)
    step.fit(rows)
    new = step.changed(rows, Randomness(1))
    assert step.complaint(rows, pa.table(new), np.arange(rows.num_rows)) == ""
    return new


def spoiled(step: Perturbation, rows: pa.Table, name: str, value: object) -> str:
    """What a step says of its result after one cell was changed."""
    new = step.changed(rows, Randomness(1))
    cells = new[name].to_pylist()
    cells[0] = value
    return step.complaint(
        rows, pa.table({**new, name: pa.array(cells, new[name].type)}), np.arange(rows.num_rows)
    )


def test_one_statistic_stands_for_a_column() -> None:
    rows = pa.table({"pay": [1, 2, 2, 7, None], "job": ["b", "a", "b", "c", None]})
    shown = {
        name: made({"method": "column-statistic", "columns": ["pay"], "statistic": name}, rows)[
            "pay"
        ].to_pylist()
        for name in ("mean", "median", "mode", "minimum", "maximum", "sum", "variance")
    }
    # The variance of 1, 2, 2, 7 is (4 + 1 + 1 + 16) / 4 = 5.5, in a column of whole numbers 6.
    wanted = {"mean": 3, "median": 2, "mode": 2, "minimum": 1, "maximum": 7, "sum": 12, "variance": 6}
    assert shown == {name: [figure] * 4 + [None] for name, figure in wanted.items()}
    job = made({"method": "column-statistic", "columns": ["job"], "statistic": "mode"}, rows)["job"]
    assert job.to_pylist() == ["b", "b", "b", "b", None]
    with pytest.raises(UnsuitableColumn, match="does not hold numbers"):
        made({"method": "column-statistic", "columns": ["job"]}, rows)
    small = pa.table({"pay": pa.array([100, 100], pa.int8())})
    with pytest.raises(UnsuitableColumn, match="has no room"):
        made({"method": "column-statistic", "columns": ["pay"], "statistic": "sum"}, small)


@pytest.mark.parametrize(
    ("entry", "wanted"),
    [
        ({"width": 0.1}, ["[0.3, 0.4)", "[0.3, 0.4)", "[0.6, 0.7)", "[-0.1, 0)", None]),
        ({"width": 1, "start": 0.5}, ["[-0.5, 0.5)", "[-0.5, 0.5)", "[0.5, 1.5)", "[-0.5, 0.5)", None]),
        ({"cuts": [0, 0.6]}, ["[0, 0.6)", "[0, 0.6)", ">= 0.6", "< 0", None]),
        ({"parts": 2}, ["< 0.35", ">= 0.35", ">= 0.35", "< 0.35", None]),
    ],
)
def test_numbers_become_intervals_that_hold_them(entry: dict[str, Any], wanted: list[str | None]) -> None:
    rows = pa.table({"x": [0.3, 0.35, 0.6, -0.1, None]})
    step = make_step({"method": "discretise", "columns": ["x"], **entry})
    new = step.changed(rows, Randomness(1))["x"]
    assert new.to_pylist() == wanted
    for true, label in zip(rows["x"].to_pylist(), new.to_pylist(), strict=True):
        assert label is None or true in parse(label)
    assert step.complaint(rows, pa.table({"x": new}), np.arange(5)) == ""
    assert "not the interval" in spoiled(step, rows, "x", "[8, 9)")


def test_parts_hold_about_as_many_records() -> None:
    rows = pa.table({"x": np.random.default_rng(3).integers(0, 1000, 400)})
    new = made({"method": "discretise", "columns": ["x"], "parts": 4}, rows)["x"]
    assert all(95 <= count <= 105 for count in Counter(new.to_pylist()).values())


def test_identifiers_become_what_they_encode() -> None:
    rows = pa.table(
        {
            "vin": ["1HGCM82633A004352", "WVWZZZ1JZXW000001", "5YJ3E1EA7KF317000", "no vin", None],
            "cf": ["RSSMRA85T10A562S", "RCCMNL83S18D969H", "rssmra85t10a562s", "RSSMRA85T10A562X", None],
            "tel": ["+44 20 7946 0958", "030 901820", "+1 415 555 2671", "unlisted", None],
        }
    )
    parts = {
        ("vin", "vin", "year", None): [2003, 1999, 2019, None, None],
        ("vin", "vin", "region", None): ["North America", "Europe", "North America", None, None],
        ("vin", "vin", "maker", None): ["1HG", "WVW", "5YJ", None, None],
        ("vin", "vin", "body", None): ["CM826", "ZZZ1J", "3E1EA", None, None],
        ("cf", "national-id", "birth-year", "it"): [1985, 1983, 1985, None, None],
        ("cf", "national-id", "sex", "it"): ["m", "m", "m", None, None],
        ("tel", "phone", "country", "de"): ["GB", "DE", "US", None, None],
    }
    for (name, kind, part, country), wanted in parts.items():
        given = {} if country is None else {"country": country}
        step = make_step({"method": "encoded-part", "columns": [name], "kind": kind, "part": part, **given})
        new = step.changed(rows, Randomness())
        assert new[name].to_pylist() == wanted
        assert step.complaint(rows, pa.table(new), np.arange(5)) == ""
        assert step.shortfall(rows, new).startswith("1 values could not be read")


@pytest.mark.parametrize(
    ("entry", "told"),
    [
        ({"method": "discretise", "columns": ["age"]}, "one of width, cuts and parts"),
        ({"method": "discretise", "columns": ["age"], "cuts": [3, 2]}, "do not rise"),
        ({"method": "discretise", "columns": ["age"], "parts": 2.5}, "whole number"),
        ({"method": "encoded-part", "columns": ["age"], "kind": "ip", "part": "year"}, "no choice that it has"),
        ({"method": "encoded-part", "columns": ["age"], "kind": "vin", "part": "year", "bits": 3}, "addresses only"),
        ({"method": "encoded-part", "columns": ["age"], "kind": "national-id", "part": "sex"}, "no choice"),
        ({"method": "encoded-part", "columns": ["age"], "kind": "ip", "part": "prefix", "country": "de"}, "nothing"),
        ({"method": "pram", "columns": ["age"], "epsilon": 1, "kind": "optimised"}, "follows from keep"),
        ({"method": "joint-pram", "columns": ["age"], "clusters": 2, "keep": 0.5}, "at most that of its columns"),
        ({"method": "joint-pram", "columns": ["age"]}, "one of keep and epsilon"),
        ({"method": "synthetic-table", "columns": ["age"], "rarer": 1}, "at least 2"),
        ({"method": "additive-noise", "columns": ["age"], "within": ["age"]}, "both forms classes"),
    ],
)  # fmt: skip
def test_further_parameters_that_make_no_sense(entry: dict[str, Any], told: str) -> None:
    with pytest.raises(InvalidParameter, match=told):
        make_step(entry)


def test_noise_by_classes_keeps_means_and_deviations_of_each() -> None:
    rng = np.random.default_rng(2)
    group = np.repeat([0, 1], 4000)
    rows = pa.table({"g": group, "x": rng.normal(np.where(group, 1000.0, 10.0), np.where(group, 100.0, 1.0))})
    noise = {"method": "additive-noise", "columns": ["x"], "percent": 50, "rescale": True}
    new = make_step({**noise, "within": ["g"]}).changed(rows, Randomness(1))["x"].to_numpy()
    true = rows["x"].to_numpy()
    for each in (0, 1):
        assert new[group == each].std() == pytest.approx(true[group == each].std(), rel=0.05)
    # Of the whole column the deviation is 500: the same noise would bury the small class.
    wide = make_step(noise).changed(rows, Randomness(1))["x"].to_numpy()
    assert wide[group == 0].std() > 100 * new[group == 0].std()


def test_correlated_noise_by_classes_keeps_the_covariances_of_each() -> None:
    rng = np.random.default_rng(4)
    group = np.repeat([0, 1], 6000)
    x = rng.normal(size=12000)
    rows = pa.table({"g": group, "x": x, "y": np.where(group, x, -x) + 0.1 * rng.normal(size=12000)})
    entry = {"method": "correlated-noise", "columns": ["x", "y"], "percent": 60, "within": ["g"]}
    new = make_step(entry).changed(rows, Randomness(1))
    for each, sign in ((0, -1), (1, 1)):
        own = np.corrcoef(new["x"].to_numpy()[group == each], new["y"].to_numpy()[group == each])[0, 1]
        assert own * sign > 0.98


def test_an_optimised_matrix_is_the_cheapest_of_a_brute_force() -> None:
    """Three values: all matrices on a grid that keep shares and the limit cost at least as much."""
    counts, keep, steps = np.array([5, 3, 2]), 0.6, 5
    share = counts / counts.sum()
    made = optimised(counts, keep, ordered=True)
    assert np.allclose(made.sum(axis=1), 1)
    assert np.allclose(share @ made, share)
    assert (np.diag(made) <= keep + 1e-9).all()
    apart = np.abs(np.arange(3)[:, None] - np.arange(3)[None])
    cost = float((share[:, None] * made * apart).sum())
    grid = [np.array([i, j, steps - i - j]) / steps for i in range(steps + 1) for j in range(steps + 1 - i)]
    cheapest = min(
        float((share[:, None] * matrix * apart).sum())
        for matrix in (np.stack(rows) for rows in itertools.product(grid, repeat=3))
        if np.allclose(share @ matrix, share) and (np.diag(matrix) <= keep + 1e-9).all()
    )
    assert cost <= cheapest + 1e-9


def test_an_optimised_matrix_keeps_shares_and_leaves_nobody_surer() -> None:
    rng = np.random.default_rng(6)
    rows = pa.table({"n": rng.choice(5, 20_000, p=[0.3, 0.3, 0.2, 0.15, 0.05])})
    step = make_step({"method": "pram", "columns": ["n"], "kind": "optimised", "keep": 0.7})
    new = step.changed(rows, Randomness(2))["n"].to_numpy()
    true = rows["n"].to_numpy()
    assert np.abs(np.bincount(new) - np.bincount(true)).max() < 300
    for value in range(5):
        assert (true[new == value] == value).mean() < 0.73
    # Numbers move to their neighbours.
    assert np.abs(new - true).max() <= 2
    assert step.complaint(rows, pa.table({"n": new}), np.arange(20_000)) == ""


def test_combinations_of_a_cluster_stay_such_as_somebody_has() -> None:
    rng = np.random.default_rng(8)
    sex = rng.choice(["f", "m"], 6000)
    rows = pa.table(
        {
            "sex": sex,
            "ill": np.where(sex == "f", rng.choice(["a", "b"], 6000), rng.choice(["b", "c"], 6000)),
            "town": rng.choice(list("xyz"), 6000),
        }
    )
    step = JointPram(("sex", "ill", "town"), clusters=2, epsilon=2.0)
    assert step.clustered(rows) == [("sex", "ill"), ("town",)]
    new = pa.table(step.changed(rows, Randomness(3)))
    pairs = Counter(zip(new["sex"].to_pylist(), new["ill"].to_pylist(), strict=True))
    assert set(pairs) == {("f", "a"), ("f", "b"), ("m", "b"), ("m", "c")}
    assert step.complaint(rows, new, np.arange(6000)) == ""
    assert step.guarantee(rows).count("ε = 2 ") == 2
    # The matrix tells the true shares of the combinations again.
    keys = sorted(pairs)
    true = Counter(zip(rows["sex"].to_pylist(), rows["ill"].to_pylist(), strict=True))
    shares, errors = estimated_shares(step.matrix(4), np.array([pairs[key] for key in keys]))
    for key, estimate, error in zip(keys, shares, errors, strict=True):
        assert abs(estimate - true[key] / 6000) < 4 * error
    assert "nobody has" in spoiled(
        JointPram(("sex", "ill"), keep=1.0), rows, "ill", "a" if sex[0] == "m" else "c"
    )


def test_only_records_that_stand_out_are_drawn_anew() -> None:
    rng = np.random.default_rng(9)
    rows = pa.table(
        {"age": rng.integers(0, 60, 500), "job": rng.choice(list("ab"), 500), "pay": rng.integers(0, 3, 500)}
    )
    for method in ("synthetic-trees", "synthetic-chain", "synthetic-copula", "synthetic-table"):
        step = make_step({"method": method, "columns": ["age", "pay"], "given": ["job"], "rarer": 3})
        new = step.changed(rows, Randomness(1))
        often = Counter(zip(*(rows[name].to_pylist() for name in ("age", "pay", "job")), strict=True))
        changed = 0
        for i, row in enumerate(rows.to_pylist()):
            if often[row["age"], row["pay"], row["job"]] >= 3:
                assert (new["age"][i].as_py(), new["pay"][i].as_py()) == (row["age"], row["pay"])
            else:
                changed += new["age"][i].as_py() != row["age"]
        assert changed > 100
        assert "only records that stand out" in step.guarantee(rows)
