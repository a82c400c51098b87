"""Columns that follow from another and are left out say how its values are put together, and what that is called."""

from __future__ import annotations

import random
from dataclasses import replace

import numpy as np
import pyarrow as pa

import discreet
from discreet.classes import EquivalenceClasses
from discreet.policy import Policy
from discreet.policy.plan import Plan
from discreet.privacy import KAnonymity
from discreet.release.anonymize import anonymize
from discreet.release.check import check
from discreet.release.wider import wider_names
from discreet.search.local.tidy import tidied
from discreet.search.local.trees import grown
from discreet.search.problem import Problem, make_problem
from discreet.table.hierarchies.hierarchy import LEARNED, Hierarchy, Ladder, WiderNames
from discreet.table.values import OneOf, parse
from discreet.transform.labels import discreetly_named, spelled_out
from discreet.transform.recoding import Recoding
from discreet.utility.objectives.registry import build_objective

SURNAMES = ("Schmidt", "Rossi", "Smith", "Johnson")
BOROUGHS = ("Bronx", "Brooklyn", "Manhattan", "Queens")
ZONES = {
    f"{name} Station Road No {at}": BOROUGHS[at % 4]
    for at, name in enumerate(["East", "North", "South", "West"] * 8)
}


def trips() -> pa.Table:
    dice = random.Random(3)
    zones = [dice.choice(sorted(ZONES)) for _ in range(400)]
    return pa.table(
        {
            "zone": zones,
            "borough": [ZONES[zone] for zone in zones],
            "driver": [dice.choice(["Smith, John", "Miller, Ann"]) for _ in zones],
            "hour": [dice.randrange(24) for _ in zones],
            "passengers": [dice.randrange(1, 7) for _ in zones],
        }
    )


def test_a_set_is_called_what_the_column_that_follows_says_of_all_its_values() -> None:
    policy = Policy.of(quasi_identifiers=["zone", "borough", "hour", "passengers"])
    policy = replace(policy, plan=Plan(drop_attributes=("borough",), seconds=0.2))
    release = anonymize(trips().drop(["driver"]), policy)
    labels = [label for label in release.recoding.columns[0].printed() if label.startswith("{")]
    meant = spelled_out(release.recoding)["zone"]
    assert any(label.endswith(f"({borough})}}") for label in labels for borough in BOROUGHS)
    for label in labels:
        boroughs = {ZONES[zone] for zone in meant[label].members} if label in meant else set()
        if 0 < len(boroughs) < 3:
            assert label.endswith(f"({' + '.join(sorted(boroughs))})}}")
        assert len(label) <= 60
    assert check(release.table, policy).passes


def test_columns_that_name_people_and_those_that_do_not_follow_name_nothing() -> None:
    table = discreet.read(trips())
    policy = Policy.of(quasi_identifiers=["zone", "borough", "driver", "hour", "passengers"])
    counted = table.engine.count(table, quasi_identifiers=policy.quasi_identifiers)

    def told(*dropped: str) -> dict[str, list[str]]:
        wider = wider_names(table, policy, Plan(drop_attributes=dropped), counted)
        return {name: [each.column for each in names] for name, names in wider.items()}

    assert told("borough") == {"zone": ["borough"]}
    assert told("borough", "passengers") == {"zone": ["borough"]}
    assert told("passengers") == told() == {}
    # The driver of two zones is always the same person, whose name says nothing in public.
    people = [f"{given} {surname}" for given in ("Anna", "David", "Maria", "Paul") for surname in SURNAMES]
    driver = dict(zip(sorted(ZONES), people * 2, strict=True))
    zones = trips()["zone"].to_pylist()
    named = discreet.read(trips().set_column(2, "driver", pa.array([driver[zone] for zone in zones])))
    counted = named.engine.count(named, quasi_identifiers=policy.quasi_identifiers)
    assert wider_names(named, policy, Plan(drop_attributes=("driver",)), counted) == {}


def problem_of(columns: dict[str, list[str]], wider: tuple[WiderNames, ...] = ()) -> Problem:
    classes = EquivalenceClasses.from_columns(columns)
    ladders = [
        replace(
            Hierarchy.of(d.name, [[label, "*"] for label in d.labels()]).ladder(d),
            assumed=LEARNED,
            wider=wider,
        )
        for d in classes.attributes
    ]
    return make_problem(classes, ladders, [KAnonymity(2)])


