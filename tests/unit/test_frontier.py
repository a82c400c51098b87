"""Sweeping requirements and methods: the frontier, its knee, the chosen point."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from click.testing import CliRunner

import discreet
from discreet.errors import InvalidParameter
from discreet.example import town
from discreet.policy import Policy
from discreet.policy.plan import Plan
from discreet.release.frontier import Frontier, frontier


def policy() -> Policy:
    return Policy.of(
        quasi_identifiers=["age", "sex", "postcode"],
        sensitive=["diagnosis"],
        require=[discreet.KAnonymity(5)],
        profile="research-partner-5",
    )


@pytest.fixture(scope="module")
def swept() -> Frontier:
    table = discreet.read(town(800))
    return frontier(
        table, policy(), plan=Plan(method="optimal"), k=[2, 5, 20], methods=["optimal", "mondrian"]
    )


def test_every_setting_is_there_once(swept: Frontier) -> None:
    assert sorted(one.label for one in swept.points) == sorted(
        f"k={k} {method}" for k in (2, 5, 20) for method in ("optimal", "mondrian")
    )
    assert swept.chosen is not None
    assert swept.chosen.label == "k=5 optimal"
    assert not any(one.failed for one in swept.points)


def test_more_protection_costs_more_and_leaves_less_risk(swept: Frontier) -> None:
    for method in ("optimal", "mondrian"):
        points = sorted((one for one in swept.points if one.method == method), key=lambda one: one.k or 0)
        losses = [one.loss or 0.0 for one in points]
        risks = [one.mean_risk or 0.0 for one in points]
        assert losses == sorted(losses)
        assert risks == sorted(risks, reverse=True)
        assert all((one.max_risk or 1.0) <= 1 / (one.k or 1) + 1e-12 for one in points)


def test_the_frontier_holds_exactly_what_no_other_beats(swept: Frontier) -> None:
    for one in swept.points:
        assert one.loss is not None
        assert one.mean_risk is not None
        beaten = any(
            (other.loss or 0) <= one.loss
            and (other.mean_risk or 0) <= one.mean_risk
            and ((other.loss or 0) < one.loss or (other.mean_risk or 0) < one.mean_risk)
            for other in swept.points
        )
        assert one.best is not beaten
    assert swept.knee is None or swept.knee in swept.best


@pytest.mark.slow
def test_l_and_t_replace_the_policys_own() -> None:
    found = frontier(discreet.read(town(500)), policy(), l=[2, 4], t=[0.6], methods=["optimal"])
    labels = [one.label for one in found.points]
    assert "l=2 t=0.6 optimal" in labels
    by_label = {one.label: one for one in found.points}
    two, four = by_label["l=2 t=0.6 optimal"], by_label["l=4 t=0.6 optimal"]
    assert two.loss is not None
    assert four.loss is not None
    assert two.loss <= four.loss


def test_what_cannot_be_reached_is_told_and_the_rest_goes_on() -> None:
    found = frontier(discreet.read(town(60)), policy(), k=[2, 100], plan=Plan(suppression_limit=0.3))
    by_k = {one.k: one for one in found.points}
    assert by_k[100].failed
    assert by_k[2].loss is not None
    assert not by_k[100].best


def test_bad_sweeps_are_refused() -> None:
    table = discreet.read(town(60))
    with pytest.raises(InvalidParameter, match="no method"):
        frontier(table, policy(), methods=["optimum"])
    with pytest.raises(InvalidParameter, match="none"):
        frontier(table, policy().replace(sensitive=[]), t=[0.2])
    with pytest.raises(InvalidParameter, match="at most"):
        frontier(table, policy(), k=range(2, 300))


@pytest.mark.slow
def test_the_command(tmp_path: Path) -> None:
    from discreet.cli.frontier import frontier as command

    data = tmp_path / "town.parquet"
    import pyarrow.parquet

    pyarrow.parquet.write_table(town(300), data)
    chart = tmp_path / "f.svg"
    given = [str(data), "--qi", "age,sex", "--sensitive", "diagnosis", "--profile", "research-partner-5"]
    done = CliRunner().invoke(command, [*given, "--k", "2,5,10", "--chart", str(chart), "--json"])
    assert done.exit_code == 0, done.output
    told = json.loads(done.output)
    assert {point["k"] for point in told["points"]} == {2, 5, 10}
    assert sum(point["chosen"] for point in told["points"]) == 1
    assert "knee" in chart.read_text()
    shown = CliRunner().invoke(command, [*given, "--k", "2,5"])
    assert "Risk against loss" in shown.output
    with pytest.raises(InvalidParameter, match="--t"):
        CliRunner().invoke(command, [*given, "--t", "2"], catch_exceptions=False)
