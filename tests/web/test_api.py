"""The REST interface: tables, policy, roles, jobs, downloads, and what it says when something is wrong."""

from __future__ import annotations

import csv
import io
import json
import stat
from pathlib import Path
from typing import Any

import jsonschema
import pytest

pytest.importorskip("fastapi")

from starlette.testclient import TestClient

from discreet.engine.read import read
from discreet.policy import load, loads
from discreet.release.check import check
from discreet.reports.schema import AUDIT_SCHEMA
from discreet.web.service import Service
from helpers.server import wait_for

pytest_plugins = ("helpers.server",)
ROWS = 240
TABLE = "name;age;sex;town;illness\n" + "".join(
    f"P{i:03d};{20 + i % 12};{'fm'[i % 2]};{'=HYPERLINK(1)' if i // 12 % 3 else 'Ulm'};{('flu', 'cold', 'gout')[i % 3 - i % 2]}\n"
    for i in range(ROWS)
)


def upload(client: TestClient, text: str | bytes = TABLE, name: str = "people.csv") -> str:
    answer = client.post("/api/v1/tables", params={"name": name}, content=text)
    assert answer.status_code == 201, answer.text
    assert answer.headers["location"] == f"/api/v1/tables/{answer.json()['id']}"
    return str(answer.json()["id"])


def ended(client: TestClient, table: str, kind: str) -> dict[str, Any]:
    """The newest job of a kind, once it has ended."""

    def found() -> dict[str, Any] | None:
        jobs = [one for one in client.get(f"/api/v1/tables/{table}").json()["jobs"] if one["kind"] == kind]
        return jobs[-1] if jobs and jobs[-1]["state"] not in ("queued", "running") else None

    job: dict[str, Any] = wait_for(found)
    return job


@pytest.fixture(scope="module")
def table(client: TestClient) -> str:
    """A table that has been read and judged."""
    made = upload(client)
    assert ended(client, made, "audit")["state"] == "done"
    return made


def refused(answer: Any, status: int, code: str) -> None:
    assert answer.status_code == status, answer.text
    assert set(answer.json()) <= {"code", "message", "remedy", "problems"}
    assert answer.json()["code"] == code
    assert answer.json()["message"]


# ── tables ───────────────────────────────────────────────────────────────────────────────────────────


def test_an_uploaded_table_is_read_and_judged(client: TestClient, table: str) -> None:
    about = client.get(f"/api/v1/tables/{table}").json()
    assert (about["name"], about["origin"], about["rows"]) == ("people.csv", "upload", ROWS)
    columns = client.get(f"/api/v1/tables/{table}/columns").json()["columns"]
    assert [one["name"] for one in columns] == ["name", "age", "sex", "town", "illness"]
    assert all(one["reason"] for one in columns)
    assert sum(bar["records"] for bar in columns[1]["distribution"]) == ROWS
    job = ended(client, table, "audit")
    result = client.get(f"/api/v1/tables/{table}/jobs/{job['id']}/result").json()
    jsonschema.validate(result, AUDIT_SCHEMA)
    assert result["table"]["name"] == "people.csv"
    assert result["verdict"]["decision"] == "do-not-release"


@pytest.mark.parametrize(
    ("name", "label"),
    [
        ("../../../etc/passwd", "passwd"),
        ("..\\..\\boot.ini", "boot.ini"),
        ("/etc/cron.d/evil.csv", "evil.csv"),
        ("a\x00b.csv", "ab.csv"),
        ("x" * 200 + ".csv", "x" * 120),
        ("..", ".."),
    ],
)
def test_an_uploaded_name_is_never_a_path(
    client: TestClient, service: Service, name: str, label: str
) -> None:
    made = upload(client, name=name)
    case = service.cases.get(made)
    assert case.label == label
    assert case.source.parent == case.folder
    assert case.folder.parent == service.cases.root
    assert case.source.name.startswith("table-")
    assert case.source.suffix in (".csv", ".txt")
    for private in (service.cases.root, case.folder):
        assert stat.S_IMODE(private.stat().st_mode) == 0o700
    service.remove(case)
    assert not case.folder.exists()


def test_a_table_that_is_too_large_leaves_nothing(client: TestClient, service: Service) -> None:
    before = set(service.cases.root.iterdir())
    large = b"x" * (service.settings.max_size + 1)
    refused(client.post("/api/v1/tables", content=large), 413, "too-large")
    # Also if its size is not said beforehand.
    refused(client.post("/api/v1/tables", content=iter([large[: 1 << 19]] * 3)), 413, "too-large")
    assert set(service.cases.root.iterdir()) == before


