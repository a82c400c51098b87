"""The policy as an object and as a file: what is written is what is read."""

from __future__ import annotations

import math
import re
from pathlib import Path

import pyarrow as pa
import pytest
import tomlkit
from hypothesis import given
from hypothesis import strategies as st

import discreet
from discreet.errors import InvalidParameter, InvalidPolicy, UnreadableInput
from discreet.files.writing import write_text
from discreet.policy import ColumnPolicy, Kpi, Policy, Rating, dumps, load, loads, save
from discreet.privacy import (
    AlphaKAnonymity,
    BetaLikeness,
    CKSafety,
    ConfidenceBounding,
    DeltaDisclosure,
    DeltaPresence,
    EpsilonMAnonymity,
    GBalance,
    HAffiliation,
    KAnonymity,
    KEAnonymity,
    KMap,
    LDiversity,
    LinkedKAnonymity,
    LPlusDiversity,
    MultiAttributeLDiversity,
    PAlphaSensitivity,
    PersonalisedPrivacy,
    PPlusSensitivity,
    PrivacyModel,
    PSensitivity,
    TCloseness,
    WorstGroupProtection,
    XYPrivacy,
)
from discreet.privacy.registry import MODELS
from discreet.table import DATA_TYPES
from discreet.table.roles import ROLES

EXAMPLES: list[PrivacyModel] = [
    KAnonymity(5),
    KAnonymity(5, unit="records"),
    LDiversity(3, "dx"),
    LDiversity(2.5, "dx", kind="entropy"),
    LDiversity(2, "dx", kind="recursive", c=3.0),
    MultiAttributeLDiversity(2),
    LPlusDiversity("dx", {"HIV": 0.1, "flu, severe": 0.5, 'a "quoted" value': 0.25}),
    PSensitivity(2, 5, "dx"),
    PPlusSensitivity(2, 5, "dx", {"HIV": "severe", "flu": "light"}),
    PAlphaSensitivity(2, 1.5, 5, "dx", {"HIV": 1.0, "flu": 0.5}),
    AlphaKAnonymity(0.5, 5, "dx"),
    AlphaKAnonymity(0.5, 5, "dx", values=("HIV", "flu")),
    ConfidenceBounding(0.8, "dx", "HIV"),
    ConfidenceBounding(0.8, "dx", "HIV", given=("age", "sex")),
    XYPrivacy(5, 0.8, "dx", given=("age",)),
    TCloseness(0.2, "dx"),
    TCloseness(0.2, "income", distance="ordered"),
    TCloseness(0.2, "dx", distance="hierarchical", hierarchy={"HIV": ("virus", "*"), "flu": ("virus", "*")}),
    TCloseness(0.2, "*"),
    BetaLikeness(1.0, "dx", kind="enhanced"),
    DeltaDisclosure(1.5, "dx"),
    DeltaDisclosure(1.5, "dx", base=2.0),
    KEAnonymity(5, 1000.0, "income"),
    EpsilonMAnonymity(1000.0, 2.0, "income", kind="relative"),
    WorstGroupProtection(0.2, 500.0, "income"),
    GBalance(0.5),
    HAffiliation(0.5, "dx"),
    HAffiliation(0.5, "dx", unit="records"),
    LinkedKAnonymity(3),
    KMap(20),
    KMap(20, estimator="zero-truncated-poisson", significance=0.05),
    DeltaPresence(0.2),
    CKSafety(0.9, 1, "dx"),
    PersonalisedPrivacy(0.5, "dx", guard="wish", hierarchy={"HIV": ("virus", "*"), "flu": ("virus", "*")}),
]


def test_there_is_an_example_of_every_model() -> None:
    assert {model.id for model in EXAMPLES} == set(MODELS)


@pytest.mark.parametrize("model", EXAMPLES, ids=lambda model: f"{model.id} {model.parameters()}"[:60])
def test_every_model_survives_the_file(model: PrivacyModel) -> None:
    policy = Policy.of(quasi_identifiers=["age"], sensitive=["dx"], require=[model])
    [again] = loads(dumps(policy)).requirements
    assert again == model
    assert again.parameters() == model.parameters()
    assert again.describe() == model.describe()


NAMES = st.text(st.characters(exclude_categories=["Cs"]), min_size=0, max_size=12)


