"""The report of a release: what each edition shows, what it must never show, and that it stands on its own."""

from __future__ import annotations

import hashlib
import re
import xml.etree.ElementTree as ET
from collections.abc import Callable
from dataclasses import replace
from functools import cache
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pyarrow as pa
import pytest

from discreet.engine.read import read
from discreet.policy import Policy
from discreet.policy.plan import Plan
from discreet.privacy import KAnonymity
from discreet.release.anonymize import anonymize
from discreet.release.apply import apply
from discreet.release.outcome import Outcome
from discreet.release.release import Release
from discreet.reports import charts
from discreet.reports.charts import svg
from discreet.reports.charts.points import chart_of_methods
from discreet.reports.figures import Figures
from discreet.reports.labels import beside
from discreet.reports.release import mappings as release_mappings
from discreet.reports.release import pictures as release_pictures
from discreet.reports.release import tables as release_evidence
from discreet.reports.release.html import release_report, render_release
from discreet.table.hierarchies.numbers import Intervals
from helpers.html import Page

EDITIONS = ("internal", "public")
MARKS = ("Marquise", "Zwiefalten", "Ornithologist", "Leprosy", "secretreason", "secretnote")
CSS = (Path(charts.__file__).parents[1] / "templates" / "report.css.jinja").read_text(encoding="utf-8")


def people() -> pa.Table:
    """Twenty in their thirties, twenty in their fifties, and one who is 99 and lives elsewhere."""
    return pa.table(
        {
            "who": ["Marquise"] + [f"Marquise{i}" for i in range(40)],
            "age": [99] + [30 + i % 10 for i in range(20)] + [50 + i % 10 for i in range(20)],
            "place": ["Zwiefalten"] + ["Ulm"] * 40,
            "ill": ["Leprosy"] + ["flu", "cold"] * 20,
            "remark": ["Ornithologist"] + ["none"] * 40,
        }
    )


def policy(**kinds: object) -> Policy:
    found = Policy.of(
        quasi_identifiers=["age", "place"],
        sensitive=["ill"],
        direct_identifiers=["who"],
        require=[KAnonymity(5)],
        profile="research-partner-3",
        unknown="keep",
        **kinds,  # type: ignore[arg-type]
    )
    reasoned = tuple(replace(column, reason="secretreason") for column in found.columns)
    return replace(found, columns=reasoned).generalise({"age": Intervals(widths=(10, 100))})


@cache
def released(method: str = "optimal", **plan: object) -> Release:
    found = anonymize(read(people()), policy(), plan=Plan(method=method, **plan))  # type: ignore[arg-type]
    return replace(found, notes=(*found.notes, "a secretnote"))


@cache
def starred() -> Release:
    """With four more who are alone, the suppressed ones are a class of five."""
    alone = pa.table(
        {
            "who": [f"Marquise{i}" for i in range(40, 44)],
            "age": [64, 74, 84, 94],
            "place": ["Zwiefalten"] * 4,
            "ill": ["Leprosy"] * 4,
            "remark": ["Ornithologist"] * 4,
        }
    )
    plan = Plan(method="optimal", suppressed="star", suppression_limit=0.2)
    found = anonymize(read(pa.concat_tables([people(), alone])), policy(), plan=plan)
    return replace(found, notes=(*found.notes, "a secretnote"))


def local() -> Release:
    return released("mondrian")


@cache
def applied() -> Release:
    return apply(released().recipe, read(people()), policy())


