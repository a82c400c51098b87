"""Published worked examples of privacy models, each recomputed by hand."""

from __future__ import annotations

import math

import pytest

from discreet.classes import EquivalenceClasses
from discreet.privacy import (
    BetaLikeness,
    DeltaDisclosure,
    EpsilonMAnonymity,
    GBalance,
    HAffiliation,
    KAnonymity,
    KEAnonymity,
    LDiversity,
    TCloseness,
)

ADULT_EDUCATION = ["{Bachelors, Masters}"] * 2 + ["{HS-grad, 11th}"] * 2 + ["{Bachelors, Masters}"] * 2
ADULT = EquivalenceClasses.from_columns(
    {
        "education": ADULT_EDUCATION,
        "education-num": ["(10, 14)", "(10, 14)", "(5, 9)", "(5, 9)", "(10, 14)", "(10, 14)"],
        "capital-loss": [0] * 6,
        "native-country": ["{United-States, Cuba}"] * 6,
    },
    sensitive={
        "age": [39, 50, 38, 53, 28, 37],
        "workclass": ["State-gov", "Self-emp-not-inc", "Private", "Private", "Private", "Private"],
    },
)

SEDAN, SUV = "Sedan", "SUV"
TRIPS = EquivalenceClasses.from_columns(
    {
        "engine": ["?"] * 5 + ["Hybrid"] * 3,
        "body": [SEDAN] * 5 + [SUV] * 3,
        "seats": ["2"] * 5 + ["4 or 5"] * 3,
    },
    person=[1, 1, 2, 3, 4, 5, 5, 6],
    sensitive={
        "artist": [
            "Kid Cudi",
            "Radio",
            "Radio",
            "Paul Kalkbrenner",
            "BLACKPINK",
            "Taylor Swift",
            "Radio",
            "Taylor Swift",
        ]
    },
)
# Classes are ordered by their codes: "?" before "Hybrid".


def by_size(classes: EquivalenceClasses, values: object) -> dict[int, float]:
    """The per-class value by the number of records, which tells the classes of the examples apart."""
    assert values is not None
    return dict(zip(classes.records.tolist(), [round(v, 10) for v in values], strict=True))


# ── six rows of Adult ─────────────────────────────────────────────────────────────────────────────


def test_six_rows_of_adult_have_k_2() -> None:
    assert KAnonymity(2).measure(ADULT).value == 2
    assert sorted(ADULT.records.tolist()) == [2, 4]


def test_six_rows_of_adult_have_l_2_for_age_and_1_for_workclass() -> None:
    assert LDiversity(2, "age").measure(ADULT).value == 2
    assert LDiversity(2, "workclass").measure(ADULT).value == 1


def test_six_rows_of_adult_have_ordered_t_of_a_tenth_and_a_fifth() -> None:
    found = TCloseness(0.2, "age", distance="ordered").measure(ADULT)
    assert by_size(ADULT, found.per_class) == {4: 0.1, 2: 0.2}
    assert found.value == pytest.approx(0.2)
    assert TCloseness(0.2, "age", distance="ordered").satisfied(ADULT)


# ── Li et al., and the pairs that equal distance cannot tell apart ───────────────────────────────


@pytest.mark.parametrize(("members", "distance"), [((3, 4, 5), 0.375), ((6, 8, 11), 1 / 6)])
def test_ordered_distance_of_li_et_al(members: tuple[int, ...], distance: float) -> None:
    pay = [*members, *(v for v in range(3, 12) if v not in members)]
    classes = EquivalenceClasses.from_columns({"class": [0] * 3 + [1] * 6}, sensitive={"pay": pay})
    found = TCloseness(0.5, "pay", distance="ordered").measure(classes).per_class
    assert by_size(classes, found)[3] == pytest.approx(distance)


def two_valued(class_ones: int, class_size: int, table_ones: int, table_size: int) -> EquivalenceClasses:
    """A class with a share of ones, inside a table with another."""
    rest = table_size - class_size
    ones = table_ones - class_ones
    return EquivalenceClasses.from_columns(
        {"class": [0] * class_size + [1] * rest},
        sensitive={
            "hiv": [1] * class_ones + [0] * (class_size - class_ones) + [1] * ones + [0] * (rest - ones)
        },
    )


PAIRS = {
    "frequent": (two_valued(50, 100, 400, 1000), 0.25, 0.097),
    "rare": (two_valued(11, 100, 100, 10_000), 10.0, 1.04),
}


@pytest.mark.parametrize("pair", PAIRS)
def test_equal_distance_is_a_tenth_for_both_pairs(pair: str) -> None:
    classes, _, _ = PAIRS[pair]
    found = TCloseness(0.1, "hiv").measure(classes).per_class
    assert by_size(classes, found)[100] == pytest.approx(0.1)


@pytest.mark.parametrize("pair", PAIRS)
def test_beta_likeness_tells_the_pairs_apart(pair: str) -> None:
    classes, gain, _ = PAIRS[pair]
    found = BetaLikeness(1, "hiv").measure(classes).per_class
    assert by_size(classes, found)[100] == pytest.approx(gain)


@pytest.mark.parametrize("pair", PAIRS)
def test_delta_disclosure_tells_the_pairs_apart(pair: str) -> None:
    classes, _, delta = PAIRS[pair]
    found = DeltaDisclosure(1, "hiv", base=10).measure(classes).per_class
    assert by_size(classes, found)[100] == pytest.approx(delta, abs=0.005)


