"""Mondrian on tables that can be divided by hand."""

from __future__ import annotations

import numpy as np
import pytest

from discreet.classes import EquivalenceClasses
from discreet.errors import InvalidParameter, UnknownColumn
from discreet.privacy import KAnonymity, LDiversity, TCloseness
from discreet.search.mondrian.search import mondrian
from discreet.table.hierarchies.hierarchy import Hierarchy
from discreet.transform.recoding import Recoding

ZIPS = [["1010", "101*", "*"], ["1011", "101*", "*"], ["2020", "202*", "*"], ["2021", "202*", "*"]]


def cells(recoding: Recoding) -> list[tuple[str, ...]]:
    """New values of every class, in the order of the classes."""
    columns = [column.per_class().to_pylist() for column in recoding.columns]
    return [
        tuple("null" if cell is None else str(cell) for cell in row) for row in zip(*columns, strict=True)
    ]


def test_numbers_are_cut_where_the_gap_is() -> None:
    # Halves would be 1..3 and 4..92; the loss is counted in values, so the three far ones stay together.
    classes = EquivalenceClasses.from_columns({"age": [1, 2, 3, 90, 91, 92]})
    assert cells(mondrian(classes, [KAnonymity(3)], mode="strict")) == [("[1, 3]",)] * 3 + [("[90, 92]",)] * 3


def test_the_attribute_that_saves_most_is_cut() -> None:
    classes = EquivalenceClasses.from_columns({"age": [30, 31, 32, 33], "sex": ["f", "m", "f", "m"]})
    # By sex: 2 x (3/4 + 1/2) + 2 x (3/4 + 1/2) = 5; by age: 4 x (2/4 + 1) = 6.
    found = cells(mondrian(classes, [KAnonymity(2)], mode="strict"))
    assert found == [("[30, 32]", "f"), ("[31, 33]", "m"), ("[30, 32]", "f"), ("[31, 33]", "m")]
    # With all weight on age it is the other way round.
    by_age = cells(mondrian(classes, [KAnonymity(2)], mode="strict", weights={"sex": 0.1}))
    assert by_age == [("[30, 31]", "*")] * 2 + [("[32, 33]", "*")] * 2


def test_strict_keeps_equal_values_together_and_relaxed_divides_them() -> None:
    # A cut by age must run through the four 2s to leave three on either side; by id, ages stay mixed.
    ages = {"a": 1, "b": 3, "c": 2, "d": 2, "e": 2, "f": 2, "g": 3, "h": 1}
    classes = EquivalenceClasses.from_columns({"age": list(ages.values()), "id": list(ages)})
    strict = mondrian(classes, [KAnonymity(3)], mode="strict", weights={"id": 0})
    relaxed = mondrian(classes, [KAnonymity(3)], mode="relaxed", weights={"id": 0})
    assert {age for age, _ in cells(strict)} == {"[1, 3]"}
    assert {age for age, _ in cells(relaxed)} == {"[1, 2]", "[2, 3]"}


def test_categories_become_sets_and_all_of_them_a_star() -> None:
    classes = EquivalenceClasses.from_columns({"job": ["baker", "cook", "smith", "smith"]})
    assert cells(mondrian(classes, [KAnonymity(2)])) == [("{baker, cook}",), ("{baker, cook}",), ("smith",)]
    assert cells(mondrian(classes, [KAnonymity(3)])) == [("*",)] * 3


def test_hierarchies_are_cut_between_children() -> None:
    classes = EquivalenceClasses.from_columns({"zip": ["1010", "1011", "2020", "2021"]})
    ladder = Hierarchy.of("zip", ZIPS).ladder(classes.attributes[0])
    found = mondrian(classes, [KAnonymity(2)], ladders=[ladder], style="hierarchy")
    assert cells(found) == [("101*",)] * 2 + [("202*",)] * 2
    assert found.columns[0].shares.tolist() == [0.5] * 4


def test_the_most_frequent_child_is_cut_off_first() -> None:
    # In the order of the leaves no single cut frees 2020: it lies between the others.
    rows = [["1010", "*"], ["2020", "*"], ["3030", "*"]]
    classes = EquivalenceClasses.from_columns({"zip": ["1010", "2020", "2020", "3030"]})
    ladder = Hierarchy.of("zip", rows).ladder(classes.attributes[0])
    found = mondrian(classes, [KAnonymity(2)], ladders=[ladder], style="hierarchy")
    assert cells(found) == [("*",), ("2020",), ("*",)]


def test_a_null_gets_its_own_side() -> None:
    classes = EquivalenceClasses.from_columns({"age": [30, 31, None, None]})
    assert cells(mondrian(classes, [KAnonymity(2)])) == [("[30, 31]",), ("[30, 31]",), ("null",)]
    alone = EquivalenceClasses.from_columns({"age": [30, 31, 32, None]})
    # One null is too few for a group: it makes a set of what it is with, and the others keep an interval.
    assert cells(mondrian(alone, [KAnonymity(2)])) == [("[30, 31]",)] * 2 + [("{32, ∅}",)] * 2