@cache
def events(person: str = "pseudonymise") -> Release:
    """Sixteen persons with two rows each."""
    table = pa.table(
        {
            "id": [i // 2 for i in range(32)],
            "age": [30 + i // 2 % 8 for i in range(32)],
            "ill": ["flu", "cold"] * 16,
        }
    )
    found = Policy.of(
        quasi_identifiers=["age"],
        sensitive=["ill"],
        person="id",
        require=[KAnonymity(5)],
        profile="research-partner-3",
    )
    return anonymize(read(table), found, plan=Plan(person=person))  # type: ignore[arg-type]


def without_persons() -> Release:
    return events("drop")


def row_of(text: str, head: str, length: int = 90) -> str:
    return text[text.index(head) :][:length]


# ── content ───────────────────────────────────────────────────────────────────────────────────────


def test_numbers_by_hand() -> None:
    """Ages become decades and the one of 99 is suppressed: 40 of 41 records in classes of 20."""
    release = released()
    assert release.recoding.levels == {"age": 1, "place": 0}
    text = Page(render_release(release)).text
    assert "Records 41 → 40 Columns 5 → 4 Quasi-identifiers 2 Classes 21 → 2" in text
    # Before, two people share each of twenty ages, and one is alone.
    assert "k-anonymity before: 1 → after: 20 records" in text
    assert "Unique records before: 2.4% → after: 0%" in text
    # classes over records: 21 / 41 and 2 / 40
    assert "Average risk before: 51.2% → after: 5.0%" in text
    assert "Suppressed records 2.4%" in text
    assert "How near to the best best possible Proven" in text
    assert re.search(r"Every class has at least 5 persons Source .*? 1 record 20 records ✓ holds", text)
    # 21 distinct ages become 2
    assert "age grouped, everywhere alike 21 2 1 of 3" in text
    assert "place unchanged where it is shown 2 1 0 of" in text
    assert "built: intervals" in text


def test_order_of_the_report() -> None:
    text = Page(render_release(released())).text
    parts = [
        "This table may be released",
        "Verdict on the original: Do not release this table.",
        "Every requirement holds",
        "k-anonymity before:",
        "Before and after in pictures",
        "Requirements What the release had to meet",
        "What happened to each column",
        "Measures Measure",
        "Risks per record",
        "What still stands in the way of a better verdict",
        "How it was made Method",
        "What this report does not say",
        "Provenance discreet",
        "Sign-off Decision",
    ]
    places = [text.find(part, 100) for part in parts]
    assert -1 not in places
    assert places == sorted(places)


@pytest.mark.slow
def test_says_verified_only_of_a_written_file(tmp_path: Path) -> None:
    release = released()
    assert "Verified on the written file" not in Page(render_release(release)).text
    assert "this report was made without a written file" in Page(render_release(release)).text
    target = release.save(tmp_path / "out.csv", report=tmp_path / "out.html")
    text = Page((tmp_path / "out.html").read_text(encoding="utf-8")).text
    assert "Verified on the written file" in text
    assert hashlib.sha256(target.read_bytes()).hexdigest() in text


def test_a_requirement_that_fails_is_not_said_to_hold() -> None:
    text = Page(render_release(replace(released(), models=(KAnonymity(21),)))).text
    assert "A requirement does not hold" in text
    assert "Every requirement holds" not in text
    assert "✕ fails" in row_of(text, "Every class has at least 21 persons", 300)


def test_values_are_listed_with_what_they_stand_for() -> None:
    [age] = release_mappings.mappings(released())
    assert age["name"] == "age"
    assert [(row["label"], row["records"]) for row in age["rows"]] == [("[30, 39]", "20"), ("[50, 59]", "20")]
    assert age["rows"][0]["old"] == tuple(str(year) for year in range(30, 40))
    assert (age["listed"], age["total"], age["note"]) == (20, 20, "")


def test_long_lists_of_values_are_cut_and_say_so(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(release_mappings, "MOST_VALUES", 13)
    [age] = release_mappings.mappings(released())
    # Some of every new value, and how far they go.
    assert [len(row["old"]) for row in age["rows"]] == [6, 7]
    assert age["rows"][0]["old"] == ("30", "31", "32", "33", "34", "39")
    assert [(row["all"], row["cut"]) for row in age["rows"]] == [("10", True)] * 2
    assert age["note"] == "13 of 20 pairs of new and old value are listed; the recipe has all."
    assert age["note"] in Page(render_release(released())).text


def test_columns_that_were_not_examined_are_named() -> None:
    text = Page(render_release(released())).text
    assert "Not examined and released as before: remark." in text
    assert "who left out: it identifies people by itself" in text
    assert "ill as before; sensitive" in text


# ── kinds of releases ─────────────────────────────────────────────────────────────────────────────


@pytest.mark.slow
@pytest.mark.parametrize("edition", EDITIONS)
@pytest.mark.parametrize("make", [released, local, applied, starred, events, without_persons])
def test_all_kinds_of_releases(make: Callable[[], Release], edition: str) -> None:
    release = make()
    text = Page(render_release(release, edition=edition)).text  # type: ignore[arg-type]
    assert release.verdict.words in text
    assert "Every requirement holds" in text
    assert not re.search(r"\b(nan|None|inf|undefined)\b", text)
    assert release.verdict.words in Page(release._repr_html_()).text


def test_local_recoding_has_no_levels() -> None:
    text = Page(render_release(local())).text
    assert "age grouped, differently by class" in text
    assert "by class" in text
    assert "does not say how near to the best it is" in text
    assert "local recoding" in text


def test_more_values_than_before_are_a_full_bar() -> None:
    """Each of two places has its own interval of ages, so that two ages become three new values."""
    release = local()
    changes = {"age": {"distinct_before": 2, "distinct_after": 3, "mean_share": 1.0, "loss": 1.0}}
    many = SimpleNamespace(changes=lambda: changes, before=release.before, after=release.after)
    picture = release_pictures.distinct_values(many, Figures(41), Figures(40))  # type: ignore[arg-type]
    assert picture.rows == (("age", "2", "3"),)
    assert picture.takeaway == "The quasi-identifiers had 2 different values; the release has 3."
    widths = {float(width) for width in re.findall(r'<rect x="0" y="[\d.]+" width="([\d.]+)"', picture.svg)}
    assert widths == {svg.WIDTH}


def test_applied_recipe_knows_no_loss() -> None:
    text = Page(render_release(applied())).text
    assert "Loss not known" in text
    assert "What each attribute lost" not in text
    assert "A recipe was applied without hierarchies" in text
    assert "age grouped, everywhere alike 21 2 1 not known" in text


def test_suppressed_records_that_are_shown() -> None:
    release = starred()
    assert release.after.rows == 45
    text = Page(render_release(release)).text
    assert (
        "Suppressed records are shown with * and form one class, of which the requirements are asked" in text
    )
    assert re.search(r"Every class has at least 5 persons Source .*? 1 record 5 records ✓ holds", text)


def test_events_are_counted_in_persons() -> None:
    text = Page(render_release(events())).text
    assert "Persons 16 → 16" in text
    assert re.search(r"k-anonymity before: 2 → after: \d+ persons", text)
    assert "id replaced by keyed hashes" in text
    text = Page(render_release(without_persons())).text
    assert "nobody can tell which rows belong to one person. Persons are counted here all the same" in text
    assert re.search(r"k-anonymity before: 2 → after: \d+ persons", text)
    assert "id left out" in text


@pytest.mark.slow
def test_wide_table_stays_small() -> None:
    rng = np.random.default_rng(3)
    names = [f"an_attribute_with_quite_a_long_name_{i}" for i in range(40)]
    table = pa.table({name: [f"{'v' * 80}{n}" for n in rng.integers(0, 400, 300)] for name in names})
    found = Policy.of(quasi_identifiers=names, require=[KAnonymity(5)], profile="research-partner-3")
    release = anonymize(read(table), found, plan=Plan(method="mondrian"))
    html = render_release(release)
    assert len(html.encode()) < 1_000_000
    assert "The picture shows the 16 attributes that lost most of 40." in html
    assert all(name in html for name in names)


# ── what may be shown ─────────────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize("make", [released, local, applied, starred])
def test_public_edition_shows_no_value(make: Callable[[], Release]) -> None:
    html = render_release(make(), edition="public")
    assert [mark for mark in (*MARKS, "[30, 39]", "Ulm") if mark.lower() in html.lower()] == []


def test_internal_edition_shows_values_and_reasons() -> None:
    html = render_release(released())
    assert all(mark in html for mark in ("[30, 39]", "secretreason", "secretnote"))
    # Who was suppressed is not told, nor what they have.
    assert not any(mark in html for mark in ("Marquise", "Zwiefalten", "Leprosy", "Ornithologist"))


def test_public_edition_tells_no_small_count() -> None:
    inside = Page(render_release(released())).text
    # The minute at which a report is made may be any.
    outside = re.sub(r"\d\d:\d\d UTC", "", Page(render_release(released(), edition="public")).text)
    assert "41 → 40" in inside
    # 41 would say that one was suppressed; so would 11 / 41, and 21 classes with their average risk of 21 / 41.
    assert "41" not in outside
    assert "26.8%" not in outside
    assert "Records 40 Columns 5 → 4 Quasi-identifiers 2 Classes 2" in outside
    # One of 41 was suppressed, and one of 41 was alone: 2.4 % would say so, also as loss of what is unchanged.
    assert "2.4%" in inside
    assert "2.4%" not in outside
    assert "Suppressed records less than 27.5%" in outside
    assert "place unchanged where it is shown 2 1 0 of 1 less than 27.5%" in outside
    assert "This is the public edition." in outside


def test_public_edition_hides_the_source_but_not_the_release() -> None:
    release = released()
    source = replace(release.before.source, sha256="e" * 64)
    release = replace(release, before=replace(release.before, source=source))
    inside = render_release(release, file_hash="f" * 64)
    outside = render_release(release, edition="public", file_hash="f" * 64)
    assert "e" * 64 in inside
    assert "e" * 64 not in outside
    assert "f" * 64 in outside


@pytest.mark.slow
@pytest.mark.parametrize("edition", EDITIONS)
@pytest.mark.parametrize("method", ["optimal", "mondrian"])
def test_markup_in_names_and_values_is_escaped(method: str, edition: str) -> None:
    evil = "<script>alert('&\"1')</script>"
    table = pa.table({evil: [evil, "b", "c", "d"] * 4, "<i>ill</i>": [evil, "x"] * 8})
    found = Policy.of(
        quasi_identifiers=[evil],
        sensitive=["<i>ill</i>"],
        require=[KAnonymity(5)],
        profile="research-partner-3",
    )
    release = anonymize(read(table), found, plan=Plan(method=method))  # type: ignore[arg-type]
    source = replace(release.before.source, name=evil)
    release = replace(release, before=replace(release.before, source=source), notes=(evil,))
    for html in (render_release(release, edition=edition), release._repr_html_()):  # type: ignore[arg-type]
        assert "<script" not in html.lower()
        assert "<i>ill" not in html
        assert evil in Page(html).text


# ── one file ──────────────────────────────────────────────────────────────────────────────────────


def test_one_file_that_loads_nothing(tmp_path: Path) -> None:
    path = release_report(released(), tmp_path / "release.html")
    html = path.read_text(encoding="utf-8")
    assert path.stat().st_size < 1_000_000
    assert [one.name for one in tmp_path.iterdir()] == ["release.html"]
    page = Page(html)
    assert not {"script", "iframe", "img", "object", "form"} & {tag for tag, _ in page.tags}
    links = [str(attrs["href"]) for _, attrs in page.tags if "href" in attrs]
    assert all(link == "data:," or link.startswith("#") for link in links)
    ids = [attrs["id"] for _, attrs in page.tags if "id" in attrs]
    assert len(ids) == len(set(ids))
    assert {link[1:] for link in links if link.startswith("#")} <= set(ids)
    assert not re.search(r"url\(|@import|src=|xlink|javascript:|https?:", html)
    assert "default-src 'none'; style-src 'unsafe-inline'; img-src data:" in html
    assert "#fe01" not in html


def test_gap_in_words() -> None:
    release = released()
    near = replace(release, chosen=replace(release.chosen, cost=0.5, bound=0.4, optimal=False))
    assert release_evidence.quality(near)[0] == "within 20.0%"
    assert "80.0%" in release_evidence.quality(near)[1]


def test_share_of_what_is_not_known() -> None:
    assert release_evidence.share_of(float("nan"), Figures(10)) == "not known"
    assert release_evidence.share_of(0.25, Figures(10)) == "25.0%"


# ── comparison of methods ─────────────────────────────────────────────────────────────────────────

OUTCOMES = [
    Outcome("optimal", loss=0.35, suppressed_share=0.0, mean_risk=0.02, max_risk=0.1, classes=9, best=True),
    Outcome("mondrian", loss=0.2, suppressed_share=0.0, mean_risk=0.045, max_risk=0.1, classes=9, best=True),
    Outcome("clustering", loss=0.2, suppressed_share=0.0, mean_risk=0.046, max_risk=0.1, classes=9),
    Outcome("local", failed="nothing was found"),
]
SVG = "{http://www.w3.org/2000/svg}"


def test_comparison_is_a_picture_of_its_own() -> None:
    drawn = chart_of_methods(OUTCOMES)
    root = ET.fromstring(drawn)
    assert root.tag == f"{SVG}svg"
    assert root.find(f"{SVG}title") is not None
    texts = [text.text for text in root.iter(f"{SVG}text")]
    assert {"optimal", "mondrian", "clustering", "loss", "mean prosecutor risk"} <= set(texts)
    assert "local" not in texts
    assert "var(" not in drawn
    colours = set(re.findall(r'(?:fill|stroke)="(#[0-9a-f]+)"', drawn))
    assert colours <= set(svg.LIGHT.values())


def test_best_methods_are_filled_and_joined() -> None:
    drawn = chart_of_methods(OUTCOMES)
    marks = re.findall(r'<circle cx="([\d.]+)" cy="([\d.]+)" r="6" fill="(#\w+)"', drawn)
    filled = sorted((float(x), float(y)) for x, y, fill in marks if fill == svg.LIGHT["accent"])
    assert [fill for *_, fill in marks].count(svg.LIGHT["paper"]) == 1
    [line] = re.findall(r'<polyline points="([^"]+)"', drawn)
    assert [tuple(map(float, place.split(","))) for place in line.split()] == filled
    assert len(filled) == 2


def test_comparison_without_any_outcome() -> None:
    assert "no method meets the requirements" in chart_of_methods([OUTCOMES[-1]])


def test_colours_of_files_are_those_of_the_light_page() -> None:
    light = dict(re.findall(r"--([\w-]+): ([^;]+);", CSS[: CSS.index("@media")]))
    for part, colour in svg.LIGHT.items():
        chosen = light[f"chart-{part}"]
        assert colour == (light[chosen[6:-1]] if chosen.startswith("var(--") else chosen)


def test_labels_neither_cover_each_other_nor_leave_the_picture() -> None:
    rng = np.random.default_rng(1)
    for _ in range(30):
        centre = rng.uniform(40, 480, 2) * (1.0, 0.6)
        points = [(float(x), float(y)) for x, y in centre + rng.normal(0, 6, (6, 2))]
        names = ["optimal", "anytime", "local", "mondrian", "clustering", "microaggregation"]
        labels = beside(points, names, width=520, height=320, size=14)
        for at, one in enumerate(labels):
            assert one.x >= 0
            assert one.x + one.width <= 520
            assert not any(one.covers(other) for other in labels[:at])


def test_who_is_missing_is_told_without_names_and_shown_to_whoever_may_see_them() -> None:
    table = pa.table({"sex": ["f"] * 40 + ["m"] * 40 + ["x"] * 5, "town": ["a", "b"] * 40 + ["a"] * 5})
    asked = Policy.of(
        quasi_identifiers=["sex", "town"], require=[KAnonymity(10)], profile="research-partner-5"
    )
    plan = Plan(keep=("sex", "town"), suppression_limit=0.1)
    release = anonymize(table, asked, plan=plan)
    [note] = [note for note in release.notes if "large part" in note]
    assert note.endswith("of some categories: sex (1)")
    internal, public = (
        Page(render_release(release, edition=edition)).text for edition in ("internal", "public")
    )
    assert "Who is missing" in internal
    assert "sex x 5 5 100%" in " ".join(internal.split())
    assert "Who is missing" not in public
    complete = anonymize(table, asked, plan=Plan(suppression_limit=0.0))
    assert not any("large part" in note for note in complete.notes)
