"""The page in a real browser: few interactions to a verdict, nothing from elsewhere, no complaint of the browser."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

pytest.importorskip("fastapi")

from helpers.browser import watched
from helpers.server import Program

if TYPE_CHECKING:
    from playwright.sync_api import Browser

pytest_plugins = ("helpers.server", "helpers.browser")
pytestmark = pytest.mark.browser

TABLE = "who,age,sex,illness\n" + "".join(
    f"Person {i},{30 + i % 40},{'fm'[i % 2]},{('flu', 'cold', 'gout')[i % 3]}\n" for i in range(400)
)


@pytest.mark.parametrize(("width", "scheme"), [(1280, "light"), (400, "dark")])
def test_from_a_file_to_a_release(
    chromium: Browser, home: Program, tmp_path: Path, width: int, scheme: str
) -> None:
    file = tmp_path / "people.csv"
    file.write_text(TABLE, encoding="utf-8")
    page, complaints = watched(chromium, home, width, scheme)

    # One interaction to a verdict: choosing the file.
    page.set_input_files("#file", file)
    page.wait_for_url(re.compile("/case/"))
    # A reload during the work finds it again.
    page.reload()
    page.wait_for_selector("#verdict .words")
    assert page.inner_text("#verdict .words") == "Do not release this table."
    assert page.evaluate("document.documentElement.scrollWidth") <= width

    # A role by one click and by the keyboard; the verdict says that it is outdated, and the focus stays.
    age = page.locator("#role-1-quasi-identifier")
    age.focus()
    page.keyboard.press("ArrowRight")
    page.wait_for_selector("#verdict .notice.warn")
    page.wait_for_function("document.activeElement.id === 'role-1-sensitive'")
    page.locator("#role-1-quasi-identifier").check(force=True)
    page.wait_for_selector("#verdict .notice.warn", state="detached")

    page.click("#anonymize")
    page.wait_for_selector("#release .words")
    page.wait_for_selector("#downloads a[href$='/download/release']")
    assert page.evaluate("document.documentElement.scrollWidth") <= width
    twice = """() => { const ids = [...document.querySelectorAll('[id]')].map(one => one.id);
      return ids.filter((id, i) => ids.indexOf(id) !== i); }"""
    assert page.evaluate(twice) == []
    with page.expect_download() as started:
        page.click("#downloads a[href$='/download/release']")
    assert started.value.suggested_filename == "people-release.csv"
    assert Path(started.value.path()).read_text(encoding="utf-8").startswith('"age","sex","illness"\n')
    assert complaints == []
    page.context.close()


def test_a_file_that_is_no_table_is_told_in_place(
    chromium: Browser, program: Callable[..., Program], tmp_path: Path
) -> None:
    page, complaints = watched(chromium, program("--max-size", "1K"), 1280, "light")
    large = tmp_path / "large.csv"
    large.write_text("a,b\n" * 1000, encoding="utf-8")
    page.set_input_files("#file", large)
    page.wait_for_selector("#notice .notice")
    assert "larger" in page.inner_text("#notice")
    empty = tmp_path / "empty.csv"
    empty.touch()
    page.set_input_files("#file", empty)
    page.wait_for_selector("#columns .notice.bad")
    assert "empty.csv is empty" in page.inner_text("#columns")
    assert complaints == []
    page.context.close()
