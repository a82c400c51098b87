"""Budgets over REST: set, foreseen and spent from the ledger beside the file; uploads, which are wiped, have none."""

from __future__ import annotations

from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("fastapi")
pytest.importorskip("opendp")

from click.testing import CliRunner
from starlette.testclient import TestClient

from discreet.cli import cli
from discreet.dp.certificate import read_statement
from discreet.dp.ledger import Ledger
from helpers.server import wait_for

pytest_plugins = ("helpers.server",)
TABLE = "who,sex,age\n" + "".join(f"{i},{'fm'[i % 2]},{20 + i % 40}\n" for i in range(120))
TERMS = {"epsilon": "1/4", "person": "who", "keys": {"sex": ["f", "m"]}}


def ended(client: TestClient, table: str, kind: str) -> dict[str, Any]:
    """The newest job of a kind, once it has ended."""

    def last() -> dict[str, Any] | None:
        jobs = [job for job in client.get(f"/api/v1/tables/{table}").json()["jobs"] if job["kind"] == kind]
        return jobs[-1] if jobs and jobs[-1]["state"] not in ("queued", "running") else None

    job: dict[str, Any] = wait_for(last)
    return job


@pytest.fixture
def file(tmp_path: Path) -> Path:
    (tmp_path / "people.csv").write_text(TABLE, encoding="utf-8")
    return tmp_path / "people.csv"


@pytest.fixture
def table(client: TestClient, file: Path) -> str:
    made = str(client.post("/api/v1/tables/from-path", json={"path": str(file)}).json()["id"])
    assert ended(client, made, "read")["state"] == "done"
    return made


def run(client: TestClient, table: str, kind: str, **parameters: Any) -> dict[str, Any]:
    """A job to its end, and its result if it has one."""
    started = client.post(f"/api/v1/tables/{table}/jobs/{kind}", json={**TERMS, **parameters})
    assert started.status_code == 202, started.text
    job = ended(client, table, kind)
    result = client.get(f"/api/v1/tables/{table}/jobs/{job['id']}/result")
    return {**job, "result": result.json() if result.status_code == 200 else None}


def test_a_budget_is_set_foreseen_and_spent(client: TestClient, table: str, file: Path) -> None:
    home = f"/api/v1/tables/{table}/budget"
    assert client.get(home).json()["code"] == "invalid-parameter"
    assert client.put(home, json={"epsilon": "1", "delta": "1e-5"}).json()["left"]["epsilon"] == "1"
    foreseen = client.get(f"{home}/foresee", params={"epsilon": "1"}).json()
    assert foreseen["allowed"] is True
    assert "who was 1% sure that somebody is in the table is at most 2.7% sure" in foreseen["alone"]
    assert client.get(f"{home}/foresee", params={"epsilon": "1.5"}).json()["allowed"] is False
    question = "select sex, count(*) from data group by sex"
    answered = run(client, table, "ask", question=question)
    assert answered["state"] == "done", answered
    assert answered["result"]["schema"] == "discreet-answer-1"
    made = run(client, table, "tabulate", tables=[["sex"]])
    assert made["result"]["tables"][0]["cells"] == 3
    people = run(client, table, "synthesize", columns=["sex", "age"], bounds={"age": [0, 99]}, delta="1e-6")
    assert people["result"]["columns"] == ["sex", "age"]
    told = client.get(home).json()
    assert told["left"] == {"epsilon": "0.25", "delta": "9e-6"}
    # The ledger is the one that the command line has, and outlasts the table.
    assert Ledger.beside(file).balance().spent_epsilon == Fraction(3, 4)
    refused = run(client, table, "ask", question=question, epsilon="0.5")
    assert (refused["state"], refused["error"]["code"]) == ("failed", "budget-exceeded")
    for what in ("tables", "artificial"):
        rows = client.get(f"/api/v1/tables/{table}/downloads/{what}")
        assert rows.text.startswith('"sex"')
        statement = client.get(f"/api/v1/tables/{table}/downloads/{what}-guarantee")
        (file.parent / "statement.json").write_bytes(statement.content)
        assert read_statement(file.parent / "statement.json").epsilon == Fraction(1, 4)


def test_an_uploaded_table_has_no_budget(client: TestClient) -> None:
    made = client.post("/api/v1/tables", params={"name": "people.csv"}, content=TABLE).json()["id"]
    assert ended(client, made, "read")["state"] == "done"
    refused = client.put(f"/api/v1/tables/{made}/budget", json={"epsilon": "1"})
    assert refused.status_code == 422
    assert "forgotten with the table" in refused.json()["message"]
    failed = run(client, made, "ask", question="select count(*) from data", keys={})
    assert (failed["state"], failed["error"]["code"]) == ("failed", "invalid-parameter")


@pytest.mark.parametrize("epsilon", ["-1", "nan", "1e999999999", "", "x" * 99])
def test_amounts_that_make_no_sense_are_refused(epsilon: str, client: TestClient, table: str) -> None:
    home = f"/api/v1/tables/{table}/budget"
    assert client.put(home, json={"epsilon": epsilon}).status_code == 422
    assert client.get(f"{home}/foresee", params={"epsilon": epsilon}).status_code == 422


def test_the_command_line_foresees_too(file: Path) -> None:
    run_cli = CliRunner().invoke
    assert run_cli(cli, ["budget", "set", str(file), "--epsilon", "1"]).exit_code == 0
    shown = run_cli(cli, ["budget", "foresee", str(file), "--epsilon", "2"]).output
    assert "at most 6.9% sure" in shown
    assert "does not have so much left" in shown
    assert Ledger.beside(file).balance().spent_epsilon == 0
