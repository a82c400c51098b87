"""Chromium as a fixture, pages that are watched, and hands whose every move is counted."""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

import pytest

from helpers.absent import missing

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Page

    from helpers.server import Program

CHROMIUM = Path(os.environ.get("DISCREET_CHROMIUM", "/usr/bin/chromium"))
PATIENCE = 1_800_000
"""How long a page may take for anything, in milliseconds: what takes longer hangs."""
REBOUND = "rebound.example"
"""A foreign name that leads to this machine."""
VERDICT = "#verdict .words"
RELEASE = "#downloads a[href$='/download/release']"
TAKE = "#take"
"""What leads to the bundle, once the release is verified."""
TRIED = "#evidence .criteria li"
"""What is there once losses and attacks are computed."""
JUDGE = "#judge"
"""What is offered while a verdict is outdated."""
MOST_WORDS = 350
"""So many words a step shows before a question is asked."""
STEPS = ("file", "columns", "verdict", "release", "evidence")
SMALL = """() => [...document.querySelectorAll('.drawing svg')].filter(svg => svg.checkVisibility()).flatMap(svg => {
  const scale = svg.getBoundingClientRect().width / svg.viewBox.baseVal.width;
  return [...svg.querySelectorAll('text')].filter(
    text => parseFloat(text.getAttribute('font-size')) * scale < 12).map(text => text.textContent);
})"""
"""The words of drawings whose letters are smaller than 12 pixels."""
SHOWN_TWICE = """() => {
  const ids = [...document.querySelectorAll('[id]')].map(one => one.id);
  return ids.filter((id, i) => ids.indexOf(id) !== i);
}"""
"""What two elements of the page are called."""
WORDS = """() => {
  let words = 0;
  const texts = document.createTreeWalker(document.querySelector('main'), NodeFilter.SHOW_TEXT);
  while (texts.nextNode()) {
    const around = texts.currentNode.parentElement;
    if (around.closest('option, .hidden, svg, .rows td') || !around.checkVisibility()) continue;
    words += texts.currentNode.data.split(/\\s+/).filter(one => /[\\p{L}\\p{N}]/u.test(one)).length;
  }
  return words;
}"""
"""How many words are seen without unfolding anything; what stands in rows of data is not counted, nor are signs such as ✓."""


def shows(page: Page, field: str, value: str) -> None:
    """Wait until a field shows a value: sections of a page are renewed one after the other."""
    page.wait_for_function(
        "([field, value]) => document.querySelector(field)?.value === value", arg=[field, value]
    )


def says(page: Page, selector: str, text: str) -> None:
    """Wait until a part of the page says something; another part may show the same news sooner."""
    page.wait_for_function(
        "([selector, text]) => document.querySelector(selector)?.textContent.includes(text)",
        arg=[selector, text],
    )


def comes(page: Page, selector: str, state: Literal["attached", "visible"] = "visible") -> None:
    """Wait until work has led to something; work that fails says so at once, and not when patience ends."""
    page.wait_for_selector(f"{selector}, section.part .notice.bad", state="attached")
    assert page.locator("section.part .notice.bad").all_inner_texts() == []
    page.wait_for_selector(selector, state=state)


def settled(page: Page) -> None:
    """Wait until no section is about to be renewed: what is chosen in one that is would be gone with it."""
    page.wait_for_function(
        "() => document.querySelector('body[data-current]') && "
        "!document.querySelector('.htmx-request, .htmx-swapping, .htmx-settling')"
    )


@pytest.fixture(scope="session")
def chromium() -> Iterator[Browser]:
    """Chromium, started once; absent on a user's machine: say so; absent in CI: that is a failure."""
    sync_api = pytest.importorskip("playwright.sync_api") if not os.environ.get("CI") else None
    if not CHROMIUM.exists():
        reason = f"Chromium is not at {CHROMIUM} (set DISCREET_CHROMIUM to its path)"
        missing(reason)
    if sync_api is None:
        from playwright import sync_api
    with sync_api.sync_playwright() as started:
        running = started.chromium.launch(
            executable_path=str(CHROMIUM),
            # The last one is what an attacker's name service does.
            args=[
                "--no-sandbox",
                "--disable-gpu",
                "--headless",
                f"--host-resolver-rules=MAP {REBOUND} 127.0.0.1",
            ],
        )
        yield running
        running.close()


def watched(
    chromium: Browser, running: Program, width: int = 1280, scheme: str = "light", **options: Any
) -> tuple[Page, list[str]]:
    """A page that has come in by the printed address, and everything that should not happen in it.

    Every tab of its context is watched: what the console says, uncaught errors, and requests to another host.
    """
    dark: Literal["dark", "light"] = "dark" if scheme == "dark" else "light"
    context = chromium.new_context(viewport={"width": width, "height": 900}, color_scheme=dark, **options)
    context.set_default_timeout(PATIENCE)
    complaints: list[str] = []
    home = f"{str(running.client.base_url).rstrip('/')}/"
    context.on("console", lambda message: complaints.append(message.text))
    context.on("weberror", lambda error: complaints.append(str(error.error)))
    context.on(
        "request",
        lambda request: None if request.url.startswith((home, "data:")) else complaints.append(request.url),
    )
    page = context.new_page()
    page.goto(running.door)
    page.wait_for_selector("#drop")
    assert "token" not in page.url
    return page, complaints


