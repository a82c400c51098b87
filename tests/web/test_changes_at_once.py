"""Changes of one policy from many windows and programs at once: each is kept, or refused with 409."""

from __future__ import annotations

import threading
import tomllib
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

pytest.importorskip("fastapi")

from starlette.testclient import TestClient

from discreet.policy import load
from discreet.privacy.identity import KAnonymity
from discreet.web.api.parameters import Parameters, PlanParameters, ReadParameters
from discreet.web.cases import Case
from discreet.web.hierarchies import set_hierarchy
from discreet.web.jobs.kinds import JobKind
from discreet.web.policies import set_plan, set_profile, set_role, set_roles
from discreet.web.refusals import Refusal
from discreet.web.requirements import put, remove
from discreet.web.service import Service
from discreet.web.settings import Settings
from helpers.server import wait_for

pytest_plugins = ("helpers.server",)
NAMES = [f"column {number}" for number in range(13)]
ROLES = ("sensitive", "insensitive", "quasi-identifier")
ROUNDS = 5
TABLE = ",".join(NAMES) + "\n" + "".join(",".join(str(i % 7) for _ in NAMES) + "\n" for i in range(40))


def at_once(actions: list[Callable[[], object]]) -> list[BaseException]:
    """Do everything at the same moment; what was raised."""
    barrier, raised = threading.Barrier(len(actions)), []

    def act(action: Callable[[], object]) -> None:
        barrier.wait()
        try:
            action()
        except BaseException as error:
            raised.append(error)

    threads = [threading.Thread(target=act, args=(action,)) for action in actions]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return raised


@pytest.fixture(scope="module")
def table(client: TestClient) -> str:
    made = str(client.post("/api/v1/tables", params={"name": "people.csv"}, content=TABLE).json()["id"])
    wait_for(lambda: client.get(f"/api/v1/tables/{made}").json()["rows"])
    wait_for(lambda: not any(job["kind"] == "read" and job["state"] != "done" for job in jobs(client, made)))
    return made


def jobs(client: TestClient, table: str) -> list[dict[str, str]]:
    found: list[dict[str, str]] = client.get(f"/api/v1/tables/{table}").json()["jobs"]
    return found


def test_no_change_of_a_role_is_lost(client: TestClient, service: Service, table: str) -> None:
    for number in range(ROUNDS):
        wanted = {name: ROLES[(at + number) % 3] for at, name in enumerate(NAMES)}
        statuses: list[int] = []

        def give(name: str, role: str, answered: list[int] = statuses) -> None:
            answer = client.patch(f"/api/v1/tables/{table}/columns", json={"name": name, "role": role})
            answered.append(answer.status_code)

        raised = at_once([lambda name=name, role=role: give(name, role) for name, role in wanted.items()])
        assert raised == []
        assert statuses == [200] * len(NAMES)
        policy = load(service.cases.get(table).policy_file)
        assert {column.name: column.role for column in policy.columns} == wanted


def test_changes_of_every_kind_are_all_there(service: Service, client: TestClient, table: str) -> None:
    case = service.cases.get(table)
    for name in NAMES:
        set_role(case, name, "quasi-identifier")
    for number in range(ROUNDS):
        raised = at_once(
            [
                lambda: set_role(case, NAMES[0], "sensitive"),
                lambda: set_profile(case, "open-data"),
                lambda seed=number + 1: set_plan(case, PlanParameters(seed=seed)),
                lambda: set_hierarchy(case, NAMES[1], {"builder": "intervals", "widths": [2]}),
                lambda: set_hierarchy(case, NAMES[2], {"builder": "flat"}),
                lambda: put(case, {"model": "k-anonymity", "k": 7}),
            ]
        )
        assert raised == []
        written = tomllib.loads(case.policy_file.read_text(encoding="utf-8"))
        assert written["columns"][NAMES[0]]["role"] == "sensitive"
        assert written["profile"] == "open-data"
        assert written["anonymize"]["seed"] == number + 1
        assert written["columns"][NAMES[1]]["hierarchy"] == {"builder": "intervals", "widths": [2]}
        assert written["columns"][NAMES[2]]["hierarchy"] == {"builder": "flat"}
        assert load(case.policy_file).requirements == (KAnonymity(7),)
        remove(case, 0)
        set_role(case, NAMES[0], "quasi-identifier")
        set_profile(case, "research-partner-5")
        for name in NAMES[1:3]:
            set_hierarchy(case, name, None)


