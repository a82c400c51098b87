"""Areas of interest: intersections of sets, by hand, and what the study of car data found."""

from __future__ import annotations

import random
from pathlib import Path

import pyarrow as pa
import pytest

import discreet
from discreet.attacks.disclosure.areas import areas_of_interest
from discreet.attacks.result import AttackResult
from discreet.classes import EquivalenceClasses
from discreet.classes.pair import Pair
from discreet.policy.plan import Method
from discreet.privacy import KAnonymity
from discreet.transform.recoding import Recoding
from helpers.cars import trips
from helpers.pairs import pair_of_recoding

AREAS = {1: ["(1,0)", "(2,0)", "x"], 2: ["(1,0)", "(2,0)", "y", "z", "w"], 3: ["u", "v"]}


def drivers(seats: dict[int, str | int], only: tuple[int, ...] = (1, 2, 3)) -> EquivalenceClasses:
    """One record per driver and area."""
    rows = [(driver, area) for driver in only for area in AREAS[driver]]
    return EquivalenceClasses.from_columns(
        {"seats": [seats[driver] for driver, _ in rows]},
        person=[driver for driver, _ in rows],
        sensitive={"area": [area for _, area in rows]},
    )


ORIGINAL = drivers({1: 2, 2: 4, 3: 7})


def figures(result: AttackResult) -> dict[str, float]:
    return dict(result.figures)


def test_the_small_example_of_the_study() -> None:
    released = drivers({1: "[2, 4]", 2: "[2, 4]"}, only=(1, 2))
    found = areas_of_interest(Pair.of(ORIGINAL, released), "area")
    assert (found.unit, found.tries, found.successes) == ("persons", 3, 2)
    # The two areas that are named of drivers 1 and 2 are those of two drivers of three.
    assert found.baseline == pytest.approx(2 / 3 * 2 / 3)
    assert [one.score for one in found.exposed] == [pytest.approx(2 / 3), pytest.approx(2 / 5)]
    assert figures(found)["max-recall"] == pytest.approx(2 / 3)
    assert figures(found)["mean-recall"] == pytest.approx((2 / 3 + 2 / 5) / 3)
    assert figures(found)["without-candidates"] == 1
    assert found.fallen == (0,)


@pytest.mark.parametrize("shown", ["[2, 7]", "*"])
def test_all_drivers_in_one_class_have_nothing_in_common(shown: str) -> None:
    found = areas_of_interest(Pair.of(ORIGINAL, drivers(dict.fromkeys(AREAS, shown))), "area")
    assert (found.tries, found.successes, figures(found)["max-recall"]) == (3, 0, 0)


def test_the_original_tells_everything() -> None:
    found = areas_of_interest(Pair.of(ORIGINAL, ORIGINAL).unchanged(), "area")
    assert (found.successes, figures(found)["mean-recall"]) == (3, 1)


def test_suppressed_records_fit_nobody_while_others_are_shown() -> None:
    released = drivers({1: "[2, 4]", 2: "[2, 4]", 3: "*"})
    found = areas_of_interest(Pair.of(ORIGINAL, released), "area")
    assert (found.successes, figures(found)["without-candidates"]) == (2, 1)


def test_values_that_are_not_true_lead_to_the_wrong_people() -> None:
    """Everybody is shown with the 4 seats of driver 2: driver 1 finds nobody, driver 2 finds all."""
    found = areas_of_interest(Pair.of(ORIGINAL, drivers({1: "4", 2: "4"}, only=(1, 2))), "area")
    assert (found.successes, figures(found)["without-candidates"]) == (1, 2)
    # Driver 2 stands under 2 seats: who looks for driver 1 finds the areas of driver 2.
    wrong = areas_of_interest(Pair.of(ORIGINAL, drivers({2: "2"}, only=(2,))), "area")
    assert figures(wrong)["mean-precision"] == pytest.approx(2 / 5)


