"""All families on one frontier in the report of a release: drawn where it is asked for, never in public."""

from __future__ import annotations

from pathlib import Path

import pyarrow as pa
import pytest
from click.testing import CliRunner

import discreet
from discreet.cli import cli
from discreet.errors import InvalidParameter
from discreet.release.family_contest import FamilyComparison, FamilyPoint, compare_families
from discreet.reports.release.family_picture import family_picture
from discreet.reports.release.html import render_release

POINTS = (
    FamilyPoint("generalisation", "k = 10", 0.04, 0.2, 0.5, matched=True, best=True),
    FamilyPoint("swapping", "40 %", 0.05, 0.1, 0.3, matched=True, best=True),
    FamilyPoint("buckets", "l = 5", 0.6, 0.01, 0.2, best=True),
    FamilyPoint("artificial by trees", "one model", failed="it failed"),
)
PEOPLE = pa.table({"age": [30, 31, 32, 33] * 5, "sex": list("ffmm") * 5})
POLICY = discreet.Policy.of(quasi_identifiers=["age", "sex"], profile="research-partner-3")


def test_the_picture_says_who_keeps_to_the_exposure_least_loss_first() -> None:
    picture = family_picture(FamilyComparison(POINTS, 0.05, 3000))
    assert [row[0] for row in picture.rows] == ["1. swapping", "2. generalisation"]
    assert picture.takeaway == (
        "Of the families that keep to an exposure of 5%, swapping answers random counts best: half of them are off by at most 10.0%."
    )
    assert "swapping, 40 %: 5.0% found, error of counts 10.0%." in picture.alternative
    none = family_picture(FamilyComparison(POINTS[2:], 0.05, 3000))
    assert none.takeaway == "No family keeps to an exposure of 5%."
    assert none.rows == ()


@pytest.mark.parametrize(("language", "title"), [("en", "on one frontier"), ("de", "an einer Grenze")])
def test_the_internal_edition_has_it_and_the_public_one_never(language: str, title: str) -> None:
    release = discreet.anonymize(PEOPLE, POLICY, plan=discreet.Plan(method="optimal"))
    compared = FamilyComparison(POINTS, 0.05, 3000)
    internal = render_release(release, families=compared, language=language)
    assert title in internal
    assert title not in render_release(release, language=language)
    assert title not in render_release(release, families=compared, edition="public", language=language)


def test_the_command_draws_what_was_tried_on_the_table(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file, report = tmp_path / "people.csv", tmp_path / "report.html"
    rows = ["age,sex", *(f"{a},{s}" for a, s in zip(*PEOPLE.to_pydict().values(), strict=True))]
    file.write_text("\n".join(rows))
    asked: list[float] = []

    def quick(*given: object, exposure: float, **others: object) -> FamilyComparison:
        asked.append(exposure)
        return FamilyComparison(POINTS, exposure, 20)

    assert compare_families.__module__ == "discreet.release.family_contest"
    monkeypatch.setattr("discreet.release.family_contest.compare_families", quick)
    command = ["anonymize", str(file), "--qi", "age,sex", "--profile", "research-partner-3", "--quiet"]
    command += ["--method", "optimal", "--exposure", "0.2"]
    refused = CliRunner().invoke(cli, [*command, "-o", str(tmp_path / "a.csv")])
    assert isinstance(refused.exception, InvalidParameter)
    assert not (tmp_path / "a.csv").exists()
    done = CliRunner().invoke(cli, [*command, "-o", str(tmp_path / "b.csv"), "--report", str(report)])
    assert done.exit_code == 0, done.output
    assert asked == [0.2]
    assert "exposure of 20%" in report.read_text()
