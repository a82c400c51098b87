"""Profiles: every one has its source and date and can be applied; the rules of HIPAA Safe Harbor in detail."""

from __future__ import annotations

from datetime import date
from pathlib import Path

import pyarrow as pa
import pytest

import discreet
from discreet.errors import InvalidPolicy
from discreet.policy import Policy
from discreet.policy.suggest import recognise_columns
from discreet.release.profile import load_profile, profile_names
from discreet.release.rules import RULES, SMALL_ZIP3, RuleResult, oldest

OWN = 'title = "Own"\ndescription = "d"\nsource = "s"\ndate = 2024-02-29\n'


@pytest.mark.parametrize("name", profile_names())
def test_every_profile_has_source_and_date(name: str) -> None:
    profile = load_profile(name)
    assert profile.id == name
    assert len(profile.source) > 20
    assert len(profile.description) > 40
    assert date(2000, 1, 1) < profile.date < date.today()
    assert profile.requirements or profile.limits or profile.rules
    assert all(rule in RULES for rule in profile.rules)
    assert all(requirement.source for requirement in profile.requirements)
    assert all(limit.source for limit in profile.limits)


@pytest.mark.parametrize("name", [name for name in profile_names() if not load_profile(name).guarantees])
def test_every_profile_judges_a_table(name: str) -> None:
    table = pa.table({"age": [31] * 20 + [47] * 20, "dx": list("abcd") * 10})
    policy = Policy.of(quasi_identifiers=["age"], sensitive=["dx"], profile=name)
    verdict = discreet.check(table, policy)
    assert verdict.compliant
    assert verdict.decision == "release"
    alone = pa.concat_tables([table, pa.table({"age": [99], "dx": ["a"]})])
    assert discreet.check(alone, policy).decision == "do-not-release"


@pytest.mark.parametrize(
    ("name", "smallest"),
    [
        ("ema-0070", 11),
        ("ipc-ontario-low", 11),
        ("ipc-ontario-medium", 14),
        ("ipc-ontario-high", 20),
        ("research-partner-3", 3),
        ("research-partner-5", 5),
        ("open-data", 11),
        ("wp216", 11),
    ],
)
def test_smallest_class_that_a_profile_accepts(name: str, smallest: int) -> None:
    def complies(size: int) -> bool:
        policy = Policy.of(quasi_identifiers=["age"], profile=name)
        return discreet.check(pa.table({"age": [31] * size + [47] * 100}), policy).compliant

    assert complies(smallest)
    assert not complies(smallest - 1)


def test_a_limit_on_something_sensitive_where_nothing_is(tmp_path: Path) -> None:
    own = tmp_path / "own.toml"
    own.write_text(OWN + '[[limit]]\nrisk = "correlation"\nat_most = 0.5\n')
    table = pa.table({"age": [31, 31, 47, 47], "dx": ["a", "a", "b", "c"]})
    nothing = discreet.check(table, Policy.of(quasi_identifiers=["age"], profile=str(own), unknown="keep"))
    assert [(c.id, c.holds) for c in nothing.criteria] == [("known-columns", True)]
    something = discreet.check(
        table, Policy.of(quasi_identifiers=["age"], sensitive=["dx"], profile=str(own))
    )
    assert [(c.id, c.holds) for c in something.criteria] == [("correlation-max", False)]


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("title = ", "is not valid TOML"),
        (OWN + "rules = ['none']\n", "own.toml, line 5: rules.0"),
        (OWN + "[[limit]]\nrisk = 'x'\nat_most = 1\n", "line 6: limit.0.risk"),
        (OWN + "[extended]\nlow = 'x'\n", "line 6: extended.low"),
        (OWN.replace("2024-02-29", '"soon"'), "line 4: date"),
        (OWN + "[[require]]\nmodel = 'k-anonymity'\nk = 0\n", "k must be a whole number"),
    ],
)
def test_broken_profiles_name_the_line(text: str, said: str, tmp_path: Path) -> None:
    own = tmp_path / "own.toml"
    own.write_text(text)
    with pytest.raises(InvalidPolicy) as told:
        load_profile(str(own))
    assert said in str(told.value)
    assert told.value.remedy


# ── HIPAA Safe Harbor ─────────────────────────────────────────────────────────────────────────────────


