"""Whole walks through the page with real files, from a file to a bundle: what takes minutes, for `make thorough`.

The suggestions are accepted; every interaction counts.
"""

from __future__ import annotations

import gzip
import re
from pathlib import Path
from typing import TYPE_CHECKING
from zipfile import ZipFile

import pyarrow.csv
import pytest

pytest.importorskip("fastapi")

from discreet.example import town
from helpers.browser import (
    JUDGE,
    STEPS,
    TAKE,
    TRIED,
    VERDICT,
    Hands,
    comes,
    fits,
    go,
    roles,
    settled,
    watch_for,
    watched,
)
from helpers.server import Program

if TYPE_CHECKING:
    from playwright.sync_api import Browser

pytest_plugins = ("helpers.server", "helpers.browser")
pytestmark = [pytest.mark.browser, pytest.mark.data, pytest.mark.walk]
MOST = 4
"""So many interactions from the start to a bundle with a verdict that is not red."""
MOST_WITH_ROLES = 8
"""So many if roles are corrected on the way."""
FILES = {
    "sparcs": "sparcs/sparcs2016_random1000.csv.gz",
    "adult": "arx/adult.csv.gz",
    "diabetes": "uci/diabetic_data.csv.gz",
}
PUBLISHED = {
    "id_student": "person-id",
    **dict.fromkeys(("gender", "region", "highest_education", "age_band", "disability"), "quasi-identifier"),
    "final_result": "sensitive",
}
"""The roles of OULAD as published (Folz et al. 2025, section IV)."""
PUBLISHED_ROLES = ("person-id", "quasi-identifier", "sensitive")
LARGE = 100 << 20
"""The size of a file that must not make the page wait, in bytes."""


def unpacked(data_dir: Path, folder: Path, name: str) -> Path:
    file = folder / Path(name).name.removesuffix(".gz")
    file.write_bytes(gzip.decompress((data_dir / name).read_bytes()))
    return file


def taken(hands: Hands, folder: Path) -> list[str]:
    """Anonymise, see that nothing is red, and take the bundle away; the names of its files."""
    page = hands.page
    hands.click("#anonymize")
    page.wait_for_selector("#release .verdict, #release .notice.bad")
    assert page.locator("#release .notice.bad").all_inner_texts() == []
    assert page.locator("#release .verdict.bad").count() == 0, page.inner_text("#release .verdict")
    page.wait_for_selector(TAKE)
    with page.expect_download() as download:
        hands.click(TAKE)
    with ZipFile(download.value.path()) as bundle:
        return bundle.namelist()


@pytest.mark.parametrize("name", FILES)
def test_few_interactions_to_a_bundle(
    chromium: Browser, home: Program, data_dir: Path, tmp_path: Path, name: str
) -> None:
    page, complaints = watched(chromium, home)
    hands = Hands(page)
    hands.choose(unpacked(data_dir, tmp_path, FILES[name]))
    page.wait_for_url(re.compile("/case/"))
    comes(page, VERDICT)
    names = taken(hands, tmp_path)
    assert [one for one in names if re.fullmatch("hand-out/.*-release.csv", one)]
    assert "SHA256SUMS" in names
    assert len(hands.moves) <= MOST, hands.moves
    comes(page, TRIED, "attached")
    settled(page)
    fits(page, *STEPS)
    assert complaints == []
    page.context.close()


def test_oulad_with_the_published_roles(
    chromium: Browser, home: Program, data_dir: Path, tmp_path: Path
) -> None:
    """The publication takes disability for a quasi-identifier, the deprivation of the area for none, and judges the final
    result alone."""
    page, complaints = watched(chromium, home)
    hands = Hands(page)
    hands.drop(unpacked(data_dir, tmp_path, "oulad/studentInfo.csv.gz"))
    page.wait_for_url(re.compile("/case/"))
    comes(page, VERDICT)
    hands.click("#go-columns")
    hands.click("#fold-clear-open")
    for name, role in (("disability", "quasi-identifier"), ("imd_band", "insensitive")):
        column = page.locator("#columns .column", has=page.locator(f".name:text-is('{name}')"))
        hands.select(f"#{column.locator('select').get_attribute('id')}", role)
        page.wait_for_selector(JUDGE)
        settled(page)
    assert {name: role for name, role in roles(page).items() if role in PUBLISHED_ROLES} == PUBLISHED
    hands.click(JUDGE)
    page.wait_for_selector(JUDGE, state="detached")
    page.wait_for_selector("#anonymize")
    taken(hands, tmp_path)
    assert len(hands.moves) <= MOST_WITH_ROLES, hands.moves
    assert complaints == []
    page.context.close()


def test_a_large_file_shows_progress_and_the_page_answers(
    chromium: Browser, home: Program, tmp_path: Path
) -> None:
    """Steps and the glossary open while it is sent, read and judged."""
    file = tmp_path / "large.csv"
    people = town(100_000)
    with file.open("wb") as target:
        pyarrow.csv.write_csv(people, target)
        rest = pyarrow.csv.WriteOptions(include_header=False)
        while target.tell() < LARGE:
            pyarrow.csv.write_csv(people, target, rest)
    page, complaints = watched(chromium, home)
    sends = watch_for(page, "#upload:not([hidden]) progress[value]")
    page.set_input_files("#file", file)
    sends()
    page.wait_for_url(re.compile("/case/"))
    page.wait_for_selector("#verdict .job progress")
    for step in ("file", "columns", "release", "verdict"):
        go(page, step)
    page.click("#glossary-open")
    page.wait_for_selector("#glossary-panel dl")
    page.keyboard.press("Escape")
    # It was still at work while all of this was shown.
    page.wait_for_selector("#verdict .job [role=status]")
    comes(page, VERDICT)
    assert complaints == []
    page.context.close()