def test_who_has_several_cars_must_be_found_with_each() -> None:
    original = EquivalenceClasses.from_columns(
        {"seats": [2, 4, 2, 4]}, person=[1, 1, 2, 3], sensitive={"area": ["a", "b", "c", "b"]}
    )
    found = areas_of_interest(Pair.of(original, original), "area")
    # Only person 1 has both cars: the whole set is known. 2 and 3 share their only car with 1.
    assert figures(found)["max-recall"] == 1
    assert found.successes == 2


def test_a_list_in_one_column() -> None:
    original = EquivalenceClasses.from_columns(
        {"age": [31, 34, 47]}, sensitive={"areas": ["a|b", "b|c", None]}
    )
    released = EquivalenceClasses.from_columns(
        {"age": ["[31, 34]", "[31, 34]", "47"]}, sensitive={"areas": ["a|b", "b|c", None]}
    )
    found = areas_of_interest(Pair.of(original, released), "areas", separator="|")
    assert (found.unit, found.tries, found.successes, figures(found)["mean-recall"]) == ("records", 2, 2, 0.5)


def test_what_everybody_has_is_the_baseline() -> None:
    classes = EquivalenceClasses.from_columns({"age": ["31", "47"]}, sensitive={"areas": ["a|b", "a|c"]})
    found = areas_of_interest(Pair.of(classes, classes).trivial(), "areas", separator="|")
    assert (found.rate, found.baseline, found.better_than_baseline) == (1, 1, False)


def test_a_release_without_persons_is_said() -> None:
    rows = EquivalenceClasses.from_columns({"seats": ["2"]}, sensitive={"area": ["x"]})
    found = areas_of_interest(Pair.of(ORIGINAL, rows), "area")
    assert "whose records are whose" in found.notes[0]


# ── the finding of the study ─────────────────────────────────────────────────────────────────────────


METHODS: tuple[Method, ...] = ("optimal", "microaggregation")


@pytest.fixture(scope="module")
def recalls(tmp_path_factory: pytest.TempPathFactory) -> dict[tuple[str, int], AttackResult]:
    """Attacks on the trips of 15 drivers, by method and k counted in drivers."""
    profile = tmp_path_factory.mktemp("profile") / "study.toml"
    profile.write_text(
        'title = "Study"\ndescription = "Only what the study asked for."\nsource = "the study"\n'
        'date = 2023-01-01\nrules = []\n[[require]]\nmodel = "k-anonymity"\nk = 2\nsource = "the study"\n'
    )
    table = trips()
    # As text, seats are replaced by their mode, as in the study, and not by their mean.
    table = table.set_column(table.column_names.index("seats"), "seats", table["seats"].cast(pa.string()))
    return {
        (method, k): areas_of_interest(pair_of_recoding(release(table, profile, method, k)), "place")
        for method in METHODS
        for k in (2, 3, 5, 15)
    }


def release(table: pa.Table, profile: Path, method: Method, k: int) -> Recoding:
    policy = discreet.Policy.of(
        quasi_identifiers=["engine", "body", "seats"], sensitive=["place"], person="driver"
    ).replace(profile=str(profile))
    plan = discreet.Plan(method=method, suppression_limit=0.2)
    return discreet.anonymize(table, policy.require(KAnonymity(k)), plan=plan).recoding


@pytest.mark.slow
@pytest.mark.parametrize("method", METHODS)
def test_recall_falls_with_k_to_nothing(recalls: dict[tuple[str, int], AttackResult], method: str) -> None:
    means = [figures(recalls[method, k])["mean-recall"] for k in (2, 3, 5, 15)]
    assert means == sorted(means, reverse=True)
    assert means[0] > 0.5
    assert means[-1] == 0
    assert recalls[method, 15].successes == 0