@st.composite
def policies(draw: st.DrawFn) -> Policy:
    names = draw(st.lists(NAMES, unique=True, max_size=5))
    score = st.integers(1, 3)
    return Policy(
        columns=tuple(
            ColumnPolicy(
                name,
                draw(st.sampled_from(ROLES)),
                draw(st.none() | st.sampled_from(DATA_TYPES)),
                draw(NAMES),
                draw(st.none() | st.builds(Rating, score, score, score)),
            )
            for name in names
        ),
        requirements=tuple(draw(st.lists(st.sampled_from(EXAMPLES), max_size=3))),
        profile=draw(st.sampled_from(["open-data", "wp216"])),
        sampling_fraction=draw(st.none() | st.floats(0.001, 1)),
        population=draw(st.none() | st.just("register.csv")),
        read=draw(
            st.fixed_dictionaries(
                {},
                optional={
                    "delimiter": st.sampled_from([";", "\t"]),
                    "header": st.booleans(),
                    "missing": st.lists(NAMES, min_size=1, max_size=3),
                    "names": st.lists(NAMES, min_size=1, max_size=3),
                },
            )
        ),
    )


@given(policies(), st.lists(NAMES, max_size=3))
def test_what_is_written_is_what_is_read(policy: Policy, comments: list[str]) -> None:
    """Whatever the columns are called, and whatever stands in comments."""
    notes = {column.name: comments for column in policy.columns}
    text = dumps(policy, notes=notes, heading=comments)
    assert loads(text) == policy


def test_comments_survive_in_the_file() -> None:
    policy = Policy.of(quasi_identifiers=["age"])
    text = dumps(
        policy, notes={"age": ["12 distinct values"]}, heading=["Policy for people.csv", "", "second"]
    )
    assert text.startswith("# Policy for people.csv\n#\n# second\n")
    assert "# 12 distinct values" in text
    document = tomlkit.parse(text)
    document["profile"] = "wp216"
    edited = tomlkit.dumps(document)
    assert "# 12 distinct values" in edited
    assert "# Policy for people.csv" in edited
    assert loads(edited).profile == "wp216"