# ── ten vehicle trips ─────────────────────────────────────────────────────────────────────────────


def test_trips_have_k_2_in_drivers_and_3_in_trips() -> None:
    found = KAnonymity(2).measure(TRIPS)
    assert (found.value, found.unit) == (2, "persons")
    assert KAnonymity(2, unit="records").measure(TRIPS).value == 3


def test_trips_have_l_2() -> None:
    assert LDiversity(2, "artist").measure(TRIPS).value == 2


def test_trips_have_equal_distances_of_a_quarter_and_five_twelfths() -> None:
    found = TCloseness(0.5, "artist").measure(TRIPS)
    assert by_size(TRIPS, found.per_class) == pytest.approx({5: 0.25, 3: 5 / 12})
    assert found.value == pytest.approx(5 / 12)


def test_trips_have_the_published_balance() -> None:
    found = GBalance(0.4).measure(TRIPS)
    assert by_size(TRIPS, found.per_class) == pytest.approx({5: 0.72, 3: 4 / 9})
    assert found.value == pytest.approx(4 / 9)


def test_trips_have_the_published_affiliation() -> None:
    found = HAffiliation(0.5, "artist").measure(TRIPS)
    assert by_size(TRIPS, found.per_class) == pytest.approx({5: 0.5, 3: 1.0})
    assert found.value == 1


def test_a_harmless_value_may_be_shared() -> None:
    """Without "Radio" no two of the four people of the sedans share an artist."""
    free = HAffiliation(0.5, "artist", harmless=("Radio",)).measure(TRIPS)
    assert by_size(TRIPS, free.per_class)[5] == pytest.approx(0.25)
    assert free.per_class.max() == 1


# ── proximity: four salaries of the survey of privacy properties ─────────────────────────────────


def test_three_of_four_salaries_are_close() -> None:
    classes = EquivalenceClasses.from_columns({"a": [0] * 4}, sensitive={"pay": [1000, 1030, 1050, 4000]})
    assert KEAnonymity(4, 3000, "pay").satisfied(classes)
    assert EpsilonMAnonymity(50, 2, "pay").measure(classes).value == pytest.approx(1 / 0.75)
    assert not EpsilonMAnonymity(50, 2, "pay").satisfied(classes)


# ── traps ─────────────────────────────────────────────────────────────────────────────────────────


def one_class(*counts: int) -> EquivalenceClasses:
    """One class whose values occur ``counts`` times."""
    values = [value for value, count in enumerate(counts) for _ in range(count)]
    return EquivalenceClasses.from_columns({"a": [0] * len(values)}, sensitive={"dx": values})


def test_a_null_makes_a_class_of_its_own() -> None:
    classes = EquivalenceClasses.from_columns({"zip": ["1", "1", "1", None]})
    assert KAnonymity(2).measure(classes).value == 1


@pytest.mark.parametrize("values", [1, 2, 3, 7, 10, 100])
def test_entropy_l_of_equally_frequent_values_is_their_number(values: int) -> None:
    for repeats in (1, 3, 7):
        classes = one_class(*[repeats] * values)
        assert LDiversity(values, "dx", kind="entropy").measure(classes).value == pytest.approx(values)
        assert LDiversity(values, "dx", kind="entropy").satisfied(classes)


@pytest.mark.parametrize(("l", "needed"), [(2, 4.0), (3, 8.0)])
def test_recursive_diversity_starts_from_the_most_frequent(l: int, needed: float) -> None:  # noqa: E741
    classes = one_class(8, 1, 1)
    assert LDiversity(l, "dx", kind="recursive", c=1).measure(classes).value == needed
    assert not LDiversity(l, "dx", kind="recursive", c=needed).satisfied(classes)
    assert LDiversity(l, "dx", kind="recursive", c=needed + 0.01).satisfied(classes)


def test_delta_disclosure_is_infinite_where_a_value_is_missing() -> None:
    classes = EquivalenceClasses.from_columns({"a": [0, 0, 1, 1]}, sensitive={"dx": ["x", "x", "x", "y"]})
    found = DeltaDisclosure(100, "dx").measure(classes)
    assert math.isinf(found.value)
    assert not DeltaDisclosure(100, "dx").satisfied(classes)
    assert any("miss" in note for note in found.notes)


def test_enhanced_beta_may_hold_for_no_beta_and_says_so() -> None:
    classes = EquivalenceClasses.from_columns({"a": [0, 0, 1, 1]}, sensitive={"dx": ["x", "x", "x", "y"]})
    found = BetaLikeness(1e9, "dx", kind="enhanced").measure(classes)
    assert math.isinf(found.value)
    assert any("no beta" in note for note in found.notes)
    assert BetaLikeness(1e9, "dx").satisfied(classes)


@pytest.mark.parametrize("ones", [1, 3, 5, 8])
def test_binary_attribute_and_single_records_give_the_larger_share(ones: int) -> None:
    classes = EquivalenceClasses.from_columns(
        {"id": list(range(10))}, sensitive={"dx": [1] * ones + [0] * (10 - ones)}
    )
    for distance in ("equal", "ordered"):
        found = TCloseness(1, "dx", distance=distance).measure(classes).value
        assert found == pytest.approx(max(ones, 10 - ones) / 10)
