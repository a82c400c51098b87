"""The rows of a person taken together: left out of a release by default, judged where they stay linked."""

from __future__ import annotations

import itertools
from collections import Counter
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any, Literal

import numpy as np
import pyarrow as pa
import pyarrow.parquet
import pytest

import discreet
from discreet.attacks.linkage.singling_out import singling_out
from discreet.classes import EquivalenceClasses
from discreet.classes.linked import LinkedRows
from discreet.classes.pair import Links, Pair
from discreet.errors import GoalUnreachable, InvalidPolicy
from discreet.policy import Policy
from discreet.policy.file import dumps
from discreet.policy.plan import Plan
from discreet.privacy import HAffiliation, KAnonymity, LinkedKAnonymity

PROFILE = """title = "Nothing but the policy"
description = "What is asked stands in the policy."
source = "none"
date = 2026-01-01
"""


@pytest.fixture
def bare(tmp_path: Path) -> str:
    (tmp_path / "bare.toml").write_text(PROFILE, encoding="utf-8")
    return str(tmp_path / "bare.toml")


def trips(persons: dict[str, str]) -> pa.Table:
    """One row per letter: who, and which car."""
    rows = [(person, car) for person, cars in persons.items() for car in cars]
    return pa.table({"who": [who for who, _ in rows], "car": [car for _, car in rows]})


def alike(classes: EquivalenceClasses) -> list[int]:
    """How many have the same rows as each person."""
    number, held = LinkedRows.of(classes).alike()
    return [int(size) for size in held[number]]


EACH_CLASS_IS_LARGE = trips({"a": "sv", "b": "sv", "c": "ss", "d": "v"})
"""Three drive the suv and three the van; by their rows together a and b are alike, c and d alone."""


def test_people_are_alike_who_have_as_many_rows_in_every_class() -> None:
    table = EACH_CLASS_IS_LARGE
    classes = EquivalenceClasses.from_columns(
        {"car": table["car"].to_pylist()}, person=table["who"].to_pylist()
    )
    assert KAnonymity(3).satisfied(classes)
    assert alike(classes) == [2, 2, 1, 1]
    measure = LinkedKAnonymity(2).measure(classes)
    assert measure.value == 1
    assert measure.meaning == "50.0% of the persons are alone with their rows taken together."


def test_alike_is_what_loops_say() -> None:
    draw = np.random.default_rng(7)
    for _ in range(50):
        rows = int(draw.integers(1, 40))
        cars, who = draw.integers(0, 4, rows), draw.integers(0, 12, rows)
        classes = EquivalenceClasses.from_columns({"car": cars.tolist()}, person=who.tolist())
        together = {
            person: frozenset(Counter(cars[who == person].tolist()).items()) for person in set(who.tolist())
        }
        held = Counter(together.values())
        expected = [held[together[person]] for person in sorted(together)]
        assert alike(classes) == expected
        smallest = [
            min(held[together[person]] for person in set(who[cars == car].tolist()))
            for car in sorted(set(cars.tolist()))
        ]
        assert LinkedKAnonymity(1).per_class(classes).tolist() == smallest


def test_without_ids_nothing_is_linked() -> None:
    classes = EquivalenceClasses.from_columns({"car": ["s", "s", "v"]})
    assert LinkedKAnonymity(2).per_class(classes).tolist() == [2.0, 1.0]


@pytest.mark.slow
def test_merging_classes_never_tells_people_apart() -> None:
    for rows in itertools.product("stv", repeat=6):
        fine = EquivalenceClasses.from_columns({"car": list(rows)}, person=[1, 1, 2, 2, 3, 3])
        coarse = EquivalenceClasses.from_columns(
            {"car": ["x" if car in "st" else car for car in rows]}, person=[1, 1, 2, 2, 3, 3]
        )
        assert all(c >= f for c, f in zip(alike(coarse), alike(fine), strict=True))


