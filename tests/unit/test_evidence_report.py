"""The evidence report: what each edition shows, what it must never show, and that it stands on its own."""

from __future__ import annotations

import re
from dataclasses import replace
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

from discreet.attacks.catalogue import ATTACKS as KINDS
from discreet.attacks.result import AttackResult, Exposed
from discreet.classes import EquivalenceClasses
from discreet.classes.pair import Pair
from discreet.engine.read import read
from discreet.errors import InvalidParameter
from discreet.measure import Measure
from discreet.policy import Policy
from discreet.policy.kpi import Kpi
from discreet.privacy import KAnonymity, LDiversity
from discreet.release.attack import Attacks, attack
from discreet.release.before_after import before_and_after
from discreet.release.compare import Comparison, compare
from discreet.release.legal import Untested, summarise
from discreet.reports.charts.points import Reach, loss_against_exposure
from discreet.reports.charts.scale import whisker
from discreet.reports.evidence import loss_tables
from discreet.reports.evidence import pictures as evidence_pictures
from discreet.reports.evidence import tables as evidence_tables
from discreet.reports.evidence.html import LEFT_OUT, evidence_report, judgement, render_evidence
from discreet.reports.words import title_of
from discreet.utility.efficacy import efficacy
from helpers.html import Page

MARKS = ("Zwiefalten", "Leprosy", "Ulm", "[30, 39]", "secretdescription")
ATTACKS = ["singling-out", "record-linkage", "homogeneity", "skewness", "similarity", "membership"]


POLICY = replace(
    Policy.of(
        quasi_identifiers=["age", "place"],
        sensitive=["ill"],
        require=[KAnonymity(5)],
        profile="research-partner-3",
    ),
    kpis=(
        Kpi("people by place", "SELECT place, count(*) FROM data GROUP BY place", tolerance=0.1),
        Kpi("mean age", "SELECT avg(age) FROM data", description="secretdescription"),
    ),
)


def original() -> pa.Table:
    """Twenty in their thirties, twenty in their fifties, and one who is 99 and lives elsewhere."""
    return pa.table(
        {
            "age": [99] + [30 + i % 10 for i in range(20)] + [50 + i % 10 for i in range(20)],
            "place": ["Zwiefalten"] + ["Ulm"] * 40,
            "ill": ["Leprosy"] + ["flu", "cold"] * 20,
        }
    )


def released() -> pa.Table:
    """Decades, and without the one of 99."""
    return pa.table(
        {"age": ["[30, 39]"] * 20 + ["[50, 59]"] * 20, "place": ["Ulm"] * 40, "ill": ["flu", "cold"] * 20}
    )


@pytest.fixture(scope="module")
def compared() -> Comparison:
    before = EquivalenceClasses.from_columns(
        {"smokes": ["yes", "yes", "no", "no"]},
        sensitive={"ill": ["y", "n", "y", "n"]},
        counts=[40, 10, 10, 40],
    )
    learnt = efficacy(Pair.of(before, before), "ill", classifiers=["naive-bayes"])
    found = compare(read(original()), read(released()), POLICY, labels=[], queries=60)
    return replace(found, efficacy=learnt)


@pytest.fixture(scope="module")
def attacked() -> Attacks:
    return attack(read(released()), POLICY, original=read(original()), attacks=ATTACKS)


def result(successes: float, tries: float = 600, baseline: float = 0.001, **more: Any) -> AttackResult:
    return AttackResult(
        "record-linkage",
        "linkability",
        tries=tries,
        successes=successes,
        baseline=baseline,
        meaning=f"exactly {successes} were found",
        source="a paper",
        **more,
    )


def with_results(attacks: Attacks, *results: AttackResult) -> Attacks:
    return replace(
        attacks, results=results, untested=(), criteria=summarise(results, (), attacks.audit.measures)
    )


def rendered(comparison: Comparison | None, attacks: Attacks | None, edition: Any = "internal") -> str:
    return render_evidence(comparison=comparison, attacks=attacks, policy=POLICY, edition=edition)


# ── content ───────────────────────────────────────────────────────────────────────────────────────────


