"""Requirements, plan, preview, evidence and frontier on the page: what is set goes into the policy, and what is shown
rests on the same numbers as elsewhere."""

from __future__ import annotations

import json
import os
import re
from dataclasses import replace
from pathlib import Path

import pytest

pytest.importorskip("fastapi")

from starlette.testclient import TestClient

from discreet.classes import EquivalenceClasses, store
from discreet.engine.read import read
from discreet.policy import load
from discreet.privacy import KAnonymity, LDiversity, TCloseness
from discreet.privacy.registry import MODELS
from discreet.release.prepare import count_classes, without_dropped
from discreet.table import Table
from discreet.web.jobs import parsed_table
from discreet.web.jobs.counted_classes import counted
from discreet.web.pages.sections import SECTIONS, stamp
from discreet.web.requirements import entry_of, fields_of
from discreet.web.service import Service
from helpers.server import ended, wait_for

pytest_plugins = ("helpers.server",)
IN_HTMX = {"hx-request": "true"}
TABLE = "name,age,sex,illness\n" + "".join(
    f"Person {i},{30 + i % 31},{'fm'[i % 2]},{('flu', 'cold', 'gout')[i * 7 % 3]}\n" for i in range(400)
)


@pytest.fixture(scope="module")
def table(client: TestClient, service: Service) -> str:
    made = str(client.post("/api/v1/tables", params={"name": "people.csv"}, content=TABLE).json()["id"])
    assert ended(service, made, "audit") == "done"
    assert ended(service, made, "preview") == "done"
    return made


def section(client: TestClient, table: str, name: str) -> str:
    answer = client.get(f"/case/{table}/section/{name}", headers=IN_HTMX)
    assert answer.status_code == 200
    return answer.text


def test_a_preview_comes_by_itself_and_writes_no_release(
    client: TestClient, service: Service, table: str
) -> None:
    shown = section(client, table, "preview")
    assert "What it would cost" in shown
    assert shown.count("<meter") == 2
    assert service.latest(service.cases.get(table), "anonymize") is None
    result = service.document(service.latest(service.cases.get(table), "preview", done=True))  # type: ignore[arg-type]
    assert result["schema"] == "discreet-preview-1"
    assert 0 < result["loss"] <= 1
    assert result["smallest_class"] >= 11


def test_the_preview_says_what_the_release_then_is(client: TestClient, service: Service, table: str) -> None:
    case = service.cases.get(table)
    client.post(f"/api/v1/tables/{table}/jobs/anonymize", json={"format": "csv"})
    assert ended(service, table, "anonymize") == "done"
    foreseen = service.document(service.latest(case, "preview", done=True))  # type: ignore[arg-type]
    made = service.document(service.latest(case, "anonymize", done=True))  # type: ignore[arg-type]
    assert foreseen["suppressed_share"] == made["records"]["suppressed_share"]
    for one in foreseen["attributes"]:
        assert made["attributes"][one["name"]]["loss"] == pytest.approx(one["loss"])
        assert (made["levels"] or {}).get(one["name"]) == one["level"]


def test_weights_and_kept_attributes_by_slider_and_box(
    client: TestClient, service: Service, table: str
) -> None:
    case = service.cases.get(table)
    given = {"attributes": "all", "weight-1": "2.5", "weight-2": "1", "keep-2": "yes", "weight-0": "3"}
    answer = client.post(f"/case/{table}/plan", data=given, headers=IN_HTMX)
    assert answer.status_code == 204
    plan = load(case.policy_file).plan
    # The name is no quasi-identifier, so that nobody can say how much it matters.
    assert (dict(plan.weights), plan.keep) == ({"age": 2.5}, ("sex",))
    assert ended(service, table, "preview") == "done"
    found = service.document(service.latest(case, "preview", done=True))  # type: ignore[arg-type]
    kept = next(one for one in found["attributes"] if one["name"] == "sex")
    assert (kept["loss"], kept["distinct_after"]) == (0, 2)
    assert 'value="2.5"' in section(client, table, "plan")
    # With its role, a column's place in the plan goes.
    client.post(f"/case/{table}/columns/2/role", data={"role": "insensitive"}, headers=IN_HTMX)
    assert load(case.policy_file).plan.keep == ()
    client.post(f"/case/{table}/columns/2/role", data={"role": "quasi-identifier"}, headers=IN_HTMX)
    client.post(f"/case/{table}/plan", data={"attributes": "all"}, headers=IN_HTMX)
    assert dict(load(case.policy_file).plan.weights) == {}
    for bad in ({"attributes": "all", "weight-1": "much"}, {"attributes": "all", "weight-1": "-1"}):
        assert client.post(f"/case/{table}/plan", data=bad, headers=IN_HTMX).status_code == 422


