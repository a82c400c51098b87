"""Baselines of attacks that read classes, each against the guesser it stands for; and small tables, which do not
withstand for being small."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pyarrow as pa
import pytest

import discreet
from discreet.attacks.disclosure.areas import areas_of_interest
from discreet.attacks.disclosure.background import background_knowledge
from discreet.attacks.disclosure.homogeneity import homogeneity, skewness
from discreet.attacks.disclosure.inference import attribute_inference
from discreet.attacks.disclosure.proximity import proximity, similarity
from discreet.attacks.linkage.membership import membership
from discreet.attacks.linkage.worst_case import worst_case
from discreet.attacks.minimality.minimality import minimality
from discreet.attacks.result import AttackResult
from discreet.classes import EquivalenceClasses
from discreet.classes.pair import Links, Pair
from discreet.policy import Policy
from discreet.privacy import LDiversity
from discreet.table.hierarchies.hierarchy import Hierarchy

CLASSES = "aaaabbbbcc"
DX = ["flu", "flu", "flu", "flu", "flu", "cold", "ulcer", "ulcer", "cold", "cold"]
PAY = [10, 11, 11, 12, 10, 50, 70, 95, 60, 61]
LUNGS = Hierarchy.of("dx", [["flu", "lungs", "*"], ["cold", "lungs", "*"], ["ulcer", "stomach", "*"]])
TIMES = 20_000

Sentence = Callable[[int], bool]
"""Whether what was said of a class is true of a person, by the person's row."""


def release() -> EquivalenceClasses:
    return EquivalenceClasses.from_columns({"group": list(CLASSES)}, sensitive={"dx": DX, "pay": PAY})


def is_(dx: str) -> Sentence:
    return lambda row: DX[row] == dx


SAID: dict[str, tuple[Callable[[], AttackResult], dict[str, Sentence]]] = {
    "homogeneity": (lambda: homogeneity(release(), "dx"), {"a": is_("flu"), "c": is_("cold")}),
    "skewness": (lambda: skewness(release(), "dx"), {"a": is_("flu"), "b": is_("ulcer"), "c": is_("cold")}),
    "similarity": (
        lambda: similarity(release(), "dx", LUNGS),
        {group: lambda row: DX[row] in ("flu", "cold") for group in "ac"},
    ),
    "proximity": (
        lambda: proximity(release(), "pay", within=1),
        {"a": lambda row: abs(PAY[row] - 11) <= 1, "c": lambda row: abs(PAY[row] - 60.5) <= 1},
    ),
}


@pytest.mark.parametrize("name", SAID)
def test_the_same_sentence_about_anybody(name: str) -> None:
    """The guesser says the same of as many people, without the classes: of any ten who are in the release."""
    attack, said = SAID[name]
    result = attack()
    assert {CLASSES[CLASSES.index("abc"[c])] for c in result.fallen} == set(said)
    draw = np.random.default_rng(1)
    right = 0.0
    for group, sentence in said.items():
        anybody = draw.integers(0, len(CLASSES), size=(TIMES, CLASSES.count(group)))
        true = np.array([sentence(row) for row in range(len(CLASSES))])
        right += true[anybody].sum() / TIMES
    assert result.baseline == pytest.approx(right / len(CLASSES), rel=0.03)


def test_background_knowledge_without_the_classes() -> None:
    """Who knows one value that a person does not have draws among all people who have another one."""
    result = background_knowledge(release(), "dx", excluded=["ulcer"])
    draw = np.random.default_rng(1)
    left = [dx for dx in DX if dx != "ulcer"]
    # Told are four flus and two colds: class b without ulcers still has two values, and its ulcers are never struck out.
    guesses = ["flu"] * 4 + ["cold"] * 2
    rate = (
        np.mean([np.array(left)[draw.integers(0, len(left), TIMES)] == guess for guess in guesses]) * 6 / 10
    )
    assert result.successes == 6
    assert result.baseline == pytest.approx(float(rate), rel=0.03)


@pytest.mark.slow
def test_the_worst_case_without_values() -> None:
    """Each released record is assigned to anybody of the original, of whom one is right."""
    original = EquivalenceClasses.from_columns({"age": [31, 34, 47, 52, 60]})
    released = EquivalenceClasses.from_columns({"age": ["[30, 39]", "[30, 39]", "47"]})
    links = Links(np.arange(5), np.array([1, 1, 0, -1, -1]), np.ones(5, dtype=np.int64))
    result = worst_case(Pair.of(original, released, links=links))
    assigned = np.random.default_rng(1).integers(0, 5, size=(TIMES, 3))
    assert result.baseline == pytest.approx(float((assigned == np.arange(3)).mean()), rel=0.03)


