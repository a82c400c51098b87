"""The budget in a real browser: a bar that empties, consequences that are shown before an amount is spent, and the file."""

from __future__ import annotations

import re
from fractions import Fraction
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

pytest.importorskip("fastapi")
pytest.importorskip("opendp")

from discreet.dp.ledger import Ledger
from helpers.browser import VERDICT, fits, go, says, settled, unfold, watched
from helpers.server import Program

if TYPE_CHECKING:
    from playwright.sync_api import Browser

pytest_plugins = ("helpers.server", "helpers.browser")
pytestmark = pytest.mark.browser
TABLE = "who,sex,age\n" + "".join(f"Person {i},{'fm'[i % 2]},{30 + i % 31}\n" for i in range(400))
SMALL = """() => [...document.querySelectorAll('#budget *')].filter(one => one.checkVisibility() &&
  [...one.childNodes].some(part => part.nodeType === 3 && part.data.trim()) &&
  parseFloat(getComputedStyle(one).fontSize) < 12).map(one => one.textContent)"""


def test_a_budget_is_set_and_spent_with_open_eyes(chromium: Browser, home: Program, tmp_path: Path) -> None:
    file = tmp_path / "people.csv"
    file.write_text(TABLE, encoding="utf-8")
    page, complaints = watched(chromium, home)
    page.fill("#path", str(file))
    page.click("#path-form button")
    page.wait_for_url(re.compile("/case/"))
    page.wait_for_selector(VERDICT)
    settled(page)
    go(page, "release")
    unfold(page, "guarantee")
    page.fill("#budget-epsilon", "1")
    page.click("#set-budget")
    page.wait_for_selector("#budget-left")
    settled(page)
    assert page.get_attribute("#budget-left", "value") == "1.000000"
    # Nothing can be spent before it was said what that means.
    assert page.locator("#spend").count() == 0
    for box in page.locator("#spend-form [name='columns[]']").all():
        box.set_checked(box.get_attribute("value") in ("1", "2"))
    page.fill("#low-2", "0")
    page.fill("#high-2", "99")
    page.fill("#spend-epsilon", "2")
    page.click("#show-meaning")
    says(page, "#foresight", "So much is not left.")
    page.fill("#spend-epsilon", "0.5")
    page.click("#show-meaning")
    page.wait_for_selector("#spend")
    says(page, "#foresight", "at most 1.6% sure after the release")
    says(page, "#foresight", "ε = 0.5 and δ = 5e-7 would be left.")
    assert Ledger.beside(file).balance().spent_epsilon == 0
    page.click("#spend")
    page.wait_for_selector("#made-with-guarantee")
    settled(page)
    assert page.get_attribute("#budget-left", "value") == "0.500000"
    assert Ledger.beside(file).balance().spent_epsilon == Fraction(1, 2)
    # What was typed is still there for the next time.
    assert page.input_value("#high-2") == "99"
    with page.expect_download() as started:
        page.click("#made-with-guarantee a >> nth=0")
    assert Path(started.value.path()).read_text("utf-8").startswith('"sex","age"')
    # What belongs to another product is not in the way; an answer is shown where it was asked for.
    assert not page.is_visible("#figure")
    page.select_option("#product", "answer")
    assert page.is_visible("#only")
    assert not page.is_visible("#predicted")
    page.fill("#only", "age >= 40")
    page.fill("#spend-epsilon", "0.25")
    page.locator("#spend-2").set_checked(False)
    page.fill("#values-1", "f; m")
    page.click("#show-meaning")
    says(page, "#foresight", "select sex, count(*) from data where (age >= 40) group by sex")
    page.click("#spend")
    says(page, "#made-with-guarantee", "The answer is there.")
    settled(page)
    assert page.locator("#made-with-guarantee tbody tr").count() == 2
    assert Ledger.beside(file).balance().spent_epsilon == Fraction(3, 4)
    fits(page, "release")
    page.goto(f"{page.url.partition('?')[0].partition('#')[0]}?lang=de")
    settled(page)
    for width in (1280, 400):
        page.set_viewport_size({"width": width, "height": 900})
        go(page, "release")
        unfold(page, "guarantee")
        says(page, "#budget", "ε = 0,25 von 1 ist übrig.")
        assert page.evaluate(SMALL) == []
        assert page.evaluate("document.documentElement.scrollWidth") <= width
    assert complaints == []
    page.context.close()
