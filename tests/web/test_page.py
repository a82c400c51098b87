"""The page without a browser: what it shows, that it follows jobs and survives a reload, and that it trusts nothing."""

from __future__ import annotations

import re
import time
from dataclasses import replace
from io import BytesIO
from typing import Any

import pytest

pytest.importorskip("fastapi")

from openpyxl import Workbook
from starlette.testclient import TestClient

from discreet.policy import load
from discreet.web.jobs.scheduler import Job
from discreet.web.pages import sections
from discreet.web.pages.sections import LONG_PAUSE, SHORT_PAUSE
from discreet.web.service import KEPT_RESULTS, Service
from helpers.server import ended, wait_for

pytest_plugins = ("helpers.server",)
IN_HTMX = {"hx-request": "true"}
NASTY = "<script>alert(1)</script>"
TABLE = f'id,age,sex,"{NASTY}"\n' + "".join(
    f'{i},{20 + i % 9},{"fm"[i % 2]},"<img src=x onerror={i % 4}>"\n' for i in range(120)
)


@pytest.fixture(scope="module")
def table(client: TestClient, service: Service) -> str:
    answer = client.post("/api/v1/tables", params={"name": "<b>people.csv"}, content=TABLE)
    made = str(answer.json()["id"])
    assert ended(service, made, "audit") == "done"
    return made


def section(client: TestClient, table: str, name: str, **parameters: str) -> str:
    answer = client.get(f"/case/{table}/section/{name}", params=parameters, headers=IN_HTMX)
    assert answer.status_code == 200
    return answer.text


@pytest.mark.parametrize(
    ("asked", "accept", "language"),
    [
        ({}, "en", "en"),
        ({}, "de-AT,en;q=0.5", "de"),
        ({"lang": "de"}, "en", "de"),
        ({"lang": "xx"}, "fr", "en"),
    ],
)
def test_the_start_in_the_reader_s_language(
    client: TestClient, asked: dict[str, str], accept: str, language: str
) -> None:
    answer = client.get("/", params=asked, headers={"accept-language": accept})
    assert f'<html lang="{language}">' in answer.text
    assert ("Datei hier ablegen" in answer.text) == (language == "de")
    client.cookies.clear()


def test_the_example_leads_to_a_verdict(client: TestClient, service: Service) -> None:
    answer = client.post("/case/example", data={"table": "visits"})
    assert answer.status_code == 303
    table = answer.headers["location"].removeprefix("/case/")
    # The page can be loaded at any time, also while the table is being read.
    first = client.get(f"/case/{table}")
    assert first.status_code == 200
    assert ended(service, table, "read") == "done"
    assert ended(service, table, "audit") == "done"
    shown = client.get(f"/case/{table}", headers={"accept-language": "de"}).text
    assert "Diese Tabelle nicht veröffentlichen." in shown
    assert "Was die Spalten sind" in shown
    assert len(set(re.findall(r'<select id="role-(\d+)"', shown))) == len(
        set(re.findall(r'id="column-(\d+)"', shown))
    )
    assert "<svg" in client.get(f"/case/{table}/fold/findings").text
    assert client.get(f"/case/{table}/fold/none").status_code == 404
    assert client.get(f"/case/{table}/fold/attacks").status_code == 404


def test_a_bad_path_is_told(client: TestClient) -> None:
    answer = client.post("/case/path", data={"path": "/no/such/file.csv"})
    assert answer.status_code == 422
    assert "there is no file file.csv" in answer.text
    assert "/no/such" not in answer.text


def test_nothing_in_the_page_is_inline_or_from_elsewhere(client: TestClient, table: str) -> None:
    for text in (client.get("/").text, client.get(f"/case/{table}").text):
        assert re.findall(r"<script(?! src=\"/static/)", text) == []
        assert re.findall(r"<style|\sstyle=|\son[a-z]+=\"|javascript:", text) == []
        assert re.findall(r"(?:src|href)=\"(?:https?:)?//", text) == []


def test_names_and_values_are_never_markup(client: TestClient, table: str) -> None:
    for text in (
        client.get(f"/case/{table}").text,
        *(section(client, table, n) for n in ("columns", "verdict")),
    ):
        assert NASTY not in text
        assert "<b>" not in text
        assert "<img" not in text
    shown = client.get(f"/case/{table}").text
    assert "&lt;b&gt;people.csv" in shown
    assert "&lt;script&gt;alert(1)&lt;/script&gt;" in shown


