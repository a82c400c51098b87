"""What changed between two releases, or between two policies."""

from __future__ import annotations

import json
from pathlib import Path

import pyarrow as pa
import pytest

import discreet
from discreet.errors import InvalidParameter
from discreet.privacy import KAnonymity, LDiversity
from discreet.release.difference import Change
from helpers.program import run

POLICY = discreet.Policy.of(quasi_identifiers=["age", "sex"], sensitive=["ill"], profile="research-partner-3")
FIRST = pa.table({"age": [30, 30, 40, 40], "sex": ["f", "f", "m", "m"], "ill": ["a", "b", "a", "b"]})
SECOND = pa.table({"age": [30, 30, 30], "ill": ["a", "b", "b"]})


def changes(difference: discreet.Difference, subject: str) -> dict[str, tuple[object, object]]:
    return {c.name: (c.before, c.after) for c in difference.changes if c.subject == subject}


def test_two_tables_differ_in_columns_records_and_measures() -> None:
    difference = discreet.diff(FIRST, SECOND, POLICY)
    assert changes(difference, "columns") == {"sex": ("there", None)}
    assert changes(difference, "records") == {"records": (4, 3)}
    # Two classes of two became one of three.
    assert changes(difference, "measures")["k-anonymity"] == (2.0, 3.0)
    assert changes(difference, "losses") == {}
    assert difference


def test_with_the_original_it_says_what_each_lost() -> None:
    original = FIRST.set_column(0, "age", pa.array([30, 31, 40, 41]))
    coarse = FIRST.set_column(0, "age", pa.array(["*"] * 4))
    lost = changes(discreet.diff(original, coarse, POLICY, original=original), "losses")
    # One of two columns shows nothing any more.
    assert lost["leaf-loss"] == (0.0, pytest.approx(0.5))


def test_equal_things_do_not_differ() -> None:
    assert not discreet.diff(FIRST, FIRST, POLICY)
    assert not discreet.diff(POLICY, POLICY)
    assert "do not differ" in str(discreet.diff(POLICY, POLICY))


def test_two_policies_differ_in_roles_requirements_and_settings(tmp_path: Path) -> None:
    second = discreet.Policy.of(
        quasi_identifiers=["age"], sensitive=["ill"], require=[KAnonymity(5)], profile="open-data"
    )
    first = POLICY.require(LDiversity(2, "ill"))
    files = tmp_path / "first.toml", tmp_path / "second.toml"
    for policy, file in zip((first, second), files, strict=True):
        discreet.save_policy(policy, file)
    difference = discreet.diff(*files)
    assert changes(difference, "roles") == {"sex": ("quasi-identifier", None)}
    assert changes(difference, "requirements") == {
        "l-diversity l=2 sensitive=ill": ("required", None),
        "k-anonymity k=5": (None, "required"),
    }
    assert changes(difference, "settings")["profile"] == ("research-partner-3", "open-data")
    code, printed, told = run(["diff", str(files[0]), str(files[1]), "--json"], tmp_path)
    assert code == 0, told
    document = json.loads(printed)
    assert document["schema"] == "discreet-difference-1"
    assert [Change(**change) for change in document["changes"]] == list(difference.changes)


def test_a_policy_and_a_table_are_not_compared(tmp_path: Path) -> None:
    with pytest.raises(InvalidParameter, match="two of a kind"):
        discreet.diff(POLICY, FIRST)
    with pytest.raises(InvalidParameter, match="by a policy"):
        discreet.diff(FIRST, SECOND)