def test_a_full_disk_leaves_nothing(
    client: TestClient, service: Service, monkeypatch: pytest.MonkeyPatch
) -> None:
    before = set(service.cases.root.iterdir())
    made = Path.open

    def full(self: Path, *arguments: Any, **options: Any) -> Any:
        return (
            open("/dev/full", "wb", buffering=0)
            if "table-" in self.name
            else made(self, *arguments, **options)
        )

    monkeypatch.setattr(Path, "open", full)
    refused(client.post("/api/v1/tables", content=b"a,b\n1,2\n"), 507, "no-space")
    monkeypatch.undo()
    assert set(service.cases.root.iterdir()) == before


@pytest.mark.parametrize(
    ("content", "name", "code", "told"),
    [
        (b"", "empty.csv", "empty-table", "empty.csv is empty"),
        (b"a,b\n", "head.csv", "empty-table", ""),
        (b"PAR1 not really", "bad.parquet", "unreadable-input", "bad.parquet"),
        (b"\x00\x01\x02\x03" * 50, "noise.csv", "unreadable-input", "noise.csv"),
        (b"PK\x03\x04 broken", "bad.xlsx", "unreadable-input", "bad.xlsx"),
    ],
)
def test_a_bad_file_says_what_is_wrong(
    client: TestClient, content: bytes, name: str, code: str, told: str
) -> None:
    made = upload(client, content, name)
    job = ended(client, made, "read")
    assert job["state"] == "failed"
    assert job["error"]["code"] == code
    assert told in job["error"]["message"]
    assert "table-" not in json.dumps(job)
    shown = client.get(f"/case/{made}").text
    assert job["error"]["message"].replace("'", "&#39;").splitlines()[0] in shown
    # And nothing else is asked of it.
    refused(client.post(f"/api/v1/tables/{made}/jobs/audit", json={}), 409, "not-ready")
    refused(client.get(f"/api/v1/tables/{made}/policy"), 409, "not-ready")
    refused(client.get(f"/api/v1/tables/{made}/jobs/{job['id']}/result"), 409, "not-ready")


def test_a_path_is_read_in_place(client: TestClient, service: Service, tmp_path: Path) -> None:
    file = tmp_path / "people.csv"
    file.write_text(TABLE, encoding="utf-8")
    answer = client.post("/api/v1/tables/from-path", json={"path": str(file)})
    made = answer.json()["id"]
    assert service.cases.get(made).source == file
    assert ended(client, made, "read")["state"] == "done"
    assert client.delete(f"/api/v1/tables/{made}").status_code == 204
    assert file.read_text(encoding="utf-8") == TABLE
    refused(client.get(f"/api/v1/tables/{made}"), 404, "not-found")
    for path, code in (
        (str(tmp_path), "unreadable-input"),
        (str(tmp_path / "none.csv"), "unreadable-input"),
        ("people.csv", "invalid-parameter"),
        ("/a\0b", "invalid-parameter"),
    ):
        refused(client.post("/api/v1/tables/from-path", json={"path": path}), 422, code)


# ── policy ───────────────────────────────────────────────────────────────────────────────────────────


def test_a_role_is_one_line_of_the_policy(client: TestClient, table: str) -> None:
    before = client.get(f"/api/v1/tables/{table}/policy").text
    assert "# Policy for people.csv" in before
    answer = client.patch(f"/api/v1/tables/{table}/columns", json={"name": "town", "role": "insensitive"})
    assert answer.json() == {"problems": []}
    after = client.get(f"/api/v1/tables/{table}/policy").text
    assert loads(after).column("town").role == "insensitive"  # type: ignore[union-attr]
    changed = set(after.splitlines()) ^ set(before.splitlines())
    # With its role goes what the plan says of it.
    assert all(line.startswith(("role = ", "reason = ", "drop_attributes = ")) for line in changed), changed
    assert ended(client, table, "audit")["outdated"]
    client.patch(f"/api/v1/tables/{table}/columns", json={"name": "town", "role": "quasi-identifier"})
    refused(
        client.patch(f"/api/v1/tables/{table}/columns", json={"name": "tow", "role": "weight"}),
        422,
        "unknown-column",
    )
    refused(
        client.patch(f"/api/v1/tables/{table}/columns", json={"name": "town", "role": "king"}),
        422,
        "invalid-request",
    )


def test_a_policy_is_taken_as_toml_and_as_json(client: TestClient) -> None:
    made = upload(client)
    ended(client, made, "audit")
    place = f"/api/v1/tables/{made}/policy"
    given = {
        "profile": "research-partner-3",
        "columns": {"age": {"role": "quasi-identifier", "reason": None}},
    }
    assert client.put(place, json=given).json() == {"problems": []}
    assert loads(client.get(place).text).quasi_identifiers == ("age",)
    text = '[columns.ages]\nrole = "quasi-identifier"\n'
    answer = client.put(place, content=text, headers={"content-type": "application/toml"})
    assert "did you mean 'age'" in answer.json()["problems"][0]
    assert client.get(f"{place}/problems").json() == answer.json()
    assert client.get(place).text == text


