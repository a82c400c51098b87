"""Several intruders, each with what they know: judged and protected from separately and together."""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.csv
import pytest

import discreet
from discreet import Plan, Policy
from discreet.classes import EquivalenceClasses
from discreet.errors import InvalidParameter, InvalidPolicy
from discreet.policy.file import dumps, loads
from discreet.privacy import (
    AlphaKAnonymity,
    HAffiliation,
    KAnonymity,
    KnownBy,
    LDiversity,
    PrivacyModel,
    TCloseness,
)
from discreet.privacy.intruder import seen_by
from discreet.release.check import check
from discreet.reports.audit.html import render
from discreet.transform.loss import leaf_share_loss
from helpers.program import run_here

EMPLOYER, NEIGHBOUR = ("age", "sex", "job"), ("sex", "town")


def people(size: int = 300, seed: int = 4) -> pa.Table:
    rng = np.random.default_rng(seed)
    return pa.table(
        {
            "age": rng.integers(20, 60, size),
            "sex": rng.choice(["f", "m"], size),
            "town": rng.choice(["Graz", "Linz", "Wels", "Enns"], size),
            "job": rng.choice(["nurse", "cook", "clerk"], size),
            "ill": rng.choice(["flu", "cold", "gout"], size),
        }
    )


def policy(
    judged: str = "separately", *require: dict[str, object], profile: str = "research-partner-3"
) -> Policy:
    roles = dict.fromkeys(("age", "sex", "town", "job"), "quasi-identifier") | {"ill": "sensitive"}
    document: dict[str, Any] = {
        "profile": profile,
        "judged": judged,
        "columns": {name: {"role": role} for name, role in roles.items()},
        "intruder": [
            {"name": "employer", "columns": list(EMPLOYER)},
            {"name": "neighbour", "columns": list(NEIGHBOUR)},
        ],
        "require": list(require),
    }
    return discreet.policy.file.open_policy(document)


def smallest(rows: pa.Table, names: tuple[str, ...]) -> int:
    listed = [rows[name].to_pylist() for name in names]
    return min(Counter(zip(*listed, strict=True)).values())


@pytest.mark.parametrize("seed", range(15))
@pytest.mark.parametrize(
    "model", [KAnonymity(3), LDiversity(2, "dx"), AlphaKAnonymity(0.6, 2, "dx"), TCloseness(0.4, "dx")]
)
def test_a_requirement_of_an_intruder_against_a_table_of_what_they_know(
    model: PrivacyModel, seed: int
) -> None:
    rng = np.random.default_rng(seed)
    columns = {name: rng.integers(0, 3, 25).tolist() for name in "abc"}
    ill = {"dx": rng.choice(["flu", "cold", "gout"], 25).tolist()}
    knows = tuple(rng.permutation(list("abc"))[: 1 + seed % 3].tolist())
    classes = EquivalenceClasses.from_columns(columns, sensitive=ill)
    alone = EquivalenceClasses.from_columns({name: columns[name] for name in knows}, sensitive=ill)
    asked = KnownBy(model, "somebody", knows)
    assert asked.measure(classes).value == pytest.approx(model.measure(alone).value)
    assert asked.satisfied(classes) == model.satisfied(alone)
    # Class by class: by the values that are known.
    said = {tuple(alone.labels(at).items()): holds for at, holds in enumerate(model.holds(alone).tolist())}
    found = [said[tuple((name, classes.labels(at)[name]) for name in knows)] for at in range(len(classes))]
    assert asked.holds(classes).tolist() == found
    if model.satisfied(classes):
        assert asked.satisfied(classes)


def test_of_many_values_classes_keep_their_order() -> None:
    rng = np.random.default_rng(1)
    columns = {name: rng.integers(0, 2**20, 200).tolist() for name in "abcd"}
    classes = EquivalenceClasses.from_columns(columns)
    seen, owner = seen_by(classes, ("c", "a", "d"))
    for at in range(len(classes)):
        known = {name: classes.labels(at)[name] for name in "cad"}
        assert seen.labels(int(owner[at])) == known


@pytest.mark.parametrize("method", ["optimal", "mondrian", "local", "clustering"])
@pytest.mark.parametrize("profile", ["research-partner-3", "open-data"])
def test_a_release_protects_from_each_intruder(method: str, profile: str) -> None:
    rows = people()
    asked = policy("separately", {"model": "l-diversity", "l": 2, "intruder": "*"}, profile=profile)
    release = discreet.anonymize(rows, asked, plan=Plan(method=method, suppression_limit=0.1))
    shown = release.to_arrow()
    least = 3 if profile == "research-partner-3" else 11
    for names in (EMPLOYER, NEIGHBOUR):
        assert smallest(shown, names) >= least
        per_class = Counter(zip(*(shown[n].to_pylist() for n in names), strict=True))
        values = Counter({key[:-1] for key in []})
        values.update(
            key[:-1] for key in {*zip(*(shown[n].to_pylist() for n in (*names, "ill")), strict=True)}
        )
        assert all(values[key] >= 2 for key in per_class)
    assert check(shown, asked).passes
    assert release.verify(shown).holds


