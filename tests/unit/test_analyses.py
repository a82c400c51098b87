"""Regressions of a policy on both tables: formulas, coefficients against numpy and by hand, overlap of intervals."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Literal

import numpy as np
import pyarrow as pa
import pyarrow.csv
import pytest
from click.testing import CliRunner

import discreet
from discreet.cli import cli
from discreet.errors import InvalidParameter, InvalidPolicy
from discreet.policy.analysis import Analysis
from discreet.policy.file import dumps, loads
from discreet.reports.evidence.html import evidence_report
from discreet.utility.regression import Coefficient, FittedTerm, estimates

GENERATOR = np.random.default_rng(5)
AGE = GENERATOR.integers(20, 70, 300)
SEX = np.where(GENERATOR.random(300) < 0.5, "f", "m")
PAY = np.round(1000 + 20 * AGE + 300 * (SEX == "m") + GENERATOR.normal(0, 150, 300))
ILL = np.where(GENERATOR.random(300) < 1 / (1 + np.exp(3 - 0.07 * AGE)), "yes", "no")
PEOPLE = pa.table({"age": AGE, "sex": SEX, "pay": PAY, "ill": ILL})
POLICY = discreet.Policy.of(quasi_identifiers=["age", "sex"], sensitive=["pay", "ill"])


def compared(release: pa.Table, *formulas: str) -> discreet.Comparison:
    policy = replace(POLICY, analyses=tuple(Analysis(formula) for formula in formulas))
    return discreet.compare(PEOPLE, release, policy, labels=[], queries=5)


@pytest.mark.parametrize(
    ("formula", "outcome", "terms"),
    [
        ("pay ~ age + sex", "pay", (("age",), ("sex",))),
        (" pay~age:sex ", "pay", (("age", "sex"),)),
        ("pay ~ age * sex + town", "pay", (("age",), ("sex",), ("age", "sex"), ("town",))),
        ("`net pay ~` ~ marital status + `a+b`", "net pay ~", (("marital status",), ("a+b",))),
    ],
)
def test_formulas_are_read(formula: str, outcome: str, terms: tuple[tuple[str, ...], ...]) -> None:
    analysis = Analysis(formula)
    assert (analysis.outcome, analysis.terms) == (outcome, terms)


@pytest.mark.parametrize(
    "formula",
    ["pay", "pay ~", "~ age", "pay ~ age +", "pay ~ log(age)", "pay ~ a:b*c", "pay ~ pay"],
)
def test_other_formulas_are_refused(formula: str) -> None:
    with pytest.raises(InvalidParameter):
        Analysis(formula)


def test_least_squares_are_those_of_numpy() -> None:
    result = compared(PEOPLE, "pay ~ age + sex").analyses[0]
    design = np.column_stack([np.ones(300), AGE, SEX == "m"]).astype(float)
    beta, rest, _, _ = np.linalg.lstsq(design, PAY, rcond=None)
    errors = np.sqrt(np.diagonal(np.linalg.inv(design.T @ design)) * rest[0] / 297)
    assert [each.term for each in result.coefficients] == ["(constant)", "age", "sex = m"]
    assert [each.original.value for each in result.coefficients] == pytest.approx(beta.tolist())
    assert [each.original.error for each in result.coefficients] == pytest.approx(errors.tolist())
    # 1.968 is the quantile of Student's t with 297 degrees of freedom.
    assert result.coefficients[1].original.high == pytest.approx(beta[1] + 1.96798 * errors[1], rel=1e-5)
    assert result.overlap == pytest.approx(1.0)
    assert [each.difference for each in result.coefficients] == pytest.approx([0.0] * 3, abs=1e-9)


def test_a_logistic_regression_of_groups_has_their_log_odds() -> None:
    """20 of 50 against 40 of 60: the coefficient is ln(2) - ln(2/3), its variance 1/20 + 1/30 + 1/40 + 1/20."""
    design = np.array([[1.0, 0.0], [1.0, 0.0], [1.0, 1.0], [1.0, 1.0]])
    told = estimates(design, np.array([0.0, 1.0, 0.0, 1.0]), np.array([30.0, 20.0, 20.0, 40.0]), "logistic")
    slope = told[1]
    assert slope is not None
    assert slope.value == pytest.approx(np.log(2) - np.log(2 / 3))
    assert slope.error == pytest.approx(np.sqrt(1 / 20 + 1 / 30 + 1 / 40 + 1 / 20))
    assert slope.low == pytest.approx(slope.value - 1.959964 * slope.error)


def test_a_constant_or_repeated_term_is_left_out() -> None:
    design = np.column_stack([np.ones(4), [1.0, 2, 3, 4], [2.0, 4, 6, 8], np.ones(4)])
    told = estimates(design, np.array([1.0, 2, 2, 4]), np.ones(4), "linear")
    assert [each is None for each in told] == [False, False, True, True]


def test_an_outcome_that_is_told_for_certain_has_no_coefficients() -> None:
    design = np.column_stack([np.ones(4), [1.0, 2, 3, 4]])
    assert estimates(design, np.array([0.0, 0, 1, 1]), np.full(4, 10.0), "logistic") == [None, None]


def test_overlap_of_intervals() -> None:
    def overlap(low: float, high: float) -> float:
        return Coefficient("x", FittedTerm(0, 1, 0, 4), FittedTerm(0, 1, low, high)).overlap

    assert overlap(0, 4) == 1
    assert overlap(1, 3) == pytest.approx((2 / 4 + 2 / 2) / 2)
    assert overlap(2, 10) == pytest.approx((2 / 4 + 2 / 8) / 2)
    assert overlap(5, 6) == 0


def test_generalised_values_are_read_as_what_they_may_be() -> None:
    wide = pa.table(
        {
            "age": [f"[{age // 10 * 10}, {age // 10 * 10 + 9}]" for age in AGE],
            "sex": [*SEX[:250], *["*"] * 50],
            "pay": PAY,
            "ill": ILL,
        }
    )
    result = compared(wide, "pay ~ age + sex", "ill ~ age").analyses
    design = np.column_stack([np.ones(250), AGE[:250] // 10 * 10 + 4.5, SEX[:250] == "m"]).astype(float)
    beta = np.linalg.lstsq(design, PAY[:250], rcond=None)[0]
    assert [each.released.value for each in result[0].coefficients if each.released] == pytest.approx(
        beta.tolist()
    )
    assert (result[0].records, result[1].model) == ((300, 250), "logistic")
    assert 0 < result[0].overlap < 1


def test_what_the_release_cannot_tell_is_said() -> None:
    gone = compared(PEOPLE.drop_columns(["pay"]), "pay ~ age", "ill ~ age").analyses
    assert (gone[0].overlap, gone[0].reason) == (0.0, "the release has no column pay")
    assert gone[1].overlap == pytest.approx(1.0)


def test_a_formula_without_an_answer_on_the_original_is_refused() -> None:
    with pytest.raises(InvalidPolicy) as caught:
        compared(PEOPLE, "pay ~ agee", "town ~ age", "ill ~ ill:age")
    assert [problem.split("'")[1] for problem in caught.value.problems[:2]] == ["pay ~ agee", "town ~ age"]
    three = PEOPLE.append_column("town", pa.array(["a", "b", "c"] * 100))
    with pytest.raises(InvalidPolicy, match="neither numbers nor one of two values"):
        discreet.compare(
            three, three, replace(POLICY, analyses=(Analysis("town ~ age"),)), labels=[], queries=5
        )


def test_policy_files_hold_analyses() -> None:
    policy = replace(POLICY, analyses=(Analysis("pay ~ age", "gap"), Analysis("ill ~ sex")))
    assert loads(dumps(policy)).analyses == policy.analyses
    with pytest.raises(InvalidPolicy, match=r"line 2: the formula 'pay' cannot be read"):
        loads('[[analysis]]\nformula = "pay"')
    with pytest.raises(InvalidPolicy, match="analyses are a list"):
        loads('[analysis]\nformula = "pay ~ age"')


def test_the_command_line_names_analyses(tmp_path: Path) -> None:
    pa.csv.write_csv(PEOPLE, tmp_path / "people.csv")
    ran = CliRunner().invoke(
        cli,
        [
            "compare",
            str(tmp_path / "people.csv"),
            str(tmp_path / "people.csv"),
            *("--qi", "age,sex", "--sensitive", "pay,ill", "--labels", "", "--queries", "5", "--json"),
            *("--analysis", "pay ~ age", "--analysis", "ill ~ sex"),
        ],
    )
    assert ran.exit_code == 0, ran.output
    told = json.loads(ran.stdout)["analyses"]
    assert [each["formula"] for each in told] == ["pay ~ age", "ill ~ sex"]
    assert told[0]["coefficients"][1]["overlap"] == pytest.approx(1.0)


@pytest.mark.parametrize("language", ["en", "de"])
@pytest.mark.parametrize("edition", ["internal", "public"])
def test_the_report_shows_analyses(
    tmp_path: Path, edition: Literal["internal", "public"], language: str
) -> None:
    """The public edition tells how well all terms agree, and no term: their names hold values."""
    comparison = compared(PEOPLE.drop_columns(["ill"]), "pay ~ age + sex", "ill ~ age")
    evidence_report(
        tmp_path / "report.html", comparison=comparison, policy=POLICY, edition=edition, language=language
    )
    text = (tmp_path / "report.html").read_text(encoding="utf-8")
    assert ("Your own analyses" if language == "en" else "Ihre eigenen Analysen") in text
    assert "pay ~ age + sex" in text
    assert ("sex = m" in text) == (edition == "internal")
    assert ("linear model" if language == "en" else "lineares Modell") in text
    assert "Your own analyses" in str(comparison)
