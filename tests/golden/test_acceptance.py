"""The whole way, from a file to the numbers and the verdict, against published and hand-checked values."""

from __future__ import annotations

import gzip
import json
from functools import cache
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
from click.testing import CliRunner

import discreet
from discreet.classes import EquivalenceClasses
from discreet.cli import cli
from discreet.policy import Policy
from discreet.release.audit import Audit
from discreet.release.profile import load_profile
from discreet.release.verdict import decide
from discreet.risk.markov import markov_risk
from discreet.risk.scorr import all_scorr
from helpers.adult import ADULT_COLUMNS

ADULT_QI = ["age", "workclass", "education", "marital-status", "occupation", "relationship", "race", "sex"]
KAGGLE_QI = [name.replace("-", ".") for name in ADULT_QI]
OULAD_QI = ["gender", "region", "highest_education", "age_band", "disability"]

pytestmark = pytest.mark.data


def by_command(*arguments: object) -> dict[str, Any]:
    told = CliRunner().invoke(cli, [*map(str, arguments), "--json"], catch_exceptions=False)
    assert told.exit_code == 0, told.output
    found: dict[str, Any] = json.loads(told.stdout)
    return found


# ── original data of the SCORR paper: k = 1, l = 1, and t as checked on these files ───────────────────


@pytest.mark.parametrize("door", ["library", "command"])
@pytest.mark.parametrize(
    ("file", "reading", "qi", "sensitive", "person", "t"),
    [
        ("adult/adult_kaggle.csv.gz", {}, KAGGLE_QI, "income", None, 0.519),
        ("adult/adult.data.gz", {"header": False, "names": ADULT_COLUMNS}, ADULT_QI, "income", None, 0.7558),
        ("oulad/studentInfo.csv.gz", {}, OULAD_QI, "final_result", "id_student", 0.918),
    ],
    ids=["adult_kaggle", "adult.data", "oulad"],
)
def test_first_5000_rows(
    door: str,
    file: str,
    reading: dict[str, Any],
    qi: list[str],
    sensitive: str,
    person: str | None,
    t: float,
    data_dir: Path,
) -> None:
    if door == "library":
        table = discreet.read(data_dir / file, rows=5000, **reading)
        policy = Policy.of(quasi_identifiers=qi, sensitive=[sensitive], person=person)
        found = json.loads(json.dumps(discreet.audit(table, policy, detail="core").to_dict()))
    else:
        options: list[object] = ["--rows", 5000, "--qi", ",".join(qi), "--sensitive", sensitive, "--core"]
        options += ["--person", person] if person else []
        options += ["--no-header", "--names", ",".join(reading["names"])] if reading else []
        found = by_command("audit", data_dir / file, *options)
    measures = found["measures"]
    assert found["table"]["rows"] == 5000
    assert measures["k-anonymity"]["value"] == 1
    assert measures["l-diversity"]["value"] == 1
    assert measures["t-closeness"]["value"] == pytest.approx(t, abs=0.0005)
    assert found["table"]["level"] == ("event" if person else "person")
    assert found["verdict"]["decision"] == "do-not-release"
    assert found["verdict"]["compliant"] is False
    assert found["verdict"]["category"] == "high"


def test_mutual_information_of_adult(data_dir: Path) -> None:
    table = discreet.read(data_dir / "adult/adult.data.gz", header=False, names=ADULT_COLUMNS)
    assert table.rows == 32_561
    policy = Policy.of(quasi_identifiers=["education", "education-num", "race", "sex"])
    found = discreet.audit(table, policy)
    assert found.exposure is not None
    pairs = {frozenset((a, b)): bits for a, b, bits in _mutual_information(found)}
    assert pairs[frozenset(("education", "education-num"))] == pytest.approx(2.93, abs=0.005)
    assert pairs[frozenset(("race", "sex"))] == pytest.approx(0.01, abs=0.005)


def _mutual_information(found: Audit) -> list[tuple[str, str, float]]:
    assert found.exposure is not None
    dependence = found.exposure.dependence
    names = dependence.names
    return [
        (a, b, float(dependence.mutual_information[i, j]))
        for i, a in enumerate(names)
        for j, b in enumerate(names)
        if i < j
    ]


