"""Who disappeared or appeared between two releases: by hand, and against every way in which people may have stayed."""

from __future__ import annotations

from itertools import permutations

import numpy as np
import pyarrow as pa
import pytest

from discreet.attacks.composition.differencing import Turnover, difference
from discreet.classes import EquivalenceClasses
from discreet.classes.pair import Pair
from discreet.engine.read import read
from discreet.policy import Policy
from discreet.release.attack import attack
from helpers.profiles import seeds

POLICY = Policy.of(quasi_identifiers=["age"], sensitive=["dx"])
# 21 with ulcer and 38 with gout went; 34 with angina came.
PEOPLE = {"age": ["23", "27", "31", "34"], "dx": ["flu", "gout", "flu", "angina"]}
FIRST = {
    "age": ["[20, 29]"] * 3 + ["[30, 39]"] * 2,
    "dx": ["ulcer", "flu", "gout", "flu", "gout"],
}
SECOND = {"age": ["[20, 29]"] * 2 + ["[30, 39]"] * 2, "dx": PEOPLE["dx"]}


def classes(columns: dict[str, list[str]]) -> EquivalenceClasses:
    return EquivalenceClasses.from_columns({"age": columns["age"]}, sensitive={"dx": columns["dx"]})


def table(columns: dict[str, list[str]]) -> object:
    return read(pa.table(columns))


def pairs(
    people: dict[str, list[str]], first: dict[str, list[str]], second: dict[str, list[str]]
) -> tuple[Pair, Pair]:
    everybody = classes(people)
    return Pair.of(everybody, classes(first)), Pair.of(everybody, classes(second))


def test_what_is_too_much_is_theirs_who_went_or_came() -> None:
    deletion, insertion = difference(*pairs(PEOPLE, FIRST, SECOND), "dx")
    assert (deletion.tries, deletion.successes) == (2, 2)
    # By the first release alone ulcer is one of three, gout one of two.
    assert deletion.baseline == pytest.approx((1 / 3 + 1 / 2) / 2)
    assert (insertion.tries, insertion.successes, insertion.baseline) == (1, 1, 0.5)
    assert dict(deletion.figures) == {"regions": 2, "one-value-left": 1}


def test_classes_that_overlap_are_one_region() -> None:
    second = {"age": ["[20, 27]"] * 2 + ["[30, 39]"] * 2, "dx": PEOPLE["dx"]}
    overlapping = {"age": ["[20, 31]"] * 3 + ["[30, 39]"] * 2, "dx": FIRST["dx"]}
    deletion, _ = difference(*pairs(PEOPLE, overlapping, second), "dx")
    # Ulcer and one gout are too many among all five; either is a guess of one in two.
    assert (deletion.tries, deletion.successes) == (2, 1)
    assert deletion.baseline == pytest.approx((1 / 5 + 2 / 5) / 2)
    assert dict(deletion.figures)["one-value-left"] == 0


def cut(random: np.random.Generator, low: int = 0, high: int = 8) -> list[tuple[int, int]]:
    """A cut of the binary tree over 0 … 7."""
    if high - low == 1 or random.random() < 0.3:
        return [(low, high)]
    middle = (low + high) // 2
    return [*cut(random, low, middle), *cut(random, middle, high)]


def recoded(random: np.random.Generator, ages: list[int], nested: bool) -> list[tuple[int, int]]:
    if not nested:
        return [(age - int(random.integers(0, 2)), age + 1 + int(random.integers(0, 2))) for age in ages]
    intervals = cut(random)
    return [next((low, high) for low, high in intervals if low <= age < high) for age in ages]


def stayed_at_most(first: list[tuple[int, int]], second: list[tuple[int, int]], ages: list[int]) -> int:
    """How many records of one value may be the same people's, trying every way."""
    if len(first) > len(second):
        first, second = second, first
    return max(
        sum(
            any(a[0] <= age < a[1] and b[0] <= age < b[1] for age in ages)
            for a, b in zip(first, way, strict=True)
        )
        for way in permutations(second, len(first))
    )


@pytest.mark.parametrize("nested", [True, False])
@seeds(15)
def test_as_many_as_every_way_leaves_over(seed: int, nested: bool) -> None:
    random = np.random.default_rng(seed)
    ages = random.integers(0, 8, size=11).tolist()
    values = [f"d{number}" for number in random.integers(0, 2, size=11)]
    # The first three go, the last two come.
    labels = [recoded(random, ages[:9], nested), recoded(random, ages[3:], nested)]
    own = [values[:9], values[3:]]
    written = [
        {"age": [f"[{low}, {high - 1}]" for low, high in rows], "dx": dx}
        for rows, dx in zip(labels, own, strict=True)
    ]
    people = {"age": [str(age) for age in ages[3:]], "dx": values[3:]}
    turnover = Turnover.of(*pairs(people, *written), "dx")
    left: dict[str, list[float]] = {"deletion": [], "insertion": []}
    for value in sorted(set(values)):
        sides = [
            [row for row, dx in zip(rows, given, strict=True) if dx == value]
            for rows, given in zip(labels, own, strict=True)
        ]
        stayed = stayed_at_most(*sides, ages[3:])
        left["deletion"].append(len(sides[0]) - stayed)
        left["insertion"].append(len(sides[1]) - stayed)
    deleted, inserted = turnover.fewest("deletion").sum(axis=0), turnover.fewest("insertion").sum(axis=0)
    if nested:
        assert sorted(deleted.tolist()) == sorted(left["deletion"])
        assert sorted(inserted.tolist()) == sorted(left["insertion"])
    else:
        assert deleted.sum() <= sum(left["deletion"])
        assert inserted.sum() <= sum(left["insertion"])
    # Nobody is taken to have gone or come who did not.
    gone = [values[:3].count(value) for value in sorted(set(values))]
    assert deleted.sum() <= sum(gone)
    assert inserted.sum() <= 2


def test_attacked_with_an_earlier_release() -> None:
    attacked = attack(
        table(SECOND), POLICY, original=table(PEOPLE), earlier=[table(FIRST)], attacks=["homogeneity"]
    )
    assert attacked.result("deletion").successes == 2
    assert attacked.result("insertion").successes == 1
    (skipped,) = (skipped for skipped in attacked.untested if skipped.attack == "correspondence")
    assert "not every record of the earlier release can be in this one" in skipped.why
    # More people may have gone and come than the releases prove: it is a bound, and decides nothing.
    assert attacked.furthest is None or attacked.furthest.attack not in ("deletion", "insertion")


def test_where_nobody_went_or_came_nothing_is_tried() -> None:
    attacked = attack(
        table(SECOND), POLICY, original=table(PEOPLE), earlier=[table(SECOND)], attacks=["homogeneity"]
    )
    assert {"deletion", "insertion"} <= {skipped.attack for skipped in attacked.untested}