def test_numbers_by_hand(compared: Comparison, attacked: Attacks) -> None:
    """Two classes of twenty: 40 people have one chance in 20 each, the one who is gone has none."""
    text = Page(rendered(compared, attacked)).text
    assert "Records 41 → 40" in text
    linked = attacked.result("record-linkage")
    assert linked.successes == pytest.approx(2.0)
    assert re.search(r"Record linkage \d\.\d% \([\d.]+% to [\d.]+%\) 2 of 4[01] records", text)
    # A decade of ages is 10 of 21 values: (10 - 1) / 20 for 40 records, 1 for the one that is gone; of places 1 / 41.
    loss = ((40 * 9 / 20 + 1) / 41 + 1 / 41) / 2
    measured = compared.losses.measure("leaf-loss")
    assert measured is not None
    assert measured.value == pytest.approx(loss)
    assert f"Loss {loss:.1%} How much of all possible values" in text


@pytest.mark.parametrize("edition", ["internal", "public"])
def test_attacks_are_called_by_their_titles(attacked: Attacks, edition: Any, compared: Comparison) -> None:
    """Their names in programs are for the command line."""
    text = Page(rendered(compared, attacked, edition)).text
    assert "The attack that got furthest (Record linkage) was right" in text
    named = re.findall(r"\(([a-z]+(?:-[a-z]+)+)(?: on \w+)?\) (?:was right|is [\d.]+%)|here ([a-z-]+):", text)
    assert named == []


def test_order_of_the_report(compared: Comparison, attacked: Attacks) -> None:
    text = Page(rendered(compared, attacked)).text
    parts = [
        "Summary: ",
        "Singling out:",
        "Exposure",
        "What was lost against what is exposed",
        "How far each distribution moved",
        "age (quasi-identifier)",
        "Attacks The intruder is someone after one particular person",
        "Who is most exposed What",
        "Which methods defend against what",
        "Losses Beside this release",
        "Answers to random queries",
        "Your own figures The policy's queries",
        "Learning from the release A classifier",
        "What was not tested Attack",
        "What this report does not say",
        "Provenance SHA-256 of the original",
        "Sign-off Seen",
    ]
    places = [text.find(part, 60) for part in parts]
    assert -1 not in places
    assert places == sorted(places)


def test_every_loss_attack_and_reason_is_there(compared: Comparison, attacked: Attacks) -> None:
    text = Page(rendered(compared, attacked)).text
    for measure in (*compared.losses.overall, *compared.losses.attributes):
        assert measure.name in text
        assert measure.meaning in text
        assert measure.source in text
    for one in attacked.results:
        assert one.meaning in text
        assert one.source in text
    assert attacked.untested
    for missing in attacked.untested:
        assert missing.why in text
    assert not re.search(r"\b(nan|inf|None(?! of these))\b", text)


def test_losses_stand_in_their_family_beside_the_trivial_release(compared: Comparison) -> None:
    groups = {group.title: group for group in loss_tables.losses(compared, public=False)}
    row = next(row for row in groups["Precision of values"].rows if row["name"] == "leaf-loss")
    assert row["trivial"] == "1"
    assert [name for name, _ in row["parts"]] == ["age", "place"]
    assert row["direction"] == "lower is better"
    assert "Answers to queries" in groups


@pytest.mark.parametrize(
    ("successes", "state", "tone"),
    [(0, "withstood", "good"), (30, "weakened", "warn"), (300, "gives way", "bad")],
)
def test_the_worst_criterion_speaks_first(attacked: Attacks, successes: int, state: str, tone: str) -> None:
    every = [
        replace(result(0), criterion=criterion, attack="singling-out")
        for criterion in ("singling-out", "inference")
    ]
    found = with_results(attacked, result(successes), *every)
    assert found.criteria[1].state == state
    assert judgement(found)["tone"] == tone
    # The attack itself is marked alike: with alarm only beyond what is tolerated.
    [row] = next(
        group.rows
        for group in evidence_tables.attack_groups(found, public=False)
        if group.title == "Linkability"
    )
    assert row["tone"] == tone
    text = Page(rendered(None, found)).text
    symbol = {"good": "✓", "warn": "!", "bad": "✕"}[tone]
    assert f"{symbol} Linkability: {state}" in text
    assert found.criteria[1].finding.replace("(record-linkage)", "(Record linkage)") in text


