"""Artificial people: what one person changes, which values appear, and what their pairs look like."""

from __future__ import annotations

import json
from collections.abc import Sequence
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from click.testing import CliRunner

import discreet
from discreet.cli import cli
from discreet.dp import aim, components, found_bounds, junction, mst, privbayes, whole_table
from discreet.dp import synthesize as module
from discreet.dp.ledger import Ledger
from discreet.dp.noise import Noisy
from discreet.dp.tree import MeasuredTable, draw, fit, shares
from discreet.errors import DiscreetError, InvalidParameter, UnknownColumn
from helpers.neighbours import violation

pytest.importorskip("opendp")


@pytest.fixture
def ledger(tmp_path: Path) -> Ledger:
    made = Ledger(tmp_path / "budget")
    made.set_budget(10**6, "0.9")
    return made


def people(count: int = 400) -> list[dict[str, object]]:
    return [
        {"who": f"{i % 150}", "sex": "fm"[i % 2], "town": "xyz"[i % 3], "age": 20 + i % 40, "pay": i / 7}
        for i in range(count)
    ]


TERMS: dict[str, Any] = {
    "epsilon": 1,
    "delta": "1e-6",
    "person": "who",
    "max_rows": 2,
    "bounds": {"age": (0, 100), "pay": (0, 60)},
    "bins": 10,
}


# ── the tree ──────────────────────────────────────────────────────────────────────────────────────


def test_a_tree_without_noise_gives_its_pairs_again() -> None:
    first = np.array([[30.0, 10.0], [5.0, 55.0]])
    second = np.array([[20.0, 10.0, 5.0], [25.0, 0.0, 40.0]])
    columns = [first.sum(axis=1), first.sum(axis=0), second.sum(axis=0)]
    tree = fit(
        [MeasuredTable(column, 1.0) for column in columns],
        {(0, 1): MeasuredTable(first, 1.0), (1, 2): MeasuredTable(second, 1.0)},
    )
    assert tree.total == pytest.approx(100)
    a, b, c = draw(tree, 100)
    assert np.abs(np.bincount(a * 2 + b, minlength=4).reshape(2, 2) - first).max() <= 1
    assert np.abs(np.bincount(b * 3 + c, minlength=6).reshape(2, 3) - second).max() <= 1


def test_marginals_of_noise_agree_and_are_not_negative() -> None:
    rough = np.array([[5.0, -9.0, 3.0], [-2.0, 30.0, -7.0]])
    columns = [MeasuredTable(np.array([10.0, 12.0]), 4.0), MeasuredTable(np.array([-5.0, 25.0, 1.0]), 4.0)]
    tree = fit(columns, {(0, 1): MeasuredTable(rough, 4.0)})
    pair = tree.pairs[0, 1]
    assert pair.min() >= 0
    assert pair.sum(axis=1) == pytest.approx(tree.columns[0])
    assert pair.sum(axis=0) == pytest.approx(tree.columns[1], abs=1e-4)


def test_shares_are_whole_and_have_their_sum() -> None:
    for rows in (0, 1, 7, 1000):
        for weights in ([1.0, 2.0, 0.0], [0.0, 0.0], [1e-9, 1.0], [0.3] * 7):
            given = shares(np.array(weights), rows)
            assert given.sum() == rows
            assert given.min() >= 0
    assert shares(np.array([1.0, 0.0]), 9).tolist() == [9, 0]


# ── one person ────────────────────────────────────────────────────────────────────────────────────


KNOWN = {"sex": ["f", "m"], "town": ["x", "y", "z"]}


