"""Every bad file of the command line, given to the page: its message, with place and remedy, stands where it belongs."""

from __future__ import annotations

import html
from pathlib import Path

import pytest

pytest.importorskip("fastapi")

from starlette.testclient import TestClient

from discreet.web.service import Service
from helpers.bad_input import CASES, MARKER, PEOPLE, Bad
from helpers.server import ended

pytest_plugins = ("helpers.server",)
BY_ID = {case.id: case for case in CASES}
FILES = [
    *("empty file", "header only", "blank lines", "ragged", "unbalanced quote", "NUL bytes"),
    *("an image", "a PDF", "a zip", "JSON", "cut-off gzip", "cut-off Parquet", "text called Parquet"),
    *("text called Arrow", "broken workbook", "no rows", "broken JSON lines", "same name twice"),
    *("names in two cases", "nothing varies", "ragged far down"),
]
"""What is wrong with the file itself."""
POLICIES = [
    *("policy no TOML", "policy no text", "unknown setting", "unknown role", "no role", "role of wrong type"),
    *("column as text", "bad rating", "fraction in file", "another format", "one bracket", "list of texts"),
    *(
        "k 0",
        "k -1",
        "k many",
        "no k",
        "t 2",
        "no model",
        "not sensitive",
        "another table's",
        "two person ids",
    ),
    "bad reading",
]
"""What is wrong with the policy file."""
ROLES = {
    "damaged Parquet": {"age": "quasi-identifier"},
    "weight of text": {"age": "quasi-identifier", "dx": "weight"},
    "person id null": {"a": "quasi-identifier", "id": "person-id"},
    "infinities": {"a": "quasi-identifier"},
}
"""What is wrong only once columns have these roles."""
IN_OTHER_WORDS = {
    # The command line turns settings into its options; the page names the fields of its form.
    "header only": "set “First line holds the column names” to no",
    "ragged": "set “Between fields stands”",
    "same name twice": "set “Column names”",
    "policy no text": "the policy is not UTF-8 text",
    "another table's": "no column 'alter'",
}


def of_file_alone(case: Bad, folder: Path) -> bool:
    given = case.make(folder)
    return given[0] == "audit" and len(given) == 2 and isinstance(given[1], Path) and given[1].is_file()


def of_policy_file(case: Bad, folder: Path) -> bool:
    given = case.make(folder)
    return given[2:3] == ["--policy"] and isinstance(given[3], Path)


def test_no_bad_file_was_forgotten(tmp_path_factory: pytest.TempPathFactory) -> None:
    new = tmp_path_factory.mktemp
    assert {case.id for case in CASES if of_file_alone(case, new("file"))} == set(FILES)
    assert {case.id for case in CASES if of_policy_file(case, new("policy"))} == set(POLICIES)


def shown(client: TestClient, table: str, section: str) -> str:
    """A section of the page, its text only as far as that matters here."""
    answer = client.get(f"/case/{table}/section/{section}", headers={"hx-request": "true"})
    assert answer.status_code == 200
    return html.unescape(answer.text)


@pytest.fixture(scope="module")
def opened(
    client: TestClient, service: Service, tmp_path_factory: pytest.TempPathFactory
) -> dict[str, tuple[str, Path]]:
    """All bad files at once, so that they are read side by side; named by their paths, as one is too large."""
    found = {}
    for id in (*FILES, *ROLES):
        file = BY_ID[id].make(tmp_path_factory.mktemp("bad"))[1]
        assert isinstance(file, Path)
        answer = client.post("/api/v1/tables/from-path", json={"path": str(file)})
        assert answer.status_code == 201, answer.text
        found[id] = (str(answer.json()["id"]), file)
    return found


@pytest.mark.parametrize("id", FILES)
def test_a_bad_file_is_told_in_place(
    client: TestClient, service: Service, opened: dict[str, tuple[str, Path]], id: str
) -> None:
    table, _ = opened[id]
    where = "file" if ended(service, table, "read") == "failed" else "columns"
    for text in (shown(client, table, where), html.unescape(client.get(f"/case/{table}").text)):
        assert BY_ID[id].place in text
        assert IN_OTHER_WORDS.get(id, BY_ID[id].remedy) in text
    assert "Traceback" not in text
    if id != "nothing varies":
        assert MARKER not in text
    assert service.latest(service.cases.get(table), "audit") is None


@pytest.mark.parametrize("id", ROLES)
def test_what_an_audit_finds_is_told_in_place(
    client: TestClient, service: Service, opened: dict[str, tuple[str, Path]], id: str
) -> None:
    table, _ = opened[id]
    where = "file" if ended(service, table, "read") == "failed" else "verdict"
    if where == "verdict":
        given = {"columns": {name: {"role": role} for name, role in ROLES[id].items()}}
        assert client.put(f"/api/v1/tables/{table}/policy", json=given).status_code == 200
        if client.get(f"/api/v1/tables/{table}/policy/problems").json()["problems"]:
            where = "columns"
        else:
            client.post(f"/api/v1/tables/{table}/jobs/audit", json={"detail": "core"})
            assert ended(service, table, "audit") == "failed"
    told = shown(client, table, where)
    assert BY_ID[id].place in told
    assert BY_ID[id].remedy in told


@pytest.fixture(scope="module")
def good(client: TestClient, service: Service) -> str:
    made = str(client.post("/api/v1/tables", params={"name": "people.csv"}, content=PEOPLE).json()["id"])
    assert ended(service, made, "read") == "done"
    return made


@pytest.mark.parametrize("id", POLICIES)
def test_a_bad_policy_is_told_in_place(
    client: TestClient, service: Service, good: str, tmp_path: Path, id: str
) -> None:
    file = BY_ID[id].make(tmp_path)[3]
    assert isinstance(file, Path)
    before = client.get(f"/api/v1/tables/{good}/policy").text
    answer = client.post(
        f"/case/{good}/policy",
        files={"policy": ("my.toml", file.read_bytes())},
        headers={"hx-request": "true"},
    )
    if answer.status_code == 204:
        # It is a policy, though not for this table: kept, and what keeps it from being applied is listed.
        if id == "bad reading":
            assert ended(service, good, "read") == "failed"
        told = shown(client, good, "columns")
        client.put(f"/api/v1/tables/{good}/policy", content=before)
    else:
        assert answer.status_code == 422
        told = html.unescape(answer.text)
        assert client.get(f"/api/v1/tables/{good}/policy").text == before
    assert "notice" in told
    assert IN_OTHER_WORDS.get(id, BY_ID[id].place.removeprefix("my.toml").removeprefix(", ")) in told
    assert "Traceback" not in told


@pytest.mark.parametrize("id", ["no such file", "a folder"])
def test_a_bad_path_is_told_in_place(client: TestClient, tmp_path: Path, id: str) -> None:
    path = BY_ID[id].make(tmp_path)[1]
    answer = client.post("/case/path", data={"path": str(path)})
    assert answer.status_code == 422
    assert BY_ID[id].remedy in html.unescape(answer.text)
    assert str(tmp_path.parent) not in answer.text