@pytest.mark.parametrize(
    ("successes", "sentence"),
    [
        ((0, 0), "Of 2 attempts none got further than without the release."),
        (
            (0, 30),
            "Of 2 attempts 1 got further than without the release, none beyond the tolerated 9% of what chance leaves.",
        ),
        (
            (300, 30),
            "Of 2 attempts 1 got beyond the tolerated 9% of what chance leaves, furthest by: Record linkage on age.",
        ),
    ],
)
def test_one_sentence_says_what_all_attacks_came_to(
    attacked: Attacks, successes: tuple[int, int], sentence: str
) -> None:
    first, second = (result(count) for count in successes)
    # Who holds the original has found what he had: it is neither counted nor marked.
    original = replace(result(300), attack="worst-case")
    found = with_results(attacked, replace(first, attack="record-linkage", target="age"), second, original)
    assert evidence_tables.came_to(found) == sentence
    assert sentence in Page(rendered(None, found)).text
    [group] = evidence_tables.attack_groups(found, public=False)
    assert group.rows[2]["tone"] is None


def test_what_helps_is_said_where_an_attack_gets_too_far(attacked: Attacks) -> None:
    """Each way once, and none against what whoever holds the original finds."""
    [sensitive] = attacked.audit.policy.sensitive
    original = replace(result(300), attack="worst-case")
    assert evidence_tables.helps(with_results(attacked, result(30), original)) == ""
    guessed = replace(result(300), criterion="inference", attack="homogeneity")
    found = with_results(
        attacked,
        result(300),
        replace(result(300), attack="singling-out", criterion="singling-out"),
        replace(guessed, target=sensitive),
        replace(guessed, target="age"),
    )
    sentence = (
        "What helps: larger classes (a higher k), or fewer columns that others know; several values of "
        f"{sensitive} in every class (l-diversity), spread as in the whole table (a smaller t); "
        "a coarser age, or a release without it."
    )
    assert evidence_tables.helps(found) == sentence
    assert sentence in Page(rendered(None, found)).text


def test_a_criterion_that_was_not_tested_is_never_said_to_hold(attacked: Attacks) -> None:
    found = with_results(attacked, result(0))
    assert judgement(found)["words"] == "Not every criterion was tested."
    text = Page(rendered(None, found)).text
    assert "? Inference: not tested" in text
    assert "nothing is said about it" in text


def test_attacks_that_nobody_asked_for_are_not_tested_either(attacked: Attacks) -> None:
    rows = evidence_tables.untested(attacked, public=False)
    assert ("Worst case", "Singling out", "it was not asked for") in rows
    told = [one.attack for one in (*attacked.results, *attacked.untested)]
    assert {title for title, _, why in rows if why == evidence_tables.NOT_ASKED} == {
        title_of(name) for name in KINDS if not any(one.startswith(name) for one in told)
    }
    assert f"Not tested {len(rows)} " in Page(rendered(None, attacked)).text


def test_attacks_alone_and_comparison_alone(compared: Comparison, attacked: Attacks) -> None:
    alone = Page(rendered(None, attacked)).text
    assert "The release was not compared with its original" in alone
    assert "What was lost against" not in alone
    other = Page(rendered(compared, None)).text
    assert "What was lost was measured; no attack was run." in other
    assert "Nothing is said about what an intruder could do" in other
    with pytest.raises(InvalidParameter, match="nothing to report"):
        rendered(None, None)


def test_required_methods_are_marked(compared: Comparison) -> None:
    policy = replace(POLICY, requirements=(KAnonymity(5), LDiversity(2, "ill")))
    rows = {row["method"]: row for row in evidence_tables.defences(policy)}
    assert rows["k-anonymity"]["required"] == (KAnonymity(5).describe(),)
    assert len(rows["l-diversity"]["required"]) == 1
    assert rows["t-closeness"]["required"] == rows["differential privacy"]["required"] == ()
    text = Page(render_evidence(comparison=compared, attacks=None, policy=policy, edition="internal")).text
    assert f"required: {KAnonymity(5).describe()}" in text


def test_own_figures_that_cannot_be_told_any_more(compared: Comparison) -> None:
    people, age = loss_tables.kpis(compared, public=False)
    assert people["answer"] == "answerable for 50.0% of the groups, the others not any more"
    assert people["tone"] == "bad"
    assert ("Zwiefalten", "1", "not answerable any more", "–") in people["groups"]
    assert age["answer"] == "not answerable any more"
    assert age["tone"] is None


def test_learning_stands_between_the_original_and_the_most_frequent_value(compared: Comparison) -> None:
    [group] = loss_tables.learning(compared, public=False)
    accuracy = group["rows"][0]
    assert accuracy["release"] == accuracy["original"]
    assert accuracy["majority"] == accuracy["trivial"]
    assert accuracy["kept"] == "100%"
    assert group["meaning"].startswith("Of 30 held-out records")