@pytest.mark.parametrize(
    ("given", "found"),
    [
        *(({"method": method}, False) for method in ("mst", "aim", "privbayes")),
        *(({"method": method}, True) for method in ("mst", "aim")),
        ({"method": "table", "columns": ["sex", "town", "age"]}, False),
        ({"method": "pca", "columns": ["age", "pay"]}, False),
        ({"per_person": True}, False),
        ({"per_person": True}, True),
        ({"find_bounds": ["pay"], "bounds": {"age": (0, 100)}}, False),
    ],
    ids=lambda value: value if isinstance(value, bool) else next(reversed(value)),
)
def test_nobody_changes_a_table_or_a_score_further_than_stated(
    given: dict[str, Any], found: bool, ledger: Ledger, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The second run gets the draws of the first: so every table and score is compared as the proof does."""
    log: list[tuple[np.ndarray, float, bool]] = []
    replayed: list[Any] = []

    def gaussian(values: Sequence[int], *, sensitivity: float, rho: float) -> Noisy:
        log.append((np.array(values, dtype=float), float(sensitivity), False))
        if not replayed:
            drawn.append(Noisy(list(values), "gaussian", 0.01))
            return drawn[-1]
        return replayed.pop(0)

    def noisy_max_rho(scores: Sequence[int], *, sensitivity: int, rho: float) -> int:
        log.append((np.array(scores, dtype=float), float(sensitivity), True))
        if not replayed:
            drawn.append(int(np.argmax(scores)))
            return drawn[-1]
        return replayed.pop(0)

    for part in (module, mst, aim, privbayes, components, found_bounds, whole_table):
        monkeypatch.setattr(part, "gaussian", gaussian)
    for part in (mst, aim, privbayes):
        monkeypatch.setattr(part, "noisy_max_rho", noisy_max_rho)
    # Rows that models are looked at by are drawn from what was measured: the same in both runs.
    monkeypatch.setattr(junction, "uniforms", lambda count: np.linspace(0, 0.999, count))
    terms = {**TERMS, "keys": {} if found else KNOWN, **given}
    villain = [
        {"who": "villain", "sex": sex, "town": town, "age": age, "pay": pay}
        for sex in "fm"
        for town in "xyz"
        for age, pay in ((10**9, float("inf")), (-5, -1e300), (None, None), (33, 3.0))
    ]
    for more in (villain, [{**row, "who": None} for row in villain], villain[:1], villain[2:3]):
        drawn: list[Any] = []
        log.clear()
        discreet.synthesize(pa.Table.from_pylist(people()), ledger=ledger, **terms)
        before, replayed[:] = log.copy(), drawn.copy()
        log.clear()
        changed = [*more[:9], *people(), *more[9:]]
        discreet.synthesize(pa.Table.from_pylist(changed), ledger=ledger, **terms)
        assert not replayed
        moved = 0.0
        for (old, stated, score), (new, _, _) in zip(before, log, strict=True):
            change = np.abs(new - old).max() if score else np.linalg.norm(new - old)
            moved = max(moved, 0.0 if score else float(change))
            assert change <= stated
        assert moved > 0


def test_found_values_are_those_that_many_share(ledger: Ledger) -> None:
    rows = [
        *({"who": f"{i}", "town": "xy"[i % 2], "name": f"name {i}"} for i in range(3000)),
        *({"who": "villain", "town": f"own {i}", "name": "villain"} for i in range(5000)),
    ]
    # Each of 3,000 names may be found with a probability of δ: with a small one none is.
    terms = {**TERMS, "bounds": {}, "epsilon": 3, "delta": "1e-12"}
    made = discreet.synthesize(pa.Table.from_pylist(rows), ledger=ledger, **terms).rows
    assert set(made["town"].to_pylist()) <= {"x", "y", "*", None}
    assert {"x", "y"} <= set(made["town"].to_pylist())
    assert set(made["name"].to_pylist()) <= {"*", None}
    assert abs(made.num_rows - 3002) < 300


@pytest.mark.slow
@pytest.mark.parametrize("method", ["mst", "aim", "privbayes", "table"])
def test_an_attacker_who_sees_the_rows_cannot_tell_who_was_in(
    method: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Without the ledger, which would take longer than all draws."""
    keys = {"a": ["x", "y"], "b": ["x", "y"]}

    def draws(extra: int) -> list[float]:
        table = discreet.read(pa.table({"a": ["x"] * 20 + ["y"] * extra, "b": ["x"] * 20 + ["y"] * extra}))
        found = []
        for _ in range(120):
            domains = module._Domains.of(table, ["a", "b"], {}, (), keys, 10)
            people = module._CountedPeople(None, 1)
            work = module._Synthesis(table, domains, people, Fraction(1), Fraction(1, 1000), method=method)
            made, _ = work.rows(lambda: None)
            found.append(float(sum(a == "y" for a in made["a"].to_pylist())))
        return found

    assert not violation(draws(0), draws(1), 1.0, 1e-3)
    monkeypatch.setattr(module, "rho_of", lambda epsilon, delta: 1000.0)
    assert violation(draws(0), draws(1), 1.0, 1e-3)


# ── what comes out ────────────────────────────────────────────────────────────────────────────────


def test_columns_keep_their_kinds_and_bounds(ledger: Ledger) -> None:
    rows = pa.table(
        {
            "age": [20 + i % 60 for i in range(2000)],
            "pay": [float(i % 100) for i in range(2000)],
            "old": [i % 60 > 40 for i in range(2000)],
            "sex": ["fm"[i % 2] for i in range(2000)],
            "size": [1 + i % 3 for i in range(2000)],
        }
    )
    made = discreet.synthesize(
        rows,
        epsilon=50,
        delta="1e-6",
        unit="record",
        bounds={"age": (0, 99), "pay": (0, 100)},
        keys={"sex": ["f", "m"], "size": [1, 2, 3]},
        ledger=ledger,
    )
    assert [str(field.type) for field in made.rows.schema] == ["int64", "double", "bool", "string", "int64"]
    ages = [age for age in made.rows["age"].to_pylist() if age is not None]
    assert 0 <= min(ages) <= max(ages) <= 99
    # Whether somebody is old follows from the age, and the pair is kept.
    kept = [
        (row["age"] > 60) == row["old"]
        for row in made.rows.to_pylist()
        if None not in (row["age"], row["old"])
    ]
    assert sum(kept) > 0.97 * len(kept)
    assert made.to_pandas().shape == (made.rows.num_rows, 5)
    assert json.loads(json.dumps(made.to_dict()))["guarantee"]["tuning"] == "none: domains were given"


def test_terms_that_are_refused(ledger: Ledger) -> None:
    table = pa.Table.from_pylist(people())
    for terms, reason in (
        ({"bounds": {}}, "have no bounds"),
        ({"bounds": {"age": (9, 9), "pay": (0, 1)}}, "the bounds of age"),
        ({"columns": ["age"]}, "at least two columns"),
        ({"columns": ["age", "age"]}, "at least two columns"),
        ({"person": None}, "whose privacy"),
        ({"delta": 0}, "delta is"),
        ({"epsilon": 0}, "epsilon is"),
        ({"max_rows": 0}, "max_rows"),
        ({"bins": 0}, "bins"),
        ({"method": "gan"}, "the method is"),
        ({"keys": {"sex": []}}, "no value is given"),
        ({"keys": {"age": ["old"]}}, "of another kind"),
        ({"keys": {"age": [1.5]}}, "of another kind"),
        ({"keys": {"age": ["1e30"]}}, "of another kind"),
        ({"bounds": {"age": (-1e19, 1e19), "pay": (0, 1)}}, "the bounds of age"),
        ({"bounds": {"age": (0, 9), "pay": (0, 1e-320)}}, "the bounds of pay"),
        ({"epsilon": "1e-300"}, "nothing but noise"),
        ({"epsilon": "1e-14"}, "nothing but noise"),
    ):
        with pytest.raises(InvalidParameter, match=reason):
            discreet.synthesize(table, ledger=ledger, **{**TERMS, **terms})
    with pytest.raises(UnknownColumn):
        discreet.synthesize(table, ledger=ledger, **{**TERMS, "keys": {"sexx": ["f"]}})
    assert ledger.balance().spent_epsilon == 0


def test_whose_rows_count_does_not_follow_from_what_others_have(
    ledger: Ledger, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Nobody has a note but one person: which rows of all others count must be the same with and without them."""
    rows = [{**row, "note": None, "who": f"{i % 40}"} for i, row in enumerate(people())]
    other = {**rows[0], "who": "other", "note": "seen"}
    seen: list[list[tuple[object, ...]]] = []
    chosen = module._Synthesis.kept

    def kept(self: Any, codes: Any, cells: pa.Table) -> Any:
        places = chosen(self, codes, cells)
        listed = cells.select(["who", "sex", "town", "age", "pay"]).take(pa.array(places)).to_pylist()
        seen.append(sorted(tuple(row.values()) for row in listed if row["who"] != "other"))
        return places

    monkeypatch.setattr(module._Synthesis, "kept", kept)
    texts = [(name, pa.string()) for name in ("note", "who", "sex", "town")]
    schema = pa.schema([*texts, ("age", pa.int64()), ("pay", pa.float64())])
    for some in (rows, [*rows, other]):
        discreet.synthesize(pa.Table.from_pylist(some, schema), ledger=ledger, **TERMS)
    assert seen[0] == seen[1]


def test_the_command_line(tmp_path: Path) -> None:
    table, output = tmp_path / "people.csv", tmp_path / "made.csv"
    table.write_text("who,sex,age\n" + "".join(f"{i},{'fm'[i % 2]},{20 + i % 50}\n" for i in range(900)))
    run = CliRunner().invoke
    assert run(cli, ["budget", "set", str(table), "--epsilon", "2", "--delta", "1e-5"]).exit_code == 0
    terms = [
        "--epsilon",
        "2",
        "--person",
        "who",
        "--bounds",
        "age=0:99",
        "--keys",
        "sex=f,m",
        "-o",
        str(output),
    ]
    missing = run(cli, ["synthesize", str(table), *terms])
    assert "need a delta" in str(missing.exception)
    shown = run(cli, ["synthesize", str(table), *terms, "--delta", "1e-6"])
    assert shown.exit_code == 0, shown.exception
    assert "artificial people were written to made.csv" in shown.output
    assert output.read_text().splitlines()[0] == '"sex","age"'
    again = run(cli, ["synthesize", str(table), *terms, "--delta", "1e-6"])
    assert isinstance(again.exception, DiscreetError)
    assert "nothing is left" in str(again.exception)
