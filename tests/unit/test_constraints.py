"""Rules of a table: told before anything is done, counted on every release."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pyarrow as pa
import pytest

import discreet
from discreet.errors import InvalidParameter, InvalidPolicy
from discreet.perturb.noise import AdditiveNoise
from discreet.policy.constraint import Constraint
from discreet.policy.file import dumps, loads

ROWS = pa.table(
    {
        "age": [20 + i % 10 for i in range(60)],
        "pay": [1000 + i for i in range(60)],
        "tax": [200 + i for i in range(59)] + [None],
    }
)
TAX = Constraint("tax is part of pay", "tax <= pay")


def policy(*rules: Constraint) -> discreet.Policy:
    plain = discreet.Policy.of(
        quasi_identifiers=["age"], sensitive=["pay", "tax"], profile="research-partner-3"
    )
    return replace(plain, constraints=rules, plan=discreet.Plan(method="mondrian"))


def test_a_rule_that_is_kept_is_not_spoken_of() -> None:
    release = discreet.anonymize(ROWS, policy(TAX))
    assert release.constraints[0].to_dict() == {
        "name": "tax is part of pay",
        "holds": "tax <= pay",
        "before": 0,
        "after": 0,
        "reason": "",
    }
    assert not any("rule" in note for note in release.notes)


def test_records_that_break_a_rule_are_counted() -> None:
    noisy = policy(TAX, Constraint("never", "pay < 0")).perturbed_by(AdditiveNoise(("tax",), percent=5000))
    release = discreet.anonymize(ROWS, noisy, perturb_seed=1)
    rows = release.to_arrow().to_pylist()
    broken = sum(row["tax"] is not None and row["tax"] > row["pay"] for row in rows)
    assert broken > 0
    assert (release.constraints[0].before, release.constraints[0].after) == (0, broken)
    assert (release.constraints[1].before, release.constraints[1].after) == (60, len(rows))
    assert f"{broken} records break the rule tax is part of pay; in the original 0 do" in release.notes
    told = discreet.compare(ROWS, release, labels=[], queries=5)
    assert any("records break the rule tax is part of pay" in note for note in told.notes)


def test_a_rule_about_what_is_no_longer_there_cannot_be_told() -> None:
    wide = replace(policy(Constraint("adults", "age >= 18")), requirements=(discreet.KAnonymity(30),))
    release = discreet.anonymize(ROWS, wide)
    assert release.constraints[0].after is None
    assert "cannot be told" in release.constraints[0].note


@pytest.mark.parametrize(
    "holds", ["taxes <= pay", "tax <=", "tax <= pay) OR (1 = 1; DROP", "read_csv('x') = 1"]
)
def test_a_rule_that_the_original_cannot_answer_is_refused(holds: str, tmp_path: Path) -> None:
    with pytest.raises(InvalidPolicy, match="constraint 'odd'"):
        discreet.anonymize(ROWS, policy(Constraint("odd", holds))).save(tmp_path / "open.csv")
    assert list(tmp_path.iterdir()) == []


def test_a_policy_file_with_rules_reads_back() -> None:
    text = dumps(policy(TAX))
    assert loads(text).constraints == (TAX,)
    assert "tax is part of pay" in str(policy(TAX))
    with pytest.raises(InvalidPolicy, match=r"write \[\[constraint\]\]"):
        loads('[constraint]\nname = "x"')
    with pytest.raises(InvalidPolicy, match="holds is empty"):
        loads('[[constraint]]\nname = "x"\nholds = ""')
    with pytest.raises(InvalidParameter, match="needs a name"):
        Constraint("", "1 = 1")
