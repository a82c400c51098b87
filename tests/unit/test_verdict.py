"""The verdict: what decides, in which order obstacles come, and how it reads."""

from __future__ import annotations

import json
import math

import jsonschema
import numpy as np
import pyarrow as pa
import pytest

import discreet
from discreet.classes import EquivalenceClasses
from discreet.measure import RecordRisk
from discreet.policy import Policy
from discreet.privacy import DeltaDisclosure, KAnonymity, LDiversity, TCloseness
from discreet.release.profile import Extended, Limit, Profile, load_profile
from discreet.release.rules import RuleResult
from discreet.release.verdict import decide
from discreet.reports.audit.terminal import as_text, criterion_line
from discreet.reports.schema import AUDIT_SCHEMA

OPEN_DATA = load_profile("open-data")
CLASSES = EquivalenceClasses.from_columns({"zip": [1] * 20}, sensitive={"dx": list("abcde") * 4})
POLICY = Policy.of(quasi_identifiers=["zip"], sensitive=["dx"])


def risk(name: str, value: float, *, attribute: str | None = None, decides: bool = True) -> RecordRisk:
    return RecordRisk(
        name, np.array([0.0, value]), np.array([19, 1]), "…", "…", attribute=attribute, decides=decides
    )


def profile(**changed: object) -> Profile:
    usual = {
        "id": "own", "title": "Own", "description": "d", "source": "s", "date": OPEN_DATA.date,
        "requirements": (), "limits": (), "extended": None, "rules": (),
    }  # fmt: skip
    return Profile(**{**usual, **changed})  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("values", "category", "decision"),
    [
        ((0.0, 0.1, 0.33), "low", "release"),
        ((0.0, 0.1, 0.34), "medium", "release-with-acknowledged-risk"),
        ((0.66, 0.1, 0.2), "medium", "release-with-acknowledged-risk"),
        ((0.34, 0.67, 0.2), "high", "do-not-release"),
        ((1.0, 0.5, 0.1), "high", "do-not-release"),
    ],
)
@pytest.mark.parametrize(("profile", "decides"), [("open-data", "gain"), ("scorr", "correlation")])
def test_the_worst_extended_risk_decides(
    values: tuple[float, ...], category: str, decision: str, profile: str, decides: str
) -> None:
    risks = [risk(n, v) for n, v in zip(("uniqueness", "uniformity", decides), values, strict=True)]
    verdict = decide(CLASSES, policy=POLICY, profile=load_profile(profile), risks=risks)
    assert (verdict.compliant, verdict.category, verdict.decision) == (True, category, decision)


def test_the_worst_attribute_counts() -> None:
    risks = [risk("uniqueness", 0.1), risk("uniqueness", 0.9, attribute="zip"), risk("uniformity", 0.1)]
    verdict = decide(CLASSES, policy=POLICY, profile=OPEN_DATA, risks=risks)
    [obstacle] = verdict.obstacles
    assert "(high; zip)" in obstacle.found
    assert "coarsen zip" in obstacle.remedy
    assert obstacle.failing_records == 1


def test_risks_that_do_not_decide_do_not_decide() -> None:
    risks = [
        risk("uniqueness", 0.1),
        risk("markov", 1.0, decides=False),
        risk("uniformity", 1.0, decides=False),
    ]
    verdict = decide(CLASSES, policy=POLICY, profile=OPEN_DATA, risks=risks)
    assert verdict.decision == "release"
    assert {c.id for c in verdict.criteria} == {"k-anonymity", "t-closeness", "uniqueness"}


def test_without_extended_risks_compliance_decides() -> None:
    verdict = decide(CLASSES, policy=POLICY, profile=profile(), risks=[risk("uniqueness", 1.0)])
    assert (verdict.decision, verdict.category, verdict.criteria) == ("release", None, ())