def state(client: TestClient, table: str) -> dict[str, Any]:
    answer = client.get(f"/case/{table}/state", headers=IN_HTMX)
    assert answer.status_code == 200
    document: dict[str, Any] = answer.json()
    return document


def stamps_of(page: str) -> dict[str, str]:
    """The stamps that the sections of a page bear, by their names."""
    return dict(re.findall(r'<section class="part[^"]*" id="(\w+)".*? data-stamp="(\w+)"', page))


def test_a_page_finds_out_what_is_out_of_date(client: TestClient, service: Service, table: str) -> None:
    wait_for(lambda: state(client, table)["pause"] is None)
    shown = state(client, table)
    assert stamps_of(client.get(f"/case/{table}").text) == shown["stamps"]
    assert shown["progress"] == {}
    answer = client.post(f"/case/{table}/jobs/audit", headers=IN_HTMX)
    assert "cancel" in answer.text
    job = service.latest(service.cases.get(table), "audit")
    assert job is not None
    # A reload finds the job again.
    assert f'data-progress="{job.id}"' in client.get(f"/case/{table}").text
    assert ended(service, table, "audit") == "done"
    now = state(client, table)["stamps"]
    changed = {name for name in now if now[name] != shown["stamps"][name]}
    assert changed >= {"bar", "verdict", "downloads"}
    assert not changed & {"file", "columns", "plan", "release", "evidence", "frontier"}


def test_how_far_a_job_is(client: TestClient, service: Service, table: str) -> None:
    case = service.cases.get(table)
    wait_for(lambda: state(client, table)["pause"] is None)
    done = service.latest(case, "audit", done=True)
    assert done is not None
    job = replace(done, id="under-way", state="running", started=time.time(), ended=None)
    service._of_case[table].append(job)
    assert state(client, table)["pause"] == SHORT_PAUSE
    job.started = time.time() - 60
    assert state(client, table)["pause"] == LONG_PAUSE
    assert "At work:" in state(client, table)["progress"]["under-way"]
    assert "(60 s)" in state(client, table)["progress"]["under-way"]
    service._of_case[table].remove(job)


def test_how_far_a_report_is_stands_beside_what_is_downloaded(
    client: TestClient, service: Service, table: str
) -> None:
    """It is drawn when somebody asks for it, and the answer comes when it is there."""
    wait_for(lambda: state(client, table)["pause"] is None)
    done = service.latest(service.cases.get(table), "audit", done=True)
    assert done is not None
    was = state(client, table)["stamps"]["downloads"]
    assert "data-progress" not in section(client, table, "downloads")
    drawing = replace(done, id="drawn", kind="report", state="running", started=time.time(), ended=None)
    service._of_case[table].append(drawing)
    assert 'data-progress="drawn"' in section(client, table, "downloads")
    assert state(client, table)["stamps"]["downloads"] != was
    assert state(client, table)["pause"] == SHORT_PAUSE
    service._of_case[table].remove(drawing)


