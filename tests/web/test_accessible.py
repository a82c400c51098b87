"""The page for everybody: what axe-core finds at every step, and the whole way by keyboard alone."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

pytest.importorskip("fastapi")

from helpers.browser import (
    JUDGE,
    SHOWN_TWICE,
    STEPS,
    TAKE,
    TRIED,
    VERDICT,
    comes,
    go,
    home_of,
    settled,
    shows,
    upload,
    watched,
)
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
OPEN_ALL = "document.querySelectorAll('main details').forEach(one => one.open = true)"
"""But for the glossary, which would lie over what is clicked next."""


COLOURS = ("color-contrast", "link-in-text-block")
"""The rules that look at colours; they take longer than all others together."""
EVERY: dict[str, Any] = {}
ONLY_COLOURS = {"runOnly": list(COLOURS)}
NOTHING: dict[str, Any] = {"runOnly": []}
"""No rule: whether the page is as wide as the window is looked at anyway."""
NO_COLOURS = {"rules": {name: {"enabled": False} for name in COLOURS}}

LOOK = """async rules => {
  const hidden = [...document.querySelectorAll('main > [data-steps][hidden]')].map(
    step => [step, document.createComment('')]);
  hidden.forEach(([step, place]) => step.replaceWith(place));
  const found = await axe.run(document, {resultTypes: ['violations'], ...rules});
  hidden.forEach(([step, place]) => place.replaceWith(step));
  return found;
}"""
"""The steps that are not shown stand aside meanwhile: nothing is said of them, and looking at each would take twice as long.
That no two elements of all steps have one name is asked of the whole page (``SHOWN_TWICE``)."""

Light = tuple[str, int, dict[str, Any]]
LIGHTS: tuple[Light, ...] = (
    ("light", 1280, EVERY),
    ("dark", 1280, ONLY_COLOURS),
    ("light", 400, ONLY_COLOURS),
    ("dark", 400, EVERY),
)
"""Every rule meets both widths and both schemes; those that look at colours meet all four of them together."""
FEW = (LIGHTS[0], LIGHTS[-1])
"""Every rule in both widths and both schemes."""
IN_OTHER_WORDS: tuple[Light, ...] = (("light", 1280, NO_COLOURS), ("light", 400, NOTHING))
"""For another language, which has the same colours and other widths."""
ON_THE_WAY = (LIGHTS[0],)
"""For a step that is looked at once more with everything open."""


def violations(page: Page, rules: dict[str, Any]) -> list[str]:
    """What axe-core calls serious or critical, with the places."""
    if rules == NOTHING:
        return []
    if not page.evaluate("typeof window.axe === 'object'"):
        page.evaluate(AXE)
    found: dict[str, Any] = page.evaluate(LOOK, rules)
    return [
        f"{one['id']} ({one['impact']}): {one['help']}: {[node['html'][:160] for node in one['nodes'][:3]]}"
        for one in found["violations"]
        if one["impact"] in SERIOUS
    ]


def in_every_light(page: Page, step: str, lights: Sequence[Light]) -> list[str]:
    """What is wrong with the page as it stands, in all lights; it ends in the first one."""
    found = []
    for scheme, width, rules in (*lights[1:], lights[0]):
        page.set_viewport_size({"width": width, "height": 900})
        page.emulate_media(color_scheme="dark" if scheme == "dark" else "light")
        page.evaluate(AT_REST)
        found += [f"{step}, {width} px, {scheme}: {one}" for one in violations(page, rules)]
        if page.evaluate("document.documentElement.scrollWidth") > width:
            found.append(f"{step}, {width} px: the page is wider than the window")
    return found


def tab_to(page: Page, selector: str, key: str = "Tab", most: int = 400) -> None:
    """Press the tabulator until something has the focus; what has it on the way must be seen."""
    for _ in range(most):
        page.keyboard.press(key)
        if page.evaluate("selector => document.activeElement.matches(selector)", selector):
            return
    raise AssertionError(f"{selector} is not reached by keyboard")


TABLE = "who,age,sex,illness,qfx\n" + "".join(
    f"Person {i},{30 + i % 31},{'fm'[i % 2]},{('flu', 'cold', 'gout')[i * 7 % 3]},{i % 4}\n"
    for i in range(400)
)


@pytest.mark.parametrize("lights", [FEW, pytest.param(LIGHTS, marks=pytest.mark.walk)], ids=["few", "all"])
def test_from_the_start_to_a_bundle_by_keyboard_alone_without_a_serious_violation(
    chromium: Browser, home: Program, tmp_path: Path, lights: Sequence[Light]
) -> None:
    """One walk, of which every step is looked at."""
    page, complaints = watched(chromium, home)
    found = in_every_light(page, "start", lights)
    page.keyboard.press("Tab")
    assert page.evaluate("document.activeElement.className") == "skip"
    tab_to(page, "#file")
    tab_to(page, "button[value=residents]")
    file = tmp_path / "people.csv"
    file.write_text(TABLE, encoding="utf-8")
    upload(page, file)
    comes(page, VERDICT)
    page.wait_for_selector("#columns select.role", state="attached")
    settled(page)
    found += in_every_light(page, "verdict", ON_THE_WAY)

    # A role by the arrow keys, and what to do next.
    tab_to(page, "#go-columns")
    page.keyboard.press("Enter")
    found += in_every_light(page, "columns", ON_THE_WAY)
    tab_to(page, "#columns select.role")
    column = page.evaluate("document.activeElement.id")
    role = page.input_value(f"#{column}")
    page.keyboard.press("ArrowUp")
    page.wait_for_selector(JUDGE)
    page.wait_for_function(f"document.activeElement.id === '{column}'")
    page.keyboard.press("ArrowDown")
    page.wait_for_selector(JUDGE, state="detached")
    shows(page, f"#{column}", role)
    settled(page)

    tab_to(page, "#go-file", "Shift+Tab")
    page.keyboard.press("Enter")
    found += in_every_light(page, "file", ON_THE_WAY)
    tab_to(page, "#anonymize")
    page.keyboard.press("Enter")
    comes(page, "#release .words")
    page.wait_for_selector(TAKE)
    comes(page, TRIED, "attached")
    settled(page)
    found += in_every_light(page, "release", ON_THE_WAY)
    tab_to(page, TAKE)
    with page.expect_download() as started:
        page.keyboard.press("Enter")
    assert started.value.suggested_filename == "people-bundle.zip"

    for language in ("en", "de"):
        page.goto(f"{page.url.partition('?')[0].partition('#')[0]}?lang={language}")
        for step in STEPS:
            go(page, step)
            page.evaluate(OPEN_ALL)
            page.wait_for_selector("[hx-get*='/fold/'] > progress", state="detached")
            settled(page)
            found += [f"{step} in {language}: {one} is there twice" for one in page.evaluate(SHOWN_TWICE)]
            seen_in = lights if language == "en" else IN_OTHER_WORDS
            found += in_every_light(page, f"{step} in {language}, everything open", seen_in)
    assert complaints == []
    page.goto(f"{home_of(page)}case/none")
    found += in_every_light(page, "no such table", lights)
    assert found == [], "\n".join(found)
    page.context.close()


def test_the_glossary_without_a_serious_violation(chromium: Browser, home: Program) -> None:
    page, complaints = watched(chromium, home)
    page.click("#glossary-open")
    page.wait_for_selector("#glossary-panel > progress", state="detached")
    found = in_every_light(page, "glossary", FEW)
    assert complaints == []
    assert found == [], "\n".join(found)
    page.context.close()