# ── the id is left out ───────────────────────────────────────────────────────────────────────────────


def visits() -> pa.Table:
    """40 patients with 1 to 3 visits."""
    rows = [
        (f"p{p}", 20 + p % 4, "flu" if (p + v) % 2 else "cold") for p in range(40) for v in range(1 + p % 3)
    ]
    return pa.table(dict(zip(("patient", "age", "illness"), map(list, zip(*rows, strict=True)), strict=True)))


POLICY = Policy.of(
    quasi_identifiers=["age"], sensitive=["illness"], person="patient", require=[KAnonymity(3)]
)


def test_person_ids_are_left_out_by_default_and_persons_counted_all_the_same(
    bare: str, tmp_path: Path
) -> None:
    policy = POLICY.replace(profile=bare)
    release = discreet.anonymize(visits(), policy)
    assert release.table.names == ("age", "illness")
    assert release.after.event_level
    assert release.after.persons <= 40
    assert release.after.measure("k-anonymity").unit == "persons"
    place = release.save(tmp_path / "release.csv")
    verdict = discreet.check(place, policy)
    assert verdict.passes
    [note] = verdict.notes
    assert note.startswith("patient is not in the table, as the plan says: classes are counted in records")
    assert verdict.to_dict()["notes"] == [note]


def test_a_release_whose_plan_keeps_ids_must_have_them(bare: str) -> None:
    keeps = replace(POLICY.replace(profile=bare), plan=Plan(person="pseudonymise"))
    with pytest.raises(InvalidPolicy, match="no column 'patient'"):
        discreet.check(visits().drop_columns(["patient"]), keeps)


def test_a_slip_in_the_name_of_the_id_is_told(bare: str) -> None:
    policy = Policy.of(quasi_identifiers=["age"], person="patients", require=[KAnonymity(3)], profile=bare)
    for verb in (discreet.check, discreet.audit, discreet.anonymize):
        with pytest.raises(InvalidPolicy, match="no column 'patients'"):
            verb(visits(), policy)
    other = Policy.of(quasi_identifiers=["age"], person="customer", require=[KAnonymity(3)], profile=bare)
    for original in (discreet.audit, discreet.anonymize):
        with pytest.raises(InvalidPolicy, match="no column 'customer'"):
            original(visits(), other)


def test_the_gate_on_the_command_line(run: Callable[..., Any], bare: str, tmp_path: Path) -> None:
    policy = replace(POLICY.replace(profile=bare, insensitive=[]), unknown="fail")
    (tmp_path / "policy.toml").write_text(dumps(policy), encoding="utf-8")
    discreet.anonymize(visits(), policy).save(tmp_path / "release.csv")
    passed = run("check", tmp_path / "release.csv", "-p", tmp_path / "policy.toml")
    assert passed.code == 0, passed
    assert "patient is not in the table, as the plan says" in passed.out
    named = run("check", tmp_path / "release.csv", "--qi", "age", "--person", "patient")
    assert named.code == 2
    assert "no column 'patient'" in named.err


def test_dropped_attributes_may_be_gone(bare: str, tmp_path: Path) -> None:
    table = visits().append_column("sex", pa.array([*["f", "m"] * 39, "f"]))
    policy = replace(
        POLICY.replace(profile=bare, quasi_identifiers=["age", "sex"]), plan=Plan(drop_attributes=("sex",))
    )
    place = discreet.anonymize(table, policy).save(tmp_path / "release.csv")
    assert discreet.check(place, policy).passes


