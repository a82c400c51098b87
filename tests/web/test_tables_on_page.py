"""Several tables about the same people on the page and by the REST interface: offered, judged, released together."""

from __future__ import annotations

import csv
import io
from collections import Counter
from zipfile import ZipFile

import pytest

pytest.importorskip("fastapi")

from starlette.testclient import TestClient

from discreet.engine.read import read
from discreet.relational.keys import find_keys
from discreet.web.service import Service
from helpers.server import ended

pytest_plugins = ("helpers.server",)
HX = {"hx-request": "true"}
PEOPLE = "person,birth_year,sex\n" + "".join(f"{i},{1950 + i % 4},{'fm'[i % 2]}\n" for i in range(1, 61))
VISITS = "visit,person,ward\n" + "".join(f"{i},{1 + i % 60},{'AB'[i % 2]}\n" for i in range(1, 91))


def uploaded(client: TestClient, service: Service, name: str, content: str) -> str:
    made = str(client.post("/api/v1/tables", params={"name": name}, content=content).json()["id"])
    assert ended(service, made, "audit") == "done"
    return made


@pytest.fixture(scope="module")
def tables(client: TestClient, service: Service) -> tuple[str, str]:
    """Two tables that share a column."""
    people = uploaded(client, service, "people.csv", PEOPLE)
    assert 'id="related"' not in client.get("/").text
    visits = uploaded(client, service, "visits.csv", VISITS)
    client.patch(f"/api/v1/tables/{visits}/columns", json={"name": "ward", "role": "quasi-identifier"})
    return people, visits


@pytest.fixture(scope="module")
def together(client: TestClient, service: Service, tables: tuple[str, str]) -> str:
    """Both, judged together."""
    start = client.get("/").text
    assert 'id="related"' in start
    assert all(f'value="{table}"' in start for table in tables)
    answer = client.post("/case/together", data={"tables[]": list(tables)})
    assert answer.status_code == 303
    made = answer.headers["location"].removeprefix("/case/")
    assert ended(service, made, "judge-tables") == "done"
    return made


def test_tables_are_judged_together(client: TestClient, service: Service, together: str) -> None:
    page = client.get(f"/case/{together}", headers={"accept-language": "de"}).text
    assert "person → people.person" in page
    assert "person, 60 Zeilen" in page
    # A table is called as it is, also where that is a word.
    assert ">people</text>" in page
    assert 'id="go-tables"' in page
    found = service.latest(service.cases.get(together), "judge-tables", done=True)
    assert found is not None
    told = service.document(found)
    assert told["people"] == 60
    assert told["keys"]["people"] == "people"
    assert [risk["known"] for risk in told["intruders"]] == [0, 1, 2, "all"]


def test_tables_are_released_together(client: TestClient, service: Service, together: str) -> None:
    given = {"people": "people", "known_events": "1", "profile": "research-partner-5"}
    client.post(f"/case/{together}/together", data=given, headers=HX)
    assert ended(service, together, "judge-tables") == "done"
    assert client.post(f"/case/{together}/jobs/release-tables", headers=HX).status_code == 200
    assert ended(service, together, "release-tables") == "done"
    with ZipFile(io.BytesIO(client.get(f"/case/{together}/download/tables-bundle").content)) as bundle:
        assert {"hand-out/people.csv", "hand-out/visits.csv", "keep-inside/policy.toml", "SHA256SUMS"} <= set(
            bundle.namelist()
        )
        people = list(csv.DictReader(io.StringIO(bundle.read("hand-out/people.csv").decode("utf-8-sig"))))
        visits = list(csv.DictReader(io.StringIO(bundle.read("hand-out/visits.csv").decode("utf-8-sig"))))
    assert min(Counter((row["birth_year"], row["sex"]) for row in people).values()) >= 5
    assert {row["person"] for row in visits} <= {row["person"] for row in people}
    shown = client.get(f"/case/{together}/section/together_release").text
    assert "may be released together" in shown
    assert 'id="take"' in client.get(f"/case/{together}/section/bar").text


def test_another_role_in_one_table_is_a_reason_to_judge_again(
    client: TestClient, service: Service, tables: tuple[str, str], together: str
) -> None:
    before = client.get(f"/case/{together}/state").json()["stamps"]
    client.patch(f"/api/v1/tables/{tables[1]}/columns", json={"name": "ward", "role": "insensitive"})
    assert client.get(f"/case/{together}/state").json()["stamps"]["bar"] != before["bar"]
    assert 'id="judge"' in client.get(f"/case/{together}/section/bar").text


def test_what_does_not_belong_together_is_refused(
    client: TestClient, service: Service, tables: tuple[str, str], together: str
) -> None:
    def refused(given: list[str]) -> int:
        return client.post("/api/v1/tables/together", json={"tables": given}).status_code

    assert refused([tables[0]]) == 422
    assert refused([tables[0], tables[0]]) == 422
    assert refused([tables[0], "none"]) == 404
    assert refused([tables[0], together]) == 422
    for table, kind in ((tables[0], "judge-tables"), (together, "read"), (together, "judge-baskets")):
        answer = client.post(f"/api/v1/tables/{table}/jobs/{kind}", json={})
        assert (answer.status_code, answer.json()["code"]) == (409, "not-ready")


def test_they_are_wiped_with_any_of_them(
    client: TestClient, service: Service, tables: tuple[str, str]
) -> None:
    made = client.post("/api/v1/tables/together", json={"tables": list(tables)})
    assert made.status_code == 201
    assert made.json()["origin"] == "together"
    other = uploaded(client, service, "more.csv", VISITS)
    both = client.post("/api/v1/tables/together", json={"tables": [tables[0], other]}).json()["id"]
    folder = service.cases.get(both).folder
    client.delete(f"/api/v1/tables/{other}")
    assert client.get(f"/api/v1/tables/{both}").status_code == 404
    assert not folder.exists()
    assert client.get(f"/api/v1/tables/{made.json()['id']}").status_code == 200


def test_a_column_that_another_table_repeats_is_a_key() -> None:
    import pyarrow as pa

    tables = {
        "people": read(pa.table({"person": [1, 2, 3], "town": ["N", "S", "N"]})),
        "visits": read(pa.table({"person": [1, 1, 3], "town": ["N", "N", "N"]})),
    }
    assert find_keys(tables) == {"people": "person"}
