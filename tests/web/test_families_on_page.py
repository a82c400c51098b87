"""Other kinds of releases on the page: offered by their effect, taken as steps, compared on the table."""

from __future__ import annotations

import re
import tomllib

import pytest

pytest.importorskip("fastapi")

from starlette.testclient import TestClient

from discreet.release.families import method_families
from discreet.web.pages.family_views import EFFECTS
from discreet.web.service import Service
from helpers.server import ended

pytest_plugins = ("helpers.server",)
HX = {"hx-request": "true"}
TABLE = "who,age,illness\n" + "".join(f"p{i},{30 + i % 40},{'ab'[i % 2]}\n" for i in range(60))


@pytest.fixture(scope="module")
def table(client: TestClient, service: Service) -> str:
    made = str(client.post("/api/v1/tables", params={"name": "people.csv"}, content=TABLE).json()["id"])
    assert ended(service, made, "read") == "done"
    return made


def test_every_family_is_offered_by_its_effect(client: TestClient, table: str) -> None:
    assert {family.effect for family in method_families()} == set(EFFECTS)
    english = client.get(f"/case/{table}/section/families").text
    for effect in EFFECTS:
        assert f"{effect[0].upper()}{effect[1:]}" in english
    assert english.count("<h4>") == len(method_families())
    german = client.get(f"/case/{table}/section/families", headers={"accept-language": "de"}).text
    assert "Einzelheiten bleiben, Werte sind nicht mehr wahr" in german
    for word in ("guarantee", "values", "records", "noise "):
        assert word not in german.replace('lang="en"', ""), word


def test_a_step_is_taken_and_taken_back(client: TestClient, service: Service, table: str) -> None:
    def steps() -> list[object]:
        policy = tomllib.loads(client.get(f"/case/{table}/download/policy").text)
        return list(policy.get("perturb", []))

    fields = client.get(
        f"/case/{table}/steps/fields", params={"method": "additive-noise", "prefix": "x"}
    ).text
    assert 'name="percent" value="10"' in fields
    audits = service.latest(service.cases.get(table), "audit")
    given = {"method": "rank-swap", "columns[]": ["1"], "percent": "7,5"}
    answer = client.post(f"/case/{table}/steps", data=given, headers=HX)
    listed = re.sub(r"\s+", " ", re.sub(r"<[^>]*>", "", answer.text.partition('id="steps"')[2]))
    assert "Rank swapping: age · How strong, in %: 7.5" in listed
    assert steps() == [{"method": "rank-swap", "columns": ["age"], "percent": 7.5}]
    # The verdict is about the table as it is: it is not out of date.
    assert audits is None or not service.outdated(service.cases.get(table), audits)
    wrong = client.post(f"/case/{table}/steps", data={**given, "percent": "700"}, headers=HX)
    assert wrong.status_code == 422
    assert client.post(f"/case/{table}/steps", data={"method": "rank-swap"}, headers=HX).status_code == 422
    other = client.post(f"/case/{table}/steps/0/remove", data={"seen": "another"}, headers=HX)
    assert other.status_code == 409
    assert client.post(f"/case/{table}/steps/0/remove", headers=HX).status_code == 200
    assert steps() == []


@pytest.mark.slow
def test_all_kinds_are_tried_on_the_table(client: TestClient, service: Service, table: str) -> None:
    client.post(f"/case/{table}/jobs/families", headers=HX)
    assert ended(service, table, "families") == "done"
    told = client.get(f"/case/{table}/section/families", headers={"accept-language": "de"}).text
    assert "<svg" in told
    assert "Vertauschen" in told
    assert "Generalisierung" in told
