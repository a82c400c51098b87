"""Classifiers with ε: what one row can change, what is learned without noise, and that stated amounts hold."""

from __future__ import annotations

import json
import math
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from click.testing import CliRunner
from hypothesis import given, settings
from hypothesis import strategies as st

pytest.importorskip("opendp")

import discreet
from discreet.cli import cli
from discreet.dp import learning
from discreet.dp.certificate import read_statement
from discreet.dp.coding import counted_codes, given_codings
from discreet.dp.learning import LEARNERS
from discreet.dp.ledger import Ledger
from discreet.dp.noise import Noisy, gaussian
from discreet.engine.read import read
from discreet.errors import InvalidParameter
from helpers.neighbours import violation

KEYS = {"town": ["a", "b", "c"], "ill": ["no", "yes"]}
TERMS: dict[str, Any] = {"unit": "record", "bounds": {"age": (0, 99)}, "keys": KEYS, "bins": 4}


@pytest.fixture
def ledger(tmp_path: Path) -> Ledger:
    made = Ledger(tmp_path / "budget")
    made.set_budget(10**9, "0.5")
    return made


def people(rows: int) -> pa.Table:
    """Illness follows from town and age, but for every seventh."""
    towns = ["abc"[i % 3] for i in range(rows)]
    ages = [(i * 37) % 100 for i in range(rows)]
    ill = [
        "yes" if (town == "a" or age >= 75) != (i % 7 == 0) else "no"
        for i, (town, age) in enumerate(zip(towns, ages, strict=True))
    ]
    return pa.table({"town": towns, "age": ages, "ill": ill})


@pytest.mark.parametrize("learner", LEARNERS)
def test_what_depends_on_values_is_learned(learner: Any, ledger: Ledger) -> None:
    """6 of 7 are to be predicted; at ε = 8 with 8,000 rows the noise is far too small to matter."""
    made = discreet.learn(
        people(8000), "ill", epsilon=8, delta="1e-6", learner=learner, ledger=ledger, **TERMS
    )
    tested = made.test(people(2000))
    assert tested.records == 2000
    assert tested.accuracy > 0.8 > 0.6 > tested.constant
    assert set(made.predict(people(50)).to_pylist()) <= {"no", "yes"}
    assert ledger.balance().spent_epsilon == 8


def test_naive_bayes_without_noise_has_the_shares(monkeypatch: pytest.MonkeyPatch, ledger: Ledger) -> None:
    """Counts by hand: of 4 ill 3 are from a."""
    monkeypatch.setattr(learning, "laplace", lambda values, **_: Noisy(list(values), "laplace", 1.0))
    rows = pa.table({"town": ["a", "a", "a", "b", "b", "c"], "ill": ["yes", "yes", "yes", "yes", "no", "no"]})
    made = discreet.learn(rows, "ill", epsilon=1, unit="record", keys=KEYS, ledger=ledger)
    assert np.exp(made.prior).tolist() == pytest.approx([3 / 8, 5 / 8])
    shares = np.exp(made.weights["town"])
    # Value a: 0 of 2 healthy and 3 of 4 ill, with (3 + 1) / (6 + 4) of a record more.
    assert shares[0].tolist() == pytest.approx([0.4 / 3, 3.4 / 5])


def test_logistic_regression_without_noise_is_that_of_scikit_learn(
    monkeypatch: pytest.MonkeyPatch, ledger: Ledger
) -> None:
    linear = pytest.importorskip("sklearn.linear_model")
    monkeypatch.setattr(learning, "gaussian", lambda values, **_: Noisy(list(values), "gaussian", 1.0))
    monkeypatch.setattr(learning, "ROUNDS", 600)
    rows = people(3000)
    made = discreet.learn(
        rows, "ill", epsilon=1, delta="1e-6", learner="logistic-regression", ledger=ledger, **TERMS
    )
    codes = [made.columns[name].encode(rows[name]) for name in ("town", "age")]
    hot = np.concatenate(
        [np.eye(c.size)[code] for c, code in zip(made.columns.values(), codes, strict=True)], axis=1
    )
    truth = np.array([value == "yes" for value in rows["ill"].to_pylist()])
    # Of two labels with weights w and −w, each drawn to 0, the penalty of their difference is half as large.
    reference = linear.LogisticRegression(C=1 / (learning.PENALTY / 2 * len(truth)), max_iter=5000).fit(
        hot, truth
    )
    assert made.chances(rows)[:, 1] == pytest.approx(reference.predict_proba(hot)[:, 1], abs=0.02)


rows_of = st.lists(
    st.tuples(st.sampled_from("abcx"), st.integers(0, 120), st.sampled_from(["no", "yes", "?"])),
    min_size=1,
    max_size=12,
)


@settings(max_examples=10, deadline=None)
@given(rows_of, rows_of, st.integers(1, 3))
def test_one_person_changes_every_measurement_by_no_more_than_is_said(
    others: list[tuple[str, int, str]], mine: list[tuple[str, int, str]], max_rows: int
) -> None:
    """With the draws of the first run in the second, all that is measured of two tables differs by the sensitivity at most."""
    ids = [f"o{i}" for i in range(len(others))]
    for learner in LEARNERS:
        first = Replayed()
        _run(people_of(others, ids), learner, max_rows, first)
        second = Replayed(first.measured)
        _run(people_of([*others, *mine], [*ids, *["me"] * len(mine)]), learner, max_rows, second)
        for fewer, more, sensitivity in zip(
            first.measured, second.measured, first.sensitivities, strict=True
        ):
            change = np.array(more) - np.array(fewer)
            assert math.sqrt(float((change**2).sum())) <= sensitivity * (1 + 1e-12)


