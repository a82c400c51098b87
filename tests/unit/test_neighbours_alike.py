"""Neighbouring tables with the same draws lead to the same result: every answer, row, refusal and word follows from what was paid for."""

from __future__ import annotations

import datetime
import random
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

import discreet
from discreet.dp.ledger import Ledger
from discreet.engine.bounded import BoundedCounting
from helpers.coupled import Coupling

pytest.importorskip("opendp")

KINDS = {
    "who": pa.string(),
    "count": pa.int64(),
    "pay": pa.float64(),
    "town": pa.string(),
    "old": pa.bool_(),
    "day": pa.date32(),
}
BOUNDS = {"count": (0, 10), "pay": (0, 3)}
KEYS: dict[str, list[object]] = {
    "count": [0, 1, 2],
    "pay": [0, 1.5],
    "town": ["a", "b", None, "*"],
    "old": [True, False],
    "day": ["2020-01-01", "2020-01-02"],
}
USUAL: dict[str, list[object]] = {
    "count": [0, 1, 2, 8, None],
    "pay": [0.0, 1.5, 2.25, None],
    "town": ["a", "b", "c", None],
    "old": [True, False, None],
    "day": [datetime.date(2020, 1, 1), datetime.date(2020, 1, 2), None],
}
ODD: dict[str, list[object]] = {
    "count": [-(2**62), 2**62, -1],
    "pay": [float("inf"), float("-inf"), float("nan"), -0.0, 5e-324, 1e300],
    "town": ["*", "", "NA", "x'y", "é"],
    "old": [None],
    "day": [datetime.date(1, 1, 1), datetime.date(9999, 12, 31)],
}
FIGURES = [
    "count(*)",
    "count(pay)",
    "sum(count)",
    "sum(pay)",
    "avg(pay)",
    "median(count)",
    "quantile(pay, 0.9)",
]
CONDITIONS = [
    "",
    "count > 8",
    "pay <= 2",
    "town = 'x''y'",
    "not town like '%a%'",
    "day < '1000-01-01' or old",
    "town is null",
]


@pytest.fixture
def ledger(tmp_path: Path) -> Ledger:
    made = Ledger(tmp_path / "budget")
    made.set_budget(10**6, "0.9")
    return made


def rows_of(chance: random.Random, who: list[str | None], odd: float) -> list[dict[str, object]]:
    return [
        {
            "who": person,
            **{
                name: chance.choice(ODD[name] if chance.random() < odd else values)
                for name, values in USUAL.items()
            },
        }
        for person in who
    ]


def neighbours(chance: random.Random, *, by_person: bool) -> list[pa.Table]:
    """Two tables that differ in all rows of one person, who may be nobody's id, or in one row; in any order."""
    count = chance.choice([1, 3, 12])
    rows = rows_of(chance, [chance.choice(["p", "q", "r"]) for _ in range(count)], 0.1)
    more = list(rows)
    mine = [chance.choice(["me", None])] * chance.choice([1, 4]) if by_person else ["p"]
    for row in rows_of(chance, mine, 0.7):
        more.insert(chance.randint(0, len(more)), row)
    tables = [pa.Table.from_pylist(each, schema=pa.schema(list(KINDS.items()))) for each in (rows, more)]
    return tables if chance.random() < 0.5 else tables[::-1]


def whose(chance: random.Random, by_person: bool) -> dict[str, Any]:
    return {"person": "who", "max_rows": chance.randint(1, 3)} if by_person else {"unit": "record"}


def asked(chance: random.Random, by_person: bool) -> dict[str, Any]:
    figures = chance.sample([*FIGURES, *(["count(distinct who)"] * 3 if by_person else [])], 2)
    keys = chance.sample(list(KEYS), chance.choice([0, 1, 2]))
    condition = chance.choice(CONDITIONS)
    question = f"select {', '.join([*keys, *figures])} from data"
    question += f" where {condition}" if condition else ""
    question += f" group by {', '.join(keys)}" if keys else ""
    mechanism = chance.choice(["laplace", "gaussian", "bounded-laplace"])
    return {
        "question": question,
        "bounds": BOUNDS,
        "keys": {key: KEYS[key] for key in keys if chance.random() < 0.6},
        "mechanism": mechanism,
        "most_rows": 50 if mechanism == "bounded-laplace" else None,
        "delta": "1e-3",
        "max_groups": chance.randint(1, 3),
    }


def released(chance: random.Random, kind: str, by_person: bool) -> dict[str, Any]:
    columns = chance.sample(list(KEYS), 3)
    numbers = {name: BOUNDS[name] for name in columns if name in BOUNDS and chance.random() < 0.6}
    known = {
        "keys": {name: KEYS[name] for name in columns if name not in numbers},
        "bins": 3,
        "delta": "1e-3",
    }
    if kind == "tabulate":
        return {"tables": [columns[:2], columns], "bounds": numbers, **known}
    if kind == "learn":
        learner = chance.choice(["naive-bayes", "logistic-regression"])
        return {"label": columns[0], "columns": columns[1:], "learner": learner, "bounds": numbers, **known}
    sought = [name for name in numbers if chance.random() < 0.4]
    given = {name: ends for name, ends in numbers.items() if name not in sought}
    return {
        "columns": columns,
        "bounds": given,
        "find_bounds": sought,
        "method": chance.choice(["mst", "aim", "privbayes"]),
        "per_person": by_person and chance.random() < 0.5,
        **known,
    }


def cases(kind: str, seeds: range) -> Iterator[tuple[int, list[pa.Table], dict[str, Any]]]:
    for seed in seeds:
        chance = random.Random(f"{kind} {seed}")
        by_person = chance.random() < 0.75
        terms = asked(chance, by_person) if kind == "ask" else released(chance, kind, by_person)
        yield (
            seed,
            neighbours(chance, by_person=by_person),
            {"epsilon": 1, **terms, **whose(chance, by_person)},
        )


@pytest.mark.parametrize(("kind", "count"), [("ask", 10), ("tabulate", 3), ("synthesize", 4), ("learn", 3)])
def test_what_is_not_drawn_says_nothing(kind: str, count: int, ledger: Ledger) -> None:
    for seed, tables, terms in cases(kind, range(count)):
        first, second = Coupling(ledger, seed).results(getattr(discreet, kind), tables, terms)
        assert first == second, (seed, terms)


def test_a_failure_about_nobody_would_be_noticed(ledger: Ledger, monkeypatch: pytest.MonkeyPatch) -> None:
    """Without the rows of one person nobody fulfils the condition: counts of persons were null then, and failed."""
    tables = [pa.table({"who": ["a", "b"], "age": ages}) for ages in ([1, 2], [1, 90])]
    terms = {"question": "select count(distinct who) from data where age > 50", "epsilon": 1, "person": "who"}
    first, second = Coupling(ledger, 1).results(discreet.ask, tables, terms)
    assert first == second
    counted = BoundedCounting.bounded_groups

    def leaking(*args: Any, **given: Any) -> pa.Table:
        made = counted(*args, **given)
        if not made["rows"][0].as_py():
            raise discreet.DiscreetError("nobody is there", remedy="ask about others")
        return made

    monkeypatch.setattr("discreet.engine.duckdb.DuckDBEngine.bounded_groups", leaking)
    first, second = Coupling(ledger, 1).results(discreet.ask, tables[::-1], terms)
    assert first != second
