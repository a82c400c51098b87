"""What no client should send: each is refused with a reason, and none is a server error."""

from __future__ import annotations

import json
import threading
from typing import Any

import pytest

pytest.importorskip("fastapi")

from starlette.testclient import TestClient

from helpers.server import wait_for

pytest_plugins = ("helpers.server",)
TABLE = "age,sex,illness\n" + "".join(f"{20 + i % 12},{'fm'[i % 2]},{'ab'[i % 3 % 2]}\n" for i in range(60))
DEEP = 3000


@pytest.fixture(scope="module")
def table(client: TestClient) -> str:
    """A table that has been read, and whose values have been counted."""
    made = str(client.post("/api/v1/tables", params={"name": "people.csv"}, content=TABLE).json()["id"])
    for _ in range(2):
        wait_for(lambda: not any(job["state"] in ("queued", "running") for job in jobs(client, made)))
        job = client.post(f"/api/v1/tables/{made}/jobs/values", json={"columns": ["age", "sex"]})
    assert job.status_code == 202
    wait_for(lambda: not any(job["state"] in ("queued", "running") for job in jobs(client, made)))
    return made


def jobs(client: TestClient, table: str) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = client.get(f"/api/v1/tables/{table}").json()["jobs"]
    return found


def refused(answer: Any) -> None:
    assert 400 <= answer.status_code < 500, (answer.status_code, answer.text[:300])
    assert answer.json()["message"]
    assert answer.json()["code"] != "internal"


@pytest.mark.parametrize(
    "origin",
    [
        "http://[::1",
        "http://[",
        "http://a]b",
        "http://\u2100.example",
        "http://[v1.x]",
        "//",
        "http://[::1]:99999999",
    ],
)
def test_an_origin_that_is_no_address(client: TestClient, origin: str) -> None:
    answer = client.post("/api/v1/tables/example", json={}, headers={"origin": origin.encode()})
    assert answer.status_code == 403


POLICIES = {
    "deep table in TOML": "a" + ".b" * DEEP + " = 1",
    "deep list in TOML": "a = " + "[" * DEEP + "]" * DEEP,
    "deep table inline": "a = " + "{b = " * DEEP + "1" + "}" * DEEP,
    "long integer in TOML": "format = " + "9" * 5000,
    "long integer in a requirement": '[[require]]\nmodel = "k-anonymity"\nk = ' + "9" * 5000,
    "large integer in a requirement": '[[require]]\nmodel = "k-anonymity"\nk = ' + "9" * 400,
    "large number in a plan": "[anonymize]\nseed = " + "9" * 400,
    "date out of range": "[columns.age]\nrole = 0001-01-01",
    "steps of a rounding": '[columns.age]\nrole = "quasi-identifier"\n'
    'hierarchy = {builder = "rounding", steps = [1e-320, 4611686018427387904]}',
    "a hierarchy with a long name": '[columns.age]\nrole = "quasi-identifier"\nhierarchy = "'
    + "x" * 5000
    + '"',
    "a profile with a long name": 'profile = "' + "x" * 5000 + '.toml"',
    "a profile with a NUL": 'profile = "a\\u0000b.toml"',
    "an infinite fraction": "[population]\nsampling_fraction = nan",
}


@pytest.mark.parametrize("name", POLICIES)
def test_a_policy_that_is_none(client: TestClient, table: str, name: str) -> None:
    before = client.get(f"/api/v1/tables/{table}/policy").text
    answer = client.put(f"/api/v1/tables/{table}/policy", content=POLICIES[name])
    try:
        if answer.status_code != 200:
            refused(answer)
        for path in ("policy/problems", "", "columns", "hierarchy?column=age"):
            answer = client.get(f"/api/v1/tables/{table}/{path}".rstrip("/"))
            assert answer.status_code < 500, (path, answer.text[:300])
        assert client.get(f"/case/{table}").status_code < 500
    finally:
        assert client.put(f"/api/v1/tables/{table}/policy", content=before).status_code == 200


def nested(depth: int) -> str:
    return "[" * depth + "]" * depth


BODIES = {
    "deep JSON": '{"a": ' + nested(100_000) + "}",
    "less deep JSON": '{"columns": {"age": {"role": "quasi-identifier", "hierarchy": ' + nested(600) + "}}}",
    "long integer": '{"format": ' + "9" * 5000 + "}",
    "large integer": '{"format": ' + "9" * 4000 + "}",
    "half a character": '{"profile": "\\ud800"}',
    "half a character as a name": '{"columns": {"\\ud800": {"role": "sensitive"}}}',
    "half a character in a query": '{"kpi": [{"name": "a", "query": "SELECT \'\\ud800\'"}]}',
    "infinity": '{"population": {"sampling_fraction": Infinity}}',
    "no Unicode": b'{"profile": "\xff"}',
}


@pytest.mark.parametrize("name", BODIES)
def test_a_policy_as_json_that_is_none(client: TestClient, table: str, name: str) -> None:
    answer = client.put(
        f"/api/v1/tables/{table}/policy", content=BODIES[name], headers={"content-type": "application/json"}
    )
    refused(answer)


