"""What can go wrong around a page in a real browser: reloads, tabs, cancelling, dead workers, bad files, foreign pages."""

from __future__ import annotations

import os
import signal
import threading
from collections.abc import Callable, Iterator
from contextlib import suppress
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

pytest.importorskip("fastapi")

from helpers.bad_input import CASES
from helpers.browser import (
    JUDGE,
    PATIENCE,
    REBOUND,
    TAKE,
    TRIED,
    VERDICT,
    go,
    home_of,
    says,
    settled,
    upload,
    watched,
)
from helpers.server import MAX_SIZE, Program, children, wait_for

if TYPE_CHECKING:
    from playwright.sync_api import APIResponse, Browser, Page, Route

pytest_plugins = ("helpers.server", "helpers.browser")
pytestmark = pytest.mark.browser
TABLE = "age,sex,illness\n" + "".join(
    f"{30 + i % 20},{'fm'[i % 2]},{('flu', 'cold', 'gout')[i % 3]}\n" for i in range(400)
)
WORKING = "#release .job"


@pytest.fixture(scope="module")
def judged(own_home: Program) -> str:
    """The address of a table that has a verdict."""
    table = own_home.client.post("/api/v1/tables", params={"name": "people.csv"}, content=TABLE).json()["id"]

    def done() -> bool:
        jobs = own_home.client.get(f"/api/v1/tables/{table}").json()["jobs"]
        return any((one["kind"], one["state"]) == ("audit", "done") for one in jobs)

    wait_for(done)
    return f"/case/{table}"


def workers(running: Program) -> list[int]:
    """The processes that do the server's work, the one that stands ready included: copies of one of its children."""
    return [worker for child in children(running.process.pid) for worker in children(child)]


@pytest.fixture
def frozen(own_home: Program, judged: str) -> Iterator[list[int]]:
    """The worker that stands ready is held still, so that the next job lasts as long as a test wants."""
    table = judged.removeprefix("/case/")

    def ready() -> list[int] | None:
        """The worker that is left once the preview, which follows the verdict, has ended with all other work."""
        jobs = own_home.client.get(f"/api/v1/tables/{table}").json()["jobs"]
        busy = any(job["state"] in ("queued", "running") for job in jobs)
        idle = not busy and any(job["kind"] == "preview" for job in jobs)
        return spare if idle and len(spare := workers(own_home)) == 1 else None

    held: list[int] = wait_for(ready)
    os.kill(held[0], signal.SIGSTOP)
    yield held
    if held[0] in workers(own_home):
        os.kill(held[0], signal.SIGKILL)


def entered(chromium: Browser, home: Program, path: str) -> tuple[Page, list[str]]:
    page, complaints = watched(chromium, home)
    page.goto(f"{home_of(page).rstrip('/')}{path}")
    return page, complaints


def arrives(page: Page, seen: Callable[[], object]) -> None:
    """Wait until a request has been held; the page goes on meanwhile."""
    while not seen():
        page.wait_for_timeout(20)


def anonymises(page: Page) -> None:
    page.click("#anonymize")
    page.wait_for_selector("#release .words")
    page.wait_for_selector(TAKE)
    page.wait_for_selector(TRIED, state="attached")


def test_work_survives_a_reload_and_other_tabs_and_can_be_cancelled(
    chromium: Browser, own_home: Program, judged: str, frozen: list[int], tmp_path: Path
) -> None:
    page, complaints = entered(chromium, own_home, judged)
    page.click("#anonymize")
    page.wait_for_selector(WORKING)
    page.reload()
    page.wait_for_selector(WORKING)
    assert page.locator("#anonymize").count() == 0

    # Another tab with another table is judged meanwhile, and what it changes is its own.
    other = page.context.new_page()
    other.goto(home_of(page))
    file = tmp_path / "other.csv"
    file.write_text(TABLE.replace("illness", "diagnosis"), encoding="utf-8")
    upload(other, file)
    other.wait_for_selector(VERDICT)
    # The page asks now and then how the work goes, and shows it anew.
    page.wait_for_selector(WORKING)
    # Another tab with the same table sees the same work.
    twin = page.context.new_page()
    twin.goto(page.url)
    twin.wait_for_selector(WORKING)

    page.bring_to_front()
    page.click("#cancel-anonymize")
    page.wait_for_selector(WORKING, state="detached")
    assert "Cancelled" in page.inner_text("#release")
    twin.wait_for_selector(WORKING, state="detached")
    assert page.text_content(VERDICT) == twin.text_content(VERDICT)
    assert complaints == []
    page.context.close()