def test_an_objective_that_predicts_has_its_label(client: TestClient, service: Service, table: str) -> None:
    case = service.cases.get(table)
    before = stamp(service, case, SECTIONS["plan"])
    client.post(f"/case/{table}/plan", data={"suppression_limit": "0.04"}, headers=IN_HTMX)
    # A form stays as somebody fills it in, unless it asks for something else from now on.
    assert stamp(service, case, SECTIONS["plan"]) == before
    client.post(f"/case/{table}/plan", data={"objective": "classification"}, headers=IN_HTMX)
    assert stamp(service, case, SECTIONS["plan"]) != before
    assert load(case.policy_file).plan.label == "illness"
    assert 'id="label"' in section(client, table, "plan")
    client.post(f"/case/{table}/plan", data={"objective": "loss"}, headers=IN_HTMX)
    assert load(case.policy_file).plan.label is None


def test_a_method_has_its_own_settings(client: TestClient, service: Service, table: str) -> None:
    case = service.cases.get(table)
    before = stamp(service, case, SECTIONS["plan"])
    client.post(f"/case/{table}/plan", data={"method": "mondrian"}, headers=IN_HTMX)
    assert stamp(service, case, SECTIONS["plan"]) != before
    shown = section(client, table, "plan")
    assert 'id="mondrian_mode"' in shown
    assert 'id="group_size"' not in shown
    client.post(f"/case/{table}/plan", data={"mondrian_mode": "strict"}, headers=IN_HTMX)
    assert '<option value="strict" selected>' in section(client, table, "plan")
    # What the form still says of the method before goes with it.
    form = {"method": "microaggregation", "mondrian_mode": "strict"}
    assert client.post(f"/case/{table}/plan", data=form, headers=IN_HTMX).status_code < 300
    plan = load(case.policy_file).plan
    assert (plan.method, plan.mondrian_mode) == ("microaggregation", "relaxed")
    client.post(f"/case/{table}/plan", data={"method": "auto"}, headers=IN_HTMX)


def test_requirements_are_added_changed_and_removed(client: TestClient, service: Service, table: str) -> None:
    case = service.cases.get(table)
    before = section(client, table, "plan")
    assert "Every class has at least 11 persons" in before
    assert "asked by Open data" in before
    fields = client.get(f"/case/{table}/requirements/fields", params={"model": "l-diversity"})
    assert 'name="l"' in fields.text
    assert "illness" in fields.text
    given = {"model": "l-diversity", "l": "2", "sensitive": "illness", "kind": "", "c": ""}
    answer = client.post(f"/case/{table}/requirements", data=given, headers=IN_HTMX)
    assert load(case.policy_file).requirements == (LDiversity(2, "illness"),)
    assert "your own" in answer.text
    client.post(f"/case/{table}/requirements/0", data={"model": "k-anonymity", "k": "25"}, headers=IN_HTMX)
    assert load(case.policy_file).requirements == (KAnonymity(25),)
    assert ended(service, table, "preview") == "done"
    found = service.document(service.latest(case, "preview", done=True))  # type: ignore[arg-type]
    assert found["smallest_class"] >= 25
    # A requirement changes the verdict, too.
    assert "Judge again" in section(client, table, "bar")
    client.post(f"/case/{table}/requirements/0/remove", headers=IN_HTMX)
    assert load(case.policy_file).requirements == ()
    assert "require" not in case.policy_file.read_text("utf-8")


@pytest.mark.parametrize(
    ("path", "given", "status"),
    [
        ("requirements", {"model": "k-anonymity", "k": "many"}, 422),
        ("requirements", {"model": "k-anonymity"}, 422),
        ("requirements", {"model": "k-anonymity", "k": "0"}, 422),
        ("requirements", {"model": "k-anonymity", "k": "1,000"}, 422),
        ("requirements", {"model": "k-anonymity", "k": "2,5"}, 422),
        ("requirements", {"model": "magic"}, 404),
        ("requirements", {"model": "l-plus-diversity", "sensitive": "illness", "thresholds": "flu"}, 422),
        ("requirements/7", {"model": "k-anonymity", "k": "5"}, 404),
        ("requirements/7/remove", {}, 404),
        ("frontier/99/use", {}, 404),
    ],
)
def test_what_makes_no_requirement_is_told_and_changes_nothing(
    client: TestClient, service: Service, table: str, path: str, given: dict[str, str], status: int
) -> None:
    policy = service.cases.get(table).policy_file
    before = policy.read_text("utf-8")
    answer = client.post(f"/case/{table}/{path}", data=given, headers=IN_HTMX)
    assert answer.status_code == status
    assert "notice" in answer.text
    assert policy.read_text("utf-8") == before


