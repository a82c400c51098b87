"""Makes the pictures of the page in the documentation: every step, at 1280 and 400 pixels, in light and dark.

    python tools/screenshots.py                       the few that the documentation shows, into docs/images
    python tools/screenshots.py --all --folder NAME   every step from top to bottom in every width, light and language,
                                                      to be looked at

It starts `discreet serve`, takes the made-up town through it in Chromium (DISCREET_CHROMIUM names another one)
and stops the server. Pictures are reduced to 128 colours, which keeps them below 150 KB.
"""

from __future__ import annotations

import argparse
import io
import os
import re
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from PIL import Image

if TYPE_CHECKING:
    from playwright.sync_api import Page

DOCS = Path(__file__).resolve().parents[1] / "docs" / "images"
CHROMIUM = os.environ.get("DISCREET_CHROMIUM", "/usr/bin/chromium")
PATIENCE = 900_000
LARGEST = 150_000
WIDTHS = (1280, 400)
SCHEMES = ("light", "dark")
LANGUAGES = ("en", "de")
STEPS = ("file", "columns", "verdict", "release", "evidence")
SHOWN = {
    "start-1280-light",
    "verdict-1280-light",
    "release-1280-light",
    "columns-400-dark",
    "columns-1280-light",
}
"""The pictures that the documentation uses."""


@contextmanager
def server() -> Iterator[str]:
    """The address of a `discreet serve` that lives as long as it is needed."""
    with tempfile.TemporaryDirectory() as folder:
        process = subprocess.Popen(
            [sys.executable, "-m", "discreet", "serve", "--no-browser", "--port", "0"],
            stdout=subprocess.PIPE,
            text=True,
            env={**os.environ, "TMPDIR": folder, "PYTHONUNBUFFERED": "1"},
        )
        try:
            assert process.stdout is not None
            found = re.search(r"http://\S+", process.stdout.readline())
            if found is None:
                raise SystemExit("discreet serve has printed no address")
            yield found[0]
        finally:
            process.terminate()
            process.wait()


def save(page: Page, folder: Path, name: str, *, whole: bool) -> None:
    """What the window shows, or the whole page, in few colours."""
    if told := page.inner_text("#notice").strip():
        raise SystemExit(f"{name} shows an error: {told}")
    raw = Image.open(io.BytesIO(page.screenshot(animations="disabled", full_page=whole))).convert("RGB")
    path = folder / f"{name}.png"
    raw.quantize(128, dither=Image.Dither.NONE).save(path, optimize=True)
    size = path.stat().st_size
    print(f"{path.name}: {size >> 10} KB")
    if size > LARGEST and not whole:
        raise SystemExit(f"{path.name} is larger than {LARGEST >> 10} KB")


def take(page: Page, folder: Path, step: str, names: set[str] | None, language: str = "en") -> None:
    """One step in every width and light; ``names`` says which ones are wanted, if not all of them as a whole."""
    for width in WIDTHS:
        for scheme in SCHEMES:
            name = f"{step}-{width}-{scheme}"
            if names is not None and name not in names:
                continue
            page.set_viewport_size({"width": width, "height": 900})
            page.emulate_media(color_scheme="dark" if scheme == "dark" else "light")
            if step != "start":
                page.click(f"#go-{step}")
            page.evaluate("window.scrollTo(0, 0)")
            page.mouse.move(0, 0)
            save(page, folder, name if names is not None else f"{name}-{language}", whole=names is None)


def take_others(page: Page, home: str, folder: Path) -> None:
    """What else the documentation shows: tables that are judged together, and baskets before and after."""
    page.set_viewport_size({"width": WIDTHS[0], "height": 900})
    page.emulate_media(color_scheme="light")
    for name in ("residents", "visits"):
        page.goto(f"{home}?lang={LANGUAGES[0]}")
        page.click(f"button[value={name}]")
        page.wait_for_selector("#verdict .words")
    page.goto(home)
    page.click("#judge-together")
    page.wait_for_selector("#together_verdict .words")
    page.click("#go-tables")
    page.wait_for_selector("#together_file .drawing")
    save(page, folder, f"tables-{WIDTHS[0]}-light", whole=False)
    with tempfile.TemporaryDirectory() as place:
        shop = Path(place) / "shop.csv"
        # Who buys what differs a little from week to week; the last one is somebody's alone.
        weeks = ["milk,bread", "milk,tea,bread", "tea,sugar", "milk", "bread,butter,jam", "milk,butter"] * 9
        shop.write_text("\n".join([*weeks, "milk,gin", "gin,tea", "milk,bread,rum"]) + "\n", encoding="utf-8")
        page.goto(home)
        page.set_input_files("#file", shop)
        page.click("#as-baskets")
        page.wait_for_selector("#basket_verdict .words")
        page.click("#anonymize")
        page.wait_for_selector("#take")
        page.evaluate("window.scrollTo(0, 0)")
        save(page, folder, f"baskets-{WIDTHS[0]}-light", whole=False)


def main() -> None:
    parser = argparse.ArgumentParser(description="Make the pictures of the page in the documentation.")
    parser.add_argument("--all", action="store_true", help="every step in every width, light and language")
    parser.add_argument("--folder", type=Path, default=DOCS, help="where to write them")
    given = parser.parse_args()
    given.folder.mkdir(parents=True, exist_ok=True)
    names = None if given.all else SHOWN
    from playwright.sync_api import sync_playwright

    with server() as address, sync_playwright() as started:
        browser = started.chromium.launch(executable_path=CHROMIUM, args=["--no-sandbox", "--disable-gpu"])
        page = browser.new_page()
        page.set_default_timeout(PATIENCE)
        page.goto(address)
        page.wait_for_selector("#drop")
        home = page.url
        for language in LANGUAGES if given.all else LANGUAGES[:1]:
            page.goto(f"{home}?lang={language}")
            take(page, given.folder, "start", names, language)
        page.goto(f"{home}?lang={LANGUAGES[0]}")
        page.click("button[value=residents]")
        page.wait_for_selector("#verdict .words")
        if not given.all:
            for step in STEPS[:3]:
                take(page, given.folder, step, names)
        page.set_viewport_size({"width": WIDTHS[0], "height": 900})
        page.click("#anonymize")
        page.wait_for_selector("#evidence .criteria li", state="attached")
        case = page.url.partition("?")[0].partition("#")[0]
        for language in LANGUAGES if given.all else LANGUAGES[:1]:
            page.goto(f"{case}?lang={language}")
            page.wait_for_selector("#evidence .criteria li", state="attached")
            for step in STEPS if given.all else STEPS[3:]:
                take(page, given.folder, step, names, language)
        if not given.all:
            take_others(page, home, given.folder)
        browser.close()


if __name__ == "__main__":
    main()
