"""The hierarchy editor without a browser: steps, undo, what is refused, and what becomes of the policy."""

from __future__ import annotations

import html
import re
import tomllib
from typing import Any

import pytest

pytest.importorskip("fastapi")

from starlette.testclient import TestClient

from discreet.policy import load
from discreet.table.hierarchies.registry import BUILDERS, parameter_names
from discreet.web.hierarchies import tree
from discreet.web.pages.builder_forms import BY_HAND, FIELDS
from discreet.web.service import Service
from helpers.server import ended, wait_for

pytest_plugins = ("helpers.server",)
IN_HTMX = {"hx-request": "true"}
JOBS = ["baker", "cook", "judge", "<i>monk"]
TABLE = "id,age,job,note\n" + "".join(f"{i},{20 + i % 41},{JOBS[i % 7 % 4]},{i % 3}\n" for i in range(280))
AGE, JOB = 1, 2


@pytest.fixture(scope="module")
def read(client: TestClient, service: Service) -> str:
    """A table with two quasi-identifiers of which the values have been counted."""
    made = str(client.post("/api/v1/tables", params={"name": "people.csv"}, content=TABLE).json()["id"])
    assert ended(service, made, "audit") == "done"
    for name in ("age", "job"):
        client.patch(
            f"/api/v1/tables/{made}/columns", json={"name": name, "role": "quasi-identifier"}
        ).raise_for_status()
    shown = client.get(f"/case/{made}/hierarchy/{AGE}", headers=IN_HTMX)
    assert "Counting the values" in shown.text
    assert ended(service, made, "values") == "done"
    return made


@pytest.fixture
def table(client: TestClient, service: Service, read: str) -> str:
    """The same, with all drafts and hierarchies as they were."""
    for name, number in (("age", AGE), ("job", JOB)):
        put(client, read, name, None).raise_for_status()
        client.post(f"/case/{read}/hierarchy/{number}/reset").raise_for_status()
    return read


def put(client: TestClient, table: str, column: str, hierarchy: dict[str, Any] | None) -> Any:
    return client.put(
        f"/api/v1/tables/{table}/hierarchy", params={"column": column}, json={"hierarchy": hierarchy}
    )


def send(client: TestClient, table: str, number: int, what: str, **fields: Any) -> str:
    answer = client.post(f"/case/{table}/hierarchy/{number}/{what}", data=fields, headers=IN_HTMX)
    assert answer.status_code == 200, answer.text
    return answer.text


def written(client: TestClient, table: str, column: str) -> Any:
    policy = tomllib.loads(client.get(f"/api/v1/tables/{table}/policy").text)
    return policy["columns"][column].get("hierarchy")


def mark(text: str) -> str:
    return re.findall(r'name="mark" value="(\w+)"', text)[0]


def places(text: str) -> dict[str, str]:
    """The places of the values and groups that an editor shows, by their labels."""
    chips = re.findall(r'value="(\d+)" autocomplete="off"><span>([^<]*)</span>', text)
    groups = re.findall(r'value="([^"]*)" aria-label="[^"]*" spellcheck="false" data-rename="(\d+)"', text)
    return {html.unescape(label): place for place, label in chips} | {
        f"group {html.unescape(label)}": place for label, place in groups
    }


def nodes(client: TestClient, table: str, column: str) -> list[str]:
    shown = client.get(f"/api/v1/tables/{table}/hierarchy", params={"column": column}).json()
    return [one["label"] for one in shown["tree"]["children"]]


def test_every_parameter_of_every_builder_has_a_field() -> None:
    for name, kind in BUILDERS.items():
        if name != BY_HAND:
            assert {field.name for field in FIELDS.get(name, ())} == set(parameter_names(kind)), name


def test_a_column_shows_its_editor_only_as_a_quasi_identifier(client: TestClient, table: str) -> None:
    shown = client.get(f"/case/{table}").text
    assert f'id="hierarchy-{JOB}"' in shown
    assert 'id="hierarchy-3"' not in shown
    editor = client.get(f"/case/{table}/hierarchy/{JOB}").text
    assert "4 values in 280 records" in editor
    assert "k = 11" in editor
    # What the data hold is never markup.
    assert "&lt;i&gt;monk" in editor
    assert "<i>" not in editor
    german = client.get(f"/case/{table}/hierarchy/{JOB}", headers={"accept-language": "de"}).text
    assert "Wie job vergröbert werden darf" in german


def test_what_a_level_does_is_told(client: TestClient, table: str) -> None:
    asked = {"hierarchy": {"builder": "sets", "levels": [{"food": ["baker", "cook"]}]}}
    found = client.post(
        f"/api/v1/tables/{table}/hierarchy/preview", params={"column": "job"}, json=asked
    ).json()
    assert found["schema"] == "discreet-hierarchy-1"
    zero, one, root = found["levels"]
    # By hand: 280 records, of which i % 7 % 4 is 0, 1, 2 in two of seven cases each and 3 in one.
    assert (zero["values"], zero["smallest"], zero["largest"], zero["loss"]) == (4, 40, 80, 0)
    assert (one["values"], one["smallest"], one["largest"]) == (3, 40, 160)
    assert one["loss"] == pytest.approx(160 / 280 / 3)
    assert (root["values"], root["loss"], root["under_k"]) == (1, 1, 0)
    assert [(bar["label"], bar["records"]) for bar in one["bars"]] == [
        ("<i>monk", 40),
        ("food", 160),
        ("judge", 80),
    ]
    assert written(client, table, "job") is None


