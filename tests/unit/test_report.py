"""The report: what each edition shows, what it must never show, and that it stands on its own."""

from __future__ import annotations

import dataclasses
import re
import subprocess
import sys
from functools import cache
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest

from discreet.engine.read import read
from discreet.errors import UnreadableInput
from discreet.example import town, visits
from discreet.policy import ColumnPolicy, Policy, Rating
from discreet.privacy import AlphaKAnonymity, DeltaDisclosure, KAnonymity
from discreet.release.anonymize import anonymize
from discreet.release.audit import Audit, audit
from discreet.release.requirements import required_size
from discreet.reports import charts
from discreet.reports.audit.html import notebook, render, report
from discreet.reports.audit.pictures import pictures
from discreet.reports.audit.terminal import show_brief
from discreet.reports.charts import svg
from discreet.reports.class_sizes import size_bins
from discreet.reports.figures import Figures
from discreet.reports.terminal import plain
from discreet.reports.words import MEASURES
from helpers.html import Page

CSS = (Path(charts.__file__).parents[1] / "templates" / "report.css.jinja").read_text(encoding="utf-8")


@pytest.fixture(scope="module")
def residents() -> Audit:
    return audit(
        read(town()),
        Policy.of(
            quasi_identifiers=["age", "sex", "postcode", "occupation"],
            sensitive=["diagnosis", "income"],
            direct_identifiers=["name"],
        ),
    )


def small(**kinds: object) -> Audit:
    """Thirty people in classes of 12, 12, 3, 2 and 1."""
    letters = ["a"] * 12 + ["b"] * 12 + ["c"] * 3 + ["d"] * 2 + ["e"]
    table = pa.table(
        {"letter": letters, "half": [i % 2 for i in range(30)], "ill": [i % 3 for i in range(30)]}
    )
    return audit(read(table), Policy.of(quasi_identifiers=["letter"], sensitive=["ill"], **kinds))  # type: ignore[arg-type]


# ── what may be shown ─────────────────────────────────────────────────────────────────────────────

MARKS = [
    "Marquise",
    "Zwiefalten",
    "Ornithologist",
    "Leprosy",
    "987654",
    "1899-03-07",
    "secretnote",
    "secretreason",
    "secretsetting",
    "Quarantaine",
]


def marked() -> Audit:
    count = 40
    table = pa.table(
        {
            "who": ["Marquise"] + [f"Marquise{i}" for i in range(count - 1)],
            "place": ["Zwiefalten"] + ["Ulm"] * (count - 1),
            "work": pa.array(["Ornithologist", None] + ["baker"] * (count - 2)),
            "born": ["1899-03-07"] + ["1980-01-01"] * (count - 1),
            "ill": ["Leprosy", "Quarantaine"] + ["flu"] * (count - 2),
            "wealth": [987654.0] + [float(i) for i in range(count - 1)],
        }
    )
    policy = Policy.of(
        quasi_identifiers=["place", "work", "born"],
        sensitive=["ill", "wealth"],
        direct_identifiers=["who"],
        require=[AlphaKAnonymity(0.5, 2, "ill", values=("Leprosy",)), DeltaDisclosure(1.0, "ill")],
        sampling_fraction=0.5,
    )
    reasoned = [
        dataclasses.replace(column, reason="secretreason Marquise", rating=Rating(1, 2, 3))
        for column in policy.columns
    ]
    found = audit(read(table), dataclasses.replace(policy, columns=tuple(reasoned)))
    source = dataclasses.replace(
        found.source, notes=("secretnote Zwiefalten",), settings={"marks": ["secretsetting"]}, sha256="f" * 64
    )
    return dataclasses.replace(found, source=source, notes=("secretnote",))


def test_public_edition_shows_no_value() -> None:
    html = render(marked(), edition="public")
    assert [mark for mark in MARKS if mark.lower() in html.lower()] == []
    assert "f" * 64 not in html


def test_internal_edition_shows_the_values_of_the_riskiest_classes() -> None:
    html = render(marked())
    shown = {
        "Zwiefalten",
        "Ornithologist",
        "1899-03-07",
        "secretnote",
        "secretreason",
        "secretsetting",
        "f" * 64,
    }
    assert all(mark in html for mark in shown)
    # Who it is and what they have stays out of it: only quasi-identifiers make a class.
    assert "987654" not in html
    assert "Quarantaine" not in html


