"""The register on the page: opened, listed, withdrawn from, and how the risk of people adds up.

A release is entered and judged where there is one: in the walk through the page.
"""

from __future__ import annotations

from pathlib import Path

import pytest

pytest.importorskip("fastapi")

from starlette.testclient import TestClient

from discreet.policy import Policy
from discreet.register import Register
from discreet.web.service import Service
from helpers.server import ended

pytest_plugins = ("helpers.server",)
HX = {"hx-request": "true"}
TABLE = "who,age,illness\nAda,21,flu\nBen,23,cold\nCem,31,flu\n"
RELEASE = 'age,illness\n"[20, 29]",flu\n"[20, 29]",cold\n"[30, 39]",flu\n'
POLICY = Policy.of(quasi_identifiers=["age"], sensitive=["illness"], direct_identifiers=["who"])


@pytest.fixture(scope="module")
def table(client: TestClient, service: Service) -> str:
    made = str(client.post("/api/v1/tables", params={"name": "people.csv"}, content=TABLE).json()["id"])
    assert ended(service, made, "read") == "done"
    return made


def opened(client: TestClient, table: str, folder: Path, key: Path, status: int = 200) -> str:
    given = {"folder": str(folder), "key_file": str(key)}
    answer = client.post(f"/case/{table}/register", data=given, headers=HX)
    assert answer.status_code == status, answer.text
    return answer.text


def test_a_register_is_begun_listed_and_withdrawn_from(
    client: TestClient, table: str, tmp_path: Path
) -> None:
    folder, key = tmp_path / "register", tmp_path / "register.key"
    assert "would lie in the folder" in opened(client, table, folder, folder / "key", 422)
    assert "there is no folder nowhere" in opened(client, table, tmp_path / "nowhere" / "r", key, 422)
    assert "not a full path" in opened(client, table, Path("register"), key, 422)
    assert "Nothing is entered yet." in opened(client, table, folder, key)
    assert len(key.read_text("utf-8").strip()) > 40
    assert key.stat().st_mode & 0o077 == 0
    people, release = tmp_path / "people.csv", tmp_path / "release.csv"
    people.write_text(TABLE, encoding="utf-8")
    release.write_text(RELEASE, encoding="utf-8")
    secret = key.read_text("utf-8").strip()
    Register(folder).add(release, POLICY, original=people, person="who", key=secret, audience="a university")
    now = client.get(f"/case/{table}/section/register").text
    assert "a university" in now
    assert secret not in now
    drawn = client.get(f"/case/{table}/register/timeline").text
    assert "What was released so far (1) leaves 33.3% of 3 people a single possible value" in drawn
    assert "<svg" in drawn
    german = client.get(f"/case/{table}/register/timeline", headers={"accept-language": "de"}).text
    assert "von 3 Menschen nur einen möglichen Wert" in german
    assert "people" not in german
    assert f"/case/{table}/register/1/certificate" in now
    page = client.get(f"/case/{table}/register/1/certificate")
    assert "Certificate of release 1" in page.text
    assert Register(folder).show(1).sha256 in page.text
    assert "script-src" not in page.headers["content-security-policy"].replace("script-src 'none'", "")
    assert client.get(f"/case/{table}/register/7/certificate").status_code == 422
    reason = {"reason": "a column was forgotten", "unseen": "yes"}
    answer = client.post(f"/case/{table}/register/1/withdraw", data=reason, headers=HX)
    assert "Withdrawal of 1: a column was forgotten" in answer.text
    assert [entry.kind for entry in Register(folder).entries()] == ["release", "withdrawal"]


def test_a_register_that_was_changed_is_refused(client: TestClient, table: str, tmp_path: Path) -> None:
    (tmp_path / "register").mkdir()
    (tmp_path / "register" / "0001.toml").write_text("number = 1\n", encoding="utf-8")
    assert "cannot be trusted" in opened(client, table, tmp_path / "register", tmp_path / "key", 422)
    assert not (tmp_path / "key").exists()