def test_a_builder_is_tried_changed_undone_and_used(client: TestClient, service: Service, table: str) -> None:
    assert 'id="parameter-widths"' in send(client, table, AGE, "choose", builder="intervals")
    shown = send(client, table, AGE, "parameters", builder="intervals", widths="20, 40", below="", above="")
    assert "[20, 39]" in shown
    # Only what it does comes back, and the buttons: the form stays under the hands of who types.
    assert 'hx-swap-oob="true"' in shown
    assert "parameter-widths" not in shown
    wrong = send(client, table, AGE, "parameters", builder="intervals", widths="20, 30")
    assert "is not a multiple of" in wrong
    assert "[20, 39]" in wrong
    assert "must be numbers" in send(client, table, AGE, "parameters", builder="intervals", widths="twenty")
    assert written(client, table, "age") is None

    audit = service.latest(service.cases.get(table), "audit")
    assert audit is not None
    back = send(client, table, AGE, "undo")
    assert 'id="parameter-widths" name="widths" value="5, 10, 20"' in back
    assert 'value="20, 40"' in send(client, table, AGE, "redo")
    answer = client.post(f"/case/{table}/hierarchy/{AGE}/save", data={"form": "intervals"})
    assert answer.status_code == 200
    assert written(client, table, "age") == {"builder": "intervals", "widths": [20, 40]}
    assert service.outdated(service.cases.get(table), audit)
    # A reload finds draft and history again, and the suggestion is one step away.
    assert "learned from the data" in send(client, table, AGE, "undo")
    assert 'id="hierarchy-reset"' in send(client, table, AGE, "reset")


def test_a_builder_that_does_not_suit_the_column_is_told_and_is_no_step(
    client: TestClient, table: str
) -> None:
    shown = send(client, table, JOB, "choose", builder="dates")
    assert "values that are not dates" in shown
    assert 'id="hierarchy-state">In use' in shown
    assert client.post(f"/case/{table}/hierarchy/{JOB}/choose", data={"builder": "magic"}).status_code == 404
    assert client.get(f"/case/{table}/hierarchy/9").status_code == 404


def test_groups_by_hand(client: TestClient, table: str) -> None:
    send(client, table, JOB, "choose", builder="flat")
    shown = send(client, table, JOB, "choose", builder="sets")
    at = places(shown)
    shown = send(
        client,
        table,
        JOB,
        "edit",
        **{
            "action": "move",
            "mark": mark(shown),
            "level": "1",
            "members[]": [at["baker"], at["cook"]],
            "name": "fo;od",
        },
    )
    at = places(shown)
    # By place, as dragging does; then a name, a level above, and out again.
    shown = send(
        client,
        table,
        JOB,
        "edit",
        **{"action": "move", "mark": mark(shown), "members[]": at["judge"], "group": at["group fo;od"]},
    )
    shown = send(
        client,
        table,
        JOB,
        "edit",
        action="rename",
        mark=mark(shown),
        group=places(shown)["group fo;od"],
        name="lay",
    )
    client.post(f"/case/{table}/hierarchy/{JOB}/save").raise_for_status()
    assert written(client, table, "job") == {
        "builder": "sets",
        "levels": [{"lay": ["baker", "cook", "judge"]}],
    }
    assert sorted(nodes(client, table, "job")) == ["<i>monk", "lay"]
    shown = send(client, table, JOB, "view", level="2")
    assert "(new)" in shown
    assert set(places(shown)) == {"lay", "<i>monk"}
    shown = send(client, table, JOB, "view", level="1", text="OO", part="groups")
    assert set(places(shown)) == {"cook", "group lay"}
    shown = send(
        client, table, JOB, "edit", action="dissolve", mark=mark(shown), group=places(shown)["group lay"]
    )
    assert "group lay" not in places(shown)
    assert "group lay" in places(send(client, table, JOB, "undo"))


def test_what_is_done_in_another_window_is_not_overrun(client: TestClient, table: str) -> None:
    send(client, table, JOB, "choose", builder="flat")
    shown = send(client, table, JOB, "choose", builder="sets")
    change = {"action": "move", "mark": mark(shown), "members[]": ["0", "1"], "name": "a"}
    send(client, table, JOB, "edit", **change)
    assert "changed in another window" in send(client, table, JOB, "edit", **change)
    again = mark(client.post(f"/case/{table}/hierarchy/{JOB}/view", data={}).text)
    for members in ([], ["99"], ["x"], ["-1"]):
        answer = send(client, table, JOB, "edit", **{**change, "mark": again, "members[]": members})
        assert "no value was chosen" in answer