def test_most_exposed_people_by_chance_and_no_more_than_ten(attacked: Attacks) -> None:
    people = tuple(Exposed({"age": f"{n}"}, n / 20, 1, "found") for n in range(12))
    [group] = evidence_tables.exposed(with_results(attacked, result(3, exposed=people)))
    assert [row["values"][0][1] for row in group["rows"][:2]] == ["11", "10"]
    assert (len(group["rows"]), group["more"]) == (10, 2)


# ── pictures ──────────────────────────────────────────────────────────────────────────────────────────


def test_loss_and_exposure_draws_what_was_measured(compared: Comparison, attacked: Attacks) -> None:
    picture = evidence_pictures.loss_and_exposure(compared, attacked, public=False)
    assert picture is not None
    assert picture.rows[0] == ("the original", "0%", "all", "not measured", "")
    assert picture.rows[-1] == ("shows nothing", "100%", "all", "not measured", "")
    tested = [one for one in attacked.criteria if one.worst is not None]
    assert picture.svg.count("<circle") == len(tested)
    assert all(one.title in picture.svg for one in tested)


def test_without_any_attack_there_is_no_such_picture(compared: Comparison, attacked: Attacks) -> None:
    assert evidence_pictures.loss_and_exposure(compared, with_results(attacked), public=False) is None


def test_another_loss_stands_in_where_the_first_is_not_defined(compared: Comparison) -> None:
    def undefined(one: Measure) -> Measure:
        return replace(one, value=float("nan")) if one.name == "leaf-loss" else one

    losses = replace(compared.losses, overall=tuple(map(undefined, compared.losses.overall)))
    found = evidence_pictures.drawn_loss(losses)
    assert found is not None
    assert found.name == "certainty-penalty"


def test_points_stand_at_their_loss_and_height() -> None:
    svg = loss_against_exposure(
        [Reach("Inference", 0.5, 0.4, 0.6)], loss=0.25, loss_title="loss", trivial=1.0, tolerated=0.09
    )
    assert {"original", "shows nothing", "Inference"} <= set(re.findall(r">([^<>]+)</text>", svg))
    [(x, y)] = re.findall(r'<circle cx="([\d.]+)" cy="([\d.]+)"', svg)
    # The plot is 298 wide and 270 high: a quarter of its width, and 0.5 of a scale that ends at 1.15 times 0.6.
    assert float(x) == 74.5
    assert float(y) == pytest.approx(270 * (1 - 0.5 / 0.69), abs=0.05)


def test_whiskers_stand_on_one_scale() -> None:
    drawn = whisker(0.5, low=0.25, high=0.75, marks=[0.0])
    assert 'cx="100.0"' in drawn
    assert 'x1="54.0" y1="12" x2="146.0"' in drawn
    assert 'x1="8.0" y1="3" x2="8.0"' in drawn


def test_relations_say_which_changed_most(compared: Comparison) -> None:
    picture = evidence_pictures.relations(compared)
    assert picture is not None
    changes = [abs(float(row[3].replace("−", "-"))) for row in picture.rows]
    assert changes == sorted(changes, reverse=True)


def bins(before: list[Any], after: list[Any]) -> list[tuple[str, float, float]]:
    found = before_and_after(
        Pair.of(
            EquivalenceClasses.from_columns({"x": before}), EquivalenceClasses.from_columns({"x": after})
        ),
        "x",
    )
    assert found is not None
    return [(one.label, round(one.before, 6), round(one.after, 6)) for one in found.bins]


def test_many_numbers_are_binned_and_empty_bins_left_out() -> None:
    values = [*range(100, 120), *range(160, 180)]
    assert bins(values, ["[100, 119]"] * 20 + [str(n) for n in range(160, 180)]) == [
        ("100 to 109", 0.25, 0.25),
        ("110 to 119", 0.25, 0.25),
        ("160 to 169", 0.25, 0.25),
        ("170 to 179", 0.25, 0.25),
    ]