def test_a_medium_risk_passes_the_gate() -> None:
    """``check`` asks whether the requirements hold; a medium risk is acknowledged, not forbidden."""
    verdict = decide(CLASSES, policy=POLICY, profile=OPEN_DATA, risks=[risk("uniformity", 0.5)])
    assert verdict.passes
    assert verdict.decision == "release-with-acknowledged-risk"


@pytest.mark.parametrize(
    ("name", "at_most", "holds"),
    [
        ("uniqueness", 0.5, True),
        ("uniqueness", 0.5 - 1e-12, True),
        ("uniqueness", 0.49, False),
        ("prosecutor", 0.5, True),
        ("prosecutor", 0.5 - 1e-12, False),
        ("prosecutor", 0.49, False),
    ],
)
def test_limits(name: str, at_most: float, holds: bool) -> None:
    """Prosecutor risks are compared exactly, those that are logarithms up to rounding."""
    classes = EquivalenceClasses.from_columns({"zip": [1] * 19 + [2, 2]})
    limited = profile(limits=(Limit(risk=name, at_most=at_most, source="s"),))
    verdict = decide(classes, policy=POLICY, profile=limited, risks=[risk("uniqueness", 0.5)])
    [criterion] = verdict.criteria
    assert criterion.holds is holds
    assert criterion.failing_records == (0 if holds else 1 if name == "uniqueness" else 2)


def test_a_limit_on_the_mean() -> None:
    limited = profile(limits=(Limit(risk="prosecutor", statistic="mean", at_most=0.05, source="s"),))
    verdict = decide(CLASSES, policy=POLICY, profile=limited, risks=[])
    assert verdict.criteria[0].value == pytest.approx(0.05)
    assert verdict.passes
    two = EquivalenceClasses.from_columns({"zip": [1] * 37 + [2] * 2})
    assert not decide(two, policy=POLICY, profile=limited, risks=[]).passes


def test_ones_own_limits_of_the_categories() -> None:
    strict = profile(extended=Extended(low=0.1, medium=0.2, source="s"))
    verdict = decide(CLASSES, policy=POLICY, profile=strict, risks=[risk("uniqueness", 0.21)])
    assert verdict.category == "high"


def test_obstacles_come_in_order_of_importance() -> None:
    classes = EquivalenceClasses.from_columns(
        {"zip": [1] * 20 + [2]}, sensitive={"dx": ["a", "b"] * 10 + ["c"]}
    )
    broken = RuleResult("no-direct-identifiers", "d", False, "1", "remove it", "s", ("name",))
    policy = Policy.of(quasi_identifiers=["zip"], sensitive=["dx"], require=[LDiversity(2, "dx")])
    verdict = decide(
        classes, policy=policy, profile=OPEN_DATA, risks=[risk("uniqueness", 1.0)], rules=[broken]
    )
    assert [c.id for c in verdict.obstacles] == [
        "no-direct-identifiers", "k-anonymity", "t-closeness", "l-diversity", "uniqueness",
    ]  # fmt: skip
    assert not verdict.compliant
    assert all(c.remedy for c in verdict.obstacles)
    assert all(c.source for c in verdict.criteria)


def test_a_small_share_is_suppressed_and_a_large_one_generalised() -> None:
    few = EquivalenceClasses.from_columns({"zip": [1] * 99 + [2]})
    many = EquivalenceClasses.from_columns({"zip": [1] * 50 + list(range(2, 52))})
    policy = Policy.of(quasi_identifiers=["zip"], require=[KAnonymity(2)])
    for classes, word in ((few, "suppress 1 record"), (many, "generalise quasi-identifiers: 50.0%")):
        [criterion] = decide(classes, policy=policy, profile=profile(), risks=[]).criteria
        assert criterion.remedy.startswith(word)


