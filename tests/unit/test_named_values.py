"""A requirement that names a value which no record has is refused, with what was meant; it must not hold silently."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

import discreet
from discreet.errors import InvalidPolicy
from discreet.policy import Policy
from discreet.policy.plan import Plan
from discreet.privacy import AlphaKAnonymity, ConfidenceBounding, LPlusDiversity, PrivacyModel

Run = Callable[..., Any]
ILL = {
    "dx": pa.array(["flu", "flu", "cold", "cold", "gout", "gout"]),
    "stage": pa.array([1.0, 2.0, 1.0, 2.0, 1.0, 2.0]),
    "known": pa.array(["True", "False"] * 3),
}


def table() -> pa.Table:
    return pa.table({"age": [31, 31, 31, 47, 47, 47], **ILL})


def policy(*models: PrivacyModel) -> Policy:
    return Policy.of(
        quasi_identifiers=["age"], sensitive=list(ILL), require=models, profile="research-partner-3"
    )


SLIPS = pytest.mark.parametrize(
    ("model", "named", "near"),
    [
        (ConfidenceBounding(0.5, "dx", "fluu"), "'fluu', which no record has in dx", "near it are: flu"),
        (ConfidenceBounding(0.5, "stage", "1"), "'1', which no record has in stage", "near it are: 1.0"),
        (ConfidenceBounding(0.5, "known", "true"), "'true', which", "near it are: True"),
        (AlphaKAnonymity(0.5, 2, "dx", ("flu", "Gout")), "'Gout', which", "near it are: gout"),
        (LPlusDiversity("dx", {"flu": 0.5, "colds": 0.5}), "'colds', which", "near it are: cold"),
    ],
    ids=["slip", "number", "truth", "case", "thresholds"],
)


@SLIPS
def test_a_slip_is_refused_by_every_verb_with_what_was_meant(
    model: PrivacyModel, named: str, near: str
) -> None:
    for verb in (discreet.audit, discreet.check, discreet.anonymize, discreet.recommend):
        with pytest.raises(InvalidPolicy) as refusal:
            verb(discreet.read(table()), policy(model))
        assert named in str(refusal.value)
        assert str(refusal.value).count(near) == 1
        assert "cold" not in str(refusal.value).replace(near, "").replace(named, "")


def test_a_value_that_nothing_is_near_is_refused_where_a_release_is_made() -> None:
    """A release may have lost it with suppressed records, and is only told so."""
    asked = policy(ConfidenceBounding(0.5, "dx", "HIV"))
    with pytest.raises(InvalidPolicy, match="names 'HIV', which no record has in dx; name values"):
        discreet.anonymize(table(), asked)
    verdict = discreet.check(table(), asked)
    assert [c.holds for c in verdict.criteria if c.id == "confidence-bounding"] == [True]


def test_a_release_may_lose_the_named_value_though_one_like_it_stays() -> None:
    rows = pa.table({"age": [31] * 3 + [47] * 3 + [90], "dx": ["HIV-2", "flu", "cold"] * 2 + ["HIV-1"]})
    asked = Policy.of(
        quasi_identifiers=["age"],
        sensitive=["dx"],
        require=[discreet.KAnonymity(3), ConfidenceBounding(0.5, "dx", "HIV-1")],
        profile="research-partner-3",
    ).generalise({"age": None})
    release = discreet.anonymize(
        rows, asked, plan=Plan(method="optimal", suppression_limit=0.2, keep=("age",))
    )
    assert release.after.rows == 6
    assert release.after.verdict.compliant


def test_values_that_are_there_are_taken_as_they_print() -> None:
    for model in (ConfidenceBounding(0.5, "stage", "1.0"), ConfidenceBounding(0.5, "known", "True")):
        assert discreet.audit(table(), policy(model)).rows == 6


def test_the_command_line_says_it_too(tmp_path: Path, run: Run) -> None:
    file = tmp_path / "ill.csv"
    file.write_text("age,dx\n" + "31,flu\n47,cold\n" * 3)
    asked = "confidence-bounding h=0.5 sensitive=dx value=fluu"
    target = tmp_path / "out.csv"
    done = run("anonymize", file, "--qi", "age", "--sensitive", "dx", "--require", asked, "-o", target)
    assert done.code == 2
    assert "near it are: flu" in " ".join(done.err.split())
    assert not target.exists()
