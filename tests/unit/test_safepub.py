"""Truthful records: the parameters of the paper, exact tails, and nothing that was not there."""

from __future__ import annotations

import math
from collections import Counter
from fractions import Fraction
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest
from click.testing import CliRunner
from scipy.stats import binom

import discreet
from discreet.cli import cli
from discreet.dp.ledger import Ledger
from discreet.dp.safepub import sampling_for
from discreet.errors import InvalidParameter, UnsuitableColumn
from discreet.table.hierarchies.hierarchy import Hierarchy

LN2 = Fraction(math.log(2))


@pytest.fixture
def ledger(tmp_path: Path) -> Ledger:
    made = Ledger(tmp_path / "budget")
    made.set_budget(100, "0.5")
    return made


@pytest.mark.parametrize(
    ("epsilon", "delta", "share", "k"),
    [
        (Fraction(1), Fraction(1, 10**5), 0.6321, 61),
        (Fraction(2), Fraction(1, 10**5), 0.8647, 113),
        (LN2, Fraction(1, 10**7), 0.5, 80),
    ],
)
def test_parameters_are_those_of_the_paper(epsilon: Fraction, delta: Fraction, share: float, k: int) -> None:
    found = sampling_for(epsilon, delta)
    assert (found.k, found.share) == (k, pytest.approx(share, abs=1e-4))


def test_the_smallest_delta_needs_a_larger_k() -> None:
    """Below what tails are added up to, the bound on them counts."""
    assert (
        sampling_for(Fraction(1), Fraction(1, 10**307)).k > sampling_for(Fraction(1), Fraction(1, 10**301)).k
    )


def failure(n: int, share: float, k: int, epsilon: float) -> float:
    """The δ that is needed for a class of n records and one of n + 1, over everything that can be shown of it."""
    shown = [binom.pmf(np.arange(k, n + 2), m, share) for m in (n, n + 1)]
    fewer, more = (np.append(p, 1 - p.sum()) for p in shown)
    return max(
        np.maximum(more - math.exp(epsilon) * fewer, 0).sum(),
        np.maximum(fewer - math.exp(epsilon) * more, 0).sum(),
    )


@pytest.mark.parametrize(("epsilon", "delta"), [(Fraction(1), Fraction(1, 10**5)), (LN2, Fraction(1, 10**7))])
def test_no_class_needs_a_larger_delta_and_a_smaller_k_does(epsilon: Fraction, delta: Fraction) -> None:
    found = sampling_for(epsilon, delta)
    sizes = range(1, 3 * found.k)
    assert max(failure(n, found.share, found.k, float(epsilon)) for n in sizes) <= delta
    assert max(failure(n, found.share, found.k // 3, float(epsilon)) for n in sizes) > delta


def test_records_are_true_and_k_of_them_are_alike(ledger: Ledger) -> None:
    people = pa.table(
        {
            "age": [20 + i % 4 for i in range(900)] + [99, None],
            "sex": ["fm"[i % 2] for i in range(902)],
        }
    )
    ages = Hierarchy.of("age", [[str(a), f"{a // 2 * 2}-{a // 2 * 2 + 1}", "*"] for a in range(20, 24)])
    made = discreet.safepub(
        people,
        epsilon=1,
        delta="1e-5",
        levels={"age": 1, "sex": 0},
        hierarchies={"age": ages},
        ledger=ledger,
    )
    counts = Counter((row["age"], row["sex"]) for row in made.rows.to_pylist())
    assert set(counts) == {(band, sex) for band in ("20-21", "22-23") for sex in "fm"}
    assert min(counts.values()) >= made.sampling.k == 61
    # 902 records, each with probability 0.632, but for the two that are alone.
    assert abs(made.rows.num_rows - 570) < 90
    assert ledger.balance().spent_epsilon == 1


def test_nobody_is_shown_of_a_small_table_and_bad_terms_are_refused(ledger: Ledger) -> None:
    few = pa.table({"age": [30] * 60, "sex": ["f"] * 60})
    terms = {"epsilon": 1, "delta": "1e-5", "ledger": ledger}
    assert discreet.safepub(few, levels={"age": 0}, **terms).rows.num_rows == 0  # type: ignore[arg-type]
    for change, reason in (
        ({"levels": {}}, "no column"),
        ({"levels": {"age": 1}}, "no hierarchy has it"),
        ({"levels": {"age": -1}}, "no hierarchy has it"),
        ({"levels": {"age": 0}, "epsilon": "1e-6"}, "between 0.01 and 10"),
        ({"levels": {"age": 0}, "epsilon": 100}, "between 0.01 and 10"),
    ):
        with pytest.raises(InvalidParameter, match=reason):
            discreet.safepub(few, **{**terms, **change})  # type: ignore[arg-type]
    with pytest.raises(UnsuitableColumn, match="cannot be told alike"):
        discreet.safepub(pa.table({"tags": [["a"]] * 60}), levels={"tags": 0}, **terms)  # type: ignore[arg-type]
    assert ledger.balance().spent_epsilon == 1


def test_the_command_line(tmp_path: Path) -> None:
    table, ages, output = tmp_path / "people.csv", tmp_path / "age.csv", tmp_path / "records.csv"
    table.write_text("age,sex\n" + "".join(f"{20 + i % 4},{'fm'[i % 2]}\n" for i in range(900)))
    ages.write_text("".join(f"{age};2*;*\n" for age in range(20, 24)))
    run = CliRunner().invoke
    assert run(cli, ["budget", "set", str(table), "--epsilon", "2", "--delta", "1e-4"]).exit_code == 0
    terms = ["--epsilon", "1", "--delta", "1e-5", "-o", str(output), "--level", "age=1", "--level", "sex=0"]
    shown = run(cli, ["safepub", str(table), *terms, "--hierarchy", f"age={ages}"])
    assert shown.exit_code == 0, shown.exception
    assert "then shown if 61 are alike" in " ".join(shown.output.split())
    assert set(output.read_text().splitlines()[1:]) == {'"2*","f"', '"2*","m"'}
    for wrong in (["--level", "age"], ["--level", "age=x"]):
        assert isinstance(run(cli, ["safepub", str(table), *terms, *wrong]).exception, InvalidParameter)