def test_public_edition_tells_no_small_count() -> None:
    found = small(require=[KAnonymity(2)])
    inside, outside = Page(render(found)).text, Page(render(found, edition="public")).text
    assert "1 record" in inside
    assert "fewer than 11 records" in outside
    assert "1 record" not in outside.replace("11 records", "")
    assert "Suppress 1 record" in inside
    assert "Suppress 1 record" not in outside
    # One of thirty is alone: 3.3 % would say so.
    assert "3.3%" in inside
    assert "3.3%" not in outside
    assert "less than 36.7%" in outside


def test_public_edition_says_what_it_leaves_out() -> None:
    text = Page(render(marked(), edition="public")).text
    assert "This is the public edition." in text
    assert "values of any column" in text
    assert "contains personal data" in Page(render(marked())).text


def test_withheld_numbers_in_the_unit_of_a_column() -> None:
    table = pa.table({"zip": [1] * 15, "pay": [1000.0 + 13.7 * i for i in range(15)]})
    found = audit(read(table), Policy.of(quasi_identifiers=["zip"], sensitive=["pay"]))
    assert "191.8" in Page(render(found)).text
    assert "191.8" not in Page(render(found, edition="public")).text
    assert "withheld" in Page(render(found, edition="public")).text


@pytest.mark.parametrize("edition", ["internal", "public"])
def test_markup_in_names_and_values_is_escaped(edition: str) -> None:
    evil = "<script>alert('&\"1')</script>"
    table = pa.table({evil: [evil, "b", "c"], "<b>sex</b>": ["f", "f", evil], "<i>ill</i>": [evil, "x", "y"]})
    policy = Policy.of(quasi_identifiers=[evil, "<b>sex</b>"], sensitive=["<i>ill</i>"])
    found = audit(read(table), policy)
    found = dataclasses.replace(found, source=dataclasses.replace(found.source, name=evil))
    for html in (render(found, edition=edition), notebook(found)):  # type: ignore[arg-type]
        assert "<script" not in html.lower()
        assert "<b>sex" not in html
        assert "<i>ill" not in html
        assert "&lt;script&gt;" in html
        assert evil in Page(html).text


# ── what a report is ──────────────────────────────────────────────────────────────────────────────


def test_one_file_that_loads_nothing(residents: Audit, tmp_path: Path) -> None:
    path = report(residents, tmp_path / "report.html")
    html = path.read_text(encoding="utf-8")
    assert path.stat().st_size < 1_000_000
    assert [one.name for one in tmp_path.iterdir()] == ["report.html"]
    page = Page(html)
    assert page.open == []
    assert not {"script", "iframe", "img", "object", "form"} & {tag for tag, _ in page.tags}
    links = [attrs["href"] for _, attrs in page.tags if "href" in attrs]
    assert links
    assert all(link == "data:," or str(link).startswith("#") for link in links)
    anchors = {attrs.get("id") for _, attrs in page.tags}
    assert {str(link)[1:] for link in links if str(link).startswith("#")} <= anchors
    assert not re.search(r"url\(|@import|src=|xlink|javascript:", html)
    policies = [
        a for tag, a in page.tags if tag == "meta" and a.get("http-equiv") == "Content-Security-Policy"
    ]
    assert [a["content"] for a in policies] == [
        "default-src 'none'; style-src 'unsafe-inline'; img-src data:"
    ]
    ids = [attrs["id"] for _, attrs in page.tags if "id" in attrs]
    assert len(ids) == len(set(ids))


def test_order_of_the_report(residents: Audit) -> None:
    text = Page(render(residents)).text
    parts = [
        "Do not release this table. ",
        "What stands in the way Pictures",
        "Not met: no column identifies a person by itself",
        "The findings in pictures",
        "Criteria Asked",
        "Measures Measure",
        "Risks per record",
        "The classes of highest risk",
        "Columns and their roles",
        "What this audit does not say",
        "Provenance discreet",
        "Sign-off Decision",
    ]
    places = [text.find(part, 400 if i else 0) for i, part in enumerate(parts)]
    assert -1 not in places
    assert places == sorted(places)


def test_obstacles_come_most_important_first(residents: Audit) -> None:
    text = Page(render(residents)).text
    places = [text.index(f"Not met: {one.description}") for one in residents.verdict.obstacles]
    assert len(places) == 9
    assert places == sorted(places)


