"""Bands of age, shares and numbers with an open end have an order: groups are made of neighbours and named by their ends."""

from __future__ import annotations

import random
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import get_args

import numpy as np
import pyarrow as pa
import pytest

import discreet
from discreet.classes import EquivalenceClasses
from discreet.policy.plan import METHODS, Plan, Shape
from discreet.privacy import KAnonymity, TCloseness
from discreet.search.clusters.centres import replaced
from discreet.table.domain import Domain
from discreet.table.meaning import Meaning
from discreet.transform.labels import discreetly_named
from discreet.transform.recoding import Recoding

BANDS = ["[0-10)", "[10-20)", "[20-30)", "[30-40)", "[40-50)", "[50-60)", "[60-70)"]
SHARES = ["0-10%", "10-20", "20-30%", "30-40%", "40-50%", ""]
TOP_CODED = [*map(str, range(70, 85)), ">= 85"]


def people(values: Sequence[str]) -> pa.Table:
    draw = random.Random(3)
    rows = [(draw.choice(values), draw.choice("ABCDE"), draw.choice(["flu", "cold"])) for _ in range(160)]
    return pa.table(dict(zip(("band", "ward", "ill"), zip(*rows, strict=True), strict=True)))


def policy(plan: Plan) -> discreet.Policy:
    bare = discreet.Policy.of(
        quasi_identifiers=["band", "ward"],
        sensitive=["ill"],
        require=[KAnonymity(4)],
        profile="research-partner-3",
    )
    return replace(bare, plan=plan)


@pytest.mark.parametrize("shape", get_args(Shape))
@pytest.mark.parametrize("values", [BANDS, SHARES, TOP_CODED], ids=["bands", "shares", "top-coded"])
def test_labels_of_bands_are_neighbours(values: list[str], shape: str) -> None:
    """No label joins two bands and leaves out one between them; missing values may stand beside a range."""
    release = discreet.anonymize(people(values), policy(Plan(shape=shape, seconds=600)))
    order = [value for value in values if value]
    original, released = Domain("band", pa.array(values)), release.to_arrow()["band"].combine_chunks()
    labels = Domain("band", released.cast(pa.string()).unique().drop_null())
    meaning = Meaning.of(original, labels)
    assert meaning.truthful
    for code, label in enumerate(labels.labels()):
        members = sorted(order.index(values[at]) for at in meaning.members(code).tolist() if values[at])
        assert members == list(range(members[0], members[-1] + 1)) if members else label == "", label
        assert len(members) < 2 or not label.startswith("{") or "" in label, label


@pytest.mark.slow
@pytest.mark.parametrize("method", METHODS)
def test_the_cost_of_bands_is_what_compare_measures(method: str, tmp_path: Path) -> None:
    table = people(TOP_CODED)
    asked = policy(Plan(method=method, seconds=600))
    release = discreet.anonymize(table, asked)
    file = release.save(tmp_path / "release.csv")
    assert discreet.check(file, asked).passes
    measured = discreet.compare(table, file, asked, links=release.links).losses.measure("leaf-loss")
    if method != "microaggregation":  # its means are no labels
        assert release.to_dict()["cost"] == pytest.approx(measured.value)
    for label in set(release.to_arrow()["band"].to_pylist()) - set(TOP_CODED):
        assert label == "*" or label.startswith(("[", ">=", "<=", ">", "<")), label


def test_what_an_open_label_stands_for() -> None:
    ages = Domain("age", pa.array(["83", "84", ">= 85"]))
    meaning = Meaning.of(ages, Domain("age", pa.array(["<= 84", ">= 84", ">= 85", "[83, 84]"])))
    assert [meaning.members(code).tolist() for code in range(4)] == [[0, 1], [1, 2], [2], [0, 1]]


def test_touching_bands_are_told_apart() -> None:
    """35 belongs to either neighbour by its name: what is inside a label is told by the bands, not by their ends."""
    bands = Domain("band", pa.array(["0-35", "35-55", "55<="]))
    meaning = Meaning.of(bands, Domain("band", pa.array(["[0, 55]", ">= 35", "0-35"])))
    assert [meaning.members(code).tolist() for code in range(3)] == [[0, 1], [1, 2], [0]]


@pytest.mark.parametrize(
    "values",
    [
        ["<=50K", ">50K"],
        ["10-20", "15-25", "30-40"],
        ["10-20", "baker", "30-40"],
        ["1", "2", "3"],
        ["10-20%", "20-30K", "30-40K"],
        ["0-10", "10-20", "20-30%"],
        ["17", "20-24", "24", "25-30"],
    ],
)
def test_what_is_no_row_of_bands(values: list[str]) -> None:
    """Two values, overlaps, names among them, other units, a number inside a band; plain numbers are numbers."""
    places = Domain("x", pa.array(values)).places
    assert places is None or values == ["1", "2", "3"]


def test_a_nominal_column_has_no_order() -> None:
    assert Domain("band", pa.array(BANDS), type="nominal").places is None
    assert np.all(np.diff(Domain("band", pa.array(BANDS)).places) == 10)


def labels_of(values: Sequence[str], owner: Sequence[int], kept: Sequence[bool]) -> list[str]:
    """The labels of groups of classes with one value each, every value held by ten people."""
    classes = EquivalenceClasses.from_columns({"band": np.repeat(values, 10).tolist()})
    place = {label: owner[at] for at, label in enumerate(values)}
    groups = np.array([place[classes.attributes[0].label(code)] for code in classes.codes[0]])
    recoding = Recoding.of_groups(classes, groups, kept=np.ones(max(owner) + 1, dtype=bool), method="x")
    gone = [values[at] for at, shown in enumerate(kept) if not shown]
    shown = np.array([classes.attributes[0].label(code) not in gone for code in classes.codes[0]])
    named = discreetly_named(replace(recoding, kept=shown))
    told = named.columns[0].per_class().to_pylist()
    at = {classes.attributes[0].label(code): told[i] for i, code in enumerate(classes.codes[0])}
    return [at[value] for value in values]


