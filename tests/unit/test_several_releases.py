"""Heatmaps of several releases: the same risks that each audit has, the original first."""

from __future__ import annotations

import re

import pyarrow as pa

from discreet.engine.read import read
from discreet.policy import Policy
from discreet.release.audit import Audit, audit
from discreet.reports.release.several import risks_of_releases


def judged(ages: list[str], towns: list[str]) -> Audit:
    rows = {"age": ages, "town <b>": towns, "ill": ["flu", "cold", "flu", "cold"]}
    policy = Policy.of(quasi_identifiers=["age", "town <b>"], sensitive=["ill"])
    return audit(read(pa.table(rows)), policy)


def test_each_release_has_its_column_and_the_numbers_of_its_audit() -> None:
    original = judged(["31", "32", "47", "48"], ["Ulm", "Ulm", "Bonn", "Bonn"])
    coarse = judged(["30s", "30s", "40s", "40s"], ["Ulm", "Ulm", "Bonn", "Bonn"])
    nothing = judged(["*", "*", "*", "*"], ["*", "*", "*", "*"])
    picture = risks_of_releases({"Original": original, "suggested": coarse, "most detail": nothing})
    assert picture.columns == ("Risk", "Known", "Original", "suggested", "most detail")
    rows = {(kind, known): numbers for kind, known, *numbers in picture.rows}
    for name, column in ((original, 0), (coarse, 1), (nothing, 2)):
        risk = next(risk for risk in name.risks if risk.name == "uniqueness" and risk.attribute == "age")
        assert rows["Uniqueness", "age"][column] == f"{risk.max:.3f}"
    # Of four ages each stands alone; shared by two, and by all, they are told apart less and less.
    told = [float(number) for number in rows["Uniqueness", "age"]]
    assert told == sorted(told, reverse=True)
    assert told[0] > told[2]
    assert {known for _, known in rows} == {"all together", "age", "town <b>"}
    # One panel for each risk, each with a heatmap; names are escaped.
    heads = re.findall(r'<p class="panel"[^>]*>([^<]+)</p>', picture.svg)
    assert heads == ["Uniqueness", "Uniformity", "Correlation: ill"]
    assert picture.svg.count("<svg") == 3
    assert "<b>" not in picture.svg


def test_a_column_that_a_release_lacks_has_no_cell() -> None:
    original = judged(["31", "32", "47", "48"], ["Ulm", "Ulm", "Bonn", "Bonn"])
    policy = Policy.of(quasi_identifiers=["age"], sensitive=["ill"])
    less = audit(read(pa.table({"age": ["*"] * 4, "ill": ["flu", "cold"] * 2})), policy)
    picture = risks_of_releases({"Original": original, "suggested": less})
    rows = {(kind, known): numbers for kind, known, *numbers in picture.rows}
    assert rows["Uniqueness", "town <b>"][1] == "–"