PATHS = ["~nouser/x.csv", "/" + "x" * 300 + ".csv", "/a\0b", "/\ud800.csv", "/dev/zero", "/tmp", "~"]


@pytest.mark.parametrize("path", PATHS)
def test_a_path_that_is_none(client: TestClient, path: str) -> None:
    refused(
        client.post(
            "/api/v1/tables/from-path",
            content=json.dumps({"path": path}),
            headers={"content-type": "application/json"},
        )
    )


SENT = {
    "deep": nested(100_000),
    "less deep": '{"hierarchy": {"builder": ' + nested(500) + "}}",
    "long integer": '{"hierarchy": {"builder": "mask", "characters": [' + "9" * 5000 + "]}}",
    "large integer": '{"hierarchy": {"builder": "mask", "characters": [' + "9" * 4000 + "]}}",
    "large widths": '{"hierarchy": {"builder": "intervals", "widths": [1e308]}}',
    "tiny widths": '{"hierarchy": {"builder": "intervals", "widths": [1e-320]}}',
    "large cuts": '{"hierarchy": {"builder": "intervals", "cuts": [[1e308, 1.7e308]]}}',
    "tiny steps": '{"hierarchy": {"builder": "rounding", "steps": [1e-320, 4611686018427387904]}}',
    "large steps": '{"hierarchy": {"builder": "rounding", "steps": [1e308]}}',
    "integer beyond doubles": '{"hierarchy": {"builder": "rounding", "steps": [' + "9" * 400 + "]}}",
    "half a character": '{"hierarchy": {"builder": "mask", "character": "\\ud800"}}',
    "half a character as order": '{"hierarchy": {"builder": "order", "order": ["\\ud800"], "sizes": [1]}}',
    "a bad date format": '{"hierarchy": {"builder": "dates", "levels": ["year"], "format": "%\\u0000%Q"}}',
    "many levels": '{"hierarchy": {"builder": "order", "sizes": [' + ",".join(["2"] * 2000) + "]}}",
}


@pytest.mark.parametrize("name", SENT)
@pytest.mark.parametrize("column", ["age", "sex", "\ud800", "x" * 900])
def test_a_hierarchy_that_is_none(client: TestClient, table: str, name: str, column: str) -> None:
    escaped = column.encode("utf-8", "surrogatepass").hex()
    query = "".join(f"%{escaped[i : i + 2]}" for i in range(0, len(escaped), 2))
    for method, path in (("POST", "hierarchy/preview"), ("PUT", "hierarchy")):
        answer = client.request(
            method,
            f"/api/v1/tables/{table}/{path}?column={query}",
            content=SENT[name],
            headers={"content-type": "application/json"},
        )
        assert answer.status_code < 500, (method, answer.text[:300])


@pytest.mark.parametrize("kind", ["read", "audit", "anonymize", "frontier", "values", "attack"])
@pytest.mark.parametrize(
    "body",
    [
        nested(100_000),
        '{"seed": ' + "9" * 5000 + "}",
        '{"seed": ' + "9" * 4000 + "}",
        '{"names": ["\\ud800"], "known": ["\\ud800"], "columns": ["\\ud800"], "label": "\\ud800"}',
        '{"k": [' + "9" * 400 + "]}",
        '{"encoding": "\\u0000", "delimiter": "\\ud800"}',
    ],
    ids=["deep", "long integer", "large integer", "half characters", "large k", "odd text"],
)
def test_a_job_that_cannot_be(client: TestClient, table: str, kind: str, body: str) -> None:
    answer = client.post(
        f"/api/v1/tables/{table}/jobs/{kind}", content=body, headers={"content-type": "application/json"}
    )
    assert answer.status_code < 500, answer.text[:300]
    assert client.get(f"/api/v1/tables/{table}").status_code == 200


def test_names_of_uploads_may_be_anything(client: TestClient) -> None:
    for name in ("%ED%A0%80.csv", "x" * 255, "%00.csv", "%1B%5B2J.csv", "a%0D%0Ab.csv"):
        answer = client.post(f"/api/v1/tables?name={name}", content=TABLE)
        assert answer.status_code in (201, 422), answer.text
        if answer.status_code == 201:
            assert client.get(f"/case/{answer.json()['id']}").status_code == 200
            assert client.delete(answer.headers["location"]).status_code == 204


def test_a_report_whose_job_is_cancelled_is_not_there_yet(client: TestClient, table: str) -> None:
    """Whoever waits for the report learns that its job was cancelled, and may ask again."""
    client.post(f"/api/v1/tables/{table}/jobs/audit", json={"detail": "core"})
    wait_for(lambda: not any(job["state"] in ("queued", "running") for job in jobs(client, table)))
    answers: list[Any] = []
    waiting = threading.Thread(
        target=lambda: answers.append(client.get(f"/api/v1/tables/{table}/downloads/audit-report"))
    )
    waiting.start()
    drawing = wait_for(
        lambda: [j for j in jobs(client, table) if j["kind"] == "report" and j["state"] == "running"]
    )
    assert client.delete(f"/api/v1/tables/{table}/jobs/{drawing[0]['id']}").status_code == 200
    waiting.join()
    assert answers[0].status_code == 409, answers[0].text
    assert answers[0].json()["code"] == "not-ready"