def test_writing_into_no_folder_leaves_nothing(residents: Audit, tmp_path: Path) -> None:
    with pytest.raises(UnreadableInput):
        report(residents, tmp_path / "absent" / "report.html")
    assert list(tmp_path.iterdir()) == []


def test_what_is_slow_to_import_is_imported_only_when_it_is_needed() -> None:
    code = (
        "import sys, discreet.reports.audit.html, discreet.cli.audit, discreet.cli.check, discreet.cli.suggest;"
        "print(sorted({'jinja2', 'scipy', 'numba', 'discreet.register'} & set(sys.modules)))"
    )
    found = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert found.stdout.strip() == "[]"


def test_every_measure_is_explained(residents: Audit) -> None:
    html = render(residents)
    for measure in residents.measures:
        assert measure.name in MEASURES
        assert MEASURES[measure.name].says in html
    assert "infinite: no finite number satisfies the definition" in html


@pytest.mark.slow
def test_every_picture_has_words_and_numbers(residents: Audit) -> None:
    page = Page(render(residents))
    drawings = [attrs for tag, attrs in page.tags if attrs.get("role") == "img"]
    assert len(drawings) == 6
    assert all(len(str(attrs["aria-label"])) > 40 for attrs in drawings)
    assert page.text.count("Numbers and source") == 6
    assert all(attrs.get("aria-hidden") == "true" for tag, attrs in page.tags if tag == "svg"), (
        "a drawing would be read out twice"
    )


# ── every kind of audit ───────────────────────────────────────────────────────────────────────────


@cache
def one_attribute() -> Audit:
    return audit(
        read(pa.table({"sex": town()["sex"]})),
        Policy.of(quasi_identifiers=["sex"], profile="research-partner-3"),
    )


@cache
def without_exposure() -> Audit:
    policy = Policy.of(quasi_identifiers=["age", "sex"], sensitive=["diagnosis"], profile="ema-0070")
    return audit(read(town(300)), policy, detail="core")


def constant() -> Audit:
    table = pa.table({"one": [1] * 9, "none": pa.nulls(9, pa.string()), "ill": ["flu"] * 9})
    return audit(read(table), Policy.of(quasi_identifiers=["one", "none"], sensitive=["ill"]))


@cache
def events() -> Audit:
    policy = Policy.of(
        quasi_identifiers=["clinic", "sex", "age_band"],
        sensitive=["treatment", "treatment_cost"],
        person="resident_id",
        sampling_fraction=0.1,
    )
    return audit(read(visits(town(300))), policy)


def single_row() -> Audit:
    return audit(read(pa.table({"a": [1], "b": ["x"]})), Policy.of(quasi_identifiers=["a"], sensitive=["b"]))


@pytest.mark.slow
@pytest.mark.parametrize("make", [one_attribute, without_exposure, constant, events, single_row])
@pytest.mark.parametrize("edition", ["internal", "public"])
def test_all_kinds_of_audit(make, edition: str) -> None:  # type: ignore[no-untyped-def]
    found = make()
    page = Page(render(found, edition=edition))  # type: ignore[arg-type]
    assert page.open == []
    assert found.verdict.words in page.text
    assert not re.search(r"\b(nan|None(?! of the)|inf|undefined)\b", page.text)
    assert Page(notebook(found)).open == []


def test_core_audit_says_what_is_missing() -> None:
    text = Page(render(without_exposure())).text
    assert "made without the search for exposing combinations" in text
    assert "What each attribute adds" not in text


def test_events_are_counted_in_persons() -> None:
    text = Page(render(events())).text
    assert "class sizes are counted in persons" in text
    assert "Pitman" in text
    assert "simple random sample" in text


@pytest.mark.slow
def test_wide_table_shows_the_worst_and_says_so() -> None:
    rng = np.random.default_rng(3)
    names = [f"an_attribute_with_quite_a_long_name_{i}" for i in range(30)]
    table = pa.table({name: rng.integers(0, 2 + i % 4, 200) for i, name in enumerate(names)})
    found = audit(read(table), Policy.of(quasi_identifiers=names))
    html = render(found)
    assert len(html.encode()) < 1_000_000
    text = Page(html).text
    assert "The picture shows the 14 attributes with the highest risks of 30." in text
    assert "The picture shows the 10 attributes that add most of 30." in text
    assert "The picture shows the 10 most dependent attributes of 30." in text
    assert all(name in text for name in names)