@pytest.mark.parametrize(
    ("content", "kind", "problems"),
    [
        (b'[columns.age]\nrole = "king"\n[columns.sex]\nrole = "queen"\n', "application/toml", 2),
        (b"[columns", "application/toml", 1),
        (b"\xff\xfe", "application/toml", 1),
        (b"[1]", "application/json", 1),
        (b"{", "application/json", 1),
        (b"[" * 100_000, "application/json", 1),
    ],
)
def test_a_bad_policy_changes_nothing_and_lists_all_problems(
    client: TestClient, table: str, content: bytes, kind: str, problems: int
) -> None:
    place = f"/api/v1/tables/{table}/policy"
    before = client.get(place).text
    answer = client.put(place, content=content, headers={"content-type": kind})
    refused(answer, 422, "invalid-policy")
    assert len(answer.json()["problems"]) == problems
    assert client.get(place).text == before


def test_a_policy_that_reads_the_file_otherwise_has_it_read_again(client: TestClient) -> None:
    made = upload(client, TABLE.replace("P003;23", "P003;?"))
    ended(client, made, "audit")
    place = f"/api/v1/tables/{made}/policy"
    text = client.get(place).text.rstrip() + '\n\n[read]\nmissing = ["?"]\n'
    assert client.put(place, content=text).status_code == 200
    wait_for(lambda: client.get(f"/api/v1/tables/{made}/columns").json()["columns"][1]["nulls"] == 1)
    assert client.get(place).text == text


# ── jobs ─────────────────────────────────────────────────────────────────────────────────────────────


def test_anonymise_and_take_everything_away(client: TestClient, table: str, tmp_path: Path) -> None:
    refused(client.get(f"/api/v1/tables/{table}/downloads/release"), 409, "not-ready")
    client.patch(f"/api/v1/tables/{table}/columns", json={"name": "town", "role": "insensitive"})
    answer = client.post(f"/api/v1/tables/{table}/jobs/anonymize", json={"suppression_limit": 0.5})
    assert answer.status_code == 202
    job = ended(client, table, "anonymize")
    assert job["state"] == "done", job
    result = client.get(f"/api/v1/tables/{table}/jobs/{job['id']}/result").json()
    assert result["schema"] == "discreet-release-1"

    def take(what: str, **parameters: str) -> Any:
        found = client.get(f"/api/v1/tables/{table}/downloads/{what}", params=parameters)
        assert found.status_code == 200, what
        assert found.headers["content-disposition"].startswith('attachment; filename="people-')
        return found

    file, policy = tmp_path / "release.csv", tmp_path / "policy.toml"
    file.write_bytes(take("release").content)
    policy.write_bytes(take("release-policy").content)
    assert check(read(file), load(policy)).passes
    assert json.loads(take("recipe").text)["columns"]
    assert take("report").text.startswith("<!doctype html>")
    assert "internal edition" in take("audit-report").text
    assert "public edition" in take("audit-report-public").text
    assert loads(take("policy").text).quasi_identifiers
    refused(client.get(f"/api/v1/tables/{table}/downloads/../policy.toml"), 404, "not-found")
    refused(client.get(f"/api/v1/tables/{table}/downloads/view"), 404, "not-found")

    # For programs as it was verified, for people without formulas.
    kept = list(csv.DictReader(io.StringIO(take("release").text)))
    # What people get is separated as what they gave.
    safe = list(csv.DictReader(io.StringIO(take("release", formulas="neutralised").text), delimiter=";"))
    assert {row["town"] for row in kept} == {"=HYPERLINK(1)", "Ulm"}
    assert {row["town"] for row in safe} == {"'=HYPERLINK(1)", "Ulm"}
    assert client.get(f"/case/{table}/download/release").text == take("release", formulas="neutralised").text


def test_formulas_are_text_in_a_spreadsheet(client: TestClient, table: str) -> None:
    from openpyxl import load_workbook

    client.patch(f"/api/v1/tables/{table}/columns", json={"name": "town", "role": "insensitive"})
    client.post(f"/api/v1/tables/{table}/jobs/anonymize", json={"format": "xlsx", "suppression_limit": 0.5})
    assert ended(client, table, "anonymize")["state"] == "done"
    content = client.get(f"/case/{table}/download/release").content
    rows = list(load_workbook(io.BytesIO(content)).active.iter_rows(min_row=2))  # type: ignore[union-attr]
    cells = [cell for row in rows for cell in row if cell.value == "=HYPERLINK(1)"]
    assert cells
    assert {cell.data_type for cell in cells} == {"s"}


