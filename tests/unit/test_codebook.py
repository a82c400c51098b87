"""The codebook says what every label stands for, and nothing that the release does not tell."""

from __future__ import annotations

import csv
from collections.abc import Callable
from dataclasses import replace
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.csv
import pytest

import discreet
from discreet.classes import EquivalenceClasses
from discreet.policy.plan import Plan
from discreet.release.codebook import make_codebook
from discreet.transform.labels import discreetly_named
from discreet.transform.recoding import Recoding

POLICY = replace(
    discreet.Policy.of(
        quasi_identifiers=["age", "town", "country"], sensitive=["ill"], require=[discreet.KAnonymity(3)]
    ),
    profile="research-partner-3",
)
TOWNS = ["Aachen", "Bonn", "Celle", "Dortmund", "Essen", "Fulda"]


def people() -> pa.Table:
    """180 people in six towns, and one old person in a town and of a country of their own."""
    rows = 180
    return pa.table(
        {
            "age": [20 + i % 40 for i in range(rows)] + [107],
            "town": [TOWNS[i % 6] for i in range(rows)] + ["Canarytown"],
            "country": [("Fiji", "Samoa", "Spain", "Italy")[i % 4] for i in range(rows)] + ["Tuvalu"],
            "ill": [("flu", "cold", "none")[i % 3] for i in range(rows)] + ["flu"],
        }
    )


def test_a_set_that_is_cut_short_is_told_in_full_and_suppressed_values_are_not_named() -> None:
    classes = EquivalenceClasses.from_columns({"town": [*TOWNS, "Canarytown"]}, counts=[5] * 6 + [1])
    short = pa.array(["{Aachen, +6}"], pa.string())
    codes, kept = np.zeros(7, dtype=np.int32), np.ones(7, dtype=bool)
    at = classes.attributes[0].labels().index("Canarytown")
    kept[at] = False
    whole = Recoding.of_groups(classes, codes, kept=np.ones(1, dtype=bool), method="example")
    column = replace(whole.columns[0], values=short, codes=codes)
    recoding = replace(whole, columns=(column,), kept=kept)
    (entry,) = make_codebook(recoding)
    assert entry.meaning == "Aachen; Bonn; Celle; Dortmund; Essen; Fulda; and 1 more"
    assert (entry.column, entry.label, entry.records) == ("town", "{Aachen, +6}", 30)


def test_open_intervals_do_not_tell_the_largest_value() -> None:
    classes = EquivalenceClasses.from_columns({"age": [31, 34, 64, 107]})
    groups = Recoding.of_groups(
        classes, np.array([0, 0, 1, 1]), kept=np.ones(2, dtype=bool), method="example"
    )
    assert [entry.meaning for entry in make_codebook(discreetly_named(groups))] == [
        "59 or less",
        "60 or more",
    ]


@pytest.mark.slow
@pytest.mark.parametrize("method", ["auto", "optimal", "mondrian", "local", "microaggregation"])
@pytest.mark.parametrize("suppressed", ["drop", "star"])
def test_every_label_of_a_release_is_in_it(method: str, suppressed: str, tmp_path: Path) -> None:
    plan = Plan(method=method, suppressed=suppressed, suppression_limit=0.05, seconds=5)  # type: ignore[arg-type]
    release = discreet.anonymize(people(), POLICY, plan=plan)
    file = release.save(tmp_path / "release.csv", codebook=tmp_path / "codebook.csv")
    with open(tmp_path / "codebook.csv", newline="") as stream:
        told = {(row["column"], row["label"]): row for row in csv.DictReader(stream)}
    with open(file, newline="") as stream:
        rows = list(csv.DictReader(stream))
    for name in POLICY.quasi_identifiers:
        for label in {row[name] for row in rows}:
            records = sum(row[name] == label for row in rows)
            assert int(told[name, label]["records"]) == records >= 3, (name, label)
            assert told[name, label]["meaning"]
    assert len(told) == len({(name, row[name]) for name in POLICY.quasi_identifiers for row in rows})
    kept = {row["town"] for row in rows}
    if not any("Canarytown" in label for label in kept):
        text = (tmp_path / "codebook.csv").read_text()
        assert "107" not in text
        assert "Canarytown" not in text


def test_values_of_a_known_hierarchy_are_named_only_where_many_have_them() -> None:
    release = discreet.anonymize(people(), POLICY, plan=Plan(method="optimal", suppression_limit=0.0))
    told = " ".join(entry.meaning for entry in release.codebook if entry.column == "country")
    assert "Tuvalu" not in told


def test_the_command_line_writes_it(run: Callable[..., Any], tmp_path: Path) -> None:
    table = tmp_path / "people.csv"
    pyarrow.csv.write_csv(people(), table)
    given = ["anonymize", table, "--qi", "age,town", "--sensitive", "ill", "-o", tmp_path / "release.csv"]
    done = run(*given, "--codebook", tmp_path / "codebook.csv", "--seconds", "5")
    assert done.code == 0, done.said
    assert (tmp_path / "codebook.csv").read_text().splitlines()[0] == '"column","label","meaning","records"'
    assert run(*given, "--codebook", tmp_path / "codebook.doc").code == 2


@pytest.mark.parametrize("fine", [timedelta(hours=7, minutes=13), timedelta(days=3)])
def test_no_moment_of_a_record_stands_in_the_codebook(fine: timedelta) -> None:
    """Periods and spans say which days they are; the moments inside them are those of the people."""
    moments = [datetime(2019, 3, 1, 0, 0, 29) + fine * i for i in range(60)]
    rows = pa.table({"pickup": moments, "sex": ["f", "m"] * 30})
    policy = replace(
        discreet.Policy.of(quasi_identifiers=["pickup", "sex"], require=[discreet.KAnonymity(10)]),
        profile="research-partner-5",
    )
    for shape in ("uniform", "nested", "free"):
        release = discreet.anonymize(rows, policy, plan=Plan(shape=shape, seconds=3))
        told = " ".join(f"{entry.label} {entry.meaning}" for entry in release.codebook)
        assert not [moment for moment in map(str, moments[1:-1]) if moment in told]
