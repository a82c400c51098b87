"""A statement beside a file that cannot be read: it decides where a guarantee is required, and nowhere else."""

from __future__ import annotations

from pathlib import Path

import pytest

import discreet
from discreet.dp.certificate import statement_beside
from discreet.errors import UnreadableInput

POLICY = """
[columns.sex]
role = "quasi-identifier"
[[require]]
model = "differential-privacy"
epsilon = 1
unit = "record"
"""


def test_a_broken_statement_fails_only_where_a_guarantee_is_required(tmp_path: Path) -> None:
    """What lies beside a file by chance decides nothing: a note says that it cannot be used."""
    people = tmp_path / "people.csv"
    people.write_text("sex\n" + "f\nm\n" * 10)
    (tmp_path / "policy.toml").write_text(POLICY)
    statement_beside(people).write_text("{")
    plain = discreet.Policy.of(quasi_identifiers=["sex"], require=[discreet.KAnonymity(2)])
    verdict = discreet.check(people, plain)
    assert any("cannot be used" in note for note in verdict.notes)
    with pytest.raises(UnreadableInput):
        discreet.check(people, plain, statement=statement_beside(people))
    with pytest.raises(UnreadableInput):
        discreet.check(people, tmp_path / "policy.toml")