def test_shares_of_persons_hold_as_shares_of_records_too(bare: str, tmp_path: Path) -> None:
    """One of two persons has flu, in nine of ten records: whoever has no ids sees nine tenths."""
    table = pa.table(
        {
            "who": ["a"] * 9 + ["b"] + ["c", "d", "e"] * 5,
            "age": [30] * 10 + [50] * 15,
            "illness": ["flu"] * 9 + ["cold"] + ["flu", "cold", "flu", "cold", "cold"] * 3,
        }
    )
    policy = Policy.of(
        quasi_identifiers=["age"],
        sensitive=["illness"],
        person="who",
        require=[HAffiliation(1.0, "illness"), KAnonymity(2)],
        profile=bare,
    )
    assert discreet.check(discreet.anonymize(table, policy).save(tmp_path / "a.csv"), policy).passes
    strict = replace(policy, requirements=(HAffiliation(0.8, "illness", unit="records"), KAnonymity(2)))
    release = discreet.anonymize(table, strict, plan=Plan(suppression_limit=1.0))
    assert discreet.check(release.save(tmp_path / "b.csv"), strict).passes


# ── the id stays, as a pseudonym ─────────────────────────────────────────────────────────────────────


def test_open_data_judges_linked_rows_where_they_are_linked() -> None:
    people = trips({f"{cars}{n}": cars for cars in ("s", "sv", "vv") for n in range(12)})
    policy = Policy.of(quasi_identifiers=["car"], person="who")
    assert "linked-k-anonymity" in [criterion.id for criterion in discreet.check(people, policy).criteria]
    assert discreet.check(people, policy).passes
    lone = trips({"x": "sssvvv", **{f"{cars}{n}": cars for cars in ("s", "sv", "vv") for n in range(12)}})
    verdict = discreet.check(lone, policy)
    assert [criterion.id for criterion in verdict.obstacles] == ["linked-k-anonymity"]
    assert discreet.audit(lone, policy).measure("linked-k-anonymity").value == 1


def test_a_release_with_pseudonyms_hides_everybody_among_k_by_all_rows(bare: str, tmp_path: Path) -> None:
    people = trips({f"{cars}{n}": cars for cars in ("s", "st", "vv", "tv", "v", "t") for n in range(3)})
    policy = Policy.of(quasi_identifiers=["car"], person="who", require=[LinkedKAnonymity(6)], profile=bare)
    plan = Plan(person="pseudonymise", suppression_limit=0.0)
    release = discreet.anonymize(people, policy, plan=plan)
    written = pyarrow.parquet.read_table(release.save(tmp_path / "release.parquet")).to_pylist()
    together: dict[str, Counter[str]] = {}
    for row in written:
        together.setdefault(row["who"], Counter())[row["car"]] += 1
    held = Counter(frozenset(cars.items()) for cars in together.values())
    assert len(written) == people.num_rows
    assert min(held.values()) >= 6


def test_what_cannot_be_linked_safely_is_not_released_with_links() -> None:
    people = trips({str(n): "s" * (n + 1) for n in range(12)})
    policy = Policy.of(quasi_identifiers=["car"], person="who")
    with pytest.raises(GoalUnreachable, match="leave person ids out"):
        discreet.anonymize(people, policy, plan=Plan(person="pseudonymise"))
    assert discreet.anonymize(people, policy).verdict.passes


# ── the attack ───────────────────────────────────────────────────────────────────────────────────────


def pair_of(persons: dict[str, str], released: dict[str, str], links: Links | None = None) -> Pair:
    """Two tables of cars, ``*`` for what is hidden."""
    sides = []
    for people in (persons, released):
        table = trips(people)
        sides.append(
            EquivalenceClasses.from_columns(
                {"car": table["car"].to_pylist()}, person=table["who"].to_pylist()
            )
        )
    return Pair.of(sides[0], sides[1], links=links)


@pytest.mark.slow
def test_people_are_singled_out_by_their_rows_together() -> None:
    people = {"a": "sv", "b": "sv", "c": "ss", "d": "v"}
    result = singling_out(pair_of(people, {f"x{who}": cars for who, cars in people.items()}))
    assert (result.tries, result.successes, result.unit) == (4.0, 2.0, "persons")
    assert dict(result.figures)["isolated-by-one-row"] == 0
    assert result.baseline == 0.25


