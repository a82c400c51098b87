"""Releases that stand ready, their rows before and after, and the bundle with everything: on the page, without a browser."""

from __future__ import annotations

import csv
import hashlib
import io
import json
import os
import re
import zipfile
from dataclasses import replace
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest

pytest.importorskip("fastapi")

from starlette.testclient import TestClient

from discreet.classes import EquivalenceClasses
from discreet.release.write import TextDialect
from discreet.transform.recoding import Recoding
from discreet.web.app import create_app
from discreet.web.bundle import write_bundle
from discreet.web.jobs.kinds import KINDS
from discreet.web.pages import sections
from discreet.web.pages.release_views import values_kept
from discreet.web.service import Service
from discreet.web.settings import Settings
from helpers.server import ended

pytest_plugins = ("helpers.server",)
IN_HTMX = {"hx-request": "true"}
TABLE = "who;age;job;pay;illness\n" + "".join(
    f"Persön {i};{30 + i % 31};{('cook', 'nurse', 'smith', 'clerk')[i * 5 % 7 % 4]};{'' if i == 7 else f'{i * 17 % 4},5'};"
    f"{('flu', 'cold', 'gout')[i * 7 % 3]}\n"
    for i in range(300)
)


@pytest.fixture(scope="module")
def table(client: TestClient, service: Service) -> str:
    """A table with a release, those that stand ready beside it, and what was tried on it."""
    made = released(client, service)
    # Nobody has to ask for the evidence.
    assert ended(service, made, "evidence") == "done"
    return made


def released(client: TestClient, service: Service) -> str:
    """A table with a release, and an attack on it that has begun."""
    made = str(client.post("/api/v1/tables", params={"name": "people.csv"}, content=TABLE).json()["id"])
    assert ended(service, made, "audit") == "done"
    client.post(f"/case/{made}/roles", data={"columns[]": ["1", "2"], "role": "quasi-identifier"})
    client.post(f"/case/{made}/roles", data={"columns[]": ["3"], "role": "insensitive"})
    client.post(f"/case/{made}/jobs/audit", headers=IN_HTMX)
    assert ended(service, made, "audit") == "done"
    client.post(f"/case/{made}/jobs/anonymize", headers=IN_HTMX)
    assert ended(service, made, "anonymize") == "done"
    return made


def section(client: TestClient, table: str, name: str) -> str:
    answer = client.get(f"/case/{table}/section/{name}", headers=IN_HTMX)
    assert answer.status_code == 200
    return answer.text


def test_releases_side_by_side_and_another_by_one_click(
    client: TestClient, service: Service, table: str
) -> None:
    case = service.cases.get(table)
    shown = section(client, table, "release")
    others = re.findall(r'id="choose-(\d+)"', shown)
    assert others
    assert "Suggested" in shown
    before = client.get(f"/case/{table}/download/release").content
    answer = client.post(f"/case/{table}/choose/{others[0]}", headers=IN_HTMX)
    assert answer.status_code == 200
    assert f'id="choose-{others[0]}"' not in answer.text
    assert 'id="choose-0"' in answer.text
    assert client.get(f"/case/{table}/download/release").content != before
    # What was tried on the other release does not count for this one; it is tried anew by itself.
    assert ended(service, table, "evidence") == "done"
    proof = service.latest(case, "evidence")
    assert proof is not None
    assert not service.outdated(case, proof)
    # And back: the very same file.
    client.post(f"/case/{table}/choose/0", headers=IN_HTMX)
    assert client.get(f"/case/{table}/download/release").content == before
    for place in ("0", "99", "-1"):
        assert client.post(f"/case/{table}/choose/{place}", headers=IN_HTMX).status_code == 404
    assert ended(service, table, "evidence") == "done"


def test_guessing_stands_beside_guessing_without_the_release(client: TestClient, table: str) -> None:
    """Each of three illnesses has a third of the people."""
    shown = section(client, table, "release")
    assert "33.3% without it" in shown


