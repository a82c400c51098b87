"""The whole way on the page in a real browser: a file, its verdict, what must hold, a release, attacks, another point."""

from __future__ import annotations

import re
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

pytest.importorskip("fastapi")

from discreet.register import Register
from helpers.browser import (
    JUDGE,
    RELEASE,
    SHOWN_TWICE,
    SMALL,
    TAKE,
    TRIED,
    VERDICT,
    comes,
    go,
    home_of,
    says,
    settled,
    shows,
    unfold,
    watch_for,
    watched,
)
from helpers.server import Program

if TYPE_CHECKING:
    from playwright.sync_api import Browser, FloatRect

pytest_plugins = ("helpers.server", "helpers.browser")
pytestmark = pytest.mark.browser

TABLE = "who,age,sex,illness\n" + "".join(
    f"Person {i},{30 + i % 31},{'fm'[i % 2]},{('flu', 'cold', 'gout')[i * 7 % 3]}\n" for i in range(400)
)


def overlap(one: FloatRect, other: FloatRect) -> bool:
    return all(
        one[start] < other[start] + other[size] and other[start] < one[start] + one[size]
        for start, size in (("x", "width"), ("y", "height"))  # type: ignore[misc]
    )


@pytest.mark.parametrize(
    ("width", "scheme"), [pytest.param(1280, "light", marks=pytest.mark.walk), (400, "dark")]
)
def test_from_a_file_to_a_release_and_its_evidence(
    chromium: Browser,
    home: Program,
    tmp_path: Path,
    width: int,
    scheme: str,
) -> None:
    file = tmp_path / "people.csv"
    file.write_text(TABLE, encoding="utf-8")
    page, complaints = watched(chromium, home, width, scheme)
    # One interaction to a verdict: choosing the file.
    page.set_input_files("#file", file)
    page.wait_for_url(re.compile("/case/"))
    # A reload during the work finds it again.
    page.reload()
    comes(page, VERDICT)
    assert page.inner_text(VERDICT) == "Do not release this table."
    assert page.evaluate("document.documentElement.scrollWidth") <= width

    # The box that asks before wiping lies over no step, where there is no room beside them.
    page.click("#wipe-open")
    box = page.locator(".wipe > form").bounding_box()
    steps = [link.bounding_box() for link in page.locator(".steps a").all()]
    assert box
    assert [step for step in steps if step and overlap(box, step)] == []
    page.click("#wipe-open")

    # A role by the keyboard and by one choice; what to do next says that the verdict is outdated, and the focus stays.
    go(page, "columns")
    page.wait_for_selector("#role-1")
    settled(page)
    page.locator("#role-1").focus()
    page.keyboard.press("ArrowDown")
    page.wait_for_selector(JUDGE)
    shows(page, "#role-1", "sensitive")
    page.wait_for_function("document.activeElement.id === 'role-1'")
    page.select_option("#role-1", "quasi-identifier")
    page.wait_for_selector(JUDGE, state="detached")
    settled(page)

    # Two columns at once, found by their names, and back.
    page.fill("#column-search", "se")
    assert page.locator("#columns tr.column:visible").count() == 1
    page.check("#pick-2")
    page.fill("#column-search", "")
    page.check("#pick-0")
    page.select_option("#bulk-role", "sensitive")
    page.click("#bulk-give")
    page.wait_for_selector(JUDGE)
    for number in (0, 2):
        shows(page, f"#role-{number}", "sensitive")
    for number, role in ((0, "direct-identifier"), (2, "quasi-identifier")):
        with page.expect_response("**/role"):
            page.select_option(f"#role-{number}", role)
        settled(page)
    page.wait_for_selector(JUDGE, state="detached")
    go(page, "release")
    unfold(page, "plan")
    page.wait_for_selector("#preview .foreseen")
    page.wait_for_selector("#preview .stale", state="detached")
    settled(page)
    before = page.inner_text("#preview .foreseen-attributes")

    # A slider, by the keyboard: the preview follows, and the focus stays where it was.
    page.locator("#keep-1").check()
    page.wait_for_function(
        "old => document.querySelector('#preview .foreseen-attributes') && "
        "!document.querySelector('#preview .stale') && "
        "document.querySelector('#preview .foreseen-attributes').innerText !== old",
        arg=before,
    )
    page.locator("#weight-2").focus()
    outdated = watch_for(page, "#preview .stale")
    page.keyboard.press("ArrowRight")
    page.wait_for_function("() => document.getElementById('weight-2-shown').textContent === '×1.25'")
    outdated()
    page.wait_for_selector("#preview .stale", state="detached")
    page.wait_for_function("document.activeElement.id === 'weight-2'")
    settled(page)

    # A requirement by form.
    page.click("#add-requirement")
    page.select_option("#new-model", "l-diversity")
    page.fill("#new-l", "2")
    page.click("#new-requirement")
    page.wait_for_selector("#plan .by.own")
    settled(page)

    # An explanation by mouse, by key, and away again.
    tip = page.locator("#why-required-1 .tip")
    page.locator("#why-required-1-open").hover()
    tip.wait_for(state="visible")
    page.mouse.move(2, 2)
    tip.wait_for(state="hidden")
    page.locator("#why-required-1-open").focus()
    page.keyboard.press("Enter")
    tip.wait_for(state="visible")
    page.keyboard.press("Escape")
    tip.wait_for(state="hidden")

    # A requirement changes the verdict: one thing after the other.
    page.click(JUDGE)
    page.click("#anonymize")
    comes(page, "#release .words")
    page.wait_for_selector(TAKE)
    comes(page, TRIED, "attached")
    settled(page)
    assert page.evaluate("document.documentElement.scrollWidth") <= width
    assert page.evaluate(SHOWN_TWICE) == []
    # Their own rows, before and after; a question is answered when it is asked, and stays so when things change.
    assert page.locator("#rows-after ins").count() > 0
    unfold(page, "became")
    page.wait_for_selector("#became-0")
    unfold(page, "parts")
    # A report is drawn when it is asked for: the page looks how far that is.
    with page.expect_download() as started, page.expect_request("**/state"):
        page.click("#downloads a[href$='/download/audit-report']")
    assert started.value.suggested_filename == "people-audit-report.html"
    with page.expect_download() as started:
        page.click(RELEASE)
    assert started.value.suggested_filename == "people-release.csv"
    assert Path(started.value.path()).read_text(encoding="utf-8").startswith('"age","sex","illness"\n')
    with page.expect_download() as started:
        page.click(TAKE)
    assert started.value.suggested_filename == "people-bundle.zip"

    go(page, "evidence")
    assert page.locator("#evidence .criteria li").count() == 3
    unfold(page, "attacks")
    page.wait_for_selector("#evidence .whisker")
    assert page.locator("#evidence .whisker").count() > 3

    # What is handed out is entered into a register, and judged with what is in it.
    unfold(page, "register")
    page.fill("#register-folder", str(tmp_path / "register"))
    page.fill("#register-key", str(tmp_path / "register.key"))
    page.click("#open-register")
    page.wait_for_selector("#publish")
    page.fill("#audience", "a university")
    page.click("#enter-release")
    says(page, "#entered", "Entered as no. 1, with 400 people.")
    settled(page)
    assert page.locator("#enter-release").count() == 0
    page.click("#judge-release")
    says(page, "#judged", "leaves nobody fewer than 2 possible sensitive values")
    unfold(page, "timeline")
    page.wait_for_selector("#timeline svg")
    settled(page)
    assert page.evaluate(SMALL) == []
    assert page.evaluate("document.documentElement.scrollWidth") <= width
    [entry] = Register(tmp_path / "register").entries()
    assert (entry.file, entry.persons, entry.audience) == ("people-release.csv", 400, "a university")

    # A step of another kind, by what it does to values, and back.
    go(page, "release")
    unfold(page, "effect-untrue")
    page.select_option("#step-untrue", "pram")
    page.wait_for_selector("#untrue-keep")
    page.check("#untrue-column-1")
    page.click("#take-untrue")
    says(page, "#steps", "age · Chance to stay as it is: 0.8 · Kind: plain")
    page.click("#remove-step-0")
    page.wait_for_selector("#steps", state="detached")
    settled(page)

    unfold(page, "frontier")
    for size in (2, 3, 5, 20, 50):
        page.uncheck(f"#size-{size}")
    page.click("#sweep-start")
    page.wait_for_selector("#frontier svg")
    page.locator("#frontier button[id^=use-]").first.click()
    page.wait_for_selector("#release .notice.warn")
    assert page.evaluate("document.documentElement.scrollWidth") <= width

    # Several files at once: the start says how each stands.
    page.goto(home_of(page))
    there = page.locator("#tables li").count()
    page.set_input_files("#file", [file, file])
    page.wait_for_function("many => document.querySelectorAll('#tables li').length === many", arg=there + 2)
    assert complaints == []
    page.context.close()
