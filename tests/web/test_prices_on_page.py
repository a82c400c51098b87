"""What each requirement and column costs, on the page: a click does without one, and what that leads to is foreseen."""

from __future__ import annotations

import re

import pytest

pytest.importorskip("fastapi")

from starlette.testclient import TestClient

from discreet.policy import load
from discreet.privacy import LDiversity
from discreet.web.service import Service
from helpers.server import ended

pytest_plugins = ("helpers.server",)
IN_HTMX = {"hx-request": "true"}
TABLE = "who,age,job,illness\n" + "".join(
    f"Person {i},{30 + i % 31},{('cook', 'nurse', 'smith', 'clerk')[i * 5 % 7 % 4]},{('flu', 'cold', 'gout')[i * 7 % 3]}\n"
    for i in range(300)
)


@pytest.fixture(scope="module")
def table(client: TestClient, service: Service) -> str:
    """A table with a release by the profile's rules and by one of its own."""
    made = str(client.post("/api/v1/tables", params={"name": "people.csv"}, content=TABLE).json()["id"])
    assert ended(service, made, "audit") == "done"
    client.post(f"/case/{made}/roles", data={"columns[]": ["1", "2"], "role": "quasi-identifier"})
    given = {"model": "l-diversity", "l": "2", "sensitive": "illness"}
    client.post(f"/case/{made}/requirements", data=given, headers=IN_HTMX)
    client.post(f"/case/{made}/jobs/anonymize", headers=IN_HTMX)
    assert ended(service, made, "anonymize") == "done"
    return made


def shown(client: TestClient, table: str) -> str:
    answer = client.get(f"/case/{table}/section/prices", headers=IN_HTMX)
    assert answer.status_code == 200
    return answer.text


def test_every_column_and_requirement_has_its_price(client: TestClient, service: Service, table: str) -> None:
    page = shown(client, table)
    job = service.latest(service.cases.get(table), "anonymize", done=True)
    assert job is not None
    told = service.document(job, "ready.json")["prices"]
    assert {one["name"] for one in told["columns"]} == {"age", "job"}
    assert set(re.findall(r'id="drop-(\d)"', page)) == {"1", "2"}
    # What the profile asks for has a price, too, but only what is one's own can be done without.
    assert len(told["requirements"]) > 1
    assert "asked by Open data" in page
    assert len(re.findall(r'id="waive-\d+"', page)) == 1


def test_a_column_is_left_out_and_taken_back_by_one_click(
    client: TestClient, service: Service, table: str
) -> None:
    case = service.cases.get(table)
    # What is left out cannot matter, or be kept, at the same time.
    matters = {"attributes": "all", "weight-1": "1", "weight-2": "2", "keep-2": "yes"}
    client.post(f"/case/{table}/plan", data=matters, headers=IN_HTMX)
    answer = client.post(f"/case/{table}/prices/column/2", data={"drop": "yes"}, headers=IN_HTMX)
    assert (dict(load(case.policy_file).plan.weights), load(case.policy_file).plan.keep) == ({}, ())
    assert answer.status_code == 200
    assert load(case.policy_file).plan.drop_attributes == ("job",)
    assert 'id="restore-2"' in answer.text
    assert ended(service, table, "foresee") == "done"
    job = service.latest(case, "foresee", done=True)
    assert job is not None
    foreseen = shown(client, table)
    assert "Foreseen" in foreseen
    assert f"{service.document(job)['loss']:.1%}" in foreseen
    client.post(f"/case/{table}/prices/column/2", headers=IN_HTMX)
    assert load(case.policy_file).plan.drop_attributes == ()
    assert "Foreseen" not in shown(client, table)
    # Only a quasi-identifier can be left out this way, and not the last one.
    assert (
        client.post(f"/case/{table}/prices/column/3", data={"drop": "yes"}, headers=IN_HTMX).status_code
        == 404
    )
    client.post(f"/case/{table}/prices/column/2", data={"drop": "yes"}, headers=IN_HTMX)
    assert 'id="drop-1"' not in shown(client, table)
    assert (
        client.post(f"/case/{table}/prices/column/1", data={"drop": "yes"}, headers=IN_HTMX).status_code
        == 404
    )
    client.post(f"/case/{table}/prices/column/2", headers=IN_HTMX)


def test_an_own_requirement_is_waived_and_taken_back_by_one_click(
    client: TestClient, service: Service, table: str
) -> None:
    case = service.cases.get(table)
    [place] = re.findall(r'id="waive-(\d+)"', shown(client, table))
    page = client.post(
        f"/case/{table}/prices/requirement/{place}", data={"waive": "yes"}, headers=IN_HTMX
    ).text
    assert load(case.policy_file).requirements == ()
    assert f'id="demand-{place}"' in page
    client.post(f"/case/{table}/prices/requirement/{place}", headers=IN_HTMX)
    assert load(case.policy_file).requirements == (LDiversity(2, "illness"),)
    # Twice changes nothing, and what the profile asks for stays.
    client.post(f"/case/{table}/prices/requirement/{place}", headers=IN_HTMX)
    assert len(load(case.policy_file).requirements) == 1
    other = "0" if place != "0" else "1"
    for number in (other, "99"):
        answer = client.post(
            f"/case/{table}/prices/requirement/{number}", data={"waive": "yes"}, headers=IN_HTMX
        )
        assert answer.status_code == 404


def test_what_the_profile_asks_is_changed_by_another_profile_with_its_loss_and_what_it_means(
    client: TestClient, service: Service, table: str
) -> None:
    case = service.cases.get(table)
    page = shown(client, table)
    job = service.latest(case, "anonymize", done=True)
    assert job is not None
    told = service.document(job, "ready.json")["prices"]
    offered = {one["name"]: one["loss"] for one in told["profiles"]}
    assert "research-partner-5" in offered
    assert 'id="profile-research-partner-5"' in page
    assert "as Open data such a release need not pass" in page
    answer = client.post(f"/case/{table}/prices/profile/research-partner-5", headers=IN_HTMX)
    assert answer.status_code == 200
    assert load(case.policy_file).profile == "research-partner-5"
    assert ended(service, table, "foresee") == "done"
    foreseen = service.latest(case, "foresee", done=True)
    assert foreseen is not None
    # What stood there as its price is what is foreseen, and the verdict is no longer that of open data.
    assert f"{service.document(foreseen)['loss']:.1%}" == offered["research-partner-5"]
    assert 'id="judge"' in client.get(f"/case/{table}/section/bar", headers=IN_HTMX).text
    assert f"/case/{table}/prices/profile/open-data" in shown(client, table)
    client.post(f"/case/{table}/prices/profile/open-data", headers=IN_HTMX)
    assert load(case.policy_file).profile == "open-data"
    assert client.post(f"/case/{table}/prices/profile/none", headers=IN_HTMX).status_code == 404


def test_before_there_is_a_release_there_are_no_prices(client: TestClient, service: Service) -> None:
    made = str(client.post("/api/v1/tables", params={"name": "more.csv"}, content=TABLE).json()["id"])
    assert ended(service, made, "audit") == "done"
    assert "This comes once there is a release" in shown(client, made)