def test_a_release_looks_like_one() -> None:
    html = render(one_attribute())
    assert 'class="card verdict good"' in html
    assert "This table may be released." in html
    assert "every criterion of the policy and its profile holds" in html


def test_a_remaining_risk_is_named() -> None:
    # Half of all pass, but nine in ten women: who knows the sex is right more often by 0.4, which is medium.
    table = pa.table({"sex": ["f"] * 50 + ["m"] * 50, "passed": ["yes"] * 45 + ["no"] * 50 + ["yes"] * 5})
    found = audit(read(table), Policy.of(quasi_identifiers=["sex"], sensitive=["passed"]))
    text = Page(render(found)).text
    assert "may be released if the remaining risk is acknowledged" in text
    assert "To be acknowledged before the release: gain risk 0.4 (medium;" in text
    assert "gain risk 0.4 (medium;" in Page(notebook(found)).text
    assert "uniqueness risk" not in text[text.index("To be acknowledged") :][:120]
    release = anonymize(read(table), Policy.of(quasi_identifiers=["sex"], sensitive=["passed"]))
    for printed in (str(found), str(found.verdict), str(release), plain(show_brief(found), 110)):
        told = " ".join(printed.replace("│", " ").replace("┃", " ").split())
        assert "To be acknowledged: gain risk 0.4 (medium; the whole quasi-identifier for passed)" in told


# ── the sentences and numbers of pictures ─────────────────────────────────────────────────────────


def test_takeaways_by_hand() -> None:
    found = small(require=[KAnonymity(2)])
    said = {picture.id: picture.takeaway for picture in pictures(found, Figures(found.rows))}
    # 6 of 30 are in classes under 11, which the profile asks for; 1 of 30 is alone.
    assert said["class-sizes"] == (
        "20.0% of records are in classes smaller than the required 11; 3.3% are alone in theirs."
    )
    # 1 - log 1 / log 30 = 1 for the one alone; classes of 2 and 3 have 0.80 and 0.68.
    assert said["risk-scale"].startswith(
        "The worst-placed record has a uniqueness risk of 1.00, which is high; 20.0%"
    )


def test_combination_takeaway_by_hand() -> None:
    table = pa.table({"a": [1, 1, 2, 2], "b": [1, 2, 1, 2], "c": [1, 1, 1, 1]})
    found = audit(read(table), Policy.of(quasi_identifiers=["a", "b", "c"]))
    said = {picture.id: picture.takeaway for picture in pictures(found, Figures(found.rows))}
    assert said["combinations"] == "100% of records are alone in their class on just a + b."
    assert said["contributions"] == ("Leaving out a would lower the average risk most: from 100% to 50.0%.")


@pytest.mark.parametrize("required", [None, 2, 3, 7, 11, 20])
def test_bins_hold_every_record_once_and_have_an_edge_at_the_required_size(required: int | None) -> None:
    found = small()
    bins = size_bins(found, required=required, public=False)
    assert sum(one.share for one in bins) == pytest.approx(1.0)
    assert required is None or required in [one.first for one in bins]
    by_label = {one.label: round(one.share * 30) for one in bins}
    assert by_label["1"] == 1
    assert by_label["2"] == 2


def test_public_bins_hold_nobody_or_at_least_eleven() -> None:
    bins = size_bins(small(), required=11, public=True)
    assert sum(one.share for one in bins) == pytest.approx(1.0)
    assert all(one.share == 0 or one.share * 30 >= 11 for one in bins)


def test_required_size_is_the_strictest() -> None:
    def drawn(audit: Audit) -> int | None:
        return required_size(audit.policy, audit.verdict.profile)

    assert drawn(small()) == 11
    assert drawn(small(require=[KAnonymity(20)])) == 20
    assert drawn(small(profile="ema-0070")) == 11
    assert drawn(small(profile="ipc-ontario-medium")) == 14
    assert drawn(small(profile="hipaa-safe-harbor")) is None


# ── notebooks ─────────────────────────────────────────────────────────────────────────────────────