@pytest.mark.parametrize("model", MODELS)
def test_every_model_has_a_form(model: str) -> None:
    fields = fields_of(model, ["illness"])
    filled = {
        "count": "2",
        "number": "0.5",
        "text": "flu",
        "column": "illness",
        "pairs": "flu = 0.5",
        "list": "flu",
    }
    given = {one.name: filled.get(one.input, "") for one in fields if one.needed}
    if model in ("l-diversity", "multi-attribute-l-diversity", "epsilon-m-anonymity"):
        given |= {name: "2" for name in ("l", "m") if name in given}
    if model == "p-plus-sensitivity":
        given["categories"] = "flu = cold"
    entry = entry_of(model, given)
    assert entry["model"] == model
    again = fields_of(model, ["illness"], {key: value for key, value in entry.items() if key != "model"})
    assert {one.name: one.value for one in again if one.value} == given


def test_a_number_may_have_a_decimal_comma() -> None:
    entry = entry_of("t-closeness", {"sensitive": "illness", "t": "0,3"})
    assert entry == {"model": "t-closeness", "sensitive": "illness", "t": 0.3}


def test_losses_and_attacks_of_the_release(client: TestClient, service: Service, table: str) -> None:
    case = service.cases.get(table)
    client.post(f"/api/v1/tables/{table}/jobs/anonymize", json={"format": "csv"})
    assert ended(service, table, "anonymize") == "done"
    given = {"scenario": "neighbour", "known[]": ["", "age"]}
    assert "data-progress" in client.post(f"/case/{table}/jobs/evidence", data=given, headers=IN_HTMX).text
    assert ended(service, table, "evidence") == "done"
    shown = section(client, table, "evidence")
    for words in ("Singling out:", "Linkability:", "Inference:"):
        assert words in shown
    folds = {name: client.get(f"/case/{table}/fold/{name}").text for name in ("attacks", "losses")}
    assert "Known: age." in folds["attacks"]
    assert "whisker" in folds["attacks"]
    assert "Shows nothing" in folds["losses"]
    assert re.findall(r"<style|\sstyle=", "".join(folds.values())) == []
    assert 'id="scenario-neighbour" name="scenario" value="neighbour" autocomplete="off" checked' in shown
    assert re.findall(r"<style|\sstyle=", shown) == []
    for what, begins in (
        ("evidence-report", "<!doctype html>"),
        ("evidence-report-public", "<!doctype html>"),
    ):
        answer = client.get(f"/case/{table}/download/{what}")
        assert answer.text.startswith(begins)
    document = client.get(f"/case/{table}/download/evidence").json()
    assert document["comparison"]["schema"] == "discreet-comparison-1"
    assert document["attacks"]["scenario"]["known"] == ["age"]
    # Another release makes it outdated.
    assert "newer release" not in shown
    client.post(f"/api/v1/tables/{table}/jobs/anonymize", json={"format": "csv"})
    assert ended(service, table, "anonymize") == "done"
    assert "newer release" in section(client, table, "evidence")
    job = service.latest(case, "evidence")
    assert job is not None
    assert service.outdated(case, job)


@pytest.mark.parametrize("kind", ["compare", "attack", "evidence"])
def test_without_a_release_there_is_nothing_to_attack(client: TestClient, kind: str) -> None:
    made = client.post("/api/v1/tables/example", json={"table": "residents"}).json()["id"]
    wait_for(lambda: client.get(f"/api/v1/tables/{made}/policy").status_code == 200)
    answer = client.post(f"/api/v1/tables/{made}/jobs/{kind}", json={})
    assert (answer.status_code, answer.json()["code"]) == (409, "not-ready")
    client.delete(f"/api/v1/tables/{made}")


