"""Names of people, addresses and free text never come into a label, and are not released by default, whatever their role."""

from __future__ import annotations

import random
from dataclasses import replace
from pathlib import Path

import pyarrow as pa
import pytest

import discreet
from discreet.errors import InvalidPolicy
from discreet.policy.plan import Plan
from discreet.policy.suggest import suggest
from discreet.release.check import check
from discreet.table.hierarchies.categories import Mask

FIRST = ["Anna", "Thomas", "Maria", "Peter", "Julia", "Michael", "Laura", "Daniel", "Sarah", "Andreas"]
LAST = ["Smith", "Müller", "Schmidt", "Johnson", "Fischer", "Weber", "Brown", "Wagner", "Becker", "Taylor"]
STREETS = ["{} High Street", "{} Main Street", "Hauptstraße {}", "Bahnhofstraße {}", "{} Park Avenue"]
NOTE = "{} called on Monday and said that the {} of the neighbour in {} was far too loud again"


def people(rows: int = 400) -> pa.Table:
    dice = random.Random(8)
    names = [f"{dice.choice(FIRST)} {dice.choice(LAST)}" for _ in range(rows)]
    return pa.table(
        {
            # Each name, address and note stands for two people: nobody is alone with one.
            "patient": names,
            "where": [dice.choice(STREETS).format(dice.randrange(1, 9)) for _ in range(rows)],
            "remark": [
                NOTE.format(names[i // 2], dice.choice(["dog", "radio"]), dice.choice(LAST))
                for i in range(rows)
            ],
            "age": [20 + dice.randrange(50) for _ in range(rows)],
            "sex": [dice.choice("fm") for _ in range(rows)],
            "ill": [dice.choice(["flu", "cold", "none"]) for _ in range(rows)],
        }
    )


def policy(**roles: list[str]) -> discreet.Policy:
    given = {"quasi_identifiers": ["age", "sex"], "sensitive": ["ill"]} | roles
    asked = discreet.Policy.of(**given, require=[discreet.KAnonymity(3)])  # type: ignore[arg-type]
    return replace(asked, profile="research-partner-3", unknown="keep")


def test_by_default_they_are_direct_identifiers() -> None:
    suggested = suggest(discreet.read(people()))
    assert set(suggested.direct_identifiers) >= {"patient", "where", "remark"}


@pytest.mark.parametrize("column", ["patient", "where", "remark"])
def test_no_label_is_made_of_them(column: str) -> None:
    with pytest.raises(InvalidPolicy, match=column) as told:
        discreet.anonymize(people(), policy(quasi_identifiers=["age", column]))
    assert "direct-identifier" in str(told.value)
    assert "Anna" not in str(told.value)


def test_a_hierarchy_says_what_may_be_shown_and_addresses_as_they_were_do_not_pass() -> None:
    given = policy(quasi_identifiers=["age", "where"]).generalise({"where": Mask(characters=(99,))})
    table = people().select(["age", "where", "ill"])
    raw = discreet.anonymize(table, given, plan=Plan(method="optimal", weights={"age": 0.0}))
    assert (raw.recoding.levels or {})["where"] == 0
    assert raw.verdict.decision == "do-not-release"
    masked = discreet.anonymize(table, given, plan=Plan(method="optimal", weights={"where": 0.0}))
    assert masked.verdict.decision != "do-not-release"


@pytest.mark.parametrize("column", ["patient", "where", "remark"])
def test_called_insensitive_they_are_left_out(column: str, tmp_path: Path) -> None:
    kept = ["age", "sex", "ill", column]
    given = replace(policy().replace(insensitive=[column]), unknown="fail")
    release = discreet.anonymize(people().select(kept), given)
    assert column not in release.table.names
    assert "looks like" in {removed.name: removed.reason for removed in release.removed}[column]
    assert check(release.save(tmp_path / "release.csv"), given).passes


@pytest.mark.parametrize("role", ["insensitive", "sensitive"])
def test_a_table_with_them_does_not_pass(role: str) -> None:
    rows = pa.table({"age": [30] * 400, "sex": ["f"] * 400, "patient": people()["patient"]})
    given = policy(sensitive=[]).replace(**{role: ["patient"]})  # type: ignore[arg-type]
    verdict = check(rows, given)
    assert "no-direct-identifiers" in [criterion.id for criterion in verdict.obstacles]
    assert check(rows.drop_columns(["patient"]), policy(sensitive=[])).passes


def test_kept_all_the_same_the_verdict_is_against_it() -> None:
    given = policy().replace(insensitive=["patient"])
    table = people().select(["age", "sex", "ill", "patient"])
    release = discreet.anonymize(table, given, plan=Plan(unexamined="keep"))
    assert "patient" in release.table.names
    assert release.verdict.decision == "do-not-release"