def test_areas_named_of_anybody() -> None:
    """Nine of ten people shop; in pairs, four of five pairs have the shop in common, and the fifth nothing."""
    places = [[f"home {at}", "shop"] for at in range(9)] + [["home 9"]]
    rows = [(at, place) for at, own in enumerate(places) for place in own]

    def people(seats: Callable[[int], object]) -> EquivalenceClasses:
        return EquivalenceClasses.from_columns(
            {"seats": [seats(at) for at, _ in rows]},
            person=[at for at, _ in rows],
            sensitive={"place": [place for _, place in rows]},
        )

    result = areas_of_interest(
        Pair.of(people(lambda at: at), people(lambda at: f"[{at // 2 * 2}, {at // 2 * 2 + 1}]")), "place"
    )
    draw = np.random.default_rng(1)
    # "Shops", of eight people whoever they are; nothing of two.
    right = np.array(["shop" in own for own in places])[draw.integers(0, 10, size=(TIMES, 8))].sum() / TIMES
    assert result.rate == pytest.approx(0.8)
    assert result.baseline == pytest.approx(right / 10, rel=0.03)


@pytest.mark.parametrize("chance", [0.0, 0.3, 0.5, 1.0])
def test_membership_by_a_coin(chance: float) -> None:
    """However often the guesser says "in it", members and others counting equally half of the guesses are right."""
    ages = list(range(20, 50))
    original = EquivalenceClasses.from_columns({"age": ages})
    control = EquivalenceClasses.from_columns({"age": list(range(45, 95))})
    result = membership(Pair.of(original, original), control=control)
    draw = np.random.default_rng(1)
    inside = (draw.random((2000, 30)) < chance).mean()
    outside = (draw.random((2000, 50)) >= chance).mean()
    assert result.baseline == pytest.approx((inside + outside) / 2, abs=0.01)


def test_minimality_without_knowing_the_method() -> None:
    """The guesser draws the most frequent value of each class; where two are, any of them."""
    zips, dx = ["10", "10", "11", "11", "11", "20", "20", "21"], "uuvwwvvw"
    tree = Hierarchy.of("zip", [["10", "1*", "*"], ["11", "1*", "*"], ["20", "2*", "*"], ["21", "2*", "*"]])
    original = EquivalenceClasses.from_columns({"zip": zips}, sensitive={"dx": list(dx)})
    released = EquivalenceClasses.from_columns(
        {"zip": [z[0] + "*" for z in zips]}, sensitive={"dx": list(dx)}
    )
    pair = Pair.of(original, released, hierarchies={"zip": tree})
    result = minimality(pair, [LDiversity(2, "dx")], "dx", recoding="local")
    draw = np.random.default_rng(1)
    right = 0.0
    for first in "12":
        inside = [value for z, value in zip(zips, dx, strict=True) if z[0] == first]
        best = [
            value for value in sorted(set(inside)) if inside.count(value) == max(map(inside.count, inside))
        ]
        guesses = np.array(best)[draw.integers(0, len(best), size=(TIMES, len(inside)))]
        right += (guesses == np.array(inside)).sum() / TIMES
    assert result.baseline == pytest.approx(right / len(zips), rel=0.02)


def test_inference_by_always_naming_the_most_frequent_value() -> None:
    """Values that nothing predicts: whoever learns from others does no better than the most frequent value."""
    draw = np.random.default_rng(3)
    ages, towns = draw.integers(20, 80, 400), draw.integers(0, 5, 400)
    values = np.where(draw.random(400) < 0.6, "flu", "cold")
    columns = {"age": ages.tolist(), "town": towns.tolist()}
    original = EquivalenceClasses.from_columns(columns, sensitive={"dx": values.tolist()})
    shown = {"age": ["*"] * 400, "town": towns.tolist()}
    released = EquivalenceClasses.from_columns(shown, sensitive={"dx": values.tolist()})
    (result,) = attribute_inference(Pair.of(original, released), "dx", models=["naive-bayes"])
    guess = max(("flu", "cold"), key=values.tolist().count)
    assert dict(result.figures)["base-rate"] == pytest.approx(float((values == guess).mean()))
    assert result.baseline == pytest.approx(float((values == guess).mean()), abs=0.03)


@pytest.mark.parametrize(("people", "state"), [(20, "weakened"), (40, "weakened"), (6, "gives way")])
def test_a_small_table_does_not_withstand_for_being_small(people: int, state: str) -> None:
    """Two classes of equal size: a guess is right twice as often as a blind one, which is no matter of luck."""
    half = people // 2
    original = pa.table({"age": list(range(20, 20 + people)), "ill": ["x", "y"] * half})
    low, high = f"[20, {19 + half}]", f"[{20 + half}, {19 + people}]"
    released = pa.table({"age": [low] * half + [high] * half, "ill": ["x", "y"] * half})
    policy = Policy.of(quasi_identifiers=["age"], sensitive=["ill"])
    found = discreet.attack(released, policy, original=original, attacks=["record-linkage"])
    result = found.result("record-linkage")
    assert (result.rate, result.baseline) == (pytest.approx(2 / people), pytest.approx(1 / people))
    linkability = next(one for one in found.criteria if one.criterion == "linkability")
    assert linkability.state == state


def test_a_release_that_shows_nothing_withstands_however_large() -> None:
    original = pa.table({"age": list(range(20, 80)), "ill": ["x", "y"] * 30})
    released = pa.table({"age": ["*"] * 60, "ill": ["x", "y"] * 30})
    policy = Policy.of(quasi_identifiers=["age"], sensitive=["ill"])
    found = discreet.attack(released, policy, original=original, attacks=["record-linkage", "singling-out"])
    assert [one.state for one in found.criteria[:2]] == ["withstood", "withstood"]
