"""What one page may take of its machine: room on the disk, and connections on which nobody asks anything."""

from __future__ import annotations

import socket
import threading
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pyarrow as pa
import pytest

pytest.importorskip("fastapi")

from starlette.testclient import TestClient

from discreet.engine.read import read
from discreet.web.api.parameters import Parameters
from discreet.web.app import create_app
from discreet.web.cases import Case
from discreet.web.jobs import column_values
from discreet.web.jobs.kinds import JobKind
from discreet.web.refusals import Refusal
from discreet.web.service import Service
from discreet.web.settings import Settings
from helpers.server import Program, wait_for

pytest_plugins = ("helpers.server",)
ROOM = 100_000


@pytest.fixture
def small() -> Iterator[Service]:
    """A server that keeps very little."""
    kinds = {
        "read": JobKind("helpers.slow_jobs:counts", Parameters, needs_policy=False, then="fill"),
        "fill": JobKind("helpers.slow_jobs:fills", Parameters, needs_policy=False),
    }
    made = Service(Settings(max_disk=ROOM), kinds)
    yield made
    made.close()


@pytest.fixture
def client(small: Service) -> Iterator[TestClient]:
    with TestClient(
        create_app(small),
        base_url=small.settings.address,
        headers={"authorization": f"Bearer {small.settings.token}"},
    ) as made:
        yield made


def test_what_would_take_too_much_room_is_refused(client: TestClient, small: Service) -> None:
    kept = client.post("/api/v1/tables", content=b"a" * (ROOM // 2))
    assert kept.status_code == 201

    def pieces() -> Iterator[bytes]:
        for _ in range(60):
            yield b"a" * (ROOM // 100)

    for content in (b"a" * (ROOM * 6 // 10), pieces()):
        refused = client.post("/api/v1/tables", content=content)
        assert refused.status_code == 507
        assert refused.json()["code"] == "no-space"
        assert "--max-disk" in refused.json()["remedy"]
    # Nothing of what was refused stays, and there is room again once something is wiped.
    assert small.cases.size() < ROOM * 6 // 10
    assert len(list(small.cases)) == 1
    assert client.delete(kept.headers["location"]).status_code == 204
    assert client.post("/api/v1/tables", content=b"a" * (ROOM * 6 // 10)).status_code == 201


def test_a_job_that_takes_too_much_room_is_stopped(client: TestClient, small: Service) -> None:
    table = client.post("/api/v1/tables", content=b"a,b\n1,2\n").json()["id"]
    case: Case = small.cases.get(table)
    wait_for(lambda: not any(job.active for job in small.jobs_of(case)))
    job = small.start(case, "fill")
    wait_for(lambda: not job.active)
    assert job.state == "failed"
    assert job.problem is not None
    assert job.problem.code == "no-space"
    wait_for(lambda: small.cases.size() < ROOM)
    (case.folder / "large").write_bytes(bytes(ROOM))
    with pytest.raises(Refusal, match=r"more than 97\.7 KB"):
        small.start(case, "fill")


def closed(line: socket.socket) -> bool:
    """Whether the other side has closed the connection, once it has."""
    try:
        while line.recv(1000):
            pass
    except ConnectionError:
        # What was sent after the other side had closed it was thrown away.
        pass
    return True


def test_a_connection_without_a_request_is_closed(program: Callable[..., Program]) -> None:
    # Long enough for who is at it, however busy the machine is.
    running = program("--header-seconds", "3")
    address = (running.client.base_url.host, running.client.base_url.port)
    host = f"Host: {address[0]}:{address[1]}\r\n"
    whole = f"GET / HTTP/1.1\r\n{host}\r\n"
    bearer = f"Authorization: {running.client.headers['authorization']}\r\n"
    upload = f"POST /api/v1/tables HTTP/1.1\r\n{host}{bearer}Content-Length: 8\r\n\r\na,b\n"
    with ThreadPoolExecutor(8) as pool, socket.create_connection(address) as patient:
        patient.sendall(upload.encode())
        lines = []
        for begun in ("", "G", f"GET / HTTP/1.1\r\n{host}X-A: b", f"{whole}G", f"{whole}{whole}GET /"):
            line = socket.create_connection(address)
            line.sendall(begun.encode())
            lines.append(line)
        # A body that nobody is going to read does not hold a connection either.
        line = socket.create_connection(address)
        line.sendall(f"POST /x HTTP/1.1\r\n{host}Content-Length: 100\r\n\r\n".encode())
        lines.append(line)
        # Nor does a byte now and then.
        drip = socket.create_connection(address)
        stop = threading.Event()

        def drips() -> None:
            try:
                while not stop.wait(0.05):
                    drip.sendall(b"G")
            except OSError:
                pass

        dripping = threading.Thread(target=drips)
        dripping.start()
        assert all(pool.map(closed, [*lines, drip]))
        stop.set()
        dripping.join()
        # An upload that makes a pause is another matter.
        patient.sendall(b"1,2\n")
        assert patient.recv(100).startswith(b"HTTP/1.1 201")
    for line in [*lines, drip]:
        line.close()


def test_values_that_are_counted_twice_at_once_are_whole(tmp_path: Path) -> None:
    """Two threads of one process count the same column: each result is complete, and nothing else stays."""
    table = read(pa.table({"age": [age % 90 for age in range(5000)]}))
    classes = table.engine.count(table, quasi_identifiers=["age"])
    values = column_values.Values(classes.attributes[0], classes.records)
    place = tmp_path / "values" / "age.arrow"
    for _ in range(5):
        with ThreadPoolExecutor(8) as pool:
            list(pool.map(lambda _: column_values._write(place, values), range(8)))
        assert column_values._read(place).domain.size == 90
    assert [path.name for path in place.parent.iterdir()] == ["age.arrow"]
