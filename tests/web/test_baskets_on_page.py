"""Baskets on the page and by the REST interface: recognised, judged, released, and taken for a table after all."""

from __future__ import annotations

import csv
import io
import json
from collections import Counter
from itertools import combinations
from zipfile import ZipFile

import pytest

pytest.importorskip("fastapi")

from starlette.testclient import TestClient

from discreet.web.service import Service
from helpers.server import ended

pytest_plugins = ("helpers.server",)
HX = {"hx-request": "true"}
BASKETS = [
    ["milk", "bread"],
    ["milk"],
    ["bread", "milk", "=1+1"],
    ["=1+1", "milk"],
    ["gin", "milk"],
    ["bread"],
] * 4
LINES = "\n".join(",".join(basket) for basket in [*BASKETS, ["rum", "milk"]])
ROWS = "who,what\n" + "".join(f"{i},{item}\n" for i, basket in enumerate(BASKETS) for item in basket)


def uploaded(client: TestClient, service: Service, name: str, content: str) -> str:
    made = str(client.post("/api/v1/tables", params={"name": name}, content=content).json()["id"])
    ended(service, made, "read")
    return made


@pytest.fixture(scope="module")
def table(client: TestClient, service: Service) -> str:
    """Baskets that were judged."""
    made = uploaded(client, service, "shop.csv", LINES)
    offer = client.get(f"/case/{made}/section/file").text
    assert "25 baskets" in offer
    assert 'class="card notice bad"' not in offer
    answer = client.post(f"/case/{made}/baskets", data={"separator": ","})
    assert answer.status_code == 303
    assert ended(service, made, "judge-baskets") == "done"
    return made


def test_a_file_of_baskets_is_judged_as_such(client: TestClient, service: Service, table: str) -> None:
    page = client.get(f"/case/{table}", headers={"accept-language": "de"}).text
    assert "Diese Körbe nicht veröffentlichen." in page
    assert 'id="go-columns"' not in page
    assert client.get(f"/case/{table}/state").json()["shape"] == "baskets"
    assert "Do not release these baskets." in client.get("/").text
    sets = client.get(f"/case/{table}/fold/exposing").text
    assert "rum" in sets
    # Only whoever asks sees which.
    assert "rum" not in client.get(f"/case/{table}/section/basket_verdict").text
    assert client.get(f"/case/{table}/section/columns").status_code == 404


def test_baskets_are_released_with_everything_that_belongs_to_them(
    client: TestClient, service: Service, table: str
) -> None:
    given = {"separator": ",", "k": "3", "m": "2", "sensitive": "", "rho": ""}
    client.post(f"/case/{table}/baskets", data=given, headers=HX)
    assert ended(service, table, "judge-baskets") == "done"
    shown = client.post(f"/case/{table}/jobs/release-baskets", headers=HX)
    assert shown.status_code == 200
    assert ended(service, table, "release-baskets") == "done"
    # What people open runs no formula; programs get the items as they are.
    text = client.get(f"/api/v1/tables/{table}/downloads/baskets").text
    lines = list(csv.reader(io.StringIO(text)))
    counts: Counter[tuple[str, ...]] = Counter()
    for line in lines:
        for size in (1, 2):
            counts.update(combinations(sorted(line), size))
    assert min(counts.values()) >= 3
    assert "'=1+1" in client.get(f"/case/{table}/download/baskets").text
    assert any("=1+1" in line for line in lines)
    with ZipFile(io.BytesIO(client.get(f"/case/{table}/download/baskets-bundle").content)) as bundle:
        names = set(bundle.namelist())
        assert {"hand-out/baskets.csv", "keep-inside/evidence.json", "SHA256SUMS"} <= names
        assert b"'=1+1" in bundle.read("hand-out/baskets.csv")
        assert json.loads(bundle.read("keep-inside/evidence.json"))["k"] == 3
    section = client.get(f"/case/{table}/section/basket_release").text
    assert "This release may be handed out." in section
    # Judged by another rule, the release is overtaken, and the next button makes another one.
    client.post(f"/case/{table}/baskets", data={**given, "k": "2"}, headers=HX)
    assert ended(service, table, "judge-baskets") == "done"
    assert 'id="anonymize"' in client.get(f"/case/{table}/section/bar").text


def test_rows_are_baskets_of_the_columns_that_are_named(client: TestClient, service: Service) -> None:
    made = uploaded(client, service, "bought.csv", ROWS)
    assert ended(service, made, "audit") == "done"
    assert (
        client.post(f"/case/{made}/baskets", data={"basket": "0", "item": "7"}, headers=HX).status_code == 404
    )
    wrong = client.post(f"/case/{made}/baskets", data={"rho": "much"}, headers=HX)
    assert wrong.status_code == 422
    client.post(f"/case/{made}/baskets", data={"basket": "0", "item": "1"})
    assert ended(service, made, "judge-baskets") == "done"
    judged = client.get(f"/case/{made}/section/basket_file").text
    assert "24 baskets of 4 different items" in judged
    client.post(f"/case/{made}/table")
    assert ended(service, made, "audit") == "done"
    assert client.get(f"/case/{made}/state").json()["shape"] == "table"
    assert 'id="go-columns"' in client.get(f"/case/{made}").text


def test_a_release_needs_a_verdict(client: TestClient, service: Service) -> None:
    made = uploaded(client, service, "more.csv", LINES)
    answer = client.post(f"/api/v1/tables/{made}/jobs/release-baskets", json={})
    assert (answer.status_code, answer.json()["message"]) == (409, "there is no verdict yet")
    both = {"separator": ",", "basket": "who"}
    client.post(f"/api/v1/tables/{made}/jobs/judge-baskets", json=both)
    assert ended(service, made, "judge-baskets") == "failed"
    assert client.get(f"/case/{made}").status_code == 200
