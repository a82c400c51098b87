"""Risks against published worked examples and figures counted by others on public data."""

from __future__ import annotations

import csv
import gzip
from math import log2
from pathlib import Path

import numpy as np
import pytest

from discreet.classes import EquivalenceClasses
from discreet.risk.dependence import mutual_information
from discreet.risk.markov import markov_measures, markov_risk
from discreet.risk.prosecutor import average_risk, marketer, unique_records
from discreet.risk.scorr import category, uniqueness
from discreet.risk.special_uniques import suda

EDUCATION = ["Bachelors", "Bachelors", "HS-grad", "11th", "Bachelors", "Masters"]
SIX_ROWS = {
    "education": EDUCATION,
    "sex": ["Male", "Male", "Male", "Male", "Female", "Female"],
    "hours-per-week": [40, 13, 40, 40, 40, 40],
}
TEN_RECORDS = [
    ("U", "F", "SI", "E"),
    ("U", "F", "SI", "E"),
    ("U", "F", "PI", "N"),
    ("U", "M", "SC", "E"),
    ("R", "F", "SC", "U"),
    ("U", "M", "SC", "E"),
    ("U", "F", "PC", "N"),
    ("U", "M", "PS", "U"),
    ("U", "F", "SI", "N"),
    ("U", "F", "SI", "N"),
]


def by_label(classes: EquivalenceClasses, values: np.ndarray) -> dict[tuple[str, ...], float]:
    return {tuple(classes.labels(c).values()): float(values[c]) for c in range(len(classes))}


def ten_records() -> EquivalenceClasses:
    names = ("residence", "sex", "education", "labour")
    return EquivalenceClasses.from_columns(dict(zip(names, zip(*TEN_RECORDS, strict=True), strict=True)))


def test_uniqueness_of_a_bachelor_in_six_rows() -> None:
    classes = EquivalenceClasses.from_columns({"education": EDUCATION})
    risk = by_label(classes, uniqueness(classes).values)
    assert risk[("Bachelors",)] == pytest.approx(1 - log2(3) / log2(6))
    assert risk[("Bachelors",)] == pytest.approx(0.3869, abs=5e-5)
    assert risk[("HS-grad",)] == 1.0


def test_uniqueness_of_birth_years() -> None:
    classes = EquivalenceClasses.from_columns({"born": [1991] * 3 + [1993] * 6 + [1999]})
    risk = by_label(classes, uniqueness(classes).values)
    assert risk[("1999",)] == 1.0
    assert risk[("1993",)] == pytest.approx(0.2218, abs=5e-5)


def test_full_markov_model_of_six_rows() -> None:
    classes = EquivalenceClasses.from_columns(SIX_ROWS)
    risk = markov_risk(classes, ["education"])
    per_row = by_label(classes, risk.values)
    assert per_row.pop(("Bachelors", "Male", "40")) == pytest.approx(0.9)
    assert list(per_row.values()) == pytest.approx([1.0] * 5)
    figures = {measure.name: measure.value for measure in markov_measures(risk)}
    assert figures == pytest.approx(
        {"mean": 0.98333, "min": 0.9, "max": 1.0, "median": 1.0, "marketer": 5 / 6}, abs=5e-6
    )


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        (0, "low"),
        (0.33, "low"),
        (0.1 * 3.3, "low"),
        (0.34, "medium"),
        (0.66, "medium"),
        (0.67, "high"),
        (1, "high"),
    ],
)
def test_scorr_categories(value: float, expected: str) -> None:
    assert category(value) == expected


def test_suda_scores_of_ten_records() -> None:
    classes = ten_records()
    scores = by_label(classes, suda(classes).scores)
    assert [scores[record] for record in TEN_RECORDS] == [0, 0, 6, 0, 12, 0, 6, 10, 0, 0]


@pytest.mark.parametrize(
    ("weighting", "published"),
    [
        ("elliot", [0.005120, 0.010702, 0.005120, 0.008775]),
        ("products", [0.004987, 0.011383, 0.004987, 0.009167]),
    ],
)
def test_dis_suda_scores_of_ten_records(weighting: str, published: list[float]) -> None:
    classes = ten_records()
    result = suda(classes, dis_weighting=weighting, sampling_fraction=0.01)
    assert result.dis_scores is not None
    scores = by_label(classes, result.dis_scores)
    assert [scores[TEN_RECORDS[i]] for i in (2, 4, 6, 7)] == pytest.approx(published, abs=1e-6)
    assert sum(score == 0 for score in scores.values()) == 3


def test_dis_suda_uses_the_published_weighting_by_default() -> None:
    classes = ten_records()
    default = suda(classes, sampling_fraction=0.01)
    assert (default.weighting, default.dis_weighting) == ("products", "elliot")
    assert default.dis_scores is not None
    assert default.dis_scores.max() == pytest.approx(0.010702, abs=1e-6)
    assert default.file_risk == pytest.approx(0.04 / (0.04 + 0.99 * 6))


@pytest.mark.data
def test_adult_with_eight_quasi_identifiers(data_dir: Path) -> None:
    with gzip.open(data_dir / "arx" / "adult.csv.gz", "rt", encoding="utf-8") as file:
        rows = list(csv.DictReader(file, delimiter=";"))
    names = ["sex", "age", "race", "marital-status", "education", "native-country", "workclass", "occupation"]
    classes = EquivalenceClasses.from_columns({name: [row[name] for row in rows] for name in names})
    assert len(classes) == 18_109
    assert unique_records(classes).value == pytest.approx(0.464856, abs=5e-7)
    assert average_risk(classes).value == pytest.approx(0.600391, abs=5e-7)
    assert marketer(classes).value == pytest.approx(18_109 / 30_162)


@pytest.mark.data
def test_mutual_information_in_adult(data_dir: Path) -> None:
    with gzip.open(data_dir / "adult" / "adult.data.gz", "rt", encoding="utf-8") as file:
        rows = [row for row in csv.reader(file, skipinitialspace=True) if row]
    columns = {"education": 3, "education-num": 4, "race": 8, "sex": 9}
    classes = EquivalenceClasses.from_columns({name: [r[j] for r in rows] for name, j in columns.items()})
    assert round(mutual_information(classes, "education", "education-num"), 2) == 2.93
    assert round(mutual_information(classes, "race", "sex"), 2) == 0.01