def test_ends_of_numbers_are_open_and_missing_ones_told() -> None:
    values = [*range(200), 10**6, None]
    found = bins(values, [str(n) for n in range(200)] + ["1000000", "*"])
    assert found[0][0] == "0 to 24"
    assert found[-2][0] == "200 and more"
    assert found[-1][0] == "missing"
    assert sum(one[1] for one in found) == pytest.approx(1.0, abs=1e-4)
    assert sum(one[2] for one in found) == pytest.approx(1.0, abs=1e-4)


def test_many_categories_are_cut() -> None:
    names = [chr(97 + n) for n in range(20)]
    found = bins([*names, "a"], [*names, "a"])
    assert found[0][0] == "a"
    assert len(found) == 12
    assert found[-1][0] == "9 other values"


def test_values_that_only_the_release_has() -> None:
    assert bins(["a", "b"], ["a", "made up"])[-1] == ("only in the release", 0.0, 0.5)


# ── what may be shown ─────────────────────────────────────────────────────────────────────────────────


def test_public_edition_shows_no_value(compared: Comparison, attacked: Attacks) -> None:
    inside = rendered(compared, attacked)
    outside = rendered(compared, attacked, "public")
    assert all(mark in inside for mark in MARKS if mark != "[30, 39]")
    assert [mark for mark in MARKS if mark.lower() in outside.lower()] == []
    text = Page(outside).text
    assert all(line in text for line in LEFT_OUT)
    assert "Who is most exposed" not in text
    assert "Groups of" not in text


def test_public_edition_tells_no_small_difference(compared: Comparison, attacked: Attacks) -> None:
    """41 rows became 40: the difference, and 1 / 41 as a loss, would say that one was suppressed."""
    text = Page(rendered(compared, attacked, "public")).text
    assert "41 → 40" not in text
    assert "Records 40" in text
    assert "suppression-ratio share of records; lower is better less than 27.5%" in text
    assert "0.02439" not in text
    # A blind guess at 41 people is right about 1 of 41, which says no more than that 41 were tried.
    baselines = ("without the release 2.4% are expected", "of 41 records 2.4%")
    assert all(words in text for words in baselines)
    for words in baselines:
        text = text.replace(words, "")
    assert "2.4%" not in text


def test_public_losses_have_two_digits_or_a_bound(compared: Comparison) -> None:
    """Of 40 rows, 11 / 40 is the bound; ambiguity and the like have two digits, and bits are no percentages."""
    rows = {row["name"]: row for group in loss_tables.losses(compared, public=True) for row in group.rows}
    inside = {row["name"]: row for group in loss_tables.losses(compared, public=False) for row in group.rows}
    assert inside["js-divergence"]["release"] not in ("0", "not defined")
    assert rows["js-divergence"]["release"] == "less than 0.28"
    assert rows["discernibility"]["release"] == "840"
    assert inside["discernibility"]["release"] == "841"


@pytest.mark.slow
def test_wide_tables_stay_small(attacked: Attacks) -> None:
    names = [f"an_attribute_with_quite_a_long_name_{i}" for i in range(20)]
    table = pa.table(
        {name: [f"{'v' * 80}{(n * (i + 1)) % 13}" for n in range(60)] for i, name in enumerate(names)}
    )
    policy = Policy.of(quasi_identifiers=names, require=[KAnonymity(2)])
    found = compare(read(table), read(table), policy, labels=[], queries=10)
    html = render_evidence(comparison=found, attacks=attacked, policy=policy)
    assert len(html.encode()) < 1_000_000
    assert "Drawn are the first 16 of 20 attributes." in html
    assert "The picture shows the 10 attributes whose relations changed most of 20." in html


def test_public_edition_gives_only_a_bound_for_a_few_people(attacked: Attacks) -> None:
    found = with_results(attacked, result(3))
    inside, outside = Page(rendered(None, found)).text, Page(rendered(None, found, "public")).text
    assert "3 of 600 records" in inside
    assert "exactly 3 were found" in inside
    assert "3 of 600" not in outside
    assert "exactly" not in outside
    assert "0.5%" not in outside
    assert "less than 1.8% (withheld) fewer than 11 of 600 records" in outside
    assert "was right about less than 1.8% of 600 records" in outside


def test_public_edition_withholds_what_a_few_failures_would_betray(attacked: Attacks) -> None:
    found = with_results(attacked, result(597, baseline=0.5))
    outside = Page(rendered(None, found, "public")).text
    assert "597" not in outside
    assert "99.5%" not in outside
    assert "99.0%" not in outside
    assert "more than 98.2% (withheld) nearly all of 600 records 50.0% ✕ withheld" in outside
    assert evidence_pictures.advantage_text(found.results[0], public=False) == "99.0%"