class Replayed:
    """A mechanism without noise that keeps what it measured, and answers what another measured before."""

    def __init__(self, answers: list[list[int]] | None = None) -> None:
        self.answers, self.measured, self.sensitivities = answers, list[list[int]](), list[float]()

    def __call__(self, values: list[int], *, sensitivity: float, rho: float) -> Noisy:
        self.measured.append(list(values))
        self.sensitivities.append(sensitivity)
        return Noisy((self.answers or self.measured)[len(self.measured) - 1], "gaussian", 1.0)


def people_of(rows: list[tuple[str, int, str]], ids: list[str]) -> pa.Table:
    towns, ages, ills = ([row[i] for row in rows] for i in range(3))
    texts = {"who": ids, "town": towns, "ill": ills}
    columns = {name: pa.array(values, pa.string()) for name, values in texts.items()}
    return pa.table({**columns, "age": pa.array(ages, pa.int64())})


def _run(table: pa.Table, learner: Any, max_rows: int, mechanism: Any, draws: int = 1) -> list[np.ndarray]:
    """The weights of the town, by a mechanism of one's own, in two rounds; so many draws."""
    opened = read(table)
    names = [name for name in ("town", "age", "ill") if name in table.column_names]
    bounds = {name: (0, 99) for name in names if name == "age"}
    coded = given_codings(opened, names, bounds, KEYS, 4)
    *codes, labels = counted_codes(opened, coded, "who" if "who" in table.column_names else None, max_rows)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(learning, "ROUNDS", 2)
        patch.setattr(learning, "gaussian", mechanism)
        sizes = [coding.size for name, coding in coded.items() if name != "ill"]
        work = learning.MODELS[learner](
            sizes, coded["ill"].size - 1, max_rows, Fraction(1), Fraction(1, 1000)
        )
        known = labels < work.labels
        lesson = [column[known] for column in codes], labels[known]
        return [work.learned(*lesson)[1][0] for _ in range(draws)]


def weaker(values: Any, *, sensitivity: float, rho: float) -> Noisy:
    """A wrong copy: noise for a fortieth of what one row changes."""
    return gaussian(values, sensitivity=sensitivity / 40, rho=rho)


@pytest.mark.parametrize("learner", LEARNERS)
def test_draws_keep_their_epsilon_and_those_of_a_wrong_copy_do_not(learner: Any) -> None:
    """Two tables that differ in one row, 400 classifiers of each: the weight of its value for its label."""
    rows = pa.table({"town": ["a", "b"] * 3, "ill": ["no", "yes"] * 3})
    more = pa.concat_tables([rows, pa.table({"town": ["c"], "ill": ["yes"]})])

    def draws(table: pa.Table, mechanism: Any) -> list[float]:
        made = _run(table, learner, 1, mechanism, draws=400)
        return [float(weights[2, 1] - weights[2, 0]) for weights in made]

    assert not violation(draws(rows, gaussian), draws(more, gaussian), 1.0, 1e-3)
    assert violation(draws(rows, weaker), draws(more, weaker), 1.0, 1e-3)


def test_bad_terms_are_refused_and_cost_nothing(ledger: Ledger) -> None:
    terms = {"epsilon": 1, "ledger": ledger, **TERMS}
    for change, reason in (
        ({"learner": "forest"}, "the method is"),
        ({"learner": "logistic-regression"}, "gradients need a delta"),
        ({"columns": ["ill"]}, "at least one column"),
        ({"keys": {"ill": ["no", "yes"]}}, "values of town are not given"),
        ({"bins": 0}, "bins is 0"),
        ({"epsilon": "1e-12"}, "nothing but noise"),
    ):
        with pytest.raises(InvalidParameter, match=reason):
            discreet.learn(people(20), "ill", **{**terms, **change})
    assert ledger.balance().spent_epsilon == 0


def test_the_command_line_writes_tests_and_states(tmp_path: Path) -> None:
    for name, rows in (("people", 3000), ("others", 300)):
        lines = people(rows).to_pylist()
        text = "".join(f"{r['town']},{r['age']},{r['ill']}\n" for r in lines)
        (tmp_path / f"{name}.csv").write_text("town,age,ill\n" + text)
    file, model = str(tmp_path / "people.csv"), tmp_path / "model.json"
    run = CliRunner().invoke
    assert run(cli, ["budget", "set", file, "--epsilon", "2", "--delta", "1e-5"]).exit_code == 0
    asked = ["learn", file, "--label", "ill", "-o", str(model), "--epsilon", "2", "--unit", "record"]
    asked += ["--bounds", "age=0:99", "--keys", "town=a,b,c", "--keys", "ill=no,yes"]
    shown = run(cli, [*asked, "--test", str(tmp_path / "others.csv")])
    assert shown.exit_code == 0, shown.exception
    assert "Of 300 records" in " ".join(shown.output.split())
    written = json.loads(model.read_text())
    assert written["labels"] == ["no", "yes"]
    assert set(written["columns"]) == {"town", "age"}
    assert read_statement(f"{model}.guarantee.json").epsilon == 2