def test_a_page_asks_again_after_the_server_has_failed_once(
    chromium: Browser, own_home: Program, judged: str
) -> None:
    """It said so, stayed as it was for good, and work that ended was never shown."""
    page, _ = watched(chromium, own_home)
    failed: list[str] = []

    def fail_once(route: Route) -> None:
        if failed:
            route.continue_()
        else:
            failed.append(route.request.url)
            route.fulfill(status=503, body="<p>busy</p>", content_type="text/html")

    page.route("**/state", fail_once)
    page.goto(f"{home_of(page).rstrip('/')}{judged}")
    says(page, "#notice", "busy")
    settled(page)
    page.wait_for_selector("#notice:empty", state="attached")
    assert failed
    page.context.close()


def test_a_slow_press_meets_its_button(
    chromium: Browser, own_home: Program, judged: str, frozen: list[int]
) -> None:
    page, complaints = entered(chromium, own_home, judged)
    page.click("#anonymize")
    page.wait_for_selector(WORKING)
    page.locator("#cancel-anonymize").scroll_into_view_if_needed()
    page.locator("#cancel-anonymize").hover()
    page.mouse.down()
    page.evaluate("document.getElementById('release').pressed = true")
    # The section is out of date, and is not drawn anew under the finger.
    policy = f"/api/v1{judged.replace('case', 'tables')}/policy"
    was = own_home.client.get(policy).text
    with page.expect_response("**/section/bar"):
        answer = own_home.client.put(
            policy, content=was.replace('role = "quasi-identifier"', 'role = "sensitive"', 1)
        )
        assert answer.status_code == 200, answer.text
    with page.expect_response("**/state"):
        pass
    assert page.evaluate("document.getElementById('release').pressed")
    page.mouse.up()
    page.wait_for_selector(WORKING, state="detached")
    assert "Cancelled" in page.inner_text("#release")
    own_home.client.put(policy, content=was)
    assert complaints == []
    page.context.close()


def test_a_killed_worker_is_told_and_the_page_goes_on(
    chromium: Browser, own_home: Program, judged: str, frozen: list[int]
) -> None:
    page, complaints = entered(chromium, own_home, judged)
    page.click("#anonymize")
    page.wait_for_selector(WORKING)
    os.kill(frozen[0], signal.SIGKILL)
    page.wait_for_selector("#release .notice.bad")
    told = page.inner_text("#release .notice.bad")
    assert "SIGKILL" in told
    assert "memory" in told
    anonymises(page)
    assert page.locator("#release .notice.bad").count() == 0
    assert complaints == []
    page.context.close()


def test_a_role_changed_in_one_tab_is_changed_in_the_other(
    chromium: Browser, own_home: Program, judged: str
) -> None:
    page, complaints = entered(chromium, own_home, judged)
    twin = page.context.new_page()
    go(page, "columns")
    twin.goto(page.url)
    page.check("#pick-2")
    page.fill("#column-search", "a")
    page.select_option("#role-0", "insensitive")
    page.wait_for_selector(JUDGE)
    settled(page)
    # What was picked and typed is still there.
    assert page.is_checked("#pick-2")
    assert page.input_value("#column-search") == "a"
    assert page.locator("#columns tr.column:visible").count() == 1
    # A reload finds the step again.
    twin.reload()
    assert twin.input_value("#role-0") == "insensitive"
    assert twin.locator("#columns").is_visible()
    assert twin.locator(JUDGE).is_visible()
    page.select_option("#role-0", "quasi-identifier")
    page.wait_for_selector(JUDGE, state="detached")
    assert complaints == []
    page.context.close()


def test_a_change_by_a_form_that_was_drawn_anew_meanwhile_is_seen(
    chromium: Browser, own_home: Program, judged: str
) -> None:
    page, complaints = entered(chromium, own_home, judged)
    held: dict[str, Route] = {}
    go(page, "columns")
    page.route("**/section/columns*", lambda route: held.update(columns=route))
    page.select_option("#role-0", "insensitive")
    page.wait_for_selector(JUDGE)
    arrives(page, lambda: "columns" in held)
    page.route("**/role", lambda route: held.update(role=route))
    page.select_option("#role-0", "quasi-identifier")
    arrives(page, lambda: "role" in held)
    page.evaluate("document.getElementById('columns').old = true")
    # The columns are drawn as they were before this second change, of which the page hears afterwards.
    page.unroute("**/section/columns*")
    held["columns"].continue_()
    page.wait_for_function("() => !document.getElementById('columns').old")
    held["role"].continue_()
    page.wait_for_selector(JUDGE, state="detached")
    page.wait_for_function("() => document.getElementById('role-0').value === 'quasi-identifier'")
    assert complaints == []
    page.context.close()


