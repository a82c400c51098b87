"""The report in a real browser: nothing loaded, nothing out of sight, readable in light, dark and print."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from discreet.engine.read import read
from discreet.example import town, visits
from discreet.policy import Policy
from discreet.policy.plan import Plan
from discreet.release.anonymize import anonymize
from discreet.release.attack import attack
from discreet.release.audit import Audit, audit
from discreet.release.compare import compare
from discreet.reports.audit.html import notebook, report
from discreet.reports.evidence.html import evidence_report, notebook_attacks
from discreet.reports.release.html import release_report
from helpers.browser import PATIENCE, SMALL

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Page

pytest_plugins = ("helpers.browser",)
pytestmark = pytest.mark.browser

OUT_OF_SIGHT = """() => {
  const found = [];
  const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
  while (walker.nextNode()) {
    const text = walker.currentNode, element = text.parentElement;
    if (!text.data.trim() || element.closest('style, .hidden, .stack thead')) continue;
    const closed = element.closest('details:not([open])');
    if (closed && !element.closest('summary')) continue;
    const range = document.createRange();
    range.selectNodeContents(text);
    const box = range.getBoundingClientRect();
    const visible = element.checkVisibility({opacityProperty: true, visibilityProperty: true});
    if (!visible || box.width < 1 || box.height < 4) found.push(text.data.trim().slice(0, 60));
  }
  return found;
}"""

COLOURS = """selector => {
  const element = document.querySelector(selector);
  let ground = element;
  const clear = one => getComputedStyle(one).backgroundColor === 'rgba(0, 0, 0, 0)';
  while (clear(ground) && ground.parentElement) ground = ground.parentElement;
  return [getComputedStyle(element).color, getComputedStyle(ground).backgroundColor];
}"""


CLIPPED = """() => [...document.querySelectorAll('.drawing svg')].flatMap(svg => {
  const frame = svg.getBoundingClientRect();
  return [...svg.querySelectorAll('text')].filter(text => {
    const box = text.getBoundingClientRect();
    return box.left < frame.left - 1 || box.right > frame.right + 1 || box.top < frame.top - 1;
  }).map(text => text.textContent);
})"""


@pytest.fixture(scope="module")
def residents() -> Audit:
    return audit(
        read(town(1500)),
        Policy.of(
            quasi_identifiers=["age", "sex", "postcode", "occupation", "nationality"],
            sensitive=["diagnosis", "income"],
            direct_identifiers=["name"],
        ),
    )


@pytest.fixture(scope="module")
def pages(residents: Audit, tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    folder = tmp_path_factory.mktemp("reports")
    events = audit(
        read(visits(town(300))),
        Policy.of(
            quasi_identifiers=["clinic", "sex", "age_band"],
            sensitive=["treatment"],
            person="resident_id",
            sampling_fraction=0.1,
        ),
    )
    fine = audit(read(town()), Policy.of(quasi_identifiers=["sex"], profile="research-partner-3"))
    return {
        "residents": report(residents, folder / "residents.html"),
        "public": report(residents, folder / "public.html", edition="public"),
        "events": report(events, folder / "events.html"),
        "fine": report(fine, folder / "fine.html"),
    }


@dataclass(frozen=True)
class Window:
    """One page for every report: opening another one costs more than what it shows."""

    page: Page
    requests: list[str] = field(default_factory=list)
    complaints: list[str] = field(default_factory=list)

    def open(self, file: Path, *, width: int = 1280, scheme: str = "light") -> Page:
        self.light(width, scheme)
        self.requests.clear()
        self.complaints.clear()
        self.page.goto(file.as_uri())
        return self.page

    def show(self, html: str, *, width: int) -> Page:
        self.light(width, "light")
        self.page.set_content(html)
        return self.page

    def light(self, width: int, scheme: str) -> None:
        self.page.set_viewport_size({"width": width, "height": 900})
        self.page.emulate_media(media="screen", color_scheme="dark" if scheme == "dark" else "light")


@pytest.fixture(scope="module")
def window(chromium: Browser) -> Iterator[Window]:
    with chromium.new_context() as context:
        context.set_default_timeout(PATIENCE)
        made = Window(context.new_page())
        made.page.on("request", lambda request: made.requests.append(request.url))
        made.page.on("console", lambda message: made.complaints.append(message.text))
        made.page.on("pageerror", lambda error: made.complaints.append(str(error)))
        yield made


def contrast(one: str, other: str) -> float:
    """Contrast ratio of two computed colours (Web Content Accessibility Guidelines 2.2)."""

    def luminance(colour: str) -> float:
        parts = [int(part) / 255 for part in re.findall(r"\d+", colour)[:3]]
        linear = [part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4 for part in parts]
        return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]

    low, high = sorted((luminance(one), luminance(other)))
    return (high + 0.05) / (low + 0.05)


@pytest.mark.parametrize("name", ["residents", "public", "events", "fine"])
@pytest.mark.parametrize(("width", "scheme"), [(1280, "light"), (400, "dark")])
def test_loads_nothing_fits_and_shows_everything(
    window: Window, pages: dict[str, Path], name: str, width: int, scheme: str
) -> None:
    page = window.open(pages[name], width=width, scheme=scheme)
    assert window.complaints == []
    assert [url for url in window.requests if url != "data:,"] == [pages[name].as_uri()]
    assert page.evaluate("document.documentElement.scrollWidth") <= width
    assert page.evaluate(OUT_OF_SIGHT) == []


@pytest.fixture(scope="module")
def release_page(residents: Audit, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The report of a release; the hashes of its files are the longest words on it."""
    release = anonymize(
        read(town(1500)), residents.policy, plan=Plan(method="optimal", suppression_limit=1.0)
    )
    return release_report(release, tmp_path_factory.mktemp("release") / "release.html", file_hash="0" * 64)


