"""KPIs of a policy under a budget: those with a bound share the amount, the others are refused with the reason."""

from __future__ import annotations

import json
from fractions import Fraction
from pathlib import Path

import pyarrow as pa
import pyarrow.csv as pc
import pytest
from click.testing import CliRunner

import discreet
from discreet.cli import cli
from discreet.dp.ledger import Ledger
from discreet.errors import BudgetExceeded, InvalidParameter

pytest.importorskip("opendp")

SURE = 10**9
"""So much that noise is nought."""
POLICY = """
[columns.who]
role = "person-id"
[columns.sex]
role = "quasi-identifier"
[[kpi]]
name = "how many by sex"
query = "select sex, count(*) from data group by sex"
tolerance = 0.1
[[kpi]]
name = "mean age"
query = "select avg(age) from data where sex = 'f'"
[[kpi]]
name = "oldest"
query = "select max(age) from data"
[[kpi]]
name = "joined"
query = "select count(*) from data join data"
"""


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    rows = pa.table({"who": list(range(6)), "sex": ["f", "m"] * 3, "age": [30, 40, 50, 60, 70, 80]})
    pc.write_csv(rows, tmp_path / "people.csv")
    (tmp_path / "policy.toml").write_text(POLICY)
    Ledger.beside(tmp_path / "people.csv").set_budget(10**12)
    return tmp_path


def asked(folder: Path, names: list[str] | None = None, **terms: object) -> dict[str, discreet.KpiAnswer]:
    given = {"epsilon": SURE, "keys": {"sex": ["f", "m"]}, "bounds": {"age": (0, 100)}, **terms}
    answers = discreet.ask_kpis(folder / "people.csv", folder / "policy.toml", names, **given)  # type: ignore[arg-type]
    return {answer.name: answer for answer in answers}


def test_those_with_a_bound_are_answered_and_the_others_say_why_not(folder: Path) -> None:
    answers = asked(folder)
    by_sex, mean = answers["how many by sex"], answers["mean age"]
    assert by_sex.answer is not None
    assert [(row.keys, row.figures[0].value) for row in by_sex.answer.rows] == [(("f",), 3), (("m",), 3)]
    assert by_sex.precise is True
    assert mean.answer is not None
    assert mean.answer.value == pytest.approx(50)
    assert mean.precise is None
    assert answers["oldest"].answer is None
    assert "value of one person" in answers["oldest"].reason
    assert "joins" in answers["joined"].reason


def test_the_amount_is_shared_by_those_that_are_answered(folder: Path) -> None:
    answers = asked(folder, epsilon="1/3")
    ledger = Ledger.beside(folder / "people.csv").balance()
    assert ledger.spent_epsilon == Fraction(1, 3)
    assert [entry.epsilon for entry in ledger.entries if entry.kind == "reserve"] == [Fraction(1, 6)] * 2
    # With so little the interval of three people reaches beyond a tenth of them.
    assert answers["how many by sex"].precise is False


def test_the_person_is_that_of_the_policy_and_may_be_a_record(folder: Path) -> None:
    told = asked(folder, ["mean age"])["mean age"].answer
    assert told is not None
    assert told.guarantee.unit == "person"
    told = asked(folder, ["mean age"], unit="record")["mean age"].answer
    assert told is not None
    assert told.guarantee.unit == "record"


def test_what_lacks_bounds_or_keys_is_refused_and_costs_nothing(folder: Path) -> None:
    answers = asked(folder, bounds={}, keys={})
    assert "have no bounds" in answers["mean age"].reason
    assert "needs a delta" in answers["how many by sex"].reason
    assert Ledger.beside(folder / "people.csv").balance().spent_epsilon == 0


def test_names_that_the_policy_does_not_have_are_refused(folder: Path) -> None:
    with pytest.raises(InvalidParameter, match=r"no KPI 'meen age'.*mean age"):
        asked(folder, ["meen age"])
    with pytest.raises(InvalidParameter, match="has no KPIs"):
        discreet.ask_kpis(
            folder / "people.csv", {"columns": {"sex": {"role": "quasi-identifier"}}}, epsilon=1
        )


def test_more_than_is_left_is_refused(folder: Path) -> None:
    Ledger.beside(folder / "people.csv").set_budget(1)
    with pytest.raises(BudgetExceeded):
        asked(folder, ["mean age"], epsilon=2)


def test_all_are_paid_for_or_none(folder: Path) -> None:
    """Answers that were drawn and paid for are not lost with the one for which too little is left."""
    ledger = Ledger.beside(folder / "people.csv")
    ledger.set_budget(1)
    with pytest.raises(BudgetExceeded, match=r"epsilon 1\.5 is asked for, and of 1 1 is left"):
        asked(folder, epsilon="1.5")
    assert ledger.balance().spent_epsilon == 0
    # Neither has a use for a δ, so the budget needs none.
    assert asked(folder, epsilon=1, delta="1e-6")["mean age"].answer is not None
    assert (ledger.balance().spent_epsilon, ledger.balance().spent_delta) == (1, 0)


def test_the_command_line(folder: Path) -> None:
    start = ["ask", str(folder / "people.csv")]
    named = ["--policy", str(folder / "policy.toml"), "--epsilon", "1000000"]
    more = ["--bounds", "age=0:100", "--keys", "sex=f,m"]
    shown = CliRunner().invoke(cli, [*start, *named, *more, "--kpi", "mean age", "--kpi", "oldest"])
    assert "shows the value of one person" in " ".join(shown.output.split())
    told = CliRunner().invoke(cli, [*start, *named, *more, "--kpi", "mean age", "--json"])
    document = json.loads(told.stdout)
    assert document["schema"] == "discreet-kpi-answers-1"
    assert document["kpis"][0]["answer"]["rows"][0]["figures"][0]["value"] == pytest.approx(50, abs=0.1)
    output = folder / "mean.csv"
    CliRunner().invoke(cli, [*start, *named, *more, "--kpi", "mean age", "-o", str(output)])
    assert output.with_name("mean.csv.guarantee.json").exists()
    for wrong in ([*named], [*named, "select 1", "--kpi", "x"], ["--epsilon", "1", "--kpi", "x"]):
        refused = CliRunner().invoke(cli, [*start, *wrong])
        assert refused.exit_code == 2
        assert "ask a QUESTION, or name a --policy" in refused.output
