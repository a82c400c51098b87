"""(1,k)-, (k,1)-, (k,k)-anonymity, k-concealment and n-confusion: against all matchings of small tables, one by one."""

from __future__ import annotations

import json
import math
from itertools import permutations
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.csv
import pytest
from click.testing import CliRunner

import discreet
from discreet.attacks.linkage.matchings import conceal
from discreet.classes import EquivalenceClasses
from discreet.classes.pair import Pair
from discreet.cli import cli
from discreet.errors import InvalidParameter
from discreet.policy import Policy
from helpers.pairs import linked

CIRCLE = {"age": [21, 22, 23], "shown": ["{21, 22}", "{22, 23}", "{21, 23}"]}
"""Everybody shares each record with one other: no two rows are alike."""


def pair(people: list[int], shown: list[str]) -> Pair:
    return Pair.of(
        EquivalenceClasses.from_columns({"age": people}), EquivalenceClasses.from_columns({"age": shown})
    )


def test_records_that_differ_conceal_two_people_each() -> None:
    found = conceal(pair(CIRCLE["age"], CIRCLE["shown"]))  # type: ignore[arg-type]
    assert found.to_dict() == {
        "one_k": 2.0,
        "k_one": 2.0,
        "k_k": 2.0,
        "k_concealment": 2.0,
        "n_confusion": 2.0,
    }
    assert found.holds(2)
    assert not found.holds(3)


def test_one_by_one_is_not_enough() -> None:
    """(1,2)-anonymity gives nothing: every person fits the two records that show nothing, and one record shows itself."""
    found = conceal(pair([1, 2, 3], ["1", "*", "*"]))
    assert (found.one_k, found.k_one) == (2, 1)
    # Only 1 can have the record that shows 1, so that only 2 and 3 are left for the others.
    assert (found.k, found.n) == (1, 1)
    assert found.records_left.tolist() == [1, 2, 2]


def test_who_may_be_left_out_may_have_any_record_that_fits() -> None:
    # Of 1, 2 and 3 one was left out, nobody knows who.
    found = conceal(pair([1, 2, 3], ["[1, 3]", "[1, 3]"]))
    assert (found.k, found.n) == (2, 3)
    # 9 fits nothing: who else was left out is known, and 9 is not counted.
    found = conceal(pair([1, 2, 9], ["[1, 2]", "[1, 2]"]))
    assert (found.k, found.n, found.records_left.tolist()) == (2, 2, [2, 2, 0])


def by_trying(people: list[int], members: list[set[int]]) -> dict[str, float]:
    """All ways to give each record to another person, one by one."""
    ways = [
        order
        for order in permutations(range(len(people)), len(members))
        if all(people[at] in inside for at, inside in zip(order, members, strict=True))
    ]
    fits = np.array([[age in inside for inside in members] for age in people])
    can = np.zeros_like(fits)
    for order in ways:
        for record, at in enumerate(order):
            can[at, record] = True

    def least(of: np.ndarray) -> float:
        return float(min((count for count in of.tolist() if count), default=math.inf))

    return {
        "one_k": least(fits.sum(axis=1)),
        "k_one": least(fits.sum(axis=0)),
        "k_concealment": least(can.sum(axis=1)),
        "n_confusion": least(can.sum(axis=0)),
    }


@pytest.mark.parametrize("known", [False, True])
@pytest.mark.parametrize("seed", range(25))
def test_small_tables_agree_with_all_matchings(seed: int, known: bool) -> None:
    chance = np.random.default_rng(seed)
    people = sorted(chance.integers(1, 5, int(chance.integers(2, 7))).tolist())
    kept = chance.permutation(len(people))[: int(chance.integers(1, len(people) + 1))].tolist()
    members = [{people[at], *chance.choice(people, int(chance.integers(0, 3))).tolist()} for at in kept]
    shown = [
        "{" + ", ".join(map(str, sorted(inside))) + "}" if len(inside) > 1 else str(*inside)
        for inside in members
    ]
    told = by_trying(people, members)
    if known:
        # Whoever has the links starts from another matching, and finds the same.
        one = linked({"age": [people[at] for at in kept]}, {"age": shown})
        told = by_trying([people[at] for at in kept], members)
        found = conceal(one).to_dict()
    else:
        found = conceal(pair(people, shown)).to_dict()
    assert {name: found[name] for name in told} == told