def test_a_hierarchy_file_becomes_part_of_the_policy(
    client: TestClient, service: Service, table: str
) -> None:
    lines = "baker;food;*\ncook;food;*\njudge;law;*\n<i>monk;<i>monk;*\nsmith;craft;*\n"
    client.post(f"/case/{table}/hierarchy/{JOB}/file", files={"file": ("../x.csv", lines)}).raise_for_status()
    client.post(f"/case/{table}/hierarchy/{JOB}/save").raise_for_status()
    assert written(client, table, "job")["levels"] == [
        {"food": ["baker", "cook"], "law": ["judge"], "craft": ["smith"]}
    ]
    # The policy alone is complete: nothing lies beside it.
    assert load(service.cases.get(table).policy_file).column("job") is not None
    assert not list(service.cases.get(table).folder.glob("hierarchy-*"))
    given = client.get(f"/case/{table}/hierarchy/{JOB}/file")
    assert "baker;food;*" in given.text
    assert given.headers["content-disposition"].startswith("attachment")
    bad = client.post(
        f"/case/{table}/hierarchy/{JOB}/file", files={"file": ("x.csv", "baker;food;*\ncook;*\n")}
    )
    assert "line 2 has 2 levels where line 1 has 3" in bad.text
    assert client.post(f"/case/{table}/hierarchy/{JOB}/file", data={"file": "text"}).status_code == 404


def test_comments_of_the_policy_stay(client: TestClient, service: Service, table: str) -> None:
    file = service.cases.get(table).policy_file
    before = file.read_text("utf-8")
    put(client, table, "age", {"builder": "intervals", "widths": [10], "above": 50.5}).raise_for_status()
    changed = file.read_text("utf-8")
    assert [line for line in before.splitlines() if line not in changed.splitlines()] == []
    put(client, table, "age", None).raise_for_status()
    assert file.read_text("utf-8") == before


def test_what_rest_refuses(client: TestClient, table: str) -> None:
    for column, hierarchy, code in (
        ("job", {"builder": "magic"}, "invalid-parameter"),
        ("job", {"builder": "intervals", "widths": [5]}, "unsuitable-column"),
        ("nobody", {"builder": "flat"}, "unknown-column"),
        ("job", {}, "invalid-parameter"),
        ("age", {"builder": "intervals", "widths": [10**400]}, "invalid-parameter"),
    ):
        answer = put(client, table, column, hierarchy)
        assert (answer.status_code, answer.json()["code"]) == (422, code)
        assert written(client, table, "job") is None
    other = client.post("/api/v1/tables/example", json={}).json()["id"]
    answer = client.get(f"/api/v1/tables/{other}/hierarchy", params={"column": "age"})
    assert (answer.status_code, answer.json()["code"]) == (409, "not-ready")


def test_another_reading_of_the_file_counts_anew(client: TestClient, service: Service) -> None:
    made = str(
        client.post("/api/v1/tables", params={"name": "a.csv"}, content="a;b\n1;x\n2;y\n").json()["id"]
    )
    assert ended(service, made, "read") == "done"
    columns = {"columns": ["a"]}
    client.post(f"/api/v1/tables/{made}/jobs/values", json=columns).raise_for_status()
    assert ended(service, made, "values") == "done"
    asked = {"params": {"column": "a"}, "json": {"hierarchy": None}}
    place = f"/api/v1/tables/{made}/hierarchy/preview"
    assert client.post(place, **asked).json()["values"] == 2
    client.post(f"/api/v1/tables/{made}/jobs/read", json={"missing": ["2"]}).raise_for_status()
    assert ended(service, made, "read") == "done"
    assert client.post(place, **asked).status_code == 409
    client.post(f"/api/v1/tables/{made}/jobs/values", json=columns).raise_for_status()
    assert ended(service, made, "values") == "done"
    found = client.post(place, **asked).json()
    assert (found["values"], found["records"]) == (2, 2)
    assert found["levels"][0]["examples"] == ["1", "∅"]


def test_a_large_tree_is_abbreviated() -> None:
    import numpy as np

    from discreet.table.hierarchies.hierarchy import Hierarchy

    rows = [[f"{i:05}", f"{i // 10:04}*", f"{i // 100:03}**", "*"] for i in range(20_000)]
    found = tree(Hierarchy.of("code", rows), np.ones(20_000, dtype=np.int64))

    def size(node: dict[str, Any]) -> int:
        return 1 + sum(size(child) for child in node["children"])

    assert size(found) <= 221
    assert found["more"] == 200 - len(found["children"])
    assert found["records"] == 20_000


def test_parts_of_an_editor_whose_values_nobody_counted(client: TestClient, service: Service) -> None:
    made = str(client.post("/api/v1/tables", params={"name": "people.csv"}, content=TABLE).json()["id"])
    wait_for(lambda: service.cases.get(made).was_read)
    for what in ("parameters", "view"):
        answer = client.post(f"/case/{made}/hierarchy/{JOB}/{what}", data={"part": "groups"}, headers=IN_HTMX)
        assert answer.status_code == 409
    client.delete(f"/api/v1/tables/{made}").raise_for_status()
