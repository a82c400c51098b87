"""Columns whose own values are written as labels are: `{a, b}`, `*`, `[1, 5]`, `101**`, `>= 85`."""

from __future__ import annotations

import random
from dataclasses import replace
from pathlib import Path
from typing import Literal

import numpy as np
import pyarrow as pa
import pytest

import discreet
from discreet.classes import EquivalenceClasses
from discreet.policy.suggest import suggest
from discreet.release.codebook import CodebookEntry, told_sets
from discreet.table.domain import Domain
from discreet.table.hierarchies.edit import moved
from discreet.table.hierarchies.hierarchy import Hierarchy
from discreet.table.hierarchies.learn import learn
from discreet.table.meaning import KINDS, Meaning
from discreet.table.values import OneOf, parse
from discreet.transform.labels import discreetly_named, spelled_out
from discreet.transform.recoding import Recoding

VALUES = {
    "group": ["{a, b}", "{b, c}", "{a, +2}", "a", "b", "c", "+1", "*"],
    "years": [*map(str, range(60, 85)), ">= 85", "[60, 69]"],
    "place": [*(f"101{at}" for at in range(10, 40)), "101**", "1012*"],
    "band": ["[1, 5]", "[6, 10]", "[1, 10]", "[11, 20]", "< 1", "*"],
}


def people(seed: int) -> pa.Table:
    chance = random.Random(seed)
    columns = {name: [chance.choice(values) for _ in range(150)] for name, values in VALUES.items()}
    return pa.table({**columns, "diagnosis": [chance.choice(["flu", "none", "asthma"]) for _ in range(150)]})


@pytest.mark.slow
@pytest.mark.parametrize("shape", ["uniform", "nested", "free"])
@pytest.mark.parametrize("seed", [1, 2])
def test_releases_of_such_columns_are_truthful_and_can_be_judged(
    seed: int, shape: Literal["uniform", "nested", "free"], tmp_path: Path
) -> None:
    table = discreet.read(people(seed))
    policy = suggest(table).replace(quasi_identifiers=list(VALUES), sensitive=["diagnosis"])
    policy = replace(policy, plan=replace(policy.plan, seconds=2, shape=shape))
    release = discreet.anonymize(table, policy)
    links = tmp_path / "links.csv"
    file = release.save(tmp_path / "release.csv", links=links)
    assert discreet.check(file, policy).passes
    compared = discreet.compare(table, file, policy, labels=[], queries=5, links=links)
    assert compared.paired.pair.truthful
    attacks = discreet.attack(
        file, policy, original=table, links=links, attacks=["singling-out", "homogeneity"]
    )
    assert len(attacks.results) > 0


def test_a_set_is_written_unlike_every_value() -> None:
    values = ["a", "b", "{a, b}", '{"a", b}', '{"a", "b"}']
    written = OneOf(("a", "b")).unlike(values)
    assert written not in values
    assert parse(written) == OneOf(("a", "b"))


def test_groups_and_the_value_that_looks_like_their_set_stay_apart() -> None:
    classes = EquivalenceClasses.from_columns({"group": ["a", "b", "{a, b}"]})
    groups = Recoding.of_groups(classes, np.array([0, 0, 1]), kept=np.array([True, True]), method="example")
    assert groups.columns[0].values.to_pylist() == ['{"a", b}', "{a, b}"]
    assert discreetly_named(groups).columns[0].values.to_pylist() == ['{"a", b}', "{a, b}"]


def test_a_suppressed_member_is_not_named_though_its_short_label_is_a_value() -> None:
    classes = EquivalenceClasses.from_columns({"group": ["a", "b", "{a, +1}"]})
    groups = Recoding.of_groups(
        classes, np.array([0, 1, 2]), kept=np.array([True, False, True]), method="example"
    )
    column = replace(groups.columns[0], values=pa.array(["{a, b}", "b", "{a, +1}"]))
    named = discreetly_named(replace(groups, columns=(column,)))
    assert named.columns[0].values.to_pylist()[0] == '{"a", +1}'


def test_learned_groups_are_named_unlike_every_value() -> None:
    domain = Domain("group", pa.array(["a", "b", "{a, b}", "c"]))
    learned = learn(domain, np.array([1, 1, 9, 9]))
    values = set(learned.labels[0])
    for level in range(1, learned.height):
        for node, label in enumerate(learned.labels[level]):
            assert label not in values or learned.counts(level)[node] == 1
    assert moved(Hierarchy.of("g", [["a", "*"], ["b", "*"], ["{a, b}", "*"]]), 1, ["a", "b"]).labels[1] == (
        '{"a", b}',
        "{a, b}",
    )


def test_a_hull_is_no_value_of_another_group() -> None:
    values = ["[3, 10]", "[0, 5)", "(3, 10]", "[3, 10)"]
    learned = learn(Domain("band", pa.array(values)), np.array([10, 1, 3, 40]))
    for level in range(1, learned.height):
        for leaf, value in enumerate(values):
            if value in learned.labels[level]:
                assert learned.labels[level].index(value) == learned.nodes[level][leaf]


def test_a_star_says_nothing_also_where_values_are_stars() -> None:
    meaning = Meaning.of(Domain("x", pa.array(["*", "a", "b"])), Domain("x", pa.array(["*", "a"])))
    assert [KINDS[kind] for kind in meaning.kinds] == ["suppressed", "exact"]
    assert meaning.sizes.tolist() == [3, 1]


def test_a_value_that_counts_like_a_label_stands_for_itself() -> None:
    classes = EquivalenceClasses.from_columns({"group": ["{a, +2}", "b", "c"]})
    groups = Recoding.of_groups(classes, np.array([0, 1, 1]), kept=np.array([True, True]), method="example")
    assert spelled_out(groups) == {}
    assert told_sets([CodebookEntry("group", "{a; b, +2}", "{a; b, +2}", 7)]) == {}


def test_numbers_with_an_open_end_are_typed_as_generalised_and_merged_in_their_order() -> None:
    ages = [*map(str, range(60, 85)), ">= 85"]
    table = discreet.read(pa.table({"years": [ages[at % 26] for at in range(520)]}))
    assert table.column("years").storage == "text"
    typed = suggest(table).column("years")
    assert typed is not None
    assert typed.type == "generalised"
    coarse = learn(Domain("years", pa.array(ages)), type="generalised").labels[-2]
    assert all(label.startswith(("[", ">=")) for label in coarse), coarse


def test_members_of_a_set_keep_quotes_and_blanks_of_their_own() -> None:
    """Four values that differ in quotes and blanks alone; a set of two of them stands for these two."""
    values = ['"a"', " a", "'a'", "a"]
    original = Domain("group", pa.array(values))
    pairs = [(one, other) for one in values for other in values if one < other]
    meaning = Meaning.of(original, Domain("group", pa.array([str(OneOf(pair)) for pair in pairs])))
    covered = meaning.covers(np.arange(len(pairs))[:, None], np.arange(len(values))[None])
    assert covered.tolist() == [[value in pair for value in values] for pair in pairs]
    # Of a value without them, those of another tool are taken away.
    plain = Meaning.of(Domain("group", pa.array(["a", "b", "c"])), Domain("group", pa.array(["{'a', 'b'}"])))
    assert plain.covers(np.zeros(3, dtype=np.int64), np.arange(3)).tolist() == [True, True, False]
