"""Jobs that spend from a budget: key figures and truthful records over REST, and no job loses what another has spent."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("fastapi")
pytest.importorskip("opendp")

from starlette.testclient import TestClient

from discreet.web.service import Service
from helpers.server import ended

pytest_plugins = ("helpers.server",)
TABLE = "who,sex,age\n" + "".join(f"{i},{'fm'[i % 2]},{20 + i % 40}\n" for i in range(120))
TERMS: dict[str, Any] = {"epsilon": "1/4", "person": "who", "keys": {"sex": ["f", "m"]}}


@pytest.fixture
def table(client: TestClient, service: Service, tmp_path: Path) -> str:
    (tmp_path / "people.csv").write_text(TABLE, encoding="utf-8")
    made = client.post("/api/v1/tables/from-path", json={"path": str(tmp_path / "people.csv")}).json()["id"]
    assert ended(service, made, "read") == "done"
    return str(made)


def test_key_figures_and_truthful_records_are_paid_for(
    client: TestClient, service: Service, table: str
) -> None:
    home = f"/api/v1/tables/{table}"
    assert client.put(f"{home}/budget", json={"epsilon": "20", "delta": "1e-5"}).status_code == 200
    policy = client.get(f"{home}/policy").text
    policy += '[[kpi]]\nname = "people by sex"\nquery = "select sex, count(*) from data group by sex"\n'
    assert (
        client.put(f"{home}/policy", content=policy, headers={"content-type": "application/toml"}).status_code
        == 200
    )
    started = client.post(f"{home}/jobs/ask-kpis", json={**TERMS, "names": ["people by sex"]})
    assert started.status_code == 202, started.text
    assert ended(service, table, "ask-kpis") == "done"
    kpis = client.get(f"{home}/jobs/{started.json()['id']}/result").json()["kpis"]
    assert [kpi["name"] for kpi in kpis] == ["people by sex"]
    assert len(kpis[0]["answer"]["rows"]) == 2
    asked = {"epsilon": "2", "delta": "1e-6", "levels": {"age": 1}, "search_epsilon": "1"}
    trees = {"sex": [["f", "*"], ["m", "*"]], "age": [[str(age), "*"] for age in range(20, 60)]}
    started = client.post(f"{home}/jobs/safepub", json={**asked, "hierarchies": trees})
    assert started.status_code == 202, started.text
    assert ended(service, table, "safepub") == "done"
    assert client.get(f"{home}/downloads/records").text.startswith('"age","sex"')
    assert client.get(f"{home}/budget").json()["left"]["epsilon"] == "17.75"
    asked = {
        "epsilon": "1",
        "unit": "record",
        "label": "sex",
        "columns": ["age"],
        "bounds": {"age": [20, 60]},
    }
    started = client.post(f"{home}/jobs/learn", json={**asked, "keys": {"sex": ["f", "m"]}})
    assert started.status_code == 202, started.text
    assert ended(service, table, "learn") == "done"
    assert client.get(f"{home}/downloads/classifier").json()["labels"] == ["f", "m"]
    assert client.get(f"{home}/downloads/classifier-guarantee").json()["guarantee"]["epsilon"] == "1"


def test_a_job_that_spends_is_not_cancelled_by_another(
    client: TestClient, service: Service, table: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Its amount would stay spent, with nothing to show for it; cancelling it by its name is allowed."""
    home = f"/api/v1/tables/{table}/jobs"
    slow = replace(service.kinds["ask"], function="helpers.slow_jobs:sleeps")
    monkeypatch.setattr(service, "kinds", {**service.kinds, "ask": slow})
    question = {**TERMS, "question": "select count(*) from data", "keys": {}}
    first = client.post(f"{home}/ask", json=question)
    assert first.status_code == 202, first.text
    for kind, given in (("ask", question), ("read", {})):
        refused = client.post(f"{home}/{kind}", json=given)
        assert (refused.status_code, refused.json()["code"]) == (409, "not-ready")
        assert "would be lost" in refused.json()["message"]
    assert client.delete(f"{home}/{first.json()['id']}").status_code < 300
    again = client.post(f"{home}/ask", json=question)
    assert again.status_code == 202
    assert client.delete(f"{home}/{again.json()['id']}").status_code < 300