def test_adult_as_the_arx_tool_has_it(data_dir: Path) -> None:
    """30,162 records without missing marks: classes, sample uniques and average risk are known."""
    table = discreet.read(data_dir / "arx/adult.csv.gz")
    qi = ["sex", "age", "race", "marital-status", "education", "native-country", "workclass", "occupation"]
    found = discreet.audit(table, Policy.of(quasi_identifiers=qi, sensitive=["salary-class"]), detail="core")
    assert found.rows == 30_162
    assert len(found.classes) == 18_109
    assert found.measure("sample-uniques").value == pytest.approx(0.464856, abs=5e-7)
    assert found.measure("average-risk").value == pytest.approx(0.600391, abs=5e-7)
    assert found.risk("prosecutor").mean == pytest.approx(0.600391, abs=5e-7)
    as_command = by_command(
        "audit", data_dir / "arx/adult.csv.gz", "--qi", ",".join(qi), "--sensitive", "salary-class", "--core"
    )
    assert as_command["table"]["classes"] == 18_109
    assert as_command["measures"]["sample-uniques"]["value"] == pytest.approx(0.464856, abs=5e-7)


def test_compressed_or_not_is_the_same(data_dir: Path, tmp_path: Path) -> None:
    plain = tmp_path / "adult.csv"
    plain.write_bytes(gzip.decompress((data_dir / "arx/adult.csv.gz").read_bytes()))
    policy = Policy.of(quasi_identifiers=["sex", "race", "education"], sensitive=["salary-class"])
    found = [
        discreet.audit(discreet.read(path), policy, detail="core").to_dict()
        for path in (plain, data_dir / "arx/adult.csv.gz")
    ]
    assert found[0]["measures"] == found[1]["measures"]
    assert found[0]["risks"] == found[1]["risks"]


# ── the release decision of SCORR (golden values: "Release decision") ─────────────────────────────────


@cache
def _classes(case: str) -> EquivalenceClasses:
    """Small tables built so that the maxima of the extended risks fall where the case says."""
    if case == "low":
        # One class of 27 records; three sensitive values, 9 each: uniqueness 0, uniformity 1/27, correlation 1/3
        # would be medium, so four values, 9 of each of 36: 1/4.
        return EquivalenceClasses.from_columns({"zip": [1] * 36}, sensitive={"dx": list("abcd") * 9})
    if case == "medium":
        # Two halves: uniqueness 1 - log2(20)/log2(40) = 0.188; correlation 1/2.
        return EquivalenceClasses.from_columns(
            {"zip": [1] * 20 + [2] * 20}, sensitive={"dx": list("ab") * 20}
        )
    if case == "high":
        # k = 20 and t = 0.3, but four of five share a value: correlation 0.8.
        return EquivalenceClasses.from_columns(
            {"zip": [1] * 20 + [2] * 20}, sensitive={"dx": list("aaaab") * 4 + list("ab") * 10}
        )
    if case == "small class":
        return EquivalenceClasses.from_columns(
            {"zip": [1] * 30 + [2] * 10}, sensitive={"dx": list("abcde") * 8}
        )
    # Every class is large, but its values are far from the table's: t = 0.6.
    return EquivalenceClasses.from_columns(
        {"zip": [1] * 20 + [2] * 20 + [3] * 20},
        sensitive={"dx": list("abcd") * 5 + list("efgh") * 5 + list("abcdefgh") * 2 + list("abcd")},
    )


def _decide(classes: EquivalenceClasses, *, with_markov: bool = True) -> Any:
    risks = [*all_scorr(classes)]
    if not with_markov:
        risks = [risk for risk in risks if risk.decides]
    policy = Policy.of(quasi_identifiers=["zip"], sensitive=["dx"])
    return decide(classes, policy=policy, profile=load_profile("scorr"), risks=risks)


@pytest.mark.parametrize(
    ("case", "compliant", "category", "decision"),
    [
        ("low", True, "low", "release"),
        ("medium", True, "medium", "release-with-acknowledged-risk"),
        ("high", True, "high", "do-not-release"),
        ("small class", False, "medium", "do-not-release"),
        ("far from the table", False, "low", "do-not-release"),
    ],
)
def test_release_decision(case: str, compliant: bool, category: str, decision: str) -> None:
    verdict = _decide(_classes(case))
    assert verdict.compliant is compliant
    assert verdict.category == category
    assert verdict.decision == decision
    assert verdict.passes is (compliant and category != "high")


@pytest.mark.parametrize("case", ["low", "medium", "high", "small class", "far from the table"])
def test_the_markov_risk_never_decides(case: str) -> None:
    classes = _classes(case)
    markov = [risk for risk in all_scorr(classes) if risk.name == "markov"]
    assert markov
    assert not any(risk.decides for risk in markov)
    with_it, without = _decide(classes), _decide(classes, with_markov=False)
    assert with_it.to_dict() == without.to_dict()