def test_a_column_with_more_values_than_before_says_which_share_of_records_shows_its_own() -> None:
    """f, {f, m} and m of two values, in a quarter, half and a quarter of the records."""
    classes = EquivalenceClasses.from_columns({"sex": ["f", "f", "m", "m"], "age": [1, 2, 3, 4]})
    recoding = Recoding.of_groups(classes, np.array([0, 1, 1, 2]), kept=np.ones(3, bool), method="example")
    assert values_kept(recoding) == {"sex": "50.0%", "age": "3"}
    # What is left out shows nothing.
    kept = np.array([False, True, True])
    recoding = Recoding.of_groups(classes, np.array([0, 1, 1, 2]), kept=kept, method="example")
    assert values_kept(recoding) == {"sex": "2", "age": "2"}


def test_a_column_whose_new_values_lie_over_one_another_says_nothing_of_their_number() -> None:
    """a and b, a and c, b and c, all: four labels of three values, none of which stands for one value."""
    classes = EquivalenceClasses.from_columns({"job": list("abacbcabc"), "at": list(range(9))})
    pairs = np.minimum(classes.codes[1] // 2, 3)
    recoding = Recoding.of_groups(classes, pairs, kept=np.ones(4, bool), method="example")
    assert values_kept(recoding) == {"job": "", "at": "4"}


def test_the_risk_that_is_to_be_acknowledged_stands_with_the_verdict(
    client: TestClient, service: Service, table: str
) -> None:
    job = service.latest(service.cases.get(table), "anonymize", done=True)
    assert job is not None
    view = service.document(job, "view.json")
    shown = section(client, table, "release")
    assert ("The remaining risk:" in shown) == bool(view["acknowledged"])


def test_of_wide_rows_the_columns_that_changed_are_shown(
    client: TestClient, table: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Dozens of names in a row that nobody scrolls along are dozens of words."""
    assert "Further columns" not in section(client, table, "release")
    monkeypatch.setattr(sections, "MOST_BESIDE", 3)
    shown = section(client, table, "release").partition('id="rows-after"')[2].partition("</div></div>")[0]
    shown = shown.partition("</p>")[0]
    assert shown.count('<th scope="col">') == 3
    assert shown.count("<td") == 9
    assert "Further columns: 1." in shown


def test_the_same_rows_before_and_after(client: TestClient, service: Service, table: str) -> None:
    job = service.latest(service.cases.get(table), "anonymize", done=True)
    assert job is not None
    rows = service.document(job, "view.json")["rows"]
    assert rows["names"] == ["age", "job", "pay", "illness"]
    assert rows["left_out"] == ["who"]
    given = list(csv.reader(io.StringIO(TABLE), delimiter=";"))[1:9]
    before = [[cell["before"] for cell in row["cells"]] for row in rows["rows"]]
    assert [row[1] for row in before] == [one[2] for one in given]
    # Numbers have the mark that they had in the file, also in a column with empty cells.
    assert [row[2] for row in before] == [one[3] for one in given]
    # By the links that only the server has, each row stands beside what became of it.
    links = [line.split(",") for line in (job.task.out / "links.csv").read_text().split()[1:]]
    released = list(csv.DictReader(io.StringIO((job.task.out / "release.csv").read_text("utf-8"))))
    now = {int(original) - 1: released[int(place) - 1] for place, original in links}
    for number, row in enumerate(rows["rows"]):
        after = [cell["after"] for cell in row["cells"]]
        assert row["left_out"] == (number not in now)
        if number in now:
            assert after == [value.replace(".", ",") for value in now[number].values()]
    shown = section(client, table, "release")
    assert "<del>" in shown
    assert "<ins>" in shown
    assert "Left out: who." in shown
    became = client.get(f"/case/{table}/fold/became").text
    assert "→" in became
    assert "<summary>age</summary>" in became
    # None of it in what may go out.
    public = client.get(f"/case/{table}/download/report-public").text
    assert "cook" not in public


def test_one_bundle_with_everything_and_its_checksums(client: TestClient, table: str) -> None:
    assert 'id="take"' in section(client, table, "bar")
    answer = client.get(f"/case/{table}/download/bundle")
    assert answer.headers["content-type"] == "application/zip"
    assert answer.headers["content-disposition"].endswith('filename="people-bundle.zip"')
    bundle = zipfile.ZipFile(io.BytesIO(answer.content))
    names = set(bundle.namelist())
    assert {
        "hand-out/people-release.csv",
        "hand-out/people-report-public.html",
        "hand-out/people-evidence-public.html",
        "keep-inside/people-recipe.json",
        "keep-inside/people-release-policy.toml",
        "keep-inside/people-report.html",
        "keep-inside/people-evidence.html",
        "keep-inside/people-evidence.json",
        "SHA256SUMS",
    } <= names
    assert not [name for name in names if "links" in name or "view" in name]
    sums = dict(line.split("  ")[::-1] for line in bundle.read("SHA256SUMS").decode().splitlines())
    assert {name: hashlib.sha256(bundle.read(name)).hexdigest() for name in names - {"SHA256SUMS"}} == sums
    assert json.loads(bundle.read("keep-inside/people-evidence.json"))["comparison"]


def test_the_bundle_need_not_wait_for_the_attacks() -> None:
    """It says what it lacks, and has it when it is there."""
    held = replace(KINDS["evidence"], function="helpers.slow_jobs:sleeps")
    service = Service(Settings(), {**KINDS, "evidence": held})
    with TestClient(
        create_app(service),
        base_url=service.settings.address,
        headers={"authorization": f"Bearer {service.settings.token}"},
    ) as client:
        table = released(client, service)
        running = service.latest(service.cases.get(table), "evidence")
        assert running is not None
        assert running.active
        assert 'id="take"' in section(client, table, "bar")
        assert 'id="evidence-comes"' in section(client, table, "downloads")
        early = zipfile.ZipFile(io.BytesIO(client.get(f"/case/{table}/download/bundle").content))
        assert "hand-out/people-release.csv" in early.namelist()
        assert "not in this bundle yet" in early.read("keep-inside/people-evidence.txt").decode()
        assert "keep-inside/people-evidence.txt" in early.read("SHA256SUMS").decode()
        service.kinds["evidence"] = KINDS["evidence"]
        service.start(service.cases.get(table), "evidence")
        assert ended(service, table, "evidence") == "done"
        assert "evidence-comes" not in section(client, table, "downloads")
        late = zipfile.ZipFile(io.BytesIO(client.get(f"/case/{table}/download/bundle").content))
        assert "keep-inside/people-evidence.json" in late.namelist()
        assert "keep-inside/people-evidence.txt" not in late.namelist()


def test_people_get_the_file_as_they_gave_it(client: TestClient, table: str) -> None:
    """Semicolons and decimal commas came in, and go out; for programs it is the file that was verified."""
    people = client.get(f"/case/{table}/download/release").content.decode("utf-8")
    rows = list(csv.DictReader(io.StringIO(people), delimiter=";"))
    programs = list(csv.DictReader(io.StringIO(client.get(f"/api/v1/tables/{table}/downloads/release").text)))
    assert {row["pay"] for row in rows} == {row["pay"].replace(".", ",") for row in programs}
    assert sorted({row["pay"] for row in rows}) == ["", "0,5", "1,5", "2,5", "3,5"]
    assert [row["age"] for row in rows] == [row["age"] for row in programs]


def test_a_byte_order_mark_only_where_a_spreadsheet_needs_it(tmp_path: Path) -> None:
    for text, mark in (("Ulm", b'"town"'), ("Köln", b"\xef\xbb\xbf")):
        TextDialect(";", ",").write(pa.table({"town": [text], "x": [1.5]}), tmp_path / "a.csv")
        written = (tmp_path / "a.csv").read_bytes()
        assert written.startswith(mark)
        assert written.decode("utf-8-sig") == f'"town";"x"\n"{text}";"1,5"\n'


def test_a_bundle_is_packed_once_and_again_when_attacks_were_tried(tmp_path: Path) -> None:
    release, proof = tmp_path / "release", tmp_path / "proof"
    for folder, names in ((release, ("release.csv", "recipe.json")), (proof, ("result.json",))):
        folder.mkdir()
        for name in names:
            (folder / name).write_text(name, "utf-8")
    first = write_bundle(release, None, "a", "en")
    os.utime(first, (1, 1))
    assert write_bundle(release, None, "a", "en").stat().st_mtime == 1
    with zipfile.ZipFile(write_bundle(release, None, "a", "de")) as bundle:
        assert "noch nicht in diesem Paket" in bundle.read("keep-inside/a-evidence.txt").decode()
    names = zipfile.ZipFile(write_bundle(release, proof, "a", "en")).namelist()
    assert names == [
        "hand-out/a-release.csv",
        "keep-inside/a-recipe.json",
        "keep-inside/a-evidence.json",
        "SHA256SUMS",
    ]