def test_saving_is_whole_or_not_at_all(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    target = tmp_path / "policy.toml"
    save(Policy.of(quasi_identifiers=["age"]), target)
    before = target.read_text()
    assert load(target).quasi_identifiers == ("age",)

    def fail(*_: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("os.replace", fail)
    with pytest.raises(
        UnreadableInput, match=r"policy.toml could not be written \(No space left on device\)"
    ):
        save(Policy.of(quasi_identifiers=["sex"]), target)
    assert target.read_text() == before
    assert list(tmp_path.iterdir()) == [target]


@pytest.mark.parametrize("place", ["none/policy.toml", "file/policy.toml"])
def test_a_place_that_cannot_be_written(place: str, tmp_path: Path) -> None:
    (tmp_path / "file").write_text("x")
    with pytest.raises(UnreadableInput, match=r"policy.toml could not be written"):
        write_text(tmp_path / place, "x")


def test_a_profile_beside_the_policy(tmp_path: Path) -> None:
    (tmp_path / "policy.toml").write_text('profile = "own.toml"\n')
    assert load(tmp_path / "policy.toml").profile == str(tmp_path / "own.toml")


# ── changed policies ──────────────────────────────────────────────────────────────────────────────────


def test_replace_changes_exactly_what_is_named() -> None:
    policy = Policy.of(
        quasi_identifiers=["age", "sex"],
        sensitive=["dx"],
        person="id",
        weight="w",
        direct_identifiers=["name"],
    )
    changed = policy.replace(quasi_identifiers=["age", "dx"])
    assert changed.quasi_identifiers == ("age", "dx")
    assert changed.sensitive == ()
    assert changed.column("sex") == ColumnPolicy("sex", "insensitive", reason="role taken away by the user")
    assert (changed.person, changed.weight, changed.direct_identifiers) == ("id", "w", ("name",))
    assert policy.quasi_identifiers == ("age", "sex"), "the old one stays as it was"
    assert policy.replace() == policy
    assert policy.replace(profile="wp216", sampling_fraction=0.1).profile == "wp216"


def test_replace_keeps_types_reasons_and_the_order_of_columns() -> None:
    rating = Rating(1, 2, 3)
    policy = Policy(
        (ColumnPolicy("b", "sensitive", "ordinal", "why", rating), ColumnPolicy("a", "quasi-identifier"))
    )
    changed = policy.replace(quasi_identifiers=["a", "b", "c"])
    assert changed.quasi_identifiers == ("b", "a", "c")
    assert changed.columns[0] == ColumnPolicy(
        "b", "quasi-identifier", "ordinal", "chosen by the user", rating
    )
    assert policy.replace(sensitive=["b"]).columns[0].reason == "why", "an unchanged role keeps its reason"
    assert rating.total == 6


def test_require_adds() -> None:
    policy = Policy.of(quasi_identifiers=["a"], require=[KAnonymity(2)])
    more = policy.require(KAnonymity(3), GBalance(0.1))
    assert more.requirements == (KAnonymity(2), KAnonymity(3), GBalance(0.1))
    assert policy.requirements == (KAnonymity(2),)
    assert policy.replace(requirements=[]).requirements == ()


def test_two_roles_are_all_told_at_once() -> None:
    with pytest.raises(InvalidPolicy) as told:
        Policy.of(quasi_identifiers=["a", "b", "b"], sensitive=["a"], person="c", weight="c")
    assert told.value.problems == (
        "column 'a' is given two roles: quasi-identifier and sensitive",
        "column 'b' is named twice as quasi-identifier",
        "column 'c' is given two roles: person-id and weight",
    )


# ── against a table ───────────────────────────────────────────────────────────────────────────────────


def test_a_policy_for_another_table_tells_every_problem() -> None:
    table = discreet.read(pa.table({"age": [1], "sex": ["f"]}))
    policy = Policy.of(
        quasi_identifiers=["agee"], sensitive=["dx"], require=[LDiversity(2, "income")], sampling_fraction=2.0
    )
    with pytest.raises(InvalidPolicy) as told:
        policy.fit(table)
    assert len(told.value.problems) == 4
    assert "did you mean 'age'?" in told.value.problems[0]
    assert "'l-diversity' speaks of 'income'" in told.value.problems[2]


def test_types_of_the_policy_are_applied() -> None:
    table = discreet.read(pa.table({"zip": [10115, 10117]}))
    policy = Policy((ColumnPolicy("zip", "quasi-identifier", "nominal"),))
    assert policy.fit(table).column("zip").type == "nominal"
    assert table.column("zip").type == "integer"


def test_a_star_stands_for_every_sensitive_attribute() -> None:
    table = pa.table({"a": [1, 1, 2, 2], "s": ["x", "y", "x", "y"], "n": [1, 2, 1, 2]})
    policy = Policy.of(quasi_identifiers=["a"], sensitive=["s", "n"], require=[TCloseness(0.1, "*")])
    verdict = discreet.check(table, policy.replace(profile="research-partner-3"))
    assert [(c.id, c.attribute) for c in verdict.criteria if c.origin == "policy"] == [
        ("t-closeness", "s"),
        ("ordered-t-closeness", "n"),
    ]


@pytest.mark.parametrize("model", EXAMPLES, ids=lambda model: f"{model.id} {model.parameters()}"[:60])
def test_every_model_can_be_required_of_a_table(model: PrivacyModel, tmp_path: Path) -> None:
    """Through ``check``, with the verdict as JSON: a number, or a word where JSON has no number."""
    table = pa.table(
        {
            "age": [31, 31, 47, 47],
            "sex": ["f", "f", "m", "m"],
            "dx": ["HIV", "flu", "flu", "HIV"],
            "income": [1000, 2000, 3000, 4000],
        }
    )
    policy = Policy.of(quasi_identifiers=["age", "sex"], sensitive=["dx", "income"], require=[model])
    if model.sensitive == "dx" and isinstance(model, LPlusDiversity):
        policy = policy.replace(requirements=[LPlusDiversity("dx", {"HIV": 0.5, "flu": 0.5})])
    (tmp_path / "people.csv").write_text("age,sex\n" + "31,f\n" * 9)
    verdict = discreet.check(table, policy.replace(population=tmp_path / "people.csv", sampling_fraction=0.4))
    for criterion in verdict.criteria:
        value = criterion.to_dict()["value"]
        assert value is None or isinstance(value, str) or math.isfinite(float(str(value)))
    assert any(criterion.origin == "policy" for criterion in verdict.criteria)


@pytest.mark.parametrize(
    "model", [ConfidenceBounding(0.8, "dx", "HIV", given=("nope",)), XYPrivacy(5, 0.8, "dx", given=("nope",))]
)
def test_a_model_that_speaks_of_unknown_columns(model: PrivacyModel) -> None:
    table = pa.table({"age": [31, 31], "dx": ["HIV", "flu"]})
    with pytest.raises(discreet.DiscreetError, match="there is no column 'nope'"):
        discreet.check(table, Policy.of(quasi_identifiers=["age"], sensitive=["dx"], require=[model]))


def test_a_release_lacks_its_direct_identifiers() -> None:
    policy = Policy.of(quasi_identifiers=["age"], direct_identifiers=["name"])
    fitted = policy.fit(discreet.read(pa.table({"age": [31, 31]})))
    assert fitted.names == ("age",)


def test_a_release_lacks_its_identifiers_whatever_its_other_columns_are_called() -> None:
    policy = Policy.of(quasi_identifiers=["age"], direct_identifiers=["name"])
    assert policy.fit(discreet.read(pa.table({"age": [1], "income": [2]}))).names == ("age", "income")


def test_a_slip_in_the_name_of_an_identifier_is_told() -> None:
    policy = Policy.of(quasi_identifiers=["age"], direct_identifiers=["nmae"])
    with pytest.raises(InvalidPolicy, match="did you mean 'name'"):
        policy.fit(discreet.read(pa.table({"age": [31, 31], "name": ["a", "b"]})))


def test_what_is_measured_must_be_there() -> None:
    policy = Policy.of(quasi_identifiers=["age"], sensitive=["dx"], person="id")
    with pytest.raises(InvalidPolicy) as caught:
        policy.fit(discreet.read(pa.table({"age": [31, 31]})))
    assert len(caught.value.problems) == 2


# ── KPIs ──────────────────────────────────────────────────────────────────────────────────────────


KPIS = """
[[kpi]]
name = "mean age"
query = "SELECT avg(age) FROM data"
tolerance = 0.05
description = "the figure on the first page"

[[kpi]]
name = "by sex"
query = '''
SELECT sex, count(*)
FROM data GROUP BY sex'''
generalised = "midpoint"
"""


def test_kpis_are_read() -> None:
    assert loads(KPIS).kpis == (
        Kpi("mean age", "SELECT avg(age) FROM data", 0.05, "the figure on the first page"),
        Kpi("by sex", "SELECT sex, count(*)\nFROM data GROUP BY sex", generalised="midpoint"),
    )


@pytest.mark.parametrize(
    "query",
    [
        "SELECT avg(age) FROM data",
        "\n  SELECT avg(age)\r\n  FROM data\n",
        'SELECT \'it\'\'s\', "the ""odd"" one"\nFROM data WHERE name LIKE \'50\\%\' AND note <> \'"""\'',
    ],
)
def test_kpis_are_written_and_read_back(query: str) -> None:
    policy = Policy(kpis=(Kpi('the "first" \\ one', query, 0.0, "why", "midpoint"), Kpi("second", query)))
    assert loads(dumps(policy)).kpis == policy.kpis


def test_all_problems_of_kpis_are_told_at_once_with_their_lines() -> None:
    with pytest.raises(InvalidPolicy) as refused:
        loads(
            '[[kpi]]\nname = "x"\nquery = " "\ntolerance = -1\ngeneralised = "guess"\n'
            '[[kpi]]\nquery = "SELECT 1"\nname = "x"\n'
            '[[kpi]]\nname = "y"\nqeury = "SELECT 1"\n'
        )
    told = refused.value.problems
    assert [re.match(r"policy, line (\d+): (\S+)", one).groups() for one in told] == [  # type: ignore[union-attr]
        ("3", "kpi.0.query"),
        ("4", "kpi.0.tolerance"),
        ("5", "kpi.0.generalised"),
        ("9", "kpi.2.query"),
        ("11", "unknown"),
        ("8", "two"),
    ]


def test_kpis_are_a_list() -> None:
    with pytest.raises(InvalidPolicy, match=r"line 1: KPIs are a list; write \[\[kpi\]\]"):
        loads('[kpi]\nname = "x"\nquery = "SELECT 1"')


@pytest.mark.parametrize(
    ("wrong", "told"),
    [
        ({"name": " "}, "needs a name"),
        ({"query": "\n"}, "needs a name and a query"),
        ({"tolerance": -0.1}, "tolerance of KPI 'x'"),
        ({"tolerance": float("nan")}, "tolerance of KPI 'x'"),
        ({"generalised": "guess"}, "refuse, midpoint"),
    ],
)
def test_a_kpi_that_makes_no_sense(wrong: dict[str, object], told: str) -> None:
    with pytest.raises(InvalidParameter, match=told):
        Kpi(**{"name": "x", "query": "SELECT 1", **wrong})  # type: ignore[arg-type]