def test_a_change_while_a_section_is_looking_is_not_overlooked(
    chromium: Browser, own_home: Program, judged: str
) -> None:
    from playwright.sync_api import Error

    page, complaints = entered(chromium, own_home, judged)
    held: list[tuple[Route, APIResponse]] = []

    def hold(route: Route) -> None:
        """The first answer is made at once and comes late."""
        if held:
            route.continue_()
        else:
            held.append((route, route.fetch()))

    go(page, "columns")
    page.route("**/section/verdict*", hold)
    with page.expect_response("**/section/columns*"):
        page.select_option("#role-0", "insensitive")
    arrives(page, lambda: held)
    with page.expect_response("**/role"):
        page.select_option("#role-0", "quasi-identifier")
    [(route, answer)] = held
    assert "notice warn" in answer.text()
    with suppress(Error):  # nobody waits for it any more
        route.fulfill(response=answer)
    page.wait_for_function("() => document.getElementById('role-0').value === 'quasi-identifier'")
    page.wait_for_selector("#verdict .notice.warn", state="detached")
    assert complaints == []
    page.context.close()


def test_a_section_that_bears_the_mark_of_its_request_for_a_moment_is_looked_at_again(
    chromium: Browser, own_home: Program, judged: str
) -> None:
    """A section that was drawn anew keeps the classes of the old one until it has settled."""
    page, complaints = entered(chromium, own_home, judged)
    settled(page)
    with page.expect_response("**/state"):
        page.evaluate(
            """() => {
              document.getElementById('verdict').classList.add('htmx-request');
              document.dispatchEvent(new Event('visibilitychange'));
            }"""
        )
    page.wait_for_selector("body:not([data-current])")
    page.evaluate("document.getElementById('verdict').classList.remove('htmx-request')")
    settled(page)
    assert complaints == []
    page.context.close()


def test_work_that_ends_before_its_section_is_drawn_is_not_waited_for(
    chromium: Browser, own_home: Program, judged: str
) -> None:
    """What to do next was drawn while attacks were tried; their own section is drawn once they are over."""
    from playwright.sync_api import Error

    page, complaints = entered(chromium, own_home, judged)
    held: list[Route] = []
    page.route("**/section/evidence*", lambda route: held.append(route))
    page.click("#anonymize")
    arrives(page, lambda: held)
    page.wait_for_selector("#release .words")

    def over() -> bool:
        jobs = own_home.client.get(f"/api/v1{judged.replace('case', 'tables')}").json()["jobs"]
        return any((job["kind"], job["state"]) == ("evidence", "done") for job in jobs)

    wait_for(over)
    for route in held:
        with suppress(Error):  # nobody waits for it any more
            route.continue_()
    page.unroute("**/section/evidence*")
    page.wait_for_selector(TAKE)
    page.wait_for_selector(TRIED, state="attached")
    assert complaints == []
    page.context.close()


def test_bad_files_are_told_and_the_next_one_can_be_chosen(
    chromium: Browser, own_home: Program, tmp_path: Path
) -> None:
    page, complaints = watched(chromium, own_home)
    for id in ("empty file", "ragged", "an image", "cut-off gzip", "broken workbook"):
        case = next(one for one in CASES if one.id == id)
        file = case.make(tmp_path)[1]
        assert isinstance(file, Path)
        upload(page, file)
        page.wait_for_selector("#file .notice.bad")
        assert case.place in page.inner_text("#file"), id
        assert page.locator("#anonymize").count() == 0, id
        page.click("#another-file")
        page.wait_for_selector("#drop")
    assert complaints == []
    page.context.close()