@pytest.mark.parametrize(
    ("kind", "schema"), [("compare", "discreet-comparison-1"), ("attack", "discreet-attacks-1")]
)
def test_losses_and_attacks_by_rest(client: TestClient, table: str, kind: str, schema: str) -> None:
    given = {"compare": {"queries": 20, "labels": []}, "attack": {"attacks": ["homogeneity"]}}[kind]
    job = client.post(f"/api/v1/tables/{table}/jobs/{kind}", json=given).json()["id"]
    wait_for(lambda: client.get(f"/api/v1/tables/{table}/jobs/{job}").json()["state"] == "done")
    assert client.get(f"/api/v1/tables/{table}/jobs/{job}/result").json()["schema"] == schema


def test_a_frontier_and_a_point_of_it(client: TestClient, service: Service, table: str) -> None:
    case = service.cases.get(table)
    given = {"k[]": ["", "2", "30"], "methods[]": ["", "optimal"]}
    client.post(f"/case/{table}/jobs/frontier", data=given, headers=IN_HTMX)
    assert ended(service, table, "frontier") == "done"
    shown = section(client, table, "frontier")
    assert "<svg" in shown
    assert "chosen" in shown
    assert re.findall(r"<style|\sstyle=", shown) == []
    points = service.document(service.latest(case, "frontier", done=True))["points"]  # type: ignore[arg-type]
    place = next(i for i, one in enumerate(points) if one["k"] == 30)
    assert points[place]["method"] == "optimal"
    answer = client.post(f"/case/{table}/frontier/{place}/use", headers=IN_HTMX)
    assert answer.status_code == 200
    policy = load(case.policy_file)
    assert policy.requirements == (KAnonymity(30),)
    assert policy.plan.method == "optimal"
    assert client.get(f"/case/{table}/download/frontier").headers["content-type"] == "image/svg+xml"
    client.post(f"/case/{table}/requirements/0/remove", headers=IN_HTMX)


def test_a_badly_read_file_is_read_in_another_way(client: TestClient, service: Service) -> None:
    # One column of a semicolon's file if commas are insisted on; the first line may be data.
    text = "age;sex\n" + "".join(f"{20 + i % 30};{'fm'[i % 2]}\n" for i in range(90))
    made = client.post("/api/v1/tables", params={"name": "a.csv"}, content=text).json()["id"]
    ended(service, made, "audit")
    case = service.cases.get(made)
    assert "Is it read wrongly?" in section(client, made, "file")
    given = {"delimiter": ";", "header": "false", "names": "years\r\ngender\r\n", "missing": "f", "quote": ""}
    client.post(f"/case/{made}/reading", data=given, headers=IN_HTMX)
    assert ended(service, made, "read") == "done"
    found = json.loads(case.columns_file.read_text("utf-8"))
    assert [one["name"] for one in found["columns"]] == ["years", "gender"]
    assert found["table"]["rows"] == 91
    assert load(case.policy_file).read == {
        "delimiter": ";",
        "header": False,
        "names": ["years", "gender"],
        "missing": ["f"],
    }
    client.post(f"/case/{made}/reading", data={"encoding": "klingon"}, headers=IN_HTMX)
    assert ended(service, made, "read") == "failed"
    shown = section(client, made, "file")
    assert '<details class="fold" id="fold-reading" open>' in shown
    assert shown.count('id="reading-open"') == 1
    client.delete(f"/api/v1/tables/{made}")


def test_the_parsed_table_is_that_of_the_file(service: Service, client: TestClient, table: str) -> None:
    case = service.cases.get(table)
    parsed = parsed_table.stored_table(case.folder, case.source, {})
    assert parsed is not None
    fresh = read(case.source)
    assert parsed.columns == fresh.columns
    assert parsed.source == fresh.source
    assert parsed.engine.to_arrow(parsed).equals(fresh.engine.to_arrow(fresh))
    # Read in another way, or changed since, it does not count.
    assert parsed_table.stored_table(case.folder, case.source, {"delimiter": ";"}) is None
    was = case.source.stat().st_mtime_ns
    case.source.touch()
    assert parsed_table.stored_table(case.folder, case.source, {}) is None
    os.utime(case.source, ns=(was, was))
    assert parsed_table.stored_table(case.folder, case.source, {}) is not None