def test_texts_that_are_numbers_are_ordered_as_numbers() -> None:
    classes = EquivalenceClasses.from_columns({"age": ["9", "10", "100", "101"]})
    found = {
        classes.labels(i)["age"]: cell for i, (cell,) in enumerate(cells(mondrian(classes, [KAnonymity(2)])))
    }
    assert found == {"9": "[9, 10]", "10": "[9, 10]", "100": "[100, 101]", "101": "[100, 101]"}


def test_distinct_values_are_a_split_test() -> None:
    classes = EquivalenceClasses.from_columns(
        {"age": [1, 2, 3, 4]}, sensitive={"dx": ["flu", "flu", "acne", "acne"]}
    )
    # The middle cut would leave one diagnosis on each side.
    assert cells(mondrian(classes, [LDiversity(2, "dx")], mode="strict")) == [("[1, 4]",)] * 4
    mixed = EquivalenceClasses.from_columns(
        {"age": [1, 2, 3, 4]}, sensitive={"dx": ["flu", "acne", "flu", "acne"]}
    )
    assert (
        cells(mondrian(mixed, [LDiversity(2, "dx")], mode="strict")) == [("[1, 2]",)] * 2 + [("[3, 4]",)] * 2
    )


def test_persons_are_counted_not_records() -> None:
    classes = EquivalenceClasses.from_columns({"age": [1, 1, 2, 3, 4]}, person=["a", "a", "a", "b", "c"])
    # 1 and 2 belong to one person: alone they are no group of two.
    assert cells(mondrian(classes, [KAnonymity(2)])) == [("[1, 4]",)] * 4
    assert cells(mondrian(classes, [KAnonymity(2, unit="records")])) == [("[1, 2]",)] * 2 + [("[3, 4]",)] * 2


def test_closeness_compares_with_the_whole_table() -> None:
    classes = EquivalenceClasses.from_columns(
        {"age": [1, 2, 3, 4, 5, 6, 7, 8]}, sensitive={"dx": ["a", "b", "a", "b", "a", "b", "b", "b"]}
    )
    model = TCloseness(0.15, "dx")
    found = mondrian(classes, [model], mode="strict")
    assert model.satisfied(found.regrouped())
    # In the table a has 3/8. Halves have it in 1/2 and 1/4, both 1/8 off; [7, 8] would be 3/8 off.
    assert cells(found) == [("[1, 2]",)] * 2 + [("[3, 4]",)] * 2 + [("[5, 8]",)] * 4


def test_when_the_table_itself_fails_nothing_is_kept() -> None:
    classes = EquivalenceClasses.from_columns({"age": [1, 2, 3]})
    found = mondrian(classes, [KAnonymity(4)])
    assert not found.kept.any()
    assert found.suppressed_records == 3


def test_without_requirements_nothing_changes() -> None:
    classes = EquivalenceClasses.from_columns({"age": [1, 2, 3], "sex": ["f", "m", "f"]})
    found = mondrian(classes, [])
    assert found.columns[0].per_class().to_pylist() == [1, 2, 3]
    assert found.columns[1].per_class().to_pylist() == ["f", "m", "f"]


def test_one_combination_stays_as_it_is() -> None:
    classes = EquivalenceClasses.from_columns({"age": [1, 1, 1]})
    assert mondrian(classes, [KAnonymity(3)]).columns[0].per_class().to_pylist() == [1]
    assert not mondrian(classes, [KAnonymity(4)]).kept.any()


def test_neighbours_are_exchanged_in_relaxed_mode_only() -> None:
    rng = np.random.default_rng(7)
    columns = {"a": rng.integers(0, 30, 400).tolist(), "b": [f"v{i}" for i in rng.integers(0, 9, 400)]}
    classes = EquivalenceClasses.from_columns(columns)

    def loss(found: Recoding) -> float:
        return float(found.shares.sum(axis=0) @ classes.records)

    strict = mondrian(classes, [KAnonymity(4)], mode="strict")
    relaxed = mondrian(classes, [KAnonymity(4)], mode="relaxed")
    assert loss(relaxed) < 0.97 * loss(strict)
    assert KAnonymity(4).satisfied(relaxed.regrouped())


def test_progress_is_told() -> None:
    said: list[str] = []
    mondrian(EquivalenceClasses.from_columns({"a": [1, 2, 3, 4]}), [KAnonymity(2)], progress=said.append)
    assert any("dividing" in text for text in said)
    assert any("exchanging" in text for text in said)


def test_wrong_words_and_weights_are_refused() -> None:
    classes = EquivalenceClasses.from_columns({"age": [1, 2]})
    with pytest.raises(InvalidParameter, match="mode"):
        mondrian(classes, [], mode="loose")  # type: ignore[arg-type]
    with pytest.raises(UnknownColumn):
        mondrian(classes, [], weights={"agee": 1})
    with pytest.raises(InvalidParameter, match="weight"):
        mondrian(classes, [], weights={"age": -1})