def test_separately_costs_less_and_says_what_is_left_open() -> None:
    rows, plan = people(), Plan(method="optimal", suppression_limit=0.05)
    each = discreet.anonymize(rows, policy("separately"), plan=plan)
    both = discreet.anonymize(rows, policy("together"), plan=plan)
    assert each.after.measure("k-anonymity").value < 3 <= both.after.measure("k-anonymity").value
    assert leaf_share_loss(each.recoding) < leaf_share_loss(both.recoding)
    [note] = [note for note in each.after.notes if note.startswith("each intruder was judged")]
    assert "classes of 1 people" in note
    # Together is the default, and then nothing changes but what is told.
    told = [view.to_dict() for view in both.after.intruders]
    assert [view["intruder"] for view in told] == ["employer", "neighbour", None]
    assert told[2]["k"] == both.after.measure("k-anonymity").value <= min(view["k"] for view in told[:2])


def test_the_file_is_asked_for_each_intruder() -> None:
    asked = policy("separately")
    release = discreet.anonymize(people(), asked, plan=Plan(method="optimal"))
    rows = release.to_arrow()
    one = rows.set_column(
        rows.column_names.index("job"), "job", pa.array(["pope", *rows["job"].to_pylist()[1:]])
    )
    assert any("for employer" in failure for failure in release.verify(one).failures)
    assert not any("for neighbour" in failure for failure in release.verify(one).failures)
    assert not check(one, asked).passes


@pytest.mark.parametrize(
    ("change", "problem"),
    [
        (
            {"require": [{"model": "k-anonymity", "k": 3, "intruder": "spouse"}]},
            "'spouse', whom nobody describes",
        ),
        ({"intruder": [{"name": "employer", "columns": ["age", "ill"]}]}, "which are no quasi-identifiers"),
        (
            {"intruder": [{"name": "employer", "columns": ["age", "shoe"]}]},
            "which the policy has no columns for",
        ),
        ({"intruder": [{"name": "employer", "columns": ["age"]}] * 2}, "two intruders are called 'employer'"),
        (
            {"intruder": [{"name": "employer", "columns": ["age"]}], "judged": "separately"},
            "none of them knows sex",
        ),
        ({"intruder": [], "judged": "separately"}, "none of them knows"),
        ({"intruder": [{"name": "*", "columns": ["age"]}]}, "needs a name"),
        ({"intruder": [{"name": "employer", "columns": ["age", "age"]}]}, "each once"),
        ({"intruder": [{"name": "employer"}]}, "columns"),
        ({"judged": "now and then"}, "judged"),
    ],
)
def test_what_protects_from_nobody_is_refused(change: dict[str, object], problem: str) -> None:
    document = discreet.files.documents.parse_toml(dumps(policy("together")))
    with pytest.raises(InvalidPolicy, match=problem):
        discreet.audit(people(), {**document, **change}, detail="core")


def test_what_merging_may_break_is_asked_of_all() -> None:
    with pytest.raises(InvalidParameter, match="cannot be asked of one intruder"):
        KnownBy(HAffiliation(0.5, "ill"), "employer", EMPLOYER)
    with pytest.raises(InvalidParameter, match="cannot be asked of one intruder"):
        KnownBy(TCloseness(0.2, "ill", reference="original"), "employer", EMPLOYER)


def test_policy_survives_its_file() -> None:
    asked = policy("separately", {"model": "k-anonymity", "k": 5, "intruder": "employer"})
    again = loads(dumps(asked))
    assert again == asked
    named = {"employer": EMPLOYER, "neighbour": NEIGHBOUR}
    assert policy("together").known_to_each(named, judged="separately") == policy("separately")
    assert "employer knows age, sex and job" in str(again)
    assert "judged" not in dumps(policy("together"))


def test_audit_tells_each_intruder(tmp_path: Path) -> None:
    rows = people()
    audit = discreet.audit(rows, policy("separately"), detail="core")
    [employer, neighbour, both] = audit.intruders
    assert employer.k == smallest(rows, EMPLOYER)
    assert neighbour.k == smallest(rows, NEIGHBOUR)
    assert both.k == smallest(rows, ("age", "sex", "town", "job"))
    assert not audit.verdict.passes
    assert [each.description for each in audit.verdict.obstacles if each.id == "k-anonymity"] == [
        "for employer: every class has at least 3 persons"
    ]
    for language, words in (
        ("en", "What each intruder can tell"),
        ("de", "Was jeder Angreifer sagen kann"),
    ):
        assert words in render(audit, language=language)
    assert "employer" in str(audit)
    pyarrow.csv.write_csv(rows, tmp_path / "people.csv")
    (tmp_path / "policy.toml").write_text(dumps(policy("separately")))
    code, out, _ = run_here(["audit", "people.csv", "-p", "policy.toml", "--json"], tmp_path)
    assert code == 0
    assert [view["intruder"] for view in json.loads(out)["intruders"]] == ["employer", "neighbour", None]
    code, out, _ = run_here(["check", "people.csv", "-p", "policy.toml"], tmp_path)
    assert code == 1
    assert "for neighbour: every class has at least 3 persons" in out
    made, out, err = run_here(
        ["anonymize", "people.csv", "-p", "policy.toml", "-o", "out.csv", "--method", "optimal"], tmp_path
    )
    assert made == 0, out + err
    attack = [
        "attack",
        "out.csv",
        "--original",
        "people.csv",
        "-p",
        "policy.toml",
        "--attacks",
        "record-linkage",
        "--json",
    ]
    code, out, err = run_here([*attack, "--intruder", "neighbour"], tmp_path)
    assert code == 0, out + err
    assert json.loads(out)["scenario"]["known"] == list(NEIGHBOUR)
    [found] = json.loads(out)["attacks"]
    assert found["successes"] / found["tries"] <= 1 / 3
    code, out, _ = run_here([*attack, "--intruder", "neighbor"], tmp_path)
    assert code == 2
    assert "did you mean 'neighbour'" in out