@pytest.mark.slow
@pytest.mark.parametrize("k", [2, 3, 5])
def test_microaggregation_protects_a_little_more(
    recalls: dict[tuple[str, int], AttackResult], k: int
) -> None:
    general, mean = recalls["optimal", k], recalls["microaggregation", k]
    assert mean.successes < general.successes
    assert figures(mean)["mean-recall"] < figures(general)["mean-recall"]


@pytest.mark.slow
def test_generalisation_with_k_of_two_hardly_helps(recalls: dict[tuple[str, int], AttackResult]) -> None:
    found = recalls["optimal", 2]
    assert found.tries == 15
    assert found.successes >= 14


@pytest.mark.slow
def test_the_table_of_the_documentation(recalls: dict[tuple[str, int], AttackResult]) -> None:
    page = Path(__file__).parents[2] / "docs" / "explanation" / "attacks-disclosure.md"
    text = page.read_text(encoding="utf-8")
    for k in (2, 3, 5):
        cells = [
            f"{found.successes:.0f} of {found.tries:.0f}, {figures(found)['mean-recall']:.2f}"
            for found in (recalls["optimal", k], recalls["microaggregation", k])
        ]
        assert f"| {k} | {cells[0]} | {cells[1]} |" in text


@pytest.mark.parametrize("linked", [True, False])
def test_candidates_of_one_attribute_serve_the_next(linked: bool) -> None:
    """Whoever has been looked for once is not looked for again, and each attribute has its own values."""
    seats, person = [2, 2, 4, 5], [1, 1, 2, 3]
    values = {"area": ["x", "y", "x", "z"], "shop": ["a", "b", "c", "c"]}
    original = EquivalenceClasses.from_columns({"seats": seats}, person=person, sensitive=values)
    shown = ["[2, 4]"] * 3 + ["5"]
    released = EquivalenceClasses.from_columns(
        {"seats": shown}, person=person if linked else None, sensitive=values
    )
    together = Pair.of(original, released)
    for name in values:
        alone = areas_of_interest(Pair.of(original, released), name)
        after = areas_of_interest(together, name)
        assert (after.successes, after.figures, after.baseline) == (
            alone.successes,
            alone.figures,
            alone.baseline,
        )
    assert [areas_of_interest(together, name).successes for name in values] == ([3, 1] if linked else [1, 1])


@pytest.mark.parametrize("seed", range(12))
def test_records_without_persons_are_searched_as_by_plain_loops(seed: int) -> None:
    """Persons have several records in the original; the release tells nobody's, and some values are missing."""
    rng = random.Random(seed)
    people = [
        (person, rng.randrange(6), rng.choice(["flu", "gout", "cold", None]))
        for person in range(8)
        for _ in range(rng.randint(1, 3))
    ]
    shown = {0: "[0, 1]", 1: "[0, 1]", 2: "2", 3: "[3, 4]", 4: "[3, 4]", 5: "[4, 5]"}
    covered = {"[0, 1]": {0, 1}, "2": {2}, "[3, 4]": {3, 4}, "[4, 5]": {4, 5}}
    original = EquivalenceClasses.from_columns(
        {"age": [age for _, age, _ in people]},
        person=[person for person, _, _ in people],
        sensitive={"ill": [ill for _, _, ill in people]},
    )
    released = EquivalenceClasses.from_columns(
        {"age": [shown[age] for _, age, _ in people]}, sensitive={"ill": [ill for _, _, ill in people]}
    )
    compromised = tries = 0
    for person in range(8):
        own = {ill for who, _, ill in people if who == person and ill is not None}
        ages = {age for who, age, _ in people if who == person}
        there = {shown[age] for _, age, _ in people}
        fits = [{label for label in there if age in covered[label]} for age in ages]
        labels = set.intersection(*fits)
        candidates = [ill for _, age, ill in people if shown[age] in labels]
        common = set(candidates) if len(set(candidates)) == 1 else set()
        tries += bool(own)
        compromised += bool(own and own & common)
    result = areas_of_interest(Pair.of(original, released), "ill")
    assert (result.tries, result.successes) == (tries, compromised)