def test_notebook_is_the_html_of_an_audit(residents: Audit) -> None:
    html = residents._repr_html_()
    assert html == notebook(residents)
    page = Page(html)
    assert "Do not release this table." in page.text
    assert residents.verdict.obstacles[0].found in page.text
    assert "And 4 more." in page.text
    selectors = re.findall(r"^(\S.*?) \{", html[html.index("<style>") : html.index("</style>")], re.MULTILINE)
    assert selectors
    assert all(selector.startswith(".discreet-audit") for selector in selectors)


def test_roles_with_reasons_and_ratings() -> None:
    policy = Policy(
        columns=(
            ColumnPolicy("sex", "quasi-identifier", reason="others know it", rating=Rating(3, 3, 1)),
            ColumnPolicy("diagnosis", "sensitive"),
        )
    )
    text = Page(render(audit(read(town(200)), policy, detail="core"))).text
    assert "others know it" in text
    assert "7 of 9 (replication 3, availability 3, distinguishability 1)" in text


# ── colours ───────────────────────────────────────────────────────────────────────────────────────


def palette(scheme: str) -> dict[str, str]:
    """The colours of a scheme, variables resolved."""
    blocks = re.findall(r":root \{(.*?)\}", CSS, re.DOTALL)
    light, dark = (dict(re.findall(r"--([\w-]+): ([^;]+);", block)) for block in blocks[:2])
    found = light if scheme == "light" else light | dark
    names = re.compile(r"var\(--([\w-]+)\)")
    return {
        name: found[match[1]] if (match := names.fullmatch(colour)) else colour
        for name, colour in found.items()
    }


def contrast(one: str, other: str) -> float:
    """Contrast ratio of the Web Content Accessibility Guidelines 2.2."""

    def luminance(colour: str) -> float:
        parts = [int(colour[i : i + 2], 16) / 255 for i in (1, 3, 5)]
        linear = [part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4 for part in parts]
        return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]

    low, high = sorted((luminance(one), luminance(other)))
    return (high + 0.05) / (low + 0.05)


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_text_is_readable_on_its_ground(scheme: str) -> None:
    found = palette(scheme)
    grounds = ["page", "paper", "shade", "good-soft", "warn-soft", "bad-soft"]
    pairs = [("ink", ground) for ground in grounds] + [("muted", ground) for ground in grounds]
    pairs += [
        (tone, ground) for tone in ("good", "warn", "bad") for ground in (f"{tone}-soft", "paper", "shade")
    ]
    pairs += [("accent", ground) for ground in grounds]
    fills = ["low", "medium", "high", *(f"step-{i}" for i in range(1, 6))]
    pairs += [(f"chart-{fill}-ink", f"chart-{fill}") for fill in fills]
    pairs += [("chart-ink", f"chart-{zone}-zone") for zone in ("low", "medium", "high")]
    weak = {pair: round(contrast(found[pair[0]], found[pair[1]]), 2) for pair in pairs}
    assert {pair: ratio for pair, ratio in weak.items() if ratio < 4.5} == {}


def test_drawings_use_only_colours_of_the_page(residents: Audit) -> None:
    html = render(residents)
    defined = {f"chart-{part}" for part in svg.PARTS}
    assert defined <= palette("light").keys()
    assert set(re.findall(r"var\(--(chart-[\w-]+)\)", html)) <= defined
    drawn = "".join(re.findall(r"<svg viewBox=.*?</svg>", html, re.DOTALL))
    assert "#fe01" not in drawn
    assert not re.search(r'(fill|stroke)="(?!none|var|currentColor|transparent)', drawn)


def test_a_printed_release_is_short_however_many_attributes_are_sensitive() -> None:
    # Of each measure the attribute that is worst off is shown, and nothing is said twice.
    sex = ["f", "m"] * 40
    columns: dict[str, list[object]] = {
        f"answer {n}": [n + i // 2 % (n + 2) for i in range(80)] for n in range(5)
    }
    table = pa.table({"sex": sex, "income": list(range(80)), **columns})
    policy = Policy.of(quasi_identifiers=["sex"], sensitive=list(columns)).replace(insensitive=["income"])
    release = anonymize(read(table), policy)
    text = " ".join(str(release).split())
    assert "l-diversity answer 0 (worst of 5) 2 2 " in text
    assert "answer 4" not in text
    assert "income nobody judged it" in text
    assert any("income was left out" in note for note in release.notes)
    assert "was left out" not in text
    assert "correlation risk, worst not judged" in text
    assert "gain risk, worst 0" in text
