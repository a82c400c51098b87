"""A declared type wins over what the values look like: codes of wards are names, whatever digits they are made of."""

from __future__ import annotations

import csv
from pathlib import Path

import pyarrow as pa
import pytest

from discreet.classes import EquivalenceClasses
from discreet.classes.store import load, save
from discreet.engine.read import read
from discreet.policy import Policy
from discreet.policy.plan import Plan
from discreet.policy.policy import ColumnPolicy
from discreet.privacy import KAnonymity
from discreet.release.anonymize import anonymize
from discreet.release.compare import compare
from discreet.release.prepare import count_classes
from discreet.table.column import DataType
from discreet.table.values import OneOf, parse

WARDS = [4, 4, 91, 91, 17, 17, 4, 91, 17, 23]
AGES = [30, 31, 33, 35, 41, 42, 55, 58, 60, 66]
NAMES = {str(ward) for ward in WARDS}


def policy(ward: DataType | None) -> Policy:
    """Two quasi-identifiers, of which the ward is declared to be something."""
    columns = (
        ColumnPolicy("ward", "quasi-identifier", ward),
        ColumnPolicy("age", "quasi-identifier", "integer"),
    )
    return Policy(columns=columns, requirements=(KAnonymity(3),), profile="research-partner-3")


def released(method: str, ward: DataType | None, wards: list[object] | None = None) -> list[object]:
    """What a method makes of the wards."""
    table = pa.table({"ward": wards or WARDS, "age": AGES})
    release = anonymize(table, policy(ward), plan=Plan(method=method))
    return list(release.table.engine.to_arrow(release.table, ["ward"])["ward"].to_pylist())


@pytest.mark.parametrize("method", ["mondrian", "clustering"])
def test_nominal_codes_become_sets_not_intervals(method: str) -> None:
    cells = released(method, "nominal")
    assert any(str(cell) not in NAMES for cell in cells)
    for cell in cells:
        told = parse(str(cell))
        assert str(cell) in NAMES | {"*"} or (isinstance(told, OneOf) and set(told.members) <= NAMES)


def test_nominal_codes_are_replaced_by_the_most_frequent_one() -> None:
    assert set(released("microaggregation", "nominal")) <= set(WARDS)


def test_nominal_codes_are_as_far_apart_as_any_two_names() -> None:
    # As numbers 1 and 2 are near and 90 is far; as names all three are equally far from each other, so that
    # ages alone decide who is near whom.
    table = pa.table({"ward": [1, 90, 2, 1, 90, 2], "age": [20, 21, 22, 60, 61, 62]})
    release = anonymize(table, policy("nominal"), plan=Plan(method="microaggregation", order="kept"))
    assert release.table.engine.to_arrow(release.table, ["age"])["age"].to_pylist() == [21] * 3 + [61] * 3


def test_ordinal_codes_are_replaced_by_a_middle_one_not_by_a_mean() -> None:
    assert set(released("microaggregation", "ordinal")) <= set(WARDS)
    assert not set(released("microaggregation", "integer")) <= set(WARDS)


@pytest.mark.parametrize("method", ["optimal", "subtree", "local"])
def test_learned_groups_of_nominal_codes_are_sets(method: str) -> None:
    wards = [10, 20, 30, 40, 50, 10, 20, 30, 40, 50]
    for cell in released(method, "nominal", wards):
        assert "[" not in str(cell)


def test_codes_of_sensitive_values_have_no_order_either() -> None:
    table = pa.table({"age": AGES, "illness": WARDS})
    columns = (
        ColumnPolicy("age", "quasi-identifier", "integer"),
        ColumnPolicy("illness", "sensitive", "nominal"),
    )
    asked = Policy(columns=columns)
    assert not count_classes(asked.fit(read(table)), asked).sensitive_domain("illness").is_numeric


def test_a_text_of_numbers_that_nobody_declared_stays_one() -> None:
    frame = read(pa.table({"age": ["1", "10", "9"]}))
    assert frame.engine.domain(frame, "age").is_numeric


def test_stored_classes_keep_declared_types(tmp_path: Path) -> None:
    asked = policy("nominal")
    counted = count_classes(asked.fit(read(pa.table({"ward": WARDS, "age": AGES}))), asked)
    save(counted, tmp_path / "classes.arrow")
    loaded: EquivalenceClasses = load(tmp_path / "classes.arrow")
    assert [domain.type for domain in loaded.attributes] == ["nominal", "integer"]


def test_intervals_of_another_tool_are_still_read(tmp_path: Path) -> None:
    original, other = tmp_path / "original.csv", tmp_path / "other.csv"
    for path, wards in ((original, [str(ward) for ward in WARDS]), (other, ["[4, 91]"] * len(WARDS))):
        with path.open("w", newline="") as file:
            csv.writer(file).writerows([("ward", "age"), *zip(wards, AGES, strict=True)])
    compared = compare(original, other, policy("nominal"), labels=[])
    assert all(meaning.truthful for meaning in compared.paired.pair.meanings)  # type: ignore[union-attr]