def test_an_infinite_value_is_a_word_in_json() -> None:
    classes = EquivalenceClasses.from_columns({"zip": [1, 1, 2]}, sensitive={"dx": ["a", "b", "a"]})
    policy = Policy.of(quasi_identifiers=["zip"], sensitive=["dx"], require=[DeltaDisclosure(1.0, "dx")])
    verdict = decide(classes, policy=policy, profile=profile(), risks=[])
    assert verdict.criteria[0].value == math.inf
    assert verdict.to_dict()["criteria"][0]["value"] == "infinite"  # type: ignore[index]
    json.dumps(verdict.to_dict(), allow_nan=False)


def test_numbers_are_compared_in_their_order_unless_told_otherwise() -> None:
    classes = EquivalenceClasses.from_columns({"zip": [1, 1, 2, 2]}, sensitive={"income": [1, 2, 3, 4]})
    policy = Policy.of(quasi_identifiers=["zip"], sensitive=["income"])
    verdict = decide(classes, policy=policy, profile=OPEN_DATA, risks=[])
    assert "ordered-t-closeness" in {c.id for c in verdict.criteria}
    told = policy.require(TCloseness(0.1, "income", distance="equal"))
    verdict = decide(classes, policy=told, profile=profile(), risks=[])
    assert [(c.id, c.value) for c in verdict.criteria] == [("t-closeness", 0.5)]


# ── the audit around it ───────────────────────────────────────────────────────────────────────────────

TABLE = pa.table(
    {"zip": [1] * 20 + [2], "born": [1980, 1990, 2000] * 7, "dx": ["a", "b"] * 10 + ["Qv7marker"]}
)


def test_audit_and_check_agree() -> None:
    policy = Policy.of(quasi_identifiers=["zip"], sensitive=["dx"])
    assert discreet.check(TABLE, policy).to_dict() == discreet.audit(TABLE, policy).verdict.to_dict()


def test_printing_an_audit_shows_the_verdict_first_and_its_repr_no_value() -> None:
    found = discreet.audit(TABLE, Policy.of(quasi_identifiers=["dx", "zip"], sensitive=["born"]))
    lines = str(found).splitlines()
    assert "Do not release this table." in lines[1]
    assert str(found) == as_text(found)
    assert "Qv7marker" not in str(found) + repr(found)
    assert repr(found) == "Audit('frame', 21 rows, do-not-release)"


@pytest.mark.parametrize("sensitive", [[], ["dx"], ["dx", "born"]])
@pytest.mark.parametrize("detail", ["core", "full"])
def test_every_audit_fits_the_schema(sensitive: list[str], detail: str) -> None:
    policy = Policy.of(quasi_identifiers=["zip"], sensitive=sensitive, sampling_fraction=0.1)
    found = discreet.audit(TABLE, policy, detail="full" if detail == "full" else "core").to_dict()
    text = json.dumps(found, allow_nan=False)
    jsonschema.validate(json.loads(text), AUDIT_SCHEMA)
    assert "Qv7marker" not in text
    assert set(found["measures"]) >= {"k-anonymity", "sample-uniques", "average-risk"}  # type: ignore[call-overload]
    assert bool(found["estimates"])


def test_looking_up_what_is_not_there_names_what_is() -> None:
    found = discreet.audit(TABLE, Policy.of(quasi_identifiers=["zip"]), detail="core")
    with pytest.raises(KeyError, match="k-anonymity"):
        found.measure("z-anonymity")
    with pytest.raises(KeyError, match="uniqueness"):
        found.risk("correlation")


def test_class_sizes_count_records() -> None:
    found = discreet.audit(TABLE, Policy.of(quasi_identifiers=["zip"]), detail="core")
    assert found.class_sizes == {1: 1, 20: 20}


def test_a_criterion_on_one_line() -> None:
    policy = Policy.of(quasi_identifiers=["zip"], require=[KAnonymity(2)])
    [criterion] = decide(
        EquivalenceClasses.from_columns({"zip": [1, 1, 2]}), policy=policy, profile=profile(), risks=[]
    ).criteria
    line = criterion_line(criterion).plain
    assert line.startswith("✘ k-anonymity: every class has at least 2 persons; found 1 record")
    assert line.endswith("(policy)")
