"""`discreet serve` as a program: it wipes everything however it ends, keeps memory flat, and says nothing it should not."""

from __future__ import annotations

import os
import signal
import socket
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

pytest.importorskip("fastapi")

from helpers.program import run
from helpers.server import Program, wait_for

pytest_plugins = ("helpers.server",)
MEGABYTE = 1 << 20


def resident(pid: int) -> int:
    """The largest memory that a process has had, in megabytes."""
    line = next(
        one for one in Path(f"/proc/{pid}/status").read_text().splitlines() if one.startswith("VmHWM")
    )
    return int(line.split()[1]) >> 10


WIPED = ["Ctrl-C ends it and wipes everything that it has stored.", "Everything was wiped."]


def test_everything_is_wiped_and_nothing_is_logged(program: Callable[..., Program]) -> None:
    running = program()
    table = running.client.post("/api/v1/tables", content=b"age,sex\n" + b"31,f\n" * 20).json()["id"]
    wait_for(lambda: running.client.get(f"/api/v1/tables/{table}").json()["rows"])
    assert running.client.get("/?token=wrong").status_code == 401
    # A form that is none, of which a library would tell.
    kind = {"content-type": "multipart/form-data; boundary=b"}
    assert running.client.post(f"/case/{table}/policy", content=b"[[[", headers=kind).status_code == 400
    assert running.stored()
    code, printed = running.end(signal.SIGTERM)
    assert code == 0
    assert running.stored() == []
    assert printed.splitlines() == WIPED


def test_what_a_killed_server_left_is_wiped_by_the_next(program: Callable[..., Program]) -> None:
    killed = program()
    killed.client.post("/api/v1/tables", content=b"a,b\n1,2\n")
    [left] = killed.temporary.glob("discreet-serve-*")
    processes = wait_for(killed.processes)
    beside = program()
    # A server that is alive keeps what it has.
    assert left.exists()
    killed.end(signal.SIGKILL)
    program()
    assert not left.exists()
    wait_for(lambda: not any(Path(f"/proc/{pid}").exists() for pid in processes))
    assert beside.client.get("/").status_code == 200


def test_uploads_are_streamed_and_leave_nothing_if_they_break_off(program: Callable[..., Program]) -> None:
    running = program("--max-size", "300M")
    [root] = running.temporary.glob("discreet-serve-*")

    def folders() -> list[Path]:
        return [path for path in root.iterdir() if path.is_dir()]

    before = resident(running.process.pid)

    def rows() -> Iterator[bytes]:
        block = b"31,f,flu\n" * (MEGABYTE // 9)
        yield b"age,sex,ill\n"
        for _ in range(200):
            yield block

    table = running.client.post("/api/v1/tables", content=rows()).json()["id"]
    assert sum(path.stat().st_size for path in root.rglob("table-*")) > 199 * MEGABYTE
    assert running.client.delete(f"/api/v1/tables/{table}").status_code == 204
    assert resident(running.process.pid) - before < 60
    assert wait_for(lambda: folders() == [])

    # One that promises more than is allowed, and one that breaks off.
    address = running.client.base_url
    head = (
        f"POST /api/v1/tables?name=a.csv HTTP/1.1\r\nHost: {address.host}:{address.port}\r\n"
        f"Authorization: {running.client.headers['authorization']}\r\nContent-Length: "
    )
    with socket.create_connection((address.host, address.port)) as line:
        line.sendall(f"{head}{400 * MEGABYTE}\r\n\r\n".encode())
        assert line.recv(100).startswith(b"HTTP/1.1 413")
    with socket.create_connection((address.host, address.port)) as line:
        line.sendall(f"{head}1000000\r\n\r\nage,sex\n31,f\n".encode())
        wait_for(folders)
    assert wait_for(lambda: folders() == [])


def refused(folder: Path, *options: str) -> str:
    """What is said of options with which no server is started."""
    code, _, complaint = run(["serve", "--no-browser", *options], folder)
    assert code == 2
    return complaint


def test_other_machines_only_if_that_is_meant(program: Callable[..., Program], tmp_path: Path) -> None:
    assert "--allow-remote" in refused(tmp_path, "--host", "0.0.0.0")
    running = program("--host", "0.0.0.0", "--allow-remote")
    running.client.post("/api/v1/tables", content=b"age,sex\n" + b"31,f\n" * 20)
    assert running.stored()
    # Ctrl-C in a terminal reaches all processes, also those that have just begun to import.
    for pid in running.processes():
        os.kill(pid, signal.SIGINT)
    code, printed = running.end(signal.SIGINT)
    assert code == 0
    assert running.stored() == []
    told = printed.splitlines()
    assert [line for line in told if line not in WIPED] == [
        line for line in told if line.startswith("Other machines can reach this page.")
    ]
    assert len(told) == len(WIPED) + 1


def test_options_that_make_no_sense(tmp_path: Path) -> None:
    assert "is not a size" in refused(tmp_path, "--max-size", "much")
    with socket.create_server(("127.0.0.1", 0)) as taken:
        assert "cannot be listened on" in refused(tmp_path, "--port", str(taken.getsockname()[1]))