def test_what_parquet_cannot_hold_is_read_anew(tmp_path: Path) -> None:
    file = tmp_path / "large.csv"
    file.write_text("n\n" + "".join(f"{10**25 + i}\n" for i in range(9)), encoding="utf-8")
    table = read(file)
    out = tmp_path / "out"
    out.mkdir()
    parsed_table.store(table, file, {}, out)
    back = parsed_table.stored_table(out, file, {})
    assert back is None or back.engine.to_arrow(back).equals(table.engine.to_arrow(table))


def test_counted_classes_come_back_as_they_were(tmp_path: Path) -> None:
    classes = EquivalenceClasses.from_columns(
        {"age": [30, None, 30, 41], "sex": ["f", "m", "f", "m"]},
        sensitive={"illness": ["flu", "flu", None, "gout"]},
        person=["a", "a", "b", "c"],
        weight=[1.0, 2.0, 0.5, 1.0],
    )
    store.save(classes, tmp_path / "classes.arrow")
    back = store.load(tmp_path / "classes.arrow")
    assert [one.labels() for one in back.attributes] == [one.labels() for one in classes.attributes]
    assert back.records.tolist() == classes.records.tolist()
    assert back.persons.tolist() == classes.persons.tolist()
    assert back.histogram("illness").records.tolist() == classes.histogram("illness").records.tolist()
    assert [codes.dtype for codes in back.codes] == [codes.dtype for codes in classes.codes]
    assert back.weights is not None
    assert (
        TCloseness(0.3, "illness").per_class(back).tolist()
        == TCloseness(0.3, "illness").per_class(classes).tolist()
    )


def test_rows_are_counted_once_for_the_same_roles(service: Service, table: str) -> None:
    case = service.cases.get(table)
    policy = load(case.policy_file)
    opened: list[int] = []

    def open_table() -> Table:
        opened.append(1)
        return read(case.source)

    def count(changed: bool) -> EquivalenceClasses:
        left = tuple(one for one in policy.columns if one.name != "sex")
        now = replace(policy, columns=left) if changed else policy
        return counted(case.folder, case.source, now, now.plan, open_table)

    first = count(False)
    again = len(opened)
    assert count(False).records.tolist() == first.records.tolist()
    assert len(opened) == again
    assert first.records.tolist() == count_classes(policy.fit(read(case.source)), policy).records.tolist()
    # What is left out of what was counted needs no second look at the rows either.
    without = replace(policy.plan, drop_attributes=("sex",))
    fewer = counted(case.folder, case.source, policy, without, open_table)
    assert len(opened) == again
    direct = count_classes(policy.fit(read(case.source)), without_dropped(policy, without))
    assert fewer.names == direct.names
    sizes = [
        sorted((*classes.labels(c).values(), n) for c, n in enumerate(classes.records.tolist()))
        for classes in (fewer, direct)
    ]
    assert sizes[0] == sizes[1]
    assert len(count(True)) < len(first)
    assert len(opened) == again + 1


def test_reports_are_drawn_when_wanted(client: TestClient, service: Service, table: str) -> None:
    client.post(f"/case/{table}/jobs/audit", headers=IN_HTMX)
    assert ended(service, table, "audit") == "done"
    job = service.latest(service.cases.get(table), "audit", done=True)
    assert job is not None
    assert not list(job.task.out.glob("*.html"))
    public = client.get(f"/case/{table}/download/audit-report-public")
    assert "public edition" in public.text
    assert [one.name for one in job.task.out.glob("*.html")] == ["report-public-en.html"]
    assert client.get(f"/api/v1/tables/{table}/downloads/audit-report").text.startswith("<!doctype html>")


def test_a_report_has_the_language_that_the_page_has_now(client: TestClient, table: str) -> None:
    for language in ("en", "de", "en"):
        client.get(f"/case/{table}", params={"lang": language})
        report = client.get(f"/case/{table}/download/audit-report").text
        assert f'<html lang="{language}"' in report


def test_every_key_figure_explains_itself(client: TestClient, table: str) -> None:
    shown = client.get(f"/case/{table}").text
    tips = re.findall(r'<details class="why" id="([^"]+)">', shown)
    assert len(tips) == len(set(tips)) > 10
    k = shown[shown.index('id="why-verdict-1"') :]
    assert "Higher is safer." in k[: k.index("</details>")]
    assert "every class has at least 11 persons" in k[: k.index("</details>")]
    assert "Source: " in k[: k.index("</details>")]
    verdict = section(client, table, "verdict")
    assert verdict.count('class="value"') == len(re.findall(r'id="why-verdict-\d+"', verdict)) == 4
