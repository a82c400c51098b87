"""Artificial values: what is kept of distributions and of what goes together, and what is refused."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import spearmanr

import discreet
from discreet.errors import InvalidParameter
from discreet.perturb.randomness import Randomness
from discreet.perturb.registry import make_step
from discreet.perturb.synthesis import Synthesis, SyntheticCopula, SyntheticTable, SyntheticTrees
from discreet.policy.file import dumps, loads
from discreet.privacy import KAnonymity

KINDS = ["synthetic-trees", "synthetic-chain", "synthetic-copula", "synthetic-table"]


def people(rows: int = 2000) -> pa.Table:
    """Pay follows from job and age; whether somebody is ill from age; sex from nothing."""
    rng = np.random.default_rng(4)
    age = rng.integers(18, 80, rows)
    job = rng.choice(["clerk", "cook", "judge"], rows, p=[0.5, 0.3, 0.2])
    base = np.array([{"clerk": 2000, "cook": 1500, "judge": 6000}[each] for each in job])
    return pa.table(
        {
            "age": age,
            "sex": rng.choice(["f", "m"], rows),
            "job": job,
            "pay": (base + 20 * age + rng.normal(0, 100, rows)).round(0),
            "ill": np.where(rng.random(rows) < (age - 10) / 90, "yes", "no"),
        }
    )


def mean_by(rows: pa.Table, value: str, group: str) -> dict[str, float]:
    labels, numbers = np.array(rows[group].to_pylist()), np.array(rows[value].to_pylist(), dtype=float)
    return {each: float(numbers[labels == each].mean()) for each in sorted(set(labels.tolist()))}


def drawn(step: Synthesis, rows: pa.Table, seed: int = 1) -> pa.Table:
    new = step.changed(rows, Randomness(seed))
    assert step.complaint(rows, pa.table(new), np.arange(rows.num_rows)) == ""
    return pa.table({name: new.get(name, rows[name]) for name in rows.column_names})


# ── what is kept ──────────────────────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize("kind", KINDS)
def test_whole_records_are_drawn_with_the_distributions_of_the_table(kind: str) -> None:
    rows = people()
    step = make_step({"method": kind, "columns": rows.column_names})
    assert isinstance(step, Synthesis)
    made = drawn(step, rows)
    for name in ("job", "sex", "ill"):
        for value in set(rows[name].to_pylist()):
            before, after = (np.mean(np.array(side[name].to_pylist()) == value) for side in (rows, made))
            assert abs(before - after) < 0.05
    assert abs(np.mean(made["age"].to_numpy()) - np.mean(rows["age"].to_numpy())) < 2
    assert not made.equals(rows)


def test_trees_keep_what_follows_from_categories_and_numbers() -> None:
    rows = people()
    made = drawn(SyntheticTrees(tuple(rows.column_names)), rows)
    before, after = mean_by(rows, "pay", "job"), mean_by(made, "pay", "job")
    assert all(abs(after[job] - before[job]) < 0.05 * before[job] for job in before)
    for side in (rows, made):
        old = np.array(side["age"].to_pylist()) > 50
        ill = np.array(side["ill"].to_pylist()) == "yes"
        assert ill[old].mean() - ill[~old].mean() > 0.25
    clerks = np.array(made["job"].to_pylist()) == "clerk"
    assert spearmanr(made["age"].to_numpy()[clerks], made["pay"].to_numpy()[clerks])[0] > 0.8


def test_a_copula_keeps_correlations_of_ranks() -> None:
    rng = np.random.default_rng(1)
    x = rng.normal(size=3000)
    rows = pa.table({"x": np.exp(x), "y": x + rng.normal(size=3000), "z": rng.random(3000)})
    made = drawn(SyntheticCopula(("x", "y", "z")), rows)
    for first, second in (("x", "y"), ("x", "z"), ("y", "z")):
        before, after = (spearmanr(side[first], side[second])[0] for side in (rows, made))
        assert abs(before - after) < 0.06


@pytest.mark.parametrize("kind", KINDS)
def test_only_the_sensitive_columns_may_be_artificial(kind: str) -> None:
    rows = people()
    given = ("job",) if kind == "synthetic-table" else ("age", "sex", "job")
    step = make_step({"method": kind, "columns": ["pay"], "given": given})
    assert isinstance(step, Synthesis)
    made = drawn(step, rows)
    assert made.drop_columns(["pay"]).equals(rows.drop_columns(["pay"]))
    true, new = rows["pay"].to_numpy(), made["pay"].to_numpy()
    # One of at least five in a leaf lends its own value.
    assert (true != new).mean() > 0.8
    if kind != "synthetic-copula":
        before, after = mean_by(rows, "pay", "job"), mean_by(made, "pay", "job")
        assert all(abs(after[job] - before[job]) < 0.05 * before[job] for job in before)
    else:
        assert abs(spearmanr(rows["age"], true)[0] - spearmanr(made["age"], new)[0]) < 0.06


def test_the_table_has_no_combination_that_nobody_has() -> None:
    rows = people(50)
    made = drawn(SyntheticTable(("age", "job", "pay")), rows)
    true = {tuple(row.values()) for row in rows.select(["age", "job", "pay"]).to_pylist()}
    assert {tuple(row.values()) for row in made.select(["age", "job", "pay"]).to_pylist()} <= true


VALUES = st.lists(
    st.tuples(st.sampled_from(["a", "b", None]), st.one_of(st.none(), st.integers(-3, 3)), st.booleans()),
    min_size=1,
    max_size=30,
)


@given(VALUES, st.sampled_from(KINDS), st.booleans(), st.integers(0, 100))
def test_every_value_is_one_of_the_columns(rows: list[Any], kind: str, partly: bool, seed: int) -> None:
    texts, numbers, flags = (list(column) for column in zip(*rows, strict=True))
    table = pa.table(
        {"t": pa.array(texts, pa.string()), "n": pa.array(numbers, pa.int16()), "b": pa.array(flags)}
    )
    columns, held = (["n"], ["t", "b"]) if partly else (["t", "n", "b"], [])
    step = make_step({"method": kind, "columns": columns, "given": held})
    new = step.changed(table, Randomness(seed))
    assert set(new) == set(columns)
    for name, values in new.items():
        assert values.type == table[name].type
        assert set(values.to_pylist()) <= set(table[name].to_pylist())
    assert step.complaint(table, pa.table(new), np.arange(len(rows))) == ""


def test_a_value_that_the_column_did_not_have_is_noticed() -> None:
    rows = people(40)
    for kind in KINDS:
        step = make_step({"method": kind, "columns": ["pay"], "given": ["job"]})
        spoiled = pa.table({"pay": [-1.0] * 40})
        assert "did not have" in (told := step.complaint(rows, spoiled, np.arange(40))) or "no such" in told


# ── releases ──────────────────────────────────────────────────────────────────────────────────────────


def test_a_release_with_artificial_values_is_verified_and_tells_broken_rules(tmp_path: Path) -> None:
    rows = people(600)
    step = SyntheticTrees(("pay", "ill"), given=("age", "sex", "job"))
    text = dumps(
        discreet.Policy.of(
            quasi_identifiers=["age", "sex", "job"],
            sensitive=["pay", "ill"],
            require=[KAnonymity(3)],
            profile="research-partner-3",
        ).perturbed_by(step)
    )
    policy = loads(
        text + '\n[[constraint]]\nname = "judges earn more"\nholds = "NOT (job = \'judge\' AND pay < 5000)"\n'
    )
    assert policy.perturb == (step,)
    release = discreet.anonymize(rows, policy, plan=discreet.Plan(method="mondrian"))
    release.save(tmp_path / "open.csv")
    told = release.to_dict()
    assert told["perturbation"][0]["guarantee"].startswith("no formal guarantee")  # type: ignore[index]
    assert told["constraints"][0]["before"] == 0  # type: ignore[index]
    assert release.recipe.perturb[0]["method"] == "synthetic-trees"


@pytest.mark.parametrize(
    ("entry", "told"),
    [
        ({"method": "synthetic-trees", "columns": ["a"], "given": ["a"]}, "both given and drawn"),
        ({"method": "synthetic-trees", "columns": ["a"], "leaf": 0}, "must be a number at least 1"),
        ({"method": "synthetic-trees", "columns": ["a"], "leaf": 2.5}, "whole number"),
        ({"method": "synthetic-copula", "columns": ["a"], "leaf": 5}, "leaf"),
    ],
)
def test_parameters_that_make_no_sense(entry: dict[str, object], told: str) -> None:
    with pytest.raises(InvalidParameter, match=told):
        make_step(entry)