def test_a_file_that_is_too_large_is_told_in_place(
    chromium: Browser, own_home: Program, tmp_path: Path
) -> None:
    large = tmp_path / "large.csv"
    large.write_bytes(b"a,b\n" * (MAX_SIZE // 4 + 1))
    page, complaints = watched(chromium, own_home)
    page.set_input_files("#file", large)
    page.wait_for_selector("#notice .notice")
    assert "larger" in page.inner_text("#notice")
    # The page that said so takes the next file.
    empty = tmp_path / "empty.csv"
    empty.touch()
    upload(page, empty)
    page.wait_for_selector("#file .notice.bad")
    assert "empty.csv is empty" in page.inner_text("#file")
    assert complaints == []
    page.context.close()


def test_a_server_that_has_ended_is_told(chromium: Browser, own_home: Program, judged: str) -> None:
    """The page says so; what it showed stays."""
    page, _ = entered(chromium, own_home, judged)
    go(page, "columns")
    page.context.set_offline(True)
    page.select_option("#role-1", "insensitive")
    page.wait_for_selector("#notice .notice.bad")
    assert "does not answer" in page.inner_text("#notice")
    go(page, "verdict")
    assert page.locator(VERDICT).is_visible()
    page.context.close()


# ── other people's pages ─────────────────────────────────────────────────────────────────────────────


def test_a_wrong_token_shows_nothing(chromium: Browser, own_home: Program) -> None:
    context = chromium.new_context()
    context.set_default_timeout(PATIENCE)
    page = context.new_page()
    answer = page.goto(f"{own_home.client.base_url}?token=wrong")
    assert answer is not None
    assert answer.status == 401
    assert page.locator("#drop").count() == 0
    assert context.cookies() == []
    context.close()


def test_a_foreign_page_can_do_nothing(chromium: Browser, own_home: Program, judged: str) -> None:
    """In the browser of somebody who has the page open: forms and scripts of another site."""
    page, _ = watched(chromium, own_home)
    # Even if it had come to know the secret path.
    address = home_of(page).rstrip("/")
    form = f'<form method="post" action="{address}{judged}/remove"><button id="go">x</button></form>'

    def evil(route: Route) -> None:
        route.fulfill(content_type="text/html", body=f"<!doctype html><title>x</title>{form}")

    page.context.route("http://evil.example/**", evil)
    other = page.context.new_page()
    other.goto("http://evil.example/")
    seen = other.evaluate(
        """async address => {
          const tries = [['/', {}], ['/api/v1/tables/example', {method: 'POST', body: '{}'}]];
          return Promise.all(tries.map(([path, options]) =>
            fetch(address + path, {...options, credentials: 'include'}).then(one => one.text(), () => 'refused')));
        }""",
        address,
    )
    assert seen == ["refused", "refused"]
    with other.expect_response(lambda one: one.url.endswith("/remove")) as answered:
        other.click("#go")
    assert answered.value.status == 403
    assert own_home.client.get(judged).status_code == 200
    page.context.close()


def test_another_server_of_this_machine_gets_no_cookie(chromium: Browser, own_home: Program) -> None:
    """Browsers send cookies to every port of a host: ours go to a path that nobody else knows."""
    page, _ = watched(chromium, own_home)
    page.goto(f"{page.url}?lang=de")
    assert len(page.context.cookies()) == 2
    here = home_of(page)
    cookies: list[str | None] = []
    referrers: list[str] = []

    class Other(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            cookies.append(self.headers.get("cookie"))
            referrers.append(self.headers.get("referer", ""))
            self.send_response(200)
            self.end_headers()

        def log_message(self, *_: object) -> None:
            pass

    with ThreadingHTTPServer(("127.0.0.1", 0), Other) as other:
        threading.Thread(target=other.serve_forever, daemon=True).start()
        for path in ("/", "/static/page.js", "/case/x"):
            page.evaluate(
                "address => { window.location.assign(address); }",
                f"http://127.0.0.1:{other.server_port}{path}",
            )
            page.wait_for_url(f"http://127.0.0.1:{other.server_port}{path}")
            page.go_back()
            page.wait_for_selector("#drop")
        other.shutdown()
    assert len(cookies) >= 3
    assert set(cookies) == {None}
    assert [address for address in referrers if address.startswith(here[:-1])] == []
    page.context.close()


def test_a_foreign_name_that_leads_here_is_refused(chromium: Browser, own_home: Program) -> None:
    context = chromium.new_context()
    context.set_default_timeout(PATIENCE)
    page = context.new_page()
    for path in ("/", f"/?{own_home.door.partition('?')[2]}"):
        answer = page.goto(f"http://{REBOUND}:{own_home.client.base_url.port}{path}")
        assert answer is not None
        assert answer.status == 421
    assert context.cookies() == []
    context.close()
