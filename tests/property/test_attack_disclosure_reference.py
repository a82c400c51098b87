"""Attacks on released classes against slow counts, person by person and world by world."""

from __future__ import annotations

from collections import Counter
from itertools import permutations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from discreet.attacks.disclosure.background import Which, background_knowledge
from discreet.attacks.disclosure.homogeneity import homogeneity, skewness
from discreet.attacks.disclosure.proximity import proximity, similarity
from discreet.attacks.minimality.minimality import minimality
from discreet.attacks.result import AttackResult
from discreet.classes import EquivalenceClasses
from discreet.classes.pair import Pair
from discreet.privacy import AlphaKAnonymity, LDiversity, PrivacyModel, TCloseness
from discreet.table.hierarchies.hierarchy import Hierarchy
from helpers.profiles import tries

BRANCHES = {"u": "x", "v": "x", "w": "y", "z": "y"}
KINDS = Hierarchy.of("dx", [[value, branch, "*"] for value, branch in BRANCHES.items()])
rows = st.lists(st.tuples(st.sampled_from("abc"), st.sampled_from("uvwz")), min_size=1, max_size=14)


def classes_of(table: list[tuple[str, str]]) -> EquivalenceClasses:
    return EquivalenceClasses.from_columns(
        {"q": [q for q, _ in table]}, sensitive={"dx": [dx for _, dx in table]}
    )


def told(left: Counter[str], certainty: float) -> bool:
    return max(left.values()) / sum(left.values()) >= certainty - 1e-9


@given(rows, st.sampled_from([0.5, 0.6, 0.75, 1.0]))
def test_homogeneity(table: list[tuple[str, str]], certainty: float) -> None:
    found = homogeneity(classes_of(table), "dx", certainty=certainty)
    right = 0
    for q in "abc":
        inside = Counter(dx for other, dx in table if other == q)
        if inside and told(inside, certainty):
            right += max(inside.values())
    assert (found.tries, found.successes) == (len(table), right)


@given(rows, st.integers(0, 3), st.sampled_from(["worst", "frequent", "rare"]), st.sampled_from([0.7, 0.95]))
def test_background_knowledge(
    table: list[tuple[str, str]], many: int, which: Which, certainty: float
) -> None:
    found = background_knowledge(classes_of(table), "dx", excluded=many, which=which, certainty=certainty)
    overall = Counter(dx for _, dx in table)
    right = sure = before = 0.0
    for q, dx in table:
        inside = Counter(other for place, other in table if place == q)
        if which == "worst":
            ranked = sorted(inside, key=lambda value: (-inside[value], value))
            struck = [value for value in ranked if value != dx][:many]
        else:
            ranked = sorted(overall, key=lambda value: (overall[value], value), reverse=which == "frequent")
            struck = [value for value in ranked[:many] if value != dx]
        left = Counter({value: n for value, n in inside.items() if value not in struck})
        if told(left, certainty):
            guess = max(sorted(left), key=lambda value: left[value])
            sure += 1
            right += guess == dx
            before += overall[guess] / sum(n for value, n in overall.items() if value not in struck)
    assert found.successes == pytest.approx(right)
    assert dict(found.figures)["people-told"] == pytest.approx(sure)
    assert found.baseline == pytest.approx(before / len(table))


@given(rows, st.sampled_from([0.5, 0.8, 0.95, 1.0]))
def test_nothing_excluded_is_homogeneity(table: list[tuple[str, str]], certainty: float) -> None:
    plain = homogeneity(classes_of(table), "dx", certainty=certainty)
    for excluded in (0, []):
        found = background_knowledge(classes_of(table), "dx", excluded=excluded, certainty=certainty)
        assert (found.tries, found.successes, found.fallen) == (plain.tries, plain.successes, plain.fallen)
        assert found.baseline == pytest.approx(plain.baseline)


@given(rows)
def test_more_knowledge_never_tells_less(table: list[tuple[str, str]]) -> None:
    # With full certainty: at less, striking out a value may also turn a right guess into a doubtful one.
    numbers = [
        background_knowledge(classes_of(table), "dx", excluded=n, certainty=1.0).successes for n in range(4)
    ]
    assert numbers == sorted(numbers)
    assert numbers[-1] == len(table)


@given(rows)
def test_homogeneity_on_the_original_finds_every_unique_person(table: list[tuple[str, str]]) -> None:
    classes = classes_of(table)
    found = homogeneity(Pair.of(classes, classes).unchanged(), "dx", certainty=1.0)
    if found.tries:  # a table of one combination shows nothing that could be known
        assert set(np.flatnonzero(classes.records == 1).tolist()) <= set(found.fallen)


@given(rows)
def test_similarity(table: list[tuple[str, str]]) -> None:
    found = similarity(classes_of(table), "dx", KINDS, certainty=0.75)
    branches = [(q, BRANCHES[dx]) for q, dx in table]
    assert found.successes == homogeneity(classes_of(branches), "dx", certainty=0.75).successes
    assert found.baseline == pytest.approx(homogeneity(classes_of(branches), "dx", certainty=0.75).baseline)