def test_a_job_that_ends_while_its_section_is_drawn(
    client: TestClient, service: Service, table: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert ended(service, table, "audit") == "done"
    monkeypatch.setattr(Job, "active", True)
    assert 'class="words"' in section(client, table, "verdict")


def test_cancel_in_the_page(client: TestClient, service: Service, table: str) -> None:
    client.post(f"/case/{table}/jobs/audit", headers=IN_HTMX)
    job = service.latest(service.cases.get(table), "audit")
    assert job is not None
    answer = client.post(f"/case/{table}/jobs/{job.id}/cancel", headers=IN_HTMX)
    assert "Cancelled" in answer.text
    assert "data-progress" not in answer.text
    # The older verdict is still there.
    assert 'class="words"' in answer.text


def test_a_killed_worker_is_told_and_the_page_goes_on(
    client: TestClient, service: Service, table: str
) -> None:
    client.post(f"/case/{table}/jobs/audit", headers=IN_HTMX)
    job = service.latest(service.cases.get(table), "audit")
    assert job is not None
    wait_for(lambda: job.messages)
    service.jobs._running[job.id].process.kill()
    assert ended(service, table, "audit") == "failed"
    assert "stopped by the system (SIGKILL)" in section(client, table, "verdict")
    client.post(f"/case/{table}/jobs/audit", headers=IN_HTMX)
    assert ended(service, table, "audit") == "done"
    assert "SIGKILL" not in section(client, table, "verdict")


def test_a_role_by_one_click(client: TestClient, service: Service, table: str) -> None:
    ended(service, table, "audit")
    policy = service.cases.get(table).policy_file
    was = load(policy).column("age")
    assert was is not None
    assert "Judge again" not in section(client, table, "bar")
    answer = client.post(f"/case/{table}/columns/1/role", data={"role": "insensitive"}, headers=IN_HTMX)
    assert answer.status_code == 204
    now = load(policy).column("age")
    assert now is not None
    assert (now.role, now.reason) == ("insensitive", "chosen by the user")
    assert "Judge again" in section(client, table, "bar")
    assert "Something has changed" in section(client, table, "verdict")
    # Taken back, the verdict holds again.
    client.post(f"/case/{table}/columns/1/role", data={"role": was.role}, headers=IN_HTMX)
    assert "Judge again" not in section(client, table, "bar")
    for number, role, status in ((99, "weight", 404), (-1, "weight", 404), (1, "king", 422)):
        answer = client.post(f"/case/{table}/columns/{number}/role", data={"role": role}, headers=IN_HTMX)
        assert answer.status_code == status
        assert "notice" in answer.text
        assert "<html" not in answer.text


def test_several_columns_get_a_role_at_once(client: TestClient, service: Service, table: str) -> None:
    policy = service.cases.get(table).policy_file
    was = policy.read_text("utf-8")
    given = {"columns[]": ["1", "2"], "role": "sensitive"}
    answer = client.post(f"/case/{table}/roles", data=given, headers=IN_HTMX)
    assert answer.status_code == 204
    assert load(policy).sensitive == ("age", "sex")
    for bad in (
        {"columns[]": ["99"], "role": "weight"},
        {"columns[]": ["1"], "role": "king"},
        {"role": "weight"},
    ):
        assert client.post(f"/case/{table}/roles", data=bad, headers=IN_HTMX).status_code in (404, 422)
    assert load(policy).sensitive == ("age", "sex")
    policy.write_text(was, "utf-8")


def test_what_is_not_sure_is_asked_until_somebody_says_that_it_is_right(
    client: TestClient, service: Service
) -> None:
    text = "age,qfx\n" + "".join(f"{20 + i % 30},{i % 3}\n" for i in range(90))
    made = client.post("/api/v1/tables", params={"name": "a.csv"}, content=text).json()["id"]
    assert ended(service, made, "audit") == "done"
    assert "1 to check" in section(client, made, "bar")
    shown = section(client, made, "columns")
    # The one to check stands first, with its question.
    assert shown.index('id="column-1"') < shown.index('id="column-0"')
    assert "Could others know this" in shown
    client.post(f"/case/{made}/roles", data={"columns[]": "1"}, headers=IN_HTMX)
    assert "to check" not in section(client, made, "bar")
    assert "Could others know this" not in section(client, made, "columns")
    # Nothing has changed for the verdict.
    assert "Judge again" not in section(client, made, "bar")
    client.delete(f"/api/v1/tables/{made}")


def test_columns_that_are_all_clear_are_told_by_role_where_their_list_is_folded(
    client: TestClient, service: Service, monkeypatch: pytest.MonkeyPatch
) -> None:
    names = ("age", "sex", "county", "race", "diagnosis")
    rows = [",".join(names), *(",".join(str(i * j % 7) for j in range(1, 6)) for i in range(40))]
    answer = client.post("/api/v1/tables", params={"name": "clear.csv"}, content="\n".join(rows))
    made = str(answer.json()["id"])
    assert ended(service, made, "audit") == "done"
    assert 'id="roles-overview"' not in section(client, made, "columns")
    monkeypatch.setattr(sections, "MOST_COLUMNS", 4)
    monkeypatch.setattr(sections, "MOST_NAMES", 3)
    shown = section(client, made, "columns")
    overview = shown.partition('id="roles-overview"')[2].partition("</dl>")[0]
    assert "age · sex · county" in overview
    assert "and 1 more" in overview
    assert "<dd>diagnosis</dd>" in overview
    assert "direct identifier" not in overview
    assert 'id="fold-clear"' in shown


def test_obstacles_are_what_must_hold_with_what_was_found_and_how_many_more_there_are(
    client: TestClient, service: Service, table: str
) -> None:
    shown = section(client, table, "verdict")
    assert "What must hold, but does not" in shown
    listed = shown.partition('<ol class="brief">')[2].partition("</ol>")
    told = service.latest(service.cases.get(table), "audit", done=True)
    assert told is not None
    obstacles = service.document(told, "view.json")["obstacles"]
    assert listed[0].count("<li>") == listed[0].count("found:") == min(4, len(obstacles))
    assert (f"And {len(obstacles) - 4} more" in shown) == (len(obstacles) > 4)


def test_the_first_rows_and_how_they_were_read(client: TestClient, table: str) -> None:
    shown = section(client, table, "file")
    assert shown.count("<tr>") == 1 + 8
    assert "&lt;img src=x onerror=3&gt;" in shown
    assert "delimiter" in shown


def test_the_sheets_of_a_workbook_can_be_chosen(client: TestClient, service: Service) -> None:
    book = Workbook()
    for name in ("first", "second"):
        sheet = book.create_sheet(name)
        for row in [("age", "sex"), *((20 + i % 30, "fm"[i % 2]) for i in range(60))]:
            sheet.append(row)
    del book["Sheet"]
    content = BytesIO()
    book.save(content)
    made = client.post("/api/v1/tables", params={"name": "a.xlsx"}, content=content.getvalue()).json()["id"]
    assert ended(service, made, "read") == "failed"
    shown = section(client, made, "file")
    assert '<option value="second">' in shown
    assert "Choose another file" in shown
    assert 'data-suggested="file"' in section(client, made, "bar")
    client.post(f"/case/{made}/reading", data={"sheet": "second"}, headers=IN_HTMX)
    assert ended(service, made, "read") == "done"
    assert '<option value="second" selected>' in section(client, made, "file")
    client.delete(f"/api/v1/tables/{made}")


def test_the_start_lists_the_tables_at_work(client: TestClient, table: str) -> None:
    shown = client.get("/").text
    assert f'/case/{table}">&lt;b&gt;people.csv</a>' in shown
    assert "Do not release this table." in shown


def test_the_plan_goes_into_the_policy_and_leaves_the_verdict_alone(
    client: TestClient, service: Service, table: str
) -> None:
    ended(service, table, "audit")
    given = {"method": "mondrian", "suppression_limit": "0.35", "format": "xlsx"}
    assert client.post(f"/case/{table}/plan", data=given, headers=IN_HTMX).status_code == 204
    plan = load(service.cases.get(table).policy_file).plan
    assert (plan.method, plan.suppression_limit) == ("mondrian", 0.35)
    assert "Judge again" not in section(client, table, "bar")
    assert 'value="mondrian" selected' in section(client, table, "plan")
    assert client.post(f"/case/{table}/plan", data={"method": "magic"}).status_code == 422


def test_another_profile_judges_anew(client: TestClient, service: Service, table: str) -> None:
    answer = client.post(f"/case/{table}/profile", data={"profile": "research-partner-3"}, headers=IN_HTMX)
    assert "data-progress" in answer.text
    assert ended(service, table, "audit") == "done"
    assert 'value="research-partner-3" selected' in section(client, table, "verdict")
    for profile in ("none", "../profiles/open-data", "/etc/passwd"):
        assert client.post(f"/case/{table}/profile", data={"profile": profile}).status_code == 404


def test_a_policy_is_loaded_and_a_bad_one_lists_its_problems(
    client: TestClient, service: Service, table: str
) -> None:
    good = '[columns.age]\nrole = "quasi-identifier"\n'
    answer = client.post(f"/case/{table}/policy", files={"policy": ("../x.toml", good)}, headers=IN_HTMX)
    assert answer.status_code == 204
    assert service.cases.get(table).policy_file.read_text("utf-8") == good
    bad = '[columns.age]\nrole = "king"\n[columns.sex]\nrole = "queen"\n'
    answer = client.post(f"/case/{table}/policy", files={"policy": ("x.toml", bad)}, headers=IN_HTMX)
    assert answer.status_code == 422
    assert "2 problems" in answer.text
    assert "king" in answer.text
    assert service.cases.get(table).policy_file.read_text("utf-8") == good
    assert client.post(f"/case/{table}/policy", data={"policy": good}).status_code == 404


def test_a_report_is_shown_without_any_power(client: TestClient, table: str) -> None:
    answer = client.get(f"/case/{table}/download/audit-report", params={"show": "1"})
    policy = answer.headers["content-security-policy"]
    assert "sandbox" in policy
    assert "script-src" not in policy
    assert "content-disposition" not in answer.headers


def test_what_does_not_exist(client: TestClient, table: str) -> None:
    for path in ("/case/none", f"/case/{table}/section/none", f"/case/{table}/download/none", "/case/../x"):
        assert client.get(path).status_code == 404
    assert client.post(f"/case/{table}/jobs/none").status_code == 404
    assert "Back to the start" in client.get("/case/none").text


def test_wiping_a_table(client: TestClient, service: Service) -> None:
    table = client.post("/api/v1/tables", content=TABLE).json()["id"]
    folder = service.cases.get(table).folder
    # It is asked first, in words.
    shown = client.get(f"/case/{table}").text
    assert shown.index("Everything about this table will be gone.") < shown.index('id="wipe"')
    assert client.post(f"/case/{table}/remove").headers["location"] == "/"
    assert not folder.exists()
    assert client.get(f"/case/{table}").status_code == 404


def test_old_results_are_forgotten(client: TestClient, service: Service) -> None:
    table = client.post("/api/v1/tables", content=TABLE).json()["id"]
    ended(service, table, "audit")
    case = service.cases.get(table)
    for _ in range(KEPT_RESULTS):
        client.post(f"/case/{table}/jobs/audit", data={"detail": "core"}, headers=IN_HTMX)
        assert ended(service, table, "audit") == "done"
    kept = [job for job in service.jobs_of(case) if job.kind == "audit"]
    assert len(kept) == KEPT_RESULTS
    assert {path.name for path in (case.folder / "jobs").glob("audit-*")} == {
        job.task.out.name for job in kept
    }


@pytest.mark.parametrize(
    ("language", "words"),
    [
        (
            "en",
            ("quasi-identifier", "t-closeness", "Record linkage", "How many people share the smallest class"),
        ),
        ("de", ("Quasi-Identifikator", "t-Nähe", "Verknüpfung von Datensätzen", "die kleinste Klasse hat")),
    ],
)
def test_the_glossary_is_one_tap_away_in_the_reader_s_language(
    client: TestClient, language: str, words: tuple[str, ...]
) -> None:
    asked = {"accept-language": language}
    assert 'id="glossary-open"' in client.get("/", headers=asked).text
    shown = client.get("/glossary", headers={**asked, **IN_HTMX}).text
    assert [word for word in words if word not in shown] == []
    # What has no words in the language would be marked as English.
    assert 'lang="en"' not in shown


def test_a_table_takes_over_the_policy_of_another(client: TestClient, service: Service, table: str) -> None:
    client.post(f"/case/{table}/columns/2/role", data={"role": "sensitive"}, headers=IN_HTMX)
    sent = client.post("/api/v1/tables", params={"name": "next.csv"}, content=TABLE)
    other = str(sent.json()["id"])
    assert ended(service, other, "audit") == "done"
    start = client.get("/").text
    assert "Recent policies" in start
    assert f"/case/{table}/download/policy" in start
    assert f"/case/{other}/policy-of/{table}" in section(client, other, "policies")
    assert f"/case/{other}/policy-of/{other}" not in section(client, other, "policies")
    answer = client.post(f"/case/{other}/policy-of/{table}", headers=IN_HTMX)
    assert answer.status_code == 204
    mine, taken = (load(service.cases.get(name).policy_file) for name in (table, other))
    assert mine.sensitive == taken.sensitive
    assert client.post(f"/case/{other}/policy-of/none", headers=IN_HTMX).status_code == 404
    service.remove(service.cases.get(other))
