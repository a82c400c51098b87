"""The hierarchy editor in a real browser: by hand and by keyboard, with undo, until the release shows the group."""

from __future__ import annotations

import re
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

pytest.importorskip("fastapi")

from helpers.browser import JUDGE, RELEASE, TAKE, TRIED, VERDICT, comes, go, says, settled, unfold, watched
from helpers.server import Program

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Page

pytest_plugins = ("helpers.server", "helpers.browser")
pytestmark = pytest.mark.browser

JOBS = ["clerk"] * 195 + ["judge"] * 196 + ["baker"] * 4 + ["cook"] * 3 + ["waiter"] * 2
TABLE = "who,age,job,illness\n" + "".join(
    f"Person {i},{20 + i % 41},{job},{('flu', 'cold', 'gout')[i % 3]}\n" for i, job in enumerate(JOBS)
)
AGE, JOB = 1, 2


def opened(
    chromium: Browser, running: Program, tmp_path: Path, width: int, scheme: str
) -> tuple[Page, list[str]]:
    """A page on which job is the only quasi-identifier."""
    file = tmp_path / "people.csv"
    file.write_text(TABLE, encoding="utf-8")
    page, complaints = watched(chromium, running, width, scheme)
    page.set_input_files("#file", file)
    page.wait_for_url(re.compile("/case/"))
    comes(page, VERDICT)
    go(page, "columns")
    page.wait_for_selector(f"#role-{JOB}", state="attached")
    settled(page)
    if page.locator("#fold-clear").count():
        unfold(page, "clear")
    page.select_option(f"#role-{JOB}", "quasi-identifier")
    page.wait_for_selector(f"#hierarchy-{JOB}")
    return page, complaints


def members(page: Page, group: str) -> list[str]:
    return (
        page.locator("fieldset.group")
        .filter(has=page.locator(f"input[value='{group}']"))
        .locator(".chip > span")
        .all_inner_texts()
    )


@pytest.mark.parametrize(
    ("width", "scheme"), [(1280, "light"), pytest.param(400, "dark", marks=pytest.mark.walk)]
)
def test_groups_by_hand_are_what_the_release_shows(
    chromium: Browser, home: Program, tmp_path: Path, width: int, scheme: str
) -> None:
    page, complaints = opened(chromium, home, tmp_path, width, scheme)
    page.select_option(f"#role-{AGE}", "insensitive")
    page.wait_for_selector(f"#hierarchy-{AGE}", state="detached")
    settled(page)

    # By the keyboard: open, choose two values, name their group.
    page.focus(f"#hierarchy-{JOB}")
    page.keyboard.press("Enter")
    page.wait_for_selector("#hierarchy-shown .levels")
    settled(page)
    assert page.evaluate("document.activeElement.closest('dialog').id") == "hierarchy-dialog"
    page.select_option("#hierarchy-builder", "flat")
    page.wait_for_function("() => document.getElementById('hierarchy-state').classList.contains('changed')")
    settled(page)
    page.select_option("#hierarchy-builder", "sets")
    page.wait_for_selector("#grouping")
    settled(page)
    for value in ("baker", "cook"):
        page.get_by_role("checkbox", name=value).focus()
        page.keyboard.press("Space")
    assert page.inner_text("#chosen") == "2 chosen"
    page.focus("#group-name")
    page.keyboard.type("kitchen")
    page.keyboard.press("Enter")
    page.wait_for_selector("fieldset.group")
    settled(page)
    assert members(page, "kitchen") == ["baker", "cook"]

    # By the mouse; undone and done again.
    page.locator(".pool .chip", has_text="waiter").drag_to(page.locator("fieldset.group .pieces"))
    page.wait_for_function("() => document.querySelectorAll('fieldset.group .chip').length === 3")
    assert members(page, "kitchen") == ["baker", "cook", "waiter"]
    says(page, "fieldset.group .group-head", "9 records")
    settled(page)
    page.click("#hierarchy-undo")
    page.wait_for_selector(".tree .label:text-is('cook')", state="attached")
    page.wait_for_function("() => document.querySelector('#hierarchy-redo:not([disabled])') !== null")
    settled(page)
    page.click("#hierarchy-redo")
    page.wait_for_function("() => document.querySelector('#hierarchy-redo[disabled]') !== null")
    settled(page)
    page.select_option("#hierarchy-builder", "sets")
    page.wait_for_function("() => document.querySelectorAll('fieldset.group .chip').length === 3")
    assert members(page, "kitchen") == ["baker", "cook", "waiter"]
    assert page.evaluate("document.documentElement.scrollWidth") <= width
    dialog = "document.getElementById('hierarchy-dialog')"
    assert page.evaluate(f"{dialog}.scrollWidth <= {dialog}.clientWidth")
    settled(page)
    page.click("#hierarchy-save")
    page.wait_for_selector("#hierarchy-save[disabled]")
    settled(page)
    page.keyboard.press("Escape")
    page.wait_for_function(f"() => document.activeElement.id === 'hierarchy-{JOB}'")
    page.wait_for_selector(JUDGE)

    go(page, "verdict")
    unfold(page, "profile")
    page.select_option("#profile", "research-partner-5")
    page.click("#anonymize")
    page.wait_for_selector(TAKE)
    comes(page, TRIED, "attached")
    unfold(page, "parts")
    with page.expect_download() as started:
        page.click(RELEASE)
    released = Path(started.value.path()).read_text(encoding="utf-8")
    assert released.count("kitchen") == 9
    assert "baker" not in released
    assert "judge" in released
    assert complaints == []
    page.context.close()


def test_a_builder_shows_what_it_does_while_one_types(
    chromium: Browser, home: Program, tmp_path: Path
) -> None:
    page, complaints = opened(chromium, home, tmp_path, 1280, "light")
    settled(page)
    page.select_option(f"#role-{AGE}", "quasi-identifier")
    page.wait_for_selector(f"#hierarchy-{AGE}")
    settled(page)
    page.click(f"#hierarchy-{AGE}")
    page.wait_for_selector("#hierarchy-shown .levels")
    settled(page)
    page.select_option("#hierarchy-builder", "intervals")
    page.wait_for_selector("#parameter-widths")
    settled(page)
    page.fill("#parameter-widths", "")
    page.focus("#parameter-widths")
    page.keyboard.type("15, 3")
    page.wait_for_selector("#hierarchy-problem .notice")
    page.keyboard.type("0")
    page.wait_for_selector("#hierarchy-problem .notice", state="detached")
    page.wait_for_selector(".tree .label:text-is('[15, 29]')", state="attached")
    # The form stays under the hands of who types.
    assert page.evaluate("document.activeElement.id") == "parameter-widths"
    assert page.input_value("#parameter-widths") == "15, 30"
    assert page.locator(".level").count() == 4
    # A draft survives a reload, and so does the way back.
    page.reload()
    page.wait_for_selector(f"#hierarchy-{AGE}", state="attached")
    settled(page)
    if page.locator("#fold-clear").count():
        unfold(page, "clear")
    page.click(f"#hierarchy-{AGE}")
    page.wait_for_selector("#parameter-widths")
    assert page.input_value("#parameter-widths") == "15, 30"
    assert "Not in use" in page.inner_text("#hierarchy-state")
    settled(page)
    page.click("#hierarchy-undo")
    page.wait_for_function("() => document.getElementById('parameter-widths')?.value !== '15, 30'")
    settled(page)
    page.click("#hierarchy-reset")
    page.wait_for_selector("#parameter-widths", state="detached")
    assert page.inner_text("#hierarchy-state") == "In use"
    assert complaints == []
    page.context.close()