@pytest.mark.parametrize(("width", "scheme"), [(1280, "light"), (400, "dark")])
def test_report_of_a_release_fits_and_complains_of_nothing(
    window: Window, release_page: Path, width: int, scheme: str
) -> None:
    page = window.open(release_page, width=width, scheme=scheme)
    assert [url for url in window.requests if url != "data:,"] == [release_page.as_uri()]
    assert page.locator(".panels svg").count() == 4
    assert page.evaluate("document.documentElement.scrollWidth") <= width
    assert page.evaluate(OUT_OF_SIGHT) == []
    page.evaluate("document.querySelectorAll('details').forEach(one => one.open = true)")
    assert page.evaluate("document.documentElement.scrollWidth") <= width
    assert page.evaluate(OUT_OF_SIGHT) == []
    assert window.complaints == []
    text, ground = page.evaluate(COLOURS, ".keys .was")
    assert contrast(text, ground) >= 4.5


@pytest.fixture(scope="module")
def evidence_pages(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    """Loss and exposure of a release of the town, in both editions, and what attacks say in a notebook."""
    folder = tmp_path_factory.mktemp("evidence")
    before = read(town(600))
    policy = Policy.of(
        quasi_identifiers=["age", "sex", "postcode"],
        sensitive=["diagnosis", "income"],
        direct_identifiers=["resident_id", "name", "birth_date"],
        profile="research-partner-5",
    )
    release = anonymize(before, policy, plan=Plan(method="mondrian"))
    compared = compare(before, release, labels=[], queries=100)
    kinds = ["singling-out", "record-linkage", "homogeneity", "skewness", "proximity", "similarity"]
    attacked = attack(release, original=before, attacks=kinds)
    found = {
        edition: evidence_report(
            folder / f"{edition}.html", comparison=compared, attacks=attacked, policy=policy, edition=edition
        )
        for edition in ("internal", "public")
    }
    fragment = folder / "fragment.html"
    fragment.write_text(notebook_attacks(attacked), encoding="utf-8")
    return {**found, "fragment": fragment}


@pytest.mark.parametrize("name", ["internal", "public"])
@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("width", [1280, 400])
def test_evidence_loads_nothing_fits_and_is_readable(
    window: Window, evidence_pages: dict[str, Path], name: str, width: int, scheme: str
) -> None:
    page = window.open(evidence_pages[name], width=width, scheme=scheme)
    assert [url for url in window.requests if url != "data:,"] == [evidence_pages[name].as_uri()]
    assert page.evaluate("document.documentElement.scrollWidth") <= width
    assert page.evaluate(OUT_OF_SIGHT) == []
    assert page.evaluate(CLIPPED) == []
    page.evaluate("document.querySelectorAll('details').forEach(one => one.open = true)")
    assert page.evaluate("document.documentElement.scrollWidth") <= width
    assert page.evaluate(OUT_OF_SIGHT) == []
    assert window.complaints == []
    for selector in (
        "#verdict",
        ".verdict .mark",
        ".verdict li p",
        ".takeaway",
        ".rate .muted",
        "summary",
    ):
        text, ground = page.evaluate(COLOURS, selector)
        assert contrast(text, ground) >= 4.5, selector
    whiskers = page.locator(".whisker")
    assert whiskers.count() == page.locator(".rate").count() > 5
    assert whiskers.first.bounding_box()["width"] > 90  # type: ignore[index]


def test_public_evidence_shows_no_value(window: Window, evidence_pages: dict[str, Path]) -> None:
    """What a browser shows of the public edition, drawings and folded parts included."""
    residents = town(600)
    values = {str(value) for name in ("diagnosis", "postcode") for value in residents[name].to_pylist()}
    told = {}
    for name in ("internal", "public"):
        page = window.open(evidence_pages[name])
        text = page.evaluate("document.documentElement.textContent")
        labels = page.evaluate("[...document.querySelectorAll('[aria-label]')].map(one => one.ariaLabel)")
        told[name] = {value for value in values if value in f"{text} {' '.join(labels)}"}
    assert told["public"] == set()
    assert len(told["internal"]) > 10


@pytest.mark.parametrize(("ground", "ink"), [("#ffffff", "#111111"), ("#111111", "#eeeeee")])
def test_notebook_of_attacks_reads_on_light_and_dark(
    window: Window, evidence_pages: dict[str, Path], ground: str, ink: str
) -> None:
    fragment = evidence_pages["fragment"].read_text(encoding="utf-8")
    page = window.show(f"<body style='background:{ground};color:{ink}'>{fragment}</body>", width=700)
    for selector in (".dd-verdict strong", ".discreet-evidence li", ".discreet-evidence dd"):
        text, behind = page.evaluate(COLOURS, selector)
        assert contrast(text, behind) >= 4.5, selector
    assert page.evaluate("document.documentElement.scrollWidth") <= 700
    assert page.evaluate(OUT_OF_SIGHT) == []


@pytest.mark.parametrize("name", ["residents", "fine"])
@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_verdict_and_drawings_are_readable(
    window: Window, pages: dict[str, Path], name: str, scheme: str
) -> None:
    page = window.open(pages[name], scheme=scheme)
    for selector in ("#verdict", ".verdict .mark", ".verdict li", "h1", ".takeaway", "td", "summary"):
        text, ground = page.evaluate(COLOURS, selector)
        assert contrast(text, ground) >= 4.5, selector
    # The letters of a drawing take the page's colours, so they follow it into the dark.
    fill = page.evaluate("getComputedStyle(document.querySelector('.drawing text')).fill")
    paper = page.evaluate("getComputedStyle(document.querySelector('figure')).backgroundColor")
    assert contrast(fill, paper) >= 4.5


def test_light_and_dark_differ(window: Window, pages: dict[str, Path]) -> None:
    grounds = []
    for scheme in ("light", "dark"):
        page = window.open(pages["residents"], scheme=scheme)
        grounds.append(page.evaluate("getComputedStyle(document.body).backgroundColor"))
    assert grounds[0] != grounds[1]


def test_sources_open_from_the_keyboard(window: Window, pages: dict[str, Path]) -> None:
    page = window.open(pages["residents"])
    source = page.locator("#criteria ~ .card details").first
    assert not source.locator("p").is_visible()
    source.locator("summary").focus()
    page.keyboard.press("Enter")
    assert source.locator("p").is_visible()


def test_opened_details_fit_a_telephone(window: Window, pages: dict[str, Path]) -> None:
    page = window.open(pages["residents"], width=400)
    page.evaluate("document.querySelectorAll('details').forEach(one => one.open = true)")
    assert page.evaluate("document.documentElement.scrollWidth") <= 400
    assert page.evaluate(OUT_OF_SIGHT) == []


def test_letters_of_drawings_stay_inside_them(window: Window, pages: dict[str, Path]) -> None:
    for name in ("residents", "events", "fine"):
        page = window.open(pages[name])
        assert page.evaluate(CLIPPED) == [], name


def test_letters_of_drawings_are_large_enough_on_a_telephone(window: Window, pages: dict[str, Path]) -> None:
    for name in ("residents", "events", "fine"):
        page = window.open(pages[name], width=400)
        assert page.locator(".drawing svg text").count() > 0
        assert page.evaluate(SMALL) == [], name
        assert page.evaluate(CLIPPED) == [], name


def test_print_is_light_and_shows_what_was_folded(window: Window, pages: dict[str, Path]) -> None:
    page = window.open(pages["residents"], scheme="dark")
    page.emulate_media(media="print", color_scheme="dark")
    assert page.evaluate("getComputedStyle(document.body).backgroundColor") == "rgb(255, 255, 255)"
    folded = page.locator("details:not([open]) > :not(summary)")
    assert folded.count() > 20
    shown = folded.evaluate_all("all => all.map(one => one.checkVisibility())")
    assert all(shown)
    assert not page.locator("nav").is_visible()
    assert page.locator("#sign").is_visible()
    assert page.pdf(format="A4").startswith(b"%PDF")


@pytest.mark.parametrize(("ground", "ink"), [("#ffffff", "#111111"), ("#111111", "#eeeeee")])
def test_notebook_reads_on_light_and_dark(window: Window, residents: Audit, ground: str, ink: str) -> None:
    page = window.show(
        f"<body style='background:{ground};color:{ink}'>{notebook(residents)}</body>", width=700
    )
    for selector in (".dd-verdict strong", ".discreet-audit li", ".discreet-audit dd"):
        text, behind = page.evaluate(COLOURS, selector)
        assert contrast(text, behind) >= 4.5, selector
    assert page.evaluate("document.documentElement.scrollWidth") <= 700
    assert page.evaluate(OUT_OF_SIGHT) == []