def home_of(page: Page) -> str:
    """The address of the start page: every page lies under the same secret path."""
    parts = page.url.split("/")
    return "/".join([*parts[:4], ""])


def roles(page: Page) -> dict[str, str]:
    """The role of every column, as the page shows it."""
    shown: dict[str, str] = page.eval_on_selector_all(
        "#columns .column",
        """all => Object.fromEntries(all.map(
          one => [one.querySelector('.name').textContent, one.querySelector('select').value]))""",
    )
    return shown


def watch_for(page: Page, selector: str) -> Callable[[], object]:
    """Look out for what may be gone before one could look; the answer waits until it has been there."""
    page.evaluate(
        """selector => {
          window.seen = false;
          const look = () => { window.seen ||= document.querySelector(selector) !== null; };
          new MutationObserver(look).observe(document.body, {subtree: true, childList: true, attributes: true});
        }""",
        selector,
    )
    return lambda: page.wait_for_function("() => window.seen")


class Hands:
    """What a person does with a page: every click, drop, choice of a file and typed text counts as one."""

    def __init__(self, page: Page) -> None:
        self.page = page
        self.moves: list[str] = []

    def click(self, selector: str) -> None:
        self.moves.append(f"click {selector}")
        self.page.click(selector)

    def type(self, selector: str, text: str) -> None:
        self.moves.append(f"type into {selector}")
        self.page.fill(selector, text)

    def select(self, selector: str, value: str) -> None:
        self.moves.append(f"select in {selector}")
        self.page.select_option(selector, value)

    def choose(self, file: Path) -> None:
        """Click on "choose a file", and choose it in the dialog of the system."""
        with self.page.expect_file_chooser() as opened:
            self.click("label[for=file]")
        self.moves.append("choose a file")
        opened.value.set_files(file)

    def drop(self, file: Path, kind: str = "text/csv") -> None:
        """Drop a file on the page."""
        self.moves.append("drop a file")
        given = self.page.evaluate_handle(
            """([name, kind, text]) => {
              const given = new DataTransfer();
              given.items.add(new File([Uint8Array.from(atob(text), one => one.charCodeAt(0))], name, {type: kind}));
              return given;
            }""",
            [file.name, kind, _base64(file)],
        )
        for event in ("dragenter", "dragover", "drop"):
            self.page.dispatch_event("#drop", event, {"dataTransfer": given})


def _base64(file: Path) -> str:
    from base64 import b64encode

    return b64encode(file.read_bytes()).decode()


def go(page: Page, step: str) -> None:
    """Open a step of the page."""
    page.click(f"#go-{step}")
    page.wait_for_selector(f"#go-{step}[aria-current]")


def unfold(page: Page, question: str) -> None:
    """Ask a question, and first the one behind which it is."""
    around = page.evaluate(
        "id => document.getElementById(id).parentElement.closest('details.fold')?.id", f"fold-{question}"
    )
    if around:
        unfold(page, around.removeprefix("fold-"))
    if not page.evaluate("id => document.getElementById(id).open", f"fold-{question}"):
        page.click(f"#fold-{question}-open")


def size(page: Page, step: str, width: int) -> tuple[int, int]:
    """Height and words of a step at a width of the window."""
    was = page.viewport_size
    page.set_viewport_size({"width": width, "height": 900})
    go(page, step)
    measured = page.evaluate("document.documentElement.scrollHeight"), page.evaluate(WORDS)
    if was is not None:
        page.set_viewport_size(was)
    return measured


CRAMPED = """() => [...document.querySelectorAll('.ready td, .ready th')].filter(
  cell => cell.checkVisibility() && cell.scrollWidth > cell.clientWidth + 1).map(cell => cell.innerText)"""
"""What lies over its neighbour in the table of ready releases."""


def fits(page: Page, *steps: str) -> None:
    """Each step has two screens at most, four on a phone, and few words before a question is asked, in every language.

    The page is in English afterwards.
    """
    address = page.url.partition("#")[0].partition("?")[0]
    for language in ("de", "en"):
        settled(page)
        page.goto(f"{address}?lang={language}")
        settled(page)
        for step in steps:
            for width, most in ((1280, 1800), (400, 3600)):
                height, words = size(page, step, width)
                assert height <= most, (language, step, width, height)
                assert words <= MOST_WORDS, (language, step, width, words)
            if step == "release":
                page.set_viewport_size({"width": 400, "height": 900})
                assert page.evaluate(CRAMPED) == [], language
                page.set_viewport_size({"width": 1280, "height": 900})


def upload(page: Page, file: Path) -> str:
    """Choose a file without counting; the address of the table."""
    page.set_input_files("#file", file)
    page.wait_for_url(re.compile("/case/"))
    return page.url