def rule(rule_id: str, /, **columns: list[object]) -> RuleResult:
    table = discreet.read(pa.table({**columns, "sex": ["f", "m"] * (len(next(iter(columns.values()))) // 2)}))
    policy = Policy.of(quasi_identifiers=["sex"])
    return RULES[rule_id](table, policy, lambda: recognise_columns(table))


@pytest.mark.parametrize(
    ("name", "values"),
    [
        ("name", ["Anna Schmidt", "Paul Weber", "Emma Koch", "Karl Wolf"]),
        ("email", ["a@example.org", "b@example.org", "c@example.net", "d@example.com"]),
        ("ssn", ["536-22-1234", "219-09-9999", "457-55-5462", "078-05-1120"]),
        ("ip_address", ["192.0.2.1", "192.0.2.7", "198.51.100.3", "203.0.113.9"]),
        ("birth_date", ["1980-02-03", "1991-12-24", "1975-06-01", "1966-01-31"]),
        ("admission_date", ["2020-02-03", "2020-12-24", "2021-06-01", "2021-01-31"]),
        ("city", ["Boston", "Chicago", "Dallas", "Denver"]),
        ("zip", ["02139", "10001", "60601", "75201"]),
    ],
)
def test_identifiers_are_found(name: str, values: list[object]) -> None:
    found = rule("hipaa-identifiers", **{name: values})
    assert not found.holds
    assert found.columns == (name,)
    assert name in found.remedy
    assert not any(str(value) in found.found + found.remedy for value in values)


@pytest.mark.parametrize(
    ("name", "values"),
    [
        ("birth_year", [1980, 1991, 1975, 1966]),
        ("year", [2019, 2020, 2020, 2021]),
        ("zip", ["021", "100", "606", "752"]),
        ("zip", ["021**", "100**", "606**", "752**"]),
        ("age", [31, 47, 52, 89]),
        ("state", ["MA", "NY", "IL", "TX"]),
        ("diagnosis", ["flu", "cold", "flu", "asthma"]),
    ],
)
def test_what_safe_harbor_allows(name: str, values: list[object]) -> None:
    assert rule("hipaa-identifiers", **{name: values}).holds


@pytest.mark.parametrize(
    ("values", "holds"),
    [
        (["021", "100", "606", "752"], True),
        (["021", "036", "606", "752"], False),
        (["021**", "036**", "606**", "752**"], False),
        ([21, 36, 606, 752], False),
        ([21, 37, 606, 752], True),
        (["000", "893", "606", "752"], False),
        (["000", "000", "606", "752"], True),
    ],
)
def test_small_zip_areas(values: list[object], holds: bool) -> None:
    found = rule("hipaa-zip3", zip=values)
    assert found.holds is holds
    assert found.columns == (() if holds else ("zip",))


def test_small_zip_areas_are_the_17_of_the_guidance() -> None:
    assert len(SMALL_ZIP3) == 17
    assert {"036", "059", "102", "203", "893"} <= SMALL_ZIP3


@pytest.mark.parametrize(
    ("values", "holds"),
    [
        ([31, 47, 89, 90], True),  # top-coded: 90 stands for 90 and more
        ([31, 47, 90, 91], False),
        ([31, 47, 89, 95], False),  # one single old age is an age, not a group
        ([31.0, 47.5, 89.0, 90.5], False),
        ([31, None, 89, 90], True),
        (["31", "47", "?", "90"], True),
        (["31", "47", "89", "90+"], True),
        (["31", "47", "90", "90+"], False),  # told apart from the group
        (["80-89", "70-79", "90-94", "95+"], False),
        (["80-89", "70-79", "70-79", "90-120"], True),
        (["[70-80)", "[80-90)", "[90-100)", "[70-80)"], True),
        (["[70-80)", "[80-90)", "[90-100)", "[100-110)"], False),
        (["0-35", "35-55", "55<=", "35-55"], True),
        (["under 18", "18-64", "65 and older", "18-64"], True),
    ],
)
def test_ages_of_90_and_more_are_one_group(values: list[object], holds: bool) -> None:
    found = rule("hipaa-ages", age=values)
    assert found.holds is holds, found
    assert found.columns == (() if holds else ("age",))
    assert found.description == "ages of 90 and more are one group"


def test_years_of_birth_must_not_tell_an_age_of_90_and_more() -> None:
    year = date.today().year
    assert rule("hipaa-ages", birth_year=[year - 30, year - 89, year - 90, year - 90]).holds
    found = rule("hipaa-ages", birth_year=[year - 30, year - 89, year - 91, year - 95])
    assert found.columns == ("birth_year",)


@pytest.mark.parametrize(
    ("label", "age"),
    [("34", 34), ("[80, 89]", 89), ("85+", float("inf")), (">=85", float("inf")), ("∅", -float("inf"))],
)
def test_oldest_age_of_a_label(label: str, age: float) -> None:
    assert oldest(label) == age


def test_safe_harbor_as_a_whole() -> None:
    good = pa.table({"age": [31, 90] * 10, "zip": ["021", "606"] * 10, "diagnosis": ["flu", "cold"] * 10})
    policy = Policy.of(quasi_identifiers=["age", "zip"], sensitive=["diagnosis"], profile="hipaa-safe-harbor")
    assert discreet.check(good, policy).decision == "release"
    bad = good.append_column("name", pa.array(["Anna Schmidt", "Paul Weber"] * 10))
    verdict = discreet.check(bad, policy.replace(direct_identifiers=["name"]))
    assert [c.id for c in verdict.obstacles] == ["no-direct-identifiers", "hipaa-identifiers"]