def test_recommend(client: TestClient, table: str) -> None:
    client.post(f"/api/v1/tables/{table}/jobs/recommend", json={})
    job = ended(client, table, "recommend")
    result = client.get(f"/api/v1/tables/{table}/jobs/{job['id']}/result").json()
    assert result["schema"] == "discreet-advice-1"


def test_a_goal_that_cannot_be_reached_is_told(client: TestClient) -> None:
    made = upload(client, "age,ill\n" + "".join(f"{i},flu\n" for i in range(8)))
    ended(client, made, "audit")
    client.put(
        f"/api/v1/tables/{made}/policy",
        json={"columns": {"age": {"role": "quasi-identifier"}, "ill": {"role": "sensitive"}}},
    )
    client.post(f"/api/v1/tables/{made}/jobs/anonymize", json={})
    job = ended(client, made, "anonymize")
    assert job["state"] == "failed"
    assert job["error"]["code"] == "goal-unreachable"
    assert job["error"]["remedy"]


def test_cancel(client: TestClient, table: str) -> None:
    job = client.post(f"/api/v1/tables/{table}/jobs/audit", json={}).json()
    assert client.delete(f"/api/v1/tables/{table}/jobs/{job['id']}").json()["state"] == "cancelled"
    refused(client.get(f"/api/v1/tables/{table}/jobs/{job['id']}/result"), 409, "not-ready")
    # The verdict that was there before still is.
    assert "words" in client.get(f"/case/{table}/section/verdict").text
    refused(client.delete(f"/api/v1/tables/{table}/jobs/none"), 404, "not-found")


def test_bad_parameters_start_nothing(client: TestClient, table: str) -> None:
    before = len(client.get(f"/api/v1/tables/{table}").json()["jobs"])
    for kind, given in (
        ("audit", {"detail": "some"}),
        ("anonymize", {"suppression_limit": 2}),
        ("anonymize", {"format": "exe"}),
        ("anonymize", {"unknown": 1}),
        ("recommend", {"seed": -1}),
        ("read", {"decimal": "x"}),
    ):
        refused(client.post(f"/api/v1/tables/{table}/jobs/{kind}", json=given), 422, "invalid-request")
    refused(client.post(f"/api/v1/tables/{table}/jobs/attackers", json={}), 405, "method-not-allowed")
    assert len(client.get(f"/api/v1/tables/{table}").json()["jobs"]) == before


def test_two_tables_do_not_disturb_each_other(client: TestClient) -> None:
    one, other = upload(client), upload(client, name="others.csv")
    for made in (one, other):
        assert ended(client, made, "audit")["state"] == "done"
    client.patch(f"/api/v1/tables/{one}/columns", json={"name": "sex", "role": "insensitive"})
    assert loads(client.get(f"/api/v1/tables/{other}/policy").text).column("sex").role == "quasi-identifier"  # type: ignore[union-attr]
    assert not ended(client, other, "audit")["outdated"]
    job = ended(client, one, "audit")
    refused(client.get(f"/api/v1/tables/{other}/jobs/{job['id']}"), 404, "not-found")
    client.delete(f"/api/v1/tables/{one}")
    assert client.get(f"/case/{other}").status_code == 200


def test_a_table_is_wiped_after_the_stated_time(client: TestClient, service: Service) -> None:
    old, new = service.cases.get(upload(client)), service.cases.get(upload(client))
    for made in (old, new):
        ended(client, made.id, "audit")
    # What the loss would be is looked for after an audit by itself, and a table at work is not wiped.
    wait_for(lambda: not any(job.active for job in service.jobs_of(old)))
    old.used -= service.settings.keep_hours * 3600 + 1
    service.sweep()
    assert not old.folder.exists()
    assert new.folder.exists()
    refused(client.get(f"/api/v1/tables/{old.id}"), 404, "not-found")


# ── description ──────────────────────────────────────────────────────────────────────────────────────


def test_the_interface_is_described(client: TestClient, service: Service) -> None:
    description = client.get("/api/v1/openapi.json").json()
    paths = description["paths"]
    assert all(path.startswith("/api/v1/") for path in paths)
    for kind in service.kinds:
        assert f"/api/v1/tables/{{table}}/jobs/{kind}" in paths
    for path, verbs in paths.items():
        for verb, about in verbs.items():
            assert about["summary"], (path, verb)
            assert about["tags"], (path, verb)
            assert about["description"], (path, verb)
    documented = (Path(__file__).parents[2] / "docs" / "reference" / "rest.md").read_text("utf-8")
    for path, verbs in paths.items():
        for verb in verbs:
            short = path.removeprefix("/api/v1")
            assert f"`{verb.upper()} {short}" in documented, f"rest.md lacks {verb} {short}"
