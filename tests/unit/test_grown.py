"""A table that is published again with more people: BCF-anonymity searched for, and measured on what comes of it."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.csv
import pytest

import discreet
from discreet import Plan, Policy
from discreet.errors import GoalUnreachable, InvalidParameter
from discreet.privacy import KAnonymity
from discreet.release.composition import bcf_anonymity
from discreet.release.grown import anonymize_grown, least_of
from helpers.program import run_here

PLAN = Plan(method="optimal", suppression_limit=0.0)


def people(size: int, seed: int) -> pa.Table:
    rng = np.random.default_rng(seed)
    return pa.table(
        {
            "age": rng.integers(20, 40, size),
            "town": rng.choice(["Graz", "Linz", "Wels"], size),
            "ill": rng.choice(["flu", "cold"], size),
        }
    )


def policy(k: int = 3) -> Policy:
    return Policy.of(
        quasi_identifiers=["age", "town"],
        sensitive=["ill"],
        require=[KAnonymity(k)],
        profile="research-partner-3",
    )


@pytest.mark.parametrize("seed", range(3))
def test_what_is_found_leaves_everybody_enough_records(seed: int) -> None:
    rows = people(90, seed)
    # No attack leaves more than the earlier release had.
    first = discreet.anonymize(rows.slice(0, 60), policy(8), plan=PLAN).to_arrow()
    alone = discreet.anonymize(rows, policy(), plan=PLAN)
    found = anonymize_grown(rows, policy(), earlier=[first], bcf=6, plan=PLAN)
    left = bcf_anonymity(found.to_arrow(), policy(), earlier=[first], original=rows)
    assert left.holds(6)
    assert found.notes[-1] == left.says
    assert found.suppressed == 0
    assert found.verify(found.to_arrow()).holds
    # It costs as much as it must: where the release alone leaves enough, it is that one.
    if bcf_anonymity(alone, policy(), earlier=[first], original=rows).holds(6):
        assert found.after.measure("k-anonymity").value >= alone.after.measure("k-anonymity").value
    attacked = discreet.attack(found, policy(), original=rows, earlier=[first], attacks=["homogeneity"])
    for each in attacked.results:
        if each.attack in ("forward-attack", "cross-attack", "backward-attack"):
            assert dict(each.figures)["least-records-left"] >= 6


def test_it_makes_a_difference() -> None:
    """Some release that is 3-anonymous by itself leaves somebody fewer than three records beside the one before."""
    weaker = 0
    for seed in range(5):
        rows = people(60, seed)
        first = discreet.anonymize(rows.slice(0, 40), policy(), plan=PLAN).to_arrow()
        alone = discreet.anonymize(rows, policy(), plan=PLAN)
        if not bcf_anonymity(alone, policy(), earlier=[first], original=rows).holds(3):
            weaker += 1
            found = anonymize_grown(rows, policy(), earlier=[first], bcf=3, plan=PLAN)
            assert bcf_anonymity(found, policy(), earlier=[first], original=rows).holds(3)
    assert weaker


def test_what_cannot_be_had_is_refused() -> None:
    rows = people(30, 1)
    first = discreet.anonymize(rows.slice(0, 20), policy(), plan=PLAN).to_arrow()
    with pytest.raises(GoalUnreachable, match="enough records beside"):
        anonymize_grown(rows, policy(), earlier=[first], bcf=25, plan=PLAN)
    with pytest.raises(InvalidParameter, match="of several releases"):
        anonymize_grown(rows, policy(), earlier=[], bcf=2)
    with pytest.raises(InvalidParameter, match="rows are drawn"):
        anonymize_grown(rows, policy(), earlier=[first], bcf=2, plan=Plan(sample=0.5, seed=9))
    # Somebody of the first release is gone.
    with pytest.raises(InvalidParameter, match="it is not the same table with more people"):
        anonymize_grown(rows.slice(15), policy(), earlier=[first], bcf=2, plan=PLAN)


@pytest.mark.parametrize("least", range(1, 40, 3))
def test_the_least_number_is_found(least: int) -> None:
    asked: list[int] = []

    def holds(size: int) -> bool:
        asked.append(size)
        return size >= least

    assert least_of(holds, 1, 50, lambda: 1.0) == least
    assert len(asked) <= 12


def test_command_line(tmp_path: Path) -> None:
    rows = people(60, 3)
    pyarrow.csv.write_csv(rows, tmp_path / "people.csv")
    pyarrow.csv.write_csv(rows.slice(0, 40), tmp_path / "before.csv")
    roles = [
        "--qi",
        "age,town",
        "--sensitive",
        "ill",
        "--profile",
        "research-partner-3",
        "--method",
        "optimal",
    ]
    roles += ["--suppression", "0"]
    assert run_here(["anonymize", "before.csv", "-o", "first.csv", *roles], tmp_path)[0] == 0
    more = ["anonymize", "people.csv", "-o", "second.csv", *roles, "--earlier", "first.csv"]
    code, out, err = run_here([*more, "--bcf", "3"], tmp_path)
    assert code == 0, out + err
    assert "BCF-anonymity: records left for a person" in " ".join(out.split())
    attack = ["attack", "second.csv", "--original", "people.csv", "--earlier", "first.csv", *roles[:4]]
    attack += ["--attacks", "homogeneity", "--bcf"]
    assert run_here([*attack, "3"], tmp_path)[0] == 0
    assert run_here(more, tmp_path)[0] == 2