@pytest.mark.parametrize(
    ("values", "owner", "kept", "told"),
    [
        # Only suppressed people are 90 or older: a label that ends at 100 would tell that there are any.
        (["[60-70)", "[70-80)", "[80-90)", "[90-100)"], [0, 0, 1, 1], [1, 1, 1, 0], ["[60, 80)", ">= 80"]),
        (["[60-70)", "[70-80)", "[80-90)", "[90-100)"], [0, 0, 1, 1], [0, 1, 1, 1], ["< 80", "[80, 100)"]),
        (["0-10%", "10-20%", "20-30%", "30-40%"], [0, 0, 1, 1], [1, 1, 1, 0], ["[0, 20]%", ">= 20%"]),
        (["[60-70)", "[70-80)", "[80-90)", "90"], [0, 0, 1, 1], [1, 1, 1, 0], ["[60, 80)", ">= 80"]),
        (["[60-70)", "[70-80)", "[80-90)"], [0, 0, 1], [1, 1, 1], ["[60, 80)", "[80-90)"]),
    ],
)
def test_no_label_tells_of_a_band_that_only_suppressed_people_have(
    values: list[str], owner: list[int], kept: list[int], told: list[str]
) -> None:
    assert list(dict.fromkeys(labels_of(values, owner, [bool(each) for each in kept]))) == told


def test_an_end_that_is_a_rare_number_does_not_move_over_a_band() -> None:
    """37 is held by one person only: its label begins above 35, where the band before it ends, not at 30."""
    values = ["1", "2", "3", "31-35", "37", "47"]
    people = {"37": 1, "47": 9}
    classes = EquivalenceClasses.from_columns(
        {"x": [value for value in values for _ in range(people.get(value, 10))]}
    )
    owner = np.array([0, 0, 0, 1, 2, 2])[[values.index(v) for v in classes.attributes[0].labels()]]
    recoding = Recoding.of_groups(
        classes, owner[classes.codes[0]], kept=np.ones(3, dtype=bool), method="example"
    )
    released = discreetly_named(recoding).columns[0]
    meaning = Meaning.of(classes.attributes[0], released.domain)
    members = [sorted(classes.attributes[0].label(c) for c in meaning.members(r)) for r in range(3)]
    assert sorted(members) == [["1", "2", "3"], ["31-35"], ["37", "47"]], released.printed()


@pytest.mark.parametrize("others", [[], ["unknown"], ["5-15"]], ids=["two", "name", "overlap"])
def test_a_range_is_read_where_the_bands_of_other_rows_have_no_order(others: list[str]) -> None:
    """Rows that a recipe is applied to may have two of the bands only, or a name among them: no value of nobody."""
    values = ["[0-10)", "[10-20)", *others]
    released = Domain("band", pa.array(["[0, 20)", "< 20", ">= 10", "[30, 40)"]))
    meaning = Meaning.of(Domain("band", pa.array(values)), released)
    inside = values[:2] if others != ["5-15"] else values
    told = [[values[at] for at in meaning.members(code).tolist()] for code in range(4)]
    assert told == [inside, inside, ["[10-20)"], []]


def test_the_ordered_distance_of_bands_is_that_of_their_order() -> None:
    """As text 10-19 comes before 5-9. By their order they are as far apart as 0, 1 and 2."""
    bands = ["0-4", "5-9", "10-19"]
    rows = {"ward": ["a", "a", "b", "b", "c", "c"], "age": ["0-4", "5-9", "5-9", "10-19", "10-19", "0-4"]}
    close = TCloseness(0.5, "age", distance="ordered")
    classes = EquivalenceClasses.from_columns({"ward": rows["ward"]}, sensitive={"age": rows["age"]})
    shares = np.array([[rows["age"][2 * i : 2 * i + 2].count(band) / 2 for band in bands] for i in range(3)])
    moved = np.abs(np.cumsum(shares - 1 / 3, axis=1)).sum(axis=1) / 2
    assert close.per_class(classes) == pytest.approx(moved)
    plain = EquivalenceClasses.from_columns(
        {"ward": rows["ward"]}, sensitive={"age": [bands.index(age) for age in rows["age"]]}
    )
    assert close.per_class(classes) == pytest.approx(close.per_class(plain))


def test_the_middle_of_bands_is_that_of_their_order() -> None:
    """Of 0-4, 5-9 and 10-19 the middle is 5-9, which as text comes last."""
    ages = Domain("age", pa.array(["0-4", "10-19", "5-9"]), type="ordinal")
    once, group = np.ones(3, dtype=np.int64), np.zeros(3, dtype=np.int64)
    released = replaced(ages, np.arange(3), once, group, np.ones(1), None, "middle")
    assert released.printed() == ["5-9"]


def test_a_rare_number_at_the_end_of_a_band_stays_where_it_is() -> None:
    """17 is told by the band before it, which ends there: a label that began at 10 would hold that band."""
    values = ["-3", "[5, 17)", "17", "21"]
    classes = EquivalenceClasses.from_columns(
        {"x": [value for value in values for _ in range(1 if value == "17" else 10)]}
    )
    owner = np.array([0, 1, 2, 2])[[values.index(v) for v in classes.attributes[0].labels()]]
    recoding = Recoding.of_groups(
        classes, owner[classes.codes[0]], kept=np.ones(3, dtype=bool), method="example"
    )
    assert ">= 17" in discreetly_named(recoding).columns[0].printed()