def test_trees_join_the_towns_of_a_county_before_those_of_two() -> None:
    towns = list("abcdefgh")
    # The groups hold together a with e, b with f …, and yet the counties come first.
    groups = np.array([0, 1, 2, 3] * 2)
    counties = WiderNames("county", ("x",) * 4 + ("y",) * 4)

    def nodes(problem: Problem) -> set[frozenset[str]]:
        (ladder,) = grown(problem, groups).ladders
        return {
            frozenset(np.array(towns)[step.codes == node].tolist())
            for step in ladder.steps
            for node in range(len(step.labels))
        }

    assert frozenset("ae") in nodes(problem_of({"town": towns}))
    guided = nodes(problem_of({"town": towns}, (counties,)))
    assert frozenset("ae") not in guided
    assert {frozenset("abcd"), frozenset("efgh")} <= guided


def test_equal_short_labels_get_letters_after_what_they_share() -> None:
    names = sorted(f"Zone {at:02}" for at in range(30))
    classes = EquivalenceClasses.from_columns({"zone": names * 2, "sex": ["f"] * 30 + ["m"] * 30})
    zone, sex = (
        [d.labels()[code] for code in codes]
        for d, codes in zip(classes.attributes, classes.codes, strict=True)
    )
    lone = {("f", names[28]): 2, ("m", names[29]): 3}
    owner = np.array([lone.get((who, where), int(who == "m")) for who, where in zip(sex, zone, strict=True)])
    whole = Recoding.of_groups(classes, owner, kept=np.ones(4, dtype=bool), method="example")
    ladders: list[Ladder] = [
        replace(ladder, wider=(WiderNames("city", ("Rome",) * ladder.domain.size),))
        for ladder in problem_of({"zone": names * 2, "sex": ["f"] * 30 + ["m"] * 30}).ladders
    ]
    labels = sorted(
        {label for label in discreetly_named(whole, ladders).columns[0].printed() if "+" in label}
    )
    assert labels == [
        f"{{Zone 00, Zone 01, Zone 02, Zone 03, Zone 04, +24 (Rome {letter})}}" for letter in "AB"
    ]
    assert parse(labels[0]) == OneOf(tuple(names[:5]), 24, "Rome A")


def test_a_label_that_hardly_says_more_than_a_wider_one_is_given_up() -> None:
    ages = [str(age) for age in range(10, 50)]
    wide = [[age, "{10-48}" if age != "49" else "49", "*"] for age in ages]
    halves = [[row[0], "{10-29}" if row[0] < "30" else row[1], row[1], "*"] for row in wide]
    classes = EquivalenceClasses.from_columns({"age": ages}, counts=[1000] * 20 + [1] * 19 + [300])
    ladder = Hierarchy.of("age", halves).ladder(classes.attributes[0])
    problem = make_problem(classes, [ladder], [KAnonymity(2)])
    # Twenty ages of a thousand each by half, 19 records by what is nearly everything, and two groups by everything.
    owner = np.array([0] * 20 + [1] * 18 + [2, 2])
    shown = Recoding.of_groups(
        classes, owner, kept=np.ones(3, bool), method="local", ladders=[ladder], style="hierarchy"
    )
    wider = Recoding.of_groups(
        classes, np.array([0] * 19 + [1] * 19 + [2, 2])[:40], kept=np.ones(3, bool), method="local",
        ladders=[ladder], style="hierarchy",
    )  # fmt: skip
    assert sorted(wider.columns[0].printed()) == ["*", "{10-29}", "{10-48}"]
    (told,) = tidied(wider, problem, [ladder]).columns
    assert sorted(told.printed()) == ["*", "{10-29}"]
    assert (
        told.shares[wider.columns[0].codes == wider.columns[0].printed().index("{10-48}")].tolist()
        == [1.0] * 19
    )
    # What many records have is worth its label.
    assert "{10-29}" in tidied(shown, problem, [ladder]).columns[0].printed()
    # Another objective counts otherwise.
    other = replace(problem, objective=build_objective("discernibility", {}))
    assert tidied(wider, other, [ladder]) is wider