def test_a_high_markov_risk_does_not_keep_a_table_from_release() -> None:
    classes = EquivalenceClasses.from_columns(
        {"zip": [1] * 36, "sex": ["f", "m"] * 18}, sensitive={"dx": list("abcd") * 9}
    )
    full = markov_risk(classes, known=["zip"])
    assert not full.decides
    policy = Policy.of(quasi_identifiers=["zip", "sex"], sensitive=["dx"])
    low = [risk for risk in all_scorr(classes) if risk.decides]
    verdict = decide(classes, policy=policy, profile=load_profile("scorr"), risks=[*low, full])
    assert {criterion.id for criterion in verdict.criteria} == {
        "k-anonymity", "t-closeness", "uniqueness", "uniformity", "correlation",
    }  # fmt: skip


@pytest.mark.parametrize(("size", "holds"), [(10, False), (11, True)])
def test_k_must_be_greater_than_ten(size: int, holds: bool) -> None:
    classes = EquivalenceClasses.from_columns(
        {"zip": [1] * size + [2] * 40}, sensitive={"dx": (list("abcde") * 20)[: size + 40]}
    )
    [criterion] = [c for c in _decide(classes).criteria if c.id == "k-anonymity"]
    assert criterion.holds is holds
    assert criterion.value == size


@pytest.mark.parametrize(
    ("value", "category"), [(0.33, "low"), (0.3301, "medium"), (0.66, "medium"), (0.6601, "high")]
)
def test_edges_of_the_categories(value: float, category: str) -> None:
    from discreet.risk.scorr import category as grade

    assert grade(value) == category


# ── ten vehicle trips, event level ────────────────────────────────────────────────────────────────────

TRIPS = {
    "engine": ["?"] * 5 + ["Hybrid"] * 3,
    "body": ["Sedan"] * 5 + ["SUV"] * 3,
    "seats": ["2"] * 5 + ["4 or 5"] * 3,
    "driver": [1, 1, 2, 3, 4, 5, 5, 6],
    "trip": list("MNOPQRST"),
    "artist": ["Kid Cudi", "Radio", "Radio", "Paul Kalkbrenner", "BLACKPINK", "Taylor Swift", "Radio", "Taylor Swift"],
}  # fmt: skip


def test_vehicle_trips_through_the_audit() -> None:
    policy = Policy.of(quasi_identifiers=["engine", "body", "seats"], sensitive=["artist"], person="driver")
    found = discreet.audit(pa.table(TRIPS), policy)
    assert found.event_level
    assert (found.rows, found.persons, len(found.classes)) == (8, 6, 2)
    k = found.measure("k-anonymity")
    assert (k.value, k.unit) == (2, "persons")
    assert found.measure("l-diversity").value == 2
    assert found.persons / len(found.classes) == 3
    assert found.classes.persons.mean() == 3
    assert sorted(found.classes.persons.tolist()) == [2, 4]
    t = found.measure("t-closeness")
    assert t.value == pytest.approx(5 / 12)
    assert sorted(t.per_class) == pytest.approx([0.25, 5 / 12])  # type: ignore[arg-type]
    g = found.measure("g-balance")
    assert sorted(g.per_class) == pytest.approx([4 / 9, 0.72])  # type: ignore[arg-type]
    assert g.value == pytest.approx(4 / 9)
    h = found.measure("h-affiliation")
    assert sorted(h.per_class) == pytest.approx([0.5, 1.0])  # type: ignore[arg-type]
    assert h.value == 1
    as_json = found.to_dict()["measures"]
    assert as_json["k-anonymity"]["by_unit"] == {"persons": 2, "records": 3}  # type: ignore[index]


def test_vehicle_trips_through_the_command(tmp_path: Path) -> None:
    import pyarrow.csv

    pyarrow.csv.write_csv(pa.table(TRIPS), tmp_path / "trips.csv")
    found = by_command(
        "audit",
        tmp_path / "trips.csv",
        "--qi",
        "engine,body,seats",
        "--sensitive",
        "artist",
        "--person",
        "driver",
    )
    measures = {name: measure["value"] for name, measure in found["measures"].items()}
    assert (measures["k-anonymity"], measures["l-diversity"]) == (2, 2)
    assert measures["t-closeness"] == pytest.approx(5 / 12)
    assert measures["g-balance"] == pytest.approx(4 / 9)
    assert measures["h-affiliation"] == 1
    assert found["table"]["persons"] == 6
    assert found["table"]["missing"] == [
        {"column": "engine", "nulls": 0, "marks": 5, "treatment": "5 missing marks, kept as ordinary values"}
    ]