def test_public_edition_withholds_a_baseline_that_betrays_the_fallen(attacked: Attacks) -> None:
    # One of 60 fell, and the guessed value has a quarter: 0.4% without the release says that it was one.
    one = AttackResult(
        *("homogeneity", "inference", 60, 1, 0.25 / 60, "x"), target="ill", unit="records", fallen=(3,)
    )
    found = replace(attacked, results=(one,), criteria=summarise([one], []))
    for public in (False, True):
        ((row,),) = (group.rows for group in evidence_tables.attack_groups(found, public=public))
        assert row["baseline"] == ("withheld" if public else "0.4%")
        told = render_evidence(
            comparison=None, attacks=found, policy=POLICY, edition="public" if public else "internal"
        )
        assert ("0.4%" in Page(told).text) is not public


def test_public_drawings_stand_at_the_bound(attacked: Attacks) -> None:
    """3 of 600 would be at 8 + 184 · 0.005; the bound of 11 at 8 + 184 · 11 / 600."""
    [group] = evidence_tables.attack_groups(with_results(attacked, result(3)), public=True)
    assert 'cx="11.4"' in group.rows[0]["picture"]
    assert "step-3" not in group.rows[0]["picture"]


def test_public_reasons_are_known_ones(attacked: Attacks) -> None:
    reasons = (
        Untested("similarity", "inference", "ill: there is no sensitive attribute"),
        Untested("minimality", "inference", "only 3 people are in question"),
    )
    rows = evidence_tables.untested(replace(attacked, untested=reasons), public=True)
    assert [why for _, _, why in rows[:2]] == [reasons[0].why, evidence_tables.NOT_RUN]
    assert evidence_tables.untested(replace(attacked, untested=reasons), public=False)[1][2] == reasons[1].why


def test_public_edition_hides_the_original_but_not_the_release(compared: Comparison) -> None:
    found = replace(
        compared,
        original=replace(compared.original, sha256="e" * 64),
        release=replace(compared.release, sha256="f" * 64),
    )
    inside, outside = rendered(found, None), rendered(found, None, "public")
    assert "e" * 64 in inside
    assert "e" * 64 not in outside
    assert "f" * 64 in outside


@pytest.mark.parametrize("edition", ["internal", "public"])
def test_markup_in_names_and_values_is_escaped(attacked: Attacks, edition: str) -> None:
    evil = "<script>alert('&\"1')</script>"
    before = pa.table({evil: [evil, "b", "c", "d"] * 4, "<i>ill</i>": [evil, "x"] * 8})
    policy = Policy.of(quasi_identifiers=[evil], sensitive=["<i>ill</i>"], require=[KAnonymity(2)])
    found = compare(read(before), read(before), policy, labels=[], queries=10)
    people = (Exposed({evil: evil}, 1.0, 1, evil),)
    broken = with_results(attacked, result(30, exposed=people, target=evil, notes=(evil,)))
    for html in (
        render_evidence(comparison=found, attacks=broken, policy=policy, edition=edition),  # type: ignore[arg-type]
        found._repr_html_(),
        replace(broken, source=replace(broken.source, name=evil))._repr_html_(),
    ):
        assert "<script" not in html.lower()
        assert "<i>ill" not in html
        Page(html)


# ── one file, and a fragment ──────────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize("edition", ["internal", "public"])
def test_one_file_that_loads_nothing(
    tmp_path: Path, compared: Comparison, attacked: Attacks, edition: Any
) -> None:
    path = evidence_report(
        tmp_path / "evidence.html", comparison=compared, attacks=attacked, policy=POLICY, edition=edition
    )
    html = path.read_text(encoding="utf-8")
    assert path.stat().st_size < 1_000_000
    assert [one.name for one in tmp_path.iterdir()] == ["evidence.html"]
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


def test_notebooks(compared: Comparison, attacked: Attacks) -> None:
    text = Page(compared._repr_html_()).text
    assert "lost by leaf-loss" in text
    assert "By attribute: age" in text
    text = Page(attacked._repr_html_()).text
    assert all(one.finding in text for one in attacked.criteria)


def test_distributions_are_for_the_report_alone(compared: Comparison) -> None:
    assert "distributions" not in compared.to_dict()
    assert "Zwiefalten" not in repr(compared)