def test_several_attributes_and_many_people_agree_with_classes() -> None:
    """In classes that are alike every number is a size of a class."""
    chance = np.random.default_rng(3)
    ages, sexes = chance.integers(20, 60, 3_000), chance.choice(["f", "m"], 3_000)
    before = {"age": ages.tolist(), "sex": sexes.tolist()}
    after = {"age": [f"[{age // 10 * 10}, {age // 10 * 10 + 9}]" for age in ages], "sex": sexes.tolist()}
    found = conceal(linked(before, after))
    smallest = EquivalenceClasses.from_columns(after).records.min()
    assert {found.one_k, found.k_one, found.k, found.n} == {smallest}


def test_many_candidates_are_compared_in_parts(monkeypatch: pytest.MonkeyPatch) -> None:
    whole = conceal(pair([1, 2, 3, 4, 5], ["[1, 2]", "[1, 2]", "[2, 3]", "{3, 5}", "[4, 5]"]))
    monkeypatch.setattr("discreet.attacks.linkage.matchings._COMPARED", 2)
    parts = conceal(pair([1, 2, 3, 4, 5], ["[1, 2]", "[1, 2]", "[2, 3]", "{3, 5}", "[4, 5]"]))
    assert parts.to_dict() == whole.to_dict()
    assert parts.records_left.tolist() == whole.records_left.tolist()


@pytest.mark.parametrize(
    ("people", "shown", "message"),
    [
        ([31, 34], ["32.5", "32.5"], "made up"),
        ([1, 2, 3], ["[1, 2]", "[1, 2]", "{1, 2}"], "made up|cannot all be"),
        ([1, 2, 3, 4], ["{1, 2}", "{1, 2}", "1", "3"], "cannot all be"),
    ],
)
def test_what_is_no_release_of_these_people_is_refused(
    people: list[int], shown: list[str], message: str
) -> None:
    with pytest.raises(InvalidParameter, match=message):
        conceal(pair(people, shown))


def test_values_that_were_exchanged_and_several_records_are_refused() -> None:
    people, shown = {"age": [1, 1, 2], "dx": ["a", "b", "c"]}, {"age": [1, 2, 1], "dx": ["a", "b", "c"]}
    step = {"perturb": [{"method": "rank-swap", "columns": ["age"]}]}
    policy = {"columns": {"age": {"role": "quasi-identifier"}, "dx": {"role": "sensitive"}}, **step}
    with pytest.raises(InvalidParameter, match="made up"):
        discreet.concealment(pa.table(shown), policy, original=pa.table(people))
    rows = {**people, "who": ["A", "A", "B"]}
    with pytest.raises(InvalidParameter, match="several records"):
        discreet.concealment(
            pa.table(rows), Policy.of(quasi_identifiers=["age"], person="who"), original=pa.table(rows)
        )


def test_command_line(tmp_path: Path) -> None:
    pyarrow.csv.write_csv(pa.table({"age": CIRCLE["age"]}), tmp_path / "people.csv")
    pyarrow.csv.write_csv(pa.table({"age": CIRCLE["shown"]}), tmp_path / "release.csv")
    words = ["attack", str(tmp_path / "release.csv"), "--qi", "age", "--attacks", "record-linkage", "--json"]
    original = ["--original", str(tmp_path / "people.csv")]
    ended = [
        CliRunner().invoke(cli, [*words, *original, "--concealment", k], standalone_mode=False)
        for k in ("2", "3")
    ]
    assert [done.return_value for done in ended] == [0, 1]
    assert "at least 2 records that may be theirs" in " ".join(json.loads(ended[0].stdout)["notes"])
    refused = CliRunner().invoke(cli, [*words, "--concealment", "2"])
    assert isinstance(refused.exception, InvalidParameter)