def test_who_is_singled_out_is_what_loops_say() -> None:
    """Towns become districts, everywhere alike: only equal sets of districts fit."""
    draw = np.random.default_rng(11)
    for _ in range(30):
        people = {
            str(who): "".join(draw.choice(list("abcdef"), int(draw.integers(1, 5)))) for who in range(15)
        }
        districts = {
            f"x{who}": ["{a, b}" if t in "ab" else "{c, d, e}" if t in "cde" else t for t in towns]
            for who, towns in people.items()
        }
        sets = Counter(tuple(sorted(towns)) for towns in districts.values())
        original, released = (
            EquivalenceClasses.from_columns(
                {"town": [town for towns in side.values() for town in towns]},
                person=[who for who, towns in side.items() for _ in towns],
            )
            for side in (people, districts)
        )
        assert singling_out(Pair.of(original, released)).successes == sum(n == 1 for n in sets.values())


def test_without_ids_in_the_release_rows_stand_alone() -> None:
    people = {"a": "sv", "b": "sv", "c": "ss", "d": "v"}
    table = trips(people)
    original = EquivalenceClasses.from_columns(
        {"car": table["car"].to_pylist()}, person=table["who"].to_pylist()
    )
    released = EquivalenceClasses.from_columns({"car": table["car"].to_pylist()})
    result = singling_out(Pair.of(original, released))
    assert result.successes == 0
    assert "isolated-by-one-row" not in dict(result.figures)


@pytest.mark.slow
def test_a_person_whose_rows_are_gone_is_not_found_in_the_rows_of_another() -> None:
    """c's van is suppressed, and so is all of d: d's rows fit nobody's but c's, which are not d's."""
    persons, released = {"a": "s", "b": "s", "c": "tv", "d": "tw"}, {"x": "s", "y": "s", "z": "t"}
    # Classes of the original: s, t, v, w; of t one record is c's and one d's.
    unknown = Links(np.array([0, 1, 1, 2, 3]), np.array([0, 1, -1, -1, -1]), np.array([2, 1, 1, 1, 1]))
    assert singling_out(pair_of(persons, released, unknown)).successes == 2
    known = {"a": "s", "b": "s", "c": "tv", "d": "tw"}
    gone = Links(np.array([0, 1, 2, 3]), np.array([0, 1, -1, -1]), np.array([2, 2, 1, 1]))
    assert singling_out(pair_of(known, {"x": "s", "y": "s", "z": "t", "u": "t"}, gone)).successes == 0


@pytest.mark.parametrize("person", ["drop", "pseudonymise"])
def test_attacks_on_a_release_use_what_it_tells(bare: str, person: Literal["drop", "pseudonymise"]) -> None:
    """By age alone everybody is one of ten; by the number of visits, which the pseudonym tells, fewer."""
    policy = POLICY.replace(profile=bare)
    release = discreet.anonymize(visits(), policy, plan=Plan(person=person))
    told = discreet.attack(release, original=visits(), attacks=["singling-out"]).result("singling-out")
    assert told.unit == "persons"
    assert ("isolated-by-one-row" in dict(told.figures)) == (person == "pseudonymise")
    assert told.successes == 0


def test_a_lone_set_of_rows_falls(bare: str) -> None:
    table = trips({"x": "sssvvv", **{f"{cars}{n}": cars for cars in ("s", "sv", "vv") for n in range(3)}})
    policy = Policy.of(quasi_identifiers=["car"], person="who", require=[KAnonymity(3)], profile=bare)
    release = discreet.anonymize(table, policy, plan=Plan(person="pseudonymise"))
    told = discreet.attack(release, original=table, attacks=["singling-out"])
    assert told.result("singling-out").successes == 1
    assert told.result("singling-out").exposed[0].says.startswith("6 linked rows")
    dropped = discreet.attack(
        discreet.anonymize(table, policy), original=table, attacks=["singling-out"]
    ).result("singling-out")
    assert dropped.successes == 0