def test_a_policy_takes_the_place_of_the_one_that_was_read(client: TestClient, table: str) -> None:
    address = f"/api/v1/tables/{table}"
    before = client.get(f"{address}/policy")
    mark = before.headers["etag"]
    assert client.patch(f"{address}/columns", json={"name": NAMES[3], "role": "insensitive"}).is_success
    late = client.put(f"{address}/policy", content=before.text, headers={"if-match": mark})
    assert late.status_code == 409
    assert late.json()["code"] == "changed-meanwhile"
    now = client.get(f"{address}/policy")
    assert now.headers["etag"] != mark
    assert tomllib.loads(now.text)["columns"][NAMES[3]]["role"] == "insensitive"
    for given in (now.headers["etag"], f'"other", {now.headers["etag"]}', "*"):
        assert client.put(f"{address}/policy", content=now.text, headers={"if-match": given}).is_success
    # Of programs that put at the same time on what they have read, one is heard.
    statuses: list[int] = []
    at_once(
        [
            lambda text=f"# {number}\n{now.text}": statuses.append(
                client.put(
                    f"{address}/policy", content=text, headers={"if-match": now.headers["etag"]}
                ).status_code
            )
            for number in range(6)
        ]
    )
    assert sorted(statuses) == [200, 409, 409, 409, 409, 409]


def test_a_requirement_that_moved_is_not_taken_for_another(
    client: TestClient, service: Service, table: str
) -> None:
    """Two windows show three requirements; each removes the first: the second one is asked to look again."""
    case = service.cases.get(table)
    for k in (3, 4, 5):
        put(case, {"model": "k-anonymity", "k": k})
    page = client.get(f"/case/{table}/section/plan").text
    mark = page.split('id="remove-0"')[1].split('"seen": "')[1].split('"')[0]
    assert client.post(f"/case/{table}/requirements/0/remove", data={"seen": mark}).status_code == 200
    late = client.post(f"/case/{table}/requirements/0/remove", data={"seen": mark})
    assert late.status_code == 409
    late = client.post(f"/case/{table}/requirements/0", data={"model": "k-anonymity", "k": "9", "seen": mark})
    assert late.status_code == 409
    assert [model.parameters()["k"] for model in load(case.policy_file).requirements] == [4, 5]


@pytest.fixture
def slow() -> Iterator[Service]:
    """A server whose reading never ends."""
    kinds = {
        "read": JobKind("helpers.slow_jobs:sleeps", ReadParameters, needs_policy=False),
        "counts": JobKind("helpers.slow_jobs:counts", Parameters),
    }
    made = Service(Settings(), kinds)
    yield made
    made.close()


def test_what_a_new_reading_will_replace_is_not_changed(slow: Service) -> None:
    case = slow.cases.create("people.csv", "upload")
    case.policy_file.write_text('[columns.age]\nrole = "insensitive"\n', encoding="utf-8")
    case.columns_file.write_text('{"columns": [{"name": "age"}]}', encoding="utf-8")
    keeping = slow.start(case, "read", {"suggest": False})
    set_role(case, "age", "sensitive")
    reading = slow.start(case, "read")
    assert keeping.state == "cancelled"
    with pytest.raises(Refusal) as refused:
        set_role(case, "age", "weight")
    assert refused.value.status == 409
    slow.jobs.cancel(reading)
    set_role(case, "age", "quasi-identifier")
    assert load(case.policy_file).quasi_identifiers == ("age",)


def test_what_nobody_judged_and_the_plan_leaves_out_stays_out_when_its_role_is_confirmed(
    slow: Service,
) -> None:
    case = slow.cases.create("people.csv", "upload")
    case.columns_file.write_text('{"columns": [{"name": "age"}, {"name": "hh_weight"}]}', encoding="utf-8")
    roles = '[columns.age]\nrole = "quasi-identifier"\n[columns.hh_weight]\nrole = "insensitive"\n'
    case.policy_file.write_text(f'[anonymize]\ndrop_attributes = ["hh_weight"]\n{roles}', encoding="utf-8")
    set_roles(case, ["hh_weight"], None)
    set_role(case, "hh_weight", "insensitive")
    assert load(case.policy_file).plan.drop_attributes == ("hh_weight",)
    set_role(case, "hh_weight", "sensitive")
    assert load(case.policy_file).plan.drop_attributes == ()


def test_of_jobs_of_a_kind_started_at_once_one_stays(slow: Service) -> None:
    case: Case = slow.cases.create("people.csv", "upload")
    Path(case.policy_file).write_text("", encoding="utf-8")
    assert at_once([lambda: slow.start(case, "read") for _ in range(12)]) == []
    started = slow.jobs_of(case)
    assert len({job.task.out for job in started}) == 12
    assert sum(job.active for job in started) == 1


def test_a_table_between_its_columns_and_its_policy_is_one_that_was_not_read(
    client: TestClient, service: Service
) -> None:
    """Reading leaves two files, one after the other: whoever asks in between is told that it is under way."""
    case = service.cases.create("people.csv", "upload")
    case.columns_file.write_text('{"columns": []}', encoding="utf-8")
    answer = client.get(f"/api/v1/tables/{case.id}")
    assert answer.status_code == 200
    assert answer.json()["rows"] is None
    assert client.get(f"/case/{case.id}").status_code == 200
    service.remove(case)
