"""The page's server as fixtures: in this process without a network, and as a program of its own.

A plugin and no conftest, of which there can be one only where modules are searched for doctests.
"""

from __future__ import annotations

import os
import re
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("fastapi", reason="the page needs discreet[web]")

import httpx2 as httpx
from starlette.testclient import TestClient

from discreet.web.app import create_app
from discreet.web.service import Service
from discreet.web.settings import Settings

PATIENCE = 600.0
"""How long a server may take for anything, in seconds: what takes longer hangs."""
MAX_SIZE = 1 << 20
"""The largest file that servers of tests take, unless they are for all of them."""


def wait_for(what: Callable[[], Any], seconds: float = PATIENCE) -> Any:
    """What comes true in the end; a failure if it does not."""
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        found = what()
        if found:
            return found
        time.sleep(0.05)
    raise AssertionError("it did not come true in time")


def ended(service: Service, table: str, kind: str) -> str:
    """How the newest job of a kind ended, once it has."""
    case = service.cases.get(table)

    def state() -> str | None:
        job = service.latest(case, kind)
        return None if job is None or job.active else job.state

    return str(wait_for(state))


def children(pid: int) -> list[int]:
    """The processes that a process has started and that are there."""
    try:
        return [int(child) for child in Path(f"/proc/{pid}/task/{pid}/children").read_text().split()]
    except (FileNotFoundError, ProcessLookupError):
        return []


@dataclass
class Program:
    """A running `discreet serve`."""

    process: subprocess.Popen[str]
    door: str
    temporary: Path
    client: httpx.Client = field(init=False)

    def __post_init__(self) -> None:
        address, _, token = self.door.partition("/?token=")
        self.client = httpx.Client(
            base_url=address, headers={"authorization": f"Bearer {token}"}, timeout=PATIENCE, trust_env=False
        )

    def stored(self) -> list[Path]:
        return list(self.temporary.glob("discreet-*"))

    def processes(self) -> list[int]:
        """The processes that it has started, and those that these have started."""
        found = [self.process.pid]
        for pid in found:
            found += children(pid)
        return found[1:]

    def end(self, number: int) -> tuple[int, str]:
        self.process.send_signal(number)
        code = self.process.wait(PATIENCE)
        assert self.process.stdout is not None
        return code, self.process.stdout.read()

    def stop(self) -> None:
        """End it, whatever state it is in."""
        self.client.close()
        if self.process.poll() is None:
            self.process.kill()
            self.process.wait()


@pytest.fixture(scope="module")
def service() -> Iterator[Service]:
    made = Service(Settings(max_size=MAX_SIZE))
    yield made
    made.close()


@pytest.fixture(scope="module")
def client(service: Service) -> Iterator[TestClient]:
    """Somebody with the token."""
    with TestClient(
        create_app(service),
        base_url=service.settings.address,
        headers={"authorization": f"Bearer {service.settings.token}"},
        follow_redirects=False,
    ) as made:
        yield made


SECTION = re.compile(r'<section class="part[^"]*" id="(\w+)".*? data-stamp="(\w+)".*?</section>', re.DOTALL)
UNSTAMPED = re.compile(r'<form [^>]*id="plan-form".*?</form>', re.DOTALL)
"""What somebody is filling in: for it a section is not drawn anew."""


@pytest.fixture(autouse=True)
def stamped(request: pytest.FixtureRequest) -> Iterator[None]:
    """After every test: sections of a table that bear the stamp of earlier ones look like them, or else a page would
    not notice that they are out of date. Tables that nobody asked for since they were last looked at are left alone."""
    if not {"client", "service"} <= set(request.fixturenames):
        yield
        return
    # Asked for now, they are still there afterwards.
    client, service = request.getfixturevalue("client"), request.getfixturevalue("service")
    yield
    drawings, looked = request.node.parent.stash.setdefault(DRAWINGS, ({}, {}))
    for case in service.cases:
        if looked.get(case.id) != case.used and not any(job.active for job in service.jobs_of(case)):
            for drawing in SECTION.finditer(client.get(f"/case/{case.id}?lang=en").text):
                shown = UNSTAMPED.sub("", drawing[0])
                assert drawings.setdefault((case.id, drawing[1], drawing[2]), shown) == shown
            looked[case.id] = case.used
    client.cookies.clear()


DRAWINGS = pytest.StashKey[tuple[dict[tuple[str, str, str], str], dict[str, float]]]()
"""Sections as they were drawn, and when each table was last used."""


@pytest.fixture
def stranger(client: TestClient, service: Service) -> TestClient:
    """Somebody without the token, at the same server."""
    return TestClient(client.app, base_url=service.settings.address, follow_redirects=False)


@contextmanager
def running(temporary: Path, *options: str) -> Iterator[Program]:
    """A `discreet serve` with options, from its first answer until it is ended."""
    temporary.mkdir(exist_ok=True)
    process = subprocess.Popen(
        [sys.executable, "-m", "discreet", "serve", "--no-browser", "--port", "0", *options],
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        env={**os.environ, "TMPDIR": str(temporary), "PYTHONUNBUFFERED": "1"},
    )
    assert process.stdout is not None
    address = re.search(r"http://\S+", process.stdout.readline())
    assert address
    program = Program(process, address[0], temporary)

    def answers() -> bool:
        try:
            return program.client.get("/").status_code == 200
        except httpx.TransportError:
            return False

    try:
        wait_for(answers)
        yield program
    finally:
        program.stop()


@pytest.fixture
def program(tmp_path: Path) -> Iterator[Callable[..., Program]]:
    """Starts `discreet serve` with options; whatever happens, it is ended."""
    with ExitStack() as started:
        yield lambda *options: started.enter_context(running(tmp_path / "temporary", *options))


@pytest.fixture(scope="session")
def home(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Program]:
    """A `discreet serve` for all tests that leave it as it is."""
    with running(tmp_path_factory.mktemp("home") / "temporary") as program:
        yield program


@pytest.fixture(scope="module")
def own_home(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Program]:
    """A `discreet serve` for the tests of a module that hold its workers or send it what comes to mind."""
    with running(tmp_path_factory.mktemp("home") / "temporary", "--max-size", str(MAX_SIZE)) as program:
        yield program
