"""The page for everybody: what axe-core finds at every step, and the whole way by keyboard alone."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

pytest.importorskip("fastapi")

from helpers.browser import RELEASE, VERDICT, home_of, watched
from helpers.server import Program

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Page

pytest_plugins = ("helpers.server", "helpers.browser")
pytestmark = pytest.mark.browser
AXE = (Path(__file__).parent / "vendor" / "axe.min.js").read_text(encoding="utf-8")
SERIOUS = ("serious", "critical")
AT_REST = """async () => {
  await new Promise(drawn => requestAnimationFrame(() => requestAnimationFrame(drawn)));
  const moving = document.getAnimations().filter(one => one.effect.getComputedTiming().endTime !== Infinity);
  await Promise.allSettled(moving.map(one => one.finished));
}"""
"""Until what moves when the window changes has stopped."""
OPEN_ALL = "document.querySelectorAll('details').forEach(one => one.open = true)"


LIGHTS = (
    ("light", 1280, None),
    ("dark", 1280, ["color-contrast", "link-in-text-block"]),
    ("light", 400, ["color-contrast", "link-in-text-block"]),
    ("dark", 400, None),
)
"""Every rule meets both widths and both schemes; those that look at colours meet all four of them together."""


def violations(page: Page, rules: list[str] | None) -> list[str]:
    """What axe-core calls serious or critical, with the places."""
    if not page.evaluate("typeof window.axe === 'object'"):
        page.evaluate(AXE)
    found: dict[str, Any] = page.evaluate(
        "rules => axe.run(document, {resultTypes: ['violations'], ...(rules && {runOnly: rules})})", rules
    )
    return [
        f"{one['id']} ({one['impact']}): {one['help']}: {[node['html'][:160] for node in one['nodes'][:3]]}"
        for one in found["violations"]
        if one["impact"] in SERIOUS
    ]


def in_every_light(page: Page, step: str) -> list[str]:
    """What is wrong with the page as it stands, in all lights; it ends in the first one."""
    found = []
    for scheme, width, rules in (*LIGHTS[1:], LIGHTS[0]):
        page.set_viewport_size({"width": width, "height": 900})
        page.emulate_media(color_scheme="dark" if scheme == "dark" else "light")
        page.evaluate(AT_REST)
        found += [f"{step}, {width} px, {scheme}: {one}" for one in violations(page, rules)]
        if page.evaluate("document.documentElement.scrollWidth") > width:
            found.append(f"{step}, {width} px: the page is wider than the window")
    return found


def tab_to(page: Page, selector: str, most: int = 400) -> None:
    """Press the tabulator until something has the focus; what has it on the way must be seen."""
    for _ in range(most):
        page.keyboard.press("Tab")
        if page.evaluate("selector => document.activeElement.matches(selector)", selector):
            return
    raise AssertionError(f"{selector} is not reached by keyboard")


def test_from_the_start_to_a_release_by_keyboard_alone_without_a_serious_violation(
    chromium: Browser, home: Program
) -> None:
    """One walk: a release of four thousand people is dear, and every step of it is looked at."""
    page, complaints = watched(chromium, home)
    found = in_every_light(page, "start")
    page.keyboard.press("Tab")
    assert page.evaluate("document.activeElement.className") == "skip"
    tab_to(page, "#file")
    tab_to(page, "button[value=residents]")
    page.keyboard.press("Enter")
    page.wait_for_selector(VERDICT)
    found += in_every_light(page, "verdict")

    # A role by the arrow keys, and a verdict on it.
    tab_to(page, "#columns .roles input")
    column = page.evaluate("document.activeElement.id")
    page.keyboard.press("ArrowRight")
    page.wait_for_selector("#verdict .notice.warn")
    assert not page.is_checked(f"#{column}")
    page.keyboard.press("ArrowLeft")
    page.wait_for_selector("#verdict .notice.warn", state="detached")
    assert page.is_checked(f"#{column}")

    tab_to(page, "#verdict summary, #verdict [popovertarget]")
    tab_to(page, "#anonymize")
    page.keyboard.press("Enter")
    page.wait_for_selector("#release .words")
    page.wait_for_selector(RELEASE)
    found += in_every_light(page, "release")
    tab_to(page, RELEASE)
    with page.expect_download() as started:
        page.keyboard.press("Enter")
    assert started.value.suggested_filename == "residents-release.csv"
    assert complaints == []

    page.evaluate(OPEN_ALL)
    found += in_every_light(page, "everything open")
    page.goto(f"{home_of(page)}case/none")
    found += in_every_light(page, "no such table")
    assert found == [], "\n".join(found)
    page.context.close()