@given(
    st.lists(st.tuples(st.sampled_from("ab"), st.integers(0, 30)), min_size=1, max_size=12),
    st.integers(0, 6),
    st.sampled_from([0.5, 0.75, 1.0]),
)
def test_proximity(table: list[tuple[str, int]], within: int, certainty: float) -> None:
    classes = EquivalenceClasses.from_columns(
        {"q": [q for q, _ in table]}, sensitive={"pay": [pay for _, pay in table]}
    )
    found = proximity(classes, "pay", within=within, certainty=certainty)
    right = 0
    for q in "ab":
        inside = [pay for other, pay in table if other == q]
        best = max((sum(low <= pay <= low + 2 * within for pay in inside) for low in inside), default=0)
        right += best if inside and best >= certainty * len(inside) - 1e-9 else 0
    assert found.successes == right


@given(rows)
def test_one_class_for_all_is_no_better_than_nothing(table: list[tuple[str, str]]) -> None:
    released = classes_of([("same", dx) for _, dx in table])
    pair = Pair.of(classes_of(table), released)
    results: list[AttackResult] = []
    for release in (released, pair.trivial()):
        results += [
            homogeneity(release, "dx", certainty=0.5),
            background_knowledge(release, "dx", excluded=1),
            background_knowledge(release, "dx", excluded=1, which="rare"),
            skewness(release, "dx"),
            similarity(release, "dx", KINDS, certainty=0.5),
        ]
    for found in results:
        assert not found.better_than_baseline
        assert found.rate == pytest.approx(found.baseline)


# ── possible worlds ──────────────────────────────────────────────────────────────────────────────────

ZIPS = Hierarchy.of("zip", [["10", "1*", "*"], ["11", "1*", "*"], ["20", "2*", "*"], ["21", "2*", "*"]])
MODELS: list[PrivacyModel] = [
    AlphaKAnonymity(alpha=0.5, k=1, sensitive="dx", values=("u",)),
    LDiversity(2, "dx"),
    TCloseness(0.4, "dx"),
]


def posteriors(
    people: list[tuple[str, str]], model: PrivacyModel, *, local: bool
) -> dict[str, dict[str, float]] | None:
    """By trying all worlds: for each zip the probability of each value, given that the finer release violates."""
    zips = [place for place, _ in people]
    parts = {first: [i for i, place in enumerate(zips) if place[0] == first] for first in "12"}
    ways = {
        first: [dict(zip(at, world, strict=True)) for world in permutations([people[i][1] for i in at])]
        for first, at in parts.items()
    }
    found: dict[str, Counter[str]] = {place: Counter() for place in zips}
    truth = {i: dx for i, (_, dx) in enumerate(people)}
    for first in "12":
        for one in ways[first]:
            for other in [truth] if local else ways["2" if first == "1" else "1"]:
                world = {**truth, **other, **one}
                classes = EquivalenceClasses.from_columns(
                    {"zip": zips}, sensitive={"dx": [world[i] for i in range(len(people))]}
                )
                holds = dict(zip(sorted(set(zips)), model.holds(classes).tolist(), strict=True))
                looked = [place for place in holds if place[0] == first or not local]
                if not all(holds[place] for place in looked):
                    for i in parts[first]:
                        found[zips[i]][world[i]] += 1
    return {place: {dx: n / sum(of.values()) for dx, n in of.items()} for place, of in found.items() if of}


@tries(40)
@given(
    st.lists(st.tuples(st.sampled_from(["10", "11"]), st.sampled_from("uv")), min_size=2, max_size=4),
    st.lists(st.tuples(st.sampled_from(["20", "21"]), st.sampled_from("uvw")), min_size=1, max_size=3),
    st.sampled_from(MODELS),
    st.booleans(),
)
def test_minimality(
    first: list[tuple[str, str]], second: list[tuple[str, str]], model: PrivacyModel, local: bool
) -> None:
    people = [*first, *second]
    original = EquivalenceClasses.from_columns(
        {"zip": [place for place, _ in people]}, sensitive={"dx": [dx for _, dx in people]}
    )
    released = EquivalenceClasses.from_columns(
        {"zip": [place[0] + "*" for place, _ in people]}, sensitive={"dx": [dx for _, dx in people]}
    )
    pair = Pair.of(original, released, hierarchies={"zip": ZIPS})
    found = minimality(pair, [model], "dx", recoding="local" if local else "global")
    slow = posteriors(people, model, local=local)
    expected = {}
    for place, chances in (slow or {}).items():
        inside = Counter(dx for other, dx in people if other[0] == place[0])
        share = {dx: n / sum(inside.values()) for dx, n in inside.items()}
        best = max(chances.values())
        if best > max(share.values()) + 1e-6:
            expected[place] = best
    assert {one.values["zip"]: one.score for one in found.exposed} == pytest.approx(expected)
